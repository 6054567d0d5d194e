"""A recorded stream in, the same stream with other cuts out, and the messages that it gives.

Networks cut a response anywhere: a program that works for one cut should be tried with many.
Rule: a recording never changes, and every cut of it joins to the same bytes.

The file is NDJSON, one line for each piece:

    {"jsontide": "recording", "version": 1, "started": "2026-11-17T14:00:00Z", "source": "curl", "status": 200}
    {"at": 0.412, "text": "data: {...}\\n\\n"}    bytes that are whole UTF-8
    {"at": 0.5, "base64": "4pg="}               bytes that are not
    {"at": 0.6, "event": {...}}                 or an event that a client decoded
    {"at": 9.1, "end": "over"}                  "over", "lost" or "stopped", with "error" as text; may be absent

A run has several streams, and between them the lines that `_run_notes` describes; its version is 2.

A file that breaks off is read up to that line, and ends as `lost`; any other mistake is an error that names its line.
A time that goes back by less than a millisecond was rounded: it stands still instead.
A line is in the file when `RecordingWriter.write` returns, so a recorder that is killed loses nothing but the end.
A piece is checked where it is made, so that nothing behind it has to.
"""

from __future__ import annotations

import json
import re
import time
from base64 import b64decode, b64encode
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import UTC, datetime
from itertools import accumulate, groupby, pairwise
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final, Literal, NoReturn, Protocol, TypeAlias, cast, get_args
from urllib.parse import urlsplit, urlunsplit

from jsontide._check import check_choice, check_count, check_seconds, check_type
from jsontide._errors import JsontideError
from jsontide._private_file import open_private
from jsontide._sniff import BYTE_ORDER_MARK, is_recording, sniff
from jsontide._values import JsonValue, escape_surrogates
from jsontide.providers import feed_ndjson, feed_sse, finish_ndjson, start_ndjson, start_sse
from jsontide.recordings._run_notes import KINDS, RunNote
from jsontide.streams import stream_message

if TYPE_CHECKING:
    from typing import Unpack

    from jsontide.messages import Message
    from jsontide.streams import ReadingChoices

Data: TypeAlias = bytes | Mapping[str, object] | RunNote
"""Bytes as they were received, one decoded event, or what happened around the messages of a run."""
End: TypeAlias = Literal["over", "lost", "stopped"]
"""How a stream ended: by itself, because the connection failed, or because the reader stopped."""
ENDS: Final[tuple[End, ...]] = get_args(End)


class RecordingError(JsontideError, ValueError):
    """A recording cannot be read; the message names the line."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of a stream, as it was received."""

    at: float
    """Seconds since the start."""
    data: Data
    """Bytes, one decoded event, or a note of a run."""

    def __post_init__(self) -> None:
        check_seconds("at", self.at)
        if not isinstance(self.data, bytes | Mapping | RunNote):
            message = f"a piece must be bytes, an event as a dict, or a RunNote, not {type(self.data).__name__}"
            raise TypeError(message)


MARK: Final = "recording"
VERSION: Final = 1
RUN_VERSION: Final = 2
"""The version of recordings that may have lines of a run."""
_LINES: Final = {VERSION: ("text", "base64", "event", "end"), RUN_VERSION: ("text", "base64", "event", "end", *KINDS)}
"""What a line may have, by version."""
ROUNDING: Final = 0.001
"""Seconds by which a time may go back, because whoever wrote it has rounded it."""


