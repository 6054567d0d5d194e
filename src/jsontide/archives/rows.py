"""A recording in, rows of tables out.

Rule: rows follow from the recording and the options alone, so whoever reads it, and however often, writes the same.

Paths in the tables are patterns: items share one (`days[*].title`), and what belongs to a call begins with its name
(`book_flight.from`), so that the same field of many recordings has one name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias, get_args

from jsontide._check import check_choice, check_count, check_seconds
from jsontide._errors import ParserError, Reason
from jsontide._path import path_text
from jsontide._pattern import parse_pattern
from jsontide._values import MISSING, JsonValue
from jsontide._version import __version__
from jsontide.events.patterns import path_matcher
from jsontide.frontends import write_json
from jsontide.frontends.changes import walk
from jsontide.messages import CompleteCall, ErrorKind, Outcome
from jsontide.recordings import (
    FollowOptions,
    Moment,
    Recording,
    RecordingError,
    Timeline,
    feed_moment,
    finish_moment,
    follow,
    start_moment,
)

if TYPE_CHECKING:
    from jsontide.mend import Mending
    from jsontide.messages import ErrorDetail, Message
    from jsontide.recordings import Lane

Table: TypeAlias = str
Row: TypeAlias = dict[str, JsonValue]
ROW_VERSION: Final = 1
"""Raised when a column changes its meaning."""

_TEXT, _INT, _REAL, _BOOL = "VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN"
COLUMNS: Final[dict[Table, dict[str, str]]] = {
    "recordings": {
        **dict.fromkeys(("recording", "sha256", "started", "source", "url"), _TEXT),
        "status": _INT,
        **dict.fromkeys(("provider", "model", "response_id", "kind", "outcome", "finish_reason"), _TEXT),
        **dict.fromkeys(("error", "error_kind", "broke_off_at", "end"), _TEXT),
        **dict.fromkeys(("bytes", "pieces", "clamped", "characters"), _INT),
        **dict.fromkeys(("duration", "arrived", "first", "last", "silence", "silence_from"), _REAL),
        "characters_per_second": _REAL,
        **dict.fromkeys(("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens"), _INT),
        "tokens_per_second": _REAL,
        **dict.fromkeys(("calls", "calls_complete", "repairs", "mismatches"), _INT),
        "value_sha256": _TEXT,
        "labels": "MAP(VARCHAR, VARCHAR)",
        "jsontide": _TEXT,
    },
    "paths": {
        "recording": _TEXT,
        "path": _TEXT,
        **dict.fromkeys(("opened", "first", "done"), _REAL),
        "size": _INT,
        "share": _REAL,
        "updates": _INT,
        "silence": _REAL,
        "is_complete": _BOOL,
    },
    "problems": {
        **dict.fromkeys(("recording", "kind", "name", "path", "message"), _TEXT),
        "lossy": _BOOL,
        **dict.fromkeys(("count", "line", "column"), _INT),
    },
    "calls": {
        "recording": _TEXT,
        "index": _INT,
        **dict.fromkeys(("name", "status", "reason"), _TEXT),
        "arguments_bytes": _INT,
        **dict.fromkeys(("first", "done"), _REAL),
        "repairs": _INT,
    },
    "values": dict.fromkeys(("recording", "path", "value"), _TEXT),
}
"""The tables, their columns, and the types of these in SQL."""


class Job(Protocol):
    """What is asked of each recording: options only, so that it can go to another process or machine."""

    @property
    def max_bytes(self) -> int:
        """How large a recording may be; a larger one is a row with an error."""

    @property
    def max_seconds(self) -> float:
        """How long reading one may take; one that takes longer is, too."""

    def fingerprint(self) -> str:
        """Return what the rows depend on, beside the recordings: an object in JSON."""

    def rows(self, name: str, data: bytes) -> Iterable[tuple[Table, Row]]:
        """Return the rows of a recording, each with the name of its table."""


JobName: TypeAlias = Literal["stats", "check", "mend", "get"]


@dataclass(frozen=True)
class RecordingJob:
    """What `jsontide batch` asks: its tables are `recordings`, `problems` and `calls`, and one or none of its own.

    `stats` adds when each path came, as `paths`, `get` the values that `pattern` matches, as `values`.
    All take a schema, of the answers or the documents, and `mend`.
    """

    name: JobName
    schema: object = None
    mend: Mending | None = None
    pattern: str = ""
    max_bytes: int = 256 << 20
    max_seconds: float = 300.0
    schema_name: str = field(default="", kw_only=True)
    """What the schema is called in `fingerprint`; by default, its own text or name."""

    def __post_init__(self) -> None:
        check_choice("name", self.name, get_args(JobName))
        check_count("max_bytes", self.max_bytes)
        check_seconds("max_seconds", self.max_seconds)
        if (self.name == "get") is not bool(self.pattern):
            message = "get takes a pattern, and nothing else does"
            raise TypeError(message)
        if self.pattern:
            parse_pattern(self.pattern)
        start_moment(**self._options())  # refuses a schema and mending that cannot be used

    def _options(self) -> FollowOptions:
        return {"schema": self.schema, "mend": self.mend}

    def fingerprint(self) -> str:
        """Return the options, the form of the rows, and the version of jsontide."""
        schema = self.schema_name or _describe_schema(self.schema)
        mend = "" if self.mend is None else _describe_mending(self.mend)
        asked = {"job": self.name, "schema": schema, "mend": mend, "pattern": self.pattern}
        limits: Row = {"max_bytes": self.max_bytes, "max_seconds": self.max_seconds}
        return write_json({**asked, **limits, "rows": ROW_VERSION, "jsontide": __version__})

    def rows(self, name: str, data: bytes) -> Iterator[tuple[Table, Row]]:
        """Yield the rows of a recording; one that cannot be read is a row with an error."""
        try:
            recording = Recording.loads(data)
        except RecordingError as error:
            yield unreadable(name, str(error), data)
            return
        timeline = Timeline() if self.name == "stats" else None
        moment = self._read(recording, timeline)
        summary = _Summary(name, moment, timeline)
        empty = dict.fromkeys(COLUMNS["recordings"])
        yield "recordings", {**empty, **summary.about(recording, data), **summary.row()}
        yield from (("problems", row) for row in summary.problems())
        yield from (("calls", row) for row in summary.calls())
        yield from (("paths", row) for row in summary.paths())
        if self.pattern:
            matches = path_matcher(parse_pattern(self.pattern))
            for path, value in walk(None if moment.value is MISSING else moment.value):
                if matches(path):
                    yield "values", {"recording": name, "path": path_text(path), "value": write_json(value)}

    def _read(self, recording: Recording, timeline: Timeline | None) -> Moment:
        """Return the last moment: piece by piece where times are asked for, or all bytes at once."""
        moment = start_moment(**self._options())
        if timeline is not None or not all(isinstance(piece.data, bytes) for piece in recording.pieces):
            for moment in follow(recording, **self._options()):
                if timeline is not None:
                    timeline.add(moment)
            return moment
        moment = feed_moment(moment, recording.encode()) if recording.pieces else moment
        return finish_moment(moment, recording.end or "over", recording.error, at=recording.duration)


def _describe_schema(schema: object) -> str:
    if isinstance(schema, Mapping):
        return _digest(write_json(dict(schema)))
    return "" if schema is None else f"{schema.__module__}.{getattr(schema, '__qualname__', repr(schema))}"


def _describe_mending(mend: Mending) -> str:
    kinds = [sorted(kind.value for kind in given) for given in (mend.kinds, mend.allowed_in_calls)]
    return _digest(repr((kinds, mend.values, mend.max_held, mend.max_repairs, mend.max_depth)))


def _digest(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()


def unreadable(name: str, reason: str, data: bytes | None = None) -> tuple[Table, Row]:
    """Return the row of a recording that cannot be read."""
    row: Row = dict.fromkeys(COLUMNS["recordings"])
    row |= {"recording": name, "error": clip(reason), "error_kind": "unreadable", "jsontide": __version__}
    if data is not None:
        row |= {"sha256": sha256(data).hexdigest(), "bytes": len(data)}
    return "recordings", row


_LONGEST: Final = 300
_ROUND: Final = 6  # digits of seconds, as recordings have them


def clip(text: str) -> str:
    """Return the beginning of a text, as much as a table needs; what no file can hold is replaced."""
    return text[:_LONGEST].encode(errors="replace").decode()


_ITEM: Final = re.compile(r"\[\d+\]")
_PART: Final = re.compile(r"(?:steps\[(\d+)\]\.message\.)?parts\[(\d+)\]\.(\w+)")
_RESULT: Final = re.compile(r"steps\[(\d+)\]\.results\[(\d+)\]")
_SAID: Final = ("started", "source", "url")
_TOKENS: Final = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")
_TIMES: Final = ("arrived", "first", "last", "silence", "silence_from")


def _pattern_of(path: str) -> str:
    """Write a path so that all items of an array share it."""
    return _ITEM.sub("[*]", path.removeprefix("root.") if path != "root" else path)


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, _ROUND)


def _plain(value: JsonValue) -> str:
    return value if isinstance(value, str) else write_json(value)


class _Summary:
    """The rows of a stream that has ended."""

    def __init__(self, name: str, moment: Moment, timeline: Timeline | None) -> None:
        self.name = name
        self.moment = moment
        self.timeline = timeline
        run, message = moment.run, moment.message
        self.messages = [message] if message is not None else []
        if run is not None:
            self.messages = [step.message for step in run.steps]
        self.usage = run.usage if run is not None else None if message is None else message.usage
        self.errors = [(message, error) for message in self.messages for error in message.errors]
        self.calls_made = [(message, call) for message in self.messages for call in message.tool_calls]

    def about(self, recording: Recording, data: bytes) -> Row:
        """Where the recording comes from, and how large it is."""
        said = recording.about
        labels = said.get("labels")
        labels = {clip(key): clip(_plain(labels[key])) for key in sorted(labels)} if isinstance(labels, dict) else {}
        status = said.get("status")
        return {
            "recording": self.name,
            "sha256": sha256(data).hexdigest(),
            **{key: clip(text) if isinstance(text := said.get(key), str) else None for key in _SAID},
            "status": status if isinstance(status, int) and not isinstance(status, bool) else None,
            "end": recording.end,
            "bytes": self.moment.index,
            "pieces": len(recording.pieces),
            "clamped": recording.clamped,
            "duration": round(recording.duration, _ROUND),
            "labels": labels,
        }

    def row(self) -> Row:
        moment, timeline = self.moment, self.timeline
        errors = [*self._errors()]
        row: Row = {
            "kind": moment.kind,
            "outcome": moment.outcome.value,
            "error": errors[0][1] if errors else None,
            "error_kind": errors[0][0] if errors else None,
            "broke_off_at": self._broke_off_at(),
            "calls": len(self.calls_made),
            "calls_complete": sum(isinstance(call, CompleteCall) for _, call in self.calls_made),
            "repairs": len(moment.repairs),
            "mismatches": sum(error.kind is ErrorKind.SCHEMA for _, error in self.errors) or self._mismatches(),
            "value_sha256": None if moment.value is MISSING else _digest(write_json(moment.value)),
            "jsontide": __version__,
        }
        for message in self.messages[-1:]:
            said = {"provider": message.provider, "model": message.model, "response_id": message.id}
            row |= {key: None if text is None else clip(text) for key, text in said.items()}
            row["finish_reason"] = message.finish_reason
        if self.usage is not None:
            row |= {name: getattr(self.usage, name) for name in _TOKENS}
        if timeline is not None:
            row |= {name: _rounded(getattr(timeline, name)) for name in _TIMES}
            row |= {"characters": timeline.size, "characters_per_second": _rounded(timeline.rate)}
            row["tokens_per_second"] = self._tokens_per_second(row)
        return row

    def _tokens_per_second(self, row: Row) -> float | None:
        tokens, first, last = row.get("output_tokens"), row["first"], row["last"]
        if not isinstance(tokens, int) or not isinstance(first, float) or not isinstance(last, float) or last <= first:
            return None
        return _rounded(tokens / (last - first))

    def _mismatches(self) -> int:
        resolution = self.moment.resolution
        return 0 if resolution is None else len(resolution.errors)

    def _errors(self) -> Iterator[tuple[str, str]]:
        """Yield the kind and the words of each error, those of the provider first."""
        for _, error in sorted(self.errors, key=lambda found: found[1].provider_error is None):
            reported = error.provider_error
            yield error.kind.value if reported is None else reported.kind.value, clip(error.message)
        failure = self.moment.error
        if isinstance(failure, ParserError) and not self.errors:
            yield "json", clip(failure.message)
        elif isinstance(failure, str) and not self.errors:
            yield "schema" if self._mismatches() else "transport", clip(failure)

    def _broke_off_at(self) -> str | None:
        """Return the path at which the stream broke off, if it did."""
        if self.moment.outcome is not Outcome.TRUNCATED:
            return None
        if isinstance(self.moment.error, ParserError):
            return _pattern_of(path_text(self.moment.error.path))
        for message, error in self.errors:
            if isinstance(error.cause, ParserError) and error.cause.reason is Reason.UNEXPECTED_END:
                return _place_of(message, error)
        parts = [part for message in self.messages for part in message.parts]
        return _name_part(parts[-1]) if parts else None

    def problems(self) -> Iterator[Row]:
        """Yield the errors and the repairs, those that are alike as one with their number."""
        found: dict[tuple[object, ...], Row] = {}
        for row in chain(self._problems_of_errors(), self._problems_of_repairs()):
            alike = (row["kind"], row["name"], row["path"], row["message"])
            if alike in found:
                found[alike]["count"] = int(str(found[alike]["count"])) + 1
            else:
                found[alike] = row
        yield from found.values()

    def _problems_of_errors(self) -> Iterator[Row]:
        for message, error in self.errors:
            cause = error.cause
            reason = getattr(getattr(cause, "reason", None), "value", None)
            name = reason if error.provider_error is None else error.provider_error.kind.value
            yield self._problem(error.kind.value, name, _place_of(message, error), error.message, cause)
        if self.errors:
            return
        resolution, failure = self.moment.resolution, self.moment.error
        for mismatch in () if resolution is None else resolution.errors:
            path = _pattern_of(path_text(mismatch.path))
            yield self._problem("schema", mismatch.reason.value, path, mismatch.message, mismatch)
        if isinstance(failure, ParserError):
            path = _pattern_of(path_text(failure.path))
            yield self._problem("json", failure.reason.value, path, failure.message, failure)
        elif failure is not None and not self._mismatches():
            yield self._problem("transport", None, "stream", failure, None)

    def _problems_of_repairs(self) -> Iterator[Row]:
        for repair in self.moment.repairs:
            yield {**self._problem("repair", repair.kind.value, None, "", None), "lossy": repair.lossy}

    def _problem(self, kind: str, name: str | None, path: str | None, message: str, cause: object) -> Row:
        row: Row = {"recording": self.name, "kind": kind, "name": name, "path": path, "message": clip(message)}
        place = {key: getattr(cause, key, None) for key in ("line", "column")}
        return {**row, "lossy": None, "count": 1, **place}

    def calls(self) -> Iterator[Row]:
        lanes = {} if self.timeline is None else {lane.path: lane for lane in self.timeline.lanes}
        for index, (message, call) in enumerate(self.calls_made):
            parts, around = message.parts, self._around(message)
            lane = lanes.get(f"{around}parts[{parts.index(call)}].arguments")
            mine = [error.message for error in message.errors if error.source == message.tool_calls.index(call)]
            yield {
                "recording": self.name,
                "index": index,
                "name": None if call.name is None else clip(call.name),
                "status": call.status.value,
                "reason": clip(mine[0]) if mine else None,
                "arguments_bytes": len(call.arguments.encode(errors="surrogatepass")),
                "first": None if lane is None else _rounded(lane.first),
                "done": None if lane is None else _rounded(lane.done),
                "repairs": len(call.repairs),
            }

    def paths(self) -> Iterator[Row]:
        """Yield a row for each path of the content; items share theirs."""
        if self.timeline is None:
            return
        lanes_of: dict[str, list[Lane]] = {}
        for lane in self.timeline.lanes if self.moment.run is not None else self.timeline.content_lanes:
            path = self._name_of(lane.path) if self.messages else _pattern_of(lane.path)
            if path is not None:
                lanes_of.setdefault(path, []).append(lane)
        for path, lanes in lanes_of.items():
            size = sum(lane.size for lane in lanes)
            first = [lane.first for lane in lanes if lane.first is not None]
            done = [lane.done for lane in lanes if lane.done is not None]
            yield {
                "recording": self.name,
                "path": clip(path),
                "opened": _rounded(min(lane.opened for lane in lanes)),
                "first": _rounded(min(first, default=None)),
                "done": _rounded(max(done, default=None)),
                "size": size,
                "share": round(size / (self.timeline.size or 1), 4),
                "updates": sum(lane.updates for lane in lanes),
                "silence": _rounded(max(lane.silence for lane in lanes)),
                "is_complete": len(done) == len(lanes),
            }

    def _around(self, message: Message) -> str:
        return f"steps[{self.messages.index(message)}].message." if self.moment.run is not None else ""

    def _name_of(self, path: str) -> str | None:
        """Return the path with the name of its call or the kind of its part in front, `None` if it has no content."""
        if found := _RESULT.fullmatch(path):
            calls = self.messages[int(found[1])].tool_calls
            return f"{_name_part(calls[int(found[2])])}.result" if int(found[2]) < len(calls) else None
        found = _PART.match(path)
        if found is None:
            return _pattern_of(path) if path == "root" or path.startswith("answer") else None
        parts = self.messages[int(found[1] or 0)].parts
        inside = path[found.end() :]
        field = "" if found[3] in {"arguments", "text"} else f".{found[3]}"
        name = _name_part(parts[int(found[2])]) if int(found[2]) < len(parts) else "parts[*]"
        return _pattern_of(f"{name}{field}{inside}")


def _place_of(message: Message, error: ErrorDetail) -> str:
    if isinstance(error.source, int):
        around = message.tool_calls[error.source].name or "call"
    else:
        around = "answer" if error.source == "content" else ""
    return _pattern_of(f"{around}{path_text(error.path).removeprefix('root')}") or "stream"


def _name_part(part: object) -> str:
    """Return the name of a call, or the kind of another part."""
    kind = type(part).__name__.removesuffix("Part").removesuffix("Call").lower()
    return getattr(part, "name", None) or kind
