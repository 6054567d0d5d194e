"""What all readers have in common: events of one provider in, notes on a draft out.

One stream is one message. A second one must not be joined to the first: a program may have acted on the first one
already, or it broke off. So where another message begins, the stream has failed, and nothing in it can be run.
An event that begins the same message again says nothing new.

Rule: a reader is a value; what it must remember between events is in the reader that `read` returns.
"""

from __future__ import annotations

from typing import Any, Final

from jsontide.messages.draft import Draft
from jsontide.messages.record import Value
from jsontide.providers.fields import as_dict, as_text, plain, text_of

_ABOUT: Final = ("code", "error_type", "status", "status_code", "type")
"""What stands beside an error that is a text."""
ANOTHER: Final = "another message begins in the same stream"


class Reader(Value):
    """Reads the events of one provider's stream."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """Whose events it reads."""
        raise NotImplementedError

    def fits(self, event: dict[str, Any]) -> bool:
        """Return whether an event is of this provider."""
        raise NotImplementedError

    def split_whole(self, event: dict[str, Any]) -> list[dict[str, Any]] | None:
        """Return the events that a stream of a whole completion would have; `None` if the event is not one.

        Some servers do not stream, though asked to. Only what no stream has is taken for a whole.
        """
        return None

    def read(self, draft: Draft, event: dict[str, Any]) -> Reader:
        """Note what an event says, and return the reader of the next one."""
        raise NotImplementedError

    def _fields(self) -> tuple[object, ...]:
        return ()


class Beginning(Value):
    """Where a message with an event that begins it stands, for readers that watch for a second one."""

    __slots__ = ("goes_on", "has_begun", "id")

    def __init__(self, has_begun: bool = False, id: str | None = None, goes_on: bool = False) -> None:  # noqa: A002
        self.has_begun: Final = has_begun
        self.id: Final = id
        self.goes_on: Final = goes_on
        """Whether anything came after the beginning."""

    def begin(self, draft: Draft, begun_id: str | None) -> Beginning | None:
        """Return the same after an event that begins a message, `None` if the event says nothing new."""
        if not self.has_begun:
            return Beginning(True, begun_id)
        is_another = begun_id != self.id if begun_id and self.id else self.goes_on
        if is_another:
            draft.fail(ANOTHER)
        return None

    def go_on(self) -> Beginning:
        """Return the same after any other event."""
        return self if self.goes_on or not self.has_begun else Beginning(True, self.id, True)

    def _fields(self) -> tuple[object, ...]:
        return self.has_begun, self.id, self.goes_on


NOT_BEGUN: Final = Beginning()


def read_error(draft: Draft, event: dict[str, Any]) -> bool:
    """Note the error that an event reports in the field that all servers and proxies have for it, if it does."""
    error = event.get("error")
    if error is None or error is False:
        return False
    about = plain(error)
    if isinstance(about, str) and any([event.get(name) is not None for name in _ABOUT]):
        about = {name: plain(event[name]) for name in ("error", *_ABOUT) if event.get(name) is not None}
    draft.fail(describe_error(error), about)
    return True


def describe_error(error: object) -> str:
    """Return what an error says, whatever it is written as."""
    if isinstance(error, str):
        return error or "error"
    fields = as_dict(error)
    found = text_of(fields, "message") or text_of(fields, "type") or as_text(fields.get("code"))
    return found or "error"
