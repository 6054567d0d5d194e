"""What the clients of the providers give and take: their objects say what plain events say, and they take requests.

Clients are slow to import, so all of this is in one module.
"""

from collections.abc import Callable, Iterable
from random import Random
from typing import Any

import pytest
from hypothesis import given

from jsontide import Tool
from jsontide.messages import CompleteCall, Message, Outcome, ToolResult, UserMessage
from jsontide.providers import to_request
from jsontide.runs import Conversation, Step
from jsontide.streams import stream_message
from tests.generated_streams import STREAMS
from tests.provider_streams import ALL, NAMES, RECORDED, Event, events
from tests.providers.block_streams import as_object, last
from tests.providers.client_types import CHECK_MESSAGES, adapter_of, check_request, types_of
from tests.providers.test_contract import final, lean
from tests.providers.test_whole import ANTHROPIC, GEMINI, OLLAMA, RESPONSE, SAID, chat, check
from tests.runs.conversations import FILES, PROVIDERS, draw_conversation
from tests.strategies import randoms


def by_clients(names: Iterable[str]) -> list[Any]:
    """Of each provider, the stream that says most; the rest takes long, because clients are slow."""
    found = sorted(names, key=lambda name: len(STREAMS[name].events), reverse=True)
    most = {STREAMS[name].provider: name for name in reversed(found)}
    return [name if name in most.values() else pytest.param(name, marks=pytest.mark.long) for name in found]


def openai_object(kind: str, member: str) -> Callable[[Event], Any]:
    def make(event: Event) -> Any:
        models = types_of("openai._models")
        types = types_of(f"openai.types.{kind}")
        return models.construct_type(type_=getattr(types, member), value=event)

    return make


def anthropic_object(event: Event) -> Any:
    models = types_of("anthropic._models")
    types = types_of("anthropic.types")
    return models.construct_type(type_=types.RawMessageStreamEvent, value=event)


def gemini_object(event: Event) -> Any:
    types = types_of("google.genai.types")
    return types.GenerateContentResponse.model_validate(event)


def ollama_object(event: Event) -> Any:
    ollama = types_of("ollama")
    kind = ollama.GenerateResponse if "response" in event else ollama.ChatResponse
    return kind.model_validate(event)


def cohere_object(event: Event) -> Any:
    types = types_of("cohere.v2.types.v2chat_stream_response")
    models = types_of("cohere.core.unchecked_base_model")
    return models.construct_type(type_=types.V2ChatStreamResponse, object_=event)


def interactions_object(event: Event) -> Any:
    return adapter_of(types_of("google.genai.interactions").InteractionSSEEvent).validate_python(event)


SDK: dict[str, Callable[[Event], Any]] = {
    "openai_chat": openai_object("chat", "ChatCompletionChunk"),
    "openai_responses": openai_object("responses", "ResponseStreamEvent"),
    "anthropic": anthropic_object,
    "cohere": cohere_object,
    "gemini": gemini_object,
    "gemini_interactions": interactions_object,
    "ollama": ollama_object,
}
"""Of those that have objects: Bedrock's client gives dicts."""


NOT_IN_SDK = {
    "gemini/a limit as number",
    "gemini/a number that has two meanings",
    "gemini/enums as numbers",
    "gemini/error",
    "gemini/error with usage",
    "gemini/files and parts of other kinds",
    "gemini_interactions/a search without a result",
    "gemini_interactions/tools of the provider",
    "google/google-search.chunks.txt",
    "ollama/an image",
    "ollama/calls line by line",
    "ollama/error",
    "ollama/log probabilities and other fields",
    "ollama/thinking, text and calls",
}
"""Streams in which something has no place in the models of the SDK, which refuse it or leave it out."""


@pytest.mark.parametrize(
    "name",
    [
        *by_clients(name for name in ALL if name not in NOT_IN_SDK),
        *(recorded for recorded in RECORDED if recorded.values[0] not in NOT_IN_SDK),
    ],
)
def test_their_events_say_the_same(name: str) -> None:
    make = SDK.get(str(final(name).provider), as_object)
    assert lean(stream_message(map(make, events(name))).final()) == lean(final(name))


@pytest.mark.parametrize(
    ("module", "kind", "whole"),
    [
        ("openai.types.chat", "ChatCompletion", chat()),
        ("openai.types.responses", "Response", RESPONSE),
        ("anthropic.types", "Message", ANTHROPIC),
        ("google.genai.types", "GenerateContentResponse", GEMINI),
    ],
)
def test_their_whole_messages_say_the_same(module: str, kind: str, whole: Event) -> None:
    said = getattr(types_of(module), kind).model_validate(whole)
    check(last(said))
    check(stream_message(said).final())


def test_the_whole_message_of_ollama_has_no_ids() -> None:
    message = last(types_of("ollama").ChatResponse.model_validate(OLLAMA))
    assert (message.content, message.outcome, len(message.tool_calls)) == (SAID, Outcome.COMPLETE, 2)


NOT_IN_REQUESTS = {
    "bedrock/an image and a block of another kind",
    "gemini/files and parts of other kinds",
    "gemini_interactions/a step of another kind",
    "ollama/an image",  # which the client takes as text, and its type does not
    "openai_responses/a search of xAI",
    "openai_responses/an unknown item",
    "openai_responses/content of another type",
}
"""Streams with something that no type of the client has."""


@pytest.mark.parametrize("name", [*by_clients(name for name in NAMES if name not in NOT_IN_REQUESTS), *RECORDED])
def test_they_take_a_message_and_the_results_of_its_calls(name: str) -> None:
    message = final(name)
    take = CHECK_MESSAGES[str(message.provider)]
    take(to_request(message))
    take(to_request([ToolResult(call, {"found": True}) for call in message.tool_calls], message.provider))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_they_take_a_whole_conversation(provider: str) -> None:
    call = CompleteCall("weather", {"city": "Rome"}, id="c1")
    step = Step(Message((call,), Outcome.COMPLETE), (ToolResult(call, ["see:", *FILES[:5]]),))
    conversation = Conversation("Be brief.", [UserMessage(["Hi", *FILES]), step, "Go on"])
    tools = [] if provider == "cohere" else [Tool("weather", {"type": "object", "properties": {}})]
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    check_request(provider, conversation.to_request(provider, tools=tools, response_schema=schema))


@pytest.mark.long
@pytest.mark.parametrize("provider", PROVIDERS)
@given(randoms)
def test_they_take_what_other_providers_said(provider: str, random: Random) -> None:
    drawn = draw_conversation(random)
    turns = [
        turn for turn in drawn.turns if isinstance(turn, UserMessage) or turn.message.provider not in {provider, None}
    ]
    check_request(provider, Conversation(drawn.system, turns).to_request(provider))
