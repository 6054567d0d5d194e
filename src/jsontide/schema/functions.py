"""A function in, a type for its arguments out: names, types and descriptions from its signature and docstring.

Rule: the function is never called. Its signature and its annotations are read, and nothing else.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from typing import Annotated, Any, Final, NotRequired, get_type_hints

from jsontide.schema._mismatch import UnsupportedSchemaError
from jsontide.schema._validator import need_package

_ARGUMENTS_SECTION: Final = re.compile(r"^(Args|Arguments|Parameters):?\s*$", re.IGNORECASE)
_ANY_SECTION: Final = re.compile(
    r"^(Args|Arguments|Parameters|Returns?|Raises|Yields|Examples?|Notes?):?\s*$", re.IGNORECASE
)
_GOOGLE_ENTRY: Final = re.compile(r"^(?P<indent>\s+)(?P<name>\*{0,2}\w+)\s*(\([^)]*\))?\s*:\s*(?P<text>.*)$")
_SPHINX_FIELD: Final = re.compile(r"^:param\s+(?:\w+\s+)?(?P<name>\w+)\s*:\s*(?P<text>.*)$")
_VARIADIC: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class FunctionArguments:
    """The schema of the arguments of a function; pickled by the function, as the type that is made of it cannot be."""

    __slots__ = ("_type", "function")

    def __init__(self, function: Callable[..., object]) -> None:
        self.function = function
        self._type = arguments_type(function)

    @property
    def type(self) -> Any:
        """A `TypedDict` of the arguments."""
        return self._type

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FunctionArguments) and other.function == self.function

    def __hash__(self) -> int:
        return hash(self.function)

    def __repr__(self) -> str:
        return f"<arguments of {describe(self.function)[0]}>"

    def __reduce__(self) -> tuple[Callable[..., object], tuple[Callable[..., object]]]:
        return FunctionArguments, (self.function,)


def describe(function: Callable[..., object]) -> tuple[str, str]:
    """Return the name of a function, and its docstring up to the list of arguments."""
    name = getattr(function, "__name__", None) or type(function).__name__
    return name, "\n".join(_read_docstring(function)[0]).strip()


def arguments_type(function: Callable[..., object]) -> Any:
    """Return a `TypedDict` of the arguments of a function; those with a default may be left out."""
    need_package("pydantic", "a tool that is a function")
    from typing_extensions import TypedDict

    try:
        parameters = inspect.signature(function).parameters
        hints = get_type_hints(_unwrap(function), include_extras=True)
    except (TypeError, ValueError, NameError) as error:
        raise UnsupportedSchemaError(f"the signature of {describe(function)[0]} cannot be read: {error}") from error
    descriptions = _read_docstring(function)[1]
    fields: dict[str, Any] = {}
    for name, parameter in parameters.items():
        if parameter.kind in _VARIADIC or parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            problem = f"the parameter {parameter} of {describe(function)[0]} cannot be passed by its name"
            raise UnsupportedSchemaError(problem)
        fields[name] = _field(parameter, hints.get(name, Any), descriptions.get(name))
    make: Any = TypedDict
    made = make(describe(function)[0], fields)
    made.__pydantic_config__ = {"extra": "forbid"}
    return made


def _unwrap(function: Callable[..., object]) -> Any:
    """Return what has the annotations: of an object that can be called, its method."""
    unwrapped = inspect.unwrap(function)
    if inspect.isroutine(unwrapped) or inspect.isclass(unwrapped):
        return unwrapped
    return type(unwrapped).__call__


def _field(parameter: inspect.Parameter, hint: object, description: str | None) -> Any:
    from pydantic import Field

    options: dict[str, Any] = {}
    if description and not _describes(hint):  # the annotation is closer to the parameter than the docstring
        options["description"] = description
    if parameter.default is not inspect.Parameter.empty and _is_json(parameter.default):
        options["json_schema_extra"] = {"default": parameter.default}
    annotated: Any = Annotated[hint, Field(**options)] if options else hint
    return annotated if parameter.default is inspect.Parameter.empty else NotRequired[annotated]


def _describes(hint: object) -> bool:
    """Return whether a type has a description in its annotation."""
    return any(getattr(each, "description", None) for each in getattr(hint, "__metadata__", ()))


def _is_json(value: object) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _read_docstring(function: Callable[..., object]) -> tuple[list[str], dict[str, str]]:
    """Return the lines before the list of arguments, and the description of each, in Google's and Sphinx's styles."""
    lines = (inspect.getdoc(function) or "").splitlines()
    summary: list[str] = []
    descriptions: dict[str, str] = {}
    is_before, in_arguments, last = True, False, ""
    for line in lines:
        field = _SPHINX_FIELD.match(line.strip())
        entry = _GOOGLE_ENTRY.match(line) if in_arguments else None
        if field:
            is_before, last = False, field["name"]
            descriptions[last] = field["text"].strip()
        elif _ANY_SECTION.match(line):
            is_before, in_arguments, last = False, bool(_ARGUMENTS_SECTION.match(line)), ""
        elif entry:
            last = entry["name"].lstrip("*")
            descriptions[last] = entry["text"].strip()
        elif in_arguments and last and line.strip():
            descriptions[last] = f"{descriptions[last]} {line.strip()}".strip()
        elif is_before:
            summary.append(line)
    return summary, descriptions
