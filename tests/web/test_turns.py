"""Turns that go on without readers, are joined and stopped: over a real server, and what a store keeps in memory."""

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="uvicorn is not installed")
pytest.importorskip("starlette", reason="starlette is not installed")

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from jsontide import Message, Outcome
from jsontide.frontends import CompactEncoder
from jsontide.streams import astates
from jsontide.web import (
    MemoryTurns,
    TooManyTurnsError,
    TurnState,
    TurnStore,
    new_run_id,
    resume_response,
    stop,
    stream_response,
)
from jsontide.web._producer import Producer
from tests.web.serving import (
    PATIENCE,
    TEXT,
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
    text_in,
    until,
    wait_for_responses,
    word_events,
)

COMPLETE = {"end": "complete"}


class Chat:
    """An application with one turn for each chat, as a user of the library would write it."""

    def __init__(self, source: Callable[[], Any], turns: MemoryTurns | None = None, **options: Any) -> None:
        self.turns = MemoryTurns() if turns is None else turns
        self.source = source
        self.options: dict[str, Any] = {"on_leave": "continue", **options}
        self.active: dict[str, str] = {}

    async def ask(self, request: Request) -> Response:
        if last := request.headers.get("last-event-id"):
            return await resume_response(self.turns, last, CompactEncoder())
        response = stream_response(self.source(), CompactEncoder(), store=self.turns, **self.options)
        self.active[request.path_params["chat"]] = response.run_id
        return response

    async def join(self, request: Request) -> Response:
        run_id = self.active.get(request.path_params["chat"])
        finished: Any = request.query_params.get("finished", "replay")
        return await resume_response(self.turns, run_id, CompactEncoder(), finished=finished, keep_alive=0.05)

    async def halt(self, request: Request) -> Response:
        return JSONResponse(await stop(self.turns, self.active.get(request.path_params["chat"])))

    @contextmanager
    def serving(self) -> Iterator[int]:
        routes = [
            Route("/chat/{chat}", self.ask, methods=["GET", "POST"]),
            Route("/chat/{chat}/stream", self.join),
            Route("/chat/{chat}/stop", self.halt, methods=["POST"]),
        ]
        with running(routed(*routes)) as self.server:
            yield port_of(self.server)


def run_id_in(client: Client) -> str:
    return next(line for line in client.body.decode().split("\n") if line.startswith("id: ")).removeprefix("id: ")


def asked(port: int, path: str, method: str = "GET", **headers: Any) -> Client:
    client = Client(port, path, method=method, **headers)
    client.read_all()
    return client


def test_a_turn_goes_on_without_readers_and_is_joined_by_the_id_that_it_told() -> None:
    provider = Provider()
    rest, last = provider.hold_before(2), provider.hold_before(4)
    chat = Chat(provider.messages)
    with chat.serving() as port:
        client = Client(port, "/chat/1", method="POST", content_length="0")
        client.read_text("Take the ")
        run_id = run_id_in(client)
        client.leave()
        wait_for_responses(chat.server, 0)
        rest.set()
        eventually(lambda: provider.given == 4)  # with nobody there
        again = Client(port, "/chat/1", last_event_id=run_id)
        again.read_text("Take the night train")
        last.set()
        again.read_all()
        assert run_id_in(again) == run_id
    assert text_in(again.body) == TEXT
    assert read_compact(again.body).end == COMPLETE
    assert (provider.opened, provider.closed, provider.cancelled) == (1, 1, 0)


def test_the_run_id_is_told_before_the_first_token_so_that_no_reconnection_asks_twice() -> None:
    provider = Provider()
    rest = provider.hold_before(0)
    chat = Chat(provider.messages)
    with chat.serving() as port:
        client = Client(port, "/chat/1")
        client.read_until(b"\r\nid: ")
        assert f"x-run-id: {chat.active['1'].lower()}" in client.head
        client.leave()
        again = Client(port, "/chat/1", last_event_id=run_id_in(client))
        rest.set()
        again.read_all()
    assert text_in(again.body) == TEXT
    assert provider.opened == 1


