"""What was found out about the values of one snapshot: which of them wait to be filled, and which have changed.

Both are asked at each level on the way down to what grows.
Rule: no value is looked through again at each level; where something was found deep inside, all that is around it
is known too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from jsontide._values import MISSING
from jsontide.snapshots._difference import difference
from jsontide.snapshots._kinds import ENDLESS, OBJECT, STRING, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_extensions import i64

_MOST_SKELETON: Final = 1_000_000
"""Values of a skeleton; one that contains itself has more."""


class Memo:
    """Answers for the values of one step, none of which changes meanwhile."""

    __slots__ = ("_changed", "_visible", "empties_wait", "nulls_wait")

    def __init__(self, empties_wait: bool, nulls_wait: bool) -> None:
        self.empties_wait: bool = empties_wait  # empty strings, arrays and objects are not written before they fill
        self.nulls_wait: bool = nulls_wait  # nor is null before something else takes its place
        # By identity, and with the objects themselves, so that no other can have it.
        self._visible: dict[int, Any] = {}
        self._changed: dict[int, list[Any]] = {}  # what it was, and what it is

    def is_visible(self, value: Any) -> bool:
        """Tell whether a value is, or holds, anything but what waits to be filled."""
        return not ((self.empties_wait or self.nulls_wait) and self._is_hollow(value))

    def has_changed(self, before: Any, now: Any) -> bool:
        """Tell whether a value is not as it was."""
        known = self._changed.get(id(now))
        if known is not None and known[0] is before:
            return True
        found = difference(before, now)
        if found is None:
            return False
        for segment in found.path:
            self._changed[id(now)] = [before, now]
            if not _hold(before, now, segment):
                break
            before = before[segment]
            now = now[segment]
        return True

    def _is_hollow(self, value: Any) -> bool:
        containers: list[Any] = []  # those around what is looked at
        left: list[Iterator[Any]] = [iter([value])]  # and what is left to look at in each
        seen: i64 = 0
        while left:
            each: Any = next(left[-1], MISSING)
            if each is MISSING:
                left.pop()
                if containers:
                    containers.pop()
                continue
            kind = kind_of(each)
            if kind <= OBJECT and kind != STRING and len(each) > 0 and id(each) not in self._visible:
                containers.append(each)
                left.append(iter(each.values()) if kind == OBJECT else iter(each))
            elif not self._waits(each):
                for container in containers:
                    self._visible[id(container)] = container
                return False
            seen += 1
            if seen > _MOST_SKELETON:
                raise ValueError(ENDLESS)
        return True

    def _waits(self, value: Any) -> bool:
        """Tell whether a value that holds nothing waits to be filled; one that holds something does not."""
        if value is None:
            return self.nulls_wait
        return self.empties_wait and kind_of(value) <= OBJECT and len(value) == 0


def _hold(before: Any, now: Any, segment: Any) -> bool:
    """Tell whether two containers of one kind both have a value there."""
    if isinstance(before, dict):
        return segment in before and segment in now
    return bool(segment < len(before) and segment < len(now))
