"""Laws 4 and 7 for snapshots, the ways there and back, and the other forms of the chunker."""

import asyncio
import pickle
from collections.abc import AsyncIterator, Callable
from copy import deepcopy
from decimal import Decimal
from math import inf, isfinite, nan
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jsontide import (
    MISSING,
    JsonStreamChunker,
    JsonStreamError,
    SnapshotConflict,
    achunk_snapshots,
    chunk_snapshots,
    finalize,
)
from jsontide.snapshots import (
    SnapshotState,
    TextStreamChunker,
    feed_snapshot_values,
    feed_snapshots,
    finish_snapshots,
    start_snapshots,
)
from tests.cuts import Chunks, states_along
from tests.oracles import is_json, loads
from tests.relations import flat
from tests.snapshots.accidents import unlawful
from tests.snapshots.forms import Fed, as_text, as_value, either
from tests.snapshots.histories import Number, Tree, joined, lawful, tree_of
from tests.snapshots.laws import Options, check, check_end, check_law, compact, complete, feed
from tests.strategies import bad_texts, cut_documents, documents, examples, finals, randoms, strings


@examples(1)
@given(finals, randoms)
def test_law_6_many_chunkers_say_the_same(final: Tree, random: Random) -> None:
    """The class, the pure form, both iterators, and a chunker that was reset."""
    options: Options = {
        "numbers": random.choice(("whole", "grow")),
        "empty": random.choice(("early", "late")),
    }
    form = as_text if isinstance(final, str) else either  # an iterator takes a str for text
    history = [form(tree, random) for tree in lawful(final, random)]
    chunks = check_law(JsonStreamChunker(**options), history)
    used = JsonStreamChunker(**options)
    used.process('{"a":["b"]}')
    used.reset()
    assert used.text == ""
    assert check_law(used, history) == chunks
    assert used.text == "".join(chunks)
    assert [step[1] for step in steps(start_snapshots(**options), history)] == chunks
    items = [fed.item for fed in history]
    assert list(chunk_snapshots(items, **options)) == [chunk for chunk in chunks if chunk]
    assert asyncio.run(gathered(items, options)) == [chunk for chunk in chunks if chunk]


async def gathered(items: list[Any], options: Options) -> list[str]:
    async def source() -> AsyncIterator[Any]:
        for item in items:
            yield item

    return [chunk async for chunk in achunk_snapshots(source(), **options)]


def steps(state: SnapshotState, history: list[Fed]) -> list[tuple[SnapshotState, str]]:
    """The state and the chunk after every snapshot, and after the end."""
    result: list[tuple[SnapshotState, str]] = []
    for fed in history:
        state, chunk = feed_snapshots(state, fed.item) if fed.is_text else feed_snapshot_values(state, fed.item)
        result.append((state, chunk))
    return [*result, finish_snapshots(state)]


# A state is a value.


@examples(2)
@given(finals, randoms)
def test_law_4_old_states_can_be_fed_again_and_pickled(final: Tree, random: Random) -> None:
    options: Options = {"numbers": random.choice(("whole", "grow")), "empty": random.choice(("early", "late"))}
    history = [either(tree, random) for tree in lawful(final, random)]
    start = start_snapshots(**options)
    told_once = steps(start, history)
    states = [start, *(state for state, _ in told_once)]
    chunks = [chunk for _, chunk in told_once]
    for at in random.choices(range(len(history) + 1), k=3):
        state = states[at]
        steps_of_another(state, unlawful(final, random), random)
        if random.random() < 0.5:
            state = pickle.loads(pickle.dumps(state))  # noqa: S301 - our own pickle
        assert [chunk for _, chunk in steps(state, history[at:])] == chunks[at:]
    assert [chunk for _, chunk in steps(start, history)] == chunks


def steps_of_another(state: SnapshotState, history: list[Tree], random: Random) -> None:
    """A branch: whatever it leads to, the state that it began with must not notice."""
    for tree in history:
        try:
            state, _ = feed_snapshot_values(state, as_value(tree, random).item)
        except SnapshotConflict:
            continue
    finish_snapshots(state)


@examples(1)
@given(finals, randoms)
def test_law_4_nothing_passed_in_is_modified(final: Tree, random: Random) -> None:
    history = [as_value(tree, random) for tree in lawful(final, random)]
    chunks = check_law(JsonStreamChunker(), history)
    chunker = JsonStreamChunker()
    for fed, chunk in zip(history, chunks, strict=False):
        copy = deepcopy(fed.item)
        assert chunker.process_value(fed.item) == chunk
        assert fed.item == copy
        assert flat(fed.item) == flat(copy)
    assert chunker.flush() == chunks[-1]


@pytest.mark.parametrize("value", [{"a": "x", "b": "y"}, {"a": ["x"], "b": ["y"]}, {"a": "x"}, [["x"]]])
def test_law_4_what_is_not_closed_may_be_changed_by_its_owner(value: Any) -> None:
    tree = tree_of(value)
    chunker = JsonStreamChunker()
    chunker.process_value(value)
    for child in list(value.values()) if isinstance(value, dict) else value:
        if isinstance(child, list):
            child.append("later")
    value.clear()
    chunker.flush()
    check_end(chunker.text, tree)


@examples(1)
@given(finals, randoms)
def test_a_producer_may_send_one_object_that_it_changes(final: Tree, random: Random) -> None:
    """Each snapshot is the same dict, grown in place."""
    assume(isinstance(final, dict))
    live: dict[str, Any] = {}
    chunker = JsonStreamChunker()
    history = [as_value(tree, random) for tree in lawful(final, random)]
    text = ""
    for fed in history:
        live.clear()
        live.update(fed.item)
        text += chunker.process_value(live)
        check(text, fed.tree)
    check_end(text + chunker.flush(), final)


