"""OpenAI Responses, and the servers that speak it.

In: an event as dict or SDK object. Out: notes on a draft, whatever is odd about the event.
Texts and arguments come in deltas; servers may send some of them only when a part or an item is done, or at the end,
where the response repeats all items.
"""

from __future__ import annotations

from typing import Any, Final

from jsontide.adapters._read.fields import (
    arguments_of,
    as_dict,
    dict_of,
    integer_of,
    is_object,
    list_of,
    plain,
    text_of,
)
from jsontide.adapters._read.reader import NOT_BEGUN, Beginning, Reader, describe_error, read_error
from jsontide.adapters._read.responses_items import Items, escape
from jsontide.adapters._read.responses_object import read_end, read_response, read_tools
from jsontide.adapters._read.responses_texts import (
    CONTENT,
    REFUSAL,
    SUMMARY,
    THOUGHT,
    Labels,
    add_piece,
    item_key,
    key_of,
)
from jsontide.messages.draft import NO_INDEX, NO_KEY, CallDelta, Draft

_CREATED: Final = "response.created"
_BEGINNINGS: Final = (_CREATED, "response.queued", "response.in_progress")
_ENDS: Final = ("response.completed", "response.incomplete", "response.failed")
_DELTAS: Final = {
    "response.output_text.delta": CONTENT,
    "response.refusal.delta": REFUSAL,
    "response.reasoning_text.delta": THOUGHT,
    "response.reasoning_summary_text.delta": SUMMARY,
}
_WHOLES: Final = {
    "response.output_text.done": CONTENT,
    "response.refusal.done": REFUSAL,
    "response.reasoning_text.done": THOUGHT,
    "response.reasoning_summary_text.done": SUMMARY,
}
_PARTS: Final = {
    "response.content_part.added": False,
    "response.reasoning_summary_part.added": False,
    "response.content_part.done": True,
    "response.reasoning_summary_part.done": True,
}
_ITEMS: Final = {"response.output_item.added": False, "response.output_item.done": True}
_ARGUMENTS: Final = "response.function_call_arguments.delta"
_PIECES: Final = {
    "response.custom_tool_call_input.delta": (True, False),
    "response.mcp_call_arguments.delta": (False, True),
    "response.code_interpreter_call_code.delta": (True, True),
}
"""Whether the arguments that a delta adds to are text, and whether the provider runs the tool."""
_ALL_PIECES: Final = {
    "response.function_call_arguments.done": "arguments",
    "response.custom_tool_call_input.done": "input",
    "response.mcp_call_arguments.done": "arguments",
    "response.code_interpreter_call_code.done": "code",
}
_REPEATED: Final = (
    "response.shell_call_command.",
    "response.shell_call_output_content.",
    "response.apply_patch_call_operation_diff.",
)
"""Events that say piece by piece what their item says when it is done."""
_BOOKKEEPING: Final = frozenset(("type", "sequence_number", "output_index", "item_id", "obfuscation", "response_id"))
_READ: Final = _BOOKKEEPING | {
    "annotation",
    "annotation_index",
    "arguments",
    "background",
    "code",
    "content_index",
    "delta",
    "error",
    "input",
    "item",
    "logprobs",
    "name",
    "output_format",
    "parsed",
    "part",
    "partial_image_b64",
    "partial_image_index",
    "quality",
    "refusal",
    "response",
    "size",
    "snapshot",
    "summary_index",
    "text",
}
"""The fields of events that are read, or say nothing new, as what the helper of the SDK adds; all others are kept."""


class ResponsesReader(Reader):
    """Reads events."""

    __slots__ = ("beginning", "counts", "declared", "in_container", "is_contradicted", "labels")

    def __init__(
        self,
        beginning: Beginning = NOT_BEGUN,
        declared: frozenset[str] | None = None,
        in_container: bool = False,
        labels: Labels | None = None,
        counts: dict[int, int] | None = None,
        is_contradicted: bool = False,
    ) -> None:
        self.beginning: Final = beginning
        self.declared: Final = declared
        self.in_container: Final = in_container
        self.labels: Final[Labels] = {} if labels is None else labels
        self.counts: Final[dict[int, int]] = {} if counts is None else counts
        self.is_contradicted: Final = is_contradicted

    @property
    def name(self) -> str:
        return "openai_responses"

    def _fields(self) -> tuple[object, ...]:
        return (self.beginning, self.declared, self.in_container, self.labels, self.counts, self.is_contradicted)

    def __hash__(self) -> int:
        return hash(self.beginning)

    def fits(self, event: dict[str, Any]) -> bool:
        kind = text_of(event, "type") or ""
        return kind.startswith("response.") or (kind == "error" and ("sequence_number" in event or "param" in event))

    def split_whole(self, event: dict[str, Any]) -> list[dict[str, Any]] | None:
        if text_of(event, "object") != "response" or "output" not in event:
            return None
        items = [
            {"type": "response.output_item.done", "output_index": at, "item": item}
            for at, item in enumerate(list_of(event, "output"))
        ]
        return [{"type": _CREATED, "response": event}, *items, {"type": "response.completed", "response": event}]

    def read(self, draft: Draft, event: dict[str, Any]) -> Reader:
        kind = text_of(event, "type") or ""
        if draft.provider is None:
            draft.identify(None, None, None, self.name)
        beginning = self.beginning
        text = _DELTAS.get(kind, -1)
        if text >= 0:
            key = key_of(text, event)
            if draft.find(key) is None or event.get("logprobs"):
                return self._read_rest(draft, event, kind, beginning.go_on())
            add_piece(draft, text, key, text_of(event, "delta") or "")
        elif kind == _ARGUMENTS:
            _add_arguments(draft, event, event.get("delta"), False, False)
        elif kind == _CREATED:
            begun = beginning.begin(draft, text_of(as_dict(event.get("response") or event), "id"))
            return self if begun is None else self._read_rest(draft, event, kind, begun)
        else:
            return self._read_rest(draft, event, kind, beginning if kind in _BEGINNINGS else beginning.go_on())
        _keep(draft, event)
        if beginning.goes_on or not beginning.has_begun:
            return self
        return ResponsesReader(
            beginning.go_on(), self.declared, self.in_container, self.labels, self.counts, self.is_contradicted
        )

    def _read_rest(self, draft: Draft, event: dict[str, Any], kind: str, beginning: Beginning) -> ResponsesReader:
        """Note what any other event says, and return the reader with what must be remembered of it."""
        items = Items(draft, self.declared, self.in_container, self.labels, self.counts, self.is_contradicted)
        if kind == "error":
            _read_failure(draft, event)
        elif kind in _DELTAS or not read_error(draft, event):
            _read_event(items, event, kind)
        if (
            beginning is self.beginning
            and items.declared is self.declared
            and items.in_container is self.in_container
            and items.labels is self.labels
            and items.counts is self.counts
            and items.is_contradicted is self.is_contradicted
        ):
            return self
        return ResponsesReader(
            beginning, items.declared, items.in_container, items.labels, items.counts, items.is_contradicted
        )


