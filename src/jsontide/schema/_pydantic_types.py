"""Types in, JSON Schemas and pydantic's own validators out.

pydantic writes the JSON Schema; we add what that cannot express: which validator checks a value, whether unknown keys
are dropped, and the names of attributes.
A closed value is checked by the same validator as at the end, constraints and functions included, so a value that is
shown will also be accepted.

pydantic lists the errors of each branch of a union, with the name of the branch as if it were part of the path; here
each thing that is wrong is reported once, at its path.

pydantic tries every branch of a union that has no discriminator, and inside each of them every branch of the unions
there; in a recursive type that multiplies with each level of the document, and it cannot be interrupted.
How often it would validate a value is a sum over the paths to that value, and one pass over the document counts it.
Types that cannot multiply, as nearly all, are found when the schema is read, and documents for them are not measured.

Rule: never count less than pydantic does, so that every validation that is let through comes to an end.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, is_dataclass, replace
from functools import cached_property
from math import prod
from types import UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Generic,
    NotRequired,
    Required,
    TypeAlias,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import typing_extensions
from pydantic import (
    BaseModel,
    PydanticSchemaGenerationError,
    PydanticUserError,
    TypeAdapter,
    ValidationError,
    create_model,
)
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import ErrorDetails, PydanticSerializationError, SchemaValidator, to_json

from jsontide._path import Path, Segment
from jsontide._values import MISSING, JsonValue, Missing, find_value
from jsontide.schema._json_schema import ATTRIBUTES, BEFORE, CHECK, EXTRA, WHOLE, Schema
from jsontide.schema._mismatch import MismatchReason, UnsupportedSchemaError
from jsontide.schema._regex import Regex, get_regex
from jsontide.schema._validator import Memory, Model, Validation, Violation
from jsontide.schema.options import refuse_call

CoreSchema: TypeAlias = dict[str, Any]
Child: TypeAlias = tuple[JsonValue, CoreSchema]
"""A value in a container, and a schema that validates it."""

_SCALARS: Final = frozenset(
    (
        *("str", "int", "float", "bool", "bytes", "date", "time", "datetime", "timedelta", "decimal", "url"),
        *("multi-host-url", "uuid", "enum", "literal", "complex", "any"),
    )
)
"""The types of core schemas that look at a value as a whole."""
_CHECKED_ALONE: Final = _SCALARS | {"json", "custom-error", "chain"}
"""The types of core schemas whose values are checked when they close."""
_FUNCTIONS: Final = frozenset({"function-before", "function-after", "function-wrap", "function-plain"})
_FUNCTIONS_BEFORE: Final = frozenset({"function-before", "function-wrap", "function-plain", "generator"})
_PLAIN_SCALARS: Final = frozenset({"str", "int", "float", "bool"})
_UNCONSTRAINING_KEYS: Final = frozenset({"type", "strict", "metadata", "serialization", "ref"})
"""The keys of a core schema that constrain no value."""
_SETTINGS_OF_SCALARS: Final = frozenset(
    (
        *("str_strip_whitespace", "str_to_lower", "str_to_upper", "str_min_length", "str_max_length"),
        *("allow_inf_nan", "regex_engine"),
    )
)
"""Settings of models that affect plain scalars of the right kind."""
_OBJECTS: Final = frozenset({"model-fields", "dataclass-args", "typed-dict"})
_SCOPES: Final = frozenset({"model", "dataclass", "typed-dict"})
"""The types of core schemas that may have settings of their own."""
_NOT_SCHEMAS: Final = frozenset(
    (
        *("metadata", "default", "expected", "members", "serialization", "config", "context", "cls"),
        *("custom_error_context",),
    )
)
"""The keys of a core schema that hold no other schemas."""
_WRITTEN_AS_TEXT: Final = frozenset({"decimal", "complex"})
"""Numbers that JSON has as strings, which have no format."""

_MAX_STEPS: Final = 200_000
"""Of validating a whole document: about a second if all of it is wrong, much less if it is right."""
_MAX_STEPS_OF_PART: Final = 10_000
"""Of validating a part of a document, which may have many."""
_MORE_STEPS_FOR_EACH: Final = 200
"""For each value in a container."""
_STEPS_OF_RE: Final = 20
"""How many steps of Python's `re` take the time of one of pydantic's."""
_MAX_HARMLESS_BRANCHES: Final = 100
_MAX_ERRORS: Final = 5_000
"""Of all branches of unions together."""
_NOT_CONTAINERS: Final = _SCALARS | {"none", "is-instance", "is-subclass", "callable"}
"""The types of core schemas that accept no container, or any without looking inside."""
_KEYS_OF_ARGUMENTS: Final = {"arguments": "arguments_schema", "named-tuple": "fields"}
_KEYS_OF_SAME_VALUE: Final = ("schema", "lax_schema", "json_schema", "arguments_schema")
"""The keys of inner schemas that validate the same value."""


def read_type(source: Any) -> tuple[Schema, list[FieldCheck], TypeAdapter[Any]]:
    """Return the JSON Schema of a type, the checks that its keywords refer to, and the validator of the whole."""
    if isinstance(source, BaseModel) or (is_dataclass(source) and not isinstance(source, type)):
        raise UnsupportedSchemaError(f"a schema must be a type, not an instance of {type(source).__name__}")
    try:
        adapter: TypeAdapter[Any] = source if isinstance(source, TypeAdapter) else TypeAdapter(_translate(source, {}))
        generators: list[SchemaGenerator] = []

        class Noted(SchemaGenerator):
            def __init__(self, *args: Any, **options: Any) -> None:
                super().__init__(*args, **options)
                self._configs = [_get_config(adapter)]
                generators.append(self)

        written = adapter.json_schema(schema_generator=Noted)
    except (PydanticUserError, PydanticSchemaGenerationError) as error:
        raise UnsupportedSchemaError(f"pydantic cannot write a JSON Schema for {source!r}: {error.message}") from error
    for part in _parts([adapter.core_schema]):
        # A signature is a schema for pydantic, which would call the function with a value; a class makes a named tuple.
        if part.get("type") == "call" and not isinstance(part["function"], type):
            refuse_call(part["function"])
    return written, generators[0].found, adapter


def _get_config(adapter: TypeAdapter[Any]) -> Any:
    """Return the settings of an adapter, as validators take them; pydantic has no public way to get them."""
    if adapter._config is None:
        return None
    schema: Any = create_model("Settings", __config__=adapter._config).__pydantic_core_schema__
    return schema["config"]


class SchemaGenerator(GenerateJsonSchema):
    """Writes the JSON Schema of a type, with our own keywords added."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.found: list[FieldCheck] = []
        self._configs: list[Any] = [None]
        self._core_definitions: list[Any] = []

    def generate_inner(self, schema: Any) -> dict[str, Any]:
        kind = schema["type"]
        is_scope = kind in _SCOPES and "config" in schema
        if is_scope:
            self._configs.append(schema["config"])
        if kind == "definitions":
            self._core_definitions = schema["definitions"]
        written = super().generate_inner(schema)
        if kind in _OBJECTS:
            self._describe_object(schema, written)
        if kind in ("set", "frozenset"):
            # Equal items are dropped, not refused, and the length counts the items that are left.
            written = {key: written[key] for key in written if key not in ("uniqueItems", "minItems", "maxItems")}
        # Nobody knows beforehand which strings a lax schema accepts, or which items a generator yields.
        if kind in _FUNCTIONS_BEFORE or (kind == "lax-or-strict" and written.get("type") == "string"):
            written = self._note_before(written, is_defined="ref" in schema and "$ref" in written)
        if kind in _CHECKED_ALONE or (kind in _FUNCTIONS and _needs_nothing_else(schema)):
            written = {**written, CHECK: len(self.found)}
            self.found.append(FieldCheck(schema, self._configs[-1], self._core_definitions))
        if kind in _WRITTEN_AS_TEXT:
            for each in written.get("anyOf", [written]):
                each[WHOLE] = True
        if is_scope:
            self._configs.pop()
        return written

    def _note_before(self, written: Schema, *, is_defined: bool) -> Schema:
        """Note that a function comes before the validator, also where the schema is referred to."""
        noted: Any = self.get_schema_from_definitions(written["$ref"]) if is_defined else dict(written)
        noted |= {BEFORE: True, CHECK: None}  # a check further inside would see the value after the function
        return written if is_defined else noted

    def _describe_object(self, schema: CoreSchema, written: Schema) -> None:
        config = self._configs[-1] or {}
        extra = schema.get("extra_behavior") or config.get("extra_fields_behavior") or "ignore"
        if extra == "ignore" and "additionalProperties" not in written:
            written[EXTRA] = "ignore"
        written[ATTRIBUTES] = {
            name: _merge_keys(_field_paths(name, field, config), name, written) for name, field in _fields(schema)
        }


