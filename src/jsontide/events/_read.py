"""Fragments in, what a teller makes of them out, errors included: told as an update, and skipped if that was asked for.

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

    from jsontide.events._teller import Teller
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


def read(teller: Teller, text: str) -> None:
    """Read a fragment, whatever is in it."""
    if teller.recovery is not None:
        _read_on(teller, text)
        return
    held = teller.held
    if teller.scan(text):
        teller.tell_more(text)
    elif teller.is_over:
        _read_on(teller, _after_error(teller, held, text))
    elif teller.mode == modes.STRING:
        teller.tell_open_string()


def read_decoded(teller: Teller, text: str, source: ByteSource | None, is_good: bool) -> None:
    """Read a fragment that came as bytes; `is_good` tells that they were UTF-8 to the end."""
    read(teller, text)
    if not is_good and source is not None and not teller.is_over:
        _end_any_recovery(teller)
        _fail(teller, Reason.BAD_UTF8, f"UTF-8 at byte {source.offset}", source.found)


def _read_on(teller: Teller, text: str) -> None:
    """Read what is left of a fragment in which something is wrong."""
    begin: i64 = 0
    while begin < len(text) and not teller.is_over:
        _read_some(teller, text[begin : begin + _AT_ONCE])
        begin += _AT_ONCE
    if not teller.is_over:
        teller.tell_open_string()


def _read_some(teller: Teller, text: str) -> None:
    while text:
        if teller.recovery is not None:
            text = _skip(teller, teller.recovery, text)
            continue
        held = teller.held
        teller.scan(text)
        if teller.error is None:
            break
        text = _after_error(teller, held, text)


def _after_error(teller: Teller, held: str, text: str) -> str:
    """Tell the error, or begin to skip what is wrong; return what is left to read."""
    error = teller.error
    assert error is not None  # who calls has looked
    teller.tell_open_string()
    if not teller.options.skips_errors or error.reason in _FINAL:
        _tell_error(teller, error, error.message, error.index)
        return ""
    if teller.error_count >= teller.max_errors:
        _fail(teller, Reason.TOO_MANY_ERRORS, f"at most {teller.max_errors} errors", "more")
        return ""
    teller.error_count += 1
    _begin_recovery(teller, error)
    return (held + text)[error.index - teller.base :]


def read_end(teller: Teller, source: ByteSource | None) -> None:
    """Take the end of the text."""
    _end_any_recovery(teller)
    if source is not None and source.pending:
        wanted = f"the rest of the UTF-8 sequence at byte {source.offset}"
        _fail(teller, Reason.UNEXPECTED_END, wanted, END_OF_TEXT)
    else:
        if teller.mode != modes.DONE:
            teller.finish()
        if teller.error is not None:
            _tell_error(teller, teller.error, teller.error.message, teller.error.index)


def _fail(teller: Teller, reason: Reason, wanted: str, found: str) -> None:
    teller.fail(reason, wanted, found, teller.index)
    error = teller.error
    assert error is not None  # it has just been made
    _tell_error(teller, error, error.message, error.index)


def _tell_error(teller: Teller, error: ParserError, message: str, end: i64) -> None:
    """Tell what is wrong, whatever else is told."""
    teller.updates.append(JsonFragmentUpdate(_ERROR, link_of(error), message, error, error.index, end))


def _begin_recovery(teller: Teller, error: ParserError) -> None:
    top = teller.top
    in_string = teller.mode <= modes.KEY_TEXT
    skip = begin_skip(is_open=top.parent is not None, is_object=top.is_object, in_string=in_string)
    teller.recovery = Recovery(error, skip, "")
    teller.error = None
    teller.is_over = False
    teller.held = ""
    teller.pieces = []
    teller.spot = None
    teller.forget_string()
    teller.mode = top.after


def _skip(teller: Teller, recovery: Recovery, text: str) -> str:
    """Skip as far as need be; return what is left to read."""
    room: i64 = teller.max_index - teller.index
    skipped = text[:room]
    end: i64 = 1 if recovery.error.reason is Reason.BYTE_ORDER_MARK else recovery.skip.find_end(skipped)
    if end >= 0:
        skipped = skipped[:end]
    if len(recovery.shown) <= _SHOWN:
        recovery.shown += skipped[: _SHOWN + 1]
    newlines = skipped.count("\n")
    if newlines:
        teller.line = (teller.line[0] + newlines, teller.index + skipped.rfind("\n") + 1)
    teller.index += len(skipped)
    if end >= 0:
        _end_recovery(teller, recovery)
        if recovery.error.reason is Reason.BYTE_ORDER_MARK:
            teller.mode = modes.VALUE
        return text[end:]
    if len(text) > room:
        _end_recovery(teller, recovery)
        _fail(teller, Reason.TEXT_TOO_LONG, f"at most {teller.max_chars} characters of text", "more")
    return ""


def _end_any_recovery(teller: Teller) -> None:
    """Tell what was being skipped, if anything was."""
    if teller.recovery is not None:
        _end_recovery(teller, teller.recovery)


def _end_recovery(teller: Teller, recovery: Recovery) -> None:
    """Tell what was wrong, now that it is known how much was skipped."""
    error = recovery.error
    count = teller.index - error.index
    shown = recovery.shown if len(recovery.shown) <= _SHOWN else recovery.shown[:_SHOWN] + "..."
    characters = "1 character" if count == 1 else f"{count} characters"
    said = f"{error.message}; skipped {characters}: {shown!r}" if count else error.message
    _tell_error(teller, error, said, teller.index)
    teller.recovery = None
