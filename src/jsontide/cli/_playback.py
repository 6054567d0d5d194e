"""A file or standard input in, the pieces of a stream out, each when it is due; recordings in the time that they took.

A recording is known by its first line; anything else is a stream as it was received.
Standard input is read as it arrives, and a file without times in pieces that a model would send.

Rule: before anything is waited for, `before_wait` is called, so that what has come can be shown.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from jsontide.cli._sniff import has_events, has_lines, is_recording, peek
from jsontide.cli._source import Sizes, errors_of, file_size, read_blocks, replay, sizes_for
from jsontide.cli._terminal import open_stdin
from jsontide.recordings import Piece, Recording, WireFormat

_HEAD = 65_536
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
class Stream:
    """The pieces of a stream as they come."""

    pieces: Iterator[Piece]
    recording: Recording | None = None
    """All of it, if it is a recording."""
    total: int | None = None
    """How many bytes there will be, if that is known."""


def open_stream(file: str, playback: Playback) -> Stream:
    """Open what a command was given; a recording that cannot be read raises `RecordingError`."""
    if file == "-":
        return _open_arriving(open_stdin(), playback)
    path = Path(file)
    total = file_size(path)
    if total is None:  # a named pipe, or nothing at all
        return _open_arriving(read_blocks(path), playback)
    with errors_of(file), path.open("rb") as opened:
        head = opened.read(_HEAD)
    if is_recording(head):
        return _open_recording(load_recording(path), playback)
    return Stream(_play_file(path, head, playback), total=total)


def load_recording(path: Path) -> Recording:
    """Load a recording, or a stream as it was received."""
    with errors_of(str(path)):
        return Recording.load(path)


def wire_bytes(piece: Piece, form: WireFormat = "sse") -> bytes:
    """Return a piece as it was received; an event that a client decoded, in one of the forms in which it could be."""
    return piece.data if isinstance(piece.data, bytes) else Recording((piece,)).encode(form)


def cut_recording(recording: Recording, sizes: Sizes | None, seed: int) -> Recording:
    """Return a recording in pieces of other sizes, if that is asked for."""
    if sizes is None:
        return recording
    return recording.recut(sizes_for(len(recording.encode()), sizes, seed))


def play(pieces: Iterable[Piece], playback: Playback, since: float = 0.0) -> Iterator[Piece]:
    """Yield pieces in the time that they took, from a time in the recording on."""
    began = time.monotonic()
    for piece in pieces:
        if playback.speed:
            _wait((piece.at - since) / playback.speed - (time.monotonic() - began), playback)
        yield piece


def _open_recording(recording: Recording, playback: Playback) -> Stream:
    recording = cut_recording(recording, playback.sizes, playback.seed)
    return Stream(play(recording.pieces, playback), recording)


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


def _open_arriving(chunks: Iterator[bytes], playback: Playback) -> Stream:
    """Return a stream that arrives; a recording is read to its end first."""
    head, chunks = peek(chunks)
    if is_recording(head):
        return _open_recording(Recording.loads(b"".join(chunks)), playback)
    return Stream(_give_times(_announce_waits(chunks, playback)))


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
