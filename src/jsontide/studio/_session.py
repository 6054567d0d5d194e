"""A stream in the studio: pieces in, every moment of it kept, what the page asks about one of them out.

Rule: one thread adds, any thread reads; a moment that was added never changes.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from threading import RLock
from typing import Any, Final, Literal, TypeAlias

from jsontide._values import JsonValue
from jsontide.mend import MODELS
from jsontide.recordings import (
    Data,
    End,
    Lane,
    Moment,
    Piece,
    Recording,
    Timeline,
    finish_moment,
    next_moment,
    start_moment,
)
from jsontide.studio._history import History
from jsontide.studio._raw import RawText
from jsontide.studio._updates import Updates

State: TypeAlias = Literal["loading", "live", "over", "broken"]
_PULSE: Final = 160
_STEP: Final = 0.02
_LANES: Final = 120
_SILENT: Final = 0.02
"""The share of the whole time from which on a silence is drawn."""
_SAID: Final = re.compile(r"root$|answer|parts$|parts\[[^]]*\](?!\.(?:type|id|name|status)$)")
"""What a message says, without what it is called."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How a stream is read."""

    mend: bool = False
    """Whether bad JSON is mended."""
    schema: Mapping[str, JsonValue] | None = None
    """A JSON Schema that the document, or the answer of a message, should fit."""
    is_message: bool = False
    """Whether it is known to be a message, whose answer is read through the schema; a document is looked at later."""

    def start(self) -> Moment:
        """Return the moment before the first piece."""
        return start_moment(schema=self.schema if self.is_message else None, mend=MODELS if self.mend else None)


class Session:
    """One stream, while it comes and after."""

    def __init__(self, session_id: str, name: str, state: State, reading: Reading) -> None:
        self.id: Final = session_id
        self.name: Final = name
        self.reading: Final = reading
        self.state: State = state
        self.problem: str | None = None
        """What is wrong with the recording, or how it ended if not well."""
        self.expected = 0
        """How many pieces there will be, 0 if that is not known."""
        self.is_timed = True
        """Whether the times are those of the pieces; a file that has none is shown as if they came one by one."""
        self.end: End | None = None
        self.lock: Final = RLock()
        self.pieces: Final[list[Piece]] = []
        self.moments: Final[list[Moment]] = [reading.start()]
        self.times: Final = array("d", [0.0])
        self.raw: Final = RawText()
        self.history: Final = History()
        self.timeline: Final = Timeline(max_lanes=4 * _LANES)
        self.updates: Updates | None = None if reading.mend else Updates()

    @property
    def count(self) -> int:
        """The number of the last moment."""
        return len(self.moments) - 1

    def add(self, piece: Piece) -> None:
        """Add a piece, and with it a moment."""
        with self.lock:
            self.pieces.append(piece)
            self.raw.add(piece.data)
            if not self.is_timed:
                piece = Piece(_STEP * len(self.pieces), piece.data)
            self._keep(next_moment(self.moments[-1], piece))
            self._read_updates(piece.data)

    def _read_updates(self, data: Data) -> None:
        if self.updates is not None and isinstance(data, bytes) and self.moments[-1].kind in {"unknown", "json"}:
            self.updates.add(data)
        else:
            self.updates = None  # its text is no JSON document

    def finish(self, end: End = "over", error: str | None = None, at: float | None = None) -> None:
        """Add the end, which is a moment too."""
        with self.lock:
            if self.state not in {"loading", "live"}:
                return
            self.raw.add(b"")
            self._keep(finish_moment(self.moments[-1], end, error, at=at if self.is_timed else None))
            self.end, self.problem = end, error or self.problem
            self.state = "over"

    def fail(self, problem: str) -> None:
        """Say why there is nothing to show, or nothing more."""
        with self.lock:
            self.problem, self.state = problem, "broken"

    def to_recording(self) -> Recording:
        """Return it as a recording, to keep or to read again."""
        duration = self.times[-1] if self.is_timed else 0.0
        about = {"source": self.name}
        return Recording(tuple(self.pieces), about=about, end=self.end, error=self.problem, duration=duration)

    def _keep(self, moment: Moment) -> None:
        changes = moment.changes
        self.history.add(changes)
        self.timeline.add(moment, changes)
        self.times.append(max(moment.at, self.times[-1]))
        self.moments.append(moment)

    def find(self, at: float) -> int:
        """Return the number of the last moment at a time."""
        return max(0, bisect_right(self.times, at) - 1)

    def pulse(self) -> list[int]:
        """Return how many bytes came in each part of the time, or of the pieces if there are no times."""
        count, duration = self.count, self.times[-1]
        parts = range(1, _PULSE + 1)
        places = [self.find(duration * part / _PULSE) if duration else count * part // _PULSE for part in parts]
        ends = [0, *map(self.raw.end, places)]
        return [ends[part] - ends[part - 1] for part in parts]

    def lanes(self) -> list[dict[str, Any]]:
        """Return a lane for each path: when it opened, had its first value and was done, and where it was silent."""
        lanes = self.timeline.lanes
        if self.moments[-1].kind == "message":
            lanes = tuple(lane for lane in lanes if _SAID.match(lane.path))
        return [self._describe_lane(lane) for lane in lanes[:_LANES]]

    def _describe_lane(self, lane: Lane) -> dict[str, Any]:
        described: dict[str, Any] = {
            "path": lane.path,
            "updates": lane.updates,
            "size": lane.size,
            "opened": self._moment(lane.opened),
        }
        if lane.first is not None:
            described["first"] = self._moment(lane.first)
        if lane.done is not None:
            described["done"] = self._moment(lane.done)
        if self._is_silent(lane):
            start, end = lane.silence_from, lane.silence_from + lane.silence
            described["silence"] = {"from": self._moment(start), "to": self._moment(end)}
        return described

    def _is_silent(self, lane: Lane) -> bool:
        """Return whether a lane was silent for long: beside the whole time, and beside its usual pauses."""
        end = self.times[-1] if lane.done is None else lane.done
        usual = (end - lane.opened) / max(lane.updates, 1)
        return lane.silence > max(_SILENT * self.times[-1], 2 * usual)

    def _moment(self, at: float) -> dict[str, float]:
        return {"n": bisect_left(self.times, at), "at": at}

    def summary(self) -> dict[str, Any]:
        """Return what is known about all of it, for lists and headings."""
        return {
            "id": self.id,
            "name": self.name,
            "state": self.state,
            "kind": self.moments[-1].kind,
            "count": self.count,
            "expected": self.expected,
            "seconds": self.times[-1],
            "timed": self.is_timed,
            "bytes": len(self.raw),
            "problem": self.problem,
            "end": self.end,
            "mend": self.reading.mend,
            "schema": self.reading.schema is not None,
        }
