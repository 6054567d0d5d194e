"""Two states of a growing value in, its changes out: the new values and texts, with their paths.

Rule: applied in order to the value before, changes give the value after, and say which values will not change any more.

Two states of a parser are not compared: their changes are read from the log of the parse. The log of the later state
has every value that opened since, in order, with the container that it stands in. Those in a container that was open
before are changes; those in a new container are part of its value. A container or string has closed when the log goes
on outside of it. The cost follows the text between the two states, and the depth of the document, never its length.

Values that went through a schema are compared: values grow and what did not change is the same object (laws 2 and 3),
so only other objects are looked into: in an array the last item and those after it, in an object its members, in a
string the characters after the old ones. Only a repeated key takes something back: the new value is set, whole. The
parse knows when a value closes, a value does not: it is finished when another one begins after it, or at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias, cast

from jsontide._path import Path, Segment
from jsontide._values import MISSING, JsonValue, Missing, find_value
from jsontide.messages.record import Value
from jsontide.tree.log import Log, OpenEnd, continues, is_closed, resolve_past
from jsontide.tree.tape import Container, ObjectContainer

if TYPE_CHECKING:
    from jsontide.tree import ParserState

_AnyPath: TypeAlias = tuple[Any, ...]
"""A path that was received, and may not be one."""


class SetValue:
    """A value is new at a path; a repeated key replaces the one before."""

    __slots__ = ("is_new", "open", "path", "value")

    def __init__(self, path: Path, value: JsonValue, open: Path | None = None, *, is_new: bool = True) -> None:  # noqa: A002
        self.path: Final = path
        self.value: Final = value
        self.open: Final = open
        """The path inside the value to the innermost value that still grows, `None` if all of it is finished."""
        self.is_new: Final = is_new
        """Whether there may be nothing at the path before; an item that is replaced must not become one more."""

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, SetValue)
            and (self.path, self.open) == (other.path, other.open)
            and self.value == other.value
        )

    def __hash__(self) -> int:
        return hash(self.path)

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return partial(SetValue, is_new=self.is_new), (self.path, self.value, self.open)

    def __repr__(self) -> str:
        still = "" if self.open is None else f", open={self.open!r}"
        return f"SetValue({self.path!r}, {self.value!r}{still})"


class AppendText(Value):
    """The string at a path grows."""

    __slots__ = ("path", "text")

    def __init__(self, path: Path, text: str) -> None:
        self.path: Final = path
        self.text: Final = text

    def _fields(self) -> tuple[object, ...]:
        return self.path, self.text


class Finish(Value):
    """The value at a path will not change any more, nor will some of the containers around it."""

    __slots__ = ("levels", "path")

    def __init__(self, path: Path, levels: int = 1) -> None:
        self.path: Final = path
        self.levels: Final = levels
        """How many values are finished: this one, and `levels - 1` containers around it."""

    def _fields(self) -> tuple[object, ...]:
        return self.path, self.levels


Change: TypeAlias = SetValue | AppendText | Finish
"""One change of a growing value."""


def move_changes(changes: Sequence[Change], root: Path) -> list[Change]:
    """Return the changes of a value that stands at the path `root` of another one."""
    moved: list[Change] = []
    for change in changes:
        path = (*root, *change.path)
        if isinstance(change, SetValue):
            moved.append(SetValue(path, change.value, change.open, is_new=change.is_new))
        else:
            moved.append(
                AppendText(path, change.text) if isinstance(change, AppendText) else Finish(path, change.levels)
            )
    return moved


def apply_changes(value: JsonValue | Missing, changes: Sequence[Change]) -> JsonValue | Missing:
    """Return a value after changes; what they do not touch is the same object as before.

    >>> apply_changes({"city": "Kyo"}, [AppendText(("city",), "to"), SetValue(("stops",), [3])])
    {'city': 'Kyoto', 'stops': [3]}
    """
    edit = ValueEdit(value)
    for change in changes:
        if isinstance(change, SetValue):
            edit.put(change.path, change.value)
        elif isinstance(change, AppendText):
            edit.append(change.path, change.text)
    return edit.value


class ValueEdit:
    """Changes a value in copies of the containers that it touches; a change that does not fit raises `ValueError`."""

    __slots__ = ("_copies", "value")

    def __init__(self, value: JsonValue | Missing) -> None:
        self.value: JsonValue | Missing = value
        self._copies: set[int] = set()  # ids of containers that were made here

    def append(self, path: _AnyPath, text: str) -> None:
        """Append to the string at a path."""
        old = find_value(self.value, path)
        if not isinstance(old, str):
            refuse(f"there is no text at {path!r} to append to", text)
        self.put(path, old + text)

    def put(self, path: _AnyPath, value: Any) -> None:  # noqa: ANN401 - whatever was received
        """Put a value in its place, in copies of the containers around it."""
        if not path:
            self.value = value
            return
        root = self.value = self._copy(self.value, path)
        container: object = root
        for segment in path[:-1]:
            inner = self._copy(find_value(container, (segment,)), path)
            _assign(container, segment, inner)
            container = inner
        _assign(container, path[-1], value)

    def _copy(self, container: object, path: _AnyPath) -> JsonValue:
        if id(container) in self._copies:
            return cast("JsonValue", container)
        if not isinstance(container, (list, dict)):
            refuse(f"there is no container around {path!r}", container)
        copy: JsonValue = container.copy()
        self._copies.add(id(copy))
        return copy


def _assign(container: object, segment: Any, value: object) -> None:  # noqa: ANN401 - whatever was sent
    if isinstance(container, list) and segment == len(container):
        container.append(value)
    elif find_value(container, (segment,)) is not MISSING or (isinstance(container, dict) and isinstance(segment, str)):
        cast("Any", container)[segment] = value
    else:
        refuse(f"there is no place {segment!r} in a {type(container).__name__}", value)


def walk(value: object, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the value at a path and all values inside it, each with its path, outermost first, without recursion."""
    waiting: list[tuple[Path, object]] = [(path, value)]
    while waiting:
        where, found = waiting.pop()
        yield where, found
        if isinstance(found, dict):
            waiting += [((*where, key), inner) for key, inner in reversed(found.items())]
        elif isinstance(found, list):
            waiting += [((*where, at), found[at]) for at in range(len(found) - 1, -1, -1)]


