"""Agents and conversations for type checkers: the parameters of the clients take what is written for them."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.typecheck import check_program, checkers

PROGRAM = """
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, assert_type

import anthropic
import openai
from google import genai
from openai import AsyncStream
from openai.types.chat import ChatCompletionChunk

from jsontide import Tool, ToolResult
from jsontide.frontends import (
    AgUiEncoder, VercelEncoder, decisions_from_ag_ui, decisions_from_vercel, from_ag_ui, from_vercel
)
from jsontide.messages import CompleteCall, File, TextPart, UserMessage
from jsontide.runs import (
    AgentStream, AsyncAgentStream, Conversation, PendingResult, Request, Run, RunOutcome, Step, arun_agent, run_agent
)

def pay(amount: int) -> str:
    return f"paid {amount}"

def count(to: int) -> Iterator[int]:
    yield from range(to)

async def look(place: str) -> AsyncIterator[str]:
    yield place

def is_large(call: CompleteCall[Any]) -> bool:
    return bool(call.arguments_value)

tools = [Tool.from_function(pay, needs_approval=is_large), Tool.from_function(count), Tool.from_function(look)]
chat, later, claude, google = openai.OpenAI(), openai.AsyncOpenAI(), anthropic.Anthropic(), genai.Client()

def ask_chat(request: Request) -> object:
    return chat.chat.completions.create(
        model="m",
        messages=request.messages("openai_chat"),
        tools=request.tool_definitions("openai_chat"),
        stream=True,
    )

async def ask_chat_later(request: Request) -> AsyncStream[ChatCompletionChunk]:
    return await later.chat.completions.create(model="m", messages=request.messages("openai_chat"), stream=True)

def ask_responses(request: Request) -> object:
    return chat.responses.create(
        model="m",
        input=request.messages("openai_responses"),
        tools=request.tool_definitions("openai_responses"),
        stream=True,
    )

def ask_claude(request: Request) -> object:
    return claude.messages.create(
        model="m",
        max_tokens=9,
        messages=request.messages("anthropic"),
        tools=request.tool_definitions("anthropic"),
        stream=True,
    )

def ask_claude_with_all(request: Request) -> object:
    return claude.messages.create(model="m", max_tokens=9, stream=True, **request.to_request("anthropic"))

def ask_chat_with_all(request: Request) -> object:
    return chat.chat.completions.create(model="m", stream=True, **request.to_request("openai_chat"))

def ask_responses_with_all(request: Request) -> object:
    return chat.responses.create(model="m", stream=True, **request.to_request("openai_responses"))

def ask_google(request: Request) -> object:
    return google.models.generate_content_stream(model="m", contents=request.messages("gemini"))

def ask_google_with_all(request: Request) -> object:
    return google.models.generate_content_stream(model="m", **request.to_request("gemini"))

def claims(name: str) -> bool:
    return bool(name)

async def claims_later(name: str) -> bool:
    return bool(name)

def describe(error: Exception) -> str:
    return str(error)

def runs_agents(image: str) -> Run[Any]:
    conversation = Conversation("Be brief.", ["Hi", UserMessage([TextPart("This:"), File("image/png", image)])])
    for ask in (ask_chat, ask_responses, ask_claude, ask_claude_with_all, ask_google):
        assert_type(run_agent(ask, conversation, tools=tools, max_steps=3), AgentStream[Any])
    stream = run_agent(
        ask_chat_with_all, conversation, tools=tools, limit=2, timeout=3.5, retries=1, describe_error=describe
    )
    run = stream.final()
    conversation.add(run, "And?").to_request("anthropic", tools=tools)
    run_agent(ask_chat, "Hi", max_step=3)  # refused
    run_agent(ask_chat, "Hi", claim=claims, stop_when=lambda run: len(run.steps) > 3)
    return run

async def goes_on(saved: str) -> RunOutcome:
    run = Run.from_json(saved)
    decisions: dict[str, bool | str] = {}
    for result in run.waiting:
        assert_type(result, PendingResult)
        decisions[result.call.id or ""] = "too expensive"
    stream = arun_agent(ask_chat_later, "Hi", tools=tools, run=run, decisions=decisions, claim=claims_later)
    async with stream as runs:
        async for run in runs:
            for step in run.steps:
                assert_type(step, Step)
            for one in run.results:
                assert_type(one, PendingResult | ToolResult)
    return stream.run.outcome

def answers_browsers(body: Mapping[str, Any], waiting: Run[Any]) -> AsyncAgentStream[Any]:
    AgUiEncoder(thread_id="t", run_id="r", continues=waiting)
    VercelEncoder(message_id=waiting.id, continues=waiting)
    arun_agent(
        ask_chat, from_ag_ui(body, runs=[waiting]), run=waiting, decisions=decisions_from_ag_ui(body, waiting)
    )
    conversation = from_vercel(body["messages"], runs=[waiting])
    return arun_agent(ask_chat, conversation, run=waiting, decisions=decisions_from_vercel(body["messages"], waiting))
"""


@pytest.mark.long
@pytest.mark.once
@checkers
def test_type_checkers_take_agents_with_the_clients_own_types(checker: str, tmp_path: Path) -> None:
    for client in ("openai", "anthropic", "google.genai"):
        if find_spec(client.partition(".")[0]) is None or find_spec(client) is None:
            pytest.skip(f"{client} is not installed")
    check_program(checker, PROGRAM, tmp_path)
