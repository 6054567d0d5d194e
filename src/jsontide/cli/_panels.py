"""A growing message in, its panels out: reasoning, text, calls and structured output, each with what is new in it.

Rule: a panel draws only its end, so the cost depends on the screen, not on the message.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from rich.console import Console
from rich.text import Text

from jsontide import MISSING, JsonValue, ParserState, create_parser_state, parse_chunk
from jsontide.cli._escape import escape_lines, escape_unsafe, escape_unsafe_json
from jsontide.cli._fresh import NOTHING_NEW, Fresh
from jsontide.cli._json_text import write_pretty
from jsontide.cli._pretty_print import CURSOR, FRESH, Room, print_end
from jsontide.deltas import open_path, read_changes
from jsontide.messages import File, Message, Other, Outcome, Part, PartialCall, ReasoningPart, Refusal, Source, TextPart
from jsontide.messages.calls import BaseCall
from jsontide.messages.document import Document
from jsontide.messages.growth import answer_of, document_of, has_answer_text, text_of
from jsontide.messages.message import FinalAnswer
from jsontide.messages.options import RESERVED
from jsontide.messages.parts import GrowingPart
from jsontide.tree import Path

_JSON = frozenset("{[")


@dataclass(frozen=True, slots=True)
class Prose:
    """Text with so many new characters at its end."""

    text: str
    fresh: int
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
class Value:
    """A value, with the path to its growing end."""

    value: JsonValue
    growing: Path | None
    fresh: Fresh = NOTHING_NEW

    def draw(self, console: Console, room: Room) -> list[Text]:
        """Return the last rows."""
        return print_end(console, self.value, self.growing, room, self.fresh)

    def write(self) -> str:
        """Return all of it, safe to print."""
        return escape_unsafe_json(write_pretty(self.value))


Body: TypeAlias = Prose | Value
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
    """A text that is JSON so far, though no schema says so: it is shown as a value."""

    def __init__(self) -> None:
        self._state: ParserState | None = create_parser_state()
        self._drawn: ParserState | None = None
        self._read = 0

    @property
    def is_complete(self) -> bool:
        return self._state is not None and self._state.is_complete

    def read(self, part: TextPart) -> Value | None:
        """Return the value of a text, with what is new since the last call; `None` if it has none."""
        text = text_of(part)
        new = text.tail(text.length - self._read)
        self._read = text.length
        if self._state is not None:
            self._state = parse_chunk(self._state, new)
            if self._state.error is not None:
                self._state = None
        state = self._state
        if state is None or state.value is MISSING or not isinstance(state.value, list | dict):
            return None
        fresh = Fresh()
        fresh.add(read_changes(self._drawn, state))
        self._drawn = state
        return Value(state.value, open_path(state) if part.is_open else None, fresh)


class MessagePanels:
    """The panels of one message, drawn again and again while it grows."""

    def __init__(self) -> None:
        self._answers: dict[int, AnswerText] = {}

    def arrange(self, message: Message, fresh: Fresh) -> list[Panel]:
        """Return the panels in the order in which their parts began."""
        panels: dict[str, Panel] = {}
        for at, part in enumerate(message.parts):
            panel = self._panel_of(message, at, part, fresh.inside("parts", at))
            if panel is not None:
                known = panels.get(panel.title)
                panels[panel.title] = panel if known is None else _join(known, panel)
        panels.update((panel.title, panel) for panel in _answer_panels(message, fresh.inside("answer")))
        return list(panels.values())

    def _panel_of(self, message: Message, at: int, part: Part, fresh: Fresh) -> Panel | None:
        if isinstance(part, BaseCall):
            return _call_panel(at, part, fresh)
        if isinstance(part, TextPart):
            if has_answer_text(message) and answer_of(message) is not None:
                return None
            answer = self._answers.setdefault(at, AnswerText())
            value = answer.read(part)
            if value is not None:
                return Panel("answer", "data", value, part.is_open, is_bad=not (part.is_open or answer.is_complete))
        if isinstance(part, GrowingPart):
            return _text_panel(part, fresh.inside("text"))
        return Panel("more", "prose", Prose(_describe(part), 0, is_open=False), part.is_open)


def _text_panel(part: GrowingPart, fresh: Fresh) -> Panel:
    text = part.text
    if isinstance(part, ReasoningPart):
        title = "reasoning"
        text = text or "(withheld)" * part.redacted
    else:
        title = "refusal" if isinstance(part, Refusal) else "text"
    return Panel(title, "prose", Prose(text, fresh.count(text), part.is_open), part.is_open)


def _call_panel(at: int, call: BaseCall, fresh: Fresh) -> Panel:
    title = f"call {at}: {escape_unsafe(call.name or '…')}"
    if call.name == RESERVED:  # the name that is reserved for structured output
        title = f"answer, {title}"
    document = document_of(call)
    value = call.partial
    is_bad = isinstance(call, PartialCall) and call.status is not Outcome.STREAMING
    if value is MISSING:
        text = call.arguments
        return Panel(title, "data", Prose(text, fresh.count(text), call.is_open), call.is_open, is_bad)
    growing = open_path(document.state) if document is not None and call.is_open else None
    return Panel(title, "data", Value(value, growing, fresh.inside("arguments")), call.is_open, is_bad)


def _answer_panels(message: Message, fresh: Fresh) -> Iterator[Panel]:
    answer = answer_of(message)
    if isinstance(answer, FinalAnswer):
        yield Panel("answer", "data", Value(cast("JsonValue", answer.value), None, fresh), is_open=False)
    elif isinstance(answer, Document) and answer.value is not MISSING:
        is_open = message.outcome is Outcome.STREAMING
        growing = open_path(answer.state) if is_open else None
        is_bad = bool(answer.mismatches) or answer.error is not None
        yield Panel("answer", "data", Value(answer.value, growing, fresh), is_open, is_bad)


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
