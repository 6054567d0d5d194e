"""What somebody knows who gets nothing but the events of a message or run, and whether they keep their promises."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from jsontide.messages import (
    ArgumentsDelta,
    CallFailed,
    CallFinished,
    CallStarted,
    Finished,
    PartAdded,
    ReasoningDelta,
    RefusalDelta,
    ServerCallFinished,
    TextDelta,
    TextFinished,
    TextStarted,
    UsageChanged,
)
from jsontide.runs import ResultFinished, ResultProgress, StepStarted

Place = tuple[int, int]
"""Of a part: its step, and its index there."""


@dataclass
class Known:
    """A message as its events tell it; two that know the same are equal, however the events were cut."""

    texts: dict[tuple[int, int, str], str] = field(default_factory=dict)
    """By step, part and kind."""
    calls: dict[tuple[Place, bool], list[Any]] = field(default_factory=dict)
    """By part, and whether the provider runs them: name, arguments, and how it ended.

    Not by id: one provider changes it meanwhile, and events keep the first.
    """
    added: dict[Place, type] = field(default_factory=dict)
    results: dict[str | None, Any] = field(default_factory=dict)
    usage: Any = None
    steps: int = 0
    ends: list[Any] = field(default_factory=list)
    open: dict[str, Any] = field(default_factory=dict, compare=False)
    """By id: what must end."""

    def take(self, events: Iterable[Any]) -> "Known":
        for event in events:
            assert not self.ends, "nothing comes after the end"
            if hasattr(event, "part"):
                self._take_part(event, (self.steps, event.part))
            else:
                self._take(event)
        return self

    def _take_part(self, event: Any, place: Place) -> None:
        match event:
            case TextStarted():
                self._start(event.id, None)
            case CallStarted(_, name, _, on_server):
                assert (place, on_server) not in self.calls
                self._start(event.id, self.calls.setdefault((place, on_server), [name, "", None]))
            case TextDelta(_, text) | ReasoningDelta(_, text) | RefusalDelta(_, text):
                assert event.id in self.open
                assert text
                key = (*place, type(event).__name__)
                self.texts[key] = self.texts.get(key, "") + text
            case ArgumentsDelta(_, text):
                self.open[event.id][1] += text
            case TextFinished():
                assert self.open.pop(event.id) is None
            case CallFinished() | CallFailed() | ServerCallFinished():
                call = self.open.pop(event.id)
                call[2] = event.status if isinstance(event, CallFailed) else type(event).__name__
            case PartAdded(added):
                assert place not in self.added
                self.added[place] = type(added)
            case _:
                raise AssertionError(event)

    def _start(self, name: str, what: Any) -> None:
        assert name not in self.open
        self.open[name] = what

    def _take(self, event: Any) -> None:
        match event:
            case UsageChanged(usage):
                assert usage != self.usage
                self.usage = usage
            case StepStarted():
                assert not self.open, "what starts in a step ends in it"
                self.steps += 1
            case ResultProgress(result) | ResultFinished(result):
                assert result is not self.results.get(result.call.id)
                self.results[result.call.id] = result
            case Finished(outcome):
                assert not self.open
                self.ends.append(outcome)
            case _:
                raise AssertionError(event)

    def joined(self, kind: type) -> str:
        """All text of a kind, in the order of the parts."""
        return "".join(self.texts[key] for key in sorted(self.texts) if key[2] == kind.__name__)