def _needs_nothing_else(schema: CoreSchema) -> bool:
    """Return whether a function can be called with its value alone, because it does not ask for other fields."""
    inner: Any = schema
    while isinstance(inner, dict):
        if inner.get("type") in _FUNCTIONS and inner["function"]["type"] == "with-info":
            return False
        inner = inner.get("schema")
    return True


def _field_paths(name: str, field: CoreSchema, config: CoreSchema) -> list[list[str]]:
    """Return the paths at which pydantic looks for a field."""
    alias: Any = field.get("validation_alias", name)
    if not config.get("validate_by_alias", True):
        return [[name]]
    paths = _alias_paths(alias)
    is_by_name = config.get("validate_by_name", config.get("populate_by_name", False))
    return [*paths, [name]] if is_by_name and [name] not in paths else paths


def _merge_keys(paths: list[list[str]], name: str, written: Schema) -> list[str]:
    """Return the keys of a field, first the one in the JSON Schema; add the others to the JSON Schema."""
    keys = list(dict.fromkeys(path[0] for path in paths))
    properties = written.get("properties", {})
    plain = [path[0] for path in paths if len(path) == 1]
    known = next((key for key in (*plain, name) if key in properties), None)
    if known is None or keys == [known]:
        return keys
    # Any one of them is enough, so none of them is required.
    written["required"] = [key for key in written.get("required", ()) if key != known]
    for key in keys:
        # The JSON Schema does not describe the start of a longer path.
        properties.setdefault(key, deepcopy(properties[known]) if key in plain else {})
    if known not in plain:  # a placeholder for a longer path
        del properties[known]
        return keys
    return [known, *(key for key in keys if key != known)]


