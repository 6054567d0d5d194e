"""A JSON Schema in, its keywords out, or an error that says what is wrong and where.

Two schemas that both apply are merged into one. What one schema cannot express is kept under `ALSO`, and the validator
checks it when a value closes.

Schemas come from strangers, so nothing outside of a schema is opened because the schema names it.
A `$ref` may name a place in the schema in every way that JSON Schema has: by pointer, by anchor, by `$id`.
Each becomes a pointer from the root when the schema is read, wherever it stands, also where no keyword that we know
leads to it; one that does not lead to a schema in this schema is an error.
After that a schema has no `$id` and no `$schema`, and to read it means to follow pointers from the root, nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from jsontide._values import MISSING, JsonValue, Missing
from jsontide.schema._mismatch import UnsupportedSchemaError, shorten
from jsontide.schema._regex import Regex, get_regex
from jsontide.schema._variants import get_kind, is_integral, is_same_json
from jsontide.schema.options import KEYWORD

Schema: TypeAlias = dict[str, Any]
AnySchema: TypeAlias = Schema | bool

TYPES: Final = ("string", "integer", "number", "boolean", "null", "array", "object")
_OWN_PREFIX: Final = "x-jsontide-"
ALSO: Final = "x-jsontide-also"
"""Schemas that the validator has to check, because the merged one cannot express them."""
CHECK: Final = "x-jsontide-check"
"""The number of the validator that a type has for values here."""
EXTRA: Final = "x-jsontide-extra"
"""`"ignore"` where a type drops unknown keys."""
ATTRIBUTES: Final = "x-jsontide-attributes"
"""The keys of each attribute of a type."""
BEFORE: Final = "x-jsontide-before"
"""Whether a function of a type sees values before its validator."""
WHOLE: Final = "x-jsontide-whole"
"""Whether a string is no free text although it has no format: the string of a `Decimal`, for example."""
_UNSUPPORTED: Final = ("$dynamicRef", "$recursiveRef")
_FREE_TEXT_FORMATS: Final = frozenset(
    (
        *("text", "textarea", "plain", "plaintext", "plain-text", "string", "multiline", "multi-line", "prose", "code"),
        *("markdown", "md", "mdx", "commonmark", "html", "xml", "latex", "richtext", "rich-text"),
    )
)
"""Formats, as front ends and people name them, in which half a value is half a text."""
_WITH_LISTS: Final = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
"""Keywords with a list of schemas."""
_MAX_NAMED_MEMBERS: Final = 8
_DATA_KEYWORDS: Final = ("enum", "const", "default", "examples", "example")
"""Keywords whose values are parts of documents, not schemas."""
_WITH_NAMES: Final = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")
"""Keywords with an object of schemas by name; the names are not keywords."""
_OLD_DRAFT: Final = re.compile(r"https?://json-schema\.org/draft-0([3467])/schema#?")
_ARRAY_INDEX: Final = re.compile("0|[1-9][0-9]{0,8}")
_MAX_NAME_LENGTH: Final = 1_000
"""Of the URI or the pointer of a part: both grow with each level, and a schema may have many."""
_MAX_MERGED: Final = 500_000
"""Of keywords in all merged schemas together."""
_ANNOTATIONS: Final = frozenset(
    (
        *("$schema", "$id", "$comment", "$defs", "$anchor", "$vocabulary", "definitions", "title", "description"),
        *("default", "examples", "example", "deprecated", "readOnly", "writeOnly", "discriminator", KEYWORD),
        *("format", "contentMediaType", "contentEncoding"),
    )
)
_BESIDE_UNION: Final = ("default", "title", "description", KEYWORD)
_WHOLE_SCHEMA: Final = ("$defs", "definitions", "$id", "$schema")
"""Keywords that a union with null keeps beside it, and those that it also leaves in its branch."""


def fail(problem: str, where: str) -> NoReturn:
    raise UnsupportedSchemaError(problem, where)


def check_schema(schema: object, where: str) -> AnySchema:
    if not isinstance(schema, dict | bool):
        fail(f"a schema must be an object or a boolean, not {shorten(schema)}", where)
    return schema


def check_keywords(schema: Schema, where: str) -> None:
    """Refuse keywords that are not supported, and lengths that are not numbers."""
    for keyword in _UNSUPPORTED:
        if keyword in schema:
            fail(f"{keyword!r} is not supported", where)
    for keyword in ("minItems", "maxItems"):
        value = schema.get(keyword, 0)
        if not isinstance(value, int | float) or isinstance(value, bool):
            fail(f"{keyword!r} must be a number, not {shorten(value)}", where)


def get_list(schema: Schema, keyword: str, where: str) -> list[Any]:
    found = schema.get(keyword, [])
    if not isinstance(found, list):
        fail(f"{keyword!r} must be an array, not {shorten(found)}", where)
    for each in found:
        if keyword == "required" and not isinstance(each, str):
            fail(f"{keyword!r} must have strings, not {shorten(each)}", where)
        if keyword in _WITH_LISTS:
            check_schema(each, f"{where}/{keyword}")
    return found


def get_object(schema: Schema, keyword: str, where: str) -> dict[str, AnySchema]:
    found = schema.get(keyword, {})
    if not isinstance(found, dict):
        fail(f"{keyword!r} must be an object, not {shorten(found)}", where)
    for key, each in found.items():
        check_schema(each, f"{where}/{keyword}/{key}")
    return found


def get_types(schema: Schema, where: str) -> list[str]:
    found = schema["type"]
    names: list[str] = found if isinstance(found, list) else [found]
    for name in names:
        if name not in TYPES:
            fail(f"'type' must be one of {', '.join(TYPES)}, not {shorten(name)}", where)
    return names


def compile_pattern(text: str, where: str) -> Regex:
    try:
        regex = get_regex(text)
    except re.error as error:
        fail(f"the pattern {text!r} is not valid: {error}", where)
    if not regex.is_safe:
        fail(f"the pattern {text!r} may take exponential time on a key", where)
    return regex


def is_of_type(value: JsonValue, name: str) -> bool:
    if name == "integer":
        return get_kind(value) == "number" and is_integral(value)
    return get_kind(value) == name


def is_free_text(schema: Schema) -> bool:
    """Return whether half a string of a schema means something: not if it has a format or an encoding."""
    media_type = schema.get("contentMediaType", "text/")
    return (
        str(schema.get("format", "text")).lower() in _FREE_TEXT_FORMATS
        and str(media_type).startswith("text/")
        and "contentEncoding" not in schema
        and WHOLE not in schema
    )


def describe_members(members: list[Any]) -> str:
    texts = [shorten(member) for member in members[:_MAX_NAMED_MEMBERS]]
    if len(members) == 1:
        return texts[0]
    more = f", … ({len(members)} values)" if len(members) > _MAX_NAMED_MEMBERS else ""
    return f"one of {', '.join(texts)}{more}"


def drop_annotations(schema: Schema) -> Schema:
    """Return the keywords of a schema that are not annotations."""
    return {key: value for key, value in schema.items() if key not in _ANNOTATIONS}


@dataclass(slots=True)
class Merger:
    """Merges schemas; the same parts always make the same object, because recursive schemas come back to it."""

    parts: dict[int, list[Schema]] = field(default_factory=dict)
    """The parts of each merged schema, by its id."""
    known: dict[frozenset[int], Schema] = field(default_factory=dict)
    """Merged schemas by the ids of their parts."""
    written: int = 0

    def merge(self, one: Schema, other: Schema) -> Schema:
        """Return a schema for what both allow, with the annotations of the first."""
        self.spend(len(one) + len(other))
        result = dict(one)
        is_whole = True
        for key, value in other.items():
            if key not in result:
                result[key] = value
            elif key in ("properties", "patternProperties"):
                result[key] = self.merge_members(result[key], value)
            elif key == "items":
                result[key] = self.merge_both(result[key], value)
            elif key in _MERGERS:
                result[key] = _MERGERS[key](result[key], value)
            elif key not in _ANNOTATIONS and result[key] != value:
                is_whole = False
        closed = [schema for schema in (one, other) if schema.get("additionalProperties", True) is not True]
        if not is_whole or closed:
            result[ALSO] = join_also(result.get(ALSO, []), closed if is_whole else [one, other])
        return result

    def spend(self, count: int) -> None:
        """Count written keywords, and fail before they fill the memory."""
        self.written += count
        if self.written > _MAX_MERGED:
            fail(f"with 'allOf', 'anyOf' and 'oneOf' flattened, the schema has more than {_MAX_MERGED} keywords", "#")

    def merge_members(self, one: Schema, other: Schema) -> Schema:
        self.spend(len(one) + len(other))
        return {**one, **other, **{key: self.merge_both(one[key], other[key]) for key in one if key in other}}

    def merge_both(self, one: AnySchema, other: AnySchema) -> AnySchema:
        if isinstance(one, bool) or isinstance(other, bool):
            return other if one is True else one if other is True else False
        parts = {id(part): part for schema in (one, other) for part in self.parts.get(id(schema), [schema])}
        if len(parts) == 1:
            return one
        self.spend(len(parts))
        made = self.known.setdefault(frozenset(parts), {"allOf": list(parts.values())})
        self.parts[id(made)] = made["allOf"]
        return made


def join_also(one: list[Schema], other: list[Schema]) -> list[Schema]:
    """Return all schemas that the validator has to check, each once."""
    return list({id(schema): schema for schema in (*one, *other)}.values())


def _common_types(one: str | list[str], other: str | list[str]) -> list[str]:
    ones, others = (name if isinstance(name, list) else [name] for name in (one, other))
    found = [name for name in ones if name in others]
    if "integer" not in found and "integer" in (*ones, *others) and "number" in (*ones, *others):
        found.append("integer")
    return found


_MERGERS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "required": lambda one, other: list(dict.fromkeys([*one, *other])),
    "type": _common_types,
    "enum": lambda one, other: [each for each in one if any(is_same_json(each, member) for member in other)],
    "minItems": max,
    "maxItems": min,
    ALSO: join_also,
}


class _Place(NamedTuple):
    """A container in a schema."""

    value: Any
    is_schema: bool
    around: _Place | None = None
    key: str = ""


def iterate_schemas(root: AnySchema) -> Iterator[Schema]:
    """Yield all schemas in a schema, each before those inside it, so that a caller may change it first."""
    for place in _iterate_places(root):
        if place.is_schema and isinstance(place.value, dict):
            yield place.value


def _iterate_places(root: AnySchema) -> Iterator[_Place]:
    todo = [_Place(root, is_schema=True)]
    seen: set[int] = set()
    for place in todo:
        if isinstance(place.value, dict | list) and id(place.value) not in seen:
            seen.add(id(place.value))
            yield place
            todo += _find_inner(place)


def _find_inner(place: _Place) -> Iterator[_Place]:
    value = place.value
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield _Place(item, is_schema=True, around=place, key=str(index))
        return
    for key, inner in value.items():
        if not place.is_schema:
            yield _Place(inner, is_schema=True, around=place, key=key)
        elif key not in _DATA_KEYWORDS:
            yield _Place(inner, key not in _WITH_NAMES or not isinstance(inner, dict), place, key)


def follow_pointer(root: object, pointer: str) -> Any | Missing:
    """Return what stands at a pointer, written as the fragment of a URI, `MISSING` if nothing does."""
    found: Any = root
    # RFC 6901, section 6: the fragment is decoded first, and then it is a pointer.
    for part in unquote(pointer.removeprefix("#")).split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(found, list) and _ARRAY_INDEX.fullmatch(key) and int(key) < len(found):
            found = found[int(key)]
        elif isinstance(found, dict) and key in found:
            found = found[key]
        else:
            return MISSING
    return found


def resolve_references(root: AnySchema) -> AnySchema:
    """Make each reference a pointer from the root, in place, and leave out what only references needed."""
    names = _Names(root)
    for place in names.schemas:
        for keyword in _UNSUPPORTED:
            if keyword in place.value:
                fail(f"{keyword!r} is not supported", _get_pointer(place))
        if "$ref" in place.value:
            place.value["$ref"] = names.resolve(place)
        if isinstance(dialect := place.value.get("$schema"), str):
            _check_uri(dialect, place)
    for schema in [place.value for place in names.schemas]:
        for key in list(schema):
            if key.startswith(_OWN_PREFIX) or (key in (names.id_keyword, "$schema") and isinstance(schema[key], str)):
                del schema[key]
    return root


class _Names:
    """What the parts of a schema are called."""

    def __init__(self, root: AnySchema) -> None:
        draft = _OLD_DRAFT.fullmatch(str(root.get("$schema"))) if isinstance(root, dict) else None
        self.id_keyword = "id" if draft and draft[1] in "34" else "$id"
        self._are_siblings_ignored = draft is not None
        places = list(_iterate_places(root))
        self.schemas = [place for place in places if place.is_schema and isinstance(place.value, dict)]
        self._known = {id(place.value): place for place in self.schemas}
        self._bases: dict[int, str] = {}
        self._by_uri: dict[str, _Place] = {}
        self._by_anchor: dict[tuple[str, str], _Place] = {}
        for place in places:
            self._note(place)

    def _note(self, place: _Place) -> None:
        around = place.around
        base = self._bases[id(around.value)] if around is not None else ""
        anchors: list[Any] = []
        if id(place.value) in self._known:
            schema = place.value
            name = schema.get(self.id_keyword)
            if isinstance(name, str) and not (self._are_siblings_ignored and "$ref" in schema):
                anchors.append(name.removeprefix("#") if name.startswith("#") else None)
                _check_uri(name, place)
                base = _join_uri(base, name, place)[0]
            anchors += [schema.get("$anchor"), schema.get("$dynamicAnchor")]
        self._bases[id(place.value)] = base
        self._by_uri.setdefault(base, place)
        for anchor in anchors:
            if isinstance(anchor, str):
                self._by_anchor.setdefault((base, anchor), place)

    def resolve(self, place: _Place) -> str:
        """Return a pointer from the root to what a `$ref` refers to."""
        ref = place.value["$ref"]
        if not isinstance(ref, str):
            fail(f"a $ref must be a string, not {ref!r}", _get_pointer(place))
        uri, fragment = _join_uri(self._bases[id(place.value)], ref, place)
        resource = self._by_uri.get(uri)
        if resource is None:
            fail(f"the $ref {ref!r} points outside of the schema; put its target into $defs", _get_pointer(place))
        if fragment and not fragment.startswith("/"):
            resource, fragment = self._by_anchor.get((uri, unquote(fragment))), ""
        found = MISSING if resource is None else follow_pointer(resource.value, fragment)
        if resource is None or found is MISSING:
            fail(f"the $ref {ref!r} points nowhere", _get_pointer(place))
        if not isinstance(found, bool) and id(found) not in self._known:
            fail(f"the $ref {ref!r} points to a value that is not a schema", _get_pointer(place))
        start = _get_pointer(resource)
        if len(start) > _MAX_NAME_LENGTH:
            fail(f"the target of the $ref {ref!r} is nested too deeply", _get_pointer(place))
        return start + fragment


def _join_uri(base: str, name: str, place: _Place) -> tuple[str, str]:
    """Return the URI that a name stands for inside a resource, and its fragment."""
    if name.startswith("#"):
        return base, name[1:]
    try:
        uri, fragment = urldefrag(urljoin(base, name))
    except ValueError:
        fail(f"{name!r} is not a URI", _get_pointer(place))
    if len(uri) > _MAX_NAME_LENGTH:
        fail(f"a URI has more than {_MAX_NAME_LENGTH} characters", _get_pointer(place))
    return uri, fragment


def _check_uri(name: str, place: _Place) -> None:
    try:
        urlsplit(name)
    except ValueError:
        fail(f"{name!r} is not a URI", _get_pointer(place))


def _get_pointer(place: _Place) -> str:
    keys: list[str] = []
    while place.around is not None:
        keys.append(place.key.replace("~", "~0").replace("/", "~1").replace("%", "%25"))
        place = place.around
    return "/".join(["#", *reversed(keys)])


def allow_nulls(root: AnySchema) -> AnySchema:
    """Replace OpenAPI's `"nullable": true`, which JSON Schema does not have, by a union with null, in place."""
    for schema in iterate_schemas(root):
        if schema.get("nullable") is True:
            _allow_null(schema)
    return root


def _allow_null(schema: Schema) -> None:
    beside: Schema = {key: schema.pop(key) for key in list(schema) if key in _BESIDE_UNION}
    del schema["nullable"]
    branches = [dict(schema), {"type": "null"}]
    beside |= {key: schema[key] for key in list(schema) if key in _WHOLE_SCHEMA}
    schema.clear()
    schema.update(beside)
    schema["anyOf"] = branches
