"""Changes in, the shortest form of them for a wire out, and back.

A stream of events, each a JSON value. One of these:

    {"version": 3, "value": ..., "at": [...], "then": [operation, ...]}
                           the whole value, the path of what grows in it, absent if nothing does,
                           and operations that belong to it, absent if there are none
    "more"                 the text at the cursor grows
    [operation, ...]       several operations, in order
    {"end": "complete"}    nothing follows; anything else than "complete" is a failure

An operation is one of these; the cursor is the innermost value that grows, and moves along:

    "more"                     append to the string at the cursor
    2                          the value at the cursor is finished, and so is the container around it
    ["key", value, ...path]    set a member or an item of the container at the cursor, and go on in it along `path`;
                               a number, boolean or null is finished, and the cursor stays
    {"at": [...]}              move the cursor

The first event is always a whole value, and so is the first of a reader that joins later: after this one event it has
all that the others have.
Rule: reading the events gives the values that were written; a value that did not change stays the same object.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

from jsontide._path import Path, Segment
from jsontide._values import MISSING, JsonValue, Missing, find_value
from jsontide.frontends.changes import AppendText, Change, SetValue, ValueEdit, refuse


class CompactWriter:
    """Where the cursor of a stream stands; a value, `write` returns the next one."""

    __slots__ = ("cursor", "version")

    def __init__(self, version: int = 0, cursor: Path = ()) -> None:
        self.version: Final = version
        """How many events were written."""
        self.cursor: Final = cursor

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return CompactWriter, (self.version, self.cursor)

    def write(self, changes: Sequence[Change]) -> tuple[CompactWriter, list[object]]:
        """Return the writer after these changes, and their events: none, one, or two for a new root.

        >>> from jsontide.frontends import AppendText, Finish, SetValue
        >>> writer, events = CompactWriter().write([SetValue((), {"city": "Kyo"}, open=("city",))])
        >>> events
        [{'version': 0, 'value': {'city': 'Kyo'}, 'at': ['city']}]
        >>> writer, events = writer.write([AppendText(("city",), "to"), Finish(("city",)), SetValue(("stops",), 3)])
        >>> events
        [['to', 1, ['stops', 3]]]
        """
        events: list[object] = []
        operations: list[object] = []
        cursor = self.cursor
        for change in changes:
            if isinstance(change, SetValue) and not change.path:
                _add_event(events, operations)
                operations = []
                root: dict[str, object] = {"version": self.version + len(events), "value": change.value}
                if change.open is not None:
                    root["at"] = list(change.open)
                events.append(root)
                cursor = change.open or ()
            else:
                cursor = _write_change(change, cursor, operations)
        _add_event(events, operations)
        return CompactWriter(self.version + len(events), cursor), events


def _add_event(events: list[object], operations: list[object]) -> None:
    """Add operations as an event, or to the whole value that they follow."""
    root = events[-1] if events else None
    if operations and isinstance(root, dict):
        root["then"] = operations
    elif len(operations) == 1 and isinstance(operations[0], str):
        events.append(operations[0])
    elif operations:
        events.append(operations)


def _write_change(change: Change, cursor: Path, operations: list[object]) -> Path:
    """Add the operations for a change; return where the cursor is then."""
    path = change.path
    if isinstance(change, SetValue):
        _move(cursor, path[:-1], operations)
        operations.append([path[-1], change.value, *(change.open or ())])
        if change.open is not None:
            return (*path, *change.open)
        if _is_growing(change.value):
            operations.append(1)
        return path[:-1]
    _move(cursor, path, operations)
    if isinstance(change, AppendText):
        operations.append(change.text)
        return path
    _finish(change.levels, operations)
    return path[: len(path) - change.levels] if change.levels <= len(path) else ()


def _move(cursor: Path, to: Path, operations: list[object]) -> None:
    if cursor != to:
        operations.append({"at": list(to)})


def _finish(levels: int, operations: list[object]) -> None:
    last = operations[-1] if operations else None
    if isinstance(last, int):
        operations[-1] = last + levels
    else:
        operations.append(levels)


def _is_growing(value: object) -> bool:
    """Return whether values of this type need an operation that finishes them; others are finished from the start."""
    return isinstance(value, (str, list, dict))


class CompactValue:
    """The value that a stream of events makes; it never changes, `read` returns the next one.

    >>> value = CompactValue().read({"version": 0, "value": {"city": "Kyo"}, "at": ["city"]})
    >>> value = value.read(["to", 1, ["stops", 3]])
    >>> value.value, value.is_finished(("city",)), value.is_finished(())
    ({'city': 'Kyoto', 'stops': 3}, True, False)
    """

    __slots__ = ("cursor", "end", "growing", "value", "version")

    def __init__(
        self,
        value: JsonValue | Missing = MISSING,
        cursor: Path = (),
        growing: frozenset[Path] = frozenset(),
        version: int = -1,
        end: dict[str, JsonValue] | None = None,
    ) -> None:
        self.value: Final = value
        """The value so far, `MISSING` before there is one."""
        self.cursor: Final = cursor
        self.growing: Final = growing
        """The paths of all values that are not finished."""
        self.version: Final = version
        """The number of the last event, from 0; -1 before the first."""
        self.end: Final = end
        """The event that ended the stream: `{"end": "complete"}`, or another word and the reason."""

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return CompactValue, (self.value, self.cursor, self.growing, self.version, self.end)

    def is_finished(self, path: Path) -> bool:
        """Return whether there is a value at a path that will not change any more."""
        return path not in self.growing and find_value(self.value, path) is not MISSING

    def read(self, event: object) -> CompactValue:
        """Return the value after one more event; raise `ValueError` for one that does not fit."""
        if self.end is not None:
            refuse("an event follows the end", event)
        if isinstance(event, dict):
            return self._read_object(event)
        if self.version < 0:
            refuse("the first event must be a whole value", event)
        return self._read_operations(event if isinstance(event, list) else [event], self.version + 1)

    def _read_operations(self, operations: Sequence[object], version: int) -> CompactValue:
        read = _Operations(self)
        for operation in operations:
            read.apply(operation)
        return CompactValue(read.edit.value, read.cursor, frozenset(read.growing), version)

    def _read_object(self, event: dict[str, JsonValue]) -> CompactValue:
        if "end" in event:
            return CompactValue(self.value, self.cursor, self.growing, self.version + 1, event)
        version = event.get("version")
        if not isinstance(version, int):
            refuse("an object must have a version or an end", event)
        if "value" not in event:
            return CompactValue(version=version)
        whole = CompactValue(event["value"], *_growing_along(event.get("at")), version)
        return whole._read_operations(cast("list[object]", event.get("then", [])), version)


def _growing_along(at: JsonValue) -> tuple[Path, frozenset[Path]]:
    """Return the cursor, and the paths that grow, from the path of a whole value."""
    if at is None:
        return (), frozenset()
    path = tuple(cast("list[Segment]", at))
    return path, frozenset([path[:length] for length in range(len(path) + 1)])


class _Operations:
    """The operations of one event, applied to copies of the values that they touch."""

    __slots__ = ("cursor", "edit", "growing")

    def __init__(self, before: CompactValue) -> None:
        self.edit: Final = ValueEdit(before.value)
        self.cursor = before.cursor
        self.growing = set(before.growing)

    def apply(self, operation: object) -> None:
        if isinstance(operation, str):
            self.edit.append(self.cursor, operation)
        elif isinstance(operation, int) and not isinstance(operation, bool) and operation > 0:
            self._finish(operation)
        elif isinstance(operation, list) and len(operation) > 1:
            self._set(operation[0], operation[1], tuple(operation[2:]))
        elif isinstance(operation, dict) and isinstance(operation.get("at"), list):
            self.cursor = tuple(operation["at"])
        else:
            refuse("not an operation", operation)

    def _finish(self, levels: int) -> None:
        for _ in range(levels):
            if self.cursor not in self.growing:
                refuse(f"the value at {self.cursor!r} is finished already", levels)
            self.growing.remove(self.cursor)
            self.cursor = self.cursor[:-1]

    def _set(self, segment: Any, value: Any, inside: tuple[Any, ...]) -> None:  # noqa: ANN401 - `put` refuses it
        path = (*self.cursor, segment)
        self.edit.put(path, value)
        self.growing = {each for each in self.growing if each[: len(path)] != path}  # of the value before
        if _is_growing(value):
            self.cursor = (*path, *inside)
            self.growing.update([self.cursor[:length] for length in range(len(path), len(self.cursor) + 1)])
