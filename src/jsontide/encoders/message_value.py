"""A growing message in, the changes of the JSON value that a browser shows out.

    {"role": "assistant", "status": "streaming", "model": "...", "parts": [
        {"type": "reasoning", "text": "..."},
        {"type": "text", "text": "..."},
        {"type": "call", "id": "...", "name": "search", "status": "streaming", "arguments": {...}},
        {"type": "answer"}],
     "answer": {...}, "usage": {...}, "finish_reason": "stop", "errors": [...]}

`status` is the outcome of the message, and of each call: only a call whose status is `complete` may be run.
An answer with a schema is a value, and the part that it was written in has no text.
Arguments and answers grow as values, or arguments as text, if that is asked for.

Rule: a value is told as Python shows it: with a schema, what the schema shows; mended, if bad JSON is mended.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Final, Literal, TypeAlias, cast

from jsontide._path import Path
from jsontide._values import MISSING, JsonValue
from jsontide.deltas import AppendText, Change, Finish, SetValue, compare_values, open_path, read_changes
from jsontide.deltas.changes import move_change
from jsontide.encoders.progress import describe_error, kind_of
from jsontide.messages.calls import BaseCall, CompleteCall, Part, PartialCall, ServerCall
from jsontide.messages.document import Document
from jsontide.messages.growth import answer_of, document_of, has_answer_text, text_of
from jsontide.messages.message import FinalAnswer, Message
from jsontide.messages.parts import File, GrowingPart, Other, Source, TextPart
from jsontide.messages.types import Citation, ErrorDetail, Outcome, Usage

Arguments: TypeAlias = Literal["values", "text"]
_ANSWER: Final = "answer"
_STATUS: Final = "status"
_NAMED: Final = ("id", "model", "provider", "finish_reason")
_FILE: Final = ("media_type", "url", "id", "data")


def message_changes(before: Message | None, after: Message, arguments: Arguments = "values") -> list[Change]:
    """Return what changed from one message of a stream to a later one; without one before, all of it is set."""
    changes: list[Change] = []
    if before is after:
        return changes
    old = Message() if before is None else before
    if before is None:
        value: dict[str, JsonValue] = {"role": after.role, _STATUS: Outcome.STREAMING.value, "parts": []}
        changes.append(SetValue((), value, ("parts",)))
    for name in _NAMED:
        now = getattr(after, name)
        if now is not None and now != getattr(old, name):
            changes.append(SetValue((name,), now))
    _add_parts(old, after, arguments, changes)
    _add_answer(old, after, changes)
    if after.usage is not None and after.usage != old.usage:
        changes.append(SetValue(("usage",), plain_usage(after.usage)))
    if after.outcome is not Outcome.STREAMING:
        _add_end(after, changes)
    return changes


def _add_end(message: Message, changes: list[Change]) -> None:
    if message.errors:
        changes.append(SetValue(("errors",), [_plain_error(error) for error in message.errors]))
    changes.append(Finish(("parts",)))
    changes.append(SetValue((_STATUS,), message.outcome.value))
    changes.append(Finish(()))


def _add_parts(before: Message, after: Message, arguments: Arguments, changes: list[Change]) -> None:
    old, is_answer = before.parts, is_answer_text(after)
    is_prose = is_answer_text(before) and not is_answer
    for at, part in enumerate(after.parts):
        path: Path = ("parts", at)
        if at >= len(old) or (is_prose and isinstance(part, TextPart)):
            _set_part(path, part, is_answer, arguments, changes)
        elif old[at] is not part:
            _grow_part(path, old[at], part, is_answer, arguments, changes)


def is_answer_text(message: Message) -> bool:
    """Return whether the text of a message is its answer, which is told as a value; at the end only if it is valid.

    The arguments of a call can be the answer too, with prose beside them.
    """
    is_valid = message.outcome is Outcome.STREAMING or isinstance(answer_of(message), FinalAnswer)
    return is_valid and has_answer_text(message)


def _set_part(path: Path, part: Part, is_answer: bool, arguments: Arguments, changes: list[Change]) -> None:
    if isinstance(part, BaseCall):
        _set_call(path, part, arguments, changes)
    elif isinstance(part, TextPart) and is_answer:
        changes.append(SetValue(path, {"type": _ANSWER}))
    elif isinstance(part, GrowingPart):
        value: dict[str, JsonValue] = {"type": kind_of(part), "text": part.text}
        if isinstance(part, TextPart) and part.citations:
            value["citations"] = _plain_citations(part)
        changes.append(SetValue(path, value, ("text",) if part.is_open else None))
    else:
        changes.append(SetValue(path, plain_part(part)))


def _grow_part(path: Path, old: Part, part: Part, is_answer: bool, arguments: Arguments, changes: list[Change]) -> None:
    if isinstance(part, BaseCall) and isinstance(old, BaseCall):
        _grow_call(path, old, part, arguments, changes)
    elif isinstance(part, TextPart) and is_answer:
        return
    elif isinstance(part, GrowingPart) and type(part) is type(old) and old.is_open:
        _grow_text(path, cast("GrowingPart", old), part, changes)
    else:  # such as a text that goes on after its end
        _set_part(path, part, is_answer, arguments, changes)


def _grow_text(path: Path, old: GrowingPart, part: GrowingPart, changes: list[Change]) -> None:
    text = text_of(part)
    delta = text.tail(text.length - text_of(old).length)
    if delta:
        changes.append(AppendText((*path, "text"), delta))
    if isinstance(part, TextPart) and isinstance(old, TextPart) and len(part.citations) > len(old.citations):
        changes.append(SetValue((*path, "citations"), _plain_citations(part)))
    if not part.is_open:
        changes.append(Finish((*path, "text"), 2))


def _set_call(path: Path, call: BaseCall, arguments: Arguments, changes: list[Change]) -> None:
    is_server = isinstance(call, ServerCall)
    value = _without_none({"type": "server_call" if is_server else "call", "id": call.id, "name": call.name})
    if isinstance(call, ServerCall) and call.result is not MISSING:
        value["result"] = call.result
    changes.append(SetValue(path, value, ()))
    nothing = ServerCall() if is_server else PartialCall(is_open=True)
    _grow_growing(path, nothing, call, arguments, changes, is_new=True)


def _grow_call(path: Path, old: BaseCall, call: BaseCall, arguments: Arguments, changes: list[Change]) -> None:
    if _status_of(call) is None and _status_of(old) is not None:  # no change takes a member away
        _set_call(path, call, arguments, changes)
        return
    if call.id is not None and call.id != old.id:
        changes.append(SetValue((*path, "id"), call.id))
    if call.name is not None and call.name != old.name:
        changes.append(SetValue((*path, "name"), call.name))
    if isinstance(call, ServerCall) and call.result is not MISSING and call.result != getattr(old, "result", MISSING):
        changes.append(SetValue((*path, "result"), call.result))
    _grow_growing(path, old, call, arguments, changes, is_new=False)


def _grow_growing(
    path: Path, old: BaseCall, call: BaseCall, arguments: Arguments, changes: list[Change], *, is_new: bool
) -> None:
    """Add what is new in the arguments of a call, and in how it stands."""
    where = (*path, "arguments")
    if arguments == "values":
        _grow_arguments(where, old, call, changes)
    else:
        _grow_arguments_text(where, old, call, changes, is_new)
    status = _status_of(call)
    if status is not None and (is_new or status != _status_of(old)):
        changes.append(SetValue((*path, _STATUS), status))
    if _has_ended(old, call, is_new):
        changes.append(Finish(path))


def _status_of(call: BaseCall) -> str | None:
    if isinstance(call, ServerCall):
        return call.status
    return Outcome.COMPLETE.value if isinstance(call, CompleteCall) else cast("PartialCall", call).status.value


def _grow_arguments(path: Path, old: BaseCall, call: BaseCall, changes: list[Change]) -> None:
    """Add what is new in the arguments as a value."""
    before, after = document_of(old), document_of(call)
    if after is not None:
        _grow_document(path, before, after, changes)
    elif call.partial is not MISSING:
        _finish_document(path, before, call.partial, changes)


def _grow_arguments_text(path: Path, old: BaseCall, call: BaseCall, changes: list[Change], is_new: bool) -> None:
    text, before = text_of(call), text_of(old)
    if is_new or (isinstance(call, ServerCall) and not text.read().startswith(before.read())):
        changes.append(SetValue(path, text.read(), ()))  # some providers write all of it again
    elif text.length > before.length:
        changes.append(AppendText(path, text.tail(text.length - before.length)))
    if _has_ended(old, call, is_new):
        changes.append(Finish(path))


def _has_ended(old: BaseCall, call: BaseCall, is_new: bool) -> bool:
    """Return whether a call is finished now: one that broke off never is."""
    is_closed = isinstance(call, ServerCall) and not call.is_open and (old.is_open or is_new)
    return is_closed or isinstance(call, CompleteCall)


def _grow_document(path: Path, before: Document | None, after: Document, changes: list[Change]) -> None:
    """Add what is new in a document that is read: from its parse, or, if it has a schema, in what that shows."""
    if not after.is_shown:
        return
    old = before if before is not None and before.is_shown else None
    if after.resolution is None:
        found = read_changes(None if old is None else old.state, after.state)
    else:
        found = compare_values(MISSING if old is None else old.value, after.value, is_complete=False)
    changes += [move_change(change, (*path, *change.path)) for change in found]


def _finish_document(path: Path, before: Document | None, value: JsonValue, changes: list[Change]) -> None:
    """Add the end of a document whose whole value is decided."""
    if before is None or before.value is MISSING or before.value != value:
        changes.append(SetValue(path, value))
    elif before.resolution is not None:
        ends = compare_values(value, value, is_complete=True)
        changes += [move_change(change, (*path, *change.path)) for change in ends]
    else:
        inside = open_path(before.state)
        if inside is not None:
            changes.append(Finish((*path, *inside), len(inside) + 1))


def _add_answer(before: Message, after: Message, changes: list[Change]) -> None:
    old, answer = answer_of(before), answer_of(after)
    path: Path = (_ANSWER,)
    document = old if isinstance(old, Document) else None
    if isinstance(answer, FinalAnswer):
        _finish_document(path, document, cast("JsonValue", answer.value), changes)
    elif answer is not None and answer is not old:
        _grow_document(path, document, answer, changes)


def plain_part(part: Part) -> dict[str, JsonValue]:
    """Return a part that comes whole as JSON: a source, a file, or something else."""
    if isinstance(part, Source):
        return _without_none({"type": "source", "url": part.url, "title": part.title})
    if isinstance(part, File):
        return _without_none({"type": "file", **{name: getattr(part, name) for name in _FILE}})
    raw = cast("Other", part)
    return {"type": "other", "name": raw.type, "value": raw.raw}


def _plain_citations(part: TextPart) -> JsonValue:
    return [_named(citation) for citation in part.citations]


def plain_usage(usage: Usage) -> JsonValue:
    """Return what a message costs as JSON, without what the provider does not say."""
    return _named(usage)


def _named(value: Citation | Usage) -> JsonValue:
    return _without_none({each.name: getattr(value, each.name) for each in fields(value) if each.name != "raw"})


def _plain_error(error: ErrorDetail) -> JsonValue:
    plain: dict[str, JsonValue] = {"kind": error.kind.value, "message": describe_error(error)}
    if error.path:
        plain["path"] = list(error.path)
    return plain


def _without_none(named: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: value for name, value in named.items() if value is not None}
