"""A run as a value: all messages from a question to the answer, and the results of their calls.

Rule: a run never changes, and showing more of its last message makes one object, whatever else the run holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import GenericAlias
from typing import Any, ClassVar, Final, cast

from jsontide._check import check_type
from jsontide._values import MISSING
from jsontide.messages import Usage
from jsontide.messages.message import Message
from jsontide.messages.record import Record
from jsontide.messages.types import check_texts
from jsontide.runs.json_form import read_run, write_run_text
from jsontide.runs.types import PendingResult, Result, RunOutcome, Step

# What runs for each event does not look up a member of an enum, which takes long.
_STREAMING: Final = RunOutcome.STREAMING


class Run(Record):
    """All messages of a model from a question to the answer, and the results of their calls; it never changes."""

    __slots__ = ("_step", "earlier", "error", "id", "message", "outcome", "results")

    FIELDS: ClassVar[tuple[str, ...]] = ("steps", "outcome", "id", "error")

    def __init__(
        self,
        steps: Iterable[Step] = (),
        outcome: RunOutcome = _STREAMING,
        id: str | None = None,  # noqa: A002 - what everybody calls it
        error: str | None = None,
    ) -> None:
        given = tuple(steps)
        for step in given:
            check_type("every step", step, Step, "a Step")
        last = given[-1] if given else None
        self.earlier: tuple[Step, ...] = given[:-1]
        """The steps before the last."""
        self.message: Message | None = None if last is None else last.message
        """The last message; `None` before the first."""
        self.results: tuple[Result, ...] = () if last is None else last.results
        """What the calls of the last message gave."""
        self.outcome: Final = outcome
        """How the run ended; `STREAMING` before the end."""
        self.id: str | None = id
        self.error: Final = error
        """Why it failed, if something around its messages did."""
        self._step: Step | None = last
        if outcome is not _STREAMING or id is not None or error is not None:
            check_type("outcome", outcome, RunOutcome, "a RunOutcome")
            check_texts(self, "id", "error")

    @property
    def steps(self) -> tuple[Step, ...]:
        """The messages in order, each with the results of its calls."""
        if self.message is None:
            return ()
        if self._step is None:
            self._step = Step(cast("Any", self.message), self.results)
        return (*self.earlier, self._step)

    @property
    def content(self) -> str:
        """The text of the last message."""
        return "" if self.message is None else self.message.content

    @property
    def answer(self) -> object:
        """The structured output of the last message."""
        return MISSING if self.message is None else self.message.answer

    @property
    def usage(self) -> Usage | None:
        """What all messages cost together; `None` until a provider reports it."""
        known = [step.message.usage for step in self.steps if step.message.usage is not None]
        return sum(known, Usage()) if known else None

    @property
    def waiting(self) -> tuple[PendingResult, ...]:
        """The calls that a person must decide about."""
        return tuple([one for one in self.results if isinstance(one, PendingResult) and one.status == "waiting"])

    @property
    def is_over(self) -> bool:
        return self.outcome is not _STREAMING

    def to_json(self) -> str:
        """Return the run as JSON text, in a documented form that later versions read too."""
        return write_run_text(cast("Any", self))

    @staticmethod
    def from_json(text: object) -> Run:
        """Return the run that `to_json` wrote, from its text or from the parsed object."""
        return cast("Run", read_run(text, cast("Any", Run)))

    def __repr__(self) -> str:
        return f"<Run {self.outcome.name} {len(self.steps)} steps, {self.message!r}>"

    def advance(
        self,
        message: Message | None,
        results: tuple[Result, ...] = (),
        earlier: tuple[Step, ...] | None = None,
    ) -> Run:
        """Return the run with another last step, which is made when somebody looks at it."""
        run = Run()
        run.earlier = self.earlier if earlier is None else earlier
        run.message = message
        run.results = results
        run.id = self.id
        return run

    @classmethod
    def __class_getitem__(cls, item: object) -> GenericAlias:
        return GenericAlias(cls, (item,))
