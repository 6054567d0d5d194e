"""The loops that drive the core, sync and async: sources of chunks or events in, what they become out.

The loops that read messages are loaded on first use.
"""

from typing import TYPE_CHECKING

from jsontide._public import lazily, publish
from jsontide._values import Chunk
from jsontide.streams._snapshots import achunk_snapshots, chunk_snapshots
from jsontide.streams._text import (
    aitems,
    aloads,
    astates,
    astream,
    avalue,
    avalues,
    items,
    loads,
    states,
    stream,
    value,
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
    from jsontide.streams._models import astream_model, stream_model
    from jsontide.streams._tools import arun_tools, run_tools
else:
    __getattr__ = lazily(__name__, "jsontide.streams._messages", "jsontide.streams._models", "jsontide.streams._tools")

__all__ = [
    "AsyncMessageStream",
    "Chunk",
    "MessageStream",
    "ReadingChoices",
    "achunk_snapshots",
    "aitems",
    "aloads",
    "arun_tools",
    "astates",
    "astream",
    "astream_message",
    "astream_model",
    "avalue",
    "avalues",
    "chunk_snapshots",
    "items",
    "loads",
    "run_tools",
    "states",
    "stream",
    "stream_message",
    "stream_model",
    "value",
    "values",
]

publish(__name__, __all__, globals())
