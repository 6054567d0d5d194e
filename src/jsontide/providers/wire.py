"""The raw bytes or text of a response in, the events in it out: found first, and each loaded when it is asked for.

Its first characters show which framing a response has, as `sniff` decides:

    data: ...           server-sent events, by the rules of the WHATWG HTML standard, section 9.2
    {...} on one line   lines of JSON; a whole completion may be the only line
    { and more          one JSON document: a whole completion over many lines
    [                   an array of events, as Gemini streams unless it is asked for server-sent events
    a byte that is 0    frames of an AWS event stream (`application/vnd.amazon.eventstream`)
    no line ends        the lines of one of the first two, as `iter_lines()` of many clients gives them

The reader of each framing takes what waits for more and the next piece; it returns what waits now and what is complete.

Rule: nothing raises on a stream, and nothing is lost in silence: what is not UTF-8, not JSON, or cut off is `Damage`.
Comments, empty data, signs of life such as `ping`, and what has a name that no provider uses are no damage.
What is longer than it may be, or a frame whose checksums are wrong, is the end: nothing that follows is read.
"""

from __future__ import annotations

import re
from codecs import register_error, utf_8_decode
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias
from zlib import crc32

from jsontide._sniff import BLANK, sniff
from jsontide._textbuffer import NO_TEXT, GrowingText, has_lone_surrogate
from jsontide._values import Chunk
from jsontide.messages.record import Value
from jsontide.providers.base import load_json, scan_json
from jsontide.providers.registry import is_provider_event
from jsontide.text import Limits
from jsontide.text.strings import plain_end

if TYPE_CHECKING:
    from mypy_extensions import i64

# Text.
#
# What is not UTF-8 becomes `DAMAGE`, half a surrogate pair without its other half stays as it is: neither can come from
# valid UTF-8, so `has_lone_surrogate` finds both. A byte order mark at the start is passed over.

# Surrogates are written as numbers: the compiler has no text for them.
DAMAGE: Final = chr(0xDFFF)
"""Stands for bytes that are not UTF-8; there are as many as a decoder that replaces them would write U+FFFD."""

_BYTE_ORDER_MARK: Final = "\ufeff"
_UTF_16: Final = "utf-16-le"
_DAMAGE_HANDLER: Final = "jsontide-damage"
_LIKE_BYTES: Final[Any] = (bytes, bytearray, memoryview)


