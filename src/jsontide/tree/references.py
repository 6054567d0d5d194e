"""Whether somebody else can see an object: the one place that counts references.

CPython frees an object when nothing refers to it any more, so the count of references is exact: an object that has no
more of them than we made ourselves is ours alone.
An object is counted as an item of a list, and never under a name of its own: a debugger that reads the names of a frame
refers to their objects, and then a count would say how closely we are watched.
How many references counting adds is known, and measured once, by the very function that counts.
Where the measure is higher, somebody looked on; then, and where references are not counted or threads run at the same
time, everything counts as seen, and nothing is written twice.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from jsontide._build import COMPILED

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_extensions import i64


_count: Final[Callable[[object], i64]] = getattr(sys, "getrefcount", id)
_MOST: Final = 3  # the list of views, the container around a view, and the call that counts


def have_more(objects: list[Any], limit: i64) -> bool:
    """Tell whether any object of a list has more references than `limit`."""
    if COMPILED:
        for each in objects:  # quicker, and there is no frame that somebody could read
            if _count(each) > limit:
                return True
        return False
    for count in map(_count, objects):
        if count > limit:
            return True
    return False


def _can_count() -> bool:
    """Tell whether counts mean anything here; where not, the limits of -1 let everything count as seen."""
    is_gil_enabled: Callable[[], bool] = getattr(sys, "_is_gil_enabled", lambda: True)
    return sys.implementation.name == "cpython" and is_gil_enabled()


def _measure() -> i64:
    if not _can_count():
        return -1
    views: list[Any] = [[], []]
    around = [views[1]]
    limit: i64 = 0
    while limit <= _MOST and have_more(views, limit):
        limit += 1
    around.clear()  # a use: compiled code lets go of a name after its last one
    return limit if limit <= _MOST else -1


OUR_VIEW: Final[i64] = _measure()
"""References to a view that only a list of views and one container around it hold."""

OUR_TEXT: Final[i64] = OUR_VIEW + 1 if OUR_VIEW > 0 else -1
"""References to a string that only a view, a showing and the list in which it is counted hold."""
