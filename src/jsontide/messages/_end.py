"""How a message ended in, the outcome of each call and of the whole out.

A call is complete when the provider told how the message ended, its arguments are all there, and they are valid.
A stream that just ends has told nothing, so nothing of it can be run; nor can it if nobody knows what was told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

from jsontide._textbuffer import GrowingText
from jsontide._values import JsonValue
from jsontide.messages._calls import CompleteCall, PartialCall, ToolCall
from jsontide.messages._certain import Errors, beside_arguments, errors_in
from jsontide.messages._config import MessageConfig
from jsontide.messages._document import Document, closed, grown
from jsontide.messages._outcome import ErrorKind, MessageError, Outcome, Source
from jsontide.messages._reasons import AS_ASKED, CONTENT_FILTER, ERROR, MALFORMED, NORMAL, REFUSAL, is_known

_WITHHELD: Final = (Outcome.CANCELLED, Outcome.REFUSED, Outcome.FILTERED)
_UNTOLD: Final = "the stream ended before the provider told how the message ends"
_FAILED: Final = "the provider says that it failed"
_CUT_OFF: Final = "the provider says that the call broke off"
_NO_ARGUMENTS: Final = "{}"


@dataclass(frozen=True, slots=True)
class End:
    """How a message ended."""

    reason: str | None
    """What the provider told."""
    is_cancelled: bool = False
    is_refused: bool = False
    failure: MessageError | None = None

    @property
    def outcome(self) -> Outcome:
        """What it means for everything in the message; `COMPLETE` if each part is judged alone."""
        if self.is_cancelled:
            return Outcome.CANCELLED
        if self.failure is not None:
            return Outcome.TRUNCATED
        if self.is_refused or self.reason == REFUSAL:
            return Outcome.REFUSED
        if self.reason == CONTENT_FILTER:
            return Outcome.FILTERED
        return Outcome.TRUNCATED if self.reason in {None, ERROR} else Outcome.COMPLETE

    @property
    def is_withheld(self) -> bool:
        """Whether nothing in the message is to be used, whatever it looks like."""
        return self.outcome in _WITHHELD

    @property
    def error(self) -> MessageError | None:
        """What was wrong with the stream itself."""
        if self.failure is not None or self.outcome is not Outcome.TRUNCATED:
            return self.failure
        return MessageError(ErrorKind.TRANSPORT, "stream", _UNTOLD if self.reason is None else _FAILED)


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of one document."""

    outcome: Outcome
    document: Document
    errors: Errors = ()


def judged(document: Document, end: End, source: Source) -> Judged:
    """Tell whether a document is complete and valid, given how its message ended."""
    if end.is_withheld:
        return Judged(end.outcome, document, errors_in(document, source))
    if end.reason in NORMAL and end.failure is None:
        document = closed(document)
    errors = errors_in(document, source)
    if errors:
        return Judged(Outcome.INVALID, document, errors)
    if not document.is_complete:
        return Judged(Outcome.TRUNCATED, document, (_break_off(document, source),))
    if end.error is not None:
        return Judged(Outcome.TRUNCATED, document, (replace(end.error, source=source),))
    return Judged(Outcome.COMPLETE, document)


def _break_off(document: Document, source: Source) -> MessageError:
    error = closed(document).error
    if error is None:
        return MessageError(ErrorKind.JSON, source, "the number may have had more digits")
    return MessageError(ErrorKind.JSON, source, error.message, error.path, error)


def concluded(call: PartialCall, end: End, source: Source, config: MessageConfig) -> tuple[ToolCall, Errors]:
    """Return a call as it is when its message has ended, and what was wrong with it."""
    call = with_arguments(call, end)
    found = _trusted(judged_call(call, end, source, config), end, source)
    errors = found.errors or _faults(call, end, source)
    if found.outcome is Outcome.COMPLETE and not errors:
        return _complete(call, found.document), ()
    outcome = Outcome.INVALID if found.outcome is Outcome.COMPLETE else found.outcome
    first = next(iter(errors), None)
    ended = replace(call, _document=found.document, _is_hidden=False, status=outcome, error=first)  # type: ignore[arg-type]
    return ended, errors


def judged_call(call: PartialCall, end: End, source: Source, config: MessageConfig) -> Judged:
    """Tell whether the arguments of a call are complete and valid, and all its own."""
    found = judged(call._document, end, source)
    errors = beside_arguments(call, source, config) + found.errors
    if call._doubt and not end.is_withheld:
        return Judged(Outcome.INVALID, found.document, errors)
    if call._is_cut_off and found.outcome is Outcome.COMPLETE:
        return Judged(Outcome.TRUNCATED, found.document, (*errors, MessageError(ErrorKind.JSON, source, _CUT_OFF)))
    return Judged(found.outcome, found.document, errors)


def _trusted(found: Judged, end: End, source: Source) -> Judged:
    """What a provider means by a word of its own may be that the call must not be run."""
    if found.outcome is not Outcome.COMPLETE or end.reason is None or is_known(end.reason):
        return found
    said = f"the message ended with {end.reason!r}, and it is not known what that means"
    return Judged(Outcome.TRUNCATED, found.document, (*found.errors, MessageError(ErrorKind.TRANSPORT, source, said)))


def _complete(call: PartialCall, document: Document) -> CompleteCall:
    return CompleteCall(
        index=call.index,
        id=call.id,
        name=call.name,
        _text=call._text,
        _document=document,
        arguments_value=cast("JsonValue", document.value),
        arguments_model=document.model,
    )


def with_arguments(call: PartialCall, end: End) -> PartialCall:
    """A provider that told a normal end, but no arguments, means that there are none."""
    if call._held:
        # A half that nothing came for.
        text, document = call._text.append(call._held), grown(call._document, call._held)
        call = replace(call, _text=text, _held="", _is_blank=False, _document=document)
    is_normal = end.reason in NORMAL and end.outcome is Outcome.COMPLETE
    if not is_normal or call._is_cut_off or call._doubt or not call._is_blank:
        return call
    return replace(call, _text=GrowingText(_NO_ARGUMENTS), _document=grown(call._document, _NO_ARGUMENTS))


def _faults(call: PartialCall, end: End, source: Source) -> Errors:
    """Return what the end shows to be wrong with a call."""
    if end.outcome is not Outcome.COMPLETE:
        return ()
    if end.reason == MALFORMED:
        return (MessageError(ErrorKind.SCHEMA, source, "the provider says that the call is malformed"),)
    return () if call.name else (MessageError(ErrorKind.SCHEMA, source, "the call has no name"),)


def overall(end: End, parts: Sequence[Outcome], *, has_answer: bool, has_text: bool) -> Outcome:
    """Return the outcome of a message from that of its parts."""
    if end.outcome is not Outcome.COMPLETE:
        return end.outcome
    if end.reason == MALFORMED:
        return Outcome.INVALID
    if Outcome.TRUNCATED in parts:
        return Outcome.TRUNCATED
    if Outcome.INVALID in parts:
        return Outcome.INVALID
    if end.reason not in AS_ASKED:
        return Outcome.COMPLETE if has_answer and len(parts) == 1 else Outcome.TRUNCATED
    return Outcome.COMPLETE if parts or has_text else Outcome.EMPTY
