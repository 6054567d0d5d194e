"""AG-UI 1.0: a run of one message or of many, for `@ag-ui/client`, CopilotKit, TanStack AI and others.

    RUN_STARTED            first; then STATE_SNAPSHOT, if a state is given
    TEXT_MESSAGE_*         the text of the model, and why it refused
    REASONING_*            a span and a message for each reasoning part
    TOOL_CALL_*            the calls of the caller's tools; TOOL_CALL_END only for one that may be run
    TOOL_CALL_RESULT       for a call that must not be run: why, so that nobody waits for it or runs it
    REASONING_ENCRYPTED_VALUE   what a provider needs to have back with a part, such as a signature
    STATE_DELTA            a structured answer, and the arguments of some tools, while they grow
    CUSTOM                 parts without an event in AG-UI, named `jsontide.server_call`, `.source`, `.file` or `.other`
    RUN_FINISHED           last, if the message is complete, or was cancelled with no call open
    RUN_ERROR              last, otherwise; its code is how the message ended

Of several messages, each is a step, and a message of the client with an id of its own:

    STEP_STARTED, STEP_FINISHED   around a message and the results of its calls
    TOOL_CALL_RESULT              what a call gave; its metadata says if it is an error
    ACTIVITY_SNAPSHOT             what a tool gives so far
    SUBAGENT_*                    the run of a tool that is one; all events in it name it
    RUN_FINISHED                  with the outcome `interrupt` while a person must decide about calls

A call that failed is ended when the run goes on, after its result: a client looks for a result before it runs a call.

The first text and all calls are one message on the client, as they are one message of the model.
Members with keys such as `__proto__` are left out of states and custom events.

Rule: only line feeds, one event per `data` line, nothing after the end.

Every START has its END, except for a call that must not be run: that one gets a result that says why.
In steps, a delta of the state waits for 32 more characters, and strings are sent again only when they have grown by
half; a client that applies all deltas to an object has, at the end, what Python shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias, cast

from jsontide._values import MISSING, JsonValue, Missing, write_json
from jsontide.frontends.base import (
    DescribeError,
    NativeStreamed,
    check_continued,
    describe_end_of_run,
    describe_error,
    describe_failure,
    end_of_json,
    sse,
)
from jsontide.frontends.message_value import StateKeys, is_answer_text, media_type_of, part_metadata, plain_part
from jsontide.frontends.patches import LEAST_GROWTH, PatchWriter
from jsontide.frontends.runs import NOTHING_SENT, RunEncoder, SentSteps, name_step
from jsontide.frontends.steps import drop_answer_text, first_failed, is_lost
from jsontide.frontends.unsafe_keys import safe_changes, safe_value
from jsontide.messages.calls import BaseCall, ServerCall
from jsontide.messages.message import Message
from jsontide.messages.options import ToolResult, describe_file
from jsontide.messages.parts import File, Refusal, TextPart
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
from jsontide.messages.types import Outcome, Usage
from jsontide.runs.json_form import plain_value
from jsontide.runs.run import Run
from jsontide.runs.types import PendingResult, Result, RunOutcome
from jsontide.tree import ParserState

Event: TypeAlias = dict[str, Any]
Events: TypeAlias = list[Event]

PROTOCOL_VERSION: Final = "1.0"
STOPPED: Final = "the run was stopped"
_DECISION: Final = {"approved": {"type": "boolean"}, "reason": {"type": "string"}}
"""What is asked about a call that waits for a person, as the properties of a JSON Schema."""
_LARGEST_COUNT: Final = 2**53 - 1
_COUNTS: Final = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "reasoningTokens": "reasoning_tokens",
    "cachedInputTokens": "cached_tokens",
    "cacheWriteInputTokens": "cache_write_tokens",
}


def write_step(step: MessageEvent, message: Message, name: str, main: int | Missing | None) -> list[Event]:
    """Return the events of a step of the message `name`, whose part `main` is one message with the calls."""
    events = _events_of(step, name, main)
    if isinstance(step, (TextFinished, CallFinished)):
        metadata = part_metadata(message.parts[step.part], message.provider, exact=True)
        if metadata is not None:
            kind = "message" if isinstance(step, TextFinished) else "tool-call"
            about = {"subtype": kind, "entityId": events[0].get("messageId", step.id)}
            events.append({"type": "REASONING_ENCRYPTED_VALUE", **about, "encryptedValue": write_json(metadata)})
    return events


def _events_of(step: MessageEvent, name: str, main: int | Missing | None) -> list[Event]:
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
            return [_write_result(step.id, f"this call was not run: {step.reason}", is_error=True)]
        case ServerCallFinished():
            return [_custom("server_call", _plain_server_call(step.id, step.name, step.call))]
        case PartAdded():
            value = plain_part(step.added)
            return [_custom(str(value.pop("type")), {"id": step.id, **value})]
    return []


def _write_output(result: ToolResult) -> str | list[Event]:
    """Return what a call gave: its text, or texts and files if it gave files that a client can show."""
    if not any(isinstance(part, File) and (part.data or part.url) for part in result.parts):
        return result.text
    return [_write_part(part) for part in result.parts]


def _write_part(part: TextPart | File) -> Event:
    if isinstance(part, TextPart) or not (part.data or part.url):
        return {"type": "text", "text": part.text if isinstance(part, TextPart) else describe_file(part)}
    media_type = media_type_of(part)
    kind = media_type.partition("/")[0]
    source = {"type": "data", "value": part.data} if part.data else {"type": "url", "value": part.url}
    shown = kind if kind in {"image", "audio", "video"} else "document"
    return {"type": shown, "source": {**source, "mimeType": media_type}}


def _write_result(call_id: str, content: str | list[Event], *, is_error: bool) -> Event:
    result: Event = {"messageId": f"{call_id}-result", "toolCallId": call_id, "role": "tool", "content": content}
    metadata: Event = {"metadata": {"jsontide": {"isError": True}}} if is_error else {}
    return {"type": "TOOL_CALL_RESULT", **result, **metadata}


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


def write_usage(*messages: Message) -> Event:
    """Return the token counts of messages as a field of the event that ends the run, or nothing."""
    entries = [_plain_usage(message) for message in messages if message.usage is not None]
    return {"usage": entries} if entries else {}


def _plain_usage(message: Message) -> Event:
    usage = cast("Usage", message.usage)
    counts: Event = {name: getattr(usage, field) for name, field in _COUNTS.items()}
    if usage.input_tokens is not None and usage.output_tokens is not None:
        counts["totalTokens"] = usage.input_tokens + usage.output_tokens
    source = {"provider": message.provider, "model": message.model}
    entry: Event = {name: value for name, value in source.items() if value is not None}
    entry |= {name: count for name, count in counts.items() if isinstance(count, int) and 0 <= count <= _LARGEST_COUNT}
    return entry


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
    steps: SentSteps = NOTHING_SENT
    unended: tuple[str, ...] = ()
    """The ids of calls that must not be run, and have no TOOL_CALL_END."""
    nested: Mapping[str, AgUiState] = field(default_factory=dict)
    """How much was sent of the runs of tools, by the ids of their calls."""


class AgUiEncoder(RunEncoder[AgUiState]):
    """Encodes messages and runs as runs of AG-UI; the states of a parser become the state of a run.

    `state` is the initial state, most often the `state` of the request; without one none is sent, and deltas apply to
    the state of the client. `answer` is the key at which a structured answer grows, and so does a document alone;
    with `None` the answer is sent as text, and a document is the whole state.
    `arguments_as_state` maps the name of a tool to the key at which its arguments grow; the last call counts.
    `continues` is a saved run that the client has already, such as one that was interrupted: only what follows is sent.

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

    _is_nested = False
    _prefix = ""

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
        continues: Run[Any] | None = None,
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
        self.continues: Final = check_continued(continues)
        self._keys: Final = StateKeys(answer, dict(arguments_as_state or {}))

    def begin(self) -> tuple[AgUiState, bytes]:
        """Return the first state, and the start of the run."""
        started = {"type": "RUN_STARTED", **self._named(), "protocolVersion": PROTOCOL_VERSION}
        if self.parent_run_id is not None:
            started["parentRunId"] = self.parent_run_id
        events = [started]
        if isinstance(self.state, Mapping):
            events.append({"type": "STATE_SNAPSHOT", "snapshot": safe_value(dict(self.state))})
        state = AgUiState(Progress(self.message_id, prefix=self._prefix), self._show_nothing())
        return state if self.continues is None else self._skip(state, self.continues), sse(*events)

    def _show_nothing(self) -> StateProgress:
        return StateProgress(self._keys, PatchWriter(self.in_steps))

    def _encode_message(self, state: AgUiState, message: Message) -> tuple[AgUiState, bytes]:
        state, events, ended = self._advance(state, message)
        if ended is not None:
            events.append(self._last(ended, state.failed, state.ready))
        return state, sse(*events)

    def _advance(self, state: AgUiState, message: Message) -> tuple[AgUiState, Events, Finished[Outcome] | None]:
        """Return the state after a message, its events, and its end."""
        progress, steps = state.progress.advance(message, self.describe_error)
        if progress is state.progress:
            return state, [], None
        if progress.is_over:
            return self._write(state, progress, steps, state.shown, state.shown.finish(message))
        return self._write(state, progress, steps, *state.shown.advance(message))

    def _break(self, state: AgUiState, reason: str) -> tuple[AgUiState, Events, Finished[Outcome] | None]:
        return self._write(state, *state.progress.fail(reason), state.shown, state.shown.finish())

    def _fail(self, state: AgUiState, reason: str) -> tuple[AgUiState, bytes]:
        if not state.steps.number:
            state, events, ended = self._break(state, reason)
            return state, sse(*events, self._last(cast("Finished[Outcome]", ended), state.failed, state.ready))
        state, events = self._give_up(state, reason)
        return replace(state, is_over=True), sse(*events, _error(reason, "failed"))

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
    ) -> tuple[AgUiState, Events, Finished[Outcome] | None]:
        """Add the events of steps to those of the state, which come first: it is whole when a call may be run."""
        message = cast("Message", progress.message)
        hides = self._keys.answer is not None and is_answer_text(message)
        steps, hidden = drop_answer_text(progress, steps, state.hidden, hides=hides, shows=not hides)
        main = state.main
        if main is MISSING and any([_is_of_message(step) for step in steps]):
            main = find_main_text(message)
        for step in steps:
            events += write_step(step, message, progress.name, main)
        ready = state.ready + tuple([step.id for step in steps if isinstance(step, CallFinished)])
        failed = state.failed or first_failed(steps)
        unended = state.unended + tuple([step.id for step in steps if isinstance(step, CallFailed)])
        ended = steps[-1] if steps and isinstance(steps[-1], Finished) else None
        found = (progress, shown, hidden, ready, failed, main, progress.is_over, state.steps, unended, state.nested)
        return AgUiState(*found), events, ended

    def _start_step(self, state: AgUiState, number: int) -> tuple[AgUiState, Events]:
        progress = Progress(name_step(self.message_id, number), prefix=self._prefix)
        return AgUiState(progress, self._show_nothing(), steps=state.steps), [_step("STARTED", number)]

    def _write_message(self, state: AgUiState, message: Message) -> tuple[AgUiState, Events]:
        state, events, _ = self._advance(state, message)
        return replace(state, is_over=False), events

    def _break_off(self, state: AgUiState, reason: str) -> tuple[AgUiState, Events]:
        state, events, _ = self._break(state, reason)
        return replace(state, is_over=False), events

    def _write_result(
        self, state: AgUiState, call_id: str, before: Result | None, now: Result
    ) -> tuple[AgUiState, Events]:
        events: Events = []
        run = now.progress if isinstance(now, PendingResult) else now.nested
        if isinstance(run, Run):
            state, events = self._write_nested(state, call_id, str(now.call.name), run)
        elif isinstance(now, PendingResult) and now.progress is not MISSING:
            content = {"toolCallId": call_id, "value": safe_value(cast("JsonValue", plain_value(now.progress)))}
            about = {"messageId": f"{call_id}-progress", "activityType": "jsontide.progress"}
            events = [{"type": "ACTIVITY_SNAPSHOT", **about, "content": content}]
        if isinstance(now, PendingResult):
            return state, events
        inside = state.nested.get(call_id)
        if inside is not None and not inside.is_over:
            events += _NestedEncoder(self, call_id).end_early(inside)
        if call_id in state.unended:  # why it was not run was told
            return state, events
        told = _write_output(now) if now.error is None else describe_failure(now, self.describe_error)
        return state, [*events, _write_result(call_id, told, is_error=now.error is not None)]

    def _write_nested(self, state: AgUiState, call_id: str, name: str, run: Run[Any]) -> tuple[AgUiState, Events]:
        inner = _NestedEncoder(self, call_id)
        inside, events = state.nested.get(call_id), cast("Events", [])
        if inside is None:
            inside, events = inner.start(name)
        inside, new = inner.write_run(inside, run)
        return replace(state, nested={**state.nested, call_id: inside}), inner.attribute(events + new)

    def _end_step(self, state: AgUiState, run: Run[Any]) -> tuple[AgUiState, Events]:
        if run.is_over and not self._is_nested and self._outcome(state, run) is None:
            return state, []  # an error ends the run with anything open
        ends = [{"type": "TOOL_CALL_END", "toolCallId": call_id} for call_id in state.unended]
        return replace(state, unended=()), [*ends, _step("FINISHED", state.steps.number)]

    def _end_run(self, state: AgUiState, run: Run[Any]) -> Events:
        first = 0 if self.continues is None else len(self.continues.steps)
        usage = write_usage(*[cast("Message", step.message) for step in run.steps[first:]])
        outcome = self._outcome(state, run)
        if outcome is not None:
            return [{**self._finished(outcome), **usage}]
        reason = describe_end_of_run(run, self.describe_error)
        code = run.outcome.value
        if run.message is not None and code == run.message.outcome.value:
            code = _code_of(cast("Message", run.message), state.failed)
        return [{**_error(reason or "the run failed", code), **usage}]

    def _outcome(self, state: AgUiState, run: Run[Any]) -> Event | None:
        """Return how a run ended; `None` if that is an error."""
        if run.outcome is RunOutcome.COMPLETE:
            return {"type": "success"}
        if run.outcome is RunOutcome.WAITING:
            told = zip(state.steps.ids, run.results, strict=True)
            waiting = [_interrupt(call_id, one) for call_id, one in told if one in run.waiting]
            return {"type": "interrupt", "interrupts": waiting}
        is_cut = run.message is not None and run.message.outcome is Outcome.CANCELLED and state.unended
        return {"type": "cancelled"} if run.outcome is RunOutcome.CANCELLED and not is_cut else None

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


