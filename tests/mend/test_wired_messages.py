"""Mending in messages: the structured output, and the arguments of calls of every provider that sends them as text.

Rule M7: a call whose arguments lost something or were restructured runs only if `allowed_in_calls` names the kind.
Law 9 stays: whatever was mended, only a `CompleteCall` has arguments to run.
"""

import asyncio
import json
import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import pytest

from jsontide import CompleteCall, PartialCall, Tool, arun_tools, run_tools, stream_message, to_request
from jsontide.mend import EVERYTHING, MODELS, Mending, RepairKind
from jsontide.messages import ErrorKind, Message, MessageConfig, Outcome
from tests.cuts import singles, whole
from tests.providers.block_streams import Event, last, saved, states
from tests.providers.dialects import DIALECTS, IN_PIECES, chunk

Stream = Callable[..., list[Event]]


def written(provider: str, pieces: list[str], *, is_normal: bool = True) -> list[Event]:
    """A message that is a call, and ends as it should or at a limit."""
    dialect = DIALECTS[provider]
    end = dialect.end(dialect.called if is_normal else dialect.limit)
    return [*dialect.begun("m"), *dialect.call(0, "c", "pay", pieces), end]


def responses(pieces: list[str], *, is_normal: bool = True) -> list[Event]:
    """The same as OpenAI sends it: the arguments come again, whole, with the item and with the response."""
    item = {"type": "function_call", "id": "fc", "call_id": "c", "name": "pay", "arguments": ""}
    done = {**item, "arguments": "".join(pieces), "status": "completed" if is_normal else "incomplete"}
    end: Event = {"id": "r", "object": "response", "status": done["status"], "output": [done]}
    if not is_normal:
        end["incomplete_details"] = {"reason": "max_output_tokens"}
    kinds = [{"type": "response.function_call_arguments.delta", "output_index": 0, "delta": piece} for piece in pieces]
    return [
        {"type": "response.created", "response": {"id": "r", "object": "response"}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        *kinds,
        {"type": "response.output_item.done", "output_index": 0, "item": done},
        {"type": f"response.{done['status']}", "response": end},
    ]


STREAMS: dict[str, Stream] = {name: partial(written, name) for name in IN_PIECES} | {"openai_responses": responses}
providers = pytest.mark.parametrize("provider", STREAMS)

SAFE: dict[str, tuple[str, Any]] = {
    "fence": ('```json\n{"a": 1}\n```', {"a": 1}),
    "quotes": ("{'a': 'x'}", {"a": "x"}),
    "literal": ('{"a": True}', {"a": True}),
    "unquoted key, trailing comma": ("{a: 1,}", {"a": 1}),
    "control character": ('{"a": "x\ny"}', {"a": "x\ny"}),
    "tag": ('<tool_call>{"a": 1}</tool_call>', {"a": 1}),
    "the same twice": ('{"a": 1}\n{"a": 1}', {"a": 1}),
    "strict": ('{"a": [1, null]}', {"a": [1, None]}),
}
UNSAFE: dict[RepairKind, tuple[str, Any]] = {
    RepairKind.PROSE: ('Sure: {"a": 1}', {"a": 1}),
    RepairKind.THINKING: ('<think>pay 2?</think>{"a": 1}', {"a": 1}),
    RepairKind.TAG: ('<cancelled>{"a": 1}</cancelled>', {"a": 1}),
    RepairKind.COMMENT: ('{"a": 1 /* or 2 */}', {"a": 1}),
    RepairKind.MISSING_COMMA: ('{"a": 1\n"b": 2}', {"a": 1, "b": 2}),
    RepairKind.EXTRA_COMMA: ('{"a": 1,, "b": 2}', {"a": 1, "b": 2}),
    RepairKind.MISSING_COLON: ('{"a" 1}', {"a": 1}),
    RepairKind.TUPLE: ('{"a": (1, 2)}', {"a": [1, 2]}),
    RepairKind.CONCATENATION: ('{"a": "x" + "y"}', {"a": "xy"}),
    RepairKind.INNER_QUOTE: ('{"a": "the "b" side", "c": 1}', {"a": 'the "b" side', "c": 1}),
    RepairKind.EXTRA_CLOSER: ('{"a": 1}}', {"a": 1}),
    RepairKind.LITERAL: ('{"a": NaN}', {"a": None}),
    RepairKind.ELLIPSIS: ('{"a": [1, ...]}', {"a": [1]}),
}
NEVER = [
    '{"a": 1} {"a": 2}',
    '{"a": 1, "b": }',
    "I will pay.",
    '{"a": "lost, "b": 2}',
    'Use {a: "}", b: {"path": "/"}',
    '"a": 1, "b": {"c": 2}}',
]
CUT = ['{"a": 1, "b": [', '{"a": "x', '```json\n{"a": 1,\n```', "[{", '<tool_call>{"a": [1</tool_call>']


def read(provider: str, text: str, mend: Mending | None = MODELS, *, is_normal: bool = True) -> Any:
    """The message, which is the same however the arguments are cut."""
    make = STREAMS[provider]
    one, many = (last(*make(pieces, is_normal=is_normal), mend=mend) for pieces in (whole(text), singles(text)))
    assert one == many
    assert saved(one) == one
    assert pickle.loads(pickle.dumps(one)) == one  # noqa: S301 - its own
    (call,) = one.tool_calls
    assert call.arguments == text
    return one


@providers
@pytest.mark.parametrize("name", SAFE)
def test_a_call_with_safe_repairs_runs_and_goes_back_as_strict_json(provider: str, name: str) -> None:
    text, value = SAFE[name]
    message = read(provider, text)
    (call,) = message.tool_calls
    assert isinstance(call, CompleteCall)
    assert (message.outcome, call.arguments_value) == (Outcome.COMPLETE, value)
    assert bool(call.repairs) is (name != "strict")
    assert ("repairs" in json.loads(message.to_json())["parts"][0]) is (name != "strict")
    for form in STREAMS:
        assert value in list(inside(to_request(message, form)))
    ran: list[Any] = []
    tool = Tool("pay", function=ran.append)
    assert run_tools(message, [tool])[0].error is None
    assert asyncio.run(arun_tools(message, [tool]))[0].error is None
    assert ran == [value, value]


def inside(item: Any) -> Iterator[Any]:
    """All values in an item of a request, also those that are written as JSON."""
    yield item
    if isinstance(item, str) and item.startswith("{"):
        yield from inside(json.loads(item, parse_constant=pytest.fail))
    if isinstance(item, dict):
        item = list(item.values())
    if isinstance(item, list):
        for one in item:
            yield from inside(one)


@providers
@pytest.mark.parametrize("kind", UNSAFE, ids=lambda kind: kind.name)
def test_a_call_that_lost_something_or_was_restructured_runs_only_if_that_is_allowed(
    provider: str, kind: RepairKind
) -> None:
    text, value = UNSAFE[kind]
    message = read(provider, text, EVERYTHING)
    (call,) = message.tool_calls
    assert isinstance(call, PartialCall)
    assert (message.outcome, call.status, call.partial) == (Outcome.INVALID, Outcome.INVALID, value)
    assert kind in {repair.kind for repair in call.repairs}
    assert call.error is not None
    assert call.error.kind is ErrorKind.JSON
    assert "allowed_in_calls" in call.error.message
    assert kind.value in call.error.message
    tool = Tool("pay", function=pytest.fail)
    (result,) = run_tools(message, [tool])
    assert result.error is not None
    assert kind.value in result.error
    assert kind.value in message.feedback()

    others = EVERYTHING.allow_in_calls(*(other for other in RepairKind if other is not kind))
    assert read(provider, text, others).outcome is Outcome.INVALID
    allowed = read(provider, text, EVERYTHING.allow_in_calls(kind))
    (call,) = allowed.tool_calls
    assert (allowed.outcome, call.arguments_value) == (Outcome.COMPLETE, value)
    for form in STREAMS:
        assert value in list(inside(to_request(allowed, form)))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'say': 'the 'b' key'}", {"say": "the 'b' key"}),
        ("{`say`: `the `b` key`}", {"say": "the `b` key"}),
        ("{‘say’: ‘the ’b’ key’}", {"say": "the ’b’ key"}),
    ],
)
def test_quotes_inside_others_of_their_kind_are_told_as_those_of_json_are(text: str, value: Any) -> None:
    (call,) = read("openai_chat", text).tool_calls
    assert call.status is Outcome.INVALID
    assert RepairKind.INNER_QUOTE in {repair.kind for repair in call.repairs}
    (call,) = read("openai_chat", text, MODELS.allow_in_calls(RepairKind.INNER_QUOTE)).tool_calls
    assert call.arguments_value == value


