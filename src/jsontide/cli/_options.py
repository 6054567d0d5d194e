"""What people write on the command line, read: options that several commands have."""

import re

import typer

from jsontide.cli._schemas import HELP
from jsontide.cli._source import Sizes

FASTEST = 1_000_000

PORT = typer.Option(min=0, max=65_535, metavar="N", help="Where to listen; 0 for any free port.")
SCHEMA = typer.Option("--schema", metavar="FILE|MODULE:NAME", show_default=False, help=HELP)
SEED = typer.Option(metavar="N", help="Seed for random sizes.")
SIZE = typer.Option(
    metavar="N|LOW-HIGH", show_default=False, help="Bytes in each piece. Default: as received, or 1-8 of a JSON text."
)
SPEED = typer.Option(
    min=0,
    max=FASTEST,
    metavar="FACTOR",
    show_default=False,
    help="How much faster to play a recording; 0 plays it at once. Default: 1 on a terminal, otherwise 0.",
)
SOURCE = typer.Argument(metavar="FILE", help="A file, or - for standard input.")


def parse_sizes(text: str) -> Sizes:
    match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", text, re.ASCII)
    if match is None:
        raise typer.BadParameter("expected a number or a range such as 1-8", param_hint="--size")
    low, high = int(match[1]), int(match[2] or match[1])
    if not 1 <= low <= high:
        raise typer.BadParameter("a range must start at 1 or more and go up", param_hint="--size")
    return Sizes(low, high)
