"""Streams of all providers by name, and what is in them: those written here, and recordings beside the repository.

In: the name of a stream. Out: its events, and what a person would read off them.
Rule: nothing here comes from `jsontide`. A stream of `tests.generated_streams` holds what its description says; what a
recording holds is read by `tests.recorded_streams`.
"""

from copy import deepcopy

import pytest

from tests import recorded_streams
from tests.generated_streams import STREAMS, said
from tests.generated_streams.said import Event
from tests.recorded_streams import Call, Reading
from tests.shared_data import in_data

__all__ = [
    "ALL",
    "ENCODED",
    "NAMES",
    "RECORDED",
    "Event",
    "Reading",
    "end_of",
    "events",
    "every_complete_stream",
    "every_encoded_stream",
    "every_stream",
    "reading",
]

ALL = [*STREAMS]
NAMES = [name for name, stream in STREAMS.items() if stream.said.outcome == "complete"]
"""Those that end as they should."""
TOLD_OTHERWISE = {"openai_chat/perplexity"}
"""Streams of which a front end that follows has less than one that joins late: a title that comes after its source was
told, which no protocol but our own can add."""
ENCODED = [name for name in NAMES if name not in TOLD_OTHERWISE]
RECORDED = [pytest.param(name, marks=in_data("provider-streams")) for name in recorded_streams.NAMES or ["recordings"]]
every_stream = pytest.mark.parametrize("name", [*ALL, *RECORDED])
every_complete_stream = pytest.mark.parametrize("name", [*NAMES, *RECORDED])
every_encoded_stream = pytest.mark.parametrize("name", [*ENCODED, *RECORDED])


def events(name: str) -> list[Event]:
    return deepcopy(STREAMS[name].events) if name in STREAMS else recorded_streams.events(name)


def reading(name: str) -> Reading:
    if name not in STREAMS:
        return recorded_streams.reading(name)
    told = STREAMS[name].said
    return Reading(
        text="".join(part.text for part in told.parts if isinstance(part, said.Text)),
        reasoning="".join(part.text for part in told.parts if isinstance(part, said.Thought)),
        calls=[Call(call.id, str(call.name), call.value) for call in told.calls if call.status == "complete"],
        reason=told.finish_reason,
        has_items=any(isinstance(part, said.ServerTool | said.File | said.Other) for part in told.parts),
    )


def end_of(name: str) -> int:
    """The place of the first event that says how the message ends."""
    if name in STREAMS:
        return STREAMS[name].end
    return next(at for at, event in enumerate(events(name)) if recorded_streams.is_end(event))
