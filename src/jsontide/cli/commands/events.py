"""`jsontide events`."""

import sys
from typing import Annotated

import typer

from jsontide import JsonValue
from jsontide.cli._escape import quote_safely
from jsontide.cli._excerpt import RecentText
from jsontide.cli._exits import exit_codes, report_error
from jsontide.cli._json_events import read_events
from jsontide.cli._lines import LineWriter
from jsontide.cli._matching import read_pattern
from jsontide.cli._options import SOURCE
from jsontide.cli._terminal import is_terminal, read_source
from jsontide.events import JsonFragmentKind, JsonFragmentUpdate

_QUOTED = frozenset({JsonFragmentKind.Key, JsonFragmentKind.PartialString, JsonFragmentKind.CompleteString})
_WIDEST = max(map(len, JsonFragmentKind))


def events(
    file: Annotated[str, SOURCE] = "-",
    *,
    path: Annotated[
        str | None,
        typer.Option(
            metavar="PATTERN", show_default=False, help="Only at these paths, such as days[*].title or **.id."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write each event as a JSON object.")] = False,
) -> None:
    """Write what happens in a JSON text, event by event, as it arrives.

    Each event is a line: its kind, its path, and its text.
    With --json, the objects have the members kind, path, text, start and end, the offsets in the
    text.
    The text may have several documents, as a file of JSON lines has.
    Shows a progress bar for long files when output is redirected.

    Exit codes: 0 the text was complete JSON; 1 it was not, and standard error says where; 2
    invalid command line, or the source or the output cannot be used; 3 the text was cut off; 130
    interrupted; 141 the output was closed.
    """
    pattern = None if path is None else read_pattern(path, "--path")
    recent = RecentText()
    with exit_codes():
        writer = LineWriter(sys.stdout.buffer, is_terminal(sys.stdout))

        def tell(update: JsonFragmentUpdate) -> None:
            if as_json:
                writer.write_json(_row(update))
            else:
                writer.write_text(_line(update))

        error = read_events(recent.remember(read_source(file)), pattern, tell)
    if error is not None:
        raise report_error(error, recent)


def _row(update: JsonFragmentUpdate) -> JsonValue:
    return {
        "kind": update.kind.value,
        "path": update.path,
        "text": update.text,
        "start": update.start,
        "end": update.end,
    }


def _line(update: JsonFragmentUpdate) -> str:
    text = update.text or ""
    shown = quote_safely(text) if update.kind in _QUOTED else text
    return f"{update.kind.value:<{_WIDEST}}  {update.path}  {shown}".rstrip()
