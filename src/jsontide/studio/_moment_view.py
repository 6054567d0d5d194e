"""A moment in, what the page shows of it beside its tree out: the message, the repairs, what went wrong.

Everything is bounded: of long texts the end is shown, of many things the last ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Final, TypeAlias

from jsontide._path import path_text
from jsontide._values import MISSING
from jsontide.deltas import AppendText, Change, SetValue, write_json
from jsontide.mend import Repair
from jsontide.messages import Message, ReasoningPart, Refusal, ServerCall, TextPart, Usage
from jsontide.messages.calls import BaseCall
from jsontide.recordings import Moment

View: TypeAlias = dict[str, Any]
_LONG: Final = 2000
_MOST: Final = 60


def shorten(text: str, limit: int = _LONG) -> View:
    """Return the end of a text, and how long it is if that is not all of it."""
    return {"text": text} if len(text) <= limit else {"text": text[-limit:], "length": len(text)}


def describe_changes(changes: Sequence[Change]) -> list[View]:
    """Return the last changes of a moment: what happened, where, and with which text."""
    return [_describe_change(change) for change in changes[-_MOST:]]


def _describe_change(change: Change) -> View:
    where = path_text(change.path)
    if isinstance(change, AppendText):
        return {"what": "append", "path": where, **shorten(change.text, 120)}
    if isinstance(change, SetValue):
        return {"what": "set", "path": where, **_begin(write_json(change.value))}
    return {"what": "finish", "path": where, "text": "" if change.levels == 1 else f"{change.levels} levels"}


def _begin(text: str, limit: int = 120) -> View:
    return {"text": text} if len(text) <= limit else {"text": text[:limit], "length": len(text), "cut": "end"}


def describe_message(message: Message[object] | None) -> View | None:
    """Return the parts of a message, and what is known about all of it."""
    if message is None:
        return None
    known = {name: getattr(message, name) for name in ("provider", "model", "finish_reason")}
    return {
        "outcome": message.outcome.value,
        **{name: value for name, value in known.items() if value is not None},
        "usage": None if message.usage is None else _describe_usage(message.usage),
        "errors": [error.message for error in message.errors[:_MOST]],
        "parts": [_describe_part(part) for part in message.parts[-_MOST:]],
        "hidden": max(0, len(message.parts) - _MOST),
    }


def _describe_usage(usage: Usage) -> View:
    counts = {each.name: getattr(usage, each.name) for each in fields(usage)}
    return {name.replace("_", " "): count for name, count in counts.items() if isinstance(count, int)}


def _describe_part(part: object) -> View:
    view: View = {"type": _type_of(part), "open": bool(getattr(part, "is_open", False))}
    if isinstance(part, BaseCall):
        status = getattr(part, "status", None)
        view |= {"name": part.name, "status": getattr(status, "value", status), **shorten(part.arguments)}
        if part.partial is not MISSING:
            view["partial"] = shorten(write_json(part.partial))["text"]
    elif isinstance(part, TextPart | ReasoningPart | Refusal):
        view |= shorten(part.text)
    else:
        view |= {"text": repr(part)[:_LONG]}
    return view


def _type_of(part: object) -> str:
    if isinstance(part, BaseCall):
        return "server call" if isinstance(part, ServerCall) else "call"
    names = {TextPart: "text", ReasoningPart: "reasoning", Refusal: "refusal"}
    return names.get(type(part), type(part).__name__.lower())


def describe_repairs(moment: Moment) -> list[View]:
    """Return the last repairs so far."""
    return [_describe_repair(repair) for repair in moment.repairs[-_MOST:]]


def _describe_repair(repair: Repair) -> View:
    cut = {"was": repair.was[:200], "became": repair.became[:200]}
    return {"kind": repair.kind.value, "index": repair.index, "lossy": repair.lossy, **cut}


def describe_error(moment: Moment) -> str | None:
    """Return what went wrong so far, in one line."""
    error: Any = moment.error
    return None if error is None else str(getattr(error, "message", error))
