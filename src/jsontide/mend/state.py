"""Chunks as they come in, strict text and repairs out, in two forms: a value, and a reader that changes in place.

Text never raises: an error in it is part of the returned state.
Rule: an error behind the mender points at the character of the original that it is about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from jsontide._check import check_state
from jsontide._decode import ByteSource, as_text
from jsontide._errors import ParserError, Reason, get_link
from jsontide.mend._buffer import Buffer
from jsontide.mend._mender import Kept, Mender, start_mender
from jsontide.mend._value import link_frames, list_frames
from jsontide.mend.options import Mending, Repair, check_mending
from jsontide.mend.shape import Shape

if TYPE_CHECKING:
    from mypy_extensions import i64


class Passage:
    """A piece of the original text, and where it begins."""

    __slots__ = ("base", "line", "line_start", "text")

    def __init__(self, text: str, base: i64, line: i64, line_start: i64) -> None:
        self.text: Final = text
        self.base: Final[int] = base
        self.line: Final[int] = line
        """The number of the line in which it begins."""
        self.line_start: Final[int] = line_start
        """The index at which that line begins."""


def original_index(repairs: Sequence[Repair], index: int) -> int:
    """Return where in the original text a place of the mended one is."""
    shift = 0
    for repair in repairs:
        begin = repair.index + shift
        if index < begin:
            break
        became = len(repair.became)
        if index < begin + became:
            return repair.index + min(index - begin, max(len(repair.was) - 1, 0))
        shift += became - len(repair.was)
    return index - shift


def place_error(error: ParserError, repairs: Sequence[Repair], passage: Passage) -> ParserError:
    """Return an error in the mended text as one in the original; `passage` is the last text that was read."""
    index = original_index(repairs, error.index)
    line, start = passage.line, passage.line_start
    if index >= passage.base:
        before = passage.text[: index - passage.base]
        if "\n" in before:
            line += before.count("\n")
            start = passage.base + before.rfind("\n") + 1
    elif index < start:
        line, start = _find_line(error, repairs, index)
    column = index - start + 1
    message = error.message.replace(_where(error.line, error.column), _where(line, column))
    path: Any = get_link(error)  # the error makes a path of it when it is read
    return replace(error, message=message, index=index, line=line, column=column, path=path)


def _find_line(error: ParserError, repairs: Sequence[Repair], index: int) -> tuple[int, int]:
    """Return the number of the line of an index, and where it begins.

    Only repairs have other newlines than the mended text.
    """
    line = error.line
    begin = error.index - error.column + 1
    start = original_index(repairs, begin - 1) + 1 if begin else 0
    for repair in repairs:
        if repair.index >= index:
            break
        line += repair.was[: index - repair.index].count("\n") - repair.became.count("\n")
        newline = repair.was.rfind("\n", 0, index - repair.index)
        if newline >= 0:
            start = max(start, repair.index + newline + 1)
    return line, start


def with_path(error: ParserError, other: ParserError | None) -> ParserError:
    """Return an error with the path of another one."""
    if other is None:
        return error
    path: Any = get_link(other)
    return replace(error, path=path)


def _where(line: int, column: int) -> str:
    return f"(line {line}, column {column})"


class MendState:
    """A text that is being mended, after a chunk: immutable, and can be fed to `feed_mend` any number of times.

    The states of one text share a mender, which stands at the newest of them; an older one makes its own.
    """

    __slots__ = ("_kept", "_last_mender", "_source")

    def __init__(self, mender: Mender, source: ByteSource | None) -> None:
        self._kept: Final = mender.keep()
        self._last_mender: Mender = mender
        self._source: Final = source

    @property
    def _mender(self) -> Mender:
        """The mender, at this state."""
        mender = self._last_mender
        if mender.last_kept is not self._kept:
            mender = Mender(self._kept)  # not kept: it takes more memory than the state
        return mender

    @property
    def mending(self) -> Mending:
        """What may be mended."""
        return self._mender.buffer.mending

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """All repairs so far, in the order of the text."""
        return tuple(self._mender.buffer.repairs[: self._mender.buffer.repair_count])

    @property
    def held(self) -> str:
        """The end of the text: not decided yet, or left out and not reported yet."""
        return self._mender.buffer.drop_text + self._mender.buffer.text

    @property
    def error(self) -> ParserError | None:
        """What cannot be mended, if anything; its place is one in the original text."""
        return self._mender.buffer.error

    @property
    def is_truncated(self) -> bool:
        """Whether the text ended, or a code block or tag around the value did, before the value was complete."""
        return self._mender.buffer.is_truncated

    @property
    def truncation(self) -> ParserError | None:
        """Where the value broke off, if it did, as the error that it would be without mending."""
        return self._mender.buffer.truncation

    @property
    def closers(self) -> str:
        """What `finish_mend` added at the end of a value that broke off, to close it."""
        return self._mender.buffer.closers

    @property
    def passage(self) -> Passage:
        """The held text, and where it begins."""
        mender = self._mender
        return Passage(mender.buffer.text, mender.buffer.base, mender.buffer.line, mender.buffer.line_start)

    @property
    def index(self) -> int:
        """The number of code points read, with those that are held."""
        buffer = self._mender.buffer
        return buffer.base + len(buffer.text)

    def original_index(self, index: int) -> int:
        """Return where in the original text a place of the mended one is.

        >>> from jsontide.mend import MODELS
        >>> state, text, _ = feed_mend(start_mend(MODELS), 'Sure: {"a": 1}')
        >>> text.index("1"), state.original_index(text.index("1"))
        (6, 12)
        """
        return original_index(self.repairs, index)

    def __repr__(self) -> str:
        count = self._mender.buffer.repair_count
        return f"<MendState at index {self.index}, {count} repairs>"

    def __reduce__(self) -> tuple[Callable[..., MendState], tuple[object, ...]]:
        of_buffer, of_value, of_strings, of_outside = self._kept
        of_value = (of_value[0], list_frames(of_value[1]), *of_value[2:])
        return restore, ((of_buffer, of_value, of_strings, of_outside), self._source)


def restore(kept: Kept, source: ByteSource | None) -> MendState:
    """Return the state that was pickled."""
    of_buffer, of_value, of_strings, of_outside = kept
    of_value = (of_value[0], link_frames(of_value[1]), *of_value[2:])
    return MendState(Mender((of_buffer, of_value, of_strings, of_outside)), source)


def start_mend(mending: Mending, shape: Shape | None = None) -> MendState:
    """Return the state before any text; `jsontide.schema.shape_of` gives the shape of a schema."""
    checked = check_mending(mending)
    if shape is not None and not isinstance(shape, Shape):
        raise TypeError(f"shape must be what jsontide.schema.shape_of returns, not {type(shape).__name__}")
    return MendState(start_mender(checked, shape), None)


def feed_mend(
    state: MendState, chunk: str | bytes | bytearray | memoryview
) -> tuple[MendState, str, tuple[Repair, ...]]:
    """Return the state after one more chunk, the strict text that it adds, and the repairs in it.

    >>> from jsontide.mend import MODELS
    >>> state, text, repairs = feed_mend(start_mend(MODELS), "{city: 'Kyoto',}")
    >>> text
    '{"city": "Kyoto"}'
    >>> [repair.kind.value for repair in repairs]
    ['unquoted key', 'quotes', 'quotes', 'trailing comma']
    """
    check_state(state, MendState)
    mender = state._mender
    buffer = mender.buffer
    source, text, is_good = as_text(chunk, state._source, buffer.base + len(buffer.text), "chunk")
    if len(chunk) == 0 or buffer.is_over:
        return state, "", ()
    reported = buffer.repair_count
    mended = mender.feed(text)
    if not is_good and source is not None:
        mender.refuse(Reason.BAD_UTF8, f"UTF-8 at byte {source.offset}", source.found)
    return MendState(mender, source), mended, _new_repairs(buffer, reported)


def finish_mend(state: MendState) -> tuple[MendState, str, tuple[Repair, ...]]:
    """Return the state after the end of the text, the rest of the strict text, and the repairs in it.

    >>> from jsontide.mend import MODELS
    >>> state, text, repairs = feed_mend(start_mend(MODELS), '{"city": "Kyo')
    >>> state, rest, repairs = finish_mend(state)
    >>> text + rest, state.is_truncated
    ('{"city": "Kyo"}', True)
    """
    check_state(state, MendState)
    mender = state._mender
    buffer = mender.buffer
    if buffer.is_over:
        return state, "", ()
    source = state._source
    reported = buffer.repair_count
    if source is not None and source.pending:
        mender.refuse(Reason.UNEXPECTED_END, f"the rest of the UTF-8 sequence at byte {source.offset}", source.found)
    mended = mender.finish()
    return MendState(mender, source), mended, _new_repairs(buffer, reported)


def _new_repairs(buffer: Buffer, reported: int) -> tuple[Repair, ...]:
    return () if buffer.repair_count == reported else tuple(buffer.repairs[reported : buffer.repair_count])


class MendReader:
    """A `MendState` for those who need no states in between: it changes in place."""

    __slots__ = ("_is_good", "_last", "_mender", "_on_repair", "_reported", "_source")

    def __init__(
        self, mending: Mending, on_repair: Callable[[Repair], object] | None = None, shape: Shape | None = None
    ) -> None:
        self._mender: Final = start_mender(mending, shape)
        self._on_repair: Final = on_repair
        self._reported: i64 = 0  # how many repairs `on_repair` was called with
        self._source: ByteSource | None = None
        self._is_good: bool = True
        # The last chunk, what was held before it, and where that begins, as `Passage` says it.
        self._last: tuple[str, str, i64, i64, i64] = ("", "", 0, 1, 0)

    def feed(self, chunk: str | bytes | bytearray | memoryview) -> str:
        """Read a chunk; return what is certain of the strict text."""
        return self.feed_text(chunk if type(chunk) is str and self._source is None else self.decode(chunk))

    def decode(self, chunk: str | bytes | bytearray | memoryview) -> str:
        """Return the text of a chunk, for `feed_text`, which must get it then."""
        index = self._mender.buffer.base + len(self._mender.buffer.text)
        self._source, text, self._is_good = as_text(chunk, self._source, index, "chunk")
        return text

    def feed_text(self, text: str) -> str:
        """Read decoded text."""
        mender = self._mender
        buffer = mender.buffer
        self._last = (text, buffer.text, buffer.base, buffer.line, buffer.line_start)
        mended = mender.feed(text)
        if not self._is_good:
            source = self._source
            assert source is not None
            mender.refuse(Reason.BAD_UTF8, f"UTF-8 at byte {source.offset}", source.found)
        if self._reported != buffer.repair_count:
            self._report()
        return mended

    def finish(self) -> str:
        """Read the end of the text; return the rest of the strict text, without what would close it."""
        mender = self._mender
        source = self._source
        if source is not None and source.pending:
            wanted = f"the rest of the UTF-8 sequence at byte {source.offset}"
            mender.refuse(Reason.UNEXPECTED_END, wanted, source.found)
        text = mender.finish()
        if self._reported != mender.buffer.repair_count:
            self._report()
        return text.removesuffix(mender.buffer.closers)

    def _report(self) -> None:
        on_repair = self._on_repair
        if on_repair is None:
            self._reported = self._mender.buffer.repair_count
            return
        while self._reported < self._mender.buffer.repair_count:
            self._reported += 1
            on_repair(self._mender.buffer.repairs[self._reported - 1])

    @property
    def is_over(self) -> bool:
        """Whether no more text will be read, because of an error or the end."""
        return self._mender.buffer.is_over

    @property
    def error(self) -> ParserError | None:
        """What cannot be mended, or that the value broke off, when that is known; its path is not."""
        mender = self._mender
        if mender.buffer.error is not None:
            return mender.buffer.error
        return mender.buffer.truncation if mender.buffer.is_over else None

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """All repairs so far, in the order of the text."""
        return tuple(self._mender.buffer.repairs[: self._mender.buffer.repair_count])

    def original_index(self, index: int) -> int:
        """Return where in the original text a place of the strict one is."""
        return original_index(self.repairs, index)

    def place(self, error: ParserError) -> ParserError:
        """Return an error in the strict text as one in the original."""
        chunk, held, base, line, line_start = self._last
        return place_error(error, self.repairs, Passage(held + chunk, base, line, line_start))
