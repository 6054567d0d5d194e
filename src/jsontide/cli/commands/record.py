"""`jsontide record`: chunks as they arrive in, a recording file out, and the same chunks passed on.

Rule: a chunk is in the file before it is passed on, so nothing that was seen is missing there.
"""

import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Annotated, BinaryIO, Self

import typer
from rich.console import Console

from jsontide import recordings
from jsontide._private_file import open_private
from jsontide.cli._drawing import Drawings, Show, count_pieces
from jsontide.cli._exits import INTERRUPTED, exit_codes, say, writing
from jsontide.cli._input import UnreadableError, draws_live, error_width, is_terminal, open_stdin, read_descriptor
from jsontide.cli._options import PORT
from jsontide.cli._output import RawOutput
from jsontide.recordings import End, Piece, RecordingWriter, feed_moment, finish_moment, start_moment


class Receiver:
    """Gets the chunks that are recorded; this one passes them on as they are."""

    def __init__(self, output: RawOutput) -> None:
        self._output = output

    def write(self, chunk: bytes) -> None:
        self._output.write(chunk)

    def finish(self, end: End) -> None:
        """Take the end."""


class Watcher(Receiver):
    """Shows the stream that the chunks make."""

    def __init__(self, show: Show) -> None:
        self._show = show
        self._moment = start_moment()
        self._began = time.monotonic()

    def write(self, chunk: bytes) -> None:
        self._moment = feed_moment(self._moment, Piece(time.monotonic() - self._began, chunk))
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
            raise UnreadableError(f"cannot run {words[0]}: {error.strerror}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._process.terminate()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def read(self) -> Iterator[bytes]:
        """Yield its output as soon as it is there; raise `FailedError` if it then fails."""
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        yield from read_descriptor(self._process.stdout.fileno(), f"the output of {self.name}")
        code = self._process.wait()
        if code:  # negative after a signal: as a shell says it
            raise FailedError(self.name, code if code > 0 else 128 - code)


@dataclass(slots=True)
class Recorded:
    """The figures of a recording, and how it ended."""

    pieces: int = 0
    size: int = 0
    seconds: float = 0.0
    end: End = "over"
    error: Exception | None = None


def record_chunks(chunks: Iterable[bytes], file: BinaryIO, source: str, receiver: Receiver) -> Recorded:
    """Record chunks up to their end, an error, an interrupt, or a receiver that takes no more, which raises."""
    with writing(file.name):
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
        try:
            with writing(file.name):
                writer.finish(recorded.end, None if recorded.error is None else str(recorded.error))
        finally:
            receiver.finish(recorded.end)
    return recorded


def record(
    command: Annotated[
        list[str] | None, typer.Argument(metavar="COMMAND", show_default=False, help="A command to run and record.")
    ] = None,
    *,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="The recording; with --proxy, a directory for recordings."),
    ],
    proxy: Annotated[
        str | None,
        typer.Option(
            metavar="URL", show_default=False, help="Record every stream between an application and this URL."
        ),
    ] = None,
    port: Annotated[int, PORT] = 0,
) -> None:
    """Record a stream with its times: standard input, the output of a command, or streams through a proxy.

    \b
    curl -N ... | jsontide record -o turn.ndjson
    jsontide record -o turn.ndjson -- curl -N ...
    jsontide record -o turns --proxy https://api.example.com

    The stream is passed on to standard output; on a terminal, it is shown as by
    `jsontide watch`.
    The recording has the pieces as they were received, and the name of the command, but neither
    its arguments nor anything of a request, because keys are there.

    The proxy listens on this machine only.
    Tell the application to use its address instead of the provider's; each response becomes a file
    in the directory, which is named when it is whole.

    Exit codes: 0 the stream was recorded, or the proxy was ended with Ctrl-C; 2 invalid command
    line, or the source, the output or the port cannot be used; 130 interrupted, and the stream
    so far is recorded; 141 the output was closed, likewise.
    If the command fails, its own exit code.
    """
    if proxy is not None:
        if command:
            raise typer.BadParameter("a command and a proxy cannot be recorded together", param_hint="--proxy")
        _serve_proxy(proxy, output, port)
        return
    with exit_codes(), _open_output(output) as file:
        recorded = _record(command or [], file)
    if is_terminal(sys.stderr):
        said = f"jsontide: {_describe(recorded.pieces, recorded.size, recorded.seconds)} in {output}"
        say(fill(said, error_width(), break_long_words=False, break_on_hyphens=False))
    if isinstance(recorded.error, FailedError):
        raise typer.Exit(recorded.error.code)
    if recorded.end == "stopped":
        raise typer.Exit(INTERRUPTED)
    if recorded.error is not None:
        raise typer.BadParameter(str(recorded.error))


def _serve_proxy(url: str, folder: Path, port: int) -> None:
    with exit_codes(), suppress(KeyboardInterrupt):
        try:
            proxy = recordings.RecordingProxy(
                url, folder, port=port, on_error=lambda said: say(f"jsontide: {said}"), on_recorded=_say_recorded
            )
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--proxy") from error
        except OSError as error:
            where = f"{folder}" if error.filename else f"port {port}"
            raise typer.BadParameter(f"cannot use {where}: {error.strerror}") from error
        with proxy:
            typer.echo(f"{proxy.url} passes on to {url} and records into {folder}; Ctrl-C ends it")
            threading.Event().wait()


def _say_recorded(path: Path) -> None:
    """Print each recording, so that people see that the application uses the proxy."""
    recording = recordings.Recording.load(path)
    pieces = recording.pieces
    size = sum(len(piece.data) for piece in pieces if isinstance(piece.data, bytes))
    typer.echo(f"{path}: {_describe(len(pieces), size, recording.duration)}")


def _describe(pieces: int, size: int, seconds: float) -> str:
    return f"{count_pieces(pieces)}, {size:,} bytes, {seconds:.1f} s"


@contextmanager
def _open_output(path: Path) -> Iterator[BinaryIO]:
    """Open a file to write; if it cannot be written, also when it is closed, the error names it."""
    with writing(str(path)):
        file = open_private(path, "wb")
    try:
        yield file
    finally:
        with writing(str(path)):
            file.close()


def _record(command: list[str], file: BinaryIO) -> Recorded:
    if not command:
        return record_chunks(open_stdin(), file, "standard input", _choose_receiver())
    with Program(command) as program:
        return record_chunks(program.read(), file, program.name, _choose_receiver())


def _choose_receiver() -> Receiver:
    if draws_live():
        return Watcher(Drawings(Console(), prints_whole=False))
    return Receiver(RawOutput(sys.stdout.buffer, is_terminal=is_terminal(sys.stdout)))
