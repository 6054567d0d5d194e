"""Changes of a growing value in, what of it is new out: whole values, and ends of strings."""

from collections.abc import Iterable

from jsontide._path import Segment
from jsontide.deltas import AppendText, Change, SetValue


class Fresh:
    """What is new at a place, and inside of it, since the place was drawn."""

    __slots__ = ("_inner", "appended", "is_new")

    def __init__(self, *, is_new: bool = False) -> None:
        self.is_new = is_new
        """Whether the whole value is."""
        self.appended = 0
        """How many characters were added to the string."""
        self._inner: dict[Segment, Fresh] = {}

    def add(self, changes: Iterable[Change]) -> None:
        """Note more changes."""
        for change in changes:
            place = self
            for segment in change.path:
                place = place._inner.setdefault(segment, Fresh())
            if isinstance(change, SetValue):
                place.is_new = True
            elif isinstance(change, AppendText):
                place.appended += len(change.text)

    def inside(self, *path: Segment) -> "Fresh":
        """Return what is new at a place further in."""
        place = self
        for segment in path:
            place = _ALL_NEW if place.is_new else place._inner.get(segment, NOTHING_NEW)
        return place

    def count(self, text: str) -> int:
        """Return how many characters at the end of a string at this place are new."""
        return len(text) if self.is_new else min(self.appended, len(text))


NOTHING_NEW = Fresh()
_ALL_NEW = Fresh(is_new=True)
