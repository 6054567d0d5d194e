"""The Claude Agent SDK, and `claude --output-format stream-json`: one message of an agent's run.

In: an envelope as dict or SDK object. Out: notes on a draft, by the reader of Anthropic's events.

    stream_event    an event of the message, where partial messages were asked for
    assistant       blocks of the message, which repeat its events, or come instead of them
    result          the end of the run
    anything else   kept as it is: what the tools returned, what the agents of the agent said, how the run began

Rule: where a second message begins, the stream has failed, as with every provider.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from jsontide.messages.draft import Draft
from jsontide.providers.anthropic import AnthropicReader, check_whole
from jsontide.providers.base import (
    SECOND_MESSAGE,
    Provider,
    Reader,
    as_dict,
    check_fields,
    check_rest,
    dict_of,
    fields_in,
    is_true,
    items_in,
    list_of,
    plain,
    text_of,
)

_KINDS: Final = ("assistant", "result", "system", "user")
_NESTED_KINDS: Final = ("assistant", "stream_event")
PARENT: Final = "parent_tool_use_id"
_MESSAGE_FIELDS: Final = frozenset(("content", "message"))
_EVENT_FIELDS: Final = frozenset(("event", PARENT, "session_id", "type", "uuid"))
_MISPLACED: Final = "an event of a message stands in an envelope of another kind"
_NO_BLOCKS: Final = "a message that repeats events has no blocks"
_NO_MESSAGE: Final = "an event is of a message that never began"


class AgentReader(Reader):
    """Reads envelopes."""

    __slots__ = ("agents", "blocks", "has_ended", "has_events", "inner", "message_id")

    FIELDS: ClassVar[tuple[str, ...]] = ("inner", "has_events", "has_ended", "message_id", "blocks", "agents")

    def __init__(
        self,
        inner: Reader | None = None,
        has_events: bool = False,
        has_ended: bool = False,
        message_id: str | None = None,
        blocks: int = 0,
        agents: tuple[str, ...] = (),
    ) -> None:
        self.inner: Final[Reader] = AnthropicReader() if inner is None else inner
        self.has_events: Final = has_events
        """Whether the events of the message come, which its blocks repeat."""
        self.has_ended: Final = has_ended
        """Whether blocks said how their message ended."""
        self.message_id: Final = message_id
        self.blocks: Final = blocks
        """How many blocks came without events."""
        self.agents: Final = agents
        """The calls that run agents whose own messages began."""

    @property
    def name(self) -> str:
        return self.inner.name

    def fits(self, event: dict[str, Any]) -> bool:
        kind = kind_of(event)
        return bool(kind) and (kind == "stream_event" or "session_id" in event or PARENT in event or "data" in event)

    def read(self, draft: Draft, event: dict[str, Any]) -> Reader:
        kind = kind_of(event)
        if draft.provider is None:
            draft.identify(None, None, None, self.name)
        if kind == "stream_event":
            check_rest(draft, event, _EVENT_FIELDS)
        elif event.get("event") or (kind and event.get("delta")):
            draft.lose(_MISPLACED)
        if kind in _NESTED_KINDS and event.get(PARENT) is not None:
            return self._read_nested(draft, kind, event)
        if kind == "stream_event":
            inner = self.inner.read(draft, fields_in(draft, event, "event"))
            if inner is self.inner and self.has_events:
                return self
            return self.evolve(inner=inner, has_events=True)
        if kind == "assistant":
            return self._repeat_blocks(draft, event) if self.has_events else self._read_blocks(draft, event)
        if kind == "result":
            return self._read_result(draft, event)
        if not kind:
            return self._after_event(self.inner.read(draft, event))
        return self._keep(draft, event)

    def _keep(self, draft: Draft, event: dict[str, Any]) -> Reader:
        """Keep an envelope that says nothing of the message; a user makes no calls."""
        for item in list_of(dict_of(event, "message"), "content"):
            check_whole(draft, as_dict(item))
        draft.extend_metadata("events", [plain(event)])
        return self

    def _after_event(self, inner: Reader) -> Reader:
        return self if inner is self.inner else self.evolve(inner=inner)

    def _read_nested(self, draft: Draft, kind: str, event: dict[str, Any]) -> Reader:
        """Keep what an agent of the agent says: its message has begun, or nobody knows whose the event is."""
        draft.extend_metadata("events", [plain(event)])
        parent = text_of(event, PARENT)
        if parent is not None and text_of(dict_of(event, "event"), "type") == "message_start":
            return self.evolve(agents=(*self.agents, parent))
        if parent is None or (kind == "stream_event" and parent not in self.agents):
            draft.lose(_NO_MESSAGE)
        return self

    def _repeat_blocks(self, draft: Draft, event: dict[str, Any]) -> Reader:
        """Note where blocks differ from the events that they repeat."""
        message = fields_in(draft, event, "message") or event
        check_rest(draft, event, _MESSAGE_FIELDS)
        if message.get("content") is None:
            draft.lose(_NO_BLOCKS)
        for item in items_in(draft, message, "content"):
            check_whole(draft, check_fields(draft, "content", item))
        return self

    def _read_blocks(self, draft: Draft, event: dict[str, Any]) -> Reader:
        """Note blocks of a message whose events were not asked for; each envelope has those that are new."""
        message = as_dict(event["message"]) if event.get("message") is not None else event
        message_id, inner, blocks = text_of(message, "id"), self.inner, self.blocks
        if blocks == 0:
            begun = {name: value for name, value in message.items() if name not in ("content", "stop_reason", PARENT)}
            inner = inner.read(draft, {"type": "message_start", "message": {**begun, "role": "assistant"}})
        elif message_id != self.message_id:
            draft.fail(SECOND_MESSAGE)
            return self
        for item in items_in(draft, message, "content"):
            block = _with_type(check_fields(draft, "content", item))
            inner = inner.read(draft, {"type": "content_block_start", "index": blocks, "content_block": block})
            inner = inner.read(draft, {"type": "content_block_stop", "index": blocks})
            blocks += 1
        reason = text_of(message, "stop_reason")
        if reason is not None:
            inner = inner.read(draft, {"type": "message_delta", "delta": {"stop_reason": reason}})
        has_ended = self.has_ended or reason is not None
        return self.evolve(inner=inner, has_ended=has_ended, message_id=message_id, blocks=blocks)

    def _read_result(self, draft: Draft, event: dict[str, Any]) -> Reader:
        """Note how the run ended; its text repeats that of the message, and its usage is that of all messages."""
        inner = self.inner
        subtype, said = text_of(event, "subtype") or "", text_of(event, "result")
        if is_true(event, "is_error") or subtype.startswith("error"):
            draft.fail(said or subtype or "error", said or subtype)
        elif not self.has_events and not self.has_ended:
            reason = text_of(event, "stop_reason") or "end_turn"
            inner = inner.read(draft, {"type": "message_delta", "delta": {"stop_reason": reason}})
        rest = {name: plain(value) for name, value in event.items() if name not in ("result", "type")}
        draft.set_metadata("result", {name: value for name, value in rest.items() if value is not None})
        return self._after_event(inner)


def kind_of(event: dict[str, Any]) -> str:
    """Return the kind of an envelope, empty for anything else; objects of the SDK show it by their fields only."""
    kind = text_of(event, "type")
    if kind is not None:
        return kind if kind in _KINDS or (kind == "stream_event" and "event" in event) else ""
    if "event" in event and "session_id" in event:
        return "stream_event"
    if "is_error" in event and "subtype" in event:
        return "result"
    if PARENT in event and isinstance(event.get("content"), (list, tuple, str)):
        return "assistant" if "model" in event else "user"
    return "system" if "subtype" in event and "data" in event else ""


def _with_type(block: dict[str, Any]) -> dict[str, Any]:
    """Return a block that says what it is; those of the SDK are objects of different classes."""
    if block.get("type") is not None:
        return block
    kind = "text"
    if "thinking" in block:
        kind = "thinking"
    elif "input" in block:
        kind = "tool_use"
    elif "tool_use_id" in block:
        kind = "tool_result"
    return {"type": kind, **block}


PROVIDER: Final[Provider] = Provider(AgentReader())
