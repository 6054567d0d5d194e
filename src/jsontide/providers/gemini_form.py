"""The next request to Gemini's `generateContent`: items of `contents`, and function declarations.

In: a message, results of its calls, tools. Out: plain dicts in the form of the API, which its SDK takes as well.
Rule: parts go back in their order, each with what came with it, such as its signature; never joined, never moved.
Of a message of another provider, text, files and calls are written; the first call gets the placeholder that the API
documents for calls that no Gemini made, because Gemini 3 and later refuse calls without a signature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from jsontide._values import MISSING
from jsontide.messages.calls import CompleteCall, PartialCall, ServerCall
from jsontide.messages.options import to_plain
from jsontide.messages.parts import File, Other, ReasoningPart, TextPart
from jsontide.providers.calls_form import input_of

if TYPE_CHECKING:
    from jsontide.messages import Message, ToolResult
    from jsontide.messages.calls import Part, ToolCall
    from jsontide.providers.form import Item

PROVIDER: Final = "gemini"
_CALL_NAMES: Final = {"toolResponse": "toolCall", "codeExecutionResult": "executableCode"}
_RESULT_NAMES: Final = {call: result for result, call in _CALL_NAMES.items()}
_IN_DATA: Final = ("displayName",)
_UNSIGNED: Final = "skip_thought_signature_validator"


@dataclass(frozen=True, slots=True)
class GeminiForm:
    """Writes what goes into the next request to Gemini."""

    def write_message(self, message: Message[Any]) -> list[Item]:
        if message.provider == PROVIDER:
            parts = [written for part in message.parts for written in _write_own(part)]
        else:
            parts = _sign([written for part in message.parts for written in _write_any(part)])
        return [{"role": "model", "parts": parts}] if parts else []

    def write_results(self, results: Sequence[ToolResult]) -> list[Item]:
        parts = [{"functionResponse": _write_response(result)} for result in results]
        return [{"role": "user", "parts": parts}] if parts else []

    def write_tool(self, name: str, description: str, parameters: dict[str, Any], *, strict: bool) -> Item:
        described = {"description": description} if description else {}
        return {"name": name, **described, "parametersJsonSchema": parameters}


FORM: Final = GeminiForm()


def _write_own(part: Part) -> list[Item]:
    """Write a part that Gemini made."""
    extra = part.extra
    match part:
        case TextPart():
            return [{"text": part.text, **extra}] if part.text or extra else []
        case ReasoningPart():
            signature = {} if part.signature is None else {"thoughtSignature": part.signature}
            return [{"text": part.text, "thought": True, **signature, **extra}] if part.text or signature else []
        case CompleteCall() | PartialCall():
            rest = {name: value for name, value in extra.items() if name != "functionCall"}
            return [{**written, **rest} for written in _write_call(part)]
        case ServerCall():
            return _write_server_call(part)
        case File():
            return [_write_file(part)]
        case Other():
            return [dict(part.raw)] if isinstance(part.raw, Mapping) else []
        case _:
            return []


def _sign(parts: list[Item]) -> list[Item]:
    """Return the parts of another provider's message, with a placeholder for a signature at the first call."""
    first = next((at for at, part in enumerate(parts) if "functionCall" in part), None)
    return [{**part, "thoughtSignature": _UNSIGNED} if at == first else part for at, part in enumerate(parts)]


def _write_any(part: Part) -> list[Item]:
    """Write a part that another provider made."""
    match part:
        case TextPart():
            return [{"text": part.text}] if part.text else []
        case CompleteCall() | PartialCall():
            return _write_call(part)
        case File() if part.media_type and (part.data or part.url):
            return [_write_data(part, {})]
        case _:
            return []


def _write_call(call: ToolCall) -> list[Item]:
    if call.name is None:
        return []
    given = {} if call.id is None else {"id": call.id}
    rest = call.extra.get("functionCall")
    more = rest if isinstance(rest, Mapping) else {}
    return [{"functionCall": {**given, "name": call.name, "args": read_arguments(call), **more}}]


def read_arguments(call: ToolCall) -> dict[str, Any]:
    """Return the arguments of a call if they are an object, else an empty one: an error result may refer to it."""
    return input_of(call)


def _write_server_call(call: ServerCall) -> list[Item]:
    """Write a call that Gemini ran, and its result."""
    result_name = _RESULT_NAMES.get(call.type, call.type)
    beside = call.extra.get(result_name)
    written: list[Item] = []
    if call.type in _RESULT_NAMES:
        given = {} if call.id is None else {"id": call.id}
        value = call.partial if isinstance(call.partial, Mapping) else {}
        content = (
            {**given, **value} if call.type == "executableCode" else {**given, "toolType": call.name, "args": value}
        )
        rest = {name: value for name, value in call.extra.items() if name != result_name}
        written.append({call.type: content, **rest})
        rest = dict(beside) if isinstance(beside, Mapping) else {}
    else:
        rest = dict(call.extra)
    if call.result is not MISSING:
        written.append({result_name: call.result, **rest})
    return written


def _write_file(file: File) -> Item:
    inside = {name: file.extra[name] for name in _IN_DATA if name in file.extra}
    rest = {name: value for name, value in file.extra.items() if name not in _IN_DATA}
    return {**_write_data(file, inside), **rest}


def _write_data(file: File, more: Mapping[str, Any]) -> Item:
    media_type = {} if file.media_type is None else {"mimeType": file.media_type}
    if file.url is not None:
        return {"fileData": {**media_type, "fileUri": file.url, **more}}
    return {"inlineData": {**media_type, "data": file.data or "", **more}}


def _write_response(result: ToolResult) -> Item:
    call = result.call
    given = {} if call.id is None else {"id": call.id}
    return {**given, "name": call.name or "unknown", "response": _write_output(result)}


def _write_output(result: ToolResult) -> dict[str, Any]:
    """The API takes an object, and knows the names `output` and `error` in it."""
    if result.error is not None:
        return {"error": result.text}
    output = to_plain(result.output)
    return output if isinstance(output, dict) else {"output": output}
