"""`(state, chunk) -> state`: completion chunks in neutral form into a message, and its end.

Rule: a state is a value. Old ones stay valid and can be fed again; nothing raises on what a provider sends.
Arguments are objects here, so that our own checks name what is wrong with them; the package says what they must be.
"""

from __future__ import annotations

from collections.abc import Mapping

from jsontide._check import check_state
from jsontide._values import MISSING
from jsontide.messages._entries import NO_INDEX, NO_KEY
from jsontide.messages._finish import Ending, end_message
from jsontide.messages._merge import CallDelta
from jsontide.messages.document import write_json
from jsontide.messages.draft import Draft
from jsontide.messages.message import Message
from jsontide.messages.options import MessageConfig
from jsontide.messages.parts import Refusal
from jsontide.messages.provider_errors import explain_exception
from jsontide.messages.state import MessageState
from jsontide.messages.types import Choice, CompletionChunk, ErrorDetail, ErrorKind, ToolCallDelta


def start_message(config: object = None) -> MessageState:
    """Return the state before any chunk, given a `MessageConfig` or nothing."""
    if config is None:
        config = MessageConfig()
    if not isinstance(config, MessageConfig):
        message = f"a config must be a MessageConfig, not {type(config).__name__}"
        raise TypeError(message)
    rules = config._rules
    parses = rules.answer is not None and not rules.emulates
    document = rules.new_document(rules.answer, False) if parses else None
    answer = MISSING if document is None else document
    return MessageState(config, Message(answer=answer), [], document, None, None, False)


def reduce_chunk(state: object, chunk: object) -> MessageState:
    """Return the state after one more chunk; the same state if there is nothing new in it.

    >>> from jsontide.messages import Choice, CompletionChunk, Delta
    >>> chunk = CompletionChunk(choices=(Choice(delta=Delta(content="Hi")),))
    >>> reduce_chunk(start_message(), chunk).message.content
    'Hi'
    """
    state = check_state(state, MessageState)
    if not isinstance(chunk, CompletionChunk):
        message = f"a chunk must be a CompletionChunk, not {type(chunk).__name__}; stream_message takes events"
        raise TypeError(message)
    if state.is_over:
        return state
    draft = Draft(state, state.config._rules)
    read_chunk(draft, chunk)
    return draft.freeze()


def read_chunk(draft: Draft, chunk: CompletionChunk) -> None:
    """Note what a chunk says."""
    if chunk.error is not None:
        draft.fail(chunk.error, chunk.error)
        return
    if chunk.id is not None or chunk.model is not None or chunk.created is not None:
        draft.identify(chunk.id, chunk.model, chunk.created, "")
    draft.set_usage(chunk.usage)
    for choice in chunk.choices:
        if choice.index == draft.choice:
            _read_choice(draft, choice)


def _read_choice(draft: Draft, choice: Choice) -> None:
    delta = choice.delta
    draft.set_role(delta.role)
    if delta.reasoning is not None:
        draft.add_reasoning(NO_KEY, delta.reasoning)
    if delta.content is not None:
        draft.add_text(NO_KEY, delta.content)
    if delta.refusal is not None:
        draft.add_refusal(NO_KEY, delta.refusal)
    for entry in delta.tool_calls:
        draft.add_call(_read_call(entry))
    draft.finish(choice.finish_reason, choice.finish_reason)


def _read_call(entry: ToolCallDelta) -> CallDelta:
    arguments = entry.arguments
    is_object = isinstance(arguments, Mapping)
    return CallDelta(
        NO_INDEX if entry.index is None else entry.index,
        entry.id,
        entry.name,
        write_json(dict(arguments)) if isinstance(arguments, Mapping) else arguments,
        entry.spelling == "whole",
        is_object,
        entry.on_server,
        entry.cut_off,
    )


def finish_message(state: object) -> MessageState:
    """Return the state after the end of the stream: the message has its outcome, and so has each call."""
    state = check_state(state, MessageState)
    if state.is_over:
        return state
    is_refused = False
    for part in state.newest.parts:
        if isinstance(part, Refusal) and part._text.length:
            is_refused = True
    return end_message(state, Ending(state.reason, is_refused=is_refused))


def stop_message(state: object) -> MessageState:
    """Return the state after the caller stopped the stream; what came before is kept."""
    state = check_state(state, MessageState)
    return state if state.is_over else end_message(state, Ending(state.reason, is_cancelled=True))


def fail_message(state: object, error: object) -> MessageState:
    """Return the state after the stream failed, given an exception or a text; what came before is kept."""
    state = check_state(state, MessageState)
    if not isinstance(error, (BaseException, str)):
        message = f"an error must be an exception or a text, not {type(error).__name__}"
        raise TypeError(message)
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
