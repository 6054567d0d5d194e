"""Where a message stands after an event: the message, and what is needed to read on.

Entries are the parts of a message that is being read, each with what is needed to add to it.
`MessageState.errors` has what is certainly wrong with the calls and the answer, also while the message grows.

Rule: states and entries are values. Old ones stay valid, can be fed again, and are pickled at any time; a list of
entries is copied before it is written to.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from jsontide._check import check_type
from jsontide._textbuffer import NO_TEXT, GrowingText
from jsontide._values import MISSING
from jsontide.messages.calls import BaseCall
from jsontide.messages.document import Document, ReadingRules
from jsontide.messages.message import Message
from jsontide.messages.options import MessageConfig
from jsontide.messages.parts import BasePart
from jsontide.messages.record import Record, refuse_hash
from jsontide.messages.types import ErrorDetail, ErrorKind, ErrorSource, Outcome

if TYPE_CHECKING:
    from jsontide.messages import Message as PublicMessage

NO_KEY: Final = -(1 << 60)
"""The key of a part that the provider does not name: only the last part can grow."""
NO_INDEX: Final = -(1 << 60)
"""The index of a call that the provider does not count."""


class PartEntry(Record):
    """A part, and the key by which the provider's events name it."""

    __slots__ = ("held", "key", "part")

    FIELDS: ClassVar[tuple[str, ...]] = ("part", "key", "held")

    def __init__(self, part: BasePart, key: int, held: str = "") -> None:
        self.part: Final = part
        self.key: Final = key
        self.held: Final = held
        """A high surrogate at the end of the text, which waits for its pair."""


class CallEntry(PartEntry):
    """A tool call."""

    __slots__ = (
        "ambiguity",
        "document",
        "id",
        "index",
        "is_blank",
        "is_cut_off",
        "is_guess",
        "is_hidden",
        "name",
        "on_server",
        "shares_index",
        "text",
    )

    FIELDS: ClassVar[tuple[str, ...]] = (
        "part",
        "key",
        "index",
        "document",
        "on_server",
        "is_hidden",
        "text",
        "held",
        "is_blank",
        "is_cut_off",
        "ambiguity",
        "shares_index",
        "is_guess",
    )

    def __init__(
        self,
        part: BaseCall,
        key: int,
        index: int,
        document: Document,
        on_server: bool,
        is_hidden: bool,
        text: GrowingText = NO_TEXT,
        held: str = "",
        is_blank: bool = True,
        is_cut_off: bool = False,
        ambiguity: str = "",
        shares_index: bool = False,
        is_guess: bool = False,
    ) -> None:
        PartEntry.__init__(self, part, key, held)
        self.index: Final = index
        """The number that the provider gives the call."""
        self.id: Final = part.id
        self.name: Final = part.name
        self.text: Final = text
        self.document: Final = document
        self.is_blank: Final = is_blank
        """Whether the arguments so far are empty or white space."""
        self.on_server: Final = on_server
        """Whether the provider runs it."""
        self.is_cut_off: Final = is_cut_off
        """Whether the provider reports that the call broke off."""
        self.ambiguity: Final = ambiguity
        """Why its arguments are uncertain, if they are; such a call cannot be run."""
        self.is_hidden: Final = is_hidden
        """Whether the message leaves it out: it is the answer itself, or may turn out to be."""
        self.shares_index: Final = shares_index
        """Whether another call with the same index was open when this one began."""
        self.is_guess: Final = is_guess
        """Whether some of what it is made of has an index and some has none: only that it was open joins the two."""

    def with_ambiguity(self, why: str) -> CallEntry:
        """Return the call marked as one that cannot be run; an earlier reason stays."""
        return self if self.ambiguity else self.evolve(ambiguity=why)

    @property
    def call(self) -> BaseCall:
        part = self.part
        assert isinstance(part, BaseCall)
        return part


def call_errors(entry: CallEntry, source: ErrorSource, rules: ReadingRules) -> tuple[ErrorDetail, ...]:
    """Return the errors of a call apart from those of its arguments."""
    found: list[ErrorDetail] = []
    if entry.ambiguity:
        found.append(ErrorDetail(ErrorKind.JSON, source, entry.ambiguity))
    name = entry.name
    if name is not None and not rules.offers(name) and not rules.is_output(name):
        found.append(ErrorDetail(ErrorKind.SCHEMA, source, f"no tool is called {name!r}"))
    return tuple(found)


def loss_errors(loss: str) -> tuple[ErrorDetail, ...]:
    """Return the error of a stream that had an unreadable piece."""
    return (ErrorDetail(ErrorKind.TRANSPORT, "stream", loss),) if loss else ()


def certain_errors(
    entries: list[PartEntry], document: Document | None, answer_at: int, rules: ReadingRules, loss: str
) -> tuple[ErrorDetail, ...]:
    """Return the errors of a growing message that nothing can undo."""
    found: list[tuple[ErrorDetail, ...]] = [loss_errors(loss)]
    # Where tools are offered, a later call can turn the content into mere prose.
    if not rules.answer_is_call and not rules.bindings and document is not None:
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
            elif entry.name is None:  # if it is shown later, the calls after it move
                break
    return tuple(chain.from_iterable(found))


_STREAMING: Final = Outcome.STREAMING  # compiled, looking up a member of an enum costs more than all else here


class MessageState(Record):
    """A message after an event; it never changes, and can be fed again at any time."""

    __slots__ = (
        "answer_at",
        "config",
        "document",
        "entries",
        "has_role",
        "is_over",
        "loss",
        "newest",
        "reason",
        "unread",
        "worst_reason",
    )

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
        "unread",
    )

    def __init__(
        self,
        config: MessageConfig,
        message: Message,
        entries: list[PartEntry],
        document: Document | None,
        reason: str | None = None,
        worst_reason: str | None = None,
        has_role: bool = False,
        answer_at: int = -1,
        loss: str = "",
        unread: str = "",
    ) -> None:
        self.config: Final = config
        self.newest: Final = message
        """The message, typed as the native class."""
        self.is_over: Final = message.outcome is not _STREAMING
        self.entries: Final = entries
        """The parts as they are read; this list is never changed."""
        self.document: Final = document
        """The answer, if it is read from the text of the message."""
        self.reason: Final = reason
        """The finish reason, as long as nothing came after it that it does not cover."""
        self.worst_reason: Final = worst_reason
        """The most severe finish reason so far, whatever came after it."""
        self.has_role: Final = has_role
        self.answer_at: Final = answer_at
        """Index of the call that carries the answer, or -1."""
        self.loss: Final = loss
        """Why a piece that may be arguments could not be read; empty if all were read."""
        self.unread: Final = unread
        """Why something may be all the arguments of a call; that matters to calls that have none."""

    @property
    def message(self) -> PublicMessage[Any]:
        """The message so far."""
        return cast("PublicMessage[Any]", self.newest)

    @property
    def outcome(self) -> Outcome:
        """How the message ended; `STREAMING` before the end."""
        return self.newest.outcome

    @property
    def errors(self) -> tuple[ErrorDetail, ...]:
        """All errors that are certain; the message shows them at its end."""
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


def start_message(config: object = None) -> MessageState:
    """Return the state before any chunk; `config` is a `MessageConfig` or `None`."""
    config = MessageConfig() if config is None else check_type("config", config, MessageConfig, "a MessageConfig")
    rules = config._rules
    parses = rules.answer is not None and not rules.answer_is_call
    document = rules.new_document(rules.answer, False) if parses else None
    answer = MISSING if document is None else document
    return MessageState(config, Message(answer=answer), [], document)
