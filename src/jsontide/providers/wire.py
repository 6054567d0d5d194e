"""The raw bytes or text of a response in, the events in it out: found first, and each loaded when it is asked for.

Its first characters show which form a response has:

    data: ...           server-sent events
    {...} on one line   lines of JSON, of which a whole completion may be the only one
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

from jsontide._textbuffer import GrowingText, has_half
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
SHOWN: Final = 100
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
    """An event of which something is lost."""

    __slots__ = ("said",)

    def __init__(self, said: str) -> None:
        self.said: Final = said
        """What is wrong with it, for people."""

    def _fields(self) -> tuple[object, ...]:
        return (self.said,)


class Failure(Value):
    """The end of a stream of which more is not read."""

    __slots__ = ("said",)

    def __init__(self, said: str) -> None:
        self.said: Final = said
        """Why it is not, for people."""

    def _fields(self) -> tuple[object, ...]:
        return (self.said,)


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


class Undecided(Value):
    """Nothing but white space and a byte order mark so far, which may be cut off."""

    __slots__ = ("after_space", "max_chars")

    def __init__(self, max_chars: int, after_space: bool) -> None:
        self.max_chars: Final = max_chars
        self.after_space: Final = after_space
        """Whether there is a space before what comes next: such a line is no field of an event."""

    def _fields(self) -> tuple[object, ...]:
        return self.max_chars, self.after_space


class Document(Value):
    """A text that begins as a JSON document does, and is read when it ends."""

    __slots__ = ("is_one", "max_chars", "text")

    def __init__(self, max_chars: int, text: GrowingText, is_one: bool = False) -> None:
        self.max_chars: Final = max_chars
        self.text: Final = text
        self.is_one: Final = is_one
        """Whether it is known to be one document, and not the first of many lines."""

    def _fields(self) -> tuple[object, ...]:
        return self.max_chars, self.text, self.is_one


class Lines(Value):
    """Every chunk is a line."""

    __slots__ = ()

    def _fields(self) -> tuple[object, ...]:
        return ()


Form: TypeAlias = Undecided | SseRest | NdjsonRest | ArrayRest | FrameRest | Document | Lines


class WireState(Value):
    """Where a response stands."""

    __slots__ = ("begun", "first", "form", "is_settled", "text")

    def __init__(self, form: Form, text: TextState = START_OF_TEXT, first: str | None = "", begun: str = "") -> None:
        self.form: Final = form
        self.text: Final = text
        self.first: Final = first
        """The first chunk, while it may be a line without its end; `None` when it is known not to be."""
        self.begun: Final = begun
        """What it begins with, as much of it as an error shows."""
        self.is_settled: Final = first is None and len(begun) >= SHOWN
        """Whether nothing is left to find out from the first chunks."""

    def _fields(self) -> tuple[object, ...]:
        return self.form, self.text, self.first, self.begun


def start_wire(max_chars: int = MAX_CHARS) -> WireState:
    """Return the state before the first chunk of a response whose events have so many characters at most."""
    return WireState(Undecided(max_chars, False))


START: Final = start_wire()


def feed_wire(state: WireState, chunk: Chunk) -> tuple[WireState, list[RawEvent]]:
    """Return the state after a chunk, and the events that it completed, each to be loaded by `load_event`."""
    if isinstance(state.form, FrameRest) or (not state.is_settled and _begins_frames(state, chunk)):
        return _find_frames(state, chunk)
    text_state, text = decode(state.text, chunk)
    form: Form = state.form
    first, begun, before = state.first, state.begun, ""
    if not state.is_settled:
        if first is not None and (first or text.strip(_BLANK)):
            has_end = _LINE_END.search(text) is not None
            if first and not has_end and _follows(first, text):
                form, before = Lines(), first
            if text:
                first = None if first or has_end else text
        begun = (begun + text)[:SHOWN]
    events: list[RawEvent] = []
    form = _find(form, before, text, events)
    if state.is_settled and form is state.form and text_state is state.text:
        return state, events
    return WireState(form, text_state, first, begun), events


def _begins_frames(state: WireState, chunk: Chunk) -> bool:
    """Tell whether the first byte of a response is one that no text begins with: the length of a frame does."""
    is_start = isinstance(state.form, Undecided) and not state.begun and state.text is START_OF_TEXT
    return is_start and not isinstance(chunk, str) and bytes(chunk[:1]) == b"\0"


def _find_frames(state: WireState, chunk: Chunk) -> tuple[WireState, list[RawEvent]]:
    form, begun = state.form, state.begun
    if not isinstance(form, FrameRest):
        form = FrameRest(form.max_chars if isinstance(form, Undecided) else MAX_CHARS)
    events: list[RawEvent] = []
    if isinstance(chunk, str):
        data = b""
        rest = FrameRest(form.max_bytes, None, 0, form.error or "a stream of bytes goes on as text")
    else:
        data = bytes(chunk)
        rest, found = feed_frames(form, data)
        events.extend(found)
    if rest.error is not None and form.error is None:
        events.append(Failure(rest.error))
    if len(begun) < SHOWN:
        begun = (begun + data.decode("latin-1"))[:SHOWN]
    return WireState(rest, state.text, None, begun), events


def finish_wire(state: WireState) -> list[RawEvent]:
    """Return the events that the end of the stream completes."""
    events: list[RawEvent] = []
    form = _find(state.form, "", end_of(state.text), events)
    if isinstance(form, SseRest):
        _finish_sse(form, events)
    elif isinstance(form, NdjsonRest):
        line = rest_of_ndjson(form)
        if line:
            events.append(_load_last(line))
    elif isinstance(form, Document):
        events.append(_load_last(form.text.read()))
    elif isinstance(form, ArrayRest):
        if form.error is None and not form.is_over:
            rest = "" if form.item is None else form.item.read()
            events.append(Damage(f"{_CUT_OFF}: {beginning(rest or state.begun)}"))
    elif isinstance(form, FrameRest) and form.data is not None:
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
    """Tell whether a text begins a line after a first one, although there is no line end between them."""
    first = first.lstrip(_BLANK)
    if first.startswith("{"):
        return text.startswith("{") and isinstance(load_json(first), dict)
    if not _FIELD.match(text):
        return False
    if not first.startswith("data:"):
        return first.startswith(":") or _FIELD.match(first) is not None
    data = first.removeprefix("data:").strip()
    return data in _DONE_FORMS or isinstance(load_json(data), dict)


def _find(form: Form, before: str, text: str, events: list[RawEvent]) -> Form:
    """Add the events that a text completes, and return the form of the stream after it."""
    if isinstance(form, Undecided):
        form, text = _decide(form, text)
    if isinstance(form, Document):
        form, text = _grow(form, text, events)
    if isinstance(form, SseRest):
        rest, found = feed_sse(form, text)
        events.extend(found)
        if rest.is_too_long and not form.is_too_long:
            events.append(Failure(rest.error or ""))
        return rest
    if isinstance(form, NdjsonRest):
        return _find_lines(form, text, events)
    if isinstance(form, ArrayRest):
        return _find_items(form, text, events)
    if isinstance(form, Lines):
        if before:
            _add_lines(before, events)
        _add_lines(text, events)
    return form


def _find_lines(form: NdjsonRest, text: str, events: list[RawEvent]) -> NdjsonRest:
    rest, lines = feed_ndjson(form, text)
    events.extend([line if line[0] == "{" else OtherLine(line) for line in lines])
    if rest.is_too_long and not form.is_too_long:
        events.append(Failure(rest.error or ""))
    return rest


def _find_items(form: ArrayRest, text: str, events: list[RawEvent]) -> ArrayRest:
    rest, items = feed_array(form, text)
    events.extend(items)
    if rest.error is not None and form.error is None:
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


def _decide(form: Undecided, text: str) -> tuple[Form, str]:
    """Return the form of the stream, if it is known now, and what there is to read."""
    begun = text.lstrip(_BLANK)
    blank = text.removesuffix(begun)
    after_space = blank.endswith((" ", "\t")) if blank else form.after_space
    if not begun:
        return Undecided(form.max_chars, after_space), ""
    if begun[0] == "[":
        return ArrayRest(form.max_chars), begun
    if begun[0] == "{":
        return Document(form.max_chars, GrowingText("")), begun
    return start_sse(form.max_chars), " " + begun if after_space else begun


def _grow(form: Document, text: str, events: list[RawEvent]) -> tuple[Form, str]:
    """Return a document with more text, or lines if its first one is a document by itself, and what is left to read."""
    grown = form.text.append(text)
    is_one = form.is_one
    if not is_one and "\n" in text:
        whole = grown.read()
        line, _, _ = whole.partition("\n")
        if isinstance(load_json(line), dict):
            return start_ndjson(form.max_chars), whole
        is_one = True
    if grown.length <= form.max_chars:
        return Document(form.max_chars, grown, is_one), ""
    rest = NdjsonRest(form.max_chars, None, True)
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
    if has_half(text):
        return Damage(f"an event of the stream is not UTF-8: {beginning(text)}")
    return event if isinstance(event, dict) else Damage(f"an event of the stream is not JSON: {beginning(text)}")


def _is_harmless(text: str, name: str) -> bool:
    """Tell whether data that is no JSON object is none of a provider: the rest of an object would end as one does."""
    if text.startswith("{") or text.endswith("}") or has_half(text):
        return False
    if name == "message":
        return text.lower().strip("[]").replace("-", "").replace("_", "") in _SIGNS
    return not is_provider_event(name)


def _load_stray(line: str) -> object:
    """Fields that the standard does not know are passed over; the rest of an event whose beginning is lost is none.

    llama.cpp has a field for errors.
    """
    said = load_json(line.removeprefix(_ERROR).strip()) if line.startswith(_ERROR) else None
    if isinstance(said, dict) and not has_half(line):
        return said if "error" in said else {"error": said}
    if "}" not in line and not has_half(line):
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
    return repr(replaced(text[:SHOWN]))
