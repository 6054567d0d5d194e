"""`jsontide record`."""

import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Annotated, BinaryIO

import typer
from rich.console import Console

from jsontide import recordings
from jsontide.cli._exits import INTERRUPTED, exit_codes, say, writing
from jsontide.cli._live_view import count_pieces
from jsontide.cli._options import PORT
from jsontide.cli._raw_output import RawOutput
from jsontide.cli._record import FailedError, Program, Receiver, Recorded, Tee, Watcher, record_chunks
from jsontide.cli._terminal import draws_live, is_terminal, open_stdin
from jsontide.cli._watch import Drawings


def record(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND", show_default=False, help="A command to run and record."),
    ] = None,
    *,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="The recording; with --proxy, a directory for recordings."),
    ],
    proxy: Annotated[
        str | None,
        typer.Option(
            metavar="URL", show_default=False, help="Record every stream between an application and this URL."
        ),
    ] = None,
    port: Annotated[int, PORT] = 0,
) -> None:
    """Record a stream with its times: standard input, the output of a command, or what passes a proxy.

    \b
    curl -N ... | jsontide record -o turn.ndjson
    jsontide record -o turn.ndjson -- curl -N ...
    jsontide record -o turns --proxy https://api.example.com

    What is recorded is passed on to standard output; on a terminal, it is shown as by
    `jsontide watch`.
    The recording has the pieces as they were received, and the name of the command, but neither
    its arguments nor anything of a request, because keys are there.

    The proxy listens on this machine only.
    Tell the application to use its address instead of the provider's; each response becomes a file
    in the directory.

    Exit codes: 0 the stream was recorded, or the proxy was ended with Ctrl-C; 2 invalid command
    line, or the source, the output or the port cannot be used; 130 interrupted, and what came
    before is recorded; 141 the output was closed, likewise.
    If the command fails, its own exit code.
    """
    if proxy is not None:
        if command:
            raise typer.BadParameter("a command and a proxy cannot be recorded together", param_hint="--proxy")
        _serve_proxy(proxy, output, port)
        return
    with exit_codes():
        with writing(str(output)):
            file = output.open("wb")
        with file:
            recorded = _record(command or [], file)
    if is_terminal(sys.stderr):
        counts = f"{count_pieces(recorded.pieces)}, {recorded.size:,} bytes, {recorded.seconds:.1f} s"
        say(f"jsontide: {counts} in {output}")
    if isinstance(recorded.error, FailedError):
        raise typer.Exit(recorded.error.code)
    if recorded.end == "stopped":
        raise typer.Exit(INTERRUPTED)
    if recorded.error is not None:
        raise typer.BadParameter(str(recorded.error))


def _serve_proxy(url: str, folder: Path, port: int) -> None:
    with exit_codes(), suppress(KeyboardInterrupt):
        try:
            proxy = recordings.RecordingProxy(url, folder, port=port, on_error=lambda said: say(f"jsontide: {said}"))
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--proxy") from error
        except OSError as error:
            where = f"{folder}" if error.filename else f"port {port}"
            raise typer.BadParameter(f"cannot use {where}: {error.strerror}") from error
        with proxy:
            typer.echo(f"{proxy.url} passes on to {url} and records into {folder}; Ctrl-C ends it")
            threading.Event().wait()


def _record(command: list[str], file: BinaryIO) -> Recorded:
    if not command:
        return record_chunks(open_stdin(), file, "standard input", _choose_receiver())
    with Program(command) as program:
        return record_chunks(program.read(), file, program.name, _choose_receiver())


def _choose_receiver() -> Receiver:
    if draws_live():
        return Watcher(Drawings(Console(), prints_whole=False))
    return Tee(RawOutput(sys.stdout.buffer, is_terminal=is_terminal(sys.stdout)))
