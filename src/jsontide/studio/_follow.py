"""A studio in, what grows in it out, as server-sent events for `jsontide.js`: its sessions, and the lanes of one.

    {"listens": true, "proxy": null,
     "sessions": [{"id": ..., "count": 12, ...}],
     "lanes": [{"path": ..., "first": {"n": 3, "at": 0.4}, ...}], "pulse": [...]}

The value is looked at some times a second, and only what is new in it is sent.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Any, Final

import anyio
from anyio.to_thread import run_sync

from jsontide._values import MISSING
from jsontide.deltas import CompactWriter, write_json
from jsontide.studio._studio import Studio
from jsontide.studio._summary import find_changes

_INTERVAL: Final = 0.1
_KEEP_ALIVE: Final = 15.0


async def follow(studio: Studio, session_id: str | None) -> AsyncIterator[bytes]:
    """Give the value as it is, then what is new in it, until the reader leaves."""
    writer, quiet_since = CompactWriter(), time.monotonic()
    before: object = MISSING
    known: object = None
    while True:
        version = [(each.id, each.count, each.state) for each in studio.list()]
        if version != known:
            known = version
            now: Any = await run_sync(summarize, studio, session_id)
            writer, events = writer.write(find_changes(before, now))
            before = now
            yield "".join([f"data: {write_json(event)}\n\n" for event in events]).encode()
            quiet_since = time.monotonic()
        elif time.monotonic() - quiet_since > _KEEP_ALIVE:
            yield b":\n\n"
            quiet_since = time.monotonic()
        await anyio.sleep(_INTERVAL)


def summarize(studio: Studio, session_id: str | None) -> dict[str, Any]:
    """Return what is known about all sessions, and about one in more detail."""
    session = studio.sessions.get(session_id or "")
    sessions = [each.summary() for each in studio.list()]
    value: dict[str, Any] = {"listens": studio.listens, "proxy": studio.proxy, "sessions": sessions}
    value |= {"lanes": [], "pulse": []}
    if session is not None:
        with session.lock:
            value |= {"lanes": session.lanes(), "pulse": session.pulse()}
    return value
