"""A growing answer in, when to send it as a data part out, instead of its text.

There are no deltas for data parts: each one replaces the last, whole.
So an answer is sent when it has grown by half since the last time, and at its end: all of it together costs about four
times its text, whatever the number of chunks.

Rule: while an answer may turn out to be good, its text is held; if it is not, the text is told at the end, so that
nothing that the model wrote is lost.
"""

from __future__ import annotations

from typing import Final

from jsontide._values import MISSING
from jsontide.encoders.progress import Ended, Step, TextEnded, TextGrew, TextStarted
from jsontide.messages.document import Document
from jsontide.messages.growth import answer_of, text_of
from jsontide.messages.message import FinalAnswer, Message
from jsontide.messages.parts import TextPart
from jsontide.messages.types import Outcome
from jsontide.tree import ParserState


class AnswerGrew:
    """There is more of the answer: all that may be shown of it."""

    __slots__ = ("is_whole", "value")

    def __init__(self, value: object, *, is_whole: bool) -> None:
        self.value: Final = value
        self.is_whole: Final = is_whole
        """Whether it is complete and valid: what was asked for."""


class AnswerProgress:
    """How much of an answer was told."""

    __slots__ = ("is_text", "length")

    def __init__(self, length: int = 0, *, is_text: bool | None = None) -> None:
        self.length: Final = length
        """How much JSON had been read when it was told last, 0 before."""
        self.is_text: Final = is_text
        """Whether the answer is the text of the message, and not the arguments of a call; `None` if unknown."""

    def advance(self, message: Message, name: str, steps: list[Step]) -> tuple[AnswerProgress, list[Step | AnswerGrew]]:
        """Return the progress after a message, and its steps with those of the answer instead of its text."""
        is_text = self._find_text(message)
        is_over = bool(steps) and isinstance(steps[-1], Ended)
        length, grown = self._grow(answer_of(message), is_over=is_over)
        found: list[Step | AnswerGrew] = []
        for step in steps:
            is_place = isinstance(step, Ended) or (is_text and _is_text(step))
            if grown and is_place:
                found += grown
                grown = []
            if isinstance(step, Ended) and is_text and not isinstance(answer_of(message), FinalAnswer):
                found += _tell_texts(message, name)
            if not (is_text and _is_text(step)):
                found.append(step)
        return AnswerProgress(length, is_text=is_text), [*found, *grown]

    def advance_json(self, state: ParserState) -> tuple[AnswerProgress, list[Step | AnswerGrew]]:
        """Return the progress after a state of a parser, and what is new in it."""
        error = state.error
        is_over = error is not None or state.is_complete
        is_due = state.value is not MISSING and (is_over or self._is_due(state.index))
        steps: list[Step | AnswerGrew] = [AnswerGrew(state.value, is_whole=state.is_complete)] if is_due else []
        if error is not None:
            steps.append(Ended(Message(outcome=Outcome.INVALID), error.message))
        elif is_over:
            steps.append(Ended(Message(outcome=Outcome.COMPLETE, finish_reason="stop"), None))
        return AnswerProgress(state.index if is_due else self.length), steps

    def _is_due(self, length: int) -> bool:
        return length > self.length and length >= self.length + self.length // 2

    def _grow(self, answer: Document | FinalAnswer | None, *, is_over: bool) -> tuple[int, list[Step | AnswerGrew]]:
        if isinstance(answer, FinalAnswer):
            return self.length, [AnswerGrew(answer.value, is_whole=True)]
        if answer is None or not (is_over or self._is_due(answer.state.index)) or answer.value is MISSING:
            return self.length, []
        return answer.state.index, [AnswerGrew(answer.value, is_whole=False)]

    def _find_text(self, message: Message) -> bool | None:
        """Return whether the text is the answer: if so, all of it is read as JSON, from the first message on."""
        if self.is_text is not None:
            return self.is_text
        answer = answer_of(message)
        if isinstance(answer, FinalAnswer):
            return answer.is_text
        written = sum(text_of(part).length for part in message.parts if isinstance(part, TextPart))
        read = 0
        if answer is not None:
            read = answer.state.index if answer.mend is None else answer.mend.index
        if not written and not read:
            return None
        return answer is not None and (read == written or answer.error is not None)


def _is_text(step: Step) -> bool:
    return isinstance(step, (TextStarted, TextGrew, TextEnded)) and step.kind == "text"


def _tell_texts(message: Message, name: str) -> list[Step | AnswerGrew]:
    """Return the texts of a message whose answer is not good."""
    steps: list[Step | AnswerGrew] = []
    for at, part in enumerate(message.parts):
        if isinstance(part, TextPart) and text_of(part).length:
            key = f"{name}-{at}"
            steps += [TextStarted(key, "text"), TextGrew(key, "text", part.text), TextEnded(key, "text", part)]
    return steps
