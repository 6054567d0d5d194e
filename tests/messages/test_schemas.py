"""Messages with schemas: typed tools, plain JSON Schema, structured output from the content or from a reserved tool."""

import json
import pickle
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import is_
from random import Random
from typing import Any

import pytest
from hypothesis import given

from jsontide import MISSING
from jsontide.messages import (
    CompletionChunk,
    ErrorKind,
    MessageConfig,
    MessageState,
    Outcome,
    PartialCall,
    Tool,
    feed_message,
    finish_message,
    start_message,
    stop_message,
)
from jsontide.schema import Partial, SchemaMismatch, UnsupportedSchemaError
from tests.cuts import cut_randomly, singles
from tests.messages.telling import call, delta, end, fed, finished, shown_answer, text, trail
from tests.relations import grows
from tests.strategies import randoms

pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")
pytest.importorskip("jsonschema", reason="jsonschema is not installed")


class Stop(pydantic.BaseModel):  # type: ignore[name-defined,misc]
    city: str
    nights: int = 1


class Itinerary(pydantic.BaseModel):  # type: ignore[name-defined,misc]
    title: str
    stops: list[Stop]


@dataclass
class Weather:
    city: str
    unit: str = "C"


PLAIN = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TEXT = '{"title": "By train", "stops": [{"city": "Lyon", "nights": 2}, {"city": "Turin"}]}'
WEATHER = Tool("weather", Weather)


def typed(**options: Any) -> MessageConfig:
    return MessageConfig(tools=[WEATHER], **options)


def answered(*chunks: CompletionChunk, **options: Any) -> MessageState:
    return finished(chunks, MessageConfig(response_schema=Itinerary, **options))


def spoken(pieces: list[str]) -> list[CompletionChunk]:
    return [text(piece) for piece in pieces]


def shown(states: list[MessageState]) -> list[Any]:
    return [call.partial for state in states for call in state.message.tool_calls]


