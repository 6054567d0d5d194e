"""What people write on the command line, read: options that several commands have."""

import re

import typer

from jsontide.cli._source import Sizes

SOURCE = typer.Argument(metavar="FILE", help="A file, or - for standard input.")


def parse_sizes(text: str) -> Sizes:
    match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", text, re.ASCII)
    if match is None:
        raise typer.BadParameter("expected a number or a range such as 1-8", param_hint="--size")
    low, high = int(match[1]), int(match[2] or match[1])
    if not 1 <= low <= high:
        raise typer.BadParameter("a range must start at 1 or more and go up", param_hint="--size")
    return Sizes(low, high)
