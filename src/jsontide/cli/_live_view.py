"""What `jsontide watch` draws on a terminal: the end of the growing value and two lines of status.

In: a state, and how much was read. Out: a rich renderable that fits the terminal.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from jsontide import MISSING, ParserState
from jsontide._path import path_text
from jsontide.cli._escape import escape_unsafe
from jsontide.cli._pretty_print import CURSOR, print_end
from jsontide.tree import ArrayNode, Mode, Node, ObjectNode, Path, StringNode

_STATUS_ROWS = 3
_BAR = 20
_CHUNK = 24

EXPECTED = {
    Mode.STRING: "more of a string",
    Mode.KEY_TEXT: "more of a key",
    Mode.LITERAL: "the rest of true, false or null",
    Mode.NUMBER: "a number",
    Mode.FIRST_DIGIT: "a digit",
    Mode.AFTER_ZERO: "more of a number, or its end",
    Mode.INTEGER: "more of a number, or its end",
    Mode.FIRST_DECIMAL: "a digit",
    Mode.FRACTION: "more of a number, or its end",
    Mode.EXPONENT_SIGN: "an exponent",
    Mode.FIRST_EXPONENT: "a digit",
    Mode.EXPONENT: "more of a number, or its end",
    Mode.VALUE: "a value",
    Mode.ITEM_OR_END: "an item or ']'",
    Mode.ITEM: "an item",
    Mode.AFTER_ITEM: "',' or ']'",
    Mode.KEY_OR_END: "a key or '}'",
    Mode.KEY: "a key",
    Mode.COLON: "':'",
    Mode.MEMBER: "a value",
    Mode.AFTER_MEMBER: "',' or '}'",
    Mode.DONE: "nothing: complete",
    Mode.ERROR: "nothing: bad text",
}


@dataclass(frozen=True, slots=True)
class StreamProgress:
    """How much of the stream was read; `total` is `None` if its length is not known."""

    chunks: int
    last: bytes
    read: int
    total: int | None

    def after(self, chunk: bytes) -> "StreamProgress":
        if not chunk:
            return self
        return StreamProgress(self.chunks + 1, chunk, self.read + len(chunk), self.total)


@dataclass(frozen=True, slots=True)
class LiveView:
    """One drawing of a growing value."""

    state: ParserState
    progress: StreamProgress

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        # One row stays free: otherwise the last line break would scroll the first row away.
        height = max(1, options.size.height - _STATUS_ROWS - 1)
        value = self.state.value
        if value is MISSING:
            yield Text.assemble(CURSOR)
        else:
            yield from print_end(console, value, growing_path(self.state), width=width, height=height)
        yield Text("─" * width, "dim")
        for line in (_counts(self.state, self.progress), _position(self.state, self.progress)):
            line.truncate(width, overflow="ellipsis")
            yield line


def _counts(state: ParserState, progress: StreamProgress) -> Text:
    words = f"{state.index:,} characters in {progress.chunks:,} chunks"
    if not progress.total:
        return Text(words)
    filled = _BAR * progress.read // progress.total
    return Text.assemble(
        ("━" * filled, "green"),
        ("┄" * (_BAR - filled), "dim"),
        f" {100 * progress.read // progress.total:3d} %  {words}",
    )


def _position(state: ParserState, progress: StreamProgress) -> Text:
    if state.error is not None:
        return Text.assemble(("bad text", "bold red"), f"  {escape_unsafe(state.error.message)}")
    if state.is_complete:
        return Text("complete", "bold green")
    chunk = escape_unsafe(progress.last.decode(errors="backslashreplace")[-_CHUNK:])
    return Text.assemble(
        ("next ", "dim"),
        EXPECTED[state.mode],
        ("  at ", "dim"),
        escape_unsafe(path_text(open_path(state))),
        ("  chunk ", "dim"),
        (chunk, "reverse"),
    )


def open_path(state: ParserState) -> Path:
    """Return the path of the innermost open value, or of the root if nothing is open."""
    return _newest_path(state, state.stack if _open_scalar(state) else state.stack[:-1])


def growing_path(state: ParserState) -> Path | None:
    """Return the path of the innermost open value that is visible, if there is one."""
    if isinstance(_open_scalar(state), StringNode):
        return _newest_path(state, state.stack)
    return _newest_path(state, state.stack[:-1]) if state.stack else None


def _open_scalar(state: ParserState) -> Node | None:
    """Return the string, number or literal that is being read."""
    newest = state.nodes[-1] if state.nodes else None
    if newest is None or newest.closed or isinstance(newest, ArrayNode | ObjectNode):
        return None
    return newest


def _newest_path(state: ParserState, containers: Sequence[int]) -> Path:
    """Return the path to the newest child of the innermost container: an open value is always the newest child."""
    nodes = map(state.nodes.__getitem__, containers)
    return tuple(_newest(node) for node in nodes if isinstance(node, ArrayNode | ObjectNode))


def _newest(node: ArrayNode | ObjectNode) -> str | int:
    return node.keys[-1] if isinstance(node, ObjectNode) else len(node.children) - 1
