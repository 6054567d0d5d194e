"""The data of events in, checked objects out: what the checkers of all protocols ask of an event.

Rule: nothing optional is null, nothing is missing, and no field is there that the protocol does not know.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NoReturn, TypeAlias

from jsontide.testing._frames import ProtocolError

Parsed: TypeAlias = Any
"""What was read from JSON; a checker asks what it is before it uses it."""
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


def load_event(data: str, number: int) -> Parsed:
    """Return the value of an event's data, or raise `ProtocolError`."""
    if data == "[DONE]":
        raise ProtocolError("[DONE] is not part of this protocol, or does not stand at its end", number)
    try:
        return json.loads(data, parse_constant=_refuse_constant)
    except ValueError as error:
        raise ProtocolError(f"not JSON: {error}", number) from None


def _refuse_constant(name: str) -> NoReturn:
    refuse(f"{name} is not a value of JSON")


def check_fields(event: Parsed, fields: Fields, also: Fields | None = None) -> None:
    """Raise `ValueError` unless an event, or an object in it, has the fields that it must have, and no other."""
    if not isinstance(event, dict):
        refuse(f"expected an object, not {event!r:.60}")
    known = {"type?": "text", **fields, **(also or {})}
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


def refuse_unsafe(value: Parsed) -> None:
    """Raise `ValueError` if a value has a key that makes clients drop it."""
    key = _unsafe_key(value)
    if key is not None:
        refuse(f"clients drop the whole event because of the key {key!r}")


def _unsafe_key(value: Parsed) -> str | None:
    """Return a key that front ends refuse: `__proto__`, or `prototype` inside `constructor`, if there is one."""
    todo: list[tuple[object, object]] = [(None, value)]
    while todo:
        parent, inner = todo.pop()
        if isinstance(inner, list):
            todo += enumerate(inner)
        elif isinstance(inner, dict):
            found = [key for key in inner if key == "__proto__" or (key == "prototype" and parent == "constructor")]
            if found:
                return str(found[0])
            todo += inner.items()
    return None


def refuse(why: str) -> NoReturn:
    """Raise `ValueError`, to which a checker adds the number of the event."""
    raise ValueError(why)
