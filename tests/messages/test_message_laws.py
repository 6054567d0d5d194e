"""Laws 1 to 4 and 9 for messages: any stream of calls, cut anywhere, interleaved anyhow, broken off anywhere."""

import json
import pickle
from copy import deepcopy
from functools import reduce
from itertools import pairwise
from random import Random
from typing import Any

from hypothesis import given

from jsontide.messages import (
    CompletionChunk,
    MessageConfig,
    MessageState,
    Outcome,
    Tool,
    fail_message,
    finish_message,
    reduce_chunk,
    start_message,
    stop_message,
)
from tests import strategies
from tests.messages.telling import delta, end, entry, finished, trail
from tests.oracles import is_json
from tests.relations import flat, grows, same

Stream = tuple[list[CompletionChunk], list[Any]]
ENDS = (finish_message, stop_message, lambda state: fail_message(state, "reset"))


def spoken(stream: tuple[list[dict[str, Any]], list[Any]]) -> Stream:
    """One entry to a chunk."""
    return [delta(tool_calls=(entry(**said),)) for said in stream[0]], stream[1]


streams = strategies.call_streams.map(spoken)


@given(streams)
def test_law_1_any_cut_and_interleaving_ends_in_the_same_arguments(stream: Stream) -> None:
    chunks, wanted = stream
    found = [call.arguments_value for call in finished([*chunks, end()]).message.tool_calls if is_whole(call)]  # type: ignore[union-attr]
    assert same(found, wanted)


def is_whole(call: Any) -> bool:
    return call.status is Outcome.COMPLETE


@given(streams)
def test_law_2_arguments_only_grow(stream: Stream) -> None:
    for before, after in pairwise(trail(stream[0])):
        for old, new in zip(before.message.tool_calls, after.message.tool_calls, strict=False):
            assert grows(old.arguments_resolved, new.arguments_resolved)
            assert new.arguments.startswith(old.arguments)


@given(streams)
def test_law_3_an_untouched_call_and_an_untouched_value_are_the_same_objects(stream: Stream) -> None:
    for before, after in pairwise(trail(stream[0])):
        for old, new in zip(before.message.tool_calls, after.message.tool_calls, strict=False):
            assert (old is new) == (old.arguments == new.arguments)
            shown, now = old.arguments_resolved, new.arguments_resolved
            assert (shown is now) or not same(shown, now)


@given(streams, strategies.randoms)
def test_law_4_old_states_stay_as_they_were_branch_and_pickle(stream: Stream, random: Random) -> None:
    chunks = stream[0]
    states = trail(chunks)
    at = random.randrange(len(states))
    before = told(states[at])
    other = [delta(tool_calls=(entry("[", index=0),)), delta(content="x")]
    branch = reduce(reduce_chunk, other, states[at])
    assert told(reduce(reduce_chunk, chunks[at:], states[at])) == told(states[-1])
    assert told(states[at]) == before
    restored: MessageState = pickle.loads(pickle.dumps(states[at]))  # noqa: S301
    assert told(restored) == before
    assert told(reduce(reduce_chunk, chunks[at:], restored)) == told(states[-1])
    assert told(branch) == told(reduce(reduce_chunk, [*chunks[:at], *other], start_message()))


def test_law_4_a_restored_state_hears_nothing_new_in_an_entry_that_says_nothing() -> None:
    config = MessageConfig(tools=[Tool("pay")])
    calls = (entry("{}", index=0, name="pay"), entry("{", index=1))  # the second has no name yet
    state = reduce(reduce_chunk, [delta(tool_calls=calls), end()], start_message(config))
    nothing = delta(tool_calls=(entry("", index=1),))
    for same_state in (state, pickle.loads(pickle.dumps(state)), deepcopy(state)):  # noqa: S301
        assert reduce_chunk(same_state, nothing) is same_state
        first = finish_message(reduce_chunk(same_state, nothing)).message.tool_calls[0]
        assert first.status is Outcome.COMPLETE


def told(state: MessageState) -> list[object]:
    return [
        state.message.content,
        *((call.arguments, flat(call.arguments_resolved)) for call in state.message.tool_calls),
    ]


@given(streams, strategies.randoms)
def test_law_9_what_is_broken_off_anywhere_and_anyhow_cannot_be_run(stream: Stream, random: Random) -> None:
    chunks = stream[0]
    cut = chunks[: random.randint(0, len(chunks))]
    for conclude in ENDS:
        state = conclude(reduce(reduce_chunk, cut, start_message()))
        assert not any(hasattr(call, "arguments_value") for call in state.message.tool_calls)


@given(streams, strategies.randoms)
def test_law_9_at_a_limit_those_only_can_be_run_whose_text_is_whole(stream: Stream, random: Random) -> None:
    chunks = stream[0]
    cut = chunks[: random.randint(0, len(chunks))]
    for call in finished([*cut, end("length")]).message.tool_calls:
        if call.status is Outcome.COMPLETE:
            assert same(call.arguments_value, json.loads(call.arguments))
        else:
            assert call.status is Outcome.TRUNCATED
            # A number at the root may have had more digits, so it is never whole here.
            assert not is_json(call.arguments) or call.arguments.strip()[-1].isdigit()
