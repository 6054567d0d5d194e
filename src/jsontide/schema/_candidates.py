"""The open containers of a document, and how each of them may be read.

A candidate is an open container read as one variant of its schema node, with what was found in it so far.
Most containers have one candidate; there are several while a union is undecided.
Alternatives are the candidates that one candidate of the container around has to choose from.
A candidate that fails leaves them, unless it is the last.

Rule: alternatives only shrink, and the values of a candidate are only added to.

A failure goes up: a candidate whose child has no candidates left fails too. It also goes down: what is inside a
candidate that is ruled out is ruled out with it. A mismatch is reported only if its candidate is the only one left:
ruling out a branch of a union is not an error. While an open scalar is checked, all changes go into a journal, and are
undone before anything else happens.
"""

from __future__ import annotations

from copy import deepcopy
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from jsontide._path import Path, Segment
from jsontide._values import JsonValue
from jsontide.schema._mismatch import MismatchReason, SchemaMismatch, name_container
from jsontide.schema._scalars import ScalarMismatch
from jsontide.schema._variants import ArrayVariant, EnumVariant, ObjectVariant, SchemaNode, Variant
from jsontide.tree import ParserState
from jsontide.tree.log import find_position
from jsontide.tree.views import Viewable, is_same

if TYPE_CHECKING:
    from mypy_extensions import i64

    from jsontide.tree.views import View

Values: TypeAlias = Any
"""A `list` for an array, a `dict` for an object; the container knows which."""


class Candidate(Viewable):
    """A container read by one variant."""

    __slots__ = ("failed", "finals", "has_hole", "replaced_at", "shown_in", "values", "variant", "waits")

    def __init__(self, variant: Variant, values: Values) -> None:
        super().__init__(None, 0)
        self.shown_in: Candidate | None = None  # the candidate around it, once both are shown; the same for good
        self.variant = variant
        self.values: Values = values  # what may be shown of its closed children
        self.finals: dict[Segment, JsonValue] | None = None  # children that have defaults in them at the end
        self.has_hole = False  # an item did not fit, so later ones would be shown at a wrong index
        self.replaced_at: i64 = 0  # the count when a member was replaced last
        self.failed = False  # something in it does not fit
        self.waits = variant.gates  # members that are to come before anything is shown

    def store(self, segment: Segment, value: JsonValue, final: JsonValue) -> None:
        """Store a closed child that may be shown."""
        values: Any = self.values
        if isinstance(values, dict):
            if segment in values:
                self._replace(segment)
            else:
                self.count += 1
            values[segment] = value
            if self.waits and isinstance(self.variant, ObjectVariant):
                self.waits -= {self.variant.first_key(cast("str", segment))}
        elif self.has_hole:
            return
        else:
            items: list[object] = values
            items.append(value)
            self.count += 1
        if final is not value:
            if self.finals is None:
                self.finals = {}
            self.finals[segment] = final

    def skip(self, segment: Segment) -> None:
        """Leave out a closed child that does not fit."""
        values: Any = self.values
        if not isinstance(values, dict):
            self.has_hole = True
        elif segment in values:
            self._replace(segment)
            del values[segment]

    def _replace(self, segment: Segment) -> None:
        """Forget a member whose key comes again, and with it what views show."""
        self.count += 1
        self.replaced_at = self.count
        if self.finals is not None:
            self.finals.pop(segment, None)

    def with_defaults(self) -> Values:
        """Return the values as they are at the end, with defaults for what did not come."""
        values: Any = self.values
        variant, finals = self.variant, self.finals
        if finals is None and (not isinstance(variant, ObjectVariant) or not variant.defaults):
            return values
        found = finals or {}
        if isinstance(values, list):
            return [found.get(at, value) for at, value in enumerate(values)] if found else values
        missing: dict[str, JsonValue] = {}
        if isinstance(variant, ObjectVariant):
            for key, default in variant.defaults.items():
                if not any(name in values for name in variant.names.get(key, (key,))):
                    missing[key] = deepcopy(default)
        return {**values, **found, **missing} if missing or found else values

    def place(self, around: Candidate, segment: Segment) -> None:
        """Note the candidate that it is shown in, and where."""
        self.shown_in = around
        self.depth = around.depth + 1
        self.key = segment if isinstance(segment, str) else None

    def outer(self) -> Viewable | None:
        return self.shown_in

    def new_view(self) -> View:
        values: Any = self.values
        return values.copy()

    def update_view(self, view: View, shown: i64) -> None:
        if isinstance(view, list):
            items: list[object] = self.values
            view[shown:] = items[shown:]
            return
        seen: dict[str, object] = view
        members: dict[str, object] = self.values
        new: i64 = self.count - shown
        complete: i64 = len(members) - new
        if shown < self.replaced_at or complete <= 0:
            seen.clear()
            seen.update(members)
            return
        if len(seen) > complete:
            seen.popitem()
        if new == 1:
            key = next(reversed(members))
            seen[key] = members[key]
        elif new > 1:
            seen.update(reversed(list(islice(reversed(members.items()), new))))

    def show_child(self, view: View, key: str | None, child: object) -> i64:
        if isinstance(view, list):
            view.append(child)
        else:
            view[key] = child
        return self.shown_beside(key)

    def shown_beside(self, key: str | None) -> i64:
        """Return how many complete values are shown with an open one of a key, -1 if that hides one."""
        if key is not None and key in self.values:
            return -1
        return self.count

    def is_shown_by(self, view: View, shown: i64) -> bool:
        values: Any = self.values
        if shown < self.replaced_at or len(view) != len(values):
            return False
        # All but the last are the same: they were complete when they were shown.
        return not view or is_same(_last(view), _last(values))


