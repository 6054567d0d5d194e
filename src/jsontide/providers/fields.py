"""Fields of events, read alike from plain dicts and from the objects of any SDK.

In: an event, or a part of one, and the name of a field. Out: its value, if it is of the type asked for.
Rule: nothing raises on provider data. What is missing, `None`, or of another type is not there.
Where arguments of a call may be, what cannot be read is noted on the draft as lost, so that nothing is run without it:
`fields_in`, `items_in` and `index_in` read what arguments are in, `check_rest` looks at fields that are not known.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from math import isfinite
from typing import Any, Final, cast

from jsontide._values import JsonValue
from jsontide.messages.document import write_json
from jsontide.messages.draft import NO_INDEX, UNREADABLE, Draft

_UNSET: Final = "Unset"
"""What the client of Mistral has in place of fields that are not there."""
_DIGITS: Final = re.compile("[0-9]{1,18}")
_MOST_EXACT: Final = 2**53
_NOTHING: Final[dict[str, Any]] = {}
_NO_ITEMS: Final[list[object]] = []
_UNREADABLE: Final = "the field {!r} of an event is of a type that is not expected, and may hold arguments of a call"
_UNKNOWN: Final = "an event has a field {!r} that is not known there, and may hold arguments of a call"
_HOLDERS: Final = frozenset(
    (
        "args",
        "arguments",
        "argumentsdelta",
        "functioncall",
        "functioncalls",
        "inputjson",
        "inputjsondelta",
        "partialargs",
        "partialjson",
        "toolcall",
        "toolcalls",
        "toolinput",
        "tooluse",
    )
)
"""How providers call arguments, and what these are in; in lower case, without what parts words."""
_IN_CALLS: Final = _HOLDERS | {"argument", "call", "delta", "function", "input", "json", "parameters", "params"}
"""How fields are called that may be arguments if they stand in a call."""


def as_dict(value: object) -> dict[str, Any]:
    """Return the fields of an event, or of a part of one; there are none of what has no fields."""
    if isinstance(value, dict):
        return value
    if isinstance(value, (str, int, float, list, tuple, bytes)) or value is None:
        return _NOTHING
    fields = getattr(value, "__dict__", None)
    if isinstance(fields, dict) and not isinstance(value, Mapping):
        # The models of SDKs keep what they do not know apart.
        extra = getattr(value, "__pydantic_extra__", None)
        return {**fields, **extra} if extra else fields
    return _slow_dict(value)


def _slow_dict(value: object) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    names = [name for name in dir(value) if not name.startswith("_")]
    found = {name: getattr(value, name, None) for name in names}
    return {name: field for name, field in found.items() if not callable(field)}


def dict_of(fields: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a field that has fields itself, empty if it is not there."""
    value = fields.get(name)
    return _NOTHING if value is None else as_dict(value)


def text_of(fields: dict[str, Any], name: str) -> str | None:
    """Return a field that is a text; SDKs make enums of some."""
    value = fields.get(name)
    return value if value is None or type(value) is str else as_text(value)


def as_text(value: object) -> str | None:
    if isinstance(value, Enum):
        value = value.value
    return str(value) if isinstance(value, str) else None


def integer_of(fields: dict[str, Any], name: str) -> int:
    """Return a field that is an integer, `NO_INDEX` if it is not; some servers write it as `1.0`, or as digits."""
    value = fields.get(name)
    if type(value) is int:
        return value
    found = as_integer(value)
    return NO_INDEX if found is None else found


def as_integer(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return int(value)
    if isinstance(value, str):
        return int(value) if _DIGITS.fullmatch(value) else None
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) <= _MOST_EXACT else None
    return None


def count_of(fields: dict[str, Any], name: str) -> int | None:
    """Return a field that is a number of something."""
    return as_integer(fields.get(name))


def list_of(fields: dict[str, Any], name: str) -> list[object]:
    """Return a field that is an array, empty if it is not there."""
    value = fields.get(name)
    if type(value) is list:
        return value
    return list(value) if isinstance(value, (list, tuple)) else _NO_ITEMS