@providers
@pytest.mark.parametrize("text", NEVER)
def test_what_cannot_be_mended_never_runs(provider: str, text: str) -> None:
    everything = EVERYTHING.allow_in_calls(*RepairKind)
    message = read(provider, text, everything)
    (call,) = message.tool_calls
    assert (message.outcome, call.status) == (Outcome.INVALID, Outcome.INVALID)
    assert not isinstance(call, CompleteCall)


@providers
@pytest.mark.parametrize("text", CUT)
def test_a_call_that_broke_off_never_runs_even_if_closing_it_is_allowed(provider: str, text: str) -> None:
    everything = EVERYTHING.allow_in_calls(*RepairKind)
    for is_normal in (True, False):
        message = read(provider, text, everything, is_normal=is_normal)
        (call,) = message.tool_calls
        assert (message.outcome, call.status) == (Outcome.TRUNCATED, Outcome.TRUNCATED)
        assert not isinstance(call, CompleteCall)


@pytest.mark.parametrize("text", [text for text, _ in (*SAFE.values(), *UNSAFE.values()) if text[0] != "{"])
def test_without_mend_nothing_is_mended(text: str) -> None:
    message = last(*written("openai_chat", [text]))
    assert message.outcome is Outcome.INVALID
    assert message.tool_calls[0].repairs == ()


