"""Law 9, and what the end of a message means."""

import pickle
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import pytest

from jsontide import MISSING, ParserError, Reason
from jsontide.messages import (
    Choice,
    CompletionChunk,
    Delta,
    ErrorKind,
    IncompleteCallError,
    MessageConfig,
    MessageState,
    Outcome,
    PartialCall,
    Tool,
    ToolCallDelta,
    fail_message,
    feed_message,
    finish_message,
    start_message,
    stop_message,
)
from tests.messages.telling import call, delta, end, fed, finished, text, values

WEATHER = call('{"city": "Rome"}', index=0, id="a", name="weather")


def only_call(state: MessageState) -> PartialCall:
    (shown,) = state.message.tool_calls
    assert isinstance(shown, PartialCall)
    with pytest.raises(IncompleteCallError, match=f"is {shown.status.value}"):
        shown.arguments_value  # type: ignore[attr-defined]  # noqa: B018
    assert not hasattr(shown, "arguments_value")
    assert not hasattr(shown, "arguments_model")
    return shown


class TestLawNine:
    @pytest.mark.parametrize("reason", ["length", "stop", "tool_calls", "other"])
    def test_arguments_cut_at_any_character_cannot_be_run_whatever_the_reason(self, reason: str) -> None:
        whole = '{"amount": 12, "to": ["Zoë", true, null]}'
        for place in range(1, len(whole)):
            shown = only_call(finished([call(whole[:place], index=0, id="a", name="pay"), end(reason)]))
            assert shown.status is Outcome.TRUNCATED
            assert shown.error
            assert shown.error.kind is ErrorKind.JSON

    @pytest.mark.parametrize("looks_closable", ['{"amount": 1', '{"a": [1, 2', '{"a": {"b": "c"}', "12", '{"a": 1,'])
    def test_a_limit_with_text_that_looks_closable(self, looks_closable: str) -> None:
        shown = only_call(finished([call(looks_closable, index=0, id="a", name="pay"), end("length")]))
        assert shown.status is Outcome.TRUNCATED

    def test_a_stream_that_just_ends_cannot_be_run_even_if_its_document_is_closed(self) -> None:
        shown = only_call(finished([WEATHER]))
        assert shown.status is Outcome.TRUNCATED
        assert shown.partial == {"city": "Rome"}
        assert shown.error
        assert shown.error.kind is ErrorKind.TRANSPORT

    def test_a_call_that_is_still_streaming_cannot_be_run(self) -> None:
        assert only_call(fed([WEATHER])).status is Outcome.STREAMING

    def test_a_closed_call_before_a_limit_can_be_run_and_the_cut_one_cannot(self) -> None:
        state = finished([WEATHER, call('{"city": "Pa', index=1, id="b", name="weather"), end("length")])
        first, second = state.message.tool_calls
        assert (first.status, second.status) == (Outcome.COMPLETE, Outcome.TRUNCATED)
        assert second.partial == {"city": "Pa"}
        assert state.outcome is Outcome.TRUNCATED

    @pytest.mark.parametrize(
        ("state", "outcome"),
        {
            "stopped": (stop_message(fed([WEATHER, end()])), Outcome.CANCELLED),
            "failed": (fail_message(fed([WEATHER, end()]), "reset"), Outcome.TRUNCATED),
            "error in the stream": (fed([WEATHER, CompletionChunk(error="overloaded")]), Outcome.TRUNCATED),
            "filtered": (finished([WEATHER, end("content_filter")]), Outcome.FILTERED),
            "refused": (finished([WEATHER, delta(refusal="No."), end("stop")]), Outcome.REFUSED),
            "malformed": (finished([WEATHER, end("malformed")]), Outcome.INVALID),
        }.values(),
    )
    def test_other_ends_cannot_be_run(self, state: MessageState, outcome: Outcome) -> None:
        assert only_call(state).status is outcome
        assert state.outcome is outcome
        assert state.message.tool_calls[0].partial == {"city": "Rome"}

    @pytest.mark.parametrize("reason", ["tool_calls", "stop", "length"])
    @pytest.mark.parametrize("written", ["", "{}", '{"city": "Rome"}'])
    def test_a_call_that_the_provider_says_broke_off_cannot_be_run(self, reason: str, written: str) -> None:
        begun = call(written, index=0, id="a", name="weather")
        for told in (call(index=0, cut_off=True), call(id="a", cut_off=True), call("", index=0, cut_off=True)):
            shown = only_call(finished([begun, told, call("", index=0), end(reason)]))
            assert shown.status is Outcome.TRUNCATED
            assert shown.error
            assert shown.error.kind is ErrorKind.JSON
        assert finished([call(cut_off=True), end("stop")]).message.tool_calls == ()

    def test_a_call_without_a_name_cannot_be_run(self) -> None:
        assert only_call(finished([call("{}", index=0, id="a"), end()])).status is Outcome.INVALID


