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

Rule: a value is sent as Python shows it: with a schema, what the schema shows; mended, if bad JSON is mended.

A front end may also keep an answer, the arguments of tools, or a document alone in a state: each value stands at its
key there, and its first change sets it, whatever stood there before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from mimetypes import guess_type
from operator import itemgetter
from typing import ClassVar, Final, Literal, TypeAlias, cast

from jsontide._path import Path
from jsontide._values import MISSING, JsonValue, write_json
from jsontide.frontends.base import DescribeError, NativeStreamed, describe_error
from jsontide.frontends.changes import (
    AppendText,
    Change,
    Finish,
    SetValue,
    apply_changes,
    compare_values,
    move_changes,
    open_path,
    read_changes,
)
from jsontide.messages.calls import BaseCall, CompleteCall, Part, PartialCall, ServerCall
from jsontide.messages.document import Document
from jsontide.messages.message import FinalAnswer, Message
from jsontide.messages.parts import File, GrowingPart, Other, ReasoningPart, Source, TextPart
from jsontide.messages.progress import has_run, kind_of
from jsontide.messages.record import Record
from jsontide.messages.types import Citation, ErrorDetail, Outcome, Usage
from jsontide.tree import ParserState

Arguments: TypeAlias = Literal["values", "text"]
_ANSWER: Final = "answer"
_STATUS: Final = "status"
_NAMED: Final = ("id", "model", "provider", "finish_reason")
_FILE: Final = ("media_type", "url", "id", "data")
_LARGEST_EXACT: Final = 2**53
_ANY_FILE: Final = "application/octet-stream"
_FIRST_BYTES: Final = {
    "iVBORw0KGgo": "image/png",
    "/9j/": "image/jpeg",
    "R0lGOD": "image/gif",
    "JVBERi0": "application/pdf",
}
"""How the data of files begins that providers give without a type, in base64."""


def message_changes(
    before: Message | None,
    after: Message,
    arguments: Arguments = "values",
    describe_error: DescribeError = describe_error,
) -> list[Change]:
    """Return what changed from one message of a stream to a later one; without one before, all of it is set.

    `describe_error` gives the words for each error; by default, not those of a provider.
    """
    if before is after:
        return []
    before = _if_continued(before, after)
    old = Message() if before is None else before
    difference = _MessageDifference(old, after, arguments)
    changes = difference.changes
    if before is None:
        value: dict[str, JsonValue] = {"role": after.role, _STATUS: Outcome.STREAMING.value, "parts": []}
        changes.append(SetValue((), value, ("parts",)))
    for name in _NAMED:
        now = getattr(after, name)
        if now is not None and now != getattr(old, name):
            changes.append(SetValue((name,), now))
    difference.add_parts()
    difference.add_answer((_ANSWER,))
    if after.usage is not None and after.usage != old.usage:
        changes.append(SetValue(("usage",), plain_usage(after.usage)))
    if after.outcome is not Outcome.STREAMING:
        if after.errors:
            errors: list[JsonValue] = [_plain_error(error, describe_error) for error in after.errors]
            changes.append(SetValue(("errors",), errors))
        changes += [Finish(("parts",)), SetValue((_STATUS,), after.outcome.value), Finish(())]
    return changes


def message_value(message: Message) -> JsonValue:
    """Return a message as the value that a browser shows.

    >>> from jsontide import stream_message
    >>> *_, message = stream_message([{"message": {"content": "Hi"}, "done": True}])
    >>> message_value(message)["parts"]
    [{'type': 'text', 'text': 'Hi'}]
    """
    return cast("JsonValue", apply_changes(MISSING, message_changes(None, message)))


def _if_continued(before: Message | None, after: Message) -> Message | None:
    """Return the message before, `None` if something in it is gone: no change takes a member away."""
    if before is not None and any([getattr(after, name) is None is not getattr(before, name) for name in _NAMED]):
        return None
    return before


def is_answer_text(message: Message) -> bool:
    """Return whether the text of a message is its answer, which is sent as a value; at the end only if it is valid.

    The arguments of a call can be the answer too, with prose beside them.
    """
    is_valid = message.outcome is Outcome.STREAMING or isinstance(message.answer_state, FinalAnswer)
    return is_valid and message.text_is_answer


