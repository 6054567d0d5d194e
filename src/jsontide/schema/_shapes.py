"""What a schema becomes: for every place in a document a shape, made of the forms that a value there may take.

A shape is a union of forms, most often of one.
A form is of one kind, so that the first character of a value rules out all forms of other kinds.
Recursive schemas make shapes that lead back to themselves: nothing here may walk all of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias

from jsontide._values import MISSING, JsonValue, Missing

if TYPE_CHECKING:
    from jsontide._path import Path
    from jsontide.schema._mismatch import MismatchReason
    from jsontide.schema._policy import Policy

Kind: TypeAlias = Literal["string", "number", "boolean", "null", "array", "object"]
KINDS: Final[tuple[Kind, ...]] = ("string", "number", "boolean", "null", "array", "object")
SCALARS: Final[frozenset[Kind]] = frozenset({"string", "number", "boolean", "null"})


@dataclass(frozen=True, slots=True)
class Problem:
    """What a check refuses, below the value that was checked."""

    path: Path
    reason: MismatchReason
    expected: str
    of_branch: bool = False
    """It is what one branch of a union says, and others may say otherwise."""


class Check(Protocol):
    """What a validator says about one closed value."""

    def problems(self, value: JsonValue) -> tuple[Problem, ...]:
        """Return what is wrong, nothing if the value is fine."""

    def converted(self, value: JsonValue) -> JsonValue | Missing:
        """Return what the validator makes of a scalar of another kind, `MISSING` if it refuses it."""


@dataclass(eq=False, slots=True, kw_only=True)
class Form:
    """One form that a value may take; of strings, numbers, booleans and nulls the kind says it all."""

    kinds: frozenset[Kind]
    expected: str
    check: Check | None = None
    """What is asked about closed values of this kind, if anything can be wrong with them."""
    converter: Check | None = None
    """What is asked about closed scalars of other kinds: pydantic takes `"12"` for 12."""


@dataclass(eq=False, slots=True, kw_only=True)
class ScalarForm(Form):
    """A string, number, boolean or null."""

    is_integer: bool = False


@dataclass(eq=False, slots=True, kw_only=True)
class EnumForm(Form):
    """One of a few values, never shown before it is closed."""

    members: tuple[JsonValue, ...]
    texts: tuple[str, ...]
    """Those of the members that are strings."""
    longest: int


@dataclass(eq=False, slots=True, kw_only=True)
class ArrayForm(Form):
    """Items by their place, then all others."""

    prefix: tuple[Shape, ...] = ()
    rest: Shape | None = None
    """`None` where no more items are allowed."""
    least: int = 0
    most: int | None = None


Extra: TypeAlias = Literal["keep", "ignore", "forbid"]


@dataclass(eq=False, slots=True, kw_only=True)
class ObjectForm(Form):
    """Members by their keys, then by patterns, then all others."""

    properties: dict[str, Shape] = field(default_factory=dict)
    patterns: tuple[tuple[re.Pattern[str], Shape], ...] = ()
    extra: Extra = "keep"
    extra_shape: Shape | None = None
    required: tuple[str, ...] = ()
    gates: frozenset[str] = frozenset()
    defaults: dict[str, JsonValue] = field(default_factory=dict)
    attributes: dict[str, str] = field(default_factory=dict)
    """The names that a type has for keys, where there is a type."""

    def shape_of(self, key: str) -> Shape | None:
        """Return the shape of a member, `None` where it is ignored or forbidden."""
        shape = self.properties.get(key)
        if shape is not None:
            return shape
        for pattern, matched in self.patterns:
            if pattern.search(key):
                return matched
        return self.extra_shape

    def expected_at(self, key: str) -> str:
        """Say what a member should be."""
        shape = self.shape_of(key)
        return "a value" if shape is None else shape.expected


@dataclass(eq=False, slots=True, kw_only=True)
class AnyForm(Form):
    """Anything at all."""


@dataclass(eq=False, slots=True)
class Shape:
    """What may stand at one place, and when it is shown."""

    policy: Policy = "grow"
    forms: tuple[Form, ...] = ()
    by_kind: dict[Kind, tuple[Form, ...]] = field(default_factory=lambda: dict.fromkeys(KINDS, ()))
    free: frozenset[Kind] = frozenset()
    """The kinds of which every value fits."""
    plain: frozenset[Kind] = frozenset()
    """The kinds that some form takes that is no enum."""
    expected: str = "nothing"
    default: JsonValue | Missing = MISSING

    def fill(self, forms: tuple[Form, ...]) -> None:
        """Say which forms there are; later than making it, because shapes may lead back to themselves."""
        self.forms = forms
        self.by_kind = {kind: tuple(form for form in forms if kind in form.kinds) for kind in KINDS}
        self.plain = frozenset(kind for form in forms if not isinstance(form, EnumForm) for kind in form.kinds)
        self.free = frozenset(kind for form in forms if _is_free(form) for kind in form.kinds)
        self.expected = " or ".join(dict.fromkeys(form.expected for form in forms)) or "nothing"


def _is_free(form: Form) -> bool:
    if form.check is not None:
        return False
    return isinstance(form, AnyForm) or (isinstance(form, ScalarForm) and not form.is_integer)


ANY_FORM: Final = AnyForm(kinds=frozenset(KINDS), expected="anything")
ANY: Final = Shape()
ANY.fill((ANY_FORM,))


_KIND_OF: Final[dict[type, Kind]] = {
    str: "string",
    int: "number",
    float: "number",
    Decimal: "number",
    bool: "boolean",
    type(None): "null",
    list: "array",
    dict: "object",
}


def kind_of(value: object) -> Kind:
    """Return the kind of a JSON value."""
    return _KIND_OF[type(value)]


def is_integral(value: JsonValue) -> bool:
    """Tell whether a number is whole, as JSON Schema means it: 1.0 is."""
    if isinstance(value, float):
        return value.is_integer()
    return not isinstance(value, Decimal) or value == value.to_integral_value()


def is_same_json(left: JsonValue, right: JsonValue) -> bool:
    """Compare as JSON does: 1 is 1.0, and `true` is not 1."""
    todo: list[tuple[JsonValue, JsonValue]] = [(left, right)]
    while todo:
        one, other = todo.pop()
        if kind_of(one) != kind_of(other):
            return False
        if isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return False
            todo += zip(one, other, strict=True)
        elif isinstance(one, dict) and isinstance(other, dict):
            if one.keys() != other.keys():
                return False
            todo += [(value, other[key]) for key, value in one.items()]
        elif one != other:
            return False
    return True
