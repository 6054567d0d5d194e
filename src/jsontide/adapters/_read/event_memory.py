"""The text of an event in, the event out, without parsing what it has in common with the one before it.

Most events of a stream are alike but for a few values: a piece of text, a number that counts.
Of such an event only these values are parsed, and put into the event that was made for the last one.

Rule: the event is what `load_event` returns, and holds until the next one is loaded; whoever keeps something copies it.
"""

from __future__ import annotations

from sys import intern
from typing import Any, Final

from jsontide._textbuffer import has_half
from jsontide.adapters._read.event_json import load_json, scan_json
from jsontide.adapters._read.sse import NamedEvent
from jsontide.adapters._read.wire import load_event

_MARK: Final = "\x7fjsontide "
"""Stands for a value that differs, while it is searched where that is."""
_LONGEST: Final = 4_000
"""Characters of an event that is remembered."""
_LONGEST_PAUSE: Final = 32
"""Comparing two events costs as much as parsing a few: in the end, it is done once for so many events."""
_MOST: Final = 6
"""Values that may differ."""


class EventMemory:
    """The last event of a stream, and which of its values differ from event to event."""

    __slots__ = ("_common", "_event", "_holders", "_names", "_pause", "_since", "_text")

    def __init__(self) -> None:
        self._text = ""
        """That of the last event, if all of it was parsed."""
        self._since = 0
        """How many events came since two were compared."""
        self._pause = 1
        """How many must come before the next two are."""
        self._event: dict[str, Any] | None = None
        self._common: list[str] = []
        """The text before each value that differs, and after the last."""
        self._holders: list[Any] = []
        """The dict or list in which each of these values is."""
        self._names: list[Any] = []
        """Its key or index there."""

    def load(self, raw: str | NamedEvent) -> object:
        """Return the event that a text is; it changes with the next one."""
        text = raw if isinstance(raw, str) else raw.data
        self._since += 1
        if self._event is not None and self._fill(text):
            self._text = ""
            return self._event
        event = load_event(raw)
        if isinstance(event, dict) and len(text) <= _LONGEST:
            if self._text and self._since >= self._pause:
                self._since = 0
                self._pause = min(2 * self._pause, _LONGEST_PAUSE)
                self._compare(self._text, text)
            self._text = text
        return event

    def _fill(self, text: str) -> bool:
        """Put the values of a text into the event; return whether all else in it is the same."""
        common = self._common
        first = common[0]
        if not text.startswith(first):
            return False
        at = len(first)
        for place in range(len(self._names)):
            try:
                value, at = scan_json(text, at)
            except (StopIteration, ValueError, RecursionError):
                return False
            if isinstance(value, (dict, list)):
                return False
            self._holders[place][self._names[place]] = value
            after = common[place + 1]
            end = at + len(after)
            if text[at:end] != after:
                return False
            at = end
        return at == len(text) and not has_half(text)

    def _compare(self, old: str, new: str) -> None:
        """Find the values in which two texts differ, if nothing else does.

        Where they are is a guess, which is right if they are found there.
        """
        common: list[str] = []
        old_at = at = 0
        while old[old_at:] != new[at:]:
            same = _count_same(old[old_at:], new[at:])
            colon = new.rfind('":', at, at + same)
            if colon < 0 or len(common) == _MOST:
                return
            start = colon + 3 if new[colon + 2 : colon + 3] == " " else colon + 2
            try:
                _, old_at = scan_json(old, old_at + start - at)
                value, end = scan_json(new, start)
            except (StopIteration, ValueError, RecursionError):
                return
            if isinstance(value, (dict, list)):
                return
            common.append(new[at:start])
            at = end
        common.append(new[at:])
        marked = "".join([f'{text}"{_MARK}{place}"' for place, text in enumerate(common[:-1])]) + common[-1]
        event = load_json(marked.strip())
        if isinstance(event, dict) and len(common) > 1:
            self._remember(event, common)

    def _remember(self, event: dict[str, Any], common: list[str]) -> None:
        """Take an event with marks for the values that differ, if each of them is found once."""
        marks = {f"{_MARK}{place}": place for place in range(len(common) - 1)}
        holders: list[Any] = [None] * len(marks)
        names: list[Any] = [None] * len(marks)
        found = 0
        waiting: list[Any] = [event]
        while waiting:
            holder = waiting.pop()
            if isinstance(holder, dict):
                items: list[tuple[Any, object]] = [(intern(name), value) for name, value in holder.items()]
                holder.clear()
                holder.update(items)  # a name that is the same object as the one that is asked for is found sooner
            else:
                items = list(enumerate(holder))
            for name, value in items:
                if isinstance(value, (dict, list)):
                    waiting.append(value)
                elif isinstance(value, str) and value in marks:
                    place = marks[value]
                    holders[place], names[place] = holder, name
                    found += 1
        if found == len(marks) and None not in names:
            self._event, self._common, self._holders, self._names = event, common, holders, names


def _count_same(one: str, other: str) -> int:
    """Return how many characters two texts begin with that are the same."""
    same, most = 0, min(len(one), len(other))
    while same < most:
        middle = (same + most + 1) // 2
        if one[same:middle] == other[same:middle]:
            same = middle
        else:
            most = middle - 1
    return same
