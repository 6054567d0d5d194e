"""Texts that were cut inside a surrogate pair, between the two UTF-16 halves of a character."""

import json
import pickle
from collections.abc import Iterable
from functools import reduce
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide import MISSING
from jsontide.adapters import stream_message
from jsontide.messages import (
    MessageConfig,
    MessageState,
    Outcome,
    fail_message,
    finish_message,
    reduce_chunk,
    start_message,
    stop_message,
)
from tests.messages.telling import call, delta, end, fed, finished, shown_answer, text, trail, values
from tests.relations import grows
from tests.strategies import randoms

texts = st.text(st.sampled_from("aé日😀𝄞\U0010ffff\U00010000")).filter(bool)
FIRST, SECOND = "\ud83d", "\ude00"
ENDS = (finish_message, stop_message, lambda state: fail_message(state, "reset"))


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
    ended = finish_message(reduce_chunk(states[-1], end()))
    assert values(ended) == [(None, "say", value)]
    assert ended.message.tool_calls[0].arguments == document


@given(texts, randoms)
def test_states_with_a_half_can_be_fed_again_and_pickled(whole: str, random: Random) -> None:
    chunks = [delta(content=unit, tool_calls=call(unit, index=0).choices[0].delta.tool_calls) for unit in units(whole)]
    at = random.randint(0, len(chunks))
    state = fed(chunks[:at])
    reduce_chunk(state, delta(content="x", tool_calls=call("x", index=0).choices[0].delta.tool_calls))
    for same in (state, pickle.loads(pickle.dumps(state))):  # noqa: S301
        last = reduce(reduce_chunk, chunks[at:], same)
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

    def test_stays_as_it_came_in_arguments(self, pieces: list[str], whole: str) -> None:
        chunks = [call(piece, index=0, name="say") for piece in pieces]
        for conclude in ENDS:
            assert conclude(fed(chunks)).message.tool_calls[0].arguments == whole
        said = [call('"', index=0, name="say"), *chunks, call('"', index=0), end()]
        assert values(finished(said)) == [(None, "say", whole)]


def test_a_half_after_whole_arguments_makes_them_invalid() -> None:
    for pieces in (["{}" + FIRST], ["{}", FIRST]):
        said = [call("", index=0, name="say"), *(call(piece, index=0) for piece in pieces), end()]
        (shown,) = finished(said).message.tool_calls
        assert shown.status is Outcome.INVALID


def test_a_half_is_no_empty_arguments() -> None:
    (shown,) = finished([call(FIRST, index=0, name="say"), end()]).message.tool_calls
    assert (shown.status, shown.arguments) == (Outcome.INVALID, FIRST)


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
    assert values(finish_message(reduce_chunk(states[-1], end()))) == [(None, "say", {"a": "😀"})]
    assert states[3] is states[2]


def of_stream(*events: object) -> MessageState:
    stream = stream_message([json.dumps(event).encode() + b"\n" for event in events])
    list(stream)
    return stream.state.message_state


class TestProviders:
    def test_chat(self) -> None:
        deltas = [{"content": "a" + FIRST}, {"content": SECOND + "b"}, {"reasoning": FIRST}, {"reasoning": SECOND}]
        chunks = [{"choices": [{"index": 0, "delta": said}]} for said in deltas]
        message = of_stream(*chunks).message
        assert (message.content, message.reasoning) == ("a😀b", "😀")

    @pytest.mark.parametrize("streamed", [["a" + FIRST, SECOND + "b"], ["a" + FIRST, SECOND], ["a" + FIRST], ["a"], []])
    def test_responses_whose_text_is_repeated_at_the_end(self, streamed: list[str]) -> None:
        deltas = [{"type": "response.output_text.delta", "delta": piece} for piece in streamed]
        done = {"type": "response.output_text.done", "text": "a😀b"}
        begun = {"type": "response.created"}
        assert of_stream(begun, *deltas, done, done).message.content == "a😀b"

    def test_responses_with_a_custom_tool(self) -> None:
        item = {"type": "custom_tool_call", "call_id": "c", "name": "say", "input": ""}
        kinds = "response.output_item.added", "response.custom_tool_call_input.delta", "response.output_item.done"
        state = of_stream(
            {"type": kinds[0], "output_index": 0, "item": item},
            {"type": kinds[1], "output_index": 0, "delta": 'x"' + FIRST},
            {"type": kinds[1], "output_index": 0, "delta": SECOND},
            {"type": kinds[2], "output_index": 0, "item": {**item, "input": 'x"😀'}},
            {"type": "response.completed", "response": {}},
        )
        assert values(state) == [("c", "say", 'x"😀')]

    @pytest.mark.parametrize(("last", "whole"), [(SECOND, "a😀"), ("", "a" + FIRST), ("b", "a" + FIRST + "b")])
    def test_gemini_with_partial_arguments(self, last: str, whole: str) -> None:
        partials = [("a" + FIRST, True), (last, False)]
        calls: list[dict[str, object]] = [{"name": "say", "willContinue": True}]
        for piece, goes_on in partials:
            partial = {"jsonPath": "$.it", "stringValue": piece, "willContinue": goes_on}
            calls.append({"partialArgs": [partial], "willContinue": True})
        parts = [[{"functionCall": one}] for one in [*calls, {}]]
        chunks = [{"candidates": [{"content": {"parts": part}}]} for part in parts]
        state = of_stream(*chunks, {"candidates": [{"finishReason": "STOP"}]})
        assert values(state) == [(None, "say", {"it": whole})]

    def test_gemini_with_halves_side_by_side_never_raises(self) -> None:
        partial = {"jsonPath": "$.it", "stringValue": FIRST + SECOND}
        part = {"functionCall": {"name": "say", "partialArgs": [partial]}}
        *_, message = stream_message([{"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]}])
        assert not hasattr(message.tool_calls[0], "arguments_value")


def test_the_first_state_is_not_changed() -> None:
    start = start_message()
    assert reduce_chunk(start, text(FIRST)) is not start
    assert start.message.content == ""
