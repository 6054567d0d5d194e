"""Growing values in, the state events of AG-UI out.

In steps, a delta waits for 32 more characters, and strings are sent again only when they have grown by half.

Rule: a client that applies all deltas to an object has, at the end, what Python shows.
"""

from __future__ import annotations

from typing import Final

from jsontide._values import JsonValue
from jsontide.deltas import PatchWriter
from jsontide.encoders._base import Growing
from jsontide.encoders._state_changes import StateKeys
from jsontide.encoders.hostile_keys import safe_changes

_LEAST: Final = 32


class StateProgress:
    """What was told of the state; a value, `advance` returns the next one."""

    __slots__ = ("_keys", "_newest", "_sent", "_writer")

    def __init__(
        self, keys: StateKeys, writer: PatchWriter, sent: Growing | None = None, newest: Growing | None = None
    ) -> None:
        self._keys: Final = keys
        self._writer: Final = writer
        self._sent: Final = sent  # the last one that was told
        self._newest: Final = newest

    def advance(self, growing: Growing) -> tuple[StateProgress, list[dict[str, object]]]:
        """Return the progress after what has grown, and the events that tell what is new."""
        keys, sent = self._keys, self._sent
        if self._writer.in_steps and sent is not None and keys.measure(growing) - keys.measure(sent) < _LEAST:
            return StateProgress(keys, self._writer, sent, growing), []
        writer, patch = self._writer.write_changes(safe_changes(keys.changes(sent, growing)))
        return StateProgress(keys, writer, growing, growing), _write_events(patch)

    def finish(self, growing: Growing | None = None) -> list[dict[str, object]]:
        """Return the events that tell all that was not told; `growing` is how it ended, if that is known."""
        keys, newest = self._keys, self._newest
        changes = [] if newest is None else keys.changes(self._sent, newest)
        if growing is not None:
            changes += keys.changes(newest, growing)
        writer, patch = self._writer.write_changes(safe_changes(changes))
        return _write_events(patch + writer.finish()[1])


def _write_events(patch: list[dict[str, JsonValue]]) -> list[dict[str, object]]:
    """Return the events that make a patch; a new root is a snapshot."""
    events: list[dict[str, object]] = []
    operations: list[object] = []
    for operation in patch:
        if not operation["path"]:
            events.append({"type": "STATE_SNAPSHOT", "snapshot": operation["value"]})
            operations = []
            continue
        if not operations:
            events.append({"type": "STATE_DELTA", "delta": operations})
        operations.append(operation)
    return events
