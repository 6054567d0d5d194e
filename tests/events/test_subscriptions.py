"""Callbacks by pattern: what they get, when, and that what no pattern wants costs nothing."""

import copy
import json
import pickle
import sys
import tracemalloc
from collections.abc import Callable
from random import Random
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide import JsonFragmentAccumulator, PathSyntaxError
from jsontide._path import PathLink
from jsontide.events import JsonFragmentError, JsonFragmentUpdate
from tests.cuts import Chunks, cut_randomly, every, sized
from tests.events.collect import join_strings
from tests.meters import heap, interpreted
from tests.oracles import Event, Steps, events, matches
from tests.relations import same
from tests.strategies import cut_documents, documents, examples, patterns, randoms, spell_pattern


def values_in(document: Any) -> list[tuple[tuple[str | int, ...], Any]]:
    """All values with their paths, in the order in which they close."""
    found: list[tuple[tuple[str | int, ...], Any]] = []

    def visit(path: tuple[str | int, ...], value: Any) -> None:
        if isinstance(value, dict):
            for key, child in value.items():
                visit((*path, key), child)
        elif isinstance(value, list):
            for at, child in enumerate(value):
                visit((*path, at), child)
        found.append((path, value))

    visit((), document)
    return found


@examples(2)
@given(cut_documents(documents), st.lists(patterns, min_size=1, max_size=4), randoms)
def test_a_callback_gets_the_values_that_its_pattern_matches(
    document: tuple[str, Chunks], several: list[Steps], random: Random
) -> None:
    text, chunks = document
    accumulator = JsonFragmentAccumulator(updates=False)
    heard: list[tuple[Any, Any]] = []

    def listen(steps: Steps) -> Callable[[JsonFragmentUpdate], None]:
        return lambda update: heard.append((steps, update))

    for steps in several:
        accumulator.on(spell_pattern(steps, random), listen(steps))
    for chunk in chunks:
        accumulator.add_fragment(chunk)
    accumulator.finish()
    # Members of equal keys are emitted one after the other; the model keeps the last.
    if len(events(text)) != len({(event.kind, event.path, event.text) for event in events(text)}):
        return
    expected = [
        (steps, path, value) for path, value in values_in(json.loads(text)) for steps in several if matches(steps, path)
    ]
    assert [(steps, update.segments) for steps, update in heard] == [(steps, path) for steps, path, _ in expected]
    assert all(same(update.value, value) for (_, update), (_, _, value) in zip(heard, expected, strict=True))


@examples(1)
@given(cut_documents(documents), patterns, randoms)
def test_deltas_are_those_of_the_strings_that_match(document: tuple[str, Chunks], steps: Steps, random: Random) -> None:
    text, chunks = document
    expected = [event for event in events(text + " ") if event.kind == "PartialString" and matches(steps, event.path)]
    several: list[dict[str, Any]] = [{"updates": False}, {"strings": "whole"}, {"strings": "deltas"}, {}]
    for options in several:
        accumulator = JsonFragmentAccumulator(**options)
        heard: list[JsonFragmentUpdate] = []
        accumulator.on(spell_pattern(steps, random), heard.append, deltas=True)
        for chunk in chunks:
            accumulator.add_fragment(chunk)
        assert by_path(join_strings(heard)) == by_path(expected)


def by_path(pieces: list[Event]) -> dict[tuple[str | int, ...], str]:
    """The pieces of all strings at one path, join_strings: two strings at one path are two members of one key."""
    texts: dict[tuple[str | int, ...], str] = {}
    for piece in pieces:
        assert piece.kind == "PartialString"
        texts[piece.path] = texts.get(piece.path, "") + (piece.text or "")
    return texts


def updates_at(text: str, *several: str, **options: Any) -> list[tuple[str, str, Any]]:
    accumulator = JsonFragmentAccumulator(updates=False)
    heard: list[tuple[str, str, Any]] = []

    def listen(pattern: str) -> Callable[[JsonFragmentUpdate], None]:
        return lambda update: heard.append((pattern, update.path, update.value))

    for pattern in several:
        accumulator.on(pattern, listen(pattern), **options)
    accumulator.add_fragment(text)
    accumulator.finish()
    return heard


def test_wildcards_slices_odd_keys_and_any_depth() -> None:
    text = '{"users": [{"id": 1, "a.b": 2}, {"id": 3}, {"id": 4}], "more": {"id": 5, "x": {"id": 6}}}'
    assert [value for _, _, value in updates_at(text, "users[*].id")] == [1, 3, 4]
    assert [value for _, _, value in updates_at(text, "users[1:].id")] == [3, 4]
    assert [value for _, _, value in updates_at(text, "users[::2].id")] == [1, 4]
    assert [value for _, _, value in updates_at(text, "**.id")] == [1, 3, 4, 5, 6]
    assert [value for _, _, value in updates_at(text, "more.*")] == [5, {"id": 6}]
    assert updates_at(text, 'users[0]["a.b"]') == [('users[0]["a.b"]', 'root.users[0]["a.b"]', 2)]
    assert updates_at(text, "root") == [("root", "root", json.loads(text))]
    assert updates_at("7", "root") == [("root", "root", 7)]
    assert updates_at(text, "nothing.here") == []