@pytest.mark.parametrize("words", range(len(word_events())))
def test_joining_at_any_moment_gives_the_same_value_as_being_there_from_the_start(words: int) -> None:
    provider = Provider()
    rest = provider.hold_before(words)
    with Chat(provider.messages).serving() as port:
        first = Client(port, "/chat/1")
        first.read_until(b"\r\nid: ")
        eventually(lambda: provider.given == words)
        late = Client(port, "/chat/1/stream")
        late.read_until(b"\r\nid: ")
        rest.set()
        first.read_all()
        late.read_all()
    assert read_compact(first.body).value == read_compact(late.body).value
    assert read_compact(first.body).end == read_compact(late.body).end == COMPLETE


def test_a_chat_without_a_turn_has_nothing_to_resume() -> None:
    with Chat(Provider().messages).serving() as port:
        none = asked(port, "/chat/1/stream")
        unknown = asked(port, "/chat/1", last_event_id=new_run_id())
    for client in (none, unknown):
        assert (client.status, client.body) == (204, b"")


def test_a_turn_that_is_over_is_told_whole_or_not_at_all() -> None:
    with Chat(Provider().messages).serving() as port:
        asked(port, "/chat/1", "POST", content_length="0")
        again = asked(port, "/chat/1/stream")
        nothing = asked(port, "/chat/1/stream?finished=nothing")
    assert text_in(again.body) == TEXT
    assert read_compact(again.body).end == COMPLETE
    assert nothing.status == 204


def test_keep_alive_fills_the_silence_of_a_turn_that_was_joined() -> None:
    provider = Provider()
    provider.hold_before(2)
    with Chat(provider.messages).serving() as port:
        first = Client(port, "/chat/1")
        first.read_until(b"\r\nid: ")
        late = Client(port, "/chat/1/stream")
        while late.raw.count(b": keep-alive") < 3:
            late.raw += late.socket.recv(65536)
        late.leave()
        first.leave()


def end_when_stopped(answer: Callable[[], AsyncIterator[Message[object]]]) -> object:
    """How a turn ends that is stopped after its first words."""
    with Chat(answer).serving() as port:
        client = Client(port, "/chat/1")
        client.read_text("Take the ")
        asked(port, "/chat/1/stop", "POST")
        client.read_all()
    end = read_compact(client.body).end
    assert end is not None
    return end["end"]


