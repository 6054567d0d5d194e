"""`jsontide mend`."""

import re
import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated

import typer

from jsontide.cli._exits import BAD, CUT_OFF, TO_BE_MENDED, exit_codes, say
from jsontide.cli._mend_stream import (
    KINDS,
    NoReport,
    Outcome,
    Report,
    ReportForPeople,
    ReportForPrograms,
    Say,
    StrictWriter,
    mend_stream,
)
from jsontide.cli._terminal import error_width, is_terminal, read_source
from jsontide.mend import EVERYTHING, MODELS, Mending

_WITHOUT = f"Do not mend this kind; can be repeated. Kinds: {', '.join(KINDS)}."


def mend(  # noqa: PLR0913 - options, all by name
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file, or - for standard input.")] = "-",
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing: only the exit code tells; with --json, the report does too.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Report repairs as JSON, an object on a line of its own for each.")
    ] = False,
    every_value: Annotated[
        bool, typer.Option("--all", help="Keep all values, each on lines of its own, and not only the first.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--everything", help="Mend what people do in files and logs, too: an ellipsis is dropped.")
    ] = False,
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", show_default=False, help=_WITHOUT),
    ] = None,
) -> None:
    """Mend the JSON that a language model wrote.

    Finds the value in what stands around it, and writes it as strict JSON as soon as it is certain.
    What is strict already stays as it is, character by character.
    Text that can be read in two ways is an error, and not guessed.

    Reports each repair on standard error: what was done, where, and the line with a caret under
    the place.
    On a terminal the report follows the value.
    With --json, the objects have the members kind, index, line, column, was, became and lossy; an
    error has error, index, line, column and message; the last has result (strict, mended,
    truncated or refused) and repairs, their number.

    Exit codes: 0 the output is strict JSON, mended or not; 1 the text cannot be mended, and
    standard error says where; 2 invalid command line, or the source or the output cannot be used;
    3 the text was cut off, and the output has all of it that is certain, closed; 130 interrupted;
    141 the output was closed.
    With --check: 0 the text is strict JSON; 1 it cannot be mended; 3 it is cut off; 4 it would be
    mended.
    """
    mending = _choose_mending(everything=everything, every_value=every_value, without=without or [])
    # On a terminal, the report would get between the pieces of the value, or into the progress bar.
    waits = is_terminal(sys.stderr) and (is_terminal(sys.stdout) or file != "-")
    waiting: list[str] = []
    report = _choose_report(waiting.append if waits else say, as_json=as_json, check=check)
    with exit_codes():
        chunks = read_source(file, beside_output=check)
        writer = None if check else StrictWriter(sys.stdout.buffer, is_terminal=is_terminal(sys.stdout))
        outcome = mend_stream(chunks, mending, writer, report)
        if writer is not None and (every_value or writer.is_terminal):
            writer.end_line()
        for message in waiting:
            say(message)
    codes = {Outcome.REFUSED: BAD, Outcome.TRUNCATED: CUT_OFF, Outcome.MENDED: TO_BE_MENDED if check else 0}
    raise typer.Exit(codes.get(outcome, 0))


def _choose_mending(*, everything: bool, every_value: bool, without: Iterable[str]) -> Mending:
    kinds = []
    for name in without:
        kind = KINDS.get(re.sub(r"[\s_]", "-", name.lower()))
        if kind is None:
            raise typer.BadParameter(f"there is no kind {name!r}; there are {', '.join(KINDS)}", param_hint="--without")
        kinds.append(kind)
    mending = EVERYTHING if everything else MODELS
    return replace(mending.without(*kinds), values="all" if every_value else "first")


def _choose_report(say: Say, *, as_json: bool, check: bool) -> Report:
    if as_json:
        return ReportForPrograms(say)
    return NoReport() if check else ReportForPeople(say, error_width())
