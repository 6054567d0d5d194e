"""The bytes or the text of a response in, cut anywhere, the pieces that a framing has out.

    decode           bytes, or text that was cut -> text in which everything that is damaged can be found
    feed_sse         text -> server-sent events, by the rules of the WHATWG HTML standard, section 9.2
    feed_ndjson      text -> lines of JSON
    feed_array       text -> the items of a JSON array, as Gemini streams unless it is asked for server-sent events
    feed_frames      bytes -> the events of an AWS event stream (`application/vnd.amazon.eventstream`)
    load_json        the text of an event -> its JSON value

Each takes what waits for more and the next piece, and returns what waits now and what is complete.

Rule: nothing raises on a stream, and nothing is lost: damage stays in the text, and lines that are no field are kept.
What is longer than it may be, or a frame whose checksums are wrong, is the end: nothing that follows is read.
"""

from __future__ import annotations

import re
from codecs import register_error, utf_8_decode
from collections.abc import Callable
from json import JSONDecoder
from typing import Any, Final, TypeAlias, cast
from zlib import crc32

from jsontide._textbuffer import GrowingText, has_lone_surrogate
from jsontide.messages.record import Value
from jsontide.text import Limits

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

    def __init__(self, pending: bytes, half: str, is_start: bool) -> None:
        self.pending: Final = pending
        """The beginning of a character that is not complete yet, of bytes."""
        self.half: Final = half
        """The first half of one, of text."""
        self.is_start: Final = is_start

    def _fields(self) -> tuple[object, ...]:
        return self.pending, self.half, self.is_start


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
    message = f"a chunk must be str, bytes, bytearray or memoryview, not {type(chunk).__name__}"
    raise TypeError(message)


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


class NamedEvent(Value):
    """An event with more than data."""

    __slots__ = ("data", "event", "id", "retry")

    def __init__(self, data: str, event: str, last_id: str, retry: int | None) -> None:
        self.data: Final = data
        self.event: Final = event
        self.id: Final = last_id
        self.retry: Final = retry

    def _fields(self) -> tuple[object, ...]:
        return self.data, self.event, self.id, self.retry


class StrayLine(Value):
    """A line that is neither a field of an event nor a comment."""

    __slots__ = ("line",)

    def __init__(self, line: str) -> None:
        self.line: Final = line

    def _fields(self) -> tuple[object, ...]:
        return (self.line,)


Found: TypeAlias = str | NamedEvent | StrayLine


class OpenEvent(Value):
    """What is known of the event that is open, and what the stream said of all that follow."""

    __slots__ = ("data", "event", "id", "retry")

    def __init__(self, data: GrowingText | None, event: str, last_id: str, retry: int | None) -> None:
        self.data: Final = data
        """The data lines so far, each with a newline."""
        self.event: Final = event
        self.id: Final = last_id
        self.retry: Final = retry

    def _fields(self) -> tuple[object, ...]:
        return self.data, self.event, self.id, self.retry

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

    def __init__(
        self, max_chars: int, line: GrowingText | None, event: OpenEvent, after_cr: bool, is_too_long: bool
    ) -> None:
        self.max_chars: Final = max_chars
        """The most that an event or a line may have."""
        self.line: Final = line
        self.event: Final = event
        self.after_cr: Final = after_cr
        """Whether a LF that comes next belongs to the line end before it."""
        self.is_too_long: Final = is_too_long
        """Whether there was an event with more characters than it may have."""

    def _fields(self) -> tuple[object, ...]:
        return self.max_chars, self.line, self.event, self.after_cr, self.is_too_long

    @property
    def error(self) -> str | None:
        """Why nothing more is read, if it is not."""
        return f"an event is longer than {self.max_chars} characters" if self.is_too_long else None


def start_sse(max_chars: int) -> SseRest:
    return SseRest(max_chars, None, NO_EVENT, False, False)


