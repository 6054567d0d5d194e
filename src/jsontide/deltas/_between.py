"""Two states of a parser in, what changed between them out: read from the log of the parse, nothing is compared.

The log of the later state has every value that opened since, in order, with the container that it stands in.
Those that stand in a container that was open before are changes; those in a new container are part of its value.
A container or string has closed when the log goes on outside of it.

Rule: the cost follows what came between the two states, and the depth of the document, never its length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from jsontide._values import MISSING
from jsontide.deltas.changes import AppendText, Change, Finish, SetValue
from jsontide.tree.containers import Container, ObjectContainer
from jsontide.tree.log import Place, continues, get_log, is_closed, keeps_first, show_open

if TYPE_CHECKING:
    from jsontide._path import Path, Segment
    from jsontide._values import JsonValue
    from jsontide.tree import ParserState
    from jsontide.tree.log import Log


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
    if before is None or Place(before).shows_nothing or not continues(after, before):
        return _set_root(after)
    return _Difference(before, after).read()


def _set_root(state: ParserState) -> list[Change]:
    value = state.value
    if value is MISSING:
        return []
    return [SetValue((), value, open_path(state))]


def open_path(state: ParserState) -> Path | None:
    """Return the path to the innermost value that still grows, `None` if none does."""
    place = Place(state)
    if place.pieces is not None:
        return _path_in(place.container, place.key, place.count)
    return None if place.container.parent is None else _path_to(place.container)


class _Difference:
    """What is new, with the container of the earlier state in which the log stands."""

    __slots__ = ("after", "at", "changes", "container", "inner", "levels", "log", "place", "start")

    def __init__(self, before: ParserState, after: ParserState) -> None:
        self.after = after
        self.log: Log = get_log(after)
        self.place = Place(before)
        self.start: int = get_log(before).length
        self.container: Container = self.place.container
        self.at: int = self.place.count  # values in the container so far
        self.inner: Path = ()  # the innermost value that has closed, while more may have
        self.levels: int = 0  # how many have
        self.changes: list[Change] = []

    def read(self) -> list[Change]:
        if self.place.pieces is not None and not self._read_string():
            return self.changes
        log = self.log
        for at in range(self.start, log.length):
            owner = log.owners[at]
            if owner.node_id <= self.container.node_id:
                self._leave_until(owner.node_id)
                self._set(log.keys[at], log.entries[at])
        while self._has_closed():
            self._leave()
        self._tell_finished()
        self._set_open_string()
        return self.changes

    def _read_string(self) -> bool:
        """Read more of the string that was open; return whether it has closed."""
        place, after = self.place, Place(self.after)
        path = _path_in(place.container, place.key, place.count)
        is_closed_now = self.log.length > self.start
        if is_closed_now:
            text = cast("str", self.log.entries[self.start])[_length(place) :]
        elif after.pieces is place.pieces and after.pieces is not None:
            text = "".join(after.pieces[place.piece_count : after.piece_count])
        else:
            text = after.text()[_length(place) :]
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
        if key is not None and keeps_first(self.after) and self._is_hidden(key, entry):
            return
        self._tell_finished()
        path = _path_in(container, key, self.at)
        self.at += 1
        if not isinstance(entry, Container):
            self.changes.append(SetValue(path, cast("JsonValue", entry)))
        elif is_closed(self.after, entry):
            self.changes.append(SetValue(path, cast("JsonValue", entry.value())))
        else:
            inside = open_path(self.after)
            assert inside is not None  # the entry at least is open
            self.changes.append(SetValue(path, cast("JsonValue", show_open(self.after, entry)), inside[len(path) :]))

    def _is_hidden(self, key: str, entry: object) -> bool:
        """Return whether an earlier member of the same key is shown."""
        if isinstance(entry, Container):
            return entry.is_duplicate
        owner = self.container if self.container.node_id < 0 else self.log.entries[self.container.node_id]
        assert isinstance(owner, ObjectContainer)  # it has keys
        return owner.members[key] is not entry

    def _set_open_string(self) -> None:
        """Set the string that is open now, if it is new and not part of a value that was set."""
        place = Place(self.after)
        if place.pieces is not None and place.container.node_id == self.container.node_id:
            self._tell_finished()
            self.changes.append(SetValue(_path_in(self.container, place.key, self.at), place.text(), ()))

    def _leave_until(self, node_id: int) -> None:
        while self.container.node_id != node_id:
            self._leave()

    def _leave(self) -> None:
        """Go out of the container, which has closed."""
        container = self.container
        parent = container.parent
        assert parent is not None  # the document does not close
        if not self.levels:
            self.inner = _path_to(container)
        self.levels += 1
        self.at = container.place + 1
        self.container = parent

    def _has_closed(self) -> bool:
        node_id = self.container.node_id
        if node_id < 0:
            return False
        entry = self.log.entries[node_id]
        return isinstance(entry, Container) and is_closed(self.after, entry)

    def _tell_finished(self) -> None:
        if self.levels:
            self.changes.append(Finish(self.inner, self.levels))
            self.levels = 0


def _length(place: Place) -> int:
    """Return how many characters of an open string were shown."""
    return sum([len(piece) for piece in (place.pieces or [])[: place.piece_count]])


def _path_in(container: Container, key: str | None, count: int) -> Path:
    """Return the path to a value in a container: the one of this key, or after `count` others."""
    if container.parent is None:
        return ()
    return (*_path_to(container), count if key is None else key)


def _path_to(container: Container) -> Path:
    segments: list[Segment] = []
    parent = container.parent
    while parent is not None and parent.parent is not None:
        segments.append(container.place if container.key is None else container.key)
        container = parent
        parent = container.parent
    segments.reverse()
    return tuple(segments)
