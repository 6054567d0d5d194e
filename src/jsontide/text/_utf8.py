"""Bytes in chunks in, text out: UTF-8 cut anywhere.

Strict: overlong forms and encoded surrogates are not UTF-8.
A byte order mark at the very start is passed over.
"""

from __future__ import annotations

from codecs import utf_8_decode
from typing import Final, NamedTuple

_BYTE_ORDER_MARK: Final = "\ufeff"


class ByteSource(NamedTuple):
    """Where a stream of bytes stands."""

    offset: int  # bytes decoded so far
    pending: bytes  # the beginning of a sequence that is not complete yet


START_OF_BYTES: Final = ByteSource(0, b"")


def decode(source: ByteSource, chunk: bytes) -> tuple[ByteSource, str, bool]:
    """Return where the stream stands, the text that is new, and whether all of it was good.

    If not, the new source stands before the sequence that is wrong.
    """
    data = source.pending + chunk
    good = True
    try:
        text, used = utf_8_decode(data, "strict", False)
    except UnicodeDecodeError as error:
        good = False
        used = error.start
        text = data[:used].decode()
    if source.offset == 0 and text[:1] == _BYTE_ORDER_MARK:
        text = text[1:]
    return ByteSource(source.offset + used, data[used:]), text, good
