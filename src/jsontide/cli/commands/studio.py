"""`jsontide studio`."""

import importlib
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from jsontide.cli._exits import exit_codes
from jsontide.cli._input import is_in_archive, load_recording
from jsontide.cli._options import PORT


def studio(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", show_default=False, help="A recording, or a stream as received.")
    ] = None,
    *,
    listen: Annotated[
        bool, typer.Option("--listen", help="Show streams that are posted here, as they arrive.")
    ] = False,
    proxy: Annotated[
        str | None,
        typer.Option(metavar="URL", show_default=False, help="Show streams between an application and this URL."),
    ] = None,
    port: Annotated[int, PORT] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address of the page.")] = False,
) -> None:
    """Open the studio: a page that goes back and forth in the time of a stream.

    Serves the page on this machine only, until Ctrl-C.
    A recording in an archive is named as in tables: `turns.tar.gz!turn.ndjson`.

    Exit codes: 0 it was ended with Ctrl-C; 1 the file is not a valid recording, and standard error
    says in which line; 2 invalid command line, the file or the port cannot be used, or the extra
    studio is not installed.
    """
    is_packed = file is not None and is_in_archive(file)
    if file is not None and not is_packed and not file.is_file():
        raise typer.BadParameter(f"cannot read {file}: there is no such file", param_hint="FILE")
    try:
        # Imported late: no other command needs the extra.
        serve = importlib.import_module("jsontide.studio").serve
    except ModuleNotFoundError as error:
        raise typer.BadParameter('the studio needs extra packages: pip install "jsontide[studio]"') from error
    with exit_codes(), suppress(KeyboardInterrupt), TemporaryDirectory(prefix="jsontide-") as folder:
        if file is not None and is_packed:
            recording = load_recording(file)
            file = Path(folder, file.name.rpartition("!")[2])
            recording.save(file)
        try:
            serve(file, port=port, listen=listen, proxy=proxy, open_browser=not no_browser)
        except OSError as error:
            raise typer.BadParameter(f"cannot serve on port {port}: {error.strerror}", param_hint="--port") from error
