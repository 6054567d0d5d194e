"""From the bytes of a response to its events: found in any cut, loaded when asked for, at a cost that grows in step."""

import json
import pickle
import sys
import tracemalloc
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jsontide._textbuffer import NO_TEXT
from jsontide.providers import detect
from jsontide.providers.base import load_json
from jsontide.providers.registry import is_provider_event
from jsontide.providers.wire import (
    DONE,
    START,
    Damage,
    Failure,
    RawEvent,
    WireState,
    feed_wire,
    finish_wire,
    load_event,
    start_wire,
)
from tests.cuts import Chunks, cut_randomly, sized, ways
from tests.meters import heap, interpreted, opcodes, untraced
from tests.provider_streams import ALL, events, every_stream
from tests.strategies import documents, randoms, sse_streams, values


def read(chunks: Any, state: WireState = START) -> list[object]:
    """All events of a response, with what is no event left out."""
    found: list[RawEvent] = []
    for chunk in chunks:
        state, more = feed_wire(state, chunk)
        found += more
    return [event for event in map(load_event, found + finish_wire(state)) if event is not None]


def sse_model(text: str) -> list[str]:
    """The data of all events, by the rules of the standard, from the whole text."""
    *lines, _ = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    told, data = [], list[str]()
    for line in lines:
        field, _, value = line.partition(":")
        if field == "data":
            data.append(value.removeprefix(" "))
        if not line and data:
            told.append("\n".join(data))
        data = data if line else []
    return told


def loaded(data: str) -> object:
    try:
        return json.loads(data)
    except ValueError:
        return DONE if data.strip() == DONE else None


@given(st.lists(st.one_of(sse_streams, values.map(lambda value: f'data: {{"a":{json.dumps(value)}}}\n\n'))), randoms)
def test_any_cut_of_any_stream_has_the_events_of_the_model(parts: list[str], random: Random) -> None:
    text = ":\n" + "".join(parts) + "\n\n"
    expected = read([text])
    events = [event for event in expected if not isinstance(event, Damage)]
    model = map(loaded, sse_model(text))
    assert repr(events) == repr([event for event in model if isinstance(event, dict) or event == DONE])
    sent = text.encode()
    for chunks in (cut_randomly(text, random), cut_randomly(sent, random), sized(sent, 1)):
        assert repr(read(chunks)) == repr(expected)
    assert repr(read(map(bytearray, sized(sent, 3)))) == repr(read(map(memoryview, sized(sent, 3)))) == repr(expected)


