"""The loops around the reducer, sync and async, over any source."""

import asyncio
import http.client
import json
import threading
import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from types import SimpleNamespace
from typing import Annotated, Any, cast

import pytest
from pydantic import AfterValidator, BaseModel, field_validator

from jsontide.messages import ErrorKind, Message, Outcome, Tool
from jsontide.streams import AsyncMessageStream, MessageStream, astream_message, stream_message
from tests.cuts import every, singles
from tests.messages.telling import call, end, shown_answer, text
from tests.meters import heap
from tests.streams.arriving import arriving

HI = {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": None}]}
CALL = {
    "choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"name": "a", "arguments": '{"b":'}}]}}]
}
STOP = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
LINES = [{"message": {"content": "Zoë "}, "done": False}, {"message": {"content": "𝄞"}, "done": True}]


def both(items: Iterable[Any], **options: Any) -> list[Message]:
    """What both loops yield, which must be the same."""

    async def collected() -> list[Message]:
        return [message async for message in astream_message(arriving(kept), **options)]

    kept = list(items)
    messages = list(stream_message(kept, **options))
    assert asyncio.run(collected()) == messages
    return messages


def sse(*events: object) -> str:
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events)


def test_a_message_after_each_event_that_changed_it_and_the_finished_one() -> None:
    messages = both([HI, {"choices": []}, HI, STOP])
    assert [message.content for message in messages] == ["Hi", "HiHi", "HiHi", "HiHi"]
    assert [message.outcome for message in messages[:-1]] == [Outcome.STREAMING] * 3
    assert messages[-1].outcome is Outcome.COMPLETE


def test_chunks_of_our_own_are_taken_as_they_are() -> None:
    assert both([text("a"), call("{}", name="b"), end()])[-1].tool_calls[0].status is Outcome.COMPLETE


def test_a_stream_of_nothing_has_a_finished_message_too() -> None:
    assert [message.outcome for message in both([])] == [Outcome.TRUNCATED]


def test_raw_server_sent_events_cut_anywhere() -> None:
    data = ": hello\n\n" + sse(HI, CALL, STOP) + "data: [DONE]\n\n"
    for chunks in every(data):
        assert list(stream_message(chunks))[-1].content == "Hi"
    assert both(singles(data))[-1].content == "Hi"


def test_raw_lines_of_json_cut_anywhere() -> None:
    data = "\n" + "\n".join(json.dumps(line, ensure_ascii=False) for line in LINES)
    for chunks in every(data):
        last = list(stream_message(chunks))[-1]
        assert (last.content, last.outcome) == ("Zoë 𝄞", Outcome.COMPLETE)


@pytest.mark.parametrize("form", ["sse", "lines"])
@pytest.mark.parametrize("before", ["\ufeff", "\n\ufeff", "\ufeff\n", " \r\n"])
def test_a_byte_order_mark_cut_anywhere(before: str, form: str) -> None:
    text = sse(HI, STOP) if form == "sse" else "\n".join(json.dumps(event) for event in (HI, STOP))
    data = (before + text).encode()
    for place in range(12):
        *_, message = stream_message([data[:place], data[place:]])
        assert (message.content, message.outcome) == ("Hi", Outcome.COMPLETE)


@pytest.mark.parametrize("before", ["", "\ufeff", "\n\n", " \r\n", "\ufeff\n", "\n" * 300])
def test_white_space_and_a_mark_before_the_first_event(before: str) -> None:
    lines = "\n".join(json.dumps(line, ensure_ascii=False) for line in LINES)
    for data in (before + lines, before + sse(*LINES)):
        for chunks in (singles(data.encode()), [data.encode()]):
            assert list(stream_message(chunks))[-1].content == "Zoë 𝄞"


def test_a_space_before_a_field_makes_it_another_field_whose_event_is_lost() -> None:
    for space in (" ", "\t", "\n ", "\ufeff "):
        data = space + sse(HI) + sse(*LINES)
        for chunks in (singles(data), [data]):
            *_, last = stream_message(chunks)
            assert (last.outcome, last.errors[0].kind) == (Outcome.TRUNCATED, ErrorKind.TRANSPORT)


def test_what_follows_the_word_that_all_is_done_is_not_waited_for() -> None:
    def source() -> Iterator[str]:
        yield sse(HI, STOP) + "data: [DONE]\n\n"
        raise AssertionError

    assert list(stream_message(source()))[-1].outcome is Outcome.COMPLETE


