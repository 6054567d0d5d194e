"""Patterns in, a lazily built automaton out: for each value of a document it knows which patterns match.

The patterns are stored as a trie of steps, so that a prefix that several share is followed once.
A `PatternState` is the set of trie nodes that a path leads to, and equal sets are one state: this is the usual
construction of a deterministic automaton, done for the keys and indices that documents really contain.
Start at `PatternSet.start`, the state of the root, and go down by `PatternState.member` and `PatternState.item`; keep
the states of the open containers on a stack, and drop one to go up.

Rule: memory depends on the patterns, never on the documents.
A transition is computed once and then stored, but all keys that no pattern names share one, and so do all indices.
Patterns like `**.a.*.*.*` can have far more states than steps, so the number of stored transitions is limited; beyond
that a transition is computed each time.

Patterns may be added and removed at any time, at a cost that does not depend on how many there are.
States that were reached before do not know of a new pattern (`EventFrame.find_pattern_state` looks them up again).
A removed pattern stays in the trie, and in what states want, where it is ignored, until half of the patterns there are
removed ones.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final

from jsontide._path import Path
from jsontide._pattern import AnyDepth, AnyItem, AnyKey, Item, Key, Pattern, Slice, Step

MAX_TRANSITIONS: Final = 10_000
"""Transitions that one set stores."""
_OTHER_INDEX: Final = -1
"""Stands for the indices that no pattern names and no slice contains."""
_ANY_KEY: Final = AnyKey()
_ANY_ITEM: Final = AnyItem()


class _TrieNode:
    """A prefix of patterns: which of them end here, and where one more step leads."""

    __slots__ = ("after", "deep", "has_index", "is_deep", "number", "spans", "wanted")

    def __init__(self, number: int, *, is_deep: bool) -> None:
        self.number: int = number
        self.is_deep: bool = is_deep  # the last step is `**`: every key and index also leads back here
        self.wanted: list[int] = []
        self.after: dict[Step, _TrieNode] = {}
        # Some of those steps again, so that a state need not search all of them.
        self.deep: _TrieNode | None = None  # after `**`, which may take no level at all
        self.spans: list[_Span] = []  # after slices
        self.has_index: bool = False


class _Span:
    """The indices of a slice, and the node that they lead to."""

    __slots__ = ("node", "start", "step", "stop")

    def __init__(self, part: Slice, node: _TrieNode) -> None:
        self.start: int = part.start
        self.stop: int = sys.maxsize if part.stop is None else part.stop
        self.step: int = part.step
        self.node: _TrieNode = node

    def has(self, index: int) -> bool:
        return self.start <= index < self.stop and (index - self.start) % self.step == 0


class PatternState:
    """What the patterns know about a value: values that match the same share one state.

    `is_dead` means that no pattern matches here or anywhere below.
    """

    __slots__ = ("_is_numbered", "_items", "_members", "_nodes", "_pattern_set", "_spans", "_wanted", "is_dead")

    def __init__(self, pattern_set: PatternSet, nodes: list[_TrieNode]) -> None:
        self._wanted: tuple[int, ...] | None = None
        self.is_dead: bool = not nodes
        self._pattern_set: PatternSet = pattern_set
        self._nodes: list[_TrieNode] = nodes
        self._spans: list[_Span] = [span for node in nodes for span in node.spans]
        self._is_numbered: bool = bool(self._spans) or any(node.has_index for node in nodes)
        self._members: dict[str, PatternState] = {}
        self._items: dict[int, PatternState] = {}

    @property
    def wanted(self) -> tuple[int, ...]:
        """The numbers of the patterns that match here, ascending."""
        wanted = self._wanted
        if wanted is None:
            wanted = self._wanted = tuple(sorted([number for node in self._nodes for number in node.wanted]))
        return wanted

    def member(self, key: str) -> PatternState:
        """Return the state of the member with this key."""
        known = self._members.get(key)
        if known is not None:
            return known
        if key not in self._pattern_set.keys:
            key = self._pattern_set.other_key
            known = self._members.get(key)
        return known if known is not None else self._compute_member(key)

    def item(self, index: int) -> PatternState:
        """Return the state of the element at this index."""
        label = self._label(index) if self._is_numbered else _OTHER_INDEX
        known = self._items.get(label)
        return known if known is not None else self._compute_item(label, index)

    def _label(self, index: int) -> int:
        """Return a number that indices share if they lead to one state: below zero for a set of slices, as bits."""
        if index in self._pattern_set.indices:
            return index
        label = _OTHER_INDEX
        bit = 1
        for span in self._spans:
            if span.has(index):
                label -= bit
            bit <<= 1
        return label

    def _compute_member(self, key: str) -> PatternState:
        if self.is_dead:
            return self
        state = self._pattern_set.state_of(self._nodes_below(Key(key), _ANY_KEY))
        if self._pattern_set.count_transition():
            self._members[key] = state
        return state

    def _compute_item(self, label: int, index: int) -> PatternState:
        if self.is_dead:
            return self
        found = self._nodes_below(Item(index), _ANY_ITEM)
        for span in self._spans:
            if span.has(index):
                _reach(found, span.node)
        state = self._pattern_set.state_of(found)
        if self._pattern_set.count_transition():
            self._items[label] = state
        return state

    def _nodes_below(self, exact: Step, any_of_them: Step) -> dict[int, _TrieNode]:
        """Return the nodes that a key or an index leads to, by their numbers, except those after slices."""
        found: dict[int, _TrieNode] = {}
        for node in self._nodes:
            if exact in node.after:
                _reach(found, node.after[exact])
            if any_of_them in node.after:
                _reach(found, node.after[any_of_them])
            if node.is_deep:
                _reach(found, node)
        return found


class PatternSet:
    """Patterns by number, and the states reached so far; `deltas` says which want strings as they grow."""

    __slots__ = (
        "_node_count",
        "_root",
        "_start",
        "_states",
        "_stored",
        "_transitions",
        "deltas",
        "indices",
        "keys",
        "other_key",
        "patterns",
    )

    def __init__(self) -> None:
        self.patterns: dict[int, Pattern] = {}
        self.deltas: dict[int, bool] = {}
        self.keys: set[str] = set()
        self.indices: set[int] = set()
        self.other_key: str = "_"  # greater than every key that was ever named, so none of them
        self._node_count: int = 0
        self._root: _TrieNode = self._new_node(is_deep=False)
        self._stored: int = 0  # patterns in the trie, removed ones included
        self._start: PatternState | None = None
        self._states: dict[tuple[int, ...], PatternState] = {}
        self._transitions: int = 0

    def add(self, number: int, pattern: Pattern, deltas: bool) -> None:
        """Add a pattern; its number is higher than all before."""
        self.patterns[number] = pattern
        self.deltas[number] = deltas
        self._insert(number, pattern)

    def remove(self, number: int) -> None:
        """Remove a pattern."""
        del self.patterns[number]
        del self.deltas[number]
        if 2 * len(self.patterns) <= self._stored:
            self._rebuild()

    def start(self) -> PatternState | None:
        """Return the state of the root, if anything can match."""
        state = self._start
        if state is None:
            found: dict[int, _TrieNode] = {}
            if self._root.after or self._root.wanted:
                _reach(found, self._root)
            state = self._start = self.state_of(found)
        return None if state.is_dead else state

    def state_of(self, found: dict[int, _TrieNode]) -> PatternState:
        """Return the state of a set of nodes."""
        numbers = tuple(sorted(found))
        state = self._states.get(numbers)
        if state is None:
            state = PatternState(self, list(found.values()))
            if self._transitions < MAX_TRANSITIONS:
                self._states[numbers] = state
        return state

    def count_transition(self) -> bool:
        """Return whether one more transition may be stored, and count it."""
        if self._transitions >= MAX_TRANSITIONS:
            return False
        self._transitions += 1
        return True

    def _rebuild(self) -> None:
        """Start a new trie, without the patterns that were removed."""
        self.keys = set()
        self.indices = set()
        self._root = self._new_node(is_deep=False)
        self._stored = 0
        self._forget_states()
        for number, pattern in self.patterns.items():
            self._insert(number, pattern)

    def _insert(self, number: int, pattern: Pattern) -> None:
        self._stored += 1
        if any(map(_is_empty, pattern)):
            return
        node = self._root
        for step in pattern:
            if isinstance(step, Key):
                self.keys.add(step.name)
                self.other_key = max(self.other_key, step.name + "_")
            elif isinstance(step, Item):
                self.indices.add(step.index)
            node = self._node_after(node, step)
        node.wanted.append(number)
        self._forget_states()

    def _forget_states(self) -> None:
        self._start = None
        self._states = {}
        self._transitions = 0

    def _node_after(self, node: _TrieNode, step: Step) -> _TrieNode:
        """Return the node after one more step, new or shared."""
        if node.is_deep and isinstance(step, AnyDepth):
            return node  # `**.**` is `**`
        known = node.after.get(step)
        if known is not None:
            return known
        after = self._new_node(is_deep=isinstance(step, AnyDepth))
        node.after[step] = after
        if isinstance(step, AnyDepth):
            node.deep = after
        elif isinstance(step, Slice):
            node.spans.append(_Span(step, after))
        elif isinstance(step, Item):
            node.has_index = True
        return after

    def _new_node(self, *, is_deep: bool) -> _TrieNode:
        self._node_count += 1
        return _TrieNode(self._node_count, is_deep=is_deep)


def _reach(found: dict[int, _TrieNode], node: _TrieNode) -> None:
    """Add a node, and the one that `**` leads to without taking a level."""
    found[node.number] = node
    if node.deep is not None:
        found[node.deep.number] = node.deep


def _is_empty(step: Step) -> bool:
    """Return whether it is a slice without indices: a pattern with one matches nowhere, and must not keep states."""
    return isinstance(step, Slice) and step.stop is not None and step.stop <= step.start


def path_matcher(pattern: Pattern) -> Callable[[Path], bool]:
    """Return a function that says whether a pattern matches a whole path."""
    patterns = PatternSet()
    patterns.add(0, pattern, deltas=False)
    start = patterns.start()

    def match(path: Path) -> bool:
        state = start
        for segment in path:
            if state is not None:
                state = state.member(segment) if isinstance(segment, str) else state.item(segment)
        return state is not None and bool(state.wanted)

    return match


NO_PATTERNS: Final = PatternSet()
"""For states without patterns; never add one to it."""
