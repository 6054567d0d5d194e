"""Text in, in one piece or in several, the value that it is out: our own grammar, without a limit of Python's stack.

Rule: a reader that was forked reads no more, and no container that it has in common with its forks is ever changed.
A fork copies an open container when it first adds to it; what is closed is shared for ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from jsontide.snapshots._kinds import MAX_DEPTH
from jsontide.text import Limits, modes
from jsontide.text.grammar import AT_A_VALUE
from jsontide.text.options import MOST
from jsontide.text.position import Position
from jsontide.text.scanner import Scanner

if TYPE_CHECKING:
    from mypy_extensions import i64

    from jsontide._errors import Reason
    from jsontide._path import Path, Segment

_LIMITS: Final = Limits(max_depth=MAX_DEPTH, max_chars=MOST, max_string=MOST, max_number=MOST, max_nodes=MOST)
_LITERALS: Final[dict[str, bool | None]] = {"true": True, "false": False, "null": None}


class Reader(Scanner):
    """Builds the value of one text; numbers stay as they were written, as `bytes`."""

    __slots__ = ("keys", "known_keys", "shared", "values")

    def __init__(self) -> None:
        super().__init__(_LIMITS, ignore_trailing=False)
        self.values: list[Any] = []  # the open containers, outermost first; at the end the root
        self.keys: list[Segment] = []  # where the next value of each goes
        self.shared: i64 = 0  # so many of the containers may belong to another reader, or to a value
        self.known_keys: dict[str, str] = {}  # equal keys are one object

    def fork(self) -> Reader:
        """Return a reader that goes on from here, and leaves this one as it is."""
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]  # once for all forks
        fork = Reader()
        Position(self).restore(fork)
        fork.after = self.after
        fork.depth = self.depth
        fork.values = self.values.copy()
        fork.keys = self.keys.copy()
        fork.shared = len(self.values)
        fork.known_keys = self.known_keys
        return fork

    def read_on(self, text: str, stop: i64) -> Reader:
        """Return the reader that has read a text, of which this one has read the beginning, up to a place."""
        if self.is_over or self.index >= stop:
            return self
        fork = self.fork()
        fork.scan(text[self.index : stop])
        return fork

    def end(self, text: str) -> None:
        """Read the last of the text: now there is a value, or an error."""
        if text:
            self.scan(text)
        if not self.is_over:
            self.finish()

    def open_object(self) -> None:
        self.values.append({})
        self.keys.append("")

    def open_array(self) -> None:
        self.values.append([])
        self.keys.append(0)

    def close_container(self) -> i64:
        value = self.values.pop()
        self.keys.pop()
        self._add(value)
        if self.depth == 0:
            return modes.DONE
        return modes.AFTER_MEMBER if isinstance(self.values[-1], dict) else modes.AFTER_ITEM

    def key(self, text: str) -> Reason | None:
        self.keys[-1] = self.known_keys.setdefault(text, text)
        return None

    def string(self, text: str) -> None:
        self._add(text)

    def number(self, lexeme: str, is_integer: bool) -> Reason | None:
        self._add(lexeme.encode())
        return None

    def literal(self, word: str) -> None:
        self._add(_LITERALS[word])

    def path(self) -> Path:
        return tuple(self.keys) if self.mode in AT_A_VALUE else tuple(self.keys[:-1])

    def _add(self, value: Any) -> None:
        level: i64 = len(self.values) - 1
        if level < 0:
            self.values.append(value)
            return
        container = self.values[level]
        if level < self.shared:
            container = self.values[level] = container.copy()
            self.shared = level
        if isinstance(container, dict):
            container[self.keys[-1]] = value
        else:
            container.append(value)
            self.keys[-1] = len(container)