class TestOutcomes:
    @pytest.mark.parametrize(
        ("chunks", "outcome"),
        {
            "text": ([text("Hi"), end("stop")], Outcome.COMPLETE),
            "call": ([WEATHER, end()], Outcome.COMPLETE),
            "call with reason stop": ([WEATHER, end("stop")], Outcome.COMPLETE),
            "call with an unknown reason": ([WEATHER, end("pause_turn")], Outcome.TRUNCATED),
            "text with an unknown reason": ([text("Hi"), end("pause_turn")], Outcome.TRUNCATED),
            "nothing with an unknown reason": ([end("pause_turn")], Outcome.TRUNCATED),
            "text up to a stop sequence": ([text("Hi"), end("stop_sequence")], Outcome.COMPLETE),
            "call before a stop sequence": ([WEATHER, end("stop_sequence")], Outcome.COMPLETE),
            "text at a limit": ([text("Once"), end("length")], Outcome.TRUNCATED),
            "calls at a limit": ([WEATHER, end("length")], Outcome.TRUNCATED),
            "no reason": ([text("Hi")], Outcome.TRUNCATED),
            "nothing at all": ([], Outcome.TRUNCATED),
            "nothing said": ([end("stop")], Outcome.EMPTY),
            "only reasoning": ([delta(reasoning="Hm."), end("stop")], Outcome.EMPTY),
            "refusal": ([delta(refusal="No."), end("stop")], Outcome.REFUSED),
            "refused by reason": ([end("refusal")], Outcome.REFUSED),
            "filter": ([text("So"), end("content_filter")], Outcome.FILTERED),
            "bad call": ([call("{]", index=0, name="weather"), end()], Outcome.INVALID),
        }.values(),
    )
    def test_of_a_message(self, chunks: list[CompletionChunk], outcome: Outcome) -> None:
        assert finished(chunks).outcome is outcome

    def test_one_bad_call_does_not_spoil_the_others(self) -> None:
        bad = call('{"city": oops}', index=1, id="b", name="weather")
        last = call('{"city": "Oslo"}', index=2, id="c", name="weather")
        state = finished([WEATHER, bad, last, end()])
        first, second, third = state.message.tool_calls
        assert (first.status, second.status, third.status) == (Outcome.COMPLETE, Outcome.INVALID, Outcome.COMPLETE)
        assert state.outcome is Outcome.INVALID
        assert [(error.kind, error.source) for error in state.errors] == [(ErrorKind.JSON, 1)]
        assert second.error is state.errors[0]

    def test_a_state_that_is_over_stays_as_it_is(self) -> None:
        for state in (finished([WEATHER, end()]), stop_message(fed([WEATHER])), fail_message(fed([WEATHER]), "x")):
            assert feed_message(state, text("more")) is state
            assert finish_message(state) is state
            assert stop_message(state) is state
            assert fail_message(state, "again") is state

    def test_a_second_start_resets(self) -> None:
        state = fed([WEATHER])
        assert start_message(state.config).message == start_message().message

    def test_a_chunk_that_is_none_is_refused_with_a_hint(self) -> None:
        with pytest.raises(TypeError, match="must be a CompletionChunk, not dict; stream_message"):
            feed_message(start_message(), {"choices": []})  # type: ignore[arg-type]


