"""Why providers say that a message ended, in the words of chat completions, and what that means for its parts.

stop, tool_calls                            all is said
stop_sequence                               so is the text; a call may contain the sequence
length                                      something is missing, but what is closed is whole
pause                                       all that was asked for is said, and the model goes on when it is sent back
any other word                              unknown: nothing can be run
content_filter, refusal, malformed, error   nothing can be run, and nothing that comes later changes that
"""

from __future__ import annotations

from typing import Final

STOP: Final = "stop"
TOOL_CALLS: Final = "tool_calls"
STOP_SEQUENCE: Final = "stop_sequence"
LENGTH: Final = "length"
PAUSE: Final = "pause"
CONTENT_FILTER: Final = "content_filter"
REFUSAL: Final = "refusal"
MALFORMED: Final = "malformed"
ERROR: Final = "error"

NORMAL: Final = (STOP, TOOL_CALLS)
AS_ASKED: Final = (STOP, TOOL_CALLS, STOP_SEQUENCE, PAUSE)
"""Those by which a provider says that the text is all there."""
_UNKNOWN: Final = 3
_SEVERITY: Final = {
    STOP: 0,
    TOOL_CALLS: 0,
    STOP_SEQUENCE: 1,
    LENGTH: 2,
    PAUSE: _UNKNOWN,
    CONTENT_FILTER: 4,
    REFUSAL: 4,
    MALFORMED: 4,
    ERROR: 4,
}
_FINAL: Final = 4


def is_known(reason: str) -> bool:
    """Return whether it is known what a reason means for calls."""
    return _SEVERITY.get(reason, _UNKNOWN) != _UNKNOWN


def leaves_to_run(reason: str | None) -> bool:
    """Return whether there may be something to run after a reason."""
    return reason is not None and _SEVERITY.get(reason, _UNKNOWN) < _UNKNOWN


def normalize(reason: str | None, has_calls: bool) -> str | None:
    """Return a reason in one vocabulary: providers differ in whether they stop to have tools run."""
    if reason != STOP and reason != TOOL_CALLS:
        return reason
    return TOOL_CALLS if has_calls else STOP


def worse(before: str | None, now: str) -> str:
    """Return the one of two reasons that counts: the worse, else the later."""
    if before is None:
        return now
    old, new = _SEVERITY.get(before, _UNKNOWN), _SEVERITY.get(now, _UNKNOWN)
    return before if old > new or old == _FINAL else now