@examples(1)
@given(finals, randoms, bad_texts())
def test_bad_text_raises_and_nothing_of_it_is_taken_in(final: Tree, random: Random, bad: str) -> None:
    assume(not is_json(bad))
    check_refusals(final, random, lambda chunker: chunker.process(bad), JsonStreamError)


WRONG_TYPES = (
    *(object(), {1: 2}, {None: 1}, [{"a": {1}}], b"x", 1j, {"a": {"b": ...}}),
    *({"a": [object()], "b": ["waits"]}, {"a": {"b": {1: 2}}, "b": ["waits"]}, {"a": [[b"x"]], "b": "", "c": 1}),
)
NO_NUMBERS = ({"a": [nan]}, [inf], [-inf], [Decimal("nan")], {"a": [Decimal("-Infinity")], "b": ["waits"]})


@examples(1)
@given(finals, randoms, st.sampled_from((*WRONG_TYPES, *NO_NUMBERS)))
def test_wrong_values_raise_and_nothing_of_them_is_taken_in(final: Tree, random: Random, wrong: Any) -> None:
    check_refusals(final, random, lambda chunker: chunker.process_value(wrong), (TypeError, ValueError))


def check_refusals(
    final: Tree, random: Random, refused: Callable[[JsonStreamChunker], str], error: type | tuple[type, ...]
) -> None:
    history = [either(tree, random) for tree in lawful(final, random)]
    chunks = check_law(JsonStreamChunker(), history)
    chunker = JsonStreamChunker()
    for fed, chunk in zip(history, chunks, strict=False):
        before = chunker.text
        with pytest.raises(error):
            refused(chunker)
        assert chunker.text == before
        assert feed(chunker, fed) == chunk
    assert chunker.flush() == chunks[-1]


# There and back.


@examples(1)
@given(cut_documents(documents))
def test_law_6_the_partial_values_of_a_document_become_its_compact_text(document: tuple[str, Chunks]) -> None:
    text, chunks = document
    value = loads(text)
    assume(all(isfinite(leaf) for leaf in numbers_in(value)))
    expected = compact(tree_of(value))
    states = states_along(chunks)
    partial_values = [state.value for state in [*states, finalize(states[-1])] if state.value is not MISSING]
    chunker = JsonStreamChunker(key_order="kept")
    for partial_value in partial_values:
        chunker.process_value(partial_value)
        assert expected.startswith(chunker.text)
    chunker.flush()
    assert chunker.text == expected


def numbers_in(value: Any) -> list[float]:
    found = [value]
    for item in found:
        if isinstance(item, list | dict):
            found += item.values() if isinstance(item, dict) else item
    return [item for item in found if isinstance(item, float)]


@examples(1)
@given(finals, randoms)
def test_law_6_a_parser_that_reads_the_chunks_sees_the_snapshots(final: Tree, random: Random) -> None:
    history = [either(tree, random) for tree in lawful(final, random)]
    chunks = check_law(JsonStreamChunker(), history)
    states = states_along(chunks)[1:]
    for state, fed in zip(states, history, strict=False):
        assert state.value is MISSING or contains(fed.tree, tree_of(state.value))
    ended = finalize(states[-1])
    assert ended.is_complete
    assert contains(final, tree_of(ended.value))
    assert contains(tree_of(ended.value), final)


def contains(whole: Tree, part: Tree) -> bool:
    if isinstance(whole, Number) and isinstance(part, Number):
        return loads(whole.lexeme) == loads(part.lexeme)  # type: ignore[no-any-return]
    if isinstance(whole, dict) and isinstance(part, dict):
        return set(part) <= set(whole) and all(contains(whole[key], part[key]) for key in part)
    if isinstance(whole, list) and isinstance(part, list):
        return len(part) <= len(whole) and all(contains(*pair) for pair in zip(whole, part, strict=False))
    return whole.startswith(part) if isinstance(whole, str) and isinstance(part, str) else bool(whole == part)


# Plain text.


@examples(1)
@given(st.lists(strings, min_size=1), randoms)
def test_cumulative_texts_become_their_pieces(pieces: list[str], random: Random) -> None:
    chunker = TextStreamChunker()
    text, written = "", ""
    for piece in pieces:
        text += piece
        for _ in range(random.choice((1, 1, 2))):
            written += chunker.process(text)
            assert text.startswith(written)
            assert joined(written) == joined(text) or complete(text) == written
        other = text[: random.randint(0, len(text))] + "\x01?"
        if not other.startswith(written):
            with pytest.raises(SnapshotConflict):
                chunker.process(other)
    assert written + chunker.flush() == text


@pytest.mark.parametrize("depth", [2, 1_000, pytest.param(10_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("inner", ["", '"a"', "1", '{"a": ["b", "c"], "d": 1, "e": ""}'])
@pytest.mark.parametrize("options", [{}, {"empty": "late"}, {"numbers": "grow"}, {"key_order": "kept"}])
def test_every_state_of_a_deep_snapshot_goes_into_a_pickle(depth: int, inner: str, options: Options) -> None:
    levels = depth - min(2, inner.count("[") + inner.count("{"))
    text = "[" * levels + inner + "]" * levels
    state, _ = feed_snapshots(start_snapshots(**options), text)
    for each in (state, finish_snapshots(state)[0]):
        again: SnapshotState = pickle.loads(pickle.dumps(each))  # noqa: S301 - our own pickle
        assert again.text == each.text
        assert finish_snapshots(again)[0].text == finish_snapshots(each)[0].text
