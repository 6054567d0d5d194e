"""What a stream shows after each piece: what it is, what grows, and what changed."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from copy import deepcopy
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide import MISSING, Outcome, ParserError, stream_message
from jsontide.mend import MODELS
from jsontide.providers import start_sse, start_stream
from jsontide.recordings import Moment, Piece, Recording, afollow, feed_moment, finish_moment, follow, start_moment
from jsontide.recordings._stages import EventsStage, SharedList
from tests.recordings.folding import check_changes

CHAT: list[dict[str, object]] = [
    {"choices": [{"index": 0, "delta": {"content": "Zoë "}}]},
    {"choices": [{"index": 0, "delta": {"content": "𝄞 says hi"}}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
]
OTHER: list[dict[str, object]] = [{"n": 1, "name": "Zoë"}, {"n": 2}]
WHOLE = {"choices": [{"message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}]}
SSE = Recording.of_events(CHAT).encode("sse")
NDJSON = Recording.of_events(CHAT).encode("ndjson")
CITY = {"city": "Kyōto", "stops": [1, {"name": "Nijō"}, []], "open": True}

STREAMS: dict[str, tuple[bytes, str, Any]] = {
    "json": (json.dumps(CITY, ensure_ascii=False).encode(), "json", CITY),
    "json over lines": (json.dumps(CITY, indent=2).encode() + b"\n", "json", CITY),
    "byte order mark": (b"\xef\xbb\xbf" + json.dumps(CITY).encode(), "json", CITY),
    "lines": (Recording.of_events(OTHER).encode("ndjson"), "documents", OTHER),
    "documents without a space": (b'{"a":1}{"b":2}[3]', "documents", [{"a": 1}, {"b": 2}, [3]]),
    "documents and scalars": (b'{"a":1}\n[]\n12 "x"\r\ntrue', "documents", [{"a": 1}, [], 12, "x", True]),
    "unknown events": (Recording.of_events(OTHER).encode("sse"), "documents", OTHER),
    "events of text": (b": hello\n\nevent: x\ndata: one\ndata: two\n\ndata: [DONE]\n\n", "documents", ["one\ntwo"]),
    "an event without its end": (b'data: {"a": 1}', "documents", [{"a": 1}]),
    "text": ("Grüße,\nZoë 𝄞".encode(), "text", "Grüße,\nZoë 𝄞"),
    "text that begins as a field": (b"data", "text", "data"),
    "text that is like a field": (b"event: friday, at eight", "text", "event: friday, at eight"),
    "not UTF-8": (b"caf\xe9 \xff", "text", "caf\ufffd \ufffd"),
    "nothing": (b"", "unknown", MISSING),
    "white space": (b" \r\n\t", "unknown", MISSING),
}
MESSAGES = {
    "sse": SSE,
    "sse with its end": b": hi\n\n" + SSE + b"data: [DONE]\n\n",
    "ndjson": NDJSON,
    "whole": json.dumps(WHOLE).encode(),
    "whole over lines": json.dumps(WHOLE, indent=2).encode(),
}
TEXTS = {name: "Hi" if name.startswith("whole") else "Zoë 𝄞 says hi" for name in MESSAGES}


def ways(data: bytes) -> Iterator[list[bytes]]:
    """Cut bytes as a whole, byte by byte, and in a few other ways."""
    yield [data]
    for size in (1, 2, 3, 7):
        yield [data[at : at + size] for at in range(0, len(data), size)]
    yield from (Recording.of_bytes(data).cut(seed) for seed in range(5))


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_is_what_it_is_however_it_is_cut(name: str) -> None:
    data, kind, value = STREAMS[name]
    for pieces in ways(data):
        *_, last = check_changes(follow(pieces))
        assert (last.kind, last.value, last.error) == (kind, value, None)
        assert last.outcome is (Outcome.EMPTY if value is MISSING else Outcome.COMPLETE)
        assert (last.number, last.index, last.end) == (len(pieces), len(data), "over")


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_is_recognised_however_it_is_cut(name: str) -> None:
    for pieces in ways(MESSAGES[name]):
        *_, last = check_changes(follow(pieces))
        assert last.kind == "message"
        assert last.message is not None
        assert (last.message.content, last.outcome, last.is_complete) == (TEXTS[name], Outcome.COMPLETE, True)
        assert last.value["parts"] == [{"type": "text", "text": TEXTS[name]}]  # type: ignore[index, call-overload]


def test_a_moment_has_what_belongs_to_its_kind() -> None:
    document, several, message, text = (
        feed_moment(start_moment(), data) for data in (b'{"a": [', b'{"a": 1} {"b": [', SSE, b"Hello")
    )
    assert document.state is not None
    assert several.state is not None
    assert (document.state.value, several.state.value) == ({"a": []}, {"b": []})
    assert (message.state, text.state, document.message, text.message) == (None, None, None, None)
    assert (text.repairs, text.resolution, message.resolution, text.error) == ((), None, None, None)
    assert repr(message) == "<Moment 1, message, streaming>"
    assert start_moment().error is None


class TestAnArrayOfEvents:
    """As Gemini sends them, unless it is asked for server-sent events."""

    EVENTS: ClassVar[list[Any]] = [
        {"candidates": [{"content": {"parts": [{"text": "Hel"}]}}]},
        {"candidates": [{"content": {"parts": [{"text": "lo, Zoë"}]}, "finishReason": "STOP"}]},
    ]
    DATA = json.dumps(EVENTS, indent=2).encode()

    def test_the_message_is_the_same_however_it_is_cut(self) -> None:
        *_, wanted = follow(Recording.of_events(self.EVENTS))
        for pieces in ways(self.DATA):
            *_, last = check_changes(follow(pieces))
            assert (last.kind, last.outcome, last.value) == ("message", Outcome.COMPLETE, wanted.value)

    def test_it_grows_with_each_event(self) -> None:
        pieces = [json.dumps(event).encode() for event in self.EVENTS]
        moments = check_changes(follow([b"[" + pieces[0], b", ", pieces[1], b"]"]))
        texts = [moment.message.content for moment in moments if moment.message is not None]
        assert texts == ["Hel", "Hel", "Hello, Zoë", "Hello, Zoë", "Hello, Zoë"]

    @pytest.mark.parametrize("cut", [-2, -1, -40])
    def test_one_that_breaks_off_or_goes_wrong_is_truncated(self, cut: int) -> None:
        *_, last = check_changes(follow([self.DATA[:cut]]))
        assert (last.kind, last.outcome) == ("message", Outcome.TRUNCATED)
        *_, read = stream_message([self.DATA[:cut]])
        assert last.error == read.errors[0].message
        *_, wrong = check_changes(follow([self.DATA[:cut], b" oops"]))
        assert wrong.outcome is Outcome.TRUNCATED
        assert finish_moment(feed_moment(start_moment(), self.DATA[:cut]), "stopped").outcome is Outcome.CANCELLED

    def test_events_of_any_provider_are_a_message(self) -> None:
        *_, wanted = follow(Recording.of_events(CHAT))
        for pieces in ways(json.dumps(CHAT).encode()):
            *_, last = check_changes(follow(pieces))
            assert (last.kind, last.value) == ("message", wanted.value)

    def test_any_other_array_is_json(self) -> None:
        others: list[Any] = [[{"a": 1}, {"b": 2}], [1, 2], ["x"], [], [[self.EVENTS[0]]], {"a": self.EVENTS[0]}]
        for value in others:
            *_, last = check_changes(follow(ways(json.dumps(value).encode()).__next__()))
            assert (last.kind, last.value) == ("json", value)


def test_decoded_events_are_a_message_or_documents() -> None:
    *_, message = check_changes(follow(Recording.of_events(CHAT)))
    assert message.message is not None
    assert message.message.content == "Zoë 𝄞 says hi"
    assert message.index == sum(len(json.dumps(event, ensure_ascii=False).encode()) for event in CHAT)
    *_, documents = check_changes(follow(Recording.of_events(OTHER)))
    assert (documents.kind, documents.value) == ("documents", OTHER)


def test_a_message_grows_while_it_arrives() -> None:
    events = SSE.split(b"\n\n")[:-1]
    texts = [moment.message.content for moment in follow([event + b"\n\n" for event in events]) if moment.message]
    assert texts == ["Zoë ", "Zoë 𝄞 says hi", "Zoë 𝄞 says hi", "Zoë 𝄞 says hi"]


def test_parts_that_did_not_change_are_the_same_objects() -> None:
    call = {"index": 0, "id": "c", "function": {"name": "f", "arguments": '{"a": [1], "b": ['}}
    more = {"index": 0, "function": {"arguments": "2"}}
    deltas: list[dict[str, object]] = [
        {"reasoning": "Hm"},
        {"content": "Hi"},
        {"tool_calls": [call]},
        {"tool_calls": [more]},
    ]
    events: list[dict[str, object]] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    *_, third, fourth, _ = follow(Recording.of_events(events))
    later: Any = fourth.value
    earlier: Any = third.value
    assert [part["type"] for part in later["parts"]] == ["reasoning", "text", "call"]
    assert [new is old for new, old in zip(later["parts"], earlier["parts"], strict=True)] == [True, True, False]
    assert later["parts"][2]["arguments"]["a"] is earlier["parts"][2]["arguments"]["a"]
    assert fourth.value is fourth.value


@given(st.data())
def test_old_moments_stay_as_they_were(data: st.DataObject) -> None:
    stream = data.draw(st.sampled_from([one for one, *_ in STREAMS.values()] + list(MESSAGES.values())))
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    options: Any = data.draw(st.sampled_from([{}, {"mend": MODELS}, {"schema": schema}]))
    moments = [start_moment(**options)]
    seen = [deepcopy(moments[0].value)]
    for piece in Recording.of_bytes(stream).cut(data.draw(st.integers(0, 99)), pieces=8):
        moments.append(feed_moment(moments[-1], piece))
        if data.draw(st.booleans()):
            _ = moments[-1].value
        seen.append(deepcopy(feed_moment(moments[-2], piece).value))
    at = data.draw(st.integers(0, len(moments) - 1))
    finish_moment(feed_moment(moments[at], b'x", 5] {"other": 1}'))
    assert [moment.value for moment in moments] == seen


BITS = [
    b'data: {"a"',
    b": 1}\n",
    b"\n",
    b"data: x",
    b'{"a": "',
    b'x"',
    b"}",
    b"[",
    b"1, ",
    b"]",
    b" ",
    b"\xc3",
    b"\xab",
    b"\xff",
]
BITS += [b'{"message": {"content": "Hi"}, "done": false}', b"Sure: ", b"event: x\n", b"\xef\xbb\xbf", b"'", b"[DONE]"]
BITS += [b'[{"candidates": [{"content": {"parts": [{"text": "Hi"}]}}]}', b", "]


@given(st.lists(st.sampled_from(BITS), max_size=9), st.sampled_from([None, MODELS]), st.integers(1, 9))
def test_nothing_raises_and_every_cut_ends_in_the_same(bits: list[bytes], mend: Any, size: int) -> None:
    data = b"".join(bits)
    *_, whole = check_changes(follow([data], mend=mend))
    *_, cut = check_changes(follow(Recording.of_bytes(data).recut(size), mend=mend))
    assert (cut.kind, cut.value, cut.outcome) == (whole.kind, whole.value, whole.outcome)
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    check_changes(follow(Recording.of_bytes(data).recut(size), mend=mend, schema=schema))


def test_changes_can_be_asked_for_in_any_order() -> None:
    pieces = [bytes([byte]) for byte in STREAMS["lines"][0]]
    forwards = [moment.changes for moment in follow(pieces)]
    kept = list(follow(pieces))
    assert [moment.changes for moment in reversed(kept)] == forwards[::-1]


class TestEnds:
    def test_json_that_breaks_off_is_truncated_and_says_where(self) -> None:
        *_, last = check_changes(follow([b'{"city": "Kyo']))
        assert (last.value, last.outcome, last.is_complete) == ({"city": "Kyo"}, Outcome.TRUNCATED, False)
        assert isinstance(last.error, ParserError)
        assert last.error.index == 13

    def test_bad_json_is_invalid_and_says_where(self) -> None:
        *_, last = check_changes(follow([b'{"a": 1, "b": oops}']))
        assert (last.value, last.outcome) == ({"a": 1}, Outcome.INVALID)
        assert isinstance(last.error, ParserError)
        assert last.error.index == 14

    def test_prose_after_a_document_is_an_error(self) -> None:
        for pieces in ways(b'{"a": 1} and more'):
            *_, last = check_changes(follow(pieces))
            assert (last.kind, last.value, last.outcome) == ("json", {"a": 1}, Outcome.INVALID)

    def test_a_bad_document_among_others_is_an_error(self) -> None:
        for pieces in ways(b'{"a": 1}\n{"b": oops}\n{"c": 3}'):
            *_, last = check_changes(follow(pieces))
            assert (last.value, last.outcome) == ([{"a": 1}, {}], Outcome.INVALID)

    @pytest.mark.parametrize(
        "data", [b'{"a": "x', b'{"a": 1}\n{"b": "x', SSE[:70], b"some te", b'data: {"n": 1}\n\ndata']
    )
    def test_a_stream_can_be_lost_or_stopped(self, data: bytes) -> None:
        moment = feed_moment(start_moment(), data)
        assert finish_moment(moment, "lost", "reset by peer").outcome is Outcome.TRUNCATED
        assert finish_moment(moment, "stopped").outcome is Outcome.CANCELLED
        assert moment.outcome is Outcome.STREAMING
        check_changes([moment, finish_moment(moment, "lost"), finish_moment(moment, "lost")][:2])

    def test_an_event_that_is_too_long_is_an_error(self) -> None:
        stage = EventsStage(start_stream(), SharedList(), SharedList(), start_sse(max_chars=20))
        last = stage.feed(b"data: 1\n\n").feed(b"data: " + b"x" * 30 + b"\n\n").finish("over", None)
        assert (last.value, last.outcome, last.is_complete) == ([1], Outcome.TRUNCATED, False)
        assert "longer than 20 characters" in str(last.error)

    def test_nothing_can_be_lost_and_stopped_too(self) -> None:
        assert finish_moment(start_moment(), "lost").outcome is Outcome.TRUNCATED
        assert finish_moment(start_moment(), "stopped").outcome is Outcome.CANCELLED

    def test_events_of_a_stream_without_any_are_empty(self) -> None:
        last = finish_moment(feed_moment(start_moment(), b"data: [DONE]\n\n"))
        assert (last.kind, last.value) == ("text", "data: [DONE]\n\n")

    def test_a_lost_message_says_why(self) -> None:
        lost = finish_moment(feed_moment(start_moment(), SSE[:70]), "lost", "reset by peer")
        assert "reset by peer" in str(lost.error)

    def test_a_stream_that_has_ended_takes_no_more(self) -> None:
        last = finish_moment(start_moment())
        with pytest.raises(ValueError, match="has ended"):
            feed_moment(last, b"x")
        with pytest.raises(ValueError, match="has ended"):
            finish_moment(last)


class TestOptions:
    def test_a_schema_decides_what_is_shown(self) -> None:
        schema = {"type": "object", "properties": {"size": {"enum": ["small", "large"]}, "to": {"type": "string"}}}
        moments = check_changes(follow([b'{"size": "sm', b'all", "to": "Kyo', b'to"}'], schema=schema))
        assert [moment.value for moment in moments][:2] == [{}, {"size": "small", "to": "Kyo"}]
        assert moments[-1].is_complete
        *_, wrong = check_changes(follow([b'{"size": "medium"}'], schema=schema))
        assert (wrong.outcome, wrong.is_complete) == (Outcome.INVALID, False)
        assert wrong.resolution is not None
        assert wrong.resolution.errors

    def test_the_answer_of_a_message_has_the_schema(self) -> None:
        events: list[dict[str, object]] = [
            {"message": {"content": text}, "done": is_last} for text, is_last in (('{"n": 1', False), ("}", True))
        ]
        *_, last = check_changes(follow(Recording.of_events(events), schema={"type": "object"}))
        assert last.message is not None
        assert last.message.answer == {"n": 1}

    def test_repairs_in_a_message_are_told(self) -> None:
        call = {"index": 0, "id": "c", "function": {"name": "f", "arguments": "{a: 1,}"}}
        event: dict[str, object] = {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}
        *_, last = check_changes(follow(Recording.of_events([event]), mend=MODELS))
        assert [repair.kind.value for repair in last.repairs] == ["unquoted key", "trailing comma"]

    def test_bad_json_is_mended_where_it_is_asked_for(self) -> None:
        for pieces in ways("Sure: ```json\n{city: 'Kyōto',}\n```".encode()):
            *_, last = check_changes(follow(pieces, mend=MODELS))
            assert (last.kind, last.value, last.is_complete) == ("json", {"city": "Kyōto"}, True)
            assert last.repairs

    def test_mending_leaves_the_events_of_a_provider_alone(self) -> None:
        for data in MESSAGES.values():
            *_, last = check_changes(follow(ways(data).__next__(), mend=MODELS))
            assert (last.kind, last.repairs) == ("message", ())

    @pytest.mark.parametrize(
        ("kind", "value"),
        [("json", {"message": {"content": "Hi"}}), ("documents", [{"message": {"content": "Hi"}}])],
    )
    def test_the_kind_can_be_said(self, kind: Any, value: Any) -> None:
        for pieces in ways(b'{"message": {"content": "Hi"}}\n'):
            *_, last = check_changes(follow(pieces, as_kind=kind))
            assert (last.kind, last.value) == (kind, value)

    def test_a_message_can_be_said(self) -> None:
        *_, last = check_changes(follow([b"oops"], as_kind="message"))
        assert (last.kind, last.outcome.value) == ("message", "truncated")
        assert "no event of a known provider" in str(last.error)
        for pieces in ([], CHAT):
            *_, last = check_changes(follow(Recording.of_events(pieces), as_kind="message"))
            assert (last.kind, last.outcome.value) == ("message", "complete" if pieces else "truncated")

    def test_text_can_be_said_of_json(self) -> None:
        *_, last = check_changes(follow([b"[1", b", 2]"], as_kind="text"))
        assert last.value == "[1, 2]"

    def test_wrong_arguments_are_refused(self) -> None:
        with pytest.raises(ValueError, match="as_kind must be one of"):
            start_moment(as_kind="yaml")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="end must be one of"):
            finish_moment(start_moment(), "done")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="a piece must be bytes"):
            feed_moment(start_moment(), "text")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="an event follows bytes"):
            feed_moment(feed_moment(start_moment(), b"[1"), Piece(0, {"a": 1}))
        with pytest.raises(TypeError, match="an event follows bytes"):
            feed_moment(feed_moment(start_moment(), b"data: "), Piece(0, {"a": 1}))
        with pytest.raises(TypeError, match="must be a Moment"):
            feed_moment(b"", b"")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="an iterable of Piece or bytes, not bytes; afollow takes"):
            follow(b"[1]")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="asynchronous iterable of Piece or bytes, not list; follow takes"):
            afollow([b"[1]"])  # type: ignore[arg-type]


class TestLoops:
    def test_a_recording_is_followed_to_its_own_end(self) -> None:
        recording = Recording((Piece(0.5, b"[1"), Piece(0.75, b", 2")), end="lost", error="reset", duration=2.0)
        moments = list(follow(recording))
        assert [(moment.number, moment.at) for moment in moments] == [(1, 0.5), (2, 0.75), (2, 2.0)]
        assert (moments[-1].end, moments[-1].outcome) == ("lost", Outcome.TRUNCATED)

    def test_a_source_that_fails_ends_the_stream(self) -> None:
        def source() -> Iterator[bytes]:
            yield b"[1, "
            raise ConnectionResetError("reset by peer")

        *_, last = follow(source())
        assert (last.end, last.outcome) == ("lost", Outcome.TRUNCATED)

    def test_a_bug_in_a_source_is_raised(self) -> None:
        with pytest.raises(ZeroDivisionError):
            list(follow(bytes([1 // one]) for one in (1, 0)))

    def test_asynchronous_pieces_give_the_same(self) -> None:
        async def source(*, fails: bool) -> AsyncIterator[bytes]:
            for piece in (b"[1, ", b"2]"):
                yield piece
            if fails:
                raise ConnectionResetError("reset by peer")

        async def read(*, fails: bool) -> list[Moment]:
            return [moment async for moment in afollow(source(fails=fails))]

        moments = asyncio.run(read(fails=False))
        assert [moment.value for moment in moments] == [[1], [1, 2], [1, 2]]
        assert moments[-1].is_complete
        assert asyncio.run(read(fails=True))[-1].end == "lost"

    def test_a_source_is_closed_when_its_loop_ends(self) -> None:
        closed: list[str] = []

        def source() -> Iterator[bytes]:
            try:
                yield from (b"[1", b", 2]")
            finally:
                closed.append("plain")

        async def asource() -> AsyncIterator[bytes]:
            try:
                yield b"[1"
                yield b", 2]"
            finally:
                closed.append("asynchronous")

        async def leave() -> None:
            moments = afollow(asource())
            await anext(moments)
            await moments.aclose()  # type: ignore[attr-defined]

        kept = source()  # another name for it: nothing but the loop closes it
        moments = follow(kept)
        next(moments)
        moments.close()  # type: ignore[attr-defined]
        asyncio.run(leave())
        assert closed == ["plain", "asynchronous"]

    def test_a_piece_is_pulled_when_its_moment_is_asked_for(self) -> None:
        pulled: list[bytes] = []
        moments = follow(pulled.append(piece) or piece for piece in (b"[1", b", 2]"))  # type: ignore[func-returns-value]
        next(iter(moments))
        assert pulled == [b"[1"]
