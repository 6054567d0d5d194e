"""The last moment of a stream in, the exit code of its outcome out, with what was wrong on standard error."""

import typer

from jsontide import ParserError
from jsontide.cli._escape import escape_unsafe
from jsontide.cli._excerpt import RecentText
from jsontide.cli._exits import BAD, CUT_OFF, INTERRUPTED, report, report_error
from jsontide.messages import Outcome
from jsontide.recordings import Moment


def report_end(moment: Moment, recent: RecentText | None = None) -> None:
    """Exit by how the stream ended, with what was wrong on standard error."""
    outcome, error = moment.outcome, moment.error
    if moment.end == "stopped":
        raise typer.Exit(INTERRUPTED)
    if outcome is Outcome.COMPLETE:
        return
    if isinstance(error, ParserError) and moment.kind == "json" and recent is not None:
        raise report_error(error, recent)
    said = [f"{outcome.value}: {escape_unsafe(each)}" for each in _errors_of(moment)] or [outcome.value]
    raise report("\njsontide: ".join(said), CUT_OFF if outcome is Outcome.TRUNCATED else BAD)


def _errors_of(moment: Moment) -> list[str]:
    if moment.message is not None:
        return list(dict.fromkeys(error.message for error in moment.message.errors))
    error = moment.error
    return [] if error is None else [error.message if isinstance(error, ParserError) else error]