def test_arguments_that_come_as_objects_are_not_mended() -> None:
    function = {"name": "pay", "arguments": {"a": "{'b': 1,}", "c": float("nan")}}
    message = last({"model": "m", "message": {"tool_calls": [{"function": function}]}, "done": True}, mend=MODELS)
    assert message.provider == "ollama"
    assert message.tool_calls[0].repairs == ()
    assert not isinstance(message.tool_calls[0], CompleteCall)  # NaN is no JSON


def test_the_text_for_a_custom_tool_is_not_mended() -> None:
    text = 'Sure: {"a": 1,}'
    begun = {"index": 0, "id": "c", "type": "custom", "custom": {"name": "pay", "input": text[:3]}}
    more = {"index": 0, "id": "c", "type": "custom", "custom": {"input": text[3:]}}
    message = last(chunk(tool_calls=[begun]), chunk(tool_calls=[more]), chunk("tool_calls"), mend=MODELS)
    (call,) = message.tool_calls
    assert isinstance(call, CompleteCall)
    assert (call.arguments_value, call.repairs) == (text, ())


@pytest.mark.parametrize(
    ("pieces", "whole_text"), [(['{"a": "x'], '{"a": "y"}'), (['{"a": 1}'], '{"a": 2}'), (["{'a'"], "{'b': 1}")]
)
def test_arguments_that_contradict_those_before_are_never_mended_into_one_text(
    pieces: list[str], whole_text: str
) -> None:
    events = responses(pieces)
    for event in events[-2:]:
        item = event["item"] if "item" in event else event["response"]["output"][0]
        item["arguments"] = whole_text
    message = last(*events, mend=EVERYTHING.allow_in_calls(*RepairKind))
    assert not any(isinstance(call, CompleteCall) for call in message.tool_calls)
    assert message.outcome is Outcome.INVALID


SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}


def contents(pieces: list[str], reason: str = "stop") -> list[Event]:
    return [*[chunk(content=piece) for piece in pieces], chunk(reason)]


def test_an_answer_is_mended_and_says_how() -> None:
    text = "Here you go:\n```json\n{city: 'Kyoto', 'days': 3,}\n```"
    for pieces in (whole(text), singles(text)):
        message: Any = last(*contents(pieces), response_schema=SCHEMA, mend=MODELS)
        assert (message.outcome, message.answer, message.content) == (
            Outcome.COMPLETE,
            {"city": "Kyoto", "days": 3},
            text,
        )
        assert message.repairs[0].kind is RepairKind.PROSE
        assert saved(message) == message
        assert saved(message).repairs == message.repairs
        assert pickle.loads(pickle.dumps(message)).repairs == message.repairs  # noqa: S301 - its own


def test_an_answer_grows_and_its_repairs_with_it() -> None:
    text = "Sure: {city: 'Kyoto', days: 3,}"
    shown = list(stream_message(contents(singles(text)), response_schema=SCHEMA, mend=MODELS))
    for before, after in pairwise(shown):
        assert after.repairs[: len(before.repairs)] == before.repairs
    assert shown[-1].repairs
    partials = [message.answer for message in shown[:-1]]
    assert any(str(partial) == "<Partial {'city': 'Kyo'}>" for partial in partials)


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("{city: 'Kyoto'", Outcome.TRUNCATED),
        ('```json\n{"city": "Kyoto", "days": 3,\n```', Outcome.TRUNCATED),
        ("I cannot say.", Outcome.INVALID),
        ("{city: 5}", Outcome.INVALID),
        ('{"city": }', Outcome.INVALID),
        ('Sure: {"city": "Kyoto"}', Outcome.COMPLETE),
    ],
)
def test_an_answer_is_complete_only_if_its_text_is(text: str, outcome: Outcome) -> None:
    for pieces in (whole(text), singles(text)):
        assert last(*contents(pieces), response_schema=SCHEMA, mend=MODELS).outcome is outcome
    assert last(*contents([text], "length"), response_schema=SCHEMA, mend=MODELS).outcome in {
        outcome,
        Outcome.TRUNCATED,
    }


