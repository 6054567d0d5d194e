"""What is certainly wrong with a message, also while it grows: documents and calls in, errors out.

Rule: errors follow from the message alone. What was found in an earlier state of it is taken over, so that reading them
after each chunk costs what is new in it, and not what all of its calls are.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from operator import attrgetter
from typing import Final, TypeAlias

from jsontide._errors import Reason
from jsontide.messages._calls import ToolCall
from jsontide.messages._config import MessageConfig
from jsontide.messages._document import Document
from jsontide.messages._outcome import ErrorKind, MessageError, Source
from jsontide.messages._roster import Roster
from jsontide.messages._vector import Vector
from jsontide.schema import SchemaMismatch

Errors: TypeAlias = tuple[MessageError, ...]
_source: Final = attrgetter("source")


def errors_in(document: Document, source: Source, before: Document | None = None, told: Errors = ()) -> Errors:
    """Return what is wrong with a document; that it breaks off is not, while it may go on.

    `told` is what was wrong with it before, if that is known: those errors stay the same objects.
    """
    mismatches = document.mismatches
    known = () if before is None else before.mismatches
    kept = _shared(known, mismatches)
    first = len(told) - len(known)
    more = [MessageError(ErrorKind.SCHEMA, source, one.message, one.path, one) for one in mismatches[kept:]]
    return (*_json_error(document, source), *told[first : first + kept], *more)


def call_errors(
    call: ToolCall, source: Source, config: MessageConfig, before: ToolCall | None = None, told: Errors = ()
) -> Errors:
    """Return what is wrong with a call, its arguments and its name."""
    now = beside_arguments(call, source, config)
    if before is None:
        return now + errors_in(call._document, source)
    old = beside_arguments(before, source, config)
    return now + errors_in(call._document, source, before._document, told[len(old) :])


def beside_arguments(call: ToolCall, source: Source, config: MessageConfig) -> Errors:
    """Return what is wrong with a call beside its arguments."""
    found: Errors = ()
    if call._doubt:
        found = (MessageError(ErrorKind.JSON, source, call._doubt),)
    if call.name is not None and not config._knows(call.name) and not config._is_output(call.name):
        found = (*found, MessageError(ErrorKind.SCHEMA, source, f"no tool is called {call.name!r}"))
    return found


def _json_error(document: Document, source: Source) -> Errors:
    error = document.error
    if error is None or error.reason is Reason.UNEXPECTED_END:
        return ()
    return (MessageError(ErrorKind.JSON, source, error.message, error.path, error),)


def _shared(before: tuple[SchemaMismatch, ...], now: tuple[SchemaMismatch, ...]) -> int:
    """Return how many mismatches are the same at the beginning: all, or all but those of an open value."""
    count = min(len(before), len(now))
    while count and before[count - 1] is not now[count - 1]:
        count -= 1
    return count


@dataclass(frozen=True, slots=True)
class Known:
    """What was found in a state, for those that come after it to go on from."""

    config: MessageConfig | None = None
    answer: Document | ToolCall | None = None
    of_answer: Errors = ()
    calls: Vector[ToolCall] = Vector()  # noqa: RUF009 - it never changes
    hidden: tuple[int, ...] = ()
    """The positions of calls that are not shown."""
    unnamed: tuple[int, ...] = ()
    """The positions of those of them that may still be shown."""
    of_calls: Errors = ()
    """In the order of the calls."""
    errors: Errors = ()
    """All that is certain: where calls are is not, after one that may still be shown."""


NOTHING_KNOWN: Final = Known()


def known_of(before: Known, config: MessageConfig, answer: Document | ToolCall | None, calls: Roster) -> Known:
    """Return what is wrong with a message, given what was known of an earlier state of it.

    `answer` is where the structured output comes from, if what is wrong with it counts already.
    """
    if before.config is not config:
        before = Known(config)
    if answer is before.answer and calls.calls is before.calls:
        return before
    of_answer = _errors_of_answer(before, config, answer)
    found = _CallErrors(before, config)
    if not found.follow(calls):
        found = _CallErrors(NOTHING_KNOWN, config)
        found.follow(calls)
    of_calls, hidden, unnamed = tuple(found.errors), tuple(found.hidden), tuple(found.unnamed)
    last = len(of_calls)
    if unnamed:
        last = bisect_left(of_calls, unnamed[0] - bisect_left(hidden, unnamed[0]), key=_source)
    return Known(config, answer, of_answer, calls.calls, hidden, unnamed, of_calls, of_answer + of_calls[:last])


def _errors_of_answer(before: Known, config: MessageConfig, answer: Document | ToolCall | None) -> Errors:
    old, told = before.answer, before.of_answer
    if answer is None or answer is old:
        return told if answer is old else ()
    if isinstance(answer, Document):
        return errors_in(answer, "content", old, told) if isinstance(old, Document) else errors_in(answer, "content")
    return call_errors(answer, "content", config, *((old, told) if isinstance(old, ToolCall) else ()))


class _CallErrors:
    """What is wrong with calls, while it is brought up to date."""

    __slots__ = ("_before", "_config", "errors", "hidden", "unnamed")

    def __init__(self, before: Known, config: MessageConfig) -> None:
        self._config = config
        self._before = before.calls
        self.hidden = list(before.hidden)
        self.unnamed = list(before.unnamed)
        self.errors = list(before.of_calls)

    def follow(self, calls: Roster) -> bool:
        """Take in what is new; tell whether all that was known is still in its place."""
        return all(self._take(position, calls[position]) for position in calls.calls.changed_since(self._before))

    def _take(self, position: int, call: ToolCall) -> bool:
        at = bisect_left(self.hidden, position)
        source = position - at
        was_hidden = position in self.hidden[at : at + 1]
        first = bisect_left(self.errors, source, key=_source)
        last = first if was_hidden else bisect_left(self.errors, source + 1, first, key=_source)
        if was_hidden is not call._is_hidden:
            if last < len(self.errors):  # those after it belong to other places now
                return False
            self.hidden[at : at + was_hidden] = [position] if call._is_hidden else []
        place = bisect_left(self.unnamed, position)
        was_unnamed = position in self.unnamed[place : place + 1]
        self.unnamed[place : place + was_unnamed] = [position] if _may_be_shown(call) else []
        before = None if was_hidden or position >= len(self._before) else self._before[position]
        told = tuple(self.errors[first:last])
        self.errors[first:last] = () if call._is_hidden else call_errors(call, source, self._config, before, told)
        return True


def _may_be_shown(call: ToolCall) -> bool:
    return call._is_hidden and not call._on_server and call.name is None