def test_an_event_that_should_be_json_and_is_not_is_an_error_of_transport() -> None:
    (*_, last) = both([sse(HI), 'data: {"choices": [{"delta": \n\n', sse(STOP)])
    assert last.outcome is Outcome.TRUNCATED
    assert [error.kind for error in last.errors] == [ErrorKind.TRANSPORT]
    assert last.content == "Hi"


def test_data_that_is_no_event_is_passed_over() -> None:
    assert both(["data: ping\n\n", sse(HI, STOP)])[-1].outcome is Outcome.COMPLETE


def test_events_that_nobody_knows_are_passed_over() -> None:
    strange = [None, 7, "", [], {}, {"type": "new"}, SimpleNamespace(type="new"), object()]
    assert both([*strange, HI, *strange, STOP])[-1].outcome is Outcome.COMPLETE


class TestTheSourceFails:
    def test_and_the_partial_message_is_kept_with_the_error(self) -> None:
        failure = ConnectionResetError("gone")

        def source() -> Iterator[object]:
            yield HI
            yield CALL
            raise failure

        *_, last = stream_message(source())
        assert last.content == "Hi"
        assert last.outcome is Outcome.TRUNCATED
        assert (last.errors[0].kind, last.errors[0].message, last.errors[0].cause) == (
            ErrorKind.TRANSPORT,
            "gone",
            failure,
        )
        assert last.tool_calls[0].status is Outcome.TRUNCATED

    def test_and_the_same_holds_for_an_asynchronous_one(self) -> None:
        async def source() -> AsyncIterator[object]:
            yield HI
            raise ConnectionResetError

        async def last() -> Message:
            return [message async for message in astream_message(source())][-1]

        message = asyncio.run(last())
        assert (message.content, message.outcome) == ("Hi", Outcome.TRUNCATED)
        assert isinstance(message.errors[0].cause, ConnectionResetError)

    def test_in_the_words_of_the_provider(self) -> None:
        overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        started = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}}
        messages = both([started, overloaded, started])
        assert [message.content for message in messages] == ["Hi", "Hi"]
        assert messages[-1].errors[0].message == "Overloaded"


class Source:
    """An iterator that tells whether it was closed."""

    def __init__(self, *items: object) -> None:
        self.items = list(items)
        self.closed = False

    def __iter__(self) -> Iterator[object]:
        return iter(self.items)

    def close(self) -> None:
        self.closed = True


