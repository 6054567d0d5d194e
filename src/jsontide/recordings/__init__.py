"""Streams with their times: kept in a file, loaded, cut in other ways, and followed moment by moment."""

from typing import TYPE_CHECKING

from jsontide._public import lazily, publish
from jsontide.recordings._follow import FollowOptions, afollow, follow
from jsontide.recordings._lanes import Lane
from jsontide.recordings._moment import Moment, finish_moment, next_moment, start_moment
from jsontide.recordings._piece import Data, End, Piece, RecordingError
from jsontide.recordings._recording import Recording, WireFormat
from jsontide.recordings._stage import Kind
from jsontide.recordings._timeline import Statistics, Timeline, measure
from jsontide.recordings._writer import RecordingWriter

if TYPE_CHECKING:
    from jsontide.recordings._forward import Sink
    from jsontide.recordings._proxy import RecordingProxy

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
    "Sink",
    "Statistics",
    "Timeline",
    "WireFormat",
    "afollow",
    "finish_moment",
    "follow",
    "measure",
    "next_moment",
    "start_moment",
]

publish(__name__, __all__, globals())

# Python's HTTP server takes long to load, and few programs need it.
__getattr__ = lazily(__name__, {"RecordingProxy": "jsontide.recordings._proxy", "Sink": "jsontide.recordings._forward"})
