"""A message that did not end well in, what was wrong with it out, as text to send back to the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jsontide.messages._reasons import LENGTH
from jsontide.messages.types import ErrorDetail, ErrorKind, Outcome

if TYPE_CHECKING:
    from jsontide.messages.message import Message

_MOST: Final = 20
"""How many errors are listed; a model that got more wrong starts again anyway."""
_INTRODUCTIONS: Final = {
    Outcome.TRUNCATED: "Your last message broke off at the limit of tokens, before it was complete.",
    Outcome.INVALID: "Your last message could not be used.",
    Outcome.EMPTY: "Your last message was empty.",
}
_REQUEST: Final = "Please send it again, complete and corrected."


def write_feedback(message: Message) -> str:
    """Return what was wrong with the structured output or the calls of a message, nothing if that is nothing.

    What the model is not to blame for is none of it: a stream that failed, broke off, or ended for another reason.
    """
    if any([error.source == "stream" for error in message.errors]):
        return ""
    introduction = _INTRODUCTIONS.get(message.outcome)
    details = [error for error in message.errors if error.kind is not ErrorKind.TRANSPORT]
    if message.outcome is Outcome.TRUNCATED and message.finish_reason != LENGTH:
        introduction = None
    if introduction is None and not details:
        return ""
    lines = [introduction or _INTRODUCTIONS[Outcome.INVALID]]
    lines += [f"- {_describe(message, error)}" for error in details[:_MOST]]
    if len(details) > _MOST:
        lines.append(f"- and {len(details) - _MOST} more")
    return "\n".join([*lines, _REQUEST])


def _describe(message: Message, error: ErrorDetail) -> str:
    where = "the answer"
    if isinstance(error.source, int):
        name = message.tool_calls[error.source].name if 0 <= error.source < len(message.tool_calls) else None
        where = f"the call of {name}" if name else f"call {error.source + 1}"
    return f"{where}: {error.message}"
