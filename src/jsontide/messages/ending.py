"""How a message ended in, the outcome of each call and of the whole out.

A call is complete when the provider said how the message ended, its arguments are all there, and they are valid.
A stream that just ends gives no reason, so nothing of it can be run; nor can it if the reason is unknown.

Why providers say that a message ended, in the words of chat completions, and what that means for its parts:

stop, tool_calls                            the message is complete
stop_sequence                               the text is complete; a call may contain the sequence and break off there
length                                      something is missing, but what is closed is whole
pause                                       the text is complete; the model continues when it is sent back
any other word                              unknown: nothing can be run
content_filter, refusal, malformed, error   nothing can be run, and nothing that comes later changes that

The functions that people call take `object`, so that our own checks name what is wrong with an argument.
"""

from __future__ import annotations

from typing import Final

from jsontide._check import check_state
from jsontide._textbuffer import NO_TEXT
from jsontide._values import MISSING
from jsontide.mend.options import Repair, RepairKind
from jsontide.messages.calls import CompleteCall, PartialCall
from jsontide.messages.document import Document, ReadingRules, has_infinity
from jsontide.messages.message import LENGTH, FinalAnswer
from jsontide.messages.parts import BasePart, GrowingPart, ReasoningPart, Refusal, TextPart
from jsontide.messages.provider_errors import explain_exception
from jsontide.messages.state import CallEntry, MessageState, PartEntry, call_errors, loss_errors
from jsontide.messages.types import NO_FINISH_REASON, ErrorDetail, ErrorKind, ErrorSource, Outcome

STOP: Final = "stop"
TOOL_CALLS: Final = "tool_calls"
STOP_SEQUENCE: Final = "stop_sequence"
PAUSE: Final = "pause"
CONTENT_FILTER: Final = "content_filter"
REFUSAL: Final = "refusal"
MALFORMED: Final = "malformed"
ERROR: Final = "error"

NORMAL_REASONS: Final = (STOP, TOOL_CALLS)
TEXT_COMPLETE_REASONS: Final = (STOP, TOOL_CALLS, STOP_SEQUENCE, PAUSE)
"""The reasons that say that the text is complete."""
_UNKNOWN_SEVERITY: Final = 3
_SEVERITY: Final = {
    STOP: 0,
    TOOL_CALLS: 0,
    STOP_SEQUENCE: 1,
    LENGTH: 2,
    PAUSE: _UNKNOWN_SEVERITY,
    CONTENT_FILTER: 4,
    REFUSAL: 4,
    MALFORMED: 4,
    ERROR: 4,
}
_FINAL_SEVERITY: Final = 4

_FAILED: Final = "the provider says that it failed"
_TOO_LARGE: Final = "a number is too large to be held or written"
_AT_LIMIT: Final = "the provider stopped at its limit, before the JSON was complete"
_CUT_OFF: Final = "the provider says that the call broke off"
_LONE_SURROGATE: Final = "half of a character stands alone in the text; the other half is lost"
_NO_ANSWER: Final = "the answer must come as a call of {!r}, and the message has no such call"
_NO_ARGUMENTS: Final = "{}"
_ORPHANS: Final = "there are arguments in the stream that belong to no call with a name: they may be of this one"
_GUESSES: Final = "arguments came without an index, though calls have one: they may be of any of the calls"


def is_known(reason: str) -> bool:
    """Return whether the table has a meaning of this reason for calls."""
    return _SEVERITY.get(reason, _UNKNOWN_SEVERITY) != _UNKNOWN_SEVERITY


def leaves_to_run(reason: str | None) -> bool:
    """Return whether calls may be run after this reason."""
    return reason is not None and _SEVERITY.get(reason, _UNKNOWN_SEVERITY) < _UNKNOWN_SEVERITY


def normalize(reason: str | None, has_calls: bool) -> str | None:
    """Return the reason; `stop` and `tool_calls`, which providers mix up, by whether there are calls."""
    if reason != STOP and reason != TOOL_CALLS:
        return reason
    return TOOL_CALLS if has_calls else STOP


def more_severe(before: str | None, now: str) -> str:
    """Return the more severe of two reasons; of two alike the later, unless the first is final."""
    if before is None:
        return now
    old, new = _SEVERITY.get(before, _UNKNOWN_SEVERITY), _SEVERITY.get(now, _UNKNOWN_SEVERITY)
    return before if old > new or old == _FINAL_SEVERITY else now