class _MessageDifference:
    """Collects the changes from one message to a later one."""

    __slots__ = ("after", "arguments", "before", "changes", "is_answer", "is_over")

    def __init__(self, before: Message, after: Message, arguments: Arguments = "values") -> None:
        self.changes: Final[list[Change]] = []
        self.before: Final = before
        self.after: Final = after
        self.arguments: Final = arguments
        self.is_over: Final = after.outcome is not Outcome.STREAMING
        self.is_answer: Final = is_answer_text(after)

    def add_parts(self) -> None:
        old = self.before.parts
        is_prose = is_answer_text(self.before) and not self.is_answer
        for at, part in enumerate(self.after.parts):
            path: Path = ("parts", at)
            if at >= len(old) or (is_prose and isinstance(part, TextPart)):
                self._set_part(path, part)
            elif old[at] is not part:
                self._grow_part(path, old[at], part)
            elif self.is_over and isinstance(part, ServerCall) and not _is_finished(part, is_over=False):
                self._finish_call(path, part)

    def _set_part(self, path: Path, part: Part) -> None:
        if isinstance(part, BaseCall):
            self._set_call(path, part)
        elif isinstance(part, TextPart) and self.is_answer:
            self.changes.append(SetValue(path, {"type": _ANSWER}))
        elif isinstance(part, GrowingPart):
            value: dict[str, JsonValue] = {"type": kind_of(part), "text": part.text}
            if isinstance(part, TextPart) and part.citations:
                value["citations"] = _plain_citations(part)
            self.changes.append(SetValue(path, value, ("text",) if part.is_open else None))
        else:
            self.changes.append(SetValue(path, plain_part(part)))

    def _grow_part(self, path: Path, old: Part, part: Part) -> None:
        if isinstance(part, BaseCall) and isinstance(old, BaseCall):
            self._grow_call(path, old, part)
        elif isinstance(part, TextPart) and self.is_answer:
            return
        elif isinstance(part, GrowingPart) and type(part) is type(old) and old.is_open:
            self._grow_text(path, cast("GrowingPart", old), part)
        else:  # such as a text that goes on after its end
            self._set_part(path, part)

    def _grow_text(self, path: Path, old: GrowingPart, part: GrowingPart) -> None:
        text = part.growing_text
        delta = text.tail(text.length - old.growing_text.length)
        if delta:
            self.changes.append(AppendText((*path, "text"), delta))
        if isinstance(part, TextPart) and isinstance(old, TextPart) and len(part.citations) > len(old.citations):
            self.changes.append(SetValue((*path, "citations"), _plain_citations(part)))
        if not part.is_open:
            self.changes.append(Finish((*path, "text"), 2))

    def _set_call(self, path: Path, call: BaseCall) -> None:
        is_server = isinstance(call, ServerCall)
        value = _without_none({"type": "server_call" if is_server else "call", "id": call.id, "name": call.name})
        if isinstance(call, ServerCall) and call.result is not MISSING:
            value["result"] = call.result
        if _is_finished(call, is_over=self.is_over):  # at once, so that its arguments stay the same object
            shown = call.arguments if self.arguments == "text" else call.partial
            if shown is not MISSING:
                value["arguments"] = shown
            self.changes.append(SetValue(path, value | _without_none({_STATUS: _status_of(call)})))
            return
        self.changes.append(SetValue(path, value, ()))
        self._grow_open_call(path, ServerCall() if is_server else PartialCall(is_open=True), call, is_new=True)

    def _grow_call(self, path: Path, old: BaseCall, call: BaseCall) -> None:
        if not _goes_on(old, call):
            self._set_call(path, call)
            return
        if call.id is not None and call.id != old.id:
            self.changes.append(SetValue((*path, "id"), call.id))
        if call.name is not None and call.name != old.name:
            self.changes.append(SetValue((*path, "name"), call.name))
        result = call.result if isinstance(call, ServerCall) else MISSING
        if result is not MISSING and result != getattr(old, "result", MISSING):
            self.changes.append(SetValue((*path, "result"), result))
        self._grow_open_call(path, old, call, is_new=False)

    def _grow_open_call(self, path: Path, old: BaseCall, call: BaseCall, *, is_new: bool) -> None:
        """Add the changes of the arguments of a call, and of its status."""
        where = (*path, "arguments")
        if self.arguments == "values":
            self._grow_arguments(where, old.document, call)
        else:
            self._grow_arguments_text(where, old, call, is_new=is_new)
        status = _status_of(call)
        if status is not None and (is_new or status != _status_of(old)):
            self.changes.append(SetValue((*path, _STATUS), status))
        if _is_finished(call, is_over=self.is_over):
            self._finish_call(path, call)

    def _finish_call(self, path: Path, call: BaseCall) -> None:
        """Finish a call, and the open values in its arguments."""
        where = (*path, "arguments")
        if self.arguments == "text":
            self.changes.append(Finish(where))
        else:
            self._finish_arguments(where, call)
        self.changes.append(Finish(path))

    def change_arguments(self, path: Path, old: BaseCall | None, call: BaseCall) -> None:
        """Add the changes of the arguments of a call, which stand at a path of their own."""
        if old is call:
            return
        self._grow_arguments(path, old.document if old is not None and _goes_on(old, call) else None, call)
        if _is_finished(call, is_over=self.is_over):
            self._finish_arguments(path, call)

    def _grow_arguments(self, path: Path, before: Document | None, call: BaseCall) -> None:
        """Add the changes of the arguments as a value."""
        after = call.document
        if after is not None:
            self._grow_document(path, before, after)
        elif call.partial is not MISSING:
            self._finish_document(path, before, call.partial)

    def _grow_arguments_text(self, path: Path, old: BaseCall, call: BaseCall, *, is_new: bool) -> None:
        text, before = call.growing_text, old.growing_text
        if is_new or (isinstance(call, ServerCall) and not text.read().startswith(before.read())):
            self.changes.append(SetValue(path, text.read(), ()))  # some providers write all of it again
        elif text.length > before.length:
            self.changes.append(AppendText(path, text.tail(text.length - before.length)))

    def _finish_arguments(self, path: Path, call: BaseCall) -> None:
        document = call.document
        if document is not None and document.is_shown and not document.has_schema:
            self._finish_parse(path, document)

    def _finish_parse(self, path: Path, document: Document) -> None:
        """Finish the open values of a document without a schema."""
        inside = open_path(document.state)
        if inside is not None:
            self.changes.append(Finish((*path, *inside), len(inside) + 1))

    def _grow_document(self, path: Path, before: Document | None, after: Document) -> None:
        """Add the changes of a growing document: of its parse or, with a schema, of the value that the schema shows."""
        if not after.is_shown:
            return
        old = before if before is not None and before.is_shown else None
        if after.has_schema:
            found = compare_values(MISSING if old is None else old.value, after.value, is_complete=False)
        else:
            found = read_changes(None if old is None else old.state, after.state)
        self.changes.extend(move_changes(found, path))

    def _finish_document(self, path: Path, before: Document | None, value: JsonValue) -> None:
        """Add the end of a document whose whole value is decided."""
        if before is None or before.value is MISSING or before.value != value:
            self.changes.append(SetValue(path, value))
        elif before.has_schema:
            self.changes.extend(move_changes(compare_values(value, value, is_complete=True), path))
        else:
            self._finish_parse(path, before)

    def add_answer(self, path: Path) -> None:
        old, answer = self.before.answer_state, self.after.answer_state
        document = old if isinstance(old, Document) else None
        if isinstance(answer, FinalAnswer):
            self._finish_document(path, document, cast("JsonValue", answer.value))
        elif answer is not None and answer is not old:
            self._grow_document(path, document, answer)


