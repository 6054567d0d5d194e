"""Cohere Chat, version 2.

In: an event as dict or SDK object. Out: notes on a draft.
The plan that precedes tool calls is reasoning, marked as a plan, because it is sent back in a field of its own.
Results go back as documents, so that the model can cite them.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from jsontide._values import JsonValue
from jsontide.messages.calls import Part
from jsontide.messages.draft import NO_INDEX, NO_KEY, CallDelta, Draft
from jsontide.messages.message import Message
from jsontide.messages.options import ToolResult, to_plain
from jsontide.messages.parts import File, Other, ReasoningPart, TextPart
from jsontide.messages.types import Citation
from jsontide.providers.base import (
    Form,
    Item,
    Provider,
    Reader,
    Shown,
    StartReader,
    UsageNames,
    arguments_of,
    as_dict,
    check_delta,
    check_entry,
    check_function,
    check_places,
    check_rest,
    check_unknown,
    count_of,
    describe_error,
    dict_of,
    fields_in,
    function_call,
    function_tool,
    index_in,
    integer_of,
    is_object,
    is_own,
    keep_metadata,
    list_of,
    plain,
    read_error,
    text_in,
    text_of,
    written_id,
)
from jsontide.providers.strict import ToolRules

_NAME: Final = "cohere"
_REASONS: Final = {
    "COMPLETE": "stop",
    "STOP_SEQUENCE": "stop_sequence",
    "TOOL_CALL": "tool_calls",
    "MAX_TOKENS": "length",
    "ERROR_LIMIT": "length",
    "ERROR_TOXIC": "content_filter",
}
_FAILURE_REASONS: Final = ("ERROR", "TIMEOUT", "USER_CANCEL")
_TYPE_PREFIXES: Final = ("message-", "content-", "tool-plan-", "tool-call-", "citation-")
_USAGE: Final = UsageNames(
    # All tokens, and not only those that are billed.
    input_tokens="tokens.input_tokens",
    output_tokens="tokens.output_tokens",
    cached_tokens="cached_tokens",
)
_EVENT_FIELDS: Final = frozenset(("delta", "error", "id", "index", "logprobs", "type"))
"""The fields of an event that are read; all others are kept as they are."""
_NO_FIELDS: Final[frozenset[str]] = frozenset()
_DELTA_FIELDS: Final = frozenset(("message",))
_CALL_FIELDS: Final = frozenset(("function", "id", "type"))
_FUNCTION_FIELDS: Final = frozenset(("arguments", "name"))
_END_FIELDS: Final = frozenset(("error", "finish_reason", "usage"))
_MESSAGE_FIELDS: Final = frozenset(("citations", "content", "role", "tool_calls", "tool_plan"))
_NO_ARGUMENTS: Final = "an event with more arguments of a call has none that can be read"
_TEXT_FIELDS: Final = frozenset(("citations", "content", "tool_plan"))
_HOLDERS: Final = _TEXT_FIELDS | {"tool_calls"}
_EVENT_PLACES: Final = frozenset(("delta", "error", "logprobs"))
_PLACES: Final = {
    "": _NO_FIELDS,
    "citation-end": _NO_FIELDS,
    "citation-start": frozenset(("citations",)),
    "content-delta": frozenset(("content",)),
    "content-end": _NO_FIELDS,
    "content-start": frozenset(("content",)),
    "message-end": _NO_FIELDS,
    "tool-call-end": _NO_FIELDS,
    "tool-plan-delta": frozenset(("tool_plan",)),
}
"""The fields of the message that events of each kind have, but for those that have calls or all of it."""
_CALL_TYPES: Final = ("tool-call-delta", "tool-call-start")
"""The events that have arguments."""
_SILENT_TYPES: Final = ("citation-end", "debug", "ping")
"""Kinds of events that say nothing beside their fields."""
PLAN: Final = "tool_plan"
_PLAN_KEY: Final = -1
"""Blocks of content have their index as key, calls the numbers below this one."""


class CohereReader(StartReader):
    """Reads events."""

    __slots__ = ()

    NAME: ClassVar[str] = _NAME

    def fits(self, event: dict[str, Any]) -> bool:
        return (text_of(event, "type") or "").startswith(_TYPE_PREFIXES)

    def split_whole(self, event: dict[str, Any]) -> list[dict[str, Any]] | None:
        if event.get("message") is None or text_of(event, "finish_reason") is None:
            return None
        return _split(event, dict_of(event, "message"))

    def read(self, draft: Draft, event: dict[str, Any]) -> Reader:
        kind = text_of(event, "type") or ""
        if (event.get("error") or not kind.startswith(_TYPE_PREFIXES)) and read_error(draft, event):
            return self
        if kind == "error" or (not kind and text_of(event, "message")):  # as the body of a failed request is
            draft.fail(describe_error(event), plain(event))
            return self
        if draft.provider is None:
            draft.identify(None, None, None, self.name)
        is_known = True
        check_places(draft, event, _EVENT_PLACES, _NO_FIELDS)
        if kind not in _CALL_TYPES:
            _check_misplaced(draft, kind, dict_of(event, "delta"))
        if kind == "message-start":
            start = self.start.start(draft, text_of(event, "id"))
            if start is not None:
                _read_start(draft, event, self.name)
        else:
            start = self.start.after_event()
            is_known = _read_event(draft, kind, event)
        if is_known:
            _keep_rest(draft, event)
        return self.continue_after(start)


def _check_misplaced(draft: Draft, kind: str, delta: dict[str, Any]) -> None:
    """Note what may be arguments in an event of a kind that has none; texts may say anything."""
    for name, value in delta.items():
        if name != "message" or not isinstance(value, dict):
            check_unknown(draft, name, value)
    places = _PLACES.get(kind)
    others = _NO_FIELDS if places is None else _HOLDERS
    check_places(draft, dict_of(delta, "message"), _TEXT_FIELDS if places is None else places, others)


def _read_event(draft: Draft, kind: str, event: dict[str, Any]) -> bool:
    """Note what an event says; return whether it is of a known kind."""
    delta = fields_in(draft, event, "delta")
    message = fields_in(draft, delta, "message")
    index = integer_of(event, "index")
    if kind == "content-delta" or kind == "content-start":
        _read_content(draft, index, dict_of(message, "content"))
    elif kind in _CALL_TYPES:
        _read_call(draft, index_in(draft, event, "index"), fields_in(draft, message, "tool_calls"), kind)
        _check_call_event(draft, event, delta, message)
    elif kind == "tool-plan-delta":
        _read_plan(draft, text_in(draft, message, "tool_plan"))
    elif kind == "content-end":
        _close(draft, index, _key_of_content(index))
    elif kind == "tool-call-end":
        _close(draft, index, _key_of_call(index))
    elif kind == "citation-start":
        _read_citation(draft, dict_of(message, "citations"), plain(message.get("citations")))
    elif kind == "message-end":
        _read_end(draft, event, delta)
    elif kind and kind not in _SILENT_TYPES:
        check_unknown(draft, kind, event)
        draft.extend_metadata("events", [plain(event)])
        return False
    elif not kind:
        check_unknown(draft, kind, event)
    return True


def _check_call_event(draft: Draft, event: dict[str, Any], delta: dict[str, Any], message: dict[str, Any]) -> None:
    """Note what may be arguments beside the call that an event is about, or in its place."""
    if "tool_calls" not in message:
        check_delta(draft, message, _NO_FIELDS)
    check_rest(draft, delta, _DELTA_FIELDS)
    check_rest(draft, message, _MESSAGE_FIELDS)
    check_rest(draft, event, _EVENT_FIELDS)


def _read_start(draft: Draft, event: dict[str, Any], name: str) -> None:
    message = dict_of(dict_of(event, "delta"), "message")
    draft.identify(text_of(event, "id"), None, None, name)
    draft.set_role(text_of(message, "role"))
    keep_metadata(draft, message, _MESSAGE_FIELDS)


def _keep_rest(draft: Draft, event: dict[str, Any]) -> None:
    keep_metadata(draft, event, _EVENT_FIELDS)
    value = event.get("logprobs")
    if value is not None:
        items = value if isinstance(value, (list, tuple)) else [value]
        draft.extend_metadata("logprobs", [plain(item) for item in items])


def _key_of_content(index: int) -> int:
    return NO_KEY if index == NO_INDEX else index


def _key_of_call(index: int) -> int:
    return NO_KEY if index == NO_INDEX else _PLAN_KEY - 1 - index


def _read_content(draft: Draft, index: int, content: dict[str, Any]) -> None:
    key = _key_of_content(index)
    text, thinking = text_of(content, "text"), text_of(content, "thinking")
    if thinking:
        draft.add_reasoning(key, thinking)
    if text:
        draft.add_text(key, text)
    elif text is None and thinking is None and content:
        draft.set_part(key, Other(text_of(content, "type") or "", plain(content), False, draft.count))


def _read_plan(draft: Draft, piece: str | None) -> None:
    if not piece:
        return
    if draft.find(_PLAN_KEY) is None:
        place = draft.count
        draft.set_part(_PLAN_KEY, ReasoningPart("", None, False, None, place, True, None, {"type": PLAN}))
    draft.add_reasoning(_PLAN_KEY, piece)


def _read_call(draft: Draft, index: int, call: dict[str, Any], kind: str) -> None:
    function = fields_in(draft, call, "function")
    given = function.get("arguments")
    if given is None:
        (draft.leave_unread if call and kind == "tool-call-start" else draft.lose)(_NO_ARGUMENTS)
    check_rest(draft, call, _CALL_FIELDS)
    check_function(draft, function, _FUNCTION_FIELDS)
    if call.get("function") is None:
        check_entry(draft, call, _CALL_FIELDS)
    call_id, name, key = text_of(call, "id"), text_of(function, "name"), _key_of_call(index)
    draft.close(_PLAN_KEY)
    draft.add_call(CallDelta(index, call_id, name, arguments_of(given), is_object=is_object(given), key=key))


def _close(draft: Draft, index: int, key: int) -> None:
    if index != NO_INDEX:
        draft.close(key)


def _read_citation(draft: Draft, citation: dict[str, Any], raw: JsonValue) -> None:
    """Note a citation of a text; those of a plan or of thinking are beside it."""
    place = integer_of(citation, "content_index")
    key, kind = _key_of_content(place), text_of(citation, "type") or ""
    if kind == "PLAN" or kind == "THINKING_CONTENT":
        _cite_reasoning(draft, _PLAN_KEY if kind == "PLAN" else key, raw)
        return
    source = as_dict(next(iter(list_of(citation, "sources")), None))
    document = dict_of(source, "document")
    cited = Citation(
        type=kind,
        url=text_of(document, "url"),
        title=text_of(document, "title"),
        start=count_of(citation, "start"),
        end=count_of(citation, "end"),
        raw=raw if isinstance(raw, dict) else {},
    )
    is_text = key != NO_KEY and draft.find(key) is not None
    draft.cite(key if is_text else NO_KEY, cited)


def _cite_reasoning(draft: Draft, key: int, citation: JsonValue) -> None:
    part = draft.find(key)
    if not isinstance(part, ReasoningPart):
        draft.extend_metadata("citations", [citation])
        return
    known = part.extra.get("citations")
    citations = [*(known if isinstance(known, list) else []), citation]
    draft.update_part(part.index, extra={**part.extra, "citations": citations})


def _read_end(draft: Draft, event: dict[str, Any], delta: dict[str, Any]) -> None:
    reason, error = text_of(delta, "finish_reason"), delta.get("error")
    draft.identify(text_of(event, "id"), None, None, "")
    usage = dict_of(delta, "usage")
    if usage:
        check_unknown(draft, "usage", usage)
        draft.set_usage(_USAGE.read(usage, plain(delta["usage"])))
    keep_metadata(draft, delta, _END_FIELDS)
    if error or (reason is not None and reason in _FAILURE_REASONS):
        draft.fail(describe_error(error or reason), plain(error or reason))
    elif reason is None:
        read_error(draft, event)
    else:
        draft.finish(_REASONS.get(reason, reason), reason)


def _split(whole: dict[str, Any], message: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the events that a stream of a whole completion would have."""
    begun = {name: value for name, value in message.items() if name == "role" or name not in _MESSAGE_FIELDS}
    events: list[dict[str, Any]] = [
        {"type": "message-start", "id": whole.get("id"), "delta": {"message": begun}},
        _event("tool-plan-delta", "tool_plan", NO_INDEX, message.get("tool_plan")),
    ]
    for at, part in enumerate(list_of(message, "content")):
        events += [_event("content-start", "content", at, part), {"type": "content-end", "index": at}]
    for at, call in enumerate(list_of(message, "tool_calls")):
        events += [_event("tool-call-start", "tool_calls", at, call), {"type": "tool-call-end", "index": at}]
    for at, citation in enumerate(list_of(message, "citations")):
        events.append(_event("citation-start", "citations", at, citation))
    rest = {name: value for name, value in whole.items() if name not in ("finish_reason", "message", "type", "usage")}
    delta = {"finish_reason": whole.get("finish_reason"), "usage": whole.get("usage")}
    return [*events, {**rest, "type": "message-end", "delta": delta}]