def find_checks(found: list[FieldCheck], flat: Schema) -> tuple[FieldCheck | None, FieldCheck | None]:
    """Return the check for values of the kind of a schema, and the one that converts values of other kinds."""
    if flat.get(CHECK) is None:
        return None, None
    check = found[flat[CHECK]]
    kind = check.schema["type"]
    if _takes_only_its_members(check.schema):
        return None, None
    is_free = not any(key in _SETTINGS_OF_SCALARS for key in check.config or ())
    is_plain = kind in _PLAIN_SCALARS and not (check.schema.keys() - _UNCONSTRAINING_KEYS) and is_free
    return (None if is_plain else check), check


def _takes_only_its_members(schema: CoreSchema) -> bool:
    """Return whether a literal or an enum accepts its members only; 1 would also be accepted as `true` and 1.0."""
    if schema["type"] == "literal":
        return all(isinstance(value, str) for value in schema["expected"])
    if schema["type"] != "enum" or "missing" in schema:
        return False
    return all(isinstance(member.value, str) for member in schema["members"])


class TypeValidator(Generic[Model]):
    """Validates documents by a type."""

    def __init__(self, adapter: TypeAdapter[Model]) -> None:
        self._adapter = adapter
        schema: Any = adapter.core_schema
        self._effort = Effort(schema, [])

    def validate(self, value: JsonValue, memory: Memory, *, has_decimals: bool) -> Validation[Model]:
        if self._effort.is_too_much(value):
            return _reject(MismatchReason.TOO_COMPLEX, "a document that pydantic validates in fewer steps")
        try:
            text = _dump(value) if has_decimals else _dump_quickly(value)
        except RecursionError:
            return _reject(MismatchReason.INVALID, "a document that is nested less deeply")
        try:
            return Validation(self._adapter.validate_json(text))
        except ValidationError as error:
            if self._effort.multiplies and error.error_count() > _MAX_ERRORS:  # most of them repeat each other
                return _reject(MismatchReason.NO_BRANCH, "a document that fits one branch of each union")
            return Validation(MISSING, _read_problems(error, value))
        except _INAPPLICABLE_ERRORS as error:
            _raise_bug(error)
            return Validation(MISSING, (_INAPPLICABLE_PROBLEM,))


