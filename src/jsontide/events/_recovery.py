"""Feeds fragments to an emitter, and recovers from errors: an error ends the stream, or is skipped.

Skipping extends to the next comma or closing bracket of the innermost open container, and reading continues there.
The error is emitted when that point is found, because only then is it known what was skipped.
Rule: at most `max_errors` errors are skipped in a document; one more ends the stream.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from jsontide._errors import ParserError, Reason, get_link
from jsontide.events._types import JsonFragmentKind
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
"""Nothing can be read after these."""
_SHOWN: Final = 40  # characters of what was skipped
_AT_ONCE: Final = 4096  # characters: each error copies what is left of them


class Recovery:
    """What is being skipped, and the error that began it."""

    __slots__ = ("error", "shown", "skip")

    def __init__(self, error: ParserError, skip: Skip, shown: str) -> None:
        self.error: ParserError = error
        self.skip: Skip = skip
        self.shown: str = shown  # the beginning of what was skipped

    def copy(self) -> Recovery:
        """Return an independent copy."""
        return Recovery(self.error, self.skip.copy(), self.shown)


def feed(emitter: EventEmitter, text: str) -> None:
    """Read a fragment, with or without errors."""
    if emitter.recovery is not None:
        _feed_rest(emitter, text)
        return
    held = emitter.held
    if emitter.scan(text):
        emitter.emit_more(text)
    elif emitter.is_over:
        _feed_rest(emitter, _after_error(emitter, held, text))
    elif emitter.mode == modes.STRING:
        emitter.emit_open_string()


def feed_decoded(emitter: EventEmitter, text: str, source: ByteSource | None, is_good: bool) -> None:
    """Read a fragment that came as bytes; `is_good` means that they were valid UTF-8 to the end."""
    feed(emitter, text)
    if not is_good and source is not None and not emitter.is_over:
        _end_any_recovery(emitter)
        _fail(emitter, Reason.BAD_UTF8, f"UTF-8 at byte {source.offset}", source.found)


def _feed_rest(emitter: EventEmitter, text: str) -> None:
    """Read the rest of a fragment that has an error."""
    begin: i64 = 0
    while begin < len(text) and not emitter.is_over:
        _feed_some(emitter, text[begin : begin + _AT_ONCE])
        begin += _AT_ONCE
    if not emitter.is_over:
        emitter.emit_open_string()


def _feed_some(emitter: EventEmitter, text: str) -> None:
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
    """Emit the error or begin to skip; return what is left to read."""
    error = emitter.error
    assert error is not None
    emitter.emit_open_string()
    if not emitter.options.skips_errors or error.reason in _FINAL:
        _emit_error(emitter, error, error.message, error.index)
        return ""
    if emitter.error_count >= emitter.max_errors:
        _fail(emitter, Reason.TOO_MANY_ERRORS, f"at most {emitter.max_errors} errors", "more")
        return ""
    emitter.error_count += 1
    _begin_recovery(emitter, error)
    return (held + text)[error.index - emitter.base :]


def feed_end(emitter: EventEmitter, source: ByteSource | None) -> None:
    """End the text."""
    _end_any_recovery(emitter)
    if source is not None and source.pending:
        wanted = f"the rest of the UTF-8 sequence at byte {source.offset}"
        _fail(emitter, Reason.UNEXPECTED_END, wanted, END_OF_TEXT)
    else:
        if emitter.mode != modes.DONE:
            emitter.finish()
        if emitter.error is not None:
            _emit_error(emitter, emitter.error, emitter.error.message, emitter.error.index)


def fail_with(emitter: EventEmitter, error: ParserError) -> None:
    """End the stream with an error from outside, which is about what is being read."""
    _end_any_recovery(emitter)
    path: Any = emitter.path()
    emitter.error = replace(error, path=path)
    emitter.is_over = True
    _emit_error(emitter, emitter.error, error.message, error.index)


def _fail(emitter: EventEmitter, reason: Reason, wanted: str, found: str) -> None:
    emitter.fail(reason, wanted, found, emitter.index)
    error = emitter.error
    assert error is not None  # `fail` has just set it
    _emit_error(emitter, error, error.message, error.index)


def _emit_error(emitter: EventEmitter, error: ParserError, message: str, end: i64) -> None:
    """Emit the error, also with `updates=False`."""
    emitter.updates.append(JsonFragmentUpdate(_ERROR, get_link(error), message, error, error.index, end))


def _begin_recovery(emitter: EventEmitter, error: ParserError) -> None:
    top = emitter.top
    in_string = emitter.mode <= modes.KEY_TEXT
    skip = begin_skip(is_open=top.parent is not None, is_object=top.is_object, in_string=in_string)
    emitter.recovery = Recovery(error, skip, "")
    emitter.error = None
    emitter.is_over = False
    emitter.held = ""
    emitter.pieces = []
    emitter.link = None
    emitter.reset_string()
    emitter.mode = top.after


def _skip(emitter: EventEmitter, recovery: Recovery, text: str) -> str:
    """Skip as far as necessary; return what is left to read."""
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
    """Stop skipping, if anything is being skipped."""
    if emitter.recovery is not None:
        _end_recovery(emitter, emitter.recovery)


def _end_recovery(emitter: EventEmitter, recovery: Recovery) -> None:
    """Emit the error, now that the length of what was skipped is known."""
    error = recovery.error
    count = emitter.index - error.index
    shown = recovery.shown if len(recovery.shown) <= _SHOWN else recovery.shown[:_SHOWN] + "..."
    characters = "1 character" if count == 1 else f"{count} characters"
    text = f"{error.message}; skipped {characters}: {shown!r}" if count else error.message
    _emit_error(emitter, error, text, emitter.index)
    emitter.recovery = None
