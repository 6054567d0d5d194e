"""One thing that happened at a path.

The path is made when somebody asks for it: an update keeps the trail of the container around, which all updates in
that container share, and its own key or index there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsontide._path import path_text, segment_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_extensions import i64

    from jsontide._errors import ParserError
    from jsontide._path import Path, Segment
    from jsontide._values import JsonValue
    from jsontide.events._kinds import JsonFragmentKind


class Trail:
    """The way to a container: the trail of the one around it, and its key or index there."""

    __slots__ = ("_text", "parent", "segment")

    def __init__(self, parent: Trail | None, segment: Segment | None) -> None:
        self.parent: Trail | None = parent
        self.segment: Segment | None = segment  # of the root: None
        self._text: str = ""

    def text(self) -> str:
        """Write the path, once."""
        if not self._text:
            self._text = path_text(self.path())
        return self._text

    def path(self) -> Path:
        """Return the keys and indices from the root down."""
        segments: list[Segment] = []
        trail = self
        while trail.parent is not None:
            if trail.segment is not None:
                segments.append(trail.segment)
            trail = trail.parent
        segments.reverse()
        return tuple(segments)


class JsonFragmentUpdate:
    """What happened, where, and in which part of the stream.

    `kind` tells what; `text` and `value` depend on it, as the table in the documentation tells.
    `start` and `end` are offsets in the stream, in code points.
    """

    __slots__ = ("_segment", "_trail", "_value", "end", "kind", "start", "text")

    def __init__(  # noqa: PLR0913, PLR0917 - what it is made of; the compiled teller calls by position
        self,
        kind: JsonFragmentKind,
        trail: Trail,
        segment: Segment | None,
        text: str | None,
        value: object,
        start: i64,
        end: i64,
    ) -> None:
        self.kind: JsonFragmentKind = kind
        self._trail: Trail = trail
        self._segment: Segment | None = segment
        self.text: str | None = text
        self._value: Any = value
        self.start: i64 = start
        self.end: i64 = end

    @property
    def value(self) -> JsonValue | ParserError:
        """The complete value, or the error; `None` where the kind has no value."""
        value: JsonValue | ParserError = self._value
        return value

    @property
    def path(self) -> str:
        """The path for people: `root.users[2].email`."""
        if self._segment is None:
            return self._trail.text()
        return self._trail.text() + segment_text(self._segment)

    @property
    def segments(self) -> Path:
        """The keys and indices from the root down: `("users", 2, "email")`."""
        if self._segment is None:
            return self._trail.path()
        return (*self._trail.path(), self._segment)

    def __repr__(self) -> str:
        shown = [f"{self.kind.value} {self.path}"]
        if self.text is not None:
            shown.append(f"text={self.text!r}")
        if self._value is not None:
            shown.append(f"value={self._value!r}")
        return f"<{' '.join(shown)} [{self.start}:{self.end}]>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JsonFragmentUpdate):
            return NotImplemented
        return self._contents() == other._contents()

    def __hash__(self) -> int:
        return hash((self.kind, self.segments, self.text, self.start, self.end))

    def _contents(self) -> tuple[object, ...]:
        return (self.kind, self.segments, self.text, self._value, self.start, self.end)

    def __reduce__(self) -> tuple[Callable[..., JsonFragmentUpdate], tuple[object, ...]]:
        return update_at, (self.segments, self.kind, self.text, self._value, (self.start, self.end))


def _trail_of(path: Path) -> Trail:
    """Return the trail to a container that is known by its path."""
    trail = Trail(None, None)
    for segment in path:
        trail = Trail(trail, segment)
    return trail


def update_at(
    path: Path, kind: JsonFragmentKind, text: str | None, value: object, span: tuple[int, int]
) -> JsonFragmentUpdate:
    """Make an update of a place that is known by its path: an error, or what a pickle holds."""
    start, end = span
    if not path:
        return JsonFragmentUpdate(kind, Trail(None, None), None, text, value, start, end)
    return JsonFragmentUpdate(kind, _trail_of(path[:-1]), path[-1], text, value, start, end)
