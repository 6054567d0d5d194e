"""The open containers of a document, and how each of them may be read.

A *level* is an open container.
A *reading* is one form that it may have, with what was found in it so far: one most often, several while a union is
not decided.
A *group* is what a reading of the container around has to choose from; who fails leaves it, unless nobody else is left.

Rule: a group only shrinks, and the values of a reading are only added to.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from jsontide.schema._shapes import Form, ObjectForm

if TYPE_CHECKING:
    from jsontide._path import Segment
    from jsontide._values import JsonValue
    from jsontide.schema._shapes import Shape

Values: TypeAlias = Any
"""A `list` for an array, a `dict` for an object; which one, the level knows."""


class Reading:
    """A container read by one form."""

    __slots__ = ("failed", "finals", "form", "has_hole", "repeats", "values", "waits")

    def __init__(self, form: Form, values: Values) -> None:
        self.form = form
        self.values: Values = values  # what may be shown of its closed children
        self.finals: dict[Segment, JsonValue] | None = None  # children that look otherwise at the end, with defaults
        self.has_hole = False  # an item did not fit: those after it would be shown at a wrong index
        self.repeats = 0  # how often a member was replaced
        self.failed = False  # something in it does not fit
        self.waits = form.gates  # members that are to come before anything is shown

    def store(self, segment: Segment, value: JsonValue, final: JsonValue) -> None:
        """Take in a closed child that may be shown."""
        values: Any = self.values
        if isinstance(values, dict):
            if segment in values:
                self._replace(segment)
            values[segment] = value
            if self.waits and isinstance(self.form, ObjectForm):
                self.waits -= {self.form.first_key(cast("str", segment))}
        elif self.has_hole:
            return
        else:
            items: list[object] = values
            items.append(value)
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
        """Forget a member whose key comes again."""
        self.repeats += 1
        if self.finals is not None:
            self.finals.pop(segment, None)

    def final(self) -> Values:
        """Return the values as they are at the end: with defaults."""
        values: Any = self.values
        form, finals = self.form, self.finals
        if finals is None and (not isinstance(form, ObjectForm) or not form.defaults):
            return values
        found = finals or {}
        if isinstance(values, list):
            return [found.get(at, value) for at, value in enumerate(values)] if found else values
        missing: dict[str, JsonValue] = {}
        if isinstance(form, ObjectForm):
            for key, default in form.defaults.items():
                if not any(name in values for name in form.names.get(key, (key,))):
                    missing[key] = deepcopy(default)
        return {**values, **found, **missing} if missing or found else values


class Group:
    """The readings that one reading of the container around can still choose from."""

    __slots__ = ("alive", "is_dead", "parent", "shape")

    def __init__(self, parent: Reading | None, shape: Shape, alive: list[Reading]) -> None:
        self.parent = parent  # none around the document
        self.shape = shape
        self.alive = alive
        self.is_dead = False  # all of them failed at the same moment

    @property
    def is_decided(self) -> bool:
        return len(self.alive) == 1 and not self.is_dead

    @property
    def around(self) -> Reading:
        return cast("Reading", self.parent)

    @property
    def best(self) -> Reading:
        """Of those that fit a closed value, the one that shows most of it."""
        alive = self.alive
        return alive[0] if len(alive) == 1 else max(alive, key=lambda reading: len(reading.values))


class Level:
    """An open container."""

    __slots__ = ("count", "groups", "node_id", "old", "readings", "seen", "segment", "start", "told")

    def __init__(self, node_id: int, segment: Segment, start: int, groups: list[Group]) -> None:
        self.node_id = node_id
        self.segment = segment  # in the container around
        self.start = start  # where it begins in the text
        self.groups = groups
        self.readings = groups[0].alive if len(groups) == 1 else self.left()
        self.count = 0  # children so far
        self.told = 0  # mismatches that were told before it opened
        self.seen: set[str] | None = None  # their keys, where only the first of equal ones counts
        self.old: Values = None  # how an earlier resolution showed it, where that is followed again

    def left(self) -> list[Reading]:
        """Return the readings that some group has left."""
        if len(self.groups) == 1:
            return [] if self.groups[0].is_dead else self.groups[0].alive
        return list(dict.fromkeys(each for group in self.groups if not group.is_dead for each in group.alive))

    def group_of(self, reading: Reading) -> Group | None:
        """Return the group that a reading of the container around chooses from."""
        for group in self.groups:
            if group.parent is reading:
                return group
        return None

    def is_hidden(self, segment: Segment) -> bool:
        """Tell whether an earlier member of the same key is the one that counts."""
        seen = self.seen
        if seen is None or not isinstance(segment, str):
            return False
        if segment in seen:
            return True
        seen.add(segment)
        return False
