"""The state of a parser, and `(state, chunk) -> state`: the functions that people call.

A state is an immutable mark on a tape. Its value is computed when it is first read, from the part of the tape that the
state can see, and then kept. Text never raises: an error in it is part of the returned state.

Feeding an older state forks: a new tape continues from it. Closed values are shared with the first tape; of open
containers, what the state can see is copied. The new tape shows the same objects as the state did, so identity holds
across branches.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

from jsontide._check import check_state
from jsontide._decode import ByteSource, as_text
from jsontide._errors import ParserError, Reason
from jsontide._mypyc import mypyc_attr
from jsontide._values import MISSING, JsonValue, Missing
from jsontide.text import modes
from jsontide.text.grammar import END_OF_TEXT
from jsontide.text.modes import Mode
from jsontide.text.scanner import Position
from jsontide.tree._nodes import Node, Nodes, make_node, take_nodes_in_use
from jsontide.tree._pickle import ParserDump, dump, load
from jsontide.tree.log import logged_count, open_containers, open_values, resolve_past
from jsontide.tree.tape import Container, Tape
from jsontide.tree.views import ViewChain, ViewPool

if TYPE_CHECKING:
    from mypy_extensions import i64


_UNREAD: Final = object()


@mypyc_attr(free_list_len=1)  # most programs drop a state when they have the next one
class ParserState(Position):
    """A stream after a chunk: immutable, and can be fed to `parse_chunk` any number of times.

    Returned by `create_parser_state`, `parse_chunk` and `finalize`.
    Its values are plain Python containers that other states of the stream share: do not modify them.
    """

    __slots__ = ("_count", "_is_duplicate", "_member_key", "_source", "_tape", "_top", "_value")

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
    def floats(self) -> str:
        """The option `floats` that it was created with."""
        return self._tape.floats

    @property
    def line(self) -> int:
        """The line of the next character, from 1."""
        return self._line[0]

    @property
    def column(self) -> int:
        """The column of the next character, from 1."""
        return self._index - self._line[1] + 1

    def _end_at(self, index: int, error: ParserError | None) -> ParserState:
        """Return a state that shows the same, at another index, and after this error if there is one.

        For a copy of a state whose text is not known: its value was written anew, and its place comes from outside.
        """
        tape = claim(self)
        if error is not None:
            tape.error, tape.is_over = error, True
        after = ParserState(tape, None, self)
        after._index = index
        return after

    def __repr__(self) -> str:
        return f"<ParserState {self.mode.name} at index {self._index}, {self._node_count} nodes>"

    def __reduce__(self) -> tuple[Callable[..., ParserState], tuple[object, ...]]:
        return restore_state, (dump(self),)


def restore_state(dumped: ParserDump) -> ParserState:
    """Return the state that was pickled."""
    return ParserState(load(dumped), dumped.source, None)


def fork(state: ParserState) -> Tape:
    """Return a tape that ends where the state does."""
    old = state._tape
    tape = Tape(old.options)
    state.restore(tape)
    tape.settled_step = tape.changed_step = tape.shown_step = state._step
    tape.restore_lines(old.lines.until(state._line[1]))
    tape.known_keys = old.known_keys
    tape.member_key = state._member_key
    tape.is_duplicate = state._is_duplicate
    _copy_log(state, tape)
    _copy_open_containers(state, tape)
    return tape


def _copy_log(state: ParserState, tape: Tape) -> None:
    old = state._tape
    logged = logged_count(state)
    tape.owners = old.owners[:logged]
    tape.keys = old.keys[:logged]
    tape.entries = old.entries[:logged]
    tape.starts = old.starts[:logged]
    tape.lexemes = {node_id: text for node_id, text in old.lexemes.items() if node_id < logged}
    take_nodes_in_use(state, tape)


def _copy_open_containers(state: ParserState, tape: Tape) -> None:
    """Copy the chain of open containers, and take what the state shows of them for their views."""
    value = state.value
    views: list[object] = [[] if value is MISSING else [value], *open_values(state, state._top)]
    containers = [state._tape.document, *open_containers(state)]
    copies: list[Container] = []
    parent: Container | None = None
    for container, inner in zip_longest(containers, containers[1:]):
        parent = container.fork(state._count if inner is None else inner.place, parent)
        parent.is_duplicate = container.is_duplicate
        copies.append(parent)
    for copy in copies[1:]:
        tape.entries[copy.node_id] = copy
    tape.document = copies[0]
    tape.top = copies[-1]
    tape.depth = len(copies) - 1
    tape.after = tape.top.after
    tape.hidden_levels = state._is_duplicate + sum(copy.is_duplicate for copy in copies)
    tape.views = ViewPool(tape.document)
    tape.views.newest = ViewChain([*copies], views, [copy.place for copy in copies[1:]], tape.top.count)


def parse_chunk(state: ParserState, chunk: str | bytes | bytearray | memoryview) -> ParserState:
    """Return the state after one more chunk of text; the given state does not change.

    >>> from jsontide import create_parser_state
    >>> state = parse_chunk(create_parser_state(), '[1, "tw')
    >>> state = parse_chunk(state, 'o"]')
    >>> state.value, state.is_complete
    ([1, 'two'], True)
    """
    try:
        tape = state._tape
    except AttributeError:  # it is no state; looking first would cost something for every chunk
        check_state(state, ParserState)
        raise
    source = state._source
    is_good = True
    if type(chunk) is str and source is None:
        text = chunk
    else:
        check_state(state, ParserState)
        source, text, is_good = as_text(chunk, source, state._index, "chunk")
    if not chunk or (tape.is_over and state.is_over):
        return state
    step = state._step
    if tape.step != step:
        tape = fork(state)
    # Counted before anything is written: if this step is interrupted, `state` is no longer the newest.
    step += 1
    tape.step = step
    if text:  # bytes may be only the beginning of a character
        is_more = tape.scan(text)
        if (
            tape.mode == modes.STRING
            and (is_more or tape.index - len(tape.held) > tape.base)
            and not tape.hidden_levels
        ):
            tape.changed_step = step
    if not is_good and source is not None and not tape.is_over:
        _end_at_bytes(tape, Reason.BAD_UTF8, source.wanted, source.found)
    return ParserState(tape, source, state)


def _end_at_bytes(tape: Tape, reason: Reason, wanted: str, found: str) -> None:
    """Stop at invalid bytes: after the document they are ignored if text would be."""
    if tape.ignore_trailing and tape.mode == modes.DONE:
        tape.trailing_index = tape.index
        tape.is_over = True
    else:
        tape.fail(reason, wanted, found, tape.index)


def claim(state: ParserState) -> Tape:
    """Return the tape that continues a state, as in `parse_chunk`: its own if that ends there, else a fork."""
    tape = state._tape
    if tape.step != state._step:
        tape = fork(state)
    tape.step += 1
    return tape


def finalize(state: ParserState) -> ParserState:
    """Return the state after the end of the text: complete, or in error because the text is not.

    >>> from jsontide import create_parser_state
    >>> state = finalize(parse_chunk(create_parser_state(), "12"))
    >>> state.value
    12
    >>> finalize(parse_chunk(create_parser_state(), "[12")).error.message
    "expected ',' or ']', found the end of the text (line 1, column 4)"
    """
    check_state(state, ParserState)
    if state.is_over:
        return state
    source = state._source
    pending = b"" if source is None else source.pending
    if state._mode == modes.DONE and not pending:
        return state
    tape = claim(state)
    if source is not None and pending:
        _end_at_bytes(tape, Reason.UNEXPECTED_END, source.wanted_rest, END_OF_TEXT)
    else:
        tape.finish()
    return ParserState(tape, source, state)


def get_resolved_value(state: ParserState) -> JsonValue | Missing:
    """Return the value if the document is complete, else `MISSING`."""
    check_state(state, ParserState)
    return state.value if state.is_complete else MISSING
