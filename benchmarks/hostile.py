"""Hostile input of any size for every public entry point.

A case takes a size and returns one call: all that a program would do with input of that size.
The work of a call should follow the size; `benchmarks.growth` measures whether it does.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import isqrt
from typing import TYPE_CHECKING, Any

import jsontide as js
from jsontide import events, schema, snapshots, tree

if TYPE_CHECKING:
    from typing import Unpack

    from jsontide.events._options import AccumulatorChoices

Call = Callable[[], object]
Build = Callable[[int], Call]

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


@dataclass(frozen=True)
class Case:
    """One kind of input for some entry points; `why` explains growth that is more than linear."""

    entries: tuple[str, ...]
    given: str
    build: Build
    start: int
    why: str


CASES: list[Case] = []


def case(entries: str, given: str, *, start: int = 500, why: str = "") -> Callable[[Build], Build]:
    """Add a case for entry points, named with spaces between them; `start` is the smallest size worth measuring."""

    def add(build: Build) -> Build:
        CASES.append(Case(tuple(entries.split()), given, build, start, why))
        return build

    return add


def cut(text: str, size: int = 4) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


async def asynchronous(source: Iterable[Any]) -> AsyncIterator[Any]:
    for one in source:
        yield one


def drain(found: Iterable[object]) -> int:
    return sum(1 for _ in found)


def adrain(make: Callable[[AsyncIterable[Any]], AsyncIterator[object]], source: Iterable[Any]) -> int:
    async def run() -> int:
        return sum([1 async for _ in make(asynchronous(source))])

    return asyncio.run(run())


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


def parse(chunks: Sequence[str], look: Callable[[js.ParserState], object]) -> js.ParserState:
    state = js.create_parser_state(limits=NO_LIMITS)
    for chunk in chunks:
        state = js.parse_chunk(state, chunk)
        look(state)
    return js.finalize(state)


def hold_two() -> Callable[[js.ParserState], object]:
    held: list[object] = [None, None]

    def look(state: js.ParserState) -> None:
        held.append(state.value)
        del held[0]

    return look


def accumulate(chunks: Iterable[str], **options: Unpack[AccumulatorChoices]) -> None:
    accumulator = js.JsonFragmentAccumulator(**options)
    for chunk in chunks:
        accumulator.add_fragment(chunk)
    accumulator.finish()


def step_events(chunks: Iterable[str]) -> None:
    state = events.create_event_state(limits=NO_LIMITS)
    for chunk in chunks:
        state, _ = events.add_fragment(state, chunk)
    events.finalize(state)


def add_document(given: str, make: Callable[[int], str]) -> None:
    """Every way to read one kind of document, in chunks of four characters."""
    digits = DIGITS if "digits" in given else ""
    emitted = COLLECTED if given == "n arrays inside each other" else digits

    def reading(look: Callable[[], Callable[[js.ParserState], object]]) -> Build:
        def build(n: int) -> Call:
            chunks = cut(make(n))
            return lambda: parse(chunks, look())

        return build

    def running(use: Callable[[Sequence[str]], object]) -> Build:
        def build(n: int) -> Call:
            chunks = cut(make(n))
            return lambda: use(chunks)

        return build

    case("parse_chunk finalize create_parser_state", given, why=digits)(reading(lambda: lambda _: None))
    case("get_resolved_value", given, why=digits)(reading(lambda: js.get_resolved_value))
    case("ParserState", f"{given}; two values held", why=HELD.get(given, digits))(reading(hold_two))
    case("JsonFragmentAccumulator", given, why=emitted)(running(lambda chunks: accumulate(chunks, limits=NO_LIMITS)))
    case("events.add_fragment events.create_event_state events.finalize", given, why=emitted)(running(step_events))


for _given, _make in DOCUMENTS.items():
    add_document(_given, _make)


def path_case(entry: str, look: Callable[[js.ParserState, int], object]) -> None:
    @case(entry, "n members, asked for after each chunk")
    def _(n: int) -> Call:
        chunks = [f'"k{i}": {i},' for i in range(n)]

        def run() -> None:
            state = js.parse_chunk(js.create_parser_state(limits=NO_LIMITS), "{")
            for number, chunk in enumerate(chunks):
                state = js.parse_chunk(state, chunk)
                look(state, number)

        return run


path_case("is_open", lambda state, number: js.is_open(state, (f"k{number}",)))
path_case("node_at", lambda state, number: tree.node_at(state, (f"k{number}",)))


@case("parse_chunk", "a state fed n times again", why=FORK)
def feed_again(n: int) -> Call:
    state = js.parse_chunk(js.create_parser_state(limits=NO_LIMITS), "[" + "1," * n)
    return lambda: [js.parse_chunk(state, "2,") for _ in range(n)]


@case("values loads", "n members")
def loop(n: int) -> Call:
    chunks = cut(DOCUMENTS["n members"](n))
    return lambda: (drain(js.values(chunks)), js.loads(chunks))


@case("avalues aloads", "n members")
def async_loop(n: int) -> Call:
    chunks = cut(DOCUMENTS["n members"](n))
    return lambda: (adrain(js.avalues, chunks), asyncio.run(js.aloads(asynchronous(chunks))))


@case("stream astream", "a long string")
def follow_string(n: int) -> Call:
    chunks = cut(DOCUMENTS["a long string"](n))
    return lambda: (drain(js.stream(chunks, "a")), adrain(lambda source: js.astream(source, "a"), chunks))


@case("items aitems", "n members")
def follow_items(n: int) -> Call:
    chunks = cut(DOCUMENTS["n members"](n))
    return lambda: (drain(js.items(chunks, "root")), adrain(lambda source: js.aitems(source, "root"), chunks))


@case("value avalue", "the last of n members")
def follow_value(n: int) -> Call:
    chunks = cut(DOCUMENTS["n members"](n))
    path = f"k{n - 1}"
    return lambda: (js.value(chunks, path), asyncio.run(js.avalue(asynchronous(chunks), path)))


@case("JsonFragmentAccumulator", "n documents")
def many_documents(n: int) -> Call:
    return lambda: accumulate('{"a": [1]}\n' for _ in range(n))


@case("JsonFragmentAccumulator", 'n mistakes at one depth, on_error="skip"')
def skip_flat(n: int) -> Call:
    return lambda: accumulate(cut("[" + "x," * n), on_error="skip", limits=NO_LIMITS)


@case("JsonFragmentAccumulator", 'n mistakes, each deeper, on_error="skip"')
def skip_deep(n: int) -> Call:
    return lambda: accumulate(cut("[x," * n), on_error="skip", limits=NO_LIMITS)


@case("JsonFragmentAccumulator.on Subscription", "n subscriptions, each cancelled")
def cancel(n: int) -> Call:
    def run() -> None:
        accumulator = js.JsonFragmentAccumulator()
        for subscription in [accumulator.on(f"k{i}", print) for i in range(n)]:
            subscription.cancel()
        accumulator.add_fragment("{}")

    return run


@case("JsonFragmentAccumulator.on", "a subscription with once=True before each of n fragments")
def once(n: int) -> Call:
    def run() -> None:
        accumulator = js.JsonFragmentAccumulator(updates=False)
        accumulator.add_fragment("[")
        for _ in range(n):
            accumulator.on("[*]", id, once=True)
            accumulator.add_fragment("1,")

    return run


@case("JsonFragmentAccumulator.on", "eight times `**` in a pattern, n levels", start=50)
def many_globs(n: int) -> Call:
    def run() -> None:
        accumulator = js.JsonFragmentAccumulator(updates=False, limits=NO_LIMITS)
        accumulator.on(".".join(["**.a"] * 8), id)
        for chunk in cut('{"a":' * n):
            accumulator.add_fragment(chunk)

    return run


# Snapshots into text.


@case("JsonStreamChunker", "n snapshots, each contradicts the first")
def contradict(n: int) -> Call:
    def run() -> None:
        chunker = js.JsonStreamChunker()
        chunker.process_value({"at": [0]})
        for number in range(1, n):
            with suppress(js.SnapshotConflict):
                chunker.process_value({"at": [number]})

    return run


@case("TextStreamChunker", "a text that grows, n characters in all", start=10_000)
def text_snapshots(n: int) -> Call:
    texts = ["word " * number for number in range(isqrt(n))]

    def run() -> None:
        chunker = snapshots.TextStreamChunker()
        for text in texts:
            chunker.process(text)

    return run


@case("chunk_snapshots achunk_snapshots", "an array that grows, n numbers in all", start=10_000)
def array_snapshots(n: int) -> Call:
    texts = [json.dumps(list(range(number))) for number in range(1, isqrt(n))]
    return lambda: (drain(js.chunk_snapshots(texts)), adrain(js.achunk_snapshots, texts))


@case("snapshots.add_snapshot snapshots.create_snapshot_state snapshots.finalize", "one snapshot of n members")
def one_snapshot(n: int) -> Call:
    text = DOCUMENTS["n members"](n)

    def run() -> None:
        state, _ = snapshots.add_snapshot(snapshots.create_snapshot_state(), text)
        snapshots.finalize(state)

    return run


@case("snapshots.add_value", "one value, n arrays inside each other")
def deep_snapshot(n: int) -> Call:
    value: list[Any] = []
    for _ in range(min(n, 9_000)):
        value = [value]

    return lambda: snapshots.add_value(snapshots.create_snapshot_state(), value)


@case("JsonStreamChunker", 'n members, all changed in the second snapshot, on_conflict="repair"')
def repair(n: int) -> Call:
    first, second = ({f"k{i}": {"a": at} for i in range(n)} for at in (1, 2))

    def run() -> None:
        chunker = js.JsonStreamChunker(on_conflict="repair")
        chunker.process_value(first)
        chunker.process_value(second)
        chunker.finish()

    return run


# Schemas.

ANY_TREE: dict[str, object] = {
    "anyOf": [
        {"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"type": "integer"}}, "required": ["b"]},
        {"type": "object", "properties": {"a": {"$ref": "#"}, "c": {"type": "integer"}}, "required": ["c"]},
        {"type": "integer"},
    ]
}
NUMBERS: dict[str, object] = {"type": "array", "items": {"type": "number", "multipleOf": 0.01}}
UNIQUE: dict[str, object] = {"type": "array", "uniqueItems": True, "items": {"type": "object"}}
PATTERNS: dict[str, object] = {"type": "array", "items": {"type": "string", "pattern": "^(a+)+$"}}


def resolve(rules: dict[str, object], chunks: Iterable[str]) -> object:
    state, last = js.create_parser_state(limits=NO_LIMITS), None
    for chunk in chunks:
        state = js.parse_chunk(state, chunk)
        last = schema.from_json_ast(rules, state, last)
    return schema.from_json_ast(rules, js.finalize(state), last).errors


def nested_union(n: int) -> str:
    return '{"a":' * n + "1" + ',"c":1}' * n


def schema_case(given: str, rules: dict[str, object], make: Callable[[int], str], start: int = 500) -> None:
    def stream(chunks: Sequence[str]) -> None:
        with suppress(js.SchemaError, js.JsonStreamError):
            drain(js.stream_model(chunks, rules))
        with suppress(js.SchemaError, js.JsonStreamError):
            adrain(lambda source: js.astream_model(source, rules), chunks)

    @case("from_json_ast", given, start=start)
    def _(n: int) -> Call:
        chunks = cut(make(n))
        return lambda: resolve(rules, chunks)

    @case("stream_model astream_model", given, start=start)
    def _(n: int) -> Call:
        chunks = cut(make(n))
        return lambda: stream(chunks)


schema_case("n levels of a recursive union", ANY_TREE, nested_union, start=10)
schema_case("n numbers with multipleOf 0.01", NUMBERS, lambda n: json.dumps([number / 100 for number in range(n)]))
schema_case("n different objects with uniqueItems", UNIQUE, lambda n: json.dumps([{"k": i} for i in range(n)]))
schema_case("a nested quantifier and n characters", PATTERNS, lambda n: json.dumps(["a" * n + "b"]), start=10)


@case("from_json_ast", "a schema with n definitions", start=50)
def large_schema(n: int) -> Call:
    def run() -> None:
        properties = {f"k{i}": {"type": "object", "properties": {"a": {"type": "integer"}}} for i in range(n)}
        schema.from_json_ast({"type": "object", "properties": properties}, js.create_parser_state())

    return run