class Ending:
    """How a message ended."""

    __slots__ = ("error", "is_normal", "is_withheld", "outcome", "reason")

    def __init__(
        self,
        reason: str | None,
        is_cancelled: bool = False,
        is_refused: bool = False,
        failure: ErrorDetail | None = None,
    ) -> None:
        outcome = Outcome.TRUNCATED if reason is None or reason == ERROR else Outcome.COMPLETE
        is_withheld = True
        if is_cancelled:
            outcome = Outcome.CANCELLED
        elif failure is not None:
            outcome = Outcome.TRUNCATED
            is_withheld = False
        elif is_refused or reason == REFUSAL:
            outcome = Outcome.REFUSED
        elif reason == CONTENT_FILTER:
            outcome = Outcome.FILTERED
        else:
            is_withheld = False
        error = failure
        if error is None and outcome is Outcome.TRUNCATED:
            error = ErrorDetail(ErrorKind.TRANSPORT, "stream", NO_FINISH_REASON if reason is None else _FAILED)
        self.reason: Final = reason
        """The finish reason that the provider gave."""
        self.outcome: Final = outcome
        """The outcome of everything in the message; `COMPLETE` if each part is judged by itself."""
        self.is_withheld: Final = is_withheld
        """Whether nothing in the message may be used, even if it looks complete."""
        self.error: Final = error
        """What was wrong with the stream itself."""
        self.is_normal: Final = reason in NORMAL_REASONS and failure is None


class CheckedDocument:
    """A document after the end, its outcome and its errors."""

    __slots__ = ("document", "errors", "outcome")

    def __init__(self, outcome: Outcome, document: Document, errors: tuple[ErrorDetail, ...] = ()) -> None:
        self.outcome: Final = outcome
        self.document: Final = document
        self.errors: Final = errors


class CheckedAnswer:
    """The structured output, its outcome if that counts for the message, and its errors.

    A class and not a tuple: compiled, an attribute of a local that is returned inside a tuple is freed with it.
    """

    __slots__ = ("errors", "outcome", "shown")

    def __init__(self, shown: object, outcome: Outcome | None = None, errors: tuple[ErrorDetail, ...] = ()) -> None:
        self.shown: Final = shown
        self.outcome: Final = outcome
        self.errors: Final = errors


def check_document(document: Document, ending: Ending, source: ErrorSource) -> CheckedDocument:
    if ending.is_withheld:
        return CheckedDocument(ending.outcome, document, document.errors(source))
    if ending.is_normal or (document.mend is not None and document.is_complete):
        # Text after a whole value is mended too, and can reveal another error.
        document = document.finish()
    errors = document.errors(source)
    if errors:
        return CheckedDocument(Outcome.INVALID, document, errors)
    if not document.is_complete:
        return CheckedDocument(Outcome.TRUNCATED, document, (_describe_break(document, source, ending.reason),))
    error = ending.error
    if error is not None:
        there = ErrorDetail(error.kind, source, error.message, error.path, error.cause)
        return CheckedDocument(Outcome.TRUNCATED, document, (there,))
    if has_infinity(document.value):
        return CheckedDocument(Outcome.INVALID, document, (ErrorDetail(ErrorKind.JSON, source, _TOO_LARGE),))
    return CheckedDocument(Outcome.COMPLETE, document)


def _describe_break(document: Document, source: ErrorSource, reason: str | None) -> ErrorDetail:
    error = document.finish().error
    message = "the number may have had more digits" if error is None else error.message
    if reason == LENGTH:
        message = f"{_AT_LIMIT}: {message}"
    return ErrorDetail(ErrorKind.JSON, source, message, () if error is None else error.path, error)


