"""The decoder of server-sent events, compared with a model that reads the whole stream at once."""

import pickle
from functools import reduce
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import given

from jsontide.providers import SseEvent, SseState, feed_sse, start_ndjson, start_sse
from tests.cuts import Chunks, every, ways
from tests.strategies import randoms, sse_streams


class Decoded(NamedTuple):
    state: SseState
    events: tuple[SseEvent, ...]


def step(so_far: Decoded, chunk: str | bytes) -> Decoded:
    state, events = feed_sse(so_far.state, chunk)
    return Decoded(state, so_far.events + events)


def decoded(chunks: Chunks) -> tuple[SseEvent, ...]:
    return reduce(step, chunks, Decoded(start_sse(), ())).events


def model(text: str) -> list[tuple[str, str, str]]:
    """What the standard says, read line by line from the whole text: (data, event, id)."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    *lines, _ = text.split("\n")
    told, data, kind, last_id = [], list[str](), "", ""
    for line in lines:
        if not line:
            if data and (data != [""] or len(data) > 1):
                told.append(("\n".join(data), kind or "message", last_id))
            elif data:
                told.append(("", kind or "message", last_id))
            data, kind = [], ""
            continue
        if line.startswith(":"):
            continue
        field, value = line.split(":", 1) if ":" in line else (line, "")
        value = value[1:] if value[:1] == " " else value
        if field == "data":
            data.append(value)
        elif field == "event":
            kind = value
        elif field == "id" and "\x00" not in value:
            last_id = value
    return told


@pytest.mark.parametrize(
    ("text", "expected"),
    {
        "one event": ("data: a\n\n", [("a", "message", "")]),
        "cr": ("data: a\r\rdata: b\r\r", [("a", "message", ""), ("b", "message", "")]),
        "crlf": ("data: a\r\n\r\ndata: b\r\n\r\n", [("a", "message", ""), ("b", "message", "")]),
        "mixed line ends": ("data: a\r\ndata: b\n\r\n", [("a\nb", "message", "")]),
        "several data lines": ("data: YHOO\ndata: +2\ndata: 10\n\n", [("YHOO\n+2\n10", "message", "")]),
        "one space is dropped": ("data:  a\n\ndata:b\n\n", [(" a", "message", ""), ("b", "message", "")]),
        "a field without a colon": ("data\ndata\n\n", [("\n", "message", "")]),
        "comments": (": keep alive\n\n:\ndata: a\n\n", [("a", "message", "")]),
        "unknown fields": ("x: y\ndata: a\n\n", [("a", "message", "")]),
        "byte order mark": ("\ufeffdata: a\n\n", [("a", "message", "")]),
        "a second mark is part of a name": ("\ufeff\ufeffdata: a\n\n", []),
        "an id lasts": ("id: 7\ndata: a\n\ndata: b\n\n", [("a", "message", "7"), ("b", "message", "7")]),
        "an id is unset": ("id: 7\ndata: a\n\nid\ndata: b\n\n", [("a", "message", "7"), ("b", "message", "")]),
        "an id with a null": ("id: 7\nid: a\x00b\ndata: a\n\n", [("a", "message", "7")]),
        "a type does not last": ("event: x\ndata: a\n\ndata: b\n\n", [("a", "x", ""), ("b", "message", "")]),
        "a type without data": ("event: x\n\ndata: b\n\n", [("b", "message", "")]),
        "cut off at the end": ("data: a\n\ndata: b\n", [("a", "message", "")]),
        "done": ("data: {}\n\ndata: [DONE]\n\n", [("{}", "message", ""), ("[DONE]", "message", "")]),
        "characters of several bytes": ("data: é𝄞日\n\n", [("é𝄞日", "message", "")]),
    }.values(),
)
def test_examples_at_every_cut(text: str, expected: list[tuple[str, str, str]]) -> None:
    for chunks in every(text):
        assert [(event.data, event.event, event.id) for event in decoded(chunks)] == expected
    assert model(text) == expected


@pytest.mark.parametrize(("line", "retry"), [("retry: 250", 250), ("retry: x1", None), ("retry: -1", None), ("", None)])
def test_retry_is_digits_only(line: str, retry: int | None) -> None:
    (event,) = decoded([f"{line}\ndata: a\n\n" if line else "data: a\n\n"])
    assert event.retry == retry


def test_a_time_to_wait_lasts() -> None:
    assert [event.retry for event in decoded(["data: a\n\nretry: 5\ndata: a\n\ndata: a\n\n"])] == [None, 5, 5]


def test_a_state_knows_from_where_and_when_to_connect_again() -> None:
    assert (start_sse().id, start_sse().retry) == ("", None)
    for chunks in every("id: é7\nretry: 250\n\n"):
        state, _ = reduce(step, chunks, Decoded(start_sse(), ()))
        assert (state.id, state.retry) == ("é7", 250)


@pytest.mark.parametrize("wrong", [None, 5, [1, 2], {"data": 1}])
def test_what_is_no_chunk_or_no_state_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="a chunk must be str, bytes, bytearray or memoryview"):
        feed_sse(start_sse(), wrong)
    with pytest.raises(TypeError, match="a state must be an SseState"):
        feed_sse(wrong, b"")


LIMIT = 10


@pytest.mark.parametrize(
    ("text", "told", "is_too_long"),
    {
        "as long as may be": ("data: abcd\n\n", ["abcd"], False),
        "a line": ("data: a\n\ndata: abcde\n\ndata: b\n\n", ["a"], True),
        "a line that never ends": ("data: a\n\n" + "x" * 30, ["a"], True),
        "a comment": ("data: a\n\n: " + "x" * 30 + "\ndata: b\n\n", ["a"], True),
        "many lines of data": ("data: a\n\n" + "data: bb\n" * 5 + "\n\ndata: b\n\n", ["a"], True),
        "as many lines of data as may be": (
            "data:bb\n" * 3 + "data:c\n\n" + "data: b\n\n",
            ["bb\nbb\nbb\nc", "b"],
            False,
        ),
        "one character more": ("data:bb\n" * 3 + "data:cc\n\n" + "data: b\n\n", [], True),
        "many events": ("data: a\n\n" * 9, ["a"] * 9, False),
        "an id that lasts": ("id: " + "7" * 30 + "\ndata: a\n\n", [], True),
        "half a character after it": ("x" * 30 + "\ud83d", [], True),
    }.values(),
)
def test_what_is_too_long_is_an_error_and_the_end_at_every_cut(text: str, told: list[str], is_too_long: bool) -> None:  # noqa: FBT001
    for chunks in every(text):
        state, events = reduce(step, chunks, Decoded(start_sse(max_chars=LIMIT), ()))
        assert [event.data for event in events] == told
        assert state.error == ("an event is longer than 10 characters" if is_too_long else None)
        again, more = feed_sse(state, b"\n\ndata: c\n\n")
        assert (again.error, [event.data for event in more]) == (state.error, [] if is_too_long else ["c"])
        assert pickle.loads(pickle.dumps(state)) == state  # noqa: S301


def test_what_is_too_long_is_not_kept() -> None:
    state, _ = reduce(step, [b"x" * 100] * 100, Decoded(start_sse(max_chars=1_000), ()))
    assert len(pickle.dumps(state)) < 1_000


@pytest.mark.parametrize(("wrong", "error"), [("9", TypeError), (None, TypeError), (True, TypeError), (0, ValueError)])
def test_a_limit_that_is_none_is_refused(wrong: Any, error: type[Exception]) -> None:
    for start in (start_sse, start_ndjson):
        with pytest.raises(error, match="max_chars must be"):
            start(max_chars=wrong)


@pytest.mark.untraced
def test_a_long_line_in_small_pieces_costs_as_much_as_it_is_long() -> None:
    state = reduce(step, [b"data:"] + [b"x"] * 100_000, Decoded(start_sse(), ())).state
    assert feed_sse(state, b"\n\n")[1] == (SseEvent("x" * 100_000),)


def test_bytes_that_are_not_utf8_are_replaced_and_never_raise() -> None:
    data = b"data: a\xff\xe2\x82\n\ndata: \xf0\x9f\x98\n\n"
    expected = [event.data for event in decoded([data])]
    assert expected == ["a\ufffd\ufffd", "\ufffd"]
    for chunks in ways(data):
        assert [event.data for event in decoded(chunks)] == expected


@given(sse_streams, randoms)
def test_any_cut_of_any_stream_tells_what_the_model_tells(text: str, random: Random) -> None:
    for chunks in (
        every(text) if len(text) < 40 else (chunks for chunks, _ in zip(every(text), range(30), strict=False))
    ):
        assert [(event.data, event.event, event.id) for event in decoded(chunks)] == model(text)
    place = random.randint(0, len(text))
    state, events = feed_sse(start_sse(), text[:place])
    first = feed_sse(state, text[place:])
    assert feed_sse(pickle.loads(pickle.dumps(state)), text[place:])[1] == first[1]  # noqa: S301
    assert feed_sse(state, text[place:]) == first  # an old state can be fed again
    assert [(event.data, event.event, event.id) for event in events + first[1]] == model(text)


def test_both_halves_of_a_character_in_text_are_put_together_and_can_wait() -> None:
    text = "data: 𝄞é\n\n"
    units = text.encode("utf-16-le")
    pieces = [units[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(units), 2)]
    for chunks in (pieces, ["".join(pieces)]):
        assert [event.data for event in decoded(chunks)] == ["𝄞é"]
    state, _ = reduce(step, pieces[:7], Decoded(start_sse(), ()))
    again = pickle.loads(pickle.dumps(state))  # noqa: S301
    assert reduce(step, pieces[7:], Decoded(again, ())).events[0].data == "𝄞é"
    assert [event.data for event in decoded(["data: \ud834", "x\n\n"])] == ["\ud834x"]
