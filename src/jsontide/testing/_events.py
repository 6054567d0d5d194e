"""The data of events in, checked objects out: the rules that the checkers of all protocols share.

Rule: nothing optional is null, nothing is missing, and no field is there that the protocol does not know.

Some clients accept more; here passes only a stream that every client reads the same way: UTF-8, lines that end with
a line feed, one line of data per event, and an empty line after each, the last one too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NoReturn, TypeAlias, cast

from jsontide._errors import JsontideError
from jsontide.frontends.unsafe_keys import find_unsafe_key

DONE: Final = "[DONE]"
_FIELDS: Final = ("id", "event", "retry")


class ProtocolError(JsontideError, AssertionError):
    """A stream does not follow its protocol; a failed assertion for test runners."""

    def __init__(self, reason: str, event: int | None = None) -> None:
        super().__init__(reason, event)
        self.reason = reason
        self.event = event
        """Which event, counted from 0; `None` if it is the stream as a whole."""

    def __str__(self) -> str:
        return self.reason if self.event is None else f"event {self.event}: {self.reason}"


def sse_events(stream: bytes | str) -> list[str]:
    """Return the data of each event in a stream, or raise `ProtocolError`; comments are left out."""
    text = stream if isinstance(stream, str) else _decode(stream)
    if "\r" in text:
        raise ProtocolError("a carriage return: lines end with a line feed alone")
    if text and not text.endswith("\n\n"):
        raise ProtocolError("the stream stops inside an event")
    events: list[str] = []
    for block in text.split("\n\n")[:-1]:
        events += _data_of(block, len(events))
    return events


def _decode(stream: bytes) -> str:
    try:
        return stream.decode()
    except UnicodeDecodeError as error:
        raise ProtocolError(f"not UTF-8: {error.reason} at byte {error.start}") from None


def _data_of(block: str, number: int) -> list[str]:
    """Return the line of data between two empty lines, or nothing if there are only comments."""
    data: list[str] = []
    for line in block.split("\n"):
        name, colon, value = line.partition(":")
        if name == "data" and colon:
            data.append(value.removeprefix(" "))
        elif line and name not in ("", *_FIELDS):
            raise ProtocolError(f"not a field of a server-sent event: {line[:40]!r}", number)
    if len(data) > 1:
        raise ProtocolError("more than one line of data", number)
    return data


Parsed: TypeAlias = Any
"""A value read from JSON; a checker looks at its type before it uses it."""
Event: TypeAlias = dict[str, Parsed]
Fields: TypeAlias = Mapping[str, str]
"""The names of fields, each with the kind of value that it takes; a name that ends with `?` may be absent."""
_KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    "text": (str,),
    "object": (dict,),
    "list": (list,),
    "count": (int,),
    "switch": (bool,),
    "something": (str, int, float, bool, list, dict),
    "anything": (str, int, float, bool, list, dict, type(None)),
}


def read_events(events: Iterable[str], read: Callable[[str], None]) -> None:
    """Let a checker read the data of each event; its `ValueError` becomes a `ProtocolError` with the event's number."""
    for number, data in enumerate(events):
        try:
            read(data)
        except ValueError as error:
            raise ProtocolError(str(error), number) from None


def load_event(data: str, fields_of: Callable[[str], Fields | None]) -> Event:
    """Return an event, or raise `ValueError`; `fields_of` gives the fields of a type, `None` for an unknown one."""
    event = load_data(data)
    kind = event.get("type") if isinstance(event, dict) else None
    fields = fields_of(kind) if isinstance(kind, str) else None
    if fields is None:
        refuse(f"not an event that is known here: {data[:60]}")
    check_fields(event, fields)
    return cast("Event", event)


def load_data(data: str) -> Parsed:
    """Return the value of an event's data, or raise `ValueError`."""
    if data == DONE:
        refuse("[DONE] may only end a stream, and only in protocols that have it")
    try:
        return json.loads(data, parse_constant=lambda name: refuse(f"{name} is not a value of JSON"))
    except ValueError as error:
        refuse(f"not JSON: {error}")


def check_fields(event: Parsed, fields: Fields) -> None:
    """Raise `ValueError` unless an event, or an object in it, has the fields that it must have, and no other."""
    if not isinstance(event, dict):
        refuse(f"expected an object, not {event!r:.60}")
    known = {"type?": "text", **fields}
    kinds = {name.rstrip("?"): kind for name, kind in known.items()}
    missing = [name for name in known if not name.endswith("?") and name not in event]
    if missing:
        refuse(f"{event.get('type')} has no {missing[0]}")
    for name, value in event.items():
        if name not in kinds:
            refuse(f"{event.get('type')} has a field {name!r} that the protocol does not know")
        if not _is_kind(value, kinds[name]):
            refuse(f"{name} of {event.get('type')} must be {kinds[name]}, not {value!r:.40}")


def _is_kind(value: object, kind: str) -> bool:
    if kind == "count" and (isinstance(value, bool) or (isinstance(value, int) and value < 0)):
        return False
    return isinstance(value, _KINDS[kind])


def check_arguments(text: str, name: str = "the arguments") -> None:
    """Raise `ValueError` unless the arguments of a call are JSON."""
    try:
        json.loads(text)
    except ValueError:
        refuse(f"{name} are not JSON: {text!r:.60}")


def is_index(segment: str, end: int) -> bool:
    """Return whether a segment of a path is an index below `end`, as RFC 6901 writes one."""
    return segment.isdecimal() and str(int(segment)) == segment and int(segment) < end


def refuse_unsafe(value: Parsed) -> None:
    """Raise `ValueError` if a value has a key that makes clients drop it."""
    key = find_unsafe_key(value)
    if key is not None:
        refuse(f"clients drop the whole event because of the key {key!r}")


def refuse(why: str) -> NoReturn:
    """Raise `ValueError`, to which a checker adds the number of the event."""
    raise ValueError(why)
