"""A growing message in, Vercel's UI message stream out, as `useChat` of the AI SDK 5, 6 and 7 reads it.

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

A client that joins late gets each part once, whole, and then the rest: enough to resume.

Only events that ai 5, 6 and 7 all accept by default are sent: one wrong word, or a `null` where something is optional,
makes a client drop the rest of the stream. Only `CallFinished` becomes `tool-input-available` without
`providerExecuted`, the event that makes a client run a tool.

There are no deltas for data parts: each one replaces the last, whole. So an answer is sent when it has grown by half
since the last time, and at its end: all of it together costs about four times its text, whatever the number of chunks.
While an answer may turn out to be good, its text is held; if it is not, the text is sent at the end, so that nothing
that the model wrote is lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, cast, get_args
from uuid import uuid4

from jsontide._check import check_choice
from jsontide._values import MISSING, JsonValue
from jsontide.frontends.base import DONE, SSE_HEADERS, BaseEncoder, DescribeError, describe_error, sse
from jsontide.frontends.message_value import media_type_of, plain_usage
from jsontide.frontends.steps import Hidden, drop_answer_text
from jsontide.frontends.unsafe_keys import find_unsafe_key, safe_value
from jsontide.messages.calls import ServerCall
from jsontide.messages.document import Document
from jsontide.messages.message import FinalAnswer, Message
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
    UsageChanged,
)
from jsontide.messages.types import Outcome
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


class VercelEncoder(BaseEncoder[VercelState]):
    """Encodes messages, or the states of a parser, as a UI message stream of the AI SDK.

    `answer` says how structured output is sent: as text, or as a data part `data-answer`, which is sent
    again whenever it has grown by half, and whole at its end. The state of a parser is always sent as a data part.

    `hostile_keys` says what happens to `__proto__`, and `prototype` in `constructor`, inside of arguments, results and
    answers, because they would end the client's whole stream: with `refuse`, the call is sent as failed, and an
    answer ends the stream with an error; with `drop`, they are left out.

    `dynamic_tools` declares all tools as dynamic, for a client that does not know their names.

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

    def begin(self) -> tuple[VercelState, bytes]:
        """Return the first state, and the events that make the client show a message."""
        start = sse({"type": "start", "messageId": self.message_id}, {"type": "start-step"})
        return VercelState(Progress(self.message_id), AnswerProgress()), start

    def _encode_message(self, state: VercelState, message: Message) -> tuple[VercelState, bytes]:
        return self._send(state, *state.progress.advance(message, self.describe_error))

    def _fail(self, state: VercelState, reason: str) -> tuple[VercelState, bytes]:
        return self._send(state, *state.progress.fail(reason))

    def _send(self, state: VercelState, progress: Progress, steps: list[MessageEvent]) -> tuple[VercelState, bytes]:
        answer: AnswerProgress = state.answer
        found: Sequence[MessageEvent | AnswerGrew] = steps
        if self.answer == "data" and progress is not state.progress:
            answer, found = answer.advance(progress, steps)
        return VercelState(progress, answer, progress.is_over), self._frame(found)

    def _encode_json(self, state: VercelState, json: ParserState) -> tuple[VercelState, bytes]:
        answer, steps = state.answer.advance_json(json)
        is_over = bool(steps) and isinstance(steps[-1], Finished)
        return VercelState(state.progress, answer, is_over), self._frame(steps)

    def _frame(self, steps: Sequence[MessageEvent | AnswerGrew]) -> bytes:
        sent = sse(*self._write(steps))
        return sent + DONE if steps and isinstance(steps[-1], Finished) else sent

    def _write(self, steps: Sequence[MessageEvent | AnswerGrew]) -> list[Event]:
        events: list[Event] = []
        refusal = None
        for step in steps:
            if isinstance(step, AnswerGrew):
                data, reason = self._clean(step.value)
                refusal = reason if step.is_whole else None
                events += [] if reason is not None else [{"type": "data-answer", "id": "answer", "data": data}]
            elif isinstance(step, Finished) and refusal is not None:
                events += write_failure(step.message, refusal)
            else:
                events += self._write_step(step)
        return events

    def _write_step(self, step: MessageEvent) -> list[Event]:
        """Return the events of a step; a part that the protocol does not have gives none."""
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
            case UsageChanged():
                return []
            case Finished():
                return write_end(step.message, step.error)

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
        return [arguments, self._output(step.id, call)]

    def _output(self, call_id: str, call: ServerCall) -> Event:
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
    if message.outcome is Outcome.CANCELLED:
        return [*_write_cost(message), {"type": "abort"}]
    return [*_write_cost(message), {"type": "finish-step"}, {"type": "finish", "finishReason": _finish_reason(message)}]


def write_failure(message: Message, reason: str) -> list[Event]:
    """Return the end of a message that failed; a client reads nothing after it."""
    return [*_write_cost(message), {"type": "error", "errorText": reason}]


def _write_cost(message: Message) -> list[Event]:
    if message.usage is None:
        return []
    counts = {_USAGE.get(name, _camel(name)): count for name, count in plain_usage(message.usage).items()}
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
