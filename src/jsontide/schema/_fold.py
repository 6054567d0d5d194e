"""The log of a parser state in, what the schema makes of it out: a fold over nodes that visits each node once.

A fold follows one stream, and only the newest resolution may advance it; continuing from an older one starts another.
Nodes come in the order in which they open; a container has closed when the log continues outside of it.
An open scalar is not in the log: it is checked last, and what follows from it is undone before the next step.

Rule: failures at the same character count at once, failures at different characters in their order; so it makes no
difference how the text was cut.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

from jsontide._values import MISSING
from jsontide.schema._candidates import (
    Alternatives,
    Candidate,
    CandidateStack,
    OpenContainer,
    Rejection,
    is_same_value,
)
from jsontide.schema._mismatch import MismatchReason, name_container
from jsontide.schema._scalars import (
    ScalarMismatch,
    check_open_scalar,
    check_scalar,
    open_variants,
    read_beginning,
)
from jsontide.schema._validator import Memory, drop_reported, locate
from jsontide.schema._variants import ArrayVariant, EnumVariant, ObjectVariant, Variant, is_same_json
from jsontide.tree.containers import Container, ObjectContainer
from jsontide.tree.log import count_pieces, get_log, keeps_first, open_scalar
from jsontide.tree.views import NO_STRING, ViewChain, ViewPool

if TYPE_CHECKING:
    from jsontide._path import Path, Segment
    from jsontide._values import JsonValue, Missing
    from jsontide.schema._candidates import Values
    from jsontide.schema._validator import Violation
    from jsontide.schema._variants import Length, SchemaNode
    from jsontide.tree import ParserState
    from jsontide.tree.log import Log, OpenScalar


class SchemaFold:
    """Where the fold stands."""

    __slots__ = ("is_settled", "keeps_first", "length", "memory", "stack", "step", "text_count", "text_node", "views")

    def __init__(self, node: SchemaNode, state: ParserState) -> None:
        self.stack = CandidateStack(node, state)
        self.length = 0  # nodes of the log that are folded
        self.step = 0  # resolutions made
        self.views = ViewPool(self.stack.document)
        self.text_count = 0  # open strings that were shown; the last of them has this number
        self.text_node = -1  # the node of that one
        self.is_settled = False  # nothing new can show before something opens or closes
        self.keeps_first = keeps_first(state)
        self.memory = Memory()

    def advance(self, state: ParserState) -> None:
        """Fold the nodes that are new in a state."""
        stack = self.stack
        stack.state = state
        if stack.journal:
            stack.undo()
        log = get_log(state)
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
        self.views.piece_count = count_pieces(state)
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
        """Continue with views that were made before, if they show just what is open now."""
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
            if container.seen is not None and container.is_hidden(segment):
                self._skip_hidden(node_id, segment, log)
                continue
            entry = entries[node_id]
            if isinstance(entry, Container):
                self._open(container, node_id, segment, log)
            else:
                self._add_scalar(container, segment, entry, log.start_of(node_id))
        self.length = log.length
        while containers[-1].node_id != log.top_id:
            self._close(log)

    def _skip_hidden(self, node_id: int, segment: Segment, log: Log) -> None:
        """Skip a member that an earlier one of the same key hides, with all that is in it."""
        if isinstance(log.entries[node_id], Container):
            self.stack.push(OpenContainer(node_id, segment, log.start_of(node_id), []))

    def _open(self, container: OpenContainer, node_id: int, segment: Segment, log: Log) -> None:
        is_object = isinstance(log.entries[node_id], ObjectContainer)
        start = log.start_of(node_id)
        choices = _sole_choice(container, segment, is_object=is_object) or self._find_choices(
            container, segment, start, is_object
        )
        opened = OpenContainer(node_id, segment, start, choices)
        if is_object and self.keeps_first:
            opened.seen = set()
        if container.old is not None:
            opened.old = _shown_before(container.old, segment, is_object=is_object)
        self.stack.push(opened)

    def _find_choices(
        self,
        container: OpenContainer,
        segment: Segment,
        start: int,
        is_object: bool,  # noqa: FBT001
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
            misfit = _explain_extra(candidate) if node is None else _explain_kind(node, is_object=is_object)
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

    def _add_scalar(self, container: OpenContainer, segment: Segment, value: Any, start: int) -> None:  # noqa: ANN401
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

    def _add_checked_scalar(self, container: OpenContainer, segment: Segment, value: Any, start: int) -> None:  # noqa: ANN401
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
        """Check an open scalar as far as it goes; return whether more of it would change nothing until it closes."""
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
                text = read_beginning(scalar, longest) if is_text else ""
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
        return node.lets_grow(open_variants(node, read_beginning(scalar, node.longest)))

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
        """Return what is wrong with a container that has closed."""
        variant, stack = candidate.variant, self.stack
        missing = [] if variant.has_before_validator else _find_missing(variant, value)
        found = [stack.build_mismatch(path, misfit, container.start) for path, misfit in missing]
        problems = () if variant.check is None else variant.check.find_problems(value, self.memory)
        if problems:
            reported = [*stack.reported_inside(), *(path for path, _ in missing)]
            for problem, start, there in locate(
                _drop_known(problems, reported), log, container.node_id, value, keeps_first=self.keeps_first
            ):
                misfit = ScalarMismatch(0, problem.reason, problem.expected, there)
                found.append(stack.build_mismatch(problem.path, misfit, start))
        return [Rejection(0, candidate, mismatch) for mismatch in found]


def _drop_known(problems: tuple[Violation, ...], reported: list[Path]) -> list[Violation]:
    """Leave out what was reported before; a rule about the container itself is always new."""
    own = [each for each in problems if not each.path and each.reason is MismatchReason.INVALID]
    return [*drop_reported([each for each in problems if each not in own], reported), *own]


def _find_missing(variant: Variant, value: Values) -> list[tuple[Path, ScalarMismatch]]:
    """Return what a variant requires of a closed container that is not there."""
    if isinstance(variant, ObjectVariant):
        return [
            ((key,), ScalarMismatch(0, MismatchReason.MISSING_KEY, variant.expected_at(key), "nothing"))
            for key in variant.required
            if key not in value
        ]
    if isinstance(variant, ArrayVariant) and len(value) < variant.min_items:
        wanted = f"at least {_items(variant.min_items)}"
        return [((), ScalarMismatch(0, MismatchReason.WRONG_LENGTH, wanted, _items(len(value))))]
    if isinstance(variant, EnumVariant) and not any(is_same_json(member, value) for member in variant.members):
        return [((), ScalarMismatch(0, MismatchReason.NOT_A_MEMBER, variant.expected, name_container(value)))]
    return []


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


def _explain_kind(node: SchemaNode, *, is_object: bool) -> ScalarMismatch:
    return ScalarMismatch(0, MismatchReason.WRONG_TYPE, node.expected, "an object" if is_object else "an array")


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