class TestFinishReasons:
    """A finish reason speaks for what came before it, and the worst one counts."""

    @pytest.mark.parametrize("first", ["length", "stop", "tool_calls", "content_filter"])
    def test_a_filter_counts_before_and_after_any_other(self, first: str) -> None:
        for reasons in ((first, "content_filter"), ("content_filter", first)):
            shown = only_call(finished([WEATHER, *map(end, reasons)]))
            assert shown.status is Outcome.FILTERED

    @pytest.mark.parametrize("worst", ["refusal", "malformed", "error"])
    def test_nor_can_anything_be_run_after_other_bad_ends(self, worst: str) -> None:
        for reasons in ((worst, "tool_calls"), ("length", worst), ("tool_calls", worst)):
            only_call(finished([WEATHER, *map(end, reasons)]))

    @pytest.mark.parametrize("known", ["stop", "tool_calls", "stop_sequence", "length"])
    @pytest.mark.parametrize("unknown", ["pause_turn", "OTHER", "Stop", "content-filter", "?"])
    def test_one_that_nobody_knows_leaves_nothing_to_run_before_and_after_any_other(
        self, known: str, unknown: str
    ) -> None:
        for reasons in ((unknown,), (known, unknown), (unknown, known)):
            shown = only_call(finished([WEATHER, *map(end, reasons)]))
            assert (shown.status, shown.partial) == (Outcome.TRUNCATED, {"city": "Rome"})
            assert shown.error
            assert (shown.error.kind, repr(unknown) in shown.error.message) == (ErrorKind.TRANSPORT, True)
        filtered = finished([WEATHER, end(unknown), end("content_filter")])
        assert filtered.outcome is Outcome.FILTERED

    @pytest.mark.parametrize("cut", ["", " ", "1", '{"city"', '{"city": "Rome"'])
    def test_a_stop_sequence_in_the_middle_of_a_call_cuts_it_off(self, cut: str) -> None:
        state = finished([WEATHER, call(cut, index=1, id="b", name="pay"), end("stop_sequence")])
        first, second = state.message.tool_calls
        assert (first.status, second.status) == (Outcome.COMPLETE, Outcome.TRUNCATED)

    @pytest.mark.parametrize("reason", ["stop", "tool_calls", "stop_sequence"])
    @pytest.mark.parametrize("late", ["", '{"city"', '{"city": "Rome"}', "1"])
    def test_a_call_that_begins_after_the_end_was_told_may_be_cut_off(self, reason: str, late: str) -> None:
        begun = call(late, index=1, id="b", name="delete")
        state = finished([WEATHER, end(reason), begun])
        assert not any(hasattr(shown, "arguments_value") for shown in state.message.tool_calls)
        assert state.outcome is Outcome.TRUNCATED
        again = finished([WEATHER, end(reason), begun, end(reason)])
        assert again.message.tool_calls[0].status is Outcome.COMPLETE

    @pytest.mark.parametrize("late", ["", '{"city"', '{"city": "Rome"}', "1"])
    def test_a_call_that_begins_after_a_limit_was_told_may_be_cut_off(self, late: str) -> None:
        begun = call(late, index=1, id="b", name="delete")
        state = finished([WEATHER, end("length"), begun])
        assert not any(hasattr(shown, "arguments_value") for shown in state.message.tool_calls)
        assert (state.outcome, state.message.finish_reason) == (Outcome.TRUNCATED, None)
        for reason in ("length", "stop"):
            again = finished([WEATHER, end("length"), begun, end(reason)])
            assert (again.message.tool_calls[0].status, again.message.finish_reason) == (Outcome.COMPLETE, "length")

    def test_a_limit_that_was_told_counts_though_something_came_after_it(self) -> None:
        chunks = [call("", index=0, id="a", name="pay"), end("length"), call(" ", index=0), end()]
        assert only_call(finished(chunks)).status is Outcome.TRUNCATED

    def test_a_normal_end_is_told_in_one_word_whatever_the_provider_calls_it(self) -> None:
        for reason in ("stop", "tool_calls"):
            for state in (fed([WEATHER, end(reason)]), finished([WEATHER, end(reason)])):
                assert state.message.finish_reason == "tool_calls"
            for state in (fed([text("Hi"), end(reason)]), finished([text("Hi"), end(reason)])):
                assert state.message.finish_reason == "stop"
            served = call("{}", index=0, name="search", on_server=True)
            assert finished([served, text("Hi"), end(reason)]).message.finish_reason == "stop"
        assert fed([WEATHER]).message.finish_reason is None
        answer = call("{}", index=0, name="output")
        config = MessageConfig(response_schema={"type": "object"}, emulate_structured_output=True)
        assert finished([answer, end()], config).message.finish_reason == "stop"

    def test_a_call_that_goes_on_after_the_end_was_told_may_be_cut_off(self) -> None:
        pieces = [call("1", index=0, id="a", name="pay"), end(), call("2", index=0)]
        assert only_call(finished(pieces)).status is Outcome.TRUNCATED
        assert values(finished([*pieces, end()])) == [("a", "pay", 12)]

    def test_what_says_nothing_new_after_the_end_takes_nothing_back(self) -> None:
        again = call("", index=0, id="a", name="weather")
        state = finished([WEATHER, end(), again, text(""), CompletionChunk(), delta(role="assistant")])
        assert values(state) == [("a", "weather", {"city": "Rome"})]

    def test_plain_text_after_the_end_takes_nothing_back(self) -> None:
        assert finished([text("a"), end("stop"), text("b")]).outcome is Outcome.COMPLETE

    def test_a_transport_error_after_the_end_was_told_leaves_nothing_to_run(self) -> None:
        assert only_call(fail_message(fed([WEATHER, end()]), "reset")).status is Outcome.TRUNCATED
        assert only_call(fed([WEATHER, end(), CompletionChunk(error="overloaded")])).status is Outcome.TRUNCATED

    def test_stopping_after_the_end_was_told_leaves_nothing_to_run(self) -> None:
        assert only_call(stop_message(fed([WEATHER, end()]))).status is Outcome.CANCELLED


