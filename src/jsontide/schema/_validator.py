"""A JSON value in, what the program's own validator makes of it out: of a part that is closed, and of the whole.

This is the one place that says what to install.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

from jsontide._values import MISSING, JsonValue, Missing

if TYPE_CHECKING:
    from jsontide._path import Path, Segment
    from jsontide.schema._memory import Memory
    from jsontide.schema._mismatch import MismatchReason

Model = TypeVar("Model")


@dataclass(frozen=True, slots=True)
class Problem:
    """What a check refuses, below the value that was checked."""

    path: Path
    reason: MismatchReason
    expected: str


class Check(Protocol):
    """What a validator says about one closed value."""

    def problems(self, value: JsonValue, memory: Memory) -> tuple[Problem, ...]:
        """Return what is wrong, nothing if the value is fine; `memory` is that of the document."""

    def converted(self, value: JsonValue) -> JsonValue | Missing:
        """Return what the validator makes of a scalar of another kind, `MISSING` if it refuses it."""


class Validated(NamedTuple, Generic[Model]):
    """The instance, or `MISSING` and what is wrong."""

    model: Model | Missing
    problems: tuple[Problem, ...] = ()
    is_sure: bool = True
    """Whether the validator could read the whole document."""


class Validator(Protocol[Model]):
    """Has the last word on a complete document."""

    def validated(self, value: JsonValue, memory: Memory, *, has_decimals: bool) -> Validated[Model]:
        """Return the instance that a value becomes; `has_decimals` tells that numbers in it may be decimals."""


def has_package(name: str) -> bool:
    return find_spec(name) is not None


def need_package(name: str, purpose: str) -> None:
    """Refuse to go on without a package."""
    if not has_package(name):
        message = f"{purpose} needs the package {name}: pip install 'jsontide[{name}]'"
        raise ImportError(message, name=name)


def path_in(value: JsonValue, location: tuple[Segment, ...]) -> Path:
    """Return the path of a validator's location: what is not in the document names a branch."""
    path: list[Segment] = []
    for segment in location:
        inner = child_of(value, segment)
        if inner is not MISSING:
            path.append(segment)
            value = inner
    return tuple(path)


def child_of(value: JsonValue | Missing, segment: Segment) -> JsonValue | Missing:
    """Return a member or an item, `MISSING` where there is none."""
    if isinstance(value, dict) and isinstance(segment, str):
        return value.get(segment, MISSING)
    if isinstance(value, list) and isinstance(segment, int) and 0 <= segment < len(value):
        return value[segment]
    return MISSING