class TestStopping:
    """The readers are told that the turn was cancelled, and the source is closed."""

    @pytest.mark.parametrize("on_leave", ["cancel", "continue"])
    @pytest.mark.parametrize("kind", ["messages", "generated"])
    def test_ends_the_message_as_cancelled_for_all_readers(self, kind: str, on_leave: str) -> None:
        provider = Provider()
        provider.hold_before(2)
        with Chat(getattr(provider, kind), on_leave=on_leave).serving() as port:
            first = Client(port, "/chat/1")
            first.read_text("Take the ")
            late = Client(port, "/chat/1/stream")
            late.read_text("Take the ")
            assert asked(port, "/chat/1/stop", "POST").body == b"true"
            eventually(lambda: provider.closed == 1)
            for reader in (first, late):
                reader.read_all()
                assert reader.is_complete
                value: Any = read_compact(reader.body)
                assert (value.end["end"], value.value["status"]) == ("cancelled", "cancelled")
                assert text_in(reader.body) == "Take the "
            assert asked(port, "/chat/1/stop", "POST").body == b"false"
        assert provider.cancelled == 1

    def test_before_the_first_token_tells_an_end_too(self) -> None:
        provider = Provider()
        provider.hold_before(0)
        with Chat(provider.messages).serving() as port:
            first = Client(port, "/chat/1")
            first.read_until(b"\r\nid: ")
            eventually(lambda: provider.opened == 1)
            assert asked(port, "/chat/1/stop", "POST").body == b"true"
            first.read_all()
        assert read_compact(first.body).end == {"end": "cancelled", "reason": "the message is cancelled"}

    def test_a_source_that_takes_its_cancellation_for_its_end_is_cancelled_all_the_same(self) -> None:
        provider = Provider()
        provider.hold_before(2)

        async def answer() -> AsyncIterator[Message[object]]:
            with suppress(asyncio.CancelledError):
                async for message in provider.messages():
                    yield message

        assert end_when_stopped(answer) == "cancelled"

    def test_a_source_that_fails_while_it_is_cancelled_is_cancelled_all_the_same(self) -> None:
        provider = Provider()
        provider.hold_before(2)

        async def answer() -> AsyncIterator[Message[object]]:
            try:
                async for message in provider.messages():
                    yield message
            finally:
                raise ArithmeticError

        assert end_when_stopped(answer) == "cancelled"

    def test_json_alone_is_told_as_a_failure(self) -> None:
        waits = asyncio.Event()

        async def pieces() -> AsyncIterator[str]:
            yield '["a'
            await waits.wait()

        with Chat(lambda: astates(pieces())).serving() as port:
            client = Client(port, "/chat/1")
            client.read_until(b'["a"]')
            assert asked(port, "/chat/1/stop", "POST").body == b"true"
            client.read_all()
        value = read_compact(client.body)
        assert (value.value, value.end) == (["a"], {"end": "failed", "reason": "the turn was stopped"})

    def test_tells_the_end_before_a_source_that_takes_long_to_close(self) -> None:
        provider = Provider()
        provider.hold_before(2)
        closing = []

        class Slow:
            def __aiter__(self) -> AsyncIterator[Message[object]]:
                return provider.messages()

            async def aclose(self) -> None:
                closing.append(1)
                await never()

        with Chat(Slow).serving() as port:
            client = Client(port, "/chat/1")
            client.read_text("Take the ")
            asked(port, "/chat/1/stop", "POST")
            client.read_all()
            assert closing == [1]
        assert read_compact(client.body).end is not None

    def test_a_call_that_was_cut_off_is_cancelled_and_not_ready(self) -> None:
        delta = {"index": 0, "id": "c1", "function": {"name": "send", "arguments": '{"to": "A'}}
        events: Any = [
            {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"tool_calls": [delta]}}]},
            {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
        ]
        provider = Provider(events)
        provider.hold_before(1)
        with Chat(provider.generated).serving() as port:
            client = Client(port, "/chat/1")
            client.read_until(b"send")
            asked(port, "/chat/1/stop", "POST")
            client.read_all()
        value: Any = read_compact(client.body).value
        assert [(part["name"], part["status"]) for part in value["parts"]] == [("send", "cancelled")]

    def test_a_turn_that_nobody_knows_is_nothing_to_stop(self) -> None:
        assert asyncio.run(stop(MemoryTurns(), None)) is False
        assert asyncio.run(stop(MemoryTurns(), "x")) is False
        wrong: Any = {}
        with pytest.raises(TypeError, match="store must be a TurnStore"):
            asyncio.run(stop(wrong, "x"))


def test_a_client_that_leaves_cancels_the_turn_for_those_who_joined_if_that_was_chosen() -> None:
    provider = Provider()
    provider.hold_before(2)
    with Chat(provider.messages, on_leave="cancel").serving() as port:
        first = Client(port, "/chat/1")
        first.read_text("Take the ")
        late = Client(port, "/chat/1/stream")
        late.read_text("Take the ")
        first.leave()
        eventually(lambda: provider.closed == 1)
        late.read_all()
    end = read_compact(late.body).end
    assert end is not None
    assert end["end"] == "cancelled"


def test_one_who_joined_can_leave_without_harm() -> None:
    provider = Provider()
    rest = provider.hold_before(2)
    chat = Chat(provider.messages, on_leave="cancel")
    with chat.serving() as port:
        first = Client(port, "/chat/1")
        first.read_text("Take the ")
        late = Client(port, "/chat/1/stream")
        late.read_text("Take the ")
        late.leave()
        wait_for_responses(chat.server, 1)
        rest.set()
        first.read_all()
    assert text_in(first.body) == TEXT
    assert provider.cancelled == 0


@pytest.mark.long
def test_a_slow_reader_skips_to_the_newest_and_holds_up_nobody() -> None:
    """A reader does not read while more is said than any buffer holds; then it gets all of it in fewer events."""
    words = ("x" * 20_000,) * 400
    provider = Provider(word_events(words))
    rest, last = provider.hold_before(1), provider.hold_before(400)
    with Chat(provider.messages).serving() as port:
        slow = Client(port, "/chat/1", receive_buffer=65536)
        slow.read_text(words[0])
        rest.set()
        eventually(lambda: provider.given == 400)  # although nobody reads
        last.set()
        slow.read_all()
    body = slow.body
    assert text_in(body) == "".join(words)
    assert body.endswith(b'data: {"end":"complete"}\n\n')
    assert body.count(b"data: ") < 300


