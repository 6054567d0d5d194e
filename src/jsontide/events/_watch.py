"""The patterns that a emitter looks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jsontide.events._match import Matcher

if TYPE_CHECKING:
    from jsontide._pattern import Pattern
    from jsontide.events._frames import Frame
    from jsontide.events._match import PatternState


class PatternSet:
    """Patterns, each by a number of its own; `deltas` tells which want strings as they grow, and not whole values.

    Patterns come and go, and tellers that look for them learn of it by `place_of`.
    Rule: one that comes or goes costs the same however many there are.
    One that is gone is left in the matcher, and in what is already wanted, where nobody asks for it any more, until
    half of them are gone.
    """

    __slots__ = ("_laid", "_matcher", "deltas", "patterns")

    def __init__(self) -> None:
        self.patterns: dict[int, Pattern] = {}
        self.deltas: dict[int, bool] = {}
        self._matcher: Matcher = Matcher()
        self._laid: int = 0  # patterns that the matcher has, with those that are gone

    def add(self, number: int, pattern: Pattern, deltas: bool) -> None:
        """Look for one more; its number is higher than those before."""
        self.patterns[number] = pattern
        self.deltas[number] = deltas
        self._matcher.add(number, pattern)
        self._laid += 1

    def remove(self, number: int) -> None:
        """Look for it no more."""
        del self.patterns[number]
        del self.deltas[number]
        if 2 * len(self.patterns) <= self._laid:
            self._matcher = Matcher()
            self._laid = len(self.patterns)
            for each, pattern in self.patterns.items():
                self._matcher.add(each, pattern)

    def start(self) -> PatternState | None:
        """Return the place of the root, if anything can match."""
        place = self._matcher.start
        return None if place.is_dead else place

    def place_of(self, frame: Frame) -> PatternState | None:
        """Return the place of an open container, if anything can match in it; that of the one around is known."""
        parent = frame.parent
        if parent is None or parent.parent is None:
            return self.start()
        if parent.place is None:
            return None
        place = parent.place.item(frame.index) if frame.own_key is None else parent.place.member(frame.own_key)
        return None if place.is_dead else place


NO_PATTERNS: Final = PatternSet()
"""For those who have no patterns, and never add one."""
