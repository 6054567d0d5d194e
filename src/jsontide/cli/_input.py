"""A file or standard input in; its bytes, its kind, and the pieces of a stream when they are due out.

The first bytes of a stream decide its kind (`_sniff`). No more is read than it takes to decide, and no byte is lost.
A model's events, on lines or as server-sent events, are a stream; other JSON, one document or many, is a text.
Both may be recorded.

Recordings are played in the time that they took, standard input as it arrives, and a file without times in pieces that
a model would send, with a progress bar where there is room.
Rule: before any wait, `before_wait` is called, so that everything so far can be shown.
A source that cannot be read raises `UnreadableError`, whenever that turns out.
"""

from __future__ import annotations

import errno
import os
import random
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TextIO, TypeVar

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

from jsontide._sniff import is_recording, read_first_line, sniff
from jsontide._values import escape_unsafe
from jsontide.archives import read_recording
from jsontide.cli._output import LineWriter
from jsontide.providers.registry import detect
from jsontide.recordings import Piece, Recording, WireFormat

_STANDARD_INPUT = 0
_PIPE = 65_536
_STDIN = "standard input"


class Sizes(NamedTuple):
    """The least and the most bytes in a piece of a file."""

    low: int
    high: int


class UnreadableError(Exception):
    """Names the source and the system's error."""


def replay(path: Path, sizes: Sizes, seed: int) -> Iterator[bytes]:
    """Yield a file in pieces of random sizes."""
    rng = random.Random(seed)  # noqa: S311 - sizes of pieces are not secret
    with errors_of(str(path)), path.open("rb") as file:
        while piece := file.read(rng.randint(*sizes)):
            yield piece


def read_blocks(path: Path) -> Generator[bytes]:
    """Yield a file in large pieces; a named pipe as it arrives."""
    with errors_of(str(path)), path.open("rb", buffering=0) as file:
        while block := file.read(_PIPE):
            yield block


def read_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file."""
    with errors_of(str(path)), path.open("rb") as file:
        yield from file


def read_stdin_lines(file: TextIO | None) -> Iterator[bytes]:
    """Yield the lines of standard input as they arrive; `sys.stdin` is `None` if the descriptor is closed."""
    with errors_of(_STDIN):
        if file is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        yield from file.buffer


def read_descriptor(descriptor: int, name: str) -> Generator[bytes]:
    """Yield the bytes of a pipe as soon as there are any."""
    with errors_of(name):
        while chunk := os.read(descriptor, _PIPE):
            yield chunk


def file_size(path: Path) -> int | None:
    """Return the bytes in a file; `None` if that is not known, as for a pipe."""
    return path.stat().st_size if path.is_file() else None


@contextmanager
def errors_of(source: str) -> Iterator[None]:
    """Name the source in the system's errors."""
    try:
        yield
    except OSError as error:
        said = f"cannot read {source}: {error.strerror}" if error.strerror else str(error)
        raise UnreadableError(said) from error


_Item = TypeVar("_Item")

_LONG_FILE = 1_000_000  # bytes from which on a file gets a progress bar


def is_terminal(file: TextIO | None) -> bool:
    """Return whether a standard stream is a terminal; it is `None` if its descriptor is closed."""
    return file is not None and file.isatty()


def draws_live() -> bool:
    """Return whether standard output can be drawn over."""
    return is_terminal(sys.stdout) and os.environ.get("TERM") != "dumb"


def error_width() -> int:
    """Return the columns for messages on standard error."""
    return Console(stderr=True).width


def open_stdout() -> LineWriter:
    """Return a writer of standard output."""
    return LineWriter(sys.stdout.buffer, is_terminal(sys.stdout))


def open_stdin() -> Generator[bytes]:
    """Read standard input as it arrives; if that is a person who types, say so first."""
    if is_terminal(sys.stdin) and is_terminal(sys.stderr):
        Console(stderr=True).print("reading what you type; Ctrl-D ends it", style="dim")
    return read_descriptor(_STANDARD_INPUT, _STDIN)


