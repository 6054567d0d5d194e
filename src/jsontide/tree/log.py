"""A state in, the log of its nodes out, and the values that an older state shows.

For stages that fold nodes in the order in which they open: a node is an object made on demand; the log is there
already, and what is new is at its end. All states of the stream share it: only the first `length` entries belong to
this state, and readers must not write.

The tape may have been written since an older state was made: of its values, only containers that were open then are
rebuilt; closed ones are values already. The value of the newest state is made by `views`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from jsontide._values import MISSING
from jsontide.text import modes
from jsontide.text.strings import OpenText
from jsontide.tree.containers import Container

if TYPE_CHECKING:
    from mypy_extensions import i64

    from jsontide._path import Segment
    from jsontide.tree._state import ParserState
    from jsontide.tree._tape import Tape
    from jsontide.tree.containers import Container


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
    """Return the value of the root in this state, or of one open container.

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

    __slots__ = ("_tape", "entries", "keys", "length", "owners", "top_id")

    def __init__(self, tape: Tape, length: int, top_id: int) -> None:
        self.owners = tape.owners
        self.keys = tape.keys
        self._tape = tape
        self.entries = tape.entries
        self.length = length
        self.top_id = top_id  # the innermost open container, -1 for the document

    def start_of(self, node_id: int) -> int:
        """Return where a node begins."""
        return self._tape.start_of(node_id)


class OpenScalar(OpenText):
    """The newest node if it is an open scalar, which is not in the log yet."""

    __slots__ = ("key", "kind", "node_id", "start")

    def __init__(self, state: ParserState) -> None:
        OpenText.__init__(self, state._pieces, state._piece_count)
        self.node_id: int = state._node_count - 1
        self.kind: ScalarKind = "string" if state._mode == modes.STRING else _other_kind(state)
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


def show_open(state: ParserState, container: Container) -> object:
    """Return what is shown of a container that is open in this state; nothing around it is made."""
    return resolve_past(state, container)


def is_still_at(state: ParserState, before: ParserState) -> bool:
    """Return whether nothing has opened or closed since an earlier state of the stream."""
    if state._node_count != before._node_count or state._top is not before._top or state._step < before._step:
        return False
    if state._pieces is before._pieces:
        return state._mode == before._mode or has_open_scalar(state) == has_open_scalar(before)
    return not has_open_scalar(state) and not has_open_scalar(before)


def count_pieces(state: ParserState) -> int:
    """Return how many pieces there are of the open scalar."""
    return state._piece_count


def get_log(state: ParserState) -> Log:
    return Log(state._tape, logged_count(state), state._top.node_id)


def open_scalar(state: ParserState) -> OpenScalar | None:
    """Return the open scalar, unless it is hidden by an earlier member of the same key."""
    return None if state._is_duplicate or not has_open_scalar(state) else OpenScalar(state)


def _other_kind(state: ParserState) -> ScalarKind:
    if state._mode == modes.LITERAL:
        return "null" if state._held.startswith("n") else "boolean"
    return "number"


def keeps_first(state: ParserState) -> bool:
    """Return whether later members of a repeated key are hidden."""
    return state._tape.keep_first


def has_decimals(state: ParserState) -> bool:
    """Return whether numbers may be decimals."""
    return state._tape.floats == "decimal"


def check_floats(state: ParserState) -> None:
    """Raise `ValueError` for states whose numbers are strings."""
    if state._tape.floats == "lexeme":
        message = 'numbers must be numbers here: create the state with floats="float" or floats="decimal"'
        raise ValueError(message)


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
    mine, theirs = get_log(state), get_log(before)
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
    """Return whether a state, of this log, has its node `at` where another one has its open scalar."""
    if at < log.length:
        place = (log.owners[at].node_id, log.keys[at], log.start_of(at))
    elif has_open_scalar(state):
        place = (state._top.node_id, state._member_key, state._token_start)
    else:
        return False
    return place == (before._top.node_id, before._member_key, before._token_start)


def _is_same_entry(entry: object, old: object, before: ParserState) -> bool:
    """Compare two entries: forks share closed nodes and copy open containers."""
    if entry is old:
        return True
    if not isinstance(entry, Container) or not isinstance(old, Container):
        return False
    return type(entry) is type(old) and not is_closed(before, old)
