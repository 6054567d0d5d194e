"""The two streams of assistant-ui: assistant-transport, in parts, and the object stream, one value.

Assistant-transport: chunks of parts, as `ChunkWriter` writes them, and

    update-state      a structured answer, or a document alone, while it grows
    error             what failed: the stream, or what the model wrote; not a limit, a filter, a refusal or a stop
    step-finish       what it cost
    message-finish    why it ended: `tool-calls` and `stop` only for a message that is complete
    [DONE]            last, always

Object stream: lists of operations, `set` and `append-text`, made from the same changes as the compact form.
A message becomes the value that `message_value` describes, a document `{"status": ..., "value": ...}`.
The protocol has no end: `status` says it, which is `streaming` until then, and `complete` if all is well.

Members with keys such as `__proto__` are left out of values: clients would drop the whole event.

Parts are addressed by their place: `part-start` begins the next one, all other chunks name one in their `path`.
`tool-call-args-text-finish` is sent only for a call that may be run; all other calls get a result, so that nobody runs
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, cast

from jsontide._values import MISSING, JsonValue
from jsontide.frontends.base import DONE, SSE_HEADERS, DescribeError, NativeStreamed, SseEncoder, describe_error, sse
from jsontide.frontends.changes import AppendText, Change, SetValue, read_changes
from jsontide.frontends.compact import end_of_json
from jsontide.frontends.message_value import (
    Arguments,
    StateKeys,
    is_answer_text,
    media_type_of,
    message_changes,
    plain_part,
)
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
)
from jsontide.frontends.unsafe_keys import is_unsafe_in_paths, safe_changes, safe_value
from jsontide.messages.calls import ServerCall
from jsontide.messages.message import Message
from jsontide.messages.parts import File, Other, Source
from jsontide.messages.types import ErrorKind, Outcome
from jsontide.tree import ParserState


class ChunkWriter:
    """Collects the chunks of one message's steps."""

    def __init__(self, places: Mapping[str, int]) -> None:
        self.chunks: Final[list[dict[str, object]]] = []
        self.places: Mapping[str, int] = places
        """Which part each text and call is."""

    def write(self, step: Step) -> None:
        if isinstance(step, TextStarted):
            self._start(step.id, {"type": "reasoning" if step.kind == "reasoning" else "text"})
        elif isinstance(step, CallStarted):
            self._start(step.id, {"type": "tool-call", "toolCallId": step.id, "toolName": step.name})
        elif isinstance(step, (TextGrew, ArgumentsGrew)):
            self._add("text-delta", step.id, textDelta=step.delta)
        elif isinstance(step, PartAdded):
            self._start(step.id, _whole_part(step.id, step.part))
            self._add("part-finish", step.id)
        elif isinstance(step, (TextEnded, CallReady, CallFailed, ServerCallEnded)):
            self._end(step)

    def _end(self, step: TextEnded | CallReady | CallFailed | ServerCallEnded) -> None:
        if isinstance(step, CallReady):
            self._add("tool-call-args-text-finish", step.id)
        elif isinstance(step, CallFailed):
            self._add("result", step.id, result=f"this call was not run: {step.reason}", isError=True)
        elif isinstance(step, ServerCallEnded):
            call = step.call
            result = None if call.result is MISSING else safe_value(call.result)
            self._add("result", step.id, result=result, isError=_has_failed(call))
        self._add("part-finish", step.id)

    def _start(self, part_id: str, part: dict[str, JsonValue]) -> None:
        self.places = {**self.places, part_id: len(self.places)}
        self.chunks.append({"type": "part-start", "part": part, "path": []})

    def _add(self, chunk: str, part_id: str, **fields: object) -> None:
        self.chunks.append({"type": chunk, **fields, "path": [self.places[part_id]]})


def _has_failed(call: ServerCall) -> bool:
    """Return whether a call has no result, and the provider does not say that it is completed without one."""
    return call.result is MISSING and call.status != "completed"


def _whole_part(part_id: str, part: Source | File | Other) -> dict[str, JsonValue]:
    if isinstance(part, Source) and part.url is not None:
        title: dict[str, JsonValue] = {} if part.title is None else {"title": part.title}
        return {"type": "source", "sourceType": "url", "id": part_id, "url": part.url, **title}
    content = (part.data or part.url) if isinstance(part, File) else None
    if isinstance(part, File) and content is not None:
        return {"type": "file", "data": content, "mimeType": media_type_of(part)}
    plain = plain_part(part)
    if isinstance(part, Other):
        return {"type": "data", "name": part.type, "data": safe_value(part.raw)}
    return {"type": "data", "name": str(plain.pop("type")), "data": plain}


_VALUE: Final = "value"

FinishReason: TypeAlias = Literal["stop", "length", "content-filter", "tool-calls", "error", "other", "unknown"]
_REASONS: Final[Mapping[str, FinishReason]] = {"stop": "stop", "tool_calls": "tool-calls"}


