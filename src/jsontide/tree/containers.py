"""The arrays and objects of a document, as storage that all states of a stream share.

The tape only appends to containers; a state remembers how many values were complete, so older states stay valid.
The storage of an open container is never handed out, because it still grows; that of a closed one is its value.
Values are typed as `object` here: compiled code would check a union again at each step.

An open container is handed out as a *view*: a plain `list` or `dict` of the same values and of the open one in it.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from jsontide._values import MISSING
from jsontide.text import modes
from jsontide.tree.views import Viewable, is_same

if TYPE_CHECKING:
    from mypy_extensions import i64

    from jsontide._path import Path, Segment
    from jsontide.tree.views import View


class Container(Viewable):
    """An array or object."""

    __slots__ = ("after", "closed_at", "node_id", "parent", "place", "start")

    def __init__(self, node_id: i64, parent: Container | None, key: str | None, after: i64) -> None:
        # As `super().__init__`, here and below, which costs twice as much interpreted.
        Viewable.__init__(self, key, 0 if parent is None else parent.depth + 1)
        self.node_id: i64 = node_id
        self.parent: Container | None = parent
        self.after: i64 = after  # the mode after a value in it
        self.place: i64 = 0 if parent is None else parent.count  # complete values before it in the parent
        self.closed_at: i64 = 0  # the step in which it closed, 0 while it is open
        self.start: i64 = 0  # the index of its bracket

    def outer(self) -> Viewable | None:
        return self.parent

    def path(self) -> Path:
        """Return the path of the container; the document has that of its root."""
        segments: list[Segment] = []
        container = self
        while container.depth > 1:
            segments.append(container.place if container.key is None else container.key)
            assert container.parent is not None
            container = container.parent
        segments.reverse()
        return tuple(segments)

    def child_path(self, key: str | None, count: int) -> Path:
        """Return the path of a value in it: of this key, or after `count` others."""
        return () if self.depth == 0 else (*self.path(), count if key is None else key)

    def add(self, key: str | None, value: object) -> None:
        """Append a complete value."""
        raise NotImplementedError

    def value(self) -> object:
        """Return the storage itself: the value of a closed container."""
        raise NotImplementedError

    def close(self, step: i64, view: View) -> object:
        """Close the container; return its final value: the given view of the same content, if any, else the storage."""
        raise NotImplementedError

    def show_past(self, count: i64, key: str | None, child: object) -> object:
        """Return an earlier value: the first `count` values, and `child` if one was open."""
        raise NotImplementedError

    def fork(self, count: i64, parent: Container | None) -> Container:
        """Return a copy with the first `count` values, to be appended to independently."""
        raise NotImplementedError


class ArrayContainer(Container):
    """An array: its storage is the list of its complete values."""

    __slots__ = ("items",)

    def __init__(self, node_id: i64, parent: Container | None, key: str | None, after: i64 = modes.AFTER_ITEM) -> None:
        Container.__init__(self, node_id, parent, key, after)
        self.items: list[object] = []

    def add(self, key: str | None, value: object) -> None:
        self.items.append(value)
        self.count += 1

    def value(self) -> object:
        return self.items

    def close(self, step: i64, view: View) -> object:
        self.closed_at = step
        if isinstance(view, list):
            self.items = view
        return self.items

    def show_past(self, count: i64, key: str | None, child: object) -> object:
        if self.closed_at != 0:
            if child is MISSING:
                if count == self.count:
                    return self.items
            elif count + 1 == self.count and is_same(self.items[count], child):
                return self.items
        view = self.items[:count]
        if child is not MISSING:
            view.append(child)
        return view

    def fork(self, count: i64, parent: Container | None) -> Container:
        fork = ArrayContainer(self.node_id, parent, self.key, self.after)
        fork.start = self.start
        fork.items = self.items[:count]
        fork.count = count
        return fork

    def new_view(self) -> View:
        return self.items.copy()

    def update_view(self, view: View, shown: i64) -> None:
        items: list[object] = view
        if self.count == shown + 1 and len(items) == shown:
            items.append(self.items[shown])
        elif self.count > shown:
            items[shown:] = self.items[shown:]

    def show_child(self, view: View, key: str | None, child: object) -> i64:
        items: list[object] = view
        if len(items) == self.count:
            items.append(child)
        else:
            items[-1] = child
        return self.count


class Replaced:
    """A member that the member numbered `place`, of the same key, replaced: before that, `value` was shown."""

    __slots__ = ("key", "place", "value")

    def __init__(self, place: i64, key: str, value: object) -> None:
        self.place: i64 = place
        self.key: str = key
        self.value: object = value


_NO_KEYS: Final[list[str]] = []  # shared by all closed objects; never appended to


class ObjectContainer(Container):
    """An object: its storage is the dict of its complete members.

    A repeated key overwrites a member of the dict, so replaced values are kept for older states.
    """

    __slots__ = ("keys", "members", "replaced")

    def __init__(self, node_id: i64, parent: Container | None, key: str | None) -> None:
        Container.__init__(self, node_id, parent, key, modes.AFTER_MEMBER)
        self.members: dict[str, object] = {}
        self.keys: list[str] = []  # of its complete members, repeated ones included, while it is open
        self.replaced: list[Replaced] | None = None

    def add(self, key: str | None, value: object) -> None:
        assert key is not None
        members = self.members
        before: i64 = len(members)
        members.setdefault(key, value)
        if len(members) == before:
            if self.replaced is None:
                self.replaced = []
            self.replaced.append(Replaced(self.count, key, members[key]))
            members[key] = value
        self.keys.append(key)
        self.count += 1

    def value(self) -> object:
        return self.members

    def close(self, step: i64, view: View) -> object:
        self.closed_at = step
        self.keys = _NO_KEYS
        if isinstance(view, dict):
            self.members = view
        return self.members

    def show_past(self, count: i64, key: str | None, child: object) -> object:
        if self.closed_at != 0:
            if child is MISSING:
                if count == self.count:
                    return self.members
            elif count + 1 == self.count and key is not None and is_same(self.members[key], child):
                return self.members
        view = self._first(count)
        if child is not MISSING:
            assert key is not None
            view[key] = child
        return view

    def fork(self, count: i64, parent: Container | None) -> Container:
        fork = ObjectContainer(self.node_id, parent, self.key)
        fork.start = self.start
        fork.members = self._first(count)
        fork.keys = list(fork.members)
        fork.count = len(fork.members)  # no older state sees this copy, so replaced values are dropped
        return fork

    def _first(self, count: i64) -> dict[str, object]:
        """Return the members as they were when `count` of them were complete."""
        replaced = self.replaced or []
        if count == self.count and count - len(replaced) == len(self.members):  # not so if adding was interrupted
            return self.members.copy()
        undone = [later for later in replaced if later.place >= count]
        distinct = count - (len(replaced) - len(undone))
        members = dict(islice(self.members.items(), distinct))
        for later in reversed(undone):
            if later.key in members:
                members[later.key] = later.value
        return members

    def new_view(self) -> View:
        return self.members.copy()

    def update_view(self, view: View, shown: i64) -> None:
        members: dict[str, object] = view
        if shown == 0:
            members.clear()
            members.update(self.members)
        else:
            stored = self.members
            keys = self.keys
            while shown < self.count:
                key = keys[shown]
                members[key] = stored[key]
                shown += 1

    def show_child(self, view: View, key: str | None, child: object) -> i64:
        assert key is not None
        members: dict[str, object] = view
        members[key] = child
        return self.count
