"""A place in the mended text in, the same place in the original out.

Rule: an error behind the mender points at the character of the original that it is about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from jsontide._errors import ParserError, get_link
from jsontide.mend.options import Repair

if TYPE_CHECKING:
    from mypy_extensions import i64


class Passage:
    """A piece of the original text, and where it begins."""

    __slots__ = ("base", "line", "line_start", "text")

    def __init__(self, text: str, base: i64, line: i64, line_start: i64) -> None:
        self.text: Final = text
        self.base: Final[int] = base
        self.line: Final[int] = line
        """The number of the line in which it begins."""
        self.line_start: Final[int] = line_start
        """The index at which that line begins."""


def original_index(repairs: Sequence[Repair], index: int) -> int:
    """Return where in the original text a place of the mended one is."""
    shift = 0
    for repair in repairs:
        begin = repair.index + shift
        if index < begin:
            break
        became = len(repair.became)
        if index < begin + became:
            return repair.index + min(index - begin, max(len(repair.was) - 1, 0))
        shift += became - len(repair.was)
    return index - shift


def place_error(error: ParserError, repairs: Sequence[Repair], passage: Passage) -> ParserError:
    """Return an error in the mended text as one in the original; `passage` is what was read last."""
    index = original_index(repairs, error.index)
    line, start = passage.line, passage.line_start
    if index >= passage.base:
        before = passage.text[: index - passage.base]
        if "\n" in before:
            line += before.count("\n")
            start = passage.base + before.rfind("\n") + 1
    elif index < start:
        line, start = _find_line(error, repairs, index)
    column = index - start + 1
    message = error.message.replace(_where(error.line, error.column), _where(line, column))
    path: Any = get_link(error)  # the error makes a path of it when it is read
    return replace(error, message=message, index=index, line=line, column=column, path=path)


def _find_line(error: ParserError, repairs: Sequence[Repair], index: int) -> tuple[int, int]:
    """Return the number of the line of an index, and where it begins.

    Only repairs have other newlines than the mended text.
    """
    line = error.line
    begin = error.index - error.column + 1
    start = original_index(repairs, begin - 1) + 1 if begin else 0
    for repair in repairs:
        if repair.index >= index:
            break
        line += repair.was[: index - repair.index].count("\n") - repair.became.count("\n")
        newline = repair.was.rfind("\n", 0, index - repair.index)
        if newline >= 0:
            start = max(start, repair.index + newline + 1)
    return line, start


def with_path(error: ParserError, other: ParserError | None) -> ParserError:
    """Return an error with the path of another one."""
    if other is None:
        return error
    path: Any = get_link(other)
    return replace(error, path=path)


def _where(line: int, column: int) -> str:
    return f"(line {line}, column {column})"
