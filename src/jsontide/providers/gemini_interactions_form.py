"""The next request to Gemini's Interactions API: steps of `input`, and functions on offer.

In: a message, results of its calls, tools. Out: plain dicts in the form of the API, which its SDK takes as well.
Where the server keeps the conversation, `previous_interaction_id` stands for the message, and only results are sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from jsontide._values import MISSING
from jsontide.messages.calls import CompleteCall, PartialCall, ServerCall
from jsontide.messages.options import to_plain
from jsontide.messages.parts import File, Other, ReasoningPart, TextPart
from jsontide.providers.gemini_form import read_arguments

if TYPE_CHECKING:
    from jsontide.messages import Citation, Message, ToolResult
    from jsontide.messages.calls import Part
    from jsontide.providers.form import Item

PROVIDER: Final = "gemini_interactions"
_KINDS: Final = ("image", "audio", "video")


@dataclass(frozen=True, slots=True)
class InteractionsForm:
    """Writes what goes into the next request to the Interactions API."""

    def write_message(self, message: Message[Any]) -> list[Item]:
        is_own = message.provider == PROVIDER
        steps: list[Item] = []
        for part in message.parts:
            for step in _write_part(part, is_own=is_own):
                _add(steps, step)
        return steps

    def write_results(self, results: Sequence[ToolResult]) -> list[Item]:
        return [_write_result(result) for result in results]

    def write_tool(self, name: str, description: str, parameters: dict[str, Any], *, strict: bool) -> Item:
        described = {"description": description} if description else {}
        return {"type": "function", "name": name, **described, "parameters": parameters}


FORM: Final = InteractionsForm()


def _add(steps: list[Item], step: Item) -> None:
    """Add a step; outputs of the model in a row are one."""
    if steps and step.get("type") == steps[-1].get("type") == "model_output":  # what is kept as it is may have no type
        steps[-1] = {**steps[-1], "content": [*steps[-1]["content"], *step["content"]]}
    else:
        steps.append(step)


def _write_part(part: Part, *, is_own: bool) -> list[Item]:
    match part:
        case TextPart():
            return [_write_output(_write_text(part, is_own=is_own))] if part.text else []
        case File() if is_own or part.media_type:
            return [_write_output(_write_file(part))]
        case ReasoningPart() if is_own:
            return [_write_thought(part)]
        case CompleteCall() | PartialCall() if part.name is not None:
            extra = part.extra if is_own else {}
            given = {"id": part.id or "", "name": part.name, "arguments": read_arguments(part)}
            return [{"type": "function_call", **given, **extra}]
        case ServerCall() if is_own:
            return _write_server_call(part)
        case Other() if is_own and isinstance(part.raw, list):
            return [dict(step) for step in part.raw[:1] if isinstance(step, Mapping)]
        case _:
            return []


def _write_output(content: Item) -> Item:
    return {"type": "model_output", "content": [content]}


def _write_text(part: TextPart, *, is_own: bool) -> Item:
    cited = [_write_citation(citation) for citation in part.citations if is_own and citation.raw]
    return {"type": "text", "text": part.text, **({"annotations": cited} if cited else {})}


def _write_citation(citation: Citation) -> Item:
    return dict(citation.raw)


def _write_file(file: File) -> Item:
    media_type = file.media_type or ""
    kind = next((kind for kind in _KINDS if media_type.startswith(f"{kind}/")), "document")
    content: Item = {"type": kind, **file.extra}
    for name, value in (("mime_type", file.media_type), ("data", file.data), ("uri", file.url)):
        if value is not None:
            content[name] = value
    return content


def _write_thought(part: ReasoningPart) -> Item:
    signature = {} if part.signature is None else {"signature": part.signature}
    summary = {"summary": [{"type": "text", "text": part.text}]} if part.text else {}
    return {"type": "thought", **signature, **summary, **part.extra}


def _write_server_call(call: ServerCall) -> list[Item]:
    """Write a call that the server ran, and its result."""
    result_type = f"{call.type.removesuffix('_call').removesuffix('_result')}_result"
    about = call.extra.get(result_type)
    steps: list[Item] = []
    if call.type != result_type:
        rest = {name: value for name, value in call.extra.items() if name != result_type}
        named = {"name": call.name} if call.name != call.type.removesuffix("_call") else {}
        arguments = call.partial if isinstance(call.partial, Mapping) else {}
        steps.append({"type": call.type, "id": call.id or "", **named, "arguments": arguments, **rest})
    if call.result is not MISSING:
        told = dict(about) if isinstance(about, Mapping) else {}
        steps.append({"type": result_type, "call_id": call.id or "", **told, "result": call.result})
    return steps


def _write_result(result: ToolResult) -> Item:
    call = result.call
    named = {} if call.name is None else {"name": call.name}
    step: Item = {"type": "function_result", "call_id": call.id or "", **named}
    if result.error is not None:
        return {**step, "result": result.text, "is_error": True}
    output = to_plain(result.output)
    # An object or a text is taken as it is; an array would be one of contents.
    return {**step, "result": output if isinstance(output, dict | str) else result.text}
