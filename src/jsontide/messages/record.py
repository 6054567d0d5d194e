"""Plain values: equality, pickle and `repr` from the arguments that make them.

Native classes, because a frozen dataclass takes ten times as long to make when compiled, and cannot be unpickled.
Rule: nothing here changes once it is made, so old states can be read, compared, pickled and fed again.
"""

from __future__ import annotations

from typing import ClassVar, Final, NoReturn, Self, cast

from jsontide._values import pack

_REPR_LENGTH: Final = 60
"""Characters of a text in a `repr`."""


class Value:
    """Compared, shown and pickled by the arguments that make it, which are attributes in the order of `FIELDS`."""

    __slots__ = ()

    FIELDS: ClassVar[tuple[str, ...]] = ()
    KEPT: ClassVar[dict[str, str]] = {}
    """For each argument that no attribute of its name holds, the attribute that does: many are made on demand."""

    def _fields(self) -> tuple[object, ...]:
        """Return what the constructor takes."""
        return tuple([getattr(self, name) for name in type(self).FIELDS])

    def evolve(self, **changes: object) -> Self:
        """Return the value with some arguments changed; arguments that are made on demand are not made.

        Code that runs for each event calls the constructor by position instead, in one place: it is twice as fast.
        """
        kind = type(self)
        kept = kind.KEPT
        arguments = {name: getattr(self, name) for name in kind.FIELDS if name not in kept}
        for name, attribute in kept.items():
            arguments[name] = getattr(self, attribute)
        arguments.update(changes)
        return cast("Self", cast("object", kind(**arguments)))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        is_alike = isinstance(other, Value) and type(other) is type(self)
        return is_alike and cast("Value", other)._fields() == self._fields()

    def __hash__(self) -> int:
        return hash(self._fields())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join([repr(one) for one in self._fields()])})"

    def __copy__(self) -> Self:
        return self  # it never changes

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return type(self), tuple([pack(field) for field in self._fields()])


class Record(Value):
    """A value that holds dicts, as a provider wrote them, and so has no hash."""

    __slots__ = ()

    def __hash__(self) -> int:
        return refuse_hash(self)


def refuse_hash(record: object) -> NoReturn:
    """Records hold dicts, as a provider wrote them."""
    raise TypeError(f"unhashable type: {type(record).__name__!r}")


def shorten(text: str) -> str:
    return text if len(text) <= _REPR_LENGTH else f"{text[:_REPR_LENGTH]}..."
