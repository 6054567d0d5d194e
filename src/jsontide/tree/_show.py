"""The newest end of a tape in, the value to hand out for it out.

A showing is a chain of views, one for each container of the open path, each holding the next one in its last place.
Copying them all for every read would cost as much as the containers are wide, so a showing is brought up to date in
place whenever nobody else can see it any more: what no one holds may change, as CPython does with `text += more`.
Reference counts tell: a view is ours alone if only its showing and the view around it refer to it.
What a program still holds, the value itself or anything in it, is never touched: another showing is used, or a new one.

Three showings take turns, because most programs still hold the last value while they ask for the next one, and some
the one before it too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jsontide.text.modes import STRING
from jsontide.tree.references import OUR_TEXT, OUR_VIEW, have_more

if TYPE_CHECKING:
    from mypy_extensions import i64

    from jsontide.tree._tape import Tape
    from jsontide.tree.containers import Container, View


_LONG: Final = 1_000  # characters of a string that is cheaper to extend in place than to copy


class Showing:
    """A chain of views; the first shows the document, whose only value is the root, and is never handed out."""

    __slots__ = ("containers", "document", "piece_count", "shown_count", "text", "text_id", "text_place", "views")

    def __init__(self, containers: list[Container], views: list[View]) -> None:
        self.containers: list[Container] = containers
        self.views: list[View] = views
        self.document: list[object] = views[0]
        self.shown_count: i64 = 0  # complete values in the last view
        self.text: str = ""  # the open value in it, if that is a string
        self.text_id: i64 = 0  # the number of nodes up to that string, 0 if it is none
        self.text_place: object = 0  # its key or index in the last view
        self.piece_count: i64 = 0  # how many of its pieces are shown

    def update(self, tape: Tape) -> bool:
        """Show what the tape holds now, if nobody can see the views that would change."""
        if self.text_id == tape.node_count and tape.mode == STRING:
            return self._grow_text(tape.pieces)
        containers = self.containers
        container: Container = tape.top
        depth: i64 = container.depth
        known: i64 = len(containers)
        opened: list[Container] | None = None
        while depth >= known or containers[depth] is not container:
            if opened is None:
                opened = []
            opened.append(container)
            assert container.parent is not None  # every chain begins with the document
            container = container.parent
            depth = container.depth
        if known > depth + 1:
            self._forget_closed(depth + 1)
        views = self.views
        if len(views) > 1 and have_more(views, OUR_VIEW):
            return False
        container.update_view(views[depth], self.shown_count)
        if opened is not None:
            while opened:
                self._open(opened.pop())
        self.shown_count = tape.top.count
        if tape.mode == STRING and not tape.is_duplicate:
            self._show_text(tape)
        else:
            self.text_id = 0
        return True

    def _forget_closed(self, known: i64) -> None:
        """Go back to the first views; the last of them still shows what has closed, as it was."""
        self.shown_count = self.containers[known].place
        del self.containers[known:]
        del self.views[known:]

    def _open(self, container: Container) -> None:
        """Go on with the view of a container inside the last one."""
        view = container.new_view()
        if not container.is_duplicate:
            self.containers[-1].show_child(self.views[-1], container.key, view)
        self.containers.append(container)
        self.views.append(view)

    def _show_text(self, tape: Tape) -> None:
        """Show the open string, from what the newest showing has joined of it."""
        top = tape.top
        key = tape.member_key
        pieces = tape.pieces
        newest = tape.newest
        if newest.text_id == tape.node_count:
            text = newest.text + "".join(pieces[newest.piece_count :])
        else:
            text = "".join(pieces)
        self.text = text
        self.text_id = tape.node_count
        self.text_place = top.count if key is None else key
        self.piece_count = len(pieces)
        top.show_child(self.views[-1], key, text)

    def _grow_text(self, pieces: list[str]) -> bool:
        """Show more of the same string, if nobody can see the views: nothing else has changed."""
        views = self.views
        if len(views) > 1 and have_more(views, OUR_VIEW):
            return False
        if len(self.text) > _LONG and have_more([self.text], OUR_TEXT):
            return False
        text = self.text
        if len(text) > _LONG:
            # Now nobody else refers to the string, and Python extends it in place.
            self.text = ""
            views[-1][self.text_place] = None
        count: i64 = self.piece_count
        new_count: i64 = len(pieces)
        text += pieces[count] if new_count == count + 1 else "".join(pieces[count:])
        self.text = text
        self.piece_count = new_count
        views[-1][self.text_place] = text
        return True


def begin_showing(document: Container) -> Showing:
    """Return a showing of nothing."""
    return Showing([document], [[]])
