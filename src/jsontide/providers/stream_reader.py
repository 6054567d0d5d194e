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
from jsontide.messages.draft import Draft, Note, read_chunk
from jsontide.messages.ending import fail_message, finish_message, stop_message
from jsontide.messages.message import LateUsage, Message
from jsontide.messages.options import MessageConfig
from jsontide.messages.state import MessageState, start_message
from jsontide.messages.types import CompletionChunk, ErrorDetail, Outcome, Usage
from jsontide.providers.base import COUNTER, IN_USAGE, PIECE, SILENT, Reader, as_dict, check_fields, check_unknown
from jsontide.providers.envelopes import check_chunk, name_foreign
from jsontide.providers.registry import find_reader, split_whole
from jsontide.providers.wire import (
    DONE,
    SHOWN_CHARS,
    START,
    Damage,
    EventPath,
    EventTemplate,
    Failure,
    NamedEvent,
    OtherLine,
    StrayLine,
    TemplateFinder,
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


class RepeatedUsage(LateUsage):
    """The usage in an event that repeats another one."""

    __slots__ = ("event", "figures", "reader")

    def __init__(self, reader: Reader, event: RepeatedEvent, figures: list[object]) -> None:
        super().__init__()
        self.reader: Final = reader
        self.event: Final = event
        self.figures: Final = figures

    def make(self) -> Usage:
        names = [name for _, name in self.event.usage_at]
        return self.reader.make_usage({**self.event.usage, **dict(zip(names, self.figures, strict=True))})


class RepeatedEvent:
    """An event of which the next ones differ in a piece of text, their usage, their number, and what says nothing."""

    __slots__ = ("count_at", "figures", "note", "piece_at", "template", "usage", "usage_at")

    def __init__(
        self,
        template: EventTemplate,
        note: Note,
        piece_at: int,
        count_at: int,
        usage: dict[str, Any],
        usage_at: list[tuple[int, str]],
    ) -> None:
        self.template: Final = template
        self.note: Final = note
        self.piece_at: Final = piece_at
        """The place of the piece among the values of the template."""
        self.count_at: Final = count_at
        """The place of the number of the event, -1 if it has none."""
        self.usage: Final = usage
        self.usage_at: Final = usage_at
        """The places of the values that are fields of the usage, and their names."""
        self.figures: list[object] = [usage[name] for _, name in usage_at]
        """The last values of these fields."""


def find_repeated(
    reader: Reader, draft: Draft, event: dict[str, Any], template: EventTemplate | None, after: Reader
) -> RepeatedEvent | None:
    """Return what the next event may repeat, given what a draft has noted of this one; `None` if it noted more.

    Rule: an event is read again without its reader only if the reader says of each value that differs what it is, and
    the last one changed nothing but a text or a call, and the usage; in the reader, nothing but the number of the
    event. So what they have in common says nothing new.
    """
    if template is None:
        return None
    piece_at = count_at = -1
    usage: dict[str, Any] = {}
    usage_at: list[tuple[int, str]] = []
    for at, path in enumerate(template.paths):
        role = reader.role_of(draft, event, path)
        if role == PIECE and piece_at < 0:
            piece_at = at
        elif role == IN_USAGE and isinstance(path[1], str) and type(event[path[0]][path[1]]) is int:
            usage = event[path[0]]
            usage_at.append((at, path[1]))
        elif role == COUNTER:
            count_at = at
        elif role != SILENT:
            return None
    note = None if piece_at < 0 else draft.find_note(value_at(event, template.paths[piece_at]))
    if note is None:
        return None
    if count_at >= 0:
        number = value_at(event, template.paths[count_at])
        if type(number) is not int or number < 0:
            return None
        reader = reader.count(draft, number)  # what it shows is noted already: the draft stays as it is
    return None if reader != after else RepeatedEvent(template, note, piece_at, count_at, usage, usage_at)


def value_at(event: dict[str, Any], path: EventPath) -> object:
    value: Any = event
    for step in path:
        value = value[step]
    return value


class StreamReader:
    """Reads one stream; holds the newest state and the events that were received and not yet read."""

    __slots__ = (
        "_damage",
        "_finder",
        "_has_ended",
        "_is_known",
        "_next",
        "_opening",
        "_reader",
        "_received",
        "_repeated",
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
        self._finder: Final = TemplateFinder()
        self._repeated: RepeatedEvent | None = None
        """What was learnt from the last event, if nothing was read since but events that are like it."""
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
        text, event = "", item
        if isinstance(item, str) or isinstance(item, NamedEvent):  # noqa: SIM101 - compiled, a tuple is made anew
            text = item if isinstance(item, str) else item.data
            if self._repeated is not None and self._read_again(self._repeated, text):
                return
            event = load_event(item)
        self._repeated = None
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
        if text:
            self._repeated = find_repeated(reader, draft, event, self._finder.find(text), self._reader)

    def _read_again(self, repeated: RepeatedEvent, text: str) -> bool:
        """Read an event that says the same as the last one but for a piece of text; return whether it is one."""
        reader, values = self._reader, repeated.template.read(text)
        if reader is None or values is None:
            return False
        piece = values[repeated.piece_at]
        if type(piece) is not str or not piece:
            return False
        figures = repeated.figures
        if figures:
            figures = [values[at] for at, _ in repeated.usage_at]
            if any([type(figure) is not int for figure in figures]):
                return False
        draft = Draft(self._state, self._rules)
        counted = reader
        if repeated.count_at >= 0:
            number = values[repeated.count_at]
            if type(number) is not int or number < 0:
                return False
            counted = reader.count(draft, number)
        if not draft.add_again(repeated.note, piece):
            return False
        self._reader = counted
        if figures != repeated.figures:
            repeated.figures = figures
            draft.replace_usage(RepeatedUsage(reader, repeated, figures))
        self._state = draft.freeze()
        return True

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
            check_chunk(draft, fields)
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
