"""AG-UI 1.0: a run of one message, for `@ag-ui/client`, CopilotKit, TanStack AI and others.

    RUN_STARTED            first; then STATE_SNAPSHOT, if a state is given
    TEXT_MESSAGE_*         the text of the model, and why it refused
    REASONING_*            a span and a message for each reasoning part
    TOOL_CALL_*            the calls of the caller's tools; TOOL_CALL_END only for one that may be run
    TOOL_CALL_RESULT       only for a call that must not be run: why, so that nobody waits for it or runs it
    STATE_DELTA            a structured answer, and the arguments of some tools, while they grow
    CUSTOM                 parts without an event in AG-UI, named `jsontide.server_call`, `.source`, `.file` or `.other`
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
from dataclasses import dataclass
from typing import Final, TypeAlias, cast

from jsontide._values import MISSING, JsonValue, Missing
from jsontide.frontends.base import BaseEncoder, DescribeError, NativeStreamed, describe_error, end_of_json, sse
from jsontide.frontends.message_value import StateKeys, is_answer_text, plain_part
from jsontide.frontends.patches import LEAST_GROWTH, PatchWriter
from jsontide.frontends.steps import drop_answer_text, first_failed, is_lost
from jsontide.frontends.unsafe_keys import safe_changes, safe_value
from jsontide.messages.calls import BaseCall, ServerCall
from jsontide.messages.message import Message
from jsontide.messages.parts import Refusal, TextPart
from jsontide.messages.progress import (
    ArgumentsDelta,
    CallFailed,
    CallFinished,
    CallStarted,
    Finished,
    GrowingDelta,
    MessageEvent,
    PartAdded,
    Progress,
    ServerCallFinished,
    TextFinished,
    TextStarted,
    make_id,
)
from jsontide.messages.types import Outcome
from jsontide.tree import ParserState

Event: TypeAlias = dict[str, object]

PROTOCOL_VERSION: Final = "1.0"
_LARGEST_COUNT: Final = 2**53 - 1
_COUNTS: Final = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "reasoningTokens": "reasoning_tokens",
    "cachedInputTokens": "cached_tokens",
    "cacheWriteInputTokens": "cache_write_tokens",
}


def write_step(step: MessageEvent, name: str, main: int | Missing | None) -> list[Event]:
    """Return the events of a step of the message `name`, whose part `main` is one message with the calls."""
    match step:
        case TextStarted() | GrowingDelta() | TextFinished():
            # A text that goes on after its end keeps its id.
            message_id = name if step.part == main else make_id(name, step.part)
            return _write_reasoning(step, message_id) if step.kind == "reasoning" else [_write_text(step, message_id)]
        case CallStarted(on_server=True):
            return [_custom("server_call", {"id": step.id, "name": step.name, "status": "started"})]
        case CallStarted():
            call = {"toolCallId": step.id, "toolCallName": step.name, "parentMessageId": name}
            return [{"type": "TOOL_CALL_START", **call}]
        case ArgumentsDelta(on_server=False):
            return [{"type": "TOOL_CALL_ARGS", "toolCallId": step.id, "delta": step.text}]
        case CallFinished():
            return [{"type": "TOOL_CALL_END", "toolCallId": step.id}]
        case CallFailed():
            result = {"messageId": f"{step.id}-result", "toolCallId": step.id}
            return [{"type": "TOOL_CALL_RESULT", **result, "content": f"this call was not run: {step.reason}"}]
        case ServerCallFinished():
            return [_custom("server_call", _plain_server_call(step.id, step.name, step.call))]
        case PartAdded():
            value = plain_part(step.added)
            return [_custom(str(value.pop("type")), {"id": step.id, **value})]
    return []


def _write_text(step: TextStarted | GrowingDelta | TextFinished, message_id: str) -> Event:
    if isinstance(step, TextStarted):
        return {"type": "TEXT_MESSAGE_START", "messageId": message_id, "role": "assistant"}
    if isinstance(step, GrowingDelta):
        return {"type": "TEXT_MESSAGE_CONTENT", "messageId": message_id, "delta": step.text}
    return {"type": "TEXT_MESSAGE_END", "messageId": message_id}


def _write_reasoning(step: TextStarted | GrowingDelta | TextFinished, message_id: str) -> list[Event]:
    span = {"messageId": f"{message_id}-span"}
    if isinstance(step, TextStarted):
        started: Event = {"type": "REASONING_MESSAGE_START", "messageId": message_id, "role": "reasoning"}
        return [{"type": "REASONING_START", **span}, started]
    if isinstance(step, GrowingDelta):
        return [{"type": "REASONING_MESSAGE_CONTENT", "messageId": message_id, "delta": step.text}]
    return [{"type": "REASONING_MESSAGE_END", "messageId": message_id}, {"type": "REASONING_END", **span}]


def _custom(name: str, value: dict[str, JsonValue]) -> Event:
    return {"type": "CUSTOM", "name": f"jsontide.{name}", "value": safe_value(value)}


def find_main_text(message: Message) -> int | None:
    """Return the index of the text that is one message with the calls: the first, if no call stands before it."""
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


def write_usage(message: Message) -> Event:
    """Return the token counts of a message as a field of the event that ends the run, or nothing."""
    usage = message.usage
    if usage is None:
        return {}
    counts: Event = {name: getattr(usage, field) for name, field in _COUNTS.items()}
    if usage.input_tokens is not None and usage.output_tokens is not None:
        counts["totalTokens"] = usage.input_tokens + usage.output_tokens
    source = {"provider": message.provider, "model": message.model}
    entry: Event = {name: value for name, value in source.items() if value is not None}
    entry |= {name: count for name, count in counts.items() if isinstance(count, int) and 0 <= count <= _LARGEST_COUNT}
    return {"usage": [entry]}


@dataclass(slots=True)
class StateProgress:
    """How much of the state was sent; a value, `advance` returns the next one."""

    keys: StateKeys
    writer: PatchWriter
    sent: NativeStreamed | None = None
    """The last message or parser state whose changes were sent."""
    newest: NativeStreamed | None = None

    def advance(self, growing: NativeStreamed) -> tuple[StateProgress, list[Event]]:
        """Return the progress after a later message or state, and its new events."""
        keys, sent = self.keys, self.sent
        if self.writer.in_steps and sent is not None and keys.measure(growing) - keys.measure(sent) < LEAST_GROWTH:
            return StateProgress(keys, self.writer, sent, growing), []
        writer, patch = self.writer.write_changes(safe_changes(keys.changes(sent, growing)))
        return StateProgress(keys, writer, growing, growing), _write_patch(patch)

    def finish(self, growing: NativeStreamed | None = None) -> list[Event]:
        """Return the events for all that was not sent; `growing` is how it ended, if that is known."""
        changes = [] if self.newest is None else self.keys.changes(self.sent, self.newest)
        if growing is not None:
            changes += self.keys.changes(self.newest, growing)
        writer, patch = self.writer.write_changes(safe_changes(changes))
        return _write_patch(patch + writer.finish()[1])


def _write_patch(patch: list[dict[str, JsonValue]]) -> list[Event]:
    """Return the events for a patch; a new root is a snapshot."""
    events: list[Event] = []
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


@dataclass(slots=True)
class AgUiState:
    """How much of a run was sent."""

    progress: Progress
    shown: StateProgress
    hidden: frozenset[int] = frozenset()
    """The indexes of text parts that are sent as state, not as text."""
    ready: tuple[str, ...] = ()
    """The ids of calls that may be run."""
    failed: CallFailed | None = None
    """The first call that must not be run."""
    main: int | Missing | None = MISSING
    """The index of the text that is one message with the calls, or `None`; `MISSING` before any was sent."""
    is_over: bool = False


class AgUiEncoder(BaseEncoder[AgUiState]):
    """Encodes messages as runs of AG-UI; the states of a parser become the state of a run.

    `state` is the initial state, most often the `state` of the request; without one none is sent, and deltas apply to
    the state of the client. `answer` is the key at which a structured answer grows, and so does a document alone;
    with `None` the answer is sent as text, and a document is the whole state.
    `arguments_as_state` maps the name of a tool to the key at which its arguments grow; the last call counts.

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
        events = [started]
        if isinstance(self.state, Mapping):
            events.append({"type": "STATE_SNAPSHOT", "snapshot": safe_value(dict(self.state))})
        shown = StateProgress(self._keys, PatchWriter(self.in_steps))
        return AgUiState(Progress(self.message_id), shown), sse(*events)

    def _encode_message(self, state: AgUiState, message: Message) -> tuple[AgUiState, bytes]:
        progress, steps = state.progress.advance(message, self.describe_error)
        if progress.is_over:
            return self._write(state, progress, steps, state.shown, state.shown.finish(message))
        return self._write(state, progress, steps, *state.shown.advance(message))

    def _fail(self, state: AgUiState, reason: str) -> tuple[AgUiState, bytes]:
        return self._write(state, *state.progress.fail(reason), state.shown, state.shown.finish())

    def _encode_json(self, state: AgUiState, json: ParserState) -> tuple[AgUiState, bytes]:
        end = end_of_json(json)
        if end is None:
            shown, events = state.shown.advance(json)
            return AgUiState(state.progress, shown), sse(*events)
        last = self._finished({"type": "success"})
        if "reason" in end:
            last = {"type": "RUN_ERROR", "message": end["reason"], "code": end["end"]}
        return AgUiState(state.progress, state.shown, is_over=True), sse(*state.shown.finish(json), last)

    def _write(
        self, state: AgUiState, progress: Progress, steps: list[MessageEvent], shown: StateProgress, events: list[Event]
    ) -> tuple[AgUiState, bytes]:
        """Add the events of steps to those of the state, which come first: it is whole when a call may be run."""
        message = cast("Message", progress.message)
        hides = self._keys.answer is not None and is_answer_text(message)
        steps, hidden = drop_answer_text(progress, steps, state.hidden, hides=hides, shows=not hides)
        main = state.main
        if main is MISSING and any([_is_of_message(step) for step in steps]):
            main = find_main_text(message)
        for step in steps:
            events += write_step(step, self.message_id, main)
        ready = state.ready + tuple([step.id for step in steps if isinstance(step, CallFinished)])
        failed = state.failed or first_failed(steps)
        if progress.is_over:
            events.append(self._last(cast("Finished[Outcome]", steps[-1]), failed, ready))
        return AgUiState(progress, shown, hidden, ready, failed, main, progress.is_over), sse(*events)

    def _last(self, ended: Finished[Outcome], failed: CallFailed | None, ready: tuple[str, ...]) -> Event:
        """Return the event that ends the run: a call that has no TOOL_CALL_END makes it an error."""
        message, reason = ended.message, ended.error
        usage = write_usage(message)
        if failed is None and reason is None:
            pending = {"pendingToolCallIds": list(ready)} if ready else {}
            return {**self._finished({"type": "success", **pending}), **usage}
        if failed is None and message.outcome is Outcome.CANCELLED:
            return {**self._finished({"type": "cancelled"}), **usage}
        why = failed.reason if reason is None and failed is not None else reason
        return {"type": "RUN_ERROR", "message": why, "code": _code_of(message, failed), **usage}

    def _finished(self, outcome: Mapping[str, object]) -> Event:
        return {"type": "RUN_FINISHED", **self._named(), "outcome": outcome}

    def _named(self) -> Event:
        return {"threadId": self.thread_id, "runId": self.run_id}


def _is_of_message(step: MessageEvent) -> bool:
    """Return whether a step begins something of the message itself: a text, or a call of the caller's tools."""
    if isinstance(step, CallStarted):
        return not step.on_server
    return isinstance(step, TextStarted) and step.kind != "reasoning"


def _code_of(message: Message, failed: CallFailed | None) -> str:
    """Return one word for how a run failed: the outcome of the message, unless the connection was lost."""
    if message.outcome is Outcome.STREAMING:
        return "failed"
    if is_lost(message):
        return "transport"
    if message.outcome is Outcome.COMPLETE and failed is not None:
        return failed.status
    return str(message.outcome.value)
