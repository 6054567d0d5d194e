"""A message as JSON, and back: the form to save it in.

    {"jsontide":1,"outcome":"complete","parts":[{"kind":"text","text":"Hi"}],"usage":{...},...}

A part has a `kind` of the table below and its fields by their names; a field that has its default is left out.
Rule: reading what was written gives an equal message; whatever was not written by it is refused with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Final, NoReturn, cast

from jsontide._json_text import write_json
from jsontide._values import MISSING
from jsontide.mend.options import Repair, RepairKind
from jsontide.messages.calls import CompleteCall, PartialCall, ServerCall
from jsontide.messages.parts import BasePart, File, Other, ReasoningPart, Refusal, Source, TextPart
from jsontide.messages.record import Record
from jsontide.messages.types import Citation, ErrorDetail, ErrorKind, Outcome, ProviderError, ProviderErrorKind, Usage

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
    """Return the text of a message, and of the JSON that its answer shows."""
    told: dict[str, object] = {_MARK: VERSION, **_record(message)}
    if answer is not MISSING:
        told["answer"] = answer
    return write_json(told)


def _record(record: Record) -> dict[str, object]:
    return {
        name: _plain(value) for name in type(record).FIELDS if not _is_default(name, value := getattr(record, name))
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
    """Return the fields of a message, which has fields of these names, from its text or from the parsed object."""
    try:
        told = json.loads(text) if isinstance(text, str | bytes | bytearray) else text
    except (ValueError, RecursionError) as error:
        _refuse(f"the text is not JSON: {error}")
    if not isinstance(told, Mapping):
        _refuse(f"an object was expected, not {type(told).__name__}")
    version = told.get(_MARK)
    if version != VERSION:
        _refuse(f"the version {version!r} of the form is not known, only {VERSION}")
    unknown = [name for name in told if name not in names and name not in {_MARK, "answer"}]
    if unknown:
        _refuse(f"a message has no field {unknown[0]!r}")
    read = {str(name): _read(str(name), value) for name, value in told.items() if name != _MARK}
    _check_sources(read)
    return read


def _check_sources(read: dict[str, object]) -> None:
    """Refuse an error of a call that the message does not have."""
    parts = cast("tuple[BasePart, ...]", read.get("parts", ()))
    calls = sum([isinstance(part, CompleteCall | PartialCall) for part in parts])
    for error in cast("tuple[ErrorDetail, ...]", read.get("errors", ())):
        if isinstance(error.source, int) and not 0 <= error.source < calls:
            _refuse(f"an error is of call {error.source}, and there are {calls}")


def _read_parts(parts: object) -> tuple[BasePart, ...]:
    return tuple([_read_part(at, part) for at, part in enumerate(_items("parts", parts))])


def _read_part(at: int, part: object) -> BasePart:
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
    try:
        return cast("Callable[..., BasePart]", kind)(**read)
    except (TypeError, ValueError) as error:
        _refuse(f"part {at}: {error}")


def _read(name: str, value: object) -> object:
    """Return a field as it was before it was written, checked by its name."""
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


def _read_error(value: object) -> ErrorDetail:
    told = dict(value) if isinstance(value, Mapping) else {}
    said = told.pop("kind", None)
    kind = next((one for one in ErrorKind if one.value == said), None)
    if kind is None:
        _refuse("an error has no known kind")
    path = tuple(_items("path", told.pop("path", ())))
    if "cause" in told:
        _refuse("an error has no field 'cause'")
    for segment in path:
        _of_type("a key or an index of a path", segment, (str, int))
    _of_type("message of an error", told.get("message"), (str,))
    source = told.get("source")
    if source not in ("stream", "content"):
        _of_type("source of an error, if not 'stream' or 'content',", source, (int,))
    if "provider_error" in told:
        told["provider_error"] = _read_provider_error(told["provider_error"])
    return cast("ErrorDetail", _dataclass(ErrorDetail, {**told, "kind": kind, "path": path}))


def _read_usage(value: object) -> object:
    return _read_typed(Usage, value, int)


def _read_citations(value: object) -> object:
    return tuple([_read_typed(Citation, each, str) for each in _items("citations", value)])


def _read_typed(kind: type, value: object, usual: type) -> object:
    """Read a record whose fields are of a usual type, or of one that the table has."""
    for name, each in value.items() if isinstance(value, Mapping) else ():
        if each is not None:
            _of_type(f"{name} of a {kind.__name__}", each, _TYPES_OF_RECORDS.get(name, (usual,)))
    return _dataclass(kind, value)


def _read_provider_error(value: object) -> ProviderError:
    told = dict(value) if isinstance(value, Mapping) else {}
    said = told.pop("kind", None)
    kind = next((one for one in ProviderErrorKind if one.value == said), None)
    if kind is None:
        _refuse("an error of a provider has no known kind")
    _of_type("retry_after", told.get("retry_after"), (int, float, type(None)))
    return cast("ProviderError", _dataclass(ProviderError, {**told, "kind": kind}))


def _read_repair(value: object) -> Repair:
    told = dict(value) if isinstance(value, Mapping) else {}
    said = told.pop("kind", None)
    kind = next((one for one in RepairKind if one.value == said), None)
    if kind is None:
        _refuse("a repair has no known kind")
    for name, type_ in (("index", int), ("was", str), ("became", str), ("lossy", bool)):
        if name in told:
            _of_type(name, told[name], (type_,))
    return cast("Repair", _dataclass(Repair, {**told, "kind": kind}))


_READERS: Final[dict[str, Callable[[object], object]]] = {
    "parts": _read_parts,
    "outcome": _outcome,
    "error": _read_error,
    "usage": _read_usage,
    "citations": _read_citations,
    "errors": lambda value: tuple([_read_error(each) for each in _items("errors", value)]),
    "repairs": lambda value: tuple([_read_repair(each) for each in _items("repairs", value)]),
}


def _refuse(why: str) -> NoReturn:
    message = f"this is not a message that to_json wrote: {why}"
    raise ValueError(message)