def end_message(state: MessageState, ending: Ending) -> MessageState:
    """Return the state after the end, with the outcome of the message and of each call."""
    rules, message = state.config._rules, state.newest
    entries = _mark_unaccounted([_release(entry) for entry in state.entries], state, ending)
    document = _release_document(state)
    parts: list[BasePart] = []
    calls: list[PartialCall | CompleteCall] = []
    errors: list[ErrorDetail] = []
    for entry in entries:
        if not isinstance(entry, CallEntry) or entry.on_server:
            parts.append(entry.part if not entry.part.is_open else entry.part.close())
        elif not rules.is_output(entry.name):
            call = _finish_call(entry, ending, len(calls), rules, errors)
            calls.append(call)
            parts.append(call)
    has_text = any([isinstance(part, TextPart) and bool(part.growing_text.length) for part in parts])
    answer = _finish_answer(entries, state.answer_at, document, ending, rules, has_text, bool(calls))
    outcome = answer.outcome
    outcomes = [call.status for call in calls] + ([] if outcome is None else [outcome])
    all_errors = [*loss_errors(state.loss), *answer.errors, *errors]
    if ending.error is not None:
        all_errors = [ending.error, *all_errors]
    before = message.parts
    is_same = len(parts) == len(before) and all([parts[at] is before[at] for at in range(len(before))])
    has_answer = outcome is Outcome.COMPLETE
    ended = message.evolve(
        parts=before if is_same else tuple(parts),  # what did not change is the same object
        outcome=_message_outcome(ending, outcomes, has_answer, _says_something(parts), bool(state.loss)),
        finish_reason=normalize(state.reason, bool(calls)),
        errors=tuple(all_errors),
        answer=answer.shown,
    )
    return state.evolve(message=ended, entries=entries, document=document)


def _mark_unaccounted(entries: list[PartEntry], state: MessageState, ending: Ending) -> list[PartEntry]:
    """Return the entries, each call marked if something in the stream may belong to it."""
    calls = [entry for entry in entries if isinstance(entry, CallEntry) and not entry.on_server]
    ambiguity = state.loss or _find_ambiguity(calls)
    if ending.outcome is not Outcome.COMPLETE or not (ambiguity or state.unread):
        return entries
    return [
        entry.with_ambiguity(ambiguity or state.unread)
        if isinstance(entry, CallEntry) and _may_run(entry) and (ambiguity or entry.is_blank)
        else entry
        for entry in entries
    ]


def _find_ambiguity(calls: list[CallEntry]) -> str:
    """Return why each of the calls of a message may lack something, or "".

    A piece that says the wrong index, or comes before its call or after it, may be missing in any call. Where there are
    several, so may one that lost its index, though only one of them was open when it came.
    """
    if any([_is_orphan(call) for call in calls]):
        return _ORPHANS
    return _GUESSES if len(calls) > 1 and any([call.is_guess for call in calls]) else ""


def _may_run(entry: CallEntry) -> bool:
    """Return whether a call looks complete, taken by itself."""
    is_whole = entry.is_blank or entry.document.is_complete or entry.document.finish().is_complete
    return is_whole and not entry.on_server and entry.name is not None


def _is_orphan(entry: CallEntry) -> bool:
    """Return whether arguments belong to no call with a name; those that cannot be read count too."""
    has_arguments = not entry.is_blank or bool(entry.ambiguity)
    return entry.name is None and has_arguments


def _release(entry: PartEntry) -> PartEntry:
    """Add the surrogate that still waits for its pair to the text."""
    part = entry.part
    if isinstance(part, GrowingPart) and entry.held:
        return PartEntry(part.grow(part.growing_text.append(entry.held)), entry.key)
    return entry


def _release_document(state: MessageState) -> Document | None:
    document = state.document
    if document is None:
        return None
    for entry in state.entries:
        if entry.held and isinstance(entry.part, TextPart):
            document = document.append(entry.held)
    return document


def _finish_call(
    entry: CallEntry, ending: Ending, source: int, rules: ReadingRules, errors: list[ErrorDetail]
) -> CompleteCall | PartialCall:
    """Return a call as it is after the end of its message, and add its errors to `errors`."""
    entry = _with_arguments(entry, ending)
    checked = _trust(_check_call(entry, ending, source, rules), ending, source)
    checked = _check_repairs(checked, source, rules)
    found = checked.errors or _find_faults(entry, ending, source)
    errors += found
    call = entry.call
    if checked.outcome is Outcome.COMPLETE and not found:
        document = checked.document
        assert entry.name is not None
        return CompleteCall(
            entry.name,
            document.value,
            entry.text,
            entry.id,
            call.index,
            item_id=call.item_id,
            extra=call._extra,
            repairs=document.repairs,
            model=document.model,
        )
    outcome = Outcome.INVALID if checked.outcome is Outcome.COMPLETE else checked.outcome
    return PartialCall(
        entry.name,
        entry.text,
        checked.document,
        outcome,
        found[0] if found else None,
        entry.id,
        call.index,
        item_id=call.item_id,
        extra=call._extra,
    )


