"""The log of a parser state in, a resolution through the schema out: a fold over nodes that visits each node once.

A fold follows one stream, and only the newest resolution may advance it; continuing from an older one starts another.
Nodes come in the order in which they open; a container has closed when the log continues outside of it.
An open scalar is not in the log: it is checked last, and its consequences are undone before the next step.

A candidate is an open container read as one variant of its schema node, with the values found in it so far.
Most containers have one candidate; there are several while a union is undecided.
Alternatives are the candidates that one candidate of the container around has to choose from.
A candidate that fails leaves them, unless it is the last.
A failure goes up: a candidate whose child has no candidates left fails too. It also goes down: what is inside a
candidate that is ruled out is ruled out with it. A mismatch is reported only if its candidate is the only one left:
ruling out a branch of a union is not an error. While an open scalar is checked, all changes go into a journal, and are
undone before anything else happens.

Rules: alternatives only shrink, and the values of a candidate are only added to.
Failures at the same character count at once, failures at different characters in their order; so it makes no
difference how the text was cut.
"""

from __future__ import annotations

from copy import deepcopy
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from jsontide._path import Path, Segment
from jsontide._values import MISSING, JsonValue, Missing
from jsontide.schema._mismatch import MismatchReason, SchemaMismatch, name_container
from jsontide.schema._validator import Memory, Violation, drop_reported, locate
from jsontide.schema._variants import (
    ArrayVariant,
    EnumVariant,
    Length,
    ObjectVariant,
    ScalarMismatch,
    SchemaNode,
    Variant,
    check_open_scalar,
    check_scalar,
    open_variants,
)
from jsontide.tree import ParserState
from jsontide.tree.log import Log, OpenScalar, find_position, open_scalar
from jsontide.tree.tape import Container, ObjectContainer
from jsontide.tree.views import NO_STRING, View, Viewable, ViewChain, ViewPool, is_same

if TYPE_CHECKING:
    from mypy_extensions import i64


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
        """Return the final values, with defaults for missing members."""
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
        """The candidate that shows most of a closed value, among those that fit it."""
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
        """Let candidates of the innermost container fail at one character, and all that depend on them."""
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
        """Forget the candidates inside those that are ruled out."""
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
        # Inside a value that a function of the program changes first, only the check of that value knows the problem.
        sure = sole[: 1 + next((at for at, each in enumerate(sole) if each.variant.has_before_validator), len(sole))]
        found = [failure.mismatch for failure in reported if failure.is_sure and failure.candidate in sure]
        if len(found) < len(reported) and not self.is_journaling:
            self.has_doubts = True
        if self.is_journaling:
            self.open_errors = [*self.open_errors, *found]  # resolutions keep the list as it was
        else:
            self.errors += found


