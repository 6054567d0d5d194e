"""What a client streams in, the message after each event out: one assistant's turn, event by event.

An item is an event of any provider, as dict or SDK object, a `CompletionChunk`, or raw bytes of the response.
The first event that is recognised decides whose stream it is.

Rule: a message is made when it is asked for, however many events came in one read.
A stream that lost something does not end as if it were whole.
"""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any, Final, cast

from jsontide._check import check_state
from jsontide._values import pack
from jsontide.messages.draft import Draft, read_chunk
from jsontide.messages.ending import fail_message, finish_message, stop_message
from jsontide.messages.message import Message
from jsontide.messages.options import MessageConfig
from jsontide.messages.state import MessageState, start_message
from jsontide.messages.types import CompletionChunk, ErrorDetail, Outcome
from jsontide.providers.base import Reader, as_dict, check_fields, check_unknown
from jsontide.providers.envelopes import name_foreign
from jsontide.providers.registry import find_reader, split_whole
from jsontide.providers.wire import (
    DONE,
    SHOWN_CHARS,
    START,
    Damage,
    EventLoader,
    Failure,
    NamedEvent,
    OtherLine,
    StrayLine,
    WireState,
    beginning,
    feed_wire,
    finish_wire,
    load_event,
)

if TYPE_CHECKING:
    from jsontide.messages import Message as PublicMessage

_NOT_RECOGNISED: Final = "no event of a known provider was recognised; the stream begins with {}"
_SHORT: Final = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = SHOWN_CHARS


class StreamState:
    """Where a stream stands: its message, and what is needed to read on; it never changes."""

    __slots__ = ("damage", "is_known", "message_state", "opening", "pending", "reader", "wire")

    def __init__(
        self,
        message_state: MessageState,
        reader: Reader | None = None,
        wire: WireState = START,
        is_known: bool = False,
        opening: str = "",
        damage: str | None = None,
        pending: tuple[object, ...] = (),
    ) -> None:
        self.message_state: Final = message_state
        self.reader: Final = reader
        self.wire: Final = wire
        self.is_known: Final = is_known
        """Whether an event was recognised; before that, the next two are kept."""
        self.opening: Final = opening
        """The first item, if it is not text, for an error."""
        self.damage: Final = damage
        """The first damage before any event was recognised: the stream may not have events at all."""
        self.pending: Final = pending
        """Events that were received and not yet read."""

    @property
    def message(self) -> PublicMessage[Any]:
        """The message so far."""
        return self.message_state.message

    @property
    def outcome(self) -> Outcome:
        """What the end means, `STREAMING` before it."""
        return self.message_state.outcome

    @property
    def is_over(self) -> bool:
        return self.message_state.is_over

    @property
    def errors(self) -> tuple[ErrorDetail, ...]:
        """All that is known to be wrong, also before the message shows it."""
        return self.message_state.errors

    def __repr__(self) -> str:
        return f"<StreamState {self.message!r}>"

    def __copy__(self) -> StreamState:
        return self

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return StreamState, (
            self.message_state,
            self.reader,
            self.wire,
            self.is_known,
            pack(self.opening),
            self.damage,
            tuple([pack(event) for event in self.pending]),
        )


