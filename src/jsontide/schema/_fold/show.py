"""The candidates of the open path in, the value to hand out for them out.

A showing is a chain of views, one for each candidate that is shown, each holding the next one in its last place.
As in `tree`, a view is brought up to date in place while nobody else can see it, because copying it would cost as much
as it is wide; and three showings take turns, because most programs hold the last value while they ask for the next
one, and some the one before it too.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from jsontide._values import MISSING
from jsontide.tree.references import OUR_TEXT, OUR_VIEW, have_more

if TYPE_CHECKING:
    from jsontide._path import Segment
    from jsontide._values import JsonValue, Missing
    from jsontide.schema._fold.candidates import Candidate, Values
    from jsontide.tree.log import OpenScalar

_LONG: Final = 1_000  # characters of a string that is cheaper to extend in place than to copy
_FEW_TIMES: Final = 4  # members for each new one that are cheaper to copy than to leave as they are


class Picture:
    """What there is to show: a chain of candidates, where each stands, and the open string in the last one.

    A picture stays the same while more of that string comes.
    """

    __slots__ = ("candidates", "piece_count", "pieces", "segments", "text_id", "text_segment")

    def __init__(self, candidates: list[Candidate], segments: list[Segment], text: OpenScalar | None) -> None:
        self.candidates = candidates
        self.segments = segments
        self.text_id = -1  # the node of the open string, -1 if there is none to show
        self.text_segment: Segment = 0
        self.pieces: list[str] = []
        self.piece_count = 0  # so many of the pieces are there
        if text is not None:
            self.text_id = text.node_id
            self.text_segment = len(candidates[-1].values) if text.key is None else text.key
            self.pieces = text.pieces
            self.piece_count = text.piece_count


class Showing:
    """A chain of views; the first shows the document, whose only value is the root, and is never handed out."""

    __slots__ = ("candidates", "picture", "piece_count", "repeats", "text", "text_id", "text_segment", "views")

    def __init__(self, candidates: list[Candidate], views: list[Values]) -> None:
        self.candidates = candidates
        self.views = views
        self.repeats = [candidate.repeats for candidate in candidates]  # when shown; -1 where a member is covered
        self.picture: Picture | None = None  # the last one that was shown
        self.text = ""
        self.text_id = -1  # the open string that the last view ends in, -1 if it ends in none
        self.text_segment: Segment = 0
        self.piece_count = 0  # how many of its pieces are shown

    @property
    def value(self) -> JsonValue | Missing:
        document: list[JsonValue] = self.views[0]
        return document[0] if document else MISSING

    def shows(self, picture: Picture) -> bool:
        """Tell whether the views are right as they are; note then what is open in them.

        Only the last candidate can have changed: what is open in the others is the next one.
        """
        before = self.picture
        if picture is before:
            return self.piece_count == picture.piece_count
        if picture.text_id >= 0 and (self.text_id != picture.text_id or self.piece_count != picture.piece_count):
            return False
        candidates = picture.candidates
        count = len(candidates)
        is_other = before is None or before.candidates is not candidates
        if is_other and self.candidates[:count] != candidates:
            return False
        if not self._is_last_right(picture, count - 1):
            return False
        if is_other:
            self._forget(count)
        self.picture = picture
        self.text_id = picture.text_id
        self.piece_count = picture.piece_count
        return True

    def _is_last_right(self, picture: Picture, last: int) -> bool:
        candidate = picture.candidates[last]
        if candidate.repeats != self.repeats[last]:
            return False
        if picture.text_id < 0:
            return _is_all_shown(self.views[last], candidate.values)
        return last == len(self.candidates) - 1

    def _forget(self, known: int) -> None:
        """Go back to the first views."""
        del self.candidates[known:]
        del self.views[known:]
        del self.repeats[known:]

    def update(self, picture: Picture, newest: Showing) -> bool:
        """Show what there is now, if nobody can see the views that would change; the newest showing has joined text."""
        candidates = picture.candidates
        if picture is self.picture or (
            picture.text_id >= 0 and self.text_id == picture.text_id and self.candidates == candidates
        ):
            self.picture = picture
            return self.grow(picture)
        known = self._known(picture)
        has_child = self.text_id >= 0 or known < len(self.candidates)
        if known < len(self.candidates):
            self._forget(known)
        if len(self.views) > 1 and have_more(self.views, OUR_VIEW):
            return False
        last = candidates[known - 1]
        is_old = last.repeats != self.repeats[-1]
        _bring_up_to_date(self.views[-1], last, has_child=has_child, is_old=is_old)
        self.repeats[-1] = last.repeats
        for at in range(known, len(candidates)):
            view = _copy(candidates[at].values)
            self._show_child(picture.segments[at], view)
            self.candidates.append(candidates[at])
            self.views.append(view)
            self.repeats.append(candidates[at].repeats)
        self.picture = picture
        self.text_id = picture.text_id
        self.piece_count = picture.piece_count
        if picture.text_id >= 0:
            self._show_text(picture, newest)
        return True

    def _known(self, picture: Picture) -> int:
        """Return how many candidates of a picture are shown already.

        Who is shown around a candidate never changes: the last one that both have tells.
        """
        mine, wanted = self.candidates, picture.candidates
        known = min(len(mine), len(wanted))
        while mine[known - 1] is not wanted[known - 1]:
            known -= 1
        return known

    def _show_text(self, picture: Picture, newest: Showing) -> None:
        begun = newest.text if newest.text_id == picture.text_id and newest is not self else ""
        count = newest.piece_count if begun else 0
        self.text = begun + "".join(picture.pieces[count : picture.piece_count])
        self.text_segment = picture.text_segment
        self._show_child(picture.text_segment, self.text)

    def _show_child(self, segment: Segment, child: object) -> None:
        """Put the open value into the last view."""
        view: Values = self.views[-1]
        if isinstance(view, list):
            view.append(child)
            return
        seen: dict[Segment, object] = view
        members: dict[Segment, object] = self.candidates[-1].values
        if segment in members:
            self.repeats[-1] = -1
        seen[segment] = child

    def grow(self, picture: Picture) -> bool:
        """Show more of the same string: nothing else has changed."""
        views = self.views
        if len(views) > 1 and have_more(views, OUR_VIEW):
            return False
        if len(self.text) > _LONG and have_more([self.text], OUR_TEXT):
            return False
        text = self.text
        if len(text) > _LONG:
            # Now nobody else refers to the string, and Python extends it in place.
            self.text = ""
            views[-1][self.text_segment] = None
        pieces, count = picture.pieces, self.piece_count
        text += pieces[count] if picture.piece_count == count + 1 else "".join(pieces[count : picture.piece_count])
        self.text = text
        self.piece_count = picture.piece_count
        views[-1][self.text_segment] = text
        return True

    def settle(self, candidate: Candidate, depth: int) -> None:
        """Let the view of a candidate that closes at a depth be its values, if it shows all of them."""
        if (
            depth >= len(self.candidates)
            or self.candidates[depth] is not candidate
            or self.repeats[depth] != candidate.repeats
        ):
            return
        if _is_all_shown(self.views[depth], candidate.values):
            candidate.values = self.views[depth]


def restored_showing(picture: Picture, views: list[Values]) -> Showing | None:
    """Return a showing of views that were made before, if they show just this."""
    if None in views:
        return None
    showing = Showing(list(picture.candidates), views)
    if picture.candidates[-1].repeats:
        return None
    if picture.text_id >= 0:
        showing.text = "".join(picture.pieces[: picture.piece_count])
        showing.text_id = picture.text_id
        showing.text_segment = picture.text_segment
        showing.piece_count = picture.piece_count
    return showing if showing.shows(picture) else None


def begin_showing(document: Candidate) -> Showing:
    """Return a showing of nothing."""
    return Showing([document], [[]])


def is_same_value(old: Values, values: Values) -> bool:
    """Compare two containers whose containers are the same objects if they are equal."""
    if type(old) is not type(values) or len(old) != len(values):
        return False
    if isinstance(old, dict):
        return list(old) == list(values) and all(map(_is_same, old.values(), values.values()))
    return all(map(_is_same, old, values))


def _is_all_shown(view: Values, values: Values) -> bool:
    """Compare what a container showed with what it holds at its end; all but the last were compared before."""
    return len(view) == len(values) and (not view or _is_same(_last(view), _last(values)))


def _last(values: Values) -> object:
    if isinstance(values, list):
        return values[-1]
    members: dict[str, object] = values
    return members[next(reversed(members))]


def _is_same(old: object, new: object) -> bool:
    """Compare what stands at one place at two moments: strings are made anew as they grow."""
    return old is new or (isinstance(old, str) and isinstance(new, str) and old == new)


def _bring_up_to_date(view: Values, candidate: Candidate, *, has_child: bool, is_old: bool) -> None:
    """Add the values that closed since; `has_child` tells that the last one was open, `is_old` that any may differ."""
    if isinstance(view, list):
        items: list[object] = candidate.values
        shown = len(view) - 1 if has_child else len(view)
        view[shown:] = items[shown:]
        return
    seen: dict[str, object] = view
    members: dict[str, object] = candidate.values
    shown = len(seen) - 1 if has_child else len(seen)
    count = len(members) - shown
    if is_old or shown <= 0 or shown < _FEW_TIMES * count:
        seen.clear()
        seen.update(members)
        return
    if has_child:
        seen.popitem()
    if count == 1:
        key = next(reversed(members))
        seen[key] = members[key]
    elif count > 1:
        newest = list(islice(reversed(members.items()), count))
        seen.update(reversed(newest))


def _copy(values: Values) -> Values:
    if isinstance(values, list):
        return values.copy()
    members: dict[str, object] = values
    return members.copy()
