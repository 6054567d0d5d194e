"""AG-UI 1.0: a run of one message, for `@ag-ui/client`, CopilotKit, TanStack AI and others.

    RUN_STARTED            first; then STATE_SNAPSHOT, if a state is given
    TEXT_MESSAGE_*         the text of the model, and why it refused
    REASONING_*            a span and a message for each reasoning part
    TOOL_CALL_*            the calls of the caller's tools; TOOL_CALL_END only for one that may be run
    TOOL_CALL_RESULT       only for a call that must not be run: why, so that nobody waits for it or runs it
    STATE_DELTA            a structured answer, and the arguments of some tools, while they grow
    CUSTOM                 what AG-UI has no event for, named `jsontide.server_call`, `.source`, `.file` or `.other`
    RUN_FINISHED           last, if the message is complete, or was cancelled with no call open
    RUN_ERROR              last, otherwise; its code is how the message ended

The first text and all calls are one message on the client, as they are one message of the model.
Members with keys such as `__proto__` are left out of states and custom events.

Rule: only line feeds, one event per `data` line, nothing after the end.

Every START has its END, except for a call that must not be run: that one gets a result that says why.
In steps, a delta of the state waits for 32 more characters, and strings are sent again only when they have grown by
half; a client that applies all deltas to an object has, at the end, what Python shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from jsontide._values import MISSING, JsonValue, Missing
from jsontide.frontends.base import DescribeError, NativeStreamed, SseEncoder, describe_error, sse
from jsontide.frontends.compact import end_of_json
from jsontide.frontends.message_value import StateKeys, is_answer_text, plain_part
from jsontide.frontends.patches import PatchWriter
from jsontide.frontends.steps import (
    ArgumentsGrew,
    CallFailed,
    CallReady,
    CallStarted,
    Ended,
    PartAdded,
    Progress,
    ServerCallEnded,
    Step,
    TextEnded,
    TextGrew,
    TextStarted,
    make_id,
)
from jsontide.frontends.unsafe_keys import safe_changes, safe_value
from jsontide.messages.calls import BaseCall, ServerCall
from jsontide.messages.message import Message
from jsontide.messages.parts import Refusal, TextPart
from jsontide.messages.types import ErrorKind, Outcome
from jsontide.tree import ParserState

_LARGEST: Final = 2**53 - 1
_COUNTS: Final = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "reasoningTokens": "reasoning_tokens",
    "cachedInputTokens": "cached_tokens",
    "cacheWriteInputTokens": "cache_write_tokens",
}


class EventWriter:
    """Collects the events of one message's steps."""

    def __init__(self, name: str, main: int | Missing | None) -> None:
        self.events: Final[list[dict[str, object]]] = []
        self._name: Final = name
        self._main: Final = main

    def write(self, step: Step) -> None:
        if isinstance(step, (TextStarted, TextGrew, TextEnded)):
            self._write_text(step)
        elif isinstance(step, (CallStarted, ArgumentsGrew, CallReady, CallFailed, ServerCallEnded)):
            self._write_call(step)
        elif isinstance(step, PartAdded):
            value = plain_part(step.part)
            self._add_custom(str(value.pop("type")), {"id": step.id, **value})

    def _write_text(self, step: TextStarted | TextGrew | TextEnded) -> None:
        # A text that goes on after its end keeps its id.
        message_id = self._name if step.index == self._main else make_id(self._name, step.index)
        if step.kind == "reasoning":
            self._write_reasoning(step, message_id)
        elif isinstance(step, TextStarted):
            self._add("TEXT_MESSAGE_START", messageId=message_id, role="assistant")
        elif isinstance(step, TextGrew):
            self._add("TEXT_MESSAGE_CONTENT", messageId=message_id, delta=step.delta)
        else:
            self._add("TEXT_MESSAGE_END", messageId=message_id)

    def _write_reasoning(self, step: TextStarted | TextGrew | TextEnded, message_id: str) -> None:
        span = f"{message_id}-span"
        if isinstance(step, TextStarted):
            self._add("REASONING_START", messageId=span)
            self._add("REASONING_MESSAGE_START", messageId=message_id, role="reasoning")
        elif isinstance(step, TextGrew):
            self._add("REASONING_MESSAGE_CONTENT", messageId=message_id, delta=step.delta)
        else:
            self._add("REASONING_MESSAGE_END", messageId=message_id)
            self._add("REASONING_END", messageId=span)

    def _write_call(self, step: CallStarted | ArgumentsGrew | CallReady | CallFailed | ServerCallEnded) -> None:
        if isinstance(step, ServerCallEnded):
            self._add_custom("server_call", _plain_server_call(step.id, step.name, step.call))
        elif isinstance(step, CallReady):
            self._add("TOOL_CALL_END", toolCallId=step.id)
        elif isinstance(step, CallFailed):
            content = f"this call was not run: {step.reason}"
            self._add("TOOL_CALL_RESULT", messageId=f"{step.id}-result", toolCallId=step.id, content=content)
        elif step.on_server:
            if isinstance(step, CallStarted):
                self._add_custom("server_call", {"id": step.id, "name": step.name, "status": "started"})
        elif isinstance(step, CallStarted):
            self._add("TOOL_CALL_START", toolCallId=step.id, toolCallName=step.name, parentMessageId=self._name)
        else:
            self._add("TOOL_CALL_ARGS", toolCallId=step.id, delta=step.delta)

    def _add_custom(self, name: str, value: dict[str, JsonValue]) -> None:
        self._add("CUSTOM", name=f"jsontide.{name}", value=safe_value(value))

    def _add(self, event: str, **fields: object) -> None:
        self.events.append({"type": event, **fields})


