"""What programs get: what a schema shows of a state, and an object with the attributes and items of the final type.

A partial is never an instance of the final type, so nothing that was cut off can be mistaken for the whole.
Type checkers see the same: every attribute is a JSON value so far, or `MISSING`, and not yet what the type makes of it.

Never compiled: a compiled class with type parameters does not clear weak references to it when it is freed, and
following one then crashes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Final, Generic, NoReturn, Self, TypeAlias, TypeVar, cast, overload

from jsontide._path import Path, Segment
from jsontide._pattern import read_path
from jsontide._values import MISSING, JsonValue, Missing, find_value
from jsontide.schema._mismatch import SchemaMismatch
from jsontide.schema._validator import Model
from jsontide.schema._variants import ArrayVariant, ObjectVariant, SchemaNode, Variant
from jsontide.schema.options import Model_co
from jsontide.tree import ParserState, node_at

if TYPE_CHECKING:
    from jsontide.schema._resolve import ResolutionReport

Shown = TypeVar("Shown", bound=dict[str, JsonValue] | list[JsonValue])

PartialValue: TypeAlias = "ObjectView | ArrayView | str | int | float | Decimal | bool | Missing | None"
"""What a partial shows for one value: its JSON so far."""

_NEVER_MEMBERS: Final = frozenset({"resolution", "_variants", "_shown", "__setstate__", "__deepcopy__", "__copy__"})
"""What `copy` and `pickle` look up before an object has its attributes."""
_METHODS_OF_MODELS: Final = frozenset({"model_dump", "model_dump_json", "dict", "json", "_asdict", "asdict"})
_HINT_TO_DICT: Final = "to_dict() of the Partial returns the object so far"
_NOT_PICKLED: Final = "a part of a partial cannot be pickled, because its schema is elsewhere; pickle the partial"


class Status(Enum):
    """The progress of a resolution."""

    PENDING = "pending"
    """Nothing may be shown yet."""
    PARTIAL = "partial"
    """Something is shown, and more will come."""
    FINAL = "final"
    """The document is complete, and the validator has accepted it."""
    MISMATCH = "mismatch"
    """Something does not fit the schema; what fits is still shown."""


class Resolution(Generic[Model_co]):
    """What a schema shows of a parser state; made by `from_json_ast`, and passed to it again for the next state.

    Its values are plain Python containers that other resolutions of the stream share: read them, do not change them.
    """

    __slots__ = ("_report", "_state", "_step", "value")

    def __init__(
        self, report: ResolutionReport[Model_co], state: ParserState, step: int, value: JsonValue | Missing
    ) -> None:
        self._report = report
        self._state = state
        self._step = step
        self.value = value
        """What may be shown now, `MISSING` while nothing may."""

    @property
    def status(self) -> Status:
        """The progress: pending, partial, final, or a mismatch."""
        return self._report.status

    @property
    def model(self) -> Model_co | Missing:
        """What the validator made of the complete document: an instance of the type, or the value for a JSON Schema.

        `MISSING` unless the status is `FINAL`.
        """
        return self._report.model

    @property
    def errors(self) -> tuple[SchemaMismatch, ...]:
        """The mismatches, in the order in which they were found."""
        report = self._report
        return (*report.fold.stack.errors[: report.error_count], *report.open_errors)

    def __repr__(self) -> str:
        return f"<Resolution {self.status.name} of {self._state!r}>"

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return self._report.reduce(self._state)


class Partial(Generic[Model]):
    """A document as far as it has come, with the attributes that the instance will have.

    What has not arrived is `MISSING`, which is falsy.
    Values are JSON, such as a string for a `datetime`, until the instance comes.
    """

    __slots__ = ("resolution",)

    def __init__(self, resolution: Resolution[Model]) -> None:
        self.resolution = resolution

    @property
    def so_far(self) -> PartialValue:
        """The value so far: a view of an object or an array, a scalar as it is, `MISSING` before there is one."""
        return _wrap(self.resolution.value, self._variants)

    @property
    def errors(self) -> tuple[SchemaMismatch, ...]:
        """What does not fit the schema so far."""
        return self.resolution.errors

    def to_dict(self) -> dict[str, JsonValue]:
        """Return the object so far as plain JSON, to send or to print; it is shared, so do not change it."""
        value = self.resolution.value
        if value is MISSING:
            return {}
        if not isinstance(value, dict):
            found = "a list" if isinstance(value, list) else "a scalar"
            raise TypeError(f"to_dict() needs an object, this is {found}; use so_far")
        return value

    def is_complete_at(self, path: str | Sequence[Segment]) -> bool:
        """Return whether the value at a path, such as `days[0].title`, is shown and will not change any more."""
        found = self._find_path(path)
        if find_value(self.resolution.value, found) is MISSING:
            return False
        node = node_at(self.resolution._state, found)
        # Defaults have no node: they are shown at the end, when nothing changes any more.
        return self.resolution.status is Status.FINAL if node is None else node.closed

    def __getattr__(self, name: str) -> PartialValue:
        if name in _NEVER_MEMBERS:
            raise AttributeError(name)
        shown = self.so_far
        if name in _METHODS_OF_MODELS and not isinstance(shown, ObjectView):
            raise AttributeError(f"a Partial has no {name!r}; {_HINT_TO_DICT}")
        return cast("PartialValue", getattr(shown, name))

    def __getitem__(self, segment: Segment) -> PartialValue:
        return cast("ObjectView", self.so_far)[cast("str", segment)]

    def __contains__(self, segment: object) -> bool:
        return segment in self._items

    def __iter__(self) -> Iterator[PartialValue]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __bool__(self) -> bool:
        return True  # something is shown, if only an empty object

    def __repr__(self) -> str:
        return f"<Partial {self.resolution.value!r}>"

    @property
    def _items(self) -> ObjectView | ArrayView:
        """The view so far; of an empty object before there is one."""
        return ObjectView({}, ()) if self.resolution.value is MISSING else cast("ObjectView | ArrayView", self.so_far)

    @property
    def _variants(self) -> tuple[Variant, ...]:
        return self.resolution._report.compiled.node.variants

    def _find_path(self, path: str | Sequence[Segment]) -> Path:
        """Return the keys and indices of a path that may have names of attributes in it."""
        variants, value = self._variants, self.resolution.value
        segments: list[Segment] = []
        for name in read_path(path):
            segment = _find_key(variants, name, value) if isinstance(name, str) else name
            segments.append(segment)
            variants, value = _child_variants(variants, segment), find_value(value, (segment,))
        return tuple(segments)


class _View(Generic[Shown]):
    """A container so far, with the variants that it may be."""

    __slots__ = ("_shown", "_variants")

    def __init__(self, shown: Shown, variants: tuple[Variant, ...]) -> None:
        self._shown = shown
        self._variants = variants

    def __len__(self) -> int:
        return len(self._shown)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._shown == other._shown

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> NoReturn:
        raise TypeError(_NOT_PICKLED)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return type(self)(deepcopy(self._shown, memo), self._variants)

    def __repr__(self) -> str:
        return f"<so far: {self._shown!r}>"


class ObjectView(_View[dict[str, JsonValue]]):
    """An object so far: members by attribute or by key."""

    __slots__ = ()

    def __getattr__(self, name: str) -> PartialValue:
        if name in _NEVER_MEMBERS:
            raise AttributeError(name)
        key = _find_key(self._variants, name, self._shown)
        is_known = any(isinstance(each, ObjectVariant) and key in each.properties for each in self._variants)
        if key not in self._shown and not is_known:
            hint = f"; {_HINT_TO_DICT}" if name in _METHODS_OF_MODELS else ""
            raise AttributeError(f"the schema has no {name!r}{hint}")
        return self[key]

    def __getitem__(self, key: str) -> PartialValue:
        return _wrap(self._shown.get(key, MISSING), _child_variants(self._variants, key))

    def __contains__(self, key: object) -> bool:
        return key in self._shown

    def __iter__(self) -> Iterator[str]:
        return iter(self._shown)


class ArrayView(_View[list[JsonValue]], Sequence["PartialValue"]):
    """An array so far."""

    __slots__ = ()

    @overload
    def __getitem__(self, index: int) -> PartialValue: ...
    @overload
    def __getitem__(self, index: slice) -> list[PartialValue]: ...
    def __getitem__(self, index: int | slice) -> PartialValue | list[PartialValue]:
        places = range(len(self._shown))[index]
        if isinstance(places, int):
            return _wrap(self._shown[places], _child_variants(self._variants, places))
        return [self[place] for place in places]


def _wrap(value: JsonValue | Missing, variants: tuple[Variant, ...]) -> PartialValue:
    if isinstance(value, dict):
        return ObjectView(value, variants)
    if isinstance(value, list):
        return ArrayView(value, variants)
    return value


def _child_variants(variants: tuple[Variant, ...], segment: Segment) -> tuple[Variant, ...]:
    """Return the variants of a child in any of its container's variants."""
    nodes = [_child_node(variant, segment) for variant in variants]
    return tuple(dict.fromkeys(variant for node in nodes if node is not None for variant in node.variants))


def _child_node(variant: Variant, segment: Segment) -> SchemaNode | None:
    if isinstance(variant, ObjectVariant) and isinstance(segment, str):
        return variant.node_at(segment)
    if isinstance(variant, ArrayVariant) and isinstance(segment, int):
        return variant.prefix[segment] if segment < len(variant.prefix) else variant.rest
    return None


def _find_key(variants: tuple[Variant, ...], name: str, value: JsonValue | Missing) -> str:
    """Return the key of an attribute in the text."""
    for variant in variants:
        if isinstance(variant, ObjectVariant) and name in variant.attributes:
            keys = variant.attributes[name]
            return next((key for key in keys if isinstance(value, dict) and key in value), keys[0])
    return name