class AssistantState:
    """What was sent of an assistant-transport stream."""

    __slots__ = ("before", "failed", "hidden", "is_over", "places", "progress")

    def __init__(
        self,
        progress: Progress,
        before: NativeStreamed | None = None,
        places: Mapping[str, int] | None = None,
        hidden: frozenset[int] = frozenset(),
        failed: CallFailed | None = None,
        *,
        is_over: bool = False,
    ) -> None:
        self.progress: Final = progress
        self.before: Final = before
        self.places: Final = {} if places is None else places
        self.hidden: Final = hidden
        """The indexes of text parts that are sent as state, not as text."""
        self.failed: Final = failed
        """The first call that must not be run."""
        self.is_over: Final = is_over


class AssistantTransportEncoder(SseEncoder[AssistantState]):
    """Encodes messages as assistant-transport; the states of a parser become its state.

    `message_id` names the message, and calls that have no id of their own. `answer` is the key of the state at which
    a structured answer grows, and a document of its own; with `None` the answer is sent as text.

    >>> from jsontide import stream_message
    >>> events = [{"message": {"content": "Hi"}, "done": False}, {"message": {}, "done": True}]
    >>> encoder = AssistantTransportEncoder(message_id="m")
    >>> state, sent = encoder.begin()
    >>> for message in stream_message(events):
    ...     state, new = encoder.encode(state, message)
    ...     sent += new
    >>> print(sent.decode().split("\\n\\n")[2])
    data: {"type":"text-delta","textDelta":"Hi","path":[0]}
    """

    def __init__(
        self, *, message_id: str, answer: str | None = "answer", describe_error: DescribeError = describe_error
    ) -> None:
        super().__init__(describe_error)
        self.message_id: Final = message_id
        self.answer: Final = answer
        self._keys: Final = StateKeys(answer, {})

    def begin(self) -> tuple[AssistantState, bytes]:
        """Return the first state, and the start of the one step that a message is."""
        return AssistantState(Progress(self.message_id)), sse({"type": "step-start", "messageId": self.message_id})

    def _encode_message(self, state: AssistantState, message: Message) -> tuple[AssistantState, bytes]:
        chunks = self._update_state(state, message)
        return self._write(state, *state.progress.advance(message, self.describe_error), chunks)

    def _fail(self, state: AssistantState, reason: str) -> tuple[AssistantState, bytes]:
        return self._write(state, *state.progress.fail(reason), [])

    def _update_state(self, state: AssistantState, growing: NativeStreamed) -> list[dict[str, object]]:
        operations = write_operations(self._keys.changes(state.before, growing))
        return [{"type": "update-state", "operations": operations}] if operations else []

    def _write(
        self, state: AssistantState, progress: Progress, steps: list[Step], chunks: list[dict[str, object]]
    ) -> tuple[AssistantState, bytes]:
        message = cast("Message", progress.message)
        hides = self.answer is not None and is_answer_text(message)
        steps, hidden = progress.drop_answer_text(steps, state.hidden, hides=hides, shows=not hides)
        writer = ChunkWriter(state.places)
        for step in steps:
            writer.write(step)
        chunks += writer.chunks
        failed = state.failed or next((step for step in steps if isinstance(step, CallFailed)), None)
        if progress.is_over:
            failure = _failure_of(cast("Ended", steps[-1]), failed)
            chunks += _write_end(failure, _reason_of(message) if failure is None else "error", message)
        after = AssistantState(progress, message, writer.places, hidden, failed, is_over=progress.is_over)
        return after, _frame(chunks, is_over=progress.is_over)

    def _encode_json(self, state: AssistantState, json: ParserState) -> tuple[AssistantState, bytes]:
        chunks = self._update_state(state, json)
        end = end_of_json(json)
        if end is not None:
            failure = (str(end["end"]), str(end["reason"])) if "reason" in end else None
            chunks += _write_end(failure, "stop" if failure is None else "error", Message())
        is_over = end is not None
        return AssistantState(state.progress, json, is_over=is_over), _frame(chunks, is_over=is_over)


def _frame(chunks: list[dict[str, object]], *, is_over: bool) -> bytes:
    return b"".join([sse(chunk) for chunk in chunks]) + (DONE if is_over else b"")


def _failure_of(ended: Ended, failed: CallFailed | None) -> tuple[str, str] | None:
    """Return a word for what failed, and why; `None` if nothing did, or if the reason why it ended says enough."""
    message = ended.message
    if message.outcome is Outcome.COMPLETE:
        return None if failed is None else (failed.status, failed.reason)
    if message.outcome is Outcome.STREAMING:
        return "failed", str(ended.error)
    is_lost = any(error.kind is ErrorKind.TRANSPORT for error in message.errors)
    if message.outcome is not Outcome.CANCELLED and (is_lost or message.outcome is Outcome.INVALID):
        return "transport" if is_lost else "invalid", str(ended.error)
    return None


def _reason_of(message: Message) -> FinishReason:
    """Return why a message that did not fail ended, in the words of assistant-ui."""
    reason = message.finish_reason
    if message.outcome is Outcome.COMPLETE:
        return "unknown" if reason is None else _REASONS.get(reason, "other")
    if message.outcome is Outcome.TRUNCATED and reason == "length":
        return "length"
    return "content-filter" if message.outcome is Outcome.FILTERED else "other"


