"""What a pattern matches, followed through a stream: `text_deltas`, `items`, `first_value` and their async twins."""

import asyncio
import json
import sys
import tracemalloc
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Container, Iterable, Iterator
from enum import Enum
from inspect import iscoroutine
from itertools import takewhile
from random import Random
from typing import Any

import pytest
from hypothesis import given

from jsontide import (
    MISSING,
    JsonStreamError,
    JsonValue,
    Missing,
    PathSyntaxError,
    Reason,
    afirst_value,
    aitems,
    atext_deltas,
    first_value,
    items,
    text_deltas,
)
from jsontide._path import path_text
from jsontide.tree import Segment
from tests import oracles
from tests.cuts import Chunks, every, prefixes, singles
from tests.oracles import Fault, ModelNode, Path, Step, Steps, matches
from tests.relations import fault_in, flat
from tests.seeded import ODD_KEYS
from tests.strategies import bad_texts, cut_documents, documents, examples, randoms, spell_pattern, texts
from tests.streams.arriving import Source

Place = tuple[Path, ModelNode]
KINDS = ("object", "array", "string", "number", "boolean", "null")
CONTAINERS = KINDS[:2]
CUT_SHORT = ("CONTROL_CHARACTER", "BAD_ESCAPE")
"""Faults inside a string: the model shows such a string as if it had ended there."""


# What must be found, from the models.


def places(prefix: str) -> list[Place]:
    """All values of a possible prefix with their paths, inner ones before those around them."""
    made = oracles.nodes(prefix)

    def walk(number: int, path: Path) -> Iterator[Place]:
        node = made[number]
        for at, child in enumerate(node.children or ()):
            yield from walk(child, (*path, at if node.keys is None else node.keys[at]))
        yield path, node

    return list(walk(0, ())) if made else []


def held(text: str) -> tuple[list[Place], Fault | None]:
    """The values of all documents in a text that has ended, and its fault: one document may follow another."""
    found: list[Place] = []
    start = 0
    while True:
        # Only the beginning of a text can be a byte order mark.
        gap = " " if start else ""
        fault = oracles.fault(gap + text[start:], ended=True)
        if fault is None:
            return found + places(text[start:] + " "), None
        place = start + fault.index - len(gap)
        if fault.reason != "TRAILING_TEXT":
            rest = places(oracles.possible_part(gap + text[start:], fault))
            broken = fault.path if fault.reason in CUT_SHORT else None
            found += [(path, node._replace(closed=node.closed and path != broken)) for path, node in rest]
            return found, Fault(fault.reason, place, fault.path)
        found += places(text[start:place] + " ")
        start = place


def deltas_of(found: Iterable[Place], steps: Steps) -> str:
    return "".join(node.buffer or "" for path, node in found if node.type == "string" and matches(steps, path))


def items_of(found: Iterable[Place], steps: Steps) -> list[Any]:
    names_items = bool(steps) and (steps[-1] is str or steps[-1] is int or isinstance(steps[-1], slice))
    inside = [
        (path, node)
        for path, node in found
        if path and node.closed and matches(steps, path if names_items else path[:-1])
    ]
    return [[path[-1], node.resolved_value] for path, node in inside]


def values_of(found: Iterable[Place], steps: Steps) -> list[Any]:
    return [node.resolved_value for path, node in found if node.closed and matches(steps, path)]


def steps_into(text: str, random: Random, kinds: Container[str] = KINDS) -> Steps:
    """A path that the text has, of a value of certain kinds if it can be, with some of its steps made to match more."""
    found, _ = held(text)
    wanted = [path for path, node in found if node.type in kinds]
    path = random.choice(wanted or [path for path, _ in found] or [()])
    if random.random() < 0.4:
        return path
    steps: list[Step] = [random.choice([segment, segment, type(segment), every_other(segment)]) for segment in path]
    for _ in range(random.choice((0, 0, 1, 2))):  # the model tries all ways to match, so no more than that
        at = random.randint(0, len(steps))
        steps[at : at + random.randint(0, 2)] = [...]
    return tuple(steps)


def every_other(segment: str | int) -> Step:
    return slice(segment % 2, None, 2) if isinstance(segment, int) else segment


def pattern_of(steps: Steps, random: Random) -> Any:
    """A text, or where nothing but keys and indices is in it, sometimes the tuple."""
    is_path = all(isinstance(step, str | int) for step in steps)
    return steps if is_path and random.random() < 0.4 else spell_pattern(steps, random)


# How to look.