def refuse(why: str, what: object) -> NoReturn:
    """Raise `ValueError` for something that was received."""
    message = f"{why}: {what!r:.100}"
    raise ValueError(message)


def read_changes(before: ParserState | None, after: ParserState) -> list[Change]:
    """Return what changed from one state of a stream to a later one, also if there were others in between.

    Without a state before, or if the later one does not continue it, the whole value is set.

    >>> from jsontide import create_parser_state, parse_chunk
    >>> first = parse_chunk(create_parser_state(), '{"city": "Kyo')
    >>> read_changes(None, first)
    [SetValue((), {'city': 'Kyo'}, open=('city',))]
    >>> read_changes(first, parse_chunk(first, 'to", "stops": [3'))
    [AppendText(('city',), 'to'), Finish(('city',), 1), SetValue(('stops',), [], open=())]
    """
    if before is None or OpenEnd(before).shows_nothing or not continues(after, before):
        value = after.value
        return [] if value is MISSING else [SetValue((), value, open_path(after))]
    return _Difference(before, after).read()


def open_path(state: ParserState) -> Path | None:
    """Return the path to the innermost value that still grows, `None` if none does."""
    place = OpenEnd(state)
    if place.string is not None:
        return place.container.child_path(place.key, place.count)
    return None if place.container.parent is None else place.container.path()


