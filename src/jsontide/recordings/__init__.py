"""Streams with their times: kept in a file, loaded, cut in other ways, and followed moment by moment."""

from typing import TYPE_CHECKING

from jsontide._public import lazily, publish
from jsontide.recordings._moment import FollowOptions, Moment, afollow, feed_moment, finish_moment, follow, start_moment
from jsontide.recordings._recording import Data, End, Piece, Recording, RecordingError, RecordingWriter, WireFormat
from jsontide.recordings._run_notes import RunNote
from jsontide.recordings._run_recorder import RunRecorder
from jsontide.recordings._stages import Kind
from jsontide.recordings._timeline import Lane, Statistics, Timeline, measure

if TYPE_CHECKING:
    from jsontide.recordings._proxy import RecordingProxy, Sink

__all__ = [
    "Data",
    "End",
    "FollowOptions",
    "Kind",
    "Lane",
    "Moment",
    "Piece",
    "Recording",
    "RecordingError",
    "RecordingProxy",
    "RecordingWriter",
    "RunNote",
    "RunRecorder",
    "Sink",
    "Statistics",
    "Timeline",
    "WireFormat",
    "afollow",
    "feed_moment",
    "finish_moment",
    "follow",
    "measure",
    "start_moment",
]

publish(__name__, __all__, globals())

# Python's HTTP server takes long to load, and few programs need it.
__getattr__ = lazily(__name__, "jsontide.recordings._proxy")
