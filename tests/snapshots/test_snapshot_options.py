"""The options of a chunker: each keeps law 6 for the producers that it is for, and does what it is for."""

import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from jsontide import JsonStreamChunker, SnapshotConflict, chunk_snapshots
from tests.snapshots.forms import Fed, as_text, as_value, either
from tests.snapshots.histories import Grow, Number, Skeleton, Tree, lawful, without_repeats
from tests.snapshots.laws import (
    Options,
    check,
    check_end,
    check_law,
    check_shown_whole,
    compact,
    describe,
    feed,
    missing_leaves,
    read,
    seen,
    shows_only,
)
from tests.strategies import examples, finals, randoms, written_finals

EACH = 4
"""Histories of one final value: other orders of keys, other cuts."""
EMPTIES: tuple[Tree, ...] = ("", [], {})


@examples(1)
@given(finals, randoms)
def test_law_6_holds_under_every_option_that_adds_patience(final: Tree, random: Random) -> None:
    for _ in range(EACH):
        options: Options = {
            "on_conflict": random.choice(("raise", "repair")),
            "numbers": random.choice(("whole", "grow")),
            "empty": random.choice(("early", "late")),
            "nulls": random.choice(("early", "late")),
            "ensure_ascii": random.random() < 0.5,
        }
        history = [either(tree, random) for tree in lawful(final, random)]
        check_law(JsonStreamChunker(**options), history, ensure_ascii=options["ensure_ascii"])


@examples(0.5)
@given(finals, randoms)
def test_ensure_ascii_writes_nothing_else(final: Tree, random: Random) -> None:
    history = [either(tree, random) for tree in lawful(final, random)]
    chunks = check_law(JsonStreamChunker(ensure_ascii=True), history, ensure_ascii=True)
    assert "".join(chunks).isascii()


@examples(1)
@given(written_finals, finals, randoms)
def test_numbers_grow_digit_by_digit(written: Tree, exact: Tree, random: Random) -> None:
    for _ in range(2):
        texts = [as_text(tree, random) for tree in lawful(written, random, grow="lexemes")]
        check_law(JsonStreamChunker(numbers="grow"), texts)
        both = [either(tree, random) for tree in lawful(exact, random, grow="values")]
        check_law(JsonStreamChunker(numbers="grow"), both)


@examples(0.5)
@given(finals, randoms)
def test_a_number_that_may_grow_is_held_back_and_nothing_else(final: Tree, random: Random) -> None:
    """One step at a time: only the last number can be missing."""
    chunker = JsonStreamChunker(numbers="grow")
    text = ""
    history = [either(tree, random) for tree in lawful(final, random, grow="values", every=True)]
    for fed in history:
        text += feed(chunker, fed)
        check(text, fed.tree)
        missing = missing_leaves(text, fed.tree)
        assert len(missing) <= 1, describe(history, [text])
        assert all(isinstance(leaf, Number) for leaf in missing.values()), describe(history, [text])
    check_end(text + chunker.flush(), final)


@examples(1)
@given(finals, randoms)
def test_empty_late_fills_skeletons_in_any_order(final: Tree, random: Random) -> None:
    for _ in range(EACH):
        history = [either(tree, random) for tree in lawful(final, random, skeleton="nested")]
        check_law(JsonStreamChunker(empty="late"), history)


@examples(1)
@given(finals, randoms)
def test_empty_late_writes_no_empty_value_before_it_fills_or_its_parent_closes(final: Tree, random: Random) -> None:
    chunker = JsonStreamChunker(empty="late")
    text = ""
    history = [either(tree, random) for tree in lawful(final, random)]
    for fed in history:
        text += feed(chunker, fed)
        assert not early_empties(text, fed.tree), describe(history, [text])
    check_end(text + chunker.flush(), final)


@examples(2)
@given(finals, randoms)
def test_nulls_late_fills_skeletons_of_nulls_in_any_order(final: Tree, random: Random) -> None:
    for _ in range(EACH):
        grow: Grow = random.choice(("", "values"))
        options: Options = {"nulls": "late", "numbers": "grow" if grow else "whole"}
        history = [either(tree, random) for tree in lawful(final, random, skeleton="nulls", grow=grow)]
        check_law(JsonStreamChunker(**options), history)


@examples(2)
@given(finals, randoms)
def test_nulls_late_and_empty_late_fill_skeletons_of_both(final: Tree, random: Random) -> None:
    for _ in range(EACH):
        history = [either(tree, random) for tree in lawful(final, random, skeleton="mixed")]
        check_law(JsonStreamChunker(nulls="late", empty="late"), history)


@examples(1)
@given(finals, randoms)
def test_nulls_late_writes_no_null_into_an_object_that_is_open(final: Tree, random: Random) -> None:
    chunker = JsonStreamChunker(nulls="late")
    text = ""
    skeleton: Skeleton = random.choice(("none", "nulls"))
    history = [either(tree, random) for tree in lawful(final, random, skeleton=skeleton)]
    for fed in history:
        text += feed(chunker, fed)
        assert not early_nulls(text), describe(history, [text])
    check_end(text + chunker.flush(), final)


