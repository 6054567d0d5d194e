"""A pattern of a schema in, whether it matches in a text out, in time that is linear in the text.

Python's `re` backtracks: `(a+)+$` takes twice as long with each character, and cannot be interrupted.
The syntax tree of a pattern gives a bound for the backtracking; if that is too much for the length of a text, a
nondeterministic automaton follows all paths through the pattern at once, character by character.
Both find the same: the automaton uses `re` for each single character, and for assertions (`$`, `\\b`).

Rule: what no automaton can follow, such as `\\1`, is tried on short texts only; otherwise `TooComplexError` is raised.
"""

from __future__ import annotations

import re
from functools import lru_cache
from re import _compiler, _constants, _parser  # type: ignore[attr-defined]
from typing import Any, Final

_STEPS_PER_CHARACTER: Final = 1_000
"""How often `re` may backtrack for each character."""
_SHORT_LENGTH: Final = 12
"""The length of a text in which any pattern may be tried, unless it has very many ways through it."""
_FEW_WAYS: Final = 4
"""The least factor by which an exponential search grows with each character; a pattern may have more ways."""
_ANY_LENGTH: Final = 1 << 30
_MAX_EXPONENT: Final = 100
_MAX_NODES: Final = 2_000
_MAX_CACHED_PATTERNS: Final = 1_000
_MAX_CACHED_ANSWERS: Final = 12_000
_EXPONENTIAL: Final = 1_000_000
"""The exponent that stands for a search that may double with each character."""

_REPEATS: Final = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)
_LOOKS: Final = (_constants.ASSERT, _constants.ASSERT_NOT)
_ONE_CHARACTER: Final = (_constants.LITERAL, _constants.NOT_LITERAL, _constants.ANY, _constants.IN)


class TooComplexError(Exception):
    """A check would take too long; `expected` says what would be needed."""

    def __init__(self, expected: str) -> None:
        super().__init__(expected)
        self.expected = expected


