"""The patterns that a teller looks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jsontide.events._match import Matcher

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jsontide._pattern import Pattern
    from jsontide.events._frames import Frame
    from jsontide.events._match import Place


class Watch:
    """Patterns in order, each with an id that stays its own when others come and go.

    `deltas` tells which of them want strings as they grow, and not values when they are whole.
    """

    __slots__ = ("deltas", "ids", "patterns", "start")

    def __init__(self, ids: Sequence[int], patterns: Sequence[Pattern], deltas: Sequence[bool]) -> None:
        self.ids: tuple[int, ...] = tuple(ids)
        self.patterns: tuple[Pattern, ...] = tuple(patterns)
        self.deltas: list[bool] = list(deltas)
        place = Matcher(self.patterns).start
        self.start: Place | None = None if place.is_dead else place  # of the root, if anything can match

    def place_of(self, frame: Frame) -> Place | None:
        """Return the place of an open container, if anything can match in it; that of the one around is known."""
        parent = frame.parent
        if parent is None or parent.parent is None:
            return self.start
        if parent.place is None:
            return None
        place = parent.place.item(frame.index) if frame.own_key is None else parent.place.member(frame.own_key)
        return None if place.is_dead else place

    def renumbered(self, numbers: tuple[int, ...], before: Watch) -> tuple[int, ...]:
        """Return the numbers that patterns have here instead of those before; some may be gone."""
        if self is before:
            return numbers
        here = {identity: number for number, identity in enumerate(self.ids)}
        found = [here[before.ids[number]] for number in numbers if before.ids[number] in here]
        return tuple(found)


NOTHING_WATCHED: Final = Watch((), (), ())
