"""Frames of an AWS event stream, as its specification describes them."""

import json
import struct
from collections.abc import Iterable
from typing import Any
from zlib import crc32

TEXT = 7


def header(name: str, value: str) -> bytes:
    raw = value.encode()
    return bytes([len(name)]) + name.encode() + bytes([TEXT]) + struct.pack(">H", len(raw)) + raw


def frame(payload: bytes, headers: bytes) -> bytes:
    lengths = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    body = lengths + struct.pack(">I", crc32(lengths)) + headers + payload
    return body + struct.pack(">I", crc32(body))


def event_frame(event: dict[str, Any]) -> bytes:
    """A dict of one member, as boto3 gives it, as the frame that it came in."""
    ((name, payload),) = event.items()
    kind = "exception" if name.endswith("Exception") else "event"
    headers = header(f":{kind}-type", name) + header(":content-type", "application/json")
    return frame(json.dumps(payload, ensure_ascii=False).encode(), headers + header(":message-type", kind))


def encoded(events: Iterable[dict[str, Any]]) -> bytes:
    return b"".join(map(event_frame, events))
