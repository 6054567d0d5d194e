"""The two streams of assistant-ui: assistant-transport, in parts, and the object stream, one value.

Assistant-transport: chunks of parts, as `ChunkWriter` writes them, and

    update-state      a structured answer, or a document alone, while it grows
    error             a failure of the stream or of the model's output; not a limit, a filter, a refusal or a stop
    step-finish       the token counts
    message-finish    why it ended: `tool-calls` and `stop` only for a message that is complete
    [DONE]            last, always

A run is one message of several steps, each with its own step-start and step-finish. A `result` is what a call gave; one
more replaces it, so what a tool gives so far is a result too, and the part is finished after the last one. The run of a
tool is parts with its call as `parentId`.
There are no approvals: a call that waits has no result, and the message ends with `tool-calls`.

Object stream: lists of operations, `set` and `append-text`, made from the same changes as the compact form.
A message becomes the value that `message_value` describes, a run that of `run_value`, a document
`{"status": ..., "value": ...}`.
The protocol has no end: `status` says it, which is `streaming` until then, and `complete` if all is well.

Members with keys such as `__proto__` are left out of values: clients would drop the whole event.

Parts are addressed by their place: `part-start` begins the next one, all other chunks name one in their `path`.
`tool-call-args-text-finish` is sent only for a call that may be run; all other calls get a result, so that nobody runs
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, cast

from jsontide._values import MISSING, JsonValue
from jsontide.frontends.base import (
    DONE,
    SSE_HEADERS,
    BaseEncoder,
    DescribeError,
    NativeStreamed,
    describe_end_of_run,
    describe_error,
    describe_failure,
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
from jsontide.frontends.runs import NOTHING_SENT, RunEncoder, SentSteps, name_step
from jsontide.frontends.steps import drop_answer_text, first_failed, is_lost
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
from jsontide.messages.types import Outcome, Usage
from jsontide.runs.json_form import plain_value
from jsontide.runs.run import Run
from jsontide.runs.types import PendingResult, Result, RunOutcome
from jsontide.tree import ParserState

Chunk: TypeAlias = dict[str, Any]
Chunks: TypeAlias = list[Chunk]
FinishReason: TypeAlias = Literal["stop", "length", "content-filter", "tool-calls", "error", "other", "unknown"]

_REASONS: Final[Mapping[str, FinishReason]] = {"stop": "stop", "tool_calls": "tool-calls"}
_DOCUMENT: Final = "value"
_OBJECT_STREAM_HEADERS: Final[Mapping[str, str]] = MappingProxyType(
    {**SSE_HEADERS, "assistant-stream-format": "object-stream/v0"}
)


class ChunkWriter:
    """Collects the chunks of a message; `in_run` says that results of calls follow, before their parts end."""

    def __init__(self, places: Mapping[str, int], *, in_run: bool = False) -> None:
        self.ends: Final = (
            TextFinished,
            PartAdded,
            CallFailed,
            ServerCallFinished,
            *(() if in_run else (CallFinished,)),
        )
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
        if isinstance(step, self.ends):
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
    steps: SentSteps = NOTHING_SENT
    awaited: tuple[str, ...] = ()
    """The ids of calls of a run that have no result yet: their parts are not finished."""
    nested: Mapping[str, AssistantState] = field(default_factory=dict)
    """How much was sent of the runs of tools, by the ids of their calls."""


class AssistantTransportEncoder(RunEncoder[AssistantState]):
    """Encodes messages and runs as assistant-transport; the states of a parser become its state.

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

    _prefix = ""

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
        return self._end(*self._write(state, *state.progress.advance(message, self.describe_error), chunks))

    def _fail(self, state: AssistantState, reason: str) -> tuple[AssistantState, bytes]:
        if not state.steps.number:
            return self._end(*self._write(state, *state.progress.fail(reason), []))
        state, chunks = self._give_up(state, reason)
        chunks += _finish_parts(state)
        if state.steps.is_open:
            chunks.append(_finish_step("error", None))
        chunks += _finish_message(("failed", reason), "error", None)
        return replace(state, is_over=True), sse(*chunks) + DONE

    def _end(
        self, state: AssistantState, chunks: Chunks, ended: Finished[Outcome] | None
    ) -> tuple[AssistantState, bytes]:
        """Return the chunks of a message alone, with its end if there is one."""
        if ended is None:
            return state, sse(*chunks)
        failure = _failure_of(ended, state.failed)
        reason = _reason_of(ended.message) if failure is None else "error"
        return state, sse(*chunks, *_write_end(failure, reason, ended.message.usage)) + DONE

    def _frame(self, state: AssistantState, events: Chunks) -> bytes:
        return sse(*events) + (DONE if state.is_over else b"")

    def _update_state(self, state: AssistantState, growing: NativeStreamed) -> Chunks:
        operations = write_operations(self._keys.changes(state.before, growing))
        return [{"type": "update-state", "operations": operations}] if operations else []

    def _write(
        self, state: AssistantState, progress: Progress, steps: list[MessageEvent], chunks: Chunks
    ) -> tuple[AssistantState, Chunks, Finished[Outcome] | None]:
        message = cast("Message", progress.message)
        hides = self.answer is not None and is_answer_text(message)
        steps, hidden = drop_answer_text(progress, steps, state.hidden, hides=hides, shows=not hides)
        writer = ChunkWriter(state.places, in_run=state.steps.number > 0)
        for step in steps:
            writer.write(step)
        failed = state.failed or first_failed(steps)
        awaited = state.awaited + tuple([step.id for step in steps if isinstance(step, CallFinished)])
        ended = steps[-1] if steps and isinstance(steps[-1], Finished) else None
        found = (progress, message, writer.places, hidden, failed, progress.is_over, state.steps, awaited, state.nested)
        return AssistantState(*found), chunks + writer.chunks, ended

    def _start_step(self, state: AssistantState, number: int) -> tuple[AssistantState, Chunks]:
        name = name_step(self.message_id, number)
        started: Chunks = [] if number == 1 else [{"type": "step-start", "messageId": name}]
        progress = Progress(name, prefix=self._prefix)
        return AssistantState(progress, places=state.places, steps=state.steps, nested=state.nested), started

    def _write_message(self, state: AssistantState, message: Message) -> tuple[AssistantState, Chunks]:
        progress, steps = state.progress.advance(message, self.describe_error)
        if progress is state.progress:
            return state, []
        state, chunks, _ = self._write(state, progress, steps, self._update_state(state, message))
        return replace(state, is_over=False), chunks

    def _break_off(self, state: AssistantState, reason: str) -> tuple[AssistantState, Chunks]:
        state, chunks, _ = self._write(state, *state.progress.fail(reason), [])
        return replace(state, is_over=False), chunks

    def _write_result(
        self, state: AssistantState, call_id: str, before: Result | None, now: Result
    ) -> tuple[AssistantState, Chunks]:
        if call_id not in state.awaited:  # why it was not run was told
            return state, []
        chunks: Chunks = []
        run = now.progress if isinstance(now, PendingResult) else now.nested
        if isinstance(run, Run):
            state, chunks = self._write_nested(state, call_id, run)
        if isinstance(now, PendingResult) and (now.progress is MISSING or isinstance(run, Run)):
            return state, chunks
        if isinstance(now, PendingResult):
            content, is_error = plain_value(now.progress), False
        else:
            is_error = now.error is not None
            content = describe_failure(now, self.describe_error) if is_error else plain_value(now.output)
            state, ends = self._end_nested(state, call_id)
            chunks += ends
        shown, path = safe_value(cast("JsonValue", content)), [state.places[call_id]]
        chunks.append({"type": "result", "result": shown, "isError": is_error, "path": path})
        if isinstance(now, PendingResult):
            return state, chunks
        awaited = tuple([each for each in state.awaited if each != call_id])
        return replace(state, awaited=awaited), [*chunks, {"type": "part-finish", "path": path}]

    def _write_nested(self, state: AssistantState, call_id: str, run: Run[Any]) -> tuple[AssistantState, Chunks]:
        inner = _NestedTransport(self, call_id)
        inside = state.nested.get(call_id) or AssistantState(Progress(inner.message_id, prefix=inner._prefix))
        inside, chunks = inner.write_run(replace(inside, places=state.places), run)
        nested = {**state.nested, call_id: inside}
        return replace(state, places=inside.places, nested=nested), inner.attribute(chunks)

    def _end_nested(self, state: AssistantState, call_id: str) -> tuple[AssistantState, Chunks]:
        """End what is open in the run of a tool whose result is there."""
        inside = state.nested.get(call_id)
        if inside is None or inside.is_over:
            return state, []
        inner = _NestedTransport(self, call_id)
        inside, chunks = inner._give_up(replace(inside, places=state.places), "the run was stopped")
        return replace(state, places=inside.places), inner.attribute(chunks + _finish_parts(inside))

    def _end_step(self, state: AssistantState, run: Run[Any]) -> tuple[AssistantState, Chunks]:
        message = cast("Message", run.message)
        reason = _reason_of_run(run) if run.is_over else _reason_of(message)
        return replace(state, awaited=()), [*_finish_parts(state), _finish_step(reason, message.usage)]

    def _end_run(self, state: AssistantState, run: Run[Any]) -> Chunks:
        chunks: Chunks = [] if state.steps.number else [_finish_step(_reason_of_run(run), None)]
        failure = None
        if _reason_of_run(run) == "error":
            code = (
                "transport" if run.message is not None and is_lost(cast("Message", run.message)) else run.outcome.value
            )
            failure = (code, describe_end_of_run(run, self.describe_error) or "the run failed")
        return [*chunks, *_finish_message(failure, _reason_of_run(run), run.usage)]

    def _encode_json(self, state: AssistantState, json: ParserState) -> tuple[AssistantState, bytes]:
        chunks = self._update_state(state, json)
        end = end_of_json(json)
        if end is not None:
            failure = (str(end["end"]), str(end["reason"])) if "reason" in end else None
            chunks += _write_end(failure, "stop" if failure is None else "error", None)
        is_over = end is not None
        return AssistantState(state.progress, json, is_over=is_over), sse(*chunks) + (DONE if is_over else b"")


