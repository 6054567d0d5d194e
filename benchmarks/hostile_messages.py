"""Hostile streams of every provider's shape, of any size, for the entry points around messages."""

import asyncio
import json
from collections.abc import Callable, Iterable
from functools import reduce
from math import isqrt

import jsontide as js
from benchmarks.hostile import CASES, Call, adrain, case, cut, drain
from jsontide import messages, providers
from jsontide.testing import Recording

__all__ = ["CASES"]

ANSWER: dict[str, object] = {"type": "object", "properties": {"rows": {"type": "array"}}}


def chat(delta: dict[str, object], finish: str | None = None) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def chat_call(text: str, index: int = 0, name: str | None = None) -> dict[str, object]:
    function = {"arguments": text} if name is None else {"arguments": text, "name": name}
    return chat({"tool_calls": [{"index": index, "id": f"call_{index}" if name else None, "function": function}]})


def rows(n: int) -> list[str]:
    return cut('{"rows": [' + ",".join(str(number) for number in range(n)) + "]}")


def chat_tool(n: int) -> list[object]:
    return [chat_call("", name="plan"), *(chat_call(piece) for piece in rows(n)), chat({}, "tool_calls")]


def chat_answer(n: int) -> list[dict[str, object]]:
    return [*(chat({"content": piece}) for piece in rows(n)), chat({}, "stop")]


def sse(found: Iterable[object]) -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in found)


def responses(kind: str, **fields: object) -> dict[str, object]:
    return {"type": f"response.{kind}", "output_index": 0, "item_id": "item", **fields}


def responses_parts(n: int) -> list[object]:
    deltas = (responses("output_text.delta", content_index=part, delta="word ") for part in range(n))
    return [responses("created"), *deltas, responses("completed", response={"status": "completed"})]


def responses_done(n: int) -> list[object]:
    both = (
        (
            responses("output_text.delta", content_index=0, delta="word "),
            responses("output_text.done", content_index=0, text="word " * (number + 1)),
        )
        for number in range(isqrt(n))
    )
    return [responses("created"), *(event for pair in both for event in pair)]


def gemini(call: object) -> dict[str, object]:
    return {"candidates": [{"content": {"parts": [{"functionCall": call}]}}]}


def partial_args(numbers: Iterable[int]) -> list[dict[str, object]]:
    return [{"jsonPath": f"$.rows[{number}]", "numberValue": number} for number in numbers]


def gemini_one_event(n: int) -> list[object]:
    first = gemini({"name": "plan", "willContinue": True})
    return [first, gemini({"partialArgs": partial_args(range(n)), "willContinue": True}), gemini({})]


def gemini_events(n: int) -> list[object]:
    parts = (gemini({"partialArgs": partial_args([number]), "willContinue": True}) for number in range(n))
    return [gemini({"name": "plan", "willContinue": True}), *parts, gemini({})]


def anthropic(n: int) -> list[object]:
    start = {"type": "tool_use", "id": "toolu", "name": "plan", "input": {}}
    deltas = (
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": piece}}
        for piece in rows(n)
    )
    return [
        {"type": "message_start", "message": {"id": "msg", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": start},
        *deltas,
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    ]


def interactions(n: int) -> list[object]:
    step = {"type": "function_call", "id": "call", "name": "plan", "arguments": ""}
    deltas = (
        {"event_type": "step.delta", "index": 0, "delta": {"type": "arguments_delta", "arguments": piece}}
        for piece in rows(n)
    )
    return [{"event_type": "step.start", "index": 0, "step": step}, *deltas, {"event_type": "step.stop", "index": 0}]


def bedrock(n: int) -> list[object]:
    start = {"toolUse": {"toolUseId": "call", "name": "plan"}}
    deltas = (
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {"input": piece}}}} for piece in rows(n)
    )
    return [{"contentBlockStart": {"contentBlockIndex": 0, "start": start}}, *deltas]


def ollama(n: int) -> list[object]:
    return [{"message": {"content": "word "}, "done": False} for _ in range(n)]


def cohere(n: int) -> list[object]:
    start = {"id": "call", "function": {"name": "plan", "arguments": ""}}
    deltas = (
        {
            "type": "tool-call-delta",
            "index": 0,
            "delta": {"message": {"tool_calls": {"function": {"arguments": piece}}}},
        }
        for piece in rows(n)
    )
    return [{"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": start}}}, *deltas]


STREAMS: dict[str, Callable[[int], list[object]]] = {
    "Chat Completions, arguments in n pieces": chat_tool,
    "Responses, n parts": responses_parts,
    "Responses, all text so far after each delta, n words in all": responses_done,
    "Anthropic, arguments in n pieces": anthropic,
    "Gemini, n partialArgs in one event": gemini_one_event,
    "Gemini, partialArgs in n events": gemini_events,
    "Gemini Interactions, arguments in n pieces": interactions,
    "Bedrock, arguments in n pieces": bedrock,
    "Ollama, n deltas": ollama,
    "Cohere, arguments in n pieces": cohere,
}


def read(messages: Iterable[js.Message]) -> None:
    for message in messages:
        _ = message.answer, message.tool_calls


