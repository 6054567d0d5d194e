"""OpenAI Chat Completions, and the many servers that speak it: messages of the next request.

Reasoning goes back only where a server wants it: blocks of OpenRouter, and Mistral's parts. Others refuse it, or ignore
it.
Rule: what a server wrote beside a call, such as a signature, goes back with the call.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from jsontide.messages.calls import Part, ToolCall
from jsontide.messages.parts import File, Other, ReasoningPart, TextPart
from jsontide.providers.calls_form import arguments_of, id_of, is_own, name_of
from jsontide.providers.openai_chat import CUSTOM, OLD_FORM

if TYPE_CHECKING:
    from jsontide.messages import Message, ToolResult
    from jsontide.providers.form import Item

_PROVIDER: Final = "openai_chat"
_DETAILS: Final = "reasoning."
"""How the types of OpenRouter's blocks of reasoning begin."""
_TEXT_FIELDS: Final = {"reasoning.text": "text", "reasoning.summary": "summary"}


class ChatForm:
    """Writes messages of chat completions."""

    def write_message(self, message: Message[Any]) -> list[Item]:
        """Return the assistant's message."""
        own = is_own(message, _PROVIDER)
        item: Item = {"role": "assistant", "content": message.content or None}
        if message.refusal:
            item["refusal"] = message.refusal
        if own:
            _add_own(item, message.parts)
        old = [call for call in message.tool_calls if own and call.extra.get("type") == OLD_FORM]
        calls = [_write_call(call, own=own) for call in message.tool_calls if call not in old]
        if old:
            item["function_call"] = {"name": name_of(old[0]), "arguments": arguments_of(old[0])}
        if calls:
            item["tool_calls"] = calls
        if len(item) == 2 and item["content"] is None:
            item["content"] = ""
        return [item]

    def write_results(self, results: Sequence[ToolResult]) -> list[Item]:
        """Return a message for each result."""
        return [_write_result(result) for result in results]

    def write_tool(self, name: str, description: str, parameters: dict[str, Any], *, strict: bool) -> Item:
        """Return the definition of a function."""
        function = {"name": name, "description": description, "parameters": parameters, "strict": strict}
        return {"type": "function", "function": function}


FORM: Final = ChatForm()


def _add_own(item: Item, parts: Sequence[Part]) -> None:
    """Add what only the server understands from which the message came."""
    details = [detail for part in parts for detail in _write_details(part)]
    if details:
        item["reasoning_details"] = details
    if any(_is_thinking(part) for part in parts):
        item["content"] = [_write_part(part) for part in parts if _is_thinking(part) or isinstance(part, TextPart)]
    for part in parts:
        if isinstance(part, File) and part.id is not None:
            item["audio"] = {"id": part.id}


def _write_details(part: Part) -> list[Item]:
    """Return the block of reasoning that OpenRouter sent."""
    if isinstance(part, Other) and part.type.startswith(_DETAILS) and isinstance(part.raw, dict):
        return [part.raw]
    kind = part.extra.get("type")
    if not isinstance(part, ReasoningPart) or not isinstance(kind, str) or not kind.startswith(_DETAILS):
        return []
    said = {_TEXT_FIELDS[kind]: part.text} if kind in _TEXT_FIELDS else {"data": part.encrypted}
    named = {"signature": part.signature, "id": part.item_id}
    return [{**part.extra, **said, **{name: value for name, value in named.items() if value is not None}}]


def _is_thinking(part: Part) -> bool:
    """Return whether a part is one of Mistral's, which nests thinking in the content."""
    return isinstance(part, ReasoningPart) and part.extra.get("type") == "thinking"


def _write_part(part: Part) -> Item:
    if not isinstance(part, ReasoningPart):
        return {"type": "text", "text": part.text if isinstance(part, TextPart) else ""}
    others = part.extra.get("thinking")
    thinking = [{"type": "text", "text": part.text}, *(others if isinstance(others, list) else [])]
    signature = {} if part.signature is None else {"signature": part.signature}
    return {**part.extra, "thinking": thinking, **signature}


def _write_call(call: ToolCall, *, own: bool) -> Item:
    extra = {name: value for name, value in call.extra.items() if name != "type"} if own else {}
    kind = call.extra.get("type") if own else None
    if kind == CUSTOM:
        custom = {"name": name_of(call), "input": _read_input(call)}
        return {"id": id_of(call), "type": CUSTOM, CUSTOM: custom, **extra}
    function = {"name": name_of(call), "arguments": arguments_of(call)}
    return {"id": id_of(call), "type": kind or "function", "function": function, **extra}


def _read_input(call: ToolCall) -> str:
    """Return the text that the JSON string of a custom tool's arguments holds."""
    try:
        found = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return ""
    return found if isinstance(found, str) else ""


def _write_result(result: ToolResult) -> Item:
    if result.call.extra.get("type") == OLD_FORM:
        return {"role": "function", "name": name_of(result.call), "content": result.text}
    return {"role": "tool", "tool_call_id": id_of(result.call), "content": result.text}