class TestCancelling:
    def test_closes_the_iterator_of_a_source_too(self) -> None:
        closed = []

        class Opens:
            def __iter__(self) -> Iterator[object]:
                try:
                    yield HI
                    yield STOP
                finally:
                    closed.append("iterator")

            def close(self) -> None:
                closed.append("source")

        stream = stream_message(Opens())
        next(stream)
        assert stream.stop().outcome is Outcome.CANCELLED
        assert closed == ["iterator", "source"]

    def test_closes_a_source_of_both_kinds_as_the_loop_reads_it(self) -> None:
        class Both(Source):
            """As the bodies of some clients are."""

            async def __aiter__(self) -> AsyncIterator[object]:
                for item in self.items:
                    yield item

            async def aclose(self) -> None:
                self.items.clear()

        async def left(source: Both) -> None:
            async with astream_message(source):
                pass

        read, awaited = Both(HI), Both(HI)
        with stream_message(read):
            pass
        asyncio.run(left(awaited))
        assert (read.closed, read.items) == (True, [HI])
        assert (awaited.closed, awaited.items) == (False, [])

    def test_closes_the_source_once_and_also_if_closing_its_iterator_fails(self) -> None:
        closed = []

        class Fails:
            def __iter__(self) -> Iterator[object]:
                try:
                    yield HI
                finally:
                    raise ConnectionResetError

            async def __aiter__(self) -> AsyncIterator[object]:
                try:
                    yield HI
                finally:
                    raise ConnectionResetError

            def close(self) -> None:
                closed.append(True)

        async def stopped() -> None:
            stream = astream_message(Fails())
            await anext(stream)
            with pytest.raises(ConnectionResetError):
                await stream.stop()
            assert closed == [True]
            await stream.stop()

        asyncio.run(stopped())
        assert closed == [True]
        stream = stream_message(Fails())
        next(stream)
        with pytest.raises(ConnectionResetError):
            stream.stop()
        assert closed == [True, True]
        stream.stop()
        assert closed == [True, True]

    def test_from_outside_while_a_task_waits_closes_the_source_when_it_can(self) -> None:
        closed, waits, go_on = [], asyncio.Event(), asyncio.Event()

        async def source() -> AsyncIterator[object]:
            try:
                yield HI
                waits.set()
                await go_on.wait()
                yield CALL
                yield STOP
            finally:
                closed.append(True)

        async def run() -> None:
            stream = astream_message(source())

            async def consume() -> list[Message]:
                return [message async for message in stream]

            task = asyncio.create_task(consume())
            await waits.wait()
            assert (await stream.stop()).outcome is Outcome.CANCELLED
            go_on.set()
            assert [message.content for message in await task] == ["Hi"]
            assert closed == [True]
            assert stream.message.tool_calls == ()

        asyncio.run(run())

    def test_a_source_that_fails_because_it_was_closed_meanwhile_changes_nothing(self) -> None:
        class Response:
            """As those of clients are: closing it breaks the read that somebody waits for."""

            def __init__(self) -> None:
                self.waits, self.closed = asyncio.Event(), asyncio.Event()

            async def __aiter__(self) -> AsyncIterator[object]:
                yield HI
                self.waits.set()
                await self.closed.wait()
                raise ConnectionResetError

            async def close(self) -> None:
                self.closed.set()

        async def run() -> None:
            response = Response()
            stream = astream_message(response)

            async def consume() -> list[Message]:
                return [message async for message in stream]

            task = asyncio.create_task(consume())
            await response.waits.wait()
            stopped = await stream.stop()
            assert [message.content for message in await task] == ["Hi"]
            assert stream.message is stopped
            assert (stopped.outcome, stopped.errors) == (Outcome.CANCELLED, ())

        asyncio.run(run())

    def test_from_another_thread_while_one_waits_closes_the_source_when_it_can(self) -> None:
        closed, waits, go_on = [], threading.Event(), threading.Event()

        def source() -> Iterator[object]:
            try:
                yield HI
                waits.set()
                go_on.wait(60)
                yield CALL
                yield STOP
            finally:
                closed.append(True)

        stream, found = stream_message(source()), list[Message]()
        thread = threading.Thread(target=lambda: found.extend(stream))
        thread.start()
        assert waits.wait(60)
        assert stream.stop().outcome is Outcome.CANCELLED
        go_on.set()
        thread.join(60)
        assert [message.content for message in found] == ["Hi"]
        assert closed == [True]

    def test_a_task_inside_the_stream_closes_its_source(self) -> None:
        class Waits:
            def __init__(self) -> None:
                self.closed, self.waits = False, asyncio.Event()

            def __aiter__(self) -> "Waits":
                return self

            async def __anext__(self) -> object:
                self.waits.set()
                return await asyncio.sleep(60, HI)

            async def aclose(self) -> None:
                self.closed = True

        async def run() -> None:
            source = Waits()

            async def consume() -> None:
                async with astream_message(source) as stream:
                    async for _ in stream:
                        pass

            task = asyncio.create_task(consume())
            await source.waits.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert source.closed

        asyncio.run(run())

    def test_keeps_the_partial_message_and_closes_the_source(self) -> None:
        source = Source(HI, CALL, STOP)
        with stream_message(source) as messages:
            for message in messages:
                if message.tool_calls:
                    break
        assert message.outcome is Outcome.STREAMING
        assert source.closed
        assert messages.message.content == "Hi"
        assert messages.message.outcome is Outcome.CANCELLED
        assert messages.message.tool_calls[0].status is Outcome.CANCELLED
        assert list(messages) == []

    def test_after_the_end_changes_nothing(self) -> None:
        messages = stream_message([HI, STOP])
        *_, last = messages
        assert messages.stop() is last

    def test_a_task_keeps_the_partial_message(self) -> None:
        async def source() -> AsyncIterator[object]:
            yield HI
            await asyncio.sleep(60)

        async def run() -> None:
            stream = astream_message(source())
            arrived = asyncio.Event()

            async def consume() -> None:
                async for _ in stream:
                    arrived.set()

            task = asyncio.create_task(consume())
            await arrived.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (stream.message.content, stream.message.outcome) == ("Hi", Outcome.CANCELLED)

        asyncio.run(run())

    def test_an_asynchronous_stream_is_stopped_by_leaving_it(self) -> None:
        closed = []

        async def source() -> AsyncIterator[object]:
            try:
                yield HI
                yield STOP
            finally:
                closed.append(True)

        async def run() -> Message:
            async with astream_message(source()) as stream:
                async for _ in stream:
                    break
            return stream.message

        assert asyncio.run(run()).outcome is Outcome.CANCELLED
        assert closed == [True]

    def test_an_interrupt_is_not_swallowed(self) -> None:
        def source() -> Iterator[object]:
            yield HI
            raise KeyboardInterrupt

        stream: MessageStream[Any] = stream_message(source())
        next(stream)
        with pytest.raises(KeyboardInterrupt):
            next(stream)
        assert stream.message.outcome is Outcome.CANCELLED

    def test_while_an_event_is_read_it_is_not_undone(self) -> None:
        def stops(_: object) -> str:
            stopped.append(stream.stop())
            return "Kyoto"

        stopped: list[Message] = []
        tool = Tool("book", Annotated[str, AfterValidator(stops)])
        stream = stream_message([call('"Kyo', name="book"), call('to"'), end()], tools=[tool])
        assert len(list(stream)) == 1
        assert stream.message.outcome is Outcome.CANCELLED
        assert stream.message.tool_calls[0].status is Outcome.CANCELLED
        assert stopped[0].outcome is Outcome.CANCELLED


