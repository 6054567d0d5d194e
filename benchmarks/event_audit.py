"""What a side really tells: before the speed of its events counts, they are compared with the text.

In: how a side tells events, and the moments of the audit of values. Out: what it tells, and what it tells apart.
Rule: the model is that of the audit of values.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.audit import Moment, last_leaf
from benchmarks.works import Sort, Telling, Told

ELEMENTS = "[1, 2]"
DOTTED = '{"a.b": 1, "a": {"b": 2}}'


@dataclass(frozen=True)
class Hearing:
    """What was heard of some documents; `growing_told` counts chunks after which an open string was told so far."""

    chunks: int
    events: int
    growing: int
    growing_told: int
    are_values_right: bool
    tells_end: bool
    tells_elements_apart: bool
    tells_dots_apart: bool

    @property
    def strings(self) -> float:
        return self.growing_told / self.growing if self.growing else 1.0


def heard(telling: Telling[Any], chunks: Sequence[str]) -> list[list[Told]]:
    """The events of each chunk."""
    feed = telling.start_looking()
    return [[telling.told(event) for event in feed(chunk)] for chunk in chunks]


def hearing(telling: Telling[Any], streams: Sequence[Sequence[Moment]]) -> Hearing:
    found = [(stream, heard(telling, [moment.chunk for moment in stream])) for stream in streams]
    return Hearing(
        chunks=sum(len(stream) for stream in streams),
        events=sum(len(events) for _, told in found for events in told),
        growing=sum(moment.growing for stream in streams for moment in stream),
        growing_told=sum(growing_told(stream, told) for stream, told in found),
        are_values_right=all(has_all_values(stream, told) for stream, told in found),
        tells_end=all(Sort.END in [event.sort for event in told[-1]] for _, told in found),
        tells_elements_apart=tells_apart(telling, ELEMENTS),
        tells_dots_apart=tells_apart(telling, DOTTED),
    )


def growing_told(stream: Sequence[Moment], told: Sequence[Sequence[Told]]) -> int:
    found, text = 0, ""
    for moment, events in zip(stream, told, strict=True):
        for event in events:
            text = f"{text}{event.value}" if event.sort is Sort.PIECE else ""
        found += moment.growing and text == last_leaf(moment.value)
    return found


def whole_values(told: Sequence[Sequence[Told]]) -> list[Told]:
    return [event for events in told for event in events if event.sort is Sort.VALUE]


def has_all_values(stream: Sequence[Moment], told: Sequence[Sequence[Told]]) -> bool:
    """Whether all values were told in the order of the text; `==` would take 1.0 for 1."""
    values = [event.value for event in whole_values(told)]
    return json.dumps(values) == json.dumps(list(leaves(stream[-1].value)))


def leaves(value: object) -> Iterator[object]:
    if not isinstance(value, dict | list):
        yield value
        return
    for inner in value.values() if isinstance(value, dict) else value:
        yield from leaves(inner)


def tells_apart(telling: Telling[Any], text: str) -> bool:
    """Whether each value of a text has a path of its own."""
    paths = [event.path for event in whole_values(heard(telling, [text]))]
    return len(paths) == len(set(paths))
