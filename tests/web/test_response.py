"""`stream_response`, served by a real server on loopback: when bytes are sent, how it ends, and who leaves."""

import asyncio
import json
import logging
import math
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypedDict

import pytest

pytest.importorskip("uvicorn", reason="uvicorn is not installed")
pytest.importorskip("starlette", reason="starlette is not installed")

from starlette.background import BackgroundTask
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from jsontide import Limits, Message, ParserState, astream_message
from jsontide.frontends import CompactEncoder
from jsontide.messages import ErrorDetail
from jsontide.streams import AsyncMessageStream, astates
from jsontide.web import MemoryTurns, stream_response
from tests.web.serving import (
    PATIENCE,
    TEXT,
    WORDS,
    Client,
    Opened,
    Provider,
    eventually,
    never,
    port_of,
    read_compact,
    routed,
    run_in_no_time,
    running,
    serve,
    serving,
    text_in,
    until,
    wait_for_responses,
    word_events,
)

COMPLETE = {"end": "complete"}


class Plain:
    """An encoder that tells little, and what is done to it."""

    media_type = "text/plain"
    headers: dict[str, str] = {}  # noqa: RUF012 - the protocol wants a mapping
    keep_alive = b"."

    def __init__(self, *, fails: bool = False) -> None:
        self.fails = fails
        self.encoded = 0

    def begin(self) -> tuple[str, bytes]:
        return "", b"begin\n"

    def encode(self, state: str, growing: object) -> tuple[str, bytes]:
        self.encoded += 1
        if self.fails:
            raise ArithmeticError("secret")
        assert isinstance(growing, Message)
        if state == "over":
            return state, b""
        new = growing.content.removeprefix(state).encode()
        is_over = growing.outcome.name != "STREAMING"
        return ("over", new + b"\nend\n") if is_over else (growing.content, new)

    def fail(self, state: str, reason: str) -> tuple[str, bytes]:
        return state, b"" if state == "over" else f"\nfailed: {reason}\n".encode()


@contextmanager
def answering(
    source: Callable[[], Any], encoder: Any = None, *, middleware: Any = (), server: Any = None, **options: Any
) -> Iterator[int]:
    """Serve what a source gives."""

    async def answer(_: Request) -> Response:
        return stream_response(source(), CompactEncoder() if encoder is None else encoder, **options)

    with serving(Route("/", answer, methods=["GET", "POST"]), middleware=middleware, **(server or {})) as port:
        yield port


def answered(source: Callable[[], Any], encoder: Any = None, **options: Any) -> Client:
    """A client that has read all of an answer."""
    with answering(source, encoder, **options) as port:
        client = Client(port)
        client.read_all()
    return client


def test_the_message_is_told_while_it_grows_and_to_its_end() -> None:
    provider = Provider()
    rest = provider.hold_before(2)
    with answering(provider.messages) as port:
        client = Client(port)
        client.read_text("Take the ")
        rest.set()
        client.read_all()
    assert client.is_complete
    assert text_in(client.body) == TEXT
    assert read_compact(client.body).end == COMPLETE
    assert (provider.closed, provider.cancelled) == (1, 0)


def test_headers_are_those_of_the_encoder_and_tell_proxies_not_to_buffer() -> None:
    client = answered(Provider().messages, headers={"x-own": "1"})
    for header in (
        "content-type: text/event-stream",
        "cache-control: no-cache, no-transform",
        "x-accel-buffering: no",
        "x-own: 1",
    ):
        assert header in client.head
    assert "content-length" not in client.head


@pytest.mark.parametrize("encoder", [CompactEncoder(), CompactEncoder(form="ndjson"), Plain()])
def test_the_first_bytes_come_before_the_first_token(encoder: Any) -> None:
    provider = Provider()
    provider.hold_before(0)
    expected = encoder.begin()[1] or encoder.keep_alive
    with answering(provider.messages, encoder) as port:
        client = Client(port)
        client.read_until(b"\r\n" + expected)
        assert client.status == 200
        assert client.body == expected
        assert provider.given == 0
        client.leave()