def found_by(call: Callable[..., Any], chunks: Any, pattern: Any) -> list[Any]:
    """What a call finds; the last entry is the error if it raised."""
    result: list[Any] = []
    try:
        found = call(chunks, pattern)
        result.extend([found] if call is first_value else map(list, found) if call is items else found)
    except JsonStreamError as error:
        result.append(error.error)
    return result


def found_later_by(call: Callable[..., Any], chunks: Any, pattern: Any) -> list[Any]:
    """The same for a call with an asynchronous stream."""

    async def collect() -> list[Any]:
        result: list[Any] = []
        try:
            found = call(chunks, pattern)
            if iscoroutine(found):
                result.append(await found)
            else:
                async for each in found:
                    result.append(list(each) if isinstance(each, tuple) else each)  # noqa: PERF401
        except JsonStreamError as error:
            result.append(error.error)
        return result

    return asyncio.run(collect())


ALL = (text_deltas, items, first_value)
TWINS = ((text_deltas, atext_deltas), (items, aitems), (first_value, afirst_value))


# Whatever the document, the cut and the pattern.


@examples(2)
@given(cut_documents(documents), randoms)
def test_deltas_join_to_the_strings_that_match(document: tuple[str, Chunks], random: Random) -> None:
    text, chunks = document
    steps = steps_into(text, random, ["string"])
    deltas = list(text_deltas(chunks, pattern_of(steps, random)))
    assert "".join(deltas) == deltas_of(held(text)[0], steps)
    assert all(deltas)


@examples(1)
@given(cut_documents(texts()), randoms)
def test_deltas_of_a_chunk_are_yielded_before_the_next_is_pulled(document: tuple[str, Chunks], random: Random) -> None:
    text, chunks = document
    steps = steps_into(text, random, ["string"])
    source = Source(chunks)
    told = [(source.pulled, delta) for delta in text_deltas(source, pattern_of(steps, random))]
    for count, prefix in enumerate(prefixes(chunks)):
        so_far = "".join(delta for at, delta in takewhile(lambda each: each[0] <= count, told))  # noqa: B023 - used at once
        assert so_far == deltas_of(places(prefix), steps)


@examples(2)
@given(cut_documents(documents), randoms)
def test_items_are_the_elements_and_members_of_containers_that_match(
    document: tuple[str, Chunks], random: Random
) -> None:
    text, chunks = document
    steps = steps_into(text, random, CONTAINERS)
    assert flat(found_by(items, chunks, pattern_of(steps, random))) == flat(items_of(held(text)[0], steps))


@examples(1)
@given(cut_documents(texts()), randoms)
def test_items_of_a_chunk_are_yielded_before_the_next_is_pulled(document: tuple[str, Chunks], random: Random) -> None:
    text, chunks = document
    steps = steps_into(text, random, CONTAINERS)
    source = Source(chunks)
    told = [(source.pulled, list(item)) for item in items(source, pattern_of(steps, random))]
    for count, prefix in enumerate(prefixes(chunks)):
        so_far = [item for at, item in told if at <= count]
        assert flat(so_far) == flat(items_of(places(prefix), steps))


@examples(2)
@given(cut_documents(documents), randoms)
def test_a_value_is_the_first_that_is_complete_and_nothing_after_it_is_pulled(
    document: tuple[str, Chunks], random: Random
) -> None:
    text, chunks = document
    steps = steps_into(text, random)
    source = Source(chunks)
    found = first_value(source, pattern_of(steps, random))
    matching = values_of(held(text)[0], steps)
    assert flat(found) == flat(matching[0] if matching else MISSING)
    counts = [count for count, prefix in enumerate(prefixes(chunks)) if values_of(places(prefix), steps)]
    assert source.pulled == (counts[0] if counts else len(chunks))


@examples(1)
@given(cut_documents(bad_texts()), randoms)
def test_what_stands_before_bad_text_is_found_and_then_it_raises(document: tuple[str, Chunks], random: Random) -> None:
    text, chunks = document
    steps = steps_into(text, random)
    pattern = pattern_of(steps, random)
    before, fault = held(text)

    deltas = found_by(text_deltas, chunks, pattern)
    members = found_by(items, chunks, pattern)
    if fault:
        assert fault_in(deltas.pop()) == fault
        assert fault_in(members.pop()) == fault
    assert "".join(deltas) == deltas_of(before, steps)
    assert flat(members) == flat(items_of(before, steps))

    (found,) = found_by(first_value, chunks, pattern)
    matching = values_of(before, steps)
    if matching or not fault:
        assert flat(found) == flat(matching[0] if matching else MISSING)
    else:
        assert fault_in(found) == fault


