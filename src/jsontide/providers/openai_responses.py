"""OpenAI Responses, and the servers that speak it.

In: an event as dict or SDK object. Out: notes on a draft, whatever is odd about the event.
Texts and arguments come in deltas; servers may send some of them only when a part or an item is done, or at the end,
where the response repeats all items.

A message item has a part for each of its contents, a reasoning item for each summary and thought; any other item is
one part. Only functions and custom tools are calls to be run by the caller.
xAI writes some of what it runs itself as calls of custom tools, which the caller did not declare.
The input of a custom tool, and code, is text and not JSON: it is kept as a JSON string.

Rule: nothing is noted twice. A whole that does not go on where the deltas stopped adds nothing, and is remembered: then
some of the text was lost, or is not what was meant. What a response repeats of its request is no part of the message.

Requests send this provider's own items back unchanged: items with their ids, phases, encrypted reasoning and
callers, and what the provider ran itself; parts with the same item id are one item again. Of a message of another
provider, texts and calls are written.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar, Final, TypeAlias

from jsontide._values import MISSING, JsonValue
from jsontide.messages.calls import BaseCall, CompleteCall, Part, PartialCall, ServerCall, ToolCall
from jsontide.messages.document import write_json
from jsontide.messages.draft import NO_INDEX, NO_KEY, UNREADABLE_ARGUMENTS, CallDelta, Draft
from jsontide.messages.message import Message
from jsontide.messages.options import ToolResult
from jsontide.messages.parts import BasePart, File, Other, ReasoningPart, Refusal, TextPart
from jsontide.messages.record import Value
from jsontide.messages.types import Citation
from jsontide.providers import openai_chat
from jsontide.providers.base import (
    ANSWER_NAME,
    ANYTHING,
    COUNTER,
    NOT_STARTED,
    PIECE,
    SILENT,
    Form,
    Item,
    MessageStart,
    Provider,
    Reader,
    Shown,
    UsageNames,
    arguments_of,
    as_dict,
    check_item,
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
    items_in,
    keep_metadata,
    list_of,
    load_json,
    plain,
    read_error,
    rest_of,
    text_of,
    written_arguments,
    written_id,
)

_NAME: Final = "openai_responses"
CONTENT: Final = 0
REFUSAL: Final = 1
THOUGHT: Final = 2
SUMMARY: Final = 3
_KINDS: Final = {"output_text": CONTENT, "refusal": REFUSAL, "reasoning_text": THOUGHT, "summary_text": SUMMARY}
"""What the types of parts hold."""
_STRIDE: Final = 1 << 20
"""Outputs are so far apart in keys: the first is the item itself, then come its parts, four kinds for each place."""
_PART_FIELDS: Final = frozenset(("type", "text", "refusal", "annotations", "logprobs", "parsed"))
"""The fields of a part that are read; the helper of the SDK adds the last one."""

Labels: TypeAlias = dict[int, tuple[str | None, dict[str, JsonValue]]]
"""The ids of open items and what else they say, by output."""


def item_key(output: int) -> int:
    """Return the key of the part that is an item, or stands for it."""
    return output * _STRIDE


def text_key(kind: int, output: int, at: int) -> int:
    """Return the key of one of the texts of an item."""
    return output * _STRIDE + 1 + 4 * at + kind


def output_of_key(key: int) -> int:
    return key // _STRIDE


def place_in(fields: dict[str, Any], name: str) -> int:
    """Return a place that is 0 if nothing is said of it."""
    at = integer_of(fields, name)
    return 0 if at == NO_INDEX else at


def name_in(fields: dict[str, Any], name: str) -> str | None:
    """Return an id or another word; an empty one says nothing."""
    return text_of(fields, name) or None


def key_of(kind: int, event: dict[str, Any], output: int) -> int:
    """Return the key of the text that an event is about."""
    return text_key(kind, output, place_in(event, "summary_index" if kind == SUMMARY else "content_index"))


def add_piece(draft: Draft, kind: int, key: int, piece: str) -> None:
    if kind == CONTENT:
        draft.add_text(key, piece)
    elif kind == REFUSAL:
        draft.add_refusal(key, piece)
    else:
        draft.add_reasoning(key, piece)


def _read_citation(annotation: JsonValue) -> Citation:
    """Return where a text comes from."""
    fields: dict[str, Any] = annotation if isinstance(annotation, dict) else {}
    return Citation(
        type=text_of(fields, "type") or "",
        url=text_of(fields, "url"),
        title=text_of(fields, "title") or text_of(fields, "filename"),
        start=count_of(fields, "start_index"),
        end=count_of(fields, "end_index"),
        raw=fields,
    )


CUSTOM: Final = "custom_tool_call"
CALLS: Final = ("function_call", CUSTOM)
_ARGUMENTS: Final = "arguments"
_CALL_FIELDS: Final = frozenset(("arguments", "parsed_arguments"))
_CUSTOM_FIELDS: Final = frozenset(("input",))
_COMPLETED: Final = "completed"
_CODE: Final = "code"
_SEARCH: Final = "web_search_call"
_SHELL: Final = "shell_call"
_ITEM_FIELDS: Final = ("type", "id", "parsed", "parsed_arguments")
"""Fields that are read of every item; the helper of the SDK adds the last two."""


class ServerTool:
    """How the calls of a tool that is not a function are written."""

    __slots__ = ("arguments", "name", "result")

    def __init__(self, name: str, arguments: str, result: str = "") -> None:
        self.name: Final = name
        """Empty if the item says it."""
        self.arguments: Final = arguments
        """The field that has the arguments."""
        self.result: Final = result
        """The field that has the result, empty if that is another item."""


SERVER_TOOLS: Final = {
    "apply_patch_call": ServerTool("apply_patch", "operation"),
    "code_interpreter_call": ServerTool("code_interpreter", _CODE, "outputs"),
    "file_search_call": ServerTool("file_search", "queries", "results"),
    "local_shell_call": ServerTool("local_shell", "action"),
    "mcp_approval_request": ServerTool("", "arguments"),
    "mcp_call": ServerTool("", "arguments", "output"),
    "mcp_list_tools": ServerTool("mcp_list_tools", "", "tools"),
    "program": ServerTool("program", _CODE),
    _SHELL: ServerTool("shell", "action"),
    "tool_search_call": ServerTool("tool_search", "arguments"),
    _SEARCH: ServerTool("web_search", "action"),
}
_GROWING: Final = ("code_interpreter_call", "mcp_approval_request", "mcp_call")
"""Those whose arguments are text, some of it in pieces."""
_ALWAYS_ACT: Final = ("apply_patch_call", "local_shell_call", "mcp_approval_request")
_WAITING: Final = (None, _COMPLETED, "in_progress")
"""States in which an item that is done is whole."""
_OUTPUTS: Final = {
    "apply_patch_call_output": "output",
    "computer_call_output": "output",
    "local_shell_call_output": "output",
    "program_output": "result",
    "shell_call_output": "output",
    "tool_search_output": "tools",
}
"""Items that are the result of another, and where they have it."""


def escape(value: object) -> str:
    """Return a text as it stands inside a JSON string."""
    if isinstance(value, str):
        return json.dumps(str(value), ensure_ascii=False)[1:-1]
    return "" if value is None else UNREADABLE_ARGUMENTS


def status_of(fields: dict[str, Any]) -> str:
    """Return the status; a missing one is a normal end, and one that is not text is an unknown word."""
    return _COMPLETED if fields.get("status") is None else text_of(fields, "status") or "unknown"


def is_cut_off(item: dict[str, Any]) -> bool:
    """Return whether an item that is done is not whole: it was cut off even if the response goes on, and completes.

    A call that a program of the model made is in progress when it is done: its result is waited for.
    """
    status = status_of(item)
    if status == "in_progress":
        return not item.get("arguments") and not item.get("input")
    return status != _COMPLETED


def arguments_in(item: dict[str, Any], close: str) -> str | None:
    if text_of(item, "type") == CUSTOM:
        return f'"{escape(item["input"])}{close}' if "input" in item else None
    return arguments_of(item.get("arguments"))


def check_call(draft: Draft, item: dict[str, Any]) -> None:
    """Note what may be arguments in the item of a call, and is not where they should be."""
    check_rest(draft, item, _CUSTOM_FIELDS if text_of(item, "type") == CUSTOM else _CALL_FIELDS)


def leftovers(item: dict[str, Any], read: tuple[str, ...]) -> dict[str, JsonValue]:
    """Return the fields of an item that no field of its part holds."""
    return {
        name: plain(value)
        for name, value in item.items()
        if value is not None and name not in _ITEM_FIELDS and name not in read
    }


_NO_ARGUMENTS: Final = "the item of a call has no arguments, not even empty ones"
_OTHER_ID: Final = "the item of the call {!r} ends as that of {!r}"
_NO_CALL: Final = "the item {!r} is a call, and something else is said to be of it: that may be its arguments"


class Known(Value):
    """What is known of the items of a response, and must be remembered between events."""

    __slots__ = ("counts", "declared", "in_container", "is_contradicted", "labels")

    FIELDS: ClassVar[tuple[str, ...]] = ("labels", "counts", "declared", "in_container", "is_contradicted")

    def __init__(
        self,
        labels: Labels,
        counts: dict[int, int],
        declared: frozenset[str] | None = None,
        in_container: bool = False,
        is_contradicted: bool = False,
    ) -> None:
        self.labels: Final = labels
        self.counts: Final = counts
        """How many log probabilities came of each text."""
        self.declared: Final = declared
        """The custom tools that the caller declared, `None` if that is not known."""
        self.in_container: Final = in_container
        """Whether the provider runs shell commands itself."""
        self.is_contradicted: Final = is_contradicted
        """Whether some text was not what its deltas said."""


NOTHING_KNOWN: Final = Known({}, {})


class Items:
    """Notes what one event says about items and their texts; `known` is what must be remembered after it."""

    __slots__ = ("draft", "known")

    def __init__(self, draft: Draft, known: Known) -> None:
        self.draft: Final = draft
        self.known: Known = known

    def read_item(self, output: int, item: dict[str, Any], is_done: bool) -> None:
        """Note an item that begins or is done; one with texts that has no number is the first."""
        kind = text_of(item, "type") or "message"
        if "type" not in item:
            check_unknown(self.draft, kind, item)
        if kind in CALLS:
            self._read_call(output, item, is_done)
            return
        self._check_owner(output, name_in(item, "id"))
        if kind in ("message", "reasoning"):
            output = 0 if output == NO_INDEX else output
            known = self._output_of(name_in(item, "id"), output) if is_done else output
            self._read_texts(known, item, kind == "reasoning", is_done)
            return
        if output == NO_INDEX:
            output = self._find_output(name_in(item, "id"))
        if kind in _GROWING:
            self._read_growing(output, item, kind, is_done)
        elif kind in SERVER_TOOLS:
            self._put_server_call(output, item, kind, is_done)
        elif kind == "image_generation_call":
            self._put_image(output, item, is_done)
        else:
            self._put_other(output, item, kind, is_done)

    def _check_owner(self, output: int, item_id: str | None) -> None:
        """Note what says that it is of an item, and is no call, if that item is a call."""
        call = self.draft.find(item_key(output))
        if item_id is not None and isinstance(call, PartialCall) and call.item_id == item_id:
            self.draft.lose(_NO_CALL.format(item_id))

    def _find_output(self, item_id: str | None) -> int:
        """Return the number of an output that has none, from the part that has its id, else one that is not used."""
        draft = self.draft
        for at in range(draft.count):
            if item_id and draft.part_at(at).item_id == item_id:
                return output_of_key(draft.key_at(at))
        return -1 - draft.count

    def _read_texts(self, output: int, item: dict[str, Any], is_reasoning: bool, is_done: bool) -> None:
        draft, item_id = self.draft, name_in(item, "id")
        extra = leftovers(item, ("summary", "content", "encrypted_content", "role"))
        self.known = self.known.evolve(labels={**self.known.labels, output: (item_id, extra)})
        draft.set_role(text_of(item, "role"))
        keys: list[int] = []
        for name in ("summary", "content"):
            parts = [as_dict(part) for part in list_of(item, name)]
            for part, at in zip(parts, self.places_of(output, parts), strict=True):
                keys.append(self.read_content(part, output, at, item_id, is_done))
        if not keys and (is_reasoning or (is_done and item_id)):
            keys.append(self._stand_for(output, item_id, is_reasoning))
        for key in keys:
            found = draft.find(key)
            if found is not None:
                draft.annotate(found.index, item_id, _with_own(extra, found), not is_done)
        encrypted = text_of(item, "encrypted_content")
        first = draft.find(keys[0]) if keys else None
        if encrypted and isinstance(first, ReasoningPart) and first.encrypted != encrypted:
            draft.update_part(first.index, encrypted=encrypted)
        if is_done:
            open_labels = {at: label for at, label in self.known.labels.items() if at != output}
            self.known = self.known.evolve(labels=open_labels)

    def _stand_for(self, output: int, item_id: str | None, is_reasoning: bool) -> int:
        """Return the key of the first part of an item that repeats no texts; if it has none, an empty one."""
        for kind in (SUMMARY, THOUGHT) if is_reasoning else (CONTENT, REFUSAL):
            if self.draft.find(text_key(kind, output, 0)) is not None:
                return text_key(kind, output, 0)
        at = self.draft.count
        if not is_reasoning:
            self.draft.set_part(text_key(CONTENT, output, 0), TextPart("", (), at, True, item_id))
            return text_key(CONTENT, output, 0)
        if not isinstance(self.draft.find(item_key(output)), ReasoningPart):
            self.draft.set_part(item_key(output), ReasoningPart("", None, False, None, at, True, item_id))
        return item_key(output)

    def _read_call(self, output: int, item: dict[str, Any], is_done: bool) -> None:
        check_call(self.draft, item)
        cut_off = is_done and is_cut_off(item)
        written = arguments_in(item, '"' if is_done and not cut_off else "")
        on_server = self.is_on_server(item)
        if is_done and written is None and not on_server and not self._has_arguments(output):
            self.draft.lose(_NO_ARGUMENTS)
        begun, call_id = self.draft.find(item_key(output)), name_in(item, "call_id")
        known = begun.id if isinstance(begun, BaseCall) and begun.is_open else None
        if is_done and known and call_id and known != call_id:
            self.draft.lose(_OTHER_ID.format(known, call_id))
        delta = CallDelta(
            output,
            call_id,
            name_in(item, "name"),
            written,
            is_whole=is_done,
            is_object=is_object(item.get("arguments")),
            on_server=on_server,
            cut_off=cut_off,
            key=NO_KEY if output == NO_INDEX else item_key(output),
            is_written=text_of(item, "type") == CUSTOM,
        )
        self.add_call(delta, item, is_done)

    def _has_arguments(self, output: int) -> bool:
        call = self.draft.find(item_key(output))
        return isinstance(call, BaseCall) and call.growing_text.length > 0

    def add_call(self, delta: CallDelta, item: dict[str, Any], is_done: bool) -> None:
        """Note what an item says about a call."""
        draft = self.draft
        at = draft.add_call(delta)
        if not 0 <= at < draft.count:
            return
        extra = leftovers(item, ("call_id", "name", "arguments", "input"))
        part = draft.part_at(at)
        if text_of(item, "type") == CUSTOM and not isinstance(part, ServerCall):
            extra["type"] = CUSTOM
        item_id = name_in(item, "id") or part.item_id
        if isinstance(part, ServerCall):
            extra.pop("status", None)
            status = name_in(item, "status")
            self._describe(
                part, part.evolve(type=CUSTOM, status=status, item_id=item_id, extra=extra, is_open=not is_done)
            )
        else:
            draft.annotate(at, item_id, extra or None, not is_done)

    def is_on_server(self, item: dict[str, Any]) -> bool:
        name, declared = name_in(item, "name"), self.known.declared
        return declared is not None and text_of(item, "type") == CUSTOM and bool(name) and name not in declared

    # Texts of items.

    def grow(self, kind: int, event: dict[str, Any]) -> None:
        """Note a delta of a text."""
        key, piece = self._key_of(kind, event), text_of(event, "delta") or ""
        if piece and self.draft.find(key) is None:
            self._check_owner(output_of_key(key), name_in(event, "item_id"))
            self._begin(kind, key, name_in(event, "item_id"))
        add_piece(self.draft, kind, key, piece)
        self._add_logprobs(key, list_of(event, "logprobs"), False)

    def complete(self, kind: int, event: dict[str, Any]) -> None:
        """Note the whole of a text."""
        key, whole = self._key_of(kind, event), text_of(event, "refusal" if kind == REFUSAL else "text")
        if whole and not self._texts_in_pieces(kind, key, whole):
            self._complete(kind, key, name_in(event, "item_id"), whole)
        self._add_logprobs(key, list_of(event, "logprobs"), True)

    def cite(self, event: dict[str, Any]) -> None:
        """Note one annotation of a text."""
        key = self._key_of(CONTENT, event)
        if self.draft.find(key) is None:
            self._begin(CONTENT, key, name_in(event, "item_id"))
        part, at = self.draft.find(key), integer_of(event, "annotation_index")
        if isinstance(part, TextPart) and (at == NO_INDEX or at >= part._citations.count):
            citation = _read_citation(plain(event.get("annotation")))
            self.draft.update_part(part.index, citations=part._citations.add([citation]))

    def read_part(self, event: dict[str, Any], is_done: bool) -> None:
        """Note a part of an item that begins or is done."""
        at = place_in(event, "content_index" if event.get("summary_index") is None else "summary_index")
        item_id = name_in(event, "item_id")
        output = self._output_of(item_id, place_in(event, "output_index"))
        self.read_content(dict_of(event, "part"), output, at, item_id, is_done)

    def read_content(self, part: dict[str, Any], output: int, at: int, item_id: str | None, is_done: bool) -> int:
        """Note a part of an item, and return its key."""
        said = text_of(part, "type") or ""
        kind = _KINDS.get(said, -1)
        if kind < 0:
            return self._put_unknown(part, output, at, item_id, is_done)
        key = text_key(kind, output, at)
        whole = text_of(part, "refusal" if kind == REFUSAL else "text")
        pieces = self._texts_in_pieces(kind, key, whole) if whole else []
        if pieces:
            for piece in pieces if is_done else []:
                self.draft.close(piece)
            return pieces[0]
        if self.draft.find(key) is None:
            self._begin(kind, key, item_id)
        if whole:  # some servers leave the text out where they repeat a part
            self._complete(kind, key, item_id, whole)
        self._cite_all(key, [plain(value) for value in list_of(part, "annotations")])
        self._add_logprobs(key, list_of(part, "logprobs"), True)
        self._keep(key, part)
        if is_done:
            self.draft.close(key)
        return key

    def _key_of(self, kind: int, event: dict[str, Any]) -> int:
        """Return the key of the text that an event is about."""
        return key_of(kind, event, self._output_of(name_in(event, "item_id"), place_in(event, "output_index")))

    def _output_of(self, item_id: str | None, output: int) -> int:
        """Return the output of an item with texts; some servers count on before they say that an item is done."""
        if item_id is None or self.known.labels.get(output, (None, {}))[0] == item_id:
            return output
        draft = self.draft
        for at in range(draft.count - 1, -1, -1):
            part = draft.part_at(at)
            if part.item_id == item_id and isinstance(part, (TextPart, Refusal, ReasoningPart)):
                return output_of_key(draft.key_at(at))
        return output

    def _texts_in_pieces(self, kind: int, key: int, whole: str) -> list[int]:
        """Return the keys of the texts that make up a whole, where a server counts deltas in place of parts."""
        draft, first = self.draft, item_key(output_of_key(key))
        found = [each for each in [draft.key_at(at) for at in range(draft.count)] if 0 < each - first < _STRIDE]
        keys = [each for each in found if (each - first - 1) % 4 == kind]
        if len(keys) < 2:  # as nearly always
            return []
        texts = [part.text for part in map(draft.find, keys) if isinstance(part, (TextPart, Refusal, ReasoningPart))]
        return keys if "".join(texts) == whole else []

    def places_of(self, output: int, parts: list[dict[str, Any]]) -> list[int]:
        """Return the places that the parts of an item have in other events.

        Some servers count the texts of all items there. Where as many came as an item has, they are the same.
        """
        expected = range(len(parts))
        kinds = [_KINDS.get(text_of(part, "type") or "", -1) for part in parts]
        if all(
            [
                kind < 0 or self.draft.find(text_key(kind, output, at)) is not None
                for at, kind in zip(expected, kinds, strict=True)
            ]
        ):
            return list(expected)
        keys = [self.draft.key_at(at) for at in range(self.draft.count)]
        texts = [key - output * _STRIDE - 1 for key in keys if 0 < key - output * _STRIDE < _STRIDE]
        known = [text // 4 for text in texts if text % 4 in kinds]
        return known if len(known) == len(parts) else list(expected)

    def _put_unknown(self, part: dict[str, Any], output: int, at: int, item_id: str | None, is_done: bool) -> int:
        """Keep a content of an unknown type, marked as part of a message: it is no item itself."""
        said = text_of(part, "type")
        if not said:
            return NO_KEY
        key = text_key(CONTENT, output, at)
        known_id, extra = self.known.labels.get(output, (None, {}))
        whole = {**extra, "type": "message"}
        self.put(key, Other(said, plain(part), False, self.place_for(key), not is_done, item_id or known_id, whole))
        return key

    def _begin(self, kind: int, key: int, item_id: str | None) -> None:
        """Begin a part for a text; the first one of a reasoning item takes the place of the item."""
        draft, output = self.draft, output_of_key(key)
        known_id, extra = self.known.labels.get(output, (None, {}))
        item_id = item_id or known_id
        at = draft.count
        if kind == CONTENT:
            draft.set_part(key, TextPart("", (), at, True, item_id, extra or None))
        elif kind == REFUSAL:
            draft.set_part(key, Refusal("", at, True, item_id, extra or None))
        else:
            extra = {**extra, "type": "summary_text" if kind == SUMMARY else "reasoning_text"}
            first, encrypted = draft.find(item_key(output)), None
            if isinstance(first, ReasoningPart):
                at, encrypted = first.index, first.encrypted
            draft.set_part(key, ReasoningPart("", None, False, encrypted, at, True, item_id, extra))

    def _complete(self, kind: int, key: int, item_id: str | None, whole: str) -> None:
        if self.draft.find(key) is None:
            self._begin(kind, key, item_id)
        if not self.draft.complete_text(key, whole) and kind == CONTENT:
            # Reasoning and refusals are only shown, so their deltas are good enough.
            self.known = self.known.evolve(is_contradicted=True)

    def _add_logprobs(self, key: int, values: list[object], is_whole: bool) -> None:
        """Keep log probabilities, of a whole those that are new."""
        if not values:
            return
        counts = self.known.counts
        count = counts.get(key, 0)
        new = values[count:] if is_whole else values
        if new:
            self.known = self.known.evolve(counts={**counts, key: count + len(new)})
            self.draft.extend_metadata("logprobs", [plain(value) for value in new])

    def _cite_all(self, key: int, annotations: list[JsonValue]) -> None:
        """Note all annotations of a text, unless more of them came one by one."""
        part = self.draft.find(key)
        if not isinstance(part, TextPart) or len(annotations) < part._citations.count:
            return
        if annotations != [citation.raw for citation in part.citations]:
            citations = tuple([_read_citation(annotation) for annotation in annotations])
            self.draft.update_part(part.index, citations=citations)

    def _keep(self, key: int, part: dict[str, Any]) -> None:
        """Keep the fields of a part that are not known."""
        more = rest_of(part, _PART_FIELDS)
        found = self.draft.find(key)
        if more and found is not None:
            self.draft.add_extra(found.index, {"part": more})

    def place_for(self, key: int) -> int:
        """Return the place of the part of a key if an item can replace it, else that of the next one."""
        before = self.draft.find(key)
        return before.index if isinstance(before, (ServerCall, File, Other)) else self.draft.count

    def put(self, key: int, part: BasePart) -> None:
        if self.draft.find(key) != part:
            self.draft.set_part(key, part)

    # Items of tools that are no functions.

    def _read_growing(self, output: int, item: dict[str, Any], kind: str, is_done: bool) -> None:
        draft, tool = self.draft, SERVER_TOOLS[kind]
        known: tuple[str, ...] = ("status", "name", tool.arguments, tool.result)
        if tool.arguments == _CODE:
            close = '"' if is_done and status_of(item) != "incomplete" else ""
            as_function = as_dict(load_json(_written_as_function(item, tool)))
            if _CODE in as_function:
                known += (_ARGUMENTS,)
            written: str | None = f'"{escape(as_function.get(_CODE, item.get(_CODE)))}{close}'
        else:
            written = arguments_of(item.get(tool.arguments))
        item_id, name, key = name_in(item, "id"), tool.name or name_in(item, "name"), item_key(output)
        is_code = tool.arguments == _CODE
        at = draft.add_call(CallDelta(output, item_id, name, written, is_done, False, True, False, key, is_code))
        if not 0 <= at < draft.count:
            return
        part = draft.part_at(at)
        if isinstance(part, ServerCall):
            result = item.get(tool.result)
            changed = part.evolve(
                type=kind,
                status=name_in(item, "status"),
                result=part.result if result is None else plain(result),
                needs_action=is_done and self._waits(item, kind),
                extra=leftovers(item, known),
                item_id=item_id,
                is_open=not is_done,
            )
            self._describe(part, changed)

    def _describe(self, before: BasePart, after: BasePart) -> None:
        if after != before:
            self.draft.replace_part(before.index, after)

    def _put_server_call(self, output: int, item: dict[str, Any], kind: str, is_done: bool) -> None:
        tool, key = SERVER_TOOLS[kind], item_key(output)
        arguments, result = _split_arguments(item, kind, tool)
        item_id = name_in(item, "id")
        before = self.draft.find(key)
        if isinstance(before, ServerCall) and before.type == kind and result is MISSING:
            result = before.result
        self.put(
            key,
            ServerCall(
                tool.name,
                _written_as_function(item, tool) or ("" if arguments is MISSING else write_json(arguments)),
                result,
                name_in(item, "status"),
                kind,
                is_done and result is MISSING and self._waits(item, kind),
                arguments,
                name_in(item, "call_id") or item_id,
                self.place_for(key),
                not is_done,
                item_id,
                leftovers(item, ("call_id", "status", _ARGUMENTS, tool.arguments, tool.result)) or None,
            ),
        )

    def _waits(self, item: dict[str, Any], kind: str) -> bool:
        """Return whether the caller must do something for an item that is done."""
        if item.get("status") not in _WAITING:
            return False
        if kind == "tool_search_call":
            return text_of(item, "execution") == "client"
        if kind == _SHELL:
            where = text_of(dict_of(item, "environment"), "type")
            return not (self.known.in_container if where is None else where.startswith("container"))
        return kind in _ALWAYS_ACT

    def _put_image(self, output: int, item: dict[str, Any], is_done: bool) -> None:
        key = item_key(output)
        before = self.draft.find(key)
        data = text_of(item, "result")
        if data is None and isinstance(before, File):
            data = before.data
        extra = leftovers(item, ("result",))
        made = f"image/{text_of(item, 'output_format') or 'png'}"
        self.put(
            key, File(made, data, None, None, self.place_for(key), not is_done, name_in(item, "id"), extra or None)
        )

    def show_image(self, event: dict[str, Any]) -> None:
        """Note what can be seen of an image before it is done."""
        output = integer_of(event, "output_index")
        item_id = name_in(event, "item_id")
        if output == NO_INDEX:
            output = self._find_output(item_id)
        shown = {
            name: value for name, value in event.items() if name in ("background", "output_format", "quality", "size")
        }
        self._put_image(output, {**shown, "id": item_id, "result": event.get("partial_image_b64")}, False)

    def _put_other(self, output: int, item: dict[str, Any], kind: str, is_done: bool) -> None:
        key = item_key(output)
        waits = kind == "computer_call" and is_done and item.get("status") in _WAITING
        self.put(key, Other(kind, plain(item), waits, self.place_for(key), not is_done, name_in(item, "id")))
        call_id, field = name_in(item, "call_id"), _OUTPUTS.get(kind)
        if field is not None and call_id and is_done:
            self._answer(call_id, plain(item.get(field)))

    def _answer(self, call_id: str, result: JsonValue) -> None:
        """Note the result of a call, for which nobody waits any more."""
        for part in self.draft.parts:
            if isinstance(part, ServerCall) and part.id == call_id:
                self._describe(part, part.evolve(result=result, needs_action=False))

    def note_status(self, event: dict[str, Any], kind: str, status: str) -> bool:
        """Note how far an item has come that the provider works on; return whether that is what the event says."""
        part = self.draft.find(item_key(place_in(event, "output_index")))
        if isinstance(part, ServerCall) and part.type == kind:
            if part.is_open:
                self._describe(part, part.evolve(status=status))
            return True
        return False


def _with_own(extra: dict[str, JsonValue], part: BasePart) -> dict[str, JsonValue] | None:
    """Return what an item says, with what only its part says."""
    own: dict[str, JsonValue] = {name: part.extra[name] for name in ("type", "part") if name in part.extra}
    return {**extra, **own} or None


def _written_as_function(item: dict[str, Any], tool: ServerTool) -> str:
    """Return the arguments of a tool that are text as those of functions are, where xAI writes them."""
    return "" if item.get(tool.arguments) is not None else text_of(item, _ARGUMENTS) or ""


def _split_arguments(item: dict[str, Any], kind: str, tool: ServerTool) -> tuple[Any, Any]:
    """Return the arguments and the result that an item has."""
    value = item.get(tool.arguments)
    if value is None:
        value = load_json(_written_as_function(item, tool))
    result = item.get(tool.result)
    arguments: Any = MISSING if value is None else plain(value)
    found: Any = MISSING if result is None else plain(result)
    if kind == "file_search_call" and value is not None:
        arguments = {"queries": arguments}
    elif kind == _SEARCH and isinstance(arguments, dict) and "sources" in arguments:
        found = arguments["sources"]
        arguments = {name: each for name, each in arguments.items() if name != "sources"}
    return arguments, found


_REQUEST_FIELDS: Final = frozenset(
    (
        *("background", "frequency_penalty", "include", "instructions", "max_output_tokens", "max_tool_calls"),
        *("metadata", "parallel_tool_calls", "presence_penalty", "previous_response_id", "prompt"),
        *("prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "reasoning", "safety_identifier"),
        *("store", "stream", "stream_options", "temperature", "text", "tool_choice", "tools", "top_logprobs"),
        *("top_p", "truncation", "user"),
    )
)
"""The fields of the request that a response repeats."""
_USAGE: Final = UsageNames(
    input_tokens="input_tokens",
    output_tokens="output_tokens",
    total_tokens="total_tokens",
    cached_tokens="input_tokens_details.cached_tokens",
    cache_write_tokens="input_tokens_details.cache_write_tokens",
    reasoning_tokens="output_tokens_details.reasoning_tokens",
)
_RESPONSE_FIELDS: Final = frozenset(
    ("created_at", "id", "model", "object", "output", "output_parsed", "status", "usage")
)
"""The fields of a response that are read."""
_KNOWN_RESPONSE_FIELDS: Final = _REQUEST_FIELDS | _RESPONSE_FIELDS
_CONTRADICTED: Final = "the text is not what its deltas said"
_INCOMPLETE: Final = {
    "": "length",
    "content_filter": "content_filter",
    "max_messages": "length",
    "max_output_tokens": "length",
    "max_tokens": "length",
    "steered": "length",
}
"""Why a response is incomplete, in one vocabulary; after an unknown word, nothing can be run."""


def read_tools(items: Items, response: dict[str, Any]) -> None:
    """Note which custom tools are the caller's, and where commands run: a response repeats the tools of its request."""
    if not isinstance(response.get("tools"), (list, tuple)):
        return
    tools = [as_dict(tool) for tool in list_of(response, "tools")]
    for group in tools[:]:
        if text_of(group, "type") == "namespace":
            tools += [as_dict(tool) for tool in list_of(group, "tools")]
    kinds = [text_of(tool, "type") for tool in tools]
    declared = frozenset([text_of(tool, "name") or "" for tool in tools if text_of(tool, "type") == "custom"])
    # A search may load others, so with one of these nothing is known.
    found = None if "tool_search" in kinds else declared
    in_container = items.known.in_container
    for tool in tools:
        if text_of(tool, "type") == "shell":
            in_container = (text_of(dict_of(tool, "environment"), "type") or "").startswith("container")
    if found != items.known.declared or in_container is not items.known.in_container:
        items.known = items.known.evolve(declared=found, in_container=in_container)