@pytest.mark.long
def test_many_messages_for_a_blocked_reader_are_not_kept() -> None:
    """What a store and a reader that never reads keep alive: the newest message, and the one that was told last."""
    alive: weakref.WeakSet[Any] = weakref.WeakSet()
    blocked = asyncio.Event()

    class Held:
        """Stands for a message; native ones cannot be referred to weakly."""

    class Keeping:
        media_type, keep_alive = "text/plain", b"."
        headers: dict[str, str] = {}  # noqa: RUF012

        def begin(self) -> tuple[Any, bytes]:
            return None, b"begin"

        def encode(self, _: Any, growing: Any) -> tuple[Any, bytes]:
            return growing, b"more"

        def fail(self, state: Any, _: str) -> tuple[Any, bytes]:
            return state, b"end"

    async def look() -> None:
        turns = MemoryTurns()
        await turns.start("a", lambda: None)
        response: Any = await resume_response(turns, "a", Keeping())

        async def send(message: Any) -> None:
            if message.get("body") == b"more":
                await blocked.wait()

        serving_it = asyncio.create_task(response({"type": "http", "method": "GET"}, never, send))
        for version in range(1, 200):
            held = Held()
            alive.add(held)
            await turns.put("a", TurnState(version, held))  # type: ignore[arg-type]
            del held
            await asyncio.sleep(0)
        gc.collect()
        assert len(alive) <= 2
        serving_it.cancel()
        await asyncio.gather(serving_it, return_exceptions=True)
        assert response.body_iterator.ag_frame is None  # closed, and not left to be collected

    asyncio.run(look())


class TestMemoryTurns:
    """A bounded memory."""

    def test_is_a_turn_store(self) -> None:
        assert isinstance(MemoryTurns(), TurnStore)

    def test_forgets_a_turn_some_time_after_its_end_by_itself(self) -> None:
        async def look() -> None:
            turns = MemoryTurns(max_age=50)
            await turns.start("a", lambda: None)
            await asyncio.sleep(100)
            assert await turns.read("a", -1, 0) == TurnState()  # it runs
            await turns.put("a", TurnState(1, None, is_over=True))
            await turns.put("a", TurnState(2, None))  # too late
            assert await turns.read("a", -1, 0) == TurnState(1, None, is_over=True)
            await asyncio.sleep(49)
            assert turns._over
            await asyncio.sleep(2)
            assert not turns._over
            assert await turns.read("a", -1, 0) is None

        run_in_no_time(look())

    def test_forgets_the_one_that_ended_first_when_there_are_too_many(self) -> None:
        async def look() -> None:
            turns = MemoryTurns(max_turns=3)
            for name in "abc":
                await turns.start(name, lambda: None)
            for name in "bca":
                await turns.put(name, TurnState(1, None, is_over=True))
            await turns.start("d", lambda: None)
            assert len(turns) == 3
            assert [await turns.read(name, -1, 0) is None for name in "abcd"] == [False, True, False, False]

        asyncio.run(look())

    def test_a_thousand_turns_keep_no_more_than_are_allowed(self) -> None:
        async def look() -> None:
            turns = MemoryTurns(max_turns=10)
            for number in range(1000):
                await turns.start(str(number), lambda: None)
                await turns.put(str(number), TurnState(1, None, is_over=True))
                assert len(turns) <= 10

        asyncio.run(look())

    def test_refuses_a_turn_when_all_are_running(self) -> None:
        async def look() -> None:
            turns = MemoryTurns(max_turns=1)
            await turns.start("a", lambda: None)
            with pytest.raises(TooManyTurnsError, match="1 turns are running"):
                await turns.start("b", lambda: None)

        asyncio.run(look())

    def test_refuses_a_name_that_is_taken(self) -> None:
        async def look() -> None:
            turns = MemoryTurns()
            await turns.start("a", lambda: None)
            with pytest.raises(ValueError, match="there is a turn 'a' already"):
                await turns.start("a", lambda: None)
            await turns.put("a", TurnState(1, None, is_over=True))
            with pytest.raises(ValueError, match="there is a turn 'a' already"):
                await turns.start("a", lambda: None)
            assert await turns.forget("a")
            assert not await turns.forget("a")
            await turns.start("a", lambda: None)

        asyncio.run(look())

    def test_wakes_all_who_wait_and_times_out(self) -> None:
        async def look() -> None:
            turns = MemoryTurns()
            await turns.start("a", lambda: None)
            assert await turns.read("a", 0, 10) == TurnState()
            waiting = [asyncio.create_task(turns.read("a", 0, None)) for _ in range(3)]
            await asyncio.sleep(0)
            await turns.put("a", TurnState(1))
            assert await asyncio.gather(*waiting) == [TurnState(1)] * 3
            assert await turns.read("a", 0, None) == TurnState(1)

        run_in_no_time(look())

    def test_asks_a_producer_to_stop_once(self) -> None:
        async def look() -> None:
            turns = MemoryTurns()
            asked_to: list[int] = []
            await turns.start("a", lambda: asked_to.append(1))
            assert await turns.stop("a")
            assert await turns.stop("a")
            assert asked_to == [1]

        asyncio.run(look())

    @pytest.mark.long
    def test_does_not_hold_the_source_of_a_turn_that_is_over(self) -> None:
        class Source:
            def __aiter__(self) -> AsyncIterator[Message[object]]:
                return Provider().messages()

        async def look() -> None:
            turns = MemoryTurns()
            source = Source()
            gone = weakref.ref(source)
            await serve(stream_response(source, CompactEncoder(), store=turns))
            del source
            gc.collect()
            assert len(turns) == 1
            assert gone() is None

        asyncio.run(look())

    @pytest.mark.parametrize(
        ("options", "kind"),
        [
            ({"max_age": -1}, ValueError),
            ({"max_age": "1"}, TypeError),
            ({"max_turns": 0}, ValueError),
            ({"max_turns": 1.5}, TypeError),
            ({"max_turns": None}, TypeError),
        ],
    )
    def test_refuses_wrong_options_by_name(self, options: Any, kind: type[Exception]) -> None:
        with pytest.raises(kind, match=next(iter(options))):
            MemoryTurns(**options)


