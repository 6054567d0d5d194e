"""What providers take as strict tools, read off what they document: an oracle that shares nothing with the writers.

https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations
"""

from collections.abc import Iterator
from typing import Any

FORMATS = {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
SAID = {"title", "description"}
BY_TYPE = {
    "string": {"pattern", "format"},
    "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
    "array": {"items", "minItems", "maxItems"},
    "object": {"properties", "required", "additionalProperties"},
}
BY_TYPE["integer"] = BY_TYPE["number"]


def breaches(provider: str, root: dict[str, Any]) -> list[str]:
    """The places in a schema that a provider would refuse in a strict tool."""
    found = list(_check_root(root))
    for place, schema in _schemas(root, "#"):
        found += [f"{place}: {problem}" for problem in _check(provider, root, schema)]
    if provider in {"anthropic", "bedrock"} and _recurs(root):
        found.append("a definition leads back to itself")
    return found


def _check_root(root: dict[str, Any]) -> Iterator[str]:
    if root.get("type") != "object" or {"anyOf", "$ref"} & root.keys():
        yield "the root is no object"


def _schemas(schema: Any, place: str) -> Iterator[tuple[str, Any]]:
    """All schemas in one, with their places."""
    yield place, schema
    if not isinstance(schema, dict):
        return
    for keyword in ("properties", "$defs", "definitions"):
        for name, inner in schema.get(keyword, {}).items():
            yield from _schemas(inner, f"{place}/{keyword}/{name}")
    for at, inner in enumerate(schema.get("anyOf", ())):
        yield from _schemas(inner, f"{place}/anyOf/{at}")
    if "items" in schema:
        yield from _schemas(schema["items"], f"{place}/items")


def _check(provider: str, root: dict[str, Any], schema: Any) -> Iterator[str]:
    if not isinstance(schema, dict):
        yield f"{schema} is no schema"
        return
    if "$ref" in schema:
        if len(schema) > 1:
            yield f"$ref cannot have keywords {set(schema) - {'$ref'}}"
        _, keyword, name = schema["$ref"].split("/")
        if name not in root.get(keyword, {}):
            yield f"{schema['$ref']} is not defined"
        return
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    allowed = {"type", "enum", "const", "anyOf", "$defs", "definitions"} | SAID
    for kind in kinds:
        allowed |= BY_TYPE.get(kind, set())
    if set(schema) - allowed:
        yield f"{set(schema) - allowed} are not permitted"
    if not kinds and "anyOf" not in schema and (provider.startswith("openai") or not {"enum", "const"} & schema.keys()):
        yield "must have a type"
    if "object" in kinds:
        yield from _check_object(provider, schema)
    if "array" in kinds and not isinstance(schema.get("items"), dict):
        yield "an array must say what its items are"
    yield from _check_bounds(provider, schema)


def _check_object(provider: str, schema: dict[str, Any]) -> Iterator[str]:
    if schema.get("additionalProperties") is not False:
        yield "additionalProperties must be false"
    names = set(schema.get("properties", {}))
    required = set(schema.get("required", ()))
    if not required <= names:
        yield "what is required must be a property"
    if provider.startswith("openai") and required != names:
        yield "every property must be required"


def _check_bounds(provider: str, schema: dict[str, Any]) -> Iterator[str]:
    is_openai = provider.startswith("openai")
    if "format" in schema and schema["format"] not in (FORMATS if is_openai else FORMATS | {"uri"}):
        yield f"{schema['format']!r} is not a valid format"
    if any(group in schema.get("pattern", "") for group in ("(?=", "(?!", "(?<=", "(?<!")):
        yield "regex lookaround is not supported"
    if not is_openai:
        refused = {*BY_TYPE["number"], "maxItems", "pattern"} & schema.keys()
        if refused:
            yield f"{refused} are not supported"
        if schema.get("minItems", 0) not in {0, 1}:
            yield "minItems values other than 0 or 1 are not supported"


def _recurs(root: dict[str, Any]) -> bool:
    def targets(schema: Any) -> set[str]:
        return {one["$ref"] for _, one in _schemas(schema, "") if isinstance(one, dict) and "$ref" in one}

    leads = {f"#/$defs/{name}": targets(inner) for name, inner in root.get("$defs", {}).items()}
    for _ in leads:
        leads = {name: found.union(*(leads.get(each, set()) for each in found)) for name, found in leads.items()}
    return any(name in found for name, found in leads.items())