def read_response(draft: Draft, response: dict[str, Any]) -> None:
    """Note what a response says about itself."""
    created = created_of(response.get("created_at"))
    draft.identify(text_of(response, "id"), text_of(response, "model"), created, "openai_responses")
    keep_metadata(draft, response, _KNOWN_RESPONSE_FIELDS)
    if response.get("usage") is not None:
        usage = dict_of(response, "usage")
        check_unknown(draft, "usage", usage)
        draft.set_usage(_USAGE.read(usage, plain(usage)))


def read_end(items: Items, kind: str, response: dict[str, Any]) -> None:
    """Note how a response ended, by its status more than by its name."""
    draft, status = items.draft, status_of(response)
    read_response(draft, response)
    if kind == "response.failed" or status in ("failed", "cancelled") or response.get("error"):
        error = response.get("error")
        draft.fail(describe_error(error) if error else "the response failed", plain(error))
        return
    _read_output(items, [check_item(draft, "output", item) for item in items_in(draft, response, "output")])
    if items.known.is_contradicted:
        draft.fail(_CONTRADICTED)
    elif kind == "response.incomplete" or status == "incomplete":
        why = text_of(dict_of(response, "incomplete_details"), "reason")
        draft.finish(_INCOMPLETE.get(why or "", why), why or status)
    else:
        draft.finish("stop" if status == "completed" else status, status)