class SchemaFold:
    """Where the fold stands."""

    __slots__ = ("is_settled", "length", "memory", "stack", "step", "text_count", "text_node", "views")

    def __init__(self, node: SchemaNode, state: ParserState) -> None:
        self.stack = CandidateStack(node, state)
        self.length = 0  # nodes of the log that are folded
        self.step = 0  # resolutions made
        self.views = ViewPool(self.stack.document)
        self.text_count = 0  # open strings that were shown; the last of them has this number
        self.text_node = -1  # the node of that one
        self.is_settled = False  # nothing new can show before something opens or closes
        self.memory = Memory()

    def advance(self, state: ParserState) -> None:
        """Fold the nodes that are new in a state."""
        stack = self.stack
        stack.state = state
        if stack.journal:
            stack.undo()
        log = Log(state)
        if log.length > self.length or log.top_id != stack.containers[-1].node_id:
            self._fold(log)
        scalar = open_scalar(state)
        self.is_settled = scalar is None or self._look_at(scalar)
        if stack.is_stale:
            stack.update_shown()
        self.views.top = stack.shown[-1]
        if scalar is not None and self._is_shown(scalar):
            self._show_text(scalar)
        else:
            self.views.text_id = NO_STRING

    def show(self) -> JsonValue | Missing:
        """Return the value as it is now."""
        views = self.views
        if not views.newest.shows(views):
            views.switch()  # the last resolution still holds what the newest views show
        document = cast("list[JsonValue]", views.newest.document)
        return document[0] if document else MISSING

    def grow(self, state: ParserState) -> JsonValue | Missing:
        """Return the value at a state that adds nothing but more of the open string, if that is shown."""
        self.views.piece_count = state._piece_count
        return self.show()

    def replay(self, state: ParserState, value: JsonValue | Missing) -> None:
        """Fold from the start up to a state that was resolved before, with the objects that were shown then."""
        stack = self.stack
        stack.containers[0].old = [] if value is MISSING else [value]
        self.advance(state)
        self._take_over([container.old for container in stack.containers[: len(stack.shown)]])
        for container in stack.containers:
            container.old = None

    def _take_over(self, old: list[Values]) -> None:
        """Continue with views that were made before, if they show just the open path of now."""
        candidates, views = self.stack.shown, self.views
        if None in old or candidates[-1].replaced_at:
            return
        shown: list[int] = [around.shown_beside(each.key) for around, each in pairwise(candidates)]
        key = None if views.text_id == NO_STRING else views.key
        chain = ViewChain([*candidates], old, shown, candidates[-1].shown_beside(key))
        if views.text_id != NO_STRING:
            chain.take_text(views)
        if chain.shows(views):
            views.newest = chain

    def _show_text(self, scalar: OpenScalar) -> None:
        """Let the views show the open string.

        Pieces are counted in one list: where another tape has cut the text of a node elsewhere, it is another string.
        """
        views = self.views
        is_same_node = scalar.node_id == self.text_node and views.text_id != NO_STRING
        if not is_same_node or scalar.pieces is not views.pieces:
            self.text_count += 1
            if is_same_node and views.newest.text_id == views.text_id:
                views.newest.recut_text(scalar.text(), self.text_count, scalar.piece_count)
            self.text_node = scalar.node_id
            views.text_id = self.text_count
            views.key = scalar.key
            views.pieces = scalar.pieces
        views.piece_count = scalar.piece_count

    def _fold(self, log: Log) -> None:
        containers = self.stack.containers
        owners, keys, entries = log.owners, log.keys, log.entries
        for node_id in range(self.length, log.length):
            owner_id = owners[node_id].node_id
            container = containers[-1]
            while container.node_id != owner_id:
                self._close(log)
                container = containers[-1]
            key = keys[node_id]
            segment: Segment = container.count if key is None else key
            container.count += 1
            entry = entries[node_id]
            if container.seen is not None and container.is_hidden(segment):
                if isinstance(entry, Container):  # all that is in it is hidden too
                    self.stack.push(OpenContainer(node_id, segment, log.start_of(node_id), []))
            elif isinstance(entry, Container):
                self._open(container, node_id, segment, log)
            else:
                self._add_scalar(container, segment, entry, log.start_of(node_id))
        self.length = log.length
        while containers[-1].node_id != log.top_id:
            self._close(log)

    def _open(self, container: OpenContainer, node_id: int, segment: Segment, log: Log) -> None:
        is_object = isinstance(log.entries[node_id], ObjectContainer)
        start = log.start_of(node_id)
        choices = _sole_choice(container, segment, is_object=is_object) or self._find_choices(
            container, segment, start, is_object=is_object
        )
        opened = OpenContainer(node_id, segment, start, choices)
        if is_object and log.keeps_first:
            opened.seen = set()
        if container.old is not None:
            opened.old = _shown_before(container.old, segment, is_object=is_object)
        self.stack.push(opened)

    def _find_choices(
        self, container: OpenContainer, segment: Segment, start: int, *, is_object: bool
    ) -> list[Alternatives]:
        """Return what each candidate around can choose from for a container that opens."""
        choices: list[Alternatives] = []
        failures: list[Rejection] = []
        made: dict[Variant, Candidate] = {}
        for candidate in container.candidates:
            node = candidate.variant.node_at(segment)
            variants: tuple[Variant, ...] = ()
            if node is not None:
                variants = node.objects if is_object else node.arrays
            for variant in variants:
                if variant not in made:
                    made[variant] = Candidate(variant, {} if is_object else [])
            if node is not None and variants:
                choices.append(Alternatives(candidate, node, [made[variant] for variant in variants]))
                continue
            if node is None:
                misfit = _explain_extra(candidate)
            else:
                kind = "an object" if is_object else "an array"
                misfit = ScalarMismatch(0, MismatchReason.WRONG_TYPE, node.expected, kind)
            if misfit is not None:
                candidate.skip(segment)
                is_sure = not candidate.variant.has_before_validator and not (
                    node is not None and node.has_before_validator
                )
                mismatch = self.stack.build_mismatch((segment,), misfit, start)
                failures.append(Rejection(0, candidate, mismatch, is_sure=is_sure))
        if failures:
            self.stack.fail(failures)
            choices = [alternatives for alternatives in choices if alternatives.parent in container.candidates]
        return choices

    def _add_scalar(self, container: OpenContainer, segment: Segment, value: Any, start: int) -> None:
        """Store a closed scalar; most are of a type that always fits."""
        candidates = container.candidates
        if len(candidates) == 1:
            sole = candidates[0]
            known = sole.variant.node_at(segment)
            if known is not None and type(value) in known.free:
                if sole.waits:
                    self.stack.invalidate()
                sole.store(segment, value, value)
                return
        self._add_checked_scalar(container, segment, value, start)

    def _add_checked_scalar(self, container: OpenContainer, segment: Segment, value: Any, start: int) -> None:
        """Store a closed scalar, or report why it does not fit."""
        failures: list[Rejection] = []
        for candidate in container.candidates:
            node = candidate.variant.node_at(segment)
            if node is None:
                misfit = _explain_extra(candidate)
            else:
                shown, misfit = check_scalar(node, value, self.memory)
                if misfit is None:
                    if candidate.waits:
                        self.stack.invalidate()
                    candidate.store(segment, shown, shown)
            if misfit is None:
                continue
            if misfit.was_shown:
                candidate.store(segment, value, value)
            else:
                candidate.skip(segment)
            mismatch = self.stack.build_mismatch((segment,), misfit, start - isinstance(value, str))
            failures.append(Rejection(misfit.offset, candidate, mismatch, is_sure=_is_sure(candidate, node)))
        if failures:
            self.stack.fail_in_turn(failures)

    def _look_at(self, scalar: OpenScalar) -> bool:
        """Check the beginning of an open scalar; return whether its verdict is settled until it closes."""
        container = self.stack.containers[-1]
        segment: Segment = container.count if scalar.key is None else scalar.key
        candidates = container.candidates
        if len(candidates) == 1:
            known = candidates[0].variant.node_at(segment)
            if known is not None and known.longest < 0 and scalar.kind in known.takes:
                return True
        is_text = scalar.kind == "string"
        is_settled = True
        failures: list[Rejection] = []
        self.stack.is_journaling = True
        for candidate in candidates:
            node = candidate.variant.node_at(segment)
            if node is None:
                misfit = _explain_extra(candidate)
            else:
                longest = node.longest
                text = scalar.beginning(longest + 1) if is_text else ""
                is_settled = is_settled and (not is_text or longest < 0 or len(text) > longest)
                misfit = check_open_scalar(node, scalar.kind, text)
            if misfit is not None:
                mismatch = self.stack.build_mismatch((segment,), misfit, scalar.start - is_text)
                failures.append(Rejection(misfit.offset, candidate, mismatch, is_sure=_is_sure(candidate, node)))
        if failures:
            self.stack.fail_in_turn(failures)
        self.stack.is_journaling = False
        return is_settled

    def _is_shown(self, scalar: OpenScalar) -> bool:
        """Return whether an open scalar is to be shown: its container is, and it can only be a string."""
        candidate = self.stack.shown[-1]
        if scalar.kind != "string" or len(self.stack.shown) < len(self.stack.containers) or candidate.has_hole:
            return False
        node = candidate.variant.node_at(self.stack.containers[-1].count if scalar.key is None else scalar.key)
        if node is None or node.longest < 0:
            return node is not None and node.grows
        return node.lets_grow(open_variants(node, scalar.beginning(node.longest + 1)))

    def _close(self, log: Log) -> None:
        """Check the innermost container, which has closed, and store it in the candidates around it."""
        stack = self.stack
        container = stack.containers[-1]
        value: Any = cast("Container", log.entries[container.node_id]).value()
        failures: list[Rejection] = []
        for candidate in container.candidates:
            if not candidate.variant.is_met_by(value):
                failures += self._check_closed(container, candidate, value, log)
        if failures:
            stack.fail(failures)
        stack.pop()
        for alternatives in container.choices:
            best = alternatives.best
            if alternatives.is_dead or (best.waits and best.failed):
                alternatives.around.skip(container.segment)
                continue
            view = self.views.newest.final_view(best, len(stack.containers))
            if view is not None:
                best.values = view
            if container.old is not None and is_same_value(container.old, best.values):
                best.values = container.old
            around = alternatives.around
            if around.waits:
                stack.invalidate()
            around.store(container.segment, best.values, best.with_defaults())

    def _check_closed(self, container: OpenContainer, candidate: Candidate, value: Values, log: Log) -> list[Rejection]:
        """Return the problems of a container that has closed."""
        variant, stack = candidate.variant, self.stack
        missing = [] if variant.has_before_validator else _find_missing(variant, value)
        found = [stack.build_mismatch(path, misfit, container.start) for path, misfit in missing]
        problems = () if variant.check is None else variant.check.find_problems(value, self.memory)
        if problems:
            reported = [*stack.reported_inside(), *(path for path, _ in missing)]
            for problem, start, there in locate(_drop_known(problems, reported), log, container.node_id, value):
                misfit = ScalarMismatch(0, problem.reason, problem.expected, there)
                found.append(stack.build_mismatch(problem.path, misfit, start))
        return [Rejection(0, candidate, mismatch) for mismatch in found]