class StreamReader:
    """Reads one stream; holds the newest state and the events that were received and not yet read."""

    __slots__ = (
        "_damage",
        "_has_ended",
        "_is_known",
        "_loader",
        "_next",
        "_opening",
        "_reader",
        "_received",
        "_rules",
        "_state",
        "_wire",
    )

    def __init__(self, start: StreamState) -> None:
        self._state: MessageState = start.message_state
        self._rules: Final = start.message_state.config._rules
        self._reader: Reader | None = start.reader
        self._wire: WireState = start.wire
        self._is_known: bool = start.is_known
        self._opening: str = start.opening
        self._damage: str | None = start.damage
        self._received: list[object] = list(start.pending)
        self._loader: Final = EventLoader()
        self._next = 0
        """The place of the first that is not yet read."""
        self._has_ended = False
        """Whether the end of the stream follows what is pending."""

    @property
    def state(self) -> StreamState:
        """Where the stream stands."""
        pending = tuple(self._received[self._next :])
        return StreamState(self._state, self._reader, self._wire, self._is_known, self._opening, self._damage, pending)

    @property
    def message_state(self) -> MessageState:
        return self._state

    def feed(self, item: object) -> None:
        """Receive an item; it is read when the next message is asked for."""
        # Asked first, because a tuple of types is made anew each time.
        if type(item) is bytes or isinstance(item, (bytes, str, bytearray, memoryview)):
            self._wire, events = feed_wire(self._wire, item)
            self._receive(cast("list[object]", events))
        else:
            self._receive([item])

    def end(self) -> None:
        """Note the end of the stream."""
        self._receive(cast("list[object]", finish_wire(self._wire)))
        self._has_ended = True

    def fail(self, error: BaseException | str) -> None:
        """Note that the stream failed after all items so far."""
        self._receive([error if isinstance(error, BaseException) else Failure(error)])

    def _receive(self, items: list[object]) -> None:
        if self._next == len(self._received):
            self._received, self._next = items, 0
        else:
            self._received += items

    def stop(self) -> None:
        """Stop reading: the message is cancelled unless it was over."""
        self._received, self._next = [], 0
        self._state = stop_message(self._state)

    def next_message(self) -> Message | None:
        """Return the next message, `None` if more must be received first.

        An exception of a validator or of an event, or an interrupt, stops the reader: what the event says is lost.
        """
        before = self._state.newest
        try:
            while self._state.newest is before and not self._state.is_over:
                at = self._next
                if at < len(self._received):
                    item = self._received[at]
                    self._received[at] = None
                    self._next = at + 1
                    self._read(item)
                elif self._has_ended:
                    self._finish()
                else:
                    break
        except BaseException as error:
            self.stop()
            if not isinstance(error, (StopIteration, StopAsyncIteration)):
                raise
            problem = RuntimeError("a validator raised " + type(error).__name__)
            problem.__cause__ = error  # mypyc drops what follows `from`
            raise problem  # noqa: B904 - or it looks like the end of the stream
        newest = self._state.newest
        return None if newest is before else newest

    @property
    def is_over(self) -> bool:
        return self._state.is_over

    @property
    def needs_more(self) -> bool:
        """Whether there is no next message without receiving more."""
        return self._next == len(self._received) and not self._has_ended and not self._state.is_over

    def _read(self, item: object) -> None:
        is_text = isinstance(item, str) or isinstance(item, NamedEvent)  # noqa: SIM101 - compiled, a tuple is made anew
        event = self._loader.load(cast("str | NamedEvent", item)) if is_text else item
        reader = self._reader
        if reader is None or not isinstance(event, dict):
            event = self._find_event(item, event)
            if event is None:
                return
            reader = self._reader
            if reader is None:
                self._read_first(event)
                return
        draft = Draft(self._state, self._rules)
        if not isinstance(event, dict):
            event = check_fields(draft, "event", event) if isinstance(event, list) else as_dict(event)
        self._reader = reader.read(draft, event)
        self._state = draft.freeze()

    def _find_event(self, item: object, event: object) -> object:
        """Return the event, or `None` if the item was handled here."""
        if isinstance(item, CompletionChunk):
            draft = Draft(self._state, self._rules)
            read_chunk(draft, item)
            self._is_known = True
            self._state = draft.freeze()
            return None
        if isinstance(item, BaseException):
            self._state = fail_message(self._state, item)
            return None
        if isinstance(item, (StrayLine, OtherLine)):
            event = load_event(item)
        if item is None:
            self._opening = self._opening or repr(item)
        elif event is DONE:
            if self._rules.done_is_end and self._is_known and self._state.reason is None:
                draft = Draft(self._state, self._rules)
                draft.finish("stop", None)
                self._state = draft.freeze()
            self._finish()
        elif isinstance(event, Damage):
            if self._is_known or isinstance(event, Failure):
                self._state = fail_message(self._state, event.message)
            else:
                self._damage = self._damage or event.message
        else:
            return event
        return None

    def _read_first(self, event: object) -> None:
        """Find out whose stream it is; a whole completion is taken as one event."""
        fields = as_dict(event)
        foreign = name_foreign(event, fields)
        if foreign is not None:
            self._state = fail_message(self._state, foreign)
            return
        events = split_whole(fields)
        reader = find_reader(events[0])
        if reader is None:
            self._opening = self._opening or _SHORT.repr(event)
            draft = Draft(self._state, self._rules)
            check_unknown(draft, "", event)
            self._state = draft.freeze()
            return
        self._is_known = True
        if self._damage is not None:
            self._state = fail_message(self._state, self._damage)
            return
        for each in events:
            draft = Draft(self._state, self._rules)
            reader = reader.read(draft, each)
            self._state = draft.freeze()
        self._reader = reader

    def _finish(self) -> None:
        opening = self._wire.opening if self._wire.opening.strip() else self._opening
        if self._is_known or not opening:
            self._state = finish_message(self._state)
        else:
            self._state = fail_message(self._state, _NOT_RECOGNISED.format(beginning(opening)))


def start_stream(config: MessageConfig | None = None) -> StreamState:
    """Return the state before anything of a stream."""
    return StreamState(start_message(config))


def feed_stream(state: StreamState, item: object) -> StreamState:
    """Return the state after an item of a stream: an event as dict or SDK object, or raw bytes of the response.

    >>> state = feed_stream(start_stream(), {"choices": [{"index": 0, "delta": {"content": "Hi"}}]})
    >>> state.message.content
    'Hi'
    """
    check_state(state, StreamState)
    reader = StreamReader(state)
    reader.feed(item)
    return _read_all(reader)


def finish_stream(state: StreamState) -> StreamState:
    """Return the state after the end of a stream."""
    check_state(state, StreamState)
    reader = StreamReader(state)
    reader.end()
    return _read_all(reader)


def _read_all(reader: StreamReader) -> StreamState:
    while reader.next_message() is not None:
        pass
    return reader.state
