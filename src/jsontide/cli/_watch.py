"""Chunks of bytes in, the growing value shown: drawn in place on a terminal, otherwise as lines.

Out: the last state, which has the error if the text was not one complete document.
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
from jsontide.cli._live_view import LiveView, StreamProgress
from jsontide.snapshots.serialize import compact


def parse_all(chunks: Iterable[bytes]) -> Iterator[tuple[ParserState, bytes]]:
    """Yield the state after each chunk, with the chunk, then the finished state; end after an error."""
    # Decimals: a float may be infinite, which JSON cannot express.
    state = create_parser_state(floats="decimal")
    for chunk in chunks:
        state = parse_chunk(state, chunk)
        yield state, chunk
        if state.error is not None:
            return
    yield finalize(state), b""


def show_lines(chunks: Iterable[bytes], out: BinaryIO) -> ParserState:
    """Write one line of compact JSON for each change of the value, at once."""
    state = create_parser_state()
    shown: object = MISSING
    for state, _ in parse_all(chunks):
        # A value that did not change is the same object.
        if state.value is not shown and state.value is not MISSING:
            out.write(compact(state.value, ensure_ascii=False).encode() + b"\n")
            out.flush()
        shown = state.value
    return state


def show_live(chunks: Iterable[bytes], console: Console, *, total: int | None, every: float) -> ParserState:
    """Draw the value after each chunk, but not twice within `every` seconds."""
    stream = parse_all(chunks)
    # Before anything is drawn: a source that cannot be read fails here.
    first = next(stream)
    state = first[0]
    progress = StreamProgress(0, b"", 0, total)
    with Live(console=console, auto_refresh=False) as live:
        drawn = -math.inf
        for state, chunk in chain([first], stream):
            progress = progress.after(chunk)
            if time.monotonic() - drawn >= every:
                live.update(LiveView(state, progress), refresh=True)
                drawn = time.monotonic()
        live.update(LiveView(state, progress), refresh=True)
    return state