def test_the_first_bytes_come_before_a_coroutine_that_gives_the_source_is_done() -> None:
    provider = Provider()
    waits = asyncio.Event()

    async def connect() -> AsyncIterator[Message[object]]:
        await waits.wait()
        return provider.messages()

    with answering(connect, Plain(), keep_alive=0.05) as port:
        client = Client(port)
        client.read_until(b"begin\n\r\n1\r\n.")
        assert provider.opened == 0
        waits.set()  # looked at when the keep-alive wakes the loop
        client.read_all()
    assert client.body.replace(b".", b"").decode() == f"begin\n{TEXT}\nend\n".replace(".", "")


class Pausing(Provider):
    """A provider that is silent for some seconds before each event."""

    def __init__(self, *pauses: float, words: tuple[str, ...] = WORDS) -> None:
        super().__init__(word_events(words))
        self.pauses = pauses

    async def _wait(self, at: int) -> None:
        await asyncio.sleep(self.pauses[at] if at < len(self.pauses) else 0)


@pytest.mark.parametrize("held", [0, 2])
def test_silence_is_filled_and_the_source_goes_on_after_it(held: int) -> None:
    provider = Pausing(*[0.0] * held, 52)
    body = run_in_no_time(serve(stream_response(provider.messages(), CompactEncoder(), keep_alive=10)))
    assert body.count(b": keep-alive") == 1 + 5  # the first one is the first byte
    assert text_in(body) == TEXT
    assert read_compact(body).end == COMPLETE
    assert provider.cancelled == 0


def test_silence_is_filled_over_a_connection() -> None:
    provider = Provider()
    rest = provider.hold_before(2)
    with answering(provider.messages, keep_alive=0.05) as port:
        client = Client(port)
        while client.raw.count(b": keep-alive") < 3:
            client.raw += client.socket.recv(65536)
        rest.set()
        client.read_all()
    assert text_in(client.body) == TEXT


def test_silence_is_filled_also_while_what_comes_changes_nothing() -> None:
    async def spaces() -> AsyncIterator[str]:
        yield "[1"
        for _ in range(20):
            await asyncio.sleep(2)
            yield " "
        yield "]"

    body = run_in_no_time(serve(stream_response(astates(spaces()), CompactEncoder(), keep_alive=9)))
    assert body.count(b": keep-alive") == 1 + 40 // 9
    assert read_compact(body).value == [1]


def test_without_keep_alive_silence_is_silent() -> None:
    provider = Pausing(0, 3600)
    body = run_in_no_time(serve(stream_response(provider.messages(), Plain(), keep_alive=None)))
    assert body.decode() == f"begin\n{TEXT}\nend\n"


async def _given(provider: Provider) -> AsyncIterator[Message[object]]:
    await asyncio.sleep(0)
    return provider.messages()


SOURCES: dict[str, Callable[[Provider], Any]] = {
    "messages": lambda provider: provider.messages(),
    "a generator": lambda provider: provider.generated(),
    "a function": lambda provider: provider.generated,
    "a coroutine": _given,
    "a coroutine function": lambda provider: lambda: _given(provider),
}


sources = pytest.mark.parametrize("kind", SOURCES)


@sources
def test_every_kind_of_source_is_read_to_its_end_and_closed(kind: str) -> None:
    provider = Provider()
    with answering(lambda: SOURCES[kind](provider)) as port:
        client = Client(port)
        client.read_all()
        eventually(lambda: provider.closed == 1)
    assert text_in(client.body) == TEXT
    assert provider.cancelled == 0