class _Difference:
    """Collects the changes, with the container of the earlier state in which the log stands."""

    __slots__ = ("after", "at", "changes", "container", "inner", "levels", "log", "place", "start")

    def __init__(self, before: ParserState, after: ParserState) -> None:
        self.after = after
        self.log: Log = Log(after)
        self.place = OpenEnd(before)
        self.start: int = Log(before).length
        self.container: Container = self.place.container
        self.at: int = self.place.count  # values in the container so far
        self.inner: Path = ()  # the innermost value that has closed, while more may have
        self.levels: int = 0  # how many have
        self.changes: list[Change] = []

    def read(self) -> list[Change]:
        if self.place.string is not None and not self._read_string():
            return self.changes
        log = self.log
        for at in range(self.start, log.length):
            owner = log.owners[at]
            if owner.node_id <= self.container.node_id:
                while self.container.node_id != owner.node_id:
                    self._leave()
                self._set(log.keys[at], log.entries[at])
        while self._has_closed():
            self._leave()
        self._add_finished()
        self._set_open_string()
        return self.changes

    def _read_string(self) -> bool:
        """Read more of the string that was open; return whether it has closed."""
        place, string = self.place, OpenEnd(self.after).string
        assert place.string is not None  # the caller has seen it
        path = place.container.child_path(place.key, place.count)
        is_closed_now = self.log.length > self.start
        if is_closed_now:
            text = cast("str", self.log.entries[self.start])[place.string.length() :]
        else:
            text = "" if string is None else string.since(place.string)
        if text:
            self.changes.append(AppendText(path, text))
        if is_closed_now:
            self.start += 1
            self.at += 1
            self.inner, self.levels = path, 1
        return is_closed_now

    def _set(self, key: str | None, entry: object) -> None:
        """Set a value that opened in the container."""
        container = self.container
        if key is not None and self.log.keeps_first and self._is_hidden(key, entry):
            return
        self._add_finished()
        path = container.child_path(key, self.at)
        self.at += 1
        if not isinstance(entry, Container):
            self.changes.append(SetValue(path, cast("JsonValue", entry)))
        elif is_closed(self.after, entry):
            self.changes.append(SetValue(path, cast("JsonValue", entry.value())))
        else:
            inside = open_path(self.after)
            assert inside is not None  # the entry at least is open
            self.changes.append(SetValue(path, cast("JsonValue", resolve_past(self.after, entry)), inside[len(path) :]))

    def _is_hidden(self, key: str, entry: object) -> bool:
        """Return whether an earlier member of the same key is shown."""
        if isinstance(entry, Container):
            return entry.is_duplicate
        owner = self.container if self.container.node_id < 0 else self.log.entries[self.container.node_id]
        assert isinstance(owner, ObjectContainer)  # it has keys
        return owner.members[key] is not entry

    def _set_open_string(self) -> None:
        """Set the string that is open now, if it is new and not part of a value that was set."""
        place = OpenEnd(self.after)
        if place.string is not None and place.container.node_id == self.container.node_id:
            self._add_finished()
            self.changes.append(SetValue(self.container.child_path(place.key, self.at), place.string.text(), ()))

    def _leave(self) -> None:
        """Go out of the container, which has closed."""
        container = self.container
        parent = container.parent
        assert parent is not None  # the document does not close
        if not self.levels:
            self.inner = container.path()
        self.levels += 1
        self.at = container.place + 1
        self.container = parent

    def _has_closed(self) -> bool:
        node_id = self.container.node_id
        if node_id < 0:
            return False
        entry = self.log.entries[node_id]
        return isinstance(entry, Container) and is_closed(self.after, entry)

    def _add_finished(self) -> None:
        if self.levels:
            self.changes.append(Finish(self.inner, self.levels))
            self.levels = 0


