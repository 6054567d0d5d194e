"""Calls whose arguments are not complete, by what tells them apart: an entry in, those that it may go on with out.

Rule: no call is looked at that does not fit, however many are open.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, product
from typing import Final, Literal, NamedTuple, TypeAlias

from jsontide.messages._calls import ToolCall

_Text: TypeAlias = Literal["blank", "begun", "wrong"]
"""What has come of the arguments; what is wrong is no JSON."""
_Name: TypeAlias = str | Literal[0, 1] | None
_Key: TypeAlias = tuple[_Name, bool, bool, _Text]
"""The name of a call, whether it has an index, whether it has an id, and its arguments."""
_TEXTS: Final[tuple[_Text, ...]] = ("blank", "begun", "wrong")
_ANY: Final = 0
"""Stands for all names."""
_OF_NO_TOOL: Final = 1
"""Stands for all names but those of tools that were offered."""


class _Group:
    """The positions of calls that are alike."""

    __slots__ = ("clear", "doubtful")

    def __init__(self) -> None:
        self.clear: set[int] = set()
        self.doubtful: set[int] = set()

    def __len__(self) -> int:
        return len(self.clear) + len(self.doubtful)


class Candidates:
    """The open calls that an entry fits."""

    __slots__ = ("_groups", "count")

    def __init__(self, groups: Iterable[_Group]) -> None:
        self._groups = [group for group in groups if group]
        self.count = sum(map(len, self._groups))

    @property
    def first(self) -> int:
        """The position of one of them."""
        group = self._groups[0]
        return next(iter(group.clear or group.doubtful))

    def clear(self) -> list[int]:
        """Return the positions of those that are not in doubt yet."""
        return sorted(chain.from_iterable(group.clear for group in self._groups))


class OpenCalls:
    """The open calls of a roster."""

    __slots__ = ("_groups", "_places")

    def __init__(self) -> None:
        self._places: dict[int, _Place] = {}
        self._groups: dict[_Key, _Group] = {}

    def note(self, position: int, call: ToolCall) -> None:
        """Take in how a call is now."""
        before, now = self._places.get(position), _place(call)
        if now == before:
            return
        if before is not None:
            del self._places[position]
            for positions in self._sets(before):
                positions.discard(position)
        if now is not None:
            self._places[position] = now
            for positions in self._sets(now):
                positions.add(position)

    def fitting(self, name: str | None, *, has_index: bool, has_id: bool, is_whole: bool) -> Candidates:
        """Return those that an entry may go on with, if its index and id, where it has them, are new."""
        if not name:
            return Candidates(self._alike(_ANY, has_index, has_id))
        # Whole arguments are a call of their own beside others that are no JSON.
        texts = _TEXTS[:2] if is_whole and not has_id else _TEXTS
        return Candidates([*self._alike(name, has_index, has_id, texts), *self._alike(None, has_index, has_id)])

    def blank(self, names: Iterable[str], *, has_index: bool, has_id: bool) -> list[int]:
        """Return those without arguments that are of some names, or of no tool, whatever the name of an entry is.

        Of those in doubt one is enough to tell that there are some.
        """
        wanted: list[_Name] = [*names, _OF_NO_TOOL]
        groups = [self._alike(name, has_index, has_id, _TEXTS[:1]) for name in wanted]
        found = Candidates(chain.from_iterable(groups))
        return found.clear() or ([found.first] if found.count else [])

    def _alike(
        self,
        name: _Name,
        has_index: bool,  # noqa: FBT001 - these two of an entry, always in this order
        has_id: bool,  # noqa: FBT001
        texts: tuple[_Text, ...] = _TEXTS,
    ) -> list[_Group]:
        # What is new to all calls is that of one which has none.
        keys = product((name,), (False,) if has_index else (False, True), (False,) if has_id else (False, True), texts)
        return [self._groups[key] for key in keys if key in self._groups]

    def _sets(self, place: _Place) -> list[set[int]]:
        names: tuple[_Name, ...] = (place.name, _ANY, *((_OF_NO_TOOL,) if place.is_of_no_tool else ()))
        keys = ((name, place.has_index, place.has_id, place.text) for name in names)
        groups = [self._groups.setdefault(key, _Group()) for key in keys]
        return [group.doubtful if place.is_in_doubt else group.clear for group in groups]


class _Place(NamedTuple):
    """Where an open call belongs."""

    name: str | None
    is_of_no_tool: bool
    has_index: bool
    has_id: bool
    text: _Text
    is_in_doubt: bool


def _place(call: ToolCall) -> _Place | None:
    document = call._document
    if document.is_complete:
        return None
    text: _Text = "blank" if call._is_blank else "begun" if document.error is None else "wrong"
    is_of_no_tool = call.name is not None and document.lens is None
    return _Place(call.name, is_of_no_tool, call._has_index, bool(call.id), text, bool(call._doubt))