@sources
@pytest.mark.parametrize("held", [0, 2])
@pytest.mark.parametrize("middleware", ["", "wrapped"])
def test_a_client_that_leaves_cancels_and_closes_the_source_although_nothing_is_sent(
    kind: str, held: int, middleware: str
) -> None:
    provider = Provider()
    provider.hold_before(held)
    around = [Middleware(BaseHTTPMiddleware, dispatch=pass_on)] if middleware else []
    with answering(lambda: SOURCES[kind](provider), middleware=around, keep_alive=3600) as port:
        client = Client(port, method="POST", content_length="0")
        client.read_until(b"keep-alive")
        if held:
            client.read_text("Take the ")
        eventually(lambda: provider.opened == 1)
        client.leave()
        eventually(lambda: provider.closed == 1)
    assert provider.given == held
    assert provider.opened == provider.cancelled == 1


async def pass_on(request: Request, call_next: Any) -> Any:
    return await call_next(request)


def test_a_client_that_leaves_while_the_source_is_connected_cancels_that() -> None:
    ended = []

    async def connect() -> AsyncIterator[Message[object]]:
        try:
            await never()
        finally:
            ended.append(True)
        return Provider().messages()

    with answering(connect, keep_alive=3600) as port:
        client = Client(port)
        client.read_until(b"keep-alive")
        client.leave()
        eventually(lambda: ended == [True])


def test_leaving_is_noticed_of_servers_that_say_they_raise_at_the_next_send() -> None:
    """A server of ASGI 2.4 may raise `OSError` from `send`; nothing is sent for a long while here."""
    provider = Provider()
    provider.hold_before(0)
    left = asyncio.Event()

    async def receive() -> dict[str, str]:
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(_: Any) -> None:
        await asyncio.sleep(0)

    async def look() -> None:
        response = stream_response(provider.messages(), CompactEncoder())
        scope: Any = {"type": "http", "method": "GET", "asgi": {"version": "3.0", "spec_version": "2.4"}}
        served = asyncio.create_task(response(scope, receive, send))
        await until(lambda: provider.opened)
        left.set()
        await served
        await until(lambda: provider.closed)

    asyncio.run(asyncio.wait_for(look(), PATIENCE))
    assert provider.cancelled == 1


def test_a_server_whose_send_raises_because_the_client_left_cancels_the_source() -> None:
    provider = Provider()
    provider.hold_before(1)

    async def send(message: Any) -> None:
        if message.get("body"):
            raise ConnectionResetError

    async def look() -> None:
        await stream_response(provider.messages(), CompactEncoder())({"type": "http", "method": "GET"}, never, send)
        await until(lambda: provider.closed)

    asyncio.run(asyncio.wait_for(look(), PATIENCE))


def test_a_client_that_has_left_before_the_response_begins_closes_the_source() -> None:
    source = Opened()

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    async def send(_: Any) -> None:
        await never()

    async def look() -> None:
        await stream_response(source, CompactEncoder())({"type": "http", "method": "GET"}, receive, send)
        await until(lambda: source.closed)

    asyncio.run(asyncio.wait_for(look(), PATIENCE))


def test_what_a_source_does_after_its_message_is_not_cancelled_by_a_client_that_has_read_it() -> None:
    provider = Provider()
    may_save = threading.Event()
    saved: list[str] = []

    async def answer() -> AsyncIterator[Message[object]]:
        async with astream_message(provider.stream()) as messages:
            async for message in messages:
                yield message
        await until(may_save.is_set)
        saved.append(messages.message.content)

    async def ask(_: Request) -> Response:
        return stream_response(answer(), CompactEncoder())

    with running(routed(Route("/", ask))) as server:
        client = Client(port_of(server))
        client.read_until(b'"complete"')
        client.leave()
        wait_for_responses(server, 0)
        may_save.set()
        eventually(lambda: saved == [TEXT])


