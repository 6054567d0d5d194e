"""What a program passes as a schema in, an error out if it is none.

Rule: what can be called and is no type is refused, because pydantic takes the signature of a function for a schema and
then calls it with what the stream says.
"""

from __future__ import annotations

from typing import Final, NoReturn, Protocol, TypeVar

from jsontide.schema._mismatch import UnsupportedSchemaError

Model_co = TypeVar("Model_co", covariant=True)


class TypeAdapterLike(Protocol[Model_co]):
    """A pydantic `TypeAdapter`, for type checkers, which may not find pydantic."""

    def validate_json(self, data: str | bytes | bytearray, /) -> Model_co:
        """Return the instance."""


_TYPING: Final = frozenset({"types", "typing", "typing_extensions"})
"""The modules whose objects stand for types: `list[int]`, `Literal["a"]`, a `NewType`; some of them can be called."""


def check_source(source: object) -> None:
    """Refuse what is no schema, without candidate it."""
    if isinstance(source, str):  # pydantic would run it as Python
        raise UnsupportedSchemaError("a schema must be a type or a dict, not text; json.loads makes a dict of it")
    if callable(source) and not isinstance(source, type) and type(source).__module__ not in _TYPING:
        refuse_call(source)


def refuse_call(function: object) -> NoReturn:
    """Say what to write instead of something that can be called."""
    name = getattr(function, "__qualname__", None) or f"an instance of {type(function).__name__}"
    problem = f"a schema must be a type or a dict, not something to call ({name}); describe its arguments by a type"
    raise UnsupportedSchemaError(problem)