def _event(kind: str, name: str, index: int, value: object) -> dict[str, Any]:
    return {"type": kind, "index": index, "delta": {"message": {name: value}}}


class CohereForm(Form):
    """Writes messages."""

    __slots__ = ()

    def write_request(self, system: str, items: list[Item], tools: list[Item], answer: Item) -> Item:
        if tools and answer:
            raise ValueError("cohere takes tools or the format of the answer, not both in one request")
        return Form.write_request(self, system, items, tools, answer)

    def write_answer(self, schema: dict[str, Any], *, strict: bool) -> Item:
        return {"response_format": {"type": "json_object", "json_schema": schema}}

    def find_file(self, file: File) -> Item | None:
        shown = Shown(file)
        is_image = shown.kind == "image" and shown.link is not None
        return {"type": "image_url", "image_url": {"url": shown.link}} if is_image else None

    def write_message(self, message: Message) -> list[Item]:
        """Return the assistant's message; thinking, plans and citations go back to where they came from."""
        own = is_own(message, _NAME)
        item: Item = {"role": "assistant"}
        plan = "".join(part.text for part in message.parts if _is_plan(part) and isinstance(part, ReasoningPart))
        if own and plan:
            item["tool_plan"] = plan
        content = [block for part in message.parts for block in _write_part(part, own=own)]
        if content or not message.tool_calls:
            item["content"] = content or ""
        if message.tool_calls:
            item["tool_calls"] = [function_call(call) for call in message.tool_calls]
        citations = [citation for part in message.parts for citation in _write_citations(part)]
        if own and citations:
            item["citations"] = citations
        return [item]

    def write_result(self, result: ToolResult) -> Item:
        if result.error is not None:
            data: Any = {"error": result.text}
        else:
            output = result.text if result.parts else to_plain(result.output)
            data = output if isinstance(output, dict) else {"result": output}
        document = {"type": "document", "document": {"data": data}}
        return {"role": "tool", "tool_call_id": written_id(result.call), "content": [document]}

    def write_tool(self, name: str, description: str, parameters: dict[str, Any], *, strict: bool) -> Item:
        return function_tool(name, description, parameters)


def _is_plan(part: Part) -> bool:
    return isinstance(part, ReasoningPart) and part.extra.get("type") == PLAN


def _write_part(part: Part, *, own: bool) -> list[Item]:
    if isinstance(part, TextPart) and part.text:
        return [{"type": "text", "text": part.text}]
    if own and isinstance(part, ReasoningPart) and part.text and not _is_plan(part):
        return [{"type": "thinking", "thinking": part.text}]
    return []


def _write_citations(part: Part) -> list[Any]:
    if isinstance(part, TextPart):
        return [dict(citation.raw) for citation in part.citations]
    kept = part.extra.get("citations")
    return kept if isinstance(kept, list) else []


PROVIDER: Final[Provider] = Provider(
    CohereReader(),
    CohereForm(),
    tools=ToolRules(
        why_not_strict="cohere has no strict tools, but a switch of the whole request: strict_tools",
        answers_are_objects=True,
    ),
    event_prefixes=_TYPE_PREFIXES,
    client_packages=("cohere",),
)