def _reject(reason: MismatchReason, expected: str) -> Validation[Any]:
    """Reject a document as a whole."""
    return Validation(MISSING, (Violation((), reason, expected),))


@dataclass
class FieldCheck:
    """Checks a closed value by the core schema of its field."""

    schema: CoreSchema
    config: Any
    definitions: list[Any]

    @cached_property
    def validator(self) -> SchemaValidator:
        schema: Any = self.schema
        if self.definitions:
            schema = {"type": "definitions", "schema": schema, "definitions": self.definitions}
        return SchemaValidator(schema, self.config)

    @cached_property
    def effort(self) -> Effort:
        return Effort(self.schema, self.definitions, self.config)

    def find_problems(self, value: JsonValue, memory: Memory) -> tuple[Violation, ...]:
        if self.effort.is_too_much(value, _MAX_STEPS_OF_PART):  # left to the end of the document
            return ()
        try:
            self.validator.validate_json(_dump_part(value))
        except ValidationError as error:
            return _read_problems(error, value)
        except RecursionError:  # left to the end of the document
            return ()
        except _INAPPLICABLE_ERRORS as error:
            _raise_bug(error)
            return (_INAPPLICABLE_PROBLEM,)
        return ()

    def convert(self, value: JsonValue) -> JsonValue | Missing:
        try:
            made: object = self.validator.validate_json(_dump_part(value))
        except ValidationError:
            return MISSING
        except _INAPPLICABLE_ERRORS as error:
            _raise_bug(error)
            return MISSING
        return made if isinstance(made, bool | int | float | str) and type(made) in _JSON_TYPES else value


_INAPPLICABLE_ERRORS: Final = (ArithmeticError, TypeError)
"""What constraints on a union, such as `ge=0` for `int | str`, raise for values that pydantic cannot apply them to."""
_INAPPLICABLE_PROBLEM: Final = Violation((), MismatchReason.INVALID, "a value to which its constraints can be applied")


