"""How a call or a message ended, and what was wrong with it, as values.

Three kinds of errors, and when a message tells them:

    TRANSPORT   the stream failed                  at once, it is the end
    JSON        a text is not JSON, or not all     at the end
    SCHEMA      a value does not fit its schema    at the end

The state knows all of them as soon as they are certain; a message does not flicker with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal, TypeAlias

from jsontide._errors import JsontideError
from jsontide._path import Path


class Outcome(Enum):
    """What the end means."""

    STREAMING = "streaming"
    """There is no end yet."""
    COMPLETE = "complete"
    """All there, and valid."""
    TRUNCATED = "truncated"
    """The text broke off: at a limit, with the stream, or nobody said why."""
    INVALID = "invalid"
    """Not JSON, or not what the schema asks for, or a tool that nobody offered."""
    REFUSED = "refused"
    """The model refused to answer."""
    FILTERED = "filtered"
    """The provider withheld the answer."""
    CANCELLED = "cancelled"
    """The caller stopped it."""
    EMPTY = "empty"
    """Nothing was said."""


class ErrorKind(Enum):
    """What failed."""

    TRANSPORT = "transport"
    JSON = "json"
    SCHEMA = "schema"


Source: TypeAlias = Literal["stream", "content"] | int
"""Where something went wrong: in the stream itself, in the content, or in the call at this position."""


@dataclass(frozen=True, slots=True)
class MessageError:
    """Something that was wrong with a message, and where."""

    kind: ErrorKind
    source: Source
    message: str
    """For people."""
    path: Path = ()
    """Where in the document."""
    cause: object = None
    """What it was made from: a `ParserError`, a `SchemaMismatch`, an exception, or nothing."""

    def __reduce__(self) -> tuple[type[MessageError], tuple[object, ...]]:
        # Exceptions of clients hold connections, and many of them cannot be unpickled.
        cause = None if isinstance(self.cause, BaseException) else self.cause
        return MessageError, (self.kind, self.source, self.message, self.path, cause)


class IncompleteCallError(JsontideError, AttributeError):
    """Arguments to run were asked of a call that is not complete and valid; `partial` is all it has."""
