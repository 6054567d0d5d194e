"""The raw bytes or text of a response in, the events in it out, as plain values.

Its first characters tell which form a response has:

    data: ...           server-sent events
    {...} on one line   lines of JSON, of which a whole completion may be the only one
    { or [ and more     one JSON document: a whole completion over many lines, or an array of events
    no line ends        the lines of one of the first two, as `iter_lines()` of many clients gives them

Rule: nothing raises on a stream, and nothing is lost in silence: what is not UTF-8, not JSON, or cut off is `Damage`.
Comments, empty data, lone words such as `ping`, and what has a name that no provider uses are no damage.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

from jsontide._textbuffer import GrowingText
from jsontide.adapters._chunks import Chunk
from jsontide.adapters._decode import START, TextState, decode, end_of, is_damaged, replaced
from jsontide.adapters._detect import detect
from jsontide.adapters._lines import MOST, TOO_LONG
from jsontide.adapters._ndjson import NdjsonState, read_ndjson, rest_of_ndjson
from jsontide.adapters._sse import SseEvent, SseState, read_sse, rest_of_sse
from jsontide.messages import CompletionChunk

DONE: Final = "[DONE]"
"""What many servers send after the last event."""
BLANK: Final = b" \t\r\n\xef\xbb\xbf"
SHOWN: Final = 100
"""How many characters of a stream an error shows."""

_BLANK: Final = BLANK.decode()
_WORD: Final = re.compile(r"\[?[A-Za-z][\w.-]*\]?")
_FIELD: Final = re.compile("(data|event|id|retry):")
_LINE_END: Final = re.compile("[\r\n]")
_CUT_OFF: Final = "the stream ends in the middle of an event"

_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class Damage:
    """An event of which something is lost."""

    said: str
    """What is wrong with it, for people."""


@dataclass(frozen=True, slots=True)
class Undecided:
    """Nothing but white space and a byte order mark so far, which may be cut off."""

    after_space: bool = False
    """Whether there is a space before what comes next: such a line is no field of an event."""


@dataclass(frozen=True, slots=True)
class Document:
    """A text that begins as a JSON document does, and is read when it ends."""

    text: GrowingText
    is_one: bool
    """Whether it is known to be one document, and not the first of many lines."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Every chunk is a line."""


Form: TypeAlias = Undecided | SseState | NdjsonState | Document | Lines


@dataclass(frozen=True, slots=True)
class WireState:
    """Where a response stands; it never changes."""

    form: Form = Undecided()
    text: TextState = START
    first: str | None = ""
    """The first chunk, while it may be a line without its end; `None` when it is known not to be."""
    begun: str = ""
    """What it begins with, as much of it as an error shows."""


def decode_wire(state: WireState, chunk: Chunk) -> tuple[WireState, Iterator[object]]:
    """Return the state after a chunk, and the events that it completed, each read when it is asked for.

    An event is a JSON object, `DONE` where the server says so, `Damage`, or an error as `CompletionChunk`.
    """
    decoding, text = decode(state.text, chunk)
    form, first = state.form, state.first
    before = ""
    if first is not None and (first or text.strip(_BLANK)):
        has_end = _LINE_END.search(text) is not None
        if first and not has_end and _follows(first, text):
            form, before = Lines(), first
        if text:
            first = None if first or has_end else text
    form, events = _read_all(form, before, text)
    begun = state.begun if len(state.begun) >= SHOWN else (state.begun + text)[:SHOWN]
    return WireState(form, decoding, first, begun), events


def finish_wire(state: WireState) -> Iterator[object]:
    """Return the events that the end of the stream completes."""
    form, events = _read_all(state.form, "", end_of(state.text))
    yield from events
    match form:
        case SseState():
            yield from _rest_of_events(form)
        case NdjsonState():
            yield from map(_last_event, rest_of_ndjson(form))
        case Document():
            yield from _document(str(form.text))


def _follows(first: str, text: str) -> bool:
    """Tell whether a text begins a line after a first one, although there is no line end between them."""
    first = first.lstrip(_BLANK)
    if first.startswith("{"):
        return text.startswith("{") and isinstance(_loaded(first), dict)
    if not _FIELD.match(text):
        return False
    if not first.startswith("data:"):
        return first.startswith(":") or _FIELD.match(first) is not None
    data = first.removeprefix("data:").strip()
    return data == DONE or isinstance(_loaded(data), dict)


