"""The command with all its subcommands, in the order in which the help lists them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from jsontide import COMPILED, __version__
from jsontide.cli._output import escape_lines
from jsontide.cli.commands import COMMANDS
from jsontide.cli.commands.record import record

_USAGE_ERROR: Any = typer.BadParameter.__base__
"""The base of all errors of a command line; typer does not export it."""


class SafeGroup(TyperGroup):
    """Makes errors of the command line safe to print: they may have the text of a file in them, or its name."""

    def make_context(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - as the base class has it
        with _safe_errors():
            return super().make_context(*args, **options)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - as the base class has it
        with _safe_errors():
            return super().invoke(ctx)


@contextmanager
def _safe_errors() -> Iterator[None]:
    try:
        yield
    except _USAGE_ERROR as error:
        error.message = escape_lines(error.message)
        raise


app = typer.Typer(
    cls=SafeGroup,
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
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Incremental JSON for streams."""


for command, summary in COMMANDS.items():
    # Everything after the first word of a command that is run belongs to it.
    app.command(context_settings={"allow_interspersed_args": command is not record}, short_help=summary)(command)
