"""`(state, chunk) -> (state, text, repairs)`: the functions that people call.

Text never raises: an error in it is part of the returned state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from jsontide._errors import Reason
from jsontide._textbuffer import GrowingText
from jsontide.mend._frame import link_frames, list_frames
from jsontide.mend._quotes import Tally
from jsontide.mend.mender import Mender
from jsontide.mend.options import Mending, Repair, check_mending
from jsontide.mend.places import Passage, original_index
from jsontide.mend.shape import Shape
from jsontide.text.utf8 import ByteSource, as_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from jsontide._errors import ParserError

_PLAIN: Final = (
    "mode",
    "buffer",
    "base",
    "line",
    "line_start",
    "repair_count",
    "drop_kind",
    "drop_index",
    "drop_text",
    "flushed",
    "flushed_line",
    "added_colon",
    "quote",
    "string_start",
    "key",
    "prose_kind",
    "doubtful",
    "was_doubtful",
    "remark",
    "equals",
    "wrapping",
    "open_quote",
    "begun",
    "line_marks",
    "skipped",
    "escapes",
    "opens_json",
    "has_quote",
    "escape_end",
    "recent",
    "newline",
    "token_end",
    "resume",
    "until",
    "skip_kind",
    "lead",
    "at_start",
    "in_fence",
    "found",
    "is_scalar",
    "is_truncated",
    "truncation",
    "closers",
    "is_over",
    "error",
    "first_start",
    "first_end",
    "compared",
)
"""What a mender knows between two chunks, as plain data."""


class MendState:
    """A text that is being mended, after a chunk: immutable, and can be fed to `mend_chunk` any number of times."""

    __slots__ = ("_mender", "_source")

    def __init__(self, mender: Mender, source: ByteSource | None) -> None:
        self._mender: Final = mender
        self._source: Final = source

    @property
    def mending(self) -> Mending:
        """What may be mended."""
        return self._mender.mending

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """All repairs so far, in the order of the text."""
        return tuple(self._mender.repairs[: self._mender.repair_count])

    @property
    def held(self) -> str:
        """The end of the text, as far as it is not decided what it means, or what was left out is not reported yet."""
        return self._mender.drop_text + self._mender.buffer

    @property
    def error(self) -> ParserError | None:
        """What cannot be mended, if anything; its place is one in the original text."""
        return self._mender.error

    @property
    def is_truncated(self) -> bool:
        """Whether the text ended, or a code block or tag around the value did, before the value was complete."""
        return self._mender.is_truncated

    @property
    def truncation(self) -> ParserError | None:
        """Where the value broke off, if it did, as the error that it would be without mending."""
        return self._mender.truncation

    @property
    def closers(self) -> str:
        """What `finish_mend` added at the end of a value that broke off, to close it."""
        return self._mender.closers

    @property
    def passage(self) -> Passage:
        """What is held, and where it begins."""
        mender = self._mender
        return Passage(mender.buffer, mender.base, mender.line, mender.line_start)

    @property
    def index(self) -> int:
        """The number of code points read, with those that are held."""
        return self._mender.base + len(self._mender.buffer)

    def original_index(self, index: int) -> int:
        """Return where in the original text a place of the mended one is.

        >>> from jsontide.mend import MODELS
        >>> state, text, _ = mend_chunk(start_mend(MODELS), 'Sure: {"a": 1}')
        >>> text.index("1"), state.original_index(text.index("1"))
        (6, 12)
        """
        return original_index(self.repairs, index)

    def __repr__(self) -> str:
        count = self._mender.repair_count
        return f"<MendState at index {self.index}, {count} repairs>"

    def __reduce__(self) -> tuple[Callable[..., MendState], tuple[object, ...]]:
        mender = self._mender
        plain = [getattr(mender, name) for name in _PLAIN]
        tally = (mender.tally.marks, mender.tally.opened, mender.tally.is_alone, mender.tally.has_key)
        original = mender.original.read()
        frames = list_frames(mender.top)
        return restore, (mender.mending, mender.shape, self.repairs, plain, tally, original, frames, self._source)


def restore(
    mending: Mending,
    shape: Shape | None,
    repairs: tuple[Repair, ...],
    plain: list[Any],
    tally: tuple[int, int, bool, bool],
    original: str,
    frames: list[tuple[str, bool, Shape | None, str]],
    source: ByteSource | None,
) -> MendState:
    """Return the state that was pickled."""
    mender = Mender(mending, shape)
    for name, value in zip(_PLAIN, plain, strict=True):
        setattr(mender, name, value)
    mender.repairs = list(repairs)
    mender.tally = Tally(*tally)
    mender.original = GrowingText(original)
    mender.top = link_frames(frames)
    return MendState(mender, source)


def start_mend(mending: Mending, shape: Shape | None = None) -> MendState:
    """Return the state before any text; `jsontide.schema.shape_of` gives the shape of a schema."""
    checked = check_mending(mending)
    if shape is not None and not isinstance(shape, Shape):
        message = f"shape must be what jsontide.schema.shape_of returns, not {type(shape).__name__}"
        raise TypeError(message)
    return MendState(Mender(checked, shape), None)


def mend_chunk(
    state: MendState, chunk: str | bytes | bytearray | memoryview
) -> tuple[MendState, str, tuple[Repair, ...]]:
    """Return the state after one more chunk, the strict text that it adds, and the repairs in it.

    >>> from jsontide.mend import MODELS
    >>> state, text, repairs = mend_chunk(start_mend(MODELS), "{city: 'Kyoto',}")
    >>> text
    '{"city": "Kyoto"}'
    >>> [repair.kind.value for repair in repairs]
    ['unquoted key', 'quotes', 'quotes', 'trailing comma']
    """
    _check_state(state)
    source, text, is_good = as_text(chunk, state._source, state.index, "chunk")
    if len(chunk) == 0 or state._mender.is_over:
        return state, "", ()
    mender = state._mender.copy()
    mended = mender.feed(text)
    if not is_good and source is not None:
        mender.refuse(Reason.BAD_UTF8, f"UTF-8 at byte {source.offset}", source.found)
    return _step(state, mender, mended, source)


def finish_mend(state: MendState) -> tuple[MendState, str, tuple[Repair, ...]]:
    """Return the state after the end of the text, the rest of the strict text, and the repairs in it.

    >>> from jsontide.mend import MODELS
    >>> state, text, repairs = mend_chunk(start_mend(MODELS), '{"city": "Kyo')
    >>> state, rest, repairs = finish_mend(state)
    >>> text + rest, state.is_truncated
    ('{"city": "Kyo"}', True)
    """
    _check_state(state)
    if state._mender.is_over:
        return state, "", ()
    source = state._source
    mender = state._mender.copy()
    if source is not None and source.pending:
        mender.refuse(Reason.UNEXPECTED_END, f"the rest of the UTF-8 sequence at byte {source.offset}", source.found)
        return _step(state, mender, "", source)
    return _step(state, mender, mender.finish(), source)


def _step(
    before: MendState, mender: Mender, text: str, source: ByteSource | None
) -> tuple[MendState, str, tuple[Repair, ...]]:
    return MendState(mender, source), text, tuple(mender.repairs[before._mender.repair_count : mender.repair_count])


def _check_state(state: object) -> None:
    """Raise `TypeError` for anything but a state."""
    if not isinstance(state, MendState):
        message = f"a state must be a MendState, not {type(state).__name__}"
        raise TypeError(message)
