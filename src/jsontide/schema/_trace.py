"""The log of a parser state in, what the schema makes of it out: a fold over nodes, each looked at once.

A trace goes along one stream and is written only by the newest resolution; older ones start a trace of their own.
Nodes come in the order in which they open; that a container closed is seen when the log goes on outside of it.
An open scalar is not in the log: it is looked at last, and what follows from it is undone before the next fold.

Rule: what happens at one character happens at once, and what happens at different characters in their order; so how
the text was cut makes no difference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from jsontide._values import MISSING
from jsontide.schema._ladder import Failure, Ladder
from jsontide.schema._memory import Memory
from jsontide.schema._mismatch import MismatchReason
from jsontide.schema._places import placed, unreported
from jsontide.schema._readings import Group, Level, Reading
from jsontide.schema._shapes import ArrayForm, EnumForm, Form, ObjectForm, is_same_json
from jsontide.schema._show import Picture, begin_showing, is_same_value, restored_showing
from jsontide.schema._verdict import (
    Refusal,
    beginning,
    judge,
    judge_open,
    open_forms,
    shows_growing,
)
from jsontide.tree.containers import Container, ObjectContainer
from jsontide.tree.log import keeps_first, log_of, open_scalar, piece_count_of

if TYPE_CHECKING:
    from jsontide._path import Path, Segment
    from jsontide._values import JsonValue, Missing
    from jsontide.schema._readings import Values
    from jsontide.schema._shapes import Length, Shape
    from jsontide.schema._show import Showing
    from jsontide.schema._validator import Problem
    from jsontide.tree import ParserState
    from jsontide.tree.log import Log, OpenScalar


_SPARES: Final = 2  # so many values can be held while the next one is made without copying


class Trace:
    """Where the fold stands."""

    __slots__ = ("is_settled", "keeps_first", "ladder", "length", "memory", "newest", "picture", "spares", "step")

    def __init__(self, shape: Shape, state: ParserState) -> None:
        self.ladder = Ladder(shape, state)
        self.length = 0  # nodes of the log that are folded
        self.step = 0  # resolutions made
        self.newest = begin_showing(self.ladder.document)
        self.spares: list[Showing] = []  # those that were the newest before, the oldest first
        self.picture = Picture([self.ladder.document], [0], None)
        self.is_settled = False  # nothing new can be told before something opens or closes
        self.keeps_first = keeps_first(state)
        self.memory = Memory()

    def follow(self, state: ParserState) -> None:
        """Fold what came since."""
        ladder = self.ladder
        ladder.state = state
        if ladder.journal:
            ladder.undo()
        log = log_of(state)
        if log.length > self.length or log.top_id != ladder.levels[-1].node_id:
            self._fold(log)
        scalar = open_scalar(state)
        self.is_settled = scalar is None or self._look_at(scalar)
        before = self.picture
        readings, segments = ladder.chain() if ladder.is_stale else (before.readings, before.segments)
        text = scalar if scalar is not None and self._is_shown(scalar, readings) else None
        self.picture = Picture(readings, segments, text)

    def grow(self, state: ParserState) -> JsonValue | Missing:
        """Return the value with more of the open string, at a state that says nothing else."""
        picture = self.picture
        picture.piece_count = piece_count_of(state)
        if self.newest.piece_count != picture.piece_count:
            for at, other in enumerate(self.spares):
                if other.picture is picture and other.grow(picture):
                    del self.spares[at]
                    return self._show_by(other)
        return self.show()

    def show(self) -> JsonValue | Missing:
        """Return the value as it is now."""
        newest, picture = self.newest, self.picture
        if newest.shows(picture):
            return newest.value
        # The last resolution still holds what the newest showing shows.
        for at, other in enumerate(self.spares):
            if other.update(picture, newest):
                del self.spares[at]
                return self._show_by(other)
        other = begin_showing(self.ladder.document)
        other.update(picture, newest)
        if len(self.spares) == _SPARES:
            del self.spares[0]
        return self._show_by(other)

    def _show_by(self, showing: Showing) -> JsonValue | Missing:
        """Let a showing be the newest; return what it shows."""
        self.spares.append(self.newest)
        self.newest = showing
        return showing.value

    def follow_again(self, state: ParserState, value: JsonValue | Missing) -> None:
        """Fold from the start up to a state that was resolved before, with the objects that were shown then."""
        self.ladder.levels[0].old = [] if value is MISSING else [value]
        self.follow(state)
        picture = self.picture
        views = [level.old for level in self.ladder.levels[: len(picture.readings)]]
        showing = restored_showing(picture, views)
        if showing is not None:
            self.newest = showing
        for level in self.ladder.levels:
            level.old = None

    def _fold(self, log: Log) -> None:
        levels = self.ladder.levels
        owners, keys, entries = log.owners, log.keys, log.entries
        for node_id in range(self.length, log.length):
            owner_id = owners[node_id].node_id
            level = levels[-1]
            while level.node_id != owner_id:
                self._close(log)
                level = levels[-1]
            key = keys[node_id]
            segment: Segment = level.count if key is None else key
            level.count += 1
            if level.seen is not None and level.is_hidden(segment):
                self._pass_over(node_id, segment, log)
                continue
            entry = entries[node_id]
            if isinstance(entry, Container):
                self._open(level, node_id, segment, log)
            else:
                self._take(level, segment, entry, log.starts[node_id])
        self.length = log.length
        while levels[-1].node_id != log.top_id:
            self._close(log)

    def _pass_over(self, node_id: int, segment: Segment, log: Log) -> None:
        """Read nothing in a member that an earlier one of the same key hides."""
        if isinstance(log.entries[node_id], Container):
            self.ladder.push(Level(node_id, segment, log.starts[node_id], []))

    def _open(self, level: Level, node_id: int, segment: Segment, log: Log) -> None:
        is_object = isinstance(log.entries[node_id], ObjectContainer)
        start = log.starts[node_id]
        groups = _sole_group(level, segment, is_object=is_object) or self._groups(level, segment, start, is_object)
        opened = Level(node_id, segment, start, groups)
        if is_object and self.keeps_first:
            opened.seen = set()
        if level.old is not None:
            opened.old = _shown_before(level.old, segment, is_object=is_object)
        self.ladder.push(opened)

    def _groups(self, level: Level, segment: Segment, start: int, is_object: bool) -> list[Group]:  # noqa: FBT001
        """Begin all readings of a container that opens."""
        groups: list[Group] = []
        failures: list[Failure] = []
        made: dict[Form, Reading] = {}
        for reading in level.readings:
            shape = reading.form.shape_at(segment)
            forms: tuple[Form, ...] = ()
            if shape is not None:
                forms = shape.objects if is_object else shape.arrays
            for form in forms:
                if form not in made:
                    made[form] = Reading(form, {} if is_object else [])
            if shape is not None and forms:
                groups.append(Group(reading, shape, [made[form] for form in forms]))
                continue
            refusal = _no_room(reading) if shape is None else _wrong_container(shape, is_object=is_object)
            if refusal is not None:
                reading.skip(segment)
                is_sure = not reading.form.is_changed_before and not (shape is not None and shape.is_changed_before)
                mismatch = self.ladder.mismatch((segment,), refusal, start)
                failures.append(Failure(0, reading, mismatch, is_sure=is_sure))
        if failures:
            self.ladder.fail(failures)
            groups = [group for group in groups if group.parent in level.readings]
        return groups

    def _take(self, level: Level, segment: Segment, value: Any, start: int) -> None:  # noqa: ANN401
        """Take in a closed scalar."""
        readings = level.readings
        if len(readings) == 1:
            sole = readings[0]
            known = sole.form.shape_at(segment)
            if known is not None and type(value) in known.free:
                if sole.waits:
                    self.ladder.upset()
                sole.store(segment, value, value)
                return
        self._judge(level, segment, value, start)

    def _judge(self, level: Level, segment: Segment, value: Any, start: int) -> None:  # noqa: ANN401
        """Take in a closed scalar that may not fit."""
        failures: list[Failure] = []
        for reading in level.readings:
            shape = reading.form.shape_at(segment)
            if shape is None:
                refusal = _no_room(reading)
            else:
                shown, refusal = judge(shape, value, self.memory)
                if refusal is None:
                    if reading.waits:
                        self.ladder.upset()
                    reading.store(segment, shown, shown)
            if refusal is None:
                continue
            if refusal.was_shown:
                reading.store(segment, value, value)
            else:
                reading.skip(segment)
            mismatch = self.ladder.mismatch((segment,), refusal, start - isinstance(value, str))
            failures.append(Failure(refusal.offset, reading, mismatch, is_sure=_is_sure(reading, shape)))
        if failures:
            self.ladder.fail_in_turn(failures)

    def _look_at(self, scalar: OpenScalar) -> bool:
        """See what an open scalar shows already; tell whether more of it would show nothing new before it closes."""
        level = self.ladder.levels[-1]
        segment: Segment = level.count if scalar.key is None else scalar.key
        readings = level.readings
        if len(readings) == 1:
            known = readings[0].form.shape_at(segment)
            if known is not None and known.longest < 0 and scalar.kind in known.takes:
                return True
        is_text = scalar.kind == "string"
        is_settled = True
        failures: list[Failure] = []
        self.ladder.is_journaling = True
        for reading in readings:
            shape = reading.form.shape_at(segment)
            if shape is None:
                refusal = _no_room(reading)
            else:
                longest = shape.longest
                text = beginning(scalar, longest) if is_text else ""
                is_settled = is_settled and (not is_text or longest < 0 or len(text) > longest)
                refusal = judge_open(shape, scalar.kind, text)
            if refusal is not None:
                mismatch = self.ladder.mismatch((segment,), refusal, scalar.start - is_text)
                failures.append(Failure(refusal.offset, reading, mismatch, is_sure=_is_sure(reading, shape)))
        if failures:
            self.ladder.fail_in_turn(failures)
        self.ladder.is_journaling = False
        return is_settled

    def _is_shown(self, scalar: OpenScalar, readings: list[Reading]) -> bool:
        """Tell whether an open scalar is to be shown: its container is, and it can only be a string."""
        reading = readings[-1]
        if scalar.kind != "string" or len(readings) < len(self.ladder.levels) or reading.has_hole:
            return False
        shape = reading.form.shape_at(self.ladder.levels[-1].count if scalar.key is None else scalar.key)
        if shape is None or shape.longest < 0:
            return shape is not None and shape.grows and shape.policy == "grow"
        return shows_growing(shape, open_forms(shape, beginning(scalar, shape.longest)))

    def _close(self, log: Log) -> None:
        """Finish the innermost container, and give it to those who wait for it."""
        ladder = self.ladder
        level = ladder.levels[-1]
        value: Any = cast("Container", log.entries[level.node_id]).value()
        failures: list[Failure] = []
        for reading in level.readings:
            if not reading.form.is_met_by(value):
                failures += self._finish(level, reading, value, log)
        if failures:
            ladder.fail(failures)
        ladder.pop()
        for group in level.groups:
            best = group.best
            if group.is_dead or (best.waits and best.failed):
                group.around.skip(level.segment)
                continue
            self.newest.settle(best, len(ladder.levels))
            if level.old is not None and is_same_value(level.old, best.values):
                best.values = level.old
            around = group.around
            if around.waits:
                ladder.upset()
            around.store(level.segment, best.values, best.final())

    def _finish(self, level: Level, reading: Reading, value: Values, log: Log) -> list[Failure]:
        """Say what is wrong with a container that closes."""
        form, ladder = reading.form, self.ladder
        lacks = [] if form.is_changed_before else _lacks(form, value)
        found = [ladder.mismatch(path, refusal, level.start) for path, refusal in lacks]
        problems = () if form.check is None else form.check.problems(value, self.memory)
        if problems:
            told = [*ladder.told_inside(), *(path for path, _ in lacks)]
            for problem, start, there in placed(
                _new_ones(problems, told), log, level.node_id, value, keeps_first=self.keeps_first
            ):
                refusal = Refusal(0, problem.reason, problem.expected, there)
                found.append(ladder.mismatch(problem.path, refusal, start))
        return [Failure(0, reading, mismatch) for mismatch in found]


def _new_ones(problems: tuple[Problem, ...], told: list[Path]) -> list[Problem]:
    """Leave out what was told before; a rule of the container itself nobody else can have told."""
    own = [each for each in problems if not each.path and each.reason is MismatchReason.INVALID]
    return [*unreported([each for each in problems if each not in own], told), *own]


def _lacks(form: Form, value: Values) -> list[tuple[Path, Refusal]]:
    """Say what a form wants of a closed container that is not there."""
    if isinstance(form, ObjectForm):
        return [
            ((key,), Refusal(0, MismatchReason.MISSING_KEY, form.expected_at(key), "nothing"))
            for key in form.required
            if key not in value
        ]
    if isinstance(form, ArrayForm) and len(value) < form.least:
        least = f"at least {_items(form.least)}"
        return [((), Refusal(0, MismatchReason.WRONG_LENGTH, least, _items(len(value))))]
    if isinstance(form, EnumForm) and not any(is_same_json(member, value) for member in form.members):
        return [((), Refusal(0, MismatchReason.NOT_A_MEMBER, form.expected, _container_name(value)))]
    return []


def _sole_group(level: Level, segment: Segment, *, is_object: bool) -> list[Group]:
    """Begin the one reading of a container that opens, if there is just one; most often there is."""
    readings = level.readings
    if len(readings) != 1:
        return []
    around = readings[0]
    shape = around.form.shape_at(segment)
    if shape is None:
        return []
    forms = shape.objects if is_object else shape.arrays
    return [Group(around, shape, [Reading(forms[0], {} if is_object else [])])] if len(forms) == 1 else []


def _is_sure(reading: Reading, shape: Shape | None) -> bool:
    """Tell whether a scalar that does not fit is a mismatch, and no function of the program can make it fit."""
    return not reading.form.is_changed_before and (shape is None or not shape.is_guessed)


def _no_room(reading: Reading) -> Refusal | None:
    """Say why a container has no place for another child, unless it is just ignored."""
    form = reading.form
    if isinstance(form, ArrayForm):
        most = len(form.prefix) if form.rest is None else form.most or 0
        return Refusal(0, MismatchReason.WRONG_LENGTH, f"at most {_items(most)}", "one more")
    if isinstance(form, ObjectForm) and form.extra == "forbid":
        return Refusal(0, MismatchReason.UNKNOWN_KEY, "no other keys", "one")
    return None


def _wrong_container(shape: Shape, *, is_object: bool) -> Refusal:
    return Refusal(0, MismatchReason.WRONG_TYPE, shape.expected, "an object" if is_object else "an array")


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
