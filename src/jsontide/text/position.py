"""A cursor in, its position out; later, another cursor is put there.

Rule: what a scanner needs to continue reading is listed in this module only: states, forks and pickles use it.
Each stage restores its open containers itself, and with them what follows from them: `depth`, `after`, and where there
are several documents `max_index`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeAlias

    from mypy_extensions import i64

    from jsontide.text._cursor import Cursor

    PlainPosition: TypeAlias = tuple[i64, i64, i64, str, i64, str, i64, tuple[i64, i64]]


class Position:
    """Where a cursor stood after a step; it never changes."""

    __slots__ = (
        "_held",
        "_index",
        "_line",
        "_mode",
        "_node_count",
        "_piece_count",
        "_pieces",
        "_step",
        "_token_start",
    )

    def __init__(self, cursor: Cursor) -> None:
        self._step: i64 = cursor.step
        self._mode: i64 = cursor.mode
        self._index: i64 = cursor.index
        self._held: str = cursor.held
        self._token_start: i64 = cursor.token_start
        pieces = cursor.pieces
        self._pieces: list[str] = pieces  # shared with the cursor, which only appends to it
        self._piece_count: i64 = len(pieces)
        self._node_count: i64 = cursor.node_count
        self._line: tuple[i64, i64] = cursor.line

    @property
    def open_text(self) -> str:
        """What is certain of the open string, key or number."""
        return "".join(self._pieces[: self._piece_count])

    def restore(self, cursor: Cursor) -> None:
        """Put a cursor where this one stood."""
        set_position(cursor, self.to_tuple())

    def to_tuple(self) -> PlainPosition:
        """Return the position as plain data, for a pickle."""
        return (
            self._step,
            self._mode,
            self._index,
            self._held,
            self._token_start,
            self.open_text,
            self._node_count,
            self._line,
        )


def set_position(cursor: Cursor, position: PlainPosition) -> None:
    """Put a cursor where another one stood."""
    (
        cursor.step,
        cursor.mode,
        cursor.index,
        cursor.held,
        cursor.token_start,
        open_text,
        cursor.node_count,
        cursor.line,
    ) = position
    cursor.pieces = [open_text] if open_text else []
