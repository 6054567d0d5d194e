"""The raw bytes of a response in, the events in it out, as plain values.

Which of the two forms it has, server-sent events or newline-delimited JSON, its first character tells.
Rule: nothing raises on a stream. What looks like JSON and is not is told as an error: something was lost there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from jsontide.adapters._ndjson import NdjsonState, decode_ndjson, finish_ndjson
from jsontide.adapters._sse import SseState, decode_sse
from jsontide.messages import CompletionChunk

DONE: Final = "[DONE]"
"""What many servers send after the last event."""
BLANK: Final = b" \t\r\n\xef\xbb\xbf"
_CORRUPT: Final = CompletionChunk(error="an event of the stream is not JSON")


@dataclass(frozen=True, slots=True)
class Undecided:
    """Nothing but white space and a byte order mark so far, of which nothing need be kept but a space before a line."""

    before: bytes = b""


WireState: TypeAlias = Undecided | SseState | NdjsonState


def decode_wire(state: WireState, chunk: str | bytes) -> tuple[WireState, list[object]]:
    """Return the state after a chunk, and the events that it completed; `DONE` where the server says so."""
    data = chunk.encode("utf-8", "replace") if isinstance(chunk, str) else bytes(chunk)
    if isinstance(state, Undecided):
        data = state.before + data
        state = _decided(data)
    match state:
        case Undecided():
            return state, []
        case SseState():
            state, events = decode_sse(state, data)
            return state, _read(event.data for event in events) + _failure(state)
        case NdjsonState():
            state, lines = decode_ndjson(state, data)
            return state, _read(lines) + _failure(state)


def finish_wire(state: WireState) -> list[object]:
    """Return the events that the end of the stream completes."""
    return _read(finish_ndjson(state)) if isinstance(state, NdjsonState) else []


def _failure(state: SseState | NdjsonState) -> list[object]:
    return [] if state.error is None else [CompletionChunk(error=state.error)]


def _decided(data: bytes) -> WireState:
    begun = data.lstrip(BLANK)[:1]
    if not begun:
        return Undecided(b" " if data.endswith((b" ", b"\t")) else b"")
    return NdjsonState() if begun == b"{" else SseState()


def _read(texts: Iterable[str]) -> list[object]:
    return [event for event in map(_event, texts) if event is not None]


def _event(text: str) -> object:
    text = text.strip()
    if text == DONE:
        return DONE
    if not text.startswith("{"):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _CORRUPT