class TestTypedTools:
    def test_stream_their_arguments(self) -> None:
        pieces = ['{"city": "Ro', 'me", "uni', 't": "F"}']
        states = trail([call(piece, index=0, name="weather") for piece in pieces], typed())
        assert shown(states) == [{"city": "Ro"}, {"city": "Rome"}, {"city": "Rome", "unit": "F"}]

    def test_end_in_a_validated_value_and_an_instance(self) -> None:
        (done,) = finished([call('{"city": "Rome"}', index=0, name="weather"), end()], typed()).message.tool_calls
        assert done.status is Outcome.COMPLETE
        assert done.arguments_model == Weather("Rome")
        assert done.arguments_value == {"city": "Rome", "unit": "C"}

    def test_whose_name_is_late_lose_nothing(self) -> None:
        chunks = [call('{"ci', index=0), call('ty": "Ro', index=0, name="weather"), call('me"}', index=0)]
        assert shown(trail(chunks[:2], typed())) == [MISSING, {"city": "Ro"}]
        (done,) = finished([*chunks, end()], typed()).message.tool_calls
        assert done.status is Outcome.COMPLETE
        assert done.arguments_model == Weather("Rome")

    def test_show_nothing_before_their_name_is_known(self) -> None:
        chunks = [call('{"city": "Rome"}', index=0), call(index=0, name="weather")]
        assert shown(trail(chunks, typed())) == [MISSING, {"city": "Rome", "unit": "C"}]

    def test_that_do_not_fit_are_invalid_and_say_where(self) -> None:
        state = finished([call('{"city": 7}', index=0, id="a", name="weather"), end()], typed())
        (bad,) = state.message.tool_calls
        assert isinstance(bad, PartialCall)
        assert bad.status is state.outcome is Outcome.INVALID
        (error,) = state.errors
        assert (error.kind, error.source, error.path) == (ErrorKind.SCHEMA, 0, ("city",))
        assert isinstance(error.cause, SchemaMismatch)
        assert bad.error == error

    def test_that_miss_something_at_the_end_are_invalid(self) -> None:
        (bad,) = finished([call('{"unit": "F"}', index=0, name="weather"), end()], typed()).message.tool_calls
        assert bad.status is Outcome.INVALID

    def test_without_arguments_are_measured_by_their_schema_too(self) -> None:
        (bad,) = finished([call("", index=0, name="weather"), end()], typed()).message.tool_calls
        assert bad.status is Outcome.INVALID

    @pytest.mark.parametrize("reason", ["length", "tool_calls"])
    def test_that_do_not_fit_and_break_off_are_invalid_and_all_errors_are_told(self, reason: str) -> None:
        state = finished([call('{"city": 7, "unit": 8, ', index=0, name="weather"), end(reason)], typed())
        assert state.message.tool_calls[0].status is Outcome.INVALID
        assert [(error.source, error.path) for error in state.errors] == [(0, ("city",)), (0, ("unit",))]

    def test_that_nobody_offered_are_invalid(self) -> None:
        (bad,) = finished([call("{}", index=0, name="teleport"), end()], typed()).message.tool_calls
        assert bad.status is Outcome.INVALID
        assert bad.error
        assert bad.error.message == "no tool is called 'teleport'"

    def test_one_bad_call_among_good_ones(self) -> None:
        arguments = ['{"city": "Rome"}', '{"city": 7}', '{"city": oops', '{"city": "Oslo"}']
        chunks = [call(written, index=at, name="weather") for at, written in enumerate(arguments)]
        state = finished([*chunks, end()], typed())
        assert [one.status for one in state.message.tool_calls] == [
            Outcome.COMPLETE,
            Outcome.INVALID,
            Outcome.INVALID,
            Outcome.COMPLETE,
        ]
        assert [error.source for error in state.errors] == [1, 2]

    def test_cut_at_any_place_have_nothing_to_run(self) -> None:
        whole = '{"city": "Rome", "unit": "F"}'
        for place in range(1, len(whole)):
            (cut,) = finished([call(whole[:place], index=0, name="weather"), end("length")], typed()).message.tool_calls
            assert cut.status is Outcome.TRUNCATED
            assert not hasattr(cut, "arguments_model")


class TestPlainSchemas:
    def test_resolve_at_completion_only(self) -> None:
        chunks = [call(char, index=0, name="weather") for char in '{"city": "Rome"}']
        states = trail(chunks, MessageConfig(tools=[Tool("weather", PLAIN)]))
        assert shown(states) == [MISSING] * 15 + [{"city": "Rome"}]

    def test_stream_if_they_opt_in(self) -> None:
        config = MessageConfig(tools=[Tool("weather", PLAIN, stream_arguments=True)])
        assert shown(trail([call('{"city": "Ro', index=0, name="weather")], config)) == [{"city": "Ro"}]

    def test_types_can_opt_out(self) -> None:
        config = MessageConfig(tools=[Tool("weather", Weather, stream_arguments=False)])
        assert shown(trail([call('{"city": "Ro', index=0, name="weather")], config)) == [MISSING]

    def test_validate_at_the_end(self) -> None:
        config = MessageConfig(tools=[Tool("weather", PLAIN)])
        arguments = ['{"city": "Rome"}', '{"town": 1}']
        chunks = [call(written, index=at, name="weather") for at, written in enumerate(arguments)]
        good, bad = finished([*chunks, end()], config).message.tool_calls
        assert good.status is Outcome.COMPLETE
        assert good.arguments_value == good.arguments_model == {"city": "Rome"}
        assert bad.status is Outcome.INVALID

    def test_are_taken_as_they_were_at_the_start(self) -> None:
        schema: dict[str, Any] = {**PLAIN}
        config = MessageConfig(tools=[Tool("weather", schema)])
        schema["required"] = ["nothing"]
        (done,) = finished([call('{"city": "Rome"}', index=0, name="weather"), end()], config).message.tool_calls
        assert done.status is Outcome.COMPLETE

    def test_a_tool_without_a_schema_takes_any_json(self) -> None:
        config = MessageConfig(tools=[Tool("weather")])
        (done,) = finished([call('{"any": [1]}', index=0, name="weather"), end()], config).message.tool_calls
        assert done.status is Outcome.COMPLETE


