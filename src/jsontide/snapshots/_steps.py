"""`(state, snapshot) -> (state, chunk)`: the pure form of the chunker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsontide._values import MISSING
from jsontide.snapshots._difference import find_difference
from jsontide.snapshots._reader import read_whole, snapshot_text
from jsontide.snapshots._snapshot_writer import SnapshotWriter
from jsontide.snapshots._state import SnapshotState
from jsontide.snapshots._types import SnapshotConflict
from jsontide.snapshots.serialize import compact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jsontide._values import JsonValue
    from jsontide.snapshots._parsed_text import ParsedText


def add_snapshot(state: SnapshotState, snapshot: str | bytes | bytearray | memoryview) -> tuple[SnapshotState, str]:
    """Return the state after one more snapshot, and the chunk that it adds; the given state does not change.

    >>> from jsontide.snapshots import create_snapshot_state
    >>> state, chunk = add_snapshot(create_snapshot_state(), '{"name": "Mat"}')
    >>> print(chunk)
    {"name":"Mat
    >>> print(add_snapshot(state, '{"age": 32, "name": "Matthew"}')[1])
    thew","age":32
    """
    _check_state(state)
    value, parsed_text = state._parsed_text.read(snapshot_text(snapshot))
    return _add_parsed(state, value, parsed_text)


def add_value(
    state: SnapshotState, snapshot: JsonValue | Mapping[str, object] | Sequence[object]
) -> tuple[SnapshotState, str]:
    """Return the same as `add_snapshot`, for a snapshot that is a Python value.

    >>> from jsontide.snapshots import create_snapshot_state
    >>> state, chunk = add_value(create_snapshot_state(), ["a", "b"])
    >>> print(chunk)
    ["a","b
    """
    _check_state(state)
    writer = _start_writer(state, snapshot, False)
    writer.write_news()
    return state._after(writer), "".join(writer.out)


def finalize(state: SnapshotState) -> tuple[SnapshotState, str]:
    """Return the state after the last snapshot, and the chunk that closes everything that is open.

    >>> from jsontide.snapshots import create_snapshot_state
    >>> state, chunk = add_snapshot(create_snapshot_state(), '{"name": "Mat"}')
    >>> print(finalize(state)[1])
    "}
    """
    _check_state(state)
    last = state._last_snapshot()
    if last is MISSING or state.is_complete:
        return state, ""
    writer = _start_writer(state, last, True)
    writer.finish()
    after = state._after(writer)
    if not state._is_all_text:
        _read_back(after.text, last)
    return after, "".join(writer.out)


def _add_parsed(state: SnapshotState, value: Any, parsed_text: ParsedText) -> tuple[SnapshotState, str]:
    writer = _start_writer(state, value, True)
    if parsed_text.switched_reader:
        writer.adopt()
    writer.write_news()
    after = state._after(writer)
    after._parsed_text = parsed_text
    return after, "".join(writer.out)


def _start_writer(state: SnapshotState, snapshot: Any, is_text: bool) -> SnapshotWriter:
    """Return a writer for a snapshot without conflicts, after repairs if the options ask for them."""
    writer = SnapshotWriter(state, snapshot, is_text)
    is_exact = state._is_all_text and is_text
    conflict = writer.find_conflict(is_exact)
    while conflict is not None:
        if state._options.on_conflict != "repair" or not writer.repair(conflict):
            raise conflict.to_exception(writer.frames, state.text + "".join(writer.out))
        conflict = writer.find_conflict(is_exact)
    return writer


def _read_back(text: str, last: Any) -> None:
    """Compare all that was written with the last snapshot: the owner may have changed closed values in place."""
    found = find_difference(read_whole(text), last)
    if found is not None:
        written = "" if found.before is MISSING else compact(found.before, False)
        wanted = "" if found.now is MISSING else compact(found.now, False)
        raise SnapshotConflict(found.path, written, wanted)


def _check_state(state: SnapshotState) -> None:
    if not isinstance(state, SnapshotState):
        message = f"a state must be a SnapshotState, not {type(state).__name__}"
        raise TypeError(message)