def _check_call(entry: CallEntry, ending: Ending, source: ErrorSource, rules: ReadingRules) -> CheckedDocument:
    """Check whether the arguments of a call are complete, valid and certainly its own."""
    found = check_document(entry.document, ending, source)
    errors = call_errors(entry, source, rules) + found.errors
    if entry.ambiguity and not ending.is_withheld:
        return CheckedDocument(Outcome.INVALID, found.document, errors)
    if entry.is_cut_off and found.outcome is Outcome.COMPLETE:
        broken = ErrorDetail(ErrorKind.JSON, source, _CUT_OFF)
        return CheckedDocument(Outcome.TRUNCATED, found.document, (*errors, broken))
    checked = CheckedDocument(found.outcome, found.document, errors)
    return (
        _refuse_surrogate(checked, source)
        if checked.outcome is Outcome.COMPLETE and entry.text.has_lone_surrogate()
        else checked
    )


def _refuse_surrogate(found: CheckedDocument, source: ErrorSource) -> CheckedDocument:
    """Refuse a text with a lone surrogate: only damage leaves one, as JSON writes an intended one as an escape."""
    half = ErrorDetail(ErrorKind.JSON, source, _LONE_SURROGATE)
    return CheckedDocument(Outcome.INVALID, found.document, (*found.errors, half))


def _trust(found: CheckedDocument, ending: Ending, source: ErrorSource) -> CheckedDocument:
    """Refuse a call after an unknown finish reason: it may mean that the call must not be run."""
    reason = ending.reason
    if found.outcome is not Outcome.COMPLETE or reason is None or is_known(reason):
        return found
    message = f"the message ended with {reason!r}, and it is not known what that means"
    error = ErrorDetail(ErrorKind.TRANSPORT, source, message)
    return CheckedDocument(Outcome.TRUNCATED, found.document, (*found.errors, error))


def _check_repairs(found: CheckedDocument, source: ErrorSource, rules: ReadingRules) -> CheckedDocument:
    """Refuse a call whose arguments were restructured or lost something, unless `allowed_in_calls` allows it."""
    if found.outcome is not Outcome.COMPLETE or found.document.mend is None:
        return found
    kinds = [repair.kind for repair in found.document.repairs if _changes_call(repair)]
    names = list(dict.fromkeys([kind.value for kind in kinds if kind not in rules.allowed_in_calls]))
    if not names:
        return found
    message = (
        f"arguments needed repairs that are not allowed for calls: {', '.join(names)}; see Mending.allowed_in_calls"
    )
    error = ErrorDetail(ErrorKind.JSON, source, message)
    return CheckedDocument(Outcome.INVALID, found.document, (*found.errors, error))


def _changes_call(repair: Repair) -> bool:
    """Return whether a repair may change what a call does; dropping a repeated value does not."""
    return repair.lossy or (repair.kind.is_structural and repair.kind is not RepairKind.SECOND_VALUE)


def _with_arguments(entry: CallEntry, ending: Ending) -> CallEntry:
    """Read missing arguments as `{}` if the message ended normally."""
    if entry.held:  # a surrogate whose pair never came
        entry = _with_text(entry, entry.held)
    is_normal = ending.is_normal and ending.outcome is Outcome.COMPLETE
    if not is_normal or entry.is_cut_off or entry.ambiguity or not entry.is_blank:
        return entry
    return _with_text(entry, _NO_ARGUMENTS)


def _with_text(entry: CallEntry, piece: str) -> CallEntry:
    text = (NO_TEXT if piece is _NO_ARGUMENTS else entry.text).append(piece)
    return entry.evolve(text=text, held="", document=entry.document.append(piece), is_blank=False)


def _find_faults(entry: CallEntry, ending: Ending, source: ErrorSource) -> tuple[ErrorDetail, ...]:
    """Return the errors of a call that only the end reveals."""
    if ending.outcome is not Outcome.COMPLETE:
        return ()
    if ending.reason == MALFORMED:
        return (ErrorDetail(ErrorKind.SCHEMA, source, "the provider says that the call is malformed"),)
    return () if entry.name else (ErrorDetail(ErrorKind.SCHEMA, source, "the call has no name"),)