class _NestedEncoder(AgUiEncoder):
    """Encodes the run of a tool, among the events of the run around it."""

    _is_nested = True

    def __init__(self, outer: AgUiEncoder, call_id: str) -> None:
        run_id = f"{call_id}-run"
        super().__init__(thread_id=outer.thread_id, run_id=run_id, answer=None, describe_error=outer.describe_error)
        self._prefix = f"{run_id}-"
        parent = {"parentSubagentRunId": outer.run_id} if outer._is_nested else {}
        self._parent: Final[Event] = {"parentToolCallId": call_id, **parent}

    def start(self, name: str) -> tuple[AgUiState, Events]:
        state = AgUiState(Progress(self.message_id, prefix=self._prefix), self._show_nothing())
        return state, [{"type": "SUBAGENT_STARTED", "name": name, **self._parent}]

    def end_early(self, state: AgUiState) -> Events:
        """Return the end of a run whose tool has a result without it."""
        state, events = self._give_up(state, STOPPED)
        new: Events = []
        if state.steps.is_open:
            _, new = self._end_step(state, Run())
        return self.attribute([*events, *new, {"type": "SUBAGENT_ERROR", "message": STOPPED, "code": "cancelled"}])

    def attribute(self, events: Events) -> Events:
        """Return events that name the run that they belong to; those of runs inside of it name these."""
        return [{"subagentRunId": self.run_id, **event} for event in events]

    def _end_run(self, state: AgUiState, run: Run[Any]) -> Events:
        reason = describe_end_of_run(run, self.describe_error)
        if reason is None:
            return [{"type": "SUBAGENT_FINISHED"}]
        return [{"type": "SUBAGENT_ERROR", "message": reason, "code": run.outcome.value}]


def _step(what: str, number: int) -> Event:
    return {"type": f"STEP_{what}", "stepName": f"step-{number}"}


def _error(reason: str, code: str) -> Event:
    return {"type": "RUN_ERROR", "message": reason, "code": code}


def _interrupt(call_id: str, waiting: Result) -> Event:
    """Return what a client must answer: whether the call may run, and why not."""
    why = {"message": waiting.reason} if isinstance(waiting, PendingResult) and waiting.reason is not None else {}
    answer = {"type": "object", "properties": _DECISION, "required": ["approved"]}
    return {"id": call_id, "reason": "tool_call", **why, "toolCallId": call_id, "responseSchema": answer}


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
