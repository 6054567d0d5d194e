"""Moments in, their timing out: a lane for each path, the first value, the longest silence, how fast it grew.

Rule: a timeline takes each moment once, in order, and keeps none of them.

A lane holds what happened at its path and inside it: when it opened, grew, was silent and was done.
Items after the first few of an array share one lane, `days[*].title`, and so do members of an object that has many.
The number of lanes is bounded; a value without a lane of its own counts for the one around it.
Of a run, each message and each call has a lane with its name; that of a message begins with the request, if the
recording knows when that was.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from jsontide._check import check_count
from jsontide._path import Path, Segment, segment_text
from jsontide.frontends import AppendText, Change, Finish, SetValue, write_json
from jsontide.frontends.changes import walk
from jsontide.messages import Outcome
from jsontide.recordings._moment import Moment, follow, start_moment
from jsontide.recordings._recording import Recording
from jsontide.runs.run import Run
from jsontide.runs.types import PendingResult

if TYPE_CHECKING:
    from typing import Unpack

    from jsontide._values import JsonValue
    from jsontide.recordings._moment import FollowOptions
    from jsontide.recordings._stages import Kind
    from jsontide.runs import RunOutcome

_ITEMS: Final = -1
_MEMBERS: Final = -2
_SHARED: Final = {_ITEMS: "[*]", _MEMBERS: ".*"}
"""The names of shared lanes, for the other items and members."""
_ROOT: Final = "root"


@dataclass(frozen=True, slots=True)
class Lane:
    """What happened at a path, in seconds since the start of the stream."""

    path: str
    """As a pattern: `days[0].title`, or `days[*].title` for all items after the first few; `root` for all."""
    opened: float
    """When it was there."""
    first: float | None
    """When something of it was visible: an item, a member, a character."""
    done: float | None
    """When it would not change any more, `None` before."""
    silence: float
    """The longest time between two updates, while it was open."""
    silence_from: float
    """When that began."""
    updates: int
    """In how many moments it changed, or something in it."""
    size: int
    """How many characters it has: the text of its strings, and all other scalars as JSON."""
    name: str | None = None
    """Of a run: `message`, or the name of the tool that was called."""


@dataclass(slots=True, eq=False)
class LaneNode:
    """A lane while it grows, and those inside it."""

    parent: LaneNode | None
    path: str
    opened: float
    first: float | None = None
    done: float | None = None
    last: float = field(init=False)
    last_number: int = -1
    """The moment of the last update, which counts once."""
    silence: float = 0.0
    silence_from: float = field(init=False)
    updates: int = 0
    size: int = 0
    children: dict[Segment, LaneNode] = field(default_factory=dict)
    name: str | None = None

    def __post_init__(self) -> None:
        self.last = self.silence_from = self.opened

    def freeze(self) -> Lane:
        path = self.path.removeprefix(".") or _ROOT
        silence = self.silence, self.silence_from
        return Lane(path, self.opened, self.first, self.done, *silence, self.updates, self.size, self.name)

    def note_update(self, at: float) -> None:
        """Take in that the lane is not silent now."""
        if self.done is None and at - self.last > self.silence:
            self.silence, self.silence_from = at - self.last, self.last
        self.last = at


_NAMES: Final = re.compile(
    r"(role|status|id|model|provider|finish_reason|usage(\..*)?|parts\[[^]]*\]\.(type|id|name|status))"
)
"""The paths of a message that name and count; the others have its content."""
_CONTENT: Final = frozenset({"text", "arguments", "result", "value", "data", "url"})
"""The members of a part that hold its content; the others name it."""


_OF_MESSAGE: Final = frozenset({"role", "status", "id", "model", "provider", "finish_reason", "usage", "errors"})
_OF_PART: Final = frozenset({"type", "id", "name", "status"})
_OF_RUN: Final = {"run": frozenset({"status", "usage", "error"}), "tool": frozenset({"part", "status", "reason"})}
"""The members of a run that name and count."""


def _place_in_run(path: Path) -> tuple[str, Path]:
    """Return what a path in a run leads to, the `run`, a `message` or a `tool`, and the path in that."""
    while True:
        match path:
            case ["others", int(), *_]:
                path = path[2:]
            case ["steps", int(), "message", *_]:
                return "message", path[3:]
            case ["steps", int(), "results", int(), "run", *_]:
                path = path[5:]
            case ["steps", int(), "results", int(), *_]:
                return "tool", path[4:]
            case _:
                return "run", path


def _names_in_run(path: Path) -> bool:
    """Return whether a path in a run leads to what names and counts."""
    what, rest = _place_in_run(path)
    if what != "message":
        return bool(rest) and rest[0] in _OF_RUN[what]
    match rest:
        case ["parts", _, name, *_]:
            return name in _OF_PART
        case [name, *_]:
            return name in _OF_MESSAGE
    return False


def _name_lane(runs: Sequence[Run[Any]], path: Path) -> str | None:
    """Return the name of a message or a call of runs, `None` for any other value."""
    match path:
        case ["others", int(at), *_]:
            return _name_lane(runs[at + 1 :], path[2:])
        case ["steps", int(), "message"]:
            return "message"
        case ["steps", int(at), "results", int(place), *rest]:
            result = runs[0].steps[at].results[place]
            if not rest:
                return result.call.name or "tool"
            nested = result.progress if isinstance(result, PendingResult) else result.nested
            return _name_lane((nested,), path[5:]) if isinstance(nested, Run) else None
    return None


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
        self._max_items: Final = max_items
        self._max_members: Final = max_members
        self._max_lanes: Final = max_lanes
        self._root: LaneNode | None = None
        self._nodes: list[LaneNode] = []
        """In order of appearance."""
        self._is_moved = False
        """Whether the lanes of a message have just become those of a run."""
        self._number = 0
        self._kind: Kind = "unknown"
        self._runs: Sequence[Run[Any]] = ()
        self._opens = 0.0
        """When what is new in a moment began."""
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
        if moment.kind == "run" and self._kind == "message":
            self._move_into_run()
        self.at, self._kind, self._runs = moment.at, moment.kind, moment.runs
        self._opens = max(moment.at - moment.waited, 0.0)
        changes = moment.changes if changes is None else changes
        if not changes:
            return
        self._number += 1
        for change in changes:
            if isinstance(change, SetValue):
                self._set(change)
            elif isinstance(change, AppendText):
                self._grow(self._find(change.path)[0], len(change.text))
            else:
                self._finish(change.path, change.levels)
        if any(_shows(change, self._kind) for change in changes):
            self.last = moment.at
            if self.first is None:
                self.first = moment.at

    @property
    def lanes(self) -> tuple[Lane, ...]:
        """The lanes, in order of appearance: the root first, and each before those inside it."""
        return tuple(node.freeze() for node in self._nodes)

    @property
    def content_lanes(self) -> tuple[Lane, ...]:
        """The lanes of the content: of a message, not those of its names and counts; of a run, messages and calls."""
        return _content_lanes(self._kind, self.lanes)

    @property
    def size(self) -> int:
        """How many characters there are in all values."""
        return 0 if self._root is None else self._root.size

    @property
    def rate(self) -> float | None:
        """Characters in a second, from the first value to the last; `None` if they came at once."""
        return _per_second(self.size, self.first, self.last)

    def _set(self, change: SetValue) -> None:
        if not change.path and not self._is_moved:
            self._root, self._nodes = None, []  # the stream turned out to be something else
        self._is_moved = False
        for path, value in walk(change.value):
            lane, is_own = self._find((*change.path, *path))
            self._grow(lane, _size(value), shows=is_own or self._kind != "run")
            if is_own:
                can_grow = isinstance(value, str | list | dict)
                is_open = can_grow and change.open is not None and change.open[: len(path)] == path
                lane.done = None if is_open else self.at

    def _move_into_run(self) -> None:
        """Make the lanes of a message those of the first step of a run, whose value sets all of it anew."""
        message = self._root
        if message is None:
            return
        for node in self._nodes:
            node.path, node.size = f".steps[0].message{node.path}", 0
        around = [LaneNode(None, "", message.opened)]
        for segment in ("steps", 0):
            around.append(LaneNode(around[-1], around[-1].path + segment_text(segment), message.opened))
            around[-2].children[segment] = around[-1]
        message.parent, message.name, around[-1].children["message"] = around[-1], "message", message
        self._root, self._nodes, self._is_moved = around[0], [*around, *self._nodes], True

    def _find(self, path: Path) -> tuple[LaneNode, bool]:
        """Return the lane of a path, which may be new, or the one around it, and whether it is the path's own."""
        if self._root is None:
            self._root = self._add(None, "")
        node = self._root
        for at, segment in enumerate(path, 1):
            inner = self._child(node, segment, path[:at])
            if inner is None:
                return node, False
            node = inner
        return node, True

    def _child(self, node: LaneNode, segment: Segment, path: Path) -> LaneNode | None:
        child = node.children.get(segment)
        if child is not None:
            return child
        most = self._max_lanes
        is_around = False  # a message or a call of a run, or what is around it: each has its own
        if self._kind == "run":
            if _names_in_run(path):
                return None
            what, rest = _place_in_run(path)
            is_around = what == "run" or not rest
            most = most if is_around else most // 2
        if is_around:
            pass
        elif isinstance(segment, int):
            segment = segment if segment < self._max_items else _ITEMS
        elif len(node.children) >= self._max_members:
            segment = _MEMBERS
        child = node.children.get(segment)
        if child is None and len(self._nodes) < most:
            name = _SHARED.get(segment) if isinstance(segment, int) else None
            child = node.children[segment] = self._add(node, node.path + (name or segment_text(segment)))
            child.name = _name_lane(self._runs, path) if is_around else None
        return child

    def _add(self, parent: LaneNode | None, path: str) -> LaneNode:
        node = LaneNode(parent, path, self._opens)
        self._nodes.append(node)
        return node

    def _grow(self, node: LaneNode, size: int, *, shows: bool = True) -> None:
        """Count an update of a lane, and of those around it; `shows` says whether something of them is visible now."""
        lane: LaneNode | None = node
        inner: LaneNode | None = None
        while lane is not None:
            lane.note_update(self.at)
            if lane.last_number != self._number:
                lane.last_number = self._number
                lane.updates += 1
            lane.size += size
            if lane.first is None and shows and (size or (inner is not None and self._kind != "run")):
                lane.first = self.at
            inner, lane = lane, lane.parent

    def _finish(self, path: Path, levels: int) -> None:
        for length in range(len(path), max(len(path) - levels, -1), -1):
            lane, is_own = self._find(path[:length])
            if is_own and lane.done is None:
                lane.note_update(self.at)
                lane.done = self.at


