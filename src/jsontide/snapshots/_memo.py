"""Values of one snapshot in, answers out: which of them wait to be filled, and which have changed.

Both are asked at each level on the way down to the value that grows.
Rule: no value is searched again at each level; an answer found deep inside holds for all containers around it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from jsontide._values import MISSING
from jsontide.snapshots._difference import find_difference
from jsontide.snapshots._json_types import OBJECT, STRING, TOO_DEEP, has_value_at, is_empty, json_type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_extensions import i64

_ID: Final[Any] = id  # of any type, so that the integer stays Python's: compiled code ends where it cannot make one
_MOST_SKELETON: Final = 1_000_000
"""Values in a skeleton; one that contains itself has more."""


class Memo:
    """Answers for the values of one snapshot, which does not change meanwhile."""

    __slots__ = ("_changed", "_visible", "empties_wait", "nulls_wait")

    def __init__(self, empties_wait: bool, nulls_wait: bool) -> None:
        self.empties_wait: bool = empties_wait  # empty strings, arrays and objects are not written before they fill
        self.nulls_wait: bool = nulls_wait  # null is not written before something else takes its place
        # By identity; holding the objects keeps their identities from being used again.
        self._visible: dict[Any, Any] = {}
        self._changed: dict[Any, list[Any]] = {}  # the value before, and now

    def is_visible(self, value: Any) -> bool:
        """Return whether a value is, or holds, anything that does not wait to be filled."""
        return not ((self.empties_wait or self.nulls_wait) and self._is_skeleton(value))

    def has_changed(self, before: Any, now: Any) -> bool:
        """Return whether a value differs from what it was."""
        known = self._changed.get(_ID(now))
        if known is not None and known[0] is before:
            return True
        found = find_difference(before, now)
        if found is None:
            return False
        for segment in found.path:
            self._changed[_ID(now)] = [before, now]
            if not (has_value_at(before, segment) and has_value_at(now, segment)):
                break
            before = before[segment]
            now = now[segment]
        return True

    def _is_skeleton(self, value: Any) -> bool:
        containers: list[Any] = []  # the containers around the current value
        left: list[Iterator[Any]] = [iter([value])]  # and the values left in each
        seen: i64 = 0
        while left:
            each: Any = next(left[-1], MISSING)
            if each is MISSING:
                left.pop()
                if containers:
                    containers.pop()
                continue
            kind = json_type(each)
            if kind <= OBJECT and kind != STRING and len(each) > 0 and _ID(each) not in self._visible:
                containers.append(each)
                left.append(iter(each.values()) if kind == OBJECT else iter(each))
            elif not self._waits(each):
                for container in containers:
                    self._visible[_ID(container)] = container
                return False
            seen += 1
            if seen > _MOST_SKELETON:
                raise ValueError(TOO_DEEP)
        return True

    def _waits(self, value: Any) -> bool:
        """Return whether a value is null or empty, and of a kind that waits."""
        if value is None:
            return self.nulls_wait
        return self.empties_wait and is_empty(value)
