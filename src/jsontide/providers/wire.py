"""The raw bytes or text of a response in, the events in it out: found first, and each loaded when it is asked for.

Its first characters show which framing a response has:

    data: ...           server-sent events
    {...} on one line   lines of JSON; a whole completion may be the only line
    { and more          one JSON document: a whole completion over many lines
    [                   an array of events
    a byte that is 0    frames of an AWS event stream
    no line ends        the lines of one of the first two, as `iter_lines()` of many clients gives them

Rule: nothing raises on a stream, and nothing is lost in silence: what is not UTF-8, not JSON, or cut off is `Damage`.
Comments, empty data, signs of life such as `ping`, and what has a name that no provider uses are no damage.
"""

from __future__ import annotations

import re
from typing import Any, Final, TypeAlias

from jsontide._textbuffer import GrowingText, has_lone_surrogate
from jsontide._values import Chunk
from jsontide.messages.record import Value
from jsontide.providers.framing import (
    MAX_CHARS,
    START_OF_TEXT,
    ArrayRest,
    FrameRest,
    NamedEvent,
    NdjsonRest,
    SseRest,
    StrayLine,
    TextState,
    decode,
    end_of,
    feed_array,
    feed_frames,
    feed_ndjson,
    feed_sse,
    load_json,
    replaced,
    rest_of_ndjson,
    rest_of_sse,
    start_ndjson,
    start_sse,
)
from jsontide.providers.registry import is_provider_event

DONE: Final = "[DONE]"
"""What many servers send after the last event."""
SHOWN_CHARS: Final = 100
"""How many characters of a stream an error shows."""

_DONE_FORMS: Final = (DONE, '"[DONE]"')
_ERROR: Final = "error:"
_BLANK: Final = " \t\r\n\ufeff"
_SIGNS: Final = frozenset(
    (
        "alive",
        "connected",
        "end",
        "heartbeat",
        "keepalive",
        "noop",
        "null",
        "ok",
        "open",
        "ping",
        "pong",
        "start",
        "started",
    )
)
"""Words that servers and proxies send in place of an event, as a sign of life; any other may be the rest of one."""
_FIELD: Final = re.compile("(data|event|id|retry|error):")
_LINE_END: Final = re.compile("[\r\n]")
_CUT_OFF: Final = "the stream ends in the middle of an event"


class Damage(Value):
    """An event that lost something."""

    __slots__ = ("message",)

    def __init__(self, message: str) -> None:
        self.message: Final = message
        """For people."""

    def _fields(self) -> tuple[object, ...]:
        return (self.message,)


class Failure(Value):
    """The end of a stream that is not read further."""

    __slots__ = ("message",)

    def __init__(self, message: str) -> None:
        self.message: Final = message
        """For people."""

    def _fields(self) -> tuple[object, ...]:
        return (self.message,)


class OtherLine(Value):
    """A line of JSON that does not begin as an object does."""

    __slots__ = ("line",)

    def __init__(self, line: str) -> None:
        self.line: Final = line

    def _fields(self) -> tuple[object, ...]:
        return (self.line,)


Loaded: TypeAlias = str | Damage | Failure | dict[str, Any]
RawEvent: TypeAlias = Loaded | NamedEvent | StrayLine | OtherLine
"""An event that is found but not loaded, unless it had to be loaded to find it."""


class UnknownFraming(Value):
    """Nothing but white space and a byte order mark so far, which may be cut off."""

    __slots__ = ("after_space", "max_chars")

    def __init__(self, max_chars: int, after_space: bool) -> None:
        self.max_chars: Final = max_chars
        self.after_space: Final = after_space
        """Whether there is a space before what comes next: such a line is no field of an event."""

    def _fields(self) -> tuple[object, ...]:
        return self.max_chars, self.after_space


