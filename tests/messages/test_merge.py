"""The shapes in which providers send tool calls, regular or not, and the calls that each must become."""

import json
from typing import Any

import pytest

from jsontide.messages import (
    Choice,
    CompletionChunk,
    Delta,
    ErrorKind,
    MessageConfig,
    MessageState,
    Outcome,
    Tool,
    feed_message,
)
from tests.messages.telling import call, delta, end, entry, fed, finished, shown_answer, text, trail, values

ROME, PARIS = {"city": "Rome"}, {"city": "Paris"}
TWO = [("a", "weather", ROME), ("b", "weather", PARIS)]


A, B = {"id": "a", "name": "weather"}, {"id": "b", "name": "weather"}
HALF, TO_ROME, TO_PARIS = '{"city": ', '"Rome"}', '"Paris"}'
IN_ROME, IN_PARIS = HALF + TO_ROME, HALF + TO_PARIS
PIECES = ('{"ci', 'ty": "Ro', 'me"}')
WEATHER_AND_PAY = [("a", "weather", ROME), ("b", "pay", {"to": "Zoe"})]
TWO_OF_ONE_INDEX = (entry(IN_ROME, index=0, **A), entry(IN_PARIS, index=0, **B))
IRREGULAR: dict[str, tuple[list[CompletionChunk], list[Any]]] = {
    "no index, ids": ([call("", **A), call(HALF, id="a"), call(TO_ROME, id="a"), call(IN_PARIS, **B)], TWO),
    "no index and no id: the last open call": (
        [call("", **A), call(HALF), call(TO_ROME), call("", **B), call(IN_PARIS)],
        TWO,
    ),
    "no index and no id, and every call whole": (
        [call(IN_ROME, name="weather"), call(IN_PARIS, name="weather")],
        [(None, "weather", ROME), (None, "weather", PARIS)],
    ),
    "an index again with a new id": (
        [call(IN_ROME, index=0, **A), call(HALF, index=0, **B), call(TO_PARIS, index=0)],
        TWO,
    ),
    "an index again, and the first call goes on by its id": (
        [call(HALF, index=0, **A), call(HALF, index=0, **B), call(TO_ROME, index=0, id="a"), call(TO_PARIS, id="b")],
        TWO,
    ),
    "id and name in every delta": ([call(piece, index=0, **A) for piece in PIECES], TWO[:1]),
    "id and name in every delta, without an index": ([call(piece, **A) for piece in PIECES], TWO[:1]),
    "an index that is shifted, and the call goes on by its id": (
        [call(HALF, index=0, **A), call(IN_PARIS, index=1, **B), call(TO_ROME, index=2, id="a")],
        TWO,
    ),
    "two entries of one index in a chunk that go on with each other": (
        [delta(tool_calls=(entry(HALF, index=0, **A), entry(TO_ROME, index=0)))],
        TWO[:1],
    ),
    "two entries of one index in a chunk with two ids": ([delta(tool_calls=TWO_OF_ONE_INDEX)], TWO),
    "a late id": ([call(HALF, index=0, name="weather"), call(TO_ROME, index=0, id="a")], TWO[:1]),
    "an empty id and name": ([call(HALF, index=0, **A), call(TO_ROME, index=0, id="", name="")], TWO[:1]),
    "empty objects": ([call({}, name="now"), call({}, name="now")], [(None, "now", {})] * 2),
    "an index again with another name": (
        [call("{}", index=0, name="now"), call("{}", index=0, name="here")],
        [(None, "now", {}), (None, "here", {})],
    ),
    "names alone, of which the later one goes on first": (
        [
            call(HALF, **A),
            call('{"to": ', id="b", name="pay"),
            call('"Zoe"}', name="pay"),
            call(TO_ROME, name="weather"),
        ],
        WEATHER_AND_PAY,
    ),
    "an id that comes late, beside a call that has one": (
        [call(HALF, **A), call('{"to": ', name="pay"), call('"Zoe"}', id="b"), call(TO_ROME, id="a")],
        WEATHER_AND_PAY,
    ),
    "in turns": (
        [
            *(call('{"city"', index=0, **A), call('{"ci', index=1, **B), call(': "Rome"', index=0)),
            *(call('ty": "Paris"}', index=1), call("}", index=0)),
        ],
        TWO,
    ),
}


