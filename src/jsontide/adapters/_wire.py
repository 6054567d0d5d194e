"""The raw bytes of a response in, the events in it out, as plain values.

Which of the two forms it has, server-sent events or newline-delimited JSON, its first character tells.
Rule: nothing raises on a stream. What looks like JSON and is not is told as an error: something was lost there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from jsontide.adapters._chunks import Chunk
from jsontide.adapters._ndjson import NdjsonState, decode_ndjson, finish_ndjson
from jsontide.adapters._sse import SseState, decode_sse
from jsontide.messages import CompletionChunk

DONE: Final = "[DONE]"
"""What many servers send after the last event."""
BLANK: Final = b" \t\r\n\xef\xbb\xbf"
_CORRUPT: Final = CompletionChunk(error="an event of the stream is not JSON")


@dataclass(frozen=True, slots=True)
class Undecided:
    """Nothing but white space and a byte order mark so far, which may be cut off."""

    after_space: bool = False
    """Whether there is a space before what comes next: such a line is no field of an event."""


WireState: TypeAlias = Undecided | SseState | NdjsonState


def decode_wire(state: WireState, chunk: Chunk) -> tuple[WireState, list[object]]:
    """Return the state after a chunk, and the events that it completed; `DONE` where the server says so."""
    data = chunk.encode("utf-8", "replace") if isinstance(chunk, str) else bytes(chunk)
    if isinstance(state, Undecided):
        state, data = _decided(state, data)
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


def _decided(state: Undecided, data: bytes) -> tuple[WireState, bytes]:
    """Return the form of the stream, if it is known now, and what there is to read."""
    begun = data.lstrip(BLANK)
    blank = data.removesuffix(begun)
    after_space = blank.endswith((b" ", b"\t")) if blank else state.after_space
    if not begun:
        return Undecided(after_space), b""
    return NdjsonState() if begun.startswith(b"{") else SseState(), b" " * after_space + begun


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
