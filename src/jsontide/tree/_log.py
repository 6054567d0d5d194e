"""A state in, the log of its nodes out: for stages that fold nodes in the order in which they open.

Asking for a node costs as much as its container is wide; the log costs nothing, and what came since is its end.
It is shared with all states of the stream: only the first `length` entries are this state's, and nothing is to be
written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from jsontide.text import _modes as modes
from jsontide.tree._containers import Container
from jsontide.tree._nodes import has_open_scalar

if TYPE_CHECKING:
    from array import array

    from jsontide.tree._state import ParserState

ScalarKind: TypeAlias = Literal["string", "number", "boolean", "null"]


class Log(NamedTuple):
    """What was opened so far, by id: where it stands, its key, where it begins, and the scalar or container itself."""

    owners: list[Container]
    keys: list[str | None]
    starts: array[int]
    entries: list[object]
    length: int
    top_id: int
    """The innermost open container, -1 for the document."""


class OpenScalar(NamedTuple):
    """The newest node, if it is a scalar that is not complete: it is not in the log yet."""

    node_id: int
    kind: ScalarKind
    key: str | None
    start: int
    pieces: list[str]
    piece_count: int
    """Only so many of the pieces are this state's."""


class Spot(NamedTuple):
    """Where a state stands: the same spot as long as nothing opens or closes."""

    node_count: int
    has_open_scalar: bool
    top: Container
    pieces: list[str]


def spot_of(state: ParserState) -> Spot:
    return Spot(state._node_count, has_open_scalar(state), state._top, state._pieces)


def is_still_at(state: ParserState, spot: Spot, before: ParserState) -> bool:
    """Tell whether a state, made from one that stood at a spot, stands there too."""
    if state._node_count != spot.node_count or state._top is not spot.top or state._step < before._step:
        return False
    mode = state._mode
    if mode < modes.VALUE and mode != modes.KEY_TEXT:
        return spot.has_open_scalar and state._pieces is spot.pieces
    return not spot.has_open_scalar


def piece_count_of(state: ParserState) -> int:
    """Return how many pieces there are of the open scalar."""
    return state._piece_count


def log_of(state: ParserState) -> Log:
    tape = state._tape
    length = state._node_count - has_open_scalar(state)
    return Log(tape.owners, tape.keys, tape.starts, tape.entries, length, state._top.node_id)


def open_scalar(state: ParserState) -> OpenScalar | None:
    """Return the open scalar; one that an earlier member of its key hides does not count."""
    if state._is_duplicate or not has_open_scalar(state):
        return None
    node_id = state._node_count - 1
    return OpenScalar(node_id, _kind(state), state._member_key, state._token_start, state._pieces, state._piece_count)


def _kind(state: ParserState) -> ScalarKind:
    if state._mode == modes.STRING:
        return "string"
    if state._mode == modes.LITERAL:
        return "null" if state._held.startswith("n") else "boolean"
    return "number"


def keeps_first(state: ParserState) -> bool:
    """Tell whether a repeated key is not to be shown."""
    return state._tape.keep_first


def check_floats(state: ParserState) -> None:
    """Refuse states whose numbers cannot be told from strings."""
    if state._tape.floats == "lexeme":
        message = 'numbers must be numbers here: create the state with floats="float" or floats="decimal"'
        raise ValueError(message)


def position_of(state: ParserState, index: int) -> tuple[int, int]:
    """Return line and column of a place that was read."""
    return state._tape.position(index)


def goes_on_from(state: ParserState, before: ParserState) -> bool:
    """Tell whether a state was made by feeding another one, or has all its nodes at the same places.

    On another tape each node is compared once: making that tape has cost as much.
    """
    tape, old = state._tape, before._tape
    if tape is old:
        return before._step <= state._step
    mine, theirs = log_of(state), log_of(before)
    length = theirs.length
    lines = old.position(before._index)[0] - 1
    return (
        length <= mine.length
        and tape.options == old.options
        and tape.newlines[:lines] == old.newlines[:lines]
        and mine.starts[:length] == theirs.starts[:length]
        and mine.keys[:length] == theirs.keys[:length]
        and all(
            mine.owners[at].node_id == theirs.owners[at].node_id
            and _is_same_entry(mine.entries[at], theirs.entries[at], before)
            for at in range(length)
        )
    )


def _is_same_entry(entry: object, old: object, before: ParserState) -> bool:
    """Compare what is logged: closed nodes are shared by all tapes, open containers are made anew."""
    if entry is old:
        return True
    if not isinstance(entry, Container) or not isinstance(old, Container):
        return False
    return type(entry) is type(old) and not 0 < old.closed_at <= before._step
