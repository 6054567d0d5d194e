"""The state of a parser: an immutable mark on a tape.

Its value is computed when it is first read, from the part of the tape that the state can see, and then kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from jsontide._mypyc import mypyc_attr
from jsontide.text import modes
from jsontide.text.position import Position
from jsontide.text.types import Mode
from jsontide.tree._nodes import Nodes, make_node
from jsontide.tree._pickle import dump, load
from jsontide.tree._resolve import open_containers, resolve_past

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_extensions import i64

    from jsontide._errors import ParserError
    from jsontide._values import JsonValue, Missing
    from jsontide.text.utf8 import ByteSource
    from jsontide.tree._nodes import Node
    from jsontide.tree._pickle import ParserDump
    from jsontide.tree._tape import Tape
    from jsontide.tree.containers import Container


_UNREAD: Final = object()


@mypyc_attr(free_list_len=1)  # most programs drop a state when they have the next one
class ParserState(Position):
    """A stream after a chunk: immutable, and can be fed to `parse_chunk` any number of times.

    Returned by `create_parser_state`, `parse_chunk` and `finalize`.
    Its values are plain Python containers that other states of the stream share: do not modify them.
    """

    __slots__ = (
        "_count",
        "_is_duplicate",
        "_member_key",
        "_source",
        "_tape",
        "_top",
        "_value",
    )

    def __init__(self, tape: Tape, source: ByteSource | None, before: ParserState | None) -> None:
        Position.__init__(self, tape)  # as `super().__init__`, which costs twice as much interpreted
        self._tape: Tape = tape
        self._source: ByteSource | None = source
        step: i64 = tape.step
        tape.settled_step = step
        # The value if it has been read; else an earlier state with the same value, or `_UNREAD`.
        if tape.changed_step == step or before is None:
            self._value: Any = _UNREAD
        else:
            value: Any = before._value
            self._value = before if value is _UNREAD else value
        top = tape.top
        self._top: Container = top
        self._count: i64 = top.count
        self._member_key: str | None = tape.member_key
        self._is_duplicate: bool = tape.is_duplicate

    @property
    def value(self) -> JsonValue | Missing:
        """The partial value of the root, `MISSING` before anything is visible."""
        value: Any = self._value
        if value is _UNREAD:
            tape = self._tape
            # The newest state, or nothing has changed since, and no step was interrupted.
            if tape.step == self._step or (tape.changed_step <= self._step and tape.settled_step == tape.step):
                value = tape.show()
            else:
                value = resolve_past(self, None)
            self._value = value
        elif isinstance(value, ParserState):
            value = self._value = value.value
        shown: JsonValue | Missing = value
        return shown

    @property
    def is_over(self) -> bool:
        """Whether no more text will be read: there is an error, or text after the document is ignored."""
        # A tape that is over is never written again, so only its last state can be over.
        return self._tape.is_over and self._tape.step == self._step

    @property
    def nodes(self) -> Nodes:
        """All nodes, by id."""
        return Nodes(self)

    @property
    def root_id(self) -> int | None:
        """The id of the root node, `None` before it opens."""
        return 0 if self._node_count else None

    @property
    def root(self) -> Node | None:
        """The root node, `None` before it opens."""
        return make_node(self, 0) if self._node_count else None

    @property
    def stack(self) -> tuple[int, ...]:
        """The ids of the open containers, outermost first."""
        return tuple(container.node_id for container in open_containers(self))

    @property
    def mode(self) -> Mode:
        """What may come next."""
        return Mode(self._mode) if self.error is None else Mode.ERROR

    @property
    def error(self) -> ParserError | None:
        """The error in the text, if any."""
        return self._tape.error if self.is_over else None

    @property
    def is_complete(self) -> bool:
        """Whether a whole value was read and nothing is open.

        A root number completes at white space or by `finalize`.
        """
        return self._mode == modes.DONE and self.error is None

    @property
    def trailing_index(self) -> int | None:
        """With `trailing="ignore"`, the index at which text after the document begins, if any."""
        if self.is_over and self._tape.trailing_index >= 0:
            return self._tape.trailing_index
        return None

    @property
    def next_id(self) -> int:
        """The id of the next node, which is the number of nodes."""
        return self._node_count

    @property
    def index(self) -> int:
        """The number of code points read; after an error, the number before its position."""
        return self._index

    @property
    def line(self) -> int:
        """The line of the next character, from 1."""
        return self._line[0]

    @property
    def column(self) -> int:
        """The column of the next character, from 1."""
        return self._index - self._line[1] + 1

    def __repr__(self) -> str:
        return f"<ParserState {self.mode.name} at index {self._index}, {self._node_count} nodes>"

    def __copy__(self) -> ParserState:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> ParserState:
        return self

    def __reduce__(self) -> tuple[Callable[..., ParserState], tuple[object, ...]]:
        return restore_state, (dump(self),)


def check_state(state: ParserState) -> None:
    """Raise `TypeError` for anything but a state."""
    if not isinstance(state, ParserState):
        message = f"a state must be a ParserState, not {type(state).__name__}"
        raise TypeError(message)


def restore_state(dumped: ParserDump) -> ParserState:
    """Return the state that was pickled."""
    return ParserState(load(dumped), dumped.source, None)