class Payment(BaseModel):
    amount: int
    to: str = ""

    @field_validator("to")
    @classmethod
    def known(cls, to: str) -> str:
        return {"Zoe": to}[to]


PAYMENT = [call('{"amount": 1', name="pay"), call('0, "to": "nobody"'), call("}"), end("tool_calls")]


class TestWhatAValidatorRaises:
    """The event in which it was raised is lost, so that nothing that came before or after it can be run."""

    def test_ends_the_stream(self) -> None:
        stream = stream_message(PAYMENT, tools=[Tool("pay", Payment)])
        next(stream)
        with pytest.raises(KeyError):
            next(stream)
        assert list(stream) == []
        assert stream.message.tool_calls[0].status is Outcome.CANCELLED

    def test_ends_an_asynchronous_stream(self) -> None:
        async def run() -> None:
            stream = astream_message(arriving(PAYMENT), tools=[Tool("pay", Payment)])
            await anext(stream)
            with pytest.raises(KeyError):
                await anext(stream)
            assert [message async for message in stream] == []
            assert stream.message.tool_calls[0].status is Outcome.CANCELLED

        asyncio.run(run())

    def test_takes_nothing_from_the_events_before_it_however_they_are_cut(self) -> None:
        entry = {"index": 0, "function": {"name": "pay", "arguments": '{"amount": 1, "to": "nobody"}'}}
        bad = {"choices": [{"index": 0, "delta": {"tool_calls": [entry]}}]}
        for chunks in every(sse(HI, HI, bad, STOP)):
            stream = stream_message(chunks, tools=[Tool("pay", Payment)])
            with pytest.raises(KeyError):
                list(stream)
            assert (stream.message.content, stream.message.outcome) == ("HiHi", Outcome.CANCELLED)

    def test_ends_the_stream_also_where_the_end_is_judged(self) -> None:
        def fails(_: object) -> object:
            raise KeyError

        async def run() -> Outcome:
            stream = astream_message(arriving(events), tools=tools)
            with pytest.raises(KeyError):
                [message async for message in stream]
            assert [message async for message in stream] == []
            return stream.message.outcome

        events = [call("", name="book"), end("tool_calls")]
        tools = [Tool("book", Annotated[dict[str, int], AfterValidator(fails)])]
        stream = stream_message(events, tools=tools)
        with pytest.raises(KeyError):
            list(stream)
        assert list(stream) == []
        assert stream.message.outcome is asyncio.run(run()) is Outcome.CANCELLED

    def test_does_not_look_like_the_end_of_the_stream(self) -> None:
        tools = [Tool("book", Annotated[list[int], AfterValidator(lambda found: next(iter(found)))])]
        with pytest.raises(RuntimeError):
            list(stream_message([call("[]", name="book"), end("tool_calls")], tools=tools))


