"""A tool in a process of its own: tasks in, answers out, with a limit on the time.

In: a command, and tasks. Out: an answer to each.
Rule: a process that does not answer in time is ended, the task counts as an error, and the next one gets a new process.
"""

import json
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from queue import Empty, Queue
from threading import Thread
from typing import Any

from benchmarks.mend_peers.kinds import Answer, Task

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
