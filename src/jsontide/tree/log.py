"""A state in, the log of its nodes out, and the values that an older state shows.

For stages that fold nodes in the order in which they open. A node is made on demand; the log exists already, with the
newest entries at its end. All states of the stream share it: only the first `length` entries belong to this state, and
readers must not write.

The tape may have been written since an older state was made: of its values, only containers that were open then are
rebuilt; closed ones are values already. The value of the newest state is made by `views`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from jsontide._path import Segment
from jsontide._values import MISSING
from jsontide.text import modes
from jsontide.text.strings import OpenText
from jsontide.tree.tape import Container

if TYPE_CHECKING:
    from mypy_extensions import i64

    from jsontide.tree._state import ParserState


def has_open_scalar(state: ParserState) -> bool:
    """Return whether the newest node is an open scalar."""
    return state._mode < modes.VALUE and state._mode != modes.KEY_TEXT


def logged_count(state: ParserState) -> int:
    """Return how many nodes of the log the state can see: all but an open scalar."""
    return state._node_count - has_open_scalar(state)


def open_containers(state: ParserState) -> list[Container]:
    """Return the open containers, outermost first."""
    containers: list[Container] = []
    container = state._top
    while container.parent is not None:
        containers.append(container)
        container = container.parent
    containers.reverse()
    return containers


def resolve_past(state: ParserState, wanted: Container | None) -> object:
    """Return the value of the root in this state, or of one open container; nothing around that is made.

    Built from the innermost container outwards: each contains the one before.
    """
    child: object = MISSING
    if state._mode == modes.STRING and not state._is_duplicate:
        child = state.open_text
    container = state._top
    count: i64 = state._count
    key = state._member_key
    while container.parent is not None:
        child = container.show_past(count, key, child)
        if container is wanted:
            return child
        if container.is_duplicate:
            child = MISSING
        count = container.place
        key = container.key
        container = container.parent
    document = cast("list[object]", container.show_past(count, None, child))
    return document[0] if document else MISSING


def open_values(state: ParserState, last: Container) -> list[object]:
    """Return the values of the open containers down to `last`: the same objects as in the root's value."""
    value: object = state.value
    values: list[object] = []
    for container in open_containers(state):
        if container.is_duplicate:
            value = resolve_past(state, container)
        elif container.depth > 1:
            value = child_at(value, container.place if container.key is None else container.key)
        values.append(value)
        if container is last:
            break
    return values


def child_at(value: object, segment: Segment) -> object:
    """Return the value at a key or index of a container."""
    if isinstance(value, dict):
        return value[cast("str", segment)]
    return cast("list[object]", value)[cast("int", segment)]


ScalarKind: TypeAlias = Literal["string", "number", "boolean", "null"]


class Log:
    """The nodes opened so far, by id: owner, key, index of the first character, and the scalar or container itself."""

    __slots__ = ("_tape", "entries", "keeps_first", "keys", "length", "owners", "top_id")

    def __init__(self, state: ParserState) -> None:
        tape = state._tape
        self._tape = tape
        self.owners = tape.owners
        self.keys = tape.keys
        self.entries = tape.entries
        self.length = logged_count(state)
        self.top_id: int = state._top.node_id  # the innermost open container, -1 for the document
        self.keeps_first = tape.keep_first  # later members of a repeated key are hidden

    def start_of(self, node_id: int) -> int:
        """Return where a node begins."""
        return self._tape.start_of(node_id)

    def kind_of(self, node_id: int) -> ScalarKind | None:
        """Return what kind of scalar a node is, `None` for a container."""
        entry = self.entries[node_id]
        if isinstance(entry, Container):
            return None
        if entry is None:
            return "null"
        if isinstance(entry, bool):
            return "boolean"
        return "string" if isinstance(entry, str) and node_id not in self._tape.lexemes else "number"


class OpenScalar(OpenText):
    """The newest node if it is an open scalar, which is not in the log yet."""

    __slots__ = ("key", "kind", "node_id", "start")

    def __init__(self, state: ParserState) -> None:
        OpenText.__init__(self, state._pieces, state._piece_count)
        self.node_id: int = state._node_count - 1
        self.kind: ScalarKind = "number"
        if state._mode == modes.STRING:
            self.kind = "string"
        elif state._mode == modes.LITERAL:
            self.kind = "null" if state._held.startswith("n") else "boolean"
        self.key = state._member_key
        self.start: int = state._token_start


