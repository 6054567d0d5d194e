"""Law 9 over damaged recordings: a call that can be run is the call that was sent."""

from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

import pytest

from jsontide.adapters import stream_message
from jsontide.messages import Message, Outcome
from jsontide.messages.record import replace
from tests.provider_streams import NAMES, Event, events, needs_recordings, reading
from tests.relations import same

pytestmark = [needs_recordings, pytest.mark.untraced]

INDICES = ("index", "output_index", "content_index", "summary_index", "contentBlockIndex")
IDS = ("id", "item_id", "call_id", "toolUseId")
known = cache(reading)
WITH_CALLS = [name for name in NAMES if known(name).calls]


def last(told: list[Event]) -> Message:
    *_, message = stream_message(told)
    return message


def changed(part: Any, keys: tuple[str, ...], change: Callable[[Event, str], None]) -> Any:
    """A copy of an event in which the fields of some names are changed, however deep they are."""
    if isinstance(part, list):
        return [changed(item, keys, change) for item in part]
    if not isinstance(part, dict):
        return part
    copy = {key: changed(value, keys, change) for key, value in part.items()}
    for key in keys:
        if key in copy:
            change(copy, key)
    return copy


def as_meant(message: Message, name: str) -> bool:
    """Tell whether every call that can be run is one of those that a person reads off the recording."""
    meant = [(call.name, call.value) for call in known(name).calls]
    return all(
        any(call.name == other and same(call.arguments_value, value) for other, value in meant)
        for call in message.tool_calls
        if call.status is Outcome.COMPLETE
    )


@pytest.mark.parametrize("name", WITH_CALLS)
class TestRecordingsWithCalls:
    @pytest.mark.parametrize("written", [float, str])
    def test_say_the_same_with_indices_in_another_form(self, name: str, written: Callable[[int], object]) -> None:
        def write(part: Event, key: str) -> None:
            part[key] = written(part[key]) if type(part[key]) is int else part[key]

        message, expected = last(changed(events(name), INDICES, write)), last(events(name))
        # What no field holds is kept as it came, also if it is called an index.
        assert message == replace(expected, metadata=changed(expected.metadata, INDICES, write))

    @pytest.mark.parametrize("lost", [INDICES, IDS, (*INDICES, *IDS), (*INDICES, "name"), (*INDICES, *IDS, "name")])
    def test_without_some_of_what_tells_calls_apart(self, name: str, lost: tuple[str, ...]) -> None:
        for seed in range(12):
            random = Random(seed)
            share = random.choice((0.05, 0.3, 1))

            def lose(part: Event, key: str, random: Random = random, share: float = share) -> None:
                if random.random() < share:
                    del part[key]

            assert as_meant(last(changed(events(name), lost, lose)), name)

    def test_with_names_in_two_parts(self, name: str) -> None:
        if name.startswith("google/"):
            pytest.skip("Gemini begins a call with every name")
        meant = {call.name for call in known(name).calls}

        def half(which: slice) -> Callable[[Event, str], None]:
            def cut(part: Event, key: str) -> None:
                part[key] = part[key][which] if part[key] in meant else part[key]

            return cut

        told: list[Event] = []
        for event in events(name):
            parts = [changed(event, ("name",), half(which)) for which in (slice(3), slice(3, None))]
            told += [event] if parts[0] == event else parts
        message = last(told)
        assert not any(call.status is Outcome.COMPLETE for call in message.tool_calls)

    @pytest.mark.parametrize("error", [{}, {"message": "Sorry"}, "Sorry"])
    def test_with_an_error_at_the_end(self, name: str, error: object) -> None:
        message = last([*events(name), {"error": error}])
        assert message.outcome is Outcome.TRUNCATED
        assert not any(call.status is Outcome.COMPLETE for call in message.tool_calls)
