"""Changes of a growing value in, each with the number of its moment; the value at any moment out, and its rows.

The history is one tree that is only written at its end. Every value in it knows the moment in which it appeared, the
moments in which text was added to it, and the moment from which it did not change any more: no moment needs a copy,
and the cost of looking back follows what is shown.

Rule: later changes never alter an earlier moment.

The rows of a moment are at most some hundred. Shown are, in this order: the way to what changed last, what the reader
opened, what appeared last. A container that is not opened is one row; of one with many items a window is shown.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count as count_up
from itertools import zip_longest
from operator import attrgetter
from typing import Any, Final, TypeAlias

from jsontide._path import Path, Segment
from jsontide._values import JsonValue
from jsontide.frontends import AppendText, Change, SetValue, write_json

_BORN: Final = attrgetter("born")
_Todo: TypeAlias = tuple["HistoryEntry", JsonValue, Path | None]


@dataclass(slots=True, eq=False)
class HistoryEntry:
    """A value from the moment in which it appeared; a value that replaces it gets an entry of its own."""

    kind: str
    segment: Segment
    parent: HistoryEntry | None
    born: int
    finished: int | None = None
    """The moment from which it does not change any more."""
    texts: list[str] = field(default_factory=list)
    """Of a string the pieces as they came; of another scalar its text."""
    numbers: list[int] = field(default_factory=list)
    """The moment in which each piece came."""
    ends: list[int] = field(default_factory=list)
    """How many characters there were after each piece."""
    children: list[Slot] = field(default_factory=list)
    members: dict[str, Slot] = field(default_factory=dict)
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
        pieces = bisect_right(self.numbers, number)
        return self.ends[pieces - 1] if pieces else 0

    def fresh(self, number: int) -> int:
        """Return how many of its characters came in this moment."""
        before = bisect_left(self.numbers, number)
        return self.length(number) - (self.ends[before - 1] if before else 0)

    def head(self, number: int, limit: int) -> str:
        pieces = min(bisect_right(self.numbers, number), bisect_left(self.ends, limit) + 1)
        return "".join(self.texts[:pieces])[:limit]

    def tail(self, number: int, limit: int) -> str:
        pieces = bisect_right(self.numbers, number)
        first = bisect_right(self.ends, self.length(number) - limit, hi=pieces)
        return "".join(self.texts[first:pieces])[-limit:]

    def way(self) -> list[HistoryEntry]:
        """Return the containers around it and itself, outermost first, without the place of the root."""
        way: list[HistoryEntry] = []
        entry = self
        while entry.parent is not None:
            way.append(entry)
            entry = entry.parent
        return way[::-1]

    def path(self) -> Path:
        return tuple(entry.segment for entry in self.way()[1:])


class Slot:
    """A place in a container: the values that stood there one after the other."""

    __slots__ = ("born", "versions")

    def __init__(self, entry: HistoryEntry) -> None:
        self.born: Final = entry.born
        self.versions: Final = [entry]

    def at(self, number: int) -> HistoryEntry:
        """Return the value that stands here at a moment, which must not be before the first."""
        if len(self.versions) == 1:
            return self.versions[0]
        return self.versions[bisect_right(self.versions, number, key=_BORN) - 1]


class History:
    """All values of a stream, with the moments in which they changed."""

    def __init__(self) -> None:
        self._top: Final = HistoryEntry("array", 0, None, 0)
        self._touched: Final[list[HistoryEntry]] = [self._top]  # by moment: where something changed last
        self._counts: Final[list[int]] = [0]  # by moment: how many values there were
        self._count = 0
        self._last: tuple[Path, HistoryEntry] = ((), self._top)  # most changes go on where the last one was

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

    def root(self, number: int) -> HistoryEntry | None:
        """Return the whole value, `None` before there is one."""
        return self._top.children[0].at(number) if self._top.count(number) else None

    def touched(self, number: int) -> HistoryEntry | None:
        """Return what changed last, `None` before anything did."""
        entry = self._touched[number]
        return None if entry is self._top else entry

    def value_count(self, number: int) -> int:
        return self._counts[number]

    def find(self, path: Path, number: int) -> HistoryEntry | None:
        """Return the value at a path, `None` before it is there."""
        entry = self.root(number)
        for segment in path:
            if entry is None:
                return None
            entry = _child(entry, segment, number)
        return entry

    def _newest(self, path: Path) -> HistoryEntry:
        if self._last[0] == path and self._last[1] is not self._top:
            return self._last[1]
        slot = self._top.children[0]
        for segment in path:
            entry = slot.versions[-1]
            slot = entry.children[segment] if isinstance(segment, int) else entry.members[segment]
        self._last = path, slot.versions[-1]
        return slot.versions[-1]

    def _set(self, change: SetValue, number: int) -> HistoryEntry:
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
        self._last = (), self._top  # the entry that it remembers may have been replaced
        return touched

    def _make(self, value: JsonValue, segment: Segment, parent: HistoryEntry, number: int) -> HistoryEntry:
        entry = HistoryEntry(kind_of(value), segment, parent, number)
        if not isinstance(value, dict | list):
            entry.add(value if isinstance(value, str) else write_json(value), number)
        self._count += 1
        replaced = _put(parent, entry)
        if replaced is not None:
            self._count -= _count_all(replaced)
        return entry

    def _finish(self, entry: HistoryEntry, levels: int, number: int) -> HistoryEntry:
        inner = entry
        for _ in range(levels):
            entry.finished = number
            if entry.parent is None or entry.parent is self._top:
                break
            entry = entry.parent
        return inner


def kind_of(value: object) -> str:
    """Return the type of a value in the words of JSON."""
    if isinstance(value, str):
        return "string"
    if isinstance(value, dict | list):
        return "object" if isinstance(value, dict) else "array"
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    return "number"


def _put(parent: HistoryEntry, entry: HistoryEntry) -> HistoryEntry | None:
    """Put a value into its place; return the value that it replaces."""
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


def _count_all(entry: HistoryEntry) -> int:
    """Count a value and all values inside it, of each place the newest."""
    count, todo = 0, [entry]
    while todo:
        count += 1
        todo += [slot.versions[-1] for slot in todo.pop().children]
    return count


def _items(value: JsonValue) -> Iterable[tuple[Segment, JsonValue]]:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()


def _child(entry: HistoryEntry, segment: Segment, number: int) -> HistoryEntry | None:
    if isinstance(segment, int):
        is_there = 0 <= segment < len(entry.children) and not entry.members
        slot = entry.children[segment] if is_there else None
    else:
        slot = entry.members.get(segment)
    return slot.at(number) if slot is not None and slot.born <= number else None


MAX_ROWS: Final = 160
WINDOW: Final = 40
"""How many items of one container are shown at once."""
_MAX_DEPTH: Final = 40
"""How many levels around what changed last are shown."""
_LONGEST_STRING: Final = 240
"""How many characters of a string are shown."""

Row: TypeAlias = dict[str, Any]
Unfolded: TypeAlias = Mapping[Path, int | None]
"""Paths that the reader opened, with the first item to show, or closed (`None`)."""


class Rows:
    """The rows of one moment; `base` is the path of the first one."""

    def __init__(self, history: History, number: int, unfolded: Unfolded) -> None:
        self._number: Final = number
        self._unfolded: Final = unfolded
        self._windows: Final[dict[int, tuple[int, int]]] = {}
        self.rows: Final[list[Row]] = []
        self.entries: Final[list[HistoryEntry | None]] = []
        """The value of each row; a row that stands for values that are not shown has none."""
        touched = history.touched(number)
        focus = [] if touched is None else touched.way()
        self._focus: Final = {id(entry): inner for entry, inner in zip_longest(focus, focus[1:])}
        root = focus[-_MAX_DEPTH] if len(focus) > _MAX_DEPTH else history.root(number)
        self.base: Final[Path] = root.path() if root is not None else ()
        if root is not None:
            self._choose(root)
            self._write(root)

    def _choose(self, root: HistoryEntry) -> None:
        """Choose which containers are opened, the most wanted ones first, as long as there is room."""
        room = MAX_ROWS
        ties = count_up()
        queue: list[tuple[int, int, int, HistoryEntry]] = [(0, 0, next(ties), root)]
        while queue:
            *_, entry = heappop(queue)
            window = self._window(entry)
            if window is None or window[1] - window[0] > room:
                continue
            room -= window[1] - window[0]
            self._windows[id(entry)] = window
            for place in range(window[1] - 1, window[0] - 1, -1):
                child = entry.children[place].at(self._number)
                if child.kind in {"object", "array"} and child.children:
                    heappush(queue, (self._rank(child), -child.born, next(ties), child))

    def _rank(self, entry: HistoryEntry) -> int:
        if id(entry) in self._focus:
            return 0
        return 1 if self._unfolded and entry.path() in self._unfolded else 2

    def _window(self, entry: HistoryEntry) -> tuple[int, int] | None:
        """Return the range of items to show: where the reader asked for them, or around the last change."""
        count = entry.count(self._number)
        first: int | None = None
        if self._unfolded:
            path = entry.path()
            first = self._unfolded.get(path, -1)
            if first is None:
                return None
        if first is None or first < 0:
            first = self._last_shown(entry, count) + 1 - WINDOW
        first = max(0, min(first, count - 1))
        return first, min(first + WINDOW, count)

    def _last_shown(self, entry: HistoryEntry, count: int) -> int:
        """Return the last item to show: a little after the one in which something changed."""
        inner = self._focus.get(id(entry))
        if inner is None:
            return min(count, WINDOW) - 1
        place = inner.segment
        if isinstance(place, str):
            place = entry.children.index(entry.members[place])
        return min(count - 1, max(place + WINDOW // 6, WINDOW - 1))

    def _write(self, root: HistoryEntry) -> None:
        """Write the rows in the order of the document, without recursion: it may be deep."""
        todo: list[tuple[HistoryEntry, int]] = [(root, 0)]
        while todo:
            entry, depth = todo.pop()
            if depth < 0:
                self._add_more(entry, -depth)
                continue
            window = self._windows.get(id(entry))
            self._add(entry, depth, window)
            if window is None:
                continue
            first, end = window
            if end < entry.count(self._number):
                todo.append((entry, -depth - 1))
            todo += [(entry.children[place].at(self._number), depth + 1) for place in range(end - 1, first - 1, -1)]

    def _add(self, entry: HistoryEntry, depth: int, window: tuple[int, int] | None) -> None:
        number = self._number
        row: Row = {"depth": depth, "key": entry.segment, "kind": entry.kind, "open": entry.is_open(number)}
        if entry.kind in {"object", "array"}:
            row |= {"count": entry.count(number), "shown": window is not None}
            if window and window[0]:
                row["before"] = window[0]
        else:
            row |= describe_text(entry, number)
        row["fresh"] = entry.fresh(number) if entry.texts else int(entry.born == number)
        row["done"] = entry.finished == number
        self.rows.append(row)
        self.entries.append(entry)

    def _add_more(self, entry: HistoryEntry, depth: int) -> None:
        end = self._windows[id(entry)][1]
        self.rows.append({"depth": depth, "kind": "more", "from": end, "count": entry.count(self._number) - end})
        self.entries.append(None)


def describe_text(entry: HistoryEntry, number: int, limit: int = _LONGEST_STRING) -> Row:
    """Return the text of a scalar: the end of a string that grows, the beginning of one that is finished."""
    length = entry.length(number)
    is_open = entry.is_open(number)
    text = entry.tail(number, limit) if is_open else entry.head(number, limit)
    row: Row = {"text": text}
    if length > limit:
        row |= {"length": length, "cut": "start" if is_open else "end"}
    return row
