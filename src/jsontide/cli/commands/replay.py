"""`jsontide replay`."""

import os
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from jsontide._values import escape_unsafe
from jsontide.cli._exits import CUT_OFF, exit_codes, report, say
from jsontide.cli._input import Playback, UnreadableError, cut_recording, is_terminal, load_recording, play, wire_bytes
from jsontide.cli._options import FASTEST, SEED, SIZE, parse_sizes
from jsontide.cli._output import RawOutput
from jsontide.recordings import Piece, Recording, WireFormat

_TERMINAL = "/dev/tty"
_ESCAPE = b"\x1b"
_PLAY_ON = "c"
_QUIT = frozenset({"q", "\x04", ""})  # Ctrl-D, or no terminal any more


def replay(  # noqa: PLR0913 - options, all by name
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A recording, or a stream as it was received.")],
    *,
    speed: Annotated[
        float, typer.Option(min=0, max=FASTEST, metavar="FACTOR", help="How much faster to play; 0 plays it at once.")
    ] = 1.0,
    step: Annotated[
        bool,
        typer.Option("--step", help="Wait for a key before each piece: c plays the rest, q quits, any other goes on."),
    ] = False,
    form: Annotated[
        WireFormat, typer.Option("--as", help="How to write events that a client had decoded when they were recorded.")
    ] = "sse",
    size: Annotated[str | None, SIZE] = None,
    seed: Annotated[int, SEED] = 0,
) -> None:
    """Play a recording: write what was received, when it was received.

    \b
    jsontide replay turn.ndjson | jsontide watch
    jsontide replay turn.ndjson --step | jsontide watch

    The output is what the application got, byte by byte, so it can be piped wherever the stream
    itself can.
    With --size, the bytes come in other pieces, at the times in between.
    On a terminal, control characters are written as escapes.

    Exit codes: 0 all of it was played; 1 the file is not a valid recording, and standard error says
    in which line; 2 invalid command line, or the file or the output cannot be used; 3 it was
    played up to where the stream was lost; 130 interrupted; 141 the output was closed.
    """
    sizes = None if size is None else parse_sizes(size)
    with exit_codes():
        recording = cut_recording(load_recording(file), sizes, seed)
        playback = Playback(speed=speed)
        output = RawOutput(sys.stdout.buffer, is_terminal=is_terminal(sys.stdout))
        for piece in _step_through(recording, playback) if step else play(recording.pieces, playback):
            output.write(wire_bytes(piece, form))
    if recording.end == "lost":
        raise report(f"the stream was lost: {escape_unsafe(recording.error or 'no more is known')}", CUT_OFF)


def _step_through(recording: Recording, playback: Playback) -> Iterator[Piece]:
    with read_keys() as read_key:
        say(f"jsontide: {len(recording.pieces):,} pieces; press a key for the next one, c to play on, q to quit")
        for at, piece in enumerate(recording.pieces):
            key = read_key()
            if key in _QUIT:
                return
            if key == _PLAY_ON:
                yield from play(recording.pieces[at:], playback, since=piece.at)
                return
            yield piece


@contextmanager
def read_keys() -> Iterator[Callable[[], str]]:
    """Give a function that waits for the next key; the empty string is the end."""
    try:
        # Imported late: Windows has neither.
        import termios  # noqa: PLC0415
        import tty  # noqa: PLC0415

        terminal = os.open(_TERMINAL, os.O_RDONLY | os.O_NOCTTY)
    except (ImportError, OSError) as error:
        raise UnreadableError("cannot read keys: there is no terminal") from error
    before = termios.tcgetattr(terminal)
    waiting: deque[str] = deque()

    def read_key() -> str:
        if not waiting:
            waiting.extend(_split(os.read(terminal, 64)))
        return waiting.popleft() if waiting else ""

    try:
        tty.setcbreak(terminal)
        yield read_key
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
        os.close(terminal)


def _split(data: bytes) -> list[str]:
    """Return the keys in these bytes; an arrow key sends several bytes, and is one key."""
    return [data.decode(errors="replace")] if data.startswith(_ESCAPE) else list(data.decode(errors="replace"))
