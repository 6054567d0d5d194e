"""Arguments that come as values at JSON paths."""

import json
import pickle
from collections.abc import Callable
from enum import Enum
from functools import reduce
from statistics import median
from types import SimpleNamespace
from typing import Any, Literal

import pytest
from hypothesis import given

from jsontide.messages import Message, Outcome
from jsontide.providers import StreamState, feed_stream, start_stream
from jsontide.providers.gemini import read_path
from jsontide.streams import stream_message
from jsontide.testing import Recording
from tests import strategies
from tests.meters import Meter, untraced
from tests.relations import grows
from tests.test_cost import SLACK, SMALL


def part(**call: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": [{"functionCall": call}]}}]}


def partial(path: str, **value: Any) -> dict[str, Any]:
    return {"jsonPath": path, **value}


STOP = {"candidates": [{"finishReason": "STOP"}]}


def messages(*events: Any) -> list[Message]:
    return list(stream_message([*events, STOP]))


def flattened(value: Any, path: str = "$") -> list[dict[str, Any]]:
    """The partial arguments that write a value, in the order of its text; empty containers cannot be said."""
    match value:
        case dict():
            return [one for key, child in value.items() for one in flattened(child, f"{path}[{json.dumps(key)}]")]
        case list():
            return [one for at, child in enumerate(value) for one in flattened(child, f"{path}[{at}]")]
        case str():
            half = len(value) // 2
            return [
                partial(path, stringValue=value[:half], willContinue=True),
                partial(path, stringValue=value[half:], willContinue=True),
                partial(path, stringValue=""),
            ]
        case bool():
            return [partial(path, boolValue=value)]
        case None:
            return [partial(path, nullValue="NULL_VALUE")]
        case _:
            return [partial(path, numberValue=value)]


def can_be_encoded(text: str) -> bool:
    try:
        return bool(text.encode())
    except UnicodeEncodeError:  # half a character
        return False


@given(strategies.speakable)
def test_partial_arguments_grow_to_the_value_that_they_write(value: dict[str, Any]) -> None:
    steps = [part(partialArgs=[one], willContinue=True) for one in flattened(value)]
    told = messages(part(name="cook", willContinue=True), *steps, part())
    (call,) = told[-1].tool_calls
    shown = [message.tool_calls[0].partial for message in told if message.tool_calls]
    assert shown[-1] == value  # numbers travel as doubles
    assert (call.status is Outcome.COMPLETE) is can_be_encoded(json.dumps(value, ensure_ascii=False))
    if call.status is Outcome.COMPLETE:
        assert call.arguments_value == value
    assert all(map(grows, shown, shown[1:]))


@pytest.mark.parametrize("form", ["sse", "ndjson"])
@pytest.mark.untraced
def test_law_9_partial_arguments_cut_at_any_byte_cannot_be_run(form: Literal["sse", "ndjson"]) -> None:
    steps = [part(partialArgs=[one], willContinue=True) for one in flattened({"to": "Zoë", "amount": 5})]
    data = (
        Recording.of_events([part(name="pay", willContinue=True), *steps, part(), STOP])
        .encode(form)
        .removesuffix(b"\n")
    )
    for place in range(len(data) - 1):
        *_, message = stream_message([data[:place]])
        assert message.outcome is Outcome.TRUNCATED
        assert all(call.status is not Outcome.COMPLETE for call in message.tool_calls)
    *_, message = stream_message([data + b"\n"])
    assert [call.status for call in message.tool_calls] == [Outcome.COMPLETE]


def test_the_text_grows_with_every_part() -> None:
    told = messages(
        part(name="cook", willContinue=True),
        part(partialArgs=[partial("$.name", stringValue="Las", willContinue=True)], willContinue=True),
        part(partialArgs=[partial("$.name", stringValue="agne", willContinue=True)], willContinue=True),
        part(partialArgs=[partial("$.name", stringValue="")], willContinue=True),
        part(partialArgs=[partial("$.serves", numberValue=4.0)]),
    )
    texts = [message.tool_calls[0].arguments for message in told]
    assert texts[1:3] == ['{"name":"Las', '{"name":"Lasagne']
    assert json.loads(texts[-1]) == {"name": "Lasagne", "serves": 4}


def test_parts_of_several_keys_in_one_response_do_not_wait_for_each_other() -> None:
    keys = [partial("$.kind", stringValue="pasta"), partial("$.name", stringValue="Las", willContinue=True)]
    told = messages(part(name="cook", willContinue=True), part(partialArgs=keys, willContinue=True))
    assert told[1].tool_calls[0].arguments == '{"kind":"pasta","name":"Las'


@pytest.mark.parametrize(
    "parts",
    {
        "through a string": [partial("$.a", stringValue="x"), partial("$.a.b", numberValue=1)],
        "an element far behind": [partial("$.a[3]", numberValue=1)],
        "a number twice": [partial("$.a", numberValue=1), partial("$.a", numberValue=2)],
        "no number of JSON": [partial("$.a", numberValue=float("inf"))],
        "a number that is too long": [partial("$.a", numberValue=10**5000)],
        "a path that is too deep": [partial("$" + ".a" * 10_000, numberValue=1)],
        "no value": [partial("$.a")],
        "a string that goes on": [partial("$.a", stringValue="x", willContinue=True)],
        "a string that goes on before another": [
            partial("$.a", stringValue="x", willContinue=True),
            partial("$.b", stringValue="y"),
        ],
        "more of a string that was closed": [partial("$.a", stringValue="x"), partial("$.a", stringValue="y")],
        "a number in a string": [
            partial("$.a", stringValue="x", willContinue=True),
            partial("$.a", numberValue=1),
        ],
        "no text in a string": [
            partial("$.a", stringValue="x", willContinue=True),
            partial("$.a", stringValue=1),
        ],
        "no path": [partial("", numberValue=1)],
        "the root": [partial("$", numberValue=1)],
        "a pattern": [partial("$..a", numberValue=1)],
    }.values(),
)
def test_parts_that_do_not_fit_together_cannot_be_run(parts: list[dict[str, Any]]) -> None:
    steps = [part(partialArgs=[one], willContinue=True) for one in parts]
    begun = part(name="cook", willContinue=True)
    at_once = part(name="cook", partialArgs=parts)
    for events in ([begun, *steps, part()], [begun, part(partialArgs=parts)], [at_once]):
        (call,) = messages(*events)[-1].tool_calls
        assert call.status in {Outcome.TRUNCATED, Outcome.INVALID}


@pytest.mark.parametrize("unclear", ["true", "false", 1, 0, [], {}, "", 0.0])
class TestAFlagThatIsNeitherYesNorNo:
    """Nobody knows whether the rest is still to come."""

    @pytest.mark.parametrize("name", ["willContinue", "will_continue"])
    def test_of_a_call(self, unclear: object, name: str) -> None:
        said: list[dict[str, Any]] = [
            {"args": {"to": "Zoe"}},
            {"partialArgs": [partial("$.to", stringValue="Zoe")]},
            {},
        ]
        for more in said:
            for end in ([], [part()], [part(args={"to": "Zoe", "all": True})]):
                events = [part(name="pay", **more, **{name: unclear}), *end]
                (call,) = messages(*events)[-1].tool_calls
                assert call.status in {Outcome.TRUNCATED, Outcome.INVALID}

    def test_of_a_call_that_has_begun(self, unclear: object) -> None:
        more = part(partialArgs=[partial("$.to", stringValue="Zoe")], willContinue=unclear)
        (call,) = messages(part(name="pay", willContinue=True), more, part())[-1].tool_calls
        assert call.status is Outcome.TRUNCATED

    @pytest.mark.parametrize(
        "value", [{"stringValue": "x"}, {"numberValue": 1}, {"boolValue": True}, {"nullValue": None}]
    )
    def test_of_a_value(self, unclear: object, value: dict[str, Any]) -> None:
        for parts in (
            [partial("$.a", **value, willContinue=unclear)],
            [partial("$.b", stringValue="", willContinue=True)],
        ):
            told = [*parts, partial("$.b", stringValue="y", willContinue=unclear)]
            (call,) = messages(part(name="pay", partialArgs=told))[-1].tool_calls
            assert call.status is Outcome.TRUNCATED


def test_a_value_of_a_wrong_type_is_no_null() -> None:
    fields = {"string_value": None, "number_value": "5", "bool_value": None, "null_value": None}
    strange = SimpleNamespace(json_path="$.a", will_continue=None, **fields)
    (call,) = messages(part(name="pay", partialArgs=[strange]))[-1].tool_calls
    assert call.status is Outcome.TRUNCATED


SHAPES: dict[str, Callable[[int], dict[str, Any]]] = {
    "members": lambda at: partial(f"$.k{at}", numberValue=at),
    "elements": lambda at: partial(f"$.a[{at}]", numberValue=at),
    "objects": lambda at: partial(f"$.a[{at // 2}].k{at % 2}", stringValue="as told"),
    "one string": lambda _: partial("$.a", stringValue="as told", willContinue=True),
    "strings": lambda at: partial(f"$.a.k{at // 2}", stringValue="x"[at % 2 :], willContinue=not at % 2),
}


class TestGrowth:
    """What a part costs does not depend on how many came before it."""

    @staticmethod
    def parts(shape: str, start: int, end: int) -> list[dict[str, Any]]:
        return list(map(SHAPES[shape], range(start, end)))

    @pytest.mark.parametrize("shape", SHAPES)
    def test_of_many_events(self, meter: Meter, shape: str) -> None:
        def cost(size: int) -> float:
            told = [part(partialArgs=[one], willContinue=True) for one in self.parts(shape, 0, size + 20)]
            begun = [part(name="cook", willContinue=True), *told[:size]]
            state = untraced(lambda: reduce(feed_stream, begun, start_stream()))
            costs = []
            for event in told[size:]:
                work, state = meter(lambda before=state, event=event: feed_stream(before, event))  # type: ignore[misc]
                costs.append(work)
            return median(costs)

        assert cost(2_000) <= SLACK[meter] * cost(100) + SMALL[meter]

    @pytest.mark.long
    @pytest.mark.parametrize("shape", SHAPES)
    def test_of_one_event(self, meter: Meter, shape: str) -> None:
        def cost(size: int) -> float:
            event = part(name="cook", partialArgs=self.parts(shape, 0, size))
            return meter(lambda: feed_stream(start_stream(), event))[0] / size

        assert cost(4_000) <= SLACK[meter] * cost(400) + SMALL[meter]

    @pytest.mark.untraced
    def test_of_very_many_in_one_event(self) -> None:
        parts = self.parts("objects", 0, 32_000)
        (call,) = messages(part(name="cook", partialArgs=parts))[-1].tool_calls
        assert call.status is Outcome.COMPLETE
        assert len(json.loads(call.arguments)["a"]) == 16_000

    def test_an_old_state_goes_its_own_way(self) -> None:
        def told(state: StreamState, path: str, **said: Any) -> StreamState:
            return feed_stream(state, part(partialArgs=[partial(path, numberValue=2)], **said))

        state = feed_stream(start_stream(), part(name="cook", willContinue=True))
        for at in range(5):
            state = told(state, f"$.k{at}", willContinue=True)
        other = told(state, "$.x", willContinue=True)
        copied = pickle.loads(pickle.dumps(state))  # noqa: S301 - our own
        before = "".join(f'"k{at}":2,' for at in range(5))
        for branch, key in ((state, "x"), (other, "y"), (state, "y"), (copied, "z"), (copied, "x")):
            more = '"x":2,' if branch is other else ""
            assert told(branch, f"$.{key}").message.tool_calls[0].arguments == f'{{{before}{more}"{key}":2}}'


def test_a_string_that_is_closed_twice_is_closed() -> None:
    closed = [partial("$.a", stringValue="x"), partial("$.a", stringValue=""), partial("$.a")]
    (call,) = messages(part(name="cook", partialArgs=closed))[-1].tool_calls
    assert call.arguments == '{"a":"x"}'
    assert call.status is Outcome.COMPLETE


def test_every_kind_of_value_is_written_as_json() -> None:
    value = {"text": "é", "yes": True, "no": False, "none": None, "number": 1.5, "list": ["a", True, None]}
    (call,) = messages(part(name="cook", partialArgs=flattened(value)))[-1].tool_calls
    assert call.status is Outcome.COMPLETE
    assert call.arguments_value == value


@pytest.mark.parametrize("strange", ["$.a", {"a": 1}, 5])
def test_parts_that_are_no_array_cannot_be_run(strange: object) -> None:
    for events in ([part(name="cook", partialArgs=strange)], [part(name="cook", willContinue=True)]):
        (call,) = messages(*events, part(partialArgs=strange))[-1].tool_calls[:1]
        assert call.status is Outcome.TRUNCATED


@pytest.mark.parametrize("said", [{"args": {"a": 1}}, {"partialArgs": [partial("$.a", numberValue=1)]}])
def test_arguments_of_a_call_without_a_name_are_not_passed_over(said: dict[str, Any]) -> None:
    whole = part(name="cook", args={"b": 1})
    message = messages(whole, part(), part(**said), whole)[-1]
    assert [call.arguments for call in message.tool_calls] == ['{"b":1}', '{"a":1}', '{"b":1}']
    assert [call.status.name for call in message.tool_calls] == ["INVALID", "INVALID", "INVALID"]
    assert message.outcome is Outcome.INVALID


def test_a_call_that_does_not_end_before_the_next_one_cannot_be_run() -> None:
    told = messages(
        part(name="cook", willContinue=True),
        part(name="cook", args={"a": 1}),
    )
    first, second = told[-1].tool_calls
    assert (first.status, second.status) == (Outcome.TRUNCATED, Outcome.COMPLETE)


def test_more_of_a_string_after_another_was_written_cannot_be_run() -> None:
    pieces = [partial("$.a", stringValue="x"), partial("$.b", stringValue="y"), partial("$.a", stringValue="z")]
    steps = [part(partialArgs=[piece], willContinue=True) for piece in pieces]
    (call,) = messages(part(name="cook", willContinue=True), *steps, part())[-1].tool_calls
    assert call.status is Outcome.TRUNCATED


def test_arguments_that_come_whole_though_the_call_goes_on_are_not_lost() -> None:
    rest = part(partialArgs=[partial("$.to", stringValue="Zoe")], willContinue=True)
    for events, wanted in (
        ([part(name="pay", args={"amount": 1}, willContinue=True), part()], {"amount": 1}),
        ([part(name="pay", args={"amount": 1}, willContinue=True), rest, part()], {"amount": 1, "to": "Zoe"}),
        (
            [part(name="pay", willContinue=True), rest, part(args={"to": "Zoe", "amount": 1})],
            {"amount": 1, "to": "Zoe"},
        ),
    ):
        (call,) = messages(*events)[-1].tool_calls
        assert call.status is Outcome.COMPLETE
        assert call.arguments_value == wanted


@pytest.mark.parametrize("strange", ["{}", [1], 5, {"amount": {1}}, {"amount": float("nan")}])
def test_arguments_that_are_no_object_of_json_cannot_be_run_though_the_call_goes_on(strange: object) -> None:
    (call,) = messages(part(name="pay", args=strange, willContinue=True), part())[-1].tool_calls
    assert call.status is Outcome.TRUNCATED


def test_a_string_that_a_limit_cut_off_is_not_closed() -> None:
    piece = partial("$.to", stringValue="Zo", willContinue=True)
    limit = {"candidates": [{"finishReason": "MAX_TOKENS"}]}
    *_, last = stream_message([part(name="pay", willContinue=True), part(partialArgs=[piece]), limit])
    assert [call.status for call in last.tool_calls] == [Outcome.TRUNCATED]


@pytest.mark.parametrize(
    ("call", "reason", "status"),
    [
        ({}, "STOP", Outcome.COMPLETE),
        ({}, "MAX_TOKENS", Outcome.TRUNCATED),
        ({"args": None}, "MAX_TOKENS", Outcome.TRUNCATED),
        ({"args": {}}, "MAX_TOKENS", Outcome.COMPLETE),
        ({"args": {}}, "OTHER", Outcome.TRUNCATED),
        ({"willContinue": True}, "STOP", Outcome.TRUNCATED),
    ],
)
def test_a_call_without_arguments_is_whole_if_that_is_told(call: dict[str, Any], reason: str, status: Outcome) -> None:
    *_, last = stream_message([part(name="now", **call), {"candidates": [{"finishReason": reason}]}])
    assert [one.status for one in last.tool_calls] == [status]


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [
        ("UNEXPECTED_TOOL_CALL", Outcome.INVALID),
        ("MALFORMED_FUNCTION_CALL", Outcome.INVALID),
        ("SAFETY", Outcome.FILTERED),
        ("LANGUAGE", Outcome.FILTERED),
    ],
)
def test_ends_after_which_nothing_can_be_run(reason: str, outcome: Outcome) -> None:
    end = {"candidates": [{"finishReason": reason}]}
    *_, last = stream_message([part(name="pay", args={"amount": 1}), end])
    assert (last.outcome, [call.status for call in last.tool_calls]) == (outcome, [outcome])


