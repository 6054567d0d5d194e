"""Exit codes, the same for every command: bad input, unusable sources and outputs, interrupts, closed pipes.

Rule: an error is one short message on standard error, never a traceback.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from jsontide import ParserError, Reason, create_parser_state, finalize, parse_chunk
from jsontide._values import escape_unsafe
from jsontide.cli._input import UnreadableError, error_width
from jsontide.cli._output import RecentText, escape_lines
from jsontide.messages import Outcome
from jsontide.recordings import Moment, RecordingError

BAD = 1
"""The input is bad, and standard error says where."""
UNUSABLE = 2
CUT_OFF = 3
TO_BE_MENDED = 4
INTERRUPTED = 130
PIPE_CLOSED = 141


@contextmanager
def exit_codes() -> Iterator[None]:
    """Turn the errors of any command into exit codes."""
    if sys.stdout is None:  # the descriptor is closed
        raise typer.BadParameter("cannot write standard output: it is closed")
    try:
        yield
    except UnreadableError as error:
        raise typer.BadParameter(str(error)) from error
    except RecordingError as error:
        raise report(str(error)) from error
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        _discard_output()
        raise typer.Exit(PIPE_CLOSED) from None
    except OSError as error:
        _discard_output()
        raise typer.BadParameter(f"cannot write standard output: {error.strerror}") from error


@contextmanager
def writing(name: str) -> Iterator[None]:
    """Name a file in the system's errors; for a pipe that is closed there is a code of its own."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise typer.BadParameter(f"cannot write {name}: {error.strerror}") from error


def _discard_output() -> None:
    """Let Python flush standard output at exit without an error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(message: str) -> None:
    """Print a message on standard error; it may quote text that is not safe to print."""
    try:
        typer.echo(escape_lines(message), err=True)
    except BrokenPipeError:
        raise
    except OSError as error:  # and there is nowhere to say so
        raise typer.Exit(UNUSABLE) from error


def report(message: str, code: int = BAD) -> typer.Exit:
    """Print an error in the input; return the exit to raise."""
    say(f"jsontide: {message}")
    return typer.Exit(code)


def report_error(error: ParserError, recent: RecentText) -> typer.Exit:
    """Print an error in a text, with a caret under the place; return the exit to raise."""
    code = CUT_OFF if error.reason is Reason.UNEXPECTED_END else BAD
    return report(recent.explain(error, error_width()), code)


def hint_at_answer(moment: Moment, schema: object) -> None:
    """Print how to see the values of an answer that is JSON, and is shown as text for want of a schema."""
    content = "" if moment.message is None or schema is not None else moment.message.content.strip()
    if content.startswith(("{", "[")) and finalize(parse_chunk(create_parser_state(), content)).is_complete:
        say("jsontide: the text of this message is JSON; with --schema any it is an answer, with its own paths")


def report_end(moment: Moment, recent: RecentText | None = None) -> None:
    """Exit with the code for how the stream ended, after printing its errors."""
    outcome, error = moment.outcome, moment.error
    if moment.end == "stopped":
        raise typer.Exit(INTERRUPTED)
    if outcome is Outcome.COMPLETE or (moment.run is not None and moment.is_complete):
        return
    if isinstance(error, ParserError) and moment.kind == "json" and recent is not None:
        raise report_error(error, recent)
    if moment.run is not None:
        waiting = ", ".join(str(one.call.name) for one in moment.run.waiting)
        errors = [moment.error] if isinstance(moment.error, str) else []
        errors += [f"a person must decide about {waiting}"] if waiting else []
    elif moment.message is not None:
        errors = list(dict.fromkeys(each.message for each in moment.message.errors))
    else:
        errors = [] if error is None else [error.message if isinstance(error, ParserError) else error]
    is_cut = outcome.value == Outcome.TRUNCATED.value or (moment.run is not None and moment.end == "lost")
    lines = [f"{outcome.value}: {escape_unsafe(each)}" for each in errors] or [outcome.value]
    raise report("\njsontide: ".join(lines), CUT_OFF if is_cut else BAD)
