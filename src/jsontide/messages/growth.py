"""What grows in a message, for stages that follow it: texts that are not joined, and documents with their states."""

from __future__ import annotations

from jsontide._textbuffer import GrowingText
from jsontide.messages.calls import BaseCall
from jsontide.messages.document import Document
from jsontide.messages.message import FinalAnswer, Message
from jsontide.messages.parts import GrowingPart


def text_of(part: GrowingPart | BaseCall) -> GrowingText:
    """Return the text of a part, or the arguments of a call as they were written."""
    return part._text


def document_of(call: BaseCall) -> Document | None:
    """Return the arguments of a call while they are read, `None` when they are decided."""
    return call._document


def answer_of(message: Message) -> Document | FinalAnswer | None:
    """Return the structured output while it is read, then as it is when it is valid; `None` without a schema."""
    answer = message._answer
    return answer if isinstance(answer, (Document, FinalAnswer)) else None


def has_answer_text(message: Message) -> bool:
    """Return whether the text of a message is read as its answer; a call can be it, too, and has text beside it."""
    answer = message._answer
    if isinstance(answer, FinalAnswer):
        return answer.is_text
    return isinstance(answer, Document) and answer.binding is not None and answer.binding.is_text
