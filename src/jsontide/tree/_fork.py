"""An older state in, a new tape that continues from it out.

Closed values are shared with the first tape; of open containers, what the state can see is copied.
The new tape shows the same objects as the state did, so identity holds across branches.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from jsontide._values import MISSING
from jsontide.tree._resolve import logged_count, open_containers, open_values
from jsontide.tree._tape import Tape
from jsontide.tree.views import ViewChain, ViewPool

if TYPE_CHECKING:
    from jsontide.tree._state import ParserState
    from jsontide.tree.containers import Container


def fork(state: ParserState) -> Tape:
    """Return a tape that ends where the state does."""
    old = state._tape
    tape = Tape(old.options)
    state.restore(tape)
    tape.settled_step = tape.changed_step = tape.shown_step = state._step
    tape.restore_lines(old.lines.until(state._line[1]))
    tape.known_keys = old.known_keys
    tape.member_key = state._member_key
    tape.is_duplicate = state._is_duplicate
    _copy_log(state, tape)
    _copy_open_containers(state, tape)
    return tape


def _copy_log(state: ParserState, tape: Tape) -> None:
    old = state._tape
    logged = logged_count(state)
    tape.owners = old.owners[:logged]
    tape.keys = old.keys[:logged]
    tape.entries = old.entries[:logged]
    tape.starts = old.starts[:logged]
    tape.lexemes = {node_id: text for node_id, text in old.lexemes.items() if node_id < logged}
    tape.node_index.take_nodes_in_use(state, old.node_index)


def _copy_open_containers(state: ParserState, tape: Tape) -> None:
    """Copy the chain of open containers, and take what the state shows of them for their views."""
    value = state.value
    views: list[object] = [[] if value is MISSING else [value], *open_values(state, state._top)]
    containers = [state._tape.document, *open_containers(state)]
    copies: list[Container] = []
    parent: Container | None = None
    for container, inner in zip_longest(containers, containers[1:]):
        parent = container.fork(state._count if inner is None else inner.place, parent)
        parent.is_duplicate = container.is_duplicate
        copies.append(parent)
    for copy in copies[1:]:
        tape.entries[copy.node_id] = copy
    tape.document = copies[0]
    tape.top = copies[-1]
    tape.depth = len(copies) - 1
    tape.after = tape.top.after
    tape.hidden_levels = state._is_duplicate + sum(copy.is_duplicate for copy in copies)
    tape.views = ViewPool(tape.document)
    tape.views.newest = ViewChain([*copies], views, [copy.place for copy in copies[1:]], tape.top.count)