class Alternatives:
    """The candidates that one candidate of the container around can still choose from."""

    __slots__ = ("alive", "is_dead", "node", "parent")

    def __init__(self, parent: Candidate | None, node: SchemaNode, alive: list[Candidate]) -> None:
        self.parent = parent  # `None` for the document
        self.node = node
        self.alive = alive
        self.is_dead = False  # all of them failed at the same moment

    @property
    def is_decided(self) -> bool:
        return len(self.alive) == 1 and not self.is_dead

    @property
    def around(self) -> Candidate:
        return cast("Candidate", self.parent)

    @property
    def best(self) -> Candidate:
        """Of the candidates that fit a closed value, the one that shows most of it."""
        alive = self.alive
        return alive[0] if len(alive) == 1 else max(alive, key=lambda candidate: len(candidate.values))


class OpenContainer:
    """An open container, with a choice for each candidate of the container around."""

    __slots__ = ("candidates", "choices", "count", "errors_before", "node_id", "old", "seen", "segment", "start")

    def __init__(self, node_id: int, segment: Segment, start: int, choices: list[Alternatives]) -> None:
        self.node_id = node_id
        self.segment = segment  # in the container around
        self.start = start  # where it begins in the text
        self.choices = choices
        self.candidates = choices[0].alive if len(choices) == 1 else self.remaining()
        self.count = 0  # children so far
        self.errors_before = 0  # mismatches that were reported before it opened
        self.seen: set[str] | None = None  # their keys, where only the first of equal ones counts
        self.old: Values = None  # how an earlier resolution showed it, while that is replayed

    def remaining(self) -> list[Candidate]:
        """Return the candidates that are left in any of the choices."""
        if len(self.choices) == 1:
            return [] if self.choices[0].is_dead else self.choices[0].alive
        return list(
            dict.fromkeys(
                each for alternatives in self.choices if not alternatives.is_dead for each in alternatives.alive
            )
        )

    def alternatives_of(self, candidate: Candidate) -> Alternatives | None:
        """Return the alternatives that a candidate of the container around chooses from."""
        for alternatives in self.choices:
            if alternatives.parent is candidate:
                return alternatives
        return None

    def is_hidden(self, segment: Segment) -> bool:
        """Return whether an earlier member of the same key counts instead."""
        seen = self.seen
        if seen is None or not isinstance(segment, str):
            return False
        if segment in seen:
            return True
        seen.add(segment)
        return False