def test_callbacks_of_one_value_are_called_in_the_order_of_subscription() -> None:
    heard = updates_at('{"a": [{"b": "x"}]}', "a", "**", "a[*].b", "a[0]")
    assert heard == [
        ("**", "root.a[0].b", "x"),
        ("a[*].b", "root.a[0].b", "x"),
        ("**", "root.a[0]", {"b": "x"}),
        ("a[0]", "root.a[0]", {"b": "x"}),
        ("a", "root.a", [{"b": "x"}]),
        ("**", "root.a", [{"b": "x"}]),
        ("**", "root", {"a": [{"b": "x"}]}),
    ]


def test_a_container_comes_with_its_value_and_its_place_in_the_text() -> None:
    updates: list[JsonFragmentUpdate] = []
    for chunks in every('{"a": {"b": [1]}}'):
        accumulator = JsonFragmentAccumulator()
        accumulator.on("a", updates.append)
        for chunk in chunks:
            accumulator.add_fragment(chunk)
    assert set(map(repr, updates)) == {"<EndObject root.a value={'b': [1]} [6:16]>"}


def test_once_calls_once() -> None:
    assert updates_at("[1, 2, 3]", "[*]", once=True) == [("[*]", "root[0]", 1)]


def test_cancelling_in_a_callback_stops_it_at_once() -> None:
    accumulator = JsonFragmentAccumulator(updates=False)
    heard: list[object] = []

    def listen(update: JsonFragmentUpdate) -> None:
        heard.append(update.value)
        if update.value == 2:
            first.cancel()
            second.cancel()

    first = accumulator.on("[*]", listen)
    second = accumulator.on("[*]", listen)
    accumulator.add_fragment("[1, 2, 3")
    accumulator.add_fragment(", 4]")
    assert heard == [1, 1, 2]
    assert not first.is_active
    first.cancel()
    assert repr(first).endswith("cancelled>")


def test_a_subscription_made_in_a_callback_covers_later_fragments() -> None:
    accumulator = JsonFragmentAccumulator(updates=False)
    heard: list[object] = []

    def listen(update: JsonFragmentUpdate) -> None:
        if update.value == 1:
            accumulator.on("[*]", lambda later: heard.append(later.value))

    accumulator.on("[0]", listen)
    accumulator.add_fragment("[1, 2, ")
    accumulator.add_fragment("3, [4, 5], 6]")
    assert heard == [3, [4, 5], 6]


def test_a_subscription_covers_values_that_begin_after_it() -> None:
    for updates in (True, False):
        accumulator = JsonFragmentAccumulator(updates=updates)
        whole: list[JsonFragmentUpdate] = []
        growing: list[JsonFragmentUpdate] = []
        accumulator.add_fragment('{"a": {"b": "te')
        accumulator.on("a.*", whole.append)
        accumulator.on("a", whole.append)
        accumulator.on("**", growing.append, deltas=True)
        accumulator.add_fragment('xt", "c": "d"}}')
        assert [update.value for update in whole] == ["d"]
        assert [update.text for update in growing] == ["d"]


def test_cancelling_one_leaves_the_others_in_the_middle_of_a_value() -> None:
    accumulator = JsonFragmentAccumulator(updates=False)
    heard: list[object] = []
    gone = accumulator.on("**", heard.append)
    accumulator.on("a", lambda update: heard.append(update.value))
    accumulator.on("a.b", lambda update: heard.append(update.text), deltas=True)
    accumulator.add_fragment('{"a": {"b": "x')
    gone.cancel()
    accumulator.add_fragment('y"}}')
    assert heard == ["x", "y", {"b": "xy"}]


def test_it_decorates() -> None:
    accumulator = JsonFragmentAccumulator()
    heard: list[object] = []

    @accumulator.on("a", once=True)
    def listen(update: JsonFragmentUpdate) -> str:
        heard.append(update.value)
        return "still a function"

    accumulator.add_fragment('{"a": 1} {"a": 2}')
    assert heard == [1]
    assert listen(accumulator.add_fragment("3 ")[0]) == "still a function"


