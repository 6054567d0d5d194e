"""What all stages of a stream have in common: a stage is what is known of a stream after some of its pieces.

    Undecided ──▶ JsonStage ──▶ DocumentsStage     one JSON document, then several
        │             ├───────▶ MessageStage       events of a provider, or its whole response
        │             └───────▶ ArrayStage         events in an array, as Gemini sends them
        ├───────▶ EventsStage ──▶ MessageStage     server-sent or decoded events
        └───────▶ TextStage                        anything else

Rule: a stage is a value; `feed` returns the next one, of the same class or of one to the right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, Literal, TypeAlias, TypeVar

from jsontide._errors import ParserError
from jsontide._values import MISSING, JsonValue, Missing
from jsontide.deltas import Change
from jsontide.messages import MessageConfig, Outcome
from jsontide.recordings._piece import End

if TYPE_CHECKING:
    from jsontide.mend import Mending, Repair
    from jsontide.messages import Message
    from jsontide.schema import Resolution
    from jsontide.text.numbers import Floats
    from jsontide.tree import ParserState

Kind: TypeAlias = Literal["unknown", "json", "message", "documents", "text"]
KINDS: Final[tuple[Kind, ...]] = ("json", "message", "documents", "text")
"""What a stream can be said to be from the start."""
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Setup:
    """What a stream is followed with."""

    schema: object
    mend: Mending | None
    config: MessageConfig
    as_kind: Kind | None
    floats: Floats = "float"


class Stage:
    """A stream so far; this one shows nothing."""

    __slots__ = ()

    kind: Kind = "unknown"

    def feed(self, data: bytes) -> Stage:
        """Return the stage after more bytes."""
        raise NotImplementedError

    def feed_event(self, event: Mapping[str, object]) -> Stage:
        """Return the stage after an event that a client decoded."""
        message = f"an event follows bytes: {event!r:.60}"
        raise TypeError(message)

    def finish(self, end: End, error: str | None) -> Stage:
        """Return the stage after the end of the stream."""
        raise NotImplementedError

    def changes_since(self, before: Stage) -> list[Change]:
        """Return what changed in the value since an earlier stage of the stream."""
        return []

    @property
    def value(self) -> JsonValue | Missing:
        """What is shown."""
        return MISSING

    @property
    def state(self) -> ParserState | None:
        """The state of the parser, of a JSON document."""
        return None

    @property
    def message(self) -> Message | None:
        """The message."""
        return None

    @property
    def resolution(self) -> Resolution[object] | None:
        """What the schema shows of a JSON document, if there is one."""
        return None

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """What was mended."""
        return ()

    @property
    def error(self) -> ParserError | str | None:
        """What is wrong."""
        return None

    @property
    def is_complete(self) -> bool:
        """Whether all of it is there and good."""
        return False

    @property
    def outcome(self) -> Outcome:
        """What the end means, `STREAMING` before it."""
        return Outcome.STREAMING


class Shared(Generic[_Item]):
    """A list that grows, of which many stages see a beginning: only the newest of them appends in place."""

    __slots__ = ("_count", "_items")

    def __init__(self, items: list[_Item] | None = None) -> None:
        self._items: Final = [] if items is None else items
        self._count: Final = len(self._items)

    def append(self, *items: _Item) -> Shared[_Item]:
        """Return the list with more at its end."""
        if not items:
            return self
        shared = self._items if len(self._items) == self._count else self._items[: self._count]
        shared += items
        return Shared(shared)

    def __len__(self) -> int:
        return self._count

    def read(self, start: int = 0) -> list[_Item]:
        """Return what is in it, from a place on."""
        return self._items[start : self._count]


def end_outcome(end: End, error: ParserError | str | None, *, is_whole: bool) -> Outcome:
    """Return what the end of a stream means that is no message."""
    if is_whole and error is None:
        return Outcome.COMPLETE
    if end == "stopped":
        return Outcome.CANCELLED
    is_cut = end == "lost" or not isinstance(error, ParserError) or error.reason.name == "UNEXPECTED_END"
    return Outcome.TRUNCATED if is_cut else Outcome.INVALID
