"""Bytes or text cut anywhere in, text out, in which everything that is damaged can be found.

What is not UTF-8 becomes `DAMAGE`, half a surrogate pair for which the other half does not come stays as it is: neither
can come from valid UTF-8, so `is_damaged` finds both.
Rule: nothing raises on a stream; a byte order mark at the start is passed over.
"""

from __future__ import annotations

import re
from codecs import register_error, utf_8_decode
from dataclasses import dataclass
from typing import Final

from jsontide._textbuffer import waits
from jsontide.adapters._chunks import Chunk

DAMAGE: Final = "\udfff"
"""Stands for bytes that are not UTF-8; there are as many as a decoder that replaces them would write U+FFFD."""

_HALF: Final = re.compile("[\ud800-\udfff]")
_BYTE_ORDER_MARK: Final = "\ufeff"
_UNITS: Final = "utf-16-le"
_MARKING: Final = "jsontide-damage"


def _mark(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return DAMAGE, error.end


register_error(_MARKING, _mark)


@dataclass(frozen=True, slots=True)
class TextState:
    """Where the decoding of a stream stands; it never changes."""

    pending: bytes = b""
    """The beginning of a character that is not complete yet, of bytes."""
    half: str = ""
    """The first half of one, of text."""
    is_start: bool = True


START: Final = TextState()
_GOING_ON: Final = TextState(is_start=False)


def decode(state: TextState, chunk: Chunk) -> tuple[TextState, str]:
    """Return the state after a chunk, and the text that is certain now."""
    if not isinstance(chunk, Chunk):
        message = f"a chunk must be str, bytes, bytearray or memoryview, not {type(chunk).__name__}"
        raise TypeError(message)
    if not chunk:
        return state, ""
    pending, half = b"", ""
    if isinstance(chunk, str):
        text, half = _joined(end_of(state) + chunk)
    else:
        data = state.pending + bytes(chunk)
        text, used = utf_8_decode(data, _MARKING, False)  # noqa: FBT003 - it takes no keywords
        text, pending = state.half + text, data[used:]
    is_start = state.is_start and not text
    if state.is_start:
        text = text.removeprefix(_BYTE_ORDER_MARK)
    return TextState(pending, half, is_start) if pending or half or is_start else _GOING_ON, text


def _joined(text: str) -> tuple[str, str]:
    """Return a text in which both halves of a character are one, and the first half that may wait at its end."""
    if text.isascii() or not _HALF.search(text):
        return text, ""
    text = text.encode(_UNITS, "surrogatepass").decode(_UNITS, "surrogatepass")
    return (text[:-1], text[-1]) if waits(text) else (text, "")


def end_of(state: TextState) -> str:
    """Return what waits for more that does not come: it is damaged."""
    return DAMAGE if state.pending else state.half


def is_damaged(text: str) -> bool:
    return not text.isascii() and _HALF.search(text) is not None


def replaced(text: str) -> str:
    """Return a text as the standards want it decoded, with U+FFFD for what is not UTF-8."""
    return text if text.isascii() else text.replace(DAMAGE, "\ufffd")