class TestWrongTypes:
    @pytest.mark.parametrize(
        ("wrong", "said"),
        [
            (lambda: feed_message(None, CompletionChunk()), "a state must be a MessageState, not NoneType"),  # type: ignore[arg-type]
            (lambda: finish_message({}), "a state must be a MessageState, not dict"),  # type: ignore[arg-type]
            (lambda: stop_message("x"), "a state must be a MessageState, not str"),  # type: ignore[arg-type]
            (lambda: fail_message(None, "x"), "a state must be a MessageState, not NoneType"),  # type: ignore[arg-type]
            (lambda: fail_message(start_message(), None), "an error must be an exception or a text, not NoneType"),  # type: ignore[arg-type]
            (lambda: start_message({}), "config must be a MessageConfig, not dict"),  # type: ignore[arg-type]
            (lambda: MessageConfig(tools=None), "tools must be an iterable of Tool, not NoneType"),  # type: ignore[arg-type]
            (lambda: MessageConfig(tools=[{"name": "a"}]), "every tool must be a Tool, not dict"),  # type: ignore[list-item]
        ],
    )
    def test_are_named(self, wrong: Callable[[], object], said: str) -> None:
        with pytest.raises(TypeError, match=said):
            wrong()

    @pytest.mark.parametrize(
        ("wrong", "said"),
        [
            (lambda: Delta(content=5), "content must be a str or None, not int"),  # type: ignore[arg-type]
            (lambda: Delta(content=[""]), "content must be a str or None, not list"),  # type: ignore[arg-type]
            (lambda: Delta(content=b"a"), "content must be a str or None, not bytes"),  # type: ignore[arg-type]
            (lambda: Delta(role=0), "role must be a str or None, not int"),  # type: ignore[arg-type]
            (lambda: Delta(reasoning={}), "reasoning must be a str or None, not dict"),  # type: ignore[arg-type]
            (lambda: Delta(refusal=False), "refusal must be a str or None, not bool"),  # type: ignore[arg-type]
            (lambda: Delta(tool_calls=None), "tool_calls must be a tuple of ToolCallDelta, not NoneType"),  # type: ignore[arg-type]
            (lambda: Delta(tool_calls=({},)), "tool_calls must hold ToolCallDelta only, not dict"),  # type: ignore[arg-type]
            (lambda: ToolCallDelta(index="0"), "index must be an int or None, not str"),  # type: ignore[arg-type]
            (lambda: ToolCallDelta(index=True), "index must be an int or None, not bool"),
            (lambda: ToolCallDelta(id=7), "id must be a str or None, not int"),  # type: ignore[arg-type]
            (lambda: ToolCallDelta(name=[]), "name must be a str or None, not list"),  # type: ignore[arg-type]
            (lambda: ToolCallDelta(arguments=[1]), "arguments must be a str, a mapping or None, not list"),  # type: ignore[arg-type]
            (lambda: ToolCallDelta(on_server="no"), "on_server must be a bool, not str"),  # type: ignore[arg-type]
            (lambda: ToolCallDelta(cut_off=1), "cut_off must be a bool, not int"),  # type: ignore[arg-type]
            (lambda: Choice(index=None), "index must be an int, not NoneType"),  # type: ignore[arg-type]
            (lambda: Choice(delta={"content": "Hi"}), "delta must be a Delta, not dict"),  # type: ignore[arg-type]
            (lambda: Choice(finish_reason=0), "finish_reason must be a str or None, not int"),  # type: ignore[arg-type]
            (lambda: CompletionChunk(choices=Choice()), "choices must be a tuple of Choice, not Choice"),  # type: ignore[arg-type]
            (lambda: CompletionChunk(choices=(Delta(),)), "choices must hold Choice only, not Delta"),  # type: ignore[arg-type]
            (lambda: CompletionChunk(error=OSError()), "error must be a str or None, not OSError"),  # type: ignore[arg-type]
            (lambda: Tool("a", stream_arguments="no"), "stream_arguments must be a bool, not str"),  # type: ignore[call-overload]
            (lambda: MessageConfig(cumulative_arguments=1), "cumulative_arguments must be a bool, not int"),  # type: ignore[arg-type]
            (lambda: MessageConfig(emulate_structured_output="x"), "emulate_structured_output must be a bool, not str"),  # type: ignore[arg-type]
        ],
    )
    def test_of_a_field_are_named_where_it_is_given(self, wrong: Callable[[], object], said: str) -> None:
        with pytest.raises(TypeError, match=f"^{said}$"):
            wrong()

    def test_an_unknown_mode_of_arguments_is_refused(self) -> None:
        with pytest.raises(ValueError, match="mode must be one of 'delta', 'cumulative', not 'all'"):
            ToolCallDelta(mode="all")  # type: ignore[arg-type]

    def test_what_is_as_good_as_the_right_type_is_taken(self) -> None:
        class Text(str):
            __slots__ = ()

        class Entry(ToolCallDelta):
            pass

        entries = [Entry(index=0, name=Text("pay"), arguments=MappingProxyType({"a": 1}))]
        said = Delta(content=Text("Hi"), tool_calls=entries)  # type: ignore[arg-type]
        chunk = CompletionChunk(choices=[Choice(delta=said, finish_reason=Text("stop"))])  # type: ignore[arg-type]
        entries.clear()
        state = finished([chunk])
        assert (state.message.content, values(state)) == ("Hi", [(None, "pay", {"a": 1})])
        assert isinstance(said.tool_calls, tuple)

    @pytest.mark.parametrize("name", ["", None, 7])
    def test_names_must_be_names(self, name: Any) -> None:
        with pytest.raises(ValueError, match=r"^output_name must be a non-empty str"):
            MessageConfig(output_name=name)
        with pytest.raises(ValueError, match=r"^name must be a non-empty str"):
            Tool(name)


