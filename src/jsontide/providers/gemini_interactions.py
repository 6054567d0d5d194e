"""Gemini's Interactions API.

In: an event as dict or SDK object. Out: notes on a draft.
A message is made of steps, which events name by their position. A step is a thought, output of the model (text, images
and so on), a call, or what a tool of the server returned: the result of the call that it names.

Rule: what no part describes is kept as it is.
Where the server keeps the conversation, `previous_interaction_id` stands for the message, and only results are sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from jsontide._values import MISSING, JsonValue
from jsontide.messages.calls import CompleteCall, Part, PartialCall, ServerCall
from jsontide.messages.document import write_json
from jsontide.messages.draft import NO_INDEX, NO_KEY, CallDelta, Draft
from jsontide.messages.message import Message
from jsontide.messages.options import ToolResult, to_plain
from jsontide.messages.parts import File, Other, ReasoningPart, TextPart
from jsontide.messages.types import Citation
from jsontide.providers import gemini
from jsontide.providers.base import (
    NOT_STARTED,
    Form,
    Item,
    MessageStart,
    Provider,
    Reader,
    Shown,
    UsageNames,
    arguments_object,
    arguments_of,
    as_dict,
    check_block,
    check_delta,
    check_places,
    check_rest,
    check_unknown,
    count_of,
    created_of,
    describe_error,
    dict_of,
    fields_in,
    index_in,
    integer_of,
    is_object,
    keep_metadata,
    list_of,
    plain,
    read_error,
    rest_of,
    text_of,
)
from jsontide.providers.gemini import count_chars
from jsontide.providers.strict import ToolRules

_NAME: Final = "gemini_interactions"
_CALL_FIELDS: Final = frozenset(("arguments", "id", "name", "type"))
_FILE_FIELDS: Final = frozenset(("data", "mime_type", "uri"))
_RESULT_FIELDS: Final = frozenset(("result", "type"))
_THOUGHT_FIELDS: Final = frozenset(("signature", "summary", "type"))

_USAGE: Final = UsageNames(
    input_tokens="total_input_tokens + total_tool_use_tokens or total_tool_use_tokens",
    output_tokens="total_output_tokens + total_thought_tokens or total_thought_tokens",
    total_tokens="total_tokens",
    cached_tokens="total_cached_tokens",
    reasoning_tokens="total_thought_tokens",
)


def read_usage(draft: Draft, usage: dict[str, Any]) -> None:
    """Each has the total so far."""
    if not usage or (draft.usage is not None and draft.usage.raw == usage):
        return
    raw = plain(usage)
    check_unknown(draft, "usage", raw)
    if isinstance(raw, dict):
        draft.set_usage(_USAGE.read(usage, {name: value for name, value in raw.items() if value is not None}))


def begin_thought(draft: Draft, key: int, step: dict[str, Any]) -> None:
    """A thought may be nothing but a signature, and has its place among the parts nevertheless."""
    if draft.find(key) is None or key == NO_KEY:
        signature, extra = text_of(step, "signature"), rest_of(step, _THOUGHT_FIELDS)
        draft.set_part(key, ReasoningPart("", signature, False, None, draft.count, True, None, extra or None))


def sign(draft: Draft, key: int, signature: str | None) -> None:
    at = draft.find_at(key)
    if at >= 0 and isinstance(draft.part_at(at), ReasoningPart):
        draft.update_part(at, signature=signature)
    else:
        draft.set_part(key, ReasoningPart("", signature, False, None, draft.count, True))


def annotate(draft: Draft, key: int, annotations: list[object]) -> None:
    """Give the text of a step its citations; one without text is kept as it is."""
    if not annotations:
        return
    at = draft.find_at(key)
    part = draft.part_at(at) if at >= 0 else None
    if not isinstance(part, TextPart):
        draft.extend_metadata("annotations", [plain(annotation) for annotation in annotations])
        return
    text = part.text.encode("utf-8", "surrogatepass")
    citations = [_read_citation(as_dict(annotation), text) for annotation in annotations]
    draft.update_part(at, citations=part._citations.add(citations))


def _read_citation(annotation: dict[str, Any], text: bytes) -> Citation:
    raw = plain(annotation)
    return Citation(
        type=text_of(annotation, "type") or "",
        url=text_of(annotation, "url") or text_of(annotation, "document_uri"),
        title=text_of(annotation, "title") or text_of(annotation, "file_name") or text_of(annotation, "name"),
        cited_text=text_of(annotation, "source"),
        start=_find_place(text, count_of(annotation, "start_index")),
        end=_find_place(text, count_of(annotation, "end_index")),
        raw={name: value for name, value in raw.items() if value is not None} if isinstance(raw, dict) else {},
    )


def _find_place(text: bytes, at: int | None) -> int | None:
    """Places are counted in bytes; one that is not in the text is not certain."""
    return None if at is None or at < 0 or at > len(text) else count_chars(text, at)


def read_step_fields(draft: Draft, step: dict[str, Any]) -> None:
    """Keep what stands in a step of output beside its content; a step may have failed."""
    for name, value in step.items():
        if value is None or name == "type" or name == "content":
            continue
        draft.extend_metadata(name, [plain(value)])
        if name == "error":
            draft.finish("error", name)


def read_call(draft: Draft, index: int, key: int, step: dict[str, Any]) -> None:
    arguments = step.get("arguments")
    check_rest(draft, step, _CALL_FIELDS)
    if arguments is None:
        draft.leave_unread(_LACKS_ARGUMENTS)
    # Empty arguments here mean that pieces of them follow.
    text = None if not arguments and isinstance(arguments, (str, dict)) else arguments_of(arguments)
    delta = CallDelta(index, text_of(step, "id"), text_of(step, "name"), text, is_object=is_object(arguments), key=key)
    draft.add_extra(draft.add_call(delta), rest_of(step, _CALL_FIELDS))


def read_server_call(draft: Draft, index: int, key: int, kind: str, step: dict[str, Any]) -> None:
    """A call that the server runs; its arguments come with its beginning, or after that."""
    arguments = step.get("arguments")
    value = plain(arguments)
    is_whole = isinstance(value, dict)
    text = None
    if value:
        text = write_json(value) if is_whole else arguments_of(arguments)
    known = draft.find(key)
    name = None
    if not isinstance(known, ServerCall) or known.name is None:
        name = text_of(step, "name") or kind.removesuffix("_call")
    delta = CallDelta(index, text_of(step, "id"), name, text, is_object=is_whole, on_server=True, key=key)
    at = draft.add_call(delta)
    if 0 <= at < draft.count:
        part = draft.part_at(at)
        if isinstance(part, ServerCall) and part.type != kind:
            draft.update_part(at, type=kind)
    draft.add_extra(at, rest_of(step, _CALL_FIELDS))


def find_called(draft: Draft, kind: str, call_id: str | None) -> int:
    """Return the place of the call that a result answers, or -1."""
    for part in reversed(draft.parts):
        if isinstance(part, ServerCall) and part.result is MISSING:
            is_of_kind = part.type == kind.removesuffix("_result") + "_call"
            if part.id == call_id if call_id else is_of_kind:
                return part.index
    return -1


def describe_result(part: ServerCall, kind: str, step: dict[str, Any]) -> ServerCall:
    """Return a call with its result; the rest of the step that has it is kept under the name of that."""
    known, given = part.extra.get(kind), step.get("result")
    about: dict[str, JsonValue] = {**(known if isinstance(known, dict) else {}), **rest_of(step, _RESULT_FIELDS)}
    result = part.result if given is None else _join_results(part.result, plain(given))
    status = "failed" if about.get("is_error") is True else part.status
    return part.evolve(result=result, status=status, extra={**part.extra, kind: about})


def _join_results(known: object, more: JsonValue) -> object:
    """Return a result after one more piece of it."""
    if isinstance(known, list) and isinstance(more, list):
        return [*known, *more]
    return known + more if isinstance(known, str) and isinstance(more, str) else more


def keep(draft: Draft, key: int, kind: str, said: dict[str, Any]) -> None:
    """Keep a step that no part describes, and what is said about it."""
    part = None if key == NO_KEY else draft.find(key)
    if isinstance(part, Other) and isinstance(part.raw, list):
        draft.set_part(key, Other(part.type, [*part.raw, plain(said)], False, part.index, part.is_open))
    elif part is None:
        draft.set_part(key, Other(kind, [plain(said)], False, draft.count, True))
    else:
        draft.extend_metadata("deltas", [plain(said)])


_FAILED: Final = "failed"
_FAILURES: Final = {_FAILED: "failed", "cancelled": "was cancelled"}
_REASONS: Final = {
    "completed": "stop",
    "requires_action": "tool_calls",
    "incomplete": "length",
    "budget_exceeded": "length",
    "requires_continuation": "length",
}
_EVENT_FIELDS: Final = frozenset(("delta", "event_id", "event_type", "index", "interaction", "step", "type"))
"""The fields of an event that are read, or say nothing of the message."""
_INTERACTION_FIELDS: Final = frozenset(
    (
        "created",
        "error",
        "id",
        "model",
        "object",
        "outputs",
        "steps",
        "usage",
        # What the SDK repeats of the steps.
        "output_audio",
        "output_image",
        "output_text",
        "output_video",
    )
)
_NO_ARGUMENTS: Final = "an event with more arguments of a call has none that can be read"
_LACKS_ARGUMENTS: Final = "the step of a call has no arguments, not even empty ones"
_NO_STEP: Final = "an event with more arguments does not say which call they belong to"
_ADDRESS_FIELDS: Final = frozenset(("event_id", "event_type", "index", "metadata"))
_CALL_DELTAS: Final = ("arguments_delta", "function_call")
_ARGUMENTS_FIELDS: Final = frozenset(("arguments", "type"))
_NO_FIELDS: Final[frozenset[str]] = frozenset()
_USUAL_FIELD_COUNT: Final = 3
"""The fields of a usual delta, beside its id."""
_MEDIA_TYPES: Final = ("image", "audio", "video", "document", "file")
_PLACES: Final = {
    "": _NO_FIELDS,
    "interaction.completed": frozenset(("interaction",)),
    "interaction.created": frozenset(("interaction",)),
    "step.start": frozenset(("step",)),
    "step.stop": _NO_FIELDS,
}
"""The fields that hold something in the events of each kind."""
_DELTA_PLACES: Final = frozenset(("delta",))
_HOLDERS: Final = frozenset(("delta", "step"))
_PART_BITS: Final = 20
"""How many parts a step may have, as a power of two."""


class InteractionsReader(Reader):
    """Reads the events of an interaction."""

    __slots__ = ("breaks", "results", "start")

    FIELDS: ClassVar[tuple[str, ...]] = ("start", "breaks", "results")

    NAME: ClassVar[str] = _NAME

    def __init__(
        self,
        start: MessageStart = NOT_STARTED,
        breaks: dict[int, int] | None = None,
        results: dict[int, int] | None = None,
    ) -> None:
        self.start: Final = start
        self.breaks: Final = {} if breaks is None else breaks
        """How often the text of a step was broken off by an image or the like; most steps are not here."""
        self.results: Final = {} if results is None else results
        """The places of the calls that steps are the results of."""

    def fits(self, event: dict[str, Any]) -> bool:
        return _read_type(event).startswith(("interaction.", "step."))

    def split_whole(self, event: dict[str, Any]) -> list[dict[str, Any]] | None:
        is_named = text_of(event, "object") == "interaction" or "steps" in event or "outputs" in event
        if not is_named or text_of(event, "status") is None:
            return None
        events: list[dict[str, Any]] = [{"event_type": "interaction.created", "interaction": event}]
        for at, item in enumerate(list_of(event, "steps") or list_of(event, "outputs")):
            events.append({"event_type": "step.start", "index": at, "step": _as_step(item)})
            events.append({"event_type": "step.stop", "index": at})
        events.append({"event_type": "interaction.completed", "interaction": event})
        return events

    def read(self, draft: Draft, event: dict[str, Any]) -> Reader:
        kind = _read_type(event)
        if kind == "step.delta":
            return self._read_delta(draft, event)
        if draft.provider is None:
            draft.identify(None, None, None, self.name)
        _read_event(draft, event)
        places = _PLACES.get(kind)
        check_places(draft, event, places or _NO_FIELDS, _NO_FIELDS if places is None else _HOLDERS)
        if kind == "interaction.created":
            return self._begin(draft, event)
        if kind == "step.start":
            step = _unwrap(fields_in(draft, event, "step"))
            return self._read_start(draft, index_in(draft, event, "index"), step)
        if kind == "step.stop":
            index = integer_of(event, "index")
            if index != NO_INDEX:
                draft.close(self._find_key(index))
        elif kind == "interaction.completed":
            _read_end(draft, dict_of(event, "interaction"))
            return self._after_event()
        elif kind == "error":
            draft.fail(describe_error(event.get("error")), plain(event.get("error")))
        elif not read_error(draft, event):
            self._check_unknown(draft, event, kind)
        return self

    def _check_unknown(self, draft: Draft, event: dict[str, Any], kind: str) -> None:
        """Note what may be arguments in an event of a kind that is not known."""
        check_unknown(draft, kind, event)
        if isinstance(draft.find(self._find_key(integer_of(event, "index"))), PartialCall):
            check_delta(draft, event, _ADDRESS_FIELDS)

    def _begin(self, draft: Draft, event: dict[str, Any]) -> Reader:
        interaction = dict_of(event, "interaction")
        start = self.start.start(draft, text_of(interaction or event, "id"))
        if start is None:
            return self
        _read_interaction(draft, interaction)
        return InteractionsReader(start, self.breaks, self.results)

    def _after_event(self) -> InteractionsReader:
        start = self.start.after_event()
        return self if start is self.start else InteractionsReader(start, self.breaks, self.results)

    def _find_key(self, index: int) -> int:
        """Return the key of the part that a step is at."""
        if index == NO_INDEX:
            return NO_KEY
        return (index << _PART_BITS) + (self.breaks.get(index, 0) if self.breaks else 0)

    def _break(self, index: int) -> InteractionsReader:
        """Return the reader after a part that ends the text before it."""
        if index == NO_INDEX:
            return self
        breaks = {**self.breaks, index: self.breaks.get(index, 0) + 1}
        return InteractionsReader(self.start, breaks, self.results)

    def _read_delta(self, draft: Draft, event: dict[str, Any]) -> Reader:
        if draft.provider is None:
            draft.identify(None, None, None, self.name)
        index, delta = index_in(draft, event, "index"), _unwrap(fields_in(draft, event, "delta"))
        if not event.get("delta"):
            draft.lose(_NO_ARGUMENTS)
        if event.get("error"):
            read_error(draft, event)
        if len(event) > _USUAL_FIELD_COUNT + ("event_id" in event):
            check_rest(draft, event, _EVENT_FIELDS)
            check_places(draft, event, _DELTA_PLACES, _HOLDERS)
        metadata = event.get("metadata")
        if metadata is not None:
            read_usage(draft, dict_of(as_dict(metadata), "total_usage"))
        kind = delta.get("type")
        _check_kind(draft, self._find_key(index), kind, delta)
        if kind == "text" and len(delta) == 2 and "text" in delta:
            draft.add_text(self._find_key(index), text_of(delta, "text") or "")
        elif kind == "arguments_delta":
            arguments = delta.get("arguments")
            if index == NO_INDEX:
                draft.lose(_NO_STEP)
            check_rest(draft, delta, _ARGUMENTS_FIELDS)
            text, is_whole = arguments_of(arguments), is_object(arguments)
            draft.add_call(CallDelta(index, None, None, text, is_object=is_whole, key=self._find_key(index)))
        else:
            return self._read_other_delta(draft, index, text_of(delta, "type") or "", delta)
        return self._after_event()

    def _read_other_delta(self, draft: Draft, index: int, kind: str, delta: dict[str, Any]) -> InteractionsReader:
        key, reader = self._find_key(index), self
        if not kind.endswith("_call"):
            check_unknown(draft, "arguments", delta.get("arguments"))
        if kind == "thought_summary":
            reader = self._read_thought(draft, index, dict_of(delta, "content"))
        elif kind == "thought_signature":
            sign(draft, key, text_of(delta, "signature"))
        elif kind == "text_annotation_delta":
            annotate(draft, key, list_of(delta, "annotations"))
        elif kind == "text" or kind in _MEDIA_TYPES:
            reader = self._read_content(draft, index, delta)
        elif kind == "function_call":
            read_call(draft, index, key, delta)
        elif kind.endswith("_call"):
            read_server_call(draft, index, key, kind, delta)
        elif kind.endswith("_result") and kind != "function_result":
            reader = self._read_result(draft, index, kind, delta)
        else:
            part = draft.find(key)
            if part is None or isinstance(part, PartialCall):  # it may be arguments, whatever its type
                check_delta(draft, delta, _NO_FIELDS)
            check_unknown(draft, kind, delta)
            keep(draft, key, kind, delta)
        return reader._after_event()

    def _read_start(self, draft: Draft, index: int, step: dict[str, Any]) -> Reader:
        kind, key, reader = text_of(step, "type") or "", self._find_key(index), self
        if kind == "function_call":
            read_call(draft, index, key, step)
        elif kind == "thought":
            begin_thought(draft, key, step)
            for item in list_of(step, "summary"):
                reader = reader._read_thought(draft, index, _unwrap(as_dict(item)))
        elif kind == "model_output":
            for at, item in enumerate(list_of(step, "content")):
                if at:
                    draft.close(reader._find_key(index))
                    reader = reader._break(index)
                reader = reader._read_content(draft, index, _unwrap(as_dict(item)))
            read_step_fields(draft, step)
        elif kind.endswith("_call"):
            read_server_call(draft, index, key, kind, step)
        elif kind.endswith("_result") and kind != "function_result":
            reader = self._read_result(draft, index, kind, step)
        elif step:
            check_unknown(draft, kind, step)
            keep(draft, key, kind, step)
        return reader._after_event()

    def _read_result(self, draft: Draft, index: int, kind: str, step: dict[str, Any]) -> InteractionsReader:
        """Read what a tool of the server returned."""
        at = self.results.get(index, -1)
        if at < 0:
            call_id = text_of(step, "call_id")
            at = find_called(draft, kind, call_id)
            if at < 0:
                at = draft.count
                name = text_of(step, "name") or kind.removesuffix("_result")
                draft.set_part(self._find_key(index), ServerCall(name, type=kind, id=call_id, index=at, is_open=True))
        part = draft.part_at(at) if at < draft.count else None
        if isinstance(part, ServerCall):
            draft.replace_part(at, describe_result(part, kind, step))
        if index == NO_INDEX or index in self.results:
            return self
        return InteractionsReader(self.start, self.breaks, {**self.results, index: at})

    def _read_thought(self, draft: Draft, index: int, content: dict[str, Any]) -> InteractionsReader:
        text = text_of(content, "text")
        if text is not None:
            draft.add_reasoning(self._find_key(index), text)
            return self
        return self._read_content(draft, index, content)

    def _read_content(self, draft: Draft, index: int, content: dict[str, Any]) -> InteractionsReader:
        """Read something that the model made: text, an image, or whatever else."""
        kind, key = text_of(content, "type") or "", self._find_key(index)
        if kind == "text":
            draft.add_text(key, text_of(content, "text") or "")
            annotate(draft, key, list_of(content, "annotations"))
            return self
        if not content:
            return self
        draft.close(key)
        reader = self._break(index)
        if kind in _MEDIA_TYPES:
            data, url = plain(content.get("data")), text_of(content, "uri")
            part = File(text_of(content, "mime_type"), data if isinstance(data, str) else None, url)
            draft.set_part(
                reader._find_key(index), part.evolve(index=draft.count, extra=rest_of(content, _FILE_FIELDS))
            )
        else:
            draft.set_part(reader._find_key(index), Other(kind, plain(content), False, draft.count))
        return reader._break(index)


def _check_kind(draft: Draft, key: int, kind: object, delta: dict[str, Any]) -> None:
    if kind not in _CALL_DELTAS:
        check_block(draft, key, kind)
    elif "arguments" not in delta:
        draft.lose(_NO_ARGUMENTS)


def _read_type(event: dict[str, Any]) -> str:
    return text_of(event, "event_type") or text_of(event, "type") or ""


def _unwrap(fields: dict[str, Any]) -> dict[str, Any]:
    """The SDK wraps what it does not know."""
    return dict_of(fields, "raw") if fields.get("is_unknown") is True else fields


def _as_step(item: object) -> object:
    """Return an output of the form before there were steps as a step."""
    output = as_dict(item)
    is_content = text_of(output, "type") == "text" or text_of(output, "type") in _MEDIA_TYPES
    return {"type": "model_output", "content": [item]} if is_content else item


def _read_event(draft: Draft, event: dict[str, Any]) -> None:
    """Keep what stands in an event beside what it is about."""
    for name, value in event.items():
        if value is None or name in _EVENT_FIELDS:
            continue
        if name == "error":
            if value:  # an empty one beside something else is no error
                read_error(draft, event)
        elif name == "interaction_id":
            draft.identify(text_of(event, name), None, None, "")
        elif name == "usage":
            read_usage(draft, as_dict(value))
        elif name == "metadata":
            read_usage(draft, dict_of(as_dict(value), "total_usage"))
        elif name == "step_usage":
            draft.extend_metadata(name, [plain(value)])
        else:
            keep_metadata(draft, {name: value})


def _read_interaction(draft: Draft, interaction: dict[str, Any]) -> None:
    """Note the fields of the interaction as a whole."""
    created = created_of(interaction.get("created"))
    draft.identify(text_of(interaction, "id"), text_of(interaction, "model"), created, "")
    read_usage(draft, dict_of(interaction, "usage"))
    keep_metadata(draft, interaction, _INTERACTION_FIELDS)


def _read_end(draft: Draft, interaction: dict[str, Any]) -> None:
    _read_interaction(draft, interaction)
    # A missing status is a normal end; one that is not text is an unknown word.
    status = "completed" if interaction.get("status") is None else text_of(interaction, "status") or "unknown"
    errors = [interaction["error"]] if interaction.get("error") else list_of(interaction, "errors")
    if status in _FAILURES or errors:
        said = text_of(as_dict(errors[0]), "message") if errors else None
        reported = plain(errors[0]) if errors else {"status": status}
        draft.fail(said or f"the interaction {_FAILURES.get(status, _FAILURES[_FAILED])}", reported)
    else:
        draft.finish(_REASONS.get(status, status), status)


_FILE_KINDS: Final = ("image", "audio", "video")


class InteractionsForm(Form):
    """Writes what goes into the next request to the Interactions API."""

    __slots__ = ()

    ITEMS: ClassVar[str] = "input"
    SYSTEM: ClassVar[str] = "system_instruction"

    def write_answer(self, schema: dict[str, Any], *, strict: bool) -> Item:
        return {"response_format": {"type": "text", "mime_type": "application/json", "schema": schema}}

    def write_user(self, parts: Sequence[TextPart | File]) -> list[Item]:
        content = self.write_content(parts)
        return [{"type": "user_input", "content": content}] if content else []

    def find_file(self, file: File) -> Item | None:
        shown = Shown(file)
        if not shown.media_type or shown.link is None:
            return None
        return _write_file(File(shown.media_type, shown.data, shown.url))

    def write_message(self, message: Message) -> list[Item]:
        is_own = message.provider == _NAME
        steps: list[Item] = []
        for part in message.parts:
            for step in _write_part(part, is_own=is_own):
                _add(steps, step)
        return steps

    def write_results(self, results: Sequence[ToolResult]) -> list[Item]:
        """Return the results; a call without a name is left out of requests, and so is its result."""
        return [self.write_result(result) for result in results if result.call.name]

    def write_result(self, result: ToolResult) -> Item:
        call = result.call
        named = {} if call.name is None else {"name": call.name}
        step: Item = {"type": "function_result", "call_id": call.id or "", **named}
        if result.error is not None:
            return {**step, "result": result.text, "is_error": True}
        if result.parts:
            return {**step, "result": self.write_content(result.parts) or result.text}
        output = to_plain(result.output)
        # An object or a text is taken as it is; an array would be one of contents.
        return {**step, "result": output if isinstance(output, (dict, str)) else result.text}

    def write_tool(self, name: str, description: str, parameters: dict[str, Any], *, strict: bool) -> Item:
        described = {"description": description} if description else {}
        return {"type": "function", "name": name, **described, "parameters": parameters}


def _add(steps: list[Item], step: Item) -> None:
    """Add a step; outputs of the model in a row are one. A step that is kept as it came may have no type."""
    if steps and step.get("type") == steps[-1].get("type") == "model_output":
        steps[-1] = {**steps[-1], "content": [*steps[-1]["content"], *step["content"]]}
    else:
        steps.append(step)


def _write_part(part: Part, *, is_own: bool) -> list[Item]:
    if isinstance(part, TextPart):
        return [_write_output(_write_text(part, is_own=is_own))] if part.text else []
    if isinstance(part, (CompleteCall, PartialCall)):
        if part.name is None:
            return []
        extra = part.extra if is_own else {}
        given = {"id": part.id or "", "name": part.name, "arguments": arguments_object(part)}
        return [{"type": "function_call", **given, **extra}]
    if isinstance(part, File) and (is_own or part.media_type):
        return [_write_output(_write_file(part))]
    if not is_own:
        return []
    if isinstance(part, ReasoningPart):
        return [_write_thought(part)]
    if isinstance(part, ServerCall):
        return _write_server_call(part)
    if isinstance(part, Other) and isinstance(part.raw, list):
        return [dict(step) for step in part.raw[:1] if isinstance(step, Mapping)]
    return []


def _write_output(content: Item) -> Item:
    return {"type": "model_output", "content": [content]}


def _write_text(part: TextPart, *, is_own: bool) -> Item:
    cited = [dict(citation.raw) for citation in part.citations if is_own and citation.raw]
    return {"type": "text", "text": part.text, **({"annotations": cited} if cited else {})}


def _write_file(file: File) -> Item:
    media_type = file.media_type or ""
    kind = next((kind for kind in _FILE_KINDS if media_type.startswith(f"{kind}/")), "document")
    content: Item = {"type": kind, **file.extra}
    for name, value in (("mime_type", file.media_type), ("data", file.data), ("uri", file.url)):
        if value is not None:
            content[name] = value
    return content


def _write_thought(part: ReasoningPart) -> Item:
    signature = {} if part.signature is None else {"signature": part.signature}
    summary = {"summary": [{"type": "text", "text": part.text}]} if part.text else {}
    return {"type": "thought", **signature, **summary, **part.extra}


def _write_server_call(call: ServerCall) -> list[Item]:
    """Write a call that the server ran, and its result."""
    result_type = f"{call.type.removesuffix('_call').removesuffix('_result')}_result"
    about = call.extra.get(result_type)
    steps: list[Item] = []
    if call.type != result_type:
        rest = {name: value for name, value in call.extra.items() if name != result_type}
        named = {"name": call.name} if call.name != call.type.removesuffix("_call") else {}
        arguments = call.partial if isinstance(call.partial, Mapping) else {}
        steps.append({"type": call.type, "id": call.id or "", **named, "arguments": arguments, **rest})
    if call.result is not MISSING:
        beside = dict(about) if isinstance(about, Mapping) else {}
        steps.append({"type": result_type, "call_id": call.id or "", **beside, "result": call.result})
    return steps


PROVIDER: Final[Provider] = Provider(
    InteractionsReader(),
    InteractionsForm(),
    tools=ToolRules(
        names=gemini.TOOLS.names,
        names_in_words=gemini.TOOLS.names_in_words,
        why_not_strict="gemini_interactions has no strict tools, but a choice of the whole request: the tool_choice"
        " 'validated'",
        is_plain=True,
        const_as_enum=True,
    ),
    event_prefixes=("interaction.", "step."),
    client_packages=("google",),
)
