"""A file or standard input in; out the chunks of a JSON text, or a stream that has JSON inside.

A model's events, on lines or as server-sent events, are a stream; other JSON, one document or many, is a text.
Both may be recorded.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from jsontide.cli._sniff import has_events, has_message_lines, is_recording, peek
from jsontide.cli._terminal import read_source
from jsontide.recordings import Recording


@dataclass(frozen=True, slots=True)
class JsonText:
    """Chunks of a JSON text."""

    chunks: Iterator[bytes]


@dataclass(frozen=True, slots=True)
class Events:
    """A stream with JSON inside: a recording, or bytes as they arrive."""

    source: Recording | Iterable[bytes]


def read_input(file: str, *, beside_output: bool = False) -> JsonText | Events:
    """Open what a command was given, and look at how it begins; nothing of it is lost."""
    head, chunks = peek(read_source(file, beside_output=beside_output))
    if is_recording(head):
        return _read_recording(Recording.loads(b"".join(chunks)))
    return Events(_cut(chunks)) if _has_message(head) else JsonText(chunks)


def _cut(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Cut chunks after each line in them, so that a file gives what its stream gave."""
    for chunk in chunks:
        yield from chunk.splitlines(keepends=True)


def _has_message(head: bytes) -> bool:
    return has_events(head) or has_message_lines(head)


def _read_recording(recording: Recording) -> JsonText | Events:
    received = [piece.data for piece in recording.pieces if isinstance(piece.data, bytes)]
    if len(received) == len(recording.pieces) and not _has_message(b"".join(received)):
        return JsonText(iter(received))
    return Events(recording)
