"""What a schema becomes: for every place in a document a shape, made of the forms that a value there may take.

A shape is a union of forms, most often of one.
A form is of one kind, so that the first character of a value rules out all forms of other kinds.
Recursive schemas make shapes that lead back to themselves: nothing here may walk all of them.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

from jsontide._values import MISSING, JsonValue, Missing
from jsontide.schema._numbers import is_same_number

if TYPE_CHECKING:
    from jsontide._path import Segment
    from jsontide.schema._policy import Policy
    from jsontide.schema._regex import Regex
    from jsontide.schema._validator import Check

Kind: TypeAlias = Literal["string", "number", "boolean", "null", "array", "object"]
KINDS: Final[tuple[Kind, ...]] = ("string", "number", "boolean", "null", "array", "object")
SCALARS: Final[frozenset[Kind]] = frozenset({"string", "number", "boolean", "null"})

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

Length: TypeAlias = Any
"""An `int`, or 2.0, which JSON Schema takes for one."""


class Form:
    """One form that a value may take; of strings, numbers, booleans and nulls the kind says it all."""

    __slots__ = ("check", "converter", "expected", "gates", "is_changed_before", "kinds")

    def __init__(
        self,
        *,
        kinds: frozenset[Kind],
        expected: str,
        check: Check | None = None,
        converter: Check | None = None,
    ) -> None:
        self.kinds = kinds
        self.expected = expected
        self.check = check
        """What is asked about closed values of this kind, if anything can be wrong with them."""
        self.converter = converter
        """What is asked about closed scalars of other kinds: pydantic takes `"12"` for 12."""
        self.gates: frozenset[str] = frozenset()
        """The members that an object waits for before it shows anything."""
        self.is_changed_before = False
        """Whether a function of the program sees the value first, and may make anything of it."""

    def __deepcopy__(self, memo: dict[int, object]) -> Form:
        return self

    def shape_at(self, segment: Segment) -> Shape | None:  # noqa: ARG002
        """Return the shape of a child, `None` where there may be none."""
        return ANY

    def is_met_by(self, value: Any) -> bool:  # noqa: ANN401, ARG002
        """Tell whether a closed container needs no further look."""
        return self.check is None


class ScalarForm(Form):
    """A string, number, boolean or null."""

    __slots__ = ("is_integer",)

    def __init__(
        self,
        *,
        kinds: frozenset[Kind],
        expected: str,
        is_integer: bool = False,
        check: Check | None = None,
        converter: Check | None = None,
    ) -> None:
        super().__init__(kinds=kinds, expected=expected, check=check, converter=converter)
        self.is_integer = is_integer


class EnumForm(Form):
    """One of a few values, never shown before it is closed."""

    __slots__ = ("longest", "members", "texts")

    def __init__(  # noqa: PLR0913
        self,
        *,
        kinds: frozenset[Kind],
        expected: str,
        members: tuple[JsonValue, ...],
        texts: tuple[str, ...],
        longest: int,
        check: Check | None = None,
        converter: Check | None = None,
    ) -> None:
        super().__init__(kinds=kinds, expected=expected, check=check, converter=converter)
        self.members = members
        self.texts = texts
        """Those of the members that are strings."""
        self.longest = longest

    def is_met_by(self, value: Any) -> bool:  # noqa: ANN401
        return self.check is None and any(is_same_json(member, value) for member in self.members)


class ArrayForm(Form):
    """Items by their place, then all others."""

    __slots__ = ("least", "most", "prefix", "rest")

    def __init__(  # noqa: PLR0913
        self,
        *,
        kinds: frozenset[Kind],
        expected: str,
        prefix: tuple[Shape, ...] = (),
        rest: Shape | None = None,
        least: Length = 0,
        most: Length = None,
        check: Check | None = None,
        converter: Check | None = None,
    ) -> None:
        super().__init__(kinds=kinds, expected=expected, check=check, converter=converter)
        self.prefix = prefix
        self.rest = rest
        """`None` where no more items are allowed."""
        self.least = least
        self.most = most
        """`None` where there may be any number."""

    def shape_at(self, segment: Segment) -> Shape | None:
        at = cast("int", segment)
        if self.most is not None and at >= self.most:
            return None
        return self.prefix[at] if at < len(self.prefix) else self.rest

    def is_met_by(self, value: Any) -> bool:  # noqa: ANN401
        return self.check is None and len(value) >= self.least

    def with_items(self, prefix: tuple[Shape, ...], rest: Shape | None) -> ArrayForm:
        """Return the same form of other items."""
        made = ArrayForm(
            kinds=self.kinds,
            expected=self.expected,
            prefix=prefix,
            rest=rest,
            least=self.least,
            most=self.most,
            check=self.check,
            converter=self.converter,
        )
        made.is_changed_before = self.is_changed_before
        return made


Extra: TypeAlias = Literal["keep", "ignore", "forbid"]


class ObjectForm(Form):
    """Members by their keys, then by patterns, then all others."""

    __slots__ = ("attributes", "defaults", "extra", "extra_shape", "names", "patterns", "properties", "required")

    def __init__(  # noqa: PLR0913
        self,
        *,
        kinds: frozenset[Kind],
        expected: str,
        properties: dict[str, Shape],
        patterns: tuple[tuple[Regex, Shape], ...],
        extra: Extra,
        extra_shape: Shape | None,
        required: tuple[str, ...],
        attributes: dict[str, list[str]],
        check: Check | None = None,
        converter: Check | None = None,
    ) -> None:
        super().__init__(kinds=kinds, expected=expected, check=check, converter=converter)
        self.properties = properties
        self.patterns = patterns
        self.extra: Extra = extra
        self.extra_shape = extra_shape
        self.required = required
        self.defaults: dict[str, JsonValue] = {}
        self.attributes = attributes
        """The names that a type has for keys, where there is a type; of several keys the first stands for all."""
        self.names: dict[str, list[str]] = {keys[0]: keys for keys in attributes.values() if len(keys) > 1}
        """All keys of such a member, by the first."""

    def shape_at(self, segment: Segment) -> Shape | None:
        key = cast("str", segment)
        shape = self.properties.get(key)
        if shape is not None:
            return shape
        for pattern, matched in self.patterns:
            if pattern.search(key):
                return matched
        return self.extra_shape

    def is_met_by(self, value: Any) -> bool:  # noqa: ANN401
        if self.check is not None:
            return False
        members: dict[str, object] = value
        for key in self.required:  # noqa: SIM110 - a loop is faster here
            if key not in members:
                return False
        return True

    def first_key(self, key: str) -> str:
        """Return the key that stands for all keys of a member."""
        for first, keys in self.names.items():
            if key in keys:
                return first
        return key

    def expected_at(self, key: str) -> str:
        """Say what a member should be."""
        shape = self.shape_at(key)
        return "a value" if shape is None else shape.expected

    def with_members(self, properties: dict[str, Shape], extra_shape: Shape | None) -> ObjectForm:
        """Return the same form of other members."""
        made = ObjectForm(
            kinds=self.kinds,
            expected=self.expected,
            properties=properties,
            patterns=self.patterns,
            extra=self.extra,
            extra_shape=extra_shape,
            required=self.required,
            attributes=self.attributes,
            check=self.check,
            converter=self.converter,
        )
        made.is_changed_before = self.is_changed_before
        return made


class AnyForm(Form):
    """Anything at all."""

    __slots__ = ()


class Shape:
    """What may stand at one place, and when it is shown."""

    __slots__ = (
        "arrays",
        "by_kind",
        "default",
        "expected",
        "forms",
        "free",
        "grows",
        "is_changed_before",
        "is_guessed",
        "longest",
        "objects",
        "plain",
        "policy",
        "takes",
    )

    def __init__(self) -> None:
        self.policy: Policy = "grow"
        self.default: JsonValue | Missing = MISSING
        self.fill(())

    def fill(self, forms: tuple[Form, ...]) -> None:
        """Say which forms there are; later than making it, because shapes may lead back to themselves."""
        self.forms = forms
        self.by_kind: dict[Kind, tuple[Form, ...]] = {
            kind: tuple(form for form in forms if kind in form.kinds) for kind in KINDS
        }
        self.arrays = self.by_kind["array"]
        self.objects = self.by_kind["object"]
        self.plain: frozenset[Kind] = frozenset(
            kind for form in forms if not isinstance(form, EnumForm) for kind in form.kinds
        )
        """The kinds that some form takes that is no enum."""
        self.free: frozenset[type] = frozenset(each for form in forms for each in _free_types(form))
        """The types of scalars that fit, whatever they are."""
        self.expected = " or ".join(dict.fromkeys(form.expected for form in forms)) or "nothing"
        self.longest = max((form.longest for form in forms if isinstance(form, EnumForm)), default=-1)
        """How long a string can be that is still a member of some enum, -1 if there is none."""
        has_converter = any(form.converter is not None for form in forms)
        self.takes: frozenset[Kind] = self.plain | SCALARS if has_converter else self.plain
        """The kinds of scalars that may fit, if there is no enum."""
        self.is_changed_before = any(form.is_changed_before for form in forms)
        """Whether a function of the program may make something fitting of any value."""
        self.is_guessed = any(form.is_changed_before and form.converter is None for form in forms)
        """Whether nobody can be asked before the end what it makes of a scalar."""
        self.grows = len(self.by_kind["string"]) == 1 and self.longest < 0
        """Whether a string can only be one thing from its beginning."""

    def with_policy(self, policy: Policy) -> Shape:
        """Return the same shape with another policy."""
        return self.with_forms(self.forms, policy)

    def with_forms(self, forms: tuple[Form, ...], policy: Policy) -> Shape:
        """Return a shape with the same default."""
        shape = Shape()
        shape.policy = policy
        shape.default = self.default
        shape.fill(forms)
        return shape


def _free_types(form: Form) -> list[type]:
    """Return the types of those scalars that a form takes without looking at them."""
    if form.check is not None or isinstance(form, EnumForm):
        return []
    kinds = form.kinds
    if isinstance(form, ScalarForm) and form.is_integer:
        return [int]
    return [each for each, kind in _KIND_OF.items() if kind in kinds and kind in SCALARS]


ANY_FORM: Final = AnyForm(kinds=frozenset(KINDS), expected="anything")
ANY: Final = Shape()
ANY.fill((ANY_FORM,))


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
        kind = kind_of(one)
        if kind != kind_of(other):
            return False
        if isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return False
            todo += zip(one, other, strict=True)
        elif isinstance(one, dict) and isinstance(other, dict):
            if one.keys() != other.keys():
                return False
            todo += [(value, other[key]) for key, value in one.items()]
        elif not (is_same_number(one, other) if kind == "number" else one == other):
            return False
    return True