def feed_sse(rest: SseRest, text: str) -> tuple[SseRest, list[Found]]:
    """Return what waits after more text, and what it completed."""
    found: list[Found] = []
    if rest.is_too_long or not text:
        return rest, found
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
        return SseRest(rest.max_chars, None, NO_EVENT, False, True), found
    if line is None and rest.line is None and event is rest.event and after_cr is rest.after_cr:
        return rest, found  # as between most events
    return SseRest(rest.max_chars, line, event, after_cr, False), found


def _read_lines(rest: SseRest, text: str, found: list[Found]) -> tuple[OpenEvent | None, int]:
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
        if event.data is None and text[at : at + 6] == "data: " and end + 1 < len(text) and text[end + 1] == "\n":
            # The usual event: one line of data, and a blank one.
            found.append(event.whole(text[at + 6 : end]))
            event = event.next()
            at = end + 2
            continue
        if at == end:
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

    def __init__(self, max_chars: int, line: GrowingText | None, is_too_long: bool) -> None:
        self.max_chars: Final = max_chars
        """The most that a line may have."""
        self.line: Final = line
        self.is_too_long: Final = is_too_long

    def _fields(self) -> tuple[object, ...]:
        return self.max_chars, self.line, self.is_too_long

    @property
    def error(self) -> str | None:
        """Why nothing more is read, if it is not."""
        return f"a line is longer than {self.max_chars} characters" if self.is_too_long else None


def start_ndjson(max_chars: int) -> NdjsonRest:
    return NdjsonRest(max_chars, None, False)


def feed_ndjson(rest: NdjsonRest, text: str) -> tuple[NdjsonRest, list[str]]:
    """Return what waits after more text, and the lines that it ended."""
    found: list[str] = []
    if rest.is_too_long or not text:
        return rest, found
    line, most = rest.line, rest.max_chars
    *ended, last = text.split("\n")
    if ended and line is not None:
        ended[0] = line.read() + ended[0]
        line = None
    for whole in ended:
        if len(whole) > most:
            return NdjsonRest(most, None, True), found
        stripped = whole.strip(_AROUND_LINES)
        if stripped:
            found.append(stripped)
    if last:
        line = GrowingText(last) if line is None else line.append(last)
        if line.length > most:
            return NdjsonRest(most, None, True), found
    return rest if line is rest.line else NdjsonRest(most, line, False), found


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
        """Why nothing more is read, if it is not."""
        self.is_too_long: Final = is_too_long

    def _fields(self) -> tuple[object, ...]:
        return (
            self.max_chars,
            self.expected,
            self.item,
            self.depth,
            self.in_string,
            self.is_escaped,
            self.error,
            self.is_too_long,
        )

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
        return ArrayRest(rest.max_chars, _ITEM, GrowingText("")), at
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


# JSON.

# What `json.loads` calls, without the search for white space around it: that alone takes as long as a short event.
_scan_json: Final[Callable[[str, int], tuple[object, int]]] = cast("Any", JSONDecoder()).scan_once
_JSON_SPACE: Final = " \t\n\r"


def load_json(text: str) -> object:
    """Return the value of a JSON text with no white space before it, `None` if it is not JSON."""
    try:
        value, end = _scan_json(text, 0)
    except (StopIteration, ValueError, RecursionError):
        return None
    return value if end == len(text) or not text[end:].strip(_JSON_SPACE) else None


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

    def __init__(
        self, max_bytes: int, data: GrowingText | None = None, needed: int = _PRELUDE_LENGTH, error: str | None = None
    ) -> None:
        self.max_bytes: Final = max_bytes
        """The most that a frame may have."""
        self.data: Final = data
        self.needed: Final = needed
        """How many bytes there must be before there is something to read."""
        self.error: Final = error
        """Why nothing more is read, if it is not."""

    def _fields(self) -> tuple[object, ...]:
        return self.max_bytes, self.data, self.needed, self.error


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
