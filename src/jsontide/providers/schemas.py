"""A JSON Schema in, the same in the words that providers take out.

What differs from what pydantic and others write: the root is an object and no reference, nothing stands beside a
reference, alternatives are `anyOf`, and patterns do not look around. A reference with a description of its own refers
to a definition of its own.

Rule: the schema that was passed in is not changed, and what it means stays the same, except that of `oneOf` several may
fit; a pattern that is not taken is said in words.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final
from urllib.parse import unquote

Schema = dict[str, Any]

DATA: Final = frozenset(("enum", "const", "default", "examples", "example"))
"""Keywords with values, not schemas."""
NAMED: Final = frozenset(("properties", "patternProperties", "dependentSchemas", "$defs", "definitions"))
"""Keywords with schemas by name."""
DEFINITIONS: Final = ("$defs", "definitions")
_SAID: Final = frozenset(("description", "default", "examples"))
"""What may be said beside a reference and is kept."""
_UNHEARD: Final = frozenset(("title", "deprecated", "readOnly", "writeOnly", "example", "$comment"))
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
        said = {key: value for key, value in schema.items() if key in _SAID}
        if any(key not in _SAID and key not in _UNHEARD and key != "$ref" for key in schema):
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
    both = [key for key in rest if key in inner[0] and key not in _SAID and key not in _UNHEARD]
    return schema if both else {**inner[0], **rest}


def _allow_null(schema: Schema) -> Schema:
    """Return a schema without OpenAPI's `nullable`, which JSON Schema does not have."""
    if schema.get("nullable") is not True:
        return schema
    inner = {key: value for key, value in schema.items() if key != "nullable"}
    said = {key: inner.pop(key) for key in (*_SAID, *_UNHEARD) if key in inner}
    return {"anyOf": [inner, {"type": "null"}], **said}
