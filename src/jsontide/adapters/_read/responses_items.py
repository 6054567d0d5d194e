"""Output items of OpenAI Responses, and the parts of a message that they are.

In: an item, or what an event says about one, and its place among the outputs. Out: notes on a draft.
A message item has a part for each of its contents, a reasoning item for each summary and thought; any other item is
one part. Only functions and custom tools are calls to be run by the caller.
xAI writes some of what it runs itself as calls of custom tools, which the caller did not declare.
The input of a custom tool, and code, is text and not JSON: it is kept as a JSON string.
"""

from __future__ import annotations

import json
from typing import Any, Final

from jsontide._values import MISSING, JsonValue
from jsontide.adapters._read.fields import (
    NO_ARGUMENTS_TEXT,
    arguments_of,
    as_dict,
    dict_of,
    integer_of,
    is_object,
    list_of,
    plain,
    text_of,
)
from jsontide.adapters._read.responses_texts import (
    CONTENT,
    REFUSAL,
    SUMMARY,
    THOUGHT,
    Labels,
    Texts,
    item_key,
    name_in,
    output_of_key,
    place_in,
    text_key,
)
from jsontide.messages.calls import ServerCall
from jsontide.messages.document import write_json
from jsontide.messages.draft import NO_INDEX, NO_KEY, CallDelta, Draft
from jsontide.messages.parts import BasePart, File, Other, ReasoningPart, TextPart
from jsontide.messages.record import replace

CUSTOM: Final = "custom_tool_call"
CALLS: Final = ("function_call", CUSTOM)
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
"""Those whose arguments are text, of which some comes in pieces."""
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
    return "" if value is None else NO_ARGUMENTS_TEXT


def status_of(fields: dict[str, Any]) -> str:
    """Nothing said is as good as a normal end, and what is no text is as good as an unknown word."""
    return _COMPLETED if fields.get("status") is None else text_of(fields, "status") or "unknown"


def is_cut_off(item: dict[str, Any]) -> bool:
    """Return whether an item that is done is not whole: it was cut off even if the response goes on, and completes.

    A call that a program of the model made is in progress when it is done: its result is waited for.
    """
    status = status_of(item)
    if status == "in_progress":
        return not item.get("arguments") and not item.get("input")
    return status != _COMPLETED


def written_arguments(item: dict[str, Any], close: str) -> str | None:
    if text_of(item, "type") == CUSTOM:
        return f'"{escape(item.get("input"))}{close}'
    return arguments_of(item.get("arguments"))


def leftovers(item: dict[str, Any], read: tuple[str, ...]) -> dict[str, JsonValue]:
    """Return the fields of an item that no field of its part holds."""
    return {
        name: plain(value)
        for name, value in item.items()
        if value is not None and name not in _ITEM_FIELDS and name not in read
    }


