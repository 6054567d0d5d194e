"""The calls of a message, in the order in which they began, and the ways to find one.

Rule: a roster is a value, and no step looks at all calls: what a delta costs does not depend on how many there are.
The tables to find calls are shared, and true for the newest roster only; an older one that is asked makes its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import filterfalse
from operator import attrgetter
from typing import Final

from jsontide.messages._calls import PartialCall, ToolCall
from jsontide.messages._chunks import ToolCallDelta
from jsontide.messages._open_calls import Candidates, OpenCalls
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
        self.open = OpenCalls()

    def note(self, position: int, before: ToolCall | None, call: ToolCall) -> None:
        has_new_index = call._has_index and (before is None or not before._has_index)
        has_new_id = call.id and (before is None or not before.id)
        if has_new_index:
            self.of_index[call.index] = max(position, self.of_index.get(call.index, 0))
        if call.id and has_new_id:
            self.of_id[call.id] = max(position, self.of_id.get(call.id, 0))
        if call.id and call._has_index and (has_new_id or has_new_index):
            both = (call.index, call.id)
            self.of_index_and_id[both] = max(position, self.of_index_and_id.get(both, 0))
        self.open.note(position, call)


class Roster:
    """All calls, those included that are not shown; it never changes."""

    __slots__ = ("_shown", "_tables", "_version", "answer", "calls", "shown_count")

    def __init__(
        self, calls: Vector[ToolCall], shown_count: int, tables: _Tables | None = None, answer: int | None = None
    ) -> None:
        self.calls = calls
        self.shown_count = shown_count
        """How many of them a message shows."""
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
            shown = self._shown = tuple(filterfalse(_is_hidden, self.calls.items()))
        return shown

    @property
    def all(self) -> tuple[ToolCall, ...]:
        return self.calls.items()

    def __len__(self) -> int:
        return len(self.calls)

    def __getitem__(self, position: int) -> ToolCall:
        return self.calls[position]

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Roster) and self.shown == other.shown)

    def __hash__(self) -> int:
        return hash(self.shown)

    def __reduce__(self) -> tuple[Callable[..., Roster], tuple[object, ...]]:
        return roster_of, (self.all, self.answer)

    def put(self, position: int, before: PartialCall | None, call: PartialCall, *, is_answer: bool) -> Roster:
        """Return the roster with a call that began, or that went on from how it was before."""
        # Every message begins with the same empty roster, in whatever thread.
        tables = self._own_tables() if self.calls else _Tables()
        # First of all, so that tables which an interrupt leaves half written belong to nobody.
        tables.version += 1
        tables.note(position, before, call)
        answer = position if is_answer and self.answer is None else self.answer
        was_shown = before is not None and not before._is_hidden
        shown_count = self.shown_count - was_shown + (not call._is_hidden)
        return Roster(self.calls.put(position, call), shown_count, tables, answer)

    def of_index(self, index: int, call_id: str | None) -> int | None:
        """Return the position of the last call of an index, and of an id if there is one of both."""
        tables = self._own_tables()
        both = tables.of_index_and_id.get((index, call_id)) if call_id else None
        return tables.of_index.get(index) if both is None else both

    def of_id(self, call_id: str | None) -> int | None:
        return self._own_tables().of_id.get(call_id) if call_id else None

    def open_for(self, entry: ToolCallDelta) -> Candidates:
        """Return the open calls that an entry may go on with, if its index and id, where it has them, are new."""
        is_whole = isinstance(entry.arguments, Mapping) and entry.spelling == "delta"
        return self._own_tables().open.fitting(
            entry.name, has_index=entry.index is not None, has_id=bool(entry.id), is_whole=is_whole
        )

    def blank_for(self, entry: ToolCallDelta, names: Iterable[str]) -> list[int]:
        """Return those without arguments that are of some names, or of no tool, whatever the name of the entry is."""
        return self._own_tables().open.blank(names, has_index=entry.index is not None, has_id=bool(entry.id))

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
    shown = 0
    for position, call in enumerate(calls):
        vector = vector.put(position, call)
        shown += not call._is_hidden
    return Roster(vector, shown, answer=answer)


NO_CALLS: Final = Roster(Vector(), 0)
