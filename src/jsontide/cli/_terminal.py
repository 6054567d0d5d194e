"""What the standard streams are, and how long files are read beside them: with a progress bar, where there is room."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TextIO, TypeVar

from rich.console import Console
from rich.progress import Progress

from jsontide.cli._source import file_size, read_blocks, read_stdin

_Item = TypeVar("_Item")

_LONG = 1_000_000  # bytes of a file that gets a progress bar


def is_terminal(file: TextIO | None) -> bool:
    """Return whether a standard stream is a terminal; it is `None` if its descriptor is closed."""
    return file is not None and file.isatty()


def draws_live() -> bool:
    """Return whether standard output can be drawn over."""
    return is_terminal(sys.stdout) and os.environ.get("TERM") != "dumb"


def error_width() -> int:
    """Return the columns for messages on standard error."""
    return Console(stderr=True).width


def open_stdin() -> Iterator[bytes]:
    """Read standard input as it arrives; if that is a person who types, say so first."""
    if is_terminal(sys.stdin) and is_terminal(sys.stderr):
        Console(stderr=True).print("reading what you type; Ctrl-D ends it", style="dim")
    return read_stdin()


def read_source(file: str, *, beside_output: bool = False) -> Iterator[bytes]:
    """Yield a file in blocks, or standard input, for `-`, as it arrives."""
    if file == "-":
        return open_stdin()
    path = Path(file)
    return show_progress(path, read_blocks(path), beside_output=beside_output)


def show_progress(path: Path, pieces: Iterable[bytes], *, beside_output: bool = False) -> Iterator[bytes]:
    """Pass the pieces of a file on, with a progress bar for a long one if nothing else is on the terminal."""
    has_room = beside_output or not is_terminal(sys.stdout)
    return _track(pieces, len, path.name, file_size(path), has_room=has_room)


def show_progress_of_files(files: Sequence[Path]) -> Iterator[Path]:
    """Pass files on, with a progress bar if they are long; for commands that write when all are read."""
    sizes = {file: file_size(file) or 0 for file in files}
    return _track(files, sizes.__getitem__, "recordings", sum(sizes.values()), has_room=True)


def _track(
    items: Iterable[_Item], size_of: Callable[[_Item], int], name: str, total: int | None, *, has_room: bool
) -> Iterator[_Item]:
    shows = total is not None and total > _LONG and is_terminal(sys.stderr) and has_room
    with Progress(console=Console(stderr=True), transient=True, disable=not shows) as progress:
        task = progress.add_task(name, total=total)
        for item in items:
            yield item
            progress.advance(task, size_of(item))
