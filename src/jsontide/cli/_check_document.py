"""A JSON text, or a model's stream, and a schema in; out what is wrong with the one, or between the two.

Rule: everything that does not fit is found; what is not JSON is one problem more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from jsontide import JsonValue, ParserError, Reason, create_parser_state, finalize, parse_chunk
from jsontide._path import Path, path_text
from jsontide.cli._excerpt import describe
from jsontide.cli._input import Events
from jsontide.messages import ErrorDetail, Outcome
from jsontide.recordings import follow, start_moment
from jsontide.schema import SchemaMismatch, from_json_ast


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is wrong; its place is `None` if it is not a place in the text."""

    path: Path
    reason: str
    message: str
    place: tuple[int, int, int] | None
    """Index, line and column."""

    def to_json(self) -> JsonValue:
        plain: dict[str, JsonValue] = {"path": path_text(self.path), "reason": self.reason, "message": self.message}
        if self.place is not None:
            plain |= zip(("index", "line", "column"), self.place, strict=True)
        return plain


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
    wrong: list[SchemaMismatch | ParserError] = [*from_json_ast(schema, state).errors]
    if state.error is not None:
        wrong.append(state.error)
    is_cut_off = state.error is not None and state.error.reason is Reason.UNEXPECTED_END
    # The parser stops at the first bytes that are not UTF-8, so all indices agree.
    return Checked(b"".join(read).decode("utf-8-sig", "replace"), list(map(_in_text, wrong)), is_cut_off)


def check_answer(stream: Events, schema: object) -> Checked:
    """Read a message to its end; the text is that of its answer."""
    moment = start_moment()
    for each in follow(stream.source, schema=schema):
        moment = each
    message = moment.message
    if message is None:
        return Checked("", [Problem((), "no message", "there is no message of a model in it", None)], is_cut_off=False)
    problems = list(dict.fromkeys(map(_in_message, message.errors)))
    if not problems and moment.outcome is not Outcome.COMPLETE:
        outcome = moment.outcome.value
        problems.append(Problem((), outcome, f"the message is {outcome}", None))
    return Checked(message.content, problems, is_cut_off=moment.outcome is Outcome.TRUNCATED)


def _in_message(error: ErrorDetail) -> Problem:
    if isinstance(error.cause, SchemaMismatch | ParserError) and error.source == "content":
        return _in_text(error.cause)
    return Problem(error.path, error.kind.value, error.message, None)


def _in_text(error: SchemaMismatch | ParserError) -> Problem:
    message = describe(error) if isinstance(error, ParserError) else error.message
    return Problem(error.path, error.reason.value, message, (error.index, error.line, error.column))
