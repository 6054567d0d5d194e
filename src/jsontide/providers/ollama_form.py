"""Ollama's own chat endpoint: messages of the next request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from jsontide.messages.calls import ToolCall
from jsontide.messages.parts import File
from jsontide.providers.calls_form import input_of, is_own, name_of

if TYPE_CHECKING:
    from jsontide.messages import Message, ToolResult
    from jsontide.providers.form import Item

_PROVIDER: Final = "ollama"


class OllamaForm:
    """Writes messages; arguments are objects, and results name the tool."""

    def write_message(self, message: Message[Any]) -> list[Item]:
        """Return the assistant's message; thinking goes back to where it came from."""
        own = is_own(message, _PROVIDER)
        item: Item = {"role": "assistant", "content": message.content}
        if own and message.reasoning:
            item["thinking"] = message.reasoning
        images = [part.data for part in message.parts if isinstance(part, File) and part.data is not None]
        if own and images:
            item["images"] = images
        if message.tool_calls:
            item["tool_calls"] = [_write_call(call, own=own) for call in message.tool_calls]
        return [item]

    def write_results(self, results: Sequence[ToolResult]) -> list[Item]:
        """Return a message for each result."""
        return [_write_result(result) for result in results]

    def write_tool(self, name: str, description: str, parameters: dict[str, Any], *, strict: bool) -> Item:
        """Return the definition of a function."""
        function = {"name": name, "description": description, "parameters": parameters}
        return {"type": "function", "function": function}


FORM: Final = OllamaForm()


def _write_call(call: ToolCall, *, own: bool) -> Item:
    rest = call.extra if own else {}
    item: Item = {"function": {**rest, "name": name_of(call), "arguments": input_of(call)}}
    return {"id": call.id, **item} if own and call.id else item


def _write_result(result: ToolResult) -> Item:
    item: Item = {"role": "tool", "tool_name": name_of(result.call), "content": result.text}
    return {**item, "tool_call_id": result.call.id} if result.call.id else item