def add_stream(given: str, make: Callable[[int], list[object]]) -> None:
    @case("stream_message MessageStream detect", given)
    def _(n: int) -> Call:
        found = make(n)
        return lambda: read(js.stream_message(found))


for _given, _stream in STREAMS.items():
    add_stream(_given, _stream)


@case("astream_message AsyncMessageStream", "Chat Completions, arguments in n pieces")
def async_message(n: int) -> Call:
    found = chat_tool(n)
    return lambda: adrain(js.astream_message, found)


@case("stream_message", "n events in one read, with a response schema")
def one_read(n: int) -> Call:
    data = sse(chat_answer(n))
    return lambda: read(js.stream_message([data], response_schema=ANSWER))


@case("stream_message Tool", "n events in one read, with a tool that streams")
def one_read_tool(n: int) -> Call:
    data = sse(chat_tool(n))
    tools = [js.Tool("plan", ANSWER, stream=True)]
    return lambda: read(js.stream_message([data], tools=tools))


@case("stream_message", "n calls")
def many_calls(n: int) -> Call:
    found = [*(chat_call("{}", index, "plan") for index in range(n)), chat({}, "tool_calls")]
    return lambda: drain(js.stream_message(found))


@case(
    "start_message reduce_chunk finish_message stop_message fail_message MessageState",
    "n deltas, errors read after each",
)
def state_errors(n: int) -> Call:
    begun = messages.ToolCallDelta(index=0, name="plan", arguments='{"a" ')
    more = messages.ToolCallDelta(index=0, arguments="word ")
    deltas = [messages.Delta(tool_calls=(call,)) for call in (begun, *[more] * n)]
    chunks = [messages.CompletionChunk(choices=(messages.Choice(delta=delta),)) for delta in deltas]

    def run() -> None:
        state = messages.start_message(messages.MessageConfig(tools=[js.Tool("plan", ANSWER, stream=True)]))
        for chunk in chunks:
            state = messages.reduce_chunk(state, chunk)
            _ = state.errors
        messages.stop_message(state), messages.fail_message(state, "lost"), messages.finish_message(state)

    return run


@case("start_stream reduce_item finish_stream StreamState", "Chat Completions, arguments in n pieces")
def pure_stream(n: int) -> Call:
    found = chat_tool(n)

    def run() -> None:
        providers.finish_stream(reduce(providers.reduce_item, found, providers.start_stream()))

    return run


@case("to_request Message ToolResult", "n words of text, and a call with n words")
def next_request(n: int) -> Call:
    call = messages.CompleteCall("plan", {"words": ["word"] * n}, id="a", index=1)
    message = messages.Message((messages.TextPart("word " * n), call), messages.Outcome.COMPLETE)

    def run() -> None:
        for provider in providers.PROVIDERS:
            js.to_request(message, provider)
            js.to_request(messages.ToolResult(call, ["word"] * n), provider)
        messages.Message.from_json(message.to_json())

    return run


@case("tool_definitions why_not_strict to_json_schema", "a schema of n properties")
def definitions(n: int) -> Call:
    properties = {f"word{at}": {"type": "string"} for at in range(n)}
    tool = js.Tool("plan", {"type": "object", "properties": properties})

    def run() -> None:
        for provider in providers.PROVIDERS:
            js.tool_definitions([tool], provider)
            providers.why_not_strict([tool], provider)

    return run


async def wait(arguments: object) -> object:
    await asyncio.sleep(0)
    return arguments


@case("run_tools arun_tools", "n calls")
def many_runs(n: int) -> Call:
    calls = tuple(messages.CompleteCall("plan", {"a": 1}, index=at) for at in range(n))
    message = messages.Message(calls, messages.Outcome.COMPLETE)
    tool, waiting = js.Tool("plan", function=str), js.Tool("plan", function=wait)

    def run() -> None:
        js.run_tools(message, [tool])
        asyncio.run(js.arun_tools(message, [waiting]))

    return run


@case("decode_sse SseState", "one line in n pieces")
def sse_line(n: int) -> Call:
    chunks = [b"data: {", *[b"word"] * n, b"\n\n"]

    def run() -> None:
        state = providers.SseState()
        for chunk in chunks:
            state, _ = providers.decode_sse(state, chunk)

    return run


@case("decode_sse", "one event of n lines")
def sse_lines(n: int) -> Call:
    chunks = [*[b"data: x\n"] * n, b"\n"]

    def run() -> None:
        state = providers.SseState()
        for chunk in chunks:
            state, _ = providers.decode_sse(state, chunk)

    return run


@case("decode_ndjson finish_ndjson NdjsonState", "one line in n pieces")
def ndjson_line(n: int) -> Call:
    def run() -> None:
        state = providers.NdjsonState()
        for chunk in [b"{", *[b"word"] * n]:
            state, _ = providers.decode_ndjson(state, chunk)
        providers.finish_ndjson(state)

    return run


@case("testing.Recording", "n events")
def recording(n: int) -> Call:
    found = chat_answer(n)
    return lambda: Recording.of_events(found).replay(seed=1)
