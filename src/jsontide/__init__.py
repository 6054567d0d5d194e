"""JSON that streams around language models.

Text chunks in, growing values out: see `parse_chunk` and `values`.
Whole values in, text chunks out: see `JsonStreamChunker`.
A model's response in, a message that grows out: see `stream_message`.
What most programs need is here; the rest is in the packages `mend`, `tree`, `events`, `snapshots`, `schema`,
`messages`, `providers`, `streams`, `runs`, `frontends`, `web`, `recordings`, `archives`, `testing` and `studio`.
"""

from typing import TYPE_CHECKING

from jsontide import _mypyc  # noqa: F401 - refuses before anything is loaded that could break
from jsontide._build import COMPILED
from jsontide._errors import JsonStreamError, JsontideError, ParserError, PathSyntaxError, Reason, StateError
from jsontide._public import lazily, publish
from jsontide._values import MISSING, JsonValue, Missing
from jsontide._version import __version__
from jsontide.events import JsonFragmentAccumulator
from jsontide.snapshots import JsonStreamChunker, SnapshotConflict
from jsontide.streams import (
    achunk_snapshots,
    afirst_value,
    aitems,
    aloads,
    atext_deltas,
    avalues,
    chunk_snapshots,
    first_value,
    items,
    loads,
    text_deltas,
    values,
)
from jsontide.text import Limits
from jsontide.tree import ParserState, create_parser_state, finalize, get_resolved_value, is_open, parse_chunk

if TYPE_CHECKING:
    from jsontide.messages import (
        CompleteCall,
        IncompleteCallError,
        Message,
        MessageError,
        Outcome,
        PartialCall,
        Tool,
        ToolResult,
    )
    from jsontide.providers import to_request, tool_definitions
    from jsontide.schema import Partial, SchemaError
    from jsontide.streams import arun_tools, astream_message, astream_model, run_tools, stream_message, stream_model

__all__ = [
    "COMPILED",
    "MISSING",
    "CompleteCall",
    "IncompleteCallError",
    "JsonFragmentAccumulator",
    "JsonStreamChunker",
    "JsonStreamError",
    "JsonValue",
    "JsontideError",
    "Limits",
    "Message",
    "MessageError",
    "Missing",
    "Outcome",
    "ParserError",
    "ParserState",
    "Partial",
    "PartialCall",
    "PathSyntaxError",
    "Reason",
    "SchemaError",
    "SnapshotConflict",
    "StateError",
    "Tool",
    "ToolResult",
    "__version__",
    "achunk_snapshots",
    "afirst_value",
    "aitems",
    "aloads",
    "arun_tools",
    "astream_message",
    "astream_model",
    "atext_deltas",
    "avalues",
    "chunk_snapshots",
    "create_parser_state",
    "finalize",
    "first_value",
    "get_resolved_value",
    "is_open",
    "items",
    "loads",
    "parse_chunk",
    "run_tools",
    "stream_message",
    "stream_model",
    "text_deltas",
    "to_request",
    "tool_definitions",
    "values",
]

publish(__name__, __all__, globals())

if not TYPE_CHECKING:  # or every name would be there for a type checker
    # What is imported above for type checkers alone: importing the package stays light.
    __getattr__ = lazily(__name__, "jsontide.streams", "jsontide.providers", "jsontide.schema", "jsontide.messages")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