def _size(value: object) -> int:
    """Return how many characters a scalar has."""
    if isinstance(value, str):
        return len(value)
    return 0 if isinstance(value, list | dict) else len(write_json(value))


@dataclass(frozen=True, slots=True)
class Statistics:
    """The figures of a recording; times are seconds since its start."""

    kind: Kind
    outcome: Outcome | RunOutcome
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

    @property
    def content_lanes(self) -> tuple[Lane, ...]:
        """The lanes of the content: of a message, not those of its names and counts; of a run, messages and calls."""
        return _content_lanes(self.kind, self.lanes)

    def to_dict(self) -> dict[str, JsonValue]:
        """Return it as plain JSON; each lane has its share of all characters."""
        plain: dict[str, JsonValue] = {**asdict(self), "outcome": self.outcome.value}
        whole = self.characters or 1
        plain["lanes"] = [{**asdict(lane), "share": round(lane.size / whole, 4)} for lane in self.lanes]
        return plain


def measure(recording: Recording, **options: Unpack[FollowOptions]) -> Statistics:
    """Return the figures of a recording; takes the options of `start_moment`.

    >>> from jsontide.recordings import Piece
    >>> found = measure(Recording((Piece(0.5, b'{"city": "Kyo'), Piece(1.5, b'to"}')), end="over"))
    >>> found.first, found.silence, found.outcome.value
    (0.5, 1.0, 'complete')
    """
    timeline = Timeline()
    last = start_moment(**options)
    for last in follow(recording, **options):
        timeline.add(last)
    message, run = last.message, last.run
    usage = run.usage if run is not None else None if message is None else message.usage
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


def _content_lanes(kind: Kind, lanes: tuple[Lane, ...]) -> tuple[Lane, ...]:
    if kind == "run":
        return tuple(lane for lane in lanes if lane.name is not None)
    return tuple(lane for lane in lanes if kind != "message" or not _NAMES.fullmatch(lane.path))


def _per_second(count: int, first: float | None, last: float | None) -> float | None:
    return None if first is None or last is None or last <= first else count / (last - first)


def _shows(change: Change, kind: Kind) -> bool:
    """Return whether a change shows something new."""
    if isinstance(change, Finish):
        return False
    path = change.path
    if kind == "run":
        what, path = _place_in_run(path)
        if what != "message":
            return what == "tool" and bool(path) and path[0] not in _OF_RUN[what]
    elif kind != "message":
        return isinstance(change, AppendText) or change.value not in ("", [], {})
    match path:
        case ["parts", _] if isinstance(change, SetValue) and isinstance(change.value, dict):
            return any(change.value.get(name) for name in _CONTENT)
        case ["parts", _, name, *_]:
            return name in _CONTENT
        case _:
            return path[:1] == ("answer",)
