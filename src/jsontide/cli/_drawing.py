"""Moments of a stream in, shown as they come: drawn in place on a terminal, otherwise as a short line for each change.

A message becomes panels: reasoning, text, calls and structured output, side by side where there is room, otherwise one
above the other, with two lines of status. A value is pretty-printed, with its new parts highlighted. Of a run, the last
step has panels, with the results of its calls in place of the calls, and each step before it a line.
Rule: everything is drawn backwards from its end and stops when the screen is full, so the cost depends on the screen,
not on the document. No row is wider than the terminal and no drawing higher; open panels get the rows that others can
spare. Nothing is shown twice: neither a value that was written before, nor more drawings than an eye can see.
"""

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

from jsontide import MISSING, JsonValue, ParserState, create_parser_state, parse_chunk
from jsontide._path import Segment, path_text
from jsontide._values import Missing, escape_unsafe
from jsontide.cli._output import (
    LineWriter,
    escape_lines,
    escape_unsafe_json,
    quote_safely,
    short_path,
    write_pretty,
)
from jsontide.frontends import AppendText, Change, SetValue, open_path, read_changes, write_json
from jsontide.frontends.changes import walk
from jsontide.messages import (
    CompleteCall,
    File,
    Message,
    Other,
    Outcome,
    Part,
    PartialCall,
    ReasoningPart,
    Refusal,
    Source,
    TextPart,
    ToolResult,
    Usage,
)
from jsontide.messages.calls import BaseCall
from jsontide.messages.document import Document
from jsontide.messages.message import FinalAnswer
from jsontide.messages.options import RESERVED
from jsontide.messages.parts import GrowingPart
from jsontide.recordings import Moment
from jsontide.runs import PendingResult, Result, Run, Step
from jsontide.runs.json_form import plain_value
from jsontide.tree import Mode, Path


class NewParts:
    """The new parts of a value since it was last drawn."""

    __slots__ = ("_inner", "appended", "is_new")

    def __init__(self, *, is_new: bool = False) -> None:
        self.is_new = is_new
        """Whether the whole value is."""
        self.appended = 0
        """How many characters were added to the string."""
        self._inner: dict[Segment, NewParts] = {}

    def add(self, changes: Iterable[Change]) -> None:
        """Note more changes."""
        for change in changes:
            place = self
            for segment in change.path:
                place = place._inner.setdefault(segment, NewParts())
            if isinstance(change, SetValue):
                place.is_new = True
            elif isinstance(change, AppendText):
                place.appended += len(change.text)

    def inside(self, *path: Segment) -> "NewParts":
        """Return the new parts of a value further in."""
        place = self
        for segment in path:
            place = _ALL_NEW if place.is_new else place._inner.get(segment, NOTHING_NEW)
        return place

    def count(self, text: str) -> int:
        """Return how many characters at the end of a string at this place are new."""
        return len(text) if self.is_new else min(self.appended, len(text))


NOTHING_NEW = NewParts()
_ALL_NEW = NewParts(is_new=True)

CURSOR = ("▌", "bold yellow")
FRESH = "bold yellow"
_INDENT = 2
_KEY = "cyan"
_STRING = "green"
_SCALAR = "magenta"
_PUNCTUATION = "dim"
_OPEN = "bold yellow"


@dataclass(frozen=True, slots=True)
class _Line:
    depth: int
    text: Text


@dataclass(frozen=True, slots=True)
class _PendingValue:
    """A value still to be printed; `growing` is the rest of the path to the growing end."""

    depth: int
    label: Text
    value: JsonValue
    comma: str
    growing: Path | None
    fresh: NewParts


class Room(NamedTuple):
    """How many columns and rows there are to draw in."""

    width: int
    height: int


def print_end(
    console: Console, value: JsonValue, growing: Path | None, room: Room, fresh: NewParts = NOTHING_NEW
) -> list[Text]:
    """Return the last rows of a value with its growing end marked; dots on top stand for the rest."""
    root = _PendingValue(0, Text(), value, "", growing, fresh)
    height = room.height
    rows = list(islice(_rows_from_end(console, root, room), height + 1))
    if len(rows) > height:
        rows[height - 1 :] = [Text("⋮", _PUNCTUATION)]
    return rows[::-1]