def test_the_newest_turn_of_a_thread_is_known_for_as_many_threads_as_turns() -> None:
    async def look() -> None:
        turns = MemoryTurns(max_turns=2)
        for thread, run_id in [("a", "1"), ("b", "2"), ("a", "3"), ("c", "4")]:
            await turns.name(thread, run_id)
        assert [await turns.name(thread) for thread in "abc"] == ["3", None, "4"]

    asyncio.run(look())


def test_a_store_that_is_full_answers_503_and_closes_the_source() -> None:
    source = Opened()
    source.provider.hold_before(1)
    with Chat(lambda: source, MemoryTurns(max_turns=1)).serving() as port:
        first = Client(port, "/chat/1")
        first.read_text("Take ")
        second = asked(port, "/chat/2")
        assert second.status == 503
        assert "retry-after: 1" in second.head
        assert (source.provider.opened, source.closed) == (1, 1)
        first.leave()


def test_a_run_id_that_is_taken_raises_and_closes_the_source() -> None:
    source = Opened()

    async def look() -> None:
        turns = MemoryTurns()
        await turns.start("a", lambda: None)
        with pytest.raises(ValueError, match="there is a turn 'a' already"):
            await serve(stream_response(source, CompactEncoder(), store=turns, run_id="a"))

    asyncio.run(look())
    assert source.closed == 1


def test_a_turn_that_is_forgotten_while_it_is_read_ends_as_a_failure() -> None:
    class Forgetful(MemoryTurns):
        async def read(self, run_id: str, seen: int, timeout: float | None) -> TurnState | None:  # noqa: ASYNC109
            return None if seen == 0 else await super().read(run_id, seen, timeout)

    async def look() -> None:
        turns = Forgetful()
        await turns.start("a", lambda: None)
        body = await serve(await resume_response(turns, "a", CompactEncoder()))
        assert read_compact(body).end == {"end": "failed", "reason": "the turn is not kept any more"}

    asyncio.run(look())


