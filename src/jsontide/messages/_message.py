"""An assistant's turn, as far as it has come."""

from __future__ import annotations

from dataclasses import dataclass

from jsontide._textbuffer import NO_TEXT, GrowingText
from jsontide._values import MISSING, JsonValue, Missing
from jsontide.messages._calls import ToolCall, shortened
from jsontide.messages._document import Document
from jsontide.messages._halves import NOTHING_HELD, Held
from jsontide.messages._outcome import MessageError, Outcome
from jsontide.messages._roster import NO_CALLS, Roster


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Message:
    """What the model has said so far; it never changes."""

    role: str = "assistant"
    finish_reason: str | None = None
    """Why the provider says that it ended: `stop`, `length`, `content_filter`, another or its own.

    `tool_calls`, whatever the provider calls it, if it stopped as it should and there are calls to run.
    """
    outcome: Outcome = Outcome.STREAMING
    """What the end means."""
    errors: tuple[MessageError, ...] = ()
    """What was wrong; known at the end."""
    content_model: object = MISSING
    """The answer as an instance of its schema's type, when it is complete and valid, else `MISSING`."""
    _has_role: bool = False
    _worst_reason: str | None = None
    """Of all reasons that were told, also if something came after it."""
    _content: GrowingText = NO_TEXT
    _reasoning: GrowingText = NO_TEXT
    _refusal: GrowingText = NO_TEXT
    _held: Held = NOTHING_HELD
    _document: Document | None = None
    _calls: Roster = NO_CALLS

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls, in the order in which they began."""
        return self._calls.shown

    @property
    def content(self) -> str:
        """The text, as it was written."""
        return str(self._content)

    @property
    def reasoning(self) -> str:
        """What the model told of its thinking."""
        return str(self._reasoning)

    @property
    def refusal(self) -> str:
        """Why it refused to answer."""
        return str(self._refusal)

    @property
    def content_resolved(self) -> JsonValue | Missing:
        """What may be shown of structured output; what did not change is the same object as before."""
        return MISSING if self._document is None else self._document.value

    def __repr__(self) -> str:
        calls = "".join(f", {call!r}" for call in self.tool_calls)
        return f"<Message {self.outcome.name} {shortened(self.content)!r}{calls}>"