def read_source(file: str, *, beside_output: bool = False) -> Generator[bytes]:
    """Yield a file in blocks, or standard input, for `-`, as it arrives."""
    if file == "-":
        return open_stdin()
    path = Path(file)
    return show_progress(path, read_blocks(path), beside_output=beside_output)


def show_progress(path: Path, pieces: Iterable[bytes], *, beside_output: bool = False) -> Generator[bytes]:
    """Pass the pieces of a file on, with a progress bar for a long one if nothing else is on the terminal."""
    has_room = beside_output or not is_terminal(sys.stdout)
    return _track(pieces, len, path.name, file_size(path), has_room=has_room)


def show_progress_of_files(files: Sequence[Path]) -> Iterator[Path]:
    """Pass files on, with a progress bar if they are long; for commands that write when all are read."""
    sizes = {file: file_size(file) or 0 for file in files}
    return _track(files, sizes.__getitem__, "recordings", sum(sizes.values()), has_room=True)


def _track(
    items: Iterable[_Item], size_of: Callable[[_Item], int], name: str, total: int | None, *, has_room: bool
) -> Generator[_Item]:
    shows = total is not None and total > _LONG_FILE and is_terminal(sys.stderr) and has_room
    with Progress(console=Console(stderr=True), transient=True, disable=not shows) as progress:
        task = progress.add_task(escape(escape_unsafe(name)), total=total)
        for item in items:
            yield item
            progress.advance(task, size_of(item))


