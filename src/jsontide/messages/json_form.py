"""A message as JSON, and back: the form to save it in.

    {"jsontide":1,"outcome":"complete","parts":[{"kind":"text","text":"Hi"}],"usage":{...},...}

A part has a `kind` of the table below and its fields by their names; a field that has its default is left out.
Rule: reading what was written gives an equal message; whatever was not written by it is refused with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from enum import Enum
from typing import Final, NoReturn, TypeVar, cast

from jsontide._values import MISSING, write_json
from jsontide.mend.options import Repair, RepairKind
from jsontide.messages.calls import CompleteCall, PartialCall, ServerCall
from jsontide.messages.parts import BasePart, File, Other, ReasoningPart, Refusal, Source, TextPart
from jsontide.messages.record import Record
from jsontide.messages.types import Citation, ErrorDetail, ErrorKind, Outcome, ProviderError, ProviderErrorKind, Usage

_Kind = TypeVar("_Kind", bound=Enum)

VERSION: Final = 1
_MARK: Final = "jsontide"

_KINDS: Final[dict[str, type[BasePart]]] = {
    "text": TextPart,
    "reasoning": ReasoningPart,
    "call": CompleteCall,
    "partial_call": PartialCall,
    "server_call": ServerCall,
    "refusal": Refusal,
    "source": Source,
    "file": File,
    "other": Other,
}
_KIND_OF: Final = {kind: name for name, kind in _KINDS.items()}
_ANY_JSON: Final = ("arguments_value", "partial", "result", "raw", "answer")
"""Fields that hold JSON: `null` and `false` are values there, and only `MISSING` is left out."""
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "index": (int,),
    "created": (int, float),
    "is_open": (bool,),
    "redacted": (bool,),
    "needs_action": (bool,),
    "extra": (dict,),
    "metadata": (dict,),
}
"""The types of fields that are not text."""
_TYPES_OF_RECORDS: Final[dict[str, tuple[type, ...]]] = {"raw": (dict,), "start": (int,), "end": (int,)}
"""The types of fields of a `Usage` that are not numbers, and of a `Citation` that are not text."""


def write_message(message: Record, answer: object) -> str:
    """Return a message and the JSON of its answer as text."""
    written: dict[str, object] = {_MARK: VERSION, **_record(message)}
    if answer is not MISSING:
        written["answer"] = answer
    return write_json(written)


def write_parts(parts: Iterable[BasePart]) -> list[dict[str, object]]:
    """Return parts as plain JSON, each with its kind."""
    return [cast("dict[str, object]", _plain(part)) for part in parts]


def write_part(part: BasePart, without: frozenset[str]) -> dict[str, object]:
    """Return a part as plain JSON, without some of its fields, which are not read."""
    return {"kind": _KIND_OF[type(part)], **_record(part, without)}


def write_fields(message: Record) -> dict[str, object]:
    """Return the fields of a message as plain JSON, without its parts and its answer."""
    return _record(message, _PARTS)


_PARTS: Final = frozenset(("parts",))
_NOTHING: Final[frozenset[str]] = frozenset()


def _record(record: Record, without: frozenset[str] = _NOTHING) -> dict[str, object]:
    return {
        name: _plain(value)
        for name in type(record).FIELDS
        if name not in without and not _is_default(name, value := getattr(record, name))
    }


def _is_default(name: str, value: object) -> bool:
    if name in _ANY_JSON:
        return value is MISSING or (value is None and name == "raw")
    return (
        value is None or value is False or value == () or value == {} or value == "" or (name == "index" and not value)
    )


def _plain(value: object) -> object:
    if isinstance(value, Record):
        return {"kind": _KIND_OF[cast("type[BasePart]", type(value))], **_record(value)}
    if isinstance(value, Outcome | ErrorKind | ProviderErrorKind):
        return value.value
    if isinstance(value, Repair):
        lossy = {"lossy": True} if value.lossy else {}
        return {"kind": value.kind.value, "index": value.index, "was": value.was, "became": value.became, **lossy}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Citation | Usage | ErrorDetail | ProviderError):
        named = {each.name: getattr(value, each.name) for each in fields(value) if each.name != "cause"}
        return {name: _plain(found) for name, found in named.items() if found is not None}
    return value


def read_message(text: object, names: tuple[str, ...]) -> dict[str, object]:
    """Return the fields of a message, from its text or the parsed object; other names than these are refused."""
    try:
        given = json.loads(text) if isinstance(text, str | bytes | bytearray) else text
    except (ValueError, RecursionError) as error:
        _refuse(f"the text is not JSON: {error}")
    if not isinstance(given, Mapping):
        _refuse(f"an object was expected, not {type(given).__name__}")
    version = given.get(_MARK)
    if version != VERSION:
        _refuse(f"the version {version!r} of the form is not known, only {VERSION}")
    unknown = [name for name in given if name not in names and name not in {_MARK, "answer"}]
    if unknown:
        _refuse(f"a message has no field {unknown[0]!r}")
    read = {str(name): _read(str(name), value) for name, value in given.items() if name != _MARK}
    parts, errors = read.get("parts", ()), read.get("errors", ())
    check_sources(cast("tuple[BasePart, ...]", parts), cast("tuple[ErrorDetail, ...]", errors))
    return read


def read_fields(given: Mapping[str, object], names: Iterable[str]) -> dict[str, object]:
    """Return the fields that were written; other names than these are refused."""
    unknown = [name for name in given if name not in names]
    if unknown:
        _refuse(f"a message has no field {unknown[0]!r}")
    return {name: _read(name, value) for name, value in given.items()}


def check_sources(parts: Iterable[BasePart], errors: Iterable[ErrorDetail]) -> None:
    """Refuse an error of a call that the message does not have."""
    calls = sum([isinstance(part, CompleteCall | PartialCall) for part in parts])
    for error in errors:
        if isinstance(error.source, int) and not 0 <= error.source < calls:
            _refuse(f"an error is of call {error.source}, and there are {calls}")


def read_parts(parts: object) -> tuple[BasePart, ...]:
    """Return the parts that were written."""
    return tuple([_read_part(at, part) for at, part in enumerate(_items("parts", parts))])


def _read_part(at: int, part: object) -> BasePart:
    kind, read = read_part(at, part)
    return make_part(at, kind, read)


def read_part(at: int, part: object) -> tuple[type[BasePart], dict[str, object]]:
    """Return the class of a part that was written, and its fields."""
    if not isinstance(part, Mapping):
        _refuse(f"part {at} must be an object, not {type(part).__name__}")
    kind = _KINDS.get(str(part.get("kind")))
    if kind is None:
        _refuse(f"part {at} is of no known kind: {part.get('kind')!r}")
    names = kind.FIELDS
    unknown = [name for name in part if name != "kind" and name not in names]
    if unknown:
        _refuse(f"part {at} has a field that its kind does not have: {unknown[0]!r}")
    read = {name: _read(name, part[name]) for name in names if name in part}
    if kind is PartialCall:
        read["status"] = _outcome(read.get("status", "streaming"))
    return kind, read


def make_part(at: int, kind: type[BasePart], read: Mapping[str, object]) -> BasePart:
    """Return the part with these fields."""
    try:
        return cast("Callable[..., BasePart]", kind)(**read)
    except (TypeError, ValueError) as error:
        _refuse(f"part {at}: {error}")


def _read(name: str, value: object) -> object:
    """Return the value of a field, read and checked by its name."""
    if name in _ANY_JSON:
        return value
    if name in _READERS:
        return _READERS[name](value)
    return _of_type(name, value, _TYPES.get(name, (str,)))


def _of_type(name: str, value: object, kinds: tuple[type, ...]) -> object:
    if type(value) not in kinds:
        _refuse(f"{name} must be {' or '.join(kind.__name__ for kind in kinds)}, not {type(value).__name__}")
    return value


def _items(name: str, value: object) -> Iterable[object]:
    if not isinstance(value, list | tuple):
        _refuse(f"{name} must be an array, not {type(value).__name__}")
    return value


def _outcome(value: object) -> Outcome:
    found = next((one for one in Outcome if one.value == value), None)
    return _refuse(f"there is no outcome {value!r}") if found is None else found


def _dataclass(kind: type, value: object) -> object:
    if not isinstance(value, Mapping):
        _refuse(f"a {kind.__name__} must be an object, not {type(value).__name__}")
    try:
        return kind(**value)
    except TypeError as error:
        _refuse(str(error))


def _take_kind(kinds: type[_Kind], given: dict[str, object], what: str) -> _Kind:
    """Remove the kind from the fields of something, and return it."""
    name = given.pop("kind", None)
    found = next((one for one in kinds if one.value == name), None)
    return _refuse(f"{what} has no known kind") if found is None else found


def _read_error(value: object) -> ErrorDetail:
    given = dict(value) if isinstance(value, Mapping) else {}
    kind = _take_kind(ErrorKind, given, "an error")
    path = tuple(_items("path", given.pop("path", ())))
    if "cause" in given:
        _refuse("an error has no field 'cause'")
    for segment in path:
        _of_type("a key or an index of a path", segment, (str, int))
    _of_type("message of an error", given.get("message"), (str,))
    source = given.get("source")
    if source not in ("stream", "content"):
        _of_type("source of an error, if not 'stream' or 'content',", source, (int,))
    if "provider_error" in given:
        given["provider_error"] = _read_provider_error(given["provider_error"])
    return cast("ErrorDetail", _dataclass(ErrorDetail, {**given, "kind": kind, "path": path}))


def _read_usage(value: object) -> object:
    return _read_typed(Usage, value, int)


def _read_citations(value: object) -> object:
    return tuple([_read_typed(Citation, each, str) for each in _items("citations", value)])


def _read_typed(kind: type, value: object, usual: type) -> object:
    """Read a record; fields that the table does not name have the usual type."""
    if not isinstance(value, Mapping):
        return _dataclass(kind, value)
    given = {name: each for name, each in value.items() if each is not None}
    for name, each in given.items():
        _of_type(f"{name} of a {kind.__name__}", each, _TYPES_OF_RECORDS.get(name, (usual,)))
    return _dataclass(kind, given)


def _read_provider_error(value: object) -> ProviderError:
    given = dict(value) if isinstance(value, Mapping) else {}
    kind = _take_kind(ProviderErrorKind, given, "an error of a provider")
    _of_type("retry_after", given.get("retry_after"), (int, float, type(None)))
    return cast("ProviderError", _dataclass(ProviderError, {**given, "kind": kind}))


def _read_repair(value: object) -> Repair:
    given = dict(value) if isinstance(value, Mapping) else {}
    kind = _take_kind(RepairKind, given, "a repair")
    for name, type_ in (("index", int), ("was", str), ("became", str), ("lossy", bool)):
        if name in given:
            _of_type(name, given[name], (type_,))
    return cast("Repair", _dataclass(Repair, {**given, "kind": kind}))


_READERS: Final[dict[str, Callable[[object], object]]] = {
    "parts": read_parts,
    "outcome": _outcome,
    "error": _read_error,
    "usage": _read_usage,
    "citations": _read_citations,
    "errors": lambda value: tuple([_read_error(each) for each in _items("errors", value)]),
    "repairs": lambda value: tuple([_read_repair(each) for each in _items("repairs", value)]),
}


def _refuse(why: str) -> NoReturn:
    raise ValueError(f"this is not a message that to_json wrote: {why}")
