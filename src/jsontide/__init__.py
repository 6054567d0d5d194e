"""JSON that streams around language models.

Text in pieces in, values out while they grow: see `parse_chunk`.
"""

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

__all__ = [
    "COMPILED",
    "MISSING",
    "ArrayNode",
    "BooleanNode",
    "JsonFragmentAccumulator",
    "JsonFragmentError",
    "JsonFragmentKind",
    "JsonFragmentUpdate",
    "JsonStreamError",
    "JsonValue",
    "Limits",
    "Missing",
    "Mode",
    "Node",
    "NullNode",
    "NumberNode",
    "ObjectNode",
    "ParserError",
    "ParserState",
    "Path",
    "PathSyntaxError",
    "Reason",
    "Segment",
    "StringNode",
    "Subscription",
    "__version__",
    "aitems",
    "astream",
    "avalue",
    "avalues",
    "create_parser_state",
    "finalize",
    "get_resolved_value",
    "is_open",
    "items",
    "loads",
    "node_at",
    "parse_chunk",
    "stream",
    "value",
    "values",
]
