"""The command with all its subcommands, in the order in which the help lists them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from jsontide import COMPILED, __version__
from jsontide.cli._output import escape_lines
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

_USAGE_ERROR: Any = typer.BadParameter.__base__
"""What all errors of a command line are; typer does not export it."""


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
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Incremental JSON for streams."""


_COMMANDS: Final[Mapping[Callable[..., None], str]] = {
    record: "Record a stream with its times.",
    replay: "Play a recording as it was received.",
    watch: "Show what a stream says while it arrives.",
    events: "Write what happens in a JSON text.",
    get: "Write the values at some paths of a JSON text.",
    chunk: "Turn snapshots of a value into text chunks.",
    mend: "Mend the JSON that a language model wrote.",
    check: "Check JSON, or an answer, against a schema.",
    stats: "Measure recordings: when what came.",
    studio: "Go back and forth in the time of a stream.",
}
"""In one line each that a terminal of 60 columns shows whole."""

for command, summary in _COMMANDS.items():
    # Everything after the first word of a command that is run belongs to it.
    app.command(context_settings={"allow_interspersed_args": command is not record}, short_help=summary)(command)
