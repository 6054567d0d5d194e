"""Bytes in chunks in, text to show out: UTF-8 cut anywhere.

Rule: a value; what is not UTF-8 is replaced and never raises. Parsers are strict: see `text/utf8.py`.
"""

from __future__ import annotations

from codecs import utf_8_decode
from typing import Final


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
        text, used = utf_8_decode(data, self._errors, False)  # noqa: FBT003 - it takes no names
        return Decoded(text, data[used:], self._errors)

    def finish(self) -> Decoded:
        """Return the text of a character that is not whole."""
        return Decoded(utf_8_decode(self._pending, self._errors, True)[0], b"", self._errors)  # noqa: FBT003