@pytest.mark.parametrize("after", [0, 2])
def test_an_exception_of_the_source_is_told_without_its_text_and_logged(
    after: int, caplog: pytest.LogCaptureFixture
) -> None:
    provider = Provider()
    provider.raises[after] = ArithmeticError("the key is sk-123")
    with caplog.at_level(logging.ERROR, "jsontide.web"):
        client = answered(provider.messages)
    assert client.is_complete
    assert read_compact(client.body).end == {"end": "failed", "reason": "the server failed"}
    assert b"sk-123" not in client.raw
    assert "sk-123" in caplog.text
    assert provider.closed == 1


def test_what_is_told_of_an_exception_can_be_chosen() -> None:
    provider = Provider()
    provider.raises[1] = ArithmeticError("too much")
    client = answered(provider.messages, describe_error=lambda error: f"sorry: {error}")
    assert read_compact(client.body).end == {"end": "failed", "reason": "sorry: too much"}


def test_an_end_is_told_even_if_describing_the_error_fails() -> None:
    provider = Provider()
    provider.raises[1] = ArithmeticError("too much")

    def describe(_: Exception) -> str:
        raise ArithmeticError

    client = answered(provider.messages, describe_error=describe)
    assert read_compact(client.body).end == {"end": "failed", "reason": "the server failed"}


def test_what_a_provider_says_of_a_failure_is_logged_and_not_told(caplog: pytest.LogCaptureFixture) -> None:
    provider = Provider([*word_events()[:2], {"error": {"message": "quota of org-acme"}}])
    with caplog.at_level(logging.WARNING, "jsontide.web"):
        client = answered(provider.messages)
    assert read_compact(client.body).end == {"end": "truncated", "reason": "the provider failed"}
    assert b"org-acme" not in client.raw
    assert "quota of org-acme" in caplog.text


def test_one_rule_describes_exceptions_and_errors_in_messages() -> None:
    def describe(error: ErrorDetail | Exception) -> str:
        return f"sorry: {error.message}" if isinstance(error, ErrorDetail) else f"sorry: {error}"

    provider = Provider([*word_events()[:2], {"error": {"message": "overloaded"}}])
    for options in ({"describe_error": describe}, {"encoder": CompactEncoder(describe_error=describe)}):
        with answering(provider.messages, **options) as port:
            client = Client(port)
            client.read_all()
        value = read_compact(client.body)
        assert value.end == {"end": "truncated", "reason": "sorry: overloaded"}
        assert isinstance(value.value, dict)
        assert value.value["errors"] == [{"kind": "transport", "message": "sorry: overloaded"}]

    provider.raises[1] = ArithmeticError("too much")
    encoder = CompactEncoder(describe_error=describe)
    client = answered(lambda: raising(provider), encoder=encoder)
    assert read_compact(client.body).end == {"end": "failed", "reason": "sorry: too much"}


async def raising(provider: Provider) -> AsyncIterator[Message[object]]:
    """A source that raises what its provider raises."""
    async for event in provider.stream():
        async for message in astream_message(one(event)):
            if not message.errors:
                yield message


async def one(event: object) -> AsyncIterator[object]:
    yield event


def test_an_exception_about_a_message_does_not_tell_what_the_provider_said() -> None:
    provider = Provider([*word_events()[:2], {"error": {"message": "quota of org-acme"}}])

    async def strict() -> AsyncIterator[Message[object]]:
        async for message in provider.messages():
            if message.outcome.name != "STREAMING":
                message.raise_for_outcome()
            yield message

    client = answered(strict)
    assert read_compact(client.body).end == {"end": "failed", "reason": "the provider failed"}