class Regex:
    """A pattern that can be searched for in any text."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._quick = re.compile(pattern)
        tree = _parser.parse(pattern)
        self._power, self._choices = _bound(tree)
        if not _is_anchored(tree):
            self._power += 1
        self._ways = max(_FEW_WAYS, 1 + _count_ways(tree))
        self.is_linear = self._is_quick(_ANY_LENGTH)
        """Whether `re` can search texts of any length."""
        self._automaton = None if self.is_linear else _build_automaton(tree)

    @property
    def is_safe(self) -> bool:
        """Whether texts of any length can be searched."""
        return self.is_linear or (self._automaton is not None and self._automaton.is_quick(_ANY_LENGTH))

    def search(self, text: str) -> bool:
        """Return whether the pattern is found anywhere in a text."""
        if self.is_linear or self._is_quick(len(text)):
            return self._quick.search(text) is not None
        if self._automaton is None or not self._automaton.is_quick(len(text)):
            raise TooComplexError(f"a string that is short enough to try the pattern {self.pattern!r}")
        return self._automaton.search(text)

    def steps(self, length: int) -> int:
        """Return how often `re` may backtrack in a text, at most."""
        power: int = self._ways ** min(length, _MAX_EXPONENT) if self._power >= _EXPONENTIAL else length**self._power
        return self._choices * power

    def _is_quick(self, length: int) -> bool:
        if self._power >= _EXPONENTIAL:
            power: int = self._ways ** min(length, _MAX_EXPONENT)
            return power <= _FEW_WAYS**_SHORT_LENGTH
        return length <= _SHORT_LENGTH or self._choices * length ** (self._power - 1) <= _STEPS_PER_CHARACTER


@lru_cache(_MAX_CACHED_PATTERNS)
def get_regex(pattern: str) -> Regex:
    """Return what searches for a pattern; an invalid one raises `re.error`."""
    return Regex(pattern)


def _bound(items: Any) -> tuple[int, int]:
    """Return p and c so that trying a pattern at one place of a text of n characters takes at most c * n**p steps."""
    power, highest, choices = 0, 0, 1
    for kind, details in items:
        inner, branches = 0, 1
        if kind in _REPEATS:
            least, most, body = details
            inner, branches = _bound(body)
            if most > 1 and _varies(body):
                inner = _EXPONENTIAL
            elif most > 1 and (least != most or most > _STEPS_PER_CHARACTER):
                inner += 1
            elif least != most:
                branches += 1
        elif kind is _constants.BRANCH:
            costs = [_bound(branch) for branch in details[1]]
            inner, branches = max(each for each, _ in costs), sum(each for _, each in costs)
        elif kind in _LOOKS:
            # It is tried once; `re` does not backtrack into it.
            highest = max(highest, power + _bound(details[1])[0])
        else:
            inner, branches = _bound(_body(kind, details))
        power, choices = power + inner, choices * branches
    return min(max(power, highest), _EXPONENTIAL), choices


def _count_ways(items: Any) -> int:
    """Return how many ways on there are at most after a character: each repetition may end, each branch be taken."""
    ways = 0
    for kind, details in items:
        if kind in _REPEATS:
            ways += 1 + _count_ways(details[2])
        elif kind is _constants.BRANCH:
            ways += sum(1 + _count_ways(branch) for branch in details[1])
        else:
            ways += _count_ways(details[1] if kind in _LOOKS else _body(kind, details))
    return ways


def _body(kind: Any, details: Any) -> Any:
    """Return the parts inside a group; anything else has none."""
    if kind is _constants.SUBPATTERN:
        return details[3]
    if kind is _constants.ATOMIC_GROUP:
        return details
    if kind is _constants.GROUPREF_EXISTS:
        return [(_constants.BRANCH, (None, [details[1], details[2] or []]))]
    return []


def _varies(items: Any) -> bool:
    """Return whether there is more than one path through a pattern."""
    for kind, details in items:
        if kind in _REPEATS:
            least, most, body = details
            if least != most or _varies(body):
                return True
        elif kind is _constants.BRANCH or kind is _constants.GROUPREF or _varies(_body(kind, details)):
            return True
    return False


def _is_anchored(tree: Any) -> bool:
    """Return whether a pattern can only be found at the beginning of a text."""
    if not tree or tree.state.flags & re.MULTILINE:
        return False
    return tree[0] in ((_constants.AT, _constants.AT_BEGINNING), (_constants.AT, _constants.AT_BEGINNING_STRING))


class _NoAutomaton(Exception):  # noqa: N818 - it never leaves this module
    """A part of a pattern depends on more than the next character."""


def _build_automaton(tree: Any) -> _Automaton | None:
    try:
        return _Automaton(tree)
    except _NoAutomaton:
        return None


class _Automaton:
    """A pattern as a graph of nodes; reaching its end is a match."""

    def __init__(self, tree: Any) -> None:
        self._state = tree.state
        self._tests: list[re.Pattern[str] | None] = []
        """What has to match at a node, if anything."""
        self._takes: list[bool] = []
        """Whether a node consumes the character that it matches."""
        self._next: list[list[int]] = []
        self._answers: dict[tuple[int, str], bool] = {}
        self._power = 0
        """The exponent with which assertions may grow with the length of a text, at each character."""
        end = self._add_node([])
        self._start = self._add_sequence(tree, end)
        self._end = end

    def is_quick(self, length: int) -> bool:
        power: int = length**self._power
        return power <= _STEPS_PER_CHARACTER

    def search(self, text: str) -> bool:
        here: set[int] = set()
        for at in range(len(text) + 1):
            here.add(self._start)
            reached = self._reach(here, text, at)
            if self._end in reached:
                return True
            if at == len(text):
                return False
            character = text[at]
            here = {after for node in reached if self._answer(node, character) for after in self._next[node]}
        return False

    def _reach(self, nodes: set[int], text: str, at: int) -> list[int]:
        """Return the reachable nodes that consume a character, and the end if it is reached."""
        seen, todo, found = set(nodes), list(nodes), []
        while todo:
            node = todo.pop()
            test = self._tests[node]
            if self._takes[node] or node == self._end:
                found.append(node)
            elif test is None or test.match(text, at):
                for after in self._next[node]:
                    if after not in seen:
                        seen.add(after)
                        todo.append(after)
        return found

    def _answer(self, node: int, character: str) -> bool:
        known = self._answers.get((node, character))
        if known is None:
            test = self._tests[node]
            known = test is not None and test.match(character) is not None
            if len(self._answers) < _MAX_CACHED_ANSWERS:
                self._answers[node, character] = known
        return known

    def _add_node(self, following: list[int], test: Any = None, *, takes: bool = False) -> int:
        if len(self._next) >= _MAX_NODES:
            raise _NoAutomaton
        self._tests.append(test)
        self._takes.append(takes)
        self._next.append(following)
        return len(self._next) - 1

    def _add_sequence(self, items: Any, then: int) -> int:
        """Make nodes for a part of a pattern, from its end; return the first of them."""
        for item in reversed(list(items)):
            then = self._add_part(item, then)
        return then

    def _add_part(self, item: Any, then: int) -> int:
        kind, details = item
        if kind in _ONE_CHARACTER:
            return self._add_node([then], self._compile_alone(item), takes=True)
        if kind is _constants.AT:
            return self._add_node([then], self._compile_alone(item))
        if kind in _LOOKS:
            power, choices = _bound(details[1])
            if power < _EXPONENTIAL and choices <= _STEPS_PER_CHARACTER:
                self._power = max(self._power, power)
                return self._add_node([then], self._compile_alone(item))
        if kind is _constants.BRANCH:
            return self._add_node([self._add_sequence(branch, then) for branch in details[1]])
        if kind is _constants.SUBPATTERN and not details[1] and not details[2]:
            return self._add_sequence(details[3], then)
        if kind in (_constants.MAX_REPEAT, _constants.MIN_REPEAT):
            least, most, body = details
            return self._add_repeat(least, most, body, then)
        raise _NoAutomaton

    def _add_repeat(self, least: int, most: int, body: Any, then: int) -> int:
        if most == _constants.MAXREPEAT:
            again = self._add_node([])
            self._next[again] += [self._add_sequence(body, again), then]
            then = again
        else:
            for _ in range(most - least):
                then = self._add_node([self._add_sequence(body, then), then])
        for _ in range(least):
            then = self._add_sequence(body, then)
        return then

    def _compile_alone(self, item: Any) -> re.Pattern[str]:
        """Compile a part of a pattern by itself, with the flags of the whole."""
        pattern: re.Pattern[str] = _compiler.compile(_parser.SubPattern(self._state, [item]))
        return pattern