def _read_output(items: Items, output: list[dict[str, Any]]) -> None:
    """Note what the end repeats: of some items, no other event may have said that they were cut off, or all they hold.

    Items are found by their ids, as some servers count them otherwise here. One that is not found is taken only if
    nothing of its kind came before: some servers give it another id.
    """
    draft, known = items.draft, _find_known(items)
    before = draft.parts
    has_text = any([isinstance(part, (TextPart, Refusal)) for part in before])
    has_thought = any([isinstance(part, ReasoningPart) for part in before])
    has_call = any([isinstance(part, (PartialCall, CompleteCall)) for part in before])
    for at, item in enumerate(output):
        kind, item_id = text_of(item, "type") or "message", text_of(item, "id") or ""
        if kind in CALLS:
            _repeat_call(items, at, item, has_call)
            continue
        place = known.get(item_id, NO_INDEX)
        if item_id not in known:
            is_there = draft.find(item_key(at)) is not None
            if not (has_text if kind == "message" else has_thought if kind == "reasoning" else is_there):
                place = at
        if place != NO_INDEX:
            items.read_item(place, item, True)


def _find_known(items: Items) -> dict[str, int]:
    """Return the outputs of the items that have ids, `NO_INDEX` for those that were done.

    An item that was done must be sent back as it came then: at the end it may be encrypted anew.
    """
    draft = items.draft
    known: dict[str, int] = {}
    for at in range(draft.count):
        part, output = draft.part_at(at), output_of_key(draft.key_at(at))
        if part.item_id:
            is_done = not part.is_open and output not in items.known.labels
            known[part.item_id] = known.get(part.item_id, NO_INDEX) if is_done else output
    return known