class TestStructuredContent:
    def test_grows_in_view_and_ends_in_an_instance(self) -> None:
        states = trail(spoken(singles(TEXT)), MessageConfig(response_schema=Itinerary))
        seen = [shown_answer(state.message) for state in states]
        assert all(grows(old, new) for old, new in pairwise(seen))
        message = answered(text(TEXT), end("stop")).message
        assert message.outcome is Outcome.COMPLETE
        assert message.content == TEXT
        assert message.answer == Itinerary.model_validate_json(TEXT)

    @given(randoms)
    def test_keeps_identity_across_chunks(self, random: Random) -> None:
        states = trail(spoken(cut_randomly(TEXT, random)), MessageConfig(response_schema=Itinerary))
        seen: list[Any] = [shown_answer(state.message) for state in states]
        for old, new in pairwise(seen):
            assert (old is new) == (old == new)
            if old is not MISSING and "stops" in old:
                assert all(a is b for a, b in zip(old["stops"][:-1], new["stops"], strict=False))

    @pytest.mark.parametrize("reason", ["length", "stop_sequence", "pause_turn"])
    def test_any_early_end_after_the_last_brace_is_no_loss(self, reason: str) -> None:
        assert answered(text(TEXT), end(reason)).outcome is Outcome.COMPLETE
        assert answered(text(TEXT[:-1]), end(reason)).outcome is Outcome.TRUNCATED

    def test_a_limit_after_an_answer_and_a_call_may_have_cut_off_another_call(self) -> None:
        weather = call('{"city": "Rome"}', index=0, name="weather")
        state = answered(text(TEXT), weather, end("length"), tools=[WEATHER])
        assert state.outcome is Outcome.TRUNCATED
        assert state.message.tool_calls[0].status is Outcome.COMPLETE

    def test_a_limit_before_it_is(self) -> None:
        state = answered(text(TEXT[:-1]), end("length"))
        assert state.outcome is Outcome.TRUNCATED
        assert isinstance(state.message.answer, Partial)
        assert shown_answer(state.message)

    def test_errors_of_json_are_told_at_the_end(self) -> None:
        chunks = [text('{"title": nope'), text("}")]
        state = fed(chunks, MessageConfig(response_schema=Itinerary))
        assert [(error.kind, error.source) for error in state.errors] == [(ErrorKind.JSON, "content")]
        assert state.message.errors == ()
        ended = answered(*chunks, end("stop"))
        assert ended.outcome is Outcome.INVALID
        assert [(error.kind, error.source) for error in ended.message.errors] == [(ErrorKind.JSON, "content")]

    def test_errors_of_the_schema_are_told_at_the_end(self) -> None:
        chunks = [text('{"title": 7, '), text('"stops": []}')]
        state = fed(chunks, MessageConfig(response_schema=Itinerary))
        assert [(error.kind, error.path) for error in state.errors] == [(ErrorKind.SCHEMA, ("title",))]
        assert state.message.errors == ()
        ended = answered(*chunks, end("stop"))
        assert ended.outcome is Outcome.INVALID
        assert [error.path for error in ended.message.errors] == [("title",)]

    def test_prose_beside_tool_calls_is_no_error(self) -> None:
        chunks = [text("Let me look."), call('{"city": "Rome"}', index=0, name="weather"), end()]
        state = answered(*chunks, tools=[WEATHER])
        assert state.outcome is Outcome.COMPLETE
        assert state.errors == ()
        assert state.message.content == "Let me look."
        assert shown_answer(state.message) is MISSING

    def test_prose_is_no_error_while_a_call_may_come(self) -> None:
        config = MessageConfig(response_schema=Itinerary, tools=[WEATHER])
        states = trail([text("Let me look."), call("", index=0, name="weather")], config)
        assert [len(state.errors) for state in states] == [0, 0, 0]
        assert len(finish_message(feed_message(states[1], end("stop"))).errors) == 1

    def test_prose_where_no_tools_were_offered_is_told_and_not_taken_back(self) -> None:
        chunks = [text("Let me look."), call("{}", index=0, name="weather"), end()]
        states = trail(chunks, MessageConfig(response_schema=Itinerary))
        assert [len(state.errors) for state in (*states, finish_message(states[-1]))] == [0, 1, 1, 1, 1]
        assert finish_message(states[-1]).outcome is Outcome.COMPLETE

    def test_json_beside_tool_calls_is_shown_but_need_not_be_whole(self) -> None:
        weather = call('{"city": "Rome"}', index=0, name="weather")
        state = answered(text('{"title": "By'), weather, end(), tools=[WEATHER])
        assert shown_answer(state.message) == {"title": "By"}
        assert state.outcome is Outcome.COMPLETE
        assert answered(text(TEXT), weather, end(), tools=[WEATHER]).message.answer == (
            Itinerary.model_validate_json(TEXT)
        )

    def test_prose_without_tool_calls_is_one(self) -> None:
        assert answered(text("I would go by train."), end("stop")).outcome is Outcome.INVALID

    def test_a_refusal_is_not_measured_by_the_schema(self) -> None:
        state = answered(text(""), delta(refusal="No."), end("stop"))
        assert state.outcome is Outcome.REFUSED
        assert state.errors == ()

    def test_nothing_said_is_empty(self) -> None:
        assert answered(end("stop")).outcome is Outcome.EMPTY

    def test_a_json_schema_streams_too(self) -> None:
        state = fed([text('{"city": "Ro')], MessageConfig(response_schema=PLAIN))
        assert shown_answer(state.message) == {"city": "Ro"}

    def test_stopping_keeps_what_was_shown(self) -> None:
        state = stop_message(fed([text(TEXT[:20])], MessageConfig(response_schema=Itinerary)))
        assert state.outcome is Outcome.CANCELLED
        assert shown_answer(state.message) == {"title": "By train"}


