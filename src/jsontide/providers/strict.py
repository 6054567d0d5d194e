"""A JSON Schema in, one that a provider takes as strict out, or the reasons why there is none.

Rule: what a document must be gets narrower, or is said in words; what a provider cannot keep to is never left out
silently. The schema that was passed in is not changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from jsontide.providers.schemas import (
    DEFINITIONS,
    Schema,
    add_words,
    find_definition,
    keep_used,
    split_reference,
    write_plainly,
)

_FORMATS: Final = frozenset(
    ("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"),
)
_BOUNDS: Final = frozenset(
    ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems")
)
_TAKEN: Final = frozenset(("type", "enum", "const", "title", "description"))
_IN_WORDS: Final = frozenset(
    (
        *("default", "examples", "format", "pattern", "minLength", "maxLength", "uniqueItems", "contentEncoding"),
        *("contentMediaType", "minProperties", "maxProperties", *_BOUNDS),
    )
)
"""What is told to the model where a provider does not take it, and is checked when arguments come back."""
_IMPOSSIBLE: Final = frozenset(
    (
        *("allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies"),
        *("propertyNames", "contains", "minContains", "maxContains", "unevaluatedItems", "additionalItems"),
        *("$dynamicRef", "$recursiveRef"),
    )
)
_TYPE_NAMES: Final = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
}


@dataclass(frozen=True, slots=True)
class StrictRules:
    """What a provider takes as strict."""

    formats: frozenset[str]
    bounds: frozenset[str] = frozenset()
    has_patterns: bool = False
    needs_all: bool = False
    """Whether every property is required."""
    needs_type: bool = False
    """Whether values to choose from need a type beside them."""
    may_recur: bool = False
    max_properties: int | None = None
    max_levels: int | None = None
    max_values: int | None = None
    """Of all enums together."""
    max_letters: int | None = None
    """Of all names and values together."""
    max_tools: int | None = None
    max_optional: int | None = None
    """Of all tools together, and so are unions."""
    max_unions: int | None = None


OPENAI: Final = StrictRules(
    formats=_FORMATS,
    bounds=_BOUNDS,
    has_patterns=True,
    needs_all=True,
    needs_type=True,
    may_recur=True,
    max_properties=5_000,
    max_levels=10,
    max_values=1_000,
    max_letters=120_000,
)
ANTHROPIC: Final = StrictRules(formats=_FORMATS | {"uri"}, max_tools=20, max_optional=24, max_unions=16)
"""Of Bedrock too."""


@dataclass(frozen=True, slots=True)
class StrictSchema:
    """A schema as a provider takes it as strict, unless there are problems."""

    schema: Schema
    problems: tuple[str, ...] = ()
    """Why it cannot be strict, for people."""
    optional: int = 0
    """How many properties may be left out."""
    unions: int = 0


def make_strict(schema: Schema, rules: StrictRules) -> StrictSchema:
    """Return the strict form of a schema.

    >>> make_strict({"type": "object", "properties": {"city": {"type": "string", "default": "Rome"}}}, OPENAI).schema
    {'type': 'object', 'properties': {'city': {'type': 'string', 'description': 'default: "Rome"'}}, \
'additionalProperties': False, 'required': ['city']}
    >>> make_strict({"type": "object", "properties": {"tags": {"type": "object"}}}, OPENAI).problems
    ("'tags' may have any keys",)
    """
    try:
        return _StrictWriter(write_plainly(schema), rules).write()
    except RecursionError:
        return StrictSchema(schema, ("it is nested too deeply",))


class _StrictWriter:
    """Writes a schema anew, and notes why it cannot be strict."""

    def __init__(self, root: Schema, rules: StrictRules) -> None:
        self._root = root
        self._rules = rules
        self._problems: list[str] = []
        self._definitions: dict[tuple[str, str], Schema] = {}
        self._todo: list[tuple[str, str]] = []

    def write(self) -> StrictSchema:
        if self._root.get("type", "object") != "object" or "$ref" in self._root or "anyOf" in self._root:
            return StrictSchema(self._root, ("its arguments are not an object",))
        root = {key: value for key, value in self._root.items() if key not in DEFINITIONS}
        written = self._write({"type": "object", **root}, ())
        while self._todo:
            keyword, name = self._todo.pop()
            inner = self._write(self._root[keyword][name], (name,))
            self._definitions[keyword, name] = inner
        for keyword, name in self._definitions:
            written.setdefault(keyword, {})[name] = self._definitions[keyword, name]
        written = keep_used(written)
        counts = _count(written)
        self._check_size(counts)
        return StrictSchema(written, tuple(dict.fromkeys(self._problems)), counts.optional, counts.unions)

    def _write(self, schema: Any, path: tuple[str, ...]) -> Schema:  # noqa: ANN401 - an object, or true or false
        if not isinstance(schema, dict):
            self._note(path, "may be any JSON" if schema is True else "cannot be anything")
            return {}
        if "$ref" in schema:
            return self._write_reference(schema, path)
        for key in schema:
            if key in _IMPOSSIBLE:
                self._note(path, f"has {key!r}")
        written = {key: value for key, value in schema.items() if self._takes(key, value)}
        words = {key: value for key, value in schema.items() if key in _IN_WORDS and key not in written}
        if isinstance(branches := schema.get("anyOf"), list):
            written["anyOf"] = [self._write(branch, path) for branch in branches]
        self._write_type(written, schema, path)
        types = _types_of(written)
        if "object" in types:
            self._write_object(written, schema, path)
        if "array" in types:
            self._write_array(written, words, schema, path)
        if words:
            add_words(written, words)
        return written

    def _write_type(self, written: Schema, schema: Schema, path: tuple[str, ...]) -> None:
        """See to it that a schema says what a value is."""
        if "type" in written:
            return
        if "properties" in schema:
            written["type"] = "object"
        elif "enum" in schema or "const" in schema:
            known = _types_of_values(schema)
            if "object" in known:
                self._note(path, "has an object or an array to choose from")
            elif self._rules.needs_type and known:
                written["type"] = known[0] if len(known) == 1 else known
        elif not written.get("anyOf"):
            self._note(path, "may be any JSON")

    def _takes(self, key: str, value: object) -> bool:
        rules = self._rules
        if key in _TAKEN:
            return True
        if key == "format":
            return value in rules.formats
        if key == "pattern":
            return rules.has_patterns
        return key in rules.bounds or (key == "minItems" and value in {0, 1})

    def _write_reference(self, schema: Schema, path: tuple[str, ...]) -> Schema:
        reference = schema["$ref"]
        if len(schema) > 1:
            beside = ", ".join(repr(key) for key in schema if key != "$ref")
            self._note(path, f"has {beside} beside a reference")
        place = split_reference(reference) if isinstance(reference, str) else None
        if reference == "#" and self._rules.may_recur:
            return {"$ref": reference}
        if place is None or find_definition(self._root, reference) is None:
            self._note(path, f"refers to {reference!r}, which is no definition of the schema")
        elif place not in self._definitions:
            self._definitions[place] = {}
            self._todo.append(place)
        return {"$ref": reference}

    def _write_object(self, written: Schema, schema: Schema, path: tuple[str, ...]) -> None:
        properties = schema.get("properties")
        others = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
        is_open = others is not False if others is not None else not isinstance(properties, dict)
        if is_open or schema.get("patternProperties"):
            self._note(path, "may have any keys")
        fields = properties if isinstance(properties, dict) else {}
        written["properties"] = {name: self._write(inner, (*path, name)) for name, inner in fields.items()}
        written["additionalProperties"] = False
        required = schema.get("required")
        needed = required if isinstance(required, list) else []
        for name in needed:
            if name not in fields:
                self._note(path, f"requires {name!r}, which is no property of it")
        written["required"] = list(fields) if self._rules.needs_all else [name for name in fields if name in needed]

    def _write_array(self, written: Schema, words: Schema, schema: Schema, path: tuple[str, ...]) -> None:
        first = schema.get("prefixItems")
        rest = schema.get("items")
        at = (*path, "[*]")
        if not isinstance(first, list):
            if rest is None:
                self._note(path, "may have any items")
            elif isinstance(rest, list):
                self._note(path, "has 'items' that is a list")
            else:
                written["items"] = self._write(rest, at)
            return
        if rest is None and schema.get("maxItems") != len(first):
            self._note(path, "may have any items")
        kinds = [self._write(item, at) for item in (first if rest in (None, False) else [*first, rest])]
        distinct = [kind for index, kind in enumerate(kinds) if kind not in kinds[:index]]
        written["items"] = distinct[0] if len(distinct) == 1 else {"anyOf": distinct}
        words["prefixItems"] = kinds
        if rest is False and "maxItems" not in schema:
            words["maxItems"] = len(first)

    def _note(self, path: tuple[str, ...], problem: str) -> None:
        where = ".".join(path).replace(".[*]", "[*]")
        self._problems.append(f"{where!r} {problem}" if where else f"it {problem}")

    def _check_size(self, counts: _Counts) -> None:
        rules = self._rules
        if counts.recurs_at is not None and not rules.may_recur:
            self._problems.append(f"{counts.recurs_at!r} may contain itself")
        for found, most, what in (
            (counts.properties, rules.max_properties, "properties"),
            (counts.values, rules.max_values, "values to choose from"),
            (counts.letters, rules.max_letters, "characters in names and values"),
            (counts.levels, rules.max_levels, "levels of objects"),
            (counts.optional, rules.max_optional, "properties that may be left out"),
            (counts.unions, rules.max_unions, "unions"),
        ):
            if most is not None and found > most:
                self._problems.append(f"it has {found} {what}, and a provider takes {most}")


def _types_of(schema: Schema) -> tuple[str, ...]:
    found = schema.get("type")
    if isinstance(found, str):
        return (found,)
    return tuple(each for each in found if isinstance(each, str)) if isinstance(found, list) else ()


def _types_of_values(schema: Schema) -> list[str]:
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    return list(dict.fromkeys(_TYPE_NAMES.get(type(value), "object") for value in values))


@dataclass(slots=True)
class _Counts:
    """How large a schema is."""

    properties: int = 0
    optional: int = 0
    unions: int = 0
    values: int = 0
    letters: int = 0
    levels: int = 0
    recurs_at: str | None = None
    """A definition that leads back to itself."""


def _count(root: Schema) -> _Counts:
    counter = _Counter(root)
    counter.counts.levels = counter.visit({key: root[key] for key in root if key not in DEFINITIONS})
    return counter.counts


class _Counter:
    """Counts what is in a schema, and in each definition once."""

    def __init__(self, root: Schema) -> None:
        self.counts: Final = _Counts()
        self._root = root
        self._levels: dict[str, int | None] = {}
        """Of definitions; `None` of those in which the one that is looked at lies."""

    def visit(self, schema: Schema) -> int:
        """Count what is in a schema, and return how many objects in one another it has at most."""
        counts = self.counts
        if "$ref" in schema:
            return self._follow(schema["$ref"])
        values = schema.get("enum", [schema["const"]] if "const" in schema else [])
        counts.values += len(values)
        counts.letters += sum(len(value) for value in values if isinstance(value, str))
        counts.unions += "anyOf" in schema or isinstance(schema.get("type"), list)
        fields = schema.get("properties", {})
        counts.properties += len(fields)
        counts.letters += sum(map(len, fields))
        counts.optional += len(fields) - len(schema.get("required", ()))
        inner = [*fields.values(), *schema.get("anyOf", ())]
        if "items" in schema:
            inner.append(schema["items"])
        return max(map(self.visit, inner), default=0) + ("properties" in schema)

    def _follow(self, reference: str) -> int:
        target = find_definition(self._root, reference)
        place = split_reference(reference)
        if reference in self._levels or place is None or target is None:
            found = self._levels.get(reference, 0)
            if found is None:
                self.counts.recurs_at = place[1] if place else None
            return found or 0
        self._levels[reference] = None
        self.counts.letters += len(place[1])
        levels = self.visit(target)
        self._levels[reference] = levels
        return levels