FORMS = {
    "events": 'data: {"a": 1}\n\nevent: x\nid: 7\ndata: {"b":\ndata: "é𝄞"}\r\n\r\n: c\n\ndata: [DONE]\n\n',
    "events, broken": 'data: {"a": 1}\n\nevent: error\ndata: oops\n\n} \n\ndata: {"b',
    "lines": '{"a": 1}\n\n{"b": "é𝄞"}\r\n[1]\n{"c": 2}',
    "a document": '{\n"a": [1,\n "é𝄞"]}\n',
    "an array": '[{"a": 1},\n{"b": "é𝄞"}, 3]',
    "blank": " \n\n",
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_a_state_is_a_value_at_any_cut(text: str) -> None:
    for chunks in ways(text):
        state = START
        for chunk in chunks:
            again = pickle.loads(pickle.dumps(state))  # noqa: S301
            assert (again, hash(again), repr(again)) == (state, hash(state), repr(state))
            after = feed_wire(state, chunk)
            assert feed_wire(state, chunk) == feed_wire(again, chunk) == after
            state = after[0]
        assert finish_wire(pickle.loads(pickle.dumps(state))) == finish_wire(state)  # noqa: S301


def test_the_same_state_goes_on_where_nothing_waits() -> None:
    state, _ = feed_wire(START, b": " + b"x" * 200 + b"\n\n")
    again, (event,) = feed_wire(state, b'event: x\ndata: {"a": 1}\n\n')
    assert again is state
    assert load_event(event) == {"a": 1}


@pytest.mark.parametrize("text", ['data: {"a": 1}\n\n' + "x" * 50, '{"a": 1}\n' + " " * 50, '{\n"a":' + " " * 50])
def test_what_is_too_long_is_one_failure_and_the_end_at_any_cut(text: str) -> None:
    expected = [{"a": 1}] if text[:2] != "{\n" else []
    for chunks in ways(text):
        *events, failure = read([*chunks, *chunks], start_wire(40))
        assert events == expected
        assert isinstance(failure, Failure)
        assert failure.message.endswith("is longer than 40 characters")


@pytest.mark.parametrize("space", [" ", "\t", "\r", "\u00a0", "\u2028", "\x1c"])
def test_space_around_an_event_does_not_count(space: str) -> None:
    inner = space.replace("\r", "")  # ends a line of an event
    for form in (f"{{}}\n{space}{{}}{space}\n", f"data:{inner}{{}}{inner}\n\ndata: {inner}{{}}\n\n"):
        for chunks in ways(form):
            assert read(chunks) == [{}, {}]


@pytest.mark.parametrize("text", [":\n\ndata: ping\n", ":\n\ndata:\n", "event: x\ndata: 50%\n", ":\n\ndata: {}\n\n: c"])
def test_what_is_harmless_is_so_at_the_end(text: str) -> None:
    for chunks in ways(text):
        assert [event for event in read(chunks) if event != {}] == []


def test_half_a_character_is_never_harmless() -> None:
    for line in (b"data: pi\xffng", b"event: x\ndata: 5\xff"):
        for chunks in ways(b":\n\n" + line + b"\n\n"):
            (event,) = read(chunks)
            assert isinstance(event, Damage)
            assert "is not UTF-8" in event.message


NAMES = (
    *("message_start", "message_delta", "message_stop", "message_", "messages", "message", "content_block_stop"),
    *("error", "errors", "ping", "progress", "chunk", "response", "response.created", "interaction.created", "step.x"),
    *("message-start", "content-delta", "tool-plan-delta", "tool-call-end", "citation-start", "tool-", "done", "x"),
)


def test_names_of_events_are_those_that_an_adapter_reads() -> None:
    sent = {str(event.get("type")) for name in ALL for event in events(name)}
    for name in {*NAMES, *sent}:
        assert is_provider_event(name) is (detect({"type": name}) is not None), name


ODD = (
    *("-0", "-0.0", "1e400", "-1e400", "1e-400", "18446744073709551616", "-9223372036854775809", "9" * 400, "9" * 4301),
    *("9007199254740993.0", "2.5e-324", "1.7976931348623159e308", "NaN", "Infinity", "-Infinity", "01", "1.", "+1"),
    *(r'"\ud800"', r'"\ude00\ud83d"', r'"\ud83d\ude00"', r'"\ud83d\ud83d\ude00"', r'"\ud83dx"', r'"\ud83d\n"'),
    *(r'"\u0000"', '"\0"', '"\x1f"', '"\x7f"', '"\x85\u2028"', r'"\x"', '"\ud800"', "tru", "", "[1,]", '{"a":1,}'),
    *('{"b":1,"a":2,"b":3}', "{1:2}", "[" * 300 + "]" * 300, "[" * 100_000),
)
BITS = (r"\ud83d", r"\ude00", r"\u00e9", r"\"", r"\\", r"\/", "é", "𝄞", '"', ",", ":", " ", "{", "}", "[", "]")
odd_texts = st.lists(st.sampled_from((*ODD, *BITS))).map("".join)


@given(st.one_of(documents, odd_texts, odd_texts.map('"{}"'.format), st.floats().map(repr), st.integers().map(repr)))
@example("")
def test_events_are_loaded_as_json_loads_them(text: str) -> None:
    check_load(f'{{"a":{text}}}')
    check_load(text.strip())


@pytest.mark.parametrize("text", ODD)
def test_odd_values_are_loaded_as_json_loads_them(text: str) -> None:
    check_load(text)
    for around in ('{{"a":{}}}', "{{}}{}", "{{}} {}", "{{}}\u00a0{}", "\ufeff{}"):
        check_load(around.format(text))


@every_stream
def test_events_of_providers_are_loaded_as_json_loads_them(name: str) -> None:
    for event in events(name):
        check_load(json.dumps(event))
        check_load(json.dumps(event, ensure_ascii=False))


def check_load(text: str) -> None:
    try:
        expected = repr(json.loads(text))
    except (ValueError, RecursionError):
        expected = "None"
    assert repr(load_json(text)) == expected


def test_data_that_is_not_json_is_damage() -> None:
    for data in ('{"a": }', '{"a":' * 100_000, '{"a": 1} x', '{"a": "\x00"}'):
        (event,) = read([f":\n\ndata: {data}\n\n"])
        assert isinstance(event, Damage)


def in_pieces(count: int) -> Chunks:
    return [b'data: {"a": "', *[b"x" * 100] * count, b'"}\n\n']


def in_one_read(count: int) -> Chunks:
    return [b'data: {"a": 1}\n\nevent: x\ndata: {"b": 2}\n\n' * count]


def in_lines(count: int) -> Chunks:
    return [b"data: [1]\n"] * count


def in_document(count: int) -> Chunks:
    return [b"{", *[b" " * 100] * count, b'"a": 1}']


@pytest.mark.long
@interpreted
@pytest.mark.parametrize("chunks", [in_pieces, in_one_read, in_lines, in_document])
@pytest.mark.untraced
def test_work_grows_in_step_with_what_is_read(chunks: Any) -> None:
    few, many = chunks(1_000), chunks(10_000)
    short, long = opcodes(lambda: read(few))[0], opcodes(lambda: read(many))[0]
    assert long < 11 * short


@pytest.mark.parametrize("chunks", [in_pieces, in_one_read, in_lines, in_document])
@pytest.mark.untraced
def test_memory_grows_in_step_with_what_is_read(chunks: Any) -> None:
    sent = chunks(10_000)
    size = sum(map(len, sent))

    def feed() -> list[RawEvent]:
        state, found = START, list[RawEvent]()
        for chunk in sent:
            state, more = feed_wire(state, chunk)
            found += more
        return found

    untraced(feed)
    tracemalloc.start()
    try:
        peak, _ = heap(feed)
    finally:
        tracemalloc.stop()
    assert peak < 8 * size


def test_a_text_in_pieces_is_copied_a_few_times_only() -> None:
    for size in (1, 100, 5_000):
        text, copied, count, room = NO_TEXT, 0, 10_000, 0
        for _ in range(count):
            before, text = text._store, text.append("x" * size)
            store = text._store
            had, room = room, 0 if store is None else sys.getsizeof(store.data)
            if store is None or store is not before or room != had:
                copied += text.length
        assert text.read() == "x" * size * count
        assert copied < max(20, 512 / size + 10) * size * count
