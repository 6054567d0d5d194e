"""A moment of a history in, the rows of its tree out: at most some hundred, around the place that changed last.

What is shown of a large value is chosen in this order: the way to what changed last, what the reader opened, then what
appeared last. A container that is not opened is one row; of one with many items a window is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heappop, heappush
from itertools import count as count_up
from itertools import zip_longest
from typing import Any, Final, TypeAlias

from jsontide._path import Path
from jsontide.studio._history import Entry, History

MAX_ROWS: Final = 160
WINDOW: Final = 40
"""How many items of one container are shown at once."""
_MAX_DEPTH: Final = 40
"""How many levels around what changed last are shown."""
_LONG: Final = 240
"""How many characters of a string are shown."""

Row: TypeAlias = dict[str, Any]
Unfolded: TypeAlias = Mapping[Path, int | None]
"""What the reader opened, with the first item to show, or closed (`None`)."""


class Rows:
    """The rows of one moment; `base` is the path of the first one."""

    def __init__(self, history: History, number: int, unfolded: Unfolded) -> None:
        self._number: Final = number
        self._unfolded: Final = unfolded
        self._windows: Final[dict[int, tuple[int, int]]] = {}
        self.rows: Final[list[Row]] = []
        self.entries: Final[list[Entry | None]] = []
        """The value of each row; a row that stands for values that are not shown has none."""
        focus = _way_to(history.touched(number))
        self._focus: Final = {id(entry): inner for entry, inner in zip_longest(focus, focus[1:])}
        root = focus[-_MAX_DEPTH] if len(focus) > _MAX_DEPTH else history.root(number)
        self.base: Final[Path] = root.path() if root is not None else ()
        if root is not None:
            self._choose(root)
            self._write(root)

    def _choose(self, root: Entry) -> None:
        """Choose which containers are opened, the most wanted ones first, as long as there is room."""
        room = MAX_ROWS
        ties = count_up()
        queue: list[tuple[int, int, int, Entry]] = [(0, 0, next(ties), root)]
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

    def _rank(self, entry: Entry) -> int:
        if id(entry) in self._focus:
            return 0
        return 1 if self._unfolded and entry.path() in self._unfolded else 2

    def _window(self, entry: Entry) -> tuple[int, int] | None:
        """Return which items of a container to show: those the reader asked for, or those around the last change."""
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

    def _last_shown(self, entry: Entry, count: int) -> int:
        """Return the last item to show: a little after the one in which something changed."""
        inner = self._focus.get(id(entry))
        if inner is None:
            return min(count, WINDOW) - 1
        place = inner.segment
        if isinstance(place, str):
            place = entry.children.index(entry.members[place])
        return min(count - 1, max(place + WINDOW // 6, WINDOW - 1))

    def _write(self, root: Entry) -> None:
        """Write the rows in the order of the document, without recursion: it may be deep."""
        todo: list[tuple[Entry, int]] = [(root, 0)]
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

    def _add(self, entry: Entry, depth: int, window: tuple[int, int] | None) -> None:
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

    def _add_more(self, entry: Entry, depth: int) -> None:
        end = self._windows[id(entry)][1]
        self.rows.append({"depth": depth, "kind": "more", "from": end, "count": entry.count(self._number) - end})
        self.entries.append(None)


def describe_text(entry: Entry, number: int, limit: int = _LONG) -> Row:
    """Return the text of a scalar: the end of a string that grows, the beginning of one that is finished."""
    length = entry.length(number)
    is_open = entry.is_open(number)
    text = entry.tail(number, limit) if is_open else entry.head(number, limit)
    row: Row = {"text": text}
    if length > limit:
        row |= {"length": length, "cut": "start" if is_open else "end"}
    return row


def _way_to(entry: Entry | None) -> list[Entry]:
    """Return the containers around a value and the value, the outermost first, without the place of the root."""
    way: list[Entry] = []
    while entry is not None and entry.parent is not None:
        way.append(entry)
        entry = entry.parent
    way.reverse()
    return way