def _write_end(failure: tuple[str, str] | None, reason: FinishReason, message: Message) -> list[dict[str, object]]:
    usage = message.usage
    counts = {"inputTokens": (usage and usage.input_tokens) or 0, "outputTokens": (usage and usage.output_tokens) or 0}
    ends: list[dict[str, object]] = [
        {"type": "step-finish", "finishReason": reason, "usage": counts, "isContinued": False},
        {"type": "message-finish", "finishReason": reason, "usage": counts},
    ]
    return ends if failure is None else [{"type": "error", "error": failure[1], "code": failure[0]}, *ends]


def write_operations(changes: list[Change]) -> list[dict[str, JsonValue]]:
    """Return changes as operations of an object stream; they do not show which values are finished."""
    operations: list[dict[str, JsonValue]] = []
    for change in safe_changes(changes, is_unsafe_in_paths):
        path: list[JsonValue] = [str(segment) for segment in change.path]
        if isinstance(change, SetValue):
            operations.append({"type": "set", "path": path, "value": change.value})
        elif isinstance(change, AppendText):
            operations.append({"type": "append-text", "path": path, "value": change.text})
    return operations


class ObjectStreamState:
    """What was sent of an object stream."""

    __slots__ = ("before", "is_over")

    def __init__(self, before: NativeStreamed | None = None, *, is_over: bool = False) -> None:
        self.before: Final = before
        self.is_over: Final = is_over


class ObjectStreamEncoder(SseEncoder[ObjectStreamState]):
    """Encodes messages, or the states of a parser, as an object stream of assistant-ui.

    >>> from jsontide import create_parser_state, parse_chunk
    >>> encoder = ObjectStreamEncoder()
    >>> state, _ = encoder.begin()
    >>> growing = parse_chunk(create_parser_state(), '{"city": "Kyo')
    >>> state, sent = encoder.encode(state, growing)
    >>> print(encoder.encode(state, parse_chunk(growing, "to"))[1].decode().strip())
    data: [{"type":"append-text","path":["value","city"],"value":"to"}]
    """

    def __init__(self, *, arguments: Arguments = "values", describe_error: DescribeError = describe_error) -> None:
        super().__init__(describe_error)
        self.arguments: Final[Arguments] = arguments

    @property
    def headers(self) -> Mapping[str, str]:
        return _OBJECT_STREAM_HEADERS

    def begin(self) -> tuple[ObjectStreamState, bytes]:
        """Return the first state; nothing is sent before there is a value."""
        return ObjectStreamState(), b""

    def _encode_message(self, state: ObjectStreamState, message: Message) -> tuple[ObjectStreamState, bytes]:
        before = state.before if isinstance(state.before, Message) else None
        changes = message_changes(before, message, self.arguments, self.describe_error)
        is_over = message.outcome is not Outcome.STREAMING
        return ObjectStreamState(message, is_over=is_over), _frame_operations(changes)

    def _encode_json(self, state: ObjectStreamState, json: ParserState) -> tuple[ObjectStreamState, bytes]:
        before = state.before if isinstance(state.before, ParserState) else None
        changes, is_over = _document_changes(before, json)
        return ObjectStreamState(json, is_over=is_over), _frame_operations(changes)

    def _fail(self, state: ObjectStreamState, reason: str) -> tuple[ObjectStreamState, bytes]:
        changes: list[Change] = [] if state.before is not None else [SetValue((), {})]
        changes.append(SetValue(("errors",), [{"kind": "failed", "message": reason}]))
        changes.append(SetValue(("status",), "failed"))
        return ObjectStreamState(state.before, is_over=True), _frame_operations(changes)


_OBJECT_STREAM_HEADERS: Final[Mapping[str, str]] = MappingProxyType(
    {**SSE_HEADERS, "assistant-stream-format": "object-stream/v0"}
)


def _document_changes(before: ParserState | None, state: ParserState) -> tuple[list[Change], bool]:
    """Return the changes of a document in the object that says how it stands, and whether it has ended."""
    changes: list[Change] = [SetValue((), {"status": Outcome.STREAMING.value})] if before is None else []
    for change in read_changes(before, state):
        path = (_VALUE, *change.path)
        if isinstance(change, SetValue):
            changes.append(SetValue(path, change.value))
        elif isinstance(change, AppendText):
            changes.append(AppendText(path, change.text))
    end = end_of_json(state)
    if end is not None and "reason" in end:
        error: dict[str, JsonValue] = {"kind": "json", "message": str(end["reason"])}
        if end["path"]:
            error["path"] = cast("JsonValue", end["path"])
        changes.append(SetValue(("errors",), [error]))
    if end is not None:
        changes.append(SetValue(("status",), str(end["end"])))
    return changes, end is not None


def _frame_operations(changes: list[Change]) -> bytes:
    operations = write_operations(changes)
    return sse(operations) if operations else b""
