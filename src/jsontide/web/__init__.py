"""Growing messages and runs to browsers: responses for Starlette and FastAPI, and turns that go on without a reader.

It needs the packages of the extra `web`, and `redis_turns` that of the extra `redis`.
"""

from typing import TYPE_CHECKING

from jsontide._public import lazily, publish

try:
    import starlette  # noqa: F401 - without it, the first import below would not say what to install
except ModuleNotFoundError as error:
    message = 'jsontide.web needs Starlette: pip install "jsontide[web]"'
    raise ModuleNotFoundError(message, name=error.name) from error

from jsontide.web._client import client_file, client_route
from jsontide.web._durable import DurableTurns, Orphan, sqlite_turns
from jsontide.web._log import Append, Entry, MemoryLog, TurnLog
from jsontide.web._producer import TurnSource
from jsontide.web._response import OnLeave, TurnResponse, resume_response, stream_response
from jsontide.web._turns import (
    MemoryTurns,
    StoreUnavailableError,
    TooManyTurnsError,
    TurnState,
    TurnStore,
    new_run_id,
    stop,
)

__all__ = [
    "Append",
    "DurableTurns",
    "Entry",
    "MemoryLog",
    "MemoryTurns",
    "OnLeave",
    "Orphan",
    "StoreUnavailableError",
    "TooManyTurnsError",
    "TurnLog",
    "TurnResponse",
    "TurnSource",
    "TurnState",
    "TurnStore",
    "client_file",
    "client_route",
    "new_run_id",
    "redis_turns",
    "resume_response",
    "sqlite_turns",
    "stop",
    "stream_response",
]

publish(__name__, __all__, globals())

if TYPE_CHECKING:
    from jsontide.web._redis import redis_turns

__getattr__ = lazily(__name__, "jsontide.web._redis")
