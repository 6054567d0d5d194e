"""A moment and a piece in, the next moment out: what a stream shows after each of its pieces.

Rule: moments are values. They share their common parts, so that keeping all of them is cheap, and their values are
made when they are read.

`follow` and `afollow` pull a piece when its moment is asked for; a failed transport ends the stream, and any other
exception of the source is raised.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from jsontide._check import check_choice, check_seconds, check_type
from jsontide._errors import ParserError
from jsontide._values import JsonValue, Missing
from jsontide.frontends import Change
from jsontide.messages import MessageConfig, Outcome
from jsontide.recordings._recording import ENDS, End, Piece, Recording
from jsontide.recordings._run_notes import RunNote
from jsontide.recordings._stages import KINDS, Kind, StageOptions, StreamStage, start_stage
from jsontide.streams.sources import AsyncPuller, Puller, check_async, check_plain
from jsontide.streams.transport import is_transport
from jsontide.text.numbers import FLOATS

if TYPE_CHECKING:
    from typing import Unpack

    from jsontide.mend import Mending, Repair
    from jsontide.messages import Message, Tool
    from jsontide.runs import Run, RunOutcome
    from jsontide.schema import Resolution
    from jsontide.text.numbers import Floats
    from jsontide.tree import ParserState


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Moment:
    """What a stream shows after some of its pieces; made by `start_moment`, `feed_moment` and `finish_moment`.

    Its values are plain Python containers that other moments share: do not modify them.
    """

    _stage: StreamStage
    _before: StreamStage
    number: int
    """How many pieces there were, 0 before the first."""
    at: float
    """When the last piece came, in seconds since the start."""
    index: int
    """How many bytes there were; an event counts as its JSON."""
    end: End | None
    """How the stream ended, `None` before the end."""

    @property
    def kind(self) -> Kind:
        """The kind of stream so far; it can become more special."""
        return self._stage.kind

    @property
    def value(self) -> JsonValue | Missing:
        """The stream as one JSON value that grows, `MISSING` before there is one.

        A document; a message or a run, as `message_changes` and `run_changes` of `jsontide.frontends` describe them;
        a list of documents; or a text. If a stream has several runs, the first one has the `others` as a member.
        """
        return self._stage.value

    @property
    def changes(self) -> tuple[Change, ...]:
        """What changed in `value` since the moment before; made anew each time it is asked for."""
        return tuple(self._stage.changes_since(self._before))

    def changes_since(self, earlier: Moment) -> tuple[Change, ...]:
        """Return what changed in `value` since an earlier moment of the same stream."""
        return tuple(self._stage.changes_since(earlier._stage))

    @property
    def state(self) -> ParserState | None:
        """The state of the parser: of the document, or of the last one of several."""
        return self._stage.state

    @property
    def message(self) -> Message | None:
        """The assistant's message, if the stream is one of a provider; of a run, the last one."""
        return self._stage.message

    @property
    def run(self) -> Run[Any] | None:
        """The run, or the first of several, if the stream holds several messages or is the recording of a run."""
        return next(iter(self._stage.runs), None)

    @property
    def waits(self) -> bool:
        """Whether a run waits for a person."""
        return any(run.waiting for run in self.runs)

    @property
    def runs(self) -> tuple[Run[Any], ...]:
        """All runs of the stream."""
        return self._stage.runs

    @property
    def waited(self) -> float:
        """How many seconds the provider took to begin the message of a run that begins here; 0 for any other moment."""
        return self._stage.waited

    @property
    def resolution(self) -> Resolution[object] | None:
        """The document as its schema shows it, if there is a schema."""
        return self._stage.resolution

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """The repairs so far, if bad JSON is mended."""
        return self._stage.repairs

    @property
    def error(self) -> ParserError | str | None:
        """The error: one in JSON has a place, any other is a text."""
        return self._stage.error

    @property
    def is_complete(self) -> bool:
        """Whether all of the value is there, and nothing is wrong with it."""
        return self._stage.is_complete

    @property
    def outcome(self) -> Outcome | RunOutcome:
        """How the stream ended, as an outcome; `STREAMING` before its end. That of a run is a `RunOutcome`."""
        return self._stage.outcome

    def __repr__(self) -> str:
        return f"<Moment {self.number}, {self.kind}, {self.outcome.value}>"


