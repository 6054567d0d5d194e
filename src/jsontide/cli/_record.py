"""Chunks as they arrive in, a recording file out, and the same chunks passed on.

Rule: a chunk is in the file before it is passed on, so nothing that was seen is missing there.
"""

import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol, Self

from jsontide.cli._exits import writing
from jsontide.cli._raw_output import RawOutput
from jsontide.cli._source import UnreadableError, read_descriptor
from jsontide.cli._watch import Show
from jsontide.recordings import End, Piece, RecordingWriter, finish_moment, next_moment, start_moment


class Receiver(Protocol):
    """Gets what is recorded."""

    def write(self, chunk: bytes) -> None:
        """Take the next chunk."""

    def finish(self, end: End) -> None:
        """Take the end."""


class Tee:
    """Passes chunks on as they are."""

    def __init__(self, output: RawOutput) -> None:
        self.write = output.write

    def finish(self, end: End) -> None: ...


class Watcher:
    """Shows what the chunks say."""

    def __init__(self, show: Show) -> None:
        self._show = show
        self._moment = start_moment()
        self._began = time.monotonic()

    def write(self, chunk: bytes) -> None:
        self._moment = next_moment(self._moment, Piece(time.monotonic() - self._began, chunk))
        self._show.update(self._moment)
        self._show.flush()

    def finish(self, end: End) -> None:
        self._show.update(finish_moment(self._moment, end))
        self._show.finish()


class FailedError(Exception):
    """A program ended with a code other than 0."""

    def __init__(self, name: str, code: int) -> None:
        super().__init__(f"{name} ended with exit code {code}")
        self.code = code


class Program:
    """A program whose output is recorded; leaving its block stops it, if it still runs."""

    def __init__(self, words: Sequence[str]) -> None:
        self.name = Path(words[0]).name
        """All of the command line that is kept: the rest may have secrets."""
        try:
            self._process = subprocess.Popen(words, stdout=subprocess.PIPE)  # noqa: S603 - the user asks for it
        except OSError as error:
            message = f"cannot run {words[0]}: {error.strerror}"
            raise UnreadableError(message) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._process.terminate()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def read(self) -> Iterator[bytes]:
        """Yield what it writes, as soon as it does; raise `FailedError` if it then fails."""
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        yield from read_descriptor(self._process.stdout.fileno(), f"the output of {self.name}")
        code = self._process.wait()
        if code:  # negative after a signal: as a shell says it
            raise FailedError(self.name, code if code > 0 else 128 - code)


@dataclass(slots=True)
class Recorded:
    """What was recorded."""

    pieces: int = 0
    size: int = 0
    seconds: float = 0.0
    end: End = "over"
    error: Exception | None = None


def record_chunks(chunks: Iterable[bytes], file: BinaryIO, source: str, receiver: Receiver) -> Recorded:
    """Record chunks up to their end, an error, an interrupt, or a receiver that takes no more, which raises."""
    writer = RecordingWriter(file, {"source": source})
    recorded = Recorded(end="stopped")
    began = time.monotonic()
    try:
        for chunk in chunks:
            with writing(file.name):
                writer.write(chunk)
            recorded.pieces += 1
            recorded.size += len(chunk)
            receiver.write(chunk)
        recorded.end = "over"
    except KeyboardInterrupt:
        pass
    except (FailedError, UnreadableError) as error:
        recorded.end, recorded.error = "lost", error
    finally:
        recorded.seconds = time.monotonic() - began
        with writing(file.name):
            writer.finish(recorded.end, None if recorded.error is None else str(recorded.error))
        receiver.finish(recorded.end)
    return recorded