def _goes_on(old: BaseCall, call: BaseCall) -> bool:
    """Return whether a call only grew: its kind is the same, it was not finished, and it has all that it had.

    No change takes a member away, and a finished value does not change any more.
    """
    if isinstance(old, ServerCall) is not isinstance(call, ServerCall) or _is_finished(old, is_over=False):
        return False
    if isinstance(old, ServerCall) and isinstance(call, ServerCall):
        lost_status = old.status is not None and call.status is None
        if lost_status or (old.result is not MISSING and call.result is MISSING):
            return False
    return _has_arguments(call) or not _has_arguments(old)


def _has_arguments(call: BaseCall) -> bool:
    document = call.document
    return call.partial is not MISSING if document is None else document.is_shown


def _is_finished(call: BaseCall, *, is_over: bool) -> bool:
    """Return whether a call will not change any more; one that broke off never is finished.

    The result of a tool that the provider runs may come long after the arguments.
    """
    if isinstance(call, ServerCall):
        return not call.is_open and (is_over or has_run(call))
    return isinstance(call, CompleteCall)


def _status_of(call: BaseCall) -> str | None:
    if isinstance(call, ServerCall):
        return call.status
    return Outcome.COMPLETE.value if isinstance(call, CompleteCall) else cast("PartialCall", call).status.value


def plain_part(part: Part) -> dict[str, JsonValue]:
    """Return a part that comes whole as JSON: a source, a file, or something else."""
    if isinstance(part, Source):
        return _without_none({"type": "source", "url": part.url, "title": part.title})
    if isinstance(part, File):
        return _without_none({"type": "file", **{name: getattr(part, name) for name in _FILE}})
    raw = cast("Other", part)
    return {"type": "other", "name": raw.type, "value": raw.raw}


def media_type_of(file: File) -> str:
    """Return the media type of a file: the provider's, else one that its first bytes or its name suggest."""
    if file.media_type is not None:
        return file.media_type
    for start, media_type in _FIRST_BYTES.items():
        if file.data is not None and file.data.startswith(start):
            return media_type
    name = (file.url or "").partition("?")[0].partition("#")[0]
    return guess_type(name)[0] or _ANY_FILE


