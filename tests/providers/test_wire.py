"""Raw responses: damage and loss are reported, harmless oddities are not, and other text is shown as it begins."""

import asyncio
import json
import pickle
from collections.abc import AsyncIterator, Iterable, Iterator
from random import Random
from typing import Any

import pytest

from jsontide.messages import ErrorKind, Message, MessageConfig, Outcome
from jsontide.providers import feed_stream, start_stream
from jsontide.streams import astream_message, stream_message
from tests.cuts import cut_at, cut_randomly, every, halves, singles, sized, ways
from tests.streams.test_stream_message import both


def chat(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def arguments(piece: str, **said: Any) -> dict[str, Any]:
    return chat({"tool_calls": [{"index": 0, "function": {"arguments": piece, **said}}]})


def line(event: object) -> str:
    return json.dumps(event, ensure_ascii=False)


def data(event: object) -> str:
    return f"data: {line(event)}\n\n"


FIRST, SECOND, THIRD = arguments('{"n":1', name="pay"), arguments("0"), arguments("}")
STOP = chat({}, "tool_calls")
DONE = "data: [DONE]\n\n"
EVENTS = (FIRST, SECOND, THIRD, STOP)
SSE = "".join(map(data, EVENTS)) + DONE
NDJSON = "".join(f"{line(event)}\n" for event in EVENTS)
OLLAMA = (
    {"message": {"content": "Zoë "}, "done": False},
    {"message": {"tool_calls": [{"function": {"name": "pay", "arguments": {"to": "Zoë 𝄞"}}}]}, "done": False},
    {"message": {}, "done": True},
)


def last_of(chunks: Iterable[object]) -> Message:
    *_, last = stream_message(chunks)
    return last


def runnable(message: Message) -> list[Any]:
    return [call.arguments_value for call in message.tool_calls if call.status is Outcome.COMPLETE]


def check_damaged(message: Message, *shown: str) -> None:
    """Nothing is run, an error of transport says why, and what came before is kept."""
    assert message.outcome is Outcome.TRUNCATED
    assert runnable(message) == []
    assert (message.errors[0].kind, message.errors[0].source) == (ErrorKind.TRANSPORT, "stream")
    for part in shown:
        assert part in message.errors[0].message


def test_what_is_not_damaged_is_complete() -> None:
    for text in (SSE, NDJSON):
        for chunks in (singles(text), [text], [text.encode()], sized(text.encode(), 7)):
            message = last_of(chunks)
            assert (message.outcome, runnable(message), message.errors) == (Outcome.COMPLETE, [{"n": 10}], ())


def test_done_in_quotes_is_the_end_as_cohere_writes_it() -> None:
    told = SSE.replace("data: [DONE]", 'data: "[DONE]"')
    for chunks in (singles(told), [told], told.splitlines()):
        message = last_of(chunks)
        assert (message.outcome, runnable(message), message.errors) == (Outcome.COMPLETE, [{"n": 10}], ())


@pytest.mark.parametrize(
    "told", [{"message": "slot unavailable", "code": 503}, {"error": {"message": "slot unavailable"}}]
)
def test_a_field_for_errors_is_one_as_llama_cpp_writes_it(told: dict[str, Any]) -> None:
    for before in (data(FIRST), ""):
        text = f"{before}error: {line(told)}\n\n"
        for chunks in (singles(text), [text], text.splitlines()):
            message = last_of(chunks)
            assert (message.outcome, [error.message for error in message.errors][:1]) == (
                Outcome.TRUNCATED,
                ["slot unavailable"],
            )


class TestDoneAsTheEnd:
    """For servers that send usage and `[DONE]`, but no finish reason."""

    text = "".join(map(data, (FIRST, SECOND, THIRD, {"choices": [], "usage": {"total_tokens": 3}})))

    def test_counts_only_if_it_is_asked_for(self) -> None:
        for chunks in (singles(self.text + DONE), [self.text + DONE], (self.text + DONE).splitlines()):
            message = stream_message(chunks, done_is_end=True).final()
            assert (message.outcome, runnable(message), message.errors) == (Outcome.COMPLETE, [{"n": 10}], ())
            assert (message.finish_reason, message.raw_finish_reason) == ("tool_calls", None)
            check_damaged(last_of(chunks), "before the provider said")

    def test_counts_in_both_loops_and_in_saved_states(self) -> None:
        async def later() -> Message:
            async def source() -> AsyncIterator[str]:
                yield self.text
                yield DONE

            return await astream_message(source(), done_is_end=True).final()

        assert runnable(asyncio.run(later())) == [{"n": 10}]
        state = feed_stream(start_stream(MessageConfig(done_is_end=True)), self.text)
        saved = pickle.loads(pickle.dumps(state))  # noqa: S301 - our own
        assert runnable(stream_message([DONE], state=saved).final()) == [{"n": 10}]

    def test_is_no_end_of_a_stream_without_it_or_with_a_worse_one(self) -> None:
        check_damaged(stream_message([self.text], done_is_end=True).final(), "before the provider said")
        filtered = data(chat({}, "content_filter"))
        message = stream_message([self.text + filtered + DONE], done_is_end=True).final()
        assert (message.outcome, runnable(message)) == (Outcome.FILTERED, [])
        half = "".join(map(data, (FIRST, SECOND))) + DONE
        assert runnable(stream_message([half], done_is_end=True).final()) == []

    def test_is_a_switch(self) -> None:
        with pytest.raises(TypeError, match="done_is_end must be a bool, not int"):
            MessageConfig(done_is_end=1)  # type: ignore[arg-type]


whole = line(SECOND)
BROKEN = {
    "the end is lost": f"data: {whole[:-5]}\n\n",
    "the beginning is lost": f"data: {whole[5:]}\n\n",
    "both are lost": f"data: {whole[9:-9]}\n\n",
    "the beginning of the line is lost": f"{whole[5:]}\n\n",
    "the name of the field is wrong": f"dota: {whole}\n\n",
    "the name of the field is lost": f" {whole}\n\n",
    "the end and the next line": f"data: {whole[:9]}ta: {whole[20:]}\n\n",
    "a line end inside": f"data: {whole[:9]}\n{whole[9:]}\n\n",
    "a number": "data: 1\n\n",
    "a text": 'data: "0"\n\n',
    "an array": f"data: [{whole}]\n\n",
    "no end": "data: {}}\n\n",
    "prose": "data: upstream connect error\n\n",
    "an event of a provider that is none": "event: content_block_delta\ndata: oops\n\n",
    "an error that is none": "event: error\ndata: overloaded\n\n",
    "half a character": f"data: {whole[:-1]}\ud83d{whole[-1]}\n\n",
    "the second half of one": f"data: {whole[:-1]}\udc80{whole[-1]}\n\n",
}


@pytest.mark.parametrize("name", BROKEN)
def test_an_event_that_is_broken_is_the_end_at_every_cut(name: str) -> None:
    for chunks in every(data(FIRST) + BROKEN[name] + data(THIRD) + data(STOP) + DONE):
        message = last_of(chunks)
        check_damaged(message)
        assert [call.arguments for call in message.tool_calls] == ['{"n":1']


@pytest.mark.parametrize("name", BROKEN)
def test_the_same_before_any_event_was_recognised(name: str) -> None:
    text = BROKEN[name] + "".join(map(data, EVENTS)) + DONE
    for chunks in (singles(text), [text]):
        check_damaged(last_of(chunks))


def test_the_error_shows_the_beginning_of_what_is_broken() -> None:
    text = data(FIRST) + 'data: {"choices": [' + '"x", ' * 100 + "\n\n"
    (*_, last) = both([text])
    check_damaged(last, 'is not JSON: \'{"choices": ["x"')
    assert len(last.errors[0].message) < 200


@pytest.mark.parametrize("text", [SSE, NDJSON])
@pytest.mark.untraced
def test_a_byte_that_is_not_utf8_is_never_passed_over(text: str) -> None:
    sent = text.encode()
    for place in range(len(sent)):
        damaged = sent[:place] + b"\xff" + sent[place + 1 :]
        for chunks in ([damaged], sized(damaged, 97), [damaged[:place], damaged[place:]]):
            check_damaged(last_of(chunks))


@pytest.mark.parametrize("bad", [b"\xff", b"\xe2\x82", b"\xf0\x9f\x98", b"\xed\xa0\xbd", b"\xc0\x80"])
def test_bytes_that_are_not_utf8_are_never_shown_as_something_else(bad: bytes) -> None:
    sent = data(arguments('{"to": "Zo~"}', name="pay")).encode().replace(b"~", bad) + (data(STOP) + DONE).encode()
    lines = b"\n".join(part.removeprefix(b"data: ") for part in sent.split(b"\n\n")[:2])
    for text in (sent, lines):
        for chunks in ways(text):
            check_damaged(last_of(chunks))


def test_a_character_that_stands_for_a_lost_one_is_as_good_as_any() -> None:
    text = data(arguments('{"to": "Zo\ufffd"}', name="pay")) + data(STOP)
    for chunks in every(text):
        assert runnable(last_of(chunks)) == [{"to": "Zo\ufffd"}]


def utf16(text: str) -> list[str]:
    """One unit of UTF-16 at a time, as some bridges to other languages cut."""
    units = text.encode("utf-16-le")
    return [units[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(units), 2)]


@pytest.mark.parametrize("form", ["data: {}\n\n", "{}\n"])
def test_both_halves_of_a_character_are_put_together(form: str) -> None:
    text = "".join(form.replace("{}", line(event)) for event in OLLAMA)
    for chunks in (utf16(text), ["".join(utf16(text))], [text]):
        message = last_of(chunks)
        assert (message.content, runnable(message)) == ("Zoë ", [{"to": "Zoë 𝄞"}])


def test_half_a_character_between_text_and_bytes_is_damage() -> None:
    before, after = data(arguments('{"to": "~"}', name="pay")).split("~")
    rest = after.encode() + data(STOP).encode()
    check_damaged(last_of([before + "\ud834", rest]))
    check_damaged(last_of([before.encode() + b"\xf0\x9d", rest.decode()]))


def is_told(prefix: str) -> bool:
    """Whether all that was sent is whole, so that nothing can be missing but the word that all is done."""
    *_, rest = prefix.partition(line(STOP))
    return line(STOP) in prefix and (not rest.strip("\n") or DONE.strip() == rest.strip())


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.untraced
def test_a_stream_that_is_cut_off_anywhere_runs_nothing_that_is_not_told(end: str) -> None:
    for place in range(1, len(SSE)):
        sent = SSE[:place].replace("\n", end)
        for chunks in ([sent], [sent.encode()]):
            message = last_of(chunks)
            assert runnable(message) == ([{"n": 10}] if is_told(SSE[:place]) else []), sent
            assert (message.outcome is Outcome.COMPLETE) is is_told(SSE[:place])


def test_lines_that_are_cut_off_anywhere_run_nothing_that_is_not_told() -> None:
    for place in range(1, len(NDJSON)):
        message = last_of([NDJSON[:place]])
        is_whole = line(STOP) in NDJSON[:place]
        assert (message.outcome is Outcome.COMPLETE) is is_whole
        assert runnable(message) == ([{"n": 10}] if is_whole else [])


def test_an_event_that_is_cut_off_after_the_end_was_told_is_not_passed_over() -> None:
    more = data(arguments('{"n":', name="refund"))
    for place in range(1, len(more) - 2):
        check_damaged(last_of([SSE.removesuffix(DONE) + more[:place]]), "ends in the middle of an event")


def test_the_last_event_needs_no_blank_line() -> None:
    for end in ("\n\n", "\n", "\r\n", "\r", ""):
        for rest in ("", "data: [DONE]" + end):
            text = SSE.removesuffix("\n\n" + DONE) + ("\n\n" + rest if rest else end)
            for chunks in (singles(text), [text.encode()]):
                assert runnable(last_of(chunks)) == [{"n": 10}]


HARMLESS = {
    "a comment": ": keep-alive\n\n",
    "the comments of OpenRouter": ": OPENROUTER PROCESSING\n\n",
    "a comment with braces": ': {"ping": 1}\n\n',
    "a comment inside": ": x\n",
    "an empty comment": ":\n\n",
    "blank lines": "\n\n\n",
    "empty data": "data:\n\n",
    "data of spaces": "data:   \n\n",
    "a field without value": "data\n\n",
    "a ping": 'event: ping\ndata: {"type": "ping"}\n\n',
    "a ping with a time": "event: ping\ndata: 2026-01-01 12:00:00\n\n",
    "an event without data": "event: content_block_delta\n\n",
    "a name that no provider uses": "event: progress\ndata: 50%\n\n",
    "a word": "data: ping\n\n",
    "a word in brackets": "data: [PING]\n\n",
    "null": "data: null\n\n",
    "an object that nobody knows": 'data: {"progress": 50}\n\n',
    "an id and a time to wait": "id: 7\nretry: 250\n\n",
    "a time to wait that is none": "retry: soon\n\n",
    "a field that nobody knows": "x: y\n\n",
}


@pytest.mark.parametrize("name", HARMLESS)
def test_what_servers_send_between_events_is_no_damage(name: str) -> None:
    between = HARMLESS[name]
    text = between + "".join(data(event) + between for event in EVENTS) + DONE
    for chunks in (singles(text), sized(text, 7), [text], [text.replace("\n", "\r\n").encode()]):
        message = last_of(chunks)
        assert (message.outcome, runnable(message)) == (Outcome.COMPLETE, [{"n": 10}])


def test_a_comment_may_be_in_any_encoding() -> None:
    sent = b": d\xe9marrage\n\n" + SSE.encode()
    for chunks in (singles(sent), [sent]):
        assert runnable(last_of(chunks)) == [{"n": 10}]


class TestLinesWithoutTheirEnds:
    """As `iter_lines()` of many clients gives them."""

    @pytest.mark.parametrize("kind", [str, bytes])
    @pytest.mark.parametrize("before", ["", ": OPENROUTER PROCESSING\n\n", "event: message\nid: 1\n"])
    def test_are_read(self, kind: type, before: str) -> None:
        lines = (before + SSE).split("\n")
        for found in (lines, [one for one in lines if one]):
            message = last_of(found if kind is str else [one.encode() for one in found])
            assert (message.outcome, runnable(message)) == (Outcome.COMPLETE, [{"n": 10}])

    def test_of_json_are_read(self) -> None:
        for events in (EVENTS, OLLAMA):
            assert last_of(map(line, events)).outcome is Outcome.COMPLETE

    def test_with_names_are_read(self) -> None:
        told: list[dict[str, Any]] = [
            {"type": "message_start", "message": {"role": "assistant"}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        ]
        lines = [part for event in told for part in (f"event: {event['type']}", f"data: {line(event)}", "")]
        message = last_of(lines)
        assert (message.content, message.outcome) == ("Hi", Outcome.COMPLETE)

    def test_that_are_damaged_are_the_end(self) -> None:
        lines = [f"data: {line(FIRST)}", "data: oi: 7}", f"data: {line(THIRD)}", f"data: {line(STOP)}"]
        check_damaged(last_of(lines))

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    @pytest.mark.parametrize("form", ["data: {}\n\n", ": x\n\nevent: y\ndata: {}\n\n", "{}\n"])
    @pytest.mark.untraced
    def test_are_not_seen_where_the_ends_come_in_chunks_of_their_own(self, form: str, end: str) -> None:
        if (form, end) == ("{}\n", "\r"):
            return  # ends no line of JSON
        text = "".join(form.replace("{}", line(event)) for event in OLLAMA).replace("\n", end)
        for start in range(len(text)):
            # Every size where a line ends in the chunk or beside it; elsewhere one size in turn.
            is_near = not set(text[max(start - 1, 0) : start + 6]).isdisjoint(end)
            for size in range(1, 6) if is_near else [start % 5 + 1]:
                message = last_of(cut_at(text, [start, min(start + size, len(text))]))
                assert (message.content, len(runnable(message))) == ("Zoë ", 1)

    def test_are_not_seen_where_there_are_none(self) -> None:
        """Pieces that look like lines, inside of a line."""
        text = data(arguments('{"data: ": "data: {} {"}', name="pay")) + data(STOP)
        for chunks in halves(text):
            assert runnable(last_of(chunks)) == [{"data: ": "data: {} {"}]


PAGE = "<!DOCTYPE html>\n<html><style>body { color: red }</style>\n<h1>502 Bad Gateway</h1></html>\n"
STRANGE = {
    "an HTML page": PAGE,
    "prose": "Take the night train: it leaves at {time}.",
    "prose in brackets": "[1] According to {source}",
    "prose with long characters": "Zoë spielt 𝄞 um {Zeit}, 日本語",
    "another document": '{\n  "detail": "Not found"\n}',
    "another document on one line": '{"detail": "Not found"}',
    "another stream": 'data: {"type": "start"}\n\ndata: {"type": "text-delta"}\n\ndata: [DONE]\n\n',
    "half a document": '{"id": "chatcmpl-1", "choices": [{"mess',
}


class TestWhatIsNoStreamOfEvents:
    @pytest.mark.parametrize("name", STRANGE)
    def test_is_shown_by_its_beginning(self, name: str) -> None:
        text = STRANGE[name]
        for chunks in every(text):
            message = last_of(chunks)
            check_damaged(message, "no event of a known provider was recognised", repr(text[:20])[:-1])
            assert message.content == ""

    def test_is_shown_up_to_a_limit(self) -> None:
        for chunks in (["x" * 10_000], ["x"] * 10_000, [b"x" * 10_000], [{"detail": "x" * 10_000}], [["x"] * 10_000]):
            (error,) = last_of(chunks).errors
            assert len(error.message) < 200

    @pytest.mark.parametrize("pieces", [["Take ", "the ", "night train"], ["Hi"], ["Zoë ", "𝄞"]])
    def test_may_be_the_text_alone(self, pieces: list[str]) -> None:
        (*_, last) = both(pieces)
        check_damaged(last, repr("".join(pieces)))

    def test_may_be_events_of_someone_else(self) -> None:
        (*_, last) = both([{"type": "start"}, {"type": "text-delta", "delta": "Hi"}])
        check_damaged(last, "recognised", "{'type': 'start'}")

    def test_may_be_anything(self) -> None:
        class Odd:
            def __repr__(self) -> str:
                raise ValueError

        strange: list[object] = [Odd(), None, 7, [], {}, ("id", "chatcmpl-1")]
        for odd in strange:
            check_damaged(last_of([odd]), "recognised")

    def test_is_not_what_ends_before_it_begins(self) -> None:
        def nothing() -> Iterator[str]:
            yield from ()

        for empty in ([], nothing(), [""], [b"", "\n"]):
            (error,) = last_of(empty).errors
            assert "recognised" not in error.message

    def test_is_not_what_was_recognised_before_it(self) -> None:
        (error, *_) = last_of([data(FIRST)]).errors
        assert error.message == "the stream ended before the provider said how the message ends"

    @pytest.mark.parametrize(
        ("body", "said"),
        [
            ({"error": {"message": "Incorrect API key", "type": "invalid_request_error"}}, "Incorrect API key"),
            ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "Overloaded"),
            ({"error": "model not found"}, "model not found"),
        ],
    )
    def test_may_be_an_error_of_a_provider(self, body: object, said: str) -> None:
        for text in (json.dumps(body), json.dumps(body, indent=2)):
            for chunks in every(text):
                check_damaged(last_of(chunks), said)


JUNK = (
    b"\xff",
    b"\n",
    b"\r",
    b"}",
    b"{",
    b"data: ",
    b"\n\n",
    b"[",
    b":",
    b" ",
    b"\xf0\x9d",
    b"\0",
    b'"',
    b"\xef\xbb\xbf",
)


def damaged(sent: bytes, random: Random) -> bytes:
    """A response from which something is lost, or into which something came."""
    for _ in range(random.randint(1, 3)):
        place = random.randint(0, len(sent))
        lost = random.choice((0, 1, 2, 5, 40, 150))
        sent = sent[:place] + random.choice((b"", *JUNK)) + sent[place + lost :]
    return sent


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("text", [SSE, NDJSON, "".join(map(data, OLLAMA)), json.dumps(list(EVENTS), indent=1)])
@pytest.mark.untraced
def test_a_damaged_response_says_the_same_at_any_cut(text: str, seed: int) -> None:
    random = Random(seed)
    for _ in range(30):
        sent = damaged(text.encode(), random)
        expected = last_of([sent])
        for chunks in (singles(sent), cut_randomly(sent, random), cut_randomly(sent, random, 3)):
            assert last_of(chunks) == expected