class TestForPeople:
    def test_calls_and_messages_show_what_they_are(self) -> None:
        state = finished([text("Hi"), WEATHER, call('{"city": "' + "x" * 99, index=1, name="weather"), end()])
        whole, cut = state.message.tool_calls
        assert repr(whole) == '<CompleteCall weather({"city": "Rome"})>'
        assert repr(cut).startswith('<PartialCall TRUNCATED weather({"city": "xxx')
        assert len(repr(cut)) < 110
        assert len(repr(finished([call("{}", index=0, name="x" * 999), end()]).message.tool_calls)) < 110
        assert repr(state.message).startswith(f"<Message TRUNCATED 'Hi', {whole!r}, ")


class TestErrors:
    def test_of_json_are_known_to_the_state_but_told_at_the_end(self) -> None:
        state = fed([call('{"city": oops}', index=0, id="a", name="weather")])
        (known,) = state.errors
        assert (known.kind, known.source) == (ErrorKind.JSON, 0)
        assert isinstance(known.cause, ParserError)
        assert (known.cause.reason, known.cause.index) == (Reason.UNEXPECTED_CHARACTER, 9)
        assert known.path == ("city",)
        assert state.message.errors == ()
        assert state.message.tool_calls[0].error is None
        ended = finish_message(state)
        assert known in ended.errors
        assert ended.message.tool_calls[0].status is Outcome.INVALID

    def test_of_transport_are_told_at_once_and_the_partial_message_is_kept(self) -> None:
        failure = ConnectionResetError("peer went away")
        state = fail_message(fed([text("Once "), call('{"city": "Ro', index=0, name="weather")]), failure)
        (error,) = state.message.errors[:1]
        assert (error.kind, error.source, error.message) == (ErrorKind.TRANSPORT, "stream", "peer went away")
        assert error.cause is failure
        assert state.message.content == "Once "
        assert state.message.tool_calls[0].partial == {"city": "Ro"}

    def test_can_be_pickled_whatever_a_client_raised(self) -> None:
        class ClientError(Exception):
            def __init__(self, *, request: object) -> None:
                super().__init__("gone")
                self.request = request

        state = fail_message(fed([call('{"a": ]', index=0, name="t")]), ClientError(request=lambda: None))
        restored: MessageState = pickle.loads(pickle.dumps(state))  # noqa: S301
        stream, broken = restored.errors
        assert (stream.kind, stream.message, stream.cause) == (ErrorKind.TRANSPORT, "gone", None)
        assert broken == state.errors[1]
        assert isinstance(broken.cause, ParserError)

    def test_of_a_provider_in_its_stream_are_of_transport(self) -> None:
        state = fed([text("Once"), CompletionChunk(error="Overloaded")])
        assert state.outcome is Outcome.TRUNCATED
        assert [(error.kind, error.message) for error in state.errors] == [(ErrorKind.TRANSPORT, "Overloaded")]

    def test_that_say_nothing_are_called_by_their_type(self) -> None:
        assert fail_message(fed([]), TimeoutError()).errors[0].message == "TimeoutError"

        class UnspeakableError(Exception):
            def __str__(self) -> str:
                raise RuntimeError

        assert fail_message(fed([]), UnspeakableError()).errors[0].message == "UnspeakableError"
        for state in (fail_message(fed([]), ""), fed([CompletionChunk(error="")])):
            assert state.errors[0].message == "the stream failed"

    def test_that_are_certain_stay_at_any_end(self) -> None:
        state = fed([call('{"city": oops}', index=0, id="a", name="weather")])
        refused = finish_message(feed_message(state, delta("stop", refusal="No.")))
        ends = (stop_message(state), fail_message(state, "reset"), refused, finish_message(state))
        for ended in (*ends, finish_message(feed_message(state, end("content_filter")))):
            assert state.errors[0] in ended.errors
            assert ended.message.tool_calls[0].error == state.errors[0]

    def test_of_a_tool_that_was_not_offered_are_known_as_soon_as_its_name_is(self) -> None:
        config = MessageConfig(tools=[Tool("weather")])
        state = fed([call("{", index=0), call(index=0, name="teleport")], config)
        assert [(error.kind, error.source) for error in state.errors] == [(ErrorKind.SCHEMA, 0)]
        assert finish_message(state).errors[1:2] == state.errors

    def test_cancelling_is_no_error(self) -> None:
        state = stop_message(fed([text("Once")]))
        assert state.errors == ()
        assert state.message.content == "Once"


class TestSeed:
    def test_escapes_split_across_chunks(self) -> None:
        pieces = ['{"a": "x\\', "u00", "e9\\ud834", "\\udd", '1e\\n"', "}"]
        state = finished([*(call(piece, index=0, name="t") for piece in pieces), end()])
        assert values(state) == [(None, "t", {"a": "xé𝄞\n"})]

    def test_nothing_is_shown_before_there_is_something(self) -> None:
        assert fed([call("", index=0, name="t")]).message.tool_calls[0].partial is MISSING
