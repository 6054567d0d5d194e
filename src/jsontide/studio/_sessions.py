"""A stream in the studio: pieces in, every moment of it kept, and the facts that the page asks for out.

Rule: one thread adds, any thread reads; a moment that was added never changes.

The `Studio` makes sessions of files, uploads, pasted text and live streams; the oldest ones make room. Recordings are
loaded in threads of their own, piece by piece, so that they can be looked at while they load.
`RawText` has the bytes as they came: a character that is cut into two pieces belongs to the piece that completes it,
and bytes that are not UTF-8 are shown as U+FFFD.
"""

from __future__ import annotations

import time
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count, pairwise
from pathlib import Path
from secrets import token_hex
from threading import Lock, RLock, Thread
from typing import Any, Final, Literal, TypeAlias

from jsontide._decode import Decoded
from jsontide._errors import JsontideError
from jsontide._values import JsonValue
from jsontide.frontends import Change, write_json
from jsontide.mend import MODELS
from jsontide.recordings import (
    End,
    Lane,
    Moment,
    Piece,
    Recording,
    RunNote,
    Timeline,
    feed_moment,
    finish_moment,
    start_moment,
)
from jsontide.studio._history import History

_BYTES_BEFORE: Final = 1500
_BYTES_AFTER: Final = 500
_MOST_PIECES: Final = 320


class RawText:
    """All bytes of a stream, and where each piece of it ends."""

    def __init__(self) -> None:
        self._data: Final = bytearray()
        self._ends: Final = array("Q", [0])

    def __len__(self) -> int:
        return len(self._data)

    def add(self, data: object) -> None:
        """Add a piece: bytes, or an event or a note of a run, which is shown as a line of JSON."""
        data = data.value if isinstance(data, RunNote) else data
        self._data.extend(data if isinstance(data, bytes) else f"{write_json(data)}\n".encode())
        self._ends.append(len(self._data))

    def end(self, number: int) -> int:
        """Return how many bytes have come."""
        return self._ends[number]

    def window(self, number: int) -> dict[str, object]:
        """Return the pieces around the caret of a moment: `[number, text]` for each, the first of them cut."""
        caret = self._ends[number]
        start = max(caret - _BYTES_BEFORE, self._ends[max(0, number - _MOST_PIECES)])
        while 0 < start < caret and self._data[start] & 0xC0 == 0x80:  # noqa: PLR2004 - inside a character
            start += 1
        end = min(caret + _BYTES_AFTER, len(self._data))
        return {"start": start, "caret": caret, "total": len(self._data), "pieces": self._pieces(start, end)}

    def _pieces(self, start: int, end: int) -> list[tuple[int, str]]:
        decoded = Decoded()
        pieces: list[tuple[int, str]] = []
        number = bisect_right(self._ends, start)
        while start < end and len(pieces) < 2 * _MOST_PIECES:
            stop = min(self._ends[number], end)
            decoded = decoded.feed(bytes(self._data[start:stop]))
            pieces.append((number, decoded.text))
            start = stop
            number += 1
        return pieces


State: TypeAlias = Literal["loading", "live", "over", "broken"]
_PULSES: Final = 160
_UNTIMED_STEP: Final = 0.02
"""Seconds between the pieces of a file without times."""
_MOST_LANES: Final = 120
_LONG_SILENCE: Final = 0.02
"""The share of the whole time from which on a silence is drawn."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a stream is read."""

    mend: bool = False
    """Whether bad JSON is mended."""
    schema: Mapping[str, JsonValue] | None = None
    """A JSON Schema that the document, or the answer of a message, should fit."""
    is_message: bool = False
    """Whether it is known to be a message or a run, whose answer is read through the schema.

    A document is looked at later.
    """

    def start(self) -> Moment:
        """Return the moment before the first piece."""
        return start_moment(schema=self.schema if self.is_message else None, mend=MODELS if self.mend else None)


class Session:
    """One stream, while it comes and after."""

    def __init__(self, session_id: str, name: str, state: State, options: ReadOptions) -> None:
        self.id: Final = session_id
        self.name: Final = name
        self.options: Final = options
        self.state: State = state
        self.problem: str | None = None
        """An error in the recording, or why it ended badly."""
        self.expected = 0
        """How many pieces there will be, 0 if that is not known."""
        self.is_timed = True
        """Whether the pieces have times; if a file has none, its pieces are shown at even times."""
        self.end: End | None = None
        self.lock: Final = RLock()
        self.pieces: Final[list[Piece]] = []
        self.moments: Final[list[Moment]] = [options.start()]
        self.changes: Final[list[tuple[Change, ...]]] = [()]
        """By moment: what changed in it."""
        self.times: Final = array("d", [0.0])
        self.raw: Final = RawText()
        self.history: Final = History()
        self.timeline: Final = Timeline(max_lanes=4 * _MOST_LANES)

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
                piece = Piece(_UNTIMED_STEP * len(self.pieces), piece.data)
            self._keep(feed_moment(self.moments[-1], piece))

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
        """Set why there is nothing to show, or nothing more."""
        with self.lock:
            self.problem, self.state = problem, "broken"

    def to_recording(self) -> Recording:
        """Return it as a recording, to keep or to read again."""
        duration = self.times[-1] if self.is_timed else 0.0
        about = {"source": self.name}
        return Recording(tuple(self.pieces), about=about, end=self.end, error=self.problem, duration=duration)

    def _keep(self, moment: Moment) -> None:
        changes = moment.changes
        self.changes.append(changes)
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
        parts = range(1, _PULSES + 1)
        places = [self.find(duration * part / _PULSES) if duration else count * part // _PULSES for part in parts]
        ends = [0, *map(self.raw.end, places)]
        return [end - start for start, end in pairwise(ends)]

    def lanes(self) -> list[dict[str, Any]]:
        """Return a lane for each path: when it opened, had its first value and was done, and where it was silent.

        Of a run, there is one for each message and each call.
        """
        return [self._describe_lane(lane) for lane in self.timeline.content_lanes[:_MOST_LANES]]

    def _describe_lane(self, lane: Lane) -> dict[str, Any]:
        described: dict[str, Any] = {
            "path": lane.path,
            "updates": lane.updates,
            "size": lane.size,
            "opened": self._moment(lane.opened),
        }
        if lane.name is not None:
            described["name"] = lane.name
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
        return lane.silence > max(_LONG_SILENCE * self.times[-1], 2 * usual)

    def _moment(self, at: float) -> dict[str, float]:
        return {"n": bisect_left(self.times, at), "at": at}

    def summary(self) -> dict[str, Any]:
        """Return the figures of the whole session, for lists and headings."""
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
            "mend": self.options.mend,
            "schema": self.options.schema is not None,
        }


