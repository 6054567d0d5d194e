"""Gemini's `generateContentStream`, on the Gemini API and on Vertex AI.

In: a response as dict or SDK object. Out: notes on a draft.
Calls have no index and often no id, so they are counted; arguments come whole, or in values at JSON paths.

Rule: a piece of text or thought that carries more than itself, such as a signature, is a part of its own: it must be
sent back where it was, and must not be joined with text that has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from jsontide._values import JsonValue
from jsontide.adapters._read.fields import (
    arguments_of,
    as_dict,
    as_text,
    created_of,
    integer_of,
    is_object,
    list_of,
    plain,
    text_of,
)
from jsontide.adapters._read.gemini_args import (
    CLOSED,
    UNCLEAR,
    Arguments,
    list_partials,
    read_continues,
    start_arguments,
    write_partials,
)
from jsontide.adapters._read.gemini_contents import (
    ABOUT,
    CONTENTS,
    RESULTS,
    add_file,
    add_result,
    add_server_call,
    extend_logprobs,
    read_usage,
    says_something,
)
from jsontide.adapters._read.gemini_fields import plain_camel, read_either, to_camel
from jsontide.adapters._read.gemini_grounding import CITATIONS, GROUNDING, cite, merge_metadata, read_grounding
from jsontide.adapters._read.reader import ANOTHER, Reader, read_error
from jsontide.messages.draft import NO_INDEX, NO_KEY, CallDelta, Draft
from jsontide.messages.parts import Other, ReasoningPart, TextPart
from jsontide.messages.record import replace

_REASONS: Final = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "LANGUAGE": "content_filter",
    "IMAGE_SAFETY": "content_filter",
    "IMAGE_PROHIBITED_CONTENT": "content_filter",
    "IMAGE_RECITATION": "content_filter",
    "MALFORMED_FUNCTION_CALL": "malformed",
    "MALFORMED_RESPONSE": "malformed",
    "UNEXPECTED_TOOL_CALL": "malformed",
    "TOO_MANY_TOOL_CALLS": "length",
}
_READ: Final = frozenset(
    (
        "candidates",
        "createTime",
        "create_time",
        "error",
        "modelVersion",
        "model_version",
        "responseId",
        "response_id",
        "usageMetadata",
        "usage_metadata",
        # What the SDK adds of its own.
        "automatic_function_calling_history",
        "parsed",
        "sdk_http_response",
    )
)
"""The fields of a response that are read, or say nothing; all others are kept as they are."""
_COME_IN_PARTS: Final = (CITATIONS, "urlContextMetadata")
_IN_CALL: Final = frozenset(("args", "id", "name", "partialArgs", "partial_args", "willContinue", "will_continue"))
SIGNATURE: Final = "thoughtSignature"

_NO_RUN: Final = 0
_TEXT: Final = 1
_THOUGHT: Final = 2


class GeminiReader(Reader):
    """Reads responses; some servers give each an id of its own, so another id says something only after the end."""

    __slots__ = ("arguments", "calls", "ended", "run", "run_kind")

    def __init__(
        self,
        ended: str | None = None,
        calls: int = 0,
        arguments: Arguments | None = None,
        run: int = 0,
        run_kind: int = _NO_RUN,
    ) -> None:
        self.ended: Final = ended
        """The id of the message that has ended."""
        self.calls: Final = calls
        """How many calls have begun."""
        self.arguments: Final = arguments
        """The arguments of the call that is open."""
        self.run: Final = run
        """How many runs of text or thoughts have begun; each is a part."""
        self.run_kind: Final = run_kind
        """What the last run is of, if it goes on."""

    @property
    def name(self) -> str:
        return "gemini"

    def _fields(self) -> tuple[object, ...]:
        return self.ended, self.calls, self.arguments, self.run, self.run_kind

    def fits(self, event: dict[str, Any]) -> bool:
        if list_of(event, "candidates"):
            return True
        names = ("promptFeedback", "prompt_feedback", "usageMetadata", "usage_metadata")
        return any([name in event for name in names])

    def read(self, draft: Draft, event: dict[str, Any]) -> Reader:
        candidates = list_of(event, "candidates")
        # Beside an answer, an error that says nothing is none.
        if (not candidates or event.get("error")) and read_error(draft, event):
            return self
        response_id = text_of(event, "responseId") or text_of(event, "response_id")
        if draft.provider is None or draft.id is None or draft.model is None:
            model = text_of(event, "modelVersion") or text_of(event, "model_version")
            draft.identify(response_id, model, created_of(read_either(event, "createTime", "create_time")), self.name)
        for name, value in event.items():
            if name not in _READ and value is not None:
                draft.set_metadata(to_camel(name), plain_camel(value))
        usage = read_either(event, "usageMetadata", "usage_metadata")
        if usage is not None:
            read_usage(draft, usage)
        candidate = _find_candidate(draft, candidates)
        if candidate is None:
            _read_block(draft, event)
            return self
        ended = self.ended
        if ended is not None and (response_id or ended) != ended and says_something(candidate):
            draft.fail(ANOTHER)
            return self
        return _Step(self, draft).read(candidate, response_id)


def _find_candidate(draft: Draft, candidates: list[object]) -> dict[str, Any] | None:
    """Return the candidate that is read; the first one has no index where zeros are left out."""
    for at, item in enumerate(candidates):
        candidate = as_dict(item)
        given = candidate.get("index")
        index = at if given is None else integer_of(candidate, "index")
        if index == NO_INDEX:
            draft.fail("the index of a candidate is not a number: which answer it is for is not known")
            return None
        if index == draft.choice:
            return candidate
    return None


def _read_block(draft: Draft, event: dict[str, Any]) -> None:
    """A prompt that was blocked has no candidates, only feedback."""
    feedback = as_dict(read_either(event, "promptFeedback", "prompt_feedback"))
    reason = as_text(read_either(feedback, "blockReason", "block_reason"))
    if reason:
        draft.finish("content_filter", reason)


class _Step:
    """What one response changes in its reader."""

    __slots__ = ("arguments", "before", "calls", "draft", "ended", "is_cited", "run", "run_kind")

    def __init__(self, before: GeminiReader, draft: Draft) -> None:
        self.before: Final = before
        self.draft: Final = draft
        self.ended: str | None = before.ended
        self.calls: int = before.calls
        self.arguments: Arguments | None = before.arguments
        self.run: int = before.run
        self.run_kind: int = before.run_kind
        self.is_cited = False
        """Whether there is something new about the sources of the text."""

    def read(self, candidate: dict[str, Any], response_id: str | None) -> GeminiReader:
        for name, value in candidate.items():
            if value is None or name == "index":
                continue
            if name == "content":
                self._read_content(as_dict(value))
            elif name == "finishReason" or name == "finish_reason":
                self._read_reason(as_text(value), response_id)
            else:
                self._read_metadata(to_camel(name), value)
        if self.is_cited:
            cite(self.draft)
        before = self.before
        if (
            self.arguments is before.arguments
            and self.run == before.run
            and self.run_kind == before.run_kind
            and self.calls == before.calls
            and self.ended is before.ended
        ):
            return before
        return GeminiReader(self.ended, self.calls, self.arguments, self.run, self.run_kind)

    def _read_reason(self, reason: str | None, response_id: str | None) -> None:
        if not reason or reason == "FINISH_REASON_UNSPECIFIED":
            return
        self.draft.finish(_REASONS.get(reason, reason), reason)
        if self.ended is None:
            self.ended = response_id
        metadata = self.draft.metadata
        self.is_cited = self.is_cited or (metadata is not None and (GROUNDING in metadata or CITATIONS in metadata))

    def _read_metadata(self, name: str, value: object) -> None:
        draft = self.draft
        if name == "logprobsResult":
            extend_logprobs(draft, as_dict(plain_camel(value)))
        elif name == GROUNDING:
            read_grounding(draft, plain_camel(value))
            self.is_cited = True
        elif name in _COME_IN_PARTS:
            merge_metadata(draft, name, plain_camel(value))
            self.is_cited = True
        else:
            draft.set_metadata(name, plain_camel(value))

    def _read_content(self, content: dict[str, Any]) -> None:
        for name, value in content.items():
            if name == "parts":
                for item in list_of(content, name):
                    self._read_part(as_dict(item))
            elif name == "role":
                if as_text(value) == "model":
                    self.draft.set_role("assistant")
            elif value is not None:
                self.draft.set_metadata(to_camel(name), plain_camel(value))

    def _read_part(self, part: dict[str, Any]) -> None:
        text = part.get("text")
        if type(text) is str:
            if len(part) == 1:
                self._add_text(text, False)
                return
            if len(part) == 2 and part.get("thought") is True:
                self._add_text(text, True)
                return
        self._read_any_part(part)

    def _read_any_part(self, part: dict[str, Any]) -> None:
        text: str | None = None
        content, value, other = "", None, ""
        extra: dict[str, JsonValue] = {}
        for field, given in part.items():
            if given is None or given is False:
                continue
            name = to_camel(field)
            if name == "text" and isinstance(given, str):
                text = str(given)
            elif name in CONTENTS:
                content, value = name, given
            else:
                extra[name] = plain_camel(given)
                other = other if name in ABOUT else name
        if content:
            self._add_text(text or "", extra.get("thought") is True)
            self._read_value(content, value, extra)
        elif other:
            self._end_run()
            self.draft.put(NO_KEY, Other(other, plain_camel(part), False, self.draft.count))
        else:
            self._read_text(text or "", extra)

    # Text and thoughts: those in a row are one part.

    def _add_text(self, piece: str, is_thought: bool) -> None:
        if not piece:
            return
        kind = _THOUGHT if is_thought else _TEXT
        if self.run_kind != kind:
            self._end_run()
            self.run += 1
            self.run_kind = kind
        if is_thought:
            self.draft.add_reasoning(self.run, piece)
        else:
            self.draft.add_text(self.run, piece)

    def _read_text(self, text: str, extra: dict[str, JsonValue]) -> None:
        is_thought = extra.pop("thought", None) is True
        if extra:
            self._add_signed_text(text, is_thought, extra)
        else:
            self._add_text(text, is_thought)

    def _add_signed_text(self, piece: str, is_thought: bool, extra: dict[str, JsonValue]) -> None:
        """Add a piece that is a part of its own."""
        draft = self.draft
        self._end_run()
        at = draft.count
        if piece:
            self._add_text(piece, is_thought)
        elif is_thought:
            draft.put(NO_KEY, ReasoningPart("", None, False, None, at))
        else:
            draft.put(NO_KEY, TextPart("", (), at))
        if at == draft.count:  # there is no room for it
            return
        part = draft.part_at(at)
        if isinstance(part, ReasoningPart):
            signature = as_text(extra.pop(SIGNATURE, None))
            draft.describe(at, replace(part, signature=signature, extra=extra or None, is_open=False))
        else:
            draft.describe(at, replace(part, extra=extra, is_open=False))
        self.run_kind = _NO_RUN

    def _end_run(self) -> None:
        if self.run_kind != _NO_RUN:
            self.draft.close(self.run)
            self.run_kind = _NO_RUN

    # All other content.

    def _read_value(self, name: str, value: object, extra: dict[str, JsonValue]) -> None:
        draft = self.draft
        if name == "functionCall":
            # What is no object must not end a call as an empty one does.
            is_damaged = isinstance(value, (str, int, float, bytes, list, tuple))
            self._read_call({"willContinue": "unclear"} if is_damaged else as_dict(value), extra)
            return
        self._end_run()
        fields = as_dict(plain_camel(value))
        if name in RESULTS:
            add_result(draft, name, fields, extra)
        elif name == "inlineData" or name == "fileData":
            add_file(draft, fields, extra)
        else:
            add_server_call(draft, name, fields, extra)

    def _read_call(self, call: dict[str, Any], extra: dict[str, JsonValue]) -> None:
        draft = self.draft
        name, goes_on = text_of(call, "name"), read_continues(call)
        given, partials = call.get("args"), list_partials(call)
        known = self.arguments
        begins = name is not None or known is None
        says_nothing = given is None or (not given and isinstance(given, (str, Mapping)))
        if begins and name is None and says_nothing and not partials:  # the end of a call that is over already
            return
        if begins:
            self._end_run()
            self.calls += 1
            known = None
        key = -self.calls
        if begins and goes_on == CLOSED and not partials:
            self.arguments = None
            delta = CallDelta(
                self.calls - 1, text_of(call, "id"), name, arguments_of(given), is_object=is_object(given), key=key
            )
        else:
            # Of a call of which it is not clear whether it goes on nothing is known to be whole.
            is_unclear = goes_on == UNCLEAR
            begun = start_arguments() if known is None else known
            grown, more = write_partials(begun, partials, None if says_nothing else given)
            if goes_on == CLOSED:
                more += grown.closing
            self.arguments = None if goes_on == CLOSED else grown
            delta = CallDelta(
                self.calls - 1, text_of(call, "id"), name, more, cut_off=is_unclear, key=key, is_written=True
            )
        at = draft.add_call(delta)
        rest = {field: plain(item) for field, item in call.items() if item is not None and field not in _IN_CALL}
        if rest:
            extra["functionCall"] = rest
        if extra and 0 <= at < draft.count:
            part = draft.part_at(at)
            draft.describe(at, replace(part, extra={**part.extra, **extra}))
        if goes_on == CLOSED:
            draft.close(key)
