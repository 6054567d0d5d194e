"""A frame: an open array or object, as far as events need to know it.

One emitter writes it, at its end only; a state remembers how many of its values were complete, so that an older state
still sees its own part of it.
Its values are kept only if the container's value is wanted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsontide._path import PathLink
from jsontide.text import modes

if TYPE_CHECKING:
    from mypy_extensions import i64

    from jsontide.events._patterns import PatternSet, PatternState


class EventFrame:
    """An open container; the document is one too, around the root."""

    __slots__ = (
        "after",
        "count",
        "index",
        "is_object",
        "items",
        "key",
        "keys",
        "own_key",
        "own_link",
        "parent",
        "pattern_state",
        "start",
        "wanted",
    )

    def __init__(self, parent: EventFrame | None, is_object: bool, after: i64, start: i64) -> None:
        self.parent: EventFrame | None = parent
        self.is_object: bool = is_object
        self.after: i64 = after  # the mode after a value in it
        self.start: i64 = start  # where in the stream it began
        self.own_key: str | None = None if parent is None else parent.key
        self.index: i64 = 0 if parent is None else parent.count  # complete values before it in its parent
        self.count: i64 = 0  # complete values in it
        self.key: str | None = None  # the last key in it
        self.items: list[object] | None = None  # its complete values, if they are wanted
        self.keys: list[str] | None = None  # and their keys, in an object
        self.pattern_state: PatternState | None = None  # if any pattern can match in it
        self.wanted: tuple[int, ...] = ()  # the patterns that want its value
        self.own_link: PathLink | None = None  # made on demand

    def keep_values(self) -> None:
        """Start to build the value of this container."""
        self.items = []
        if self.is_object:
            self.keys = []

    def add(self, value: object) -> None:
        """Add a complete value."""
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

    def link(self) -> PathLink:
        """Return the link to it, made on demand."""
        own = self.own_link
        if own is not None:
            return own
        missing: list[EventFrame] = []
        frame = self
        while frame.own_link is None and frame.parent is not None:
            missing.append(frame)
            frame = frame.parent
        link = frame.own_link  # of the document: None
        while missing:
            frame = missing.pop()
            link = frame.own_link = _link_in(link, frame.own_key, frame.index)
        assert link is not None  # the document has none, and is never asked for it
        return link

    def link_to_next(self) -> PathLink:
        """Return the link to the value that is being read in it."""
        return _link_in(None if self.parent is None else self.link(), self.key, self.count)

    def find_pattern_state(self, pattern_set: PatternSet) -> None:
        """Look up its pattern state again; that of its parent is up to date."""
        parent = self.parent
        if parent is None or parent.parent is None:
            self.pattern_state = pattern_set.start()
        elif parent.pattern_state is None:
            self.pattern_state = None
        else:
            outer = parent.pattern_state
            state = outer.item(self.index) if self.own_key is None else outer.member(self.own_key)
            self.pattern_state = None if state.is_dead else state

    def fork(self, count: i64, key: str | None, parent: EventFrame | None) -> EventFrame:
        """Return a copy that continues after `count` values."""
        fork = EventFrame(parent, self.is_object, self.after, self.start)
        fork.own_key = self.own_key
        fork.index = self.index
        fork.count = count
        fork.key = key
        fork.pattern_state = self.pattern_state
        fork.wanted = self.wanted
        fork.own_link = self.own_link
        if self.items is not None:
            fork.items = self.items[:count]
        if self.keys is not None:
            fork.keys = self.keys[:count]
        return fork


def _link_in(container: PathLink | None, key: str | None, index: i64) -> PathLink:
    """Return the link to a value; without a container, to the root."""
    if container is None:
        return PathLink(None, 0)
    return PathLink(container, index) if key is None else PathLink(container, key)


def create_document_frame(start: i64) -> EventFrame:
    """Return the frame around the root of a document that begins at `start`."""
    return EventFrame(None, is_object=False, after=modes.DONE, start=start)


def open_frames(top: EventFrame) -> list[EventFrame]:
    """Return the open containers, outermost first; the first is the document."""
    frames: list[EventFrame] = []
    frame: EventFrame | None = top
    while frame is not None:
        frames.append(frame)
        frame = frame.parent
    frames.reverse()
    return frames
