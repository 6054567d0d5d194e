"""`(state, snapshot) -> (state, chunk)`: the pure form of the chunker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsontide._values import MISSING
from jsontide.snapshots._difference import difference
from jsontide.snapshots._errors import SnapshotConflict
from jsontide.snapshots._reading import read_whole, snapshot_text
from jsontide.snapshots._snapshot_writer import SnapshotWriter
from jsontide.snapshots._state import SnapshotState
from jsontide.snapshots.writing import compact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jsontide._values import JsonValue
    from jsontide.snapshots._parsed_text import ParsedText


def add_snapshot(state: SnapshotState, snapshot: str | bytes | bytearray | memoryview) -> tuple[SnapshotState, str]:
    """Return the state after one more snapshot, and the text that it adds; the state that goes in stays as it is.

    >>> from jsontide.snapshots import create_snapshot_state
    >>> state, chunk = add_snapshot(create_snapshot_state(), '{"name": "Mat"}')
    >>> print(chunk)
    {"name":"Mat
    >>> print(add_snapshot(state, '{"age": 32, "name": "Matthew"}')[1])
    thew","age":32
    """
    _check_state(state)
    value, text = state._last_text.read(snapshot_text(snapshot))
    return _add_read(state, value, text)


def add_value(
    state: SnapshotState, snapshot: JsonValue | Mapping[str, object] | Sequence[object]
) -> tuple[SnapshotState, str]:
    """Do as `add_snapshot` does with a snapshot that is a Python value.

    >>> from jsontide.snapshots import create_snapshot_state
    >>> state, chunk = add_value(create_snapshot_state(), ["a", "b"])
    >>> print(chunk)
    ["a","b
    """
    _check_state(state)
    writer = _checked(state, snapshot, False)
    writer.take()
    return state.after(writer), "".join(writer.out)


def finalize(state: SnapshotState) -> tuple[SnapshotState, str]:
    """Return the state after the last snapshot, and the text that closes all that is open.

    >>> from jsontide.snapshots import create_snapshot_state
    >>> state, chunk = add_snapshot(create_snapshot_state(), '{"name": "Mat"}')
    >>> print(finalize(state)[1])
    "}
    """
    _check_state(state)
    last = state.whole()
    if last is MISSING or state.is_complete:
        return state, ""
    writer = _checked(state, last, True)
    writer.finish()
    after = state.after(writer)
    if not state._is_all_text:
        _read_back(after.text, last)
    return after, "".join(writer.out)


def _add_read(state: SnapshotState, snapshot: Any, text: ParsedText) -> tuple[SnapshotState, str]:
    """Add a snapshot that was read from a text."""
    writer = _checked(state, snapshot, True)
    if text.switched_reader:
        writer.adopt()
    writer.take()
    after = state.after(writer)
    after._last_text = text
    return after, "".join(writer.out)


def _checked(state: SnapshotState, snapshot: Any, is_text: bool) -> SnapshotWriter:
    """Return what a snapshot that contradicts nothing can be added to, after repairs that were asked for."""
    writer = SnapshotWriter(state._options, state._frames, state._leaf, state._leaf_key, state._length, state._waited)
    is_exact = state._is_all_text and is_text
    writer.begin(snapshot, is_text)
    conflict = writer.check(is_exact)
    while conflict is not None:
        if state._options.on_conflict != "repair" or not writer.repair(conflict):
            raise conflict.conflict(writer.frames, state.text + "".join(writer.out))
        conflict = writer.check(is_exact)
    return writer


def _read_back(text: str, last: Any) -> None:
    """Compare all that was written with what it was made of: the owner may have changed what is closed since."""
    found = difference(read_whole(text), last)
    if found is not None:
        written = "" if found.before is MISSING else compact(found.before, False)
        wanted = "" if found.now is MISSING else compact(found.now, False)
        raise SnapshotConflict(found.path, written, wanted)


def _check_state(state: SnapshotState) -> None:
    if not isinstance(state, SnapshotState):
        message = f"a state must be a SnapshotState, not {type(state).__name__}"
        raise TypeError(message)
