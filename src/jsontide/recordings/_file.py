"""The file of a recording in, its header, pieces and end out, and back: NDJSON, one line for each piece.

    {"jsontide": "recording", "version": 1, "started": "2026-11-17T14:00:00Z", "source": "curl", "status": 200}
    {"at": 0.412, "text": "data: {...}\\n\\n"}    bytes that are whole UTF-8
    {"at": 0.5, "base64": "4pg="}               bytes that are not
    {"at": 0.6, "event": {...}}                 or an event that a client decoded
    {"at": 9.1, "end": "over"}                  "over", "lost" or "stopped", with "error" as text; may be absent

Rule: a file that breaks off is read up to there, and says so; anything else that is wrong is an error with its line.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NoReturn, cast
from urllib.parse import urlsplit, urlunsplit

from jsontide._values import JsonValue
from jsontide.recordings._piece import ENDS, Data, End, Piece, RecordingError

MARK: Final = "recording"
VERSION: Final = 1
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_BEGINS: Final = re.compile(rb'\s*\{\s*"jsontide"\s*:')
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_KINDS: Final = ("text", "base64", "event", "end")


@dataclass
class Contents:
    """What a file has in it."""

    about: dict[str, JsonValue] = field(default_factory=dict)
    pieces: list[Piece] = field(default_factory=list)
    end: End | None = None
    error: str | None = None
    duration: float = 0.0


def is_recording(data: bytes) -> bool:
    """Return whether these bytes are those of a recording file, as far as they go."""
    return _BEGINS.match(data.removeprefix(_BYTE_ORDER_MARK)) is not None


def read_contents(data: bytes) -> Contents:
    """Return what a file has in it; raise `RecordingError` for one that is wrong."""
    lines = _Lines(data.removeprefix(_BYTE_ORDER_MARK))
    contents = Contents()
    for line in lines:
        if not contents.about:
            contents.about = _read_header(lines, line)
        elif contents.end is not None:
            lines.fail("nothing follows the end")
        else:
            _read_line(lines, line, contents)
    if lines.breaks_off:
        contents.end, contents.error = "lost", f"the recording breaks off in line {lines.number}"
    return contents


class _Lines:
    """The objects in a file, one to a line; `number` is that of the last one."""

    def __init__(self, data: bytes) -> None:
        self._data: Final = data
        self.number = 0
        self.breaks_off = False

    def __iter__(self) -> Iterator[dict[str, JsonValue]]:
        lines = self._data.split(b"\n")
        for self.number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                if self.number == len(lines):  # nothing ended it
                    self.breaks_off = True
                    return
                self.fail(f"not JSON ({error})")
            if not isinstance(value, dict):
                self.fail("not an object")
            yield value

    def fail(self, why: str) -> NoReturn:
        message = f"line {self.number}: {why}"
        raise RecordingError(message)


def _read_header(lines: _Lines, line: dict[str, JsonValue]) -> dict[str, JsonValue]:
    if line.get("jsontide") != MARK:
        lines.fail(f'not a recording: "jsontide" is {line.get("jsontide")!r:.40}, not "{MARK}"')
    if line.get("version") != VERSION:
        lines.fail(f"version {line.get('version')!r:.40} is not known, only {VERSION}")
    return line


def _read_line(lines: _Lines, line: dict[str, JsonValue], contents: Contents) -> None:
    kinds = [kind for kind in _KINDS if kind in line]
    if len(kinds) != 1:
        lines.fail('a line must have one of "text", "base64", "event" and "end"')
    at = _read_time(lines, line, contents.duration)
    if kinds == ["end"]:
        contents.end, contents.error = _read_end(lines, line)
    else:
        contents.pieces.append(Piece(at, _read_data(lines, kinds[0], line[kinds[0]])))
        if type(contents.pieces[-1].data) is not type(contents.pieces[0].data):
            lines.fail("a recording has bytes or events, not both")
    contents.duration = at


def _read_time(lines: _Lines, line: dict[str, JsonValue], before: float) -> float:
    at = line.get("at")
    if not isinstance(at, int | float) or isinstance(at, bool) or not 0 <= at < float("inf"):
        lines.fail(f'"at" must be seconds since the start, not {at!r:.40}')
    if at < before:
        lines.fail(f'"at" must not go back, from {before} to {at}')
    return float(at)


def _read_data(lines: _Lines, kind: str, value: JsonValue) -> Data:
    if kind == "event":
        return value if isinstance(value, dict) else lines.fail('"event" must be an object')
    if not isinstance(value, str):
        lines.fail(f'"{kind}" must be a string')
    try:
        return value.encode() if kind == "text" else b64decode(value, validate=True)
    except ValueError:  # half a surrogate pair is no UTF-8, or it is no base64
        lines.fail(f'"{kind}" cannot be decoded')


def _read_end(lines: _Lines, line: dict[str, JsonValue]) -> tuple[End, str | None]:
    end, error = line["end"], line.get("error")
    if end not in ENDS:
        lines.fail(f'"end" must be one of {", ".join(ENDS)}, not {end!r:.40}')
    if error is not None and not isinstance(error, str):
        lines.fail('"error" must be a string')
    return cast("End", end), error


def header_line(about: Mapping[str, object]) -> bytes:
    """Return the first line of a file; of a URL it keeps no user, query or fragment, which may be secret."""
    header = {"jsontide": MARK, "version": VERSION, **about}
    if isinstance(header.get("url"), str):
        header["url"] = without_secrets(str(header["url"]))
    return write_line(header)


def without_secrets(url: str) -> str:
    """Return a URL without user, query and fragment; an address that is no URL is left out."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def piece_line(piece: Piece) -> bytes:
    """Return the line of a piece."""
    at, data = round(piece.at, 6), piece.data
    if not isinstance(data, bytes):
        return write_line({"at": at, "event": data})
    try:
        return write_line({"at": at, "text": data.decode()})
    except UnicodeDecodeError:
        return write_line({"at": at, "base64": b64encode(data).decode()})


def end_line(at: float, end: End, error: str | None) -> bytes:
    """Return the last line."""
    line: dict[str, object] = {"at": round(at, 6), "end": end}
    return write_line(line if error is None else {**line, "error": error})


def write_line(line: Mapping[str, object]) -> bytes:
    """Return a line of JSON."""
    return f"{write_event(line)}\n".encode()


def write_event(event: object) -> str:
    """Encode an event; half a surrogate pair, which some providers send, stays an escape because it has no UTF-8."""
    text = json.dumps(event, ensure_ascii=False, allow_nan=False)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
