"""The text of a server-sent event stream in, its events out, by the rules of the WHATWG HTML standard, section 9.2.

The usual event, which has data and nothing else, is the `str` of its data.
Rule: nothing raises on a stream, and nothing is lost: damage stays in the text, and lines that are no field are kept.
An event that is too long is the end: nothing that follows is read.
"""

from __future__ import annotations

import re
from typing import Final, TypeAlias

from jsontide._textbuffer import GrowingText
from jsontide.messages.record import Value
from jsontide.text import Limits

MOST: Final[int] = Limits().max_chars
"""Characters of a line or an event, unless another limit is asked for: as many as the parser takes."""

_MILLISECONDS: Final = re.compile("[0-9]{1,18}")


class NamedEvent(Value):
    """An event with more than data."""

    __slots__ = ("data", "event", "id", "retry")

    def __init__(self, data: str, event: str, last_id: str, retry: int | None) -> None:
        self.data: Final = data
        self.event: Final = event
        self.id: Final = last_id
        self.retry: Final = retry

    def _fields(self) -> tuple[object, ...]:
        return self.data, self.event, self.id, self.retry


class StrayLine(Value):
    """A line that is neither a field of an event nor a comment."""

    __slots__ = ("line",)

    def __init__(self, line: str) -> None:
        self.line: Final = line

    def _fields(self) -> tuple[object, ...]:
        return (self.line,)


Found: TypeAlias = str | NamedEvent | StrayLine


class OpenEvent(Value):
    """What is known of the event that is open, and what the stream said of all that follow."""

    __slots__ = ("data", "event", "id", "retry")

    def __init__(self, data: GrowingText | None, event: str, last_id: str, retry: int | None) -> None:
        self.data: Final = data
        """The data lines so far, each with a newline."""
        self.event: Final = event
        self.id: Final = last_id
        self.retry: Final = retry

    def _fields(self) -> tuple[object, ...]:
        return self.data, self.event, self.id, self.retry

    def add(self, line: str) -> OpenEvent | None:
        """Return the event with one more line, `None` if that is neither a field nor a comment."""
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            value += "\n"
            data = GrowingText(value) if self.data is None else self.data.append(value)
            return OpenEvent(data, self.event, self.id, self.retry)
        if field == "event":
            return OpenEvent(self.data, value, self.id, self.retry)
        if field == "id":
            return self if "\0" in value else OpenEvent(self.data, self.event, value, self.retry)
        if field == "retry":
            is_time = _MILLISECONDS.fullmatch(value) is not None
            return OpenEvent(self.data, self.event, self.id, int(value)) if is_time else self
        return None if field else self

    def next(self) -> OpenEvent:
        """Return what is known of the event after this one."""
        if self.id or self.retry is not None:
            return OpenEvent(None, "", self.id, self.retry)
        return NO_EVENT

    def whole(self, data: str) -> str | NamedEvent:
        if self.event or self.id or self.retry is not None:
            return NamedEvent(data, self.event or "message", self.id, self.retry)
        return data

    def finish(self) -> str | NamedEvent | None:
        return None if self.data is None else self.whole(self.data.read()[:-1])


NO_EVENT: Final = OpenEvent(None, "", "", None)


class SseRest(Value):
    """What waits for more text: the line and the event that are open."""

    __slots__ = ("after_cr", "event", "is_too_long", "line", "max_chars")

    def __init__(
        self, max_chars: int, line: GrowingText | None, event: OpenEvent, after_cr: bool, is_too_long: bool
    ) -> None:
        self.max_chars: Final = max_chars
        """The most that an event or a line may have."""
        self.line: Final = line
        self.event: Final = event
        self.after_cr: Final = after_cr
        """Whether a LF that comes next belongs to the line end before it."""
        self.is_too_long: Final = is_too_long
        """Whether there was an event with more characters than it may have."""

    def _fields(self) -> tuple[object, ...]:
        return self.max_chars, self.line, self.event, self.after_cr, self.is_too_long

    @property
    def error(self) -> str | None:
        """Why nothing more is read, if it is not."""
        return f"an event is longer than {self.max_chars} characters" if self.is_too_long else None


def start_sse(max_chars: int) -> SseRest:
    return SseRest(max_chars, None, NO_EVENT, False, False)


def feed_sse(rest: SseRest, text: str) -> tuple[SseRest, list[Found]]:
    """Return what waits after more text, and what it completed."""
    found: list[Found] = []
    if rest.is_too_long or not text:
        return rest, found
    after_cr = text.endswith("\r")
    if rest.after_cr or "\r" in text:
        text = text.removeprefix("\n") if rest.after_cr else text
        text = text.replace("\r\n", "\n")
        text = text.replace("\r", "\n") if "\r" in text else text
    line = rest.line
    event: OpenEvent | None = rest.event
    if line is not None and "\n" not in text:
        line = line.append(text)
    else:
        text = text if line is None else line.read() + text
        event, at = _read_lines(rest, text, found)
        line = GrowingText(text[at:]) if at < len(text) else None
    if event is None or (line is not None and line.length > rest.max_chars):
        return SseRest(rest.max_chars, None, NO_EVENT, False, True), found
    if line is None and rest.line is None and event is rest.event and after_cr is rest.after_cr:
        return rest, found  # as between most events
    return SseRest(rest.max_chars, line, event, after_cr, False), found


def _read_lines(rest: SseRest, text: str, found: list[Found]) -> tuple[OpenEvent | None, int]:
    """Return the event that is open after all lines that end, `None` if one is too long, and where the rest begins."""
    most = rest.max_chars
    event = rest.event
    at = 0
    while True:
        end = text.find("\n", at)
        if end < 0:
            return event, at
        if end - at > most:
            return None, at
        if event.data is None and text[at : at + 6] == "data: " and end + 1 < len(text) and text[end + 1] == "\n":
            # The usual event: one line of data, and a blank one.
            found.append(event.whole(text[at + 6 : end]))
            event = event.next()
            at = end + 2
            continue
        if at == end:
            whole = event.finish()
            if whole is not None:
                found.append(whole)
            event = event.next()
        else:
            added = event.add(text[at:end])
            if added is None:
                found.append(StrayLine(text[at:end]))
            elif added.data is not None and added.data.length > most + 1:  # the last newline is not part of the data
                return None, at
            else:
                event = added
        at = end + 1


def rest_of_sse(rest: SseRest) -> tuple[str | NamedEvent | None, str]:
    """Return the event that no blank line ended, if it has data, and the last line, if nothing ended that."""
    line = "" if rest.line is None else rest.line.read()
    event = (rest.event.add(line) if line else None) or rest.event
    return event.finish(), "" if line.startswith(":") else line
