"""The changes of a growing value: what is new, and where.

Rule: applied in order to the value before, they give the value after, and say which values will not change any more.
"""

from __future__ import annotations

from functools import partial
from typing import Final, TypeAlias

from jsontide._path import Path
from jsontide._values import JsonValue


class SetValue:
    """A value is new at a path; a repeated key replaces the one before."""

    __slots__ = ("is_new", "open", "path", "value")

    def __init__(self, path: Path, value: JsonValue, open: Path | None = None, *, is_new: bool = True) -> None:  # noqa: A002
        self.path: Final = path
        self.value: Final = value
        self.open: Final = open
        """The path inside the value to the innermost value that still grows, `None` if all of it is finished."""
        self.is_new: Final = is_new
        """Whether there may be nothing at the path before; an item that is replaced must not become one more."""

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, SetValue)
            and (self.path, self.open) == (other.path, other.open)
            and self.value == other.value
        )

    def __hash__(self) -> int:
        return hash(self.path)

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return partial(SetValue, is_new=self.is_new), (self.path, self.value, self.open)

    def __repr__(self) -> str:
        still = "" if self.open is None else f", open={self.open!r}"
        return f"SetValue({self.path!r}, {self.value!r}{still})"


class AppendText:
    """The string at a path grows."""

    __slots__ = ("path", "text")

    def __init__(self, path: Path, text: str) -> None:
        self.path: Final = path
        self.text: Final = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AppendText) and (self.path, self.text) == (other.path, other.text)

    def __hash__(self) -> int:
        return hash(self.path)

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return AppendText, (self.path, self.text)

    def __repr__(self) -> str:
        return f"AppendText({self.path!r}, {self.text!r})"


class Finish:
    """The value at a path will not change any more, nor will some of the containers around it."""

    __slots__ = ("levels", "path")

    def __init__(self, path: Path, levels: int = 1) -> None:
        self.path: Final = path
        self.levels: Final = levels
        """How many values are finished: this one, and `levels - 1` containers around it."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Finish) and (self.path, self.levels) == (other.path, other.levels)

    def __hash__(self) -> int:
        return hash(self.path)

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Finish, (self.path, self.levels)

    def __repr__(self) -> str:
        return f"Finish({self.path!r}, {self.levels})"


Change: TypeAlias = SetValue | AppendText | Finish
"""One change of a growing value."""


def move_change(change: Change, path: Path) -> Change:
    """Return a change at another path."""
    if isinstance(change, SetValue):
        return SetValue(path, change.value, change.open, is_new=change.is_new)
    return AppendText(path, change.text) if isinstance(change, AppendText) else Finish(path, change.levels)