def test_whole_calls_in_one_response_are_several() -> None:
    parts = [{"functionCall": {"name": "cook", "args": {"a": at}}} for at in range(3)]
    event = {"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}
    assert [json.loads(call.arguments) for call in messages(event)[-1].tool_calls] == [{"a": 0}, {"a": 1}, {"a": 2}]


def test_the_enums_of_an_sdk_are_texts() -> None:
    reason = Enum("FinishReason", {"SAFETY": "SAFETY"}).SAFETY  # type: ignore[attr-defined]
    candidate = SimpleNamespace(index=None, content=None, finish_reason=reason)
    *_, last = stream_message([SimpleNamespace(candidates=[candidate])])
    assert (last.finish_reason, last.outcome) == ("content_filter", Outcome.FILTERED)


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("$.a.b[0].c", ["a", "b", 0, "c"]),
        ("$['a b'][\"c'd\"]", ["a b", "c'd"]),
        ("$['it\\'s']", ["it's"]),
        ("$['\\u00e9\\n\"']", ['é\n"']),
        ("$['\\x']", None),
        ("$", []),
        ("$.a]b", None),
        ("$[0", None),
        ("$['a]b'].c", ["a]b", "c"]),
        ("$a", None),
        ("a.b", None),
        ("$.", None),
        ("$[x]", None),
        ("$[-1]", None),
    ],
)
def test_paths(written: str, path: list[str | int] | None) -> None:
    assert read_path(written) == path
