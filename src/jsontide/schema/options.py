"""What a program passes in beside the document: a schema, and when its values may be shown.

Policies are the same three words everywhere: `Annotated[str, Done()]` in a type, `"x-stream": "done"` in a JSON Schema,
and `{"days[*].title": Done()}` beside a schema that cannot be edited.

Rule: a callable that is not a type is refused as a schema, because pydantic would take the signature of a function for
a schema, and then call the function with values of the stream.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NoReturn, Protocol, TypeAlias, TypeVar

from jsontide._path import Path
from jsontide.schema._mismatch import UnsupportedSchemaError

Model_co = TypeVar("Model_co", covariant=True)

KEYWORD: Final = "x-stream"

Policy: TypeAlias = Literal["auto", "grow", "done", "gate"]
"""Where nobody asks for one, it is "auto": free text and containers grow, other strings appear when complete."""
POLICIES: Final[dict[str, Policy]] = {"grow": "grow", "done": "done", "gate": "gate"}
_TYPING_MODULES: Final = frozenset({"types", "typing", "typing_extensions"})
"""The modules whose objects stand for types: `list[int]`, `Literal["a"]`, a `NewType`; some of them can be called."""


@dataclass(frozen=True, slots=True)
class _Annotation:
    def __get_pydantic_json_schema__(
        self, core_schema: object, handler: Callable[[Any], dict[str, Any]]
    ) -> dict[str, Any]:
        return {**handler(core_schema), KEYWORD: find_policy(self)}


@dataclass(frozen=True, slots=True)
class Stream(_Annotation):
    """Shows a value while it grows, as free text, arrays and objects do by default; so half a date is shown too."""


@dataclass(frozen=True, slots=True)
class Done(_Annotation):
    """Shows a value when it is closed."""


@dataclass(frozen=True, slots=True)
class Gate(_Annotation):
    """Hides the object around until this member is closed and fits."""


_POLICY_OF: Final[dict[type[_Annotation], Policy]] = {Stream: "grow", Done: "done", Gate: "gate"}


def find_policy(annotation: object) -> Policy:
    for kind, policy in _POLICY_OF.items():
        if isinstance(annotation, kind):
            return policy
    raise TypeError(f"a policy must be Stream(), Done() or Gate(), not {annotation!r}")


_Annotated: TypeAlias = Stream | Done | Gate
# Mappings are invariant in their keys: one from texts alone is no mapping from texts and paths.
Policies: TypeAlias = Mapping[str, _Annotated] | Mapping[Path, _Annotated] | Mapping[str | Path, _Annotated]
"""Policies by path pattern, as text or as keys and indices."""


class TypeAdapterLike(Protocol[Model_co]):
    """A pydantic `TypeAdapter`, for type checkers, which may not find pydantic."""

    def validate_json(self, data: str | bytes | bytearray, /) -> Model_co:
        """Return the instance."""


def check_source(source: object) -> None:
    """Refuse what cannot be a schema, without reading it."""
    if isinstance(source, str):  # pydantic would run it as Python
        raise UnsupportedSchemaError("a schema must be a type or a dict, not text; parse it with json.loads first")
    if callable(source) and not isinstance(source, type) and type(source).__module__ not in _TYPING_MODULES:
        refuse_call(source)


def refuse_call(function: object) -> NoReturn:
    """Say what to pass instead of a callable."""
    name = getattr(function, "__qualname__", None) or f"an instance of {type(function).__name__}"
    problem = (
        f"a schema must be a type or a dict, not a callable ({name}); describe its arguments by a type, "
        "or make a tool of it with Tool.from_function"
    )
    raise UnsupportedSchemaError(problem)