class Items(Texts):
    """Takes down what one event says about items; what must be remembered after it is in its fields."""

    __slots__ = ("declared", "in_container")

    def __init__(
        self,
        draft: Draft,
        declared: frozenset[str] | None,
        in_container: bool,
        labels: Labels,
        counts: dict[int, int],
        is_contradicted: bool,
    ) -> None:
        Texts.__init__(self, draft, labels, counts, is_contradicted)
        self.declared: frozenset[str] | None = declared
        """The custom tools that the caller declared, `None` if that is not known."""
        self.in_container: bool = in_container
        """Whether the provider runs shell commands itself."""

    def read_item(self, output: int, item: dict[str, Any], is_done: bool) -> None:
        """Note an item that begins or is done; one with texts that has no number is the first."""
        kind = text_of(item, "type") or "message"
        if kind in CALLS:
            self._read_call(output, item, is_done)
            return
        if kind in ("message", "reasoning"):
            self._read_texts(0 if output == NO_INDEX else output, item, kind == "reasoning", is_done)
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
        self.labels = {**self.labels, output: (item_id, extra)}
        draft.set_role(text_of(item, "role"))
        keys: list[int] = []
        for name in ("summary", "content"):
            for at, part in enumerate(list_of(item, name)):
                keys.append(self.read_content(as_dict(part), output, at, item_id, is_done))
        if not keys and (is_reasoning or (is_done and item_id)):
            keys.append(self._stand_for(output, item_id, is_reasoning))
        for key in keys:
            found = draft.find(key)
            if found is not None:
                draft.label(found.index, item_id, _with_own(extra, found), not is_done)
        encrypted = text_of(item, "encrypted_content")
        first = draft.find(keys[0]) if keys else None
        if encrypted and isinstance(first, ReasoningPart) and first.encrypted != encrypted:
            draft.describe(first.index, replace(first, encrypted=encrypted))
        if is_done:
            self.labels = {at: label for at, label in self.labels.items() if at != output}

    def _stand_for(self, output: int, item_id: str | None, is_reasoning: bool) -> int:
        """Return the key of the first part of an item that repeats no texts; if it has none, an empty one."""
        for kind in (SUMMARY, THOUGHT) if is_reasoning else (CONTENT, REFUSAL):
            if self.draft.find(text_key(kind, output, 0)) is not None:
                return text_key(kind, output, 0)
        at = self.draft.count
        if not is_reasoning:
            self.draft.put(text_key(CONTENT, output, 0), TextPart("", (), at, True, item_id))
            return text_key(CONTENT, output, 0)
        if not isinstance(self.draft.find(item_key(output)), ReasoningPart):
            self.draft.put(item_key(output), ReasoningPart("", None, False, None, at, True, item_id))
        return item_key(output)

    def _read_call(self, output: int, item: dict[str, Any], is_done: bool) -> None:
        cut_off = is_done and is_cut_off(item)
        written = written_arguments(item, '"' if is_done and not cut_off else "")
        delta = CallDelta(
            output,
            name_in(item, "call_id"),
            name_in(item, "name"),
            written,
            is_whole=is_done,
            is_object=is_object(item.get("arguments")),
            on_server=self.is_on_server(item),
            cut_off=cut_off,
            key=NO_KEY if output == NO_INDEX else item_key(output),
            is_written=text_of(item, "type") == CUSTOM,
        )
        self.add_call(delta, item, is_done)

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
                part, replace(part, type=CUSTOM, status=status, item_id=item_id, extra=extra, is_open=not is_done)
            )
        else:
            draft.label(at, item_id, extra or None, not is_done)

    def is_on_server(self, item: dict[str, Any]) -> bool:
        name, declared = name_in(item, "name"), self.declared
        return declared is not None and text_of(item, "type") == CUSTOM and bool(name) and name not in declared

    # Items of tools that are no functions.

    def _read_growing(self, output: int, item: dict[str, Any], kind: str, is_done: bool) -> None:
        draft, tool = self.draft, SERVER_TOOLS[kind]
        if tool.arguments == _CODE:
            written: str | None = f'"{escape(item.get(_CODE))}{_close(item, is_done)}'
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
            changed = replace(
                part,
                type=kind,
                status=name_in(item, "status"),
                result=part.result if result is None else plain(result),
                needs_action=is_done and self._waits(item, kind),
                extra=leftovers(item, ("status", "name", tool.arguments, tool.result)),
                item_id=item_id,
                is_open=not is_done,
            )
            self._describe(part, changed)

    def _describe(self, before: BasePart, after: BasePart) -> None:
        if after != before:
            self.draft.describe(before.index, after)

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
                "" if arguments is MISSING else write_json(arguments),
                result,
                name_in(item, "status"),
                kind,
                is_done and result is MISSING and self._waits(item, kind),
                arguments,
                name_in(item, "call_id") or item_id,
                self.place_for(key),
                not is_done,
                item_id,
                leftovers(item, ("call_id", "status", tool.arguments, tool.result)) or None,
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
            return not (self.in_container if where is None else where.startswith("container"))
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
        draft = self.draft
        for at in range(draft.count):
            part = draft.part_at(at)
            if isinstance(part, ServerCall) and part.id == call_id:
                self._describe(part, replace(part, result=result, needs_action=False))

    def note_status(self, event: dict[str, Any], kind: str, status: str) -> bool:
        """Note how far an item has come that the provider works on; return whether that is what the event says."""
        part = self.draft.find(item_key(place_in(event, "output_index")))
        if isinstance(part, ServerCall) and part.type == kind:
            if part.is_open:
                self._describe(part, replace(part, status=status))
            return True
        return False


def _close(item: dict[str, Any], is_done: bool) -> str:
    return '"' if is_done and status_of(item) != "incomplete" else ""


def _with_own(extra: dict[str, JsonValue], part: BasePart) -> dict[str, JsonValue] | None:
    """Return what an item says, with what only its part says."""
    own: dict[str, JsonValue] = {name: part.extra[name] for name in ("type", "part") if name in part.extra}
    return {**extra, **own} or None


def _split_arguments(item: dict[str, Any], kind: str, tool: ServerTool) -> tuple[Any, Any]:
    """Return the arguments and the result that an item has."""
    value = item.get(tool.arguments)
    result = item.get(tool.result)
    arguments: Any = MISSING if value is None else plain(value)
    found: Any = MISSING if result is None else plain(result)
    if kind == "file_search_call" and value is not None:
        arguments = {"queries": arguments}
    elif kind == _SEARCH and isinstance(arguments, dict) and "sources" in arguments:
        found = arguments["sources"]
        arguments = {name: each for name, each in arguments.items() if name != "sources"}
    return arguments, found
