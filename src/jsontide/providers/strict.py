"""A JSON Schema of a tool in, one that a provider takes out: plainly written, or strict, or why it cannot be strict.

Plainly written, it differs from what pydantic and others write: the root is an object and no reference, nothing stands
beside a reference, alternatives are `anyOf`, and patterns do not look around. A reference with a description of its own
refers to a definition of its own.

Rule: the schema that was passed in is not changed. Written plainly, it means the same, except that of `oneOf` several
may fit. As strict, what a document must be gets narrower, or is said in words; what a provider cannot keep to is never
left out silently.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

Schema = dict[str, Any]

DATA: Final = frozenset(("enum", "const", "default", "examples", "example"))
"""Keywords with values, not schemas."""
NAMED: Final = frozenset(("properties", "patternProperties", "dependentSchemas", "$defs", "definitions"))
"""Keywords with schemas by name."""
DEFINITIONS: Final = ("$defs", "definitions")
_ANNOTATIONS: Final = frozenset(("description", "default", "examples"))
"""What may be said beside a reference and is kept."""
_IGNORED_KEYWORDS: Final = frozenset(("title", "deprecated", "readOnly", "writeOnly", "example", "$comment"))
"""What may be said beside a reference and is dropped."""
_MAX_INLINE: Final = 1_000
"""How many definitions are written inline: few that refer to others twice each stand for many."""
_ENUM_TYPES: Final = (str, int, float)
_LOOKAROUND: Final = re.compile(r"\(\?(?:[=!]|<[=!])")


def write_plainly(schema: Schema, *, const_as_enum: bool = False, inline: bool = False) -> Schema:
    """Return a schema whose root is no reference, with nothing beside references, and `anyOf` for `oneOf`.

    `inline` writes definitions where they are referred to; what contains itself is left open there.

    >>> write_plainly({"properties": {"a": {"oneOf": [{"type": "string"}], "discriminator": {"propertyName": "b"}}}})
    {'properties': {'a': {'anyOf': [{'type': 'string'}]}}}
    """
    writer = _PlainWriter(unfold_root(schema), const_as_enum=const_as_enum, inline=inline)
    return keep_used(writer.write())


def unfold_root(schema: Schema) -> Schema:
    """Return a schema whose root is what it refers to, as that of a recursive type is a reference."""
    seen: set[str] = set()
    while isinstance(reference := schema.get("$ref"), str) and reference not in seen:
        seen.add(reference)
        target = find_definition(schema, reference)
        if target is None:
            break
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**target, **rest}
    return schema


def find_definition(root: Schema, reference: str) -> Schema | None:
    """Return the definition at the top of a schema that a reference names, if it is one."""
    place = split_reference(reference)
    named = root.get(place[0]) if place is not None else None
    found = named.get(place[1]) if place is not None and isinstance(named, dict) else None
    return found if isinstance(found, dict) else None


def split_reference(reference: str) -> tuple[str, str] | None:
    """Return where a reference finds its definition: under which keyword, and by which name."""
    start, _, rest = reference.partition("/")
    keyword, _, name = rest.partition("/")
    if start != "#" or keyword not in DEFINITIONS or not name or "/" in name:
        return None
    return keyword, unquote(name).replace("~1", "/").replace("~0", "~")


def keep_used(root: Schema) -> Schema:
    """Return a schema without the definitions that nothing refers to."""
    used: set[tuple[str, str]] = set()
    todo: list[Any] = [{key: value for key, value in root.items() if key not in DEFINITIONS}]
    while todo:
        part = todo.pop()
        if isinstance(part, list):
            todo += part
        elif isinstance(part, dict):
            todo += part.values()
            reference = part.get("$ref")
            place = split_reference(reference) if isinstance(reference, str) else None
            if isinstance(reference, str) and place is not None and place not in used:
                used.add(place)
                todo.append(find_definition(root, reference))
    kept = dict(root)
    for keyword in DEFINITIONS:
        named = kept.pop(keyword, None)
        if isinstance(named, dict) and (left := {key: named[key] for key in named if (keyword, key) in used}):
            kept[keyword] = left
    return kept


class _PlainWriter:
    """Writes a schema anew; definitions for references with a description are added at the end."""

    def __init__(self, root: Schema, *, const_as_enum: bool, inline: bool) -> None:
        self._root = root
        self._const_as_enum = const_as_enum
        self._inline = inline
        self._inside: list[str] = []
        """The references whose definitions are being written inline."""
        self._left = _MAX_INLINE
        self._more: dict[str, tuple[str, Schema]] = {}
        """Names of new definitions, with what they refer to and what is said there."""

    def write(self) -> Schema:
        skipped = DEFINITIONS if self._inline else ()
        written: Schema = self._write({key: value for key, value in self._root.items() if key not in skipped})
        for name, (reference, said) in self._more.items():
            target = find_definition(written, self._end_of(reference))
            written.setdefault("$defs", {})[name] = {**(target or {}), **said}
        return written

    def _end_of(self, reference: str) -> str:
        """Return the reference at the end of definitions that are mere references."""
        seen: set[str] = set()
        while reference not in seen:
            seen.add(reference)
            target = find_definition(self._root, reference)
            following = None if target is None else _merge_single(target).get("$ref")
            reference = following if isinstance(following, str) else reference
        return reference

    def _write(self, schema: Any) -> Any:  # noqa: ANN401 - an object, or true or false
        if not isinstance(schema, dict):
            return schema
        schema = _allow_null(_merge_single(schema))
        if isinstance(schema.get("$ref"), str):
            return self._write_reference(schema)
        written = {key: self._write_keyword(key, value) for key, value in schema.items()}
        if "oneOf" in written or "anyOf" in written:
            written.pop("discriminator", None)
        if "oneOf" in written and "anyOf" not in written:
            written = {("anyOf" if key == "oneOf" else key): value for key, value in written.items()}
        if isinstance(pattern := written.get("pattern"), str) and has_lookaround(pattern):
            add_words(written, {"pattern": written.pop("pattern")})
        if self._const_as_enum and isinstance(written.get("const"), _ENUM_TYPES) and "enum" not in written:
            written = {("enum" if key == "const" else key): value for key, value in written.items()}
            written["enum"] = [written["enum"]]
        return written

    def _write_keyword(self, key: str, value: Any) -> Any:  # noqa: ANN401 - any JSON
        if key in DATA:
            return value
        if key in NAMED and isinstance(value, dict):
            return {name: self._write(inner) for name, inner in value.items()}
        return [self._write(item) for item in value] if isinstance(value, list) else self._write(value)

    def _write_reference(self, schema: Schema) -> Schema:
        reference = schema["$ref"]
        said = {key: value for key, value in schema.items() if key in _ANNOTATIONS}
        if any(key not in _ANNOTATIONS and key not in _IGNORED_KEYWORDS and key != "$ref" for key in schema):
            return schema
        target = find_definition(self._root, reference)
        if self._inline and target is not None:
            return {**self._write_inline(reference, target), **said}
        place = split_reference(reference)
        if not said or place is None or find_definition(self._root, self._end_of(reference)) is None:
            return {"$ref": reference}
        return {"$ref": f"#/$defs/{self._name(place[1], (reference, said))}"}

    def _write_inline(self, reference: str, target: Schema) -> Schema:
        if reference in self._inside or not self._left:
            return {key: target[key] for key in ("type", "description") if key in target}
        self._left -= 1
        self._inside.append(reference)
        written: Schema = self._write(target)
        self._inside.pop()
        return written

    def _name(self, old: str, wanted: tuple[str, Schema]) -> str:
        """Return the name of the definition for a reference and what is said there; the same for the same."""
        plain = "".join(letter if letter.isalnum() else "_" for letter in old)
        names = self._root.get("$defs")
        number = 2
        while (name := f"{plain}_{number}") in self._more or (isinstance(names, dict) and name in names):
            if self._more.get(name) == wanted:
                return name
            number += 1
        self._more[name] = wanted
        return name


def has_lookaround(pattern: str) -> bool:
    """Return whether a regular expression looks ahead or behind, as pydantic's for `Decimal`; OpenAI takes none."""
    return _LOOKAROUND.search(pattern) is not None