class OneDocument(Value):
    """A text that begins as a JSON document does, and is read when it ends."""

    __slots__ = ("is_one", "max_chars", "text")

    def __init__(self, max_chars: int, text: GrowingText, is_one: bool = False) -> None:
        self.max_chars: Final = max_chars
        self.text: Final = text
        self.is_one: Final = is_one
        """Whether it is known to be one document, and not the first of many lines."""

    def _fields(self) -> tuple[object, ...]:
        return self.max_chars, self.text, self.is_one


class LineChunks(Value):
    """Every chunk is a line."""

    __slots__ = ()

    def _fields(self) -> tuple[object, ...]:
        return ()


Framing: TypeAlias = UnknownFraming | SseRest | NdjsonRest | ArrayRest | FrameRest | OneDocument | LineChunks


class WireState(Value):
    """Where a response stands."""

    __slots__ = ("first", "framing", "is_settled", "opening", "text")

    def __init__(
        self, framing: Framing, text: TextState = START_OF_TEXT, first: str | None = "", opening: str = ""
    ) -> None:
        self.framing: Final = framing
        self.text: Final = text
        self.first: Final = first
        """The first chunk, while it may be a line without its end; `None` when it is known not to be."""
        self.opening: Final = opening
        """What it begins with, as long as an error shows it."""
        self.is_settled: Final = first is None and len(opening) >= SHOWN_CHARS
        """Whether nothing is left to find out from the first chunks."""

    def _fields(self) -> tuple[object, ...]:
        return self.framing, self.text, self.first, self.opening


def start_wire(max_chars: int = MAX_CHARS) -> WireState:
    """Return the state before the first chunk of a response whose events have at most `max_chars` characters."""
    return WireState(UnknownFraming(max_chars, False))


START: Final = start_wire()


def feed_wire(state: WireState, chunk: Chunk) -> tuple[WireState, list[RawEvent]]:
    """Return the state after a chunk, and the events that it completed, each to be loaded by `load_event`."""
    if isinstance(state.framing, FrameRest) or (not state.is_settled and _begins_frames(state, chunk)):
        return _find_frames(state, chunk)
    text_state, text = decode(state.text, chunk)
    framing: Framing = state.framing
    first, opening, before = state.first, state.opening, ""
    if not state.is_settled:
        if first is not None and (first or text.strip(_BLANK)):
            has_end = _LINE_END.search(text) is not None
            if first and not has_end and _follows(first, text):
                framing, before = LineChunks(), first
            if text:
                first = None if first or has_end else text
        opening = (opening + text)[:SHOWN_CHARS]
    events: list[RawEvent] = []
    framing = _find(framing, before, text, events)
    if state.is_settled and framing is state.framing and text_state is state.text:
        return state, events
    return WireState(framing, text_state, first, opening), events


def _begins_frames(state: WireState, chunk: Chunk) -> bool:
    """Return whether a response begins with a zero byte, as the length of a frame does and no text."""
    is_start = isinstance(state.framing, UnknownFraming) and not state.opening and state.text is START_OF_TEXT
    return is_start and not isinstance(chunk, str) and bytes(chunk[:1]) == b"\0"


def _find_frames(state: WireState, chunk: Chunk) -> tuple[WireState, list[RawEvent]]:
    framing, opening = state.framing, state.opening
    if not isinstance(framing, FrameRest):
        framing = FrameRest(framing.max_chars if isinstance(framing, UnknownFraming) else MAX_CHARS)
    events: list[RawEvent] = []
    if isinstance(chunk, str):
        data = b""
        rest = FrameRest(framing.max_bytes, None, 0, framing.error or "a stream of bytes goes on as text")
    else:
        data = bytes(chunk)
        rest, found = feed_frames(framing, data)
        events.extend(found)
    if rest.error is not None and framing.error is None:
        events.append(Failure(rest.error))
    if len(opening) < SHOWN_CHARS:
        opening = (opening + data.decode("latin-1"))[:SHOWN_CHARS]
    return WireState(rest, state.text, None, opening), events


