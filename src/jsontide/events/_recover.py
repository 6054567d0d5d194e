"""Text in, what a teller makes of it out, errors included: told as an update, and skipped if that was asked for.

Skipping goes on to the next comma or closing bracket of the innermost open container, and reading goes on there.
The update comes when that place is found, because only then is it known what was skipped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jsontide._errors import ParserError, Reason
from jsontide.events._kinds import JsonFragmentKind
from jsontide.events._update import update_at
from jsontide.text import _modes as modes
from jsontide.text._skip import Skip, begin_skip

if TYPE_CHECKING:
    from mypy_extensions import i64

    from jsontide.events._teller import Teller

_ERROR: Final = JsonFragmentKind.Error
_FINAL: Final = frozenset(
    (Reason.TEXT_TOO_LONG, Reason.TOO_MANY_NODES, Reason.TRAILING_TEXT, Reason.BAD_UTF8, Reason.UNEXPECTED_END)
)
"""After these there is nothing to go on with."""
_SHOWN: Final = 40  # characters of what was skipped


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
    while text:
        if teller.recovery is not None:
            text = _skip(teller, teller.recovery, text)
            continue
        held = teller.held
        teller.scan(text)
        error = teller.error
        if error is None:
            break
        teller.tell_open_string()
        if not teller.options.skips_errors or error.reason in _FINAL:
            tell_error(teller, error, error.message, error.index)
            return
        text = (held + text)[error.index - teller.base :]
        _begin_recovery(teller, error)
    if not teller.is_over:
        teller.tell_open_string()


def finish(teller: Teller) -> None:
    """Take the end of the text."""
    if teller.recovery is not None:
        _end_recovery(teller, teller.recovery)
        teller.mode = teller.top.after
    if teller.mode != modes.DONE:
        teller.finish()
    if teller.error is not None:
        tell_error(teller, teller.error, teller.error.message, teller.error.index)


def tell_error(teller: Teller, error: ParserError, message: str, end: i64) -> None:
    """Tell what is wrong, whatever else is told."""
    teller.updates.append(update_at(error.path, _ERROR, message, error, (error.index, end)))


def _begin_recovery(teller: Teller, error: ParserError) -> None:
    top = teller.top
    in_string = teller.mode <= modes.KEY_TEXT
    skip = begin_skip(is_open=top.parent is not None, is_object=top.is_object, in_string=in_string)
    teller.recovery = Recovery(error, skip, "")
    teller.error = None
    teller.is_over = False
    teller.held = ""
    teller.pieces = []
    teller.forget_string()
    teller.mode = top.after


def _skip(teller: Teller, recovery: Recovery, text: str) -> str:
    """Skip as far as need be; return what is left to read."""
    room: i64 = teller.max_chars - teller.index
    is_too_long = len(text) > room
    if is_too_long:
        text = text[:room]
    end: i64 = 1 if recovery.error.reason is Reason.BYTE_ORDER_MARK else recovery.skip.find_end(text)
    skipped = text if end < 0 else text[:end]
    if len(recovery.shown) <= _SHOWN:
        recovery.shown += skipped[: _SHOWN + 1]
    for at, char in enumerate(skipped):
        if char == "\n":
            teller.newlines.append(teller.index + at)
    teller.index += len(skipped)
    if end >= 0:
        _end_recovery(teller, recovery)
        if recovery.error.reason is Reason.BYTE_ORDER_MARK:
            teller.mode = modes.VALUE
        return text[end:]
    if is_too_long:
        _end_recovery(teller, recovery)
        wanted = f"at most {teller.options.limits.max_chars} characters of text"
        teller.fail(Reason.TEXT_TOO_LONG, wanted, teller.index)
        assert teller.error is not None  # it has just been made
        tell_error(teller, teller.error, teller.error.message, teller.index)
    return ""


def _end_recovery(teller: Teller, recovery: Recovery) -> None:
    """Tell what was wrong, now that it is known how much was skipped."""
    error = recovery.error
    count = teller.index - error.index
    shown = recovery.shown if len(recovery.shown) <= _SHOWN else recovery.shown[:_SHOWN] + "..."
    characters = "1 character" if count == 1 else f"{count} characters"
    said = f"{error.message}; skipped {characters}: {shown!r}" if count else error.message
    tell_error(teller, error, said, teller.index)
    teller.recovery = None
