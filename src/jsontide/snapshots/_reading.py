"""A snapshot as text in, its value out, numbers as they were written.

Python's own reader does it, which is fast, but has a limit of depth and says little about errors.
Where it gives up, our own grammar reads the text again: it finds the value, or tells what is wrong, and where.
"""

from __future__ import annotations

import json
from typing import Any, Final

from jsontide._errors import JsonStreamError, ParserError, Reason
from jsontide.snapshots._reader import Reader
from jsontide.text.utf8 import ByteSource, as_text


def _refuse(constant: str) -> float:
    # RFC 8259, 6: numeric values that cannot be represented in the grammar below (such as Infinity and NaN) are not
    # permitted.
    raise ValueError(constant)


_DECODER: Final = json.JSONDecoder(parse_int=str.encode, parse_float=str.encode, parse_constant=_refuse)
_REFUSALS: Final[Any] = (ValueError, RecursionError)  # made once: what memory is too short for may be raised here too


def snapshot_text(snapshot: str | bytes | bytearray | memoryview) -> str:
    """Return the text of a snapshot, or raise `JsonStreamError` if its bytes are not UTF-8."""
    source, text, is_good = as_text(snapshot, None, 0, "snapshot")
    if source is not None and (source.pending or not is_good):
        raise JsonStreamError(_error_before(text, source))
    return text


def read_whole(text: str) -> Any:
    """Return the value of a whole text, or raise `JsonStreamError`.

    >>> read_whole('{"days": [1, 2.50]}')
    {'days': [b'1', b'2.50']}
    """
    try:
        return _DECODER.decode(text)
    except _REFUSALS:
        return _read_slowly(text)


def _read_slowly(text: str) -> Any:
    reader = Reader()
    reader.end(text)
    if reader.error is not None:
        raise JsonStreamError(reader.error)
    return reader.values.pop()


def _error_before(text: str, source: ByteSource) -> ParserError:
    """Say what is wrong with bytes that are no UTF-8 where they wait; `text` before that may be wrong already."""
    reader = Reader()
    reader.scan(text)
    if reader.error is None:
        reader.fail(Reason.BAD_UTF8, f"UTF-8 at byte {source.offset}", source.found, reader.index)
    assert reader.error is not None  # one or the other
    return reader.error
