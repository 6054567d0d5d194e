"""Cohere Chat, version 2: messages of the next request.

Results are documents, so that the model can cite them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from jsontide.messages.calls import Part, ToolCall
from jsontide.messages.options import to_plain
from jsontide.messages.parts import ReasoningPart, TextPart
from jsontide.providers.calls_form import arguments_of, id_of, is_own, name_of
from jsontide.providers.cohere import PLAN

if TYPE_CHECKING:
    from jsontide.messages import Message, ToolResult
    from jsontide.providers.form import Item

_PROVIDER: Final = "cohere"


class CohereForm:
    """Writes messages."""

    def write_message(self, message: Message[Any]) -> list[Item]:
        """Return the assistant's message; thinking, plans and citations go back to where they came from."""
        own = is_own(message, _PROVIDER)
        item: Item = {"role": "assistant"}
        plan = "".join(part.text for part in message.parts if _is_plan(part) and isinstance(part, ReasoningPart))
        if own and plan:
            item["tool_plan"] = plan
        content = [block for part in message.parts for block in _write_part(part, own=own)]
        if content or not message.tool_calls:
            item["content"] = content or ""
        if message.tool_calls:
            item["tool_calls"] = [_write_call(call) for call in message.tool_calls]
        citations = [citation for part in message.parts for citation in _write_citations(part)]
        if own and citations:
            item["citations"] = citations
        return [item]

    def write_results(self, results: Sequence[ToolResult]) -> list[Item]:
        """Return a message for each result."""
        return [_write_result(result) for result in results]

    def write_tool(self, name: str, description: str, parameters: dict[str, Any], *, strict: bool) -> Item:
        """Return the definition of a function."""
        function = {"name": name, "description": description, "parameters": parameters}
        return {"type": "function", "function": function}


FORM: Final = CohereForm()


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


def _write_call(call: ToolCall) -> Item:
    function = {"name": name_of(call), "arguments": arguments_of(call)}
    return {"id": id_of(call), "type": "function", "function": function}


def _write_result(result: ToolResult) -> Item:
    if result.error is not None:
        data: Any = {"error": result.text}
    else:
        output = to_plain(result.output)
        data = output if isinstance(output, dict) else {"result": output}
    document = {"type": "document", "document": {"data": data}}
    return {"role": "tool", "tool_call_id": id_of(result.call), "content": [document]}
