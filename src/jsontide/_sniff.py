"""How a stream begins in, what it is out: the one place that decides it.

    {                           an object, or objects on lines
    [                           an array
    data: event: id: retry: :   server-sent events, and so is `error: {` of llama.cpp
    data and another field      the same: a field may have no value; a single word on a line may be prose
    a first byte that is 0      frames of an AWS event stream
    anything else               text

White space and a byte order mark before it say nothing.
Rule: nothing is decided before the bytes show it, and more bytes never change a decision.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, Literal, TypeAlias

StreamForm: TypeAlias = Literal["object", "array", "events", "frames", "text"]
BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
BLANK: Final = b" \t\r\n" + BYTE_ORDER_MARK
_JSON: Final[dict[bytes, StreamForm]] = {b"{": "object", b"[": "array"}
_FIELDS: Final = (b"data:", b"event:", b"id:", b"retry:", b":", b"error:{", b"error: {")
_NO_VALUES: Final = re.compile(rb"(?:(?:data|event|id|retry)(?:\r\n|[\r\n]))+")
_AFTER_NO_VALUES: Final = (*_FIELDS, b"\r", b"\n")
_HEADER: Final = b'{"jsontide":'
_RECORDING: Final = re.compile(rb'\s*\{\s*"jsontide"\s*:')


def sniff(begun: bytes) -> StreamForm | None:
    """Return the form of a stream that begins like this, `None` while it may be one of several.

    >>> sniff(b'data: {"choices"'), sniff(b"data"), sniff(b"database"), sniff(b' {"a": 1}')
    ('events', None, 'text', 'object')
    """
    if begun[:1] == b"\0":
        return "frames"
    begun = begun.lstrip(BLANK)
    if begun[:1] in _JSON:
        return _JSON[begun[:1]]
    no_values = _NO_VALUES.match(begun)
    rest, fields = (begun, _FIELDS) if no_values is None else (begun[no_values.end() :], _AFTER_NO_VALUES)
    if rest.startswith(fields):
        return "events"
    return None if any(field.startswith(rest) for field in fields) else "text"


def is_recording(begun: bytes) -> bool | None:
    """Return whether a stream that begins like this is a recording file, `None` while it may be one.

    >>> is_recording(b'{"jsontide": "recording"'), is_recording(b'{"json'), is_recording(b'{"choices"')
    (True, None, False)
    """
    begun = begun.removeprefix(BYTE_ORDER_MARK)
    if _RECORDING.match(begun):
        return True
    return None if _HEADER.startswith(b"".join(begun.split())) or BYTE_ORDER_MARK.startswith(begun) else False


def read_first_line(begun: bytes) -> dict[str, Any] | None:
    """Return the object on the first line of a stream, `None` if that line has not ended or is something else.

    >>> read_first_line(b'{"a": 1}\\n{"a'), read_first_line(b'{"a": 1}'), read_first_line(b"{\\n}")
    ({'a': 1}, None, None)
    """
    line, newline, _ = begun.lstrip(BLANK).partition(b"\n")
    try:
        value = json.loads(line.decode()) if newline else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
