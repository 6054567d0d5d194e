"""Durable turns in real processes that are killed, paused and ended: every reader gets an end, and no wrong word."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="uvicorn is not installed")
pytest.importorskip("starlette", reason="starlette is not installed")

from jsontide import MISSING
from jsontide.web import new_run_id
from tests.web.durable_server import text_of
from tests.web.redis_server import RedisServer, serve_redis
from tests.web.serving import PATIENCE, Client, compact_values, text_of_value

pytestmark = [pytest.mark.long, pytest.mark.untraced]
TURNS = 20
READERS = 1000
LEASE = 2.0
HONEST = {"complete", "truncated"}
"""How a turn may end when more than a reader was lost; a slow machine loses leases too."""
Start = Callable[..., "Worker"]


class Worker:
    def __init__(self, log: str, *options: str) -> None:
        command = [sys.executable, "-m", "tests.web.durable_server", log, str(LEASE), *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def end(self) -> None:
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait(PATIENCE)
        if self.process.stdout is not None:
            self.process.stdout.close()


@pytest.fixture(params=[False, True], ids=["forgets", "keeps"])
def server(request: pytest.FixtureRequest) -> Iterator[RedisServer]:
    with serve_redis(keeps=request.param) as server:
        yield server


@pytest.fixture(params=["sqlite", "redis"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "turns.sqlite")
        return
    with serve_redis() as server:
        yield server.url


def starting(log: str) -> Iterator[Start]:
    workers: list[Worker] = []

    def start(*options: str) -> Worker:
        workers.append(Worker(log, *options))
        return workers[-1]

    yield start
    for worker in workers:
        worker.end()


@pytest.fixture
def start(log: str) -> Iterator[Start]:
    yield from starting(log)


@pytest.fixture
def start_on(server: RedisServer) -> Iterator[Start]:
    yield from starting(server.url)


def begin(worker: Worker, count: int = TURNS) -> list[str]:
    """Begin turns, whose readers leave at once."""
    names = [new_run_id() for _ in range(count)]
    for name in names:
        client = Client(worker.port, f"/turns/{name}", method="POST", content_length="0")
        client.read_until(b"says 1")
        client.leave()
    return names


def follow(worker: Worker, names: list[str]) -> list[Client]:
    """Join turns, and read the first words of each."""
    clients = [Client(worker.port, f"/turns/{name}") for name in names]
    for client in clients:
        client.read_until(b"says 1")
    return clients


def told(name: str, body: bytes, text: str = "") -> tuple[str, Any]:
    """What a reader was told who had a text already, and how it ended: each text begins with the one before."""
    end = None
    for value in compact_values(body):
        end = value.end
        if value.value is not MISSING:
            more = text_of_value(value.value)
            assert more.startswith(text)
            text = more
    assert text_of(name).startswith(text)
    assert end is None or end["end"] != "complete" or text == text_of(name)
    return text, end and end["end"]


def ends_of(clients: list[Client], names: list[str]) -> set[Any]:
    """How turns ended; what was read of each is the beginning of what it says."""
    ends = set()
    for name, client in zip(names, clients, strict=True):
        client.read_all()
        assert client.is_complete
        _, end = told(name, client.body)
        assert end is not None
        ends.add(end)
    return ends


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
class TestAWorker:
    def test_that_is_killed_leaves_ends_for_all_readers(self, start: Start) -> None:
        one, two, three = start(), start(), start()
        names = begin(one)
        clients = [follow(worker, names) for worker in (two, three)]
        one.signal(signal.SIGKILL)
        assert [ends_of(each, names) for each in clients] == [{"truncated"}] * 2
        assert ends_of([Client(two.port, f"/turns/{name}") for name in names], names) == {"truncated"}

    def test_that_is_killed_is_replaced_by_one_that_reads_the_sources_again(self, start: Start) -> None:
        one, two, three = start(), start("resume"), start("resume")
        names = begin(one)
        clients = [follow(worker, names) for worker in (two, three)]
        one.signal(signal.SIGKILL)
        assert [ends_of(each, names) for each in clients] == [{"complete"}] * 2

    def test_that_is_killed_again_and_again_is_replaced_each_time(self, start: Start) -> None:
        names = begin(start("resume"))
        reader, worker = start(), start("resume")
        clients = follow(reader, names)
        for _ in range(3):
            worker.signal(signal.SIGKILL)
            worker = start("resume")
        assert ends_of(clients, names) <= {
            "complete",
            "truncated",
        }  # the reader's own worker may be the first to notice

    def test_that_is_paused_loses_its_turns_and_does_no_harm(self, start: Start) -> None:
        one, two = start(), start()
        names = begin(one)
        clients = follow(two, names)
        one.signal(signal.SIGSTOP)
        assert ends_of(clients, names) == {"truncated"}
        one.signal(signal.SIGCONT)
        for worker in (one, two):
            again = [Client(worker.port, f"/turns/{name}") for name in names]
            assert ends_of(again, names) == {"truncated"}

    def test_that_shuts_down_hands_its_turns_over(self, start: Start) -> None:
        one, two = start(), start("resume")
        names = begin(one)
        clients = follow(two, names)
        one.signal(signal.SIGTERM)
        assert one.process.wait(PATIENCE) in {0, -signal.SIGTERM}
        assert ends_of(clients, names) == {"complete"}

    def test_that_is_the_only_one_finds_its_turns_ended_when_it_starts_again(self, start: Start) -> None:
        one = start()
        names = begin(one)
        one.signal(signal.SIGKILL)
        one.process.wait(PATIENCE)
        two = start()
        assert ends_of([Client(two.port, f"/turns/{name}") for name in names], names) == {"truncated"}

    def test_stops_turns_of_another_one(self, start: Start) -> None:
        one, two = start(), start()
        names = begin(one)
        clients = follow(two, names)
        for name in names:
            client = Client(two.port, f"/turns/{name}/stop", method="POST", content_length="0")
            client.read_all()
            assert client.body == b"true"
        assert ends_of(clients, names) == {"cancelled"}

    def test_that_is_any_of_four_is_killed_while_others_begin_turns(self, start: Start) -> None:
        """JSONTIDE_KILLS says how often, with ten turns each time, and SEED draws others."""
        random = Random(os.environ.get("SEED", ""))
        workers = [start("resume") for _ in range(4)]
        clients = {}
        for _ in range(int(os.environ.get("JSONTIDE_KILLS") or 3)):
            for name in begin(random.choice(workers), 10):
                clients[name] = Client(random.choice(workers).port, f"/turns/{name}")
            at = random.randrange(len(workers))
            workers[at].end()
            workers[at] = start("resume")
        for name, client in clients.items():
            with suppress(ConnectionError):  # of the killed ones
                client.read_all()
            text, end = told(name, client.body)
            if end is None:
                again = Client(random.choice(workers).port, f"/turns/{name}")
                again.read_all()
                assert again.is_complete
                text, end = told(name, again.body, text)
            assert end == "complete"


class TestAServerOfRedis:
    def test_that_is_killed_is_there_again(self, server: RedisServer, start_on: Start) -> None:
        one, two = start_on(), start_on()
        names = begin(one)
        clients = [follow(worker, names) for worker in (one, two)]
        server.kill()
        server.start()
        for each in clients:
            assert ends_of(each, names) <= HONEST

    @pytest.mark.parametrize("server", [False], indirect=True)
    def test_that_loses_everything_is_told_again(self, server: RedisServer, start_on: Start) -> None:
        one, two = start_on(), start_on()
        names = begin(one)
        clients = [follow(worker, names) for worker in (one, two)]
        server.client.flushall()
        for each in clients:
            assert ends_of(each, names) <= HONEST

    @pytest.mark.parametrize("server", [False], indirect=True)
    def test_that_cuts_all_connections_gets_new_ones(self, server: RedisServer, start_on: Start) -> None:
        one, two = start_on(), start_on()
        names = begin(one)
        clients = [follow(worker, names) for worker in (one, two)]
        for _ in range(6):
            server.client.client_kill_filter(_type="normal", skipme=True)
            time.sleep(0.5)
        for each in clients:
            assert ends_of(each, names) <= HONEST

    @pytest.mark.parametrize("server", [False], indirect=True)
    def test_does_not_feel_how_many_read_a_turn(self, server: RedisServer, start_on: Start) -> None:
        workers = [start_on(), start_on()]
        (name,) = begin(workers[0], 1)
        clients = [Client(workers[at % 2].port, f"/turns/{name}") for at in range(READERS)]
        for client in clients:
            client.read_until(b"says 1")
        assert len(server.client.client_list()) <= 1 + 6 * len(workers)
        assert ends_of(clients, [name] * READERS) <= HONEST
