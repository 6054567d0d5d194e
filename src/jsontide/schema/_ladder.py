"""The levels of the open path, and what becomes of them when readings fail.

A failure goes up: who has no reading left for a child fails too; and down: what is inside a reading that is ruled out
goes with it.
Only mismatches of readings that nothing else can stand for are kept: a branch that is ruled out is no mistake.
While an open scalar is looked at, all changes are written into a journal, and taken back before anything else happens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsontide.schema._mismatch import MismatchReason, SchemaMismatch
from jsontide.schema._readings import Group, Level, Reading
from jsontide.schema._shapes import ArrayForm, EnumForm
from jsontide.schema._verdict import Refusal
from jsontide.tree.log import position_of

if TYPE_CHECKING:
    from jsontide._path import Path, Segment
    from jsontide.schema._shapes import Shape
    from jsontide.tree import ParserState


class Failure:
    """Something that a reading does not allow, and after how many characters that was certain."""

    __slots__ = ("is_sure", "mismatch", "offset", "reading")

    def __init__(self, offset: int, reading: Reading, mismatch: SchemaMismatch, *, is_sure: bool = True) -> None:
        self.offset = offset
        self.reading = reading
        self.mismatch = mismatch
        self.is_sure = is_sure  # no function of the program sees the value first, and may mend it


class Ladder:
    """The open containers, outermost first; the first stands for the document, whose only item is the root."""

    def __init__(self, shape: Shape, state: ParserState) -> None:
        self.state = state
        form = ArrayForm(kinds=frozenset({"array"}), expected="a document", prefix=(shape,))
        self.document = Reading(form, [])
        self.levels = [Level(-1, 0, 0, [Group(None, shape, [self.document])])]
        self.errors: list[SchemaMismatch] = []
        self.open_errors: list[SchemaMismatch] = []  # those that only the open scalar shows
        self.has_doubts = False  # something was left out that the validator may take all the same
        self.is_journaling = False
        self.journal: list[tuple[Any, str, Any]] = []
        self.is_stale = False  # what is shown may be another chain than before
        self.steady = 1  # so many levels are as they were when that chain was made
        self._readings: list[Reading] = [self.document]
        self._segments: list[Segment] = [0]

    def undo(self) -> None:
        """Take back what only the open scalar of the last state showed."""
        journal = self.journal
        self.upset()
        self.open_errors = []
        while journal:
            thing, name, value = journal.pop()
            setattr(thing, name, value)

    def chain(self) -> tuple[list[Reading], list[Segment]]:
        """Return the readings that are shown, outermost first, and where each stands in the one around it."""
        steady = self.steady
        readings, segments = self._readings[:steady], self._segments[:steady]
        reading = readings[-1]
        # A chain that ended before it came to what is new ends there still.
        for level in self.levels[steady:] if len(readings) == steady else ():
            groups = level.groups
            group = groups[0] if len(groups) == 1 else level.group_of(reading)
            if group is None or group.parent is not reading or reading.has_hole:
                break
            alive = group.alive
            if len(alive) != 1 or group.is_dead or group.shape.policy != "grow":
                break
            reading = alive[0]
            if reading.waits or isinstance(reading.form, EnumForm):
                break
            readings.append(reading)
            segments.append(level.segment)
        self.is_stale = False
        self.steady = len(self.levels)
        self._readings, self._segments = readings, segments
        return readings, segments

    def upset(self) -> None:
        """Note that the chain may have changed anywhere."""
        self.is_stale = True
        self.steady = 1

    def told_inside(self) -> list[Path]:
        """Return the places in the innermost container of which something was said, as seen from there."""
        depth = len(self.levels) - 2  # that of the document and that of the root have no place in a path
        return [error.path[depth:] for error in self.errors[self.levels[-1].told :]]

    def push(self, level: Level) -> None:
        level.told = len(self.errors)
        self.levels.append(level)
        self.is_stale = True

    def pop(self) -> None:
        self.levels.pop()
        self.is_stale = True
        self.steady = min(self.steady, len(self.levels))

    def fail_in_turn(self, failures: list[Failure]) -> None:
        """Let readings of the innermost container fail in the order in which that showed."""
        for offset in sorted({failure.offset for failure in failures}):
            left = self.levels[-1].readings
            self.fail([failure for failure in failures if failure.offset == offset and failure.reading in left])

    def fail(self, failures: list[Failure]) -> None:
        """Let readings of the innermost container fail, all at one moment, and all that hangs on them."""
        self.upset()
        for failure in failures:
            self._set(failure.reading, "failed", value=True)
        depth = len(self.levels) - 1
        found = list(failures)
        while depth > 0 and self._shrink(depth, found):
            depth -= 1
        for at in range(max(depth, 1), len(self.levels)):
            self._prune(self.levels[at], self.levels[at - 1].readings)
        self._report(found)

    def mismatch(self, below: Path, refusal: Refusal, index: int, depth: int | None = None) -> SchemaMismatch:
        """Return a mismatch below the innermost container, or below the one at a depth."""
        last = len(self.levels) if depth is None else depth + 1
        # The first segment is where the root stands in the document.
        path = (*(level.segment for level in self.levels[1:last]), *below)[1:]
        line, column = position_of(self.state, index)
        return SchemaMismatch(path, refusal.reason, refusal.expected, refusal.found, index, line, column)

    def _set(self, thing: Group | Level | Reading, name: str, *, value: object) -> None:
        if self.is_journaling:
            self.journal.append((thing, name, getattr(thing, name)))
        setattr(thing, name, value)

    def _shrink(self, depth: int, failures: list[Failure]) -> bool:
        """Let those who failed leave their groups; tell whether that made a reading of the container around fail."""
        has_failed = False
        level = self.levels[depth]
        for group in level.groups:
            left = [reading for reading in group.alive if not reading.failed]
            if group.is_dead or len(left) == len(group.alive):
                continue
            if left:
                self._set(group, "alive", value=left)
                continue
            if len(group.alive) > 1:
                self._set(group, "is_dead", value=True)
                is_sure = not group.around.form.is_changed_before
                failures.append(Failure(0, group.around, self._no_branch(group, level, depth), is_sure=is_sure))
            if not group.around.failed:
                self._set(group.around, "failed", value=True)
                has_failed = True
        return has_failed

    def _no_branch(self, group: Group, level: Level, depth: int) -> SchemaMismatch:
        kind = "an object" if isinstance(group.alive[0].values, dict) else "an array"
        found = f"{kind} that is neither" if len(group.alive) == 2 else f"{kind} that is none of them"  # noqa: PLR2004
        refusal = Refusal(0, MismatchReason.NO_BRANCH, group.shape.expected, found)
        return self.mismatch((), refusal, level.start, depth)

    def _prune(self, level: Level, around: list[Reading]) -> None:
        """Forget what was inside of readings that are ruled out."""
        groups = [group for group in level.groups if group.parent in around]
        if len(groups) < len(level.groups):
            self._set(level, "groups", value=groups)
        self._set(level, "readings", value=level.left())

    def _report(self, failures: list[Failure]) -> None:
        sole: list[Reading] = [self.document]
        for level in self.levels[1:]:
            group = level.group_of(sole[-1])
            if group is None or not group.is_decided:
                break
            sole.append(group.alive[0])
        told = [failure for failure in failures if failure.reading in sole]
        # Whatever is wrong inside of a value that is changed before it is validated, the check of that value will tell.
        sure = sole[: 1 + next((at for at, each in enumerate(sole) if each.form.is_changed_before), len(sole))]
        found = [failure.mismatch for failure in told if failure.is_sure and failure.reading in sure]
        if len(found) < len(told) and not self.is_journaling:
            self.has_doubts = True
        if self.is_journaling:
            self.open_errors = [*self.open_errors, *found]  # resolutions keep the list as it was
        else:
            self.errors += found
