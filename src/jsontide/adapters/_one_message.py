"""One stream is one message: an event and the chunk made of it in, the chunk to go on with out.

A second message must not be joined to the first: somebody has acted on the first one already, or it broke off.
So where another message begins, the stream has failed, and nothing in it can be run.
An event that begins the same message again says nothing new.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from jsontide.adapters._fields import text
from jsontide.messages import Choice, CompletionChunk

ANOTHER: Final = CompletionChunk(error="another message begins in the same stream")


@dataclass(frozen=True, slots=True)
class ByStart:
    """For providers with an event that begins a message."""

    find: Callable[[object], object]
    """Returns what an event begins, which may have an id, or `None`."""
    has_begun: bool = False
    id: str | None = None
    goes_on: bool = False
    """Whether anything came after the beginning."""

    def check(self, event: object, chunk: CompletionChunk | None) -> tuple[ByStart, CompletionChunk | None]:
        begun = self.find(event)
        if begun is None:
            is_first = self.has_begun and not self.goes_on and chunk is not None
            return (replace(self, goes_on=True) if is_first else self), chunk
        begun_id = text(begun, "id")
        if not self.has_begun:
            return replace(self, has_begun=True, id=begun_id), chunk
        is_another = begun_id != self.id if begun_id and self.id else self.goes_on
        return self, ANOTHER if is_another else None


@dataclass(frozen=True, slots=True)
class ById:
    """For providers whose chunks all have the id of their message.

    Some servers give each chunk an id of its own, or none, so another id tells something only after the end.
    """

    find: Callable[[object], str | None]
    """Returns the id that a chunk has."""
    ended: str | None = None
    """The id of the message that has ended."""

    def check(self, event: object, chunk: CompletionChunk | None) -> tuple[ById, CompletionChunk | None]:
        choice = None if chunk is None else next((one for one in chunk.choices if one.index == 0), None)
        if choice is None:
            return self, chunk
        if self.ended is None:
            ended = self.find(event) if choice.finish_reason else None
            return (replace(self, ended=ended) if ended else self), chunk
        is_another = _says_something(choice) and (self.find(event) or self.ended) != self.ended
        return self, ANOTHER if is_another else chunk


def _says_something(choice: Choice) -> bool:
    delta = choice.delta
    return bool(delta.content or delta.reasoning or delta.refusal or delta.tool_calls)