def find_main_text(message: Message) -> int | None:
    """Return the place of the text that is one message with the calls: the first, if no call stands before it."""
    for at, part in enumerate(message.parts):
        if isinstance(part, (TextPart, Refusal)):
            return at
        if isinstance(part, BaseCall) and not isinstance(part, ServerCall):
            return None
    return None


def _plain_server_call(call_id: str, name: str, call: ServerCall) -> dict[str, JsonValue]:
    plain: dict[str, JsonValue] = {"id": call_id, "name": name, "status": call.status or "ended"}
    if call.partial is not MISSING:
        plain["arguments"] = call.partial
    if call.result is not MISSING:
        plain["result"] = call.result
    return plain


def write_usage(message: Message) -> dict[str, object]:
    """Return what a message costs, as a field of the event that ends the run; nothing if it is not known."""
    usage = message.usage
    if usage is None:
        return {}
    entry: dict[str, object] = {}
    if message.provider is not None:
        entry["provider"] = message.provider
    if message.model is not None:
        entry["model"] = message.model
    for name, field in _COUNTS.items():
        _count(entry, name, getattr(usage, field))
    if usage.input_tokens is not None and usage.output_tokens is not None:
        _count(entry, "totalTokens", usage.input_tokens + usage.output_tokens)
    return {"usage": [entry]}


def _count(entry: dict[str, object], name: str, count: object) -> None:
    """Add a number of tokens, if it is one that the protocol takes."""
    if isinstance(count, int) and 0 <= count <= _LARGEST:
        entry[name] = count


_LEAST: Final = 32


class StateProgress:
    """What was sent of the state; a value, `advance` returns the next one."""

    __slots__ = ("_keys", "_newest", "_sent", "_writer")

    def __init__(
        self,
        keys: StateKeys,
        writer: PatchWriter,
        sent: NativeStreamed | None = None,
        newest: NativeStreamed | None = None,
    ) -> None:
        self._keys: Final = keys
        self._writer: Final = writer
        self._sent: Final = sent  # the last one that was sent
        self._newest: Final = newest

    def advance(self, growing: NativeStreamed) -> tuple[StateProgress, list[dict[str, object]]]:
        """Return the progress after a later message or state, and the events for what is new."""
        keys, sent = self._keys, self._sent
        if self._writer.in_steps and sent is not None and keys.measure(growing) - keys.measure(sent) < _LEAST:
            return StateProgress(keys, self._writer, sent, growing), []
        writer, patch = self._writer.write_changes(safe_changes(keys.changes(sent, growing)))
        return StateProgress(keys, writer, growing, growing), _write_events(patch)

    def finish(self, growing: NativeStreamed | None = None) -> list[dict[str, object]]:
        """Return the events for all that was not sent; `growing` is how it ended, if that is known."""
        keys, newest = self._keys, self._newest
        changes = [] if newest is None else keys.changes(self._sent, newest)
        if growing is not None:
            changes += keys.changes(newest, growing)
        writer, patch = self._writer.write_changes(safe_changes(changes))
        return _write_events(patch + writer.finish()[1])