def _mark_damage(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return DAMAGE, error.end


register_error(_DAMAGE_HANDLER, _mark_damage)


class TextState(Value):
    """Where the decoding of a stream stands."""

    __slots__ = ("half", "is_start", "pending")

    FIELDS: ClassVar[tuple[str, ...]] = ("pending", "half", "is_start")

    def __init__(self, pending: bytes, half: str, is_start: bool) -> None:
        self.pending: Final = pending
        """The beginning of a character that is not complete yet, of bytes."""
        self.half: Final = half
        """The first half of one, of text."""
        self.is_start: Final = is_start


START_OF_TEXT: Final = TextState(b"", "", True)
_AFTER_START: Final = TextState(b"", "", False)


def decode(state: TextState, chunk: object) -> tuple[TextState, str]:
    """Return the state after a chunk, and the text that is certain now."""
    if type(chunk) is bytes:
        return _decode_bytes(state, chunk)
    if isinstance(chunk, str):
        # A subclass of `str`, such as those for HTML, may slice and join in its own way.
        return _decode_str(state, str.__str__(chunk))
    if isinstance(chunk, _LIKE_BYTES):
        return _decode_bytes(state, bytes(chunk))
    raise TypeError(f"a chunk must be str, bytes, bytearray or memoryview, not {type(chunk).__name__}")


def _decode_bytes(state: TextState, data: bytes) -> tuple[TextState, str]:
    if not data:
        return state, ""
    if state is _AFTER_START and data[-1] < 0x80:
        try:
            return state, data.decode()
        except UnicodeDecodeError:
            pass  # decoded again, with marks
    data = state.pending + data
    text, used = utf_8_decode(data, _DAMAGE_HANDLER, False)
    return _after(state, state.half + text, data[used:], "")


def _decode_str(state: TextState, chunk: str) -> tuple[TextState, str]:
    if not chunk or (state is _AFTER_START and chunk.isascii()):
        return state, chunk
    text, half = end_of(state) + chunk, ""
    if has_lone_surrogate(text):
        text = text.encode(_UTF_16, "surrogatepass").decode(_UTF_16, "surrogatepass")
        if 0xD800 <= ord(text[-1]) < 0xDC00:
            text, half = text[:-1], text[-1]
    return _after(state, text, b"", half)


def _after(state: TextState, text: str, pending: bytes, half: str) -> tuple[TextState, str]:
    is_start = state.is_start and not text
    if state.is_start:
        text = text.removeprefix(_BYTE_ORDER_MARK)
    return TextState(pending, half, is_start) if pending or half or is_start else _AFTER_START, text


def end_of(state: TextState) -> str:
    """Return what waits for more that does not come: it is damaged."""
    return DAMAGE if state.pending else state.half


def replaced(text: str) -> str:
    """Return a text as the standards want it decoded, with U+FFFD for what is not UTF-8."""
    return text if text.isascii() else text.replace(DAMAGE, "\ufffd")


# Server-sent events. The usual one, which has data and nothing else, is the `str` of its data.

MAX_CHARS: Final[int] = Limits().max_chars
"""Characters of a line or an event, unless another limit is asked for: as many as the parser takes."""

_MILLISECONDS: Final = re.compile("[0-9]{1,18}")
_D: Final = 100
_E: Final = 101


class NamedEvent(Value):
    """An event with more than data."""

    __slots__ = ("data", "event", "id", "retry")

    FIELDS: ClassVar[tuple[str, ...]] = ("data", "event", "id", "retry")

    def __init__(self, data: str, event: str, last_id: str, retry: int | None) -> None:
        self.data: Final = data
        self.event: Final = event
        self.id: Final = last_id
        self.retry: Final = retry


class StrayLine(Value):
    """A line that is neither a field of an event nor a comment."""

    __slots__ = ("line",)

    FIELDS: ClassVar[tuple[str, ...]] = ("line",)

    def __init__(self, line: str) -> None:
        self.line: Final = line


Found: TypeAlias = str | NamedEvent | StrayLine


class OpenEvent(Value):
    """What is known of the event that is open, and what the stream said of all that follow."""

    __slots__ = ("data", "event", "id", "retry")

    FIELDS: ClassVar[tuple[str, ...]] = ("data", "event", "id", "retry")

    def __init__(self, data: GrowingText | None, event: str, last_id: str, retry: int | None) -> None:
        self.data: Final = data
        """The data lines so far, each with a newline."""
        self.event: Final = event
        self.id: Final = last_id
        self.retry: Final = retry

    def add(self, line: str) -> OpenEvent | None:
        """Return the event with one more line, `None` if that is neither a field nor a comment."""
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            value += "\n"
            data = GrowingText(value) if self.data is None else self.data.append(value)
            return OpenEvent(data, self.event, self.id, self.retry)
        if field == "event":
            return OpenEvent(self.data, value, self.id, self.retry)
        if field == "id":
            return self if "\0" in value else OpenEvent(self.data, self.event, value, self.retry)
        if field == "retry":
            is_time = _MILLISECONDS.fullmatch(value) is not None
            return OpenEvent(self.data, self.event, self.id, int(value)) if is_time else self
        return None if field else self

    def next(self) -> OpenEvent:
        """Return what is known of the event after this one."""
        if self.id or self.retry is not None:
            return OpenEvent(None, "", self.id, self.retry)
        return NO_EVENT

    def whole(self, data: str) -> str | NamedEvent:
        if self.event or self.id or self.retry is not None:
            return NamedEvent(data, self.event or "message", self.id, self.retry)
        return data

    def finish(self) -> str | NamedEvent | None:
        return None if self.data is None else self.whole(self.data.read()[:-1])


NO_EVENT: Final = OpenEvent(None, "", "", None)


class SseRest(Value):
    """What waits for more text: the line and the event that are open."""

    __slots__ = ("after_cr", "event", "is_too_long", "line", "max_chars")

    FIELDS: ClassVar[tuple[str, ...]] = ("max_chars", "line", "event", "after_cr", "is_too_long")

    def __init__(
        self,
        max_chars: int,
        line: GrowingText | None = None,
        event: OpenEvent = NO_EVENT,
        after_cr: bool = False,
        is_too_long: bool = False,
    ) -> None:
        self.max_chars: Final = max_chars
        """The most that an event or a line may have."""
        self.line: Final = line
        self.event: Final = event
        self.after_cr: Final = after_cr
        """Whether a LF that comes next belongs to the line end before it."""
        self.is_too_long: Final = is_too_long
        """Whether there was an event with more characters than it may have."""

    @property
    def error(self) -> str | None:
        """Why reading stopped, if it did."""
        return f"an event is longer than {self.max_chars} characters" if self.is_too_long else None


def feed_sse(rest: SseRest, text: str, found: list[Any]) -> SseRest:
    """Return what waits after more text, and add what it completed, each a `Found`."""
    if rest.is_too_long or not text:
        return rest
    after_cr = text.endswith("\r")
    if rest.after_cr or "\r" in text:
        text = text.removeprefix("\n") if rest.after_cr else text
        text = text.replace("\r\n", "\n")
        text = text.replace("\r", "\n") if "\r" in text else text
    line = rest.line
    event: OpenEvent | None = rest.event
    if line is not None and "\n" not in text:
        line = line.append(text)
    else:
        text = text if line is None else line.read() + text
        event, at = _read_lines(rest, text, found)
        line = GrowingText(text[at:]) if at < len(text) else None
    if event is None or (line is not None and line.length > rest.max_chars):
        return SseRest(rest.max_chars, is_too_long=True)
    if line is None and rest.line is None and event is rest.event and after_cr is rest.after_cr:
        return rest  # as between most events
    return SseRest(rest.max_chars, line, event, after_cr)


def _read_lines(rest: SseRest, text: str, found: list[Any]) -> tuple[OpenEvent | None, int]:
    """Return the event that is open after all lines that end, `None` if one is too long, and where the rest begins."""
    most = rest.max_chars
    event = rest.event
    at = 0
    while True:
        end = text.find("\n", at)
        if end < 0:
            return event, at
        if end - at > most:
            return None, at
        first = ord(text[at])  # asked first, because a slice takes longer
        is_usual = first == _D and event.data is None and text[at : at + 6] == "data: "
        if is_usual and end + 1 < len(text) and text[end + 1] == "\n":
            # The usual event: one line of data, and a blank one.
            found.append(event.whole(text[at + 6 : end]))
            event = event.next()
            at = end + 2
            continue
        if first == _E and text[at : at + 7] == "event: ":
            event = OpenEvent(event.data, text[at + 7 : end], event.id, event.retry)
        elif at == end:
            whole = event.finish()
            if whole is not None:
                found.append(whole)
            event = event.next()
        else:
            added = event.add(text[at:end])
            if added is None:
                found.append(StrayLine(text[at:end]))
            elif added.data is not None and added.data.length > most + 1:  # the last newline is not part of the data
                return None, at
            else:
                event = added
        at = end + 1


def rest_of_sse(rest: SseRest) -> tuple[str | NamedEvent | None, str]:
    """Return the event that no blank line ended, if it has data, and the last line, if nothing ended that."""
    line = "" if rest.line is None else rest.line.read()
    event = (rest.event.add(line) if line else None) or rest.event
    return event.finish(), "" if line.startswith(":") else line


# Lines of JSON. Blank lines are passed over; the last line needs no line end.

_AROUND_LINES: Final = " \t\r"


class NdjsonRest(Value):
    """The line that waits for its end."""

    __slots__ = ("is_too_long", "line", "max_chars")

    FIELDS: ClassVar[tuple[str, ...]] = ("max_chars", "line", "is_too_long")

    def __init__(self, max_chars: int, line: GrowingText | None = None, is_too_long: bool = False) -> None:
        self.max_chars: Final = max_chars
        """The most that a line may have."""
        self.line: Final = line
        self.is_too_long: Final = is_too_long

    @property
    def error(self) -> str | None:
        """Why reading stopped, if it did."""
        return f"a line is longer than {self.max_chars} characters" if self.is_too_long else None


def feed_ndjson(rest: NdjsonRest, text: str) -> tuple[NdjsonRest, list[str]]:
    """Return what waits after more text, and the lines that it ended."""
    found: list[str] = []
    if rest.is_too_long or not text:
        return rest, found
    line, most = rest.line, rest.max_chars
    at, end = 0, text.find("\n")
    while end >= 0:
        whole = text[at:end] if line is None else line.read() + text[at:end]
        line = None
        if len(whole) > most:
            return NdjsonRest(most, is_too_long=True), found
        stripped = whole.strip(_AROUND_LINES)
        if stripped:
            found.append(stripped)
        at = end + 1
        end = text.find("\n", at)
    if at < len(text):
        last = text[at:]
        line = GrowingText(last) if line is None else line.append(last)
        if line.length > most:
            return NdjsonRest(most, is_too_long=True), found
    return rest if line is rest.line else NdjsonRest(most, line), found


def rest_of_ndjson(rest: NdjsonRest) -> str:
    """Return the last line, if the stream ended without a line end."""
    return "" if rest.line is None else rest.line.read().strip(_AROUND_LINES)


# A JSON array. Only what stands between items is judged here: anything but a comma, and everything after the array, is
# an error.

_IN_ITEM: Final = re.compile(r'["{}\[\]]')
_IN_STRING: Final = re.compile(r'["\\]')
_BETWEEN_ITEMS: Final = re.compile(r"[^ \t\r\n]")

_BAD_SEPARATOR: Final = "an event of the stream is not JSON: {!r} stands between the events of an array"
_ITEM_TOO_LONG: Final = "an event is longer than {} characters"

# What may come next between items.
_OPENING: Final = 0
_FIRST_ITEM: Final = 1
_ITEM: Final = 2
_COMMA: Final = 3
_CLOSED: Final = 4


class ArrayRest(Value):
    """The item that waits for its end, and what may come next."""

    __slots__ = ("depth", "error", "expected", "in_string", "is_escaped", "is_too_long", "item", "max_chars")

    FIELDS: ClassVar[tuple[str, ...]] = (
        "max_chars",
        "expected",
        "item",
        "depth",
        "in_string",
        "is_escaped",
        "error",
        "is_too_long",
    )

    def __init__(
        self,
        max_chars: int,
        expected: int = _OPENING,
        item: GrowingText | None = None,
        depth: int = 0,
        in_string: bool = False,
        is_escaped: bool = False,
        error: str | None = None,
        is_too_long: bool = False,
    ) -> None:
        self.max_chars: Final = max_chars
        """The most that an item may have."""
        self.expected: Final = expected
        self.item: Final = item
        self.depth: Final = depth
        """How many brackets are open in the item."""
        self.in_string: Final = in_string
        self.is_escaped: Final = is_escaped
        """Whether a backslash stands before what comes next."""
        self.error: Final = error
        """Why reading stopped, if it did."""
        self.is_too_long: Final = is_too_long

    @property
    def is_over(self) -> bool:
        """Whether the array is closed."""
        return self.expected == _CLOSED and self.error is None


def feed_array(rest: ArrayRest, text: str) -> tuple[ArrayRest, list[str]]:
    """Return what waits after more text, and the items that it closed."""
    found: list[str] = []
    at = 0
    while at < len(text) and rest.error is None:
        if rest.item is None:
            rest, at = _read_between(rest, text, at)
            continue
        end, depth, in_string, is_escaped = _find_item_end(rest, text, at)
        item = rest.item.append(text[at : len(text) if end < 0 else end])
        if item.length > rest.max_chars:
            return ArrayRest(
                rest.max_chars, _CLOSED, error=_ITEM_TOO_LONG.format(rest.max_chars), is_too_long=True
            ), found
        if end < 0:
            return ArrayRest(rest.max_chars, rest.expected, item, depth, in_string, is_escaped), found
        found.append(item.read())
        rest, at = ArrayRest(rest.max_chars, _COMMA), end
    return rest, found


def _read_between(rest: ArrayRest, text: str, at: int) -> tuple[ArrayRest, int]:
    match = _BETWEEN_ITEMS.search(text, at)
    if match is None:
        return rest, len(text)
    at, mark, expected = match.start(), match.group(), rest.expected
    after = -1
    if expected == _OPENING:
        after = _FIRST_ITEM if mark == "[" else -1
    elif mark == "{" and expected in (_FIRST_ITEM, _ITEM):
        return ArrayRest(rest.max_chars, _ITEM, NO_TEXT), at
    elif mark == "," and expected == _COMMA:
        after = _ITEM
    elif mark == "]" and expected in (_FIRST_ITEM, _COMMA):
        after = _CLOSED
    if after < 0:
        return ArrayRest(rest.max_chars, _CLOSED, error=_BAD_SEPARATOR.format(replaced(mark))), len(text)
    return ArrayRest(rest.max_chars, after), at + 1


def _find_item_end(rest: ArrayRest, text: str, at: int) -> tuple[int, int, bool, bool]:
    """Return where the open item ends, -1 if it does not, and how many brackets and which string are open then."""
    depth, in_string = rest.depth, rest.in_string
    if rest.is_escaped:
        at += 1
    while True:
        match = (_IN_STRING if in_string else _IN_ITEM).search(text, at)
        if match is None:
            return -1, depth, in_string, False
        mark, at = match.group(), match.end()
        if mark == '"':
            in_string = not in_string
        elif mark == "\\":
            if at == len(text):
                return -1, depth, True, True
            at += 1
        elif mark in "{[":
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                return at, 0, False, False


# Frames of an AWS event stream, with numbers in network order:
#
#    total length       4 bytes
#    length of headers  4 bytes
#    CRC-32 of both     4 bytes
#    headers            each a name, a type and a value
#    payload            JSON
#    CRC-32 of all      4 bytes
#
# An event is a dict of one member, as boto3 gives it: its type and its payload; so is an exception.

_PRELUDE_LENGTH: Final = 12
_CHECKSUM_LENGTH: Final = 4
_MIN_FRAME_LENGTH: Final = 16
_LATIN_1: Final = "latin-1"
"""A character for each byte, so that they grow as texts do."""
_HEADER_WIDTHS: Final = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""How many bytes the values of headers have; those of the other types say it."""
_HEADERS_WITH_LENGTH: Final = (6, 7)
_DAMAGED_FRAME: Final = "a frame of the stream is damaged: {}"


class FrameRest(Value):
    """The frame that waits for its end."""

    __slots__ = ("data", "error", "max_bytes", "needed")

    FIELDS: ClassVar[tuple[str, ...]] = ("max_bytes", "data", "needed", "error")

    def __init__(
        self, max_bytes: int, data: GrowingText | None = None, needed: int = _PRELUDE_LENGTH, error: str | None = None
    ) -> None:
        self.max_bytes: Final = max_bytes
        """The most that a frame may have."""
        self.data: Final = data
        self.needed: Final = needed
        """How many bytes there must be before there is something to read."""
        self.error: Final = error
        """Why reading stopped, if it did."""


def feed_frames(rest: FrameRest, chunk: bytes) -> tuple[FrameRest, list[dict[str, Any]]]:
    """Return what waits after more bytes, and the events that they completed."""
    found: list[dict[str, Any]] = []
    if rest.error is not None or not chunk:
        return rest, found
    piece = chunk.decode(_LATIN_1)
    text = GrowingText(piece) if rest.data is None else rest.data.append(piece)
    if text.length < rest.needed:
        return FrameRest(rest.max_bytes, text, rest.needed), found
    data = text.read().encode(_LATIN_1)
    at = 0
    while True:
        left = len(data) - at
        if left < _PRELUDE_LENGTH:
            needed = _PRELUDE_LENGTH
            break
        needed = _number(data, at, 4)
        error = _check_prelude(data, at, needed, rest.max_bytes)
        if error is None and left >= needed:
            error = _read_frame(data[at : at + needed], found)
        if error is not None:
            return FrameRest(rest.max_bytes, None, 0, error), found
        if left < needed:
            break
        at += needed
    waiting = data[at:]
    return FrameRest(rest.max_bytes, GrowingText(waiting.decode(_LATIN_1)) if waiting else None, needed), found


def _number(data: bytes, at: int, width: int) -> int:
    return int.from_bytes(data[at : at + width], "big")


def _check_prelude(data: bytes, at: int, total: int, most: int) -> str | None:
    if crc32(data[at : at + 8]) != _number(data, at + 8, 4):
        return _DAMAGED_FRAME.format("the checksum of its lengths is wrong")
    if total < _MIN_FRAME_LENGTH or _number(data, at + 4, 4) > total - _MIN_FRAME_LENGTH:
        return _DAMAGED_FRAME.format("its lengths are wrong")
    return f"a frame is longer than {most} bytes" if total > most else None


def _read_frame(frame: bytes, found: list[dict[str, Any]]) -> str | None:
    """Add the event of a frame, or return what is wrong with it."""
    end = len(frame) - _CHECKSUM_LENGTH
    if crc32(frame[:end]) != _number(frame, end, _CHECKSUM_LENGTH):
        return _DAMAGED_FRAME.format("its checksum is wrong")
    begin = _PRELUDE_LENGTH + _number(frame, 4, 4)
    headers = _read_headers(frame, begin)
    if headers is None:
        return _DAMAGED_FRAME.format("its headers are wrong")
    kind = headers.get(":message-type", "event")
    if kind == "error":
        found.append({"error": {"code": headers.get(":error-code"), "message": headers.get(":error-message")}})
        return None
    name = headers.get(":exception-type" if kind == "exception" else ":event-type")
    try:
        payload = frame[begin:end].decode()
    except UnicodeDecodeError:
        return _DAMAGED_FRAME.format("its payload is not UTF-8")
    value = load_json(payload.strip()) if payload.strip() else {}
    if name is None or not isinstance(value, dict):
        return _DAMAGED_FRAME.format("its payload is not an event")
    found.append({name: value})
    return None


def _read_headers(frame: bytes, end: int) -> dict[str, str] | None:
    """Return the headers that are texts, `None` if they are not headers."""
    headers: dict[str, str] = {}
    at = _PRELUDE_LENGTH
    while at < end:
        begin = at + 1
        at = begin + frame[begin - 1]
        name = frame[begin:at]
        if at >= end:
            return None
        kind = frame[at]
        at += 1
        if kind in _HEADERS_WITH_LENGTH:
            width = _number(frame, at, 2)
            at += 2
        else:
            width = _HEADER_WIDTHS.get(kind, -1)
        if width < 0 or at + width > end:
            return None
        if kind == 7:
            headers[name.decode("utf-8", "replace")] = frame[at : at + width].decode("utf-8", "replace")
        at += width
    return headers


# All framings.

DONE: Final = "[DONE]"
"""What many servers send after the last event."""
SHOWN_CHARS: Final = 100
"""How many characters of a stream an error shows."""

_DONE_FORMS: Final = (DONE, '"[DONE]"')
_ERROR: Final = "error:"
_BLANK: Final = BLANK.decode()
_SIGNS_OF_LIFE: Final = frozenset(
    (
        *("alive", "connected", "end", "heartbeat", "keepalive", "noop", "null", "ok", "open", "ping", "pong"),
        *("start", "started"),
    )
)
"""Words that servers and proxies send in place of an event, as a sign of life; any other may be the rest of one."""
_FIELD: Final = re.compile("(data|event|id|retry|error):")
_UNKNOWN_FIELD: Final = re.compile("[A-Za-z][A-Za-z0-9_-]*:")
_LINE_END: Final = re.compile("[\r\n]")
_CUT_OFF: Final = "the stream ends in the middle of an event"


class Damage(Value):
    """An event that lost something."""

    __slots__ = ("message",)

    FIELDS: ClassVar[tuple[str, ...]] = ("message",)

    def __init__(self, message: str) -> None:
        self.message: Final = message
        """For people."""


class Failure(Damage):
    """The end of a stream that is not read further."""

    __slots__ = ()


class OtherLine(Value):
    """A line of JSON that does not begin as an object does."""

    __slots__ = ("line",)

    FIELDS: ClassVar[tuple[str, ...]] = ("line",)

    def __init__(self, line: str) -> None:
        self.line: Final = line


Loaded: TypeAlias = str | Damage | Failure | dict[str, Any]
RawEvent: TypeAlias = Loaded | NamedEvent | StrayLine | OtherLine
"""An event that is found but not loaded, unless it had to be loaded to find it."""


class UnknownFraming(Value):
    """Nothing but white space and a byte order mark so far, which may be cut off."""

    __slots__ = ("after_space", "max_chars")

    FIELDS: ClassVar[tuple[str, ...]] = ("max_chars", "after_space")

    def __init__(self, max_chars: int, after_space: bool) -> None:
        self.max_chars: Final = max_chars
        self.after_space: Final = after_space
        """Whether there is a space before what comes next: such a line is no field of an event."""


class OneDocument(Value):
    """A text that begins as a JSON document does, and is read when it ends."""

    __slots__ = ("is_one", "max_chars", "text")

    FIELDS: ClassVar[tuple[str, ...]] = ("max_chars", "text", "is_one")

    def __init__(self, max_chars: int, text: GrowingText, is_one: bool = False) -> None:
        self.max_chars: Final = max_chars
        self.text: Final = text
        self.is_one: Final = is_one
        """Whether it is known to be one document, and not the first of many lines."""


class LineChunks(Value):
    """Every chunk is a line."""

    __slots__ = ()


Framing: TypeAlias = UnknownFraming | SseRest | NdjsonRest | ArrayRest | FrameRest | OneDocument | LineChunks


class WireState(Value):
    """Where a response stands."""

    __slots__ = ("first", "framing", "is_settled", "opening", "text")

    FIELDS: ClassVar[tuple[str, ...]] = ("framing", "text", "first", "opening")

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
    return is_start and not isinstance(chunk, str) and sniff(bytes(chunk[:1])) == "frames"


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

    Anything that is not a provider's event is `None`.
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
        rest = feed_sse(framing, text, events)
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
    for line in lines:
        events.append(line if line[0] == "{" else OtherLine(line))  # noqa: PERF401 - most often one
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
    form = sniff(opening[0].encode("utf-8", "replace"))
    if form == "array":
        return ArrayRest(framing.max_chars), opening
    if form == "object":
        return OneDocument(framing.max_chars, NO_TEXT), opening
    # Of any other text, lines that are no field of an event are found.
    return SseRest(framing.max_chars), " " + opening if after_space else opening


def _grow(framing: OneDocument, text: str, events: list[RawEvent]) -> tuple[Framing, str]:
    """Return a document with more text, or lines if its first one is a document by itself, and what is left to read."""
    grown = framing.text.append(text)
    is_one = framing.is_one
    if not is_one and "\n" in text:
        whole = grown.read()
        line, _, _ = whole.partition("\n")
        if isinstance(load_json(line), dict):
            return NdjsonRest(framing.max_chars), whole
        is_one = True
    if grown.length <= framing.max_chars:
        return OneDocument(framing.max_chars, grown, is_one), ""
    rest = NdjsonRest(framing.max_chars, is_too_long=True)
    events.append(Failure(rest.error or ""))
    return rest, ""


def _load_data(text: str, name: str) -> Loaded | None:
    """Return the event in the data of a server-sent event, `None` if it is not one of a provider."""
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
    if not text.isascii() and has_lone_surrogate(text):
        return Damage(f"an event of the stream is not UTF-8: {beginning(text)}")
    return event if isinstance(event, dict) else Damage(f"an event of the stream is not JSON: {beginning(text)}")


def _is_harmless(text: str, name: str) -> bool:
    """Return whether data that is not JSON lost nothing: the rest of an object would end as one does."""
    if text.startswith("{") or text.endswith("}") or has_lone_surrogate(text):
        return False
    if name == "message":
        return text.lower().strip("[]").replace("-", "").replace("_", "") in _SIGNS_OF_LIFE
    return not is_provider_event(name)


def _load_stray(line: str) -> object:
    """Return the event on a line that is no field, `Damage` for the rest of a lost event, `None` for an unknown field.

    llama.cpp has a field for errors.
    """
    message = load_json(line.removeprefix(_ERROR).strip()) if line.startswith(_ERROR) else None
    if isinstance(message, dict) and not has_lone_surrogate(line):
        return message if "error" in message else {"error": message}
    is_field = _UNKNOWN_FIELD.match(line) is not None and "}" not in line
    if (is_field or _is_harmless(line, "message")) and not has_lone_surrogate(line):
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


# Events that are alike.
#
# Most events of a stream differ in a few values: a piece of text, a number that counts. Two of them make a template:
# the text around these values. Of the next one, only these values are parsed if the rest is the same.

_MAX_TEMPLATE_CHARS: Final = 4_000
_MAX_TEMPLATE_VALUES: Final = 6
_MAX_PAUSE: Final = 32
"""Comparing two events costs as much as parsing a few: in the end, it is done once for this many events."""
_MARKS: Final = ("\x7fjsontide ", "\x7fmark ")
"""Stand for the values that differ while their places are searched; no text can look like both."""


EventPath: TypeAlias = tuple[Any, ...]
"""The keys and indices that lead to a value in an event."""


_MAX_DIGITS: Final = 17
_QUOTE: Final = 34
_ZERO: Final = 48
_NINE: Final = 57
_AFTER_COUNT: Final = ",}]"


def _read_plain(text: str, at: i64) -> tuple[object, i64]:
    """Return the string without escapes or the count that begins at a place, and its end; `None` if it is neither."""
    n: i64 = len(text)
    if at >= n:
        return None, at
    code: i64 = ord(text[at])
    end: i64 = at + 1
    if code == _QUOTE:
        end = plain_end(text, end)
        if end < n and ord(text[end]) == _QUOTE:
            return text[at + 1 : end], end + 1
        return None, at
    if not _ZERO <= code <= _NINE:
        return None, at
    count: i64 = code - _ZERO
    while end < n and end < at + _MAX_DIGITS and count > 0:
        code = ord(text[end])
        if not _ZERO <= code <= _NINE:
            break
        count = 10 * count + code - _ZERO
        end += 1
    if end < n and text[end] in _AFTER_COUNT:  # else it may be another number
        return count, end
    return None, at


class EventTemplate:
    """The text around the values in which events differ, and the path to each value."""

    __slots__ = ("_common", "paths")

    def __init__(self, common: list[str], paths: list[EventPath]) -> None:
        self._common: Final = common
        """The text before each value, and after the last."""
        self.paths: Final = paths

    def read(self, text: str) -> list[object] | None:
        """Return the values in the text of an event, `None` if it differs in anything else or in a container."""
        common = self._common
        first = common[0]
        if not text.startswith(first):
            return None
        at: i64 = len(first)
        is_ascii = text.isascii()
        values: list[object] = []
        for place in range(1, len(common)):
            value, end = _read_plain(text, at)
            if value is None:
                try:
                    value, end = scan_json(text, at)
                except (StopIteration, ValueError, RecursionError):
                    return None
                # How deep a value may be depends on what is around it.
                if isinstance(value, (dict, list)):
                    return None
            if not is_ascii and has_lone_surrogate(text[at:end]):
                return None
            at = end
            end = at + len(common[place])
            if text[at:end] != common[place]:
                return None
            values.append(value)
            at = end
        return values if at == len(text) else None


class TemplateFinder:
    """Finds the templates of one stream, given its events that are parsed whole."""

    __slots__ = ("_count", "_last", "_pause", "_template")

    def __init__(self) -> None:
        self._template: EventTemplate | None = None
        self._last = ""
        """The text of the last event."""
        self._count = 0
        """The events since two were compared."""
        self._pause = 1
        """How many must come before the next two are."""

    def find(self, text: str) -> EventTemplate | None:
        """Return the template that an event has in common with the last one, or with those before."""
        template = self._template
        if template is not None and template.read(text) is not None:
            return template
        last, self._last = self._last, text if len(text) <= _MAX_TEMPLATE_CHARS else ""
        self._count += 1
        if not last or not self._last or self._count < self._pause:
            return None
        self._count, self._pause = 0, min(2 * self._pause, _MAX_PAUSE)
        found = find_template(last, text)
        self._template = found or template
        return found


def find_template(old: str, new: str) -> EventTemplate | None:
    """Return the template of two texts that differ in a few values only, `None` if there is none.

    Where the values stand is a guess. It is right if marks that replace them in the text are found in the event, each
    once, and others in the same places; a name that is repeated may hide one.
    """
    common = _find_common(old, new)
    count = len(common) - 1
    if count < 1:
        return None
    found: list[list[EventPath]] = []
    for mark in _MARKS:
        marks = [f"{mark}{place}" for place in range(count)]
        event = load_json("".join([f'{common[place]}"{marks[place]}"' for place in range(count)]) + common[count])
        found.append(_find_paths(event, marks))
    paths, others = found
    return EventTemplate(common, paths) if len(paths) == count and paths == others else None


def _find_paths(event: object, marks: list[str]) -> list[EventPath]:
    """Return the paths to the values in an event that are marks, by their number; nothing if one is there twice."""
    found: dict[str, EventPath] = {}
    waiting: list[tuple[object, EventPath]] = [(event, ())]
    while waiting:
        value, path = waiting.pop()
        if isinstance(value, dict):
            waiting.extend([(inner, (*path, name)) for name, inner in value.items()])
        elif isinstance(value, list):
            waiting.extend([(inner, (*path, at)) for at, inner in enumerate(value)])
        elif isinstance(value, str) and value in marks:
            if value in found:
                return []
            found[value] = path
    return [found[mark] for mark in marks if mark in found]


def _find_common(old: str, new: str) -> list[str]:
    """Return what two texts have in common, around the members whose values differ; nothing if there is more."""
    common: list[str] = []
    old_at = at = 0
    while old[old_at:] != new[at:]:
        colon = new.rfind('":', at, at + _count_same(old[old_at:], new[at:]))
        while colon > 0 and new[colon - 1] == "\\":  # in a string
            colon = new.rfind('":', at, colon)
        if colon < 0 or len(common) == _MAX_TEMPLATE_VALUES:
            return []
        start = colon + (3 if new.startswith(" ", colon + 2) else 2)
        try:
            _, old_at = scan_json(old, old_at + start - at)
            value, end = scan_json(new, start)
        except (StopIteration, ValueError, RecursionError):
            return []
        if isinstance(value, (dict, list)):
            return []
        common.append(new[at:start])
        at = end
    common.append(new[at:])
    return common


def _count_same(one: str, other: str) -> int:
    """Return how many characters two texts begin with that are the same."""
    same, most = 0, min(len(one), len(other))
    while same < most:
        middle = (same + most + 1) // 2
        if one[same:middle] == other[same:middle]:
            same = middle
        else:
            most = middle - 1
    return same
