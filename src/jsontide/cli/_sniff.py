"""How a stream begins in, what it is out: a recording, server-sent events, JSON lines, or something else.

Rule: no more is read than it takes to decide, and nothing that was read is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from jsontide import MISSING, JsonStreamError, JsonValue, loads
from jsontide._values import Missing
from jsontide.adapters import detect

_BLANK = b" \t\r\n\xef\xbb\xbf"
_HEADER = b'{"jsontide"'
_RECORDING = re.compile(rb'\{\s*"jsontide"\s*:')
_ERROR = "error"
_EVENTS = re.compile(rb"(?:data|event|id|retry)?:")


class Begun(NamedTuple):
    """How a stream begins, and all of it."""

    head: bytes
    chunks: Iterator[bytes]


def peek(chunks: Iterator[bytes]) -> Begun:
    """Read until it is clear whether a stream is a recording."""
    head = b""
    for chunk in chunks:
        head += chunk
        begun = b"".join(head.lstrip(_BLANK).split())
        if is_recording(head) or not _HEADER.startswith(begun):
            break
    return Begun(head, chain(filter(None, [head]), chunks))


def is_recording(head: bytes) -> bool:
    """Return whether a stream that begins so is a recording."""
    return _RECORDING.match(head.lstrip(_BLANK)) is not None


def has_events(head: bytes) -> bool:
    """Return whether a stream that begins so has server-sent events."""
    return _EVENTS.match(head.lstrip(_BLANK)) is not None


def has_lines(head: bytes) -> bool:
    """Return whether a stream that begins so has an object on its first line, and more on others."""
    line, rest = _split(head)
    return bool(rest.strip()) and isinstance(line, dict)


def has_message_lines(head: bytes) -> bool:
    """Return whether the first line of a stream that begins so is an event of a model's message."""
    line, _ = _split(head)
    # An error alone could be anybody's.
    return isinstance(line, dict) and _ERROR not in line and detect(line) is not None


def _split(head: bytes) -> tuple[JsonValue | Missing, bytes]:
    """Return the document on the first line, if that has ended, and what follows it."""
    line, newline, rest = head.lstrip(_BLANK).partition(b"\n")
    try:
        return loads(line) if newline else MISSING, rest
    except JsonStreamError:
        return MISSING, rest
