"""A tool call, from its first delta to its end.

Law 9: what is not complete and valid has no arguments to run, only a partial view.
Only `CompleteCall` declares `arguments_value`, so a type checker refuses it where nobody asked whether it is complete.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NoReturn, TypeAlias

from jsontide._textbuffer import NO_TEXT, GrowingText
from jsontide._values import JsonValue, Missing
from jsontide.messages._document import Document
from jsontide.messages._outcome import IncompleteCallError, MessageError, Outcome

_SHOWN: Final = 60  # characters of a text, where one is shown to people


def shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class _Call:
    index: int
    """As the provider counts; the position in the message where it does not."""
    _has_index: bool = True
    """Whether the provider has told an index."""
    id: str | None = None
    name: str | None = None
    """`None` until it is known."""
    _text: GrowingText = NO_TEXT
    _held: str = ""
    """Half a character at the end of the text, which waits for its other half."""
    _is_blank: bool = True
    """Whether there is nothing but white space in the text."""
    _document: Document
    _on_server: bool = False
    _is_cut_off: bool = False
    _doubt: str = ""
    """Why it is not known what belongs to it; such a call cannot be run."""
    _is_hidden: bool = False
    """Whether a message that grows does not show it: the server runs it, or it is the answer, or it may become that."""

    @property
    def arguments(self) -> str:
        """The arguments as they were written, so far."""
        return str(self._text)

    @property
    def arguments_resolved(self) -> JsonValue | Missing:
        """What may be shown of the arguments; what did not change is the same object as before."""
        return self._document.value

    @property
    def partial(self) -> JsonValue | Missing:
        """The same, for looking only."""
        return self._document.value

    @property
    def _signature(self) -> str:
        return f"{self.name and shortened(self.name)}({shortened(self.arguments)})"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CompleteCall(_Call):
    """A call whose arguments are all there, and valid."""

    status: Literal[Outcome.COMPLETE] = Outcome.COMPLETE
    error: None = None
    arguments_value: JsonValue
    """The arguments to run the tool with."""
    arguments_model: object
    """The same as an instance of the type that the tool was given, if it was given one."""

    def __repr__(self) -> str:
        return f"<CompleteCall {self._signature}>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PartialCall(_Call):
    """A call that is not complete, or not valid: there is nothing to run."""

    status: Literal[
        Outcome.STREAMING,
        Outcome.TRUNCATED,
        Outcome.INVALID,
        Outcome.REFUSED,
        Outcome.FILTERED,
        Outcome.CANCELLED,
    ] = Outcome.STREAMING
    error: MessageError | None = None
    """What was wrong, when the message has ended."""

    if not TYPE_CHECKING:

        @property
        def arguments_value(self) -> NoReturn:
            raise self._refusal()

        @property
        def arguments_model(self) -> NoReturn:
            raise self._refusal()

    def __repr__(self) -> str:
        return f"<PartialCall {self.status.name} {self._signature}>"

    def _refusal(self) -> IncompleteCallError:
        why = f": {self.error.message}" if self.error else ""
        return IncompleteCallError(
            f"the call of {self.name!r} is {self.status.value}{why}; it has no arguments to run, only .partial"
        )


ToolCall: TypeAlias = CompleteCall | PartialCall
"""Ask `status`, or for the class, before you run it."""