def finish_wire(state: WireState) -> list[RawEvent]:
    """Return the events that the end of the stream completes."""
    events: list[RawEvent] = []
    framing = _find(state.framing, "", end_of(state.text), events)
    if isinstance(framing, SseRest):
        _finish_sse(framing, events)
    elif isinstance(framing, NdjsonRest):
        line = rest_of_ndjson(framing)
        if line:
            events.append(_load_last(line))
    elif isinstance(framing, OneDocument):
        events.append(_load_last(framing.text.read()))
    elif isinstance(framing, ArrayRest):
        if framing.error is None and not framing.is_over:
            rest = "" if framing.item is None else framing.item.read()
            events.append(Damage(f"{_CUT_OFF}: {beginning(rest or state.opening)}"))
    elif isinstance(framing, FrameRest) and framing.data is not None:
        events.append(Damage(f"{_CUT_OFF}: a frame of it is not whole"))
    return events


def load_event(raw: RawEvent) -> object:
    """Return an event: a JSON object as `dict`, `DONE` where the server says so, `Damage`, or a `Failure`.

    What is no event of a provider is `None`.
    """
    if isinstance(raw, str):
        return _load_data(raw, "message")
    if isinstance(raw, NamedEvent):
        return _load_data(raw.data, raw.event)
    if isinstance(raw, StrayLine):
        return _load_stray(raw.line)
    if isinstance(raw, OtherLine):
        return _load_json(raw.line.strip())
    return raw


def _follows(first: str, text: str) -> bool:
    """Return whether a text begins a new line, although no line end stands before it."""
    first = first.lstrip(_BLANK)
    if first.startswith("{"):
        return text.startswith("{") and isinstance(load_json(first), dict)
    if not _FIELD.match(text):
        return False
    if not first.startswith("data:"):
        return first.startswith(":") or _FIELD.match(first) is not None
    data = first.removeprefix("data:").strip()
    return data in _DONE_FORMS or isinstance(load_json(data), dict)


def _find(framing: Framing, before: str, text: str, events: list[RawEvent]) -> Framing:
    """Add the events that a text completes, and return the framing after it."""
    if isinstance(framing, UnknownFraming):
        framing, text = _decide(framing, text)
    if isinstance(framing, OneDocument):
        framing, text = _grow(framing, text, events)
    if isinstance(framing, SseRest):
        rest, found = feed_sse(framing, text)
        events.extend(found)
        if rest.is_too_long and not framing.is_too_long:
            events.append(Failure(rest.error or ""))
        return rest
    if isinstance(framing, NdjsonRest):
        return _find_lines(framing, text, events)
    if isinstance(framing, ArrayRest):
        return _find_items(framing, text, events)
    if isinstance(framing, LineChunks):
        if before:
            _add_lines(before, events)
        _add_lines(text, events)
    return framing


def _find_lines(framing: NdjsonRest, text: str, events: list[RawEvent]) -> NdjsonRest:
    rest, lines = feed_ndjson(framing, text)
    events.extend([line if line[0] == "{" else OtherLine(line) for line in lines])
    if rest.is_too_long and not framing.is_too_long:
        events.append(Failure(rest.error or ""))
    return rest


def _find_items(framing: ArrayRest, text: str, events: list[RawEvent]) -> ArrayRest:
    rest, items = feed_array(framing, text)
    events.extend(items)
    if rest.error is not None and framing.error is None:
        events.append(Failure(rest.error) if rest.is_too_long else Damage(rest.error))
    return rest


def _add_lines(text: str, events: list[RawEvent]) -> None:
    """Add what lines without their ends are, as events whose blank lines may be missing too."""
    if "\n" in text or "\r" in text:
        for line in _LINE_END.split(text):
            _add_lines(line, events)
    elif text.startswith("data:"):
        events.append(text[5:])
    elif text.startswith("{"):
        events.append(text)
    elif text and not text.startswith(":") and (text.startswith(_ERROR) or not _FIELD.match(text)):
        events.append(StrayLine(text))


