"""A state in, flat plain data out, and the way back; interpreted, so that both builds pickle the same.

Flat, because pickling nested containers recurses as deep as they are; plain, because compiled and pure builds must be
able to read each other's pickles.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple, cast

from jsontide._decode import ByteSource
from jsontide._errors import ParserError
from jsontide.text.scanner import set_position
from jsontide.tree.log import logged_count
from jsontide.tree.tape import ArrayContainer, Container, LineIndex, ObjectContainer, Tape

if TYPE_CHECKING:
    from jsontide.text.scanner import PlainPosition
    from jsontide.tree._options import ParserOptions
    from jsontide.tree._state import ParserState


class ParserDump(NamedTuple):
    """All that a state can see."""

    options: ParserOptions
    source: ByteSource | None
    position: PlainPosition
    member_key: str | None
    is_duplicate: bool
    error: ParserError | None
    trailing_index: int
    lines: tuple[array[int], array[int], array[int]]
    stack: tuple[int, ...]
    owners: list[int]  # by node: the id of the container around it, -1 for the document
    keys: list[str | None]  # by node
    starts: list[int]  # by node
    scalars: list[object]  # by node; None stands for a container too
    objects: dict[int, bool]  # the containers: whether they are objects
    lexemes: dict[int, str]


def dump(state: ParserState) -> ParserDump:
    """Return all that a state can see."""
    tape = state._tape
    logged = logged_count(state)
    entries = tape.entries[:logged]
    lines = tape.lines.until(state._line[1])
    return ParserDump(
        options=tape.options,
        source=state._source,
        position=state.to_tuple(),
        member_key=state._member_key,
        is_duplicate=state._is_duplicate,
        error=state.error,
        trailing_index=state._tape.trailing_index if state.is_over else -1,
        lines=(lines.starts, lines.gaps, lines.gap_numbers),
        stack=state.stack,
        owners=[owner.node_id for owner in tape.owners[:logged]],
        keys=tape.keys[:logged],
        starts=tape.first_starts(logged),
        scalars=[None if isinstance(entry, Container) else entry for entry in entries],
        objects={
            entry.node_id: isinstance(entry, ObjectContainer) for entry in entries if isinstance(entry, Container)
        },
        lexemes={node_id: text for node_id, text in tape.lexemes.items() if node_id < logged},
    )


def load(dump: ParserDump) -> Tape:
    """Return a tape that ends where the state did."""
    tape = Tape(dump.options)
    set_position(tape, dump.position)
    tape.settled_step = tape.changed_step = tape.step
    tape.error = dump.error
    tape.trailing_index = dump.trailing_index
    tape.is_over = tape.error is not None or tape.trailing_index >= 0
    tape.lexemes = dump.lexemes
    token_start = tape.token_start
    open_ids = frozenset(dump.stack)
    for node_id in range(len(dump.owners)):
        _load_node(tape, dump, node_id, open_ids)
    tape.token_start = token_start
    if dump.stack:
        tape.top = cast("Container", tape.entries[dump.stack[-1]])
    else:
        tape.top = tape.document
    tape.restore_lines(LineIndex(*dump.lines))
    tape.member_key = dump.member_key
    tape.is_duplicate = dump.is_duplicate
    tape.hidden_levels += dump.is_duplicate  # of a member that is not logged yet
    tape.depth = len(dump.stack)
    tape.after = tape.top.after
    return tape


def _load_node(tape: Tape, dump: ParserDump, node_id: int, open_ids: frozenset[int]) -> None:
    """Log a node again; a closed container is attached at once, and filled by the nodes that follow."""
    owner_id = dump.owners[node_id]
    owner = tape.document if owner_id < 0 else cast("Container", tape.entries[owner_id])
    key = dump.keys[node_id]
    tape.top = owner
    tape.token_start = dump.starts[node_id]
    tape.member_key = key
    tape.is_duplicate = tape.keep_first and isinstance(owner, ObjectContainer) and key in owner.members
    tape.hidden_levels += tape.is_duplicate
    if node_id not in dump.objects:
        tape.add(dump.scalars[node_id])
        return
    kind = ObjectContainer if dump.objects[node_id] else ArrayContainer
    container = kind(node_id, owner, key)
    container.is_duplicate = tape.is_duplicate
    tape.log(container)
    if node_id not in open_ids:
        container.closed_at = tape.step
        tape.attach(key, container.value())
