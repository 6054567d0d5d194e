"""Arguments and answers of every provider, cut between the UTF-16 halves of characters, and with one half lost.

An event is a dict, an SDK object or bytes; its texts may hold half a character, which JSON writes as an escape.
The expectation comes from UTF-16 itself: all units give the text that was sent; without one of a pair there is none.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide import Tool
from jsontide.messages import ErrorKind, Message, Outcome, ToolResult
from jsontide.providers import PROVIDERS, feed_stream, finish_stream, start_stream, to_request
from jsontide.streams import astream_message, run_tools, stream_message
from tests.cuts import cut_randomly
from tests.providers.block_streams import Event, as_object, runnable
from tests.providers.chat_events import whole as completion
from tests.providers.dialects import DIALECTS, IN_PIECES, chunk, function_call, line, parts, response
from tests.strategies import examples, randoms

FIRST, SECOND = "\ud83d", "\ude00"
LOST = "half of a character stands alone in the text; the other half is lost"
SCHEMA: Any = {"type": "object"}
texts = st.lists(st.sampled_from("aé日😀𝄞\U0010ffff\U00010000"), min_size=1, max_size=8).map("".join)
paired = texts.filter(lambda text: max(text) > "\uffff")


def units(text: str) -> list[str]:
    data = text.encode("utf-16-le")
    return [data[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(data), 2)]


def joined(found: list[str]) -> str:
    return "".join(found).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def pieces_of(found: list[str], random: Random) -> list[str]:
    places = sorted(random.randint(0, len(found)) for _ in range(random.randint(0, len(found))))
    return [joined(found[start:end]) for start, end in zip([0, *places], [*places, len(found)], strict=True)]


def without_one(text: str, random: Random) -> list[str]:
    """The units of a text but for half of one character."""
    found = units(text)
    del found[random.choice([at for at, unit in enumerate(found) if "\ud800" <= unit < "\ue000"])]
    return found


# Calls. Each takes the pieces of a text that is an argument, and gives the events of a stream.


def quoted(pieces: list[str]) -> list[str]:
    return ['{"it": "', *pieces, '"}']


def chat_function(pieces: list[str]) -> list[Event]:
    calls = [{"name": "say", "arguments": ""}, *({"arguments": piece} for piece in quoted(pieces))]
    return [*(chunk(function_call=call) for call in calls), chunk("function_call")]


def chat_custom(pieces: list[str]) -> list[Event]:
    calls = [{"index": 0, "custom": {"input": piece}} for piece in pieces]
    begun = {"index": 0, "id": "c", "type": "custom", "custom": {"name": "say", "input": ""}}
    return [*(chunk(tool_calls=[call]) for call in (begun, *calls)), chunk("tool_calls")]


def responses(item: Event, field: str, pieces: list[str], *, repeats: bool = False) -> list[Event]:
    prefix = "response.function_call_arguments" if field == "arguments" else "response.custom_tool_call_input"
    done = {**item, field: joined(pieces), "status": "completed"}
    repeated = [
        {"type": f"{prefix}.done", "output_index": 0, field: joined(pieces)},
        {"type": "response.output_item.done", "output_index": 0, "item": done},
    ]
    return [
        {"type": "response.created", "response": {"tools": [{"type": "custom", "name": "say"}]}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, field: ""}},
        *({"type": f"{prefix}.delta", "output_index": 0, "delta": piece} for piece in pieces),
        *(repeated if repeats or field == "input" else repeated[1:]),
        {"type": "response.completed", "response": {"status": "completed", "output": [done] if repeats else []}},
    ]


FUNCTION = function_call("c", "say")
CUSTOM = {"type": "custom_tool_call", "id": "ct", "call_id": "c", "name": "say"}


def gemini(*calls: Event) -> list[Event]:
    return [*(parts({"functionCall": call}) for call in calls), DIALECTS["gemini"].end("STOP")]


def gemini_partial_call(pieces: list[str]) -> list[Event]:
    partials = [{"jsonPath": "$.it", "stringValue": piece, "willContinue": True} for piece in pieces]
    closed = {"jsonPath": "$.it", "willContinue": False}
    grown = [{"partialArgs": [partial], "willContinue": True} for partial in (*partials, closed)]
    return gemini({"id": "c", "name": "say", "willContinue": True}, *grown, {})


# Those that have all arguments in one event, as text or as an object.


def chat_whole(pieces: list[str]) -> list[Event]:
    function = {"name": "say", "arguments": "".join(quoted([joined(pieces)]))}
    return [completion("tool_calls", content=None, tool_calls=[{"id": "c", "type": "function", "function": function}])]


def responses_whole(pieces: list[str]) -> list[Event]:
    first, *_, last = responses({**FUNCTION, "status": "completed"}, "arguments", quoted(pieces), repeats=True)
    return [first, last]


def responses_done(pieces: list[str]) -> list[Event]:
    """The arguments are in the event that ends them, and nowhere before."""
    said = responses(FUNCTION, "arguments", quoted(pieces), repeats=True)
    return [event for event in said if not event["type"].endswith(".delta")]


def anthropic_whole(pieces: list[str]) -> list[Event]:
    block = {"type": "tool_use", "id": "c", "name": "say", "input": {"it": joined(pieces)}}
    message = {"type": "message", "id": "m", "role": "assistant", "content": [block], "stop_reason": "tool_use"}
    return [{"type": "message_start", "message": message}, {"type": "message_stop"}]


def ollama_call(pieces: list[str]) -> list[Event]:
    call = {"function": {"name": "say", "arguments": {"it": joined(pieces)}}}
    return [line(content="", tool_calls=[call]), DIALECTS["ollama"].end("stop")]


def gemini_call(pieces: list[str]) -> list[Event]:
    return gemini({"id": "c", "name": "say", "args": {"it": joined(pieces)}})


def in_pieces(provider: str) -> Callable[[list[str]], list[Event]]:
    return lambda pieces: DIALECTS[provider].calls("say", quoted(pieces))


CALLS: dict[str, Callable[[list[str]], list[Event]]] = {
    **{provider: in_pieces(provider) for provider in IN_PIECES},
    "openai_chat, old form": chat_function,
    "openai_chat, custom tool": chat_custom,
    "openai_chat, whole": chat_whole,
    "openai_responses": lambda pieces: responses(FUNCTION, "arguments", quoted(pieces)),
    "openai_responses, repeated": lambda pieces: responses(FUNCTION, "arguments", quoted(pieces), repeats=True),
    "openai_responses, done": responses_done,
    "openai_responses, whole": responses_whole,
    "openai_responses, custom tool": lambda pieces: responses(CUSTOM, "input", pieces),
    "openai_responses, custom tool, repeated": lambda pieces: responses(CUSTOM, "input", pieces, repeats=True),
    "anthropic, whole": anthropic_whole,
    "gemini": gemini_call,
    "gemini, partial": gemini_partial_call,
    "ollama": ollama_call,
}


def responses_text(pieces: list[str]) -> list[Event]:
    """The text is repeated at its end."""
    *begun, end = DIALECTS["openai_responses"].says(pieces)
    return [*begun, response("output_text.done", 0, content_index=0, text=joined(pieces)), end]


TEXTS: dict[str, Callable[[list[str]], list[Event]]] = {
    **{provider: dialect.says for provider, dialect in DIALECTS.items()},
    "openai_responses": responses_text,
}


# Ways into the library.


def as_bytes(events: list[Event], random: Random) -> list[bytes]:
    """Each half is an escape in the JSON of its event; the response is cut anywhere."""
    form = random.choice(("data: {}\n\n", "{}\n"))
    return cut_randomly("".join(form.format(json.dumps(event)) for event in events).encode(), random)


def read_purely(items: list[Any], **options: Any) -> Message:
    state = start_stream(**options)
    for item in items:
        state = feed_stream(state, item)
    return finish_stream(state).message


async def alast(items: list[Any], **options: Any) -> Message:
    async def source() -> AsyncIterator[Any]:
        for item in items:
            yield item

    return await astream_message(source(), **options).final()


def ends(events: list[Event], random: Random, **options: Any) -> list[Message]:
    """The message as every loop reads it, from dicts, from objects and from bytes."""
    sources: list[list[Any]] = [events, [as_object(event) for event in events], as_bytes(events, random)]
    found: list[Message] = []
    for source in sources:
        found += [stream_message(source, **options).final(), asyncio.run(alast(source, **options))]
    return found


def expected(name: str, text: str) -> object:
    return text if "custom" in name else {"it": text}


def test_every_provider_is_tried() -> None:
    for tried in (CALLS, TEXTS):
        assert {name.split(",")[0] for name in tried} == set(PROVIDERS)


@pytest.mark.parametrize("name", CALLS)
class TestArguments:
    @examples(0.1)
    @given(texts, randoms)
    def test_are_whole_wherever_they_are_cut(self, name: str, text: str, random: Random) -> None:
        for message in ends(CALLS[name](pieces_of(units(text), random)), random):
            assert [value for _, _, value in runnable(message)] == [expected(name, text)]
            assert message.outcome is Outcome.COMPLETE

    @examples(0.1)
    @given(paired, randoms)
    def test_of_which_half_a_character_is_lost_cannot_be_run(self, name: str, text: str, random: Random) -> None:
        for message in ends(CALLS[name](pieces_of(without_one(text, random), random)), random):
            (call,) = message.tool_calls
            assert runnable(message) == []
            assert (call.status, message.outcome) == (Outcome.INVALID, Outcome.INVALID)
            assert [(error.kind, error.source, error.message) for error in message.errors] == [
                (ErrorKind.JSON, 0, LOST)
            ]
            assert call.error == message.errors[0]

    @pytest.mark.parametrize("lone", [FIRST, SECOND, SECOND + FIRST, FIRST + FIRST])
    @pytest.mark.untraced
    def test_that_are_halves_alone_cannot_be_run(self, name: str, lone: str) -> None:
        for pieces in ([lone], list(lone), ["", lone, ""], ["a", lone, "b"]):
            for message in ends(CALLS[name](pieces), Random(1)):
                assert runnable(message) == []
                assert message.outcome is Outcome.INVALID
        message = read_purely(CALLS[name]([lone]))
        assert (message.outcome, runnable(message)) == (Outcome.INVALID, [])

    def test_are_run_only_if_nothing_is_lost(self, name: str) -> None:
        ran: list[object] = []

        def say(arguments: Any) -> str:
            ran.append(arguments)
            return "done"

        tool: Tool[Any] = Tool("say", function=say)
        for pieces, is_lost in ((["a", FIRST, "b"], True), ([FIRST, SECOND], False)):
            (result,) = run_tools(stream_message(CALLS[name](pieces), tools=[tool]).final(), [tool])
            assert (result.error is not None) is is_lost
        assert ran == [expected(name, "😀")]


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("name", [*CALLS, *(f"{name}, text" for name in TEXTS)])
def test_what_is_sent_back_can_be_encoded(name: str, provider: str) -> None:
    told = CALLS.get(name) or TEXTS[name.removesuffix(", text")]
    message = stream_message(told(["a", FIRST, "b"])).final()
    results = [ToolResult(call, error=f"no {SECOND}") for call in message.tool_calls]
    json.dumps(to_request(message, provider), ensure_ascii=False).encode()
    answered = json.dumps(to_request(results, provider), ensure_ascii=False).encode().decode()
    assert answered.count("no \ufffd") == len(results)


def test_what_can_be_encoded_is_sent_back_as_it_was() -> None:
    message = stream_message(CALLS["openai_chat"]([FIRST, SECOND])).final()
    (item,) = to_request(message)
    assert item["tool_calls"][0]["function"]["arguments"] == '{"it": "😀"}'


JSON_TEXTS = [name for name in CALLS if name.split(",")[0] not in ("gemini", "ollama") and "custom" not in name]


@pytest.mark.parametrize("name", [name for name in JSON_TEXTS if name != "anthropic, whole"])
@pytest.mark.parametrize("escape", ["\\ud83d", "\\ude00", "\\ude00\\ud83d", "\\ud83d\\ude00"])
def test_an_escape_in_the_json_of_arguments_is_what_json_says(name: str, escape: str) -> None:
    for pieces in ([escape], list(escape)):
        for message in ends(CALLS[name](pieces), Random(2)):
            assert [value for _, _, value in runnable(message)] == [json.loads(f'{{"it": "{escape}"}}')]


@pytest.mark.parametrize("streamed", [1, 2, 3])
def test_arguments_that_are_repeated_whole_may_have_the_half_that_did_not_come(streamed: int) -> None:
    pieces = quoted(["a" + FIRST, SECOND])
    events = responses(FUNCTION, "arguments", pieces, repeats=True)
    deltas = [event for event in events if event["type"].endswith(".delta")]
    told = [event for event in events if event not in deltas[streamed:]]
    for message in ends(told, Random(3)):
        assert [value for _, _, value in runnable(message)] == [{"it": "a😀"}]
    lost = [event for event in events if event is not deltas[2]]  # they go on after it
    assert [call.status for call in stream_message(lost).final().tool_calls] == [Outcome.INVALID]


@pytest.mark.parametrize("name", TEXTS)
class TestAnswers:
    @examples(0.1)
    @given(texts, randoms)
    def test_are_whole_wherever_they_are_cut(self, name: str, text: str, random: Random) -> None:
        events = TEXTS[name](quoted(pieces_of(units(text), random)))
        for message in ends(events, random, response_schema=SCHEMA):
            assert (message.outcome, message.answer) == (Outcome.COMPLETE, {"it": text})

    @examples(0.1)
    @given(paired, randoms)
    def test_of_which_half_a_character_is_lost_are_invalid(self, name: str, text: str, random: Random) -> None:
        found = without_one(text, random)
        events = TEXTS[name](quoted(pieces_of(found, random)))
        for message in ends(events, random, response_schema=SCHEMA):
            assert (message.outcome, message.errors[0].message) == (Outcome.INVALID, LOST)
            assert [(error.kind, error.source) for error in message.errors] == [(ErrorKind.JSON, "content")]
            assert message.answer != {"it": joined(found)}

    @examples(0.1)
    @given(paired, randoms)
    def test_that_are_plain_text_are_shown_as_they_came(self, name: str, text: str, random: Random) -> None:
        found = without_one(text, random)
        for message in ends(TEXTS[name](pieces_of(found, random)), random):
            assert (message.outcome, message.content) == (Outcome.COMPLETE, joined(found))
