"""What is certainly wrong with the calls and the answer of a message, also while it grows."""

from __future__ import annotations

from itertools import chain

from jsontide.messages._entries import CallEntry, Entry
from jsontide.messages._rules import ReadingRules
from jsontide.messages.document import Document
from jsontide.messages.types import ErrorDetail, ErrorKind, ErrorSource


def call_errors(entry: CallEntry, source: ErrorSource, rules: ReadingRules) -> tuple[ErrorDetail, ...]:
    """Return what is wrong with a call beside its arguments."""
    found: list[ErrorDetail] = []
    if entry.doubt:
        found.append(ErrorDetail(ErrorKind.JSON, source, entry.doubt))
    name = entry.name
    if name is not None and not rules.knows(name) and not rules.is_output(name):
        found.append(ErrorDetail(ErrorKind.SCHEMA, source, f"no tool is called {name!r}"))
    return tuple(found)


def certain_errors(
    entries: list[Entry], document: Document | None, answer_at: int, rules: ReadingRules
) -> tuple[ErrorDetail, ...]:
    """Return what is wrong with a message that grows, whatever may come."""
    found: list[tuple[ErrorDetail, ...]] = []
    # Where tools are offered, a call may come that makes mere prose of the content.
    if not rules.emulates and not rules.bindings and document is not None:
        found.append(document.errors("content"))
    answer = entries[answer_at] if answer_at >= 0 else None
    if isinstance(answer, CallEntry):
        found += [call_errors(answer, "content", rules), answer.document.errors("content")]
    source = 0
    for entry in entries:
        if isinstance(entry, CallEntry) and not entry.on_server:
            if not entry.is_hidden:
                found += [call_errors(entry, source, rules), entry.document.errors(source)]
                source += 1
            elif entry.name is None:  # it may still be shown, and then moves those after it
                break
    return tuple(chain.from_iterable(found))


def find_answer(entries: list[Entry], rules: ReadingRules) -> int:
    """Return the place of a call that is the answer itself, -1 if there is none."""
    for at, entry in enumerate(entries):
        if isinstance(entry, CallEntry) and not entry.on_server and rules.is_output(entry.name):
            return at
    return -1