class _FileReader:
    """Reads a recording file line by line; raises `RecordingError` with the number of a wrong line."""

    def __init__(self, data: bytes) -> None:
        self.about: dict[str, JsonValue] = {}
        self.pieces: list[Piece] = []
        self.end: End | None = None
        self.error: str | None = None
        self.duration = 0.0
        self.clamped = 0
        self._version = VERSION
        lines = data.removeprefix(BYTE_ORDER_MARK).split(b"\n")
        for self._number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                if self._number < len(lines):
                    self._fail(f"not JSON ({error})")
                self.end, self.error = "lost", f"the recording breaks off in line {self._number}"
                return
            self._read(value if isinstance(value, dict) else self._fail("not an object"))

    def _fail(self, why: str) -> NoReturn:
        message = f"line {self._number}: {why}"
        raise RecordingError(message)

    def _read(self, line: dict[str, JsonValue]) -> None:
        if not self.about:
            self._read_header(line)
            return
        if self.end is not None:
            self._fail("nothing follows the end")
        accepted = _LINES[self._version]
        kinds = [kind for kind in accepted if kind in line]
        if len(kinds) != 1:
            self._fail(f"a line must have one of {', '.join(accepted)}")
        at = self._read_time(line)
        if kinds == ["end"]:
            self._read_end(line)
        elif kinds[0] in KINDS:
            self.pieces.append(Piece(at, self._read_note(line)))
        else:
            self.pieces.append(Piece(at, self._read_data(kinds[0], line[kinds[0]])))
            if len(self.pieces) > 1 and _are_mixed(self.pieces[-2], self.pieces[-1]):
                self._fail("a stream has bytes or events, not both")
        self.duration = at

    def _read_note(self, line: dict[str, JsonValue]) -> RunNote:
        try:
            return RunNote({name: value for name, value in line.items() if name != "at"})
        except (TypeError, ValueError) as error:
            self._fail(str(error))

    def _read_header(self, line: dict[str, JsonValue]) -> None:
        if line.get("jsontide") != MARK:
            self._fail(f'not a recording: "jsontide" is {line.get("jsontide")!r:.40}, not "{MARK}"')
        version = line.get("version")
        if type(version) is not int or version not in _LINES:
            self._fail(f"version {version!r:.40} is not known, only {' and '.join(map(str, _LINES))}")
        self.about, self._version = line, version

    def _read_time(self, line: dict[str, JsonValue]) -> float:
        at = line.get("at")
        if not isinstance(at, int | float) or isinstance(at, bool) or not 0 <= at < float("inf"):
            self._fail(f'"at" must be seconds since the start, not {at!r:.40}')
        if at < self.duration:
            if self.duration - at >= ROUNDING:
                self._fail(f'"at" must not go back, from {self.duration} to {at}')
            self.clamped += 1
        return max(float(at), self.duration)

    def _read_data(self, kind: str, value: JsonValue) -> Data:
        if kind == "event":
            return value if isinstance(value, dict) else self._fail('"event" must be an object')
        if not isinstance(value, str):
            self._fail(f'"{kind}" must be a string')
        try:
            return value.encode() if kind == "text" else b64decode(value, validate=True)
        except ValueError:  # a lone surrogate has no UTF-8, or it is no base64
            self._fail(f'"{kind}" cannot be decoded')

    def _read_end(self, line: dict[str, JsonValue]) -> None:
        end, error = line["end"], line.get("error")
        if end not in ENDS:
            self._fail(f'"end" must be one of {", ".join(ENDS)}, not {end!r:.40}')
        if error is not None and not isinstance(error, str):
            self._fail('"error" must be a string')
        self.end, self.error = cast("End", end), error


def header_line(about: Mapping[str, object], *, has_run: bool = False) -> bytes:
    """Return the first line of a file; of a URL it keeps no user, query or fragment, which may be secret."""
    header = {"jsontide": MARK, "version": RUN_VERSION if has_run else VERSION, **about}
    if isinstance(header.get("url"), str):
        header["url"] = without_secrets(str(header["url"]))
    return write_line(header)


