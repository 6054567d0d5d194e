"""The containers of the open path, and what becomes of them when candidates fail.

A failure goes up: a candidate whose child has no candidates left fails too.
It also goes down: what is inside a candidate that is ruled out is ruled out with it.
A mismatch is reported only if its candidate is the only one left: ruling out a branch of a union is not an error.
While an open scalar is checked, all changes go into a journal, and are undone before anything else happens.
"""

from __future__ import annotations

from typing import Any

from jsontide._path import Path
from jsontide.schema._fold.candidates import Alternatives, Candidate, OpenContainer
from jsontide.schema._fold.scalars import ScalarMismatch
from jsontide.schema._fold.variants import ArrayVariant, EnumVariant, SchemaNode
from jsontide.schema._mismatch import MismatchReason, SchemaMismatch
from jsontide.tree import ParserState
from jsontide.tree.log import find_position


class Failure:
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
            if len(alive) != 1 or alternatives.is_dead or alternatives.node.policy != "grow":
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

    def fail_in_turn(self, failures: list[Failure]) -> None:
        """Let candidates of the innermost container fail in the order of the characters that show it."""
        for offset in sorted({failure.offset for failure in failures}):
            left = self.containers[-1].candidates
            self.fail([failure for failure in failures if failure.offset == offset and failure.candidate in left])

    def fail(self, failures: list[Failure]) -> None:
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

    def _shrink(self, depth: int, failures: list[Failure]) -> bool:
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
                    Failure(
                        0, alternatives.around, self._explain_branches(alternatives, container, depth), is_sure=is_sure
                    )
                )
            if not alternatives.around.failed:
                self._set(alternatives.around, "failed", value=True)
                has_failed = True
        return has_failed

    def _explain_branches(self, alternatives: Alternatives, container: OpenContainer, depth: int) -> SchemaMismatch:
        kind = "an object" if isinstance(alternatives.alive[0].values, dict) else "an array"
        found = f"{kind} that is neither" if len(alternatives.alive) == 2 else f"{kind} that is none of them"  # noqa: PLR2004
        misfit = ScalarMismatch(0, MismatchReason.NO_BRANCH, alternatives.node.expected, found)
        return self.build_mismatch((), misfit, container.start, depth)

    def _prune(self, container: OpenContainer, around: list[Candidate]) -> None:
        """Forget what is inside candidates that are ruled out."""
        choices = [alternatives for alternatives in container.choices if alternatives.parent in around]
        if len(choices) < len(container.choices):
            self._set(container, "choices", value=choices)
        self._set(container, "candidates", value=container.remaining())

    def _record(self, failures: list[Failure]) -> None:
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