def _rows_from_end(console: Console, root: _PendingValue, room: Room) -> Iterator[Text]:
    for line in _lines_from_end(root, room.width * room.height):
        # However deep the document, half of the width is left for its text.
        indent = min(line.depth * _INDENT, room.width // 2)
        rows = line.text.wrap(console, room.width - indent - _INDENT, overflow="fold")
        for number in range(len(rows) - 1, -1, -1):
            rows[number].pad_left(indent + (_INDENT if number else 0))
            yield rows[number]


def _lines_from_end(root: _PendingValue, room: int) -> Iterator[_Line]:
    """Yield lines, the last one first, without recursion: documents may be deeper than Python's stack."""
    todo = [_expand(root, room)]
    while todo:
        entry = next(todo[-1], None)
        if entry is None:
            todo.pop()
        elif isinstance(entry, _Line):
            yield entry
        else:
            todo.append(_expand(entry, room))


def _expand(item: _PendingValue, room: int) -> Iterator[_Line | _PendingValue]:
    """Yield one level of a value, the last line first."""
    match item.value:
        case dict() as members:
            entries = (
                (key, Text.assemble((quote_safely(key), _KEY), (": ", _PUNCTUATION)), members[key])
                for key in reversed(members)
            )
            yield from _container(item, "{}", entries, empty=not members)
        case list() as items:
            last = len(items) - 1
            indexed = ((last - back, Text(), entry) for back, entry in enumerate(reversed(items)))
            yield from _container(item, "[]", indexed, empty=not items)
        case scalar:
            yield _Line(item.depth, Text.assemble(item.label, *_scalar(scalar, item, room)))


def _container(
    item: _PendingValue, brackets: str, entries: Iterator[tuple[str | int, Text, JsonValue]], *, empty: bool
) -> Iterator[_Line | _PendingValue]:
    is_open = item.growing is not None
    grows_here = item.growing == ()
    style = _OPEN if is_open else _PUNCTUATION
    if empty:
        end = CURSOR if is_open else (brackets[1] + item.comma, _PUNCTUATION)
        yield _Line(item.depth, Text.assemble(item.label, (brackets[0], style), end))
        return
    if grows_here:
        yield _Line(item.depth + 1, Text.assemble(CURSOR))
    elif not is_open:
        yield _Line(item.depth, Text(brackets[1] + item.comma, _PUNCTUATION))
    comma = ""
    for segment, label, value in entries:
        inner = item.growing[1:] if item.growing and item.growing[0] == segment else None
        yield _PendingValue(item.depth + 1, label, value, comma, inner, item.fresh.inside(segment))
        comma = ","
    yield _Line(item.depth, Text.assemble(item.label, (brackets[0], style)))


def _scalar(value: JsonValue, item: _PendingValue, room: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield from _string(value, item.fresh.count(value), room)
    else:
        yield write_json(value), FRESH if item.fresh.is_new else _SCALAR
    if item.growing is not None:
        yield CURSOR
        return
    if isinstance(value, str):
        yield '"', _STRING
    if item.comma:
        yield item.comma, _PUNCTUATION


def _string(value: str, fresh: int, room: int) -> Iterator[tuple[str, str]]:
    """Yield a string without its closing mark, only the end if it is long, with its new text highlighted."""
    yield ("…", _STRING) if len(value) > room else ('"', _STRING)
    shown = value[-room:]
    known = max(len(shown) - fresh, 0)
    for text, style in ((shown[:known], _STRING), (shown[known:], FRESH)):
        if text:
            yield quote_safely(text)[1:-1], style


@dataclass(frozen=True, slots=True)
class Prose:
    """A text."""

    text: str
    fresh: int
    """How many characters at its end are new."""
    is_open: bool

    def draw(self, console: Console, room: Room) -> list[Text]:
        """Return the last rows."""
        shown = self.text[-room.width * room.height :]
        known = max(len(shown) - self.fresh, 0)
        drawn = Text.assemble(escape_lines(shown[:known]), (escape_lines(shown[known:]), FRESH))
        if self.is_open:
            drawn.append(*CURSOR)
        return list(drawn.wrap(console, room.width, overflow="fold"))[-room.height :]

    def write(self) -> str:
        """Return all of it, safe to print."""
        return escape_lines(self.text)


@dataclass(frozen=True, slots=True)
class ValueBody:
    """A value, with the path to its growing end."""

    value: JsonValue
    growing: Path | None
    fresh: NewParts = NOTHING_NEW

    def draw(self, console: Console, room: Room) -> list[Text]:
        """Return the last rows."""
        return print_end(console, self.value, self.growing, room, self.fresh)

    def write(self) -> str:
        """Return all of it, safe to print."""
        return escape_unsafe_json(write_pretty(self.value))


Body: TypeAlias = Prose | ValueBody
Side: TypeAlias = Literal["prose", "data"]


@dataclass(frozen=True, slots=True)
class Panel:
    """One part of a message, or several of a kind, to be drawn."""

    title: str
    side: Side
    body: Body
    is_open: bool
    is_bad: bool = False


class AnswerText:
    """A text that has been JSON so far, without a schema; it is shown as a value."""

    def __init__(self) -> None:
        self._state: ParserState | None = create_parser_state()
        self._drawn: ParserState | None = None
        self._read = 0

    @property
    def is_complete(self) -> bool:
        return self._state is not None and self._state.is_complete

    def read(self, part: TextPart) -> ValueBody | None:
        """Return the value of a text, with its new parts since the last call; `None` without a value."""
        text = part.growing_text
        new = text.tail(text.length - self._read)
        self._read = text.length
        if self._state is not None:
            self._state = parse_chunk(self._state, new)
            if self._state.error is not None:
                self._state = None
        state = self._state
        if state is None or state.value is MISSING or not isinstance(state.value, list | dict):
            return None
        fresh = NewParts()
        fresh.add(read_changes(self._drawn, state))
        self._drawn = state
        return ValueBody(state.value, open_path(state) if part.is_open else None, fresh)


class MessagePanels:
    """The panels of one message, drawn again and again while it grows."""

    def __init__(self) -> None:
        self._answers: dict[int, AnswerText] = {}

    def arrange(self, message: Message, fresh: NewParts, *, has_calls: bool = True) -> list[Panel]:
        """Return the panels in the order in which their parts began; without the calls if their results are shown."""
        panels: dict[str, Panel] = {}
        for at, part in enumerate(message.parts):
            if not has_calls and isinstance(part, CompleteCall | PartialCall):
                continue
            panel = self._panel_of(message, at, part, fresh.inside("parts", at))
            if panel is not None:
                known = panels.get(panel.title)
                panels[panel.title] = panel if known is None else _join(known, panel)
        panels.update((panel.title, panel) for panel in _answer_panels(message, fresh.inside("answer")))
        return list(panels.values())

    def _panel_of(self, message: Message, at: int, part: Part, fresh: NewParts) -> Panel | None:
        if isinstance(part, BaseCall):
            return _call_panel(at, part, fresh)
        if isinstance(part, TextPart):
            if message.text_is_answer and message.answer_state is not None:
                return None
            answer = self._answers.setdefault(at, AnswerText())
            value = answer.read(part)
            if value is not None:
                return Panel("answer", "data", value, part.is_open, is_bad=not (part.is_open or answer.is_complete))
        if isinstance(part, GrowingPart):
            return _text_panel(part, fresh.inside("text"))
        return Panel("more", "prose", Prose(_describe(part), 0, is_open=False), part.is_open)


_WORDS = {"yes": "failed", "no": "not run", "refused": "refused", "unknown": "unknown whether it ran"}
"""Words for a result that is an error, by whether its tool ran."""
_NESTED = 20
"""Steps of a run inside a tool that are shown."""


class RunPanels:
    """The rows of a run, drawn again and again while it grows."""

    def __init__(self) -> None:
        self._messages: dict[int, MessagePanels] = {}

    def draw(self, console: Console, run: Run[Any], fresh: NewParts, room: Room) -> list[Text]:
        """Return a row for each step but the last, as many as a quarter of the room has, and the panels of the last."""
        rows = [describe_step(step, number) for number, step in enumerate(run.earlier, 1)]
        most = room.height // 4
        if len(rows) > most:
            rows = [_DOTS, *rows[len(rows) - most + 1 :]] if most else []
        for row in rows:
            row.truncate(room.width, overflow="ellipsis")
        panels = self.arrange(run, len(run.earlier), fresh)
        return rows + lay_out(console, panels, Room(room.width, max(room.height - len(rows), 1)))

    def arrange(self, run: Run[Any], at: int, fresh: NewParts, *, has_calls: bool = False) -> list[Panel]:
        """Return the panels of a step: those of its message, and the results of its calls."""
        if at >= len(run.steps):
            return []
        step, inside = run.steps[at], fresh.inside("steps", at)
        shown = self._messages.setdefault(at, MessagePanels())
        panels = shown.arrange(step.message, inside.inside("message"), has_calls=has_calls or not step.results)
        return panels + [_result_panel(one, inside.inside("results", n)) for n, one in enumerate(step.results)]


def _result_panel(result: Result, fresh: NewParts) -> Panel:
    call = result.call
    arguments = escape_unsafe(shorten_text(call.arguments, _LONGEST_ARGUMENTS))
    title = f"{escape_unsafe(call.name or '…')} · {_status_of(result)} · {arguments}"
    return Panel(title, "data", _result_body(result, fresh), isinstance(result, PendingResult), _has_failed(result))


def _status_of(result: Result) -> str:
    if isinstance(result, ToolResult):
        return "done" if result.error is None else _WORDS[result.ran]
    return "waits for a person" if result.status == "waiting" else result.status


def _result_body(result: Result, fresh: NewParts) -> Body:
    """Return what a call gave: its output or error, the run that it is, or the value that it yielded last."""
    is_open = isinstance(result, PendingResult)
    name = "progress" if is_open else "output"
    value = result.progress if isinstance(result, PendingResult) else result.output
    nested = value if isinstance(value, Run) else getattr(result, "nested", None)
    if isinstance(nested, Run):
        lines = [describe_step(step, number).plain for number, step in enumerate(nested.steps, 1)]
        return Prose("\n".join([*lines[-_NESTED:], nested.content]), 0, is_open=not nested.is_over)
    if isinstance(result, ToolResult) and result.error is not None:
        name, value = "error", result.error
    elif isinstance(result, PendingResult) and value is MISSING:
        value = result.reason or ""
    new = fresh.inside(name)
    if isinstance(value, str):
        return Prose(value, new.count(value), is_open=False)
    return ValueBody(cast("JsonValue", plain_value(value)), None, new)


def describe_step(step: Step, number: int) -> Text:
    """Return a step in one line: its number, how each call ended, and the beginning of its text."""
    said: list[str | tuple[str, str]] = [(f" {number}", "bold")]
    for one in step.results:
        panel = Panel("", "data", Prose("", 0, is_open=False), isinstance(one, PendingResult), _has_failed(one))
        mark, style = _mark_of(panel)
        said.append((f"  {escape_unsafe(one.call.name or '…')} {mark}", style))
    said.append(f"  {escape_unsafe(shorten_text(' '.join(step.message.content.split()), _LONGEST_SAID))}")
    return Text.assemble(*said)


def _has_failed(result: Result) -> bool:
    return isinstance(result, ToolResult) and result.error is not None


def shorten_text(text: str, longest: int) -> str:
    """Return the beginning of a text, with dots if that is not all of it."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _text_panel(part: GrowingPart, fresh: NewParts) -> Panel:
    text = part.text
    if isinstance(part, ReasoningPart):
        title = "reasoning"
        text = text or "(withheld)" * part.redacted
    else:
        title = "refusal" if isinstance(part, Refusal) else "text"
    return Panel(title, "prose", Prose(text, fresh.count(text), part.is_open), part.is_open)


def _call_panel(at: int, call: BaseCall, fresh: NewParts) -> Panel:
    title = f"call {at}: {escape_unsafe(call.name or '…')}"
    if call.name == RESERVED:  # the name that is reserved for structured output
        title = f"answer, {title}"
    document = call.document
    value = call.partial
    is_bad = isinstance(call, PartialCall) and call.status is not Outcome.STREAMING
    if value is MISSING:
        text = call.arguments
        return Panel(title, "data", Prose(text, fresh.count(text), call.is_open), call.is_open, is_bad)
    growing = open_path(document.state) if document is not None and call.is_open else None
    return Panel(title, "data", ValueBody(value, growing, fresh.inside("arguments")), call.is_open, is_bad)


def _answer_panels(message: Message, fresh: NewParts) -> Iterator[Panel]:
    answer = message.answer_state
    if isinstance(answer, FinalAnswer):
        yield Panel("answer", "data", ValueBody(cast("JsonValue", answer.value), None, fresh), is_open=False)
    elif isinstance(answer, Document) and answer.value is not MISSING:
        is_open = message.outcome is Outcome.STREAMING
        growing = open_path(answer.state) if is_open else None
        is_bad = bool(answer.mismatches) or answer.error is not None
        yield Panel("answer", "data", ValueBody(answer.value, growing, fresh), is_open, is_bad)


def _join(first: Panel, second: Panel) -> Panel:
    """Return one panel for two parts of a kind; of two values, the later one."""
    old, new = first.body, second.body
    if not isinstance(old, Prose) or not isinstance(new, Prose):
        return second
    space = "\n" if old.text and new.text else ""
    body = Prose(f"{old.text}{space}{new.text}", new.fresh, new.is_open)
    return Panel(first.title, first.side, body, first.is_open or second.is_open)


def _describe(part: Part) -> str:
    """Return a part that comes whole in one line."""
    match part:
        case Source():
            return f"source  {part.title or ''}  {part.url or ''}".strip()
        case File():
            return f"file  {part.media_type or ''}  {part.url or part.id or ''}".strip()
        case Other():
            return f"other  {part.type}"
    return type(part).__name__


_WIDE = 80
"""Columns from which on panels stand side by side."""
_FRAMED = 60
"""Columns from which on panels have a frame; below, a line with the title."""
_KEPT_ROWS = 3
"""Rows that a panel keeps if others need room, unless an open panel needs them."""
_OPEN_ROWS = 5
"""Rows that an open panel should have beside those."""
_GAP = " "
_SIDES = ("│ ", " │")
_DOTS = Text("⋮", "dim")


def lay_out(console: Console, panels: Sequence[Panel], room: Room) -> list[Text]:
    """Return the rows of all panels."""
    is_framed = room.width >= _FRAMED
    sides = [[panel for panel in panels if panel.side == side] for side in ("prose", "data")]
    if room.width < _WIDE or not all(sides):
        return _stack(console, panels, room, is_framed=is_framed)
    left = (room.width - len(_GAP)) // 2
    rooms = (Room(left, room.height), Room(room.width - len(_GAP) - left, room.height))
    columns = [_stack(console, side, each, is_framed=is_framed) for side, each in zip(sides, rooms, strict=True)]
    rows = zip_longest(*columns, fillvalue=Text())
    return [Text.assemble(_fill(first, left), _GAP, second) for first, second in rows]


def _stack(console: Console, panels: Sequence[Panel], room: Room, *, is_framed: bool) -> list[Text]:
    around = 2 if is_framed else 1
    width = room.width - len(_SIDES[0]) - len(_SIDES[1]) if is_framed else room.width
    inner = Room(width, max(room.height - around, 1))
    bodies = [panel.body.draw(console, inner) for panel in panels]
    shares = share_rows([len(body) for body in bodies], [panel.is_open for panel in panels], room.height, around)
    rows: list[Text] = []
    for panel, body, share in zip(panels, bodies, shares, strict=True):
        if share:
            shown = _crop(body, share, keeps_end=panel.is_open)
            rows += _frame(panel, shown, room.width) if is_framed else [_title(panel, room.width), *shown]
    return rows


def _crop(rows: list[Text], height: int, *, keeps_end: bool) -> list[Text]:
    """Return as many rows as there is room for: the last ones of an open panel, the first ones of a closed one."""
    if len(rows) <= height:
        return rows
    if height == 1:
        return rows[-1:] if keeps_end else rows[:1]
    return [_DOTS, *rows[len(rows) - height + 1 :]] if keeps_end else [*rows[: height - 1], _DOTS]


def share_rows(wanted: Sequence[int], are_open: Sequence[bool], height: int, around: int) -> list[int]:
    """Return how many rows each panel gets inside: as many as it wants, or few, or 0 if there is no room.

    `around` is how many rows each one needs for its frame. Open panels come first, and later ones before earlier ones.
    """
    order = sorted(range(len(wanted)), key=lambda at: (are_open[at], at), reverse=True)
    needed = sum(min(each, _KEPT_ROWS) + around for each in wanted) + _OPEN_ROWS * any(are_open)
    few = _KEPT_ROWS if needed <= height else 1
    while sum(min(wanted[at], few) + around for at in order) > height and len(order) > 1:
        order.pop()
    shares = [0] * len(wanted)
    spare = height - sum(min(wanted[at], few) + around for at in order)
    for at in order:
        more = min(max(wanted[at] - few, 0), max(spare, 0))
        shares[at] = min(wanted[at], few) + more
        spare -= more
    return shares


def _frame(panel: Panel, rows: Sequence[Text], width: int) -> list[Text]:
    _, style = _mark_of(panel)
    inner = width - len(_SIDES[0]) - len(_SIDES[1])
    sides = ((_SIDES[0], style), (_SIDES[1], style))
    top = Text.assemble(("╭", style), _title(panel, width - 2), ("╮", style))
    middle = [Text.assemble(sides[0], _fill(row, inner), sides[1]) for row in rows]
    return [top, *middle, Text(f"╰{'─' * (width - 2)}╯", style)]


def _title(panel: Panel, width: int) -> Text:
    mark, style = _mark_of(panel)
    title = Text.assemble(("─ ", style), (f"{panel.title} {mark}", f"bold {style}"), " ")
    title.truncate(width, overflow="ellipsis")
    return Text.assemble(title, ("─" * (width - title.cell_len), style))


def _mark_of(panel: Panel) -> tuple[str, str]:
    """Return a mark for how a panel stands, and its style."""
    if panel.is_bad:
        return "✗", "red"
    return ("…", "yellow") if panel.is_open else ("✓", "green")


def _fill(row: Text, width: int) -> Text:
    """Return a row with spaces up to a width."""
    return Text.assemble(row, " " * (width - row.cell_len))


_STATUS_ROWS = 3
_BAR = 20

EXPECTED = {
    Mode.STRING: "more of a string",
    Mode.KEY_TEXT: "more of a key",
    Mode.LITERAL: "the rest of true, false or null",
    Mode.NUMBER: "a number",
    Mode.FIRST_DIGIT: "a digit",
    Mode.AFTER_ZERO: "more of a number, or its end",
    Mode.INTEGER: "more of a number, or its end",
    Mode.FIRST_DECIMAL: "a digit",
    Mode.FRACTION: "more of a number, or its end",
    Mode.EXPONENT_SIGN: "an exponent",
    Mode.FIRST_EXPONENT: "a digit",
    Mode.EXPONENT: "more of a number, or its end",
    Mode.VALUE: "a value",
    Mode.ITEM_OR_END: "an item or ']'",
    Mode.ITEM: "an item",
    Mode.AFTER_ITEM: "',' or ']'",
    Mode.KEY_OR_END: "a key or '}'",
    Mode.KEY: "a key",
    Mode.COLON: "':'",
    Mode.MEMBER: "a value",
    Mode.AFTER_MEMBER: "',' or '}'",
    Mode.DONE: "nothing: complete",
    Mode.ERROR: "nothing: bad text",
}


@dataclass(frozen=True, slots=True)
class LiveView:
    """One drawing of a growing stream; `total` is how many bytes there will be, if that is known."""

    moment: Moment
    fresh: NewParts = field(default_factory=NewParts)
    panels: MessagePanels = field(default_factory=MessagePanels)
    total: int | None = None
    steps: RunPanels = field(default_factory=RunPanels)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        # One row stays free: otherwise the last line break would scroll the first row away.
        room = Room(width, max(1, options.size.height - _STATUS_ROWS - 1))
        yield from self._draw(console, room)
        yield Text("─" * width, "dim")
        for line in (describe_state(self.moment), describe_counts(self.moment, self.total)):
            line.truncate(width, overflow="ellipsis")
            yield line

    def _draw(self, console: Console, room: Room) -> list[Text]:
        moment = self.moment
        if moment.run is not None:
            return self.steps.draw(console, moment.run, self.fresh, room)
        if moment.message is not None:
            return lay_out(console, self.panels.arrange(moment.message, self.fresh), room)
        value = moment.value
        if value is MISSING:
            return [Text.assemble(CURSOR)]
        is_open = moment.end is None
        if isinstance(value, str) and moment.kind == "text":
            return Prose(value, self.fresh.count(value), is_open).draw(console, room)
        return print_end(console, value, growing_path(moment) if is_open else None, room, self.fresh)


def growing_path(moment: Moment) -> Path | None:
    """Return the path of the innermost value that still grows, if that is known."""
    inside = None if moment.state is None else open_path(moment.state)
    if moment.kind != "documents":
        return inside
    value = moment.value
    count = len(value) if isinstance(value, list) else 0
    return () if inside is None else (count - 1, *inside)


def describe_state(moment: Moment) -> Text:
    """Return the status of a stream, or how it ended."""
    message, outcome = moment.message, moment.outcome
    if outcome.value != Outcome.STREAMING.value:
        return _describe_end(moment)
    if moment.run is not None:
        return _describe_run(moment.run)
    if message is not None:
        return Text.assemble(("streaming", "bold yellow"), *_describe_source(message))
    if moment.kind == "json" and moment.state is not None:
        return _describe_place(moment.state)
    return Text.assemble(("streaming", "bold yellow"), f"  {moment.kind}")


def _describe_run(run: Run[Any]) -> Text:
    """Return the status of a run: which step it is, what its calls do, and who is asked."""
    said: list[str] = []
    for status in ("waiting", "running"):
        found = [one for one in run.results if isinstance(one, PendingResult) and one.status == status]
        if found:
            said.append(f"  {status}: {', '.join(escape_unsafe(one.call.name or '…') for one in found)}")
    said += [] if run.message is None else _describe_source(run.message)
    return Text.assemble(("streaming", "bold yellow"), f"  step {len(run.steps)}", *said)


def _describe_end(moment: Moment) -> Text:
    message, outcome = moment.message, moment.outcome
    style = "bold green" if moment.is_complete else "bold red"
    said = [] if message is None else _describe_source(message)
    if message is not None and message.finish_reason:
        said.insert(0, f"  {escape_unsafe(message.finish_reason)}")
    if moment.run is not None:
        steps = len(moment.run.steps)
        said.insert(0, f"  {steps} step{'s' * (steps != 1)}")
    error = moment.error
    if error is not None:
        said.append(f"  {escape_unsafe(error if isinstance(error, str) else error.message)}")
    return Text.assemble((outcome.value, style), *said)


def _describe_source(message: Message) -> list[str]:
    return [f"  {escape_unsafe(name)}" for name in (message.provider, message.model) if name]


def _describe_place(state: ParserState) -> Text:
    if state.error is not None:
        return Text.assemble(("bad text", "bold red"), f"  {escape_unsafe(state.error.message)}")
    where = escape_unsafe(path_text(open_path(state) or ()))
    return Text.assemble(("next ", "dim"), EXPECTED[state.mode], ("  in ", "dim"), where)


def describe_counts(moment: Moment, total: int | None = None) -> Text:
    """Return how much was received, its share of the total if that is known, and the tokens."""
    words = [f"{moment.at:.1f} s", count_pieces(moment.number), f"{moment.index:,} bytes"]
    source = moment.message if moment.run is None else moment.run
    if source is not None and source.usage is not None:
        words.insert(0, describe_usage(source.usage))
    counts = Text(" · ".join(words))
    if not total:
        return counts
    filled = _BAR * moment.index // total
    bar = (("━" * filled, "green"), ("┄" * (_BAR - filled), "dim"))
    return Text.assemble(*bar, f" {100 * moment.index // total:3d} %  ", counts)


def count_pieces(number: int) -> str:
    return "1 piece" if number == 1 else f"{number:,} pieces"


def describe_usage(usage: Usage) -> str:
    """Return the tokens of a message so far."""
    figures = {"in": usage.input_tokens, "out": usage.output_tokens, "reasoning": usage.reasoning_tokens}
    said = [f"{count:,} {name}" for name, count in figures.items() if count is not None]
    return f"tokens: {', '.join(said)}" if said else "tokens: not said"


_LONGEST_ARGUMENTS = 60
_LONGEST_SAID = 60
_FRAME = 1 / 30
_LONGEST_LINE = 120  # characters of a value or text in a line


class Show:
    """Shows a stream; this one shows nothing."""

    def expect(self, total: int | None) -> None:
        """Note how many bytes there will be, if that is known."""

    def update(self, moment: Moment) -> None:
        """Show the next moment."""

    def flush(self) -> None:
        """Show all moments so far, because the next one may take a while."""

    def finish(self) -> None:
        """Show the last moment for good."""


class ChangeLines(Show):
    """A line for each change: its path, and what it adds."""

    def __init__(self, writer: LineWriter) -> None:
        self._writer = writer

    def update(self, moment: Moment) -> None:
        for change in moment.changes:
            if isinstance(change, SetValue):
                for path, value in walk(change.value, change.path):
                    if not (value and isinstance(value, list | dict)):
                        self._write(path, "=", write_json(value))
            elif isinstance(change, AppendText):
                self._write(change.path, "+=", write_json(change.text))

    def _write(self, path: Path, sign: str, text: str) -> None:
        more = len(text) - _LONGEST_LINE
        shown = text if more <= 0 else f"{text[:_LONGEST_LINE]}… ({more:,} more characters)"
        self._writer.write_json_text(f"{short_path(path)} {sign} {shown}")


class Drawings(Show):
    """Draws the stream again and again; at the end, prints all of it to scroll through."""

    def __init__(self, console: Console, *, prints_whole: bool = True) -> None:
        self._total: int | None = None
        self._console = console
        self._prints_whole = prints_whole
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._panels = MessagePanels()
        self._steps = RunPanels()
        self._fresh = NewParts()
        self._moment: Moment | None = None
        self._is_drawn = True
        self._drawn_at = -math.inf

    def expect(self, total: int | None) -> None:
        self._total = total

    def update(self, moment: Moment) -> None:
        self._moment = moment
        self._fresh.add(moment.changes)
        self._is_drawn = False
        if time.monotonic() - self._drawn_at >= _FRAME:
            self.flush()

    def flush(self) -> None:
        if self._is_drawn or self._moment is None:
            return
        self._live.start()
        self._live.update(LiveView(self._moment, self._fresh, self._panels, self._total, self._steps), refresh=True)
        self._fresh = NewParts()
        self._is_drawn = True
        self._drawn_at = time.monotonic()

    def finish(self) -> None:
        self._live.stop()
        moment = self._moment
        if moment is None:
            return
        if self._prints_whole:
            for body, text in _write_whole(moment):
                # Prose is broken between words; a value can be copied as it is.
                self._console.print(text, soft_wrap=isinstance(body, ValueBody), highlight=False)
        self._console.print(describe_state(moment), highlight=False)
        self._console.print(describe_counts(moment), highlight=False)


def _write_whole(moment: Moment) -> Iterator[tuple[Body, Text]]:
    value = moment.value
    for run in moment.runs:
        for at in range(len(run.steps)):
            yield Prose("", 0, is_open=False), Text(f"══ step {at + 1}", "bold")
            yield from _write_panels(RunPanels().arrange(run, at, NOTHING_NEW, has_calls=True))
    if moment.runs:
        return
    if moment.message is not None:
        yield from _write_panels(MessagePanels().arrange(moment.message, NOTHING_NEW))
    elif not isinstance(value, Missing):
        is_prose = isinstance(value, str) and moment.kind == "text"
        body = Prose(str(value), 0, is_open=False) if is_prose else ValueBody(value, None)
        yield body, Text(body.write())


def _write_panels(panels: Iterable[Panel]) -> Iterator[tuple[Body, Text]]:
    for panel in panels:
        yield panel.body, Text.assemble((f"── {panel.title}\n", "bold"), panel.body.write())