def start_moment(
    *,
    schema: object = None,
    tools: Iterable[Tool[Any]] | None = None,
    mend: Mending | None = None,
    as_kind: Kind | None = None,
    floats: Floats = "float",
) -> Moment:
    """Return the moment before the first piece of a stream.

    `schema` is the schema of the document, or of the answer in the message; `tools` are those that were offered.
    `mend` names the repairs of bad JSON.
    The kind of the stream is detected, unless `as_kind` names it: `json`, `message`, `run`, `documents` or
    `text`.
    `floats` is the type of the numbers of a JSON document, as for the parser.
    """
    if as_kind is not None:
        check_choice("as_kind", as_kind, KINDS)
    check_choice("floats", floats, FLOATS)
    config = MessageConfig(response_schema=schema, tools=() if tools is None else tools, mend=mend)
    stage = start_stage(StageOptions(config, as_kind, floats))
    return Moment(stage, stage, 0, 0.0, 0, None)


def feed_moment(moment: Moment, piece: Piece | bytes) -> Moment:
    """Return the moment after one more piece; the given one does not change. Bare bytes come at the same time.

    >>> first = feed_moment(start_moment(), Piece(0.5, b'{"city": "Kyo'))
    >>> second = feed_moment(first, Piece(0.7, b'to"}'))
    >>> first.value, second.value, second.changes
    ({'city': 'Kyo'}, {'city': 'Kyoto'}, (AppendText(('city',), 'to'), Finish(('city',), 2)))
    """
    _check_open(moment)
    if not isinstance(piece, Piece):
        piece = Piece(moment.at, piece)
    before, data = moment._stage, piece.data
    if isinstance(data, bytes):
        stage, size = before.feed(data), len(data)
    elif isinstance(data, RunNote):
        stage, size = before.feed_note(data), _size_of(data.value)
    else:
        stage, size = before.feed_event(data), _size_of(data)
    return Moment(stage, before, moment.number + 1, piece.at, moment.index + size, None)


def _size_of(data: object) -> int:
    """Return how many bytes an event, or a note of a run, has as JSON."""
    return len(json.dumps(data, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass"))


def finish_moment(moment: Moment, end: End = "over", error: str | None = None, *, at: float | None = None) -> Moment:
    """Return the moment after the end of the stream: by itself, or because it was lost or stopped.

    >>> finish_moment(feed_moment(start_moment(), b"[1, 2")).outcome
    <Outcome.TRUNCATED: 'truncated'>
    """
    _check_open(moment)
    check_choice("end", end, ENDS)
    if at is not None:
        check_seconds("at", at)
    before = moment._stage
    stage = before.finish(end, error)
    return Moment(stage, before, moment.number, moment.at if at is None else at, moment.index, end)


def _check_open(moment: object) -> None:
    if check_type("moment", moment, Moment, "a Moment").end is not None:
        message = "the stream has ended"
        raise ValueError(message)


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
    check_plain(pieces, "pieces must be a Recording or an iterable of Piece or bytes", "afollow")
    return _follow(pieces, start_moment(**options))


def _follow_recording(recording: Recording, moment: Moment) -> Iterator[Moment]:
    for piece in recording.pieces:
        moment = feed_moment(moment, piece)
        yield moment
    yield finish_moment(moment, *recording.ending(waits=moment.waits), at=recording.duration)


def _follow(pieces: Iterable[Piece | bytes], moment: Moment) -> Iterator[Moment]:
    began = time.monotonic()
    with Puller(pieces) as source:
        while moment.end is None:
            try:
                piece = next(source)
            except StopIteration:
                moment = finish_moment(moment)
            except Exception as error:  # noqa: BLE001 - it is raised again unless the transport failed
                moment = _lose(moment, error)
            else:
                moment = feed_moment(moment, _timed(piece, began))
            yield moment


def afollow(pieces: AsyncIterable[Piece | bytes], **options: Unpack[FollowOptions]) -> AsyncIterator[Moment]:
    """The asynchronous `follow`."""
    check_async(pieces, "pieces must be an asynchronous iterable of Piece or bytes", "follow")
    return _afollow(pieces, start_moment(**options))


async def _afollow(pieces: AsyncIterable[Piece | bytes], moment: Moment) -> AsyncIterator[Moment]:
    began = time.monotonic()
    async with AsyncPuller(pieces) as source:
        while moment.end is None:
            try:
                piece = await anext(source)
            except StopAsyncIteration:
                moment = finish_moment(moment)
            except Exception as error:  # noqa: BLE001 - it is raised again unless the transport failed
                moment = _lose(moment, error)
            else:
                moment = feed_moment(moment, _timed(piece, began))
            yield moment


def _lose(moment: Moment, error: Exception) -> Moment:
    """Return the end of a stream whose source raised; raise that again if it is a bug."""
    if not is_transport(error):
        raise error
    return finish_moment(moment, "lost", str(error) or type(error).__name__)


def _timed(piece: Piece | bytes, began: float) -> Piece:
    return piece if isinstance(piece, Piece) else Piece(time.monotonic() - began, piece)
