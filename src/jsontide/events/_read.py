"""Fragments in, the events in them out; an error is an event too, and is skipped if that was asked for.

So many errors may be skipped in a document; one more ends the reading.
Skipping goes on to the next comma or closing bracket of the innermost open container, and reading goes on there.
The update comes when that place is found, because only then is it known what was skipped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jsontide._errors import ParserError, Reason, link_of
from jsontide.events._kinds import JsonFragmentKind
from jsontide.events._update import JsonFragmentUpdate
from jsontide.text import modes
from jsontide.text.naming import END_OF_TEXT
from jsontide.text.skip import Skip, begin_skip

if TYPE_CHECKING:
    from mypy_extensions import i64

    from jsontide.events._emitter import EventEmitter
    from jsontide.text.utf8 import ByteSource

_ERROR: Final = JsonFragmentKind.Error
_FINAL: Final = frozenset(
    (Reason.TEXT_TOO_LONG, Reason.TOO_MANY_NODES, Reason.TRAILING_TEXT, Reason.BAD_UTF8, Reason.UNEXPECTED_END)
)
"""After these there is nothing to go on with."""
_SHOWN: Final = 40  # characters of what was skipped
_AT_ONCE: Final = 4096  # characters: at each error what is left of them is copied


class Recovery:
    """What is being skipped, and because of what."""

    __slots__ = ("error", "shown", "skip")

    def __init__(self, error: ParserError, skip: Skip, shown: str) -> None:
        self.error: ParserError = error
        self.skip: Skip = skip
        self.shown: str = shown  # the beginning of what was skipped

    def copy(self) -> Recovery:
        """Return the same, to go on with independently."""
        return Recovery(self.error, self.skip.copy(), self.shown)


def read(emitter: EventEmitter, text: str) -> None:
    """Read a fragment, whatever is in it."""
    if emitter.recovery is not None:
        _read_on(emitter, text)
        return
    held = emitter.held
    if emitter.scan(text):
        emitter.tell_more(text)
    elif emitter.is_over:
        _read_on(emitter, _after_error(emitter, held, text))
    elif emitter.mode == modes.STRING:
        emitter.tell_open_string()


def read_decoded(emitter: EventEmitter, text: str, source: ByteSource | None, is_good: bool) -> None:
    """Read a fragment that came as bytes; `is_good` tells that they were UTF-8 to the end."""
    read(emitter, text)
    if not is_good and source is not None and not emitter.is_over:
        _end_any_recovery(emitter)
        _fail(emitter, Reason.BAD_UTF8, f"UTF-8 at byte {source.offset}", source.found)


def _read_on(emitter: EventEmitter, text: str) -> None:
    """Read what is left of a fragment in which something is wrong."""
    begin: i64 = 0
    while begin < len(text) and not emitter.is_over:
        _read_some(emitter, text[begin : begin + _AT_ONCE])
        begin += _AT_ONCE
    if not emitter.is_over:
        emitter.tell_open_string()


def _read_some(emitter: EventEmitter, text: str) -> None:
    while text:
        if emitter.recovery is not None:
            text = _skip(emitter, emitter.recovery, text)
            continue
        held = emitter.held
        emitter.scan(text)
        if emitter.error is None:
            break
        text = _after_error(emitter, held, text)


def _after_error(emitter: EventEmitter, held: str, text: str) -> str:
    """Tell the error, or begin to skip what is wrong; return what is left to read."""
    error = emitter.error
    assert error is not None  # who calls has looked
    emitter.tell_open_string()
    if not emitter.options.skips_errors or error.reason in _FINAL:
        _tell_error(emitter, error, error.message, error.index)
        return ""
    if emitter.error_count >= emitter.max_errors:
        _fail(emitter, Reason.TOO_MANY_ERRORS, f"at most {emitter.max_errors} errors", "more")
        return ""
    emitter.error_count += 1
    _begin_recovery(emitter, error)
    return (held + text)[error.index - emitter.base :]


def read_end(emitter: EventEmitter, source: ByteSource | None) -> None:
    """Take the end of the text."""
    _end_any_recovery(emitter)
    if source is not None and source.pending:
        wanted = f"the rest of the UTF-8 sequence at byte {source.offset}"
        _fail(emitter, Reason.UNEXPECTED_END, wanted, END_OF_TEXT)
    else:
        if emitter.mode != modes.DONE:
            emitter.finish()
        if emitter.error is not None:
            _tell_error(emitter, emitter.error, emitter.error.message, emitter.error.index)


def _fail(emitter: EventEmitter, reason: Reason, wanted: str, found: str) -> None:
    emitter.fail(reason, wanted, found, emitter.index)
    error = emitter.error
    assert error is not None  # it has just been made
    _tell_error(emitter, error, error.message, error.index)


def _tell_error(emitter: EventEmitter, error: ParserError, message: str, end: i64) -> None:
    """Tell what is wrong, whatever else is told."""
    emitter.updates.append(JsonFragmentUpdate(_ERROR, link_of(error), message, error, error.index, end))


def _begin_recovery(emitter: EventEmitter, error: ParserError) -> None:
    top = emitter.top
    in_string = emitter.mode <= modes.KEY_TEXT
    skip = begin_skip(is_open=top.parent is not None, is_object=top.is_object, in_string=in_string)
    emitter.recovery = Recovery(error, skip, "")
    emitter.error = None
    emitter.is_over = False
    emitter.held = ""
    emitter.pieces = []
    emitter.spot = None
    emitter.forget_string()
    emitter.mode = top.after


def _skip(emitter: EventEmitter, recovery: Recovery, text: str) -> str:
    """Skip as far as need be; return what is left to read."""
    room: i64 = emitter.max_index - emitter.index
    skipped = text[:room]
    end: i64 = 1 if recovery.error.reason is Reason.BYTE_ORDER_MARK else recovery.skip.find_end(skipped)
    if end >= 0:
        skipped = skipped[:end]
    if len(recovery.shown) <= _SHOWN:
        recovery.shown += skipped[: _SHOWN + 1]
    newlines = skipped.count("\n")
    if newlines:
        emitter.line = (emitter.line[0] + newlines, emitter.index + skipped.rfind("\n") + 1)
    emitter.index += len(skipped)
    if end >= 0:
        _end_recovery(emitter, recovery)
        if recovery.error.reason is Reason.BYTE_ORDER_MARK:
            emitter.mode = modes.VALUE
        return text[end:]
    if len(text) > room:
        _end_recovery(emitter, recovery)
        _fail(emitter, Reason.TEXT_TOO_LONG, f"at most {emitter.max_chars} characters of text", "more")
    return ""


def _end_any_recovery(emitter: EventEmitter) -> None:
    """Tell what was being skipped, if anything was."""
    if emitter.recovery is not None:
        _end_recovery(emitter, emitter.recovery)


def _end_recovery(emitter: EventEmitter, recovery: Recovery) -> None:
    """Tell what was wrong, now that it is known how much was skipped."""
    error = recovery.error
    count = emitter.index - error.index
    shown = recovery.shown if len(recovery.shown) <= _SHOWN else recovery.shown[:_SHOWN] + "..."
    characters = "1 character" if count == 1 else f"{count} characters"
    said = f"{error.message}; skipped {characters}: {shown!r}" if count else error.message
    _tell_error(emitter, error, said, emitter.index)
    emitter.recovery = None