def is_same_value(old: Values, values: Values) -> bool:
    """Compare two containers whose containers are the same objects if they are equal."""
    if type(old) is not type(values) or len(old) != len(values):
        return False
    if isinstance(old, dict):
        return list(old) == list(values) and all(map(is_same, old.values(), values.values()))
    return all(map(is_same, old, values))


def _last(values: Values) -> object:
    if isinstance(values, list):
        return values[-1]
    members: dict[str, object] = values
    return members[next(reversed(members))]


class Rejection:
    """Something that a candidate does not allow, and after how many characters that was certain."""

    __slots__ = ("candidate", "is_sure", "mismatch", "offset")

    def __init__(self, offset: int, candidate: Candidate, mismatch: SchemaMismatch, *, is_sure: bool = True) -> None:
        self.offset = offset
        self.candidate = candidate
        self.mismatch = mismatch
        self.is_sure = is_sure  # no function of the program can still make the value fit


class CandidateStack:
    """The open containers, outermost first; the first stands for the document, whose only item is the root."""

    def __init__(self, node: SchemaNode, state: ParserState) -> None:
        self.state = state
        variant = ArrayVariant(kinds=frozenset({"array"}), expected="a document", prefix=(node,))
        self.document = Candidate(variant, [])
        self.containers = [OpenContainer(-1, 0, 0, [Alternatives(None, node, [self.document])])]
        self.errors: list[SchemaMismatch] = []
        self.open_errors: list[SchemaMismatch] = []  # those that only the open scalar shows
        self.has_doubts = False  # something was not shown that the validator may still accept
        self.is_journaling = False
        self.journal: list[tuple[Any, str, Any]] = []
        self.is_stale = False  # the chain of candidates that is shown may have changed
        self.same_count = 1  # how many containers are the same as when that chain was made
        self.shown: list[Candidate] = [self.document]  # that chain, outermost first

    def undo(self) -> None:
        """Take back what only the open scalar of the last state showed."""
        journal = self.journal
        self.invalidate()
        self.open_errors = []
        while journal:
            thing, name, value = journal.pop()
            setattr(thing, name, value)

    def update_shown(self) -> None:
        """Find the candidates that are shown."""
        same_count = self.same_count
        candidates = self.shown[:same_count]
        candidate = candidates[-1]
        # A chain that ended further out still ends there.
        for container in self.containers[same_count:] if len(candidates) == same_count else ():
            choices = container.choices
            alternatives = choices[0] if len(choices) == 1 else container.alternatives_of(candidate)
            if alternatives is None or alternatives.parent is not candidate or candidate.has_hole:
                break
            alive = alternatives.alive
            if len(alive) != 1 or alternatives.is_dead or alternatives.node.policy not in ("auto", "grow"):
                break
            candidate = alive[0]
            if candidate.waits or isinstance(candidate.variant, EnumVariant):
                break
            candidate.place(candidates[-1], container.segment)
            candidates.append(candidate)
        self.is_stale = False
        self.same_count = len(self.containers)
        self.shown = candidates

    def invalidate(self) -> None:
        """Note that the chain may have changed anywhere."""
        self.is_stale = True
        self.same_count = 1

    def reported_inside(self) -> list[Path]:
        """Return the paths of the mismatches in the innermost container, relative to it."""
        depth = len(self.containers) - 2  # those of the document and of the root have no segment in a path
        return [error.path[depth:] for error in self.errors[self.containers[-1].errors_before :]]

    def push(self, container: OpenContainer) -> None:
        container.errors_before = len(self.errors)
        self.containers.append(container)
        self.is_stale = True

    def pop(self) -> None:
        self.containers.pop()
        self.is_stale = True
        self.same_count = min(self.same_count, len(self.containers))

    def fail_in_turn(self, failures: list[Rejection]) -> None:
        """Let candidates of the innermost container fail in the order of the characters that show it."""
        for offset in sorted({failure.offset for failure in failures}):
            left = self.containers[-1].candidates
            self.fail([failure for failure in failures if failure.offset == offset and failure.candidate in left])

    def fail(self, failures: list[Rejection]) -> None:
        """Let candidates of the innermost container fail, all at one character, and all that depends on them."""
        self.invalidate()
        for failure in failures:
            self._set(failure.candidate, "failed", value=True)
        depth = len(self.containers) - 1
        found = list(failures)
        while depth > 0 and self._shrink(depth, found):
            depth -= 1
        for at in range(max(depth, 1), len(self.containers)):
            self._prune(self.containers[at], self.containers[at - 1].candidates)
        self._record(found)

    def build_mismatch(
        self, below: Path, misfit: ScalarMismatch, index: int, depth: int | None = None
    ) -> SchemaMismatch:
        """Return a mismatch below the innermost container, or below the one at a depth."""
        last = len(self.containers) if depth is None else depth + 1
        # The first segment is where the root stands in the document.
        path = (*(container.segment for container in self.containers[1:last]), *below)[1:]
        line, column = find_position(self.state, index)
        return SchemaMismatch(path, misfit.reason, misfit.expected, misfit.found, index, line, column)

    def _set(self, thing: Alternatives | OpenContainer | Candidate, name: str, *, value: object) -> None:
        if self.is_journaling:
            self.journal.append((thing, name, getattr(thing, name)))
        setattr(thing, name, value)

    def _shrink(self, depth: int, failures: list[Rejection]) -> bool:
        """Let failed candidates leave their alternatives; return whether a candidate of the container around failed."""
        has_failed = False
        container = self.containers[depth]
        for alternatives in container.choices:
            left = [candidate for candidate in alternatives.alive if not candidate.failed]
            if alternatives.is_dead or len(left) == len(alternatives.alive):
                continue
            if left:
                self._set(alternatives, "alive", value=left)
                continue
            if len(alternatives.alive) > 1:
                self._set(alternatives, "is_dead", value=True)
                is_sure = not alternatives.around.variant.has_before_validator
                failures.append(
                    Rejection(
                        0, alternatives.around, self._explain_branches(alternatives, container, depth), is_sure=is_sure
                    )
                )
            if not alternatives.around.failed:
                self._set(alternatives.around, "failed", value=True)
                has_failed = True
        return has_failed

    def _explain_branches(self, alternatives: Alternatives, container: OpenContainer, depth: int) -> SchemaMismatch:
        kind = name_container(alternatives.alive[0].values)
        found = f"{kind} that is neither" if len(alternatives.alive) == 2 else f"{kind} that is none of them"  # noqa: PLR2004
        misfit = ScalarMismatch(0, MismatchReason.NO_BRANCH, alternatives.node.expected, found)
        return self.build_mismatch((), misfit, container.start, depth)

    def _prune(self, container: OpenContainer, around: list[Candidate]) -> None:
        """Forget what is inside candidates that are ruled out."""
        choices = [alternatives for alternatives in container.choices if alternatives.parent in around]
        if len(choices) < len(container.choices):
            self._set(container, "choices", value=choices)
        self._set(container, "candidates", value=container.remaining())

    def _record(self, failures: list[Rejection]) -> None:
        sole: list[Candidate] = [self.document]
        for container in self.containers[1:]:
            alternatives = container.alternatives_of(sole[-1])
            if alternatives is None or not alternatives.is_decided:
                break
            sole.append(alternatives.alive[0])
        reported = [failure for failure in failures if failure.candidate in sole]
        # Inside a value that a function of the program changes first, only the check of that value knows what is wrong.
        sure = sole[: 1 + next((at for at, each in enumerate(sole) if each.variant.has_before_validator), len(sole))]
        found = [failure.mismatch for failure in reported if failure.is_sure and failure.candidate in sure]
        if len(found) < len(reported) and not self.is_journaling:
            self.has_doubts = True
        if self.is_journaling:
            self.open_errors = [*self.open_errors, *found]  # resolutions keep the list as it was
        else:
            self.errors += found