@given(cut_documents(bad_texts()), randoms)
def test_async_twins_find_the_same(document: tuple[str, Chunks], random: Random) -> None:
    text, chunks = document
    pattern = pattern_of(steps_into(text, random), random)
    for call, twin in TWINS:
        wanted, source = Source(chunks), Source(chunks)
        found = flat(found_by(call, wanted, pattern))
        assert flat(found_later_by(twin, aiter(source), pattern)) == found
        assert source.pulled == wanted.pulled


# One behaviour each.


def test_deltas_are_decoded() -> None:
    text = r'{"a": "\"tab\t\u00e9 \ud83d\ude00\" é😀"}'
    for chunks in every(text):
        assert "".join(text_deltas(chunks, "a")) == json.loads(text)["a"]


def test_a_chunk_with_more_of_a_string_gives_one_delta() -> None:
    assert list(text_deltas(['{"a": "on', "e, ", "", '\\n"', "}"], "a")) == ["on", "e, ", "\n"]


def test_items_come_with_index_or_key() -> None:
    for chunks in every('[{"a": 1, "b": [2]}, ["x", {}]]'):
        assert list(items(chunks, "[0]")) == [("a", 1), ("b", [2])]
        assert list(items(chunks, "[1]")) == [(0, "x"), (1, {})]
        assert list(items(chunks, "root")) == [(0, {"a": 1, "b": [2]}), (1, ["x", {}])]
        assert list(items(chunks, ())) == list(items(chunks, "root"))


def test_items_may_be_named_themselves() -> None:
    for chunks in every('{"days": [1, {"a": 2}, [3]], "by name": {"x": 4, "y": []}}'):
        assert list(items(chunks, "days[*]")) == list(items(chunks, "days")) == [(0, 1), (1, {"a": 2}), (2, [3])]
        assert list(items(chunks, "days[1:]")) == [(1, {"a": 2}), (2, [3])]
        assert list(items(chunks, "days[*].*")) == [("a", 2)]
        assert list(items(chunks, "days[*][*]")) == [(0, 3)]
        assert list(items(chunks, '["by name"].*')) == [("x", 4), ("y", [])]
        assert list(items(chunks, '["by name"][*]')) == []


def test_a_key_that_is_written_twice_comes_twice() -> None:
    for chunks in every('{"a": {"b": 1, "c": 2, "b": "3"}}'):
        assert list(items(chunks, "a")) == [("b", 1), ("c", 2), ("b", "3")]
        assert first_value(chunks, "a.b") == 1
        assert first_value(chunks, "a") == {"b": "3", "c": 2}


def test_a_null_is_a_value_and_not_missing() -> None:
    for chunks in every('{"a": null}'):
        assert first_value(chunks, "a") is None
        assert first_value(chunks, "b") is MISSING


def test_documents_in_a_row_are_followed_one_after_the_other() -> None:
    for chunks in every('{"a": "x"}\n{"b": 1} {"a": "yz"}{"a": [7]}'):
        assert "".join(text_deltas(chunks, "a")) == "xyz"
        assert list(items(chunks, "root")) == [("a", "x"), ("b", 1), ("a", "yz"), ("a", [7])]
        assert list(items(chunks, "a")) == [(0, 7)]
        assert first_value(chunks, "b") == 1
        assert first_value(chunks, "a[0]") == 7


@pytest.mark.parametrize("key", ODD_KEYS)
def test_odd_keys_are_found(key: str) -> None:
    text = json.dumps({key: {key: "text", "z": [1]}, "other": {}})
    for chunks in (singles(text), [text]):
        for pattern in ((key,), path_text((key,))):
            assert list(items(chunks, pattern)) == [(key, "text"), ("z", [1])]
            assert first_value(chunks, pattern) == {key: "text", "z": [1]}
        assert "".join(text_deltas(chunks, (key, key))) == "text"
        assert "".join(text_deltas(chunks, path_text((key, key)))) == "text"


class Field(str, Enum):  # noqa: UP042 - as programs had to write it for long; text made of it says its name
    """Keys as many programs name them."""

    ANSWER = "answer"
    ODD = "odd key"


def test_keys_may_be_members_of_an_enum() -> None:
    text = '{"answer": {"odd key": "yes"}}'
    assert list(items(text, (Field.ANSWER,))) == [("odd key", "yes")]
    assert list(items(text, (Field.ANSWER, Field.ODD))) == []
    assert list(items(text, Field.ANSWER)) == [("odd key", "yes")]
    assert list(text_deltas(text, (Field.ANSWER, Field.ODD))) == ["yes"]


