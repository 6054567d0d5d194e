"""Tools, requests and results for type checkers, and the programs of the how-to pages with the clients' own types."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.typecheck import ROOT, check_program, checkers

pytest.importorskip("pydantic", reason="pydantic is not installed")

PROGRAM = """
from collections.abc import AsyncIterator, Sequence
from typing import Any, assert_type

from pydantic import BaseModel

from jsontide import (
    Message, Tool, ToolResult, arun_tools, astream_message, run_tools, stream_message, to_request, tool_definitions
)
from jsontide.providers import why_not_strict
from jsontide.messages import CallFinished, Finished, Outcome, ReasoningDelta, TextDelta, ToolCall, Usage
from jsontide.runs import AsyncAgentStream, ResultFinished, ResultProgress, Run, RunOutcome, StepStarted, stream_run
from jsontide.streams import stream_items

class Stay(BaseModel):
    city: str

def weather(city: str) -> str:
    return city

def describe(error: Exception) -> str:
    return str(error)

stay = Tool("stay", Stay)
tools = [Tool.from_function(weather), Tool("stay", Stay), Tool("any", {"type": "object"}), Tool("none")]

def takes_tools(tools: Sequence[Tool[object]]) -> None: ...

takes_tools(tools)
takes_tools([Tool.from_function(weather), stay])

def reads_with_tools_of_several_types(events: list[object]) -> Message[object]:
    stream_message(events, tools=[Tool.from_function(weather), stay])
    return stream_message(events, tools=tools).final()

async def runs_tools_of_several_types(message: Message[object]) -> list[ToolResult]:
    found = await arun_tools(message, tools, limit=4, describe_error=describe)
    for result in run_tools(message, [Tool.from_function(weather), stay], describe_error=describe):
        assert_type(result.exception, Exception | None)
    return found

def defines_tools_of_several_types() -> list[dict[str, str]]:
    assert_type(why_not_strict(tools, "anthropic"), dict[str, tuple[str, ...]])
    return tool_definitions([Tool.from_function(weather), stay], "openai_chat", strict=True)

def still_knows_each_tool(call: ToolCall) -> str:
    if stay.accepts(call):
        assert_type(call.arguments_model, Stay)
        return call.arguments_model.city
    return ""

def takes_the_result(events: list[object]) -> str:
    result = stream_message(events, response_schema=Stay).final().result()
    assert_type(result, Stay)
    return result.town  # refused

async def waits_for_the_result(events: AsyncIterator[object]) -> Stay:
    return (await astream_message(events, response_schema=Stay).final()).result()

def adds_up(messages: list[Message[Any]]) -> Usage:
    total = Usage()
    for message in messages:
        total += message.usage or Usage()
    return sum((total, total), Usage())

def adds_what_does_not_add_up(usage: Usage) -> Usage:
    return usage + 3  # refused

def knows_items(events: list[object]) -> None:
    for stay in stream_items(events, "stays", Stay):
        assert_type(stay, Stay)
    print(list(stream_items("[]", "root", Stay, mended=True)))  # refused

def knows_runs(events: list[object]) -> Run[Any]:
    return stream_run(events, response_schema=Stay).final()

def knows_what_is_new(events: list[object]) -> str:
    for event in stream_message(events).events():
        match event:
            case TextDelta(part, text):
                assert_type((part, text), tuple[int, str])
            case CallFinished(call):
                run_tools(Message((call,)), tools)
            case Finished(outcome):
                assert_type(outcome, Outcome)
    return "".join(stream_message(events).text_deltas())

async def knows_what_is_new_in_a_run(runs: AsyncAgentStream[Stay]) -> None:
    async for event in runs.events():
        match event:
            case TextDelta(part, text) | ReasoningDelta(part, text):
                assert_type((part, text), tuple[int, str])
            case ResultFinished(result):
                assert_type(result, ToolResult)
            case Finished(outcome):
                assert_type(outcome, RunOutcome)
            case ResultProgress() | StepStarted():
                print(event.town)  # refused

def describes_errors_wrongly(message: Message[object]) -> object:
    return run_tools(message, tools, describe_error="sorry")  # refused
"""


@pytest.mark.long
@pytest.mark.once
@checkers
def test_what_type_checkers_know_of_tools_and_results(checker: str, tmp_path: Path) -> None:
    check_program(checker, PROGRAM, tmp_path)


@pytest.mark.long
@pytest.mark.once
@checkers
@pytest.mark.parametrize(
    ("page", "client"), [("openai", "openai"), ("anthropic", "anthropic"), ("gemini", "google.genai"), ("ollama",) * 2]
)
def test_the_programs_of_the_pages_fit_the_clients(checker: str, page: str, client: str, tmp_path: Path) -> None:
    try:
        is_there = find_spec(client) is not None
    except ModuleNotFoundError:  # of the package around it
        is_there = False
    if not is_there:
        pytest.skip(f"{client} is not installed")
    text = (ROOT / f"docs/how-to/{page}.md").read_text("utf-8")
    blocks = re.findall(r"(?<!skip: next -->\n\n)^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert "to_request(run_tools(" in "".join(blocks)
    check_program(checker, "\n".join(blocks), tmp_path)
