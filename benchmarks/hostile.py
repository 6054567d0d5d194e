"""Hostile input of any size for what reads and writes streams.

A case makes input of a size, and uses it in one call: all that a program would do with it.
The work of a call should follow the size; `benchmarks.growth` measures whether it does.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial, reduce
from itertools import accumulate as running
from math import isqrt
from typing import Any, Literal, TypeVar

import jsontide as js
from benchmarks.whole_way.streams import (
    ANTHROPIC_TOOL,
    CHAT_TEXT,
    CHAT_TOOL,
    GEMINI_PARTIAL,
    NAME,
    OLLAMA_TEXT,
    Event,
    Format,
    Response,
    chat,
    gemini,
    gemini_arguments,
)
from jsontide import frontends, messages, providers, schema, snapshots, streams

Call = Callable[[], object]
Look = Callable[[js.ParserState], object]
T = TypeVar("T")

NO_LIMITS = js.Limits(max_depth=10**9, max_chars=10**9, max_string=10**9, max_number=10**9, max_nodes=10**9)

WIDE = "Each value that is held is a list or dict of its own, as long as the container was then."
DEEP = (
    "A read asks of each open container whether a program holds it; "
    "`max_depth` allows 512 unless it is raised, as here."
)
LONG = "Each value that is held has a string of its own, as long as it was then."
COLLECTED = (
    "Python's garbage collector goes through all open containers again when there are many more of them, "
    "which shows as a step between two sizes; with it switched off the exponent is 1.0 to 1.1."
)
DIGITS = "Python's own conversion of n digits is quadratic; `max_number` allows 4,300 unless it is raised, as here."
FORK = "A branch copies what its state can see, so each costs as much as the document before it."
STEPS = "JSON Patch sends a string again, as a whole, each time it grows; in steps it does so rarely."
COPIED = "Each state's value that is read back is a list or dict of its own."


@dataclass(frozen=True)
class Case:
    """One kind of input for some entry points; `why` explains growth that is more than linear."""

    entries: tuple[str, ...]
    given: str
    build: Callable[[int], Call]
    """Makes input of a size, and returns the call that is measured."""
    start: int
    why: str


CASES: list[Case] = []


def case(  # noqa: PLR0913 - a row of a table
    entries: str, given: str, make: Callable[[int], T], use: Callable[[T], object], *, start: int = 500, why: str = ""
) -> None:
    """Add a case for entry points, named with spaces between them; `start` is the smallest size worth measuring."""

    def build(n: int) -> Call:
        made = make(n)
        return lambda: use(made)

    CASES.append(Case(tuple(entries.split()), given, build, start, why))


def cut(text: str, size: int = 4) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def drain(found: Iterable[object]) -> int:
    return sum(1 for _ in found)


async def drain_async(found: AsyncIterator[object]) -> int:
    return sum([1 async for _ in found])


async def asynchronous(source: Iterable[Any]) -> AsyncIterator[Any]:
    for one in source:
        yield one


# Text into values and events.

DOCUMENTS: dict[str, Callable[[int], str]] = {
    "a long string": lambda n: json.dumps({"a": "x" * n * 4}),
    "n escapes": lambda n: '["' + "\\u00e9\\n" * n + '"]',
    "n numbers": lambda n: json.dumps(list(range(n))),
    "n members": lambda n: json.dumps({f"k{i}": i for i in range(n)}),
    "a repeated key, then n members": lambda n: '{"a":1,"a":2,' + json.dumps({f"k{i}": i for i in range(n)})[1:],
    "one key n times": lambda n: "{" + ",".join('"a":1' for _ in range(n)) + "}",
    "n empty objects": lambda n: "[" + ",".join("{}" for _ in range(n)) + "]",
    "n arrays inside each other": lambda n: "[" * n + "]" * n,
    "n objects inside each other": lambda n: '{"a":' * n + "1" + "}" * n,
    "n newlines": lambda n: "[" + "\n" * n * 4 + "]",
    "a number of n digits": lambda n: "[" + "9" * n + "]",
}
HELD = {
    "a long string": LONG,
    "n escapes": LONG,
    "n numbers": WIDE,
    "n members": WIDE,
    "a repeated key, then n members": WIDE,
    "n empty objects": WIDE,
    "n arrays inside each other": DEEP,
    "n objects inside each other": DEEP,
}


def cut_document(given: str) -> Callable[[int], list[str]]:
    return lambda n: cut(DOCUMENTS[given](n))


def parse(chunks: Iterable[str], look: Look = id) -> js.ParserState:
    state = js.create_parser_state(limits=NO_LIMITS)
    for chunk in chunks:
        state = js.parse_chunk(state, chunk)
        look(state)
    return js.finalize(state)


def hold_two() -> Look:
    held: list[object] = [None, None]

    def look(state: js.ParserState) -> None:
        held.append(state.value)
        del held[0]

    return look


def accumulate(chunks: Iterable[str], on_error: Literal["event", "skip"] = "event") -> None:
    accumulator = js.JsonFragmentAccumulator(on_error=on_error, limits=NO_LIMITS)
    for chunk in chunks:
        accumulator.add_fragment(chunk)
    accumulator.finish()


for _given in DOCUMENTS:
    _chunks, _digits = cut_document(_given), DIGITS if "digits" in _given else ""
    _emitted = COLLECTED if _given == "n arrays inside each other" else _digits
    case("parse_chunk finalize create_parser_state", _given, _chunks, parse, why=_digits)
    case("get_resolved_value", _given, _chunks, lambda chunks: parse(chunks, js.get_resolved_value), why=_digits)
    _held = HELD.get(_given, _digits)
    case("ParserState", f"{_given}; two values held", _chunks, lambda chunks: parse(chunks, hold_two()), why=_held)
    case("JsonFragmentAccumulator", _given, _chunks, accumulate, why=_emitted)


MEMBERS, STRING = cut_document("n members"), cut_document("a long string")
case(
    "parse_chunk",
    "a state fed n times again",
    lambda n: [js.parse_chunk(js.create_parser_state(limits=NO_LIMITS), "[" + "1," * n)] * n,
    lambda states: [js.parse_chunk(state, "2,") for state in states],
    why=FORK,
)
case("values loads", "n members", MEMBERS, lambda chunks: (drain(js.values(chunks)), js.loads(chunks)))
case("text_deltas", "a long string", STRING, lambda chunks: drain(js.text_deltas(chunks, "a")))
skip = partial(accumulate, on_error="skip")
case("JsonFragmentAccumulator", 'n mistakes at one depth, on_error="skip"', lambda n: cut("[" + "x," * n), skip)
case("JsonFragmentAccumulator", 'n mistakes, each deeper, on_error="skip"', lambda n: cut("[x," * n), skip)


def match_globs(chunks: Iterable[str]) -> None:
    accumulator = js.JsonFragmentAccumulator(updates=False, limits=NO_LIMITS)
    accumulator.on(".".join(["**.a"] * 8), id)
    for chunk in chunks:
        accumulator.add_fragment(chunk)


case(
    "JsonFragmentAccumulator.on",
    "eight times `**` in a pattern, n levels",
    lambda n: cut('{"a":' * n),
    match_globs,
    start=50,
)

# Snapshots into text.


def contradict(values: Iterable[Any]) -> None:
    chunker = js.JsonStreamChunker()
    for value in values:
        with suppress(js.SnapshotConflict):
            chunker.process_value(value)


def chunk_texts(texts: Iterable[str]) -> None:
    chunker = snapshots.TextStreamChunker()
    for text in texts:
        chunker.process(text)


def chunk_once(text: str) -> None:
    state, _ = snapshots.feed_snapshots(snapshots.start_snapshots(), text)
    snapshots.finish_snapshots(state)


def nest(depth: int) -> list[Any]:
    return reduce(lambda inner, _: [inner], range(min(depth, 9_000)), list[Any]())


case(
    "JsonStreamChunker",
    "n snapshots, each contradicts the first",
    lambda n: [{"at": [number]} for number in range(n)],
    contradict,
)
case(
    "TextStreamChunker",
    "a text that grows, n characters in all",
    lambda n: ["word " * number for number in range(isqrt(n))],
    chunk_texts,
    start=10_000,
)
case(
    "chunk_snapshots",
    "an array that grows, n numbers in all",
    lambda n: [json.dumps(list(range(number))) for number in range(1, isqrt(n))],
    lambda texts: drain(js.chunk_snapshots(texts)),
    start=10_000,
)
case(
    "snapshots.feed_snapshots snapshots.start_snapshots snapshots.finish_snapshots",
    "one snapshot of n members",
    DOCUMENTS["n members"],
    chunk_once,
)
case(
    "snapshots.feed_snapshot_values",
    "one value, n arrays inside each other",
    nest,
    lambda value: snapshots.feed_snapshot_values(snapshots.start_snapshots(), value),
)

# Schemas.

Rules = dict[str, object]
ANY_TREE: Rules = {
    "anyOf": [
        {"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"type": "integer"}}, "required": ["b"]},
        {"type": "object", "properties": {"a": {"$ref": "#"}, "c": {"type": "integer"}}, "required": ["c"]},
        {"type": "integer"},
    ]
}
NUMBERS: Rules = {"type": "array", "items": {"type": "number", "multipleOf": 0.01}}
UNIQUE: Rules = {"type": "array", "uniqueItems": True, "items": {"type": "object"}}
PATTERNS: Rules = {"type": "array", "items": {"type": "string", "pattern": "^(a+)+$"}}


def resolve(rules: Rules, chunks: Iterable[str]) -> object:
    state, last = js.create_parser_state(limits=NO_LIMITS), None
    for chunk in chunks:
        state = js.parse_chunk(state, chunk)
        last = schema.from_json_ast(rules, state, last)
    return schema.from_json_ast(rules, js.finalize(state), last).errors


def stream_model(rules: Rules, chunks: Sequence[str]) -> None:
    with suppress(js.SchemaError, js.JsonStreamError):
        drain(js.stream_model(chunks, rules))


def schema_case(given: str, rules: Rules, make: Callable[[int], str], start: int = 500) -> None:
    for name, use in (("from_json_ast", resolve), ("stream_model", stream_model)):
        case(name, given, lambda n: cut(make(n)), partial(use, rules), start=start)


schema_case("n levels of a recursive union", ANY_TREE, lambda n: '{"a":' * n + "1" + ',"c":1}' * n, start=10)
schema_case("n numbers with multipleOf 0.01", NUMBERS, lambda n: json.dumps([number / 100 for number in range(n)]))
schema_case("n different objects with uniqueItems", UNIQUE, lambda n: json.dumps([{"k": i} for i in range(n)]))
schema_case("a nested quantifier and n characters", PATTERNS, lambda n: json.dumps(["a" * n + "b"]), start=10)
case(
    "from_json_ast",
    "a schema with n definitions",
    lambda n: {f"k{i}": {"type": "object", "properties": {"a": {"type": "integer"}}} for i in range(n)},
    lambda properties: resolve({"type": "object", "properties": properties}, ["{"]),
    start=50,
)

# Streams of every provider's shape.

ANSWER: Rules = {"type": "object", "properties": {"rows": {"type": "array"}}}


def rows(n: int) -> list[str]:
    return cut('{"rows": [' + ",".join(map(str, range(n))) + "]}")


def written(form: Format, n: int) -> list[Event]:
    """A response with n numbers, or with n words."""
    return [*Response(form, ["word "] * n if form.reads == "text" else rows(n)).events]


def chat_calls(n: int) -> list[Event]:
    function = {"arguments": "{}", "name": "plan"}
    calls = ({"index": at, "id": f"call_{at}", "function": function} for at in range(n))
    return [*(chat({"tool_calls": [call]}) for call in calls), chat({}, "tool_calls")]


def sse(found: Iterable[Event]) -> list[bytes]:
    return [b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in found)]


def responses(kind: str, **fields: object) -> Event:
    return {"type": f"response.{kind}", "output_index": 0, "item_id": "item", **fields}


def responses_parts(n: int) -> list[Event]:
    deltas = (responses("output_text.delta", content_index=part, delta="word ") for part in range(n))
    return [responses("created"), *deltas, responses("completed", response={"status": "completed"})]


def responses_done(n: int) -> list[Event]:
    delta = responses("output_text.delta", content_index=0, delta="word ")
    texts = running(["word "] * isqrt(n))
    both = ((delta, responses("output_text.done", content_index=0, text=text)) for text in texts)
    return [responses("created"), *(event for pair in both for event in pair)]


def gemini_call(groups: Iterable[Iterable[int]]) -> list[Event]:
    """A call whose rows come in groups, one to an event."""
    partials = ([{"jsonPath": f"$.rows[{row}]", "numberValue": row} for row in group] for group in groups)
    return [*GEMINI_PARTIAL.head, *map(gemini_arguments, partials), gemini({"functionCall": {}})]


def interactions(n: int) -> list[Event]:
    step = {"type": "function_call", "id": "call", "name": "plan", "arguments": ""}
    deltas = ({"type": "arguments_delta", "arguments": piece} for piece in rows(n))
    return [
        {"event_type": "step.start", "index": 0, "step": step},
        *({"event_type": "step.delta", "index": 0, "delta": delta} for delta in deltas),
        {"event_type": "step.stop", "index": 0},
    ]


def bedrock(n: int) -> list[Event]:
    start = {"toolUse": {"toolUseId": "call", "name": "plan"}}
    uses = ({"toolUse": {"input": piece}} for piece in rows(n))
    return [
        {"contentBlockStart": {"contentBlockIndex": 0, "start": start}},
        *({"contentBlockDelta": {"contentBlockIndex": 0, "delta": use}} for use in uses),
    ]


def cohere(n: int) -> list[Event]:
    def call(kind: str, calls: Event) -> Event:
        return {"type": f"tool-call-{kind}", "index": 0, "delta": {"message": {"tool_calls": calls}}}

    start = call("start", {"id": "call", "function": {"name": "plan", "arguments": ""}})
    return [start, *(call("delta", {"function": {"arguments": piece}}) for piece in rows(n))]


CHAT = partial(written, CHAT_TOOL)
STREAMS: dict[str, Callable[[int], list[Event]]] = {
    "Chat Completions, arguments in n pieces": CHAT,
    "Responses, n parts": responses_parts,
    "Responses, all text so far after each delta, n words in all": responses_done,
    "Anthropic, arguments in n pieces": partial(written, ANTHROPIC_TOOL),
    "Gemini, n partialArgs in one event": lambda n: gemini_call([range(n)]),
    "Gemini, partialArgs in n events": lambda n: gemini_call([number] for number in range(n)),
    "Gemini Interactions, arguments in n pieces": interactions,
    "Bedrock, arguments in n pieces": bedrock,
    "Ollama, n deltas": partial(written, OLLAMA_TEXT),
    "Cohere, arguments in n pieces": cohere,
}


def read(found: Iterable[js.Message]) -> None:
    for message in found:
        _ = message.answer, message.tool_calls


for _given, _events in STREAMS.items():
    case("stream_message MessageStream detect", _given, _events, lambda found: read(js.stream_message(found)))
case(
    "astream_message AsyncMessageStream",
    "Chat Completions, arguments in n pieces",
    CHAT,
    lambda found: asyncio.run(drain_async(js.astream_message(asynchronous(found)))),
)
case(
    "stream_message",
    "n events in one read, with a response schema",
    lambda n: sse(Response(CHAT_TEXT, rows(n)).events),
    lambda reads: read(js.stream_message(reads, response_schema=ANSWER)),
)
case(
    "stream_message Tool",
    "n events in one read, with a tool that streams",
    lambda n: sse(CHAT(n)),
    lambda reads: read(js.stream_message(reads, tools=[js.Tool(NAME, ANSWER, stream_arguments=True)])),
)
case("stream_message", "n calls", chat_calls, lambda found: drain(js.stream_message(found)))


def long_message(n: int) -> js.Message:
    call = messages.CompleteCall("plan", {"words": ["word"] * n}, id="a", index=1)
    return messages.Message((messages.TextPart("word " * n), call), messages.Outcome.COMPLETE)


def request(message: js.Message) -> None:
    (call,) = message.tool_calls
    for provider in providers.PROVIDERS:
        js.to_request(message, provider)
        js.to_request(messages.ToolResult(call, call.partial), provider)
    messages.Message.from_json(message.to_json())


def wide_tool(n: int) -> js.Tool[Any]:
    return js.Tool("plan", {"type": "object", "properties": {f"word{at}": {"type": "string"} for at in range(n)}})


def define(tool: js.Tool[Any]) -> None:
    for provider in providers.PROVIDERS:
        js.tool_definitions([tool], provider)
        providers.why_not_strict([tool], provider)


case("to_request Message ToolResult", "n words of text, and a call with n words", long_message, request)
case("tool_definitions why_not_strict to_json_schema", "a schema of n properties", wide_tool, define)


def decode_sse(reads: Iterable[bytes]) -> None:
    reduce(lambda state, data: providers.feed_sse(state, data)[0], reads, providers.start_sse())


def decode_ndjson(reads: Iterable[bytes]) -> None:
    state = reduce(lambda state, data: providers.feed_ndjson(state, data)[0], reads, providers.start_ndjson())
    providers.finish_ndjson(state)


case("feed_sse start_sse", "one line in n pieces", lambda n: [b"data: {", *[b"word"] * n, b"\n\n"], decode_sse)
case("feed_sse", "one event of n lines", lambda n: [*[b"data: x\n"] * n, b"\n"], decode_sse)
case("feed_ndjson finish_ndjson start_ndjson", "one line in n pieces", lambda n: [b"{", *[b"word"] * n], decode_ndjson)
# Deltas and encoders.

TEXTS = {
    "a long string": DOCUMENTS["a long string"],
    "n members": DOCUMENTS["n members"],
    "n records": lambda n: json.dumps([{"id": i, "name": "word"} for i in range(n // 4)]),
}
ENCODERS: tuple[Callable[[], Any], ...] = (
    frontends.CompactEncoder,
    frontends.VercelEncoder,
    lambda: frontends.AgUiEncoder(thread_id="t", run_id="r"),
    lambda: frontends.AssistantTransportEncoder(message_id="m"),
    frontends.ObjectStreamEncoder,
)


def states_of(text: str) -> list[js.ParserState]:
    found: list[js.ParserState] = []
    parse(cut(text), found.append)
    return found


def follow(states: Iterable[js.ParserState]) -> None:
    writer, patches = frontends.CompactWriter(), frontends.PatchWriter(in_steps=True)
    shown, before = frontends.CompactValue(), None
    for state in states:
        writer, found = writer.write(frontends.read_changes(before, state))
        for event in found:
            shown = shown.read(json.loads(frontends.write_json(event)))
        patches, _ = patches.write(state)
        frontends.open_path(state)
        before = state
    patches.finish(before)


def encode(encoder: Any, found: Iterable[js.Message]) -> None:  # noqa: ANN401 - any encoder
    state, _ = encoder.begin()
    for message in found:
        state, _ = encoder.encode(state, message)


for _given, _make in TEXTS.items():
    case(
        "read_changes CompactWriter CompactValue PatchWriter write_json open_path",
        _given,
        partial(lambda make, n: states_of(make(n)), _make),
        follow,
        why=STEPS if _given == "a long string" else COPIED,
    )
    case("states", _given, partial(lambda make, n: cut(make(n)), _make), lambda chunks: drain(streams.states(chunks)))
for _encoder in ENCODERS:
    case(
        type(_encoder()).__name__,
        "arguments in n pieces",
        CHAT,
        partial(lambda make, found: encode(make(), js.stream_message(found)), _encoder),
    )
case(
    "CompactEncoder",
    "n states of a schema",
    lambda n: [*Response(CHAT_TEXT, rows(n)).events],
    lambda found: encode(frontends.CompactEncoder(), js.stream_message(found, response_schema=ANSWER)),
)