@pytest.mark.parametrize("text", ['{"a": ["x"]}', b'{"a": ["x"]}', bytearray(b'{"a": ["x"]}')])
def test_a_single_text_is_a_stream_of_one_chunk(text: Any) -> None:
    assert list(text_deltas(text, "a[0]")) == ["x"]
    assert list(items(memoryview(text) if isinstance(text, bytearray) else text, "a")) == [(0, "x")]
    assert first_value(text, "a") == ["x"]


# Errors.


@pytest.mark.parametrize("call", ALL)
@pytest.mark.parametrize("chunks", [[], [""], [" ", "\n"], "", b""])
def test_text_without_a_document_is_cut_off(call: Callable[..., Any], chunks: Any) -> None:
    (error,) = found_by(call, chunks, "a")
    assert error.reason is Reason.UNEXPECTED_END


def test_text_that_is_cut_off_raises_after_what_it_held() -> None:
    for chunks in every('{"a": ["x", "yz'):
        *deltas, error = found_by(text_deltas, chunks, "a[*]")
        assert "".join(deltas) == "xyz"
        assert error.reason is Reason.UNEXPECTED_END
        assert found_by(items, chunks, "a") == [[0, "x"], error]
        assert found_by(first_value, chunks, "a[0]") == ["x"]
        assert found_by(first_value, chunks, "a") == [error]


def test_an_error_raises_at_once_and_nothing_more_is_pulled() -> None:
    for call in ALL:
        source = Source(['{"a": ', "x", "never", "read"])
        (error,) = found_by(call, source, "a")
        assert error.reason is Reason.UNEXPECTED_CHARACTER
        assert source.pulled == 2


def test_an_error_raises_when_what_was_found_before_it_has_been_taken() -> None:
    found = items(["[1, 2, x"], "root")
    assert [next(found), next(found)] == [(0, 1), (1, 2)]
    with pytest.raises(JsonStreamError) as caught:
        next(found)
    assert caught.value.error.index == 7
    assert list(found) == []


def broken_chunks() -> Iterator[str]:
    yield '{"a": ["x", "y'
    raise ConnectionError


def test_an_error_of_the_source_comes_through_after_what_was_found() -> None:
    for call, expected in ((text_deltas, ["x", "y"]), (items, [(0, "x")])):
        pattern = "a[*]" if call is text_deltas else "a"
        found = call(broken_chunks(), pattern)
        assert [next(found) for _ in expected] == expected
        with pytest.raises(ConnectionError):
            next(found)
    assert first_value(broken_chunks(), "a[0]") == "x"
    with pytest.raises(ConnectionError):
        first_value(broken_chunks(), "a[1]")


def test_an_error_of_an_asynchronous_source_comes_through_after_what_was_found() -> None:
    async def first_then_error() -> list[str]:
        found = atext_deltas(aiter(Source(broken_chunks())), "a[*]")
        result = [await anext(found), await anext(found)]
        with pytest.raises(ConnectionError):
            await anext(found)
        return result

    assert asyncio.run(first_then_error()) == ["x", "y"]


# Nothing is pulled before it is asked for.


def test_calling_pulls_nothing() -> None:
    source = Source(["[1, 2]"])
    found = [text_deltas(source, "[0]"), items(source, "root"), atext_deltas(aiter(source), "[0]")]
    assert source.pulled == 0
    assert len(found) == 3


def test_a_stream_that_never_ends_is_followed_as_far_as_the_caller_asks() -> None:
    def endless() -> Iterator[str]:
        yield "["
        while True:
            yield '"x", '

    source = Source(endless())
    found = items(source, "root")
    assert [next(found) for _ in range(3)] == [(0, "x"), (1, "x"), (2, "x")]
    assert source.pulled == 4
    assert first_value(endless(), "[7]") == "x"
    assert first_value(endless(), "[2:]") == "x"


def test_leaving_early_stops_pulling() -> None:
    source = Source(["[1,", "2,", "3,", "4]"])
    for index, _ in items(source, "root"):
        if index == 1:
            break
    assert source.pulled == 2