def peek(chunks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """Read until it is clear what a stream is; return how it begins, and all of it."""
    head = b""
    for chunk in chunks:
        head += chunk
        if sniff(head) is not None and is_recording(head) is not None:
            break
    return head, chain(filter(None, [head]), chunks)


def has_events(head: bytes) -> bool:
    """Return whether a stream that begins so has server-sent events, or frames of AWS."""
    return sniff(head) in {"events", "frames"}


def has_lines(head: bytes) -> bool:
    """Return whether a stream that begins so has an object on its first line, and more on others."""
    return read_first_line(head.rstrip()) is not None


def has_message_lines(head: bytes) -> bool:
    """Return whether the first line of a stream that begins so is an event of a model's message."""
    line = read_first_line(head)
    # An error alone could be anybody's.
    return line is not None and "error" not in line and detect(line) is not None


@dataclass(frozen=True, slots=True)
class JsonText:
    """Chunks of a JSON text."""

    chunks: Iterator[bytes]


@dataclass(frozen=True, slots=True)
class Events:
    """A stream with JSON inside: a recording, or bytes as they arrive."""

    source: Recording | Iterable[bytes]


def read_input(file: str, *, beside_output: bool = False) -> JsonText | Events:
    """Open a file or standard input, and look at how it begins; nothing of it is lost."""
    head, chunks = peek(read_source(file, beside_output=beside_output))
    if not is_recording(head):
        # A file is cut after each line, so that it gives what its stream gave.
        lines = (line for chunk in chunks for line in chunk.splitlines(keepends=True))
        return Events(lines) if _has_message(head) else JsonText(chunks)
    recording = Recording.loads(b"".join(chunks))
    received = [piece.data for piece in recording.pieces if isinstance(piece.data, bytes)]
    is_text = len(received) == len(recording.pieces) and not _has_message(b"".join(received))
    return JsonText(iter(received)) if is_text else Events(recording)


def _has_message(head: bytes) -> bool:
    return has_events(head) or has_message_lines(head)


_HEAD = 65_536  # bytes that decide what a file is
LONGEST_WAIT = 86_400
"""Seconds: a day; the system has a limit."""
_LIKE_A_TOKEN = Sizes(1, 8)


@dataclass(frozen=True, slots=True)
class Playback:
    """How a stream is played."""

    sizes: Sizes | None = None
    """How many bytes a piece has, `None` for as many as were received."""
    seed: int = 0
    speed: float = 1.0
    """How many seconds of a recording pass in one second, 0 to play it at once."""
    delay: float = 0.0
    """Seconds after each piece of a file that has no times."""
    before_wait: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class PlayedStream:
    """The pieces of a stream as they come."""

    pieces: Iterator[Piece]
    recording: Recording | None = None
    """All of it, if it is a recording."""
    total: int | None = None
    """How many bytes there will be, if that is known."""


def open_stream(file: str, playback: Playback) -> PlayedStream:
    """Open a file or standard input; a recording that cannot be read raises `RecordingError`."""
    if file == "-":
        return _open_arriving(open_stdin(), playback)
    path = Path(file)
    if is_in_archive(path):
        return _open_recording(load_recording(path), playback)
    total = file_size(path)
    if total is None:  # a named pipe, or nothing at all
        return _open_arriving(read_blocks(path), playback)
    with errors_of(file), path.open("rb") as opened:
        head = opened.read(_HEAD)
    if is_recording(head):
        return _open_recording(load_recording(path), playback)
    return PlayedStream(_play_file(path, head, playback), total=total)


def load_recording(path: Path) -> Recording:
    """Load a recording, or a stream as it was received; also one in an archive, `turns.tar.gz!turn.ndjson`."""
    with errors_of(str(path)):
        return Recording.loads(read_recording(str(path))) if is_in_archive(path) else Recording.load(path)


def is_in_archive(path: Path) -> bool:
    """Return whether a path names a recording in an archive."""
    return "!" in str(path) and not path.exists()


def wire_bytes(piece: Piece, form: WireFormat = "sse") -> bytes:
    """Return a piece as it was received; an event that a client decoded is encoded again."""
    return piece.data if isinstance(piece.data, bytes) else Recording((piece,)).encode(form)


def cut_recording(recording: Recording, sizes: Sizes | None, seed: int) -> Recording:
    """Return a recording in pieces of other sizes; the same without sizes."""
    if sizes is None:
        return recording
    rng = random.Random(seed)  # noqa: S311 - sizes of pieces are not secret
    enough = len(recording.encode()) // sizes.low + 1
    return recording.recut(rng.randint(*sizes) for _ in range(enough))


def play(pieces: Iterable[Piece], playback: Playback, since: float = 0.0) -> Iterator[Piece]:
    """Yield pieces in the time that they took, from a time in the recording on."""
    began = time.monotonic()
    for piece in pieces:
        if playback.speed:
            _wait((piece.at - since) / playback.speed - (time.monotonic() - began), playback)
        yield piece


def _open_recording(recording: Recording, playback: Playback) -> PlayedStream:
    recording = cut_recording(recording, playback.sizes, playback.seed)
    return PlayedStream(play(recording.pieces, playback), recording)


def _wait(seconds: float, playback: Playback) -> None:
    if seconds > 0:
        playback.before_wait()
        time.sleep(min(seconds, LONGEST_WAIT))


def _play_file(path: Path, head: bytes, playback: Playback) -> Iterator[Piece]:
    """Play a file without times: each event or line of a model's stream, or any other text bit by bit."""
    if playback.sizes is None and (has_events(head) or has_lines(head)):
        chunks: Iterable[bytes] = map(wire_bytes, load_recording(path).pieces)
    else:
        chunks = replay(path, playback.sizes or _LIKE_A_TOKEN, playback.seed)
    for piece in _give_times(chunks):
        yield piece
        _wait(playback.delay, playback)


def _open_arriving(chunks: Iterator[bytes], playback: Playback) -> PlayedStream:
    """Return a stream that arrives; a recording is read to its end first."""
    head, chunks = peek(chunks)
    if is_recording(head):
        return _open_recording(Recording.loads(b"".join(chunks)), playback)
    return PlayedStream(_give_times(_announce_waits(chunks, playback)))


def _announce_waits(chunks: Iterator[bytes], playback: Playback) -> Iterator[bytes]:
    while True:
        playback.before_wait()
        chunk = next(chunks, b"")
        if not chunk:
            return
        yield chunk


def _give_times(chunks: Iterable[bytes]) -> Iterator[Piece]:
    began = time.monotonic()
    for chunk in chunks:
        yield Piece(time.monotonic() - began, chunk)
