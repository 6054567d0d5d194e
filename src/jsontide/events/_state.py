"""The state of an accumulator: an immutable mark on an emitter.

Feeding the newest state of an emitter continues with it; feeding an older one forks first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsontide._mypyc import mypyc_attr
from jsontide.events._pickle import dump, load
from jsontide.text import modes

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_extensions import i64

    from jsontide._errors import ParserError
    from jsontide.events._emitter import EventEmitter
    from jsontide.events._frames import EventFrame
    from jsontide.events._pickle import EventDump
    from jsontide.events._recovery import Recovery
    from jsontide.text.utf8 import ByteSource


@mypyc_attr(free_list_len=1)  # most programs let go of a state when they have the next one
class EventState:
    """Where a stream of fragments stands; it never changes, and can be fed again at any time.

    Made by `create_event_state`, `add_fragment` and `finish`.
    """

    __slots__ = (
        "_count",
        "_emitter",
        "_error_count",
        "_held",
        "_index",
        "_key",
        "_line",
        "_max_index",
        "_mode",
        "_node_count",
        "_piece_count",
        "_pieces",
        "_recovery",
        "_source",
        "_step",
        "_string_wanted",
        "_token_start",
        "_top",
    )

    def __init__(self, emitter: EventEmitter, source: ByteSource | None) -> None:
        self._emitter: EventEmitter = emitter
        self._source: ByteSource | None = source
        self._step: i64 = emitter.step
        self._mode: i64 = emitter.mode
        self._index: i64 = emitter.index
        self._held: str = emitter.held
        self._token_start: i64 = emitter.token_start
        pieces = emitter.pieces
        self._pieces: list[str] = pieces
        self._piece_count: i64 = len(pieces)
        self._string_wanted: tuple[int, ...] = emitter.string_wanted
        self._node_count: i64 = emitter.node_count
        self._max_index: i64 = emitter.max_index
        self._line: tuple[i64, i64] = emitter.line
        top = emitter.top
        self._top: EventFrame = top
        self._count: i64 = top.count
        self._key: str | None = top.key
        self._error_count: i64 = emitter.error_count
        recovery = emitter.recovery
        self._recovery: Recovery | None = None if recovery is None else recovery.copy()

    @property
    def is_over(self) -> bool:
        """Whether an error has ended the stream."""
        # An emitter that is over is never written again, so only its last state can be over.
        return self._emitter.is_over and self._emitter.step == self._step

    @property
    def error(self) -> ParserError | None:
        """The error that ended the stream, if one did."""
        return self._emitter.error if self.is_over else None

    @property
    def is_complete(self) -> bool:
        """Whether at least one document has ended and nothing is open."""
        if self._mode != modes.DONE or self._recovery is not None or self.is_over:
            return False
        return self._count > 0

    @property
    def index(self) -> int:
        """The number of code points read; after an error, of those before it."""
        return self._index

    def __repr__(self) -> str:
        return f"<EventState at index {self._index}>"

    def __copy__(self) -> EventState:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> EventState:
        return self

    def __reduce__(self) -> tuple[Callable[..., EventState], tuple[object, ...]]:
        return restore_state, (dump(self),)


def restore_state(dumped: EventDump) -> EventState:
    """Return a state from the contents of its pickle."""
    return EventState(load(dumped), dumped.source)
