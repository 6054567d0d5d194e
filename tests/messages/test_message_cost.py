"""Law 8 for messages, by counting work: the cost of a delta does not depend on what came before it.

A message has `max_parts` parts at most; looking for the one that a delta is about costs a little for each of them.
"""

import json
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from statistics import median

import pytest

from jsontide.messages import (
    CompletionChunk,
    MessageConfig,
    MessageState,
    Tool,
    feed_message,
    finish_message,
    start_message,
)
from jsontide.providers import feed_stream, start_stream
from tests.messages.telling import call, end, text
from tests.meters import Meter, heap, interpreted, opcodes, untraced
from tests.test_cost import SAMPLE, SLACK, SMALL

A_PART: dict[Meter, int] = {opcodes: 150, heap: 40}
"""What each of the other parts may cost: a look at it, and its place in the new lists."""
SIZE = 128 * 1024
SIZES: dict[Meter, int] = {opcodes: SIZE, heap: SIZE // 4}
"""The allocator is watched at the price of time."""


def many(size: int) -> str:
    return json.dumps({"notes": [{"id": 1_000_000 + number, "text": "as it was told"} for number in range(size // 44)]})


def long(size: int) -> str:
    return json.dumps({"text": "as it was told, " * (size // 16)})


def deltas(document: str) -> list[CompletionChunk]:
    return [call("", index=0, id="a", name="write"), *(call(char, index=0) for char in document)]


@dataclass
class Note:
    id: int
    text: str


@dataclass
class Notes:
    notes: list[Note]


def costs(meter: Meter, state: MessageState, chunks: list[CompletionChunk]) -> list[int]:
    """What each chunk costs, with a look at the arguments after it."""
    found = []
    for chunk in chunks:
        cost, state = meter(lambda before=state, chunk=chunk: feed_message(before, chunk))  # type: ignore[misc]
        found.append(cost + meter(lambda after=state: after.message.tool_calls[-1].partial)[0])  # type: ignore[misc]
    return found


@pytest.mark.parametrize("written", [many, long])
def test_a_character_of_arguments_costs_the_same_early_and_late(meter: Meter, written: Callable[[int], str]) -> None:
    chunks = deltas(written(SIZES[meter]))
    early = untraced(lambda: reduce(feed_message, chunks[:200], start_message()))
    late = untraced(lambda: reduce(feed_message, chunks[200:-200], early))
    first = costs(meter, early, chunks[200 : 200 + SAMPLE])
    last = costs(meter, late, chunks[-200 : SAMPLE - 200])
    assert median(last) <= SLACK[meter] * median(first) + SMALL[meter]


def test_a_character_of_typed_arguments_costs_the_same_early_and_late(meter: Meter) -> None:
    pytest.importorskip("pydantic", reason="pydantic is not installed")
    chunks = deltas(many(SIZE // 8))
    start = start_message(MessageConfig(tools=[Tool("write", Notes)]))
    early = untraced(lambda: reduce(feed_message, chunks[:200], start))
    late = untraced(lambda: reduce(feed_message, chunks[200:-200], early))
    first = costs(meter, early, chunks[200 : 200 + SAMPLE])
    last = costs(meter, late, chunks[-200 : SAMPLE - 200])
    assert median(last) <= SLACK[meter] * median(first) + SMALL[meter]


def test_a_character_of_text_costs_the_same_early_and_late(meter: Meter) -> None:
    early = untraced(lambda: reduce(feed_message, [text("a")] * 200, start_message()))
    late = untraced(lambda: reduce(feed_message, [text("a")] * 20_000, early))

    def cost(state: MessageState) -> int:
        return meter(lambda: feed_message(state, text("b")))[0]

    assert cost(late) <= SLACK[meter] * cost(early) + SMALL[meter]


def test_reading_the_text_after_each_delta_costs_the_same_early_and_late() -> None:
    """Of the heap alone: what is held, the last message and its text, is never copied, however long it is."""

    def cost(size: int) -> float:
        state = reduce(feed_message, [text("as it was told, " * (size // 16))], start_message())
        shown, costs = "", []
        for _ in range(20):
            feeding, state = heap(lambda before=state: feed_message(before, text("b")))  # type: ignore[misc]
            reading, shown = heap(lambda after=state: after.message.content)  # type: ignore[misc]
            costs.append(feeding + reading)
        assert len(shown) == size + 20
        return median(costs)

    tracemalloc.start()
    try:
        assert cost(1024 * 1024) <= SLACK[heap] * cost(2 * 1024) + SMALL[heap]
    finally:
        tracemalloc.stop()


MORE: dict[str, CompletionChunk] = {
    "another call": call("{}", index=5_000, id="new", name="write"),
    "another call, as whole as it is": call({"a": 1}, id="new", name="write"),
    "an open call by its index": call("1", index=-1),
    "an open call by its id": call("1", id="open"),
    "an open call by a shifted index": call("1", index=7_000, id="open"),
    "the last open call": call("1"),
    "a call that is closed": call("", index=3, id="3", name="write"),
    "a call that is closed, by its id": call("", id="3"),
    "text": text("b"),
    "the end": end(),
}


@pytest.mark.parametrize("emulate", [False, True])
def test_a_delta_costs_little_for_each_of_the_calls_that_were_made(meter: Meter, *, emulate: bool) -> None:
    config = MessageConfig(response_schema={"type": "object"}, emulate_structured_output=True) if emulate else None
    first = [call("[", index=-1, id="open", name="write")]

    def costs(calls: int) -> dict[str, int]:
        """What each delta costs after the same calls, which are made once for all of them."""
        made = (call("{}", index=at, id=str(at), name="write") for at in range(calls))
        state = untraced(lambda: reduce(feed_message, [*first, *made], start_message(config)))
        found = {}
        for name, more in MORE.items():
            tries = []
            for _ in range(3):
                state = feed_message(state, call(" ", index=-1))
                tries.append(meter(lambda: feed_message(state, more))[0])  # noqa: B023
            found[name] = min(tries)
        return found

    few, many = 20, 900
    early, late = costs(few), costs(many)
    for name in MORE:
        assert late[name] <= SLACK[meter] * early[name] + SMALL[meter] + A_PART[meter] * (many - few), name


UNCLEAR: dict[str, CompletionChunk] = {
    "no index and no id": call("1"),
    "no index and no id, by name": call("1", name="write0"),
    "no index and no id, by a name that is new": call("1", name="read"),
    "no index and a new id": call("1", id="new"),
    "a new index": call("1", index=7_000),
    "whole, without an id": call({"a": 1}, name="write"),
    "says nothing": call(""),
}


@pytest.mark.parametrize("tools", [(), ("write", "read")])
@pytest.mark.parametrize("begun", ["", "["])
@pytest.mark.parametrize("more", UNCLEAR)
def test_a_delta_that_may_belong_to_any_call_costs_little_for_each_that_is_open(
    meter: Meter, more: str, begun: str, tools: tuple[str, ...]
) -> None:
    """Each call is put in doubt once; after that it costs nothing any more."""
    config = MessageConfig(tools=[Tool(name) for name in tools])

    def cost(calls: int) -> int:
        made = [call(begun, id=str(at), name="write") for at in range(calls)]
        state = untraced(lambda: reduce(feed_message, [*made, UNCLEAR[more]], start_message(config)))
        costs = []
        for _ in range(3):
            state = feed_message(state, call(" ", id="0"))
            costs.append(meter(lambda: feed_message(state, UNCLEAR[more]))[0])  # noqa: B023
        return min(costs)

    few, many = 20, 300
    assert cost(many) <= SLACK[meter] * cost(few) + SMALL[meter] + A_PART[meter] * (many - few)


NUMBERS = {"type": "array", "items": {"type": "integer"}}
WRONG: dict[str, tuple[MessageConfig, Callable[[int], CompletionChunk]]] = {
    "items of one call": (
        MessageConfig(tools=[Tool("write", NUMBERS, stream_arguments=True)]),
        lambda at: call('"a",' if at else "[", index=0, name="write"),
    ),
    "items of an answer": (MessageConfig(response_schema=NUMBERS), lambda at: text('"a",' if at else "[")),
    "items of an emulated answer": (
        MessageConfig(response_schema=NUMBERS, emulate_structured_output=True),
        lambda at: call('"a",' if at else "[", index=0, name="output"),
    ),
}


@interpreted
@pytest.mark.parametrize("wrong", WRONG)
def test_reading_errors_after_each_chunk_costs_the_same_however_many_there_are(wrong: str) -> None:
    """Only by bytecodes: a tuple of all of them is made, in one piece."""
    config, chunk = WRONG[wrong]

    def cost(chunks: int) -> int:
        state = start_message(config)
        found = []
        for at in range(chunks):
            state = untraced(lambda before=state, at=at: feed_message(before, chunk(at)))  # type: ignore[misc]
            reading, _ = opcodes(lambda after=state: after.errors) if at > chunks - 9 else (0, state.errors)  # type: ignore[misc]
            found.append(reading)
        return int(median(found[-8:]))

    few, many = cost(40), cost(600)
    assert many <= SLACK[opcodes] * few + 2 * SMALL[opcodes]


def test_a_delta_of_a_responses_text_costs_little_for_each_part_that_there_is(meter: Meter) -> None:
    def told(part: int, piece: str) -> dict[str, object]:
        return {"type": "response.output_text.delta", "output_index": part, "content_index": 0, "delta": piece}

    def cost(parts: int) -> int:
        state = untraced(
            lambda: reduce(lambda one, part: feed_stream(one, told(part, "a")), range(parts), start_stream())
        )
        return meter(lambda: feed_stream(state, told(parts - 1, "b")))[0]

    few, many = 10, 900
    assert cost(many) <= SLACK[meter] * cost(few) + SMALL[meter] + A_PART[meter] * (many - few)


def test_a_state_of_many_calls_that_is_fed_again_forks_once() -> None:
    made = [call("{}", index=at, id=str(at), name="write") for at in range(300)]
    old = reduce(feed_message, made, start_message())
    feed_message(old, call("{}", index=300, name="write"))
    branch = feed_message(old, call("[", index=301, name="write"))
    assert [one.arguments for one in branch.message.tool_calls[-2:]] == ["{}", "["]
    again, _ = opcodes(lambda: feed_message(branch, call("1", index=301)))
    fresh = feed_message(reduce(feed_message, made, start_message()), call("[", index=301, name="write"))
    assert again <= opcodes(lambda: feed_message(fresh, call("1", index=301)))[0] + SMALL[opcodes]


def test_all_of_it_ends_in_the_value() -> None:
    document = many(SIZE)
    state = reduce(feed_message, [*deltas(document), end()], start_message(MessageConfig()))
    (shown,) = finish_message(state).message.tool_calls
    assert shown.arguments == document
    assert shown.partial == json.loads(document)
