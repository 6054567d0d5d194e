"""The loops that drive the core, sync and async: sources of chunks or events in, what they become out.

The loops that read messages are loaded on first use.
"""

from typing import TYPE_CHECKING

from jsontide._public import lazily, publish
from jsontide._values import Chunk
from jsontide.streams._snapshots import achunk_snapshots, chunk_snapshots
from jsontide.streams._text import (
    afirst_value,
    aitems,
    aloads,
    astates,
    atext_deltas,
    avalues,
    first_value,
    items,
    loads,
    states,
    text_deltas,
    values,
)

if TYPE_CHECKING:
    from jsontide.streams._messages import (
        AsyncMessageStream,
        MessageStream,
        ReadingChoices,
        astream_message,
        stream_message,
    )
    from jsontide.streams._models import astream_items, astream_model, stream_items, stream_model
    from jsontide.streams.saved import from_bytes, to_bytes
    from jsontide.streams.tools import arun_tools, run_tools
else:
    __getattr__ = lazily(
        __name__,
        "jsontide.streams._messages",
        "jsontide.streams.saved",
        "jsontide.streams._models",
        "jsontide.streams.tools",
    )

__all__ = [
    "AsyncMessageStream",
    "Chunk",
    "MessageStream",
    "ReadingChoices",
    "achunk_snapshots",
    "afirst_value",
    "aitems",
    "aloads",
    "arun_tools",
    "astates",
    "astream_items",
    "astream_message",
    "astream_model",
    "atext_deltas",
    "avalues",
    "chunk_snapshots",
    "first_value",
    "from_bytes",
    "items",
    "loads",
    "run_tools",
    "states",
    "stream_items",
    "stream_message",
    "stream_model",
    "text_deltas",
    "to_bytes",
    "values",
]

publish(__name__, __all__, globals())
