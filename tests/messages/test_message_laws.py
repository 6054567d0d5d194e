"""Laws 1 to 4 and 9 for messages: any stream of calls, cut anywhere, interleaved in any way, ended anywhere."""

import json
import pickle
from copy import deepcopy
from functools import reduce
from itertools import pairwise
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from jsontide import ParserError
from jsontide.messages import (
    CompletionChunk,
    ErrorDetail,
    ErrorKind,
    MessageConfig,
    MessageState,
    Outcome,
    Tool,
    fail_message,
    feed_message,
    finish_message,
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
            assert grows(old.partial, new.partial)
            assert new.arguments.startswith(old.arguments)


@given(streams)
def test_law_3_an_untouched_call_and_an_untouched_value_are_the_same_objects(stream: Stream) -> None:
    for before, after in pairwise(trail(stream[0])):
        for old, new in zip(before.message.tool_calls, after.message.tool_calls, strict=False):
            assert (old is new) == (old.arguments == new.arguments)
            shown, now = old.partial, new.partial
            assert (shown is now) or not same(shown, now)


@given(streams, strategies.randoms)
def test_law_4_old_states_stay_as_they_were_branch_and_pickle(stream: Stream, random: Random) -> None:
    chunks = stream[0]
    states = trail(chunks)
    at = random.randrange(len(states))
    before = told(states[at])
    other = [delta(tool_calls=(entry("[", index=0),)), delta(content="x")]
    branch = reduce(feed_message, other, states[at])
    assert told(reduce(feed_message, chunks[at:], states[at])) == told(states[-1])
    assert told(states[at]) == before
    restored: MessageState = pickle.loads(pickle.dumps(states[at]))  # noqa: S301
    assert told(restored) == before
    assert told(reduce(feed_message, chunks[at:], restored)) == told(states[-1])
    assert told(branch) == told(reduce(feed_message, [*chunks[:at], *other], start_message()))


def test_law_4_a_restored_state_hears_nothing_new_in_an_entry_that_says_nothing() -> None:
    config = MessageConfig(tools=[Tool("pay")])
    calls = (entry("{}", index=0, name="pay"), entry("{", index=1))  # the second has no name yet
    state = reduce(feed_message, [delta(tool_calls=calls), end()], start_message(config))
    nothing = delta(tool_calls=(entry("", index=1),))
    for same_state in (state, pickle.loads(pickle.dumps(state)), deepcopy(state)):  # noqa: S301
        assert feed_message(same_state, nothing) is same_state
        first = finish_message(feed_message(same_state, nothing)).message.tool_calls[0]
        assert first.status is Outcome.INVALID  # what has no name may be more of it


@given(streams, st.lists(st.text(max_size=3)), strategies.randoms)
def test_law_4_texts_and_messages_that_are_held_never_change(stream: Stream, pieces: list[str], random: Random) -> None:
    """At random points of a random branching; what is not held makes room for what comes."""
    chunks = [(chunk, "") for chunk in stream[0]]
    chunks += [(delta(content=long), long) for long in (piece * random.choice((1, 700)) for piece in pieces)]
    random.shuffle(chunks)
    made: list[tuple[MessageState, str]] = [(start_message(), "")]
    texts: list[tuple[str, str]] = []
    kept: list[tuple[MessageState, list[object], str]] = []
    for chunk, piece in chunks:
        before, expected = random.choice(made[-3:])
        made.append((feed_message(before, chunk), expected + piece))
        state, expected = random.choice(made[-3:])
        content = state.message.content
        if random.random() < 0.5:
            texts.append((content, expected))
        if random.random() < 0.3:
            kept.append((state, deepcopy(told(state)), state.message.to_json()))
    assert [text for text, _ in texts] == [expected for _, expected in texts]
    assert [state.message.content for state, _ in made] == [expected for _, expected in made]
    for state, shown, written in kept:
        assert (told(state), state.message.to_json()) == (shown, written)


def told(state: MessageState) -> list[object]:
    return [
        state.message.content,
        *((call.arguments, flat(call.partial)) for call in state.message.tool_calls),
    ]


@given(streams, strategies.randoms)
def test_law_9_what_is_broken_off_anywhere_and_anyhow_cannot_be_run(stream: Stream, random: Random) -> None:
    chunks = stream[0]
    cut = chunks[: random.randint(0, len(chunks))]
    for conclude in ENDS:
        state = conclude(reduce(feed_message, cut, start_message()))
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


def damaged(entries: list[dict[str, Any]], random: Random) -> list[dict[str, Any]]:
    """The same entries, some without what tells their calls apart, and some names in two parts."""
    lost = random.sample(("index", "id", "name"), random.randint(0, 2))
    share = random.choice((0.1, 0.5, 1))
    found = []
    for said in entries:
        kept = {key: value for key, value in said.items() if key not in lost or random.random() > share}
        if "name" in kept and random.random() < 0.2:
            cut = random.randint(1, len(kept["name"]) - 1)
            others = {key: value for key, value in kept.items() if key != "id" or random.random() < 0.5}
            found += [{**kept, "name": kept["name"][:cut]}, {**others, "name": kept["name"][cut:]}]
        else:
            found.append(kept)
    return found


def in_turn(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One call after another."""
    return sorted(entries, key=lambda said: int(said["index"]))


@given(strategies.call_streams, strategies.randoms)
def test_law_9_of_damaged_deltas_nothing_can_be_run_but_what_was_meant(
    stream: tuple[list[dict[str, Any]], list[Any]], random: Random
) -> None:
    entries, wanted = stream
    meant = {f"tool{index}": value for index, value in enumerate(wanted)}
    offered = random.choice(([], [Tool(name) for name in meant], [Tool(name) for name in (*meant, "to", "l0")]))
    told = [entry(**said) for said in damaged(in_turn(entries) if random.random() < 0.5 else entries, random)]
    chunks = [delta(tool_calls=(one,)) for one in told]
    for call in finished([*chunks, end()], MessageConfig(tools=offered)).message.tool_calls:
        if call.status is Outcome.COMPLETE:
            assert same(call.arguments_value, meant[str(call.name)])


@given(streams, strategies.randoms)
def test_law_9_what_goes_on_after_the_end_was_told_cannot_be_run(stream: Stream, random: Random) -> None:
    chunks = stream[0]
    saying = [at for at, chunk in enumerate(chunks) if chunk.choices[0].delta.tool_calls[0].arguments]
    at = random.randint(0, saying[-1])
    early = end(random.choice(("stop", "tool_calls", "length", "stop_sequence", "content_filter", "unheard-of")))
    state = finished([*chunks[:at], early, *chunks[at:]])
    assert not any(hasattr(call, "arguments_value") for call in state.message.tool_calls)


LAST = (end(), end("length"), end("content_filter"), end("unheard-of"), delta("stop", refusal="No."))


@given(strategies.call_streams, strategies.randoms)
def test_errors_that_are_certain_stay(stream: tuple[list[dict[str, Any]], list[Any]], random: Random) -> None:
    """Also beside prose that is no answer, whatever the end is, and however often they are read."""
    config = MessageConfig(
        response_schema={"type": "object", "properties": {"a": {"type": "integer"}}},
        tools=random.choice(((), (Tool("tool0", {"type": "object"}, stream_arguments=True), Tool("tool1")))),
        emulate_structured_output=random.random() < 0.3,
        output_name="tool2",
    )
    chunks = [delta(tool_calls=(entry(**said),)) for said in damaged(stream[0], random)]
    chunks.insert(random.randint(0, len(chunks)), delta(content=random.choice(("Let me look.", '{"a": "x"', "{"))))
    chunks.insert(random.randint(0, len(chunks)), delta(tool_calls=(entry("{]", index=0),)))
    states = trail(chunks, config)
    for before, after in pairwise(states):
        if random.random() < 0.5:
            assert stay(before, after)
    for state in random.choices(states, k=3):
        fresh: MessageState = pickle.loads(pickle.dumps(state))  # noqa: S301
        assert fresh.errors == state.errors
        ended = [conclude(state) for conclude in ENDS] + [finish_message(feed_message(state, one)) for one in LAST]
        assert all(stay(state, one) for one in ended)


def stay(before: MessageState, after: MessageState) -> bool:
    """Of an open value what it is may be told better later on; if that is no JSON at all, only this is told."""
    broken = {error.source for error in after.errors if isinstance(error.cause, ParserError)}
    found = {place(error) for error in after.errors}
    return all(
        place(error) in found or (error.kind is ErrorKind.SCHEMA and error.source in broken) for error in before.errors
    )


def place(error: ErrorDetail) -> tuple[object, ...]:
    return error.kind, error.source, error.path, getattr(error.cause, "index", error.message)
