"""Chunks of a JSON text and a schema in, what is wrong with the one or between the two out.

Rule: everything that does not fit is found; a text that is not JSON has one problem more.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, cast

from jsontide import JsonValue, ParserError, Reason, create_parser_state, finalize, parse_chunk
from jsontide._path import Path, path_text
from jsontide.cli._excerpt import describe
from jsontide.schema import SchemaMismatch, from_json_ast


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is wrong at a place of a text."""

    path: Path
    reason: str
    message: str
    index: int
    line: int
    column: int

    def to_json(self) -> JsonValue:
        return {
            "path": path_text(self.path),
            "reason": self.reason,
            "message": self.message,
            "index": self.index,
            "line": self.line,
            "column": self.column,
        }


class Checked(NamedTuple):
    """A text, what is wrong with it, and whether it ended too early."""

    text: str
    problems: list[Problem]
    is_cut_off: bool


def check_document(chunks: Iterable[bytes], schema: object) -> Checked:
    """Read a document to its end, or to the place where it is not JSON."""
    # Decimals: a float may be infinite, and so something else than was written.
    state = create_parser_state(floats="decimal")
    read: list[bytes] = []
    for chunk in chunks:
        read.append(chunk)
        state = parse_chunk(state, chunk)
        if state.error is not None:
            break
    state = finalize(state)
    resolution = from_json_ast(cast("type[object]", schema), state)
    problems = [_from_mismatch(error) for error in resolution.errors]
    if state.error is not None:
        problems.append(_from_error(state.error))
    is_cut_off = state.error is not None and state.error.reason is Reason.UNEXPECTED_END
    # The parser stops at the first bytes that are not UTF-8, so all indices agree.
    return Checked(b"".join(read).decode("utf-8-sig", "replace"), problems, is_cut_off)


def _from_mismatch(error: SchemaMismatch) -> Problem:
    return Problem(error.path, error.reason.value, error.message, error.index, error.line, error.column)


def _from_error(error: ParserError) -> Problem:
    return Problem(error.path, error.reason.value, describe(error), error.index, error.line, error.column)
