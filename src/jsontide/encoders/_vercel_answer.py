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
from jsontide.encoders._answer_text import Hidden, hide_answer
from jsontide.encoders.progress import Ended, Step, TextEnded, TextGrew, TextStarted
from jsontide.messages.document import Document
from jsontide.messages.growth import answer_of, has_answer_text
from jsontide.messages.message import FinalAnswer, Message
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

    __slots__ = ("hidden", "length")

    def __init__(self, length: int = 0, hidden: Hidden = frozenset()) -> None:
        self.length: Final = length
        """How much JSON had been read when it was told last, 0 before."""
        self.hidden: Final = hidden
        """The places of text parts that are told as data, not as text."""

    def advance(self, message: Message, name: str, steps: list[Step]) -> tuple[AnswerProgress, list[Step | AnswerGrew]]:
        """Return the progress after a message, and its steps with those of the answer instead of its text."""
        answer, is_text = answer_of(message), has_answer_text(message)
        is_over = bool(steps) and isinstance(steps[-1], Ended)
        length, grown = self._grow(answer, is_over=is_over)
        end = len(steps) - is_over
        at = next((at for at in range(end) if is_text and _is_text(steps[at])), end)  # where the text would stand
        first, hidden = hide_answer(name, message, steps[:at], self.hidden, hides=is_text)
        rest, hidden = hide_answer(name, message, steps[at:end], hidden, hides=is_text)
        last, hidden = hide_answer(name, message, steps[end:], hidden, hides=isinstance(answer, FinalAnswer))
        return AnswerProgress(length, hidden), [*first, *grown, *rest, *last]

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


def _is_text(step: Step) -> bool:
    return isinstance(step, (TextStarted, TextGrew, TextEnded)) and step.kind == "text"
