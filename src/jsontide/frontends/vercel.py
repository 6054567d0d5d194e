"""A growing message or run in, Vercel's UI message stream out, as `useChat` of the AI SDK 5, 6 and 7 reads it.

    start, start-step
    text-start, text-delta..., text-end                        text and refusals; reasoning in the same way
    tool-input-start, tool-input-delta..., then one of
        tool-input-available                                   a call that is complete and valid: the client may run it
        tool-input-error                                       any other call
        tool-input-available, tool-output-available or -error  a tool of the provider, with providerExecuted
    source-url, source-document, file
    data-answer                                                structured output, if asked for
    finish-step, finish | error | abort                        how it ended, with the token counts as message metadata
    [DONE]

A run is one message of several steps. Between the calls of a step and its `finish-step` stand

    tool-output-available                                      what a tool gave, or, with `preliminary`, gives so far
    tool-output-error                                          what failed, or was stopped
    tool-approval-request, tool-output-denied                  a person must decide, or said no

What a provider needs to have back, such as a signature, is `providerMetadata` of the event that ends a part.

A client that joins late gets each part once, whole, and then the rest: enough to resume.

Only events that ai 5, 6 and 7 all accept are sent, but for those of approvals, which ai 5 does not know: one wrong word
or `null` where something is optional makes a client drop the rest of the stream. Only `CallFinished` becomes
`tool-input-available` without `providerExecuted`, the event that makes a client run a tool. A client may ask again by
itself when all calls of the last step have results: a run that ends there ends with an empty step, so that nobody does.

There are no deltas for data parts: each one replaces the last, whole. So an answer is sent when it has grown by half
since the last time, and at its end: all of it together costs about four times its text, whatever the number of chunks.
While an answer may turn out to be good, its text is held; if it is not, the text is sent at the end, so that nothing
that the model wrote is lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, cast, get_args
from uuid import uuid4

from jsontide._check import check_choice
from jsontide._values import MISSING, JsonValue
from jsontide.frontends.base import (
    DONE,
    SSE_HEADERS,
    DescribeError,
    check_continued,
    describe_end_of_run,
    describe_error,
    describe_failure,
    sse,
)
from jsontide.frontends.message_value import media_type_of, part_metadata, plain_usage
from jsontide.frontends.run_value import run_value, size_of
from jsontide.frontends.runs import NOTHING_SENT, RunEncoder, SentSteps, name_step
from jsontide.frontends.steps import Hidden, drop_answer_text
from jsontide.frontends.unsafe_keys import find_unsafe_key, safe_value
from jsontide.messages.calls import ServerCall
from jsontide.messages.document import Document
from jsontide.messages.message import FinalAnswer, Message
from jsontide.messages.options import ToolResult
from jsontide.messages.parts import File, Source
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
)
from jsontide.messages.types import Outcome, Usage
from jsontide.runs.json_form import plain_value
from jsontide.runs.run import Run
from jsontide.runs.types import PendingResult, Result, RunOutcome
from jsontide.tree import ParserState

Event: TypeAlias = dict[str, JsonValue]
AnswerForm: TypeAlias = Literal["text", "data"]
HostileKeys: TypeAlias = Literal["refuse", "drop"]
"""Whether a value with an unsafe key is not sent, or is sent without the key."""

_HEADERS: Final[Mapping[str, str]] = MappingProxyType({**SSE_HEADERS, "x-vercel-ai-ui-message-stream": "v1"})
_REASONS: Final = {
    "stop": "stop",
    "stop_sequence": "stop",
    "tool_calls": "tool-calls",
    "length": "length",
    "content_filter": "content-filter",
    "refusal": "content-filter",
}
"""Finish reasons in the words that all clients know."""
_WITHHELD: Final = (Outcome.REFUSED, Outcome.FILTERED)
_BY_ITSELF: Final = (Outcome.COMPLETE, Outcome.EMPTY)
_USAGE: Final = {"cached_tokens": "cachedInputTokens", "cache_write_tokens": "cacheWriteTokens"}
"""Where the AI SDK has other words than ours in its own case."""
_NO_RESULT: Final = "the provider gave no result"
_BETWEEN_MESSAGES: Final = (RunOutcome.WAITING, RunOutcome.LIMIT, RunOutcome.CANCELLED)
"""Ends of a run that its last message does not tell."""
_ENDS_OF_PARTS: Final = (TextFinished, CallFinished, CallFailed, ServerCallFinished, PartAdded)


@dataclass(slots=True)
class AnswerGrew:
    """There is more of the answer."""

    value: object
    """All of it that may be shown."""
    is_whole: bool
    """Whether it is complete and valid."""


@dataclass(slots=True)
class AnswerProgress:
    """How much of an answer was sent."""

    length: int = 0
    """How much JSON had been read when it was last sent, 0 before."""
    hidden: Hidden = frozenset()
    """The indexes of text parts that are sent as data, not as text."""

    def advance(
        self, progress: Progress, steps: list[MessageEvent]
    ) -> tuple[AnswerProgress, list[MessageEvent | AnswerGrew]]:
        """Return the progress after a message, and its steps with those of the answer instead of its text."""
        message = cast("Message", progress.message)
        answer, is_text = message.answer_state, message.text_is_answer
        length, grown = self._grow(answer, is_over=progress.is_over)
        end = len(steps) - progress.is_over
        at = next((at for at in range(end) if is_text and _is_text(steps[at])), end)  # where the text would stand
        shows = not isinstance(answer, FinalAnswer)
        found: list[MessageEvent | AnswerGrew] = [*steps[:at], *grown, *steps[at:]]
        kept, hidden = drop_answer_text(progress, found, self.hidden, hides=is_text, shows=shows)
        return AnswerProgress(length, hidden), kept

    def advance_json(self, state: ParserState) -> tuple[AnswerProgress, list[MessageEvent | AnswerGrew]]:
        """Return the progress after a state of a parser, and its new steps."""
        error = state.error
        is_over = error is not None or state.is_complete
        is_due = state.value is not MISSING and (is_over or self._is_due(state.index))
        steps: list[MessageEvent | AnswerGrew] = [AnswerGrew(state.value, is_whole=state.is_complete)] if is_due else []
        if error is not None:
            steps.append(Finished(Outcome.INVALID, error.message, Message(outcome=Outcome.INVALID)))
        elif is_over:
            steps.append(Finished(Outcome.COMPLETE, None, Message(outcome=Outcome.COMPLETE, finish_reason="stop")))
        return AnswerProgress(state.index if is_due else self.length), steps

    def _is_due(self, length: int) -> bool:
        return length > self.length and length >= self.length + self.length // 2

    def _grow(
        self, answer: Document | FinalAnswer | None, *, is_over: bool
    ) -> tuple[int, list[MessageEvent | AnswerGrew]]:
        if isinstance(answer, FinalAnswer):
            return self.length, [AnswerGrew(answer.value, is_whole=True)]
        if answer is None or not (is_over or self._is_due(answer.state.index)) or answer.value is MISSING:
            return self.length, []
        return answer.state.index, [AnswerGrew(answer.value, is_whole=False)]


def _is_text(step: MessageEvent) -> bool:
    return isinstance(step, (TextStarted, GrowingDelta, TextFinished)) and step.kind == "text"


@dataclass(slots=True)
class VercelState:
    """How much of a stream was sent."""

    progress: Progress
    answer: AnswerProgress
    is_over: bool = False
    steps: SentSteps = NOTHING_SENT
    failed: frozenset[str] = frozenset()
    """The ids of calls that the client was told of as failed; that is not taken back."""
    shown: Mapping[str, int] = field(default_factory=dict)
    """How much of the run of a tool was sent when it was last sent, by the id of the call."""


class VercelEncoder(RunEncoder[VercelState]):
    """Encodes messages, runs, or the states of a parser, as a UI message stream of the AI SDK.

    `answer` says how structured output is sent: as text, or as a data part `data-answer`, which is sent
    again whenever it has grown by half, and whole at its end. The state of a parser is always sent as a data part.

    `hostile_keys` says what happens to `__proto__`, and `prototype` in `constructor`, inside of arguments, results and
    answers, because they would end the client's whole stream: with `refuse`, the call is sent as failed, and an
    answer ends the stream with an error; with `drop`, they are left out.

    `dynamic_tools` declares all tools as dynamic, for a client that does not know their names.

    `continues` is a saved run that the client has already, such as one that waited for a person: only what follows is
    sent, for the message that `message_id` names, which must be the same as before.

    `approvals=False` is for ai 5, which knows none: a call that waits is sent as one without a result.

    >>> from jsontide import stream_message
    >>> encoder = VercelEncoder(message_id="m1")
    >>> state, sent = encoder.begin()
    >>> for message in stream_message([{"message": {"content": "Hi"}, "done": True}]):
    ...     state, new = encoder.encode(state, message)
    ...     sent += new
    >>> print(sent.decode().replace("\\n\\n", "\\n"))
    data: {"type":"start","messageId":"m1"}
    data: {"type":"start-step"}
    data: {"type":"text-start","id":"m1-0"}
    data: {"type":"text-delta","id":"m1-0","delta":"Hi"}
    data: {"type":"text-end","id":"m1-0"}
    data: {"type":"finish-step"}
    data: {"type":"finish","finishReason":"stop"}
    data: [DONE]
    <BLANKLINE>
    """

    headers = _HEADERS

    def __init__(
        self,
        *,
        message_id: str | None = None,
        answer: AnswerForm = "text",
        hostile_keys: HostileKeys = "refuse",
        dynamic_tools: bool = False,
        continues: Run[Any] | None = None,
        approvals: bool = True,
        describe_error: DescribeError = describe_error,
    ) -> None:
        super().__init__(describe_error)
        check_choice("answer", answer, get_args(AnswerForm))
        check_choice("hostile_keys", hostile_keys, get_args(HostileKeys))
        self.message_id: Final = f"msg-{uuid4().hex}" if message_id is None else message_id
        """The id of the message on the client; one that joins late gets the same from the same encoder."""
        self.answer: Final = answer
        self.hostile_keys: Final = hostile_keys
        self.dynamic_tools: Final = dynamic_tools
        self.continues: Final = check_continued(continues)
        self.approvals: Final = approvals

    def begin(self) -> tuple[VercelState, bytes]:
        """Return the first state, and the events that make the client show a message."""
        start = {"type": "start", "messageId": self.message_id}
        state = VercelState(Progress(self.message_id), AnswerProgress())
        if self.continues is not None:
            return self._skip(state, self.continues), sse(start)
        return state, sse(start, {"type": "start-step"})

    def _encode_message(self, state: VercelState, message: Message) -> tuple[VercelState, bytes]:
        return self._send(state, *state.progress.advance(message, self.describe_error))

    def _fail(self, state: VercelState, reason: str) -> tuple[VercelState, bytes]:
        if not state.steps.number:
            return self._send(state, *state.progress.fail(reason))
        state, events = self._give_up(state, reason)
        return replace(state, is_over=True), sse(*events, *_close(state), _error(reason)) + DONE

    def _send(self, state: VercelState, progress: Progress, steps: list[MessageEvent]) -> tuple[VercelState, bytes]:
        state, events, ended = self._advance(state, progress, steps)
        if ended is not None:
            events += write_end(ended.message, ended.error)
        return state, self._frame(state, events)

    def _advance(
        self, state: VercelState, progress: Progress, steps: list[MessageEvent]
    ) -> tuple[VercelState, list[Event], Finished[Outcome] | None]:
        """Return the state after steps of a message, their events, and its end, unless it was told."""
        answer: AnswerProgress = state.answer
        found: Sequence[MessageEvent | AnswerGrew] = steps
        if self.answer == "data" and progress is not state.progress:
            answer, found = answer.advance(progress, steps)
        failed = state.failed.union([step.id for step in steps if isinstance(step, CallFailed)])
        state = replace(state, progress=progress, answer=answer, is_over=progress.is_over, failed=failed)
        events, ended = self._write(found, progress.message)
        return state, events, ended

    def _encode_json(self, state: VercelState, json: ParserState) -> tuple[VercelState, bytes]:
        answer, steps = state.answer.advance_json(json)
        events, ended = self._write(steps, None)
        state = VercelState(state.progress, answer, is_over=bool(steps) and isinstance(steps[-1], Finished))
        if ended is not None:
            events += write_end(ended.message, ended.error)
        return state, self._frame(state, events)

    def _frame(self, state: VercelState, events: list[Event]) -> bytes:
        return sse(*events) + (DONE if state.is_over else b"")

    def _write(
        self, steps: Sequence[MessageEvent | AnswerGrew], message: Message | None
    ) -> tuple[list[Event], Finished[Outcome] | None]:
        """Return the events of steps, and the end among them, which has none; that of a refused answer has them."""
        events: list[Event] = []
        refusal = None
        for step in steps:
            if isinstance(step, AnswerGrew):
                data, reason = self._clean(step.value)
                refusal = reason if step.is_whole else None
                events += [] if reason is not None else [{"type": "data-answer", "id": "answer", "data": data}]
            elif isinstance(step, Finished) and refusal is not None:
                events += write_failure(step.message, refusal)
            elif isinstance(step, Finished):
                return events, step
            else:
                events += self._write_step(step, message)
        return events, None

    def _start_step(self, state: VercelState, number: int) -> tuple[VercelState, list[Event]]:
        name = name_step(self.message_id, number)
        state = replace(state, progress=Progress(name), answer=AnswerProgress(), failed=frozenset())
        return state, [] if number == 1 and self.continues is None else [{"type": "start-step"}]

    def _write_message(self, state: VercelState, message: Message) -> tuple[VercelState, list[Event]]:
        state, events, ended = self._advance(state, *state.progress.advance(message, self.describe_error))
        is_told = state.is_over and ended is None and bool(events)
        return replace(state, is_over=is_told), events

    def _break_off(self, state: VercelState, reason: str) -> tuple[VercelState, list[Event]]:
        state, events, _ = self._advance(state, *state.progress.fail(reason))
        return replace(state, is_over=False), events

    def _write_result(
        self, state: VercelState, call_id: str, before: Result | None, now: Result
    ) -> tuple[VercelState, list[Event]]:
        if not isinstance(now, PendingResult):
            return state, [] if call_id in state.failed else [self._output(call_id, now)]
        events: list[Event] = []
        if now.status == "waiting" and self.approvals and getattr(before, "status", None) != "waiting":
            events = [{"type": "tool-approval-request", "approvalId": call_id, "toolCallId": call_id}]
        if now.progress is MISSING:
            return state, events
        size, shown = size_of(now.progress), state.shown.get(call_id, 0)
        if size and size < shown + shown // 2:
            return state, events
        value = plain_value(now.progress)
        if isinstance(now.progress, Run):
            value = run_value(now.progress, describe_error=self.describe_error)
        output = self._clean(value)[0]
        events.append(self._about("tool-output-available", call_id, False, output=output, preliminary=True))
        return replace(state, shown={**state.shown, call_id: size}), events

    def _output(self, call_id: str, result: ToolResult) -> Event:
        if result.ran == "refused" and self.approvals:
            return self._about("tool-output-denied", call_id, False)
        output, reason = self._clean(plain_value(result.output))
        if result.error is not None:
            reason = describe_failure(result, self.describe_error)
        if reason is not None:
            return self._about("tool-output-error", call_id, False, errorText=reason)
        return self._about("tool-output-available", call_id, False, output=output)

    def _end_step(self, state: VercelState, run: Run[Any]) -> tuple[VercelState, list[Event]]:
        return state, [*_write_cost(run.usage), {"type": "finish-step"}]

    def _end_run(self, state: VercelState, run: Run[Any]) -> list[Event]:
        message = run.message or Message(outcome=Outcome.EMPTY)
        events: list[Event] = [] if state.steps.number or self.continues is not None else [{"type": "finish-step"}]
        if run.outcome is RunOutcome.FAILED or (run.outcome not in _BETWEEN_MESSAGES and _is_failure(message)):
            return [*events, _error(describe_end_of_run(run, self.describe_error) or "the run failed")]
        if run.results and run.outcome is not RunOutcome.WAITING:
            events += [{"type": "start-step"}, {"type": "finish-step"}]
        if run.outcome is RunOutcome.CANCELLED:
            return [*events, {"type": "abort"}]
        reason = "other" if run.outcome is RunOutcome.LIMIT else _finish_reason(message)
        return [*events, {"type": "finish", "finishReason": "tool-calls" if run.waiting else reason}]

    def _write_step(self, step: MessageEvent, message: Message | None) -> list[Event]:
        """Return the events of a step of a message; a part that the protocol does not have gives none."""
        events = self._events_of(step)
        if message is not None and events and isinstance(step, _ENDS_OF_PARTS):
            metadata = part_metadata(message.parts[step.part], message.provider)
            if metadata is not None:
                events[0]["providerMetadata"] = self._clean(metadata)[0]
        return events

    def _events_of(self, step: MessageEvent) -> list[Event]:
        match step:
            case TextStarted() | GrowingDelta() | TextFinished():
                return [_write_text(step)]
            case CallStarted():
                return [self._about("tool-input-start", step.id, step.on_server, toolName=step.name)]
            case ArgumentsDelta():
                return [{"type": "tool-input-delta", "toolCallId": step.id, "inputTextDelta": step.text}]
            case CallFinished():
                return [self._ready(step.id, step.name, step.call.arguments_value, on_server=False)]
            case CallFailed():
                return [self._failed(step.id, step.name, step.partial, step.reason, on_server=False)]
            case ServerCallFinished():
                return self._ended_on_server(step)
            case PartAdded():
                return _write_part(step)
        return []

    def _clean(self, value: object) -> tuple[JsonValue, str | None]:
        """Return a value without unsafe keys, and the reason why it must not be sent, if there is one."""
        plain = cast("JsonValue", value)
        key = find_unsafe_key(plain)
        if key is None:
            return plain, None
        refusal = None if self.hostile_keys == "drop" else f"the key {key!r} is not sent, because clients refuse it"
        return safe_value(plain), refusal

    def _ready(self, call_id: str, name: str, arguments: object, *, on_server: bool) -> Event:
        cleaned, reason = self._clean(arguments)
        if reason is not None:
            return self._failed(call_id, name, cleaned, reason, on_server=on_server)
        return self._about("tool-input-available", call_id, on_server, toolName=name, input=cleaned)

    def _failed(self, call_id: str, name: str, partial: object, reason: str, *, on_server: bool) -> Event:
        shown = {} if partial is MISSING else self._clean(partial)[0]
        return self._about("tool-input-error", call_id, on_server, toolName=name, input=shown, errorText=reason)

    def _ended_on_server(self, step: ServerCallFinished) -> list[Event]:
        """Return the arguments of a tool that the provider runs, and its result if it is known."""
        call, partial = step.call, step.call.partial
        if call.result is MISSING and call.arguments and not call.is_complete_at(()):
            return [self._failed(step.id, step.name, partial, "the call broke off", on_server=True)]
        arguments = self._ready(step.id, step.name, {} if partial is MISSING else partial, on_server=True)
        if call.needs_action or arguments["type"] == "tool-input-error":
            return [arguments]
        return [arguments, self._output_on_server(step.id, call)]

    def _output_on_server(self, call_id: str, call: ServerCall) -> Event:
        output, reason = self._clean({"status": call.status} if call.result is MISSING else call.result)
        if call.result is MISSING and call.status != "completed":
            reason = _NO_RESULT if call.status is None else f"{_NO_RESULT}, and says: {call.status}"
        if reason is not None:
            return self._about("tool-output-error", call_id, True, errorText=reason)
        return self._about("tool-output-available", call_id, True, output=output)

    def _about(self, name: str, call_id: str, on_server: bool, **more: JsonValue) -> Event:
        """Return an event about a call, with the fields that all of its events share."""
        event: Event = {"type": name, "toolCallId": call_id, **more}
        if self.dynamic_tools:
            event["dynamic"] = True
        if on_server:
            event["providerExecuted"] = True
        return event


def write_end(message: Message, error: str | None) -> list[Event]:
    """Return how a message ended: it finished, was stopped, or failed."""
    if _is_failure(message):
        return write_failure(message, error or "the stream failed")
    cost = _write_cost(message.usage)
    if message.outcome is Outcome.CANCELLED:
        return [*cost, {"type": "abort"}]
    return [*cost, {"type": "finish-step"}, {"type": "finish", "finishReason": _finish_reason(message)}]


def write_failure(message: Message, reason: str) -> list[Event]:
    """Return the end of a message that failed; a client reads nothing after it."""
    return [*_write_cost(message.usage), _error(reason)]


def _error(reason: str) -> Event:
    return {"type": "error", "errorText": reason}


def _close(state: VercelState) -> list[Event]:
    return [{"type": "finish-step"}] if state.steps.is_open else []


def _write_cost(usage: Usage | None) -> list[Event]:
    if usage is None:
        return []
    counts = {_USAGE.get(name, _camel(name)): count for name, count in plain_usage(usage).items()}
    return [{"type": "message-metadata", "messageMetadata": {"usage": counts}}]


def _is_failure(message: Message) -> bool:
    """Return whether the stream failed, or its result is not valid.

    A message that is still streaming was given up.
    """
    if message.outcome in {Outcome.STREAMING, Outcome.INVALID}:
        return True
    return any(error.source == "stream" for error in message.errors)


def _finish_reason(message: Message) -> str:
    if message.outcome in _WITHHELD:
        return "content-filter"
    reason = _REASONS.get(message.finish_reason or "", "other")
    return reason if message.outcome in _BY_ITSELF or reason == "length" else "other"


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _write_text(step: TextStarted | GrowingDelta | TextFinished) -> Event:
    kind = "reasoning" if step.kind == "reasoning" else "text"  # for a refusal there is no word
    if isinstance(step, GrowingDelta):
        return {"type": f"{kind}-delta", "id": step.id, "delta": step.text}
    return {"type": f"{kind}-start" if isinstance(step, TextStarted) else f"{kind}-end", "id": step.id}


def _write_part(step: PartAdded) -> list[Event]:
    part = step.added
    if isinstance(part, Source):
        return _write_source(step.id, part)
    return _write_file(part) if isinstance(part, File) else []


def _write_source(source_id: str, source: Source) -> list[Event]:
    title: Event = {} if source.title is None else {"title": source.title}
    if source.url is not None:
        return [{"type": "source-url", "sourceId": source_id, "url": source.url, **title}]
    return [{"type": "source-document", "sourceId": source_id, "mediaType": "text/plain", **title}] if title else []


def _write_file(file: File) -> list[Event]:
    """Return a file that the client can show: one that it gets by an address, or whole."""
    kind = media_type_of(file)
    url = file.url if file.url is not None or file.data is None else f"data:{kind};base64,{file.data}"
    return [] if url is None else [{"type": "file", "url": url, "mediaType": kind}]
