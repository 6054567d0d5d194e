"""A JSON Schema with references of any form in, the same schema out in which each of them is a pointer from its root.

Schemas come from strangers, so nothing outside of a schema is opened because the schema names it.
A `$ref` may name a place in the schema in every way that JSON Schema has: by pointer, by anchor, by `$id`.
Each is resolved here, when the schema is read, wherever it stands, also where no keyword that we know leads to it; one
that does not lead to a schema in this schema is an error.
The result has no `$id` and no `$schema`, so what reads it has to follow pointers from the root and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urldefrag, urljoin

from jsontide._values import MISSING, Missing
from jsontide.schema._keywords import UNSUPPORTED, AnySchema, Schema, fail

_DATA: Final = ("enum", "const", "default", "examples", "example")
"""Keywords whose values are parts of documents, not schemas."""
_OF_SCHEMAS: Final = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")
"""Keywords with an object whose keys are not keywords."""
_OURS: Final = "x-jsontide-"
"""How the keywords begin that the schemas of types have, and no other."""
_OLD_DRAFT: Final = re.compile(r"https?://json-schema\.org/draft-0([3467])/schema#?")
_INDEX: Final = re.compile("0|[1-9][0-9]{0,8}")
_LONGEST: Final = 1_000
"""How long the URI or the pointer of a part may be: both grow with each level, and there may be many."""


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
        elif key not in _DATA:
            yield _Place(inner, key not in _OF_SCHEMAS or not isinstance(inner, dict), place, key)


def follow_pointer(root: object, pointer: str) -> Any | Missing:  # noqa: ANN401
    """Return what stands at a pointer, written as the fragment of a URI, `MISSING` if nothing does."""
    found: Any = root
    # RFC 6901, section 6: the fragment is decoded first, and then it is a pointer.
    for part in unquote(pointer.removeprefix("#")).split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(found, list) and _INDEX.fullmatch(key) and int(key) < len(found):
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
        for keyword in UNSUPPORTED:
            if keyword in place.value:
                fail(f"{keyword!r} is not supported", _get_pointer(place))
        if isinstance(place.value.get("$ref"), str):
            place.value["$ref"] = names.resolve(place)
    for schema in [place.value for place in names.schemas]:
        for key in list(schema):
            if key.startswith(_OURS) or (key in (names.id_keyword, "$schema") and isinstance(schema[key], str)):
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
        if len(start) > _LONGEST:
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
    if len(uri) > _LONGEST:
        fail(f"a URI has more than {_LONGEST} characters", _get_pointer(place))
    return uri, fragment


def _get_pointer(place: _Place) -> str:
    keys: list[str] = []
    while place.around is not None:
        keys.append(place.key.replace("~", "~0").replace("/", "~1").replace("%", "%25"))
        place = place.around
    return "/".join(["#", *reversed(keys)])
