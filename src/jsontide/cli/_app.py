"""The command with all its subcommands, in the order in which the help lists them."""

from typing import Annotated

import typer

from jsontide import COMPILED, __version__
from jsontide.cli.commands.check import check
from jsontide.cli.commands.chunk import chunk
from jsontide.cli.commands.events import events
from jsontide.cli.commands.get import get
from jsontide.cli.commands.mend import mend
from jsontide.cli.commands.record import record
from jsontide.cli.commands.replay import replay
from jsontide.cli.commands.stats import stats
from jsontide.cli.commands.studio import studio
from jsontide.cli.commands.watch import watch

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Plain help: brackets in it are JSON and extras, not markup.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it so
    if wanted:
        typer.echo(f"jsontide {__version__} ({'compiled' if COMPILED else 'pure'})")
        raise typer.Exit


@app.callback()
def jsontide(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Incremental JSON for streams."""


# Everything after the first word of a command that is run belongs to it.
app.command(context_settings={"allow_interspersed_args": False})(record)
for command in (replay, watch, events, get, chunk, mend, check, stats, studio):
    app.command()(command)
