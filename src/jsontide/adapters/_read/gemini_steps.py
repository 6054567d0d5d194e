"""The steps of Gemini's Interactions API: the fields of a step, or of a delta of one, in, notes on a draft out.

Rule: what no part describes is kept as it is.
"""

from __future__ import annotations

from typing import Any, Final

from jsontide._values import MISSING, JsonValue
from jsontide.adapters._read.fields import arguments_of, as_dict, count_of, is_object, plain, text_of
from jsontide.adapters._read.gemini_fields import add_counts, count_chars
from jsontide.messages.calls import ServerCall
from jsontide.messages.document import write_json
from jsontide.messages.draft import NO_KEY, CallDelta, Draft
from jsontide.messages.parts import Other, ReasoningPart, TextPart
from jsontide.messages.record import replace
from jsontide.messages.types import Citation, Usage

_CALL: Final = frozenset(("arguments", "id", "name", "type"))


def read_usage(draft: Draft, usage: dict[str, Any]) -> None:
    """Each has the total so far."""
    if not usage or (draft.usage is not None and draft.usage.raw == usage):
        return
    raw = plain(usage)
    if not isinstance(raw, dict):
        return
    thoughts = count_of(usage, "total_thought_tokens")
    draft.set_usage(
        Usage(
            input_tokens=add_counts(count_of(usage, "total_input_tokens"), count_of(usage, "total_tool_use_tokens")),
            output_tokens=add_counts(count_of(usage, "total_output_tokens"), thoughts),
            total_tokens=count_of(usage, "total_tokens"),
            cached_tokens=count_of(usage, "total_cached_tokens"),
            reasoning_tokens=thoughts,
            raw={name: value for name, value in raw.items() if value is not None},
        )
    )


def begin_thought(draft: Draft, key: int, step: dict[str, Any]) -> None:
    """A thought may be nothing but a signature, and has its place among the parts nevertheless."""
    known = ("signature", "summary", "type")
    extra = {name: plain(value) for name, value in step.items() if value is not None and name not in known}
    if draft.find(key) is None or key == NO_KEY:
        part = ReasoningPart("", text_of(step, "signature"), False, None, draft.count, True, None, extra or None)
        draft.put(key, part)


def sign(draft: Draft, key: int, signature: str | None) -> None:
    at = draft.place_of(key) if key != NO_KEY else draft.count - 1
    part = draft.part_at(at) if 0 <= at < draft.count else None
    if isinstance(part, ReasoningPart):
        draft.describe(at, replace(part, signature=signature))
    else:
        draft.put(key, ReasoningPart("", signature, False, None, draft.count, True))


def annotate(draft: Draft, key: int, annotations: list[object]) -> None:
    """Give the text of a step its citations; one without text is kept as it is."""
    if not annotations:
        return
    at = draft.place_of(key) if key != NO_KEY else draft.count - 1
    part = draft.part_at(at) if 0 <= at < draft.count else None
    if not isinstance(part, TextPart):
        draft.extend_metadata("annotations", [plain(annotation) for annotation in annotations])
        return
    text = part.text.encode("utf-8", "surrogatepass")
    citations = [_read_citation(as_dict(annotation), text) for annotation in annotations]
    draft.describe(at, replace(part, citations=(*part.citations, *citations)))


def _read_citation(annotation: dict[str, Any], text: bytes) -> Citation:
    raw = plain(annotation)
    return Citation(
        type=text_of(annotation, "type") or "",
        url=text_of(annotation, "url") or text_of(annotation, "document_uri"),
        title=text_of(annotation, "title") or text_of(annotation, "file_name") or text_of(annotation, "name"),
        cited_text=text_of(annotation, "source"),
        start=_find_place(text, count_of(annotation, "start_index")),
        end=_find_place(text, count_of(annotation, "end_index")),
        raw={name: value for name, value in raw.items() if value is not None} if isinstance(raw, dict) else {},
    )


def _find_place(text: bytes, at: int | None) -> int | None:
    """Places are counted in bytes; one that is not in the text is not certain."""
    return None if at is None or at < 0 or at > len(text) else count_chars(text, at)