@examples(0.5)
@given(finals, randoms)
def test_nulls_late_holds_back_null_and_nothing_else(final: Tree, random: Random) -> None:
    """One step at a time: nothing else has a reason to wait."""
    chunker = JsonStreamChunker(nulls="late")
    text = ""
    history = [either(tree, random) for tree in lawful(final, random, skeleton="nulls", every=True)]
    for fed in history:
        text += feed(chunker, fed)
        check(text, fed.tree)
        assert not [leaf for leaf in missing_leaves(text, fed.tree).values() if leaf is not None], describe(
            history, [text]
        )
    check_end(text + chunker.flush(), final)


def early_nulls(text: str) -> list[str]:
    """The members of open objects that are null."""
    view = seen(text)
    part: Tree = read(view.text) if view.text else None
    found: list[str] = []
    for _ in view.closers:
        if isinstance(part, dict):
            found += [key for key, child in part.items() if child is None]
        if not part:
            break
        part = part[list(part)[-1]] if isinstance(part, dict) else part[-1]
    return found


def early_empties(text: str, tree: Tree) -> list[Tree]:
    """The empty members of open objects, and the open end itself if it is empty; those that the snapshot has empty."""
    view = seen(text)
    part: Tree = read(view.text) if view.text else None
    found: list[Tree] = []
    for _ in range(len(view.closers) + view.open_string):
        if not part:
            return [*found, *([] if tree else [part])]
        last = list(part)[-1] if isinstance(part, dict) else len(part) - 1
        keys: list[Any] = list(part) if isinstance(part, dict) else [last]
        found += (
            [key for key in keys if part[key] in EMPTIES and tree[key] in EMPTIES]
            if isinstance(part, list | dict)
            else []
        )
        part, tree = (part[last], tree[last]) if isinstance(part, list | dict) else (part, tree)
    return found


@examples(1)
@given(finals, randoms)
def test_empties_side_by_side_are_filled_in_any_order(final: Tree, random: Random) -> None:
    for _ in range(EACH):
        history = [either(tree, random) for tree in lawful(final, random, skeleton="flat")]
        check_law(JsonStreamChunker(), history)


@examples(1)
@given(finals, randoms)
def test_kept_order_is_kept_and_nothing_waits(final: Tree, random: Random) -> None:
    for _ in range(2):
        chunker = JsonStreamChunker(key_order="kept")
        text = ""
        form: Callable[..., Fed] = random.choice((as_text, as_value))
        history = [form(tree, random, shuffle=False) for tree in lawful(final, random)]
        for fed in history:
            text += feed(chunker, fed)
            check(text, fed.tree)
            check_shown_whole(text, fed.tree, history)
        assert text + chunker.flush() == compact(history[-1].tree), describe(history, [text])


@examples(1)
@given(finals, randoms, st.integers(1, 4))
def test_max_wait_bounds_the_snapshots_that_a_value_waits(final: Tree, random: Random, most: int) -> None:
    for _ in range(2):
        chunker = JsonStreamChunker(max_wait=most)
        text = ""
        history = [either(tree, random) for tree in lawful(final, random)]
        for at, fed in enumerate(history):
            try:
                text += feed(chunker, fed)
            except SnapshotConflict:
                assert not shows_only(text, fed.tree)  # taken for complete, it grew after all
                break
            check(text, fed.tree)
            late = missing_leaves(text, history[at - most].tree) if at >= most else {}
            assert not late, f"{late} after {most}\n" + describe(history[: at + 1], [text])
        else:
            check_end(text + chunker.flush(), final)


@examples(1)
@given(finals, randoms)
def test_max_wait_changes_nothing_where_every_snapshot_is_new(final: Tree, random: Random) -> None:
    for _ in range(2):
        history = [either(tree, random) for tree in without_repeats(lawful(final, random))]
        chunks = check_law(JsonStreamChunker(max_wait=1), history)
        assert check_law(JsonStreamChunker(), history) == chunks


class Stop(BaseModel):
    """A model whose fields are all optional, inside another."""

    city: str | None = None
    nights: int | None = None


class Trip(BaseModel):
    """A model that a program fills in while a stream arrives."""

    title: str | None = None
    first: Stop = Stop()
    stops: list[Stop] | None = None
    is_booked: bool | None = None


def test_dumps_of_a_model_with_optional_fields_become_text() -> None:
    trips = [
        Trip(),
        Trip(title="Slow tr"),
        Trip(title="Slow trains", first=Stop(city="Ly")),
        Trip(title="Slow trains", first=Stop(city="Lyon", nights=2)),
        Trip(title="Slow trains", first=Stop(city="Lyon", nights=2), stops=[Stop(city="Tur")]),
        Trip(
            title="Slow trains", first=Stop(city="Lyon", nights=2), stops=[Stop(city="Turin"), Stop()], is_booked=True
        ),
    ]
    chunker = JsonStreamChunker(nulls="late")
    chunks = [chunker.process_value(trip.model_dump()) for trip in trips]
    assert chunks[:5] == [
        "",
        '{"title":"Slow tr',
        'ains","first":{"city":"Ly',
        'on","nights":2',
        '},"stops":[{"city":"Tur',
    ]
    assert json.loads("".join(chunks) + chunker.flush()) == trips[-1].model_dump()
    with pytest.raises(SnapshotConflict):
        list(chunk_snapshots(trip.model_dump() for trip in trips))
