"""`jsontide events` and `jsontide get`: a JSON text or a stream in; its events, its changes or some of its values out.

The events of a chunk are written before the next one is read, and only values that are still to be written are kept.
An error in the text, or a bad end of the stream, becomes an exit code.
Rule: `get` writes a value when it will not change any more; one that is replaced, such as a status, once for each.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, cast

import typer

from jsontide import MISSING, JsonValue, ParserError, PathSyntaxError
from jsontide._path import Path
from jsontide._pattern import Pattern, parse_pattern
from jsontide._values import Missing, find_value
from jsontide.cli._exits import exit_codes, hint_at_answer, report_end, report_error
from jsontide.cli._input import Events, JsonText, open_stdout, read_input
from jsontide.cli._options import SCHEMA, SOURCE, load_schema
from jsontide.cli._output import RecentText, quote_safely, short_path
from jsontide.events import JsonFragmentAccumulator, JsonFragmentKind, JsonFragmentUpdate
from jsontide.events.patterns import path_matcher
from jsontide.frontends import AppendText, Change, Finish, SetValue, write_json
from jsontide.frontends.changes import walk
from jsontide.recordings import Moment, follow, start_moment

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
        writer = open_stdout()

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


def _line(event: JsonFragmentUpdate | Change) -> str:
    if isinstance(event, JsonFragmentUpdate):
        kind, path, text = event.kind.value, event.segments, event.text or ""
        text = quote_safely(text) if event.kind in _QUOTED else text
    else:
        kind, path = type(event).__name__, event.path
        text = "".join(map(write_json, _added(event).values()))
    return f"{kind:<{_WIDEST}}  {short_path(path)}  {text}".rstrip()


def _added(change: Change) -> dict[str, JsonValue]:
    if isinstance(change, SetValue):
        return {"value": change.value}
    return {"text": change.text} if isinstance(change, AppendText) else {}


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
    Text that no value needs is read and forgotten, so it may be of any length.
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
        writer = open_stdout()

        def write(path: Path, value: JsonValue) -> None:
            if paths:
                writer.write_json({"path": short_path(path), "value": value})
            elif raw and isinstance(value, str):
                writer.write_text(value)
            else:
                writer.write_json(value)

        write_values(read_input(file), wanted, steps, write)


def read_pattern(text: str, hint: str) -> Pattern:
    """Return the steps of a pattern; `hint` is where on the command line it stands."""
    try:
        return parse_pattern(text)
    except PathSyntaxError as error:
        raise typer.BadParameter(str(error), param_hint=hint) from error


def write_events(
    source: JsonText | Events,
    schema: object,
    pattern: Pattern | None,
    write: Callable[[JsonFragmentUpdate | Change], None],
) -> None:
    """Write the events of a text, or the changes of a stream: at all paths, or at those that a pattern matches."""
    match = None if pattern is None else path_matcher(pattern)
    if isinstance(source, JsonText):
        for update in _read(JsonFragmentAccumulator(values=False, floats="decimal"), source):
            if match is None or match(update.segments):
                write(update)
        return
    for moment in _follow(source, schema):
        for change in moment.changes:
            if match is None or match(change.path):
                write(change)


def write_values(
    source: JsonText | Events, schema: object, pattern: Pattern, write: Callable[[Path, JsonValue], None]
) -> None:
    """Write the values that a pattern matches, each with its path, as they complete."""
    if isinstance(source, JsonText):
        accumulator = JsonFragmentAccumulator(updates=False, values=False, floats="decimal")
        accumulator.on(pattern, lambda update: write(update.segments, cast("JsonValue", update.value)))
        deque(_read(accumulator, source), 0)
        return
    match = path_matcher(pattern)
    for moment in _follow(source, schema):
        for change in moment.changes:
            for path, value in _completed(change):
                if match(path):
                    found = find_value(moment.value, path) if isinstance(value, Missing) else value
                    write(path, found)


def _read(accumulator: JsonFragmentAccumulator, text: JsonText) -> Iterator[JsonFragmentUpdate]:
    """Yield the updates of a text up to its end; an error in it exits."""
    recent = RecentText()
    for chunk in recent.remember(text.chunks):
        yield from _check(accumulator.add_fragment(chunk), recent)
    yield from _check(accumulator.finish(), recent)


def _check(updates: Iterable[JsonFragmentUpdate], recent: RecentText) -> Iterator[JsonFragmentUpdate]:
    for update in updates:
        if isinstance(update.value, ParserError):
            raise report_error(update.value, recent)
        yield update


def _follow(stream: Events, schema: object) -> Iterator[Moment]:
    """Yield the moments of a stream; an end that is not good exits."""
    last = start_moment()
    for last in follow(stream.source, schema=schema):
        yield last
    hint_at_answer(last, schema)
    report_end(last)


def _completed(change: Change) -> Iterator[tuple[Path, JsonValue | Missing]]:
    """Yield the values that a change completes; `MISSING` stands for one that the caller looks up."""
    if isinstance(change, SetValue):
        start = len(change.path)
        for path, value in walk(change.value, change.path):
            if change.open is None or path[start:] != change.open[: len(path) - start]:
                yield path, value
    elif isinstance(change, Finish):
        for level in range(change.levels):
            yield change.path[: len(change.path) - level], MISSING