def add_words(schema: Schema, keywords: Schema) -> None:
    """Say in the description of a schema what its keywords may not."""
    said = ", ".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in keywords.items())
    described = schema.get("description")
    schema["description"] = f"{described} ({said})" if described else said


def _merge_single(schema: Schema) -> Schema:
    """Return a schema without an `allOf` of one, which some write to say something beside a reference."""
    inner = schema.get("allOf")
    if not isinstance(inner, list) or len(inner) != 1 or not isinstance(inner[0], dict):
        return schema
    rest = {key: value for key, value in schema.items() if key != "allOf"}
    both = [key for key in rest if key in inner[0] and key not in _ANNOTATIONS and key not in _IGNORED_KEYWORDS]
    return schema if both else {**inner[0], **rest}


def _allow_null(schema: Schema) -> Schema:
    """Return a schema without OpenAPI's `nullable`, which JSON Schema does not have."""
    if schema.get("nullable") is not True:
        return schema
    inner = {key: value for key, value in schema.items() if key != "nullable"}
    said = {key: inner.pop(key) for key in (*_ANNOTATIONS, *_IGNORED_KEYWORDS) if key in inner}
    return {"anyOf": [inner, {"type": "null"}], **said}


FORMATS: Final = frozenset(("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"))
BOUNDS: Final = frozenset(
    ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems")
)
_ACCEPTED_KEYWORDS: Final = frozenset(("type", "enum", "const", "title", "description"))
_DESCRIBED_KEYWORDS: Final = frozenset(
    (
        *("default", "examples", "format", "pattern", "minLength", "maxLength", "uniqueItems", "contentEncoding"),
        *("contentMediaType", "minProperties", "maxProperties", *BOUNDS),
    )
)
"""Written into the description where a provider does not take it, and checked when arguments come back."""
_REFUSED_KEYWORDS: Final = frozenset(
    (
        *("allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies"),
        *("propertyNames", "contains", "minContains", "maxContains", "unevaluatedItems", "additionalItems"),
        *("$dynamicRef", "$recursiveRef"),
    )
)
_TYPE_NAMES: Final = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRules:
    """What a provider takes as a tool."""

    names: str = ""
    """A regular expression for names; without it, any that a `Tool` takes."""
    names_in_words: str = ""
    strict: StrictRules | None = None
    """What it takes as strict, if it has a switch for it at each tool."""
    why_not_strict: str = "it has no strict tools"
    """Why no tool can be strict, if it has none."""
    is_plain: bool = False
    """Whether it refuses or drops `oneOf`, or anything beside a reference, also in tools that are not strict."""
    const_as_enum: bool = False
    inline: bool = False
    """Whether definitions are written where they are referred to."""
    answers_are_objects: bool = False
    """Whether a structured answer must be an object."""
    takes_loose_answers: bool = False
    """Whether it takes a schema of the answer that cannot be strict, where it has strict ones."""