def test_a_value_leaves_the_rest_of_the_stream_to_others_if_it_is_no_generator() -> None:
    pieces = ['{"head": [1], ', '"body": "', 'long"}']

    async def look() -> tuple[Any, list[Any]]:
        chunks = Arriving(*pieces)
        return await afirst_value(chunks, "head"), list(chunks.chunks)

    assert asyncio.run(look()) == ([1], pieces[1:])
    chunks = iter(pieces)
    assert first_value(chunks, "head") == [1]
    assert list(chunks) == pieces[1:]


class Arriving:
    """An asynchronous stream that is no generator."""

    def __init__(self, *chunks: str) -> None:
        self.chunks = iter(chunks)

    def __aiter__(self) -> AsyncIterator[str]:
        return self

    async def __anext__(self) -> str:
        return next(self.chunks)


def test_a_value_leaves_no_generator_for_the_event_loop_to_finish() -> None:
    async def look() -> list[Any]:
        left: list[Any] = []
        before = sys.get_asyncgen_hooks()
        sys.set_asyncgen_hooks(finalizer=left.append)
        try:
            assert await afirst_value(Arriving("[1,", "2]"), "[0]") == 1
        finally:
            sys.set_asyncgen_hooks(*before)
        return left

    assert asyncio.run(look()) == []


def test_a_task_that_waits_for_a_value_can_be_cancelled() -> None:
    async def silent() -> AsyncIterator[str]:
        yield '{"a": '
        await asyncio.Event().wait()

    async def look() -> None:
        task = asyncio.create_task(afirst_value(silent(), "a"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(look())


def kept_after(count: int) -> int:
    """Bytes in use while the last of many items is looked at."""
    chunks = ('{"rest": [' if not n else f'{{"id": {n}, "text": "{n}"}},' for n in range(count + 1))
    found = items(chunks, "rest")
    next(found)
    tracemalloc.start()
    try:
        for _ in range(count - 1):
            next(found)
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


@pytest.mark.untraced
def test_the_container_around_items_is_not_built() -> None:
    assert kept_after(5_000) < kept_after(50) + 5_000


# What is refused, and when.


EVERY_CALL = [
    *((call, lambda: Source(["[1]"])) for call, _ in TWINS),
    *((twin, lambda: aiter(Source(["[1]"]))) for _, twin in TWINS),
]
"""Each call with a stream for it."""


@pytest.mark.parametrize(("call", "chunks"), EVERY_CALL)
@pytest.mark.parametrize("pattern", ["", ".", "a[", "a..b", "a b", "[-1]", "a]", "***", (-1,), ("a", -2)])
def test_a_bad_pattern_is_refused_at_the_call(
    call: Callable[..., Any], chunks: Callable[[], Any], pattern: Any
) -> None:
    with pytest.raises(PathSyntaxError) as caught:
        call(chunks(), pattern)
    assert caught.value.pattern == (pattern if isinstance(pattern, str) else path_text(pattern))


@pytest.mark.parametrize(("call", "chunks"), EVERY_CALL)
@pytest.mark.parametrize("pattern", [None, 1, b"a", ("a", None), ("a", 1.0), (True,), {"a"}])
def test_what_is_no_pattern_is_refused_at_the_call(
    call: Callable[..., Any], chunks: Callable[[], Any], pattern: Any
) -> None:
    with pytest.raises(TypeError, match="pattern must"):
        call(chunks(), pattern)


class Both:
    """A stream of chunks for whoever asks, as some clients' responses are."""

    def __iter__(self) -> Iterator[str]:
        yield '["plain"]'

    async def __aiter__(self) -> AsyncIterator[str]:
        yield '["later"]'


def test_what_is_both_kinds_of_stream_is_read_as_the_name_says() -> None:
    assert found_later_by(afirst_value, Both(), "[0]") == ["later"]
    assert first_value(Both(), "[0]") == "plain"


def test_types_tell_plain_from_asynchronous() -> None:
    """Checked by mypy: the annotations hold without casts."""

    async def later(chunks: AsyncIterable[str]) -> tuple[list[str], list[tuple[Segment, JsonValue]]]:
        waiting: Awaitable[JsonValue | Missing] = afirst_value(aiter(Source(["[1]"])), "[0]")
        assert await waiting == 1
        return [delta async for delta in atext_deltas(chunks, "[0]")], [item async for item in aitems(chunks, "root")]

    deltas: list[str] = list(text_deltas(["[]"], "[0]"))
    pairs: list[tuple[Segment, JsonValue]] = list(items([b"[]"], "root"))
    found: JsonValue | Missing = first_value("[]", "[0]")
    assert (deltas, pairs, found) == ([], [], MISSING)
    assert asyncio.run(later(Both())) == (["later"], [(0, "later")])