def _raise_bug(error: Exception) -> None:
    """Raise an exception again if a validator of the program raised it, and not a constraint of pydantic."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    if at is None or not at.tb_frame.f_globals.get("__name__", "").startswith("pydantic._internal."):
        raise error


_JSON_TYPES: Final = (bool, int, float, str)
_WRITTEN_QUICKLY: Final = frozenset({*_JSON_TYPES, type(None)})


def _dump_part(value: JsonValue) -> str | bytes:
    return _dump_quickly(value) if type(value) in _WRITTEN_QUICKLY else _dump(value)


def _dump_quickly(value: JsonValue) -> str | bytes:
    """Write a value without decimals; pydantic is fastest, but fails for deep values and half surrogate pairs."""
    try:
        return to_json(value, inf_nan_mode="constants")
    except PydanticSerializationError:
        return _dump(value)


def _dump(value: JsonValue) -> str:
    # pydantic reads a number as a float, whatever the field is.
    return json.dumps(value, default=float)


_REASONS: Final = {
    "missing": MismatchReason.MISSING_KEY,
    "missing_keyword_only_argument": MismatchReason.MISSING_KEY,
    "extra_forbidden": MismatchReason.UNKNOWN_KEY,
    "unexpected_keyword_argument": MismatchReason.UNKNOWN_KEY,
    "literal_error": MismatchReason.NOT_A_MEMBER,
    "enum": MismatchReason.NOT_A_MEMBER,
    "int_parsing": MismatchReason.WRONG_TYPE,
    "int_parsing_size": MismatchReason.WRONG_TYPE,
    "int_from_float": MismatchReason.WRONG_TYPE,
    "float_parsing": MismatchReason.WRONG_TYPE,
    "bool_parsing": MismatchReason.WRONG_TYPE,
    "union_tag_invalid": MismatchReason.NO_BRANCH,
    "union_tag_not_found": MismatchReason.NO_BRANCH,
    "too_short": MismatchReason.WRONG_LENGTH,
    "too_long": MismatchReason.WRONG_LENGTH,
}


def _read_problems(error: ValidationError, value: JsonValue) -> tuple[Violation, ...]:
    """Return the problems of a value, each once."""
    details = error.errors(include_url=False, include_context=False, include_input=False)
    return tuple(_merge_branches([_read_error(each) for each in details], value))


def _read_error(error: ErrorDetails) -> Violation:
    """Return an error of pydantic; its path still has the names of branches in it."""
    reason = _REASONS.get(error["type"])
    if reason is None:
        reason = MismatchReason.WRONG_TYPE if error["type"].endswith("_type") else MismatchReason.INVALID
    return Violation(error["loc"], reason, _describe(error["msg"]))


def _merge_branches(errors: list[Violation], value: JsonValue) -> Iterator[Violation]:
    """Make one problem of the errors of all branches of a union, unless all but one are of another kind."""
    places = {place for place in (_union_place(each, value) for each in errors) if place is not None}
    unions: dict[Path, list[Violation]] = {}
    for each in errors:
        starts = (each.path[:length] for length in range(len(each.path)))
        place = next((start for start in starts if start in places), each.path)
        unions.setdefault(place, []).append(each)
    for place, inner in unions.items():
        if place in places:
            yield from _merge_union(place, inner, value)
        else:
            yield from inner


def _union_place(error: Violation, value: JsonValue) -> Path | None:
    """Return the path of the first union around an error: a branch, which follows it, is not in the document."""
    at: JsonValue | Missing = value
    is_missing = error.reason is MismatchReason.MISSING_KEY
    for number, segment in enumerate(error.path[: -1 if is_missing else None]):
        at = find_value(at, (segment,))
        if at is MISSING:
            return error.path[:number]
    return None


def _merge_union(place: Path, errors: list[Violation], value: JsonValue) -> Iterator[Violation]:
    depth = len(place)
    branches: dict[Segment, list[Violation]] = {}
    for each in errors:
        inner = replace(each, path=(*place, *each.path[depth + 1 :]))
        branches.setdefault(each.path[depth], []).append(inner)
    wrong = MismatchReason.WRONG_TYPE
    of_its_kind = [
        branch for branch in branches.values() if (place, wrong) not in [(each.path, each.reason) for each in branch]
    ]
    if len(branches) == 1 or len(of_its_kind) == 1:
        yield from _merge_branches((of_its_kind or list(branches.values()))[0], value)
        return
    named = (f"{branch[0].expected} ({label})" for label, branch in branches.items())
    yield Violation(place, MismatchReason.NO_BRANCH if of_its_kind else wrong, " or ".join(named))


def _describe(message: str) -> str:
    """Turn a message of pydantic into the words of `expected`."""
    for start, wanted in _SENTENCES.items():
        if message.startswith(start):
            return wanted + message.removeprefix(start)
    return f"a valid value ({message})"


_SENTENCES: Final[Mapping[str, str]] = {
    "Input should be ": "",
    "Field required": "a value",
    "String should ": "a string that should ",
    "List should ": "an array that should ",
    "Dictionary should ": "an object that should ",
    "Extra inputs are not permitted": "no other keys",
}


class Effort:
    """Estimates how much work a value is for the validator of a core schema."""

    def __init__(self, schema: CoreSchema, definitions: list[CoreSchema], config: Any = None) -> None:
        self._schema = schema
        self._definitions = {each["ref"]: each for each in definitions}
        parts = list(_parts([schema, *definitions]))
        for part in parts:
            if part.get("type") == "definitions":
                self._definitions |= {each["ref"]: each for each in part["definitions"]}
        self._patterns = _find_patterns(parts, config)
        branches = prod(max(_count_containers(part), 1) for part in parts)
        is_recursive = any(part.get("type") == "definition-ref" for part in parts)
        self.multiplies: Final = branches > _MAX_HARMLESS_BRANCHES or (branches > 1 and is_recursive)

    def is_too_much(self, value: JsonValue, most: int = _MAX_STEPS) -> bool:
        """Return whether a value takes more than `most` steps, and `_MORE_STEPS_FOR_EACH` for each value in it."""
        if not self.multiplies and not self._patterns:
            return False
        left = most
        seen: dict[int, JsonValue] = {}
        todo: list[tuple[JsonValue, list[tuple[CoreSchema, int]]]] = [(value, [(self._schema, 1)])]
        while todo and left >= 0:
            each, schemas = todo.pop()
            if isinstance(each, list | dict) and id(each) not in seen:
                seen[id(each)] = each
                left += _MORE_STEPS_FOR_EACH * len(each)
            below: dict[int, tuple[JsonValue, dict[int, tuple[CoreSchema, int]]]] = {}
            while schemas and left >= 0:
                schema, times = schemas.pop()
                left -= times
                if id(schema) in self._patterns and isinstance(each, str):
                    left -= times * self._patterns[id(schema)].steps(len(each)) // _STEPS_OF_RE
                schemas += [(same, times) for same in self._expand(schema, each)]
                for child, meets in _children(schema, each):
                    _, met = below.setdefault(id(child), (child, {}))
                    met[id(meets)] = meets, met.get(id(meets), (meets, 0))[1] + times
            todo += [(child, list(met.values())) for child, met in below.values()]
        return left < 0

    def _expand(self, schema: CoreSchema, value: JsonValue) -> Iterator[CoreSchema]:
        """Yield the inner schemas that validate the same value."""
        kind = schema["type"]
        if kind == "definition-ref":
            yield self._definitions[schema["schema_ref"]]
        elif kind == "union":
            yield from _choices(schema)
        elif kind == "tagged-union":
            tag = _find_tag(schema["discriminator"], value)
            if isinstance(tag, str | int) and tag in schema["choices"]:
                yield schema["choices"][tag]
        elif kind == "chain":
            yield from schema["steps"]
        elif kind != "json":
            yield from (schema[key] for key in _KEYS_OF_SAME_VALUE if isinstance(schema.get(key), dict))


def _find_patterns(parts: list[CoreSchema], config: Any) -> dict[int, Regex]:
    """Return the patterns that pydantic runs with Python's `re` and that may take long, by their schemas.

    Its own engine, the default, takes linear time.
    """
    settings = [config, *(part.get("config") for part in parts)]
    is_python = any(isinstance(each, dict) and each.get("regex_engine") == "python-re" for each in settings)
    found: dict[int, Regex] = {}
    for part in parts:
        pattern = part.get("pattern") if part.get("type") == "str" else None
        if isinstance(pattern, re.Pattern):
            found[id(part)] = get_regex(pattern.pattern)
        elif isinstance(pattern, str) and (is_python or part.get("regex_engine") == "python-re"):
            found[id(part)] = get_regex(pattern)
    return {place: regex for place, regex in found.items() if not regex.is_linear}


def _count_containers(part: CoreSchema) -> int:
    """Return how many branches of a union accept a container."""
    if part.get("type") != "union":
        return 0
    return sum(choice["type"] not in _NOT_CONTAINERS for choice in _choices(part))


def _choices(union: CoreSchema) -> list[CoreSchema]:
    return [choice[0] if isinstance(choice, tuple) else choice for choice in union["choices"]]


def _find_tag(discriminator: Any, value: JsonValue) -> object:
    """Return the value of the discriminator of a tagged union."""
    if callable(discriminator):
        found: object = discriminator(value)
        return found
    for path in _alias_paths(discriminator):
        found = _at(value, path)
        if found is not MISSING:
            return found
    return None


def _children(schema: CoreSchema, value: JsonValue) -> Iterator[Child]:
    """Yield the children of a value that a schema validates."""
    kind = schema["type"]
    if kind in _KEYS_OF_ARGUMENTS:
        yield from _arguments(schema[_KEYS_OF_ARGUMENTS[kind]], value)
    elif isinstance(value, dict):
        if kind in _OBJECTS:
            yield from _members(schema, value)
        if kind == "dict" and "values_schema" in schema:
            yield from ((child, schema["values_schema"]) for child in value.values())
    elif isinstance(value, list):
        items = schema.get("items_schema")
        if isinstance(items, dict):
            yield from ((child, items) for child in value)
        elif isinstance(items, list):
            yield from _items(items, schema.get("variadic_item_index"), value)
    elif kind == "json" and isinstance(value, str) and "schema" in schema:
        inner = _read(value)
        if inner is not MISSING:
            yield inner, schema["schema"]


def _members(schema: CoreSchema, value: dict[str, JsonValue]) -> Iterator[Child]:
    known = set()
    for name, field in _fields(schema):
        paths = _alias_paths(field.get("validation_alias", name))
        for path in paths if [name] in paths else [*paths, [name]]:
            child = _at(value, path)
            known.add(path[0])
            if child is not MISSING:
                yield child, field["schema"]
    if "extras_schema" in schema:
        yield from ((value[key], schema["extras_schema"]) for key in value if key not in known)


def _arguments(arguments: list[CoreSchema], value: JsonValue) -> Iterator[Child]:
    """Yield the fields of a named tuple, by index or by name."""
    for at, argument in enumerate(arguments):
        child = _at(value, [at if isinstance(value, list) else argument["name"]])
        if child is not MISSING:
            yield child, argument["schema"]


def _items(items: list[CoreSchema], variadic: int | None, value: list[JsonValue]) -> Iterator[Child]:
    """Yield the items of a tuple, in which one schema may validate several."""
    more = max(len(value) - len(items), 0)
    for at, child in enumerate(value):
        if variadic is not None and variadic <= at <= variadic + more:
            yield child, items[variadic]
        else:
            place = at if variadic is None or at < variadic else at - more
            if place < len(items):
                yield child, items[place]


def _at(value: Any, path: list[Any]) -> JsonValue | Missing:
    for step in path:
        is_item = isinstance(value, list) and isinstance(step, int) and -len(value) <= step < len(value)
        if not is_item and not (isinstance(value, dict) and step in value):
            return MISSING
        value = value[step]
    found: JsonValue = value
    return found


def _read(text: str) -> JsonValue | Missing:
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return MISSING
    return value


def _parts(schemas: list[Any]) -> Iterator[CoreSchema]:
    todo = list(schemas)
    seen: set[int] = set()
    while todo:
        part = todo.pop()
        if isinstance(part, dict) and id(part) not in seen:
            seen.add(id(part))
            yield part
            is_schema = isinstance(part.get("type"), str)  # otherwise these are fields by name
            todo += [value for key, value in part.items() if not (is_schema and key in _NOT_SCHEMAS)]
        elif isinstance(part, list | tuple):
            todo += part


def _fields(schema: CoreSchema) -> Iterable[tuple[str, CoreSchema]]:
    """Return the fields of an object, by name."""
    fields = schema["fields"]
    return fields.items() if isinstance(fields, dict) else ((field["name"], field) for field in fields)


def _alias_paths(alias: Any) -> list[list[Any]]:
    """Return the paths at which pydantic looks for a field with this alias."""
    if isinstance(alias, str):
        return [[alias]]
    paths: list[list[Any]] = alias if isinstance(alias[0], list) else [alias]
    return paths


_TAKES_TYPED_DICTS: Final = sys.version_info >= (3, 12)
_COPIED_ATTRIBUTES: Final = ("__doc__", "__module__", "__qualname__", "__pydantic_config__")


def _translate(hint: Any, made: dict[type, Any]) -> Any:
    """Return a type with every `TypedDict` of `typing` made one of `typing_extensions`, except those inside classes.

    Before Python 3.12 pydantic accepts no other.
    """
    if _TAKES_TYPED_DICTS:
        return hint
    if isinstance(hint, type) and type(hint).__module__ == "typing" and typing_extensions.is_typeddict(hint):
        return made[hint] if hint in made else _new_typed_dict(hint, made)
    old = get_args(hint)
    new = tuple(_translate(each, made) for each in old)
    if all(each is before for each, before in zip(new, old, strict=True)):
        return hint
    origin: Any = Union if get_origin(hint) is UnionType else get_origin(hint)
    return origin[new if len(new) > 1 else new[0]]


def _new_typed_dict(old: Any, made: dict[type, Any]) -> Any:
    try:
        hints = get_type_hints(old, localns={old.__name__: old}, include_extras=True)
    except NameError:  # pydantic will raise an error that says what to do
        return old
    keys = {key: hint if key in old.__required_keys__ else _not_required(hint) for key, hint in hints.items()}
    new = made[old] = cast("Any", typing_extensions.TypedDict)(old.__name__, keys)
    for name in _COPIED_ATTRIBUTES:
        if hasattr(old, name):
            setattr(new, name, getattr(old, name))
    # Set last, because they may lead back to it.
    new.__annotations__ = {key: _translate(hint, made) for key, hint in keys.items()}
    return new


def _not_required(hint: Any) -> Any:
    """Mark a key of a class with `total=False` as not required, unless it is marked already."""
    inner = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    return hint if get_origin(inner) in (Required, NotRequired) else NotRequired[hint]