def fields_in(draft: Draft, fields: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a field that has fields itself, in which arguments may be."""
    return check_fields(draft, name, fields.get(name))


def check_fields(draft: Draft, name: str, value: object) -> dict[str, Any]:
    """Return the fields of a value in which arguments may be."""
    if type(value) is dict:
        return value
    found = as_dict(value)
    if found is _NOTHING and value:
        draft.lose(_UNREADABLE.format(name))
    return found


def items_in(draft: Draft, fields: dict[str, Any], name: str) -> list[object]:
    """Return a field that is an array, in which arguments may be."""
    value = fields.get(name)
    if type(value) is list:
        return value
    if value and not isinstance(value, (list, tuple)):
        draft.lose(_UNREADABLE.format(name))
    return list_of(fields, name)


def check_item(draft: Draft, name: str, item: object) -> dict[str, Any]:
    """Return the fields of something in an array in which arguments may be; what has none is in a place of such."""
    found = as_dict(item)
    if found is _NOTHING and item is not None:
        draft.lose(_UNREADABLE.format(name))
    return found


def index_in(draft: Draft, fields: dict[str, Any], name: str) -> int:
    """Return a field that says which call arguments are of, `NO_INDEX` if it is not there."""
    value = fields.get(name)
    if type(value) is int:
        return value
    found = integer_of(fields, name)
    if found == NO_INDEX and value is not None and value != "":
        draft.lose(_UNREADABLE.format(name))
    return found


def check_rest(draft: Draft, call: dict[str, Any], known: frozenset[str]) -> None:
    """Note what may be arguments among the fields of a call, or of a piece of one, that are not known."""
    for name, value in call.items():
        if name not in known and value:
            if _bare(name) in _IN_CALLS or (isinstance(value, str) and value.lstrip().startswith('{"')):
                draft.lose(_UNKNOWN.format(name))
            check_unknown(draft, name, value)


def check_delta(draft: Draft, delta: dict[str, Any], known: frozenset[str]) -> None:
    """Note that a delta of a call is of a kind that is not known, if it says anything."""
    for name, value in delta.items():
        if name not in known and value:
            draft.lose(_UNKNOWN.format(name))


def check_function(draft: Draft, function: dict[str, Any], known: frozenset[str]) -> None:
    """Note what may be arguments among the fields of a function: without `arguments`, all that is not known may be."""
    check_rest(draft, function, known)
    if function.get("arguments") is None:
        check_delta(draft, function, known)


def check_unknown(draft: Draft, name: str, value: object) -> None:
    """Note what may be arguments in a field or an event that is not known, however deep it is."""
    waiting: list[tuple[str, object]] = [(name, value)]
    while waiting:
        name, value = waiting.pop()
        if not value:
            continue
        if _bare(name) in _HOLDERS and isinstance(value, (str, dict, list, tuple)):
            draft.lose(_UNKNOWN.format(name))
            return
        if isinstance(value, dict):
            waiting.extend([(str(inner), each) for inner, each in value.items()])
        elif isinstance(value, (list, tuple)):
            waiting.extend([("", each) for each in value])


def _bare(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def is_true(fields: dict[str, Any], name: str) -> bool:
    return fields.get(name) is True


def arguments_of(value: object) -> str | None:
    """Return the text of arguments, which may be an object; what is neither must not go missing unnoticed."""
    if value is None or type(value) is str:
        return value
    text = as_text(value)
    if text is not None:
        return text
    return write_json(plain(value)) if is_object(value) else UNREADABLE


def is_object(value: object) -> bool:
    """Return whether arguments are an object, and not text."""
    return isinstance(value, Mapping)


def plain(value: object) -> JsonValue:
    """Return what a provider sent as plain JSON, from dicts and from the objects of any SDK, however deep it is."""
    root: list[Any] = [None]
    waiting: list[tuple[object, Any, Any]] = [(value, root, 0)]
    while waiting:
        found, target, place = waiting.pop()
        fields = _plain_fields(found)
        if fields is not None:
            made: dict[str, Any] = dict.fromkeys(fields)  # in their order
            target[place] = made
            waiting.extend([(field, made, name) for name, field in fields.items()])
        elif isinstance(found, (list, tuple)):
            items: list[Any] = [None] * len(found)
            target[place] = items
            waiting.extend([(item, items, at) for at, item in enumerate(found)])
        else:
            target[place] = _plain_scalar(found)
    return cast("JsonValue", root[0])


def _plain_fields(value: object) -> dict[str, Any] | None:
    """Return the fields of an object; the models of SDKs have all that there could be, of which most are `None`."""
    if isinstance(value, dict):
        return {str(name): field for name, field in value.items()}
    if value is None or isinstance(value, (str, int, float, list, tuple, bytes, bytearray, Enum, datetime)):
        return None
    fields = as_dict(value)
    if not fields and not hasattr(value, "__dict__"):
        return None
    return {str(name): field for name, field in fields.items() if field is not None and type(field).__name__ != _UNSET}


def _plain_scalar(value: object) -> object:
    if isinstance(value, Enum):
        value = value.value
    if value is None or isinstance(value, (int, float)) or type(value) is str:
        return value
    if isinstance(value, (bytes, bytearray)):
        return b64encode(value).decode()
    return value.isoformat() if isinstance(value, datetime) else str(value)


def created_of(value: object) -> object:
    """Return a time in seconds since 1970, from a number or as ISO 8601 writes it; `None` if it is neither."""
    if isinstance(value, bool) or (isinstance(value, float) and not isfinite(value)):
        return None
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value).timestamp()
        except (ValueError, OverflowError):
            return None
    return None
