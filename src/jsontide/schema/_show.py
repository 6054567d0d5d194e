"""The readings of the open path in, the value to hand out for them out.

A showing is a chain of views, one for each reading that is shown, each holding the next one in its last place.
As in `tree`, a view is brought up to date in place while nobody else can see it, because copying it would cost as much
as it is wide; and two showings take turns, because most programs hold the last value while they ask for the next one.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from jsontide._values import MISSING
from jsontide.tree._references import OUR_VIEW, are_referred_to, is_referred_to

if TYPE_CHECKING:
    from jsontide._path import Segment
    from jsontide._values import JsonValue, Missing
    from jsontide.schema._readings import Reading, Values
    from jsontide.tree._log import OpenScalar

_LONG: Final = 1_000  # characters of a string that is cheaper to extend in place than to copy


class Picture:
    """What there is to show: a chain of readings, where each stands, and the open string in the last one."""

    __slots__ = ("readings", "segments", "text", "text_segment")

    def __init__(self, readings: list[Reading], segments: list[Segment], text: OpenScalar | None) -> None:
        self.readings = readings
        self.segments = segments
        self.text = text
        self.text_segment: Segment = 0
        if text is not None:
            self.text_segment = len(readings[-1].values) if text.key is None else text.key


class Showing:
    """A chain of views; the first shows the document, whose only value is the root, and is never handed out."""

    __slots__ = ("has_child", "piece_count", "readings", "text", "text_id", "text_segment", "views")

    def __init__(self, readings: list[Reading], views: list[Values]) -> None:
        self.readings = readings
        self.views = views
        self.has_child = False  # the last view ends in an open string
        self.text = ""
        self.text_segment: Segment = 0
        self.text_id = -1  # the node of the open string
        self.piece_count = 0  # how many of its pieces are shown

    @property
    def value(self) -> JsonValue | Missing:
        document: list[JsonValue] = self.views[0]
        return document[0] if document else MISSING

    def shows(self, picture: Picture) -> bool:
        """Tell whether the views are right as they are; note then what is open in them."""
        readings = picture.readings
        count = len(readings)
        if count > len(self.readings) or not self._is_content_right(picture):
            return False
        if count < len(self.readings):
            del self.readings[count:]
            del self.views[count:]
            self.has_child = False
        if picture.text is None:
            self.has_child = False
        return True

    def _is_content_right(self, picture: Picture) -> bool:
        last = len(picture.readings) - 1
        for at, reading in enumerate(picture.readings):
            if reading is not self.readings[at] or reading.repeats:
                return False
            if at < last and not _ends_open(self.views[at], reading, picture.segments[at + 1]):
                return False
        view, reading = self.views[last], picture.readings[last]
        text = picture.text
        if text is None:
            return _is_all_shown(view, reading.values)
        if not self.has_child or last < len(self.readings) - 1 or not _ends_open(view, reading, picture.text_segment):
            return False
        return self.text_id == text.node_id and self.piece_count == text.piece_count

    def update(self, picture: Picture) -> bool:
        """Show what there is now, if nobody can see the views that would change."""
        readings = picture.readings
        text = picture.text
        if text is not None and self.has_child and self.text_id == text.node_id and self.readings == readings:
            return self._grow(text)
        known = 0
        for mine, wanted in zip(self.readings, readings, strict=False):
            if mine is not wanted:
                break
            known += 1
        has_child = self.has_child or known < len(self.readings)
        del self.readings[known:]
        del self.views[known:]
        self.has_child = has_child
        if are_referred_to(self.views, OUR_VIEW):
            return False
        _bring_up_to_date(self.views[-1], readings[known - 1], has_child=has_child)
        for at in range(known, len(readings)):
            view = readings[at].values.copy()
            _show_child(self.views[-1], readings[at - 1], picture.segments[at], view)
            self.readings.append(readings[at])
            self.views.append(view)
        self.has_child = False
        if text is not None:
            self._show_text(text, picture.text_segment)
        return True

    def _show_text(self, text: OpenScalar, segment: Segment) -> None:
        self.has_child = True
        self.text = "".join(text.pieces[: text.piece_count])
        self.text_segment = segment
        self.text_id = text.node_id
        self.piece_count = text.piece_count
        _show_child(self.views[-1], self.readings[-1], segment, self.text)

    def _grow(self, scalar: OpenScalar) -> bool:
        """Show more of the same string: nothing else has changed."""
        views = self.views
        if are_referred_to(views, OUR_VIEW):
            return False
        text = self.text
        if len(text) > _LONG:
            if is_referred_to(text, _OUR_TEXT):
                return False
            # Now nobody else refers to the string, and Python extends it in place.
            self.text = ""
            views[-1][self.text_segment] = None
        text += "".join(scalar.pieces[self.piece_count : scalar.piece_count])
        self.text = text
        self.piece_count = scalar.piece_count
        views[-1][self.text_segment] = text
        return True

    def settle(self, reading: Reading) -> None:
        """Let the view of a reading that closes be its values, if it shows all of them."""
        for at, mine in enumerate(self.readings):
            if mine is reading:
                view = self.views[at]
                if _is_all_shown(view, reading.values) and not reading.repeats:
                    reading.values = view
                return


def restored_showing(picture: Picture, views: list[Values]) -> Showing | None:
    """Return a showing of views that were made before, if they show just this."""
    text = picture.text
    showing = Showing(list(picture.readings), views)
    if None in views:
        return None
    if text is not None:
        showing.has_child = True
        showing.text = "".join(text.pieces[: text.piece_count])
        showing.text_segment = picture.text_segment
        showing.text_id = text.node_id
        showing.piece_count = text.piece_count
    return showing if showing.shows(picture) else None


def begin_showing(document: Reading) -> Showing:
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


def _ends_open(view: Values, reading: Reading, segment: Segment) -> bool:
    """Tell whether a view shows all closed values of a reading, and one open value after them."""
    values = reading.values
    return len(view) == len(values) + 1 and (isinstance(view, list) or (segment in view and segment not in values))


def _last(values: Values) -> object:
    if isinstance(values, list):
        return values[-1]
    key = next(reversed(values))
    return values[key]


def _is_same(old: object, new: object) -> bool:
    """Compare what stands at one place at two moments: strings are made anew as they grow."""
    return old is new or (isinstance(old, str) and isinstance(new, str) and old == new)


def _bring_up_to_date(view: Values, reading: Reading, *, has_child: bool) -> None:
    """Add the values that closed since; `has_child` tells that the last one in view was open."""
    values: Any = reading.values
    shown = len(view) - has_child
    if isinstance(view, list):
        view[shown:] = values[shown:]
    elif reading.repeats or shown <= 0:
        view.clear()
        view.update(values)
    else:
        if has_child:
            view.popitem()
        newest = list(islice(reversed(values.items()), len(values) - shown))
        view.update(reversed(newest))


def _show_child(view: Values, reading: Reading, segment: Segment, child: object) -> None:
    if isinstance(view, list):
        view.append(child)
        return
    if segment in reading.values:
        reading.repeats = True
    view[segment] = child


def _measure_text() -> int:
    """Count as `_grow` does how often a string is referred to that only its view and its showing hold.

    Measured here, because calls of compiled code add other references than calls inside of it.
    """
    if OUR_VIEW < 0:
        return OUR_VIEW
    showing = Showing([], [[]])
    showing.text = str(OUR_VIEW) * 2
    view = [showing.text]
    text = showing.text
    limit = 0
    while is_referred_to(text, limit):
        limit += 1
    view.append(text)  # a use: until here the view holds the string
    return limit


_OUR_TEXT: Final = _measure_text()
