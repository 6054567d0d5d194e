"""What a model says, described apart from how any provider writes it.

A writer takes such a description and writes the events of its provider; the same description says what the message
must be. Rule: nothing here comes from `jsontide`, so that no expectation does.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

Event = dict[str, Any]
UNSAID: Any = ...
"""A field of which the description says nothing."""
NOTHING: Any = type("Nothing", (), {"__repr__": lambda _: "NOTHING"})()
"""No value at all, which is not the same as `None`."""


@dataclass(frozen=True, kw_only=True)
class Cited:
    type: str
    raw: Event
    """As the provider writes it."""
    url: str | None = None
    title: str | None = None
    cited_text: str | None = None
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, kw_only=True)
class Part:
    item_id: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    """What a provider says that is in no field, under its own names."""


@dataclass(frozen=True)
class Text(Part):
    text: str
    citations: tuple[Cited, ...] = ()


@dataclass(frozen=True)
class Thought(Part):
    text: str = ""
    signature: str | None = None
    redacted: bool = False
    encrypted: str | None = None


@dataclass(frozen=True)
class Refusal(Part):
    text: str


@dataclass(frozen=True)
class Source(Part):
    url: str | None = None
    title: str | None = None


@dataclass(frozen=True)
class File(Part):
    media_type: str | None = None
    data: str | None = None
    url: str | None = None
    id: str | None = None


@dataclass(frozen=True)
class Other(Part):
    type: str
    raw: Any
    needs_action: bool = False


@dataclass(frozen=True)
class Call(Part):
    """A call for the caller to run; one whose `status` is not `complete` has what was written of its arguments."""

    name: str | None
    value: Any = NOTHING
    id: str | None = None
    text: str | None = None
    """The arguments as they are written, where a provider writes them as text."""
    status: str = "complete"


@dataclass(frozen=True)
class ServerTool(Part):
    """A call that the provider runs itself, or waits for the caller to deal with."""

    name: str
    value: Any = NOTHING
    result: Any = NOTHING
    status: str | None = None
    type: str = ""
    id: str | None = None
    needs_action: bool = False


@dataclass(frozen=True, kw_only=True)
class Spent:
    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    raw: Event = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Said:
    """A message: its parts in order, and how it ended."""

    parts: tuple[Part, ...] = ()
    finish_reason: str | None = "stop"
    """In the words of OpenAI's chat completions."""
    raw_finish_reason: str | None = None
    outcome: str = "complete"
    usage: Spent | None = None
    id: str | None = None
    model: str | None = None
    created: float | None = None
    errors: tuple[str, ...] = ()
    """What went wrong with the stream, in the provider's words."""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def calls(self) -> list[Call]:
        return [part for part in self.parts if isinstance(part, Call)]


@dataclass(frozen=True, kw_only=True)
class Stream:
    """The events that a provider sends, and the message that they are."""

    name: str
    provider: str
    events: list[Event]
    said: Said
    end: int
    """The place of the event that says how the message ends."""
    request: list[Event] | None = None
    """What the provider wants to get back of the message, if the writer knows."""
    second: Said | None = None
    """The second of several answers."""


def cut(text: str, *sizes: int) -> Iterator[str]:
    """Cut a text into pieces of these sizes, over and over."""
    start = 0
    for size in cycle(sizes or (1, 4, 2, 7, 3)):
        if start >= len(text):
            return
        yield text[start : start + size]
        start += size
