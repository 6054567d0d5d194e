"""The compact form of `compact_form`, for `jsontide.js`: server-sent events, or NDJSON.

A message becomes the value that `message_value` describes, a run that of `run_value`, and the state of a parser its own
value.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, Final, Literal, Self

from jsontide._values import write_json
from jsontide.frontends.base import (
    BaseEncoder,
    DescribeError,
    NativeStreamed,
    describe_end_of_run,
    describe_error,
    end_of_json,
)
from jsontide.frontends.changes import Change, read_changes
from jsontide.frontends.compact_form import CompactWriter
from jsontide.frontends.message_value import Arguments, message_changes
from jsontide.frontends.run_value import run_changes
from jsontide.messages.message import Message
from jsontide.messages.progress import describe_end
from jsontide.messages.types import Outcome
from jsontide.runs.run import Run
from jsontide.tree import ParserState

Form = Literal["sse", "ndjson"]


@dataclass(slots=True)
class CompactState:
    """How much of a stream was sent."""

    writer: CompactWriter
    before: NativeStreamed | Run[Any] | None = None
    is_over: bool = False


class CompactEncoder(BaseEncoder[CompactState]):
    """Encodes messages, runs, or the states of a parser, as compact deltas.

    >>> from jsontide import stream_message
    >>> events = [{"message": {"content": "Hi"}, "done": False}, {"message": {"content": "!"}, "done": True}]
    >>> encoder = CompactEncoder(form="ndjson")
    >>> state, sent = encoder.begin()
    >>> for message in stream_message(events):
    ...     state, new = encoder.encode(state, message)
    ...     sent += new
    >>> sent.splitlines()[-1]
    b'{"end":"complete"}'
    """

    def __init__(
        self,
        *,
        form: Form = "sse",
        arguments: Arguments = "values",
        run_id: str | None = None,
        describe_error: DescribeError = describe_error,
    ) -> None:
        super().__init__(describe_error)
        self.form: Final = form
        self.arguments: Final = arguments
        self.run_id = run_id
        """Names the turn; a browser that reconnects sends it back, as `Last-Event-ID`."""
        if form == "ndjson":
            self.media_type, self.keep_alive = "application/x-ndjson", b"\n"

    def with_run_id(self, run_id: str) -> Self:
        """Return the same encoder for the turn of this name."""
        other = copy(self)
        other.run_id = run_id
        return other

    def begin(self) -> tuple[CompactState, bytes]:
        """Return the first state, and the name of the turn, in case a reader must reconnect."""
        named = self.form == "sse" and self.run_id is not None
        return CompactState(CompactWriter()), f"id: {self.run_id}\n\n".encode() if named else b""

    def _encode_message(self, state: CompactState, message: Message) -> tuple[CompactState, bytes]:
        before = state.before if isinstance(state.before, Message) else None
        changes = message_changes(before, message, self.arguments, self.describe_error)
        return self._write(state, message, changes, _end_of_message(message, self.describe_error))

    def _encode_run(self, state: CompactState, run: Run[Any]) -> tuple[CompactState, bytes]:
        before = state.before if isinstance(state.before, Run) else None
        changes = run_changes(before, run, self.arguments, self.describe_error)
        end = {"end": run.outcome.value} | _reason(describe_end_of_run(run, self.describe_error))
        return self._write(state, run, changes, end if run.is_over else None)

    def _encode_json(self, state: CompactState, json: ParserState) -> tuple[CompactState, bytes]:
        before = state.before if isinstance(state.before, ParserState) else None
        return self._write(state, json, read_changes(before, json), end_of_json(json))

    def _fail(self, state: CompactState, reason: str) -> tuple[CompactState, bytes]:
        end: list[object] = [{"end": "failed", "reason": reason}]
        return CompactState(state.writer, state.before, is_over=True), self._frame(end)

    def _write(
        self,
        state: CompactState,
        growing: NativeStreamed | Run[Any],
        changes: list[Change],
        end: dict[str, object] | None,
    ) -> tuple[CompactState, bytes]:
        writer, events = state.writer.write(changes)
        if end is not None:
            events.append(end)
        return CompactState(writer, growing, end is not None), self._frame(events)

    def _frame(self, events: list[object]) -> bytes:
        if self.form == "ndjson":
            return "".join([f"{write_json(event)}\n" for event in events]).encode()
        return "".join([f"{self._id_of(event)}data: {write_json(event)}\n\n" for event in events]).encode()

    def _id_of(self, event: object) -> str:
        """Return the line that names the turn, which stands before each whole value: there a reader can join."""
        is_whole = self.run_id is not None and isinstance(event, dict) and "version" in event
        return f"id: {self.run_id}\n" if is_whole else ""


def _end_of_message(message: Message, describe: DescribeError) -> dict[str, object] | None:
    if message.outcome is Outcome.STREAMING:
        return None
    return {"end": message.outcome.value} | _reason(describe_end(message, describe))


def _reason(reason: str | None) -> dict[str, object]:
    return {} if reason is None else {"reason": reason}
