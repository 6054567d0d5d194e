"""A recorded stream in, the same stream with other cuts out, and the messages that it gives.

Networks cut a response anywhere: a program that works for one cut should be tried with many.
Rule: a recording never changes, and every cut of it joins to the same bytes.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from itertools import accumulate, pairwise
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast

from jsontide._check import check_choice, check_count
from jsontide._values import JsonValue
from jsontide.adapters import NdjsonState, SseState, decode_ndjson, decode_sse, finish_ndjson, stream_message
from jsontide.recordings._file import (
    end_line,
    header_line,
    is_recording,
    piece_line,
    read_contents,
    write_event,
)
from jsontide.recordings._piece import ENDS, Data, End, Piece, RecordingError, check_time

if TYPE_CHECKING:
    from typing import Unpack

    from jsontide.adapters import ReadingChoices
    from jsontide.messages import Message

WireFormat: TypeAlias = Literal["sse", "ndjson"]
_BLANK: Final = b" \t\r\n\xef\xbb\xbf"  # white space, and a byte order mark
_LINE: Final = re.compile(rb"[^\n]*\n|[^\n]+")
_EVENT: Final = re.compile(rb".*?(?:\r\n\r\n|\n\n|\r\r)|.+", re.DOTALL)


@dataclass(frozen=True)
class Recording:
    """One response as it was received: its pieces, each with its time."""

    pieces: tuple[Piece, ...]
    _: KW_ONLY
    about: Mapping[str, JsonValue] = field(default_factory=dict)
    """The header of the file: where the stream came from."""
    end: End | None = None
    """How the stream ended: `over`, `lost` or `stopped`; `None` if that was not recorded."""
    error: str | None = None
    """Why it was lost, for people."""
    duration: float = -1.0
    """Seconds from the start to the end."""

    def __post_init__(self) -> None:
        pieces = tuple(self.pieces)
        _check_pieces(pieces)
        if self.end is not None:
            check_choice("end", self.end, ENDS)
        last = pieces[-1].at if pieces else 0.0
        duration = last if self.duration == -1.0 else self.duration
        check_time(duration)
        if duration < last:
            message = f"duration must not be less than the time of the last piece, {last}, but is {duration}"
            raise ValueError(message)
        object.__setattr__(self, "pieces", pieces)
        object.__setattr__(self, "about", dict(self.about))
        object.__setattr__(self, "duration", duration)

    @classmethod
    def of_events(cls, events: Iterable[Mapping[str, object]]) -> Recording:
        """Return the recording of events that came all at once."""
        return cls(tuple(Piece(0.0, event) for event in events), end="over")

    @classmethod
    def of_bytes(cls, data: bytes) -> Recording:
        """Return the recording of a response as it was received: one piece for each event or line."""
        form = _LINE if data.lstrip(_BLANK)[:1] in {b"{", b"["} else _EVENT
        return cls(tuple(Piece(0.0, found) for found in form.findall(data)), end="over")

    @classmethod
    def load(cls, path: str | Path) -> Recording:
        """Read a recording file, or a response as it was received: server-sent events, NDJSON, or JSON.

        Raises `RecordingError`, which names the line, for a recording that is wrong.
        One that breaks off in the middle of a line is read up to there: its end is `lost`, and `error` says why.
        """
        data = Path(path).read_bytes()
        try:
            return cls.loads(data)
        except RecordingError as error:
            message = f"{path}, {error}"
            raise RecordingError(message) from None

    @classmethod
    def loads(cls, data: bytes) -> Recording:
        """Do as `load` does, for what is in a file."""
        if not is_recording(data):
            return cls.of_bytes(data)
        read = read_contents(data)
        about = {name: value for name, value in read.about.items() if name not in {"jsontide", "version"}}
        return cls(tuple(read.pieces), about=about, end=read.end, error=read.error, duration=read.duration)

    def save(self, path: str | Path) -> None:
        """Write a recording file."""
        Path(path).write_bytes(self.dumps())

    def dumps(self) -> bytes:
        """Return what `save` writes."""
        last = [] if self.end is None else [end_line(self.duration, self.end, self.error)]
        return b"".join([header_line(self.about), *map(piece_line, self.pieces), *last])

    @property
    def events(self) -> tuple[object, ...]:
        """The events, as plain values; they are not modified."""
        if all(not isinstance(piece.data, bytes) for piece in self.pieces):
            return tuple(piece.data for piece in self.pieces)
        return tuple(_events_in(self.encode()))

    def encode(self, form: WireFormat | None = None) -> bytes:
        """Return the bytes of the response: as they were received, or its events written in a form.

        Decoded events were never bytes: without a form, they are written as server-sent events.
        """
        if form is not None:
            check_choice("form", form, ("sse", "ndjson"))
            return b"".join(_encode(cast("Data", event), form) for event in self.events)
        return b"".join(_encode(piece.data, "sse") for piece in self.pieces)

    def recut(self, sizes: int | Iterable[int] | None = None, *, seed: int | None = None) -> Recording:
        """Return the same bytes in other pieces: of these sizes, or cut at random by a seed.

        What remains after the last size is one piece, and a single size is that of all pieces.
        The times are interpolated between those of the pieces that were received.

        >>> recording = Recording((Piece(1.0, b"[1, "), Piece(2.0, b"22]")))
        >>> [(piece.at, piece.data) for piece in recording.recut(2).pieces]
        [(1.0, b'[1'), (1.0, b', '), (1.6666666666666665, b'22'), (2.0, b']')]
        """
        if (sizes is None) == (seed is None):
            message = "recut takes sizes or a seed"
            raise TypeError(message)
        received = [Piece(piece.at, _encode(piece.data, "sse")) for piece in self.pieces]
        data = b"".join([cast("bytes", piece.data) for piece in received])
        if sizes is None:
            places = _random_places(len(data), len(self.pieces), Random(seed))  # noqa: S311 - not secret
        else:
            places = _places(len(data), sizes)
        clock = _Clock(received)
        cuts = [Piece(clock.time_of(end), data[start:end]) for start, end in pairwise([0, *places, len(data)])]
        pieces = tuple(piece for piece in cuts if piece.data)
        return Recording(pieces, about=self.about, end=self.end, error=self.error, duration=self.duration)

    def cut(self, seed: int, form: WireFormat | None = None, *, pieces: int = 20) -> list[bytes]:
        """Return the bytes of the response, cut at random; the same seed gives the same cut."""
        check_count("pieces", pieces)
        data = self.encode(form)
        places = _random_places(len(data), pieces, Random(seed))  # noqa: S311 - not secret
        return [data[start:end] for start, end in pairwise([0, *places, len(data)])]

    def drop(self, seed: int, form: WireFormat | None = None) -> Iterator[bytes]:
        """Yield the response up to a random byte, then fail as a lost connection does."""
        chunks = self.cut(seed, form)
        data, random = b"".join(chunks), Random(seed)  # noqa: S311 - not secret
        left = random.randrange(len(data)) if data else 0
        for chunk in chunks:
            yield chunk[:left]
            left -= len(chunk)
            if left <= 0:
                break
        message = "the connection was dropped by the test"
        raise ConnectionResetError(message)

    def replay(self, seed: int, **options: Unpack[ReadingChoices]) -> list[Message]:
        """Return the messages of a random cut, the finished one last; takes the options of `stream_message`.

        >>> recording = Recording.of_events([{"message": {"content": "Hi"}, "done": True}])
        >>> recording.replay(seed=7)[-1].content
        'Hi'
        """
        return list(stream_message(self.cut(seed), **options))


def _check_pieces(pieces: tuple[object, ...]) -> None:
    before: Piece | None = None
    for piece in pieces:
        if not isinstance(piece, Piece):
            message = f"a recording is made of Piece, not {type(piece).__name__}; see Recording.of_events"
            raise TypeError(message)
        if before is not None and piece.at < before.at:
            message = f"the times of pieces must not go back, from {before.at} to {piece.at}"
            raise ValueError(message)
        if before is not None and isinstance(piece.data, bytes) is not isinstance(before.data, bytes):
            message = "a recording has bytes or events, not both"
            raise ValueError(message)
        before = piece


def _events_in(data: bytes) -> Iterator[object]:
    if data.lstrip(_BLANK)[:1] in {b"{", b"["}:
        state, lines = decode_ndjson(NdjsonState(), data)
        try:
            yield from [json.loads(line) for line in lines + finish_ndjson(state)]
        except (ValueError, RecursionError):  # one document over several lines, or none
            yield _load(data)
        return
    for event in decode_sse(SseState(), data + b"\n\n")[1]:
        if event.data.strip().startswith("{"):
            yield _load(event.data)


def _load(data: bytes | str) -> object:
    try:
        return cast("object", json.loads(data))
    except (ValueError, RecursionError) as error:
        message = f"the events cannot be read: {error}"
        raise RecordingError(message) from None


def _encode(data: Data, form: WireFormat) -> bytes:
    if isinstance(data, bytes):
        return data
    line = write_event(data)
    return (f"{line}\n" if form == "ndjson" else f"data: {line}\n\n").encode()


def _random_places(length: int, pieces: int, random: Random) -> list[int]:
    return sorted(random.randint(0, length) for _ in range(pieces - 1))


def _places(length: int, sizes: int | Iterable[int]) -> list[int]:
    """Return where to cut."""
    if isinstance(sizes, int):
        check_count("sizes", sizes)
        return list(range(sizes, length, sizes))
    given = list(sizes)
    for size in given:
        check_count("a size", size)
    return [place for place in accumulate(given) if place < length]


class _Clock:
    """When each byte of a recording came, if those of a piece came one by one since the piece before."""

    def __init__(self, pieces: list[Piece]) -> None:
        self._times: Final = [piece.at for piece in pieces]
        self._ends: Final = list(accumulate(len(cast("bytes", piece.data)) for piece in pieces))

    def time_of(self, end: int) -> float:
        """Return when the bytes up to a place were there; those of the first piece came together."""
        at = bisect_left(self._ends, end)
        if at == 0 or at == len(self._ends):
            return self._times[0] if self._times else 0.0
        start, stop = self._ends[at - 1], self._ends[at]
        before, after = self._times[at - 1], self._times[at]
        return after if end == stop else before + (after - before) * (end - start) / (stop - start)
