"""Moments in, their timing out: a lane for each path, the first value, the longest silence, how fast it grew.

Rule: a timeline takes each moment once, in order, and keeps none of them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from jsontide._check import check_count
from jsontide.deltas import AppendText, Change, Finish, SetValue
from jsontide.messages import Outcome
from jsontide.recordings._follow import follow
from jsontide.recordings._lanes import Lane, LaneTree
from jsontide.recordings._moment import Moment, start_moment
from jsontide.recordings._recording import Recording

if TYPE_CHECKING:
    from typing import Unpack

    from jsontide._path import Path
    from jsontide._values import JsonValue
    from jsontide.recordings._follow import FollowOptions
    from jsontide.recordings._stage import Kind

_SAID: Final = frozenset({"text", "arguments", "result", "value", "data", "url"})
"""What a part of a message says, beside what it is called."""


class Timeline:
    """The timing of a stream; `add` takes the moments in order.

    >>> timeline = Timeline()
    >>> for moment in follow(Recording.of_bytes(b'{"city": "Kyoto"}').recut(6)):
    ...     timeline.add(moment)
    >>> [(lane.path, lane.updates, lane.size) for lane in timeline.lanes]
    [('root', 3, 5), ('city', 2, 5)]
    """

    def __init__(self, *, max_items: int = 5, max_members: int = 50, max_lanes: int = 500) -> None:
        """`max_items` of an array and `max_members` of an object have a lane of their own, the rest share one."""
        for name, value in (("max_items", max_items), ("max_members", max_members), ("max_lanes", max_lanes)):
            check_count(name, value)
        self._tree: Final = LaneTree(max_items, max_members, max_lanes)
        self._number = 0
        self.arrived: float | None = None
        """When the first piece came."""
        self.first: float | None = None
        """When the first value was visible; of a message, the first thing that it says."""
        self.last: float | None = None
        """When the last one grew."""
        self.silence = 0.0
        """The longest time between two pieces."""
        self.silence_from = 0.0
        """When that began."""
        self.at = 0.0
        """When the last moment was."""

    def add(self, moment: Moment, changes: tuple[Change, ...] | None = None) -> None:
        """Take in the next moment; its changes are not made again if they are passed."""
        if self.arrived is None:
            self.arrived = moment.at if moment.number else None
        elif moment.at - self.at > self.silence:
            self.silence, self.silence_from = moment.at - self.at, self.at
        self.at = moment.at
        changes = moment.changes if changes is None else changes
        if not changes:
            return
        self._number += 1
        self._tree.apply(changes, moment.at, self._number)
        if any(_says(change, is_message=moment.kind == "message") for change in changes):
            self.last = moment.at
            if self.first is None:
                self.first = moment.at

    @property
    def lanes(self) -> tuple[Lane, ...]:
        """The lanes, in order of appearance: the root first, and each before those inside it."""
        return self._tree.lanes()

    @property
    def size(self) -> int:
        """How many characters there are in all values."""
        return 0 if self._tree.root is None else self._tree.root.size

    @property
    def rate(self) -> float | None:
        """Characters in a second, from the first value to the last; `None` if they came at once."""
        return _per_second(self.size, self.first, self.last)


@dataclass(frozen=True, slots=True)
class Statistics:
    """What can be said of a recording in numbers; times are seconds since its start."""

    kind: Kind
    outcome: Outcome
    error: str | None
    pieces: int
    bytes: int
    duration: float
    arrived: float | None
    """When the first piece came."""
    first: float | None
    """When the first value was visible."""
    last: float | None
    """When the last one grew."""
    silence: float
    """The longest time between two pieces."""
    silence_from: float
    """When that began."""
    characters: int
    """Of all values."""
    characters_per_second: float | None
    model: str | None
    output_tokens: int | None
    """As the provider counts them, if it does."""
    tokens_per_second: float | None
    lanes: tuple[Lane, ...]

    def to_dict(self) -> dict[str, JsonValue]:
        """Return it as plain JSON; each lane has its share of all characters."""
        plain: dict[str, JsonValue] = {**asdict(self), "outcome": self.outcome.value}
        whole = self.characters or 1
        plain["lanes"] = [{**asdict(lane), "share": round(lane.size / whole, 4)} for lane in self.lanes]
        return plain


def measure(recording: Recording, **options: Unpack[FollowOptions]) -> Statistics:
    """Return what can be said of a recording in numbers; takes the options of `start_moment`.

    >>> from jsontide.recordings import Piece
    >>> found = measure(Recording((Piece(0.5, b'{"city": "Kyo'), Piece(1.5, b'to"}')), end="over"))
    >>> found.first, found.silence, found.outcome.value
    (0.5, 1.0, 'complete')
    """
    timeline = Timeline()
    last = start_moment(**options)
    for last in follow(recording, **options):
        timeline.add(last)
    message = last.message
    usage = None if message is None else message.usage
    tokens = None if usage is None else usage.output_tokens
    error = last.error
    return Statistics(
        kind=last.kind,
        outcome=last.outcome,
        error=error if error is None or isinstance(error, str) else error.message,
        pieces=last.number,
        bytes=last.index,
        duration=recording.duration,
        arrived=timeline.arrived,
        first=timeline.first,
        last=timeline.last,
        silence=timeline.silence,
        silence_from=timeline.silence_from,
        characters=timeline.size,
        characters_per_second=timeline.rate,
        model=None if message is None else message.model,
        output_tokens=tokens,
        tokens_per_second=None if tokens is None else _per_second(tokens, timeline.first, timeline.last),
        lanes=timeline.lanes,
    )


def _per_second(count: int, first: float | None, last: float | None) -> float | None:
    return None if first is None or last is None or last <= first else count / (last - first)


def _says(change: Change, *, is_message: bool) -> bool:
    """Return whether a change shows something new."""
    if isinstance(change, Finish):
        return False
    if not is_message:
        return isinstance(change, AppendText) or change.value not in ("", [], {})
    if isinstance(change, SetValue) and _is_part(change.path) and isinstance(change.value, dict):
        return any(change.value.get(name) for name in _SAID)
    return _is_said(change.path)


def _is_part(path: Path) -> bool:
    return len(path) == 2 and path[0] == "parts"  # noqa: PLR2004 - the list and the place in it


def _is_said(path: Path) -> bool:
    return path[:1] == ("answer",) or (path[:1] == ("parts",) and path[2:3] != () and path[2] in _SAID)
