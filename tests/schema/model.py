"""What may be shown of a prefix by a schema: a second, recursive reading of docs/concepts/schema.md.

In: a JSON Schema of the kinds that `strategies.some_schema` draws, and the nodes of a prefix by the model of the
parser. Out: whether the prefix can still be completed to something that fits, and what is shown of it.
Rule: no code of the library; a branch counts as ruled out when no completion of the prefix fits it.
Only prefixes of documents that fit are modelled: what is shown beside a mismatch is tested apart.
"""

import json
from typing import Any

from jsontide import MISSING
from tests.oracles import ModelNode

Schema = Any


def shown_by_model(schema: Schema, nodes: list[ModelNode]) -> Any:
    return _shown(schema, schema, nodes, 0) if nodes else MISSING


def _shown(schema: Schema, root: Schema, nodes: list[ModelNode], at: int) -> Any:
    node = nodes[at]
    branches = [branch for branch in _branches(schema, root) if _possible(branch, root, nodes, at)]
    if node.closed:
        return node.resolved_value
    if len(branches) != 1 or _policy(schema, root) == "done":
        return MISSING
    only = branches[0]
    if node.type == "array":
        items = [_shown(_item(only, place), root, nodes, child) for place, child in enumerate(node.children or ())]
        return [item for item in items if item is not MISSING]
    if node.type == "object":
        pairs = [(key, _shown(_member(only, key), root, nodes, child)) for key, child in _members(node)]
        return {key: value for key, value in pairs if value is not MISSING}
    is_closed_set = isinstance(only, dict) and ("enum" in only or "const" in only)
    if _policy(schema, root) != "grow" and _says_more_than_text(only):
        return MISSING
    return node.buffer if node.type == "string" and not is_closed_set else MISSING


def _says_more_than_text(schema: Schema) -> bool:
    """Whether half a string of a schema means nothing."""
    return isinstance(schema, dict) and schema.get("format", "markdown") != "markdown"


def _possible(schema: Schema, root: Schema, nodes: list[ModelNode], at: int) -> bool:
    """Whether a completion of the prefix fits one branch, as far as its own parts show."""
    node = nodes[at]
    if isinstance(schema, bool) or not schema:
        return schema is not False
    if "enum" in schema or "const" in schema:
        members = schema["enum"] if "enum" in schema else [schema["const"]]
        return any(_may_become(node, member) for member in members)
    kind = schema["type"]
    if kind == "integer":
        return node.type == "number" and (not node.closed or float(node.resolved_value).is_integer())
    if kind != node.type:
        return False
    parts = [(_item(schema, place), child) for place, child in enumerate(node.children or ())]
    if kind == "object":
        parts = [(_member(schema, key), child) for key, child in _members(node)]
        if node.closed and not set(schema.get("required", ())) <= set(node.keys or ()):
            return False
    return all(_any_possible(part, root, nodes, child) for part, child in parts)


def _any_possible(schema: Schema, root: Schema, nodes: list[ModelNode], at: int) -> bool:
    return any(_possible(branch, root, nodes, at) for branch in _branches(schema, root))


def _may_become(node: ModelNode, member: Any) -> bool:
    if isinstance(member, str):
        text = node.buffer or ""
        return node.type == "string" and (member == text if node.closed else member.startswith(text))
    kind = {bool: "boolean", type(None): "null"}.get(type(member), "number")
    return node.type == kind and (not node.closed or node.resolved_value == member)


def _branches(schema: Schema, root: Schema) -> list[Schema]:
    """The branches of a schema, unions inside unions flattened; equal ones beside each other are one."""
    if schema is True or schema is False or schema == {}:
        return [schema]
    if "$ref" in schema:
        return _branches(root["$defs"]["node"], root)
    found: list[Schema] = []
    branches = {json.dumps(branch, sort_keys=True): branch for branch in reversed(schema.get("anyOf", ()))}
    for branch in reversed(branches.values()):
        found += [inner for inner in _branches(branch, root) if not any(inner is old for old in found)]
    return found if "anyOf" in schema else [schema]


def _policy(schema: Schema, root: Schema) -> str:
    if isinstance(schema, dict) and "$ref" in schema:
        return _policy(root["$defs"]["node"], root)
    return str(schema.get("x-stream", "")) if isinstance(schema, dict) else ""


def _item(schema: Schema, place: int) -> Schema:
    places = schema.get("prefixItems", []) if isinstance(schema, dict) else []
    if place < len(places):
        return places[place]
    return schema.get("items", True) if isinstance(schema, dict) else True


def _member(schema: Schema, key: str) -> Schema:
    if not isinstance(schema, dict):
        return True
    return schema.get("properties", {}).get(key, schema.get("additionalProperties", True))


def _members(node: ModelNode) -> list[tuple[str, int]]:
    return list(zip(node.keys or (), node.children or (), strict=True))
