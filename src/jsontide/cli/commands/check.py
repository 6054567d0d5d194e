"""`jsontide check`."""

import sys
from typing import Annotated

import typer

from jsontide.cli._check_document import Problem, check_answer, check_document
from jsontide.cli._escape import escape_unsafe
from jsontide.cli._excerpt import draw_place
from jsontide.cli._exits import BAD, CUT_OFF, exit_codes, say
from jsontide.cli._input import JsonText, read_input
from jsontide.cli._lines import LineWriter
from jsontide.cli._options import SOURCE
from jsontide.cli._schemas import HELP, load_schema
from jsontide.cli._terminal import error_width, is_terminal

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
            writer = LineWriter(sys.stdout.buffer, is_terminal(sys.stdout))
            for problem in checked.problems:
                writer.write_json(problem.to_json())
        else:
            _explain(checked.problems, checked.text)
    if checked.problems:
        raise typer.Exit(CUT_OFF if checked.is_cut_off else BAD)


def _explain(problems: list[Problem], text: str) -> None:
    width = error_width()
    for problem in problems[:_SHOWN]:
        say(f"jsontide: {escape_unsafe(problem.message)}")
        if problem.place is not None:
            index, line, _ = problem.place
            say(draw_place(text, index, line, width))
    if len(problems) > _SHOWN:
        say(f"jsontide: and {len(problems) - _SHOWN} more")