def growing_list(count: int) -> list[str]:
    """Events whose messages each show one string more of a list."""
    pieces = ['{"names": ["a"', *(f', "name {n}"' for n in range(count)), "]}"]
    deltas: list[object] = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces]
    return [sse(event) for event in [*deltas, STOP]]


class Names(BaseModel):
    names: list[str]


def read_all(chunks: Iterable[str]) -> int:
    """How many messages there are, each looked at and let go."""
    return sum(bool(shown_answer(message)) for message in stream_message(chunks, response_schema=Names))


def read_all_later(chunks: Iterable[str]) -> int:
    async def run() -> int:
        stream = astream_message(arriving(chunks), response_schema=Names)
        return sum([bool(shown_answer(message)) async for message in stream])

    return asyncio.run(run())


class TestSeveralEventsInOneRead:
    @pytest.mark.parametrize("read", [read_all, read_all_later])
    @pytest.mark.untraced
    def test_take_no_more_memory_than_one_by_one(self, read: Callable[[Iterable[str]], int]) -> None:
        events = growing_list(400)
        whole = "".join(events)
        assert read([whole]) == read(events)  # also: what is loaded once is loaded now
        tracemalloc.start()
        try:
            alone, _ = heap(lambda: read(events))
            at_once, _ = heap(lambda: read([whole]))
        finally:
            tracemalloc.stop()
        assert at_once < alone + 20 * len(whole)

    def test_give_one_message_when_one_is_asked_for(self) -> None:
        stream = stream_message([sse(HI, HI, STOP)])
        assert [next(stream).content, stream.message.content] == ["Hi", "Hi"]
        assert [next(stream).content, stream.message.content] == ["HiHi", "HiHi"]
        assert [message.outcome for message in stream] == [Outcome.STREAMING, Outcome.COMPLETE]

    def test_are_kept_as_far_as_they_were_asked_for_when_it_is_stopped(self) -> None:
        async def run() -> Message:
            stream = astream_message(arriving([sse(HI, CALL, HI, STOP), sse(HI)]))
            await anext(stream)
            await anext(stream)
            return await stream.stop()

        stream = stream_message([sse(HI, CALL, HI, STOP), sse(HI)])
        next(stream)
        next(stream)
        for message in (stream.stop(), asyncio.run(run())):
            assert (message.content, message.outcome) == ("Hi", Outcome.CANCELLED)
            assert [call.status for call in message.tool_calls] == [Outcome.CANCELLED]
        assert list(stream) == []

    def test_come_before_what_one_of_them_raises(self) -> None:
        entry = {"index": 0, "function": {"name": "pay", "arguments": '{"amount": 1, "to": "nobody"}'}}
        bad = {"choices": [{"index": 0, "delta": {"tool_calls": [entry]}}]}
        stream = stream_message([sse(HI, HI, bad, STOP)], tools=[Tool("pay", Payment)])
        assert [next(stream).content, next(stream).content] == ["Hi", "HiHi"]
        with pytest.raises(KeyError):
            next(stream)
        assert (stream.message.content, stream.message.outcome) == ("HiHi", Outcome.CANCELLED)

    def test_are_not_lost_when_two_tasks_take_turns(self) -> None:
        class Reads:
            """A source that two tasks may wait for, as those of some clients are."""

            def __init__(self) -> None:
                self.reads = iter([sse(HI, HI, HI), sse(HI, HI), sse(STOP)])

            def __aiter__(self) -> "Reads":
                return self

            async def __anext__(self) -> str:
                await asyncio.sleep(0)
                try:
                    return next(self.reads)
                except StopIteration:
                    raise StopAsyncIteration from None

        async def run() -> Message:
            stream = astream_message(Reads())

            async def consume() -> None:
                async for _ in stream:
                    await asyncio.sleep(0)

            await asyncio.gather(consume(), consume())
            return stream.message

        message = asyncio.run(run())
        assert (message.content, message.outcome) == ("Hi" * 5, Outcome.COMPLETE)


def fails_with(error: BaseException) -> tuple[MessageStream[Any], BaseException | None]:
    """The stream after its source raised, and what came out of it."""

    def source() -> Iterator[object]:
        yield HI
        raise error

    stream = stream_message(source())
    next(stream)
    try:
        list(stream)
    except Exception as raised:  # noqa: BLE001
        return stream, raised
    return stream, None