class TestEmulatedOutput:
    OUTPUT = (call("", index=0, id="o", name="output"), *(call(piece, index=0) for piece in (TEXT[:30], TEXT[30:])))

    def emulated(self, *chunks: CompletionChunk, **options: Any) -> MessageState:
        return answered(*chunks, emulate_structured_output=True, **options)

    def test_comes_from_the_reserved_tool_which_is_not_shown(self) -> None:
        state = self.emulated(*self.OUTPUT, end())
        assert state.message.tool_calls == ()
        assert state.message.content == ""
        assert state.message.answer == Itinerary.model_validate_json(TEXT)
        assert state.outcome is Outcome.COMPLETE

    def test_grows_in_view(self) -> None:
        states = trail(self.OUTPUT, MessageConfig(response_schema=Itinerary, emulate_structured_output=True))
        assert shown_answer(states[2].message) == {"title": "By train"}
        assert all(grows(shown_answer(old.message), shown_answer(new.message)) for old, new in pairwise(states))

    def test_prose_beside_it_stays_plain(self) -> None:
        state = self.emulated(text("Here it is: {"), *self.OUTPUT, end())
        assert state.message.content == "Here it is: {"
        assert state.outcome is Outcome.COMPLETE
        assert state.errors == ()

    def test_ordinary_calls_beside_it_are_shown(self) -> None:
        weather = call('{"city": "Rome"}', index=1, id="w", name="weather")
        state = self.emulated(*self.OUTPUT, weather, end(), tools=[WEATHER])
        assert [one.name for one in state.message.tool_calls] == ["weather"]
        assert state.message.answer == Itinerary.model_validate_json(TEXT)

    def test_a_call_without_a_name_is_not_shown_before_it_is_known_which_it_is(self) -> None:
        config = MessageConfig(response_schema=Itinerary, emulate_structured_output=True)
        states = trail([call(TEXT, index=0), call(index=0, name="output")], config)
        assert [state.message.tool_calls for state in states] == [(), (), ()]
        assert shown_answer(states[-1].message)

    def test_of_several_the_first_that_is_known_to_be_one_counts_and_nothing_shown_is_taken_back(self) -> None:
        config = MessageConfig(response_schema=Itinerary, emulate_structured_output=True)
        other = '{"title": "By ship", "stops": []}'
        chunks = [call(other, index=0), call(TEXT, index=1, name="output"), call(index=0, name="output")]
        states = trail(chunks, config)
        seen = [shown_answer(state.message) for state in states]
        assert all(grows(old, new) for old, new in pairwise(seen))
        ended = finish_message(feed_message(states[-1], end())).message
        assert (ended.outcome, ended.answer) == (Outcome.COMPLETE, Itinerary.model_validate_json(TEXT))
        assert ended.tool_calls == ()

    def test_the_name_can_be_chosen(self) -> None:
        state = self.emulated(call(TEXT, index=0, name="answer"), end(), output_name="answer")
        assert state.outcome is Outcome.COMPLETE
        assert state.message.tool_calls == ()

    def test_cut_off_is_truncated(self) -> None:
        state = self.emulated(*self.OUTPUT[:2], end("length"))
        assert state.outcome is Outcome.TRUNCATED
        assert state.errors[0].source == "content"

    def test_that_does_not_fit_is_an_error_of_the_content(self) -> None:
        state = self.emulated(call('{"title": 7, "stops": []}', index=0, name="output"), end())
        assert state.outcome is Outcome.INVALID
        assert [(error.kind, error.source, error.path) for error in state.errors] == [
            (ErrorKind.SCHEMA, "content", ("title",))
        ]

    def test_prose_instead_of_it_is_invalid(self) -> None:
        state = self.emulated(text("I would go by train."), end("stop"))
        assert state.outcome is Outcome.INVALID
        assert "'output'" in state.errors[0].message

    def test_prose_that_a_limit_cut_off_before_it_is_truncated(self) -> None:
        for reason in ("length", "pause_turn"):
            state = self.emulated(text("I would go by"), end(reason))
            assert state.outcome is Outcome.TRUNCATED
            assert state.errors == ()

    @pytest.mark.parametrize("nothing", [None, "", " "])
    def test_without_arguments_is_an_empty_object_if_the_end_is_normal(self, nothing: str | None) -> None:
        chunks = [call(nothing, index=0, id="o", name="output")]
        options: dict[str, Any] = {"response_schema": {"type": "object"}, "emulate_structured_output": True}
        state = finished([*chunks, end()], MessageConfig(**options))
        assert (state.outcome, shown_answer(state.message), state.message.answer) == (
            Outcome.COMPLETE,
            {},
            {},
        )
        for cut in ([*chunks, end("length")], chunks):
            assert finished(cut, MessageConfig(**options)).message.answer is MISSING

    def test_ordinary_calls_instead_of_it_are_fine(self) -> None:
        weather = call('{"city": "Rome"}', index=0, id="w", name="weather")
        assert self.emulated(weather, end(), tools=[WEATHER]).outcome is Outcome.COMPLETE

    def test_a_tool_of_the_reserved_name_is_refused_at_the_start(self) -> None:
        tools = [Tool("output", Weather)]
        with pytest.raises(ValueError, match="'output' is reserved"):
            start_message(MessageConfig(response_schema=Itinerary, tools=tools, emulate_structured_output=True))


