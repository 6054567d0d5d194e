"""JSON that streams around language models.

Text in pieces in, values out while they grow: see `parse_chunk`.
What has to do with schemas is imported when somebody asks for it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from jsontide._errors import JsonStreamError, ParserError, PathSyntaxError, Reason
from jsontide._path import Path, Segment
from jsontide._values import MISSING, JsonValue, Missing
from jsontide._version import __version__
from jsontide.adapters import aitems, astream, avalue, avalues, items, loads, stream, value, values
from jsontide.events import (
    JsonFragmentAccumulator,
    JsonFragmentError,
    JsonFragmentKind,
    JsonFragmentUpdate,
    Subscription,
)
from jsontide.text import COMPILED, Limits, Mode
from jsontide.tree import (
    ArrayNode,
    BooleanNode,
    Node,
    NullNode,
    NumberNode,
    ObjectNode,
    ParserState,
    StringNode,
    create_parser_state,
    finalize,
    get_resolved_value,
    is_open,
    node_at,
    parse_chunk,
)

if TYPE_CHECKING:
    from jsontide.adapters._models import astream_model, stream_model
    from jsontide.schema import (
        Done,
        Gate,
        MismatchReason,
        Partial,
        Resolution,
        ResolutionCache,
        SchemaError,
        SchemaMismatch,
        Status,
        Stream,
        UnsupportedSchemaError,
        from_json_ast,
    )

__all__ = [
    "COMPILED",
    "MISSING",
    "ArrayNode",
    "BooleanNode",
    "Done",
    "Gate",
    "JsonFragmentAccumulator",
    "JsonFragmentError",
    "JsonFragmentKind",
    "JsonFragmentUpdate",
    "JsonStreamError",
    "JsonValue",
    "Limits",
    "MismatchReason",
    "Missing",
    "Mode",
    "Node",
    "NullNode",
    "NumberNode",
    "ObjectNode",
    "ParserError",
    "ParserState",
    "Partial",
    "Path",
    "PathSyntaxError",
    "Reason",
    "Resolution",
    "ResolutionCache",
    "SchemaError",
    "SchemaMismatch",
    "Segment",
    "Status",
    "Stream",
    "StringNode",
    "Subscription",
    "UnsupportedSchemaError",
    "__version__",
    "aitems",
    "astream",
    "astream_model",
    "avalue",
    "avalues",
    "create_parser_state",
    "finalize",
    "from_json_ast",
    "get_resolved_value",
    "is_open",
    "items",
    "loads",
    "node_at",
    "parse_chunk",
    "stream",
    "stream_model",
    "value",
    "values",
]

_LATE = {
    "jsontide.adapters._models": ("astream_model", "stream_model"),
    "jsontide.schema": (
        "Done",
        "Gate",
        "MismatchReason",
        "Partial",
        "Resolution",
        "ResolutionCache",
        "SchemaError",
        "SchemaMismatch",
        "Status",
        "Stream",
        "UnsupportedSchemaError",
        "from_json_ast",
    ),
}


if not TYPE_CHECKING:  # type checkers know the names, and would take any other for one of them

    def __getattr__(name: str) -> object:
        for module, names in _LATE.items():
            if name in names:
                found: object = getattr(import_module(module), name)
                globals()[name] = found
                return found
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