def test_messages_after_the_first_are_named_in_warnings(caplog: pytest.LogCaptureFixture) -> None:
    def chat(message_id: str, *pieces: str) -> list[dict[str, object]]:
        choices: list[dict[str, object]] = [{"index": 0, "delta": {"content": piece}} for piece in pieces]
        choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
        return [{"id": message_id, "choices": [choice]} for choice in choices]

    async def run() -> AsyncIterator[Message[object]]:
        for events in (chat("a", "one"), chat("b", "two", "more")):
            async for message in astream_message(Provider(events).stream()):
                yield message
                yield message  # the same once more is not another one
        third = aiter(astream_message(Provider(chat("c", "three")).stream()))
        yield await anext(third)

    with caplog.at_level(logging.WARNING, "jsontide.web"), answering(run) as port:
        client = Client(port)
        client.read_all()
        eventually(lambda: len(caplog.records) > 1)
    assert read_compact(client.body).end == COMPLETE
    named = [record.getMessage().partition(": ")[2] for record in caplog.records]
    assert named == [
        "message (id 'b') number 2 of the source is not sent: a turn ends with its first one",
        "message (id 'c') number 3 of the source is not sent: a turn ends with its first one",
    ]


def test_a_transport_that_fails_ends_the_message_as_truncated() -> None:
    provider = Provider()
    provider.raises[2] = ConnectionResetError("the provider is gone")
    client = answered(provider.messages)
    value = read_compact(client.body)
    assert value.end is not None
    assert value.end["end"] == "truncated"
    assert text_in(client.body) == "Take the "


def test_a_source_that_ends_before_its_message_does_is_a_failure() -> None:
    async def answer() -> AsyncIterator[Message[object]]:
        async for message in Provider().messages():
            yield message
            return

    client = answered(answer)
    assert read_compact(client.body).end == {"end": "failed", "reason": "the stream ended before the message did"}


def test_a_source_that_gives_nothing_is_a_failure() -> None:
    async def answer() -> AsyncIterator[Message[object]]:
        return
        yield

    client = answered(answer, Plain())
    assert client.body == b"begin\n\nfailed: the stream ended before the message did\n"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (lambda: [Message()], "the server failed"),
        (lambda: 5, "the server failed"),
    ],
)
def test_what_a_function_gives_instead_of_a_source_is_a_failure(given: Any, said: str) -> None:
    client = answered(lambda: given)
    assert read_compact(client.body).end == {"end": "failed", "reason": said}


def test_what_is_neither_a_message_nor_a_state_is_a_failure(caplog: pytest.LogCaptureFixture) -> None:
    async def answer() -> AsyncIterator[str]:
        yield "text"

    client = answered(answer)
    assert read_compact(client.body).end == {"end": "failed", "reason": "the server failed"}
    assert "a source must give messages, runs or parser states, not str" in caplog.text


def test_an_encoder_that_fails_is_told_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    provider = Provider()
    provider.hold_before(1)
    with answering(provider.messages, Plain(fails=True)) as port:
        client = Client(port)
        client.read_all()
        eventually(lambda: provider.closed == 1)  # nobody listens any more
    assert client.body == b"begin\n\nfailed: the server failed\n"
    assert "Plain failed" in caplog.text


async def pieces(*texts: str) -> AsyncIterator[str]:
    for text in texts:
        await asyncio.sleep(0)
        yield text


def test_json_alone_is_told_while_it_grows() -> None:
    client = answered(lambda: astates(pieces('{"city": "Kyo', 'to", "days"', ": 3}")))
    value = read_compact(client.body)
    assert (value.value, value.end) == ({"city": "Kyoto", "days": 3}, COMPLETE)


@pytest.mark.parametrize(("text", "word"), [("[1, 2", "truncated"), ("[1, x]", "invalid")])
def test_bad_json_ends_with_what_is_wrong(text: str, word: str) -> None:
    client = answered(lambda: astates(pieces(*text)))
    end = read_compact(client.body).end
    assert end is not None
    assert end["end"] == word
    assert "expected" in str(end["reason"])


def test_a_limit_of_the_text_ends_the_message_as_invalid() -> None:
    events = word_events(('{"a": [[[', "1]]]}"))

    def source() -> Any:
        provider = Provider(events)
        return astream_message(provider.stream(), response_schema={}, limits=Limits(max_depth=2))

    client = answered(source)
    end = read_compact(client.body).end
    assert end is not None
    assert end["end"] == "invalid"
    assert "2" in str(end["reason"])


