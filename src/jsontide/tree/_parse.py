"""`(state, chunk) -> state`: the functions that people call.

Text never raises: an error in it is part of the returned state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsontide._errors import Reason
from jsontide._values import MISSING
from jsontide.text import modes
from jsontide.text.modes import STRING
from jsontide.text.naming import END_OF_TEXT
from jsontide.text.utf8 import as_text
from jsontide.tree._fork import fork
from jsontide.tree._state import ParserState, check_state

if TYPE_CHECKING:
    from jsontide._values import JsonValue, Missing
    from jsontide.tree._tape import Tape


def parse_chunk(state: ParserState, chunk: str | bytes | bytearray | memoryview) -> ParserState:
    """Return the state after one more chunk of text; the given state does not change.

    >>> from jsontide import create_parser_state
    >>> state = parse_chunk(create_parser_state(), '[1, "tw')
    >>> state = parse_chunk(state, 'o"]')
    >>> state.value, state.is_complete
    ([1, 'two'], True)
    """
    try:
        tape = state._tape
    except AttributeError:  # it is no state; looking first would cost something for every chunk
        check_state(state)
        raise
    if type(chunk) is not str or state._source is not None:
        return _parse_other(state, chunk)
    if not chunk or (tape.is_over and state.is_over):
        return state
    step = state._step
    if tape.step != step:
        tape = fork(state)
    # Counted before anything is written: if this step is interrupted, `state` is no longer the newest.
    tape.step = step + 1
    # `tape.read(chunk)` without its call, which interpreted code would notice.
    is_more = tape.scan(chunk)
    if tape.mode == STRING and (is_more or tape.index - len(tape.held) > tape.base) and not tape.hidden_levels:
        tape.changed_step = tape.step
    return ParserState(tape, None, state)


def _parse_other(state: ParserState, chunk: str | bytes | bytearray | memoryview) -> ParserState:
    """Do the same for bytes and for subclasses of `str`."""
    check_state(state)
    source, text, is_good = as_text(chunk, state._source, state._index, "chunk")
    if len(chunk) == 0 or state.is_over:
        return state
    if source is None:
        return parse_chunk(state, text)
    tape = claim(state)
    if text:
        tape.read(text)
    if not is_good and not tape.is_over:
        _end_at_bytes(tape, Reason.BAD_UTF8, f"UTF-8 at byte {source.offset}", source.found)
    return ParserState(tape, source, state)


def _end_at_bytes(tape: Tape, reason: Reason, wanted: str, found: str) -> None:
    """Stop at invalid bytes: after the document they are ignored if text would be."""
    if tape.ignore_trailing and tape.mode == modes.DONE:
        tape.trailing_index = tape.index
        tape.is_over = True
    else:
        tape.fail(reason, wanted, found, tape.index)


def claim(state: ParserState) -> Tape:
    """Return the tape that continues a state, as in `parse_chunk`: its own if that ends there, else a fork."""
    tape = state._tape
    if tape.step != state._step:
        tape = fork(state)
    tape.step += 1
    return tape


def finalize(state: ParserState) -> ParserState:
    """Return the state after the end of the text: complete, or in error because the text is not.

    >>> from jsontide import create_parser_state
    >>> state = finalize(parse_chunk(create_parser_state(), "12"))
    >>> state.value
    12
    >>> finalize(parse_chunk(create_parser_state(), "[12")).error.message
    "expected ',' or ']', found the end of the text (line 1, column 4)"
    """
    check_state(state)
    if state.is_over:
        return state
    source = state._source
    pending = b"" if source is None else source.pending
    if state._mode == modes.DONE and not pending:
        return state
    tape = claim(state)
    if source is not None and pending:
        wanted = f"the rest of the UTF-8 sequence at byte {source.offset}"
        _end_at_bytes(tape, Reason.UNEXPECTED_END, wanted, END_OF_TEXT)
    else:
        tape.finish()
    return ParserState(tape, source, state)


def get_resolved_value(state: ParserState) -> JsonValue | Missing:
    """Return the value if the document is complete, else `MISSING`."""
    check_state(state)
    return state.value if state.is_complete else MISSING
