"""Chunks as they come in, strict text out, for loops that go on from there; errors behind it point into the original.

A `MendState` for those who need no states in between: it changes in place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from jsontide._errors import ParserError, Reason
from jsontide.mend.mender import Mender
from jsontide.mend.options import Mending, Repair
from jsontide.mend.places import Passage, original_index, place_error
from jsontide.mend.shape import Shape
from jsontide.text.utf8 import ByteSource, as_text

if TYPE_CHECKING:
    from mypy_extensions import i64


class MendReader:
    """Mends one text."""

    __slots__ = (
        "_base",
        "_buffer",
        "_chunk",
        "_is_good",
        "_line",
        "_line_start",
        "_mender",
        "_on_repair",
        "_reported",
        "_source",
    )

    def __init__(
        self,
        mending: Mending,
        on_repair: Callable[[Repair], object] | None = None,
        shape: Shape | None = None,
    ) -> None:
        self._mender: Final = Mender(mending, shape)
        self._on_repair: Final = on_repair
        self._reported: i64 = 0  # how many repairs `on_repair` was called with
        self._source: ByteSource | None = None
        self._is_good: bool = True
        # Where the last chunk began, with what was held then:
        self._chunk: str = ""
        self._buffer: str = ""
        self._base: i64 = 0
        self._line: i64 = 1
        self._line_start: i64 = 0

    def feed(self, chunk: str | bytes | bytearray | memoryview) -> str:
        """Read a chunk; return what is certain of the strict text."""
        return self.feed_text(chunk if type(chunk) is str and self._source is None else self.decode(chunk))

    def decode(self, chunk: str | bytes | bytearray | memoryview) -> str:
        """Return the text of a chunk, for `feed_text`, which must get it then."""
        index = self._mender.base + len(self._mender.buffer)
        self._source, text, self._is_good = as_text(chunk, self._source, index, "chunk")
        return text

    def feed_text(self, text: str) -> str:
        """Read decoded text."""
        mender = self._mender
        self._chunk = text
        self._buffer = mender.buffer
        self._base = mender.base
        self._line = mender.line
        self._line_start = mender.line_start
        mended = mender.feed(text)
        if not self._is_good:
            source = self._source
            assert source is not None
            mender.refuse(Reason.BAD_UTF8, f"UTF-8 at byte {source.offset}", source.found)
        if self._reported != mender.repair_count:
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
        if self._reported != mender.repair_count:
            self._report()
        return text.removesuffix(mender.closers)

    def _report(self) -> None:
        on_repair = self._on_repair
        if on_repair is None:
            self._reported = self._mender.repair_count
            return
        while self._reported < self._mender.repair_count:
            self._reported += 1
            on_repair(self._mender.repairs[self._reported - 1])

    @property
    def is_over(self) -> bool:
        """Whether no more text will be read, because of an error or the end."""
        return self._mender.is_over

    @property
    def error(self) -> ParserError | None:
        """What cannot be mended, or that the value broke off, when that is known; its path is not."""
        mender = self._mender
        if mender.error is not None:
            return mender.error
        return mender.truncation if mender.is_over else None

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """All repairs so far, in the order of the text."""
        return tuple(self._mender.repairs[: self._mender.repair_count])

    def original_index(self, index: int) -> int:
        """Return where in the original text a place of the strict one is."""
        return original_index(self.repairs, index)

    def place(self, error: ParserError) -> ParserError:
        """Return an error in the strict text as one in the original."""
        passage = Passage(self._buffer + self._chunk, self._base, self._line, self._line_start)
        return place_error(error, self.repairs, passage)
