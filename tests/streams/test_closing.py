"""Every loop closes the generator that it pulls from before it returns, however it ends."""

import asyncio
import gc
import io
import json
from collections.abc import Callable
from contextlib import aclosing, closing
from typing import Any

import pytest

from jsontide import (
    JsonStreamError,
    achunk_snapshots,
    afirst_value,
    aitems,
    aloads,
    astream_message,
    astream_model,
    atext_deltas,
    avalues,
    chunk_snapshots,
    first_value,
    items,
    loads,
    stream_message,
    stream_model,
    text_deltas,
    values,
)
from jsontide.streams import astates, states
from tests.streams.arriving import Source

DONE = "data: [DONE]\n\n"
TEXT = ('["a', 'b", ', '"c"]')

LOOPS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "values": (values, avalues),
    "states": (states, astates),
    "text_deltas": (lambda chunks: text_deltas(chunks, "[0]"), lambda chunks: atext_deltas(chunks, "[0]")),
    "items": (lambda chunks: items(chunks, "root"), lambda chunks: aitems(chunks, "root")),
    "model": (lambda chunks: stream_model(chunks, list[str]), lambda chunks: astream_model(chunks, list[str])),
    "snapshots": (chunk_snapshots, achunk_snapshots),
}
SNAPSHOTS = ('["a"]', '["ab"]', '["ab", "c"]')

loops = pytest.mark.parametrize("name", LOOPS)


def source_of(name: str) -> Source:
    return Source(SNAPSHOTS if name == "snapshots" else TEXT)


@loops
def test_closing_closes_the_generator_that_somebody_holds(name: str) -> None:
    source = source_of(name)
    chunks = iter(source)
    with closing(LOOPS[name][0](chunks)) as found:
        next(found)
    assert source.is_closed
    assert source.pulled < 3
    assert list(chunks) == []


@loops
def test_closing_an_asynchronous_one_does_so_before_it_returns(name: str) -> None:
    source = source_of(name)

    async def look() -> None:
        chunks = aiter(source)
        async with aclosing(LOOPS[name][1](chunks)) as found:
            await anext(found)
            assert not source.is_closed
        assert source.is_closed
        assert [chunk async for chunk in chunks] == []

    asyncio.run(look())


@pytest.mark.parametrize("name", [name for name in LOOPS if name != "snapshots"])
def test_bad_text_closes_it_before_it_raises(name: str) -> None:
    source, later = Source(["[1, x", "2", "3"]), Source(["[1, x", "2", "3"])

    async def look() -> None:
        with pytest.raises(JsonStreamError):
            [found async for found in LOOPS[name][1](aiter(later))]
        assert later.is_closed

    chunks = iter(source)
    with pytest.raises(JsonStreamError):
        list(LOOPS[name][0](chunks))
    assert source.is_closed
    asyncio.run(look())


def test_a_value_that_is_found_closes_it() -> None:
    source, later = Source(TEXT), Source(TEXT)

    async def look() -> None:
        chunks = aiter(later)
        assert await afirst_value(chunks, "[0]") == "ab"
        assert later.is_closed

    chunks = iter(source)
    assert first_value(chunks, "[0]") == "ab"
    assert source.is_closed
    assert source.pulled == 2
    asyncio.run(look())


def test_loads_closes_it_where_the_text_is_bad() -> None:
    source, later = Source(["[1, x", "2", "3"]), Source(["[1, x", "2", "3"])

    async def look() -> None:
        chunks = aiter(later)
        with pytest.raises(JsonStreamError):
            await aloads(chunks)
        assert later.is_closed

    chunks = iter(source)
    with pytest.raises(JsonStreamError):
        loads(chunks)
    assert source.is_closed
    assert source.pulled == 1
    asyncio.run(look())


def test_a_message_that_is_over_closes_it() -> None:
    source, later = Source([DONE, DONE]), Source([DONE, DONE])

    async def look() -> None:
        chunks = aiter(later)
        assert len([message async for message in astream_message(chunks)]) == 1
        assert later.is_closed

    chunks = iter(source)
    assert len(list(stream_message(chunks))) == 1
    assert source.is_closed
    assert source.pulled == 1
    asyncio.run(look())


def test_an_answer_that_is_over_closes_it() -> None:
    answer = {"choices": [{"index": 0, "delta": {"content": "[1]"}, "finish_reason": "stop"}]}
    events = [f"data: {json.dumps(answer)}\n\n", "data: [DONE]\n\n", ": still open\n\n"]
    source, later = Source(events), Source(events)

    async def look() -> None:
        chunks = aiter(later)
        assert [shown async for shown in astream_model(chunks, list[int])][-1] == [1]
        assert (later.is_closed, later.pulled) == (True, 2)

    chunks = iter(source)
    assert list(stream_model(chunks, list[int]))[-1] == [1]
    assert (source.is_closed, source.pulled) == (True, 2)
    asyncio.run(look())


@loops
def test_what_is_no_generator_stays_open(name: str) -> None:
    text = '["ab"]\n' if name == "snapshots" else '["ab",\n"c",\n"d"]\n'
    with io.StringIO(text) as file:
        with closing(LOOPS[name][0](file)) as found:
            next(found)
        assert not file.closed
    with io.StringIO(text) as file:
        list(LOOPS[name][0](file))
        assert not file.closed


@pytest.mark.long
@loops
def test_no_generator_is_left_for_the_event_loop_to_finish(name: str) -> None:
    source = source_of(name)

    async def look() -> None:
        left: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: left.append(context))
        async with aclosing(LOOPS[name][1](aiter(source))) as found:
            await anext(found)
        gc.collect()
        tasks = asyncio.all_tasks()
        assert left == []
        assert tasks == {asyncio.current_task()}

    gc.collect()  # clients that other tests left make tasks of their own when they are collected
    asyncio.run(look())
