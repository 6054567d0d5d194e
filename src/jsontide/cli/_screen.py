"""One frame of the terminal view: the tail of the growing value and two lines of status.

In: a state, and how much was read. Out: a rich renderable that fits the terminal.
"""

from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from jsontide import MISSING, ParserState
from jsontide._path import path_text
from jsontide.cli._tail import CURSOR, tail
from jsontide.cli._words import EXPECTED, growing_path, open_path, printable

_STATUS_ROWS = 3
_BAR = 20
_CHUNK = 24


@dataclass(frozen=True, slots=True)
class Progress:
    """What was read of the stream; `total` is `None` where its end is not known."""

    chunks: int
    last: bytes
    read: int
    total: int | None

    def after(self, chunk: bytes) -> "Progress":
        if not chunk:
            return self
        return Progress(self.chunks + 1, chunk, self.read + len(chunk), self.total)


@dataclass(frozen=True, slots=True)
class Frame:
    state: ParserState
    progress: Progress

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        # One row stays free: the last line break must not scroll the first row away.
        height = max(1, options.size.height - _STATUS_ROWS - 1)
        value = self.state.value
        if value is MISSING:
            yield Text.assemble(CURSOR)
        else:
            yield from tail(console, value, growing_path(self.state), width=width, height=height)
        yield Text("─" * width, "dim")
        for line in (counts(self.state, self.progress), place(self.state, self.progress)):
            line.truncate(width, overflow="ellipsis")
            yield line


def counts(state: ParserState, progress: Progress) -> Text:
    words = f"{state.index:,} characters in {progress.chunks:,} chunks"
    if not progress.total:
        return Text(words)
    filled = _BAR * progress.read // progress.total
    return Text.assemble(
        ("━" * filled, "green"),
        ("┄" * (_BAR - filled), "dim"),
        f" {100 * progress.read // progress.total:3d} %  {words}",
    )


def place(state: ParserState, progress: Progress) -> Text:
    if state.error is not None:
        return Text.assemble(("bad text", "bold red"), f"  {printable(state.error.message)}")
    if state.is_complete:
        return Text("complete", "bold green")
    chunk = printable(progress.last.decode(errors="backslashreplace")[-_CHUNK:])
    return Text.assemble(
        ("next ", "dim"),
        EXPECTED[state.mode],
        ("  at ", "dim"),
        printable(path_text(open_path(state))),
        ("  chunk ", "dim"),
        (chunk, "reverse"),
    )
