"""A JSON value in, what the program's own validator makes of it out: of a closed part, and of the whole document.

Validators name problems by path, and the log knows where in the text each value begins; both come together here.
This is also the one place that says what to install.

Rule: however many problems there are, the nodes of the value are visited once to locate them.

What checks found out about a value is remembered by its `id`, with the value kept alive, so that nothing is checked
twice. Numbers are compared as they are written: a float stands for the shortest decimal that reads as it, so that 0.1
is 0.1 in every mode of the parser; none is written out, so 1e999999999 costs what its characters do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from importlib.util import find_spec
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from jsontide._path import Path, Segment
from jsontide._values import MISSING, JsonValue, Missing, find_value
from jsontide.schema._mismatch import MismatchReason, name_container, shorten
from jsontide.tree.log import Log
from jsontide.tree.tape import Container

Number: TypeAlias = int | float | Decimal


def to_decimal(number: Number) -> Decimal:
    """Return a number as the decimal that it was written as."""
    return Decimal(repr(number)) if isinstance(number, float) else Decimal(number)


def is_same_number(one: Any, other: Any) -> bool:
    """Return whether two numbers of a document or a schema have the same value as written."""
    return bool(one == other) if type(one) is type(other) else to_decimal(one) == to_decimal(other)


def is_multiple(number: Number, of: Number) -> bool:
    """Return whether a number is a multiple of another; infinity, which 1e999 becomes as a float, is not."""
    value, unit = to_decimal(number), to_decimal(of)
    if not value.is_finite() or not unit.is_finite() or not unit:
        return False
    if not value:
        return True
    digits, exponent = _split(value)
    unit_digits, unit_exponent = _split(unit)
    shift = exponent - unit_exponent
    if shift >= 0:
        return digits * pow(10, shift, unit_digits) % unit_digits == 0
    # A number other than zero is no multiple of a larger one.
    return value.adjusted() >= unit.adjusted() and digits % (unit_digits * 10**-shift) == 0


def _split(number: Decimal) -> tuple[int, int]:
    """Return two whole numbers: the first times ten to the power of the second is the absolute value."""
    _, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)  # noqa: S101 - it is finite
    return int(Decimal((0, digits, 0))), exponent


Found: TypeAlias = "tuple[object, Path | None]"
"""A value, and the path to the first thing that is wrong with it, `None` if nothing is."""
Findings: TypeAlias = "dict[tuple[object, int], Found]"
"""Results by schema and value."""


class Memory:
    """Results for the containers of a document, and for the scalar that was checked last."""

    __slots__ = ("_class_of_container", "_classes", "_containers", "_scalar", "_scalars")

    def __init__(self) -> None:
        self._containers: Findings = {}
        self._scalar: object = self
        self._scalars: Findings = {}
        self._classes: dict[object, int] = {}
        self._class_of_container: dict[int, tuple[object, int]] = {}

    def findings(self, value: object) -> Findings:
        """Return the results for a value, to read and to add to."""
        if isinstance(value, list | dict):
            return self._containers
        if value is not self._scalar:
            self._scalar = value
            self._scalars = {}
        return self._scalars

    def class_of(self, value: JsonValue) -> int:
        """Return a number that only equal JSON values share: 1 equals 1.0, and `true` does not equal 1."""
        todo: list[JsonValue] = [value]
        while todo:
            each = todo[-1]
            unknown = [child for child in _children(each) if id(child) not in self._class_of_container]
            if unknown and isinstance(each, list | dict):
                todo += unknown
                continue
            todo.pop()
            if isinstance(each, list | dict):
                self._class_of_container[id(each)] = each, self._class_for(self._key(each))
        return self._known_class(value)

    def _known_class(self, value: JsonValue) -> int:
        if isinstance(value, list | dict):
            return self._class_of_container[id(value)][1]
        return self._class_for(_scalar_key(value))

    def _key(self, value: list[JsonValue] | dict[str, JsonValue]) -> object:
        if isinstance(value, list):
            return tuple(map(self._known_class, value))
        return frozenset((key, self._known_class(member)) for key, member in value.items())

    def _class_for(self, key: object) -> int:
        return self._classes.setdefault(key, len(self._classes))


def _children(value: JsonValue) -> list[Any]:
    """Return the containers in a container."""
    if not isinstance(value, list | dict):
        return []
    children = value.values() if isinstance(value, dict) else value
    return [child for child in children if isinstance(child, list | dict)]


def _scalar_key(value: JsonValue) -> object:
    if isinstance(value, bool) or value is None:
        return repr(value), None
    if isinstance(value, float):
        return to_decimal(value)
    return value if isinstance(value, int | Decimal) else (value, str)


Model = TypeVar("Model")
_Wanted = dict[Any, Any]
"""The children to look for, by key or index, and for each of them what to look for in it."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A problem of a checked value, at a path inside it."""

    path: Path
    reason: MismatchReason
    expected: str


