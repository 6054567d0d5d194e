"""JSON that streams around language models.

Text in pieces in, values out while they grow: see `parse_chunk`.
Whole values in, text in pieces out: see `JsonStreamChunker`.
"""

from jsontide._errors import JsonStreamError, ParserError, PathSyntaxError, Reason
from jsontide._path import Path, Segment
from jsontide._values import MISSING, JsonValue, Missing
from jsontide._version import __version__
from jsontide.adapters import (
    achunk_snapshots,
    aitems,
    astream,
    avalue,
    avalues,
    chunk_snapshots,
    items,
    loads,
    stream,
    value,
    values,
)
from jsontide.events import (
    JsonFragmentAccumulator,
    JsonFragmentError,
    JsonFragmentKind,
    JsonFragmentUpdate,
    Subscription,
)
from jsontide.snapshots import JsonStreamChunker, SnapshotConflict, TextStreamChunker
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
    "JsonStreamChunker",
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
    "SnapshotConflict",
    "StringNode",
    "Subscription",
    "TextStreamChunker",
    "__version__",
    "achunk_snapshots",
    "aitems",
    "astream",
    "avalue",
    "avalues",
    "chunk_snapshots",
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
