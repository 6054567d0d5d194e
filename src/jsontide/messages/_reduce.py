"""`(state, chunk) -> state`: completion chunks into a message.

Rule: a state is a value. Old ones stay valid and can be fed again; nothing raises on what a provider sends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final, cast

from jsontide._values import MISSING
from jsontide.messages._calls import PartialCall, ToolCall
from jsontide.messages._certain import NOTHING_KNOWN, Errors, Known, errors_in, known_of
from jsontide.messages._check import wrong_type
from jsontide.messages._chunks import Choice, CompletionChunk
from jsontide.messages._config import MessageConfig
from jsontide.messages._document import Document, grown, new_document
from jsontide.messages._end import End, concluded, judged, judged_call, overall, with_arguments
from jsontide.messages._halves import NOTHING_HELD, mended
from jsontide.messages._merge import merged
from jsontide.messages._message import Message
from jsontide.messages._outcome import ErrorKind, MessageError, Outcome
from jsontide.messages._reasons import AS_ASKED, leaves_to_run, told_of, worse
from jsontide.messages._roster import Roster, roster_of

_NO_ANSWER: Final = "the answer was expected as a call of {!r}, and there is none"


@dataclass(frozen=True, slots=True)
class MessageState:
    """Where a message stands after a chunk; it never changes, and can be fed again at any time."""

    config: MessageConfig
    message: Message
    _known: Known = field(init=False, repr=False, compare=False, default=NOTHING_KNOWN)
    """What was found to be wrong so far, when somebody asked."""

    def __post_init__(self) -> None:
        if type(self.config) is not MessageConfig and not isinstance(self.config, MessageConfig):
            raise wrong_type("config", "a MessageConfig", self.config)
        if type(self.message) is not Message and not isinstance(self.message, Message):
            raise wrong_type("message", "a Message", self.message)

    @property
    def outcome(self) -> Outcome:
        """What the end means, `STREAMING` before it."""
        return self.message.outcome

    @property
    def is_over(self) -> bool:
        return self.message.outcome is not Outcome.STREAMING

    @property
    def errors(self) -> tuple[MessageError, ...]:
        """All that is known to be wrong, also before the message tells."""
        if self.is_over:
            return self.message.errors
        message = self.message
        _remember(self, known_of(self._known, self.config, _counting_answer(self), message._calls))
        return self._known.errors

    def __reduce__(self) -> tuple[type[MessageState], tuple[object, ...]]:
        return MessageState, (self.config, self.message)


def start_message(config: MessageConfig | None = None) -> MessageState:
    """Return the state before any chunk."""
    if config is None:
        config = MessageConfig()
    if not isinstance(config, MessageConfig):
        message = f"a config must be a MessageConfig, not {type(config).__name__}"
        raise TypeError(message)
    parses = config._answer is not None and not config._emulates
    return MessageState(config, Message(_document=new_document(config._answer) if parses else None))


def reduce_chunk(state: MessageState, chunk: CompletionChunk) -> MessageState:
    """Return the state after one more chunk; the same state if there is nothing new in it.

    >>> from jsontide.messages import Choice, CompletionChunk, Delta
    >>> chunk = CompletionChunk(choices=(Choice(delta=Delta(content="Hi")),))
    >>> reduce_chunk(start_message(), chunk).message.content
    'Hi'
    """
    _check(state)
    if not isinstance(chunk, CompletionChunk):
        message = f"a chunk must be a CompletionChunk, not {type(chunk).__name__}; adapters make them of events"
        raise TypeError(message)
    if state.is_over:
        return state
    if chunk.error is not None:
        return fail_message(state, chunk.error)
    for choice in chunk.choices:
        if choice.index == 0:
            state = _with_choice(state, choice)
    return state


def finish_message(state: MessageState) -> MessageState:
    """Return the state after the end of the stream: the message has its outcome, and so has each call."""
    _check(state)
    if state.is_over:
        return state
    message = state.message
    return _ended(state, End(message.finish_reason, is_refused=bool(message._refusal)))


def stop_message(state: MessageState) -> MessageState:
    """Return the state after the caller stopped the stream; what came before is kept."""
    _check(state)
    return state if state.is_over else _ended(state, End(state.message.finish_reason, is_cancelled=True))


def fail_message(state: MessageState, error: BaseException | str) -> MessageState:
    """Return the state after the stream failed; what came before is kept."""
    _check(state)
    if not isinstance(error, BaseException | str):
        message = f"an error must be an exception or a text, not {type(error).__name__}"
        raise TypeError(message)
    if state.is_over:
        return state
    failure = MessageError(ErrorKind.TRANSPORT, "stream", _said(error), cause=None if isinstance(error, str) else error)
    return _ended(state, End(state.message.finish_reason, failure=failure))


def _said(error: BaseException | str) -> str:
    if isinstance(error, str):
        return error or "the stream failed"
    try:
        return str(error) or type(error).__name__
    except Exception:  # noqa: BLE001 - whatever an exception of a client does
        return type(error).__name__


def _check(state: MessageState) -> None:
    if not isinstance(state, MessageState):
        message = f"a state must be a MessageState, not {type(state).__name__}"
        raise TypeError(message)


def _with_choice(state: MessageState, choice: Choice) -> MessageState:
    before = state.message
    held, delta = mended(before._held, choice.delta)
    calls = merged(before._calls, delta.tool_calls, state.config) if delta.tool_calls else before._calls
    has_calls = calls is not before._calls
    document = _answer(state, delta.content, calls)
    is_open = document is not None and document is not before._document and not document.is_complete
    reason, worst = _reasons(before, choice.finish_reason, goes_on=has_calls or is_open)
    message = Message(
        # Only an assistant's message is streamed: a role that comes later is not its own.
        role=before.role if before._has_role else delta.role or before.role,
        finish_reason=told_of(reason, has_calls=bool(calls.shown_count)),
        _has_role=before._has_role or bool(delta.role),
        _worst_reason=worst,
        _content=before._content.append(delta.content or ""),
        _reasoning=before._reasoning.append(delta.reasoning or ""),
        _refusal=before._refusal.append(delta.refusal or ""),
        _held=held,
        _document=document,
        _calls=calls,
    )
    if not has_calls and message == before:
        return state
    after = MessageState(state.config, message)
    _remember(after, state._known)
    return after


def _remember(state: MessageState, known: Known) -> None:
    """A state is the same whether something is remembered of it or not."""
    object.__setattr__(state, "_known", known)


def _reasons(before: Message, now: str | None, *, goes_on: bool) -> tuple[str | None, str | None]:
    """Return the reason that speaks for all that came, and the worst that was told at all."""
    if now:
        worst = worse(before._worst_reason, now)
        return worst, worst
    # How it ended was told of what came before: a call that comes or grows after that may be cut off like any.
    is_taken_back = goes_on and leaves_to_run(before.finish_reason)
    return None if is_taken_back else before.finish_reason, before._worst_reason


def _answer(state: MessageState, content: str | None, calls: Roster) -> Document | None:
    """Return the document of the answer, from wherever it comes."""
    if state.config._emulates:
        return None if calls.answer is None else calls[calls.answer]._document
    document = state.message._document
    return document if document is None or not content else grown(document, content)


def _ordinary(state: MessageState) -> Iterator[PartialCall]:
    """Leave out what the server runs, and what is the answer itself."""
    for call in cast("tuple[PartialCall, ...]", state.message._calls.all):
        if not call._on_server and not state.config._is_output(call.name):
            yield call


def _released(state: MessageState) -> MessageState:
    """Show the halves that nothing came for."""
    message, held = state.message, state.message._held
    if held is NOTHING_HELD:
        return state
    document = message._document
    shown = replace(
        message,
        _content=message._content.append(held.content),
        _reasoning=message._reasoning.append(held.reasoning),
        _refusal=message._refusal.append(held.refusal),
        _held=NOTHING_HELD,
        _document=document if state.config._emulates else document and grown(document, held.content),
    )
    return replace(state, message=shown)


def _ended(state: MessageState, end: End) -> MessageState:
    state = _released(state)
    config, message = state.config, state.message
    ends = [concluded(call, end, position, config) for position, call in enumerate(_ordinary(state))]
    calls = tuple(call for call, _ in ends)
    answer = _judged_answer(state, end, calls)
    parts = [call.status for call in calls] + ([answer.outcome] if answer.outcome else [])
    outcome = overall(end, parts, has_answer=answer.outcome is Outcome.COMPLETE, has_text=bool(message._content))
    errors = [*answer.errors, *(error for _, found in ends for error in found)]
    ended = replace(
        message,
        finish_reason=told_of(message.finish_reason, has_calls=bool(calls)),
        outcome=outcome,
        errors=tuple(errors if end.error is None else [end.error, *errors]),
        content_model=answer.model,
        _document=answer.document,
        _calls=roster_of(calls),
    )
    return MessageState(config, ended)


@dataclass(frozen=True, slots=True)
class _Answer:
    document: Document | None
    outcome: Outcome | None = None
    errors: Errors = ()

    @property
    def model(self) -> object:
        if self.document is None or self.outcome is not Outcome.COMPLETE:
            return MISSING
        return self.document.model


def _judged_answer(state: MessageState, end: End, calls: tuple[ToolCall, ...]) -> _Answer:
    """Judge the structured output."""
    config, message, calls_so_far = state.config, state.message, state.message._calls
    content, document = message._content, message._document
    if calls_so_far.answer is not None:
        given = with_arguments(cast("PartialCall", calls_so_far[calls_so_far.answer]), end)
        found = judged_call(given, end, "content", config)
        return _Answer(found.document, found.outcome, found.errors)
    if document is None:
        is_told = end.outcome is Outcome.COMPLETE and end.reason in AS_ASKED
        is_missing = config._emulates and is_told and content and not calls
        return _no_answer(config) if is_missing else _Answer(None)
    if not content:
        return _Answer(document)
    found = judged(document, end, "content")
    certain = () if config._lenses else errors_in(document, "content")
    if found.outcome is not Outcome.COMPLETE and calls:
        return _Answer(found.document, errors=certain)  # prose beside calls
    return _Answer(found.document, found.outcome, certain if end.is_withheld else found.errors)


def _no_answer(config: MessageConfig) -> _Answer:
    error = MessageError(ErrorKind.SCHEMA, "content", _NO_ANSWER.format(config.output_name))
    return _Answer(None, Outcome.INVALID, (error,))


def _counting_answer(state: MessageState) -> Document | ToolCall | None:
    """Return where the answer comes from, if what is wrong with it counts, whatever comes after it.

    Where tools are offered, a call may come that makes mere prose of the content.
    """
    config, message = state.config, state.message
    if config._emulates:
        calls = message._calls
        return None if calls.answer is None else calls[calls.answer]
    return None if config._lenses else message._document
