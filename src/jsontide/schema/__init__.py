"""A syntax tree seen through a schema: typed partial values, and what does not fit."""

from jsontide._public import publish
from jsontide.schema._compile import to_json_schema
from jsontide.schema._mismatch import MismatchReason, SchemaError, SchemaMismatch, UnsupportedSchemaError
from jsontide.schema._resolution import ArrayView, ObjectView, Partial, PartialValue, Resolution, Status
from jsontide.schema._resolve import from_json_ast
from jsontide.schema._shape import shape_of
from jsontide.schema.options import Done, Gate, Policies, Stream

__all__ = [
    "ArrayView",
    "Done",
    "Gate",
    "MismatchReason",
    "ObjectView",
    "Partial",
    "PartialValue",
    "Policies",
    "Resolution",
    "SchemaError",
    "SchemaMismatch",
    "Status",
    "Stream",
    "UnsupportedSchemaError",
    "from_json_ast",
    "shape_of",
    "to_json_schema",
]

publish(__name__, __all__, globals())