def test_a_callback_that_raises_loses_nothing() -> None:
    accumulator = JsonFragmentAccumulator()
    heard: list[object] = []

    def listen(update: JsonFragmentUpdate) -> None:
        heard.append(update.value)
        if update.value == 2:
            raise KeyError(update.value)

    accumulator.on("[*]", listen)
    with pytest.raises(KeyError):
        accumulator.add_fragment("[1, 2, 3")
    assert heard == [1, 2]
    updates = accumulator.add_fragment(", 4]")
    assert heard == [1, 2, 3, 4]
    assert [update.text for update in updates] == ["[", "1", "2", "3", "4", "]", None]


def test_what_came_before_an_error_is_delivered_first() -> None:
    accumulator = JsonFragmentAccumulator(on_error="raise", updates=False)
    heard: list[object] = []
    accumulator.on("[*]", lambda update: heard.append(update.value))
    with pytest.raises(JsonFragmentError):
        accumulator.add_fragment("[1, 2 x")
    assert heard == [1, 2]


def test_subscriptions_outlive_a_reset() -> None:
    accumulator = JsonFragmentAccumulator(updates=False)
    heard: list[object] = []
    accumulator.on("a", lambda update: heard.append(update.value))
    accumulator.add_fragment('{"a": 1, "b": ')
    accumulator.reset()
    accumulator.add_fragment(b'{"a": 2}')
    assert heard == [1, 2]


@pytest.mark.parametrize("pattern", ["a[", "[-1]", "", "a..b"])
def test_an_invalid_pattern_is_refused_with_a_caret(pattern: str) -> None:
    with pytest.raises(PathSyntaxError, match=r"\^"):
        JsonFragmentAccumulator().on(pattern)


def test_wrong_types_are_refused() -> None:
    accumulator = JsonFragmentAccumulator()
    wrong: Any = 3
    with pytest.raises(TypeError):
        accumulator.on(wrong)
    with pytest.raises(TypeError):
        accumulator.on("a", wrong)
    for option in ("deltas", "once"):
        with pytest.raises(TypeError):
            accumulator.on("a", **{option: wrong})


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_subscription_is_not_copied(way: Callable[[object], object]) -> None:
    """A copy would say that it is cancelled while the callback is still called."""
    subscription = JsonFragmentAccumulator().on("a", print)
    with pytest.raises(TypeError, match="a subscription cannot be copied"):
        way(subscription)


def test_a_thousand_subscriptions_each_get_their_own() -> None:
    accumulator = JsonFragmentAccumulator(updates=False)
    heard: list[tuple[int, object]] = []

    def listen(number: int) -> Callable[[JsonFragmentUpdate], None]:
        return lambda update: heard.append((number, update.value))

    for number in range(1_000):
        accumulator.on(f"items[{number}].name", listen(number))
    text = json.dumps({"items": [{"id": at, "name": f"n{at}"} for at in range(1_200)]})
    for chunk in cut_randomly(text, Random(1), most=200):
        accumulator.add_fragment(chunk)
    assert heard == [(at, f"n{at}") for at in range(1_000)]


def heavy(count: int) -> str:
    return json.dumps([{"id": at, "tags": ["a", {"deep": [at]}], "text": "x" * 50} for at in range(count)])


def counted(call: Callable[[], object], *kinds: type) -> list[int]:
    """How many objects of each kind a call makes."""
    codes: list[Any] = [vars(kind)["__init__"].__code__ for kind in kinds]
    counts = [0] * len(kinds)

    def profile(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code in codes:
            counts[codes.index(frame.f_code)] += 1

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return counts


@interpreted
def test_what_no_pattern_wants_makes_no_path_and_no_update() -> None:
    accumulator = JsonFragmentAccumulator(updates=False)
    heard: list[object] = []
    accumulator.on("wanted.name", lambda update: heard.append(update.value))
    parts = ('{"noise": ', heavy(300), ', "wanted": {"more": ', heavy(300), ', "name": ["Ada"]}}')
    chunks = [chunk for part in parts for chunk in cut_randomly(part, Random(2), most=40)]
    made = counted(lambda: list(map(accumulator.add_fragment, chunks)), PathLink, JsonFragmentUpdate)
    assert heard == [["Ada"]]
    assert made == [3, 1]  # links to the root, `wanted` and `name`; one update


@pytest.mark.parametrize("unwanted", [heavy(2_000), '"' + "x" * 300_000 + '"'])
@pytest.mark.untraced
def test_what_no_pattern_wants_is_not_kept(unwanted: str) -> None:
    accumulator = JsonFragmentAccumulator(updates=False)
    accumulator.on("answer", print, deltas=True)
    chunks = sized(unwanted, 1_000)
    accumulator.add_fragment('{"noise": ')

    def feed() -> None:
        for chunk in chunks:
            accumulator.add_fragment(chunk)

    tracemalloc.start()
    try:
        taken, _ = heap(feed)
    finally:
        tracemalloc.stop()
    assert taken < 20_000
