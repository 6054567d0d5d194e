"""One thing that happened at a path.

The path is made on demand: updates keep a link, which all updates of one value share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsontide._mypyc import mypyc_attr
from jsontide._path import link_to

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_extensions import i64

    from jsontide._errors import ParserError
    from jsontide._path import Path, PathLink
    from jsontide._values import JsonValue
    from jsontide.events._types import JsonFragmentKind


@mypyc_attr(free_list_len=1)  # many fragments make one update, which is dropped before the next
class JsonFragmentUpdate:
    """What happened, where, and in which part of the stream.

    `text` and `value` depend on `kind`; the table in the documentation lists them.
    `start` and `end` are offsets in the stream, in code points.
    """

    __slots__ = ("_link", "end", "kind", "start", "text", "value")

    def __init__(  # noqa: PLR0913, PLR0917 - what it is made of; the compiled emitter calls by position
        self,
        kind: JsonFragmentKind,
        link: PathLink,
        text: str | None,
        value: JsonValue | ParserError,
        start: i64,
        end: i64,
    ) -> None:
        self.kind: JsonFragmentKind = kind
        self._link: PathLink = link
        self.text: str | None = text
        self.value: JsonValue | ParserError = value
        self.start: i64 = start
        self.end: i64 = end

    @property
    def path(self) -> str:
        """The path as text: `root.users[2].email`."""
        link = self._link
        return link.written or link.text()

    @property
    def segments(self) -> Path:
        """The keys and indices from the root down: `("users", 2, "email")`."""
        return self._link.path()

    def __repr__(self) -> str:
        shown = [f"{self.kind.value} {self.path}"]
        if self.text is not None:
            shown.append(f"text={self.text!r}")
        if self.value is not None:
            shown.append(f"value={self.value!r}")
        return f"<{' '.join(shown)} [{self.start}:{self.end}]>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JsonFragmentUpdate):
            return NotImplemented
        return self._contents() == other._contents()

    def __hash__(self) -> int:
        return hash((self.kind, self.segments, self.text, self.start, self.end))

    def _contents(self) -> tuple[object, ...]:
        return (self.segments, self.kind, self.text, self.value, (self.start, self.end))

    def __reduce__(self) -> tuple[Callable[..., JsonFragmentUpdate], tuple[object, ...]]:
        return restore_update, self._contents()


def restore_update(
    path: Path, kind: JsonFragmentKind, text: str | None, value: JsonValue | ParserError, span: tuple[int, int]
) -> JsonFragmentUpdate:
    """Return an update from the contents of its pickle."""
    start, end = span
    return JsonFragmentUpdate(kind, link_to(path), text, value, start, end)


class PatternMatch:
    """An update that a pattern wants, with the number of the pattern."""

    __slots__ = ("number", "update")

    def __init__(self, number: int, update: JsonFragmentUpdate) -> None:
        self.number: int = number
        self.update: JsonFragmentUpdate = update