def _repeat_call(items: Items, at: int, item: dict[str, Any], has_call: bool) -> None:
    """Note a call for the one that has its id; where other calls came before, it begins none that has a name."""
    check_call(items.draft, item)
    call_id, cut_off = text_of(item, "call_id"), is_cut_off(item)
    is_known = any([isinstance(part, BaseCall) and part.id == call_id for part in items.draft.parts])
    if not cut_off and (not call_id or not (item.get("arguments") or item.get("input"))):
        return
    delta = CallDelta(
        NO_INDEX if call_id else at,
        call_id,
        text_of(item, "name") if cut_off or is_known or not has_call else None,
        None if cut_off else arguments_in(item, '"'),
        is_whole=True,
        is_object=not cut_off and is_object(item.get("arguments")),
        on_server=items.is_on_server(item),
        cut_off=cut_off,
        is_written=text_of(item, "type") == CUSTOM,
    )
    items.add_call(delta, item, True)


_OUT_OF_ORDER: Final = "the event {} follows the event {}: what is lost or swapped may be of this call"
_CREATED: Final = "response.created"
_START_TYPES: Final = (_CREATED, "response.queued", "response.in_progress")
_END_TYPES: Final = ("response.completed", "response.incomplete", "response.failed")
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
    "response.reasoning_part.added": False,
    "response.reasoning_summary_part.added": False,
    "response.content_part.done": True,
    "response.reasoning_part.done": True,
    "response.reasoning_summary_part.done": True,
}
_ITEMS: Final = {"response.output_item.added": False, "response.output_item.done": True}
_ARGUMENTS_DELTA: Final = "response.function_call_arguments.delta"
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
_REPEATED_PREFIXES: Final = (
    "response.shell_call_command.",
    "response.shell_call_output_content.",
    "response.apply_patch_call_operation_diff.",
)
"""Events that say piece by piece what their item says when it is done."""
_NO_DELTA: Final = "an event with more arguments of a call has none that can be read"
_ITEM_EVENT_FIELDS: Final = frozenset(("item", "output_index", "sequence_number", "type"))
_BOOKKEEPING_FIELDS: Final = frozenset(
    ("type", "sequence_number", "output_index", "item_id", "obfuscation", "response_id")
)
_EVENT_FIELDS: Final = _BOOKKEEPING_FIELDS | {
    *("annotation", "annotation_index", "arguments", "background", "code", "content_index", "delta", "error"),
    *("input", "item", "logprobs", "name", "output_format", "parsed", "part", "partial_image_b64"),
    *("partial_image_index", "quality", "refusal", "response", "size", "snapshot", "summary_index", "text"),
}
"""The fields of events that are read, or say nothing new, as what the helper of the SDK adds; all others are kept."""


