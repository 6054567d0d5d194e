"""The two streams of assistant-ui: assistant-transport, in parts, and the object stream, one value.

Assistant-transport: chunks of parts, as `ChunkWriter` writes them, and

    update-state      a structured answer, or a document alone, while it grows
    error             a failure of the stream or of the model's output; not a limit, a filter, a refusal or a stop
    step-finish       the token counts
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
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, cast

from jsontide._values import MISSING, JsonValue
from jsontide.frontends.base import (
    DONE,
    SSE_HEADERS,
    BaseEncoder,
    DescribeError,
    NativeStreamed,
    describe_error,
    end_of_json,
    sse,
)
from jsontide.frontends.changes import AppendText, Change, SetValue, move_changes, read_changes
from jsontide.frontends.message_value import (
    Arguments,
    StateKeys,
    is_answer_text,
    media_type_of,
    message_changes,
    plain_part,
)
from jsontide.frontends.run_value import run_changes
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
    first_failed,
    is_lost,
)
from jsontide.frontends.unsafe_keys import is_unsafe_in_paths, safe_changes, safe_value
from jsontide.messages.message import Message
from jsontide.messages.parts import File, Other, Source
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
from jsontide.messages.types import Outcome
from jsontide.runs.run import Run
from jsontide.tree import ParserState

Chunk: TypeAlias = dict[str, object]
FinishReason: TypeAlias = Literal["stop", "length", "content-filter", "tool-calls", "error", "other", "unknown"]

_REASONS: Final[Mapping[str, FinishReason]] = {"stop": "stop", "tool_calls": "tool-calls"}
_DOCUMENT: Final = "value"
_OBJECT_STREAM_HEADERS: Final[Mapping[str, str]] = MappingProxyType(
    {**SSE_HEADERS, "assistant-stream-format": "object-stream/v0"}
)


class ChunkWriter:
    """Collects the chunks of one message's steps."""

    def __init__(self, places: Mapping[str, int]) -> None:
        self.chunks: Final[list[Chunk]] = []
        self.places: Mapping[str, int] = places
        """The place of each text and call among the parts of the client, by id."""

    def write(self, step: MessageEvent) -> None:
        match step:
            case TextStarted():
                self._start(step.id, {"type": "reasoning" if step.kind == "reasoning" else "text"})
            case CallStarted():
                self._start(step.id, {"type": "tool-call", "toolCallId": step.id, "toolName": step.name})
            case GrowingDelta() | ArgumentsDelta():
                self._add("text-delta", step.id, textDelta=step.text)
            case PartAdded():
                self._start(step.id, _whole_part(step.id, step.added))
            case CallFinished():
                self._add("tool-call-args-text-finish", step.id)
            case CallFailed():
                self._add("result", step.id, result=f"this call was not run: {step.reason}", isError=True)
            case ServerCallFinished():
                call = step.call
                has_failed = call.result is MISSING and call.status != "completed"
                result = None if call.result is MISSING else safe_value(call.result)
                self._add("result", step.id, result=result, isError=has_failed)
        if isinstance(step, (TextFinished, PartAdded, CallFinished, CallFailed, ServerCallFinished)):
            self._add("part-finish", step.id)

    def _start(self, part_id: str, part: dict[str, JsonValue]) -> None:
        self.places = {**self.places, part_id: len(self.places)}
        self.chunks.append({"type": "part-start", "part": part, "path": []})

    def _add(self, chunk: str, part_id: str, **fields: object) -> None:
        self.chunks.append({"type": chunk, **fields, "path": [self.places[part_id]]})


def _whole_part(part_id: str, part: Source | File | Other) -> dict[str, JsonValue]:
    if isinstance(part, Source) and part.url is not None:
        title: dict[str, JsonValue] = {} if part.title is None else {"title": part.title}
        return {"type": "source", "sourceType": "url", "id": part_id, "url": part.url, **title}
    content = (part.data or part.url) if isinstance(part, File) else None
    if isinstance(part, File) and content is not None:
        return {"type": "file", "data": content, "mimeType": media_type_of(part)}
    if isinstance(part, Other):
        return {"type": "data", "name": part.type, "data": safe_value(part.raw)}
    plain = plain_part(part)
    return {"type": "data", "name": str(plain.pop("type")), "data": plain}


@dataclass(slots=True)
class AssistantState:
    """How much of an assistant-transport stream was sent."""

    progress: Progress
    before: NativeStreamed | None = None
    places: Mapping[str, int] = field(default_factory=dict)
    hidden: frozenset[int] = frozenset()
    """The indexes of text parts that are sent as state, not as text."""
    failed: CallFailed | None = None
    """The first call that must not be run."""
    is_over: bool = False


