"""Bytes or text cut anywhere in, text out, in which everything that is damaged can be found.

What is not UTF-8 becomes `DAMAGE`, half a surrogate pair for which the other half does not come stays as it is: neither
can come from valid UTF-8, so `has_half` finds both.
Rule: nothing raises on a stream; a byte order mark at the start is passed over.
"""

from __future__ import annotations

from codecs import register_error, utf_8_decode
from typing import Any, Final

from jsontide._textbuffer import has_half
from jsontide.messages.record import Value

# Surrogates are written as numbers: the compiler has no text for them.
DAMAGE: Final = chr(0xDFFF)
"""Stands for bytes that are not UTF-8; there are as many as a decoder that replaces them would write U+FFFD."""

_BYTE_ORDER_MARK: Final = "\ufeff"
_UNITS: Final = "utf-16-le"
_MARKING: Final = "jsontide-damage"
_LIKE_BYTES: Final[Any] = (bytes, bytearray, memoryview)


def _mark(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return DAMAGE, error.end


register_error(_MARKING, _mark)


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


START: Final = TextState(b"", "", True)
_GOING_ON: Final = TextState(b"", "", False)


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
    if state is _GOING_ON and data[-1] < 0x80:
        try:
            return state, data.decode()
        except UnicodeDecodeError:
            pass  # decoded again, with marks
    data = state.pending + data
    text, used = utf_8_decode(data, _MARKING, False)
    return _go_on(state, state.half + text, data[used:], "")


def _decode_str(state: TextState, chunk: str) -> tuple[TextState, str]:
    if not chunk or (state is _GOING_ON and chunk.isascii()):
        return state, chunk
    text, half = end_of(state) + chunk, ""
    if has_half(text):
        text = text.encode(_UNITS, "surrogatepass").decode(_UNITS, "surrogatepass")
        if 0xD800 <= ord(text[-1]) < 0xDC00:
            text, half = text[:-1], text[-1]
    return _go_on(state, text, b"", half)


def _go_on(state: TextState, text: str, pending: bytes, half: str) -> tuple[TextState, str]:
    is_start = state.is_start and not text
    if state.is_start:
        text = text.removeprefix(_BYTE_ORDER_MARK)
    return TextState(pending, half, is_start) if pending or half or is_start else _GOING_ON, text


def end_of(state: TextState) -> str:
    """Return what waits for more that does not come: it is damaged."""
    return DAMAGE if state.pending else state.half


def replaced(text: str) -> str:
    """Return a text as the standards want it decoded, with U+FFFD for what is not UTF-8."""
    return text if text.isascii() else text.replace(DAMAGE, "\ufffd")