class Check(Protocol):
    """What a validator says about one closed value."""

    def find_problems(self, value: JsonValue, memory: Memory) -> tuple[Violation, ...]:
        """Return the problems of a value; `memory` is that of its document."""

    def convert(self, value: JsonValue) -> JsonValue | Missing:
        """Return what the validator makes of a scalar of another kind, `MISSING` if it rejects it."""


class Validation(NamedTuple, Generic[Model]):
    """What a validator returns: the instance, or `MISSING` and the problems."""

    model: Model | Missing
    problems: tuple[Violation, ...] = ()
    is_sure: bool = True
    """Whether the validator could read the whole document."""


class Validator(Protocol[Model]):
    """Decides whether a complete document is accepted."""

    def validate(self, value: JsonValue, memory: Memory, *, has_decimals: bool) -> Validation[Model]:
        """Return the instance that a value becomes; `has_decimals` is true if it may contain `Decimal`s."""


def has_package(name: str) -> bool:
    return find_spec(name) is not None


def need_package(name: str, purpose: str) -> None:
    """Raise `ImportError` if a package is not installed."""
    if not has_package(name):
        raise ImportError(f"{purpose} needs the package {name}: pip install 'jsontide[{name}]'", name=name)


def find_path(value: JsonValue, location: tuple[Segment, ...]) -> Path:
    """Return the path of a validator's location, in which the names of branches are not in the document."""
    path: list[Segment] = []
    for segment in location:
        inner = find_value(value, (segment,))
        if inner is not MISSING:
            path.append(segment)
            value = inner
    return tuple(path)


class Located(NamedTuple):
    """A problem, where its value begins in the text (or its container, if it is missing), and the value in words."""

    problem: Violation
    start: int
    found: str


def drop_reported(problems: Iterable[Violation], reported: Iterable[Path]) -> list[Violation]:
    """Leave out problems inside or around the paths, in the same value, that mismatches were reported for."""
    paths = set(reported)
    around: set[Path] = set()
    for path in paths:
        _add_prefixes(path, around)
    inside: dict[Path, bool] = {}  # whether a container, or one around it, has a mismatch
    found: list[Violation] = []
    for problem in problems:
        path, parent = problem.path, problem.path[:-1]
        if path in paths or path in around:
            continue
        if parent not in inside:
            inside[parent] = any(parent[:length] in paths for length in range(len(parent) + 1))
        if not inside[parent]:
            found.append(problem)
    return found


def _add_prefixes(path: Path, prefixes: set[Path]) -> None:
    """Add the paths of all containers around a value."""
    for length in range(len(path) - 1, -1, -1):
        prefix = path[:length]
        if prefix in prefixes:
            return
        prefixes.add(prefix)


def locate(problems: list[Violation], log: Log, node_id: int, value: JsonValue) -> list[Located]:
    """Find where in the text the problems of a closed value are; `node_id` is the node of the value."""
    if not problems:
        return []
    starts = _find_starts([problem.path for problem in problems], log, node_id)
    return [_locate_one(problem, starts, value) for problem in problems]


def _locate_one(problem: Violation, starts: dict[Path, int], value: JsonValue) -> Located:
    path = problem.path
    there = find_value(value, path)
    if there is MISSING:
        path = path[:-1]
        return Located(problem, starts[path] - isinstance(find_value(value, path), str), "nothing")
    if isinstance(there, dict | list):  # it may be deep
        return Located(problem, starts[path], name_container(there))
    return Located(problem, starts[path] - isinstance(there, str), shorten(there))


def _find_starts(paths: list[Path], log: Log, node_id: int) -> dict[Path, int]:
    """Return the index in the text of the values at these paths, and of the containers around them."""
    wanted: _Wanted = {}
    for path in paths:
        reduce(lambda names, each: names.setdefault(each, {}), path, wanted)
    found: dict[Path, int] = {(): log.start_of(node_id)}
    open_at: dict[int, tuple[Path, _Wanted]] = {node_id: ((), wanted)}
    counts: dict[int, int] = {}
    for child in range(node_id + 1, log.length if isinstance(log.entries[node_id], Container) else 0):
        owner = log.owners[child].node_id
        if owner < node_id:  # the log continues outside
            break
        if owner not in open_at:
            continue
        around, names = open_at[owner]
        key = log.keys[child]
        segment: Segment = counts.get(owner, 0) if key is None else key
        counts[owner] = counts.get(owner, 0) + 1
        if segment not in names:
            continue
        path = (*around, segment)
        if not log.keeps_first or path not in found:
            found[path] = log.start_of(child)
            open_at[child] = path, names[segment]
    return found