class OpenEnd:
    """Where a state shows something open: the innermost open container that is shown, and the string open in it."""

    __slots__ = ("container", "count", "key", "string")

    def __init__(self, state: ParserState) -> None:
        self.container: Container = state._top
        self.count: int = state._count  # complete values in it
        self.key: str | None = state._member_key
        has_string = state._mode == modes.STRING and not state._is_duplicate
        self.string: OpenText | None = OpenText(state._pieces, state._piece_count) if has_string else None
        container: Container | None = state._top
        while container is not None:
            parent = container.parent
            if container.is_duplicate and parent is not None:  # nothing in it is shown
                self.container = parent
                self.count = container.place
                self.string = None
            container = parent

    @property
    def shows_nothing(self) -> bool:
        """Whether there is no value yet; the value itself is not made for it."""
        return self.container.parent is None and self.count == 0 and self.string is None


def is_closed(state: ParserState, container: Container) -> bool:
    """Return whether a container of the log is closed in this state."""
    return 0 < container.closed_at <= state._step


def is_still_at(state: ParserState, before: ParserState) -> bool:
    """Return whether nothing has opened or closed since an earlier state of the stream."""
    if state._node_count != before._node_count or state._top is not before._top or state._step < before._step:
        return False
    if state._pieces is before._pieces:
        return state._mode == before._mode or has_open_scalar(state) == has_open_scalar(before)
    return not has_open_scalar(state) and not has_open_scalar(before)


def open_scalar(state: ParserState) -> OpenScalar | None:
    """Return the open scalar, unless it is hidden by an earlier member of the same key."""
    return None if state._is_duplicate or not has_open_scalar(state) else OpenScalar(state)


def find_position(state: ParserState, index: int) -> tuple[int, int]:
    """Return the line and column of an index at which a node begins."""
    line, start = state._line
    return (line, index - start + 1) if index >= start else state._tape.lines.position(index)


def continues(state: ParserState, before: ParserState) -> bool:
    """Return whether a state was made by feeding another one, or begins with the same nodes at the same positions.

    On another tape each node is compared once, which costs no more than making that tape did.
    """
    tape, old = state._tape, before._tape
    if tape is old:
        return before._step <= state._step
    mine, theirs = Log(state), Log(before)
    length = theirs.length
    return (
        length <= mine.length
        and tape.options == old.options
        and tape.lines.is_same_until(old.lines, old.start_of(length - 1) if length else 0)
        and tape.first_starts(length) == old.first_starts(length)
        and mine.keys[:length] == theirs.keys[:length]
        and all(
            mine.owners[at].node_id == theirs.owners[at].node_id
            and _is_same_entry(mine.entries[at], theirs.entries[at], before)
            for at in range(length)
        )
        and (not has_open_scalar(before) or _has_scalar_of(before, state, mine, length))
    )


def _has_scalar_of(before: ParserState, state: ParserState, log: Log, at: int) -> bool:
    """Return whether a state, of this log, has its node `at` where another one has its open scalar, and more of it."""
    scalar = OpenScalar(before)
    if at < log.length:
        place, kind = (log.owners[at].node_id, log.keys[at], log.start_of(at)), log.kind_of(at)
        entry = log.entries[at]
        text = entry if isinstance(entry, str) else ""
    elif has_open_scalar(state):
        now = OpenScalar(state)
        place, kind, text = (state._top.node_id, now.key, now.start), now.kind, now.text()
    else:
        return False
    is_same = kind == scalar.kind and place == (before._top.node_id, scalar.key, scalar.start)
    return is_same and (kind != "string" or text.startswith(scalar.text()))


def _is_same_entry(entry: object, old: object, before: ParserState) -> bool:
    """Compare two entries: forks share closed nodes and copy open containers."""
    if entry is old:
        return True
    if not isinstance(entry, Container) or not isinstance(old, Container):
        return False
    return type(entry) is type(old) and not is_closed(before, old)
