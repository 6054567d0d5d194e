"""`jsontide check`: a JSON text, or a model's stream, and a schema in; the problems out.

Rule: every mismatch is found, and text that is not JSON is one more problem.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import typer

from jsontide import MISSING, JsonValue, ParserError, Reason, create_parser_state, finalize, parse_chunk
from jsontide._path import Path, path_text
from jsontide._values import escape_unsafe
from jsontide.cli._exits import BAD, CUT_OFF, exit_codes, say
from jsontide.cli._input import Events, JsonText, error_width, open_stdout, read_input
from jsontide.cli._options import HELP, SOURCE, load_schema
from jsontide.cli._output import describe, draw_place
from jsontide.messages import ErrorDetail, Outcome
from jsontide.recordings import follow
from jsontide.schema import SchemaMismatch, from_json_ast


@dataclass(frozen=True, slots=True)
class CheckProblem:
    """A problem; its place is `None` if it is not a place in the text."""

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
    """A text, its problems, and whether it ended too early."""

    text: str
    problems: list[CheckProblem]
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
    moment = deque(follow(stream.source, schema=schema), 1).pop()
    message = moment.message
    if message is None:
        problem = CheckProblem((), "no message", "there is no message of a model in it", None)
        return Checked("", [problem], is_cut_off=False)
    problems = list(dict.fromkeys(map(_in_message, message.errors)))
    outcome = moment.outcome.value
    if not problems and outcome != Outcome.COMPLETE.value:
        what = "message" if moment.run is None else "run"
        problems.append(CheckProblem((), outcome, f"the {what} is {outcome}", None))
    if not problems and message.answer is MISSING:
        problems.append(CheckProblem((), "no answer", "the message has no answer", None))
    return Checked(message.content, problems, is_cut_off=outcome == Outcome.TRUNCATED.value)


def _in_message(error: ErrorDetail) -> CheckProblem:
    if isinstance(error.cause, SchemaMismatch | ParserError) and error.source == "content":
        return _in_text(error.cause)
    return CheckProblem(error.path, error.kind.value, error.message, None)


def _in_text(error: SchemaMismatch | ParserError) -> CheckProblem:
    message = describe(error) if isinstance(error, ParserError) else error.message
    return CheckProblem(error.path, error.reason.value, message, (error.index, error.line, error.column))


_SHOWN = 20


def check(
    file: Annotated[str, SOURCE] = "-",
    *,
    schema: Annotated[str, typer.Option(metavar="FILE|MODULE:NAME", help=HELP)],
    as_json: Annotated[bool, typer.Option("--json", help="Write each problem as a JSON object.")] = False,
) -> None:
    """Check a JSON document, or the answer of a model, against a schema.

    \b
    jsontide check answer.json --schema trips:Itinerary && echo fits

    Reads JSON, or what `curl -N` of a model gives, or a recording of either.

    Prints each problem on standard error: what was expected, what was found, where, and the line
    with a caret under the place.
    With --json, writes objects with the members path, reason, message, index, line and column to
    standard output instead.

    Exit codes: 0 the document fits; 1 it does not, or is not JSON, or there is no answer; 2 invalid command line,
    or the schema, the source or the output cannot be used; 3 the text was cut off; 130 interrupted;
    141 the output was closed.
    """
    wanted = load_schema(schema)
    with exit_codes():
        source = read_input(file, beside_output=True)
        if isinstance(source, JsonText):
            checked = check_document(source.chunks, wanted)
        else:
            checked = check_answer(source, wanted)
        if as_json:
            writer = open_stdout()
            for problem in checked.problems:
                writer.write_json(problem.to_json())
        else:
            _explain(checked.problems, checked.text)
    if checked.problems:
        raise typer.Exit(CUT_OFF if checked.is_cut_off else BAD)


def _explain(problems: list[CheckProblem], text: str) -> None:
    width = error_width()
    for problem in problems[:_SHOWN]:
        say(f"jsontide: {escape_unsafe(problem.message)}")
        if problem.place is not None:
            index, line, _ = problem.place
            say(draw_place(text, index, line, width))
    if len(problems) > _SHOWN:
        say(f"jsontide: and {len(problems) - _SHOWN} more")
