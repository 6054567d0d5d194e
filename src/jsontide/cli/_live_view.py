"""What `jsontide watch` draws on a terminal: what a stream shows, and two lines about how it stands.

In: a moment, and what is new since the last drawing. Out: a rich renderable that fits the terminal.
"""

from dataclasses import dataclass, field

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from jsontide import MISSING, ParserState
from jsontide._path import path_text
from jsontide.cli._escape import escape_unsafe
from jsontide.cli._fresh import Fresh
from jsontide.cli._layout import lay_out
from jsontide.cli._panels import MessagePanels, Prose
from jsontide.cli._pretty_print import CURSOR, Room, print_end
from jsontide.deltas import open_path
from jsontide.messages import Message, Outcome, Usage
from jsontide.recordings import Moment
from jsontide.tree import Mode, Path

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
    fresh: Fresh = field(default_factory=Fresh)
    panels: MessagePanels = field(default_factory=MessagePanels)
    total: int | None = None

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
    """Return how a stream stands, or how it ended."""
    message, outcome = moment.message, moment.outcome
    if outcome is not Outcome.STREAMING:
        return _describe_end(moment)
    if message is not None:
        return Text.assemble(("streaming", "bold yellow"), *_describe_source(message))
    if moment.kind == "json" and moment.state is not None:
        return _describe_place(moment.state)
    return Text.assemble(("streaming", "bold yellow"), f"  {moment.kind}")


def _describe_end(moment: Moment) -> Text:
    message, outcome = moment.message, moment.outcome
    style = "bold green" if outcome is Outcome.COMPLETE else "bold red"
    said = [] if message is None else _describe_source(message)
    if message is not None and message.finish_reason:
        said.insert(0, f"  {escape_unsafe(message.finish_reason)}")
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
    """Return how much came, of how much, and what it cost."""
    words = [f"{moment.at:.1f} s", count_pieces(moment.number), f"{moment.index:,} bytes"]
    message = moment.message
    if message is not None and message.usage is not None:
        words.insert(0, describe_usage(message.usage))
    counts = Text(" · ".join(words))
    if not total:
        return counts
    filled = _BAR * moment.index // total
    bar = (("━" * filled, "green"), ("┄" * (_BAR - filled), "dim"))
    return Text.assemble(*bar, f" {100 * moment.index // total:3d} %  ", counts)


def count_pieces(number: int) -> str:
    return "1 piece" if number == 1 else f"{number:,} pieces"


def describe_usage(usage: Usage) -> str:
    """Return what a message cost so far."""
    figures = {"in": usage.input_tokens, "out": usage.output_tokens, "reasoning": usage.reasoning_tokens}
    said = [f"{count:,} {name}" for name, count in figures.items() if count is not None]
    return f"tokens: {', '.join(said)}" if said else "tokens: not said"