def _drop_known(problems: tuple[Violation, ...], reported: list[Path]) -> list[Violation]:
    """Leave out reported problems; a rule about the container itself is always new."""
    own = [each for each in problems if not each.path and each.reason is MismatchReason.INVALID]
    return [*drop_reported([each for each in problems if each not in own], reported), *own]


def _find_missing(variant: Variant, value: Values) -> list[tuple[Path, ScalarMismatch]]:
    """Return what a variant requires of a closed container that is not there."""
    if isinstance(variant, ObjectVariant):
        return [
            ((key,), ScalarMismatch(0, MismatchReason.MISSING_KEY, _expected_at(variant, key), "nothing"))
            for key in variant.required
            if key not in value
        ]
    if isinstance(variant, ArrayVariant) and len(value) < variant.min_items:
        wanted = f"at least {_items(variant.min_items)}"
        return [((), ScalarMismatch(0, MismatchReason.WRONG_LENGTH, wanted, _items(len(value))))]
    if isinstance(variant, EnumVariant) and not variant.has_member(value):
        return [((), ScalarMismatch(0, MismatchReason.NOT_A_MEMBER, variant.expected, name_container(value)))]
    return []


def _expected_at(variant: ObjectVariant, key: str) -> str:
    node = variant.node_at(key)
    return "a value" if node is None else node.expected


