"""Text to an immutable syntax tree, and to values that keep identity while they grow."""

from jsontide._path import Path, Segment
from jsontide._public import publish
from jsontide.text import Mode
from jsontide.tree._nodes import ArrayNode, BooleanNode, Node, NullNode, NumberNode, ObjectNode, StringNode
from jsontide.tree._options import create_parser_state, is_open, node_at
from jsontide.tree._state import ParserState, finalize, get_resolved_value, parse_chunk

__all__ = [
    "ArrayNode",
    "BooleanNode",
    "Mode",
    "Node",
    "NullNode",
    "NumberNode",
    "ObjectNode",
    "ParserState",
    "Path",
    "Segment",
    "StringNode",
    "create_parser_state",
    "finalize",
    "get_resolved_value",
    "is_open",
    "node_at",
    "parse_chunk",
]

publish(__name__, __all__, globals())
