"""Messages, results and tools in the form of Bedrock's Converse API, as boto3 takes them: binary data is bytes."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from jsontide._values import MISSING
from jsontide.messages import (
    CompleteCall,
    File,
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


class BedrockForm:
    """Writes content blocks."""

    def write_message(self, message: Message[Any]) -> list[Item]:
        if not is_own(message, "bedrock"):
            content = [block for part in message.parts if (block := _write_foreign(part)) is not None]
        else:
            content = _write_own(message.parts)
        return [{"role": "assistant", "content": content}] if content else []

    def write_results(self, results: Sequence[ToolResult]) -> list[Item]:
        content = [{"toolResult": _write_result(result)} for result in results]
        return [{"role": "user", "content": content}] if content else []

    def write_tool(self, name: str, description: str, parameters: dict[str, Any], *, strict: bool) -> Item:
        spec: Item = {"name": name, "inputSchema": {"json": {"type": "object", **parameters}}}
        if description:
            spec["description"] = description
        return {"toolSpec": {**spec, "strict": True} if strict else spec}


FORM: Final = BedrockForm()


def _write_own(parts: Sequence[Part]) -> list[Item]:
    """Write the blocks in the order in which they came."""
    blocks = BlockList()
    for part in parts:
        block = _write_part(part)
        if block is None:
            continue
        blocks.add(part, block)
        result = result_of(part) if isinstance(part, ServerCall) else None
        if isinstance(part, ServerCall) and result is not None:
            content = [] if part.result is MISSING else _restore_bytes(part.result)
            blocks.add_result(part, {"toolResult": {**result, "content": content}})
    return blocks.in_order()


def _write_part(part: Part) -> Item | None:
    """Write a block; `None` for what the API would refuse."""
    if isinstance(part, TextPart | Refusal):
        return _write_text(part)
    if isinstance(part, ReasoningPart):
        return _write_reasoning(part)
    if isinstance(part, CompleteCall | PartialCall):
        return {"toolUse": {**_write_call(part), **extra_of(part.extra)}}
    if isinstance(part, ServerCall):
        kind = part.type or "server_tool_use"
        call = {"toolUseId": id_of(part), "name": part.name or UNNAMED, "input": input_of(part), "type": kind}
        return {"toolUse": {**call, **extra_of(part.extra)}}
    if isinstance(part, File):
        return _write_image(part)
    return _restore_bytes(part.raw) if isinstance(part, Other) and isinstance(part.raw, dict) else None


def _write_text(part: TextPart | Refusal) -> Item | None:
    if not part.text.strip():
        return None
    if isinstance(part, TextPart) and part.citations:
        citations = [dict(citation.raw) for citation in part.citations]
        return {"citationsContent": {"content": [{"text": part.text}], "citations": citations}}
    return {"text": part.text}


def _write_reasoning(part: ReasoningPart) -> Item | None:
    if part.redacted:
        data = _read_base64(part.encrypted)
        return {"reasoningContent": {"redactedContent": data}} if data else None
    if part.signature is None:  # models that sign none do not ask for it
        return None
    return {"reasoningContent": {"reasoningText": {"text": part.text, "signature": part.signature}}}


def _write_call(call: CompleteCall | PartialCall) -> Item:
    return {"toolUseId": id_of(call), "name": call.name or UNNAMED, "input": input_of(call)}


def _write_image(part: File) -> Item | None:
    kind, _, form = (part.media_type or "").partition("/")
    data, location = _read_base64(part.data), part.extra.get("s3Location")
    if kind != "image" or not (data or location):
        return None
    return {"image": {"format": form, "source": {"bytes": data} if data else {"s3Location": location}}}


def _write_foreign(part: Part) -> Item | None:
    """Write what another provider's message has in common with this one's."""
    if isinstance(part, CompleteCall | PartialCall):
        return {"toolUse": _write_call(part)}
    if not isinstance(part, TextPart | Refusal) or not part.text.strip():
        return None
    return {"text": part.text}


def _write_result(result: ToolResult) -> Item:
    text = result.text
    # A blank text is refused, no content is not; an error always has a text.
    block: Item = {"toolUseId": id_of(result.call), "content": [{"text": text}] if text.strip() else []}
    # Few models take a status, and all take what has none for a success.
    return block if result.error is None else {**block, "status": "error"}


def _read_base64(text: str | None) -> bytes | None:
    try:
        return b64decode(text) if text else None
    except (Error, ValueError):
        return None


def _restore_bytes(value: object) -> Any:  # noqa: ANN401 - as deep as what the provider sent
    """Return a block as boto3 takes it; what a tool returned as JSON stays as it is."""
    if isinstance(value, list):
        return [_restore_bytes(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: _restore_field(name, item) for name, item in value.items()}


def _restore_field(name: str, value: object) -> object:
    if name == "json":
        return value
    if name in {"bytes", "redactedContent"} and isinstance(value, str):
        return _read_base64(value)
    return _restore_bytes(value)
