"""Chat completions of OpenAI and of the servers that speak them: calls, choices and ends, in all shapes."""

from typing import Any

import pytest

from jsontide.messages import Outcome
from tests.providers.block_streams import Event, last, only, runnable
from tests.providers.chat_events import chunk, failure, kinds, whole


class TestCalls:
    def test_the_index_is_zero_for_all_calls_as_ollama_sends_it(self) -> None:
        calls = [
            {"index": 0, "id": f"call_{city}", "function": {"name": "weather", "arguments": f'{{"city":"{city}"}}'}}
            for city in ("Rome", "Oslo")
        ]
        message = last(*(chunk(tool_calls=[call]) for call in calls), chunk("stop"))
        assert runnable(message) == [
            ("call_Rome", "weather", {"city": "Rome"}),
            ("call_Oslo", "weather", {"city": "Oslo"}),
        ]

    @pytest.mark.parametrize("strange", ["", " 0", "-1", "0x1", "²", "٣", "1" * 5_000, 0.5, 1e300, True, [0]])
    def test_an_index_that_is_no_number_is_not_used(self, strange: object) -> None:
        calls = [{"index": strange, "id": "a", "function": {"name": "now", "arguments": piece}} for piece in ("{", "}")]
        (call,) = last(chunk(tool_calls=calls), chunk("tool_calls")).tool_calls
        assert (call.index, call.arguments, call.status) == (0, "{}", Outcome.COMPLETE)

    @pytest.mark.parametrize("pieces", [['{"to": "Z', 5, 'oe"}'], ['{"to": "Z', ["o"], 'e"}']])
    def test_a_piece_of_another_type_does_not_go_missing_unnoticed(self, pieces: list[object]) -> None:
        calls = [{"index": 0, "id": "a", "function": {"name": "pay", "arguments": piece}} for piece in pieces]
        assert runnable(last(*(chunk(tool_calls=[call]) for call in calls), chunk("tool_calls"))) == []

    def test_text_after_a_call_is_another_part(self) -> None:
        call = {"index": 0, "id": "a", "function": {"name": "now", "arguments": "{}"}}
        events = [
            chunk(content="One "),
            chunk(tool_calls=[call]),
            chunk(content="two"),
            chunk(content="!"),
            chunk("stop"),
        ]
        assert kinds(last(*events)) == ["TextPart", "CompleteCall", "TextPart"]
        assert last(*events).content == "One two!"

    def test_more_calls_than_there_is_room_for_end_the_stream(self) -> None:
        calls = [
            {"index": at, "id": str(at), "type": "x", "function": {"name": "now", "arguments": "{}"}} for at in range(5)
        ]
        message = last(chunk(tool_calls=calls), chunk("tool_calls"), max_parts=3)
        assert "more than 3 parts" in failure(message)
        assert runnable(message) == []


class TestCustomCalls:
    @staticmethod
    def call(piece: str | None, **begun: Any) -> Event:
        return {"index": 0, "type": "custom", **begun, "custom": {"input": piece, **({"name": "sql"} if begun else {})}}

    def test_the_input_is_a_json_string(self) -> None:
        pieces = ['SELECT "a"', "\n\\ 😀", " FROM t"]
        begun = chunk(tool_calls=[self.call("", id="c")])
        more = [chunk(tool_calls=[self.call(piece)]) for piece in pieces]
        message = last(begun, *more, chunk("tool_calls"))
        assert runnable(message) == [("c", "sql", "".join(pieces))]
        assert only(message).extra == {"type": "custom"}
        whole_call = {"id": "c", "type": "custom", "custom": {"name": "sql", "input": "".join(pieces)}}
        assert last(whole("tool_calls", tool_calls=[whole_call])).tool_calls == message.tool_calls

    @pytest.mark.parametrize("ends", [["tool_calls"], ["tool_calls", "tool_calls"], ["stop", "tool_calls"]])
    def test_an_end_may_be_said_twice(self, ends: list[str]) -> None:
        message = last(chunk(tool_calls=[self.call("x", id="c")]), *map(chunk, ends))
        assert runnable(message) == [("c", "sql", "x")]

    @pytest.mark.parametrize("reason", ["length", "content_filter", "unheard-of", None])
    def test_cannot_be_run_without_a_normal_end(self, reason: str | None) -> None:
        message = last(chunk(tool_calls=[self.call("DROP", id="c")]), *([chunk(reason)] if reason else []))
        assert (len(message.tool_calls), runnable(message)) == (1, [])

    @pytest.mark.parametrize("strange", [5, ["DROP"], {"a": 1}, True])
    def test_cannot_be_run_if_the_input_is_no_text(self, strange: Any) -> None:
        message = last(
            chunk(tool_calls=[self.call("SELECT", id="c")]), chunk(tool_calls=[self.call(strange)]), chunk("stop")
        )
        assert [call.status for call in message.tool_calls] == [Outcome.INVALID]

    def test_without_input(self) -> None:
        assert runnable(last(chunk(tool_calls=[self.call(None, id="c")]), chunk("tool_calls"))) == [("c", "sql", "")]


