"""Texts that were cut inside a surrogate pair, between the two UTF-16 halves of a character.

A half that stays alone is shown as it came; in arguments and answers it is damage, and nothing of them can be run.
"""

import json
import pickle
from collections.abc import Callable, Iterable
from functools import reduce
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide import MISSING
from jsontide.messages import (
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
from jsontide.messages.message import FinalAnswer
from jsontide.streams import stream_message
from tests.messages.telling import call, delta, end, fed, finished, shown_answer, text, trail, values
from tests.relations import grows
from tests.strategies import randoms

texts = st.text(st.sampled_from("aé日😀𝄞\U0010ffff\U00010000")).filter(bool)
FIRST, SECOND = "\ud83d", "\ude00"
LOST = "half of a character stands alone in the text; the other half is lost"
ENDS: tuple[Callable[[MessageState], MessageState], ...] = (
    finish_message,
    stop_message,
    lambda state: fail_message(state, "reset"),
)


def units(whole: str) -> list[str]:
    """The code units of UTF-16, each as a text of its own."""
    return between(whole, range(len(whole.encode("utf-16-le")) // 2 + 1))


def cut(whole: str, random: Random) -> list[str]:
    size = len(whole.encode("utf-16-le")) // 2
    return between(whole, sorted([0, *(random.randint(0, size) for _ in range(random.randint(0, size))), size]))


def between(whole: str, places: Iterable[int]) -> list[str]:
    """The pieces between code units."""
    data = whole.encode("utf-16-le")
    return [data[2 * start : 2 * end].decode("utf-16-le", "surrogatepass") for start, end in pairwise(places)]


@pytest.mark.parametrize("name", ["content", "reasoning", "refusal"])
@given(texts, randoms)
def test_a_text_cut_at_any_unit_is_whole_and_only_grows(name: str, whole: str, random: Random) -> None:
    for pieces in (units(whole), cut(whole, random)):
        states = trail(delta(**{name: piece}) for piece in pieces)
        shown = [getattr(state.message, name) for state in states]
        assert shown[-1] == whole
        assert all(whole.startswith(one) for one in shown)
        assert getattr(finish_message(states[-1]).message, name) == whole


@given(texts, randoms)
def test_arguments_cut_at_any_unit_are_whole_and_only_grow(whole: str, random: Random) -> None:
    value = {whole: [whole, 1]}
    document = json.dumps(value, ensure_ascii=False)
    states = trail(call(piece, index=0, name="say") for piece in cut(document, random))
    shown: list[Any] = [made.partial for state in states for made in state.message.tool_calls]
    assert all(grows(old, new) for old, new in pairwise(shown))
    assert all(document.startswith(made.arguments) for state in states for made in state.message.tool_calls)
    ended = finish_message(feed_message(states[-1], end()))
    assert values(ended) == [(None, "say", value)]
    assert ended.message.tool_calls[0].arguments == document


@given(texts, randoms)
def test_states_with_a_half_can_be_fed_again_and_pickled(whole: str, random: Random) -> None:
    chunks = [delta(content=unit, tool_calls=call(unit, index=0).choices[0].delta.tool_calls) for unit in units(whole)]
    at = random.randint(0, len(chunks))
    state = fed(chunks[:at])
    feed_message(state, delta(content="x", tool_calls=call("x", index=0).choices[0].delta.tool_calls))
    for same in (state, pickle.loads(pickle.dumps(state))):  # noqa: S301
        last = reduce(feed_message, chunks[at:], same)
        assert (last.message.content, last.message.tool_calls[0].arguments) == (whole, whole)


@pytest.mark.parametrize(
    ("pieces", "whole"),
    [
        ([FIRST], FIRST),
        (["a" + FIRST], "a" + FIRST),
        ([FIRST, ""], FIRST),
        ([FIRST, "a"], FIRST + "a"),
        ([FIRST, FIRST, SECOND], FIRST + "😀"),
        ([SECOND], SECOND),
        ([SECOND, FIRST], SECOND + FIRST),
        (["a", SECOND], "a" + SECOND),
        ([FIRST, "", SECOND + "b"], "😀b"),
    ],
)
class TestAHalfAlone:
    def test_stays_as_it_came_in_a_text(self, pieces: list[str], whole: str) -> None:
        for conclude in ENDS:
            assert conclude(fed(map(text, pieces))).message.content == whole
            assert conclude(fed(delta(reasoning=piece) for piece in pieces)).message.reasoning == whole
            assert conclude(fed(delta(refusal=piece) for piece in pieces)).message.refusal == whole

    def test_stays_as_it_came_in_arguments_that_cannot_be_run(self, pieces: list[str], whole: str) -> None:
        chunks = [call(piece, index=0, name="say") for piece in pieces]
        for conclude in ENDS:
            assert conclude(fed(chunks)).message.tool_calls[0].arguments == whole
        said = [call('"', index=0, name="say"), *chunks, call('"', index=0), end()]
        state = finished(said)
        (shown,) = state.message.tool_calls
        assert (shown.arguments, shown.partial) == (f'"{whole}"', whole)
        if whole == "😀b":
            assert values(state) == [(None, "say", whole)]
            return
        assert (shown.status, state.outcome) == (Outcome.INVALID, Outcome.INVALID)
        assert not hasattr(shown, "arguments_value")
        assert [(error.kind, error.source, error.message) for error in state.errors] == [(ErrorKind.JSON, 0, LOST)]

    def test_in_an_answer_leaves_it_a_partial(self, pieces: list[str], whole: str) -> None:
        for options in ({}, {"emulate_structured_output": True}):
            config = MessageConfig(response_schema={"type": "object"}, **options)  # type: ignore[arg-type]
            said = ['{"a": "', *pieces, '"}']
            chunks = [call(piece, index=0, name="output") for piece in said] if options else list(map(text, said))
            message = finished([*chunks, end("stop")], config).message
            assert shown_answer(message) == {"a": whole}
            if whole == "😀b":
                assert (message.outcome, message.answer) == (Outcome.COMPLETE, {"a": whole})
                continue
            assert message.outcome is Outcome.INVALID
            assert not isinstance(message._answer, FinalAnswer)
            assert [(error.kind, error.source) for error in message.errors] == [(ErrorKind.JSON, "content")]
            assert LOST in message.feedback()


def test_a_half_after_whole_arguments_makes_them_invalid() -> None:
    for pieces in (["{}" + FIRST], ["{}", FIRST]):
        said = [call("", index=0, name="say"), *(call(piece, index=0) for piece in pieces), end()]
        (shown,) = finished(said).message.tool_calls
        assert shown.status is Outcome.INVALID


@pytest.mark.parametrize("pieces", [[FIRST], ["", FIRST], [" ", FIRST, ""], [SECOND], [FIRST, FIRST]])
def test_a_half_is_no_empty_arguments(pieces: list[str]) -> None:
    (shown,) = finished([*(call(piece, index=0, name="say") for piece in pieces), end()]).message.tool_calls
    assert (shown.status, shown.arguments) == (Outcome.INVALID, "".join(pieces))


def test_no_arguments_are_not_damaged() -> None:
    assert values(finished([call("", index=0, name="say"), end()])) == [(None, "say", {})]


@pytest.mark.parametrize("piece", [FIRST + SECOND, "a" + FIRST + SECOND + "b"])
def test_halves_that_stand_side_by_side_in_one_piece_are_not_joined(piece: str) -> None:
    """No JSON gives such a text: `json.loads` joins two escapes."""
    (shown,) = finished([call(f'"{piece}"', index=0, name="say"), end()]).message.tool_calls
    assert shown.status is Outcome.INVALID


@pytest.mark.parametrize("arguments", [{"a": FIRST}, {FIRST: "a"}, {"a": [{"b": "x" + SECOND}]}])
def test_a_half_in_arguments_that_are_an_object_is_damage_too(arguments: dict[str, object]) -> None:
    (shown,) = finished([call(arguments, index=0, name="say"), end()]).message.tool_calls
    assert (shown.status, shown.partial) == (Outcome.INVALID, arguments)


def test_a_call_that_was_cut_off_may_have_lost_the_other_half_at_the_end_only() -> None:
    begun = call('{"a": "' + FIRST, index=0, name="say")
    for conclude, outcome in zip(ENDS, (Outcome.TRUNCATED, Outcome.CANCELLED, Outcome.TRUNCATED), strict=True):
        assert conclude(fed([begun])).message.tool_calls[0].status is outcome


def test_one_damaged_call_does_not_affect_the_others() -> None:
    said = [call(f'"{FIRST}"', index=0, name="say"), call('"é😀"', index=1, name="say"), end()]
    damaged, other = finished(said).message.tool_calls
    assert (damaged.status, other.status) == (Outcome.INVALID, Outcome.COMPLETE)


def test_a_half_in_prose_beside_calls_or_around_them_is_shown_as_it_came() -> None:
    said = [text("So: " + FIRST), delta(reasoning=SECOND), call("{}", index=0, name="say"), end()]
    for config in (None, MessageConfig(response_schema={"type": "object"}, tools=[Tool("say")])):
        state = finished(said, config)
        assert (state.outcome, state.message.content) == (Outcome.COMPLETE, "So: " + FIRST)
        assert values(state) == [(None, "say", {})]


def test_a_long_text_is_searched_to_its_end_and_to_its_beginning() -> None:
    for at in (0, 1, 50, 98, 99):
        pieces = ["é" * 700] * 100
        pieces[at] = pieces[at][:350] + FIRST + pieces[at][350:]
        said = [call(f'"{pieces[0]}', index=0, name="say"), *(call(piece, index=0) for piece in pieces[1:])]
        (shown,) = finished([*said, call('"', index=0), end()]).message.tool_calls
        assert shown.status is Outcome.INVALID


@pytest.mark.parametrize("options", [{}, {"emulate_structured_output": True}])
def test_an_answer(options: dict[str, Any]) -> None:
    config = MessageConfig(response_schema={"type": "object"}, **options)
    pieces = ['{"a": "', FIRST, SECOND, '"}']
    said = [call(piece, index=0, name="output") for piece in pieces] if options else list(map(text, pieces))
    shown = [shown_answer(state.message) for state in trail(said, config)]
    assert shown == [MISSING, {"a": ""}, {"a": ""}, {"a": "😀"}, {"a": "😀"}]
    assert finished([*said, end("stop")], config).message.answer == {"a": "😀"}
    assert shown_answer(finished([*said[:2], end("stop")], config).message) == {"a": FIRST}


def test_all_arguments_so_far() -> None:
    wholes = ['{"a": "', '{"a": "' + FIRST, '{"a": "' + FIRST, '{"a": "😀', '{"a": "😀"}']
    config = MessageConfig(cumulative_arguments=True)
    states = trail((call(whole, index=0, name="say") for whole in wholes), config)
    assert values(finish_message(feed_message(states[-1], end()))) == [(None, "say", {"a": "😀"})]
    assert states[3] is states[2]


@pytest.mark.parametrize("streamed", [["a" + FIRST, SECOND + "b"], ["a" + FIRST, SECOND], ["a" + FIRST], ["a"], []])
def test_a_text_that_is_repeated_whole_has_the_half_that_did_not_come(streamed: list[str]) -> None:
    deltas = [{"type": "response.output_text.delta", "delta": piece} for piece in streamed]
    done = {"type": "response.output_text.done", "text": "a😀b"}
    *_, message = stream_message([{"type": "response.created"}, *deltas, done, done])
    assert message.content == "a😀b"


@pytest.mark.parametrize(("last", "whole"), [(SECOND, "a😀"), ("", "a" + FIRST), ("b", "a" + FIRST + "b")])
def test_a_half_that_is_lost_in_partial_arguments_is_not_written_as_an_escape(last: str, whole: str) -> None:
    """It would look as if it had been meant."""
    calls: list[dict[str, object]] = [{"name": "say", "willContinue": True}]
    for piece, goes_on in (("a" + FIRST, True), (last, False)):
        partial = {"jsonPath": "$.it", "stringValue": piece, "willContinue": goes_on}
        calls.append({"partialArgs": [partial], "willContinue": True})
    chunks = [{"candidates": [{"content": {"parts": [{"functionCall": one}]}}]} for one in [*calls, {}]]
    *_, message = stream_message([*chunks, {"candidates": [{"finishReason": "STOP"}]}])
    (shown,) = message.tool_calls
    assert (shown.arguments, shown.partial) == (f'{{"it":"{whole}"}}', {"it": whole})
    assert shown.status is (Outcome.COMPLETE if last == SECOND else Outcome.INVALID)


def test_the_first_state_is_not_changed() -> None:
    start = start_message()
    assert feed_message(start, text(FIRST)) is not start
    assert start.message.content == ""
