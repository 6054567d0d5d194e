"""Changes of a growing value in, each with the number of its moment; what stood at any path at any moment out.

The history is one tree that is only written at its end. Every value in it knows the moment in which it appeared, the
moments in which text was added to it, and the moment from which it did not change any more: no moment needs a copy,
and looking back costs what is looked at.

Rule: what was true of a moment stays true, whatever is added later.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from operator import attrgetter
from typing import Final, TypeAlias

from jsontide._path import Path, Segment
from jsontide._values import JsonValue
from jsontide.frontends import AppendText, Change, SetValue, write_json

_BORN: Final = attrgetter("born")
_Todo: TypeAlias = tuple["Entry", JsonValue, Path | None]


class Entry:
    """A value from the moment in which it appeared; one that replaces it is another version of it."""

    __slots__ = ("born", "children", "ends", "finished", "kind", "members", "numbers", "parent", "segment", "texts")

    def __init__(self, kind: str, segment: Segment, parent: Entry | None, born: int) -> None:
        self.kind: Final = kind
        self.segment: Final = segment
        self.parent: Final = parent
        self.born: Final = born
        self.finished: int | None = None
        """The moment from which it does not change any more."""
        self.texts: list[str] = []
        """Of a string the pieces as they came; of another scalar its text."""
        self.numbers: list[int] = []
        """The moment in which each piece came."""
        self.ends: list[int] = []
        """How many characters there were after each piece."""
        self.children: list[Slot] = []
        self.members: dict[str, Slot] = {}
        """The same by key, of an object."""

    def is_open(self, number: int) -> bool:
        return self.finished is None or self.finished > number

    def count(self, number: int) -> int:
        """Return how many members or items it has."""
        return bisect_right(self.children, number, key=_BORN)

    def add(self, text: str, number: int) -> None:
        self.texts.append(text)
        self.numbers.append(number)
        self.ends.append(self.ends[-1] + len(text) if self.ends else len(text))

    def length(self, number: int) -> int:
        """Return how many characters it has."""
        pieces = bisect_right(self.numbers, number)
        return self.ends[pieces - 1] if pieces else 0

    def fresh(self, number: int) -> int:
        """Return how many of its characters came in this moment."""
        before = bisect_left(self.numbers, number)
        return self.length(number) - (self.ends[before - 1] if before else 0)

    def head(self, number: int, limit: int) -> str:
        """Return the beginning of its text."""
        pieces = min(bisect_right(self.numbers, number), bisect_left(self.ends, limit) + 1)
        return "".join(self.texts[:pieces])[:limit]

    def tail(self, number: int, limit: int) -> str:
        """Return the end of its text."""
        pieces = bisect_right(self.numbers, number)
        first = bisect_right(self.ends, self.length(number) - limit, hi=pieces)
        return "".join(self.texts[first:pieces])[-limit:]

    def path(self) -> Path:
        segments: list[Segment] = []
        entry = self
        while entry.parent is not None:
            segments.append(entry.segment)
            entry = entry.parent
        return tuple(reversed(segments[:-1]))


class Slot:
    """A place in a container: the values that stood there one after the other."""

    __slots__ = ("born", "versions")

    def __init__(self, entry: Entry) -> None:
        self.born: Final = entry.born
        self.versions: Final = [entry]

    def at(self, number: int) -> Entry:
        """Return the value that stands here at a moment, which must not be before the first."""
        if len(self.versions) == 1:
            return self.versions[0]
        return self.versions[bisect_right(self.versions, number, key=_BORN) - 1]


class History:
    """All values of a stream, with the moments in which they changed."""

    def __init__(self) -> None:
        self._top: Final = Entry("array", 0, None, 0)
        self._touched: Final[list[Entry]] = [self._top]  # by moment: where something changed last
        self._counts: Final[list[int]] = [0]  # by moment: how many values there were
        self._count = 0
        self._last: tuple[Path, Entry] = ((), self._top)  # most changes go on where the last one was

    def add(self, changes: Iterable[Change]) -> None:
        """Add the changes of the next moment."""
        number = len(self._touched)
        touched = self._touched[-1]
        for change in changes:
            if isinstance(change, SetValue):
                touched = self._set(change, number)
            elif isinstance(change, AppendText):
                touched = self._newest(change.path)
                touched.add(change.text, number)
            else:
                touched = self._finish(self._newest(change.path), change.levels, number)
        self._touched.append(touched)
        self._counts.append(self._count)

    def root(self, number: int) -> Entry | None:
        """Return the whole value, `None` before there is one."""
        return self._top.children[0].at(number) if self._top.count(number) else None

    def touched(self, number: int) -> Entry | None:
        """Return what changed last, `None` before anything did."""
        entry = self._touched[number]
        return None if entry is self._top else entry

    def value_count(self, number: int) -> int:
        """Return how many values there are."""
        return self._counts[number]

    def find(self, path: Path, number: int) -> Entry | None:
        """Return the value at a path, `None` if there is none at this moment."""
        entry = self.root(number)
        for segment in path:
            if entry is None:
                return None
            entry = _child(entry, segment, number)
        return entry

    def _newest(self, path: Path) -> Entry:
        if self._last[0] == path and self._last[1] is not self._top:
            return self._last[1]
        slot = self._top.children[0]
        for segment in path:
            entry = slot.versions[-1]
            slot = entry.children[segment] if isinstance(segment, int) else entry.members[segment]
        self._last = path, slot.versions[-1]
        return slot.versions[-1]

    def _set(self, change: SetValue, number: int) -> Entry:
        """Add a value and all that is in it; return the innermost part of it that still grows."""
        path = change.path
        parent = self._newest(path[:-1]) if path else self._top
        segment = path[-1] if path else 0
        touched = entry = self._make(change.value, segment, parent, number)
        todo: list[_Todo] = [(entry, change.value, change.open)]
        while todo:
            entry, value, inside = todo.pop()
            if inside is None:
                entry.finished = number
            else:
                touched = entry
            for key, child in _items(value):
                made = self._make(child, key, entry, number)
                todo.append((made, child, inside[1:] if inside and inside[0] == key else None))
        self._last = (), self._top  # what it remembers may have been replaced
        return touched

    def _make(self, value: JsonValue, segment: Segment, parent: Entry, number: int) -> Entry:
        entry = Entry(kind_of(value), segment, parent, number)
        if not isinstance(value, dict | list):
            entry.add(value if isinstance(value, str) else write_json(value), number)
        self._count += 1
        replaced = _put(parent, entry)
        if replaced is not None:
            self._count -= _count_all(replaced)
        return entry

    def _finish(self, entry: Entry, levels: int, number: int) -> Entry:
        inner = entry
        for _ in range(levels):
            entry.finished = number
            if entry.parent is None or entry.parent is self._top:
                break
            entry = entry.parent
        return inner


def kind_of(value: object) -> str:
    """Return what JSON calls a value."""
    if isinstance(value, str):
        return "string"
    if isinstance(value, dict | list):
        return "object" if isinstance(value, dict) else "array"
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    return "number"


def _put(parent: Entry, entry: Entry) -> Entry | None:
    """Put a value into its place; return what stood there."""
    segment = entry.segment
    if isinstance(segment, int):
        slot = parent.children[segment] if segment < len(parent.children) else None
    else:
        slot = parent.members.get(segment)
    if slot is not None:
        slot.versions.append(entry)
        return slot.versions[-2]
    slot = Slot(entry)
    parent.children.append(slot)
    if isinstance(segment, str):
        parent.members[segment] = slot
    return None


def _count_all(entry: Entry) -> int:
    """Count a value and the newest of all that is in it."""
    count, todo = 0, [entry]
    while todo:
        count += 1
        todo += [slot.versions[-1] for slot in todo.pop().children]
    return count


def _items(value: JsonValue) -> Iterable[tuple[Segment, JsonValue]]:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()


def _child(entry: Entry, segment: Segment, number: int) -> Entry | None:
    if isinstance(segment, int):
        is_there = 0 <= segment < len(entry.children) and not entry.members
        slot = entry.children[segment] if is_there else None
    else:
        slot = entry.members.get(segment)
    return slot.at(number) if slot is not None and slot.born <= number else None
