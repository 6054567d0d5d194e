"""Where a message stands after an event: the message, and what is needed to read on.

Rule: a state is a value. Old ones stay valid, can be fed again, and are pickled at any time.

`find_errors` says what is certainly wrong with the calls and the answer, also while the message grows.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from jsontide.messages._entries import CallEntry, Entry
from jsontide.messages._rules import ReadingRules
from jsontide.messages.document import Document
from jsontide.messages.message import Message
from jsontide.messages.options import MessageConfig
from jsontide.messages.record import Record, refuse_hash
from jsontide.messages.types import ErrorDetail, ErrorKind, ErrorSource, Outcome

if TYPE_CHECKING:
    from jsontide.messages import Message as PublicMessage


def call_errors(entry: CallEntry, source: ErrorSource, rules: ReadingRules) -> tuple[ErrorDetail, ...]:
    """Return what is wrong with a call beside its arguments."""
    found: list[ErrorDetail] = []
    if entry.doubt:
        found.append(ErrorDetail(ErrorKind.JSON, source, entry.doubt))
    name = entry.name
    if name is not None and not rules.knows(name) and not rules.is_output(name):
        found.append(ErrorDetail(ErrorKind.SCHEMA, source, f"no tool is called {name!r}"))
    return tuple(found)


def loss_errors(loss: str) -> tuple[ErrorDetail, ...]:
    """Return what is wrong with a stream of which something could not be read."""
    return (ErrorDetail(ErrorKind.TRANSPORT, "stream", loss),) if loss else ()


def certain_errors(
    entries: list[Entry], document: Document | None, answer_at: int, rules: ReadingRules, loss: str
) -> tuple[ErrorDetail, ...]:
    """Return what is wrong with a message that grows, whatever may come."""
    found: list[tuple[ErrorDetail, ...]] = [loss_errors(loss)]
    # Where tools are offered, a call may come that makes mere prose of the content.
    if not rules.emulates and not rules.bindings and document is not None:
        found.append(document.errors("content"))
    answer = entries[answer_at] if answer_at >= 0 else None
    if isinstance(answer, CallEntry):
        found += [call_errors(answer, "content", rules), answer.document.errors("content")]
    source = 0
    for entry in entries:
        if isinstance(entry, CallEntry) and not entry.on_server:
            if not entry.is_hidden:
                found += [call_errors(entry, source, rules), entry.document.errors(source)]
                source += 1
            elif entry.name is None:  # it may still be shown, and then moves those after it
                break
    return tuple(chain.from_iterable(found))


def find_answer(entries: list[Entry], rules: ReadingRules) -> int:
    """Return the place of a call that is the answer itself, -1 if there is none."""
    for at, entry in enumerate(entries):
        if isinstance(entry, CallEntry) and not entry.on_server and rules.is_output(entry.name):
            return at
    return -1


_STREAMING: Final = Outcome.STREAMING  # compiled, looking up a member of an enum costs more than all else here


class MessageState(Record):
    """A message after an event; it never changes, and can be fed again at any time."""

    __slots__ = ("answer_at", "config", "document", "entries", "has_role", "loss", "newest", "reason", "worst_reason")

    FIELDS: ClassVar[tuple[str, ...]] = (
        "config",
        "message",
        "entries",
        "document",
        "reason",
        "worst_reason",
        "has_role",
        "answer_at",
        "loss",
    )

    def __init__(
        self,
        config: MessageConfig,
        message: Message,
        entries: list[Entry],
        document: Document | None,
        reason: str | None = None,
        worst_reason: str | None = None,
        has_role: bool = False,
        answer_at: int = -1,
        loss: str = "",
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
        self.loss: Final = loss
        """What could not be read, and may be arguments; empty if there is nothing like that."""

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
            else certain_errors(self.entries, self.document, self.answer_at, self.config._rules, self.loss)
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MessageState) and self.newest == other.newest and self.config == other.config

    def __hash__(self) -> int:
        return refuse_hash(self)

    def __repr__(self) -> str:
        return f"<MessageState {self.newest!r}>"
