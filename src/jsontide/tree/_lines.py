"""Lines in, the line and column of any value out.

Rule: only lines in which a value begins are noted, so white space takes no memory.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_extensions import i64


class Lines:
    """The lines of a text in which values begin, by the index of their first character; the first is not noted.

    Most noted lines follow each other; the number of a line is noted only where lines before it were left out.
    """

    __slots__ = ("gap_numbers", "gaps", "last_number", "starts")

    def __init__(self, starts: array[int], gaps: array[int], gap_numbers: array[int]) -> None:
        self.starts: array[int] = starts
        self.gaps: array[int] = gaps  # places in `starts` before which lines are left out
        self.gap_numbers: array[int] = gap_numbers  # the numbers of the lines there, counted from 1
        self.last_number: i64 = self._number(len(starts) - 1)

    def note(self, number: i64, start: i64) -> None:
        """Add a line."""
        if number != self.last_number + 1:
            self.gaps.append(len(self.starts))
            self.gap_numbers.append(number)
        self.starts.append(start)
        self.last_number = number

    def position(self, index: i64) -> tuple[int, int]:
        """Return line and column of a place in a line that is noted."""
        at = bisect_right(self.starts, index) - 1
        return self._number(at), index + 1 if at < 0 else index - self.starts[at] + 1

    def _number(self, at: int) -> int:
        gap = bisect_right(self.gaps, at) - 1
        return 2 + at if gap < 0 else self.gap_numbers[gap] + at - self.gaps[gap]

    def until(self, index: i64) -> Lines:
        """Return a copy with the lines that begin up to an index."""
        count = bisect_right(self.starts, index)
        gap_count = bisect_left(self.gaps, count)
        return Lines(self.starts[:count], self.gaps[:gap_count], self.gap_numbers[:gap_count])

    def is_same_until(self, other: Lines, index: i64) -> bool:
        """Return whether two texts have the same lines up to an index at which a value begins."""
        mine, theirs = self.until(index), other.until(index)
        return (mine.starts, mine.gaps, mine.gap_numbers) == (theirs.starts, theirs.gaps, theirs.gap_numbers)


def no_lines() -> Lines:
    """Return the lines of a text before it begins."""
    return Lines(array("q"), array("q"), array("q"))
