"""`jsontide mend`: bad JSON in; strict JSON out as soon as it is certain, and a report of every repair.

Rule: only text that is not decided yet is kept, and a little before it for the excerpts.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from enum import Enum
from typing import Annotated

import typer
from rich.cells import cell_len

from jsontide import ParserError
from jsontide.cli._exits import BAD, CUT_OFF, TO_BE_MENDED, exit_codes, say
from jsontide.cli._input import error_width, is_terminal, open_stdout, read_source
from jsontide.cli._options import SOURCE
from jsontide.cli._output import LineWriter, RecentText, Spot, draw_place, first_cells
from jsontide.mend import EVERYTHING, MODELS, Mending, Repair, RepairKind, feed_mend, finish_mend, start_mend

_LONG_DROP = 256  # characters; a longer text is dropped in several pieces
_SHORTEST = 12  # cells of a quoted text that are shown on the narrowest terminal

Say = Callable[[str], None]


class MendOutcome(Enum):
    """How a text ended."""

    STRICT = "strict"
    MENDED = "mended"
    TRUNCATED = "truncated"
    REFUSED = "refused"


class RepairReport:
    """Reports the repairs of a text; this one reports nothing."""

    def repair(self, repair: Repair, spot: Spot) -> None:
        """Report one repair."""

    def end(self, outcome: MendOutcome, repairs: int, error: ParserError | None, text: RecentText) -> None:
        """Report how the text ended, with the number of repairs."""


def mend_stream(
    chunks: Iterable[bytes], mending: Mending, writer: LineWriter | None, report: RepairReport
) -> MendOutcome:
    """Write the strict text and report the repairs of each chunk before the next chunk is read."""
    state = start_mend(mending)
    original = RecentText()
    settled = count = 0

    def write(text: str, repairs: tuple[Repair, ...]) -> None:
        nonlocal settled, count
        if text and writer is not None:
            writer.write_json_text(text, end="")
        for repair in repairs:
            report.repair(repair, original.spot(repair.index))
        count += len(repairs)
        # Every character of the original is in the output or in exactly one repair.
        settled += len(text) + sum(len(repair.was) - len(repair.became) for repair in repairs)
        original.settle(settled)

    for chunk in chunks:
        original.hold(chunk)
        state, text, repairs = feed_mend(state, chunk)
        write(text, repairs)
        if state.error is not None:
            break
    else:
        state, text, repairs = finish_mend(state)
        write(text, repairs)
    if state.error is not None:
        outcome = MendOutcome.REFUSED
    elif state.is_truncated:
        outcome = MendOutcome.TRUNCATED
    else:
        outcome = MendOutcome.MENDED if count else MendOutcome.STRICT
    report.end(outcome, count, state.error, original)
    return outcome


class ReportForPeople(RepairReport):
    """Each repair as a message, the line, and a caret under the place."""

    def __init__(self, say: Say, width: int) -> None:
        self.say = say
        self.width = width
        self._last: Repair | None = None

    def repair(self, repair: Repair, spot: Spot) -> None:
        last, self._last = self._last, repair
        if last is not None and goes_on(last, repair):
            return
        where = f" (line {spot.line}, column {spot.column})"
        kind = f"jsontide: {repair.kind.value}: "
        message = kind + describe_change(repair, self.width - len(kind) - len(where)) + where
        self.say(f"{message}\n{draw_place(spot.text, spot.place, spot.line, self.width)}")

    def end(self, outcome: MendOutcome, repairs: int, error: ParserError | None, text: RecentText) -> None:  # noqa: ARG002
        if error is not None:
            self.say(f"jsontide: {text.explain(error, self.width)}")
        elif outcome is MendOutcome.TRUNCATED:
            self.say("jsontide: the text is cut off: it ended before its value did")


@dataclass(frozen=True, slots=True)
class ReportForPrograms(RepairReport):
    """A JSON object on a line of its own for each repair, for the error if there is one, and for the result."""

    say: Say

    def repair(self, repair: Repair, spot: Spot) -> None:
        self._say(
            kind=name_of(repair.kind),
            index=repair.index,
            line=spot.line,
            column=spot.column,
            was=repair.was,
            became=repair.became,
            lossy=repair.lossy,
        )

    def end(self, outcome: MendOutcome, repairs: int, error: ParserError | None, text: RecentText) -> None:  # noqa: ARG002
        if error is not None:
            self._say(
                error=name_of(error.reason),
                index=error.index,
                line=error.line,
                column=error.column,
                message=error.message,
            )
        self._say(result=outcome.value, repairs=repairs)

    def _say(self, **members: object) -> None:
        # Only ASCII: the encoding of standard error is not known to be UTF-8.
        self.say(json.dumps(members))


def name_of(member: Enum) -> str:
    """Return the name of a kind or a reason as it is written on a command line and in reports."""
    return member.name.lower().replace("_", "-")


KINDS = {name_of(kind): kind for kind in RepairKind if not kind.is_coercion}
"""The kinds that need no schema, by their names on the command line."""


def goes_on(last: Repair, repair: Repair) -> bool:
    """Return whether a repair drops more of the same long text, which is dropped piece by piece."""
    is_long = len(last.was) > _LONG_DROP and not last.became and not repair.became
    return is_long and repair.kind is last.kind and repair.index == last.index + len(last.was)


def describe_change(repair: Repair, room: int) -> str:
    """Return what a repair did, in at most `room` cells, unless that is too few to say anything."""
    if not repair.was:
        return f"inserted {quote(repair.became, room - len('inserted '))}"
    if not repair.became:
        verb = "dropped" if repair.lossy else "removed"
        return f"{verb} {quote(repair.was, room - len(verb) - 1)}"
    loss = ", with loss" if repair.lossy else ""
    room -= len(" became ") + len(loss)
    # Both are shown whole if they fit; otherwise each has at least half of the room.
    became = quote(repair.became, max(room // 2, room - cell_len(quote(repair.was, room))))
    return f"{quote(repair.was, room - cell_len(became))} became {became}{loss}"


def quote(text: str, room: int) -> str:
    """Return a text in quotation marks, in at most `room` cells, but always with its beginning."""
    room = max(room, _SHORTEST)
    mark = '"' if "'" in text[:room] and '"' not in text[:room] else "'"
    # Characters that nobody would see are escaped: odd spaces, and marks of no width.
    shown = "".join(char if char.isprintable() else repr(char)[1:-1] for char in text[:room])
    if len(text) <= room and cell_len(shown) <= room - 2:
        return f"{mark}{shown}{mark}"
    return f"{mark}{first_cells(shown, room - 3)}…{mark}"


_WITHOUT = f"Do not mend this kind; can be repeated. Kinds: {', '.join(KINDS)}."


def mend(  # noqa: PLR0913 - options, all by name
    file: Annotated[str, SOURCE] = "-",
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing, only set the exit code; with --json, report the repairs.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Report repairs as JSON, an object on a line of its own for each.")
    ] = False,
    every_value: Annotated[
        bool, typer.Option("--all", help="Keep all values, each on lines of its own, and not only the first.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--everything", help="Mend mistakes in files and logs, too: an ellipsis is dropped.")
    ] = False,
    without: Annotated[list[str] | None, typer.Option(metavar="KIND", show_default=False, help=_WITHOUT)] = None,
) -> None:
    """Mend the JSON that a language model wrote.

    Finds the value in the text around it, and writes it as strict JSON as soon as it is certain.
    Strict JSON stays as it is, character by character.
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
    report_to = waiting.append if waits else say
    report = (
        ReportForPrograms(report_to)
        if as_json
        else RepairReport()
        if check
        else ReportForPeople(report_to, error_width())
    )
    with exit_codes(), closing(read_source(file, beside_output=check)) as chunks:
        writer = None if check else open_stdout()
        outcome = mend_stream(chunks, mending, writer, report)
        if writer is not None and (every_value or writer.is_terminal):
            writer.end_line()
        for message in waiting:
            say(message)
    codes = {MendOutcome.REFUSED: BAD, MendOutcome.TRUNCATED: CUT_OFF, MendOutcome.MENDED: TO_BE_MENDED if check else 0}
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
