"""A file or standard input in, non-empty `bytes` out, cut anywhere, even inside a UTF-8 sequence.

A source that cannot be read raises `UnreadableError`, whenever that turns out.
"""

import errno
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TextIO

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


def read_blocks(path: Path) -> Iterator[bytes]:
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


def read_stdin() -> Iterator[bytes]:
    """Yield what comes on standard input."""
    return read_descriptor(_STANDARD_INPUT, _STDIN)


def read_descriptor(descriptor: int, name: str) -> Iterator[bytes]:
    """Yield whatever a pipe holds, as soon as it holds something."""
    with errors_of(name):
        while chunk := os.read(descriptor, _PIPE):
            yield chunk


def file_size(path: Path) -> int | None:
    """Return the bytes in a file; `None` if that is not known, as for a pipe."""
    return path.stat().st_size if path.is_file() else None


def sizes_for(length: int, sizes: Sizes, seed: int) -> Iterator[int]:
    """Yield random sizes of pieces until so many bytes are in them."""
    rng = random.Random(seed)  # noqa: S311 - sizes of pieces are not secret
    while length > 0:
        size = rng.randint(*sizes)
        length -= size
        yield size


@contextmanager
def errors_of(source: str) -> Iterator[None]:
    """Name the source in the system's errors."""
    try:
        yield
    except OSError as error:
        message = f"cannot read {source}: {error.strerror}"
        raise UnreadableError(message) from error