# Where events with more of a text or of arguments have what differs between them.
_NUMBER: Final = ("sequence_number",)
_PIECE: Final = ("delta",)
_SILENT: Final = frozenset((("item_id",), ("obfuscation",)))
"""Some servers write another id of the item with each event."""


class ResponsesReader(Reader):
    """Reads events."""

    __slots__ = ("is_counted", "known", "number", "start")

    FIELDS: ClassVar[tuple[str, ...]] = ("start", "known", "number", "is_counted")

    NAME: ClassVar[str] = _NAME

    def __init__(
        self,
        start: MessageStart = NOT_STARTED,
        known: Known = NOTHING_KNOWN,
        number: int = NO_INDEX,
        is_counted: bool = False,
    ) -> None:
        self.start: Final = start
        self.known: Final = known
        self.number: Final = number
        """The number of the last event, `NO_INDEX` if it has none."""
        self.is_counted: Final = is_counted
        """Whether the numbers of events go up; some servers give all the same."""

    def __hash__(self) -> int:
        return hash(self.start)

    def fits(self, event: dict[str, Any]) -> bool:
        kind = text_of(event, "type") or ""
        return kind.startswith("response.") or (kind == "error" and ("sequence_number" in event or "param" in event))

    def split_whole(self, event: dict[str, Any]) -> list[dict[str, Any]] | None:
        if text_of(event, "object") != "response" or "output" not in event:
            return None
        items: list[dict[str, Any]] = [
            {"type": "response.output_item.done", "output_index": at, "item": item}
            for at, item in enumerate(list_of(event, "output"))
        ]
        return [{"type": _CREATED, "response": event}, *items, {"type": "response.completed", "response": event}]

    def read(self, draft: Draft, event: dict[str, Any]) -> Reader:
        number = integer_of(event, "sequence_number")
        if number == NO_INDEX:
            return self._read_event(draft, event)
        is_counted = self._check_order(draft, number)
        return self._read_event(draft, event)._with_number(number, is_counted)

    def role_of(self, draft: Draft, event: dict[str, Any], path: tuple[object, ...]) -> int:
        if path == _NUMBER:
            return COUNTER
        kind = text_of(event, "type") or ""
        text = _DELTAS.get(kind, -1)
        if text >= 0:
            # Where no part has the place that the event says, the id of the item says which one it is.
            is_found = draft.find(key_of(text, event, place_in(event, "output_index"))) is not None
        else:
            is_found = kind == _ARGUMENTS_DELTA
        if not is_found:
            return ANYTHING
        return PIECE if path == _PIECE else SILENT if path in _SILENT else ANYTHING

    def count(self, draft: Draft, number: int) -> Reader:
        return self._with_number(number, self._check_order(draft, number))

    def _with_number(self, number: int, is_counted: bool) -> ResponsesReader:
        return ResponsesReader(self.start, self.known, number, is_counted)

    def _check_order(self, draft: Draft, number: int) -> bool:
        """Note what the number of an event shows to be lost or swapped; return whether such numbers go up."""
        before = self.number
        if before == NO_INDEX or number == before + 1:
            return before != NO_INDEX
        if self.is_counted or number != before:
            draft.mark_open_calls(_OUT_OF_ORDER.format(number, before))
        return self.is_counted

    def _read_event(self, draft: Draft, event: dict[str, Any]) -> ResponsesReader:
        kind = text_of(event, "type") or ""
        if draft.provider is None:
            draft.identify(None, None, None, self.name)
        if event.get("error") and kind != "error" and read_error(draft, event):
            return self
        start = self.start
        text = _DELTAS.get(kind, -1)
        if text >= 0:
            key = key_of(text, event, place_in(event, "output_index"))
            if draft.find(key) is None or event.get("logprobs"):
                return self._read_rest(draft, event, kind, start.after_event())
            piece = text_of(event, "delta")
            if piece is None:
                _check_misplaced(draft, event, kind)
            add_piece(draft, text, key, piece or "")
        elif kind == _ARGUMENTS_DELTA:
            _add_arguments(draft, event, event.get("delta"), False, False)
        elif kind == _CREATED:
            started = start.start(draft, text_of(as_dict(event.get("response") or event), "id"))
            return self if started is None else self._read_rest(draft, event, kind, started)
        else:
            return self._read_rest(draft, event, kind, start if kind in _START_TYPES else start.after_event())
        keep_metadata(draft, event, _EVENT_FIELDS)
        if start.has_more or not start.has_started:
            return self
        return ResponsesReader(start.after_event(), self.known)

    def _read_rest(self, draft: Draft, event: dict[str, Any], kind: str, start: MessageStart) -> ResponsesReader:
        """Note what any other event says, and return the reader with what must be remembered of it."""
        items = Items(draft, self.known)
        if kind == "error":
            _read_failure(draft, event)
        elif kind in _DELTAS or not read_error(draft, event):
            _read_event(items, event, kind)
        return self if start is self.start and items.known is self.known else ResponsesReader(start, items.known)