_MOST_SESSIONS: Final = 16
_BATCH: Final = 200
"""Pieces that are read before other threads get a turn."""


class TooLargeError(OSError):
    """More bytes than the studio takes; the proxy passes the rest on without it."""


class Studio:
    """All sessions, by id, in the order in which they began."""

    def __init__(self, *, max_bytes: int) -> None:
        self.max_bytes: Final = max_bytes
        self.sessions: Final[dict[str, Session]] = {}
        self.listens = False
        """Whether streams may be posted to it."""
        self.proxy: str | None = None
        """The address of a proxy whose streams it shows."""
        self._lock: Final = Lock()

    def list(self) -> Sequence[Session]:
        with self._lock:
            return [*self.sessions.values()]

    def open_file(self, path: Path) -> Session:
        """Begin to load a recording."""
        return self._load(path.name, lambda: Recording.load(path))

    def open_upload(self, name: str, data: bytes) -> Session:
        """Begin to load a file that was dropped onto the page."""
        return self._load(name, lambda: Recording.loads(data))

    def open_recording(self, name: str, recording: Recording, options: ReadOptions | None = None) -> Session:
        """Begin to read a recording that is loaded already."""
        session = self._begin(name, "loading", options or ReadOptions())
        Thread(target=fill, args=(session, recording), daemon=True).start()
        return session

    def read_again(self, session: Session, options: ReadOptions) -> Session:
        """Read the pieces of a session in another way; it keeps its id."""
        again = Session(session.id, session.name, "loading", options)
        with self._lock:
            self.sessions[session.id] = again
        Thread(target=fill, args=(again, session.to_recording()), daemon=True).start()
        return again

    def start_live(self, name: str) -> LiveStream:
        """Begin a session whose pieces are still to come."""
        return LiveStream(self._begin(name, "live", ReadOptions()), self.max_bytes)

    def open_sink(self, about: Mapping[str, object]) -> LiveStream:
        """Begin a session for a stream that passes the proxy."""
        return self.start_live(str(about.get("url", "proxy")))

    def _load(self, name: str, load: Callable[[], Recording]) -> Session:
        session = self._begin(name, "loading", ReadOptions())
        Thread(target=_load_into, args=(session, load), daemon=True).start()
        return session

    def _begin(self, name: str, state: State, options: ReadOptions) -> Session:
        with self._lock:
            session = Session(token_hex(6), self._unique_name(name[:200]), state, options)
            over = [each.id for each in self.sessions.values() if each.state != "live"]
            for session_id in over[: max(0, len(self.sessions) + 1 - _MOST_SESSIONS)]:
                del self.sessions[session_id]
            self.sessions[session.id] = session
        return session

    def _unique_name(self, name: str) -> str:
        """Return a name that no other session has."""
        names = {each.name for each in self.sessions.values()}
        return next(each for each in chain([name], (f"{name} ({at})" for at in count(2))) if each not in names)


class LiveStream:
    """A stream that is still arriving; its times are counted from here on."""

    def __init__(self, session: Session, max_bytes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.session: Final = session
        self._max_bytes: Final = max_bytes
        self._clock: Final = clock
        self._started: Final = clock()

    def write(self, data: bytes) -> None:
        """Add a piece that came just now; raise `TooLargeError` where it becomes too much."""
        if len(self.session.raw) + len(data) > self._max_bytes:
            message = describe_limit(self._max_bytes)
            self.finish("stopped", message)
            raise TooLargeError(message)
        if data:
            self.session.add(Piece(self._clock() - self._started, data))

    def finish(self, end: End = "over", error: str | None = None) -> None:
        self.session.finish(end, error, self._clock() - self._started)


def describe_limit(max_bytes: int) -> str:
    return f"more than {max_bytes / 1_000_000:g} MB; the studio takes no more of one stream"


def _load_into(session: Session, load: Callable[[], Recording]) -> None:
    try:
        recording = load()
    except (JsontideError, OSError, ValueError) as error:
        session.fail(str(error))
        return
    fill(session, recording)


def fill(session: Session, recording: Recording) -> None:
    """Read all pieces of a recording, and its end."""
    session.expected = len(recording.pieces)
    session.is_timed = recording.duration > 0
    try:
        for number, piece in enumerate(recording.pieces, 1):
            session.add(piece)
            if number % _BATCH == 0:
                time.sleep(0)  # gives other threads a turn
        session.finish(*recording.ending(waits=session.moments[-1].waits), recording.duration)
    finally:
        if session.state == "loading":
            session.fail(f"piece {len(session.pieces)} cannot be read; the studio has printed why")
