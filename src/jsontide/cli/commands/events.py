"""`jsontide events`."""

import sys
from typing import Annotated

import typer

from jsontide import JsonValue
from jsontide.cli._events import read_pattern, write_events
from jsontide.cli._exits import exit_codes
from jsontide.cli._input import is_terminal, read_input
from jsontide.cli._options import SCHEMA, SOURCE, load_schema
from jsontide.cli._output import LineWriter, quote_safely, short_path
from jsontide.events import JsonFragmentKind, JsonFragmentUpdate
from jsontide.frontends import AppendText, Change, SetValue, write_json

_QUOTED = frozenset({JsonFragmentKind.Key, JsonFragmentKind.PartialString, JsonFragmentKind.CompleteString})
_WIDEST = max(map(len, JsonFragmentKind))


def events(
    file: Annotated[str, SOURCE] = "-",
    *,
    path: Annotated[
        str | None,
        typer.Option(metavar="PATTERN", show_default=False, help="Only at these paths, such as `days[*].title`."),
    ] = None,
    schema: Annotated[str | None, SCHEMA] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write each event as a JSON object.")] = False,
) -> None:
    """Write what happens in a JSON text, event by event, as it arrives.

    \b
    jsontide events answer.json --path 'days[*].title'

    Each event is a line: its kind, its path, and its text.
    With --json, the objects have the members kind, path, text, start and end, the offsets in the
    text.
    The text may have several documents, as a file of JSON lines has.
    Shows a progress bar for long files when output is redirected.

    Of a model's stream, or a recording of one, writes how the message changes:
    `SetValue`, `AppendText` and `Finish`, with the paths that `jsontide watch` writes.
    With --schema, the message has an answer that grows.

    Exit codes: 0 the text was complete JSON, or the message is complete; 1 it is not, and standard
    error says where; 2 invalid command line, or the source or the output cannot be used; 3 it was
    cut off; 130 interrupted; 141 the output was closed.
    """
    pattern = None if path is None else read_pattern(path, "--path")
    wanted = None if schema is None else load_schema(schema)
    with exit_codes():
        writer = LineWriter(sys.stdout.buffer, is_terminal(sys.stdout))

        def write(event: JsonFragmentUpdate | Change) -> None:
            if as_json:
                writer.write_json(_row(event))
            else:
                writer.write_json_text(_line(event))

        write_events(read_input(file), wanted, pattern, write)


def _row(event: JsonFragmentUpdate | Change) -> JsonValue:
    if isinstance(event, JsonFragmentUpdate):
        place: dict[str, JsonValue] = {"start": event.start, "end": event.end}
        return {"kind": event.kind.value, "path": short_path(event.segments), "text": event.text, **place}
    return {"kind": type(event).__name__, "path": short_path(event.path), **_added(event)}


def _added(change: Change) -> dict[str, JsonValue]:
    match change:
        case SetValue():
            return {"value": change.value}
        case AppendText():
            return {"text": change.text}
        case _:
            return {}


def _line(event: JsonFragmentUpdate | Change) -> str:
    if isinstance(event, JsonFragmentUpdate):
        text = event.text or ""
        return _columns(
            event.kind.value, short_path(event.segments), quote_safely(text) if event.kind in _QUOTED else text
        )
    shown = "".join(write_json(value) for value in _added(event).values())
    return _columns(type(event).__name__, short_path(event.path), shown)


def _columns(kind: str, path: str, text: str) -> str:
    return f"{kind:<{_WIDEST}}  {path}  {text}".rstrip()