class TestConfig:
    def test_refuses_two_tools_of_one_name(self) -> None:
        with pytest.raises(ValueError, match="two tools are called 'weather'"):
            MessageConfig(tools=[WEATHER, WEATHER])

    @pytest.mark.parametrize("name", ["", None, 7])
    def test_refuses_tools_without_a_name(self, name: Any) -> None:
        with pytest.raises(ValueError, match=r"^name must be a non-empty str"):
            Tool(name)

    def test_refuses_a_schema_that_is_none_before_the_stream(self) -> None:
        with pytest.raises(UnsupportedSchemaError):
            MessageConfig(tools=[Tool("weather", {"type": "sometimes"})])

    def test_refuses_a_schema_that_is_too_deep(self) -> None:
        schema = reduce(lambda inner, _: {"type": "array", "items": inner}, range(100_000), dict[str, Any]())
        with pytest.raises(UnsupportedSchemaError, match="too deep"):
            MessageConfig(response_schema=schema)


def test_an_answer_and_arguments_stay_the_same_objects_to_the_end() -> None:
    chunks = [text(TEXT), call('{"city": "Rome", "unit": "F"}', index=0, name="weather"), text(" "), end()]
    config = MessageConfig(response_schema=Itinerary, tools=[WEATHER])
    *_, grown, spaced, told = trail(chunks, config)
    ended = finish_message(told)
    for state in (spaced, told, ended):
        assert shown_answer(state.message)["stops"] is shown_answer(grown.message)["stops"]
        assert state.message.tool_calls[0].partial is grown.message.tool_calls[0].partial
    assert shown_answer(told.message) is shown_answer(spaced.message)
    assert told.message.tool_calls[0] is grown.message.tool_calls[0]


