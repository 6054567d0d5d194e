"""A syntax tree seen through a schema: typed partial values, and what does not fit."""

from jsontide.schema._mismatch import MismatchReason, SchemaError, SchemaMismatch, UnsupportedSchemaError
from jsontide.schema._partial import ArrayView, ObjectView, Partial, PartialValue
from jsontide.schema._policy import Done, Gate, Stream
from jsontide.schema._resolution import Resolution
from jsontide.schema._resolve import from_json_ast
from jsontide.schema._status import Status

__all__ = [
    "ArrayView",
    "Done",
    "Gate",
    "MismatchReason",
    "ObjectView",
    "Partial",
    "PartialValue",
    "Resolution",
    "SchemaError",
    "SchemaMismatch",
    "Status",
    "Stream",
    "UnsupportedSchemaError",
    "from_json_ast",
]
