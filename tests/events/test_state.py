"""The pure form: states that stay as they are, can be fed again, and go into a pickle and out of it."""

import copy
import pickle
from typing import Any

import pytest

from jsontide import JsonFragmentAccumulator, Limits, Reason
from jsontide.events import EventState, JsonFragmentUpdate, feed_events, finish_events, start_events
from tests.cuts import singles

TEXTS = (
    '{"a": [1, {"b": "x\\n😀y"}, true], "a": null}\n[2.5] 7',
    '{"a": [1, @"x,", {"k" 3}, "y\\q\\"z", 4], "b": nope}\n@@\n[5]',
)


def described(updates: list[JsonFragmentUpdate]) -> list[str]:
    return list(map(repr, updates))


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("skip", [True, False])
def test_every_state_can_be_pickled_and_fed_again(text: str, skip: bool) -> None:  # noqa: FBT001
    data = text.encode()
    state = start_events(skip_errors=skip)
    for at, byte in enumerate(singles(data)):
        again: EventState = pickle.loads(pickle.dumps(state))  # noqa: S301 - our own pickle
        both = [feed_events(each, data[at:]) for each in (state, again)]
        assert described(both[0][1]) == described(both[1][1])
        assert described(finish_events(both[0][0])[1]) == described(finish_events(both[1][0])[1])
        state, _ = feed_events(state, byte)


def test_a_state_with_patterns_keeps_them_in_its_pickle() -> None:
    """What a pattern wants is kept, and counts for the limit of nodes."""
    accumulator = JsonFragmentAccumulator(updates=False, limits=Limits(max_nodes=5))
    accumulator.on("a", print)
    accumulator.on("b[*].c", print)
    accumulator.on("d", print, deltas=True)
    accumulator.add_fragment('{"x": [1, 2, 3, 4, 5], "a": [1')
    state = accumulator.state
    for each in (state, pickle.loads(pickle.dumps(state))):  # noqa: S301 - our own pickle
        assert is_too_much(each, ", 2, 3, 4, 5]")
        assert is_too_much(each, '], "b": [1, 2, 3, 4, 5, {"c": [1, 2, 3, 4, 5]}]')
        assert not is_too_much(each, '], "b": [1, 2, 3, 4, 5, 6], "d": [1, 2, 3, 4, 5, 6], "e": [1, 2, 3, 4, 5]}')


def is_too_much(state: EventState, fragment: str) -> bool:
    error = feed_events(state, fragment)[0].error
    assert error is None or error.reason is Reason.TOO_MANY_NODES
    return error is not None


@pytest.mark.parametrize("depth", [2, 511, 5_000])
def test_a_state_can_be_pickled_however_deep_its_values_are(depth: int) -> None:
    state = start_events(limits=Limits(max_depth=2 * depth + 1))
    state, _ = feed_events(state, '[[], {}, {"b": [1, "2"], "b": [3]}, ' + '{"a": [' * depth + "]}" * depth + ", 4, ")
    again: EventState = pickle.loads(pickle.dumps(state))  # noqa: S301 - our own pickle
    both: list[Any] = [feed_events(each, "[5]]")[1][-1].value for each in (state, again)]
    for value in both:
        inner = value.pop(3)
        for _ in range(depth - 1):
            inner = inner["a"][0]
        assert inner == {"a": []}
        assert value == [[], {}, {"b": [3]}, 4, [5]]


def test_a_state_is_its_own_copy() -> None:
    state, _ = feed_events(start_events(), "[1")
    assert copy.copy(state) is state
    assert copy.deepcopy(state) is state
    assert repr(state) == "<EventState at index 2>"
    assert state.index == 2


def test_a_state_knows_whether_it_is_over_or_complete() -> None:
    state, _ = feed_events(start_events(documents=1), "[]")
    assert (state.is_complete, state.is_over, state.error) == (True, False, None)
    assert finish_events(state) == (state, [])
    assert feed_events(state, "") == (state, [])
    over, updates = feed_events(state, "!")
    assert over.is_over
    assert not over.is_complete
    assert over.error is updates[0].value
    assert feed_events(over, "more") == (over, [])
    assert finish_events(over) == (over, [])
    assert state.is_complete


def test_feeding_a_state_twice_leaves_it_as_it_was() -> None:
    half, _ = feed_events(start_events(), '{"a": ["x')
    first = feed_events(half, 'y"], "b": 1}')[1]
    second = feed_events(half, 'z"]}')[1]
    assert first[-1].value == {"a": ["xy"], "b": 1}
    assert second[-1].value == {"a": ["xz"]}
    assert described(feed_events(half, 'y"], "b": 1}')[1]) == described(first)


def test_a_state_keeps_the_limit_of_its_own_document() -> None:
    text = "[1, 2] \n" * 3
    states = [start_events(limits=Limits(max_chars=12))]
    for character in singles(text):
        states.append(feed_events(states[-1], character)[0])
    for at, state in enumerate(states):
        begin = max(text.rfind("[", 0, at), 0)
        for each in (state, pickle.loads(pickle.dumps(state))):  # noqa: S301 - our own pickle
            error = feed_events(each, " " * 20)[0].error
            assert error is not None
            assert (error.reason, error.index) == (Reason.TEXT_TOO_LONG, begin + 12)


def test_bytes_that_break_off_are_an_error_at_the_end() -> None:
    state, _ = feed_events(start_events(), b'"\xc3')
    error: Any = finish_events(state)[1][0].value
    assert error.reason is Reason.UNEXPECTED_END
    assert "the rest of the UTF-8 sequence at byte 1" in error.message
    error = feed_events(state, b'"')[1][-1].value
    assert error.reason is Reason.BAD_UTF8


@pytest.mark.parametrize("wrong", [None, "state", 1, EventState])
def test_what_is_no_state_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError):
        feed_events(wrong, "[]")
    with pytest.raises(TypeError):
        finish_events(wrong)
