"""Exit codes, the same for every command, and what becomes one: unusable sources and outputs, interrupts, closed pipes.

Rule: an error is one short message on standard error, never a traceback.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from jsontide import ParserError, Reason
from jsontide.cli._escape import escape_unsafe
from jsontide.cli._excerpt import RecentText
from jsontide.cli._source import UnreadableError
from jsontide.cli._terminal import error_width
from jsontide.recordings import RecordingError

BAD = 1
"""The input is not what it should be, and standard error says where."""
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
        raise report(escape_unsafe(str(error))) from error
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
    """Print a message on standard error."""
    try:
        typer.echo(message, err=True)
    except BrokenPipeError:
        raise
    except OSError as error:  # and there is nowhere to say so
        raise typer.Exit(UNUSABLE) from error


def report(message: str, code: int = BAD) -> typer.Exit:
    """Print what is wrong with the input; return the exit to raise."""
    say(f"jsontide: {message}")
    return typer.Exit(code)


def report_error(error: ParserError, recent: RecentText) -> typer.Exit:
    """Print what is wrong with a text, with a caret under the place; return the exit to raise."""
    code = CUT_OFF if error.reason is Reason.UNEXPECTED_END else BAD
    return report(recent.explain(error, error_width()), code)
