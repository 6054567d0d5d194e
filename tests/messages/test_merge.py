"""The shapes in which providers send tool calls, regular or not, and what they all must become."""

import json
from typing import Any

import pytest

from jsontide.messages import Choice, CompletionChunk, Delta, MessageConfig, Outcome
from tests.messages.telling import call, delta, end, entry, fed, finished, text, trail, values

ROME, PARIS = {"city": "Rome"}, {"city": "Paris"}
TWO = [("a", "weather", ROME), ("b", "weather", PARIS)]


class TestIrregularShapes:
    def test_the_index_is_missing_and_ids_tell_the_calls_apart(self) -> None:
        state = finished(
            [
                call("", id="a", name="weather"),
                call('{"city": ', id="a"),
                call('"Rome"}', id="a"),
                call('{"city": "Paris"}', id="b", name="weather"),
                end(),
            ]
        )
        assert values(state) == TWO

    def test_index_and_id_are_missing_and_deltas_go_to_the_last_open_call(self) -> None:
        state = finished(
            [
                call("", id="a", name="weather"),
                call('{"city": '),
                call('"Rome"}'),
                call("", id="b", name="weather"),
                call('{"city": "Paris"}'),
                end(),
            ]
        )
        assert values(state) == TWO

    def test_index_and_id_are_missing_and_two_calls_are_open(self) -> None:
        state = finished(
            [
                call('{"city": ', id="a", name="weather"),
                call('{"city": ', id="b", name="weather"),
                call('"Paris"}'),
                call('"Rome"}'),
                end(),
            ]
        )
        assert values(state) == TWO

    def test_index_and_id_are_missing_and_every_call_comes_whole(self) -> None:
        state = finished([call('{"city": "Rome"}', name="weather"), call('{"city": "Paris"}', name="weather"), end()])
        assert values(state) == [(None, "weather", ROME), (None, "weather", PARIS)]

    def test_the_index_is_reused_with_a_new_id(self) -> None:
        state = finished(
            [
                call('{"city": "Rome"}', index=0, id="a", name="weather"),
                call('{"city": ', index=0, id="b", name="weather"),
                call('"Paris"}', index=0),
                end(),
            ]
        )
        assert values(state) == TWO

    def test_the_index_is_reused_and_the_first_call_goes_on_by_its_id(self) -> None:
        state = finished(
            [
                call('{"city": ', index=0, id="a", name="weather"),
                call('{"city": ', index=0, id="b", name="weather"),
                call('"Rome"}', index=0, id="a"),
                call('"Paris"}', index=0, id="b"),
                end(),
            ]
        )
        assert values(state) == TWO

    def test_id_and_name_are_repeated_in_every_delta(self) -> None:
        pieces = ['{"ci', 'ty": "Ro', 'me"}']
        state = finished([*(call(piece, index=0, id="a", name="weather") for piece in pieces), end()])
        assert values(state) == [("a", "weather", ROME)]

    def test_id_and_name_are_repeated_without_an_index(self) -> None:
        pieces = ['{"ci', 'ty": "Ro', 'me"}']
        state = finished([*(call(piece, id="a", name="weather") for piece in pieces), end()])
        assert values(state) == [("a", "weather", ROME)]

    def test_the_index_is_sparse_and_does_not_begin_at_zero(self) -> None:
        state = finished(
            [
                call('{"city": "Rome"}', index=3, id="a", name="weather"),
                call('{"city": "Paris"}', index=1, id="b", name="weather"),
                end(),
            ]
        )
        assert values(state) == TWO
        assert [shown.index for shown in state.message.tool_calls] == [3, 1]

    def test_the_index_is_shifted_and_the_call_goes_on_by_its_id(self) -> None:
        state = finished(
            [
                call('{"city": ', index=0, id="a", name="weather"),
                call('{"city": "Paris"}', index=1, id="b", name="weather"),
                call('"Rome"}', index=2, id="a"),
                end(),
            ]
        )
        assert values(state) == TWO

    def test_two_entries_of_one_index_in_a_chunk_go_on_with_each_other(self) -> None:
        entries = (entry('{"city": ', index=0, id="a", name="weather"), entry('"Rome"}', index=0))
        assert values(finished([delta(tool_calls=entries), end()])) == TWO[:1]

    def test_two_entries_of_one_index_in_a_chunk_with_two_ids_are_two_calls(self) -> None:
        entries = (
            entry('{"city": "Rome"}', index=0, id="a", name="weather"),
            entry('{"city": "Paris"}', index=0, id="b", name="weather"),
        )
        assert values(finished([delta(tool_calls=entries), end()])) == TWO


