"""Bytes in chunks in, text out: UTF-8 cut anywhere.

For parsers, `decode` and `as_text` are strict: overlong forms and encoded surrogates are not UTF-8, and a byte order
mark at the very start is skipped.
For people, `Decoded` replaces invalid bytes, and nothing raises.
"""

from __future__ import annotations

from codecs import utf_8_decode
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from mypy_extensions import i64

_BYTE_ORDER_MARK: Final = "\ufeff"
_LIKE_BYTES: Final[Any] = (bytearray, memoryview)  # of any type: compiled code would make a typed tuple again and again


class ByteSource:
    """The position in a stream of bytes; immutable."""

    __slots__ = ("offset", "pending")

    def __init__(self, offset: i64, pending: bytes) -> None:
        self.offset: i64 = offset  # bytes decoded so far
        self.pending: bytes = pending  # an incomplete sequence at the end

    @property
    def found(self) -> str:
        """The first byte that is not decoded, as error messages name it."""
        return f"0x{self.pending[0]:02x}"

    @property
    def wanted(self) -> str:
        """What should be there instead."""
        return f"UTF-8 at byte {self.offset}"

    @property
    def wanted_rest(self) -> str:
        """What is missing if the bytes end there."""
        return f"the rest of the UTF-8 sequence at byte {self.offset}"

    def __reduce__(self) -> tuple[Callable[..., ByteSource], tuple[object, ...]]:
        return ByteSource, (self.offset, self.pending)


START_OF_BYTES: Final = ByteSource(0, b"")


def decode(source: ByteSource, chunk: bytes) -> tuple[ByteSource, str, bool]:
    """Return the new position, the new text, and whether all bytes were valid.

    If they were not, the position is before the invalid sequence.
    """
    if not source.pending and chunk.isascii():
        return ByteSource(source.offset + len(chunk), b""), chunk.decode(), True
    data = source.pending + chunk
    good = True
    used: i64
    try:
        text, used = utf_8_decode(data, "strict", False)
    except UnicodeDecodeError as error:
        good = False
        used = error.start
        text = data[:used].decode()
    if source.offset == 0 and text[:1] == _BYTE_ORDER_MARK:
        text = text[1:]
    return ByteSource(source.offset + used, data[used:]), text, good


def as_text(
    chunk: str | bytes | bytearray | memoryview, source: ByteSource | None, index: i64, noun: str
) -> tuple[ByteSource | None, str, bool]:
    """Decode a chunk of any accepted type, which error messages call `noun`; a `str` is text already.

    str and bytes cannot be mixed: `source` is set after bytes, and `index` is above 0 after either.
    """
    if isinstance(chunk, str):
        if source is not None and chunk:
            raise TypeError(f"a str {noun} cannot follow bytes {noun}s")
        # A subclass of `str`, such as those for HTML, may slice and join in its own way.
        return source, str.__str__(chunk), True
    if isinstance(chunk, bytes):
        data = chunk
    elif isinstance(chunk, _LIKE_BYTES):
        data = bytes(chunk)
    else:
        raise TypeError(f"a {noun} must be str, bytes, bytearray or memoryview, not {type(chunk).__name__}")
    if source is None and index > 0 and data:
        raise TypeError(f"a bytes {noun} cannot follow str {noun}s")
    return decode(START_OF_BYTES if source is None else source, data)


class Decoded:
    """The text of the last bytes of a stream.

    >>> half = Decoded().feed(b"caf\\xc3")
    >>> half.text, half.feed(b"\\xa9").text, half.finish().text
    ('caf', 'é', '\\ufffd')
    """

    __slots__ = ("_errors", "_pending", "text")

    def __init__(self, text: str = "", pending: bytes = b"", errors: str = "replace") -> None:
        self.text: Final = text
        self._pending: Final = pending
        """The beginning of a character."""
        self._errors: Final = errors

    def feed(self, data: bytes) -> Decoded:
        """Return the text of more bytes."""
        data = self._pending + data
        text, used = utf_8_decode(data, self._errors, False)
        return Decoded(text, data[used:], self._errors)

    def finish(self) -> Decoded:
        """Return the text of a character that is not whole."""
        return Decoded(utf_8_decode(self._pending, self._errors, True)[0], b"", self._errors)
