"""A schema in, what mending needs to know of it out."""

from __future__ import annotations

from typing import Final, cast

from jsontide.mend.shape import ANYTHING, ARRAY, BOOLEAN, NULL, NUMBER, OBJECT, STRING, Origin, Shape, Steps, follow
from jsontide.schema._compile import compile_schema
from jsontide.schema._variants import AnyVariant, ArrayVariant, EnumVariant, ObjectVariant, ScalarVariant, SchemaNode

_BITS: Final = {"string": STRING, "number": NUMBER, "boolean": BOOLEAN, "null": NULL, "array": ARRAY, "object": OBJECT}


def shape_of(schema: object) -> Shape:
    """Return what a schema wants, so that bad JSON can be mended with it.

    >>> from jsontide.mend import MODELS, feed_mend, start_mend
    >>> shape = shape_of({"type": "object", "properties": {"size": {"enum": ["small", "large"]}}})
    >>> state, text, _ = feed_mend(start_mend(MODELS, shape), '{"size": "LARGE"}')
    >>> text
    '{"size": "large"}'
    """
    return Shape(compile_schema(schema, None).node, _fill, Origin(schema, shape_at))


def shape_at(schema: object, steps: Steps) -> Shape | None:
    """Return what a schema wants at the end of some steps."""
    return follow(shape_of(schema), steps)


def _fill(shape: Shape) -> None:
    node = cast("SchemaNode", shape.node)
    kinds = 0
    words: list[str] = []
    has_other_strings = False
    keys: dict[str, object] = {}
    items: list[object] = []
    is_closed = is_integer = True
    for variant in node.variants:
        if isinstance(variant, AnyVariant) or variant.has_before_validator:
            shape.set(ANYTHING, (), {}, None, is_closed=False, is_integer=False)
            return
        kinds |= sum(_BITS[kind] for kind in variant.kinds)
        if isinstance(variant, EnumVariant):
            words += variant.texts
        elif "string" in variant.kinds:
            has_other_strings = True
        if "number" in variant.kinds:
            is_integer = is_integer and isinstance(variant, ScalarVariant) and variant.is_integer
        if isinstance(variant, ObjectVariant):
            keys |= {key: child for key, child in variant.properties.items() if key not in keys}
            is_closed = is_closed and variant.extra == "forbid"
        elif isinstance(variant, ArrayVariant):
            items.append(None if variant.prefix else variant.rest)
    item = items[0] if len(items) == 1 else None
    shape.set(kinds or ANYTHING, () if has_other_strings else tuple(words), keys, item, is_closed, is_integer)