class TestNamedCases:
    def test_late_id(self) -> None:
        state = finished([call('{"city": ', index=0, name="weather"), call('"Rome"}', index=0, id="a"), end()])
        assert values(state) == TWO[:1]

    def test_late_name(self) -> None:
        states = trail([call('{"city": ', index=0, id="a"), call('"Rome"}', index=0), call(index=0, name="weather")])
        assert [shown.name for state in states[1:] for shown in state.message.tool_calls] == [None, None, "weather"]
        assert (
            values(finished([call('{"city": "Rome"}', index=0, id="a"), call(index=0, name="weather"), end()]))
            == (TWO[:1])
        )

    @pytest.mark.parametrize("nothing", [None, "", " ", "\n"])
    def test_a_call_without_arguments(self, nothing: str | None) -> None:
        state = finished([call(nothing, index=0, id="a", name="now"), call(nothing, index=0), end()])
        assert values(state) == [("a", "now", {})]
        assert state.message.tool_calls[0].arguments == "{}"

    def test_a_call_without_arguments_is_not_told_from_one_cut_off_when_nobody_says_how_it_ended(self) -> None:
        for chunks in ([call("", index=0, id="a", name="now")], [call("", index=0, name="now"), end("length")]):
            assert finished(chunks).message.tool_calls[0].status is Outcome.TRUNCATED

    def test_arguments_as_an_object(self) -> None:
        state = finished([call(ROME, index=0, id="a", name="weather"), call(PARIS, id="b", name="weather"), end()])
        assert values(state) == TWO
        assert json.loads(state.message.tool_calls[0].arguments) == ROME

    def test_arguments_as_an_empty_object(self) -> None:
        assert values(finished([call({}, name="now"), call({}, name="now"), end()])) == [(None, "now", {})] * 2

    def test_an_object_that_is_no_json_cannot_be_run(self) -> None:
        state = finished([call({"at": object()}, index=0, name="weather"), end()])
        assert state.message.tool_calls[0].status is Outcome.INVALID

    def test_interleaved_calls(self) -> None:
        state = finished(
            [
                call('{"city"', index=0, id="a", name="weather"),
                call('{"ci', index=1, id="b", name="weather"),
                call(': "Rome"', index=0),
                call('ty": "Paris"}', index=1),
                call("}", index=0),
                end(),
            ]
        )
        assert values(state) == TWO

    def test_text_between_calls(self) -> None:
        state = finished(
            [
                text("First "),
                call('{"city": "Rome"}', index=0, id="a", name="weather"),
                text("then "),
                call('{"city": "Paris"}', index=1, id="b", name="weather"),
                end(),
            ]
        )
        assert state.message.content == "First then "
        assert values(state) == TWO

    def test_a_duplicate_finish_chunk(self) -> None:
        chunks = [call('{"city": "Rome"}', index=0, id="a", name="weather"), end(), end(), end("stop")]
        assert values(finished(chunks)) == TWO[:1]
        assert finished(chunks).outcome is Outcome.COMPLETE

    def test_a_milder_finish_reason_does_not_hide_a_limit(self) -> None:
        assert finished([text("Once upon"), end("length"), end("stop")]).message.finish_reason == "length"

    def test_a_chunk_without_choices(self) -> None:
        before = fed([text("a")])
        assert fed([text("a"), CompletionChunk()]).message == before.message
        assert finished([CompletionChunk(), text("a"), CompletionChunk(), end("stop")]).message.content == "a"

    def test_only_the_first_of_several_answers_counts(self) -> None:
        other = Choice(index=1, delta=Delta(content="other"), finish_reason="stop")
        state = finished([CompletionChunk(choices=(other, Choice(delta=Delta(content="a")))), end("stop")])
        assert state.message.content == "a"

    def test_no_role(self) -> None:
        assert finished([text("a"), end("stop")]).message.role == "assistant"

    def test_a_tool_named_like_a_python_attribute(self) -> None:
        state = finished([call("{}", index=0, id="a", name="__class__"), call("{}", index=1, name="items"), end()])
        assert [shown.name for shown in state.message.tool_calls] == ["__class__", "items"]

    def test_an_empty_id_or_name_says_nothing(self) -> None:
        state = finished(
            [call('{"city": ', index=0, id="a", name="weather"), call('"Rome"}', index=0, id="", name=""), end()]
        )
        assert values(state) == TWO[:1]

    @pytest.mark.parametrize("nothing", [None, "", " ", "\n"])
    def test_an_entry_that_says_nothing_begins_no_call(self, nothing: str | None) -> None:
        whole = call('{"city": "Rome"}', id="a", name="weather")
        assert values(finished([whole, call(nothing), end()])) == TWO[:1]
        assert fed([call(None), call("", index=3), call("", id="", name="")]).message.tool_calls == ()

    def test_an_object_after_a_call_that_is_no_json_is_a_call_of_its_own(self) -> None:
        state = finished([call({"city": float("nan")}, name="weather"), call(ROME, name="weather"), end()])
        assert [shown.status for shown in state.message.tool_calls] == [Outcome.INVALID, Outcome.COMPLETE]

    def test_another_name_on_a_used_index_without_ids_is_another_call(self) -> None:
        state = finished([call("{}", index=0, name="now"), call("{}", index=0, name="here"), end()])
        assert values(state) == [(None, "now", {}), (None, "here", {})]
        silent = finished([call("", index=0, name="now"), call("", index=0, name="here"), end()])
        assert values(silent) == [(None, "now", {}), (None, "here", {})]

    def test_whole_arguments_that_repeat_the_deltas_add_nothing(self) -> None:
        chunks = [
            call('{"city": ', index=0, id="a", name="weather"),
            call('"Rome"}', index=0),
            call('{"city": "Rome"}', index=0, id="a", name="weather", spelling="whole"),
        ]
        assert values(finished([*chunks, end()])) == TWO[:1]
        *_, before, after = trail(chunks)
        assert after is before

    def test_whole_arguments_that_contradict_the_deltas_cannot_be_run(self) -> None:
        chunks = [
            call('{"city": "Rome"}', index=0, id="a", name="weather"),
            call('{"city": "Paris"}', index=0, spelling="whole"),
            end(),
        ]
        assert finished(chunks).message.tool_calls[0].status is Outcome.INVALID

    @pytest.mark.parametrize("pieces", [['{"n":1', "0}"], ['{"n":1'], ['{"n":10'], ["1"]])
    @pytest.mark.parametrize("whole", ["", "}", "0}", '{"n":', "2", {}, {"n": 2}])
    def test_whole_arguments_that_do_not_begin_with_the_deltas_cannot_be_run(
        self, pieces: list[str], whole: Any
    ) -> None:
        chunks = [call("", index=0, id="a", name="pay"), *(call(piece, index=0) for piece in pieces)]
        for more in ([], [call("}", index=0)]):
            state = finished([*chunks, call(whole, index=0, spelling="whole"), *more, end()])
            assert [one.status for one in state.message.tool_calls] == [Outcome.INVALID]

    def test_cumulative_arguments_are_recognised_when_asked_for(self) -> None:
        pieces = ["", '{"ci', '{"city": "Ro', '{"city": "Ro', '{"ci', '{"city": "Rome"}', ""]
        chunks = [*(call(piece, index=0, id="a", name="weather") for piece in pieces), end()]
        assert values(finished(chunks, MessageConfig(cumulative_arguments=True))) == TWO[:1]
        assert finished(chunks).message.tool_calls[0].status is Outcome.INVALID


def test_what_the_server_runs_is_never_shown_however_it_begins() -> None:
    for begun in (call(index=0, on_server=True), call("{", index=0, on_server=True), call(name="a", on_server=True)):
        states = trail([begun, call("{}", index=1, name="weather"), call("}", index=0), end()])
        for state in (*states, finished([begun, end("stop")])):
            assert all(shown.name == "weather" for shown in state.message.tool_calls)


def test_what_the_server_runs_cannot_be_run_here_also_if_that_is_told_late() -> None:
    for told in (call(index=0, on_server=True), call("{}", index=0, name="search", on_server=True)):
        assert finished([call(index=0, id="a"), told, call(index=0, name="search"), end()]).message.tool_calls == ()
