"""Streams of server-sent events with one thing wrong, for tests of checkers."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any

Frames = list[Any]
"""The values of events; text stands for itself."""


def frames_of(stream: bytes) -> Frames:
    """The events of a stream."""
    found = [frame.removeprefix("data: ") for frame in stream.decode().split("\n\n")[:-1]]
    return [frame if frame == "[DONE]" else json.loads(frame) for frame in found]


def write(frames: Frames) -> bytes:
    lines = [frame if isinstance(frame, str) else json.dumps(frame) for frame in frames]
    return "".join(f"data: {line}\n\n" for line in lines).encode()


def without_each(frames: Frames) -> Iterator[tuple[Any, Frames]]:
    """Each event, and the stream without it."""
    for at, frame in enumerate(frames):
        yield frame, frames[:at] + frames[at + 1 :]


def with_each_twice(frames: Frames) -> Iterator[tuple[Any, Frames]]:
    for at, frame in enumerate(frames):
        yield frame, frames[: at + 1] + frames[at:]


def with_each_field_missing_or_null(frames: Frames) -> Iterator[tuple[str, Frames]]:
    """Each field of each event, and the stream in which it is missing, and null."""
    for at, frame in enumerate(frames):
        for name in frame if isinstance(frame, dict) else ():
            rest = {key: value for key, value in frame.items() if key != name}
            yield f"{frame['type']}.{name}", [*frames[:at], rest, *frames[at + 1 :]]
            yield f"{frame['type']}.{name}=null", [*frames[:at], {**frame, name: None}, *frames[at + 1 :]]


def mishap(frames: Frames, random: Random) -> Frames:
    """A stream with an event dropped, doubled, moved, or cut off after."""
    at, other = random.randrange(len(frames)), random.randrange(len(frames))
    rest = frames[:at] + frames[at + 1 :]
    match random.choice(["drop", "double", "move", "stop"]):
        case "drop":
            return rest
        case "double":
            return frames[: at + 1] + frames[at:]
        case "move":
            return [*rest[:other], frames[at], *rest[other:]]
        case _:
            return frames[:at]
