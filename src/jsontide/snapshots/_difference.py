"""Two values in, the first place where they differ out; types count, the order of keys does not."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from jsontide._values import MISSING
from jsontide.snapshots._json_types import ARRAY, LITERAL, NUMBER, OBJECT, json_type
from jsontide.snapshots.serialize import number_text
from jsontide.text.numbers import is_integer

if TYPE_CHECKING:
    from mypy_extensions import i64

    from jsontide._path import Path, Segment


class Difference:
    """Where two values differ, and what each has there; `MISSING` for nothing."""

    __slots__ = ("before", "now", "path")

    def __init__(self, path: Path, before: Any, now: Any) -> None:
        self.path: Path = path
        self.before: Any = before
        self.now: Any = now


class _Pair:
    """Two values at the same path."""

    __slots__ = ("before", "now", "parent", "segment")

    def __init__(self, parent: _Pair | None, segment: Segment, before: Any, now: Any) -> None:
        self.parent: _Pair | None = parent
        self.segment: Segment = segment
        self.before: Any = before
        self.now: Any = now

    def to_difference(self) -> Difference:
        segments: list[Segment] = []
        pair = self
        while pair.parent is not None:
            segments.append(pair.segment)
            pair = pair.parent
        segments.reverse()
        return Difference(tuple(segments), self.before, self.now)


def find_difference(before: Any, now: Any) -> Difference | None:
    """Return the first difference, if there is one.

    >>> find_difference({"a": [1, 2], "b": ""}, {"b": "", "a": [1, 2.0]}).path
    ('a', 1)
    """
    pairs = [_Pair(None, 0, before, now)]
    while pairs:
        pair = pairs.pop()
        if pair.before is pair.now:
            continue
        if pair.before is MISSING or pair.now is MISSING:
            return pair.to_difference()
        kind = json_type(pair.before)
        if kind != json_type(pair.now):
            return pair.to_difference()
        if kind == OBJECT:
            pairs += _members(pair)
        elif kind == ARRAY:
            pairs += _items(pair)
        elif not _is_same_scalar(pair.before, pair.now, kind):
            return pair.to_difference()
    return None


def types_agree(before: Any, now: Any) -> bool:
    """Return whether two containers that are equal in Python are equal in JSON; `now` may have more values.

    >>> types_agree([1, {"a": True}], [1, {"a": True}]), types_agree([1, {"a": True}], [1, {"a": 1}])
    (True, False)
    """
    containers: list[Any] = [before, now]
    while containers:
        now = containers.pop()
        before = containers.pop()
        if isinstance(before, dict):
            now = [now[key] for key in before]
            before = before.values()
        for one, other in zip(before, now, strict=False):
            if one is other:
                continue
            kind = type(one)
            if kind is not type(other):
                return False
            if isinstance(one, (dict, list, tuple)):
                containers.append(one)
                containers.append(other)
            elif not one and str(one) != str(other):  # zeros with different signs
                return False
    return True


def _members(pair: _Pair) -> list[_Pair]:
    """Return the pairs of members, the first one last."""
    before: dict[str, Any] = pair.before
    now: dict[str, Any] = pair.now
    pairs = [_Pair(pair, key, before[key], now.get(key, MISSING)) for key in before]
    pairs += [_Pair(pair, key, MISSING, now[key]) for key in now if key not in before]
    pairs.reverse()
    return pairs


def _items(pair: _Pair) -> list[_Pair]:
    """Return the pairs of items, the first one last."""
    pairs = [
        _Pair(pair, index, before, now)
        for index, (before, now) in enumerate(zip_longest(pair.before, pair.now, fillvalue=MISSING))
    ]
    pairs.reverse()
    return pairs


def _is_same_scalar(before: Any, now: Any, kind: i64) -> bool:
    if kind == NUMBER:
        return _is_same_number(number_text(before), number_text(now))
    return before is now if kind == LITERAL else bool(before == now)


def _is_same_number(before: str, now: str) -> bool:
    """Return whether two lexemes are the same value: 1.0 and 1.00 are; 1 and 1.0 are not, nor 0.0 and -0.0."""
    if before == now:
        return True
    if is_integer(before) or is_integer(now) or before.startswith("-") != now.startswith("-"):
        return False
    try:
        return Decimal(before) == Decimal(now)
    except InvalidOperation:
        return False