def _read_all(form: Form, before: str, text: str) -> tuple[Form, Iterator[object]]:
    if isinstance(form, Lines):
        return form, _present(_line_event, [line for one in (before, text) for line in _LINE_END.split(one)])
    if isinstance(form, Undecided):
        form, text = _decided(form, text)
    if isinstance(form, Document):
        form, text = _grown(form, text)
    match form:
        case SseState():
            form, found = read_sse(form, text)
            return form, _with_failure(form, _present(_found_event, found))
        case NdjsonState():
            form, lines = read_ndjson(form, text)
            return form, _with_failure(form, _present(_json_event, lines))
        case _:
            return form, iter(())


def _with_failure(form: SseState | NdjsonState, events: Iterator[object]) -> Iterator[object]:
    yield from events
    if form.error is not None:
        yield CompletionChunk(error=form.error)


def _decided(form: Undecided, text: str) -> tuple[Form, str]:
    """Return the form of the stream, if it is known now, and what there is to read."""
    begun = text.lstrip(_BLANK)
    blank = text.removesuffix(begun)
    after_space = blank.endswith((" ", "\t")) if blank else form.after_space
    if not begun:
        return Undecided(after_space), ""
    if begun[0] in "{[":
        return Document(GrowingText(), is_one=begun[0] == "["), begun
    return SseState(), " " * after_space + begun


def _grown(form: Document, text: str) -> tuple[Form, str]:
    """Return a document with more text, or lines if its first one is a document by itself, and what is left to read."""
    grown = form.text.append(text)
    if not form.is_one and "\n" in text:
        line, _, _ = str(grown).partition("\n")
        if isinstance(_loaded(line), dict):
            return NdjsonState(), str(grown)
        return Document(grown, is_one=True), ""
    if len(grown) > MOST:
        return NdjsonState(TOO_LONG), ""
    return Document(grown, form.is_one), ""


def _present(read: Callable[[_Read], object], found: Iterable[_Read]) -> Iterator[object]:
    return (event for event in map(read, found) if event is not None)


def _found_event(found: SseEvent | str) -> object:
    return _stray(found) if isinstance(found, str) else _event(found.data, found.event)


def _event(text: str, name: str) -> object:
    """Return what the data of an event is, `None` for what is no event of a provider."""
    text = text.strip()
    if not text:
        return None
    event = _json_event(text)
    return None if isinstance(event, Damage) and _is_harmless(text, name) else event


def _json_event(text: str) -> object:
    text = text.strip()
    if text == DONE:
        return DONE
    if is_damaged(text):
        return Damage(f"an event of the stream is not UTF-8: {beginning(text)}")
    event = _loaded(text)
    return event if isinstance(event, dict) else Damage(f"an event of the stream is not JSON: {beginning(text)}")


def _is_harmless(text: str, name: str) -> bool:
    """Tell whether data that is no JSON object is none of a provider: the rest of an object would end as one does."""
    if text.startswith("{") or text.endswith("}") or is_damaged(text):
        return False
    if name == "message":
        return _WORD.fullmatch(text) is not None
    return detect({"type": name}) is None


def _stray(line: str) -> object:
    """Fields that the standard does not know are passed over; the rest of an event whose beginning is lost is none."""
    if "}" not in line and not is_damaged(line):
        return None
    return Damage(f"a line of the stream belongs to no event: {beginning(line)}")


def _line_event(line: str) -> object:
    if line.startswith("data:"):
        return _event(line.removeprefix("data:"), "message")
    if line.startswith("{"):
        return _json_event(line)
    return None if line.startswith(":") or _FIELD.match(line) else _stray(line)


def _last_event(text: str) -> object:
    """Return the event that the stream ends with, whose end nothing tells but its own."""
    event = _json_event(text)
    return Damage(f"{_CUT_OFF}: {beginning(text)}") if isinstance(event, Damage) else event


def _rest_of_events(form: SseState) -> Iterator[object]:
    """Yield what the stream ends with if no blank line ended it: an event that is whole, or the rest of one."""
    event, line = rest_of_sse(form)
    if event is not None and (not line or line.startswith("data:")):
        read = _last_event(event.data)
        if not isinstance(read, Damage):
            yield read
            return
        if not line and _event(event.data, event.event) is None:
            return
    if event is not None or line:
        yield Damage(f"{_CUT_OFF}: {beginning(line if event is None else event.data)}")


def _document(text: str) -> Iterator[object]:
    """Yield the object that a document is, or those in an array, as Gemini streams them unless asked for events."""
    whole = _loaded(text)
    if not isinstance(whole, list) or is_damaged(text):
        yield _last_event(text)
        return
    for event in whole:
        yield event if isinstance(event, dict) else Damage(f"an event of the stream is not JSON: {beginning(text)}")


def _loaded(text: str) -> object:
    """Return the value of a JSON text, `None` if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def beginning(text: str) -> str:
    return repr(replaced(text[:SHOWN]))