@pytest.mark.parametrize("name", IRREGULAR)
def test_calls_in_irregular_shapes_are_those_that_were_meant(name: str) -> None:
    chunks, expected = IRREGULAR[name]
    assert values(finished([*chunks, end()])) == expected


def test_the_index_is_sparse_and_does_not_begin_at_zero() -> None:
    state = finished([call(IN_ROME, index=3, **A), call(IN_PARIS, index=1, **B), end()])
    assert values(state) == TWO
    assert [shown.index for shown in state.message.tool_calls] == [0, 1]  # the place in the message


class TestNamedCases:
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

    def test_an_object_that_is_no_json_cannot_be_run(self) -> None:
        state = finished([call({"at": object()}, index=0, name="weather"), end()])
        assert state.message.tool_calls[0].status is Outcome.INVALID

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

    @pytest.mark.parametrize("nothing", [None, "", " ", "\n"])
    def test_an_entry_that_says_nothing_begins_no_call(self, nothing: str | None) -> None:
        whole = call('{"city": "Rome"}', id="a", name="weather")
        assert values(finished([whole, call(nothing), end()])) == TWO[:1]
        assert fed([call(None), call("", index=3), call("", id="", name="")]).message.tool_calls == ()

    def test_an_object_after_a_call_that_is_no_json_is_a_call_of_its_own(self) -> None:
        state = finished([call({"city": float("nan")}, name="weather"), call(ROME, name="weather"), end()])
        assert [shown.status for shown in state.message.tool_calls] == [Outcome.INVALID, Outcome.COMPLETE]

    def test_whole_arguments_that_repeat_the_deltas_add_nothing(self) -> None:
        chunks = [
            call('{"city": ', index=0, id="a", name="weather"),
            call('"Rome"}', index=0),
            call('{"city": "Rome"}', index=0, id="a", name="weather", mode="cumulative"),
        ]
        assert values(finished([*chunks, end()])) == TWO[:1]
        *_, before, after = trail(chunks)
        assert after is before

    def test_whole_arguments_that_contradict_the_deltas_cannot_be_run(self) -> None:
        chunks = [
            call('{"city": "Rome"}', index=0, id="a", name="weather"),
            call('{"city": "Paris"}', index=0, mode="cumulative"),
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
            state = finished([*chunks, call(whole, index=0, mode="cumulative"), *more, end()])
            assert [one.status for one in state.message.tool_calls] == [Outcome.INVALID]

    def test_cumulative_arguments_are_recognised_when_asked_for(self) -> None:
        pieces = ["", '{"ci', '{"city": "Ro', '{"city": "Ro', '{"ci', '{"city": "Rome"}', ""]
        chunks = [*(call(piece, index=0, id="a", name="weather") for piece in pieces), end()]
        assert values(finished(chunks, MessageConfig(cumulative_arguments=True))) == TWO[:1]
        assert finished(chunks).message.tool_calls[0].status is Outcome.INVALID


OPEN = [call('{"city": ', id="a", name="weather"), call('{"to": ', id="b", name="pay")]
DELETE, ALL = call("", index=0, name="delete"), call('{"all": true}', index=0, name="_all")


def doubts(state: MessageState) -> list[bool]:
    """For each call whether it is invalid because nobody knows what belongs to it; nothing of others is asked."""
    found = []
    for position, shown in enumerate(state.message.tool_calls):
        said = [error for error in state.errors if error.source == position and "may b" in error.message]
        found.append(bool(said))
        if said:
            assert (shown.status, shown.error) == (Outcome.INVALID, said[0])
            assert said[0].kind is ErrorKind.JSON
            assert not hasattr(shown, "arguments_value")
    return found


class TestNothingIsGuessed:
    @pytest.mark.parametrize("more", [call('"x"}'), call('"x"}', name=""), call({"x": 1}), call("}", cut_off=True)])
    def test_whose_a_delta_is_that_has_neither_index_nor_id_while_two_calls_are_open(
        self, more: CompletionChunk
    ) -> None:
        for rest in ([], [more], [call('"x"}', id="a"), call('"x"}', id="b")]):
            state = finished([*OPEN, more, *rest, end()])
            assert doubts(state) == [True, True]
        assert [shown.arguments for shown in fed([*OPEN, more]).message.tool_calls] == ['{"city": ', '{"to": ']

    def test_calls_that_are_closed_already_or_begin_later_are_not_concerned(self) -> None:
        first, last = (call("{}", id=name, name=name) for name in ("first", "last"))
        assert doubts(finished([first, *OPEN, call('"x"}'), last, end()])) == [False, True, True, False]

    def test_a_call_is_told_by_its_name_if_only_one_that_is_open_has_it(self) -> None:
        state = finished([*OPEN, call('"Rome"}', name="weather"), call('"Zoe"}', name="pay"), end()])
        assert values(state) == WEATHER_AND_PAY

    def test_a_new_id_may_be_that_of_any_open_call_without_one(self) -> None:
        unnamed = [call('{"city": ', index=0, name="weather"), call('{"city": ', index=1, name="weather")]
        assert doubts(finished([*unnamed, call('"Rome"}', id="a"), end()])) == [True, True]
        assert values(finished([*unnamed[:1], call('"Rome"}', id="a"), end()])) == TWO[:1]

    def test_an_index_that_is_new_may_be_that_of_any_open_call_that_began_without_one(self) -> None:
        for index in (0, 1, 7):
            assert doubts(finished([*OPEN, call('"x"}', index=index), end()])) == [True, True]
            state = finished([OPEN[0], call('"Ro', index=index), call('me"}', index=index), end()])
            assert values(state) == TWO[:1]
        both = [*OPEN, call('"Rome"}', index=4, id="a"), call('"Zoe"}', index=2, id="b")]
        assert values(finished([*both, end()])) == WEATHER_AND_PAY

    @pytest.mark.parametrize("odd", ["\0", "0", "1", " "])
    def test_a_name_is_only_a_name_however_odd_it_is(self, odd: str) -> None:
        state = finished([*OPEN, call("{}", name=odd), call('"Rome"}', id="a"), call('"Zoe"}', id="b"), end()])
        assert values(state) == [("a", "weather", ROME), ("b", "pay", {"to": "Zoe"}), (None, odd, {})]

    def test_an_entry_that_says_nothing_is_nobodys(self) -> None:
        for nothing in (call(), call(""), call(" ", name=""), call(id="")):
            state = fed(OPEN)
            assert feed_message(state, nothing) is state

    def test_what_a_server_runs_may_be_meant_too(self) -> None:
        search = call('{"query": ', index=0, name="search", on_server=True)
        assert doubts(finished([search, call('{"city": ', index=1, name="weather"), call('"Rome"}'), end()])) == [True]

    def test_an_answer_may_be_meant_too(self) -> None:
        config = MessageConfig(response_schema={"type": "object"}, emulate_structured_output=True)
        chunks = [call("{", index=0, name="output"), call("{", index=1, name="pay"), call("}"), call("}", index=0)]
        state = finished([*chunks, call("}", index=1), end()], config)
        assert (state.outcome, shown_answer(state.message)) == (Outcome.INVALID, {})
        assert doubts(state) == [True]
        assert [error.source for error in fed(chunks, config).errors] == ["content", 0]

    @pytest.mark.parametrize("reason", ["stop", "tool_calls", "length"])
    @pytest.mark.parametrize(
        "tools", [[], ["delete"], ["delete", "delete_all"], ["_all"], ["delete", "_all", "delete_all_now"]]
    )
    def test_whether_two_names_are_one_in_two_parts(self, tools: list[str], reason: str) -> None:
        config = tools_of(*tools)
        shapes = {
            "by index": [DELETE, ALL],
            "by index, with the first id": [call("", index=0, id="a", name="delete"), ALL],
            "by index, with a late id": [DELETE, call("{}", index=0, id="a", name="_all")],
            "by index, blank": [call(" \n", index=0, name="delete"), ALL],
            "without index": [call("", name="delete"), call('{"all": true}', name="_all")],
            "without index, with the first id": [call("", id="a", name="delete"), call("{}", name="_all")],
            "in three parts": [call("", index=0, name="de"), call("", index=0, name="lete"), ALL],
            "in three parts without index": [call("", name="de"), call("", name="lete"), call("{}", name="_all")],
        }
        for chunks in shapes.values():
            assert all(doubts(finished([*chunks, end(reason)], config)))

    @pytest.mark.parametrize("index", [0, None])
    @pytest.mark.parametrize("written", ["{}", '{"a": 1}'])
    def test_a_name_that_goes_on_after_the_arguments_is_in_doubt(self, index: int | None, written: str) -> None:
        chunks = [call(written, index=index, name="delete"), call("", index=index, name="_all"), end()]
        assert doubts(finished(chunks, tools_of("delete", "delete_all"))) == [True, True]

    def test_one_id_is_one_call_and_two_names_of_it_are_in_doubt(self) -> None:
        for index in (0, None):
            chunks = [call("", index=index, id="a", name="delete"), call("{}", index=index, id="a", name="_all"), end()]
            assert doubts(finished(chunks)) == [True]
            assert finished(chunks).message.tool_calls[0].name == "delete"

    def test_two_ids_are_two_calls(self) -> None:
        for index in (0, None):
            chunks = [call("", index=index, id="a", name="delete"), call("", index=index, id="b", name="_all"), end()]
            assert values(finished(chunks)) == [("a", "delete", {}), ("b", "_all", {})]

    def test_names_of_tools_are_two_calls_if_no_tool_begins_with_both(self) -> None:
        for index in (0, None):
            chunks = [call("", index=index, name="now"), call("", index=index, name="here"), end()]
            assert values(finished(chunks, tools_of("now", "here"))) == [(None, "now", {}), (None, "here", {})]
            for other in ("now_here", "nowher", "here_now"):
                assert doubts(finished(chunks, tools_of("now", "here", other))) == [False, False]
            for longer in ("nowhere", "nowhere_else"):
                assert doubts(finished(chunks, tools_of("now", "here", longer))) == [True, True]


def tools_of(*names: str) -> MessageConfig:
    return MessageConfig(tools=[Tool(name) for name in names])


def test_two_choices_of_one_index_in_a_chunk_are_one_answer() -> None:
    parts = [Choice(delta=Delta(tool_calls=(entry(piece, index=0, name="pay"),))) for piece in ("1", "0")]
    assert values(finished([CompletionChunk(choices=tuple(parts)), end()])) == [(None, "pay", 10)]


def test_the_role_counts_that_comes_first() -> None:
    said = [delta(role="assistant"), text("a"), delta(role="user", content="b"), end("stop")]
    assert {state.message.role for state in trail(said)} == {"assistant"}
    assert finished([delta(role="model"), delta(role="user"), end("stop")]).message.role == "model"
    late = [text("a"), delta(role=""), delta(role="model"), end("stop")]  # what was shown does not change
    assert {state.message.role for state in trail(late)} == {"assistant"}


def test_what_the_server_runs_is_never_shown_however_it_begins() -> None:
    for begun in (call(index=0, on_server=True), call("{", index=0, on_server=True), call(name="a", on_server=True)):
        states = trail([begun, call("{}", index=1, name="weather"), call("}", index=0), end()])
        for state in (*states, finished([begun, end("stop")])):
            assert all(shown.name == "weather" for shown in state.message.tool_calls)


def test_what_the_server_runs_cannot_be_run_here_also_if_that_is_told_late() -> None:
    for told in (call(index=0, on_server=True), call("{}", index=0, name="search", on_server=True)):
        assert finished([call(index=0, id="a"), told, call(index=0, name="search"), end()]).message.tool_calls == ()
