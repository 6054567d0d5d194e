"""What providers stream, in one shape: the chunks that the reducer takes.

Every provider's events become these; the words are those of OpenAI's chat completions, which most servers speak.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

STOP: Final = "stop"
TOOL_CALLS: Final = "tool_calls"
LENGTH: Final = "length"
CONTENT_FILTER: Final = "content_filter"
REFUSAL: Final = "refusal"
MALFORMED: Final = "malformed"
ERROR: Final = "error"
"""The finish reasons that mean something to the reducer; a provider's other reasons pass as they are."""
NORMAL: Final = (STOP, TOOL_CALLS)
"""Those by which a provider says that it has said all."""

Spelling: TypeAlias = Literal["delta", "whole"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallDelta:
    """What a chunk says of one tool call; whatever it does not say is `None`."""

    index: int | None = None
    id: str | None = None
    name: str | None = None
    arguments: str | Mapping[str, object] | None = None
    """More of the text, or all of them as an object."""
    spelling: Spelling = "delta"
    """Whether the text goes on where it was, or is all of it so far."""
    on_server: bool = False
    """Whether the provider runs this tool itself: such a call is nobody else's to run, and is not shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """What is new in a message."""

    role: str | None = None
    content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: tuple[ToolCallDelta, ...] = ()


NO_DELTA: Final = Delta()


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One of the answers that a provider was asked for; only the one with index 0 counts."""

    index: int = 0
    delta: Delta = NO_DELTA
    finish_reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionChunk:
    """One event of a stream, whoever it came from."""

    choices: tuple[Choice, ...] = ()
    error: str | None = None
    """What the provider says went wrong, if it broke the stream off."""