def _read_event(items: Items, event: dict[str, Any], kind: str) -> None:
    if kind in _DELTAS:
        items.grow(_DELTAS[kind], event)
    elif kind in _WHOLES:
        items.complete(_WHOLES[kind], event)
    elif kind in _PARTS:
        items.read_part(event, _PARTS[kind])
    elif kind in _ITEMS:
        items.read_item(integer_of(event, "output_index"), dict_of(event, "item"), _ITEMS[kind])
    elif kind in _PIECES:
        is_text, on_server = _PIECES[kind]
        piece: object = escape(event.get("delta")) if is_text else event.get("delta")
        _add_arguments(items.draft, event, piece, on_server, is_text)
    elif kind in _ALL_PIECES:
        _complete_arguments(items.draft, event, _ALL_PIECES[kind])
    elif not _read_rare(items, event, kind):
        _read_unknown(items, event, kind)
        return
    _keep(items.draft, event)


def _read_rare(items: Items, event: dict[str, Any], kind: str) -> bool:
    """Note an event that comes a few times at most; return whether it is one."""
    response = dict_of(event, "response")
    if kind in _BEGINNINGS:
        read_response(items.draft, response)
        read_tools(items, response)
    elif kind in _ENDS:
        read_end(items, kind, response)
    elif kind == "response.output_text.annotation.added":
        items.cite(event)
    elif kind == "response.image_generation_call.partial_image":
        items.show_image(event)
    else:
        return False
    return True


def _read_unknown(items: Items, event: dict[str, Any], kind: str) -> None:
    """Note how far an item has come; any other event is kept whole, if it says anything."""
    words = kind.split(".")
    if len(words) == 3 and items.note_status(event, words[1], words[2]):
        return
    if not kind.startswith(_REPEATED) and not _BOOKKEEPING.issuperset(event):
        items.draft.extend_metadata("events", [plain(event)])


def _keep(draft: Draft, event: dict[str, Any]) -> None:
    """Keep the fields of an event that are not known."""
    for name, value in event.items():
        if name not in _READ and value is not None:
            draft.set_metadata(name, plain(value))


def _read_failure(draft: Draft, event: dict[str, Any]) -> None:
    error = {name: value for name, value in event.items() if name not in _BOOKKEEPING and value is not None}
    draft.set_metadata("error", plain(error.get("error", error)))
    draft.fail(text_of(event, "message") or describe_error(event.get("error")))


def _add_arguments(draft: Draft, event: dict[str, Any], piece: object, on_server: bool, is_text: bool) -> None:
    """Note more of the arguments of a call.

    The id of an item is not the id of its call: the place among the outputs is what all events share.
    """
    index = integer_of(event, "output_index")
    key = NO_KEY if index == NO_INDEX else item_key(index)
    count = draft.count
    text, is_whole = (piece, False) if type(piece) is str else (arguments_of(piece), is_object(piece))
    at = draft.add_call(CallDelta(index, None, None, text, False, is_whole, on_server, False, key, is_text))
    if at == count:
        draft.label(at, text_of(event, "item_id"), None, True)


def _complete_arguments(draft: Draft, event: dict[str, Any], name: str) -> None:
    """Note all arguments of a call.

    Text stays open: at a limit this may be the beginning only, and the item tells whether it is.
    """
    index, value = integer_of(event, "output_index"), event.get(name)
    count = draft.count
    delta = CallDelta(
        index,
        None,
        text_of(event, "name"),
        arguments_of(value) if name == "arguments" else f'"{escape(value)}',
        is_whole=True,
        is_object=is_object(value),
        on_server=name == "code",
        key=NO_KEY if index == NO_INDEX else item_key(index),
        is_written=name != "arguments",
    )
    if draft.add_call(delta) == count:
        draft.label(count, text_of(event, "item_id"), None, True)