def compare_values(before: JsonValue | Missing, after: JsonValue | Missing, *, is_complete: bool) -> list[Change]:
    """Return what changed from one value of a stream to a later one; `is_complete` says that it will not change.

    >>> compare_values({"city": "Kyo"}, {"city": "Kyoto", "stops": [3]}, is_complete=False)
    [AppendText(('city',), 'to'), Finish(('city',), 1), SetValue(('stops',), [3], open=())]
    """
    if after is MISSING:
        return []
    if before is MISSING:
        return [SetValue((), after, None if is_complete else _open_in(after))]
    changes: list[Change] = []
    _compare(before, after, changes)
    if is_complete:
        _finish((), after, changes)
    return changes


def _compare(before: object, after: object, changes: list[Change]) -> None:
    """Go down along the last values as long as they changed, then add the new values, the innermost first."""
    path: Path = ()
    around: list[tuple[Path, object, Segment | None, list[Segment]]] = []
    while before is not after:
        found = _new_in(before, after)
        if found is None:
            _replace(path, before, after, changes)
            break
        last, new = found
        replaced = _replaced_in(before, after, last)
        changes += [SetValue((*path, key), cast("JsonValue", _at(after, key))) for key in replaced]
        if new:
            around.append((path, after, last, new))
        if last is None:
            break
        path = (*path, last)
        before, after = _at(before, last), _at(after, last)
    while around:
        _add_new(*around.pop(), changes)


def _new_in(before: object, after: object) -> tuple[Segment | None, list[Segment]] | None:
    """Return the last key of the container before, and the new keys; `None` unless the container only grew."""
    if isinstance(before, list) and isinstance(after, list) and _continues(before, after):
        return (len(before) - 1 if before else None), list(range(len(before), len(after)))
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() <= after.keys():
        return (next(reversed(before)) if before else None), [key for key in after if key not in before]
    return None


def _continues(before: list[object], after: list[object]) -> bool:
    """Return whether an array continues another one, and does not belong to another member of the same key."""
    return len(after) >= len(before) and before[:-1] == after[: len(before) - 1 if before else 0]


def _replaced_in(before: object, after: object, last: Segment | None) -> list[Segment]:
    """Return the keys of members, except the last one, that a member of the same key has replaced."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return []
    return [key for key, old in before.items() if key != last and old is not after.get(key) and old != after.get(key)]


def _replace(path: Path, before: object, after: object, changes: list[Change]) -> None:
    if isinstance(before, str) and isinstance(after, str) and after.startswith(before):
        if len(after) > len(before):
            changes.append(AppendText(path, after[len(before) :]))
    else:
        changes.append(SetValue(path, cast("JsonValue", after), _open_in(after), is_new=False))


def _add_new(path: Path, after: object, last: Segment | None, new: list[Segment], changes: list[Change]) -> None:
    """Add the new values of a container: the last one before them is finished."""
    if last is not None:
        _finish((*path, last), _at(after, last), changes)
    values = [(segment, cast("JsonValue", _at(after, segment))) for segment in new]
    changes += [SetValue((*path, segment), value) for segment, value in values[:-1]]
    segment, value = values[-1]
    changes.append(SetValue((*path, segment), value, _open_in(value)))


def _finish(path: Path, value: object, changes: list[Change]) -> None:
    """Finish a value, from the innermost one that may be open outwards."""
    inside = _open_in(value)
    if inside is not None:
        changes.append(Finish((*path, *inside), len(inside) + 1))


def _open_in(value: object) -> Path | None:
    """Return the path to the innermost value that may still grow: the last one of the last one, and so on."""
    path: list[Segment] = []
    is_open = isinstance(value, (str, list, dict))
    while isinstance(value, (list, dict)) and value:
        segment: Segment = len(value) - 1 if isinstance(value, list) else next(reversed(value))
        value = _at(value, segment)
        if not isinstance(value, (str, list, dict)):
            break
        path.append(segment)
    return tuple(path) if is_open else None


def _at(container: object, segment: Segment) -> object:
    return cast("Any", container)[segment]
