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
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from jsontide._values import MISSING, JsonValue, Missing
from jsontide.deltas import PatchWriter
from jsontide.encoders._ag_ui_events import EventWriter, write_usage
from jsontide.encoders._ag_ui_state import StateProgress
from jsontide.encoders._answer_text import hide_answer
from jsontide.encoders._base import Growing, SseEncoder, sse
from jsontide.encoders._state_changes import StateKeys
from jsontide.encoders.compact import end_of_json
from jsontide.encoders.hostile_keys import safe_value
from jsontide.encoders.message_value import is_answer_text
from jsontide.encoders.progress import CallFailed, CallReady, Ended, Progress, Step
from jsontide.messages.message import Message
from jsontide.messages.types import ErrorKind, Outcome
from jsontide.tree import ParserState

PROTOCOL_VERSION: Final = "1.0"


class AgUiState:
    """What was told of a run."""

    __slots__ = ("failed", "hidden", "is_over", "progress", "ready", "shown")

    def __init__(
        self,
        progress: Progress,
        shown: StateProgress,
        hidden: frozenset[int] = frozenset(),
        ready: tuple[str, ...] = (),
        failed: CallFailed | None = None,
        *,
        is_over: bool = False,
    ) -> None:
        self.progress: Final = progress
        self.shown: Final = shown
        self.hidden: Final = hidden
        """The places of text parts that are told as state, not as text."""
        self.ready: Final = ready
        """The ids of calls that may be run."""
        self.failed: Final = failed
        """The first call that must not be run."""
        self.is_over: Final = is_over


class AgUiEncoder(SseEncoder):
    """Encodes messages as runs of AG-UI; the states of a parser become the state of a run.

    `state` is what the state begins with, most often the `state` of the request; without one nothing is said of it,
    and deltas go to what the client has. `answer` is the key at which a structured answer grows, and a document of
    its own; with `None` the answer is told as text, and a document is the whole state.
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
    ) -> None:
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

    def encode(self, state: AgUiState, growing: Growing) -> tuple[AgUiState, bytes]:
        """Return the state after a message or a parser's state, and what is new in it."""
        if state.is_over:
            return state, b""
        if isinstance(growing, ParserState):
            return self._encode_json(state, growing)
        progress, steps = state.progress.advance(growing)
        if progress.is_over:
            return self._end(state, progress, steps, state.shown.finish(growing))
        shown, events = state.shown.advance(growing)
        told, hidden = self._write(state, growing, steps)
        ready, failed = state.ready + _ready(steps), state.failed or _failed(steps)
        return AgUiState(progress, shown, hidden, ready, failed), _frame([*events, *told])

    def fail(self, state: AgUiState, reason: str) -> tuple[AgUiState, bytes]:
        """Return the state after a failure that no message tells of, and the end of the run."""
        if state.is_over:
            return state, b""
        progress, steps = state.progress.fail(reason)
        return self._end(state, progress, steps, state.shown.finish())

    def _encode_json(self, state: AgUiState, growing: ParserState) -> tuple[AgUiState, bytes]:
        end = end_of_json(growing)
        if end is None:
            shown, events = state.shown.advance(growing)
            return AgUiState(state.progress, shown), _frame(events)
        last = self._finished({"type": "success"})
        if "reason" in end:
            last = {"type": "RUN_ERROR", "message": end["reason"], "code": end["end"]}
        return _over(state, state.progress), _frame([*state.shown.finish(growing), last])

    def _end(
        self, state: AgUiState, progress: Progress, steps: list[Step], events: list[dict[str, object]]
    ) -> tuple[AgUiState, bytes]:
        """Tell the end: the state first, so that it is whole when a call may be run."""
        ended = cast("Ended", steps[-1])
        told, _ = self._write(state, ended.message, steps)
        last = self._last(ended, state.failed or _failed(steps), state.ready + _ready(steps))
        return _over(state, progress), _frame([*events, *told, last])

    def _write(
        self, state: AgUiState, message: Message, steps: list[Step]
    ) -> tuple[list[dict[str, object]], frozenset[int]]:
        """Return the events of steps, and which text parts are hidden then."""
        hides = self._keys.answer is not None and is_answer_text(message)
        steps, hidden = hide_answer(self.message_id, message, steps, state.hidden, hides=hides)
        writer = EventWriter(self.message_id, message)
        for step in steps:
            writer.write(step)
        return writer.events, hidden

    def _last(self, ended: Ended, failed: CallFailed | None, ready: tuple[str, ...]) -> Mapping[str, object]:
        """Return the event that ends the run: a call that has no TOOL_CALL_END makes it an error."""
        message, reason = ended.message, ended.error
        usage = write_usage(message)
        if failed is None and reason is None:
            return {**self._finished(_success(ready)), **usage}
        if failed is None and message.outcome is Outcome.CANCELLED:
            return {**self._finished({"type": "cancelled"}), **usage}
        said = failed.reason if reason is None and failed is not None else reason
        return {"type": "RUN_ERROR", "message": said, "code": _code_of(message, failed), **usage}

    def _finished(self, outcome: Mapping[str, object]) -> dict[str, object]:
        return {"type": "RUN_FINISHED", **self._named(), "outcome": outcome}

    def _named(self) -> dict[str, object]:
        return {"threadId": self.thread_id, "runId": self.run_id}


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
