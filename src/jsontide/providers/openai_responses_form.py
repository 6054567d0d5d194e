"""OpenAI Responses: a message, the results of its calls, and tools as input items of the next request.

What its own provider sent goes back as it came: items with their ids, phases, encrypted reasoning and callers, and what
the provider ran itself. Of a message of another provider, texts and calls are written.

Rule: parts with the same item id are one item again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from jsontide._values import MISSING
from jsontide.messages.calls import CompleteCall, Part, PartialCall, ServerCall, ToolCall
from jsontide.messages.document import write_json
from jsontide.messages.parts import File, Other, ReasoningPart, Refusal, TextPart
from jsontide.providers.calls_form import written_arguments
from jsontide.providers.openai_responses import CUSTOM, SERVER_TOOLS

if TYPE_CHECKING:
    from jsontide.messages import Message, ToolResult
    from jsontide.providers.form import Item

_PROVIDER: Final = "openai_responses"
_OF_PART: Final = ("type", "part")
"""What the extra of a part says about itself, and not about its item."""


class ResponsesForm:
    """Writes input items."""

    def write_message(self, message: Message[Any]) -> list[Item]:
        """Return the items of an assistant's message."""
        if message.provider != _PROVIDER:
            return [item for part in message.parts for item in _write_foreign(part)]
        items: list[Item] = []
        for part in message.parts:
            _add(items, part)
        return items

    def write_results(self, results: Sequence[ToolResult]) -> list[Item]:
        """Return the outputs of calls; a call without a name is left out of requests, and so is its result."""
        return [_write_result(result) for result in results if result.call.name]

    def write_tool(self, name: str, description: str, parameters: dict[str, Any], *, strict: bool) -> Item:
        """Return the definition of a function."""
        return {
            "type": "function",
            "name": name,
            "description": description,
            "parameters": parameters,
            "strict": strict,
        }


FORM: Final = ResponsesForm()


def _write_foreign(part: Part) -> list[Item]:
    """Write a part of another provider's message; it has no ids that this one knows."""
    if isinstance(part, TextPart | Refusal):
        return [_write_plain_text(part)] if part.text else []
    if isinstance(part, CompleteCall | PartialCall) and part.name:
        return [_write_function_call(part)]
    return []


def _add(items: list[Item], part: Part) -> None:
    """Add a part of the provider's own message to the item that it belongs to, or as another one."""
    if isinstance(part, TextPart | Refusal | Other | ReasoningPart) and part.item_id:
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
    if isinstance(part, TextPart | Refusal):
        return _write_text_item(part)
    if isinstance(part, ReasoningPart):
        return _write_reasoning(part)
    if isinstance(part, CompleteCall | PartialCall):
        return _write_call(part)
    return _write_server_call(part) if isinstance(part, ServerCall) else _write_rest(part)


def _write_plain_text(part: TextPart | Refusal) -> Item:
    item: Item = {"type": "message", "role": "assistant", "content": part.text}
    if isinstance(part.extra.get("phase"), str):
        item["phase"] = part.extra["phase"]
    return item


def _write_text_item(part: TextPart | Refusal) -> Item | None:
    if not part.item_id:
        return _write_plain_text(part) if part.text else None
    return _write_message(part, _write_content(part)[1])


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
    """Write what came whole."""
    if isinstance(part, File):
        return {"type": "image_generation_call", "id": part.item_id, "result": part.data, **part.extra}
    if not isinstance(part, Other) or not isinstance(part.raw, dict):
        return None
    return _write_message(part, [dict(part.raw)]) if part.extra.get("type") == "message" else dict(part.raw)


def _write_message(part: TextPart | Refusal | Other, content: list[Item]) -> Item:
    item: Item = {"type": "message", "id": part.item_id, "role": "assistant", "status": "completed"}
    return {**item, **_item_fields(part), "content": content}


def _item_fields(part: Part) -> Item:
    return {name: value for name, value in part.extra.items() if name not in _OF_PART}


def _write_call(call: ToolCall) -> Item | None:
    if not call.name:
        return None
    if call.extra.get("type") == CUSTOM:
        return _write_custom_call(call)
    return {**_write_function_call(call), **_ids_of(call)}


def _write_function_call(call: ToolCall) -> Item:
    return {"type": "function_call", "call_id": _id_of(call), "name": call.name, "arguments": _arguments_of(call)}


def _write_custom_call(call: ToolCall | ServerCall) -> Item:
    text = _load(call.arguments)
    return {
        "type": CUSTOM,
        "call_id": _id_of(call),
        "name": call.name,
        "input": text if isinstance(text, str) else "",
        **_ids_of(call),
    }


def _ids_of(call: ToolCall | ServerCall) -> Item:
    """Return what the provider said about a call of its own."""
    return {"id": call.item_id, **_item_fields(call)} if call.item_id else {}


def _id_of(call: ToolCall | ServerCall) -> str:
    """Some providers give calls no ids; the place in the message is as good."""
    return call.id or f"call_{call.index}"


def _arguments_of(call: ToolCall) -> str:
    """The provider refuses arguments that are no object."""
    written = written_arguments(call)
    if isinstance(_load(written), dict):
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
    """Tell whether a search has arguments, as xAI writes it, and no action, which says its type."""
    value = _load(call.arguments) if call.type == "web_search_call" else None
    return isinstance(value, dict) and bool(value) and "type" not in value


def _write_server_arguments(call: ServerCall) -> object:
    if call.type in {"mcp_call", "mcp_approval_request"}:
        return call.arguments
    value = _load(call.arguments)
    if call.type == "file_search_call":
        return value.get("queries", []) if isinstance(value, dict) else []
    if call.type == "web_search_call" and isinstance(value, dict) and call.result is not MISSING:
        return {**value, "sources": call.result}
    return value


def _load(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _write_result(result: ToolResult) -> Item:
    call = result.call
    kind = "custom_tool_call_output" if call.extra.get("type") == CUSTOM else "function_call_output"
    item: Item = {"type": kind, "call_id": _id_of(call), "output": result.text}
    caller = call.extra.get("caller")
    if isinstance(caller, dict) and caller.get("type") == "program":
        item["caller"] = caller
    return item
