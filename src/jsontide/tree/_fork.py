"""An old state in, a tape of its own out: how a branch begins.

Values that are closed are shared with the first tape; of the open containers the beginning that the state can see is copied.
The branch shows what the state showed by the same objects, so that identity holds across branches too.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, cast

from jsontide._values import MISSING
from jsontide.text import _modes as modes
from jsontide.tree._nodes import has_open_scalar
from jsontide.tree._resolve import open_containers, open_text, resolve_container
from jsontide.tree._tape import Tape, mode_after_value

if TYPE_CHECKING:
    from jsontide._path import Segment
    from jsontide._values import JsonValue
    from jsontide.tree._state import ParserState


def fork(state: ParserState) -> Tape:
    """Return a tape that ends where the state does."""
    old = state._tape
    tape = Tape(old.options)
    tape.step = state._step
    tape.mode = state._mode
    tape.index = state._index
    tape.held = state._held
    tape.token_start = state._token_start
    if state._pieces is not None:
        tape.pieces = [open_text(state)]
    tape.newlines = old.newlines[: old.position(state._index)[0] - 1]
    tape.known_keys = old.known_keys
    tape.member_key = state._member_key
    tape.hidden = state._hidden
    if state._mode == modes.DONE:
        tape.root = old.root
    _copy_log(state, tape)
    _copy_open_containers(state, tape)
    return tape


def _copy_log(state: ParserState, tape: Tape) -> None:
    old = state._tape
    logged = state._node_count - has_open_scalar(state)
    tape.node_count = state._node_count
    tape.owners = old.owners[:logged]
    tape.keys = old.keys[:logged]
    tape.entries = old.entries[:logged]
    tape.lexemes = {node_id: text for node_id, text in old.lexemes.items() if node_id < logged}
    tape.node_index.newest = {
        node_id: made for node_id, made in old.node_index.newest.items() if made[0] <= state._step
    }


def _copy_open_containers(state: ParserState, tape: Tape) -> None:
    containers = open_containers(state)
    view = state.value
    for container, inner in zip_longest(containers, containers[1:]):
        if inner is not None:
            count, key, is_shown = inner.place, inner.key, not inner.hidden
        else:
            count, key = state._count, state._member_key
            is_shown = state._mode == modes.STRING and not state._hidden
        if container.hidden:
            view = resolve_container(state, container)
        shown = cast("JsonValue", view)  # a container is visible from its bracket on
        copy = container.fork(count, tape.top)
        copy.hidden = container.hidden
        child = _value_at(shown, count if key is None else key) if is_shown else MISSING
        copy.remember(shown, count + is_shown, child if is_shown else copy.last, state._step)
        tape.entries[container.node_id] = copy
        tape.top = copy
        view = child
    tape.depth = len(containers)
    tape.after = mode_after_value(tape.top)


def _value_at(view: JsonValue, segment: Segment) -> JsonValue:
    if isinstance(view, dict):
        return view[cast("str", segment)]
    return cast("list[JsonValue]", view)[cast("int", segment)]