def test_an_error_of_an_answer_points_into_its_text() -> None:
    text = 'Sure:\n{"city": "Kyo\nto", "days": }'
    message = last(*contents(singles(text)), response_schema=SCHEMA, mend=MODELS)
    cause: Any = message.errors[0].cause
    assert (text[cause.index], cause.line, cause.column) == ("}", 3, 14)


def test_an_emulated_answer_is_mended_and_needs_no_permission() -> None:
    events = written("openai_chat", ['Sure: {"city": "Kyoto"}'])
    events[0]["choices"][0]["delta"]["tool_calls"][0]["function"]["name"] = "output"
    message = last(*events, response_schema=SCHEMA, emulate_structured_output=True, mend=MODELS)
    assert (message.outcome, message.answer) == (Outcome.COMPLETE, {"city": "Kyoto"})
    assert [repair.kind for repair in message.repairs] == [RepairKind.PROSE]


def test_content_without_a_schema_stays_as_it_is() -> None:
    message = last(*contents(["{city: 1,}"]), mend=MODELS)
    assert (message.content, message.repairs, message.outcome) == ("{city: 1,}", (), Outcome.COMPLETE)


def test_every_state_goes_on_after_it_was_saved() -> None:
    config = MessageConfig(mend=MODELS, tools=[Tool("pay", SCHEMA, stream_arguments=True)])
    events = written("openai_chat", singles("```\n{city: 'Kyoto', days: 3,}\n```"))
    end = last(*events, mend=MODELS, tools=config.tools)
    assert end.outcome is Outcome.COMPLETE
    for at, state in enumerate(states(events, config)):
        loaded = pickle.loads(pickle.dumps(state))  # noqa: S301 - its own
        assert loaded.message == state.message
        assert stream_message(events[at:], state=loaded).final() == end
        assert stream_message(events[at:], state=state).final() == end


def test_two_different_values_are_refused_also_where_the_first_is_wanted() -> None:
    text = '{"a": 1} {"a": 2}'
    assert MODELS.values == "first"
    assert last(*written("openai_chat", [text]), mend=MODELS.allow_in_calls(*RepairKind)).outcome is Outcome.INVALID
    several = replace(MODELS, values="all").allow_in_calls(*RepairKind)
    assert last(*written("openai_chat", [text]), mend=several).outcome is Outcome.INVALID


def test_wrong_options_are_refused() -> None:
    with pytest.raises(TypeError, match="mend must be a Mending"):
        MessageConfig(mend=True)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "repair",
    [
        1,
        {},
        {"kind": "no such"},
        {"kind": "prose"},
        {"kind": "prose", "index": "0", "was": "", "became": ""},
        {"kind": "prose", "index": 0, "was": "", "became": "", "more": 1},
    ],
)
def test_a_repair_that_was_not_written_by_us_is_refused(repair: object) -> None:
    with pytest.raises(ValueError, match="not a message that to_json wrote"):
        Message.from_json({"jsontide": 1, "outcome": "complete", "parts": [], "repairs": [repair]})


SHOP = {
    "type": "object",
    "properties": {"size": {"enum": ["small", "large"]}, "tags": {"type": "array", "items": {"type": "string"}}},
}


def test_the_schema_of_an_answer_decides_what_only_it_can() -> None:
    for pieces in (whole('{"size": "LARGE"}'), singles('{"size": "LARGE"}')):
        message = last(*contents(pieces), response_schema=SHOP, mend=MODELS)
        assert (message.outcome, message.answer) == (Outcome.COMPLETE, {"size": "large"})
        assert [repair.kind for repair in message.repairs] == [RepairKind.ENUM]


@providers
def test_the_schema_of_a_tool_decides_what_only_it_can(provider: str) -> None:
    tools = [Tool("pay", SHOP)]
    for pieces in (whole('{"size": "LARGE"}'), singles('{"size": "LARGE"}')):
        message = last(*STREAMS[provider](pieces), tools=tools, mend=MODELS)
        (call,) = message.tool_calls
        assert isinstance(call, CompleteCall)
        assert call.arguments_value == {"size": "large"}
        assert last(*STREAMS[provider](pieces), tools=tools).outcome is Outcome.INVALID
    restructured = ['{"tags": "new"}']
    assert last(*STREAMS[provider](restructured), tools=tools, mend=MODELS).outcome is Outcome.INVALID
    allowed = last(*STREAMS[provider](restructured), tools=tools, mend=MODELS.allow_in_calls(RepairKind.LIST))
    assert allowed.outcome is Outcome.COMPLETE
