"""Tokens in, the storage of a tree out: the sink that all states of one stream share.

A tape is written only at its end; a state is a mark on it.
Feeding the newest state goes on writing; feeding an older one forks first: it copies what that state could see.
The log of a tape has an entry for every value, in the order in which they open, so that the index of an entry is the id of
its node: the container it stands in, its key there, and the scalar or container itself.
A scalar is logged when it is complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from jsontide._errors import Reason
from jsontide._values import MISSING
from jsontide.text import _modes as modes
from jsontide.text._scanner import Scanner
from jsontide.tree._containers import ArrayContainer, Container, ObjectContainer
from jsontide.tree._node_index import NodeIndex
from jsontide.tree._numbers import is_canonical, is_integer, to_decimal, to_int

if TYPE_CHECKING:
    from mypy_extensions import i64

    from jsontide._path import Path, Segment
    from jsontide._values import JsonValue, Missing
    from jsontide.tree._options import Options

_VALUE_MODES: Final = frozenset(
    mode
    for mode in range(modes.ERROR)
    if mode != modes.KEY_TEXT and (mode < modes.VALUE or mode in (modes.ITEM_OR_END, modes.ITEM, modes.MEMBER))
)
_LITERAL_VALUES: Final[dict[str, bool | None]] = {"true": True, "false": False, "null": None}


class Tape(Scanner):
    """The end of a stream: what has been read, and where reading stands."""

    def __init__(self, options: Options) -> None:
        super().__init__(options.limits, ignore_trailing=options.trailing == "ignore")
        self.options: Options = options
        self.keep_first: bool = options.duplicate_keys == "first"
        self.refuse_duplicates: bool = options.duplicate_keys == "error"
        self.floats: str = options.floats

        self.step: i64 = 0  # chunks written; the state that remembers this number is the newest
        self.changes: i64 = 0  # visible changes, those of an open string aside
        self.top: Container | None = None  # the innermost open container
        self.member_key: str | None = None  # the last key in it
        self.hidden: bool = False  # an earlier member of that key is the one to show
        self.root: JsonValue | Missing = MISSING  # the root, when complete
        self.known_keys: dict[str, str] = {}  # equal keys are one object

        self.owners: list[Container | None] = []
        self.keys: list[str | None] = []
        self.entries: list[JsonValue | Container] = []
        self.lexemes: dict[int, str] = {}  # of those numbers that Python would write otherwise
        self.node_index: NodeIndex = NodeIndex()

    def open_object(self) -> None:
        self._open(ObjectContainer(self.node_count - 1, self.top, self.member_key))

    def open_array(self) -> None:
        self._open(ArrayContainer(self.node_count - 1, self.top, self.member_key))

    def _open(self, container: Container) -> None:
        container.hidden = self.hidden
        self.log(container)
        self.top = container
        self.member_key = None
        self.hidden = False
        self.changes += 1

    def close_container(self) -> i64:
        container = self.top
        assert container is not None
        self.top = container.parent
        self.hidden = container.hidden
        self.place(container.key, container.close(self.step))
        self.member_key = None
        return mode_after_value(self.top)

    def key(self, text: str) -> Reason | None:
        key = self.known_keys.setdefault(text, text)
        self.member_key = key
        if self.keep_first or self.refuse_duplicates:
            top = self.top
            assert isinstance(top, ObjectContainer)
            if key in top.members:
                if self.refuse_duplicates:
                    return Reason.DUPLICATE_KEY
                self.hidden = True
        return None

    def string(self, text: str) -> None:
        if self.fresh:
            self.changes += 1
        self.add(text)

    def number(self, lexeme: str) -> Reason | None:
        if is_integer(lexeme):
            integer = to_int(lexeme)
            self._add_number(integer, lexeme, is_canonical(lexeme, integer))
        elif self.floats == "float":
            real = float(lexeme)
            self._add_number(real, lexeme, is_canonical(lexeme, real))
        elif self.floats == "lexeme":
            self._add_number(lexeme, lexeme, False)
        else:
            exact = to_decimal(lexeme)
            if exact is None:
                return Reason.NUMBER_OUT_OF_RANGE
            self._add_number(cast("float", exact), lexeme, False)
        return None

    def _add_number(self, value: JsonValue, lexeme: str, canonical: bool) -> None:
        if not canonical:
            self.lexemes[self.node_count - 1] = lexeme
        self.changes += 1
        self.add(value)

    def literal(self, word: str) -> None:
        self.changes += 1
        self.add(_LITERAL_VALUES[word])

    def add(self, value: JsonValue) -> None:
        """Take in a complete scalar."""
        self.log(value)
        self.place(self.member_key, value)

    def log(self, entry: JsonValue | Container) -> None:
        """Give a value its id."""
        self.owners.append(self.top)
        self.keys.append(self.member_key)
        self.entries.append(entry)

    def place(self, key: str | None, value: JsonValue) -> None:
        """Put a complete value where it belongs."""
        if self.top is None:
            self.root = value
        elif self.hidden:
            self.hidden = False
        else:
            self.top.add(key, value)

    def path(self) -> Path:
        top = self.top
        if top is None:
            return ()
        path = container_path(top)
        if self.mode not in _VALUE_MODES:
            return path
        return (*path, top.count if self.member_key is None else self.member_key)


def mode_after_value(container: Container | None) -> i64:
    """Return what may follow a value in a container, or after the root."""
    if container is None:
        return modes.DONE
    return modes.AFTER_MEMBER if isinstance(container, ObjectContainer) else modes.AFTER_ITEM


def container_path(container: Container) -> Path:
    """Return the keys and indices that lead to a container."""
    segments: list[Segment] = []
    while container.parent is not None:
        segments.append(container.place if container.key is None else container.key)
        container = container.parent
    segments.reverse()
    return tuple(segments)
