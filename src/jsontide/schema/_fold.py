"""The log of a parser state in, what the schema makes of it out: a fold over nodes, each looked at once.

A fold goes along one stream and is written only by the newest resolution; older ones start a fold of their own.
Nodes come in the order in which they open; that a container closed is seen when the log goes on outside of it.
An open scalar is not in the log: it is looked at last, and what follows from it is undone before the next fold.

Rule: what happens at one character happens at once, and what happens at different characters in their order; so how
the text was cut makes no difference.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

from jsontide._values import MISSING
from jsontide.schema._candidates import Alternatives, Candidate, OpenContainer, is_same_value
from jsontide.schema._memory import Memory
from jsontide.schema._mismatch import MismatchReason
from jsontide.schema._nodes import ArrayVariant, EnumVariant, ObjectVariant, Variant, is_same_json
from jsontide.schema._places import placed, unreported
from jsontide.schema._scalars import (
    ScalarMismatch,
    beginning,
    check_open_scalar,
    check_scalar,
    open_variants,
    shows_growing,
)
from jsontide.schema._stack import CandidateStack, Failure
from jsontide.tree.containers import Container, ObjectContainer
from jsontide.tree.log import keeps_first, log_of, open_scalar, piece_count_of
from jsontide.tree.views import NO_TEXT, ViewChain, ViewPool

if TYPE_CHECKING:
    from jsontide._path import Path, Segment
    from jsontide._values import JsonValue, Missing
    from jsontide.schema._candidates import Values
    from jsontide.schema._nodes import Length, SchemaNode
    from jsontide.schema._validator import Problem
    from jsontide.tree import ParserState
    from jsontide.tree.log import Log, OpenScalar


class SchemaFold:
    """Where the fold stands."""

    __slots__ = ("is_settled", "keeps_first", "length", "memory", "stack", "step", "views")

    def __init__(self, node: SchemaNode, state: ParserState) -> None:
        self.stack = CandidateStack(node, state)
        self.length = 0  # nodes of the log that are folded
        self.step = 0  # resolutions made
        self.views = ViewPool(self.stack.document)
        self.is_settled = False  # nothing new can be told before something opens or closes
        self.keeps_first = keeps_first(state)
        self.memory = Memory()

    def advance(self, state: ParserState) -> None:
        """Fold what came since."""
        stack = self.stack
        stack.state = state
        if stack.journal:
            stack.undo()
        log = log_of(state)
        if log.length > self.length or log.top_id != stack.containers[-1].node_id:
            self._fold(log)
        scalar = open_scalar(state)
        self.is_settled = scalar is None or self._look_at(scalar)
        if stack.is_stale:
            stack.update_shown()
        views = self.views
        views.top = stack.shown[-1]
        views.text_id = NO_TEXT
        if scalar is not None and self._is_shown(scalar):
            views.text_id = scalar.node_id + 1
            views.key = scalar.key
            views.pieces = scalar.pieces
            views.piece_count = scalar.piece_count

    def show(self) -> JsonValue | Missing:
        """Return the value as it is now."""
        views = self.views
        if not views.newest.shows(views):
            views.switch()  # the last resolution still holds what the newest views show
        document = cast("list[JsonValue]", views.newest.document)
        return document[0] if document else MISSING

    def grow(self, state: ParserState) -> JsonValue | Missing:
        """Return the value at a state that adds nothing but more of the open string, if that is shown."""
        self.views.piece_count = piece_count_of(state)
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
        """Go on with views that were made before, if they show just what is open now."""
        candidates, views = self.stack.shown, self.views
        if None in old or candidates[-1].replaced_at:
            return
        shown: list[int] = [around.shown_beside(each.key) for around, each in pairwise(candidates)]
        key = None if views.text_id == NO_TEXT else views.key
        chain = ViewChain([*candidates], old, shown, candidates[-1].shown_beside(key))
        if views.text_id != NO_TEXT:
            chain.take_text(views)
        if chain.shows(views):
            views.newest = chain

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
            if container.seen is not None and container.is_hidden(segment):
                self._pass_over(node_id, segment, log)
                continue
            entry = entries[node_id]
            if isinstance(entry, Container):
                self._open(container, node_id, segment, log)
            else:
                self._take(container, segment, entry, log.starts[node_id])
        self.length = log.length
        while containers[-1].node_id != log.top_id:
            self._close(log)

    def _pass_over(self, node_id: int, segment: Segment, log: Log) -> None:
        """Read nothing in a member that an earlier one of the same key hides."""
        if isinstance(log.entries[node_id], Container):
            self.stack.push(OpenContainer(node_id, segment, log.starts[node_id], []))

    def _open(self, container: OpenContainer, node_id: int, segment: Segment, log: Log) -> None:
        is_object = isinstance(log.entries[node_id], ObjectContainer)
        start = log.starts[node_id]
        all_alternatives = _sole_alternatives(container, segment, is_object=is_object) or self._find_alternatives(
            container, segment, start, is_object
        )
        opened = OpenContainer(node_id, segment, start, all_alternatives)
        if is_object and self.keeps_first:
            opened.seen = set()
        if container.old is not None:
            opened.old = _shown_before(container.old, segment, is_object=is_object)
        self.stack.push(opened)

    def _find_alternatives(
        self,
        container: OpenContainer,
        segment: Segment,
        start: int,
        is_object: bool,  # noqa: FBT001
    ) -> list[Alternatives]:
        """Begin all candidates of a container that opens."""
        all_alternatives: list[Alternatives] = []
        failures: list[Failure] = []
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
                all_alternatives.append(Alternatives(candidate, node, [made[variant] for variant in variants]))
                continue
            scalar_mismatch = _no_room(candidate) if node is None else _wrong_container(node, is_object=is_object)
            if scalar_mismatch is not None:
                candidate.skip(segment)
                is_sure = not candidate.variant.is_changed_before and not (node is not None and node.is_changed_before)
                mismatch = self.stack.mismatch((segment,), scalar_mismatch, start)
                failures.append(Failure(0, candidate, mismatch, is_sure=is_sure))
        if failures:
            self.stack.fail(failures)
            all_alternatives = [
                alternatives for alternatives in all_alternatives if alternatives.parent in container.candidates
            ]
        return all_alternatives

    def _take(self, container: OpenContainer, segment: Segment, value: Any, start: int) -> None:  # noqa: ANN401
        """Take in a closed scalar."""
        candidates = container.candidates
        if len(candidates) == 1:
            sole = candidates[0]
            known = sole.variant.node_at(segment)
            if known is not None and type(value) in known.free:
                if sole.waits:
                    self.stack.upset()
                sole.store(segment, value, value)
                return
        self._check_scalar(container, segment, value, start)

    def _check_scalar(self, container: OpenContainer, segment: Segment, value: Any, start: int) -> None:  # noqa: ANN401
        """Take in a closed scalar that may not fit."""
        failures: list[Failure] = []
        for candidate in container.candidates:
            node = candidate.variant.node_at(segment)
            if node is None:
                scalar_mismatch = _no_room(candidate)
            else:
                shown, scalar_mismatch = check_scalar(node, value, self.memory)
                if scalar_mismatch is None:
                    if candidate.waits:
                        self.stack.upset()
                    candidate.store(segment, shown, shown)
            if scalar_mismatch is None:
                continue
            if scalar_mismatch.was_shown:
                candidate.store(segment, value, value)
            else:
                candidate.skip(segment)
            mismatch = self.stack.mismatch((segment,), scalar_mismatch, start - isinstance(value, str))
            failures.append(Failure(scalar_mismatch.offset, candidate, mismatch, is_sure=_is_sure(candidate, node)))
        if failures:
            self.stack.fail_in_turn(failures)

    def _look_at(self, scalar: OpenScalar) -> bool:
        """See what an open scalar shows already; tell whether more of it would show nothing new before it closes."""
        container = self.stack.containers[-1]
        segment: Segment = container.count if scalar.key is None else scalar.key
        candidates = container.candidates
        if len(candidates) == 1:
            known = candidates[0].variant.node_at(segment)
            if known is not None and known.longest < 0 and scalar.kind in known.takes:
                return True
        is_text = scalar.kind == "string"
        is_settled = True
        failures: list[Failure] = []
        self.stack.is_journaling = True
        for candidate in candidates:
            node = candidate.variant.node_at(segment)
            if node is None:
                scalar_mismatch = _no_room(candidate)
            else:
                longest = node.longest
                text = beginning(scalar, longest) if is_text else ""
                is_settled = is_settled and (not is_text or longest < 0 or len(text) > longest)
                scalar_mismatch = check_open_scalar(node, scalar.kind, text)
            if scalar_mismatch is not None:
                mismatch = self.stack.mismatch((segment,), scalar_mismatch, scalar.start - is_text)
                failures.append(Failure(scalar_mismatch.offset, candidate, mismatch, is_sure=_is_sure(candidate, node)))
        if failures:
            self.stack.fail_in_turn(failures)
        self.stack.is_journaling = False
        return is_settled

    def _is_shown(self, scalar: OpenScalar) -> bool:
        """Tell whether an open scalar is to be shown: its container is, and it can only be a string."""
        candidate = self.stack.shown[-1]
        if scalar.kind != "string" or len(self.stack.shown) < len(self.stack.containers) or candidate.has_hole:
            return False
        node = candidate.variant.node_at(self.stack.containers[-1].count if scalar.key is None else scalar.key)
        if node is None or node.longest < 0:
            return node is not None and node.grows and node.policy == "grow"
        return shows_growing(node, open_variants(node, beginning(scalar, node.longest)))

    def _close(self, log: Log) -> None:
        """Finish the innermost container, and give it to those who wait for it."""
        stack = self.stack
        container = stack.containers[-1]
        value: Any = cast("Container", log.entries[container.node_id]).value()
        failures: list[Failure] = []
        for candidate in container.candidates:
            if not candidate.variant.is_met_by(value):
                failures += self._finish(container, candidate, value, log)
        if failures:
            stack.fail(failures)
        stack.pop()
        for alternatives in container.all_alternatives:
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
                stack.upset()
            around.store(container.segment, best.values, best.final())

    def _finish(self, container: OpenContainer, candidate: Candidate, value: Values, log: Log) -> list[Failure]:
        """Say what is wrong with a container that closes."""
        variant, stack = candidate.variant, self.stack
        lacks = [] if variant.is_changed_before else _lacks(variant, value)
        found = [stack.mismatch(path, scalar_mismatch, container.start) for path, scalar_mismatch in lacks]
        problems = () if variant.check is None else variant.check.problems(value, self.memory)
        if problems:
            told = [*stack.told_inside(), *(path for path, _ in lacks)]
            for problem, start, there in placed(
                _new_ones(problems, told), log, container.node_id, value, keeps_first=self.keeps_first
            ):
                scalar_mismatch = ScalarMismatch(0, problem.reason, problem.expected, there)
                found.append(stack.mismatch(problem.path, scalar_mismatch, start))
        return [Failure(0, candidate, mismatch) for mismatch in found]


def _new_ones(problems: tuple[Problem, ...], told: list[Path]) -> list[Problem]:
    """Leave out what was told before; a rule of the container itself nobody else can have told."""
    own = [each for each in problems if not each.path and each.reason is MismatchReason.INVALID]
    return [*unreported([each for each in problems if each not in own], told), *own]


def _lacks(variant: Variant, value: Values) -> list[tuple[Path, ScalarMismatch]]:
    """Say what a variant wants of a closed container that is not there."""
    if isinstance(variant, ObjectVariant):
        return [
            ((key,), ScalarMismatch(0, MismatchReason.MISSING_KEY, variant.expected_at(key), "nothing"))
            for key in variant.required
            if key not in value
        ]
    if isinstance(variant, ArrayVariant) and len(value) < variant.least:
        least = f"at least {_items(variant.least)}"
        return [((), ScalarMismatch(0, MismatchReason.WRONG_LENGTH, least, _items(len(value))))]
    if isinstance(variant, EnumVariant) and not any(is_same_json(member, value) for member in variant.members):
        return [((), ScalarMismatch(0, MismatchReason.NOT_A_MEMBER, variant.expected, _container_name(value)))]
    return []


def _sole_alternatives(container: OpenContainer, segment: Segment, *, is_object: bool) -> list[Alternatives]:
    """Begin the one candidate of a container that opens, if there is just one; most often there is."""
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
    """Tell whether a scalar that does not fit is a mismatch, and no function of the program can make it fit."""
    return not candidate.variant.is_changed_before and (node is None or not node.is_guessed)


def _no_room(candidate: Candidate) -> ScalarMismatch | None:
    """Say why a container has no place for another child, unless it is just ignored."""
    variant = candidate.variant
    if isinstance(variant, ArrayVariant):
        most = len(variant.prefix) if variant.rest is None else variant.most or 0
        return ScalarMismatch(0, MismatchReason.WRONG_LENGTH, f"at most {_items(most)}", "one more")
    if isinstance(variant, ObjectVariant) and variant.extra == "forbid":
        return ScalarMismatch(0, MismatchReason.UNKNOWN_KEY, "no other keys", "one")
    return None


def _wrong_container(node: SchemaNode, *, is_object: bool) -> ScalarMismatch:
    return ScalarMismatch(0, MismatchReason.WRONG_TYPE, node.expected, "an object" if is_object else "an array")


def _items(count: Length) -> str:
    return "1 item" if count == 1 else f"{count} items"


def _container_name(value: Values) -> str:
    return "an object" if isinstance(value, dict) else "an array"


def _shown_before(old: Values, segment: Segment, *, is_object: bool) -> Values:
    """Return the container that an earlier value showed at a place; a repeated key may show another kind there."""
    found: Any = None
    if isinstance(old, dict):
        found = old.get(segment)
    elif cast("int", segment) < len(old):
        found = old[segment]
    return found if isinstance(found, dict if is_object else list) else None
