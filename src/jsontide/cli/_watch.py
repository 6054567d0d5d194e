"""Drives the parser over a source and shows what grows: on a terminal as a picture, else as lines.

In: chunks of bytes and a place to write. Out: the error, if the text was not one complete document.
"""

import math
import time
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import BinaryIO

from rich.console import Console
from rich.live import Live

from jsontide import (
    MISSING,
    ParserState,
    create_parser_state,
    finalize,
    parse_chunk,
)
from jsontide.cli._screen import Frame, Progress
from jsontide.snapshots.serialize import compact


def states(chunks: Iterable[bytes]) -> Iterator[tuple[ParserState, bytes]]:
    """The state after each chunk, with the chunk, then the finished state; an error is the last."""
    # Decimals: a float may be infinite, which JSON cannot say.
    state = create_parser_state(floats="decimal")
    for chunk in chunks:
        state = parse_chunk(state, chunk)
        yield state, chunk
        if state.error is not None:
            return
    yield finalize(state), b""


def show_lines(chunks: Iterable[bytes], out: BinaryIO) -> ParserState:
    """One line of compact JSON for each change of the value, written at once."""
    state = create_parser_state()
    shown: object = MISSING
    for state, _ in states(chunks):
        # What did not change is the same object, so identity is the whole comparison.
        if state.value is not shown and state.value is not MISSING:
            out.write(compact(state.value, ensure_ascii=False).encode() + b"\n")
            out.flush()
        shown = state.value
    return state


def show_frames(chunks: Iterable[bytes], console: Console, *, total: int | None, every: float) -> ParserState:
    """A picture of the value, drawn again after a chunk, but not twice within `every` seconds."""
    stream = states(chunks)
    # Before anything is drawn: a source that cannot be read says so here.
    first = next(stream)
    state = first[0]
    progress = Progress(0, b"", 0, total)
    with Live(console=console, auto_refresh=False) as live:
        drawn = -math.inf
        for state, chunk in chain([first], stream):
            progress = progress.after(chunk)
            if time.monotonic() - drawn >= every:
                live.update(Frame(state, progress), refresh=True)
                drawn = time.monotonic()
        live.update(Frame(state, progress), refresh=True)
    return state
