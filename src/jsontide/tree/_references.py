"""Whether somebody else can see an object: the one place that counts references.

CPython frees an object when nothing refers to it any more, so the count of references is exact: an object that has no
more of them than we made ourselves is ours alone.
How many a call adds on its own differs between versions and between compiled and interpreted code; it is measured
once, by the very function that counts.
Where references are not counted, or threads run at the same time, everything counts as seen.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_extensions import i64


_count: Final[Callable[[object], i64]] = getattr(sys, "getrefcount", id)


def are_referred_to(views: list[object], limit: i64) -> bool:
    """Tell whether any view has more references than `limit`."""
    for view in views:
        if _count(view) > limit:
            return True
    return False


def is_referred_to(text: str, limit: i64) -> bool:
    """Tell whether a string has more references than `limit`."""
    return _count(text) > limit


def _can_count() -> bool:
    """Tell whether counts mean anything here; where not, the limits of -1 let everything count as seen."""
    is_gil_enabled: Callable[[], bool] = getattr(sys, "_is_gil_enabled", lambda: True)
    return sys.implementation.name == "cpython" and is_gil_enabled()


def _measure_view() -> i64:
    if not _can_count():
        return -1
    views: list[object] = [[], []]
    around = [views[1]]
    limit: i64 = 0
    while are_referred_to(views, limit):
        limit += 1
    around.clear()  # a use: compiled code lets go of a name after its last one
    return limit


def _measure_text() -> i64:
    if not _can_count():
        return -1
    showing = str(sys.maxsize)
    view = [showing]
    text = showing
    limit: i64 = 0
    while is_referred_to(text, limit):
        limit += 1
    view.append(showing)  # a use, as above
    return limit


OUR_VIEW: Final[i64] = _measure_view()
"""References to a view that only a list of views and one container around it hold."""

OUR_TEXT: Final[i64] = _measure_text()
"""References to a string that only a view, its showing and one local name hold."""
