"""Law 4 under interrupts: a step or a reading that is broken off, as by Ctrl-C, harms no state.

An accumulator is not a value: it says so when it was broken off, and never continues with half of what it read.
"""

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import islice
from json import dumps
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import pytest
from hypothesis import given

import jsontide
from jsontide import (
    COMPILED,
    JsonFragmentAccumulator,
    Message,
    Outcome,
    create_parser_state,
    finalize,
    parse_chunk,
    stream_message,
)
from jsontide.events import feed_events, start_events
from jsontide.snapshots import feed_snapshots, finish_snapshots, start_snapshots
from tests.cuts import Chunks, prefixes
from tests.oracles import loads, visible
from tests.relations import same
from tests.strategies import cut_documents, documents, examples, randoms

LIBRARY = str(Path(jsontide.__file__).parent)

pytestmark = pytest.mark.skipif(COMPILED, reason="compiled code is not interrupted between its lines")


class InterruptError(BaseException):
    """What a trace function raises in the middle of the library."""


def at_line(lines: int, act: Callable[[], object], call: Callable[[], object]) -> None:
    """Run a call, and do something else before a line of the library, so many lines later; a shorter call just runs."""
    left = lines

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        # Whatever is called on the way, as by the garbage collector, is not the library, and may not be interrupted.
        if not frame.f_code.co_filename.startswith(LIBRARY):
            return None
        left -= event == "line"
        if event == "line" and left == -1:
            act()
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)


def interrupt() -> None:
    raise InterruptError


def break_off(call: Callable[[], object], lines: int) -> None:
    """Run a call up to some number of lines of the library; a shorter one runs to its end."""
    with suppress(InterruptError):
        at_line(lines, interrupt, call)


@examples(3)
@given(cut_documents(documents), randoms)
def test_law_4_what_is_broken_off_can_be_done_again(document: tuple[str, Chunks], random: Random) -> None:
    text, chunks = document
    state = create_parser_state()
    chunk: Any
    for chunk, prefix in zip(chunks, islice(prefixes(chunks), 1, None), strict=True):
        before, saved = state, visible(prefix)
        if random.random() < 0.5:
            break_off(partial(parse_chunk, state, chunk), random.randrange(60))
        state = parse_chunk(before, chunk)
        if random.random() < 0.7:
            break_off(partial(getattr, state, "value"), random.randrange(40))
        if random.random() < 0.7:
            assert same(state.value, saved)
    assert same(finalize(state).value, loads(text))


@pytest.mark.parametrize("lines", range(160))
def test_law_4_a_step_can_be_broken_off_at_any_line(lines: int) -> None:
    text = '{"a": null, "b": [2, "x\\ny", {}], "a": "again", "c": 3.5}'
    for size in (5, 12):
        chunks = [text[at : at + size] for at in range(0, len(text), size)]
        state = create_parser_state()
        for chunk, prefix in zip(chunks, islice(prefixes(chunks), 1, None), strict=True):
            break_off(partial(parse_chunk, state, chunk), lines)
            state = parse_chunk(state, chunk)
            assert same(state.value, visible(prefix))


@pytest.mark.long
@pytest.mark.parametrize("lines", range(60))
def test_law_4_reading_nodes_can_be_broken_off_at_any_line(lines: int) -> None:
    text = '{"a": null, "b": [2, "x", {}], "c": {"d": 1}}'
    state = parse_chunk(create_parser_state(), text)
    break_off(lambda: list(state.nodes), lines)
    assert list(state.nodes) == list(parse_chunk(create_parser_state(), text).nodes)


@pytest.mark.long
@pytest.mark.parametrize("lines", range(0, 160, 3))
def test_law_4_telling_can_be_broken_off_at_any_line(lines: int) -> None:
    text = '{"a": null, "b": [2, "x\\ny", {}], "a": "again", "c": 3.5, "d": nope, "e": 1}'
    for size in (5, 12):
        chunks = [text[at : at + size] for at in range(0, len(text), size)]
        state = expected = start_events(skip_errors=True)
        for chunk in chunks:
            break_off(partial(feed_events, state, chunk), lines)
            expected, updates = feed_events(expected, chunk)
            state, again = feed_events(state, chunk)
            assert again == updates


@pytest.mark.long
@pytest.mark.parametrize("lines", range(0, 400, 3))
def test_law_4_chunking_can_be_broken_off_at_any_line(lines: int) -> None:
    snapshots = ['{"a": ["x"]}', '{"a": ["xy", 1, {"b": "", "c": "d"}], "e": 2}', '{"a": 5, "f": "g", "e": 2}']
    state = expected = start_snapshots(on_conflict="repair")
    for snapshot in snapshots:
        break_off(partial(feed_snapshots, state, snapshot), lines)
        expected, chunk = feed_snapshots(expected, snapshot)
        state, again = feed_snapshots(state, snapshot)
        assert again == chunk
    break_off(partial(finish_snapshots, state), lines)
    assert loads(finish_snapshots(state)[0].text) == loads(snapshots[-1])


@pytest.mark.parametrize("lines", range(0, 120, 3))
def test_an_accumulator_that_was_broken_off_says_so(lines: int) -> None:
    chunks = ['{"a": [1, "te', 'xt", {"b": 2}', "], ", '"c": null}']
    accumulator, whole = JsonFragmentAccumulator(), JsonFragmentAccumulator()
    for chunk in chunks[:2]:
        accumulator.add_fragment(chunk)
        whole.add_fragment(chunk)
    updates = whole.add_fragment(chunks[2])
    break_off(partial(accumulator.add_fragment, chunks[2]), lines)
    try:
        again = accumulator.add_fragment(chunks[3])
    except RuntimeError:
        accumulator.reset()
        assert accumulator.add_fragment("1 ")[0].value == 1
    else:  # broken off before it began, or after all was done
        assert again[-1].kind == "Error" or [*updates, *again][-1].value == {"a": [1, "text", {"b": 2}], "c": None}


ENTRIES = [{"name": "add", "arguments": "[1"}, {"arguments": ",2"}, {"arguments": ",3"}, {"arguments": "]"}]
EVENTS: list[Any] = [{"choices": [{"delta": {"tool_calls": [{"index": 0, "function": entry}]}}]} for entry in ENTRIES]
EVENTS.append({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})
DATA = "".join(f"data: {dumps(event)}\n\n" for event in EVENTS)
SOURCES: list[Any] = [EVENTS, [DATA], [DATA[:150], DATA[150:]]]


@pytest.mark.parametrize("lines", range(0, 400, 3))
def test_law_9_a_message_that_was_broken_off_has_nothing_to_run_unless_nothing_is_lost(lines: int) -> None:
    for source in SOURCES:
        stream = stream_message(source)
        if source is EVENTS:
            next(stream)
        break_off(partial(next, stream), lines)
        list(stream)
        is_whole = stream.message.outcome is Outcome.COMPLETE
        assert is_whole or stream.message.outcome is Outcome.CANCELLED
        assert not is_whole or stream.message.tool_calls[0].arguments == "[1,2,3]"


@pytest.mark.long
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("lines", range(0, 900, 10))
def test_a_message_that_was_stopped_stays_as_it_was_then_whatever_was_being_read(lines: int, source: Any) -> None:
    stream, messages = stream_message(source), list[Message]()
    at_line(lines, lambda: messages.append(stream.stop()), partial(list, stream))
    assert all(message is stream.message for message in messages)
    assert not messages or list(stream) == []
