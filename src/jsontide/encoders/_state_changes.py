"""Growing values in, the changes of a state that holds them out: an answer, arguments of tools, or a document alone.

Rule: each value stands at its key, and its first change sets it there, whatever stood there before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jsontide._path import Path
from jsontide.deltas import Change, read_changes
from jsontide.deltas.changes import move_change
from jsontide.encoders._base import Growing
from jsontide.encoders.message_value import message_changes
from jsontide.messages.calls import BaseCall
from jsontide.messages.document import Document
from jsontide.messages.growth import answer_of, text_of
from jsontide.messages.message import Message
from jsontide.tree import ParserState

_WITHIN_ARGUMENTS: Final = 3  # segments before a path inside arguments: parts, which one, arguments


class StateKeys:
    """Where values stand in a state."""

    __slots__ = ("answer", "tools")

    def __init__(self, answer: str | None, tools: Mapping[str, str]) -> None:
        if answer in tools.values():
            message = f"the answer and the arguments of a tool cannot both be at {answer!r}"
            raise ValueError(message)
        self.answer: Final = answer
        """The key of the answer, and of a document alone, which without one is the whole state."""
        self.tools: Final = tools
        """The key of each tool whose arguments are shown."""

    def follow(self, message: Message) -> dict[int, str]:
        """Return which parts are shown at which key: of each, the last call."""
        found: dict[str, int] = {}
        for at, part in enumerate(message.parts):
            key = self.tools.get(part.name or "") if isinstance(part, BaseCall) else None
            if key is not None:
                found[key] = at
        return {at: key for key, at in found.items()}

    def measure(self, growing: Growing) -> int:
        """Return how many characters were read of what is shown."""
        if isinstance(growing, ParserState):
            return growing.index
        answer = answer_of(growing)
        parts = [growing.parts[at] for at in self.follow(growing)]
        calls = sum([text_of(part).length for part in parts if isinstance(part, BaseCall)])
        return calls + (answer.state.index if isinstance(answer, Document) else 0)

    def changes(self, before: Growing | Message | None, after: Growing) -> list[Change]:
        """Return what changed in the state; without something before, all that is shown is set."""
        if isinstance(after, ParserState):
            found = read_changes(before if isinstance(before, ParserState) else None, after)
            root: Path = () if self.answer is None else (self.answer,)
            return [move_change(change, (*root, *change.path)) for change in found]
        return self._message_changes(before if isinstance(before, Message) else None, after)

    def _message_changes(self, before: Message | None, after: Message) -> list[Change]:
        followed = self.follow(after)
        if not followed and (self.answer is None or answer_of(after) is None):
            return []  # nothing is shown, so nothing is compared
        known = {} if before is None else self.follow(before)
        old = {at: key for at, key in followed.items() if at in known}
        changes = _at_keys(message_changes(before, after), self.answer, old)
        if len(old) < len(followed):
            new = {at: key for at, key in followed.items() if at not in old}
            changes += _at_keys(message_changes(None, after), None, new)
        return changes


def _at_keys(changes: list[Change], answer: str | None, parts: dict[int, str]) -> list[Change]:
    """Return the changes of what is shown, at the keys where it is shown."""
    shown: list[Change] = []
    for change in changes:
        path = change.path
        if answer is not None and path[:1] == ("answer",):
            shown.append(move_change(change, (answer, *path[1:])))
        elif len(path) >= _WITHIN_ARGUMENTS and path[0] == "parts" and path[2] == "arguments":
            at = path[1]
            if isinstance(at, int) and at in parts:
                shown.append(move_change(change, (parts[at], *path[_WITHIN_ARGUMENTS:])))
    return shown