@dataclass(frozen=True, slots=True)
class StrictSchema:
    """A schema as a provider takes it as strict, unless there are problems."""

    schema: Schema
    problems: tuple[str, ...] = ()
    """Why it cannot be strict, for people."""
    optional: int = 0
    """How many properties may be left out."""
    unions: int = 0


def make_strict(schema: Schema, rules: StrictRules, *, needs_object: bool = True) -> StrictSchema:
    """Return the strict form of a schema, which must be of an object unless `needs_object` is false.

    >>> rules = StrictRules(formats=FORMATS, needs_all=True)
    >>> make_strict({"type": "object", "properties": {"city": {"type": "string", "default": "Rome"}}}, rules).schema
    {'type': 'object', 'properties': {'city': {'type': 'string', 'description': 'default: "Rome"'}}, \
'additionalProperties': False, 'required': ['city']}
    >>> make_strict({"type": "object", "properties": {"tags": {"type": "object"}}}, rules).problems
    ("'tags' may have any keys",)
    """
    try:
        return _StrictWriter(write_plainly(schema), rules).write(needs_object=needs_object)
    except RecursionError:
        return StrictSchema(schema, ("it is nested too deeply",))


def is_object_schema(schema: Schema) -> bool:
    """Return whether the root of a schema is an object, plainly said."""
    return schema.get("type", "object") == "object" and "$ref" not in schema and "anyOf" not in schema


class _StrictWriter:
    """Writes a schema anew, and notes why it cannot be strict."""

    def __init__(self, root: Schema, rules: StrictRules) -> None:
        self._root = root
        self._rules = rules
        self._problems: list[str] = []
        self._definitions: dict[tuple[str, str], Schema] = {}
        self._todo: list[tuple[str, str]] = []

    def write(self, *, needs_object: bool) -> StrictSchema:
        root = {key: value for key, value in self._root.items() if key not in DEFINITIONS}
        if needs_object:
            if not is_object_schema(root):
                return StrictSchema(self._root, ("it is not an object",))
            root = {"type": "object", **root}
        written = self._write(root, ())
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
            if key in _REFUSED_KEYWORDS:
                self._note(path, f"has {key!r}")
        written = {key: value for key, value in schema.items() if self._takes(key, value)}
        words = {key: value for key, value in schema.items() if key in _DESCRIBED_KEYWORDS and key not in written}
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
        if key in _ACCEPTED_KEYWORDS:
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