def _finish_answer(
    entries: list[PartEntry],
    answer_at: int,
    document: Document | None,
    ending: Ending,
    rules: ReadingRules,
    has_text: bool,
    has_calls: bool,
) -> CheckedAnswer:
    call = entries[answer_at] if answer_at >= 0 else None
    if isinstance(call, CallEntry):
        checked = _check_call(_with_arguments(call, ending), ending, "content", rules)
        return CheckedAnswer(_show_answer(checked, False), checked.outcome, checked.errors)
    if document is None:
        is_as_asked = ending.outcome is Outcome.COMPLETE and ending.reason in TEXT_COMPLETE_REASONS
        if rules.answer_is_call and is_as_asked and has_text and not has_calls:
            error = ErrorDetail(ErrorKind.SCHEMA, "content", _NO_ANSWER.format(rules.output_name))
            return CheckedAnswer(MISSING, Outcome.INVALID, (error,))
        return CheckedAnswer(MISSING)
    if not has_text:
        return CheckedAnswer(document)
    checked = check_document(document, ending, "content")
    if checked.outcome is Outcome.COMPLETE and any([_is_damaged(entry) for entry in entries]):
        checked = _refuse_surrogate(checked, "content")
    certain = () if rules.bindings else document.errors("content")
    if checked.outcome is not Outcome.COMPLETE and has_calls:
        return CheckedAnswer(checked.document, None, certain)  # prose beside calls
    return CheckedAnswer(
        _show_answer(checked, True), checked.outcome, certain if ending.is_withheld else checked.errors
    )


def _is_damaged(entry: PartEntry) -> bool:
    return isinstance(entry.part, TextPart) and entry.part.growing_text.has_lone_surrogate()


def _show_answer(checked: CheckedDocument, is_text: bool) -> object:
    document = checked.document
    return (
        FinalAnswer(document.model, document.value, document.repairs, is_text)
        if checked.outcome is Outcome.COMPLETE
        else document
    )


def _says_something(parts: list[BasePart]) -> bool:
    """Return whether any part has content other than reasoning."""
    for part in parts:
        if isinstance(part, GrowingPart):
            if part.growing_text.length and not isinstance(part, ReasoningPart):
                return True
        else:
            return True
    return False


def _message_outcome(
    ending: Ending, outcomes: list[Outcome], has_answer: bool, has_content: bool, has_loss: bool
) -> Outcome:
    """Return the outcome of a message, given those of its answer and calls."""
    if ending.outcome is not Outcome.COMPLETE:
        return ending.outcome
    if ending.reason == MALFORMED:
        return Outcome.INVALID
    if Outcome.TRUNCATED in outcomes:
        return Outcome.TRUNCATED
    if Outcome.INVALID in outcomes or has_loss:
        return Outcome.INVALID
    if ending.reason not in TEXT_COMPLETE_REASONS:
        return Outcome.COMPLETE if has_answer and len(outcomes) == 1 else Outcome.TRUNCATED
    return Outcome.COMPLETE if outcomes or has_content else Outcome.EMPTY


def finish_message(state: object) -> MessageState:
    """Return the state after the end of the stream, with the outcome of the message and of each call."""
    state = check_state(state, MessageState)
    if state.is_over:
        return state
    is_refused = False
    for part in state.newest.parts:
        if isinstance(part, Refusal) and part.growing_text.length:
            is_refused = True
    return end_message(state, Ending(state.reason, is_refused=is_refused))


def stop_message(state: object) -> MessageState:
    """Return the state after the caller stopped the stream; the message keeps what it has."""
    state = check_state(state, MessageState)
    return state if state.is_over else end_message(state, Ending(state.reason, is_cancelled=True))


def fail_message(state: object, error: object) -> MessageState:
    """Return the state after the stream failed with an exception or a text; the message keeps what it has."""
    state = check_state(state, MessageState)
    if not isinstance(error, (BaseException, str)):
        raise TypeError(f"an error must be an exception or a text, not {type(error).__name__}")
    if state.is_over:
        return state
    cause = None if isinstance(error, str) else error
    reported = None if isinstance(error, str) else explain_exception(error)
    failure = ErrorDetail(ErrorKind.TRANSPORT, "stream", _describe(error), (), cause, reported)
    return end_message(state, Ending(state.reason, failure=failure))


def _describe(error: BaseException | str) -> str:
    if isinstance(error, str):
        return error or "the stream failed"
    try:
        return str(error) or type(error).__name__
    except Exception:  # noqa: BLE001 - whatever an exception of a client does
        return type(error).__name__