def _check_misplaced(draft: Draft, event: dict[str, Any], kind: str) -> None:
    """Note what may be arguments in an event of a kind that has none, and a delta in one that is no delta."""
    check_unknown(draft, "arguments", event.get("arguments"))
    if not kind.endswith(".delta"):
        check_unknown(draft, "arguments", event.get("delta"))


def _read_event(items: Items, event: dict[str, Any], kind: str) -> None:
    if kind not in _PIECES and kind not in _ALL_PIECES:
        _check_misplaced(items.draft, event, kind)
    if kind in _DELTAS:
        items.grow(_DELTAS[kind], event)
    elif kind in _WHOLES:
        items.complete(_WHOLES[kind], event)
    elif kind in _PARTS:
        items.read_part(event, _PARTS[kind])
    elif kind in _ITEMS:
        draft = items.draft
        items.read_item(index_in(draft, event, "output_index"), fields_in(draft, event, "item"), _ITEMS[kind])
        check_rest(draft, event, _ITEM_EVENT_FIELDS)
    elif kind in _PIECES:
        is_text, on_server = _PIECES[kind]
        piece: object = escape(event.get("delta")) if is_text else event.get("delta")
        _add_arguments(items.draft, event, piece, on_server, is_text)
    elif kind in _ALL_PIECES:
        _complete_arguments(items.draft, event, _ALL_PIECES[kind])
    elif not _read_rare(items, event, kind):
        _read_unknown(items, event, kind)
        return
    keep_metadata(items.draft, event, _EVENT_FIELDS)


