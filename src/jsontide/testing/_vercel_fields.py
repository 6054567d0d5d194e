"""The events of Vercel's UI message stream that ai 5, 6 and 7 all accept by default, and their fields, as data.

    kind of event: {field: type}, optional fields end with `?`

A client refuses an event whose field is missing, `null` or of another type, and with it the rest of the stream.
Fields that it does not know it ignores, so a misspelled `providerExecuted` would make it run a tool a second time.
"""

from __future__ import annotations

from typing import Final

_META: Final[dict[str, type]] = {"providerMetadata?": dict}
_CALL: Final[dict[str, type]] = {
    "toolCallId": str,
    "providerExecuted?": bool,
    "dynamic?": bool,
    **_META,
}
_NAMED_CALL: Final[dict[str, type]] = {**_CALL, "toolName": str, "title?": str}

FIELDS: Final[dict[str, dict[str, type]]] = {
    "start": {"messageId?": str, "messageMetadata?": dict},
    "start-step": {},
    "finish-step": {},
    "text-start": {"id": str, **_META},
    "text-delta": {"id": str, "delta": str, **_META},
    "text-end": {"id": str, **_META},
    "reasoning-start": {"id": str, **_META},
    "reasoning-delta": {"id": str, "delta": str, **_META},
    "reasoning-end": {"id": str, **_META},
    "tool-input-start": _NAMED_CALL,
    "tool-input-delta": {"toolCallId": str, "inputTextDelta": str},
    "tool-input-available": {**_NAMED_CALL, "input": object},
    "tool-input-error": {**_NAMED_CALL, "input": object, "errorText": str},
    "tool-output-available": {**_CALL, "output": object, "preliminary?": bool},
    "tool-output-error": {**_CALL, "errorText": str},
    "source-url": {"sourceId": str, "url": str, "title?": str, **_META},
    "source-document": {"sourceId": str, "mediaType": str, "title": str, "filename?": str, **_META},
    "file": {"url": str, "mediaType": str, **_META},
    "message-metadata": {"messageMetadata": dict},
    "error": {"errorText": str},
    "abort": {"reason?": str},
    "finish": {"finishReason?": str, "messageMetadata?": dict},
}
DATA_FIELDS: Final[dict[str, type]] = {"data": object, "id?": str, "transient?": bool}
"""Those of `data-` and any name."""
FINISH_REASONS: Final = ("stop", "length", "content-filter", "tool-calls", "error", "other")
_NAMES: Final = {str: "text", bool: "true or false", dict: "an object"}


def describe_fault(event: dict[str, object]) -> str | None:
    """Return what is wrong with the fields of an event, `None` if they are right."""
    kind = event.get("type")
    if not isinstance(kind, str):
        return "'type' is missing, or no text"
    known = DATA_FIELDS if kind.startswith("data-") else FIELDS.get(kind)
    if known is None:
        return f"{kind!r} is no event that ai 5, 6 and 7 all know"
    for field, wanted in known.items():
        fault = _describe_field(event, field.removesuffix("?"), wanted, is_optional=field.endswith("?"))
        if fault is not None:
            return f"{kind}: {fault}"
    names = {field.removesuffix("?") for field in known}
    strange = [name for name in event if name != "type" and name not in names]
    return f"{kind}: {strange[0]!r} is no field of it" if strange else None


def _describe_field(event: dict[str, object], name: str, wanted: type, *, is_optional: bool) -> str | None:
    if name not in event:
        return None if is_optional else f"{name!r} is missing"
    if wanted is object:
        return None
    if event[name] is None:
        return f"{name!r} is null; what is not known is left out"
    return None if isinstance(event[name], wanted) else f"{name!r} must be {_NAMES[wanted]}"