class AssistantTransportEncoder(BaseEncoder[AssistantState]):
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

    def _update_state(self, state: AssistantState, growing: NativeStreamed) -> list[Chunk]:
        operations = write_operations(self._keys.changes(state.before, growing))
        return [{"type": "update-state", "operations": operations}] if operations else []

    def _write(
        self, state: AssistantState, progress: Progress, steps: list[MessageEvent], chunks: list[Chunk]
    ) -> tuple[AssistantState, bytes]:
        message = cast("Message", progress.message)
        hides = self.answer is not None and is_answer_text(message)
        steps, hidden = drop_answer_text(progress, steps, state.hidden, hides=hides, shows=not hides)
        writer = ChunkWriter(state.places)
        for step in steps:
            writer.write(step)
        chunks += writer.chunks
        failed = state.failed or first_failed(steps)
        if progress.is_over:
            failure = _failure_of(cast("Finished[Outcome]", steps[-1]), failed)
            chunks += _write_end(failure, _reason_of(message) if failure is None else "error", message)
        after = AssistantState(progress, message, writer.places, hidden, failed, progress.is_over)
        return after, sse(*chunks) + (DONE if progress.is_over else b"")

    def _encode_json(self, state: AssistantState, json: ParserState) -> tuple[AssistantState, bytes]:
        chunks = self._update_state(state, json)
        end = end_of_json(json)
        if end is not None:
            failure = (str(end["end"]), str(end["reason"])) if "reason" in end else None
            chunks += _write_end(failure, "stop" if failure is None else "error", Message())
        is_over = end is not None
        return AssistantState(state.progress, json, is_over=is_over), sse(*chunks) + (DONE if is_over else b"")


def _failure_of(ended: Finished[Outcome], failed: CallFailed | None) -> tuple[str, str] | None:
    """Return a word for the failure, and its reason; `None` without one, or if the finish reason says enough."""
    message = ended.message
    if message.outcome is Outcome.COMPLETE:
        return None if failed is None else (failed.status, failed.reason)
    if message.outcome is Outcome.STREAMING:
        return "failed", str(ended.error)
    if message.outcome is not Outcome.CANCELLED and is_lost(message):
        return "transport", str(ended.error)
    return ("invalid", str(ended.error)) if message.outcome is Outcome.INVALID else None


def _reason_of(message: Message) -> FinishReason:
    """Return why a message that did not fail ended, in the words of assistant-ui."""
    reason = message.finish_reason
    if message.outcome is Outcome.COMPLETE:
        return "unknown" if reason is None else _REASONS.get(reason, "other")
    if message.outcome is Outcome.TRUNCATED and reason == "length":
        return "length"
    return "content-filter" if message.outcome is Outcome.FILTERED else "other"


def _write_end(failure: tuple[str, str] | None, reason: FinishReason, message: Message) -> list[Chunk]:
    usage = message.usage
    counts = {"inputTokens": (usage and usage.input_tokens) or 0, "outputTokens": (usage and usage.output_tokens) or 0}
    ends: list[Chunk] = [
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


@dataclass(slots=True)
class ObjectStreamState:
    """How much of an object stream was sent."""

    before: NativeStreamed | Run[Any] | None = None
    is_over: bool = False


class ObjectStreamEncoder(BaseEncoder[ObjectStreamState]):
    """Encodes messages, or the states of a parser, as an object stream of assistant-ui.

    >>> from jsontide import create_parser_state, parse_chunk
    >>> encoder = ObjectStreamEncoder()
    >>> state, _ = encoder.begin()
    >>> growing = parse_chunk(create_parser_state(), '{"city": "Kyo')
    >>> state, sent = encoder.encode(state, growing)
    >>> print(encoder.encode(state, parse_chunk(growing, "to"))[1].decode().strip())
    data: [{"type":"append-text","path":["value","city"],"value":"to"}]
    """

    headers = _OBJECT_STREAM_HEADERS

    def __init__(self, *, arguments: Arguments = "values", describe_error: DescribeError = describe_error) -> None:
        super().__init__(describe_error)
        self.arguments: Final[Arguments] = arguments

    def begin(self) -> tuple[ObjectStreamState, bytes]:
        """Return the first state; nothing is sent before there is a value."""
        return ObjectStreamState(), b""

    def _encode_message(self, state: ObjectStreamState, message: Message) -> tuple[ObjectStreamState, bytes]:
        before = state.before if isinstance(state.before, Message) else None
        changes = message_changes(before, message, self.arguments, self.describe_error)
        is_over = message.outcome is not Outcome.STREAMING
        return ObjectStreamState(message, is_over=is_over), _frame_operations(changes)

    def _encode_run(self, state: ObjectStreamState, run: Run[Any]) -> tuple[ObjectStreamState, bytes]:
        before = state.before if isinstance(state.before, Run) else None
        changes = run_changes(before, run, self.arguments, self.describe_error)
        return ObjectStreamState(run, is_over=run.is_over), _frame_operations(changes)

    def _encode_json(self, state: ObjectStreamState, json: ParserState) -> tuple[ObjectStreamState, bytes]:
        before = state.before if isinstance(state.before, ParserState) else None
        changes, is_over = _document_changes(before, json)
        return ObjectStreamState(json, is_over=is_over), _frame_operations(changes)

    def _fail(self, state: ObjectStreamState, reason: str) -> tuple[ObjectStreamState, bytes]:
        changes: list[Change] = [] if state.before is not None else [SetValue((), {})]
        changes.append(SetValue(("errors",), [{"kind": "failed", "message": reason}]))
        changes.append(SetValue(("status",), "failed"))
        return ObjectStreamState(state.before, is_over=True), _frame_operations(changes)


def _document_changes(before: ParserState | None, state: ParserState) -> tuple[list[Change], bool]:
    """Return the changes of a document in the object that says how it stands, and whether it has ended."""
    changes: list[Change] = [SetValue((), {"status": Outcome.STREAMING.value})] if before is None else []
    changes += move_changes(read_changes(before, state), (_DOCUMENT,))
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
