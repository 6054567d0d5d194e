"""Open containers in, values to hand out for them out: plain lists and dicts, updated in place while unseen.

A *view* is the list or dict that shows an open container: its complete values, and the open one after them.
A chain has one view for each container of the open path, each standing in the view before it; the first shows the
document, whose only value is the root, and is never handed out.
Copying all views for every read would cost as much as they are wide, so a chain is updated in place if nothing outside
of it refers to any of its views, as CPython does with `text += more`.
Three chains take turns, because most programs still hold the last value when they ask for the next one, and some hold
the one before it too.

Rules:
- A view changes only while each view of its chain has just the references that the chain itself makes.
- What closes leaves the chain before anything changes, so the view of a closed container never changes again.
- Only the last container that a chain and the open path share can hold more than its view shows; in the views around it
  the open value is the next view.
- A chain knows for each view how many complete values it shows, so it can be left as it is and updated much later.

CPython frees an object when nothing refers to it any more, so its count of references is exact.
An object is counted as an item of a list, never under a name of its own: a debugger that reads the names of a frame
refers to their objects, and the count would change with it.
How many references counting adds is measured once, by the function that counts; where the measure is too high,
references are not counted, or threads run at the same time, every object counts as seen and nothing is updated.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from jsontide._build import COMPILED
from jsontide.text.strings import join_pieces

if TYPE_CHECKING:
    from mypy_extensions import i64


View: TypeAlias = Any
"""A `list` for an array, a `dict` for an object; its container knows which."""

NO_STRING: Final = -1  # no string is to be shown; a chain that shows none has 0

_LONG_TEXT: Final = 1_000  # characters of a string that is cheaper to extend in place than to copy
_MAX_SPARE_CHAINS: Final = 2  # values that a program can hold while the next one is made without copying


class Viewable:
    """An open array or object that views can show."""

    __slots__ = ("count", "depth", "is_duplicate", "key")

    def __init__(self, key: str | None, depth: i64) -> None:
        self.key: str | None = key  # in the object around it; None in an array
        self.depth: i64 = depth  # 0 for the document
        self.is_duplicate: bool = False  # an earlier member of its key is the one to show
        self.count: i64 = 0  # complete values in it; only goes up

    def outer(self) -> Viewable | None:
        """Return the container around it."""
        raise NotImplementedError

    def new_view(self) -> View:
        """Return a view of the complete values."""
        raise NotImplementedError

    def update_view(self, view: View, shown: i64) -> None:
        """Bring a view up to the complete values of now; it has the first `shown` of them, and perhaps an open one."""
        raise NotImplementedError

    def show_child(self, view: View, key: str | None, child: object) -> i64:
        """Put the open value into an updated view; return how many complete values that shows then.

        -1 stands for a view to be made anew, because the open value may be taken back and hides a complete one.
        """
        raise NotImplementedError

    def is_shown_by(self, view: View, shown: i64) -> bool:
        """Return whether a view of the first `shown` values, and perhaps an open one, shows just the complete ones."""
        raise NotImplementedError


class ViewChain:
    """The views of an open path."""

    __slots__ = (
        "containers",
        "document",
        "last",
        "piece_count",
        "shown",
        "shown_count",
        "text",
        "text_id",
        "text_place",
        "views",
    )

    def __init__(self, containers: list[Viewable], views: list[View], shown: list[int], shown_count: i64) -> None:
        self.containers: list[Viewable] = containers
        self.last: Viewable = containers[-1]
        self.views: list[View] = views
        self.document: list[object] = views[0]  # the root, if it has begun
        self.shown: list[int] = shown  # complete values in each view but the last
        self.shown_count: i64 = shown_count  # complete values in the last view
        self.text: str = ""  # the open value in it, if that is a string
        self.text_id: i64 = 0  # the number of that string, 0 if there is none
        self.text_place: object = 0  # its key or index in the last view
        self.piece_count: i64 = 0  # how many of its pieces are shown

    def update(self, pool: ViewPool) -> bool:
        """Show the open path of now, unless something else refers to the views that would change."""
        top = pool.top
        opened: list[Viewable] | None = None
        if self.last is not top:
            opened = self._leave_closed(top)
        elif self.text_id == pool.text_id:
            return self.append_text(pool.pieces, pool.piece_count)
        views = self.views
        if _have_more(views, _OUR_VIEW) and len(views) > 1:  # the view of the document is never seen
            return False
        self.last.update_view(views[-1], self.shown_count)
        if opened:
            self._open(opened)
        if pool.text_id != NO_STRING:
            self.take_text(pool)
            self.shown_count = top.show_child(views[-1], pool.key, self.text)
        else:
            self.shown_count = top.count
            self.text_id = 0
        return True

    def shows(self, pool: ViewPool) -> bool:
        """Return whether the views are right as they are; if so, note the open path in them."""
        top = pool.top
        known: i64 = len(self.containers)
        if top.depth >= known or self.containers[top.depth] is not top:
            return False
        if pool.text_id != NO_STRING:
            return top.depth + 1 == known and self.text_id == pool.text_id and self.piece_count == pool.piece_count
        if not top.is_shown_by(self.views[top.depth], self._shown_at(top.depth)):
            return False
        if known > top.depth + 1:
            self._forget_closed(top.depth + 1)
        self.shown_count = top.count
        self.text_id = 0
        return True

    def final_view(self, container: Viewable, depth: i64) -> View:
        """Return the view of a container that closes at a depth if it shows all of its values, None if not."""
        if depth >= len(self.containers) or self.containers[depth] is not container:
            return None
        view = self.views[depth]
        return view if container.is_shown_by(view, self._shown_at(depth)) else None

    def _shown_at(self, depth: i64) -> i64:
        if depth < len(self.shown):
            return self.shown[depth]
        return self.shown_count

    def _leave_closed(self, top: Viewable) -> list[Viewable]:
        """Go back to the last container that is still open; return those inside it down to `top`, innermost first."""
        containers = self.containers
        container = top
        depth: i64 = container.depth
        known: i64 = len(containers)
        opened: list[Viewable] = []
        while depth >= known or containers[depth] is not container:
            opened.append(container)
            outer = container.outer()
            assert outer is not None  # every chain begins with the document
            container = outer
            depth = container.depth
        if known > depth + 1:
            self._forget_closed(depth + 1)
        return opened

    def _forget_closed(self, known: i64) -> None:
        """Go back to the first views; the last of them still shows what has closed, as it was."""
        self.shown_count = self.shown[known - 1]
        self.text_id = 0
        del self.shown[known - 1 :]
        del self.containers[known:]
        self.last = self.containers[-1]
        del self.views[known:]

    def _open(self, opened: list[Viewable]) -> None:
        """Continue with the views of containers inside the last one; `opened` has the innermost first."""
        containers, views, shown = self.containers, self.views, self.shown
        outer = self.last
        around = views[-1]
        for container in reversed(opened):
            view = container.new_view()
            shown.append(outer.count if container.is_duplicate else outer.show_child(around, container.key, view))
            containers.append(container)
            views.append(view)
            outer = container
            around = view
        self.last = outer

    def take_text(self, pool: ViewPool) -> None:
        """Note the open string, from what the newest chain has joined of it; the last view is left as it is."""
        key = pool.key
        newest = pool.newest
        if newest.text_id == pool.text_id:
            self.text = newest.text + join_pieces(pool.pieces, newest.piece_count, pool.piece_count)
        else:
            self.text = join_pieces(pool.pieces, 0, pool.piece_count)
        self.text_id = pool.text_id
        self.text_place = pool.top.count if key is None else key
        self.piece_count = pool.piece_count

    def recut_text(self, text: str, text_id: i64, piece_count: i64) -> None:
        """Note that the open string has other pieces now, if its text is the same."""
        if text == self.text:
            self.text_id = text_id
            self.piece_count = piece_count

    def append_text(self, pieces: list[str], new_count: i64) -> bool:
        """Show more of the same string, unless something else refers to the views: nothing else has changed."""
        views = self.views
        if _have_more(views, _OUR_VIEW) and len(views) > 1:
            return False
        if len(self.text) <= _LONG_TEXT:
            text = self.text
        elif _have_more([self.text], _OUR_TEXT):
            return False
        else:
            text = self.text
            # Now nothing else refers to the string, and Python extends it in place.
            self.text = ""
            views[-1][self.text_place] = None
        text += join_pieces(pieces, self.piece_count, new_count)
        self.text = text
        self.piece_count = new_count
        views[-1][self.text_place] = text
        return True


class ViewPool:
    """The open path, the chain that shows it, and spare chains to show it by while that one is held."""

    __slots__ = ("document", "key", "newest", "piece_count", "pieces", "spares", "text_id", "top")

    def __init__(self, document: Viewable) -> None:
        self.document: Viewable = document
        self.top: Viewable = document  # the innermost container to show
        # A number above 0 for the open string in it, `NO_STRING` if none is to be shown.
        # Strings of one number have one list of pieces, because chains know by a count what they show of it.
        self.text_id: i64 = NO_STRING
        self.key: str | None = None  # the key of that string in an object
        self.pieces: list[str] = []
        self.piece_count: i64 = 0  # how many of the pieces belong to it
        self.newest: ViewChain = ViewChain([document], [[]], [], 0)
        self.spares: list[ViewChain] = []  # those that were the newest before, the oldest first

    def switch(self) -> None:
        """Show the open path of now by a spare chain, or by a new one if all of them are held."""
        spares = self.spares
        for other in spares:
            if other.update(self):
                spares.remove(other)
                break
        else:
            other = ViewChain([self.document], [[]], [], 0)
            other.update(self)
            if len(spares) == _MAX_SPARE_CHAINS:
                spares.pop(0)
        spares.append(self.newest)
        self.newest = other


def is_same(old: object, new: object) -> bool:
    """Compare what stands at one place at two moments: strings are made anew as they grow."""
    if old is new:
        return True
    return isinstance(old, str) and isinstance(new, str) and old == new


_count: Final[Callable[[object], i64]] = getattr(sys, "getrefcount", id)
_MAX_OWN_REFERENCES: Final = 3  # the list of views, the container around a view, and the call that counts


def _have_more(objects: list[Any], limit: i64) -> bool:
    """Return whether any object of a list has more references than `limit`."""
    if COMPILED:
        for each in objects:  # quicker, and there is no frame to be read
            if _count(each) > limit:
                return True
        return False
    for count in map(_count, objects):
        if count > limit:
            return True
    return False


def _measure() -> i64:
    """Return how many references a view of ours has; -1 where counts mean nothing, so everything counts as seen."""
    is_gil_enabled: Callable[[], bool] = getattr(sys, "_is_gil_enabled", lambda: True)
    if sys.implementation.name != "cpython" or not is_gil_enabled():
        return -1
    views: list[Any] = [[], []]
    around = [views[1]]
    limit: i64 = 0
    while limit <= _MAX_OWN_REFERENCES and _have_more(views, limit):
        limit += 1
    around.clear()  # a use: compiled code lets go of a name after its last one
    return limit if limit <= _MAX_OWN_REFERENCES else -1


_OUR_VIEW: Final[i64] = _measure()  # references to a view that only a list of views and one container around it hold
_OUR_TEXT: Final[i64] = _OUR_VIEW + 1 if _OUR_VIEW > 0 else -1  # to a string that a view, a chain and a list hold