class _NestedTransport(AssistantTransportEncoder):
    """Encodes the run of a tool, as parts of its call."""

    def __init__(self, outer: AssistantTransportEncoder, call_id: str) -> None:
        super().__init__(message_id=f"{call_id}-run", answer=None, describe_error=outer.describe_error)
        self._prefix = f"{call_id}-run-"
        self._parent: Final = call_id

    def attribute(self, chunks: Chunks) -> Chunks:
        """Return the chunks of parts, which name the call; parts of runs inside of it name theirs."""
        for chunk in chunks:
            if chunk["type"] == "part-start":
                chunk["part"].setdefault("parentId", self._parent)
        return [chunk for chunk in chunks if chunk["type"] == "part-start" or chunk.get("path")]


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


def _reason_of_run(run: Run[Any]) -> FinishReason:
    """Return why a run ended, in the words of assistant-ui."""
    if run.outcome is RunOutcome.WAITING:
        return "tool-calls"
    if run.outcome in {RunOutcome.LIMIT, RunOutcome.CANCELLED} or run.message is None:
        return "error" if run.outcome is RunOutcome.FAILED else "other"
    message = cast("Message", run.message)
    is_failure = run.outcome in {RunOutcome.FAILED, RunOutcome.INVALID} or is_lost(message)
    return "error" if is_failure else _reason_of(message)


def _write_end(failure: tuple[str, str] | None, reason: FinishReason, usage: Usage | None) -> Chunks:
    *errors, finish = _finish_message(failure, reason, usage)
    return [*errors, _finish_step(reason, usage), finish]


def _finish_parts(state: AssistantState) -> Chunks:
    """Return the ends of calls that have no result."""
    return [{"type": "part-finish", "path": [state.places[call_id]]} for call_id in state.awaited]


def _finish_step(reason: FinishReason, usage: Usage | None) -> Chunk:
    return {"type": "step-finish", "finishReason": reason, "usage": _counts(usage), "isContinued": False}


def _finish_message(failure: tuple[str, str] | None, reason: FinishReason, usage: Usage | None) -> Chunks:
    finish: Chunk = {"type": "message-finish", "finishReason": reason, "usage": _counts(usage)}
    return [finish] if failure is None else [{"type": "error", "error": failure[1], "code": failure[0]}, finish]


def _counts(usage: Usage | None) -> Chunk:
    return {"inputTokens": (usage and usage.input_tokens) or 0, "outputTokens": (usage and usage.output_tokens) or 0}


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