def _write_events(patch: list[dict[str, JsonValue]]) -> list[dict[str, object]]:
    """Return the events that make a patch; a new root is a snapshot."""
    events: list[dict[str, object]] = []
    operations: list[object] = []
    for operation in patch:
        if not operation["path"]:
            events.append({"type": "STATE_SNAPSHOT", "snapshot": operation["value"]})
            operations = []
            continue
        if not operations:
            events.append({"type": "STATE_DELTA", "delta": operations})
        operations.append(operation)
    return events


PROTOCOL_VERSION: Final = "1.0"


class AgUiState:
    """What was sent of a run."""

    __slots__ = ("failed", "hidden", "is_over", "main", "progress", "ready", "shown")

    def __init__(
        self,
        progress: Progress,
        shown: StateProgress,
        hidden: frozenset[int] = frozenset(),
        ready: tuple[str, ...] = (),
        failed: CallFailed | None = None,
        main: int | Missing | None = MISSING,
        *,
        is_over: bool = False,
    ) -> None:
        self.progress: Final = progress
        self.shown: Final = shown
        self.hidden: Final = hidden
        """The indexes of text parts that are sent as state, not as text."""
        self.ready: Final = ready
        """The ids of calls that may be run."""
        self.failed: Final = failed
        """The first call that must not be run."""
        self.main: Final = main
        """The index of the text that is one message with the calls, or `None`; `MISSING` before any was sent."""
        self.is_over: Final = is_over


