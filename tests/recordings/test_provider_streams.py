"""Every stream of a provider: however it is cut and kept, the same message, and moments that fold to it.

The oracle is `tests.provider_streams`, which knows what is in them without jsontide.
"""

import json
from random import Random
from typing import Any

import pytest

from jsontide.frontends import CompactValue, CompactWriter
from jsontide.recordings import Moment, Piece, Recording, follow, measure
from tests.provider_streams import NAMES, RECORDED, events, every_complete_stream, reading
from tests.recordings.folding import check_changes


def check_message(moment: Moment, name: str) -> None:
    """Check the last moment against what a person reads off the events."""
    found = reading(name)
    message = moment.message
    value: Any = moment.value
    if "an agent" in name:  # which may send more messages
        value = value["steps"][-1]["message"]
    assert moment.kind == ("run" if "an agent" in name else "message")
    assert message is not None
    assert message.content == found.text
    assert [(call.name, call.arguments_value) for call in message.tool_calls if hasattr(call, "arguments_value")] == [
        (call.name, call.value) for call in found.calls
    ]
    assert "".join([part["text"] for part in value["parts"] if part["type"] == "text"]) == found.text


@pytest.mark.untraced
class TestEveryStream:
    @every_complete_stream
    def test_every_cut_of_every_form_gives_the_same_message(self, name: str) -> None:
        recording = Recording.of_events(events(name))
        *_, of_events = follow(recording)
        check_message(of_events, name)
        for seed, form in enumerate(("sse", "ndjson")):
            data = recording.encode(form)  # type: ignore[arg-type]
            pieces = Recording.of_bytes(data).cut(seed, pieces=Random(name).choice([3, 20, 100]))
            *_, last = follow(pieces)
            assert last.value == of_events.value
            assert (last.outcome, last.index) == (of_events.outcome, len(data))

    @pytest.mark.parametrize("name", [*NAMES[::2], *RECORDED[::2]])
    def test_changes_fold_to_each_value_and_what_is_kept_is_the_same(self, name: str) -> None:
        found = events(name)
        step = max(1, len(found) // 8)
        pieces = [
            Piece(at / 8, Recording.of_events(found[at : at + step]).encode()) for at in range(0, len(found), step)
        ]
        recording = Recording(tuple(pieces), end="over").recut(seed=1)
        kept = Recording.loads(recording.dumps())
        assert kept.encode() == recording.encode()
        moments = check_changes(follow(kept))
        check_message(moments[-1], name)
        writer, shown = CompactWriter(), CompactValue()
        for moment in moments:
            writer, sent = writer.write(moment.changes)
            for event in sent:
                shown = shown.read(json.loads(json.dumps(event)))
        assert shown.value == moments[-1].value
        assert not shown.growing or moments[-1].outcome.value != "complete"

    @pytest.mark.parametrize("name", [*NAMES[1::4], *RECORDED[1::4]])
    def test_its_lanes_have_all_that_was_said(self, name: str) -> None:
        statistics = measure(Recording.of_events(events(name)))
        said = sum(lane.size for lane in statistics.lanes if "parts[" in lane.path and lane.path.endswith(".text"))
        assert said >= len(reading(name).text)
        assert statistics.characters == statistics.lanes[0].size
