"""Where chunks come from: a file cut into pieces, or standard input as it arrives.

Out: non-empty `bytes`, cut anywhere, also inside a UTF-8 sequence.
A place that cannot be read is an `UnreadableError`, whenever that turns out.
"""

import errno
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TextIO

_PIPE = 65_536


class Sizes(NamedTuple):
    """How many bytes a piece of a file has, at least and at most."""

    low: int
    high: int


class UnreadableError(Exception):
    """Names the place and says what the system said."""

    def __init__(self, place: str, error: OSError) -> None:
        super().__init__(f"cannot read {place}: {error.strerror}")


def replay(path: Path, sizes: Sizes, seed: int) -> Iterator[bytes]:
    rng = random.Random(seed)  # noqa: S311 - sizes of pieces are no secret
    try:
        with path.open("rb") as file:
            while piece := file.read(rng.randint(*sizes)):
                yield piece
    except OSError as error:
        raise UnreadableError(str(path), error) from error


def lines(path: Path) -> Iterator[bytes]:
    """The lines of a file."""
    try:
        with path.open("rb") as file:
            yield from file
    except OSError as error:
        raise UnreadableError(str(path), error) from error


def arriving_lines(file: TextIO | None) -> Iterator[bytes]:
    """The lines of a pipe, each as soon as it is there; Python has none where the descriptor is closed."""
    if file is None:
        raise UnreadableError("standard input", OSError(errno.EBADF, os.strerror(errno.EBADF)))
    try:
        yield from file.buffer
    except OSError as error:
        raise UnreadableError("standard input", error) from error


def arriving(descriptor: int) -> Iterator[bytes]:
    """What a pipe holds, as soon as it holds something."""
    try:
        while chunk := os.read(descriptor, _PIPE):
            yield chunk
    except OSError as error:
        raise UnreadableError("standard input", error) from error


def length(path: Path) -> int | None:
    """Bytes in a file, `None` where that is not known: a missing file, a pipe."""
    return path.stat().st_size if path.is_file() else None
