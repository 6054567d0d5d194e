"""Pieces in, recorded or as they arrive; the moment after each of them out, and the one after the end; sync and async.

Rule: a piece is pulled when its moment is asked for; what the source raises ends the stream if the transport failed.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Generator, Iterable, Iterator
from contextlib import AsyncExitStack, ExitStack
from typing import TYPE_CHECKING, Any, TypedDict

from jsontide.adapters.transport import is_transport
from jsontide.recordings._moment import Moment, finish_moment, next_moment, start_moment
from jsontide.recordings._piece import Piece
from jsontide.recordings._recording import Recording

if TYPE_CHECKING:
    from typing import Unpack

    from jsontide.mend import Mending
    from jsontide.messages import Tool
    from jsontide.recordings._stage import Kind
    from jsontide.text.numbers import Floats


class FollowOptions(TypedDict, total=False):
    """The options of `start_moment`."""

    schema: object
    tools: Iterable[Tool[Any]] | None
    mend: Mending | None
    as_kind: Kind | None
    floats: Floats


def follow(pieces: Recording | Iterable[Piece | bytes], **options: Unpack[FollowOptions]) -> Iterator[Moment]:
    """Yield the moment after each piece, and the one after the end; takes the options of `start_moment`.

    Bare bytes get the time at which they are pulled.

    >>> [moment.value for moment in follow([b'{"city": "Kyo', b'to"}'])]
    [{'city': 'Kyo'}, {'city': 'Kyoto'}, {'city': 'Kyoto'}]
    """
    if isinstance(pieces, Recording):
        return _follow_recording(pieces, start_moment(**options))
    if isinstance(pieces, bytes | bytearray | str) or not isinstance(pieces, Iterable):
        wanted = "pieces must be a Recording or an iterable of Piece or bytes"
        message = f"{wanted}, not {type(pieces).__name__}; afollow takes asynchronous ones"
        raise TypeError(message)
    return _follow(pieces, start_moment(**options))


def _follow_recording(recording: Recording, moment: Moment) -> Iterator[Moment]:
    for piece in recording.pieces:
        moment = next_moment(moment, piece)
        yield moment
    yield finish_moment(moment, recording.end or "over", recording.error, at=recording.duration)


def _follow(pieces: Iterable[Piece | bytes], moment: Moment) -> Iterator[Moment]:
    began = time.monotonic()
    source = iter(pieces)
    with ExitStack() as at_end:
        if isinstance(source, Generator):
            at_end.callback(source.close)
        while moment.end is None:
            try:
                piece = next(source)
            except StopIteration:
                moment = finish_moment(moment)
            except Exception as error:  # noqa: BLE001 - it is raised again unless the transport failed
                moment = _lose(moment, error)
            else:
                moment = next_moment(moment, _timed(piece, began))
            yield moment


def afollow(pieces: AsyncIterable[Piece | bytes], **options: Unpack[FollowOptions]) -> AsyncIterator[Moment]:
    """Do as `follow` does, for pieces that come asynchronously."""
    if not isinstance(pieces, AsyncIterable):
        wanted = "pieces must be an asynchronous iterable of Piece or bytes"
        message = f"{wanted}, not {type(pieces).__name__}; follow takes plain ones"
        raise TypeError(message)
    return _afollow(pieces, start_moment(**options))


async def _afollow(pieces: AsyncIterable[Piece | bytes], moment: Moment) -> AsyncIterator[Moment]:
    began = time.monotonic()
    source = aiter(pieces)
    async with AsyncExitStack() as at_end:
        if isinstance(source, AsyncGenerator):
            at_end.push_async_callback(source.aclose)
        while moment.end is None:
            try:
                piece = await anext(source)
            except StopAsyncIteration:
                moment = finish_moment(moment)
            except Exception as error:  # noqa: BLE001 - it is raised again unless the transport failed
                moment = _lose(moment, error)
            else:
                moment = next_moment(moment, _timed(piece, began))
            yield moment


def _lose(moment: Moment, error: Exception) -> Moment:
    """Return the end of a stream whose source raised; raise that again if it is a bug."""
    if not is_transport(error):
        raise error
    return finish_moment(moment, "lost", str(error) or type(error).__name__)


def _timed(piece: Piece | bytes, began: float) -> Piece:
    return piece if isinstance(piece, Piece) else Piece(time.monotonic() - began, piece)
