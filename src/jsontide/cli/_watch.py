"""Moments of a stream in, shown as they come: drawn in place on a terminal, otherwise as a short line for each change.

Rule: nothing is shown twice: neither a value that was written before, nor more drawings than an eye can see.
"""

import math
import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.text import Text

from jsontide._path import Path
from jsontide._values import Missing
from jsontide.cli._drawing import (
    NOTHING_NEW,
    Body,
    Fresh,
    LiveView,
    MessagePanels,
    Prose,
    Value,
    describe_counts,
    describe_state,
)
from jsontide.cli._input import UnreadableError
from jsontide.cli._output import LineWriter, short_path, walk
from jsontide.frontends import AppendText, SetValue, write_json
from jsontide.recordings import Moment

_TERMINAL = "/dev/tty"
_ESCAPE = b"\x1b"


@contextmanager
def read_keys() -> Iterator[Callable[[], str]]:
    """Give a function that waits for the next key; the empty string is the end."""
    try:
        # Imported late: Windows has neither.
        import termios  # noqa: PLC0415
        import tty  # noqa: PLC0415

        terminal = os.open(_TERMINAL, os.O_RDONLY | os.O_NOCTTY)
    except (ImportError, OSError) as error:
        message = "cannot read keys: there is no terminal"
        raise UnreadableError(message) from error
    before = termios.tcgetattr(terminal)
    waiting: deque[str] = deque()

    def read_key() -> str:
        if not waiting:
            waiting.extend(_split(os.read(terminal, 64)))
        return waiting.popleft() if waiting else ""

    try:
        tty.setcbreak(terminal)
        yield read_key
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
        os.close(terminal)


def _split(data: bytes) -> list[str]:
    """Return the keys in what was read: an arrow or the like comes as several bytes, and is one."""
    return [data.decode(errors="replace")] if data.startswith(_ESCAPE) else list(data.decode(errors="replace"))


_FRAME = 1 / 30
_LONGEST = 120  # characters of a value or text in a line


class Show:
    """Shows a stream; this one shows nothing."""

    def expect(self, total: int | None) -> None:
        """Note how many bytes there will be, if that is known."""

    def update(self, moment: Moment) -> None:
        """Show the next moment."""

    def flush(self) -> None:
        """Show what is not shown yet, because nothing comes for a while."""

    def finish(self) -> None:
        """Show the last moment for good."""


class Lines(Show):
    """A line for each change: where, and what was added."""

    def __init__(self, writer: LineWriter) -> None:
        self._writer = writer

    def update(self, moment: Moment) -> None:
        for change in moment.changes:
            if isinstance(change, SetValue):
                for path, value in walk(change.path, change.value):
                    if not (value and isinstance(value, list | dict)):
                        self._write(path, "=", write_json(value))
            elif isinstance(change, AppendText):
                self._write(change.path, "+=", write_json(change.text))

    def _write(self, path: Path, sign: str, text: str) -> None:
        more = len(text) - _LONGEST
        shown = text if more <= 0 else f"{text[:_LONGEST]}… ({more:,} more characters)"
        self._writer.write_json_text(f"{short_path(path)} {sign} {shown}")


class Drawings(Show):
    """A drawing of what there is, again and again; at the end, all of it to scroll through."""

    def __init__(self, console: Console, *, prints_whole: bool = True) -> None:
        self._total: int | None = None
        self._console = console
        self._prints_whole = prints_whole
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._panels = MessagePanels()
        self._fresh = Fresh()
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
        self._live.update(LiveView(self._moment, self._fresh, self._panels, self._total), refresh=True)
        self._fresh = Fresh()
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
                self._console.print(text, soft_wrap=isinstance(body, Value), highlight=False)
        self._console.print(describe_state(moment), highlight=False)
        self._console.print(describe_counts(moment), highlight=False)


def _write_whole(moment: Moment) -> Iterator[tuple[Body, Text]]:
    value = moment.value
    if moment.message is not None:
        for panel in MessagePanels().arrange(moment.message, NOTHING_NEW):
            yield panel.body, Text.assemble((f"── {panel.title}\n", "bold"), panel.body.write())
    elif not isinstance(value, Missing):
        is_prose = isinstance(value, str) and moment.kind == "text"
        body = Prose(str(value), 0, is_open=False) if is_prose else Value(value, None)
        yield body, Text(body.write())