def _decide(framing: UnknownFraming, text: str) -> tuple[Framing, str]:
    """Return the framing, if it is known now, and the text to read."""
    opening = text.lstrip(_BLANK)
    blank = text.removesuffix(opening)
    after_space = blank.endswith((" ", "\t")) if blank else framing.after_space
    if not opening:
        return UnknownFraming(framing.max_chars, after_space), ""
    if opening[0] == "[":
        return ArrayRest(framing.max_chars), opening
    if opening[0] == "{":
        return OneDocument(framing.max_chars, GrowingText("")), opening
    return start_sse(framing.max_chars), " " + opening if after_space else opening


def _grow(framing: OneDocument, text: str, events: list[RawEvent]) -> tuple[Framing, str]:
    """Return a document with more text, or lines if its first one is a document by itself, and what is left to read."""
    grown = framing.text.append(text)
    is_one = framing.is_one
    if not is_one and "\n" in text:
        whole = grown.read()
        line, _, _ = whole.partition("\n")
        if isinstance(load_json(line), dict):
            return start_ndjson(framing.max_chars), whole
        is_one = True
    if grown.length <= framing.max_chars:
        return OneDocument(framing.max_chars, grown, is_one), ""
    rest = NdjsonRest(framing.max_chars, None, True)
    events.append(Failure(rest.error or ""))
    return rest, ""


def _load_data(text: str, name: str) -> Loaded | None:
    """Return what the data of an event with this name is, `None` for what is no event of a provider."""
    text = text.strip()
    if not text:
        return None
    event = _load_json(text)
    return None if isinstance(event, Damage) and _is_harmless(text, name) else event


def _load_json(text: str) -> Loaded:
    """Return the JSON object that a stripped text is, `DONE`, or `Damage`."""
    if text in _DONE_FORMS:
        return DONE
    event = load_json(text) if text.startswith("{") else None
    if has_lone_surrogate(text):
        return Damage(f"an event of the stream is not UTF-8: {beginning(text)}")
    return event if isinstance(event, dict) else Damage(f"an event of the stream is not JSON: {beginning(text)}")


def _is_harmless(text: str, name: str) -> bool:
    """Return whether data that is not JSON lost nothing: the rest of an object would end as one does."""
    if text.startswith("{") or text.endswith("}") or has_lone_surrogate(text):
        return False
    if name == "message":
        return text.lower().strip("[]").replace("-", "").replace("_", "") in _SIGNS
    return not is_provider_event(name)


def _load_stray(line: str) -> object:
    """Fields that the standard does not know are passed over; the rest of an event whose beginning is lost is none.

    llama.cpp has a field for errors.
    """
    message = load_json(line.removeprefix(_ERROR).strip()) if line.startswith(_ERROR) else None
    if isinstance(message, dict) and not has_lone_surrogate(line):
        return message if "error" in message else {"error": message}
    if "}" not in line and not has_lone_surrogate(line):
        return None
    return Damage(f"a line of the stream belongs to no event: {beginning(line)}")


def _load_last(text: str) -> Loaded:
    """Return the event that the stream ends with, and nothing but its own end shows that it is whole."""
    event = _load_json(text.strip())
    return Damage(f"{_CUT_OFF}: {beginning(text)}") if isinstance(event, Damage) else event


def _finish_sse(rest: SseRest, events: list[RawEvent]) -> None:
    """Add what the stream ends with if no blank line ended it: an event that is whole, or the rest of one."""
    event, line = rest_of_sse(rest)
    if event is None:
        stray = _load_stray(line)
        if isinstance(stray, dict):
            events.append(stray)
        elif line:
            events.append(Damage(f"{_CUT_OFF}: {beginning(line)}"))
        return
    data, name = (event.data, event.event) if isinstance(event, NamedEvent) else (event, "message")
    last = _load_last(data)
    is_whole = not line or line.startswith("data:")
    if isinstance(last, Damage):
        if line or _load_data(data, name) is not None:
            events.append(last)
    else:
        events.append(last if is_whole else Damage(f"{_CUT_OFF}: {beginning(data)}"))


def beginning(text: str) -> str:
    return repr(replaced(text[:SHOWN_CHARS]))
