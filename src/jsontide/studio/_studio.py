"""The sessions of a studio: made from files, uploads, pasted text and live streams; the oldest ones make room.

Recordings are loaded in threads of their own, piece by piece, so that they can be looked at while they load.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from secrets import token_hex
from threading import Lock, Thread
from typing import Final

from jsontide._errors import JsontideError
from jsontide.recordings import End, Piece, Recording
from jsontide.studio._session import Reading, Session, State

_MOST_SESSIONS: Final = 16
_BATCH: Final = 200


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
        """Begin to load what was dropped onto the page."""
        return self._load(name, lambda: Recording.loads(data))

    def open_recording(self, name: str, recording: Recording, reading: Reading | None = None) -> Session:
        """Begin to read a recording that is loaded already."""
        session = self._begin(name, "loading", reading or Reading())
        Thread(target=fill, args=(session, recording), daemon=True).start()
        return session

    def read_again(self, session: Session, reading: Reading) -> Session:
        """Read the pieces of a session in another way; it keeps its id."""
        again = Session(session.id, session.name, "loading", reading)
        with self._lock:
            self.sessions[session.id] = again
        Thread(target=fill, args=(again, session.to_recording()), daemon=True).start()
        return again

    def start_live(self, name: str) -> LiveStream:
        """Begin a session whose pieces are still to come."""
        return LiveStream(self._begin(name, "live", Reading()), self.max_bytes)

    def open_sink(self, about: Mapping[str, object]) -> LiveStream:
        """Begin a session for a stream that passes the proxy."""
        return self.start_live(str(about.get("url", "proxy")))

    def _load(self, name: str, load: Callable[[], Recording]) -> Session:
        session = self._begin(name, "loading", Reading())
        Thread(target=_load_into, args=(session, load), daemon=True).start()
        return session

    def _begin(self, name: str, state: State, reading: Reading) -> Session:
        session = Session(token_hex(6), name[:200], state, reading)
        with self._lock:
            over = [each.id for each in self.sessions.values() if each.state != "live"]
            for session_id in over[: max(0, len(self.sessions) + 1 - _MOST_SESSIONS)]:
                del self.sessions[session_id]
            self.sessions[session.id] = session
        return session


class LiveStream:
    """What comes while it comes; its times are counted from here on."""

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
                time.sleep(0)  # lets those in that look at it
        session.finish(recording.end or "over", recording.error, recording.duration)
    finally:
        if session.state == "loading":
            session.fail(f"piece {len(session.pieces)} cannot be read; what the studio printed says why")