def fails_later_with(error: BaseException) -> tuple[AsyncMessageStream[Any], BaseException | None]:
    async def source() -> AsyncIterator[object]:
        yield HI
        raise error

    async def run() -> tuple[AsyncMessageStream[Any], BaseException | None]:
        stream = astream_message(source())
        await anext(stream)
        try:
            [message async for message in stream]
        except Exception as raised:  # noqa: BLE001
            return stream, raised
        return stream, None

    return asyncio.run(run())


def of_client(name: str) -> Exception:
    """An exception whose base is one of a client's."""
    base = type("ClientError", (Exception,), {"__module__": name})
    return cast("Exception", type("OwnError", (base,), {})("gone"))


class TestWhatTheSourceRaises:
    @pytest.mark.parametrize("run", [fails_with, fails_later_with])
    @pytest.mark.parametrize(
        "error",
        [
            NameError("respones"),
            AttributeError(),
            KeyError("choices"),
            ValueError(),
            RuntimeError(),
            AssertionError(),
            ZeroDivisionError(),
            of_client("my.httpx"),
            of_client("httpx_of_mine"),
            ExceptionGroup("both", [ConnectionError(), NameError()]),
        ],
        ids=repr,
    )
    def test_is_raised_if_it_is_a_bug_and_the_message_stays(self, run: Callable[..., Any], error: Exception) -> None:
        stream, raised = run(error)
        assert raised is error
        assert (stream.message.content, stream.message.outcome) == ("Hi", Outcome.CANCELLED)

    @pytest.mark.parametrize("run", [fails_with, fails_later_with])
    @pytest.mark.parametrize(
        "error",
        [
            ConnectionResetError("gone"),
            TimeoutError(),
            EOFError(),
            asyncio.IncompleteReadError(b"", 9),
            http.client.IncompleteRead(b""),
            json.JSONDecodeError("no", "x", 0),
            UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no"),
            ExceptionGroup("both", [ConnectionError(), EOFError()]),
            *map(
                of_client,
                [
                    "openai",
                    "anthropic._exceptions",
                    "google.genai.errors",
                    "botocore.exceptions",
                    "httpx",
                    "httpcore._exceptions",
                    "aiohttp.client_exceptions",
                    "requests.exceptions",
                    "urllib3.exceptions",
                ],
            ),
        ],
        ids=repr,
    )
    def test_ends_the_message_if_the_transport_failed(self, run: Callable[..., Any], error: Exception) -> None:
        stream, raised = run(error)
        assert raised is None
        assert (stream.message.content, stream.message.outcome) == ("Hi", Outcome.TRUNCATED)
        assert (stream.message.errors[0].kind, stream.message.errors[0].cause) == (ErrorKind.TRANSPORT, error)

    def test_is_not_raised_if_it_was_stopped_meanwhile(self) -> None:
        def source() -> Iterator[object]:
            yield HI
            stream.stop()
            raise AttributeError  # as `http.client` does when it is closed while it reads

        stream = stream_message(source())
        assert [message.content for message in stream] == ["Hi"]
        assert (stream.message.outcome, stream.message.errors) == (Outcome.CANCELLED, ())


@pytest.mark.parametrize("wrong", [None, 7, arriving([])])
def test_what_is_no_stream_is_refused_where_it_is_passed(wrong: Any) -> None:
    with pytest.raises(TypeError, match="astream_message"):
        stream_message(wrong)


def test_a_single_event_is_refused_where_it_is_passed() -> None:
    with pytest.raises(TypeError, match="a single one"):
        stream_message(HI)


def test_all_of_a_response_at_once() -> None:
    data = sse(HI, STOP)
    for whole in (data, data.encode(), bytearray(data.encode()), memoryview(data.encode())):
        assert [message.content for message in stream_message(whole)] == ["Hi", "Hi", "Hi"]


def test_an_event_that_compares_in_its_own_way_is_passed_over() -> None:
    class Odd:
        __hash__ = None  # type: ignore[assignment]

        def __eq__(self, other: object) -> bool:
            raise ValueError

    assert both([Odd(), HI, STOP])[-1].outcome is Outcome.COMPLETE