class TestChoices:
    @pytest.mark.parametrize("index", [1, 1.0, "1"])
    def test_only_the_choice_asked_for_counts_however_its_index_is_written(self, index: Any) -> None:
        def choice(index: object, content: str) -> Event:
            return {"index": index, "delta": {"content": content}, "finish_reason": None}

        other, own = choice(index, "other"), choice(type(index)(0), "own")
        events = [{"choices": [other]}, {"choices": [own]}, {"choices": [other, own]}, chunk("stop")]
        assert last(*events).content == "ownown"
        without = [{"delta": {"content": content}} for content in ("own", "other")]
        assert last({"choices": without}, chunk("stop")).content == "own"

    def test_another_choice_than_the_first(self) -> None:
        choices = [
            {"index": at, "delta": {"content": f"{at}."}, "logprobs": {"content": [at]}, "finish_reason": reason}
            for at, reason in ((0, "stop"), (1, None), (2, "length"))
        ]
        events = [{"id": "x", "choices": [choice]} for choice in choices]
        end = {"id": "x", "choices": [{"index": 1, "delta": {}, "finish_reason": "stop"}]}
        message = last(*events, end, choice=1)
        assert (message.content, message.outcome, message.metadata) == (
            "1.",
            Outcome.COMPLETE,
            {"logprobs": {"content": [1]}},
        )
        assert last(*events, end, choice=2).outcome is Outcome.TRUNCATED
        choices = [{"index": at, "message": {"content": str(at)}, "finish_reason": "stop"} for at in range(3)]
        assert last({"choices": choices}, choice=2).content == "2"

    @pytest.mark.parametrize("strange", [True, False, 0.5, "first", [0]])
    def test_a_choice_whose_index_is_no_number_leaves_nothing_to_run(self, strange: object) -> None:
        call = {"index": 0, "id": "a", "function": {"name": "now", "arguments": "{}"}}
        begun = chunk(tool_calls=[call])
        begun["choices"][0]["index"] = strange
        assert "index of a choice" in failure(last(begun, chunk("tool_calls")))


class TestEnds:
    @pytest.mark.parametrize("reason", ["error", "abort"])
    def test_an_end_that_is_a_failure_leaves_nothing_to_run(self, reason: str) -> None:
        call = {"index": 0, "id": "a", "function": {"name": "weather", "arguments": "{}"}}
        message = last(chunk(content="Hi", tool_calls=[call]), chunk(reason))
        assert failure(message) == "the provider says that it failed"
        assert (message.content, runnable(message)) == ("Hi", [])

    @pytest.mark.parametrize(
        ("said", "reason"),
        [
            ("eos", "tool_calls"),
            ("eos_token", "tool_calls"),
            ("end_turn", "tool_calls"),
            ("STOP", "tool_calls"),
            ("TOOL_CALLS", "tool_calls"),
            ("tool_use", "tool_calls"),
            ("MAX_TOKENS", "length"),
            ("content_filter: SAFETY", "content_filter"),
            ("RECITATION", "content_filter"),
            ("stop_sequence", "stop_sequence"),
            ("repetition", "repetition"),
            ("Paused", "Paused"),
            ("stop: maybe", "stop: maybe"),
        ],
    )
    def test_words_of_other_providers(self, said: str, reason: str) -> None:
        call = {"index": 0, "id": "a", "function": {"name": "now", "arguments": ""}}
        message = last(chunk(tool_calls=[call]), chunk(said))
        assert (message.finish_reason, message.raw_finish_reason) == (reason, said)
        assert runnable(message) == ([("a", "now", {})] if reason == "tool_calls" else [])
        if reason == "tool_calls":
            assert last(chunk(content="Hi"), chunk(said)).finish_reason == "stop"

    def test_the_first_model_that_is_named_stays(self) -> None:
        named = [{**chunk(content="a"), "model": name} for name in ("", "one", "two")]
        assert last(*named, chunk("stop")).model == "one"

    @pytest.mark.parametrize("nothing", ["", None, {}])
    def test_an_empty_error_beside_an_answer_is_not_one(self, nothing: object) -> None:
        message = last({**chunk(content="Hi"), "error": nothing}, chunk("stop"))
        assert (message.content, message.outcome) == ("Hi", Outcome.COMPLETE)

    @pytest.mark.parametrize(
        "again",
        [
            {"content": "Hi"},
            {"refusal": "No"},
            {"reasoning": "Hm"},
            {"audio": {"id": "x"}},
            {"content": [{"text": "a"}]},
        ],
    )
    def test_another_message_after_the_end_fails_the_stream(self, again: Event) -> None:
        message = last(chunk(content="One"), chunk("stop"), {**chunk(**again), "id": "chatcmpl-2"})
        assert "another message" in failure(message)
        old = {"id": "cmpl-2", "choices": [{"index": 0, "text": "again"}]}
        assert "another message" in failure(last(chunk(content="One"), chunk("stop"), old))