def test_a_limit_of_json_alone_is_told() -> None:
    from jsontide import create_parser_state  # noqa: PLC0415

    start = create_parser_state(limits=Limits(max_depth=2))
    client = answered(lambda: astates(pieces("[[", "[", "]]]"), start))
    end = read_compact(client.body).end
    assert end is not None
    assert end["end"] == "invalid"


@pytest.mark.parametrize(("min_interval", "counts"), [(0, range(51, 54)), (10, range(6, 8))])
def test_messages_within_an_interval_are_sent_as_one(min_interval: float, counts: range) -> None:
    """Of a word each second, for 50 seconds and an end."""
    words = tuple(f"{number} " for number in range(50))
    encoder = Plain()
    messages = Pausing(*[1.0] * 51, words=words).messages()
    body = run_in_no_time(serve(stream_response(messages, encoder, min_interval=min_interval, keep_alive=None)))
    assert body.decode() == f"begin\n{''.join(words)}\nend\n"
    assert encoder.encoded in counts


def test_a_source_that_has_much_at_once_leaves_room_for_others() -> None:
    """Others on the loop run while a response has thousands of messages without a pause."""
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    async def look() -> bytes:
        task = asyncio.create_task(other())
        body = await serve(stream_response(at_once(word_events(("x",) * 1_000)), CompactEncoder()))
        task.cancel()
        return body

    assert len(text_in(run_in_no_time(look()))) == 1_000
    assert turns > 500


async def at_once(events: Any) -> AsyncIterator[Message[object]]:
    async def given() -> AsyncIterator[object]:
        for event in events:
            yield event

    async with astream_message(given()) as messages:
        async for message in messages:
            yield message


@pytest.mark.parametrize("leaves", ["", "leaves"])
def test_a_background_task_runs_after_the_response_also_if_the_client_left(leaves: str) -> None:
    provider = Provider()
    rest = provider.hold_before(2)
    ran: list[int] = []

    async def answer(_: Request) -> Response:
        return stream_response(provider.messages(), CompactEncoder(), background=BackgroundTask(ran.append, 1))

    with serving(Route("/", answer)) as port:
        client = Client(port)
        client.read_text("Take the ")
        assert not ran
        if leaves:
            client.leave()
        else:
            rest.set()
            client.read_all()
        eventually(lambda: ran == [1])


def test_a_head_request_gets_the_headers_and_opens_nothing() -> None:
    source = Opened()
    with answering(lambda: source) as port:
        client = Client(port, method="HEAD")
        client.read_all()
    assert client.status == 200
    assert "text/event-stream" in client.head
    assert client.raw.endswith(b"\r\n\r\n")
    assert (source.provider.opened, source.closed) == (0, 1)


def test_a_head_request_runs_no_coroutine() -> None:
    provider = Provider()
    with answering(lambda: _given(provider)) as port:
        client = Client(port, method="HEAD")
        client.read_all()
    assert client.status == 200
    assert provider.opened == 0


@pytest.mark.parametrize("form", ["sse", "ndjson"])
def test_middleware_that_compresses_holds_nothing_back(form: Any) -> None:
    provider = Provider()
    rest = provider.hold_before(2)
    middleware = [Middleware(GZipMiddleware, minimum_size=1), Middleware(BaseHTTPMiddleware, dispatch=pass_on)]
    with answering(provider.messages, CompactEncoder(form=form), middleware=middleware) as port:
        client = Client(port, accept_encoding="gzip")
        client.read_text("Take the ")
        rest.set()
        client.read_all()
    assert text_in(client.body) == TEXT
    assert "content-encoding: gzip" not in client.head


