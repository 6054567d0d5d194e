"""`jsontide get`."""

import sys
from typing import Annotated

import typer

from jsontide import JsonValue
from jsontide._path import Path
from jsontide.cli._events import read_pattern, write_values
from jsontide.cli._exits import exit_codes
from jsontide.cli._input import is_terminal, read_input
from jsontide.cli._options import SCHEMA, SOURCE, load_schema
from jsontide.cli._output import LineWriter, short_path


def get(
    pattern: Annotated[
        str, typer.Argument(metavar="PATTERN", help="Which values: a path such as `days[*].title`, `**.id` or `root`.")
    ],
    file: Annotated[str, SOURCE] = "-",
    *,
    schema: Annotated[str | None, SCHEMA] = None,
    raw: Annotated[bool, typer.Option("--raw", "-r", help="Write strings without quotes.")] = False,
    paths: Annotated[
        bool, typer.Option("--paths", help="Write objects with the members path and value.", show_default=False)
    ] = False,
) -> None:
    """Write the values at some paths of a JSON text, each as soon as it is complete.

    \b
    curl -N ... | jsontide get 'parts[*].arguments'
    jsontide get 'days[*].title' answer.json

    Each value is a line of compact JSON.
    What no value needs is read and forgotten, so the text may be as long as it likes.
    The text may have several documents, as a file of JSON lines has.
    Shows a progress bar for long files when output is redirected.

    Of a model's stream, or a recording of one, the paths are those of the message,
    as `jsontide watch` writes them: `parts[*].text`, `parts[*].arguments`, `usage`.
    With --schema, the message has an answer: `answer.days[*]`.

    Exit codes: 0 the text was complete JSON, or the message is complete, whether there are such
    values or not; 1 it is not, and standard error says where; 2 invalid command line, or the
    source or the output cannot be used; 3 it was cut off; 130 interrupted; 141 the output was
    closed.
    """
    steps = read_pattern(pattern, "PATTERN")
    wanted = None if schema is None else load_schema(schema)
    with exit_codes():
        writer = LineWriter(sys.stdout.buffer, is_terminal(sys.stdout))

        def write(path: Path, value: JsonValue) -> None:
            if paths:
                writer.write_json({"path": short_path(path), "value": value})
            elif raw and isinstance(value, str):
                writer.write_text(value)
            else:
                writer.write_json(value)

        write_values(read_input(file), wanted, steps, write)
