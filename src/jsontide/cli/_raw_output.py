"""Bytes in, the same bytes out; on a terminal, as text in which nothing can steer it."""

import codecs
from typing import BinaryIO

from jsontide.cli._escape import escape_lines


class RawOutput:
    """Writes each piece at once."""

    def __init__(self, out: BinaryIO, *, is_terminal: bool) -> None:
        self._out = out
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace") if is_terminal else None

    def write(self, data: bytes) -> None:
        shown = data if self._decoder is None else escape_lines(self._decoder.decode(data)).encode()
        self._out.write(shown)
        self._out.flush()
