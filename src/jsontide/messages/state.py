"""Where a message stands after an event: the message, and what is needed to read on.

Rule: a state is a value. Old ones stay valid, can be fed again, and are pickled at any time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from jsontide.messages._entries import Entry
from jsontide.messages._errors import certain_errors
from jsontide.messages.document import Document
from jsontide.messages.message import Message
from jsontide.messages.options import MessageConfig
from jsontide.messages.types import ErrorDetail, Outcome

if TYPE_CHECKING:
    from jsontide.messages import Message as PublicMessage

_STREAMING: Final = Outcome.STREAMING  # compiled, looking up a member of an enum costs more than all else here


class MessageState:
    """A message after an event; it never changes, and can be fed again at any time."""

    __slots__ = ("answer_at", "config", "document", "entries", "has_role", "newest", "reason", "worst_reason")

    def __init__(
        self,
        config: MessageConfig,
        message: Message,
        entries: list[Entry],
        document: Document | None,
        reason: str | None,
        worst_reason: str | None,
        has_role: bool,
        answer_at: int = -1,
    ) -> None:
        self.config: Final = config
        self.newest: Final = message
        """The message, as the native class that it is."""
        self.entries: Final = entries
        """The parts as they are read; a list that is never written to once it is here."""
        self.document: Final = document
        """The answer, where it comes from the content."""
        self.reason: Final = reason
        """The finish reason that speaks for all that came."""
        self.worst_reason: Final = worst_reason
        """The worst of all that came, also if something came after it."""
        self.has_role: Final = has_role
        self.answer_at: Final = answer_at
        """The place of the call that is the answer itself, the first of which that is known; -1 if there is none."""

    @property
    def message(self) -> PublicMessage[Any]:
        """The message so far."""
        return cast("PublicMessage[Any]", self.newest)

    @property
    def outcome(self) -> Outcome:
        """What the end means, `STREAMING` before it."""
        return self.newest.outcome

    @property
    def is_over(self) -> bool:
        return self.newest.outcome is not _STREAMING

    @property
    def errors(self) -> tuple[ErrorDetail, ...]:
        """All that is known to be wrong, also before the message shows it."""
        return (
            self.newest.errors
            if self.is_over
            else certain_errors(self.entries, self.document, self.answer_at, self.config._rules)
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MessageState) and self.newest == other.newest and self.config == other.config

    def __hash__(self) -> int:
        raise TypeError("unhashable type: 'MessageState'")

    def __repr__(self) -> str:
        return f"<MessageState {self.newest!r}>"

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return MessageState, (
            self.config,
            self.newest,
            self.entries,
            self.document,
            self.reason,
            self.worst_reason,
            self.has_role,
            self.answer_at,
        )
