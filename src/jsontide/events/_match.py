"""Many patterns in, a walk down a document out: at every place it is known which patterns match.

A walk begins at `Matcher.start`, the place of the root, and goes down by `PatternState.member` and `PatternState.item`.
Whoever walks keeps the places of the open containers on a stack, and goes up by dropping one.
Patterns are laid into a tree of steps, so that what they begin with in common is walked once.
A place is the set of nodes of that tree that a path leads to, and equal sets are one place.

Rule: what is remembered follows the patterns, never the documents.
A way down is looked for once and then remembered, but all keys that no pattern names share one way, and so do indices.
Patterns may be added while documents are walked down; places that were reached before do not know of them.
Patterns like `**.a.*.*.*` can have far more places than steps, so the number of remembered ways has a bound; beyond it
a way is looked for each time.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from jsontide._pattern import AnyDepth, AnyItem, AnyKey, Item, Key, Pattern, Slice, Step

MOST_WAYS: Final = 10_000
"""Ways down that one matcher remembers."""
_OTHER_INDEX: Final = -1
"""Stands for the indices that no pattern names and no slice has."""
_ANY_KEY: Final = AnyKey()
_ANY_ITEM: Final = AnyItem()


class _Node:
    """A beginning of patterns: which of them end here, and where one more step leads."""

    __slots__ = ("after", "deep", "has_index", "is_deep", "number", "spans", "wanted")

    def __init__(self, number: int, *, is_deep: bool) -> None:
        self.number: int = number
        self.is_deep: bool = is_deep  # the last step is `**`: every way down also leads back here
        self.wanted: list[int] = []
        self.after: dict[Step, _Node] = {}
        # Some of those steps again, so that a place need not look through all of them.
        self.deep: _Node | None = None  # after `**`, which may take no level at all
        self.spans: list[_Span] = []  # after slices
        self.has_index: bool = False


class _Span:
    """The indices of a slice, and the node that they lead to."""

    __slots__ = ("node", "start", "step", "stop")

    def __init__(self, part: Slice, node: _Node) -> None:
        self.start: int = part.start
        self.stop: int = sys.maxsize if part.stop is None else part.stop
        self.step: int = part.step
        self.node: _Node = node

    def has(self, index: int) -> bool:
        return self.start <= index < self.stop and (index - self.start) % self.step == 0


class PatternState:
    """A value in a document, as far as patterns tell it from others.

    `is_dead` says that no pattern matches here or anywhere below.
    """

    __slots__ = ("_is_numbered", "_items", "_matcher", "_members", "_nodes", "_spans", "_wanted", "is_dead")

    def __init__(self, matcher: Matcher, nodes: list[_Node]) -> None:
        self._wanted: tuple[int, ...] | None = None
        self.is_dead: bool = not nodes
        self._matcher: Matcher = matcher
        self._nodes: list[_Node] = nodes
        self._spans: list[_Span] = [span for node in nodes for span in node.spans]
        self._is_numbered: bool = bool(self._spans) or any(node.has_index for node in nodes)
        self._members: dict[str, PatternState] = {}
        self._items: dict[int, PatternState] = {}

    @property
    def wanted(self) -> tuple[int, ...]:
        """The patterns that match here, by their numbers, ascending."""
        wanted = self._wanted
        if wanted is None:
            wanted = self._wanted = tuple(sorted([number for node in self._nodes for number in node.wanted]))
        return wanted

    def member(self, key: str) -> PatternState:
        """Return the place of the member of a key."""
        known = self._members.get(key)
        return known if known is not None else self._new_or_other_member(key)

    def item(self, index: int) -> PatternState:
        """Return the place of the element of an index."""
        label = self._label(index) if self._is_numbered else _OTHER_INDEX
        known = self._items.get(label)
        return known if known is not None else self._learn_item(label, index)

    def _new_or_other_member(self, key: str) -> PatternState:
        if key in self._matcher.keys:
            return self._learn_member(key)
        other = self._matcher.other_key
        known = self._members.get(other)
        return known if known is not None else self._learn_member(other)

    def _label(self, index: int) -> int:
        """Return a number that indices share if they lead to one place: below zero for a set of slices, as bits."""
        if index in self._matcher.indices:
            return index
        label = _OTHER_INDEX
        bit = 1
        for span in self._spans:
            if span.has(index):
                label -= bit
            bit <<= 1
        return label

    def _learn_member(self, key: str) -> PatternState:
        if self.is_dead:
            return self
        place = self._matcher.place_of(self._below(Key(key), _ANY_KEY))
        if self._matcher.takes_way():
            self._members[key] = place
        return place

    def _learn_item(self, label: int, index: int) -> PatternState:
        if self.is_dead:
            return self
        found = self._below(Item(index), _ANY_ITEM)
        for span in self._spans:
            if span.has(index):
                _reach(found, span.node)
        place = self._matcher.place_of(found)
        if self._matcher.takes_way():
            self._items[label] = place
        return place

    def _below(self, exact: Step, any_of_them: Step) -> dict[int, _Node]:
        """Return the nodes that a key or an index leads to, by their numbers, but for those after slices."""
        found: dict[int, _Node] = {}
        for node in self._nodes:
            if exact in node.after:
                _reach(found, node.after[exact])
            if any_of_them in node.after:
                _reach(found, node.after[any_of_them])
            if node.is_deep:
                _reach(found, node)
        return found


class Matcher:
    """Patterns, each with a number, and the places that walks have come to."""

    __slots__ = ("_node_count", "_places", "_root", "_start", "_ways", "indices", "keys", "other_key")

    def __init__(self, patterns: Sequence[Pattern] = ()) -> None:
        self.keys: set[str] = set()
        self.indices: set[int] = set()
        self.other_key: str = "_"  # greater than all that are named, so none of them
        self._node_count: int = 0
        self._places: dict[tuple[int, ...], PatternState] = {}
        self._ways: int = 0
        self._root: _Node = self._new_node(is_deep=False)
        self._start: PatternState | None = None
        for number, pattern in enumerate(patterns):
            self.add(number, pattern)

    @property
    def start(self) -> PatternState:
        """The place of the root."""
        if self._start is None:
            found: dict[int, _Node] = {}
            if self._root.after or self._root.wanted:
                _reach(found, self._root)
            self._start = self.place_of(found)
        return self._start

    def add(self, number: int, pattern: Pattern) -> None:
        """Look for one more pattern, in walks that begin now."""
        if any(map(_is_empty, pattern)):
            return
        for step in pattern:
            if isinstance(step, Key):
                self.keys.add(step.name)
                self.other_key = max(self.other_key, step.name + "_")
            elif isinstance(step, Item):
                self.indices.add(step.index)
        self._lay(self._root, pattern).wanted.append(number)
        self._start = None
        self._places = {}
        self._ways = 0

    def place_of(self, found: dict[int, _Node]) -> PatternState:
        """Return the place of a set of nodes."""
        numbers = tuple(sorted(found))
        place = self._places.get(numbers)
        if place is None:
            place = PatternState(self, list(found.values()))
            if self._ways < MOST_WAYS:
                self._places[numbers] = place
        return place

    def takes_way(self) -> bool:
        """Tell whether one more way down may be remembered, and count it."""
        if self._ways >= MOST_WAYS:
            return False
        self._ways += 1
        return True

    def _lay(self, node: _Node, pattern: Pattern) -> _Node:
        for step in pattern:
            node = self._node_after(node, step)
        return node

    def _node_after(self, node: _Node, step: Step) -> _Node:
        """Return the node after one more step, new or shared."""
        if node.is_deep and isinstance(step, AnyDepth):
            return node  # `**.**` is `**`
        known = node.after.get(step)
        return known if known is not None else self._add_node_after(node, step)

    def _add_node_after(self, node: _Node, step: Step) -> _Node:
        after = self._new_node(is_deep=isinstance(step, AnyDepth))
        node.after[step] = after
        if isinstance(step, AnyDepth):
            node.deep = after
        elif isinstance(step, Slice):
            node.spans.append(_Span(step, after))
        elif isinstance(step, Item):
            node.has_index = True
        return after

    def _new_node(self, *, is_deep: bool) -> _Node:
        self._node_count += 1
        return _Node(self._node_count, is_deep=is_deep)


def _reach(found: dict[int, _Node], node: _Node) -> None:
    """Add a node, and the one that `**` leads to without taking a level."""
    found[node.number] = node
    if node.deep is not None:
        found[node.deep.number] = node.deep


def _is_empty(step: Step) -> bool:
    """Tell a slice without indices: a pattern with one matches nowhere, and must not keep places alive."""
    return isinstance(step, Slice) and step.stop is not None and step.stop <= step.start
