"""Laws 1, 4, 5 and 7 for events, as properties: against a model, and against the tree."""

import json
import pickle
from itertools import pairwise
from random import Random
from typing import Any

from hypothesis import example, given

from jsontide import JsonFragmentAccumulator, ParserError, finalize
from jsontide.events import EventState, JsonFragmentUpdate, feed_events, finish_events, start_events
from tests.cuts import Chunks, cut_randomly, fed
from tests.events.collect import collect, errors, join_strings
from tests.oracles import Event, Fault, events, fault, folded, line_and_column, loads, possible_part
from tests.relations import fault_in, flat, same
from tests.strategies import bad_bytes, bad_texts, cut, cut_documents, documents, examples, randoms, texts

cut_good = cut_documents(documents)
cut_bad = cut_documents(bad_texts())


def same_events(left: list[Event], right: list[Event]) -> bool:
    """Equal, types and signs of zero included."""
    return [event[:3] for event in left] == [event[:3] for event in right] and all(
        same(one.value, other.value) for one, other in zip(left, right, strict=True)
    )


@examples(3)
@given(cut_good)
def test_law_1_any_cut_emits_the_events_of_the_model(document: tuple[str, Chunks]) -> None:
    text, chunks = document
    assert same_events(join_strings(collect(chunks)), events(text + " "))


@examples(1)
@given(cut_good)
def test_law_1_what_is_certain_is_emitted_with_the_fragment_that_makes_it_so(document: tuple[str, Chunks]) -> None:
    _, chunks = document
    state, updates, done = start_events(), list[JsonFragmentUpdate](), b""
    for chunk in chunks:
        state, more = feed_events(state, chunk)
        updates += more
        done += chunk if isinstance(chunk, bytes) else chunk.encode("utf-8", "surrogatepass")
        seen = done.decode("utf-8", "ignore" if isinstance(chunk, bytes) else "surrogatepass")
        assert same_events(join_strings(updates), events(seen))


@examples(2)
@given(cut_good)
def test_law_5_events_fold_to_the_value_and_the_tree(document: tuple[str, Chunks]) -> None:
    text, chunks = document
    (value,) = folded(join_strings(collect(chunks)))
    assert same(value, loads(text))
    assert same(value, finalize(fed(chunks)).value)


@examples(1)
@given(cut_good)
def test_law_5_every_start_has_its_end_with_the_same_path(document: tuple[str, Chunks]) -> None:
    _, chunks = document
    stack: list[tuple[str, Any]] = []
    for update in collect(chunks):
        kind = update.kind.value
        if kind.startswith("Start"):
            stack.append((kind.removeprefix("Start"), update.segments))
        elif kind == "PartialString":
            assert stack[-1] == ("String", update.segments)
            assert update.text
        elif kind.startswith("End") or kind == "CompleteString":
            assert stack.pop() == (kind.removeprefix("End").removeprefix("Complete"), update.segments)
        else:
            assert not stack or stack[-1][0] != "String"
    assert not stack


@examples(1)
@given(cut_good)
def test_law_5_a_string_has_one_piece_at_most_for_each_fragment(document: tuple[str, Chunks]) -> None:
    _, chunks = document
    accumulator = JsonFragmentAccumulator()
    for chunk in chunks:
        kinds = [update.kind.value for update in accumulator.add_fragment(chunk)]
        assert ("PartialString", "PartialString") not in pairwise(kinds)


@examples(1)
@given(cut_good)
def test_offsets_lead_to_what_is_emitted(document: tuple[str, Chunks]) -> None:
    text, chunks = document
    for update in collect(chunks):
        part = text[update.start : update.end]
        match update.kind.value:
            case "Key" | "CompleteString":
                assert json.loads(part) == update.text
            case "PartialString":
                assert json.loads(f'"{part}"') == update.text
            case "JsonComplete":
                assert same(loads(part), update.value)
            case _:
                assert part == update.text