def part_metadata(part: Part, provider: str | None, *, exact: bool = False) -> dict[str, JsonValue] | None:
    """Return what the provider needs to have back with a part, and the part has no other place for on a wire.

    Two levels, as Vercel's clients demand; `arguments` is there where JavaScript would change a number in them, unless
    they are text on the wire, and `exact`.
    """
    known: dict[str, JsonValue] = {"item_id": part.item_id}
    if isinstance(part, ReasoningPart):
        known |= {"signature": part.signature, "encrypted": part.encrypted, "redacted": part.redacted or None}
    # Why a tool of the provider failed stays on the server, as all that it says in errors; nobody needs it back.
    if extra := {key: value for key, value in part.extra.items() if key != "error"}:
        known["extra"] = extra
    if not exact and isinstance(part, CompleteCall) and not _is_exact(part.arguments_value):
        known["arguments"] = write_json(part.arguments_value) if part.repairs else part.arguments
    known = _without_none(known)
    return {"jsontide": {**_without_none({"provider": provider}), **known}} if known else None


def _is_exact(value: JsonValue) -> bool:
    """Return whether a value is the same after JavaScript has read and written it."""
    todo: list[object] = [value]
    while todo:
        one = todo.pop()
        if isinstance(one, dict):
            todo += one.values()
        elif isinstance(one, list):
            todo += one
        elif (isinstance(one, float) and one.is_integer()) or (isinstance(one, int) and abs(one) > _LARGEST_EXACT):
            return False
    return True


def _plain_citations(part: TextPart) -> JsonValue:
    return [_named(citation) for citation in part.citations]


def plain_usage(usage: Usage) -> dict[str, JsonValue]:
    """Return the known token counts of a message as JSON."""
    return _named(usage)


def _named(value: Citation | Usage) -> dict[str, JsonValue]:
    return _without_none({each.name: getattr(value, each.name) for each in fields(value) if each.name != "raw"})


def _plain_error(error: ErrorDetail, describe: DescribeError) -> JsonValue:
    plain: dict[str, JsonValue] = {"kind": error.kind.value, "message": describe(error)}
    if error.path:
        plain["path"] = list(error.path)
    return plain


def _without_none(named: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: value for name, value in named.items() if value is not None}


class StateKeys(Record):
    """Where values stand in the state of a front end."""

    __slots__ = ("answer", "tools")

    FIELDS: ClassVar[tuple[str, ...]] = ("answer", "tools")

    def __init__(self, answer: str | None, tools: Mapping[str, str]) -> None:
        if answer in tools.values():
            message = f"the answer and the arguments of a tool cannot both be at {answer!r}"
            raise ValueError(message)
        self.answer: Final = answer
        """The key of the answer and of a document alone; without one, a document is the whole state."""
        self.tools: Final = tools
        """The key of each tool whose arguments are shown."""

    def follow(self, message: Message) -> dict[int, str]:
        """Return which parts are shown at which key, in order: of each tool, the last call."""
        found: dict[str, int] = {}
        for at, part in enumerate(message.parts):
            key = self.tools.get(part.name or "") if isinstance(part, BaseCall) else None
            if key is not None:
                found[key] = at
        return {at: key for key, at in sorted(found.items(), key=itemgetter(1))}

    def measure(self, growing: NativeStreamed) -> int:
        """Return how many characters were read of the values that are shown."""
        if isinstance(growing, ParserState):
            return growing.index
        answer = growing.answer_state
        parts = [growing.parts[at] for at in self.follow(growing)]
        calls = sum([part.growing_text.length for part in parts if isinstance(part, BaseCall)])
        return calls + (answer.state.index if isinstance(answer, Document) else 0)

    def changes(self, before: NativeStreamed | None, after: NativeStreamed) -> list[Change]:
        """Return the changes of the state; without a state before, the whole value is set."""
        if isinstance(after, ParserState):
            root: Path = () if self.answer is None else (self.answer,)
            return move_changes(read_changes(before if isinstance(before, ParserState) else None, after), root)
        followed = self.follow(after)
        if before is after or not (followed or (self.answer is not None and after.answer_state is not None)):
            return []
        old = _if_continued(before if isinstance(before, Message) else None, after) or Message()
        known = self.follow(old)
        difference = _MessageDifference(old, after)
        for index, key in followed.items():
            if index in known:
                call = cast("BaseCall", after.parts[index])
                difference.change_arguments((key,), cast("BaseCall", old.parts[index]), call)
        if self.answer is not None:
            difference.add_answer((self.answer,))
        for index, key in followed.items():
            if index not in known:
                difference.change_arguments((key,), None, cast("BaseCall", after.parts[index]))
        return difference.changes