class AgUiEncoder(SseEncoder[AgUiState]):
    """Encodes messages as runs of AG-UI; the states of a parser become the state of a run.

    `state` is what the state begins with, most often the `state` of the request; without one it is not sent,
    and deltas go to what the client has. `answer` is the key at which a structured answer grows, and a document of
    its own; with `None` the answer is sent as text, and a document is the whole state.
    `arguments_as_state` says at which key the arguments of a tool grow, by the tool's name; the last call counts.

    >>> from jsontide import stream_message
    >>> events = [{"message": {"content": "Hi"}, "done": False}, {"message": {}, "done": True}]
    >>> encoder = AgUiEncoder(thread_id="t", run_id="r")
    >>> state, sent = encoder.begin()
    >>> for message in stream_message(events):
    ...     state, new = encoder.encode(state, message)
    ...     sent += new
    >>> print(sent.decode().split("\\n\\n")[2])
    data: {"type":"TEXT_MESSAGE_CONTENT","messageId":"r-message","delta":"Hi"}
    """

    def __init__(
        self,
        *,
        thread_id: str,
        run_id: str,
        message_id: str | None = None,
        parent_run_id: str | None = None,
        state: Mapping[str, JsonValue] | Missing = MISSING,
        answer: str | None = "answer",
        arguments_as_state: Mapping[str, str] | None = None,
        in_steps: bool = True,
        describe_error: DescribeError = describe_error,
    ) -> None:
        super().__init__(describe_error)
        if state is not MISSING and not isinstance(state, Mapping):
            message = f"state must be a mapping, not {type(state).__name__}"
            raise TypeError(message)
        self.thread_id: Final = thread_id
        self.run_id: Final = run_id
        self.message_id: Final = f"{run_id}-message" if message_id is None else message_id
        self.parent_run_id: Final = parent_run_id
        self.state: Final = state
        self.in_steps: Final = in_steps
        self._keys: Final = StateKeys(answer, dict(arguments_as_state or {}))

    def begin(self) -> tuple[AgUiState, bytes]:
        """Return the first state, and the start of the run."""
        started = {"type": "RUN_STARTED", **self._named(), "protocolVersion": PROTOCOL_VERSION}
        if self.parent_run_id is not None:
            started["parentRunId"] = self.parent_run_id
        events: list[Mapping[str, object]] = [started]
        if isinstance(self.state, Mapping):
            events.append({"type": "STATE_SNAPSHOT", "snapshot": safe_value(dict(self.state))})
        shown = StateProgress(self._keys, PatchWriter(self.in_steps))
        return AgUiState(Progress(self.message_id), shown), _frame(events)

    def _encode_message(self, state: AgUiState, message: Message) -> tuple[AgUiState, bytes]:
        progress, steps = state.progress.advance(message, self.describe_error)
        if progress.is_over:
            return self._end(state, progress, steps, state.shown.finish(message))
        shown, changes = state.shown.advance(message)
        events, hidden, main = self._write(state, progress, steps)
        ready, failed = state.ready + _ready(steps), state.failed or _failed(steps)
        return AgUiState(progress, shown, hidden, ready, failed, main), _frame([*changes, *events])

    def _fail(self, state: AgUiState, reason: str) -> tuple[AgUiState, bytes]:
        progress, steps = state.progress.fail(reason)
        return self._end(state, progress, steps, state.shown.finish())

    def _encode_json(self, state: AgUiState, json: ParserState) -> tuple[AgUiState, bytes]:
        end = end_of_json(json)
        if end is None:
            shown, events = state.shown.advance(json)
            return AgUiState(state.progress, shown), _frame(events)
        last = self._finished({"type": "success"})
        if "reason" in end:
            last = {"type": "RUN_ERROR", "message": end["reason"], "code": end["end"]}
        return _over(state, state.progress), _frame([*state.shown.finish(json), last])

    def _end(
        self, state: AgUiState, progress: Progress, steps: list[Step], changes: list[dict[str, object]]
    ) -> tuple[AgUiState, bytes]:
        """Return the end: changes of the state first, so that it is whole when a call may be run."""
        ended = cast("Ended", steps[-1])
        events, _, _ = self._write(state, progress, steps)
        last = self._last(ended, state.failed or _failed(steps), state.ready + _ready(steps))
        return _over(state, progress), _frame([*changes, *events, last])

    def _write(
        self, state: AgUiState, progress: Progress, steps: list[Step]
    ) -> tuple[list[dict[str, object]], frozenset[int], int | Missing | None]:
        """Return the events of steps, which text parts are hidden then, and which one is one message with the calls."""
        message = cast("Message", progress.message)
        hides = self._keys.answer is not None and is_answer_text(message)
        steps, hidden = progress.drop_answer_text(steps, state.hidden, hides=hides, shows=not hides)
        main = state.main
        if main is MISSING and any([_is_of_message(step) for step in steps]):
            main = find_main_text(message)
        writer = EventWriter(self.message_id, main)
        for step in steps:
            writer.write(step)
        return writer.events, hidden, main

    def _last(self, ended: Ended, failed: CallFailed | None, ready: tuple[str, ...]) -> Mapping[str, object]:
        """Return the event that ends the run: a call that has no TOOL_CALL_END makes it an error."""
        message, reason = ended.message, ended.error
        usage = write_usage(message)
        if failed is None and reason is None:
            return {**self._finished(_success(ready)), **usage}
        if failed is None and message.outcome is Outcome.CANCELLED:
            return {**self._finished({"type": "cancelled"}), **usage}
        why = failed.reason if reason is None and failed is not None else reason
        return {"type": "RUN_ERROR", "message": why, "code": _code_of(message, failed), **usage}

    def _finished(self, outcome: Mapping[str, object]) -> dict[str, object]:
        return {"type": "RUN_FINISHED", **self._named(), "outcome": outcome}

    def _named(self) -> dict[str, object]:
        return {"threadId": self.thread_id, "runId": self.run_id}


def _is_of_message(step: Step) -> bool:
    """Return whether a step begins something of the message itself: a text, or a call of the caller's tools."""
    if isinstance(step, CallStarted):
        return not step.on_server
    return isinstance(step, TextStarted) and step.kind != "reasoning"


def _over(state: AgUiState, progress: Progress) -> AgUiState:
    return AgUiState(progress, state.shown, is_over=True)


def _ready(steps: list[Step]) -> tuple[str, ...]:
    return tuple([step.id for step in steps if isinstance(step, CallReady)])


def _failed(steps: list[Step]) -> CallFailed | None:
    return next((step for step in steps if isinstance(step, CallFailed)), None)


def _success(ready: tuple[str, ...]) -> dict[str, object]:
    return {"type": "success", "pendingToolCallIds": list(ready)} if ready else {"type": "success"}


def _code_of(message: Message, failed: CallFailed | None) -> str:
    """Return one word for how a run failed: the outcome of the message, unless the connection was lost."""
    if message.outcome is Outcome.STREAMING:
        return "failed"
    if any(error.kind is ErrorKind.TRANSPORT for error in message.errors):
        return "transport"
    if message.outcome is Outcome.COMPLETE and failed is not None:
        return failed.status
    return str(message.outcome.value)


def _frame(events: list[Mapping[str, object]] | list[dict[str, object]]) -> bytes:
    return b"".join([sse(event) for event in events])
