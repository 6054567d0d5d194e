"""The open containers of a document, and how each of them may be read.

A candidate is an open container read as one variant of its schema node, with what was found in it so far.
Most containers have one candidate; there are several while a union is undecided.
Alternatives are the candidates that one candidate of the container around has to choose from.
A candidate that fails leaves them, unless it is the last.

Rule: alternatives only shrink, and the values of a candidate are only added to.
"""

from __future__ import annotations

from copy import deepcopy
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from jsontide._path import Segment
from jsontide._values import JsonValue
from jsontide.schema._fold.variants import ObjectVariant, SchemaNode, Variant
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