@pytest.mark.parametrize("on_leave", ["cancel", "continue"])
def test_a_server_that_shuts_down_closes_the_source_and_does_not_pretend_an_end(on_leave: Any) -> None:
    provider = Provider()
    provider.hold_before(2)

    async def answer(_: Request) -> Response:
        return stream_response(provider.messages(), CompactEncoder(), store=MemoryTurns(), on_leave=on_leave)

    with running(routed(Route("/", answer)), timeout_graceful_shutdown=0) as server:
        client = Client(port_of(server))
        client.read_text("Take the ")
        server.should_exit = True
        client.read_all()
    assert (provider.closed, provider.cancelled) == (1, 1)
    assert not client.is_complete or read_compact(client.body).end is not None
    assert read_compact(client.body).end != COMPLETE


class Plan(TypedDict):
    city: str


def test_type_checkers_take_every_kind_of_source() -> None:
    """It is mypy that tests this, in strict mode."""
    provider = Provider()

    async def connect() -> AsyncMessageStream[Plan]:
        return astream_message(provider.stream(), response_schema=Plan)

    connecting = connect()
    responses = [
        stream_response(astream_message(provider.stream()), CompactEncoder()),
        stream_response(astream_message(provider.stream(), response_schema=Plan), CompactEncoder()),
        stream_response(astates(pieces("[1]")), CompactEncoder()),
        stream_response(provider.generated, CompactEncoder()),
        stream_response(connect, CompactEncoder()),
        stream_response(connecting, CompactEncoder()),
    ]
    connecting.close()
    assert all(response.status_code == 200 for response in responses)


async def no_source() -> AsyncIterator[ParserState]:
    return
    yield


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        ({"source": []}, TypeError, "astream_message, arun_agent or astates"),
        ({"source": "hi"}, TypeError, "not str"),
        ({"source": None}, TypeError, "not NoneType"),
        ({"encoder": object()}, TypeError, "encoder must be"),
        ({"encoder": CompactEncoder}, TypeError, "the class CompactEncoder"),
        ({"on_leave": "stay"}, ValueError, "on_leave must be one of 'cancel', 'continue'"),
        ({"on_leave": "continue"}, ValueError, "needs a store"),
        ({"store": {}}, TypeError, "store must be a TurnStore"),
        ({"store": MemoryTurns}, TypeError, "the class MemoryTurns"),
        ({"keep_alive": "15"}, TypeError, "keep_alive must be a number of seconds, not str"),
        ({"keep_alive": 0}, ValueError, "keep_alive must be at least 0.01 seconds, not 0"),
        ({"keep_alive": math.nan}, ValueError, "keep_alive must be"),
        ({"min_interval": -1}, ValueError, "min_interval must be at least 0 seconds, not -1"),
        ({"min_interval": True}, TypeError, "min_interval must be"),
        ({"run_id": 1}, TypeError, "run_id must be a str"),
        ({"run_id": "a\nb"}, ValueError, "run_id must be"),
        ({"encoder": CompactEncoder(run_id="b"), "run_id": "a"}, ValueError, "that of the encoder is 'b'"),
        ({"describe_error": "sorry"}, TypeError, "describe_error must be callable"),
    ],
)
def test_wrong_arguments_raise_where_they_are_passed_and_say_what_is_accepted(
    options: Any, kind: type[Exception], said: str
) -> None:
    with pytest.raises(kind, match=said):
        stream_response(**{"source": no_source, "encoder": CompactEncoder(), **options})


def test_json_words_of_the_source_are_those_of_the_wire() -> None:
    """The whole of what is sent, once, read by eye."""
    client = answered(Provider(word_events(WORDS[:1])).messages)
    lines = [line for line in client.body.decode().split("\n") if line]
    assert lines[0] == ": keep-alive"
    assert json.loads(lines[1].removeprefix("data: "))["value"]["role"] == "assistant"
    assert lines[-1] == 'data: {"end":"complete"}'