def _sole_choice(container: OpenContainer, segment: Segment, *, is_object: bool) -> list[Alternatives]:
    """Return the choice of a container that opens if it has one candidate, as most have; otherwise nothing."""
    candidates = container.candidates
    if len(candidates) != 1:
        return []
    around = candidates[0]
    node = around.variant.node_at(segment)
    if node is None:
        return []
    variants = node.objects if is_object else node.arrays
    return [Alternatives(around, node, [Candidate(variants[0], {} if is_object else [])])] if len(variants) == 1 else []


def _is_sure(candidate: Candidate, node: SchemaNode | None) -> bool:
    """Return whether no function of the program can still make a scalar fit."""
    return not candidate.variant.has_before_validator and (node is None or not node.is_guessed)


def _explain_extra(candidate: Candidate) -> ScalarMismatch | None:
    """Say why a container takes no other child; `None` if that child is just ignored."""
    variant = candidate.variant
    if isinstance(variant, ArrayVariant):
        most = len(variant.prefix) if variant.rest is None else variant.max_items or 0
        return ScalarMismatch(0, MismatchReason.WRONG_LENGTH, f"at most {_items(most)}", "one more")
    if isinstance(variant, ObjectVariant) and variant.extra == "forbid":
        return ScalarMismatch(0, MismatchReason.UNKNOWN_KEY, "no other keys", "one")
    return None


def _items(count: Length) -> str:
    return "1 item" if count == 1 else f"{count} items"


def _shown_before(old: Values, segment: Segment, *, is_object: bool) -> Values:
    """Return the container that an earlier value showed at a place; a repeated key may show another kind there."""
    found: Any = None
    if isinstance(old, dict):
        found = old.get(segment)
    elif cast("int", segment) < len(old):
        found = old[segment]
    return found if isinstance(found, dict if is_object else list) else None
