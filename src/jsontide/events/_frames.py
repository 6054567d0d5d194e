"""An open array or object, as far as events need to know it.

Written by one teller at its end only; a state remembers how many of its values were complete, so that an older state
still sees its own beginning of it.
What is kept of its values depends on who wants them: nothing, if nobody does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsontide.events._update import Trail
from jsontide.text import _modes as modes

if TYPE_CHECKING:
    from mypy_extensions import i64

    from jsontide._path import Path, Segment
    from jsontide.events._match import Place


class Frame:
    """An open container; the document is one too, around the root."""

    __slots__ = (
        "_trail",
        "after",
        "count",
        "index",
        "is_object",
        "items",
        "key",
        "keys",
        "own_key",
        "parent",
        "place",
        "start",
        "wanted",
    )

    def __init__(self, parent: Frame | None, is_object: bool, after: i64, start: i64) -> None:
        self.parent: Frame | None = parent
        self.is_object: bool = is_object
        self.after: i64 = after  # the mode after a value in it
        self.start: i64 = start  # where in the stream it began
        self.own_key: str | None = None if parent is None else parent.key
        self.index: i64 = 0 if parent is None else parent.count  # complete values before it in its parent
        self.count: i64 = 0  # complete values in it
        self.key: str | None = None  # the last key in it
        self.items: list[object] | None = None  # its complete values, if somebody wants them
        self.keys: list[str] | None = None  # and their keys, in an object
        self.place: Place | None = None  # where patterns see it, if any can match inside
        self.wanted: tuple[int, ...] = ()  # the patterns that want its value
        self._trail: Trail | None = None

    def keep_values(self) -> None:
        """Build the value of this container from now on."""
        self.items = []
        if self.is_object:
            self.keys = []

    def add(self, value: object) -> None:
        """Take a complete value."""
        items = self.items
        if items is not None:
            items.append(value)
            if self.keys is not None and self.key is not None:
                self.keys.append(self.key)
        self.count += 1

    def value(self) -> object:
        """Return the value, if it was built; the container must have closed."""
        if self.keys is not None and self.items is not None:
            return dict(zip(self.keys, self.items, strict=True))
        return self.items

    def segment(self) -> Segment | None:
        """Return the key or index of the value that is being read in it."""
        if self.parent is None:
            return None
        return self.key if self.is_object else self.count

    def own_segment(self) -> Segment | None:
        """Return its key or index in its parent."""
        parent = self.parent
        if parent is None or parent.parent is None:
            return None
        return self.own_key if parent.is_object else self.index

    def trail(self) -> Trail:
        """Return the way to it, made when somebody wants it."""
        trail = self._trail
        if trail is not None:
            return trail
        untold: list[Frame] = []
        frame = self
        while frame._trail is None and frame.parent is not None and frame.parent.parent is not None:
            untold.append(frame)
            frame = frame.parent
        trail = frame._trail
        if trail is None:
            trail = frame._trail = Trail(None, None)
        while untold:
            frame = untold.pop()
            trail = Trail(trail, frame.own_segment())
            frame._trail = trail
        return trail

    def path(self) -> Path:
        """Return the keys and indices that lead to it."""
        return self.trail().path()

    def fork(self, count: i64, key: str | None, parent: Frame | None) -> Frame:
        """Return a frame of its own that goes on after `count` values."""
        fork = Frame(parent, self.is_object, self.after, self.start)
        fork.own_key = self.own_key
        fork.index = self.index
        fork.count = count
        fork.key = key
        fork.place = self.place
        fork.wanted = self.wanted
        fork._trail = self._trail
        if self.items is not None:
            fork.items = self.items[:count]
        if self.keys is not None:
            fork.keys = self.keys[:count]
        return fork


def document_frame() -> Frame:
    """Return the frame around the root."""
    return Frame(None, is_object=False, after=modes.DONE, start=0)


def chain(top: Frame) -> list[Frame]:
    """Return the open containers, outermost first; the first is the document."""
    frames: list[Frame] = []
    frame: Frame | None = top
    while frame is not None:
        frames.append(frame)
        frame = frame.parent
    frames.reverse()
    return frames