@given(randoms)
def test_what_a_json_schema_accepts_is_what_was_shown_before(random: Random) -> None:
    days = {"type": "array", "items": {"type": "object", "properties": {"tags": {"type": "array"}}}}
    schema = {"type": "object", "properties": {"days": days, "note": {"type": "string"}}}
    written = '{"days": [{"tags": ["a", {"b": []}]}, {"tags": []}], "note": "Hello"}'
    config = MessageConfig(response_schema=schema, tools=[Tool("plan", schema, stream_arguments=True)])
    pieces = cut_randomly(written, random)
    states = trail([*map(text, pieces), *(call(each, index=0, name="plan") for each in pieces), end()], config)
    message = finish_message(states[-1]).message
    before = states[-2].message
    assert message.answer == message.tool_calls[0].partial == json.loads(written)
    assert message.answer is shown_answer(before)
    assert message.tool_calls[0].partial is before.tool_calls[0].partial
    final: Any = message.answer
    for state in states:
        seen: Any = MISSING if state.message.answer is MISSING else shown_answer(state.message)
        if seen is not MISSING and "days" in seen:
            assert all(map(is_, seen["days"][:-1], final["days"]))


@given(randoms)
def test_arguments_keep_identity_and_only_grow(random: Random) -> None:
    config = MessageConfig(tools=[Tool("plan", Itinerary)])
    states = trail([call(piece, index=0, name="plan") for piece in cut_randomly(TEXT, random)], config)
    for old, new in pairwise(shown(states)):
        assert grows(old, new)
        assert (old is new) == (old == new)
        if old is not MISSING and "stops" in old:
            assert all(a is b for a, b in zip(old["stops"][:-1], new["stops"], strict=False))


@given(randoms)
def test_a_state_with_schemas_can_be_pickled_anywhere(random: Random) -> None:
    config = MessageConfig(tools=[WEATHER], response_schema=PLAIN)
    chunks = [call(piece, index=0, name="weather") for piece in cut_randomly('{"city": "Rome"}', random)]
    before = fed(chunks[: len(chunks) // 2], config)
    state: MessageState = pickle.loads(pickle.dumps(before))  # noqa: S301
    assert state.message == before.message
    ended = finish_message(reduce(feed_message, [*chunks[len(chunks) // 2 :], end()], state))
    (done,) = ended.message.tool_calls
    assert done.status is Outcome.COMPLETE
    assert json.loads(done.arguments) == {"city": "Rome"}
