"""What Gemini says beside text and calls: tools that it runs itself, files, usage, log probabilities.

In: the fields of a part or a response. Out: notes on a draft.
"""

from __future__ import annotations

from typing import Any, Final

from jsontide._values import MISSING, JsonValue
from jsontide.adapters._read.fields import as_dict, count_of, list_of, text_of
from jsontide.adapters._read.gemini_fields import add_counts, plain_camel, to_camel
from jsontide.messages.calls import ServerCall
from jsontide.messages.document import write_json
from jsontide.messages.draft import NO_KEY, Draft
from jsontide.messages.parts import File
from jsontide.messages.record import replace
from jsontide.messages.types import Usage

ABOUT: Final = (
    "audioTranscription",
    "mediaProcessing",
    "mediaResolution",
    "partMetadata",
    "speechMetadata",
    "thought",
    "thoughtSignature",
    "videoMetadata",
)
"""The fields of a part that say something about its content, and are not content themselves."""
CONTENTS: Final = (
    "functionCall",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
    "inlineData",
    "fileData",
)
RESULTS: Final = {"codeExecutionResult": "executableCode", "toolResponse": "toolCall"}
"""The contents that are results, and what they are the results of."""
_IN_FILE: Final = ("data", "fileUri", "mimeType")


def says_something(candidate: dict[str, Any]) -> bool:
    """Return whether a candidate has content."""
    for item in list_of(as_dict(candidate.get("content")), "parts"):
        for name, value in as_dict(item).items():
            if value and to_camel(name) not in ABOUT:
                return True
    return False


def add_file(draft: Draft, fields: dict[str, Any], extra: dict[str, JsonValue]) -> None:
    """Add a file that the model made, here or at an address."""
    rest = {name: value for name, value in fields.items() if name not in _IN_FILE}
    media_type, data, url = text_of(fields, "mimeType"), text_of(fields, "data"), text_of(fields, "fileUri")
    draft.put(NO_KEY, File(media_type, data, url, None, draft.count, False, None, {**rest, **extra} or None))


def add_server_call(draft: Draft, kind: str, fields: dict[str, Any], extra: dict[str, JsonValue]) -> None:
    """Add a call that the provider runs itself."""
    call_id = text_of(fields, "id")
    name: str | None = "code_execution"
    arguments: JsonValue = {key: item for key, item in fields.items() if key != "id"}
    if kind == "toolCall":
        name, arguments = text_of(fields, "toolType"), fields.get("args")
    text = "" if arguments is None else write_json(arguments)
    shown = MISSING if arguments is None else arguments
    at = draft.count
    draft.put(NO_KEY, ServerCall(name, text, MISSING, None, kind, False, shown, call_id, at, True, None, extra or None))


def add_result(draft: Draft, kind: str, fields: dict[str, Any], extra: dict[str, JsonValue]) -> None:
    """Give a call of the provider its result; what stands beside that in its part is kept under the name of it."""
    at = _find_server_call(draft, RESULTS[kind], text_of(fields, "id"))
    status = text_of(fields, "outcome")
    if at < 0:
        call = ServerCall(None, "", fields, status, kind, id=text_of(fields, "id"), index=draft.count)
        draft.put(NO_KEY, replace(call, extra=extra or None))
        return
    part = draft.part_at(at)
    kept = {**part.extra, kind: extra} if extra else part.extra
    draft.describe(at, replace(part, result=fields, status=status, is_open=False, extra=kept or None))


def _find_server_call(draft: Draft, kind: str, call_id: str | None) -> int:
    """Return the place of the call that a result is of, -1 if there is none."""
    for at in range(draft.count - 1, -1, -1):
        part = draft.part_at(at)
        if not isinstance(part, ServerCall) or part.type != kind or part.result is not MISSING:
            continue
        if call_id is None or part.id is None or part.id == call_id:
            return at
    return -1


def extend_logprobs(draft: Draft, logprobs: dict[str, Any]) -> None:
    """Each response has those of its own tokens."""
    known = {} if draft.metadata is None else as_dict(draft.metadata.get("logprobsResult"))
    merged: dict[str, JsonValue] = dict(known)
    for name, value in logprobs.items():
        before = merged.get(name)
        merged[name] = [*before, *value] if isinstance(before, list) and isinstance(value, list) else value
    draft.set_metadata("logprobsResult", merged)


def read_usage(draft: Draft, usage: object) -> None:
    """Each response has the total so far; some have none of the counts."""
    known = draft.usage
    if known is not None and known.raw == usage:
        return
    raw = as_dict(plain_camel(usage))
    prompt, tools = count_of(raw, "promptTokenCount"), count_of(raw, "toolUsePromptTokenCount")
    answer, thoughts = count_of(raw, "candidatesTokenCount"), count_of(raw, "thoughtsTokenCount")
    total = count_of(raw, "totalTokenCount")
    if known is not None and total is None and prompt is None and answer is None:
        return
    draft.set_usage(
        Usage(
            input_tokens=add_counts(prompt, tools),
            output_tokens=add_counts(answer, thoughts),
            total_tokens=total,
            cached_tokens=count_of(raw, "cachedContentTokenCount"),
            reasoning_tokens=thoughts,
            raw=raw,
        )
    )
