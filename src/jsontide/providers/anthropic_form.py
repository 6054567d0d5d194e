"""Messages, results and tools in the form of Anthropic's Messages API.

After a fallback to another model, the API wants some blocks of the model that declined left out: its thinking, its
calls, and calls of server tools that have no result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from jsontide._values import MISSING
from jsontide.messages import (
    CompleteCall,
    Other,
    PartialCall,
    ReasoningPart,
    Refusal,
    ServerCall,
    TextPart,
)
from jsontide.providers.blocks_form import BlockList, extra_of, id_of, result_of
from jsontide.providers.calls_form import UNNAMED, input_of, is_own

if TYPE_CHECKING:
    from jsontide.messages import Message, Part, ToolResult
    from jsontide.providers.form import Item

_FALLBACK: Final = "fallback"
_NOT_AFTER_FALLBACK: Final = ("connector_text", "tool_use")


class AnthropicForm:
    """Writes content blocks."""

    def write_message(self, message: Message[Any]) -> list[Item]:
        if not is_own(message, "anthropic"):
            content = [block for part in message.parts if (block := _write_foreign(part)) is not None]
        else:
            content = _write_own(message.parts)
        return [{"role": "assistant", "content": content}] if content else []

    def write_results(self, results: Sequence[ToolResult]) -> list[Item]:
        content = [_write_result(result) for result in results]
        return [{"role": "user", "content": content}] if content else []

    def write_tool(self, name: str, description: str, parameters: dict[str, Any], *, strict: bool) -> Item:
        tool: Item = {"name": name, "input_schema": {"type": "object", **parameters}}
        if description:
            tool["description"] = description
        return {**tool, "strict": True} if strict else tool


FORM: Final = AnthropicForm()


def _write_own(parts: Sequence[Part]) -> list[Item]:
    """Write the blocks in the order in which they came."""
    fallbacks = [at for at, part in enumerate(parts) if isinstance(part, Other) and part.type == _FALLBACK]
    last = fallbacks[-1] if fallbacks else -1
    blocks = BlockList()
    for at, part in enumerate(parts):
        block = _write_part(part) if at >= last or _outlives_fallback(part) else None
        if block is None:
            continue
        blocks.add(part, block)
        result = result_of(part) if isinstance(part, ServerCall) else None
        if isinstance(part, ServerCall) and result is not None:
            blocks.add_result(part, result if part.result is MISSING else {**result, "content": part.result})
    return blocks.in_order()


def _outlives_fallback(part: Part) -> bool:
    if isinstance(part, ServerCall):
        return result_of(part) is not None
    if isinstance(part, Other):
        return part.type not in _NOT_AFTER_FALLBACK
    return isinstance(part, TextPart)


def _write_part(part: Part) -> Item | None:
    """Write a block; `None` for what the API would refuse, and for why the model refused, which came in none."""
    if isinstance(part, TextPart):
        return _write_text(part)
    if isinstance(part, ReasoningPart):
        return _write_thinking(part)
    if isinstance(part, CompleteCall | PartialCall):
        return {**_write_call(part), **extra_of(part.extra)}
    if isinstance(part, ServerCall):
        named = {"name": part.name} if part.name else {}
        known = {"id": part.id} if part.id else {}
        return {
            "type": part.type or "server_tool_use",
            **known,
            **named,
            "input": input_of(part),
            **extra_of(part.extra),
        }
    return dict(part.raw) if isinstance(part, Other) and isinstance(part.raw, dict) else None


def _write_text(part: TextPart) -> Item | None:
    if not part.text.strip():
        return None
    block: Item = {"type": "text", "text": part.text, **extra_of(part.extra)}
    return {**block, "citations": [dict(citation.raw) for citation in part.citations]} if part.citations else block


def _write_thinking(part: ReasoningPart) -> Item | None:
    if part.redacted:
        return {"type": "redacted_thinking", "data": part.encrypted, **extra_of(part.extra)} if part.encrypted else None
    if part.signature is None:
        return None
    return {"type": "thinking", "thinking": part.text, "signature": part.signature, **extra_of(part.extra)}


def _write_call(call: CompleteCall | PartialCall) -> Item:
    return {"type": "tool_use", "id": id_of(call), "name": call.name or UNNAMED, "input": input_of(call)}


def _write_foreign(part: Part) -> Item | None:
    """Write what another provider's message has in common with this one's."""
    if isinstance(part, CompleteCall | PartialCall):
        return _write_call(part)
    if not isinstance(part, TextPart | Refusal) or not part.text.strip():
        return None
    return {"type": "text", "text": part.text}


def _write_result(result: ToolResult) -> Item:
    block: Item = {"type": "tool_result", "tool_use_id": id_of(result.call), "content": result.text}
    if "toolset_name" in result.call.extra:
        block["toolset_name"] = result.call.extra["toolset_name"]
    return block if result.error is None else {**block, "is_error": True}
