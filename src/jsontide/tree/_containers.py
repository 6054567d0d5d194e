"""The arrays and objects of a document, as storage that all states of a stream share.

A container is written only at its end, by the tape.
A state remembers how many of its values were complete then, so that an old state still sees its own beginning of it.

What a state shows of an open container is a *view*: a plain `list` or `dict` of its own, because the storage goes on
growing and what was handed out must not.
Views keep identity: content that did not change is shown by the same object, whatever the order in which states are read.
Two rules do that: the newest view is remembered and used again where the content is the same, and a container that closes
with the content of its newest view takes that view for its value.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, cast

from jsontide._values import MISSING

if TYPE_CHECKING:
    from mypy_extensions import i64

    from jsontide._values import JsonValue, Missing


class Container:
    """An array or object; `step` counts the chunks of its stream."""

    def __init__(self, node_id: i64, parent: Container | None, key: str | None) -> None:
        self.node_id: i64 = node_id
        self.parent: Container | None = parent
        self.key: str | None = key  # in the parent, if that is an object
        self.place: i64 = 0 if parent is None else parent.count  # complete values before it there
        self.hidden: bool = False  # an earlier member of its key is the one to show
        self.count: i64 = 0  # complete values in it
        self.last: JsonValue | Missing = MISSING  # the last of them
        self.closed_at: i64 = 0  # the step in which it closed, 0 while it is open
        self.newest: JsonValue = None  # the newest view
        self.newest_size: i64 = -1  # how many values that shows, -1 for no view
        self.newest_last: JsonValue | Missing = MISSING  # the last of them
        self.newest_step: i64 = 0  # the step whose state that belongs to

    def add(self, key: str | None, value: JsonValue) -> None:
        """Append a complete value."""
        raise NotImplementedError

    def value(self) -> JsonValue:
        """Return the storage itself: the value of a closed container."""
        raise NotImplementedError

    def adopt(self, view: JsonValue) -> None:
        """Take a view of the same content for storage."""
        raise NotImplementedError

    def copy(self, count: i64, key: str | None, child: JsonValue | Missing) -> JsonValue:
        """Return the first `count` values, and the open `child` if there is one, in a container of their own."""
        raise NotImplementedError

    def fork(self, count: i64, parent: Container | None) -> Container:
        """Return a container with storage of its own that goes on after `count` values."""
        raise NotImplementedError

    def close(self, step: i64) -> JsonValue:
        """Append no more; return the value, for good."""
        self.closed_at = step
        if self.newest_size == self.count and is_same(self.newest_last, self.last):
            self.adopt(self.newest)
        self.newest = None
        self.newest_size = -1
        return self.value()

    def view(self, count: i64, key: str | None, child: JsonValue | Missing, step: i64) -> JsonValue:
        """Show the first `count` values, and the open `child` if there is one, to the state of `step`."""
        size: i64 = count if child is MISSING else count + 1
        last = child if child is not MISSING or count != self.count else self.last
        if self.closed_at != 0:
            if size == self.count and (child is MISSING or is_same(self.last, child)):
                return self.value()
            return self.copy(count, key, child)
        if size == self.newest_size and is_same(self.newest_last, last):
            return self.newest
        view = self.copy(count, key, child)
        if step >= self.newest_step:
            self.remember(view, size, last, step)
        return view

    def remember(self, view: JsonValue, size: i64, last: JsonValue | Missing, step: i64) -> None:
        """Take note of the newest view."""
        self.newest = view
        self.newest_size = size
        self.newest_last = last
        self.newest_step = step


class ArrayContainer(Container):
    """An array: its storage is the list of its complete values."""

    def __init__(self, node_id: i64, parent: Container | None, key: str | None) -> None:
        super().__init__(node_id, parent, key)
        self.items: list[JsonValue] = []

    def add(self, key: str | None, value: JsonValue) -> None:
        self.items.append(value)
        self.count += 1
        self.last = value

    def value(self) -> JsonValue:
        return self.items

    def adopt(self, view: JsonValue) -> None:
        self.items = cast("list[JsonValue]", view)

    def copy(self, count: i64, key: str | None, child: JsonValue | Missing) -> JsonValue:
        items = self.items[:count]
        if child is not MISSING:
            items.append(child)
        return items

    def fork(self, count: i64, parent: Container | None) -> Container:
        fork = ArrayContainer(self.node_id, parent, self.key)
        fork.items = self.items[:count]
        fork.count = count
        fork.last = fork.items[-1] if count else MISSING
        return fork


class Replaced:
    """A member that a later one of the same key replaced: `value` was shown up to the member numbered `place`."""

    def __init__(self, place: i64, key: str, value: JsonValue) -> None:
        self.place: i64 = place
        self.key: str = key
        self.value: JsonValue = value


class ObjectContainer(Container):
    """An object: its storage is the dict of its complete members.

    A repeated key overwrites what the dict held, so that the values replaced are kept for those who saw them.
    """

    def __init__(self, node_id: i64, parent: Container | None, key: str | None) -> None:
        super().__init__(node_id, parent, key)
        self.members: dict[str, JsonValue] = {}
        self.replaced: list[Replaced] = []

    def add(self, key: str | None, value: JsonValue) -> None:
        assert key is not None
        if key in self.members:
            self.replaced.append(Replaced(self.count, key, self.members[key]))
        self.members[key] = value
        self.count += 1
        self.last = value

    def value(self) -> JsonValue:
        return self.members

    def adopt(self, view: JsonValue) -> None:
        self.members = cast("dict[str, JsonValue]", view)

    def copy(self, count: i64, key: str | None, child: JsonValue | Missing) -> JsonValue:
        members = self.members.copy() if count == self.count else self._first(count)
        if child is not MISSING:
            assert key is not None
            members[key] = child
        return members

    def fork(self, count: i64, parent: Container | None) -> Container:
        fork = ObjectContainer(self.node_id, parent, self.key)
        fork.members = self._first(count)
        fork.replaced = [old for old in self.replaced if old.place < count]
        fork.count = count
        if fork.replaced and fork.replaced[-1].place == count - 1:
            fork.last = fork.members[fork.replaced[-1].key]
        elif count:
            fork.last = next(reversed(fork.members.values()))
        return fork

    def _first(self, count: i64) -> dict[str, JsonValue]:
        """Return the members as they were when `count` of them were complete."""
        undone = [later for later in self.replaced if later.place >= count]
        distinct = count - (len(self.replaced) - len(undone))
        members = dict(islice(self.members.items(), distinct))
        for later in reversed(undone):
            if later.key in members:
                members[later.key] = later.value
        return members


def is_same(old: JsonValue | Missing, new: JsonValue | Missing) -> bool:
    """Compare what stands at one place at two moments: strings are made anew as they grow."""
    if old is new:
        return True
    return isinstance(old, str) and isinstance(new, str) and old == new