def test_a_turn_that_is_stopped_before_its_task_began_closes_its_source() -> None:
    source = Opened()

    class Eager(MemoryTurns):
        async def start(self, run_id: str, stop: Callable[[], None]) -> None:
            await super().start(run_id, stop)
            stop()

    async def look() -> None:
        body = await serve(stream_response(source, CompactEncoder(), store=Eager()))
        assert read_compact(body).end == {"end": "cancelled", "reason": "the message is cancelled"}

    asyncio.run(look())
    assert (source.provider.opened, source.closed) == (0, 1)


def test_a_task_that_is_stopped_before_its_first_step_closes_its_source_too() -> None:
    source = Opened()

    async def look() -> None:
        turns = MemoryTurns()
        producer = Producer(source, turns, "a")
        await producer.start()
        producer.stop()
        await until(lambda: source.closed)
        state = await turns.read("a", 0, PATIENCE)
        assert state is not None
        assert state.is_over

    asyncio.run(asyncio.wait_for(look(), PATIENCE))


@pytest.mark.long
def test_what_a_source_does_after_its_message_is_not_collected_although_nothing_refers_to_it() -> None:
    waits: list[weakref.ref[asyncio.Future[None]]] = []
    done = []

    async def answer() -> AsyncIterator[Message[object]]:
        async for message in Provider().messages():
            yield message
        only_here: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waits.append(weakref.ref(only_here))
        await only_here
        done.append(True)

    async def look() -> None:
        await serve(stream_response(answer(), CompactEncoder(), store=MemoryTurns()))
        await until(lambda: waits)
        gc.collect()
        waiting = waits[0]()
        assert waiting is not None
        waiting.set_result(None)
        await until(lambda: done)

    asyncio.run(asyncio.wait_for(look(), PATIENCE))


def test_a_store_that_fails_raises_its_own_exception_and_no_end_is_pretended() -> None:
    class Broken(MemoryTurns):
        async def read(self, run_id: str, seen: int, timeout: float | None) -> TurnState | None:  # noqa: ASYNC109
            if seen >= 0:
                raise ArithmeticError("the store is broken")
            return await super().read(run_id, seen, timeout)

    async def look() -> None:
        turns = Broken()
        await turns.start("a", lambda: None)
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        response = await resume_response(turns, "a", CompactEncoder())
        with pytest.raises(ArithmeticError, match="the store is broken"):
            await response({"type": "http", "method": "GET"}, never, send)
        assert sent[-1]["more_body"]

    asyncio.run(look())


def test_a_head_request_to_a_turn_that_can_be_joined_gets_the_headers() -> None:
    provider = Provider()
    provider.hold_before(1)
    with Chat(provider.messages).serving() as port:
        first = Client(port, "/chat/1")
        first.read_text("Take ")
        head = asked(port, "/chat/1/stream", "HEAD")
        assert head.status == 200
        assert head.raw.endswith(b"\r\n\r\n")
        first.leave()


def test_run_ids_are_never_the_same() -> None:
    assert len({new_run_id() for _ in range(1000)}) == 1000


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        ({"finished": "maybe"}, ValueError, "finished must be one of"),
        ({"encoder": None}, TypeError, "encoder must be an encoder"),
        ({"store": None}, TypeError, "store must be a TurnStore"),
        ({"keep_alive": -1}, ValueError, "keep_alive must be"),
    ],
)
def test_resuming_refuses_wrong_arguments(options: Any, kind: type[Exception], said: str) -> None:
    given: dict[str, Any] = {"store": MemoryTurns(), "run_id": "a", "encoder": CompactEncoder(), **options}
    resuming: Awaitable[Response] = resume_response(**given)
    with pytest.raises(kind, match=said):
        asyncio.run(resuming)  # type: ignore[arg-type]


def test_a_message_that_a_generator_was_stopped_in_is_cancelled_in_the_store() -> None:
    provider = Provider()
    provider.hold_before(3)

    async def look() -> None:
        turns = MemoryTurns()
        response = stream_response(provider.generated, CompactEncoder(), store=turns, run_id="a")
        served = asyncio.create_task(serve(response))
        await until(lambda: provider.given == 3)
        assert await stop(turns, "a")
        await served
        state = await turns.read("a", -1, 0)
        assert state is not None
        assert isinstance(state.growing, Message)
        assert (state.is_over, state.growing.outcome) == (True, Outcome.CANCELLED)
        assert state.growing.content == "Take the night "

    asyncio.run(look())
