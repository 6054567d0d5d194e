"""A JSON Schema in, one that OpenAI takes as strict out: every property required, and no others allowed.

Rule: the schema that was passed in is not changed. What a document must be gets narrower, never wider.
"""

from __future__ import annotations

from typing import Any, Final

_NAMES: Final = ("properties", "$defs", "definitions")


def make_strict(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the strict form of a schema.

    >>> make_strict({"type": "object", "properties": {"city": {"type": "string", "default": "Rome"}}})
    {'type': 'object', 'properties': {'city': {'type': 'string'}}, 'additionalProperties': False, 'required': ['city']}
    """
    strict: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _NAMES and isinstance(value, dict):
            strict[key] = {name: _inner(inner) for name, inner in value.items()}
        elif key != "default":
            strict[key] = _inner(value)
    if strict.get("type") == "object" or "properties" in strict:
        strict["additionalProperties"] = False
        strict["properties"] = strict.get("properties", {})
        strict["required"] = list(strict["properties"])
    return strict


def _inner(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        return make_strict(value)
    return [_inner(item) for item in value] if isinstance(value, list) else value