def read_step_fields(draft: Draft, step: dict[str, Any]) -> None:
    """Keep what stands in a step of output beside its content; a step may have failed."""
    for name, value in step.items():
        if value is None or name == "type" or name == "content":
            continue
        draft.extend_metadata(name, [plain(value)])
        if name == "error":
            draft.finish("error", name)


def read_call(draft: Draft, index: int, key: int, step: dict[str, Any]) -> None:
    arguments = step.get("arguments")
    # Where there are none yet, pieces of them follow.
    text = None if not arguments and isinstance(arguments, (str, dict)) else arguments_of(arguments)
    delta = CallDelta(index, text_of(step, "id"), text_of(step, "name"), text, is_object=is_object(arguments), key=key)
    _add_extra(draft, draft.add_call(delta), step)


def read_server_call(draft: Draft, index: int, key: int, kind: str, step: dict[str, Any]) -> None:
    """A call that the server runs; its arguments come with its beginning, or after that."""
    arguments = step.get("arguments")
    value = plain(arguments)
    is_whole = isinstance(value, dict)
    text = None
    if value:
        text = write_json(value) if is_whole else arguments_of(arguments)
    known = draft.find(key)
    name = None
    if not isinstance(known, ServerCall) or known.name is None:
        name = text_of(step, "name") or kind.removesuffix("_call")
    delta = CallDelta(index, text_of(step, "id"), name, text, is_object=is_whole, on_server=True, key=key)
    at = draft.add_call(delta)
    if 0 <= at < draft.count:
        part = draft.part_at(at)
        if isinstance(part, ServerCall) and part.type != kind:
            draft.describe(at, replace(part, type=kind))
    _add_extra(draft, at, step)


def _add_extra(draft: Draft, at: int, step: dict[str, Any]) -> None:
    extra = {name: plain(value) for name, value in step.items() if value is not None and name not in _CALL}
    if extra and 0 <= at < draft.count:
        part = draft.part_at(at)
        merged = {**part.extra, **extra}
        if merged != part.extra:
            draft.describe(at, replace(part, extra=merged))


def find_called(draft: Draft, kind: str, call_id: str | None) -> int:
    """Return the place of the call that a result is of, -1 if there is none."""
    for at in range(draft.count - 1, -1, -1):
        part = draft.part_at(at)
        if isinstance(part, ServerCall) and part.result is MISSING:
            is_of_kind = part.type == kind.removesuffix("_result") + "_call"
            if part.id == call_id if call_id else is_of_kind:
                return at
    return -1


def describe_result(part: ServerCall, kind: str, step: dict[str, Any]) -> ServerCall:
    """Return a call with its result; the rest of the step that has it is kept under the name of that."""
    known, given = part.extra.get(kind), step.get("result")
    rest = {name: plain(value) for name, value in step.items() if value is not None and name not in {"type", "result"}}
    about: dict[str, JsonValue] = {**(known if isinstance(known, dict) else {}), **rest}
    result = part.result if given is None else _join_results(part.result, plain(given))
    status = "failed" if about.get("is_error") is True else part.status
    return replace(part, result=result, status=status, extra={**part.extra, kind: about})


def _join_results(known: object, more: JsonValue) -> object:
    """Return a result after one more piece of it."""
    if isinstance(known, list) and isinstance(more, list):
        return [*known, *more]
    return known + more if isinstance(known, str) and isinstance(more, str) else more


def keep(draft: Draft, key: int, kind: str, said: dict[str, Any]) -> None:
    """Keep a step that no part describes, and what is said about it."""
    part = None if key == NO_KEY else draft.find(key)
    if isinstance(part, Other) and isinstance(part.raw, list):
        draft.put(key, Other(part.type, [*part.raw, plain(said)], False, part.index, part.is_open))
    elif part is None:
        draft.put(key, Other(kind, [plain(said)], False, draft.count, True))
    else:
        draft.extend_metadata("deltas", [plain(said)])