_AUDIO_KEY: Final = -1
"""The key of the spoken answer, of which no event says an output."""
_SPOKEN: Final = {"response.audio.delta": "data", "response.audio.transcript.delta": "transcript"}


def _read_rare(items: Items, event: dict[str, Any], kind: str) -> bool:
    """Note an event that comes a few times at most; return whether it is one."""
    response = fields_in(items.draft, event, "response")
    if kind in _START_TYPES:
        read_response(items.draft, response)
        read_tools(items, response)
    elif kind in _END_TYPES:
        read_end(items, kind, response)
    elif kind == "response.output_text.annotation.added":
        items.cite(event)
    elif kind == "response.image_generation_call.partial_image":
        items.show_image(event)
    elif kind in _SPOKEN:
        openai_chat.read_audio(items.draft, {_SPOKEN[kind]: event.get("delta")}, _AUDIO_KEY)
    elif kind == "response.audio.done":
        items.draft.close(_AUDIO_KEY)
    else:
        return kind == "response.audio.transcript.done"
    return True


def _read_unknown(items: Items, event: dict[str, Any], kind: str) -> None:
    """Note how far an item has come; any other event is kept whole, if it says anything."""
    words = kind.split(".")
    if len(words) == 3 and items.note_status(event, words[1], words[2]):
        return
    if not kind.startswith(_REPEATED_PREFIXES):
        _check_unknown_event(items.draft, event, kind)
    # An object of the SDK has fields that are not there.
    says_more = any([name not in _BOOKKEEPING_FIELDS and value is not None for name, value in event.items()])
    if says_more and not kind.startswith(_REPEATED_PREFIXES):
        items.draft.extend_metadata("events", [plain(event)])


def _check_unknown_event(draft: Draft, event: dict[str, Any], kind: str) -> None:
    check_unknown(draft, kind, event)
    index = integer_of(event, "output_index")
    if index != NO_INDEX and isinstance(draft.find(item_key(index)), PartialCall):
        check_rest(draft, event, _BOOKKEEPING_FIELDS)


def _read_failure(draft: Draft, event: dict[str, Any]) -> None:
    error = {name: value for name, value in event.items() if name not in _BOOKKEEPING_FIELDS and value is not None}
    draft.set_metadata("error", plain(error.get("error", error)))
    draft.fail(text_of(event, "message") or describe_error(event.get("error")), plain(error.get("error", error)))


def _add_arguments(draft: Draft, event: dict[str, Any], piece: object, on_server: bool, is_text: bool) -> None:
    """Note more of the arguments of a call.

    The id of an item is not the id of its call: the place among the outputs is what all events share.
    """
    index = index_in(draft, event, "output_index")
    key = NO_KEY if index == NO_INDEX else item_key(index)
    count = draft.count
    if piece is None and "delta" not in event:
        draft.lose(_NO_DELTA)
    text, is_whole = (piece, False) if type(piece) is str else (arguments_of(piece), is_object(piece))
    at = draft.add_call(CallDelta(index, None, None, text, False, is_whole, on_server, False, key, is_text))
    if at == count:
        draft.annotate(at, text_of(event, "item_id"), None, True)


def _complete_arguments(draft: Draft, event: dict[str, Any], name: str) -> None:
    """Note all arguments of a call.

    Text stays open: at a limit this may be the beginning only, and the item says whether it is.
    """
    index, value = index_in(draft, event, "output_index"), event.get(name)
    key = NO_KEY if index == NO_INDEX else item_key(index)
    count, begun = draft.count, None if index == NO_INDEX else draft.find(key)
    if value is None:
        check_rest(draft, event, _BOOKKEEPING_FIELDS)
    delta = CallDelta(
        index,
        begun.id if isinstance(begun, BaseCall) else None,  # an output is one call, also if it is named otherwise here
        text_of(event, "name"),
        arguments_of(value) if name == "arguments" else f'"{escape(value)}',
        is_whole=True,
        is_object=is_object(value),
        on_server=name == "code",
        key=key,
        is_written=name != "arguments",
    )
    if draft.add_call(delta) == count:
        draft.annotate(count, text_of(event, "item_id"), None, True)


_OWN_FIELDS_OF_PART: Final = ("type", "part")
"""What the extra of a part says about itself, and not about its item."""


class ResponsesForm(Form):
    """Writes input items."""

    __slots__ = ()

    ITEMS: ClassVar[str] = "input"
    SYSTEM: ClassVar[str] = "instructions"

    def write_answer(self, schema: dict[str, Any], *, strict: bool) -> Item:
        described = {"name": ANSWER_NAME, "schema": schema, "strict": strict}
        return {"text": {"format": {"type": "json_schema", **described}}}

    def write_text(self, text: str) -> Item:
        return {"type": "input_text", "text": text}

    def find_file(self, file: File) -> Item | None:
        """Return an image or another file, but no sound and no film."""
        shown = Shown(file)
        link: str | None = shown.link
        if shown.kind in {"audio", "video"}:
            return None
        if shown.kind == "image":
            where = {"image_url": link} if link is not None else {"file_id": file.id}
            return {"type": "input_image", **where, "detail": "auto"} if link or file.id else None
        if shown.data is not None and shown.media_type:
            return {"type": "input_file", "filename": file.name or "file", "file_data": link}
        if shown.data is None and link is not None:
            return {"type": "input_file", "file_url": link}
        return {"type": "input_file", "file_id": file.id} if file.id else None

    def write_message(self, message: Message) -> list[Item]:
        """Return the items of an assistant's message."""
        if message.provider != _NAME:
            return [item for part in message.parts for item in _write_foreign(part)]
        items: list[Item] = []
        for part in message.parts:
            _add(items, part)
        return items

    def write_results(self, results: Sequence[ToolResult]) -> list[Item]:
        """Return the outputs of calls; a call without a name is left out of requests, and so is its result."""
        return [self.write_result(result) for result in results if result.call.name]

    def write_result(self, result: ToolResult) -> Item:
        call: BaseCall = result.call
        kind = "custom_tool_call_output" if call.extra.get("type") == CUSTOM else "function_call_output"
        output = self.write_content(result.parts) or result.text
        item: Item = {"type": kind, "call_id": written_id(call), "output": output}
        caller = call.extra.get("caller")
        if isinstance(caller, dict) and caller.get("type") == "program":
            item["caller"] = caller
        return item

    def write_tool(self, name: str, description: str, parameters: dict[str, Any], *, strict: bool) -> Item:
        """Return the definition of a function."""
        return {
            "type": "function",
            "name": name,
            "description": description,
            "parameters": parameters,
            "strict": strict,
        }


