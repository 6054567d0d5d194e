"""Law 6 as properties: what lawful histories must become, and what becomes of the others."""

import pickle
import re
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from jsontide import MISSING, JsonStreamChunker, SnapshotConflict
from tests.oracles import Path
from tests.snapshots.accidents import unlawful
from tests.snapshots.forms import Fed, as_text, as_value, either
from tests.snapshots.histories import Tree, deep_tree, lawful
from tests.snapshots.laws import (
    Options,
    any_options,
    check,
    check_end,
    check_law,
    check_shown_whole,
    compact,
    describe,
    feed,
    last_wins,
    missing_leaves,
    open_object_can_carry,
    part_seen,
    read,
    shows_only,
)
from tests.strategies import examples, finals, randoms, written_finals

EACH = 4
"""Histories of one final value: other orders of keys, other cuts."""


# Equal, prefix, sound, once.


@examples(2)
@given(written_finals, randoms)
def test_law_6_holds_for_texts(final: Tree, random: Random) -> None:
    for _ in range(EACH):
        check_law(JsonStreamChunker(), [as_text(tree, random) for tree in lawful(final, random)])


@examples(2)
@given(finals, randoms)
def test_law_6_holds_for_values(final: Tree, random: Random) -> None:
    for _ in range(EACH):
        check_law(JsonStreamChunker(), [as_value(tree, random) for tree in lawful(final, random)])


@examples(1)
@given(finals, randoms)
def test_law_6_holds_for_texts_and_values_in_turn(final: Tree, random: Random) -> None:
    for _ in range(EACH):
        check_law(JsonStreamChunker(), [either(tree, random) for tree in lawful(final, random)])


@examples(0.2)
@given(randoms, st.integers(200, 300))
def test_law_6_holds_at_any_depth(random: Random, depth: int) -> None:
    final = deep_tree(random, depth)
    check_law(JsonStreamChunker(), [either(tree, random) for tree in lawful(final, random)])


@examples(1)
@given(finals, randoms)
def test_law_6_what_comes_one_step_at_a_time_is_shown_at_once(final: Tree, random: Random) -> None:
    chunker = JsonStreamChunker()
    text = ""
    history = [either(tree, random) for tree in lawful(final, random, every=True)]
    for fed in history:
        text += feed(chunker, fed)
        check_shown_whole(text, fed.tree, history)
    check_end(text + chunker.flush(), final)


@examples(1)
@given(finals, randoms)
def test_law_6_what_waits_is_shown_when_anything_changes(final: Tree, random: Random) -> None:
    """Only one value is open: whatever changes, what else was there is complete."""
    for _ in range(2):
        chunker = JsonStreamChunker()
        history = [either(tree, random) for tree in lawful(final, random)]
        old: Tree = None
        for at, fed in enumerate(history):
            feed(chunker, fed)
            changed = at and old != fed.tree
            waits = missing_leaves(chunker.text, old) if changed else {}
            assert not waits, f"{waits} still waits\n" + describe(history[: at + 1], [chunker.text])
            old = fed.tree


# Never silent.


@examples(2)
@given(finals, randoms)
@example({"a": "x", "b": "y"}, Random(0))
def test_law_6_an_unlawful_snapshot_is_taken_in_rightly_or_not_at_all(final: Tree, random: Random) -> None:
    for _ in range(EACH):
        form = random.choice((as_text, as_value, either))
        check_conflicts([form(tree, random) for tree in unlawful(final, random)], partial(JsonStreamChunker))


def check_conflicts(history: list[Fed], make: Callable[[], JsonStreamChunker]) -> None:
    """Each snapshot is taken in or raises a conflict; what raised has never been."""
    chunker, unharmed = make(), make()
    taken: list[Fed] = []
    try:
        for fed in history:
            before = chunker.text
            try:
                chunk = feed(chunker, fed)
            except SnapshotConflict as conflict:
                assert chunker.text == before
                check_conflict(conflict, before, fed.tree)
                continue
            taken.append(fed)
            assert chunker.text == before + chunk
            assert feed(unharmed, fed) == chunk
            check(chunker.text, fed.tree, has_shrunk=True)
        assert chunker.flush() == unharmed.flush()
        if taken:
            check_end(chunker.text, taken[-1].tree)
    except Exception as error:
        error.add_note(describe(history, [chunker.text]))
        raise


def check_conflict(conflict: SnapshotConflict, text: str, tree: Tree) -> None:
    """The text contradicts the snapshot, and does so where the conflict says."""
    assert isinstance(conflict, ValueError)
    assert not shows_only(text, tree), f"no conflict: {text!r} goes on to {compact(tree)}"
    assert isinstance(conflict.path, tuple)
    assert isinstance(conflict.written, str)
    assert isinstance(conflict.wanted, str)
    assert conflict.written != conflict.wanted
    shown, wanted = at_path(part_seen(text, last_wins), conflict.path), at_path(tree, conflict.path)
    # An open string that ends in half a character shows less than is written.
    ends_in_half = re.search(r"\\ud[89ab]..$", conflict.written)
    assert shown != wanted or ends_in_half, f"{conflict.path} is the same in {text!r} and {compact(tree)}"
    assert (conflict.written == "") == (shown is MISSING), f"{conflict.path}, {conflict.written!r} in {text!r}"
    assert (conflict.wanted == "") == (wanted is MISSING), f"{conflict.path}, {conflict.wanted!r} in {compact(tree)}"
    pickled = pickle.loads(pickle.dumps(conflict))  # noqa: S301 - our own pickle
    assert (pickled.path, pickled.written, pickled.wanted) == (conflict.path, conflict.written, conflict.wanted)


def at_path(tree: Tree, path: Path) -> Tree:
    for segment in path:
        there: Any = tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
        if segment not in there:
            return MISSING
        tree = tree[segment]
    return tree


@examples(1)
@given(finals, randoms)
def test_law_6_no_option_makes_a_conflict_silent(final: Tree, random: Random) -> None:
    for _ in range(EACH):
        history = [either(tree, random) for tree in unlawful(final, random)]
        check_conflicts(history, partial(JsonStreamChunker, **any_options(random)))


@examples(2)
@given(finals, randoms)
def test_law_6_a_repair_is_right_at_once_and_raises_only_where_no_open_object_can_carry_it(
    final: Tree, random: Random
) -> None:
    for _ in range(EACH):
        check_repairs([either(tree, random) for tree in unlawful(final, random)], {})


@examples(1)
@given(finals, randoms)
def test_law_6_a_repair_is_right_under_every_option(final: Tree, random: Random) -> None:
    for _ in range(EACH):
        check_repairs([either(tree, random) for tree in unlawful(final, random)], any_options(random))


def check_repairs(history: list[Fed], options: Options) -> None:
    chunker = JsonStreamChunker(on_conflict="repair", **options)
    taken: list[Tree] = []
    try:
        for fed in history:
            before = chunker.text
            try:
                chunk = feed(chunker, fed)
            except SnapshotConflict:
                assert chunker.text == before
                assert not shows_only(before, fed.tree, last_wins)
                assert not open_object_can_carry(before, fed.tree), f"{before!r} can be repaired to {compact(fed.tree)}"
                continue
            taken.append(fed.tree)
            assert chunker.text == before + chunk
            check(chunker.text, fed.tree, last_wins, has_shrunk=True)
        chunker.flush()
        assert not taken or read(chunker.text, last_wins) == taken[-1], f"{chunker.text!r} is not {compact(taken[-1])}"
    except Exception as error:
        error.add_note(f"{options}\n" + describe(history, [chunker.text]))
        raise
