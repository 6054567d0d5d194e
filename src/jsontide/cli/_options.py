"""Options that several commands have, as people write them, read; `--schema` names a file or a type in a module."""

import importlib
import re
import sys
from pathlib import Path
from typing import cast

import typer

from jsontide import create_parser_state, finalize, parse_chunk
from jsontide.cli._input import Sizes, UnreadableError, error_width, read_blocks
from jsontide.cli._output import RecentText
from jsontide.schema import UnsupportedSchemaError, from_json_ast

HELP = "A file with a JSON Schema, or a type in a module, such as `trips:Itinerary`; `any` stands for any JSON."
_TYPE = re.compile(r"([A-Za-z_][\w.]*):([A-Za-z_][\w.]*)")
_HINT = "--schema"


def load_schema(name: str) -> object:
    """Return the schema of this name; one that cannot be used raises `typer.BadParameter`."""
    match = _TYPE.fullmatch(name)
    if name == "any":
        schema: object = {}
    elif match and not Path(name).exists():
        schema = _import_type(match[1], match[2])
    else:
        schema = _read_json(Path(name))
    try:
        # At the end of a document the validator is needed, which may not be installed.
        from_json_ast(cast("type[object]", schema), finalize(parse_chunk(create_parser_state(), "null")))
    except (UnsupportedSchemaError, ImportError, TypeError) as error:
        raise typer.BadParameter(f"{name} cannot be used: {error}", param_hint=_HINT) from error
    return schema


def _import_type(module: str, attribute: str) -> object:
    if "" not in sys.path:  # as `python -m` does, so that modules in this folder are found
        sys.path.insert(0, "")
    try:
        found: object = importlib.import_module(module)
    except Exception as error:  # a module runs when it is imported, and may raise anything
        raise typer.BadParameter(f"cannot import {module}: {error}", param_hint=_HINT) from error
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if found is None:
        raise typer.BadParameter(f"the module {module} has no {attribute}", param_hint=_HINT)
    return found


def _read_json(path: Path) -> object:
    state, recent = create_parser_state(), RecentText()
    try:
        for block in read_blocks(path):
            recent.feed(block)
            state = parse_chunk(state, block)
            if state.error is not None:
                break
    except UnreadableError as error:
        raise typer.BadParameter(str(error), param_hint=_HINT) from error
    state = finalize(state)
    if state.error is not None:
        place = recent.explain(state.error, error_width())
        raise typer.BadParameter(f"{path} is not JSON: {place}", param_hint=_HINT)
    return state.value


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