def _write_foreign(part: Part) -> list[Item]:
    """Write a part of another provider's message; it has no ids that this one knows."""
    if isinstance(part, (TextPart, Refusal)):
        return [_write_plain_text(part)] if part.text else []
    if isinstance(part, (CompleteCall, PartialCall)) and part.name:
        return [_write_function_call(part)]
    return []


def _add(items: list[Item], part: Part) -> None:
    """Add a part of the provider's own message to the item that it belongs to, or as another one."""
    if isinstance(part, (TextPart, Refusal, Other, ReasoningPart)) and part.item_id:
        kind = "reasoning" if isinstance(part, ReasoningPart) else "message"
        field, content = _write_content(part)
        if field and items and items[-1]["type"] == kind and items[-1].get("id") == part.item_id:
            items[-1].setdefault(field, []).extend(content)
            return
    item = _write_item(part)
    if item is not None:
        items.append(item)


def _write_content(part: TextPart | Refusal | Other | ReasoningPart) -> tuple[str, list[Item]]:
    """Return what a part is in its item, and the field that has it; an item by itself has none."""
    own = part.extra.get("part")
    more = own if isinstance(own, dict) else {}
    if isinstance(part, TextPart):
        cited = [dict(citation.raw) for citation in part.citations]
        return "content", [{"type": "output_text", "text": part.text, "annotations": cited, **more}]
    if isinstance(part, Refusal):
        return "content", [{"type": "refusal", "refusal": part.text, **more}]
    if isinstance(part, Other):
        is_content = part.extra.get("type") == "message" and isinstance(part.raw, dict)
        return ("content", [dict(part.raw)]) if is_content and isinstance(part.raw, dict) else ("", [])
    kind = part.extra.get("type")
    if kind is None:
        return "", []
    return "summary" if kind == "summary_text" else "content", [{"type": kind, "text": part.text, **more}]


def _write_item(part: Part) -> Item | None:
    if isinstance(part, (TextPart, Refusal)):
        if part.item_id:
            return _write_message(part, _write_content(part)[1])
        return _write_plain_text(part) if part.text else None
    if isinstance(part, ReasoningPart):
        return _write_reasoning(part)
    if isinstance(part, (CompleteCall, PartialCall)):
        return _write_call(part)
    return _write_server_call(part) if isinstance(part, ServerCall) else _write_rest(part)


def _write_plain_text(part: TextPart | Refusal) -> Item:
    item: Item = {"type": "message", "role": "assistant", "content": part.text}
    if isinstance(part.extra.get("phase"), str):
        item["phase"] = part.extra["phase"]
    return item


def _write_reasoning(part: ReasoningPart) -> Item | None:
    """Without an id the provider does not know whose thoughts these are."""
    if not part.item_id:
        return None
    item: Item = {"type": "reasoning", "id": part.item_id, **_item_fields(part), "summary": []}
    field, content = _write_content(part)
    if field:
        item[field] = content
    if part.encrypted is not None:
        item["encrypted_content"] = part.encrypted
    return item


def _write_rest(part: Part) -> Item | None:
    """Write an item that came whole."""
    if isinstance(part, File):
        image = {"type": "image_generation_call", "id": part.item_id, "result": part.data, **part.extra}
        return image if part.item_id else None  # what was spoken cannot be sent back
    if not isinstance(part, Other) or not isinstance(part.raw, dict):
        return None
    return _write_message(part, [dict(part.raw)]) if part.extra.get("type") == "message" else dict(part.raw)


def _write_message(part: TextPart | Refusal | Other, content: list[Item]) -> Item:
    item: Item = {"type": "message", "id": part.item_id, "role": "assistant", "status": "completed"}
    return {**item, **_item_fields(part), "content": content}


def _item_fields(part: Part) -> Item:
    return {name: value for name, value in part.extra.items() if name not in _OWN_FIELDS_OF_PART}


def _write_call(call: ToolCall) -> Item | None:
    if not call.name:
        return None
    if call.extra.get("type") == CUSTOM:
        return _write_custom_call(call)
    return {**_write_function_call(call), **_ids_of(call)}


def _write_function_call(call: ToolCall) -> Item:
    return {"type": "function_call", "call_id": written_id(call), "name": call.name, "arguments": _arguments_of(call)}


def _write_custom_call(call: ToolCall | ServerCall) -> Item:
    text = load_json(call.arguments)
    return {
        "type": CUSTOM,
        "call_id": written_id(call),
        "name": call.name,
        "input": text if isinstance(text, str) else "",
        **_ids_of(call),
    }


def _ids_of(call: ToolCall | ServerCall) -> Item:
    """Return what the provider said about a call of its own."""
    return {"id": call.item_id, **_item_fields(call)} if call.item_id else {}


def _arguments_of(call: ToolCall) -> str:
    """The provider refuses arguments that are no object."""
    written = written_arguments(call)
    if isinstance(load_json(written), dict):
        return written
    is_whole = isinstance(call, CompleteCall) and isinstance(call.arguments_value, dict)
    return write_json(call.arguments_value) if is_whole and isinstance(call, CompleteCall) else "{}"


def _write_server_call(call: ServerCall) -> Item | None:
    """Write what the provider ran itself, or asked for, as it came."""
    if call.type == CUSTOM:
        item = _write_custom_call(call)
        return item if call.status is None else {**item, "status": call.status}
    tool = SERVER_TOOLS.get(call.type)
    if tool is None or not call.item_id:
        return None
    item = {"type": call.type, "id": call.item_id, **call.extra}
    if call.id and call.id != call.item_id:
        item["call_id"] = call.id
    if call.status is not None:
        item["status"] = call.status
    if not tool.name:
        item["name"] = call.name
    if tool.result:
        item[tool.result] = None if call.result is MISSING else call.result
    if _is_written_as_function(call):
        item["arguments"] = call.arguments
    elif tool.arguments:
        item[tool.arguments] = _write_server_arguments(call)
    return item


def _is_written_as_function(call: ServerCall) -> bool:
    """Return whether a search has arguments, as xAI writes it, and no action, which says its type."""
    value = load_json(call.arguments) if call.type == "web_search_call" else None
    return isinstance(value, dict) and bool(value) and "type" not in value


def _write_server_arguments(call: ServerCall) -> object:
    if call.type in {"mcp_call", "mcp_approval_request"}:
        return call.arguments
    value = load_json(call.arguments)
    if call.type == "file_search_call":
        return value.get("queries", []) if isinstance(value, dict) else []
    if call.type == "web_search_call" and isinstance(value, dict) and call.result is not MISSING:
        return {**value, "sources": call.result}
    return value


PROVIDER: Final[Provider] = Provider(
    ResponsesReader(),
    ResponsesForm(),
    tools=openai_chat.TOOLS,
    event_prefixes=("response.",),
    client_packages=("openai",),
)
