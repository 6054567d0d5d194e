"""The tools of the table, in its order, each in a process of its own: tasks in, answers out.

Rule: a tool that is not there is named with the reason, and left out. A process that does not answer in time is ended,
the task counts as an error, and the next one gets a new process.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any, NamedTuple

from benchmarks.mend_peers.tools import Answer, Task, shown
from jsontide import __version__

SECONDS = 20.0
LATE = f"no answer in {SECONDS:.0f} s"
ENDED = "the process ended"


class MissingToolError(Exception):
    """A tool that cannot be loaded; the message says why."""


class Process:
    def __init__(self, command: Sequence[str]) -> None:
        self.command = command
        self.start()

    def start(self) -> None:
        try:
            self.process = subprocess.Popen(  # noqa: S603 - our own command
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
            )
        except OSError as error:
            raise MissingToolError(f"{self.command[0]}: {error.strerror}") from error
        self.lines: Queue[str] = Queue()
        Thread(target=self.collect, args=(self.process, self.lines), daemon=True).start()
        greeting = self.receive()
        if greeting is None or "missing" in greeting:
            self.stop()
            raise MissingToolError("it does not start" if greeting is None else greeting["missing"])

    @staticmethod
    def collect(process: "subprocess.Popen[str]", lines: "Queue[str]") -> None:
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        for line in process.stdout:
            lines.put(line)
        lines.put("")

    def receive(self) -> dict[str, Any] | None:
        """The next line, `None` if there is none or it is late."""
        try:
            line = self.lines.get(timeout=SECONDS)
        except Empty:
            return None
        received: dict[str, Any] | None = json.loads(line) if line else None
        return received

    def ask(self, task: Task) -> Answer:
        assert self.process.stdin is not None  # noqa: S101 - it is a pipe
        self.process.stdin.write(json.dumps(asdict(task)) + "\n")
        self.process.stdin.flush()
        answer = self.receive()
        if answer is not None:
            return Answer(**answer)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=1)
        reason = LATE if self.process.poll() is None else ENDED
        self.stop()
        self.start()
        return Answer([[] for _ in task.chunks], [], reason)

    def stop(self) -> None:
        assert self.process.stdin is not None  # noqa: S101 - it is a pipe
        self.process.kill()
        self.process.wait()
        with suppress(OSError):  # what was not sent yet
            self.process.stdin.close()


PACKAGES = Path(sys.prefix) / "node_modules"
NODE = Path(__file__).with_name("node_tools.mjs")


class Peer(NamedTuple):
    name: str
    distribution: str
    tool: str
    """The module and function of a Python tool, or `node` and the name of one there."""
    needs_type: bool = False
    """Whether it is asked only where a schema or an expected value says what to read."""


PEERS = (
    Peer("jsontide", "jsontide", "tools jsontide"),
    Peer("json_repair", "json-repair", "tools json_repair"),
    Peer("json_repair, strict", "json-repair", "tools json_repair_strict"),
    Peer("jsonrepair", "jsonrepair", "node plain"),
    Peer("jsonrepair, streaming", "jsonrepair", "node streaming"),
    Peer("BAML, any JSON", "baml-py", "baml any_json"),
    Peer("BAML, type made for the answer", "baml-py", "baml made_type", needs_type=True),
    Peer("langchain JsonOutputParser", "langchain-core", "tools langchain"),
    Peer("langchain parse_partial_json", "langchain-core", "tools langchain_partial"),
    Peer("partial-json-parser", "partial-json-parser", "tools partial_json_parser"),
)


class Asker(NamedTuple):
    ask: Callable[[Task], Answer]
    stop: Callable[[], None]


def start(peer: Peer) -> Asker:
    module, _, name = peer.tool.partition(" ")
    if module != "node":
        process = Process([sys.executable, "-m", "benchmarks.mend_peers.tools", module, name])
        return Asker(process.ask, process.stop)
    if not PACKAGES.is_dir():
        raise MissingToolError("not installed by npm")
    process = Process(["node", str(NODE), str(PACKAGES), name])
    return Asker(lambda task: read_texts(process.ask(task), is_prefix=name == "streaming"), process.stop)


def read_texts(answer: Answer, *, is_prefix: bool) -> Answer:
    """The same with values for texts; of the beginning of a text, all that our parser shows of it."""
    steps = [read_text(step, is_prefix=is_prefix) for step in answer.steps]
    end = read_text(answer.end, is_prefix=False)
    return Answer(steps, end, answer.error if end or answer.error else "JSONDecodeError")


def read_text(step: list[Any], *, is_prefix: bool) -> list[Any]:
    try:
        return [] if not step else shown(step[0], "first") if is_prefix else [json.loads(step[0])]
    except json.JSONDecodeError:
        return []


def version_of(peer: Peer) -> str:
    if peer.tool.startswith("node"):
        description: dict[str, str] = json.loads((PACKAGES / peer.distribution / "package.json").read_text("utf-8"))
        return description["version"]
    return __version__ if peer.distribution == "jsontide" else version(peer.distribution)
