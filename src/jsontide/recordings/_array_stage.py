"""An array of a provider's events in, as Gemini sends it unless it is asked for server-sent events; the message out.

Rule: an event is read when it is closed; one that breaks off, or is wrong, is damage that ends the message.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from jsontide.adapters import StreamState, detect, reduce_item, start_stream
from jsontide.messages import MessageConfig, fail_message
from jsontide.recordings._message_stage import MessageStage, SharedParts
from jsontide.recordings._piece import End
from jsontide.recordings._stage import Stage
from jsontide.tree import ParserState, finalize, parse_chunk
from jsontide.tree.containers import ArrayContainer, Container
from jsontide.tree.log import get_log, is_closed

if TYPE_CHECKING:
    from jsontide._errors import ParserError

_FIRST: Final = 1
"""The place of the first item in the log: after that of the array."""


class ArrayStage(MessageStage):
    """A message so far, whose events are the items of an array."""

    __slots__ = ("_array", "_place")

    def __init__(self, stream: StreamState, parts: SharedParts, array: ParserState, place: int) -> None:
        super().__init__(stream, parts)
        self._array: Final = array
        self._place: Final = place
        """The place in the log of the first item that is not read."""

    def feed(self, data: bytes) -> Stage:
        return self if self._stream.is_over else self._read_on(parse_chunk(self._array, data))

    def _read_on(self, array: ParserState) -> ArrayStage:
        stream, place = self._stream, self._place
        for item, after in _closed_items(array, place):
            stream, place = reduce_item(stream, item), after
        if array.error is not None:
            stream = _fail(stream, array.error)
        return ArrayStage(stream, self._parts, array, place)

    def finish(self, end: End, error: str | None) -> Stage:
        after = self._read_on(finalize(self._array)) if end == "over" else self
        return MessageStage(after._stream, self._parts).finish(end, error)


def start_array(config: MessageConfig, array: ParserState) -> ArrayStage | None:
    """Return the stage after an array whose first item is closed and an event of Gemini; `None` for any other."""
    first = next(_closed_items(array, _FIRST), None)
    if first is None or detect(first[0]) != "gemini":
        return None
    return ArrayStage(start_stream(config), SharedParts(), array, _FIRST)._read_on(array)


def has_first_item(state: ParserState) -> bool:
    """Return whether an array has begun, and its first item is closed."""
    return next(_closed_items(state, _FIRST), None) is not None


def _closed_items(state: ParserState, place: int) -> Iterator[tuple[object, int]]:
    """Yield the items of the root that are closed, from a place of the log on, each with the place after it."""
    log = get_log(state)
    if not log.length or not isinstance(log.entries[0], ArrayContainer):
        return
    for at in range(place, log.length):
        if log.owners[at].node_id:
            continue  # inside an item
        entry = log.entries[at]
        if not isinstance(entry, Container):
            yield entry, at + 1
        elif is_closed(state, entry):
            yield entry.value(), at + 1
        else:
            return


def _fail(stream: StreamState, error: ParserError) -> StreamState:
    return StreamState(fail_message(stream.message_state, error.message))
