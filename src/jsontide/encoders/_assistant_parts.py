"""Steps of a message in, the chunks of assistant-transport out.

Parts are addressed by their place: `part-start` begins the next one, all other chunks name one in their `path`.
Rule: `tool-call-args-text-finish` only for a call that may be run; all other calls get a result, so that nobody runs
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jsontide._values import MISSING, JsonValue
from jsontide.encoders.hostile_keys import safe_value
from jsontide.encoders.message_value import plain_part
from jsontide.encoders.progress import (
    ArgumentsGrew,
    CallFailed,
    CallReady,
    CallStarted,
    PartAdded,
    ServerCallEnded,
    Step,
    TextEnded,
    TextGrew,
    TextStarted,
)
from jsontide.messages.calls import ServerCall
from jsontide.messages.parts import File, Other, Source

_ANY_FILE: Final = "application/octet-stream"


class ChunkWriter:
    """Collects the chunks of one message's steps."""

    def __init__(self, places: Mapping[str, int]) -> None:
        self.chunks: Final[list[dict[str, object]]] = []
        self.places: Mapping[str, int] = places
        """Which part each text and call is."""

    def write(self, step: Step) -> None:
        if isinstance(step, TextStarted):
            self._start(step.id, {"type": "reasoning" if step.kind == "reasoning" else "text"})
        elif isinstance(step, CallStarted):
            self._start(step.id, {"type": "tool-call", "toolCallId": step.id, "toolName": step.name})
        elif isinstance(step, (TextGrew, ArgumentsGrew)):
            self._add("text-delta", step.id, textDelta=step.delta)
        elif isinstance(step, PartAdded):
            self._start(step.id, _whole_part(step.id, step.part))
            self._add("part-finish", step.id)
        elif isinstance(step, (TextEnded, CallReady, CallFailed, ServerCallEnded)):
            self._end(step)

    def _end(self, step: TextEnded | CallReady | CallFailed | ServerCallEnded) -> None:
        if isinstance(step, CallReady):
            self._add("tool-call-args-text-finish", step.id)
        elif isinstance(step, CallFailed):
            self._add("result", step.id, result=f"this call was not run: {step.reason}", isError=True)
        elif isinstance(step, ServerCallEnded):
            call = step.call
            result = None if call.result is MISSING else safe_value(call.result)
            self._add("result", step.id, result=result, isError=_has_failed(call))
        self._add("part-finish", step.id)

    def _start(self, part_id: str, part: dict[str, JsonValue]) -> None:
        self.places = {**self.places, part_id: len(self.places)}
        self.chunks.append({"type": "part-start", "part": part, "path": []})

    def _add(self, chunk: str, part_id: str, **fields: object) -> None:
        self.chunks.append({"type": chunk, **fields, "path": [self.places[part_id]]})


def _has_failed(call: ServerCall) -> bool:
    """Return whether a call has no result, and the provider does not say that it is completed without one."""
    return call.result is MISSING and call.status != "completed"


def _whole_part(part_id: str, part: Source | File | Other) -> dict[str, JsonValue]:
    if isinstance(part, Source) and part.url is not None:
        title: dict[str, JsonValue] = {} if part.title is None else {"title": part.title}
        return {"type": "source", "sourceType": "url", "id": part_id, "url": part.url, **title}
    content = (part.data or part.url) if isinstance(part, File) else None
    if isinstance(part, File) and content is not None:
        return {"type": "file", "data": content, "mimeType": part.media_type or _ANY_FILE}
    plain = plain_part(part)
    if isinstance(part, Other):
        return {"type": "data", "name": part.type, "data": safe_value(part.raw)}
    return {"type": "data", "name": str(plain.pop("type")), "data": plain}
