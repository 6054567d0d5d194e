"""The calls of a message, in the order in which they began, and the ways to find one.

Rule: a roster is a value, and no step looks at all calls: what a delta costs does not depend on how many there are.
The tables to find calls are shared, and true for the newest roster only; an older one that is asked makes its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from itertools import filterfalse
from operator import attrgetter
from typing import Final

from jsontide.messages._calls import PartialCall, ToolCall
from jsontide.messages._vector import Vector

_is_hidden: Final = attrgetter("_is_hidden")


class _Tables:
    """Where the newest roster finds its calls."""

    __slots__ = ("of_id", "of_index", "of_index_and_id", "open", "version")

    def __init__(self) -> None:
        self.version = 0
        """Of the roster that they are true for."""
        self.of_id: dict[str, int] = {}
        self.of_index: dict[int, int] = {}
        self.of_index_and_id: dict[tuple[int, str], int] = {}
        """The last position of each."""
        self.open: list[int] = []
        """A heap of negative positions, the last call on top; calls that were closed meanwhile may still be there."""

    def note(self, position: int, before: ToolCall | None, call: ToolCall) -> None:
        if before is None:
            self.of_index[call.index] = position
        if call.id and (before is None or not before.id):
            both = (call.index, call.id)
            self.of_id[call.id] = max(position, self.of_id.get(call.id, 0))
            self.of_index_and_id[both] = max(position, self.of_index_and_id.get(both, 0))
        if not call._document.is_complete and (before is None or before._document.is_complete):
            heappush(self.open, -position)


class Roster:
    """All calls, those included that are not shown; it never changes."""

    __slots__ = ("_calls", "_shown", "_tables", "_version", "answer")

    def __init__(self, calls: Vector[ToolCall], tables: _Tables | None = None, answer: int | None = None) -> None:
        self._calls = calls
        self._tables = tables
        self._version = 0 if tables is None else tables.version
        self._shown: tuple[ToolCall, ...] | None = None
        self.answer = answer
        """The position of the call that is the answer itself, the first of which that is known."""

    @property
    def shown(self) -> tuple[ToolCall, ...]:
        """What a message shows; made when somebody asks."""
        shown = self._shown
        if shown is None:
            shown = self._shown = tuple(filterfalse(_is_hidden, self._calls.items()))
        return shown

    @property
    def all(self) -> tuple[ToolCall, ...]:
        return self._calls.items()

    def __len__(self) -> int:
        return len(self._calls)

    def __getitem__(self, position: int) -> ToolCall:
        return self._calls[position]

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Roster) and self.shown == other.shown)

    def __hash__(self) -> int:
        return hash(self.shown)

    def __reduce__(self) -> tuple[Callable[..., Roster], tuple[object, ...]]:
        return roster_of, (self.all, self.answer)

    def put(self, position: int, before: PartialCall | None, call: PartialCall, *, is_answer: bool) -> Roster:
        """Return the roster with a call that began, or that went on from how it was before."""
        # Every message begins with the same empty roster, in whatever thread.
        tables = self._own_tables() if self._calls else _Tables()
        # First of all, so that tables which an interrupt leaves half written belong to nobody.
        tables.version += 1
        tables.note(position, before, call)
        answer = position if is_answer and self.answer is None else self.answer
        return Roster(self._calls.put(position, call), tables, answer)

    def of_index(self, index: int, call_id: str | None) -> int | None:
        """Return the position of the last call of an index, and of an id if there is one of both."""
        tables = self._own_tables()
        both = tables.of_index_and_id.get((index, call_id)) if call_id else None
        return tables.of_index.get(index) if both is None else both

    def of_id(self, call_id: str | None) -> int | None:
        return self._own_tables().of_id.get(call_id) if call_id else None

    def last_open(self) -> int | None:
        """Return the position of the last call whose arguments are not complete."""
        found = self._own_tables().open
        while found and self[-found[0]]._document.is_complete:
            heappop(found)
        return -found[0] if found else None

    def _own_tables(self) -> _Tables:
        tables = self._tables
        if tables is None or tables.version != self._version:
            tables = _Tables()
            for position, call in enumerate(self.all):
                tables.note(position, None, call)
            self._tables, self._version = tables, tables.version
        return tables


def roster_of(calls: Iterable[ToolCall], answer: int | None = None) -> Roster:
    """Return a roster of calls as they are."""
    vector: Vector[ToolCall] = Vector()
    for position, call in enumerate(calls):
        vector = vector.put(position, call)
    return Roster(vector, answer=answer)


NO_CALLS: Final = Roster(Vector())