def without_secrets(url: str) -> str:
    """Return a URL without user, query and fragment; an address that is no URL is left out."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def piece_line(piece: Piece) -> bytes:
    at, data = round(piece.at, 6), piece.data
    if isinstance(data, RunNote):
        return write_line({"at": at, **data.value})
    if not isinstance(data, bytes):
        return write_line({"at": at, "event": data})
    try:
        return write_line({"at": at, "text": data.decode()})
    except UnicodeDecodeError:
        return write_line({"at": at, "base64": b64encode(data).decode()})


def end_line(at: float, end: End, error: str | None) -> bytes:
    line: dict[str, object] = {"at": round(at, 6), "end": end}
    return write_line(line if error is None else {**line, "error": error})


def write_line(line: Mapping[str, object]) -> bytes:
    return f"{write_event(line)}\n".encode()


def write_event(event: object) -> str:
    """Encode an event; a lone surrogate, which some providers send, stays an escape because it has no UTF-8."""
    return escape_surrogates(json.dumps(event, ensure_ascii=False, allow_nan=False))


_BROKE_OFF: Final = "the recording ended before the run did"
WireFormat: TypeAlias = Literal["sse", "ndjson"]
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
    clamped: int = 0
    """How many times went back by less than a millisecond in the file, and stand still here."""

    def __post_init__(self) -> None:
        pieces = tuple(self.pieces)
        _check_pieces(pieces)
        if self.end is not None:
            check_choice("end", self.end, ENDS)
        last = pieces[-1].at if pieces else 0.0
        duration = last if self.duration == -1.0 else self.duration
        check_seconds("duration", duration)
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
        form = _LINE if sniff(data) in {"object", "array"} else _EVENT
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
        """Read the bytes of a recording file, as `load` does."""
        if not is_recording(data):
            return cls.of_bytes(data)
        read = _FileReader(data)
        about = {name: value for name, value in read.about.items() if name not in {"jsontide", "version"}}
        return cls(
            tuple(read.pieces),
            about=about,
            end=read.end,
            error=read.error,
            duration=read.duration,
            clamped=read.clamped,
        )

    def save(self, path: str | Path) -> None:
        """Write a recording file; one that is not there yet can be read by you only."""
        with open_private(Path(path), "wb") as file:
            file.write(self.dumps())

    def dumps(self) -> bytes:
        """Return the bytes that `save` writes."""
        last = [] if self.end is None else [end_line(self.duration, self.end, self.error)]
        return b"".join([header_line(self.about, has_run=self.has_run), *map(piece_line, self.pieces), *last])

    @property
    def has_run(self) -> bool:
        """Whether it is that of a run, and not of one stream."""
        return any(isinstance(piece.data, RunNote) for piece in self.pieces)

    def ending(self, *, waits: bool = False) -> tuple[End, str | None]:
        """Return how the stream ended, and why, also where that was not recorded.

        A stream without an end is over. So is a run that `waits` for a person; any other was lost with its recorder.
        """
        if self.end is None and not waits and self.has_run:
            return "lost", _BROKE_OFF
        return self.end or "over", self.error

    @property
    def events(self) -> tuple[object, ...]:
        """The events, as plain values; they are not modified."""
        streams = [stream for is_note, stream in _parts_of(self.pieces) if not is_note]
        return tuple(event for stream in streams for event in _read_events(stream))

    def encode(self, form: WireFormat | None = None) -> bytes:
        """Return the bytes of the response: as they were received, or its events written in a form.

        Those of a run are the bytes of all its streams.
        Decoded events were never bytes: without a form, they are written as server-sent events.
        """
        if form is not None:
            check_choice("form", form, get_args(WireFormat))
            return b"".join(_encode(cast("Data", event), form) for event in self.events)
        return b"".join(_encode(piece.data, "sse") for piece in self.pieces)

    def recut(self, sizes: int | Iterable[int] | None = None, *, seed: int | None = None) -> Recording:
        """Return the same bytes in other pieces: of these sizes, or cut at random by a seed.

        The rest after the last size is one piece; a single size holds for all pieces.
        The streams of a run stay apart: each has the cuts that fall into it.
        The times are interpolated between the times of the received pieces.

        >>> recording = Recording((Piece(1.0, b"[1, "), Piece(2.0, b"22]")))
        >>> [(piece.at, piece.data) for piece in recording.recut(2).pieces]
        [(1.0, b'[1'), (1.0, b', '), (1.6666666666666665, b'22'), (2.0, b']')]
        """
        if (sizes is None) == (seed is None):
            message = "recut takes sizes or a seed"
            raise TypeError(message)
        length = len(self.encode())
        random = Random(seed)  # noqa: S311 - not secret
        places = _random_places(length, len(self.pieces), random) if sizes is None else _places(length, sizes)
        pieces: list[Piece] = []
        start = 0
        for is_note, part in _parts_of(self.pieces):
            if is_note:
                pieces += part
                continue
            end = start + sum(len(_encode(piece.data, "sse")) for piece in part)
            inside = places[bisect_right(places, start) : bisect_left(places, end)]
            pieces += _recut(part, [place - start for place in inside])
            start = end
        return replace(self, pieces=tuple(pieces))

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


def _parts_of(pieces: Iterable[Piece]) -> Iterator[tuple[bool, list[Piece]]]:
    """Yield the streams of a recording, and the notes between them, in order, and say which of both it is."""
    for is_note, part in groupby(pieces, lambda piece: isinstance(piece.data, RunNote)):
        yield is_note, [*part]


def _recut(stream: list[Piece], places: list[int]) -> list[Piece]:
    """Return the pieces of one stream, cut at other places."""
    received = [_encode(piece.data, "sse") for piece in stream]
    data, ends, times = b"".join(received), [*accumulate(map(len, received))], [piece.at for piece in stream]
    cuts = [Piece(_time_of(stop, ends, times), data[at:stop]) for at, stop in pairwise([0, *places, len(data)])]
    return [piece for piece in cuts if piece.data]


def _are_mixed(before: Piece, piece: Piece) -> bool:
    """Return whether two neighbours are bytes and an event: those of one stream are alike."""
    kinds = {isinstance(each.data, bytes) for each in (before, piece) if not isinstance(each.data, RunNote)}
    return len(kinds) > 1


def _check_pieces(pieces: tuple[object, ...]) -> None:
    before: Piece | None = None
    for piece in pieces:
        if not isinstance(piece, Piece):
            message = f"pieces must be of type Piece, not {type(piece).__name__}; see Recording.of_events"
            raise TypeError(message)
        if before is not None and piece.at < before.at:
            message = f"the times of pieces must not go back, from {before.at} to {piece.at}"
            raise ValueError(message)
        if before is not None and _are_mixed(before, piece):
            message = "a stream has bytes or events, not both"
            raise ValueError(message)
        before = piece


def _read_events(stream: list[Piece]) -> Iterable[object]:
    """Return the events of one stream."""
    if any(isinstance(piece.data, bytes) for piece in stream):
        return _events_in(b"".join(_encode(piece.data, "sse") for piece in stream))
    return [piece.data for piece in stream]


def _events_in(data: bytes) -> Iterator[object]:
    if sniff(data) in {"object", "array"}:
        state, lines = feed_ndjson(start_ndjson(), data)
        try:
            yield from [json.loads(line) for line in lines + finish_ndjson(state)]
        except (ValueError, RecursionError):  # one document over several lines, or none
            yield _load(data)
        return
    for event in feed_sse(start_sse(), data + b"\n\n")[1]:
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
    if isinstance(data, RunNote):
        return b""
    line = write_event(data)
    return (f"{line}\n" if form == "ndjson" else f"data: {line}\n\n").encode()


def _random_places(length: int, pieces: int, random: Random) -> list[int]:
    return sorted(random.randint(0, length) for _ in range(pieces - 1))


def _places(length: int, sizes: int | Iterable[int]) -> list[int]:
    if isinstance(sizes, int):
        check_count("sizes", sizes)
        return list(range(sizes, length, sizes))
    given = list(sizes)
    for size in given:
        check_count("a size", size)
    return [place for place in accumulate(given) if place < length]


def _time_of(end: int, ends: list[int], times: list[float]) -> float:
    """Return when the bytes up to a place were there, if those of a piece came one by one since the piece before.

    The bytes of the first piece came together.
    """
    at = bisect_left(ends, end)
    if at == 0 or at == len(ends):
        return times[0] if times else 0.0
    start, stop, before, after = ends[at - 1], ends[at], times[at - 1], times[at]
    return after if end == stop else before + (after - before) * (end - start) / (stop - start)


class BinaryFile(Protocol):
    """A file that a recording is written to."""

    def write(self, data: bytes, /) -> object:
        """Write all of the data."""

    def flush(self) -> object:
        """Pass on all data that was written."""


class RecordingWriter:
    """Writes a recording while it happens.

    `about` is the header of the file; of a URL in it, user, query and fragment are left out.
    The stream starts now, or at the time `began` of the clock: when the request was sent, for example.
    With `has_run` it may have notes of a run, as a `RunRecorder` writes them.

    >>> import io
    >>> file = io.BytesIO()
    >>> writer = RecordingWriter(file, {"started": "2026-11-17T14:00:00Z"}, clock=iter([5.0, 5.25, 6.0]).__next__)
    >>> writer.write(b'{"city": "Kyo')
    >>> writer.finish()
    >>> print(file.getvalue().decode(), end="")
    {"jsontide": "recording", "version": 1, "started": "2026-11-17T14:00:00Z"}
    {"at": 0.25, "text": "{\\"city\\": \\"Kyo"}
    {"at": 1.0, "end": "over"}
    """

    def __init__(
        self,
        file: BinaryFile,
        about: Mapping[str, object] | None = None,
        clock: Callable[[], float] = time.monotonic,
        *,
        began: float | None = None,
        has_run: bool = False,
    ) -> None:
        self._file = file
        self._clock = clock
        self._began = clock() if began is None else began
        self._last = 0.0
        self._is_over = False
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        self._has_run = has_run
        self._add(header_line({"started": now, **(about or {})}, has_run=has_run))

    def write(self, data: bytes) -> None:
        """Write a piece as it was received."""
        if not isinstance(data, bytes | bytearray | memoryview):
            message = f"a piece must be bytes, not {type(data).__name__}"
            raise TypeError(message)
        if data:
            self._add(piece_line(Piece(self._now(), bytes(data))))

    def write_event(self, event: Mapping[str, object]) -> None:
        """Write an event that a client decoded."""
        if not isinstance(event, Mapping):
            message = f"an event must be a dict, not {type(event).__name__}"
            raise TypeError(message)
        self._add(piece_line(Piece(self._now(), event)))

    def write_note(self, note: RunNote) -> None:
        """Write what happened around the messages of a run."""
        if not self._has_run:
            message = "the recording of one stream has no notes; pass has_run=True"
            raise ValueError(message)
        self._add(piece_line(Piece(self._now(), check_type("note", note, RunNote))))

    def finish(self, end: End = "over", error: str | None = None) -> None:
        """Write how the stream ended; nothing can be written after that."""
        check_choice("end", end, ENDS)
        self._add(end_line(self._now(), end, error))
        self._is_over = True

    def _now(self) -> float:
        """Return the seconds since the start; a clock that is set back stands still here."""
        self._last = max(self._last, self._clock() - self._began)
        return self._last

    def _add(self, line: bytes) -> None:
        if self._is_over:
            message = "the recording is finished"
            raise ValueError(message)
        self._file.write(line)
        self._file.flush()
