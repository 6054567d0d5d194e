"""Law 9 for type checkers: only code that checked that a call is complete may read its arguments.

And what else they must know: the type of an answer, of the arguments of a tool, and of parts.
"""

from pathlib import Path

import pytest

from tests.typecheck import check_program, checkers

pytest.importorskip("pydantic", reason="pydantic is not installed")

PROGRAM = """
from collections.abc import AsyncIterator
from typing import assert_type

from pydantic import BaseModel, TypeAdapter

from jsontide import Missing, Partial, Tool, astream_message, stream_message
from jsontide.providers import StreamState
from jsontide.streams import MessageStream, run_tools
from jsontide.messages import (
    CompleteCall, Message, Other, Outcome, PartialCall, ReasoningPart, ServerCall, TextPart, ToolCall
)

def runs_what_it_was_given(message: Message[object]) -> object:
    return message.tool_calls[0].arguments_value  # refused

def runs_what_is_partial(call: PartialCall) -> object:
    return call.arguments_value  # refused

def takes_the_model(call: ToolCall) -> object:
    return call.arguments_model  # refused

def asks_for_the_wrong_status(call: ToolCall) -> object:
    if call.status is Outcome.TRUNCATED:
        return call.arguments_value  # refused
    return None

def asks_for_the_status(call: ToolCall) -> object:
    if call.status is Outcome.COMPLETE:
        return call.arguments_value
    return call.partial

def asks_for_the_class(call: ToolCall) -> object:
    return call.arguments_value if isinstance(call, CompleteCall) else call.error

class Route(BaseModel):
    answer: str
    stops: list[str]

class Place(BaseModel):
    city: str

weather = Tool("weather", Place)
anything = Tool("anything", {"type": "object"})

def takes_the_answer(events: list[object]) -> str:
    message = stream_message(events, response_schema=Route).final()
    assert_type(message.answer, Route | Partial[Route] | Missing)
    return message.answer.answer.upper()  # refused

def asks_whether_the_answer_is_there(events: list[object]) -> str:
    for message in stream_message(events, response_schema=Route, tools=[weather, anything]):
        if isinstance(message.answer, Route):
            return message.answer.answer.upper()
        if isinstance(message.answer, Partial):
            return str(message.answer.to_dict())
    return ""

async def waits_for_the_answer(events: AsyncIterator[object]) -> Route | Partial[Route] | Missing:
    return (await astream_message(events, response_schema=Route).final()).answer

def has_an_adapter(events: list[object]) -> None:
    stream = stream_message(events, response_schema=TypeAdapter(list[Place]))
    assert_type(stream, MessageStream[list[Place]])

def has_no_schema(events: list[object], saved: StreamState) -> str:
    return stream_message(events, state=saved).final().content

def waits_for_what_does_not_wait(events: list[object]) -> object:
    return astream_message(events)  # refused

def asks_the_tool(call: ToolCall) -> str:
    if weather.accepts(call):
        assert_type(call.arguments_model, Place)
        return call.arguments_model.city
    return ""

def takes_what_the_arguments_do_not_have(call: ToolCall) -> object:
    return call.arguments_model.town if weather.accepts(call) else None  # refused

def runs_the_tools(message: Message[Route]) -> list[str]:
    return [result.text for result in run_tools(message, [weather])]

def goes_through_the_parts(message: Message[Route]) -> list[str]:
    found = []
    for part in message.parts:
        match part:
            case TextPart(text=text) | ReasoningPart(text=text):
                found.append(text)
            case ServerCall(result=result):
                found.append(result.upper())  # refused
            case Other(type=kind):
                found.append(kind)
            case _:
                found.append(str(part.index))
    return found
"""


@pytest.mark.long
@pytest.mark.once
@checkers
def test_type_checkers_refuse_what_may_not_be_there(checker: str, tmp_path: Path) -> None:
    check_program(checker, PROGRAM, tmp_path)
