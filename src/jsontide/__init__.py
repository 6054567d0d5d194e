"""JSON that streams around language models.

Text chunks in, growing values out: see `parse_chunk` and `values`.
Whole values in, text chunks out: see `JsonStreamChunker`.
A model's response in, a message that grows out: see `stream_message`.
What most programs need is here; the rest is in the packages `tree`, `events`, `snapshots`, `schema`, `messages` and
`adapters`.
"""

from typing import TYPE_CHECKING

from jsontide import _interpreter  # noqa: F401 - refuses before anything is loaded that could break
from jsontide._build import COMPILED
from jsontide._errors import JsonStreamError, JsontideError, ParserError, PathSyntaxError, Reason
from jsontide._path import Path, Segment
from jsontide._public import homes_of, lazily, publish
from jsontide._values import MISSING, JsonValue, Missing
from jsontide._version import __version__
from jsontide.adapters import (
    Chunk,
    achunk_snapshots,
    aitems,
    aloads,
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
from jsontide.events import JsonFragmentAccumulator, JsonFragmentKind, JsonFragmentUpdate
from jsontide.snapshots import JsonStreamChunker, SnapshotConflict, TextStreamChunker
from jsontide.text import Limits
from jsontide.tree import (
    ParserState,
    create_parser_state,
    finalize,
    get_resolved_value,
    is_open,
    node_at,
    parse_chunk,
)

if TYPE_CHECKING:
    from jsontide.adapters import (
        astream_message,
        astream_model,
        stream_message,
        stream_model,
    )
    from jsontide.messages import CompleteCall, IncompleteCallError, Message, Outcome, PartialCall, Tool
    from jsontide.schema import Partial, SchemaError

__all__ = [
    "COMPILED",
    "MISSING",
    "Chunk",
    "CompleteCall",
    "IncompleteCallError",
    "JsonFragmentAccumulator",
    "JsonFragmentKind",
    "JsonFragmentUpdate",
    "JsonStreamChunker",
    "JsonStreamError",
    "JsonValue",
    "JsontideError",
    "Limits",
    "Message",
    "Missing",
    "Outcome",
    "ParserError",
    "ParserState",
    "Partial",
    "PartialCall",
    "Path",
    "PathSyntaxError",
    "Reason",
    "SchemaError",
    "Segment",
    "SnapshotConflict",
    "TextStreamChunker",
    "Tool",
    "__version__",
    "achunk_snapshots",
    "aitems",
    "aloads",
    "astream",
    "astream_message",
    "astream_model",
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
    "stream_message",
    "stream_model",
    "value",
    "values",
]

publish(__name__, __all__, globals())

# Loaded on first use, so that importing the package stays light.
_LATE = {
    "jsontide.adapters": (
        "astream_message",
        "astream_model",
        "stream_message",
        "stream_model",
    ),
    "jsontide.messages": ("CompleteCall", "IncompleteCallError", "Message", "Outcome", "PartialCall", "Tool"),
    "jsontide.schema": ("Partial", "SchemaError"),
}

if not TYPE_CHECKING:  # or every name would be there for a type checker
    __getattr__ = lazily(__name__, homes_of(_LATE))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
