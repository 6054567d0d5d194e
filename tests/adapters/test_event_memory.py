"""Events that are read by what differs from the one before are those that a parser gives."""

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide.adapters import finish_stream, reduce_item, start_stream
from jsontide.adapters._read.event_memory import EventMemory
from jsontide.adapters._read.sse import NamedEvent
from jsontide.adapters._read.wire import load_event
from tests.provider_streams import FILES, NAMES, all_events, events, needs_recordings

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=4),
    st.sampled_from(["", '"', "\\", ":", '":', '": "', "\x7fjsontide 0", "\ud83d", "{", "}}", "é😀"]),
    st.lists(st.integers(), max_size=2),
)
FRAMES = [
    {"id": "a", "choices": [{"index": 0, "delta": {"content": None}}], "n": None},
    {"type": "x", "n": None, "delta": {"text": None}, "again": {"text": None}},
    {"a": [None, {"b": [None]}], "é": None},
]


def filled(frame: Any, values: Any) -> Any:
    if isinstance(frame, dict):
        return {name: filled(value, values) for name, value in frame.items()}
    if isinstance(frame, list):
        return [filled(value, values) for value in frame]
    return values.draw(VALUES) if frame is None and values.draw(st.booleans()) else frame


def check(texts: Iterable[str]) -> int:
    """Return how many events were not parsed whole."""
    memory = EventMemory()
    count = 0
    for text in texts:
        found = memory.load(text)
        assert repr(found) == repr(load_event(text))
        count += found is memory._event and found is not None
    return count


@given(st.data())
def test_every_event_is_what_a_parser_gives(data: Any) -> None:
    spaced, plain = data.draw(st.booleans()), data.draw(st.booleans())
    separators = (", ", ": ") if spaced else (",", ":")
    sent = [
        filled(FRAMES[data.draw(st.sampled_from([0, 0, 0, 1, 2]))], data) for _ in range(data.draw(st.integers(2, 12)))
    ]
    texts = [json.dumps(event, separators=separators, ensure_ascii=plain) for event in sent]
    for at in data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=3)):  # damage of all kinds
        text, place = texts[at], data.draw(st.integers(0, len(texts[at])))
        texts[at] = (
            text[:place]
            + data.draw(st.sampled_from(["", " ", '"', "}", "\\", "1", "\udfff", "\x01"]))
            + text[place + 1 :]
        )
    check(texts)


def test_values_that_differ_are_read_alone() -> None:
    lines = [
        '{{"n": {}, "created":"12:00:0{}", "piece":{}}}'.format(at, at % 10, json.dumps('"x":' * at))
        for at in range(50)
    ]
    assert check(lines) > 40


@pytest.mark.parametrize(
    "frame",
    [
        '{{"a":1,"a":{}}}',
        '{{"a":{},"a":1}}',
        '{{"{}":1}}',
        '{{"a":"\\u007fjsontide 0","b":{}}}',
        '{{"a":"x{}"}}',
        '{{"a":[1,{}]}}',
        '{{"a":{}}} ',
        ' {{"a":{}}}x',
        '{{"a":1{}}}',
    ],
)
def test_what_looks_like_a_value_that_differs_may_be_something_else(frame: str) -> None:
    check([frame.format(at) for at in range(12)])
    check([frame.format(json.dumps(word)) for word in ("a", "b", '"', "c", "\\", "d", "", "e")])
    check(
        [
            frame.format(word)
            for word in ("1", "2", "[]", "[[1]]", "3", "{}", "1e400", "-0", "4.", "NaN", "nul", "5", "")
        ]
    )


def test_an_event_with_damaged_characters_is_no_event() -> None:
    check([f'{{"a":"{piece}"}}' for piece in ("a", "b", "c", "d\udfff", "e", "\ud83d")])


def test_named_events_are_read_by_their_data() -> None:
    memory = EventMemory()
    found = [memory.load(NamedEvent(f'{{"a":{at}}}', "x", "", None)) for at in range(5)]
    assert found[-1] is found[-2] == {"a": 4}


def test_long_events_are_not_kept() -> None:
    memory = EventMemory()
    for at in range(5):
        memory.load(json.dumps({"a": at, "b": "x" * 10_000}))
    assert memory._event is None
    assert not memory._text


@needs_recordings
@pytest.mark.parametrize("file", FILES)
def test_recorded_events_are_what_a_parser_gives(file: str) -> None:
    check([json.dumps(event) for event in all_events(file)])
    check([json.dumps(event, ensure_ascii=False, separators=(",", ":")) for event in all_events(file)])


@needs_recordings
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.untraced
def test_nothing_of_an_event_is_kept_but_copies(name: str) -> None:
    """An event changes when the next one is loaded: no message may hold a part of it."""
    whole = spoilt = start_stream()
    for event in events(name):
        whole = reduce_item(whole, json.loads(json.dumps(event)))
        lent = json.loads(json.dumps(event))
        spoilt = reduce_item(spoilt, lent)
        spoil(lent)
        assert spoilt.message == whole.message
    assert finish_stream(spoilt).message == finish_stream(whole).message


def spoil(value: Any) -> None:
    if isinstance(value, (dict, list)):
        for inner in list(value.values() if isinstance(value, dict) else value):
            spoil(inner)
        value.clear()