@examples(2)
@given(cut_bad)
@example(("01", ["0", "1"]))
@example(('{"a":"b\\x', ['{"a":"b\\', "x"]))
def test_law_7_all_events_before_an_error_and_the_error_where_the_parser_has_it(document: tuple[str, Chunks]) -> None:
    text, chunks = document
    found = fault(text, ended=True)
    updates = collect(chunks, documents=1)
    if found is None:
        assert not errors(updates)
        return
    (error,) = errors(updates)
    assert updates[-1] is error
    assert isinstance(error.value, ParserError)
    assert fault_in(error.value) == found
    assert error.value == finalize(fed(chunks)).error
    assert (error.value.line, error.value.column) == line_and_column(text, found.index)
    assert (error.text, error.segments, error.start) == (error.value.message, found.path, found.index)
    assert same_events(join_strings(updates[:-1]), events_before(text, found))


def events_before(text: str, found: Fault) -> list[Event]:
    """What must be emitted before a fault."""
    expected = events(possible_part(text, found))
    if found.reason in {"CONTROL_CHARACTER", "BAD_ESCAPE"}:  # the model closes the string that fails
        while expected[-1].kind in {"Key", "CompleteString", "JsonComplete"}:
            if expected.pop().kind != "JsonComplete":
                break
    return expected


@examples(1)
@given(bad_bytes().flatmap(cut))
def test_law_7_bytes_that_are_no_utf8_fail_where_the_parser_does(chunks: Chunks) -> None:
    error = finalize(fed(chunks)).error
    found = errors(collect(chunks, documents=1))
    assert [update.value for update in found] == ([] if error is None else [error])


@examples(1)
@given(cut_bad, randoms)
def test_law_4_old_states_can_be_fed_again_and_pickled(document: tuple[str, Chunks], random: Random) -> None:
    _, chunks = document
    states: list[EventState] = [start_events(skip_errors=random.random() < 0.5)]
    steps: list[list[JsonFragmentUpdate]] = []
    for chunk in chunks:
        state, updates = feed_events(states[-1], chunk)
        states.append(state)
        steps.append(updates)
    end = flat_updates(finish_events(states[-1])[1])
    expected_steps = [flat_updates(updates) for updates in steps]
    for at in random.choices(range(len(states)), k=3):
        state = states[at]
        if random.random() < 0.5:
            state = pickle.loads(pickle.dumps(state))  # noqa: S301 - our own pickle
        rest: Any = chunks[at:]
        for chunk, saved in zip(rest, expected_steps[at:], strict=True):
            state, updates = feed_events(state, chunk)
            assert flat_updates(updates) == saved
        assert flat_updates(finish_events(state)[1]) == end
    assert [flat_updates(updates) for updates in steps] == expected_steps


@examples(1)
@given(cut_bad, randoms)
def test_law_4_an_accumulator_and_the_branches_of_its_states_are_independent(
    document: tuple[str, Chunks], random: Random
) -> None:
    chunks: Any = document[1]
    alone = JsonFragmentAccumulator()
    expected_steps = [flat_updates(alone.add_fragment(chunk)) for chunk in chunks]
    end = flat_updates(alone.finish())
    accumulator = JsonFragmentAccumulator()
    if random.random() < 0.5:
        accumulator.on("**", flat)
    states: list[tuple[int, EventState]] = []
    for at, chunk in enumerate(chunks):
        if random.random() < 0.5:
            states.append((at, accumulator.state))
        if states and random.random() < 0.5:
            feed_events(random.choice(states)[1], random.choice(chunks))
        assert flat_updates(accumulator.add_fragment(chunk)) == expected_steps[at]
    assert flat_updates(accumulator.finish()) == end
    for at, state in states:
        branch = state
        for chunk, saved in zip(chunks[at:], expected_steps[at:], strict=True):
            branch, updates = feed_events(branch, chunk)
            assert flat_updates(updates) == saved
        assert flat_updates(finish_events(branch)[1]) == end


def flat_updates(updates: list[JsonFragmentUpdate]) -> list[object]:
    return [
        (update.kind, update.path, update.segments, update.text, flat(update.value), update.start, update.end)
        for update in updates
    ]


@examples(1)
@given(texts(), randoms)
def test_several_documents_are_emitted_as_each_alone(text: str, random: Random) -> None:
    count = random.randint(2, 4)
    stream = "\n".join([text] * count)
    updates = collect(cut_randomly(stream, random))
    assert same_events(join_strings(updates), events(text + " ") * count)
    assert not errors(collect(cut_randomly(stream, random), documents=count))
    (error,) = errors(collect(cut_randomly(stream, random), documents=count - 1))
    assert isinstance(error.value, ParserError)
    assert error.value.reason.name == "TRAILING_TEXT"
