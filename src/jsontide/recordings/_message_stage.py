"""A provider's stream in, the assistant's message out, as the value that a browser would show.

Rule: the value is made when it is read, and parts that did not change are the same objects in all moments.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, cast

from jsontide._values import JsonValue, Missing
from jsontide.adapters import StreamState, finish_stream, reduce_item
from jsontide.deltas import Change, CompactValue, CompactWriter
from jsontide.encoders import message_changes
from jsontide.messages import Outcome, stop_message
from jsontide.messages.calls import BaseCall, Part
from jsontide.messages.growth import answer_of
from jsontide.messages.message import Message as NativeMessage
from jsontide.recordings._piece import End
from jsontide.recordings._stage import Kind, Stage

if TYPE_CHECKING:
    from jsontide.mend import Repair
    from jsontide.messages import Message


class SharedParts:
    """The parts that are not open any more, as the values of all moments show them: what is the same stays so."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[int, tuple[Part, JsonValue]] = {}

    def share(self, message: NativeMessage, value: JsonValue | Missing) -> JsonValue | Missing:
        """Return the value of a message, which was just made, with the parts that are known already."""
        parts = cast("dict[str, list[JsonValue]]", value)["parts"]
        for at, part in enumerate(message.parts):
            if not getattr(part, "is_open", False):
                _, known = self._known.setdefault(id(part), (part, parts[at]))
                if known == parts[at]:
                    parts[at] = known
        return value


class MessageStage(Stage):
    """A message so far."""

    __slots__ = ("_parts", "_stream", "_value")

    kind: Kind = "message"

    def __init__(self, stream: StreamState, parts: SharedParts | None = None) -> None:
        self._stream: Final = stream
        self._parts: Final = SharedParts() if parts is None else parts
        self._value: JsonValue | Missing | None = None

    def feed(self, data: bytes) -> Stage:
        return self._read(data)

    def feed_event(self, event: Mapping[str, object]) -> Stage:
        return self._read(event)

    def _read(self, item: object) -> Stage:
        return self if self._stream.is_over else MessageStage(reduce_item(self._stream, item), self._parts)

    def finish(self, end: End, error: str | None) -> Stage:
        if end == "over":
            return MessageStage(finish_stream(self._stream), self._parts)
        if end == "stopped":
            return MessageStage(StreamState(stop_message(self._stream.message_state)), self._parts)
        return self._read(ConnectionError(error or "the connection was lost"))

    def changes_since(self, before: Stage) -> list[Change]:
        old = before._stream.message if isinstance(before, MessageStage) else None
        return message_changes(cast("NativeMessage | None", old), cast("NativeMessage", self._stream.message))

    @property
    def value(self) -> JsonValue | Missing:
        if self._value is None:
            message = cast("NativeMessage", self._stream.message)
            shown = CompactValue()
            for event in CompactWriter().write(message_changes(None, message))[1]:
                shown = shown.read(event)
            self._value = self._parts.share(message, shown.value)
        return self._value

    @property
    def message(self) -> Message:
        return self._stream.message

    @property
    def repairs(self) -> tuple[Repair, ...]:
        message = cast("NativeMessage", self._stream.message)
        answer = answer_of(message)
        found = [] if answer is None else list(answer.repairs)
        for part in message.parts:
            if isinstance(part, BaseCall):
                found += part.repairs
        return tuple(found)

    @property
    def error(self) -> str | None:
        errors = self._stream.message.errors
        return errors[0].message if errors else None

    @property
    def is_complete(self) -> bool:
        return self._stream.outcome is Outcome.COMPLETE

    @property
    def outcome(self) -> Outcome:
        return self._stream.outcome
