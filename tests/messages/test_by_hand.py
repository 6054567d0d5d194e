"""Messages that anybody builds, and what they say about how they ended."""

import copy
import json
import pickle
from typing import Any

import pytest
from pydantic import BaseModel

from jsontide import MISSING
from jsontide.messages import (
    CancelledError,
    Citation,
    CompleteCall,
    EmptyError,
    ErrorDetail,
    ErrorKind,
    File,
    FilteredError,
    IncompleteCallError,
    InvalidError,
    Message,
    MessageConfig,
    MessageError,
    Other,
    Outcome,
    PartialCall,
    ReasoningPart,
    Refusal,
    RefusedError,
    ServerCall,
    Source,
    TextPart,
    Tool,
    TruncatedError,
    Usage,
    fail_message,
    feed_message,
    finish_message,
    start_message,
    stop_message,
)
from jsontide.providers import PROVIDERS, to_request
from jsontide.streams import stream_message
from tests.messages.telling import call, delta, end, fed, finished, text

PARTS: tuple[Any, ...] = (
    ReasoningPart("Hm.", signature="c2ln", encrypted="ZW5j", item_id="rs_1", index=0),
    ReasoningPart(redacted=True, encrypted="eHg=", index=1),
    TextPart("It is ", (Citation(type="url", url="https://a.example", title="A", start=0, end=2),), index=2),
    CompleteCall("pay", {"to": ["Zoë", None, False]}, id="call_1", index=3, extra={"phase": "x"}),
    PartialCall(
        "pay", '{"to', {}, Outcome.TRUNCATED, ErrorDetail(ErrorKind.JSON, 1, "it ends", ("to",)), "call_2", index=4
    ),
    ServerCall("search", '{"q": 1}', [{"url": "x"}], "completed", "web_search", id="s", index=5),
    ServerCall("none", result=None, needs_action=True, index=6),
    Refusal("No.", index=7),
    Source("https://a.example", "A", index=8),
    File("image/png", "aGk=", index=9),
    File(url="https://a.example/f", id="file_1", index=10),
    Other("patch", {"diff": "+"}, needs_action=True, index=11, is_open=True),
    Other("nothing", None, index=12),
)
MESSAGE: Message[Any] = Message(
    PARTS,
    Outcome.TRUNCATED,
    "length",
    "max_tokens",
    Usage(input_tokens=1, output_tokens=2, total_tokens=3, cached_tokens=0, raw={"in": 1, "odd": [None]}),
    "msg_1",
    "model-1",
    "anthropic",
    1_700_000_000.5,
    "assistant",
    (ErrorDetail(ErrorKind.JSON, 1, "it ends", ("to",)),),
    {"tier": "x", "logprobs": [{"a": None}]},
)


ERROR: dict[str, Any] = {"kind": "json", "source": "content", "message": "wrong"}
ODD: dict[str, list[Any]] = {
    "source": [0, 7, -1, True, 1.0, "answer", None, [], {}],
    "message": [5, None, [], {"a": 1}],
    "path": ["abc", 5, [1.5], [[]], [None], [True], {"a": 1}],
    "cause": ["x"],
    "more": [1],
}
ODD_ERRORS: list[dict[str, Any]] = [{name: value} for name, values in ODD.items() for value in values]
ODD_TOKENS: list[Any] = ["7", 1.5, [], True]
ODD_USAGE: list[Any] = [*({"input_tokens": tokens} for tokens in ODD_TOKENS), {"raw": []}]
ODD_CITATIONS: list[Any] = [{"url": 5}, {"start": "x"}, {"raw": 5}, {"title": []}, 7]


class TestBuilt:
    def test_views_are_of_the_parts(self) -> None:
        assert (MESSAGE.content, MESSAGE.reasoning, MESSAGE.refusal) == ("It is ", "Hm.", "No.")
        assert MESSAGE.tool_calls == PARTS[3:5]
        assert MESSAGE.sources == PARTS[8:9]
        assert MESSAGE.pending_actions == (PARTS[6], PARTS[11])
        assert MESSAGE.answer is MISSING

    @pytest.mark.parametrize("part", PARTS, ids=lambda part: f"{type(part).__name__}{part.index}")
    def test_every_part_is_saved_copied_and_compared_by_its_fields(self, part: Any) -> None:
        whole: Message[Any] = Message((part,), Outcome.COMPLETE)
        assert Message.from_json(whole.to_json()) == whole
        assert Message.from_json(whole.to_json()).parts[0] == part
        for again in (pickle.loads(pickle.dumps(part)), copy.copy(part), copy.deepcopy(part)):  # noqa: S301
            assert again == part
            assert type(again) is type(part)
            assert repr(again) == repr(part)
        assert part != TextPart("another")
        assert part not in (None, 7, "text", Message((part,)))
        with pytest.raises(TypeError, match="unhashable"):
            hash(part)
        assert "\n" not in repr(part)

    def test_a_message_is_saved_copied_and_compared_by_its_fields(self) -> None:
        text = MESSAGE.to_json()
        again = Message.from_json(text)
        assert again == MESSAGE
        assert again.to_json() == text
        assert json.loads(text)["jsontide"] == 1
        assert pickle.loads(pickle.dumps(MESSAGE)) == copy.deepcopy(MESSAGE) == MESSAGE  # noqa: S301
        for name in Message.FIELDS:
            assert getattr(again, name) == getattr(MESSAGE, name)

    def test_half_a_character_can_be_saved(self) -> None:
        odd: Message[Any] = Message((TextPart("a\ud83d"),), Outcome.COMPLETE)
        assert Message.from_json(odd.to_json().encode()) == odd

    def test_it_has_no_room_for_anything_else(self) -> None:
        for value in (MESSAGE, *PARTS):
            with pytest.raises(AttributeError):
                value.note = 1

    def test_a_call_that_is_complete_is_not_built_as_a_partial_one(self) -> None:
        with pytest.raises(ValueError, match="CompleteCall"):
            PartialCall("pay", "{}", status=Outcome.COMPLETE)

    def test_a_partial_call_has_no_arguments_to_run(self) -> None:
        odd: Any = PARTS[4]
        for name in ("arguments_value", "arguments_model"):
            with pytest.raises(IncompleteCallError, match="truncated: it ends"):
                getattr(odd, name)
            assert not hasattr(odd, name)

    @pytest.mark.parametrize("provider", PROVIDERS)
    def test_a_message_of_any_parts_can_be_sent_to_any_provider(self, provider: str) -> None:
        assert json.loads(json.dumps(to_request(MESSAGE, provider)))
        assert isinstance(to_request(Message((), Outcome.EMPTY), provider), list)

    @pytest.mark.parametrize(
        "told",
        [
            "no json",
            "[]",
            {},
            {"jsontide": 2},
            {"jsontide": 1, "outcome": "fine"},
            {"jsontide": 1, "new": 1},
            {"jsontide": 1, "parts": {}},
            {"jsontide": 1, "parts": ["x"]},
            {"jsontide": 1, "parts": [{"kind": "song"}]},
            {"jsontide": 1, "parts": [{"kind": "text", "text": 7}]},
            {"jsontide": 1, "parts": [{"kind": "text", "txt": "Hi"}]},
            {"jsontide": 1, "parts": [{"kind": "partial_call", "status": "complete"}]},
            {"jsontide": 1, "parts": [{"kind": "call", "name": "x"}]},
            {"jsontide": 1, "parts": [{"kind": "call", "arguments_value": {}}]},
            {"jsontide": 1, "usage": {"tokens": 1}},
            {"jsontide": 1, "errors": [{"kind": "odd"}]},
            *({"jsontide": 1, "errors": [{**ERROR, **odd}]} for odd in ODD_ERRORS),
            *({"jsontide": 1, "usage": odd} for odd in ODD_USAGE),
            *({"jsontide": 1, "parts": [{"kind": "text", "text": "a", "citations": [odd]}]} for odd in ODD_CITATIONS),
            {"jsontide": 1, "role": None},
        ],
        ids=str,
    )
    def test_what_to_json_did_not_write_is_refused(self, told: object) -> None:
        with pytest.raises(ValueError, match="not a message that to_json wrote"):
            Message.from_json(told)

    @pytest.mark.parametrize("provider", PROVIDERS)
    def test_null_in_a_citation_says_nothing(self, provider: str) -> None:
        cited = {"type": "url_citation", "url": "https://a.example", "title": None, "raw": None}
        message = Message.from_json({"jsontide": 1, "parts": [{"kind": "text", "text": "Hi", "citations": [cited]}]})
        assert isinstance(to_request(message, provider), list)


class Route(BaseModel):
    city: str
    days: int


ENDS: dict[Outcome, tuple[Any, type[MessageError]]] = {
    Outcome.STREAMING: (fed([text("Hi")]).message, MessageError),
    Outcome.TRUNCATED: (finish_message(fed([text("Hi"), end("length")])).message, TruncatedError),
    Outcome.INVALID: (finished([call("{]", name="a"), end()]).message, InvalidError),
    Outcome.REFUSED: (finished([delta(refusal="I will not."), end("stop")]).message, RefusedError),
    Outcome.FILTERED: (finished([text("Hi"), end("content_filter")]).message, FilteredError),
    Outcome.CANCELLED: (stop_message(fed([text("Hi")])).message, CancelledError),
    Outcome.EMPTY: (finished([end("stop")]).message, EmptyError),
}


class TestHowItEnded:
    def test_a_complete_message_raises_nothing(self) -> None:
        finished([text("Hi"), end("stop")]).message.raise_for_outcome()
        Message((TextPart("Hi"),), Outcome.COMPLETE).raise_for_outcome()

    @pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome is not Outcome.COMPLETE])
    def test_every_other_outcome_is_an_error_with_the_message(self, outcome: Outcome) -> None:
        message, kind = ENDS[outcome]
        assert message.outcome is outcome
        with pytest.raises(MessageError, match=outcome.value) as caught:
            message.raise_for_outcome()
        assert type(caught.value) is kind
        assert caught.value.message is message
        assert isinstance(pickle.loads(pickle.dumps(caught.value)), kind)  # noqa: S301
        with pytest.raises(kind):
            Message.from_json(message.to_json()).raise_for_outcome()

    def test_the_error_says_why(self) -> None:
        why = {
            Outcome.REFUSED: "I will not.",
            Outcome.FILTERED: "content_filter",
            Outcome.TRUNCATED: "length",
            Outcome.INVALID: "character",
        }
        for outcome, word in why.items():
            with pytest.raises(MessageError) as caught:
                ENDS[outcome][0].raise_for_outcome()
            assert word in str(caught.value) or outcome is Outcome.INVALID

    def test_the_exception_of_the_transport_is_the_cause(self) -> None:
        gone = ConnectionResetError("gone")
        with pytest.raises(TruncatedError, match="gone") as caught:
            fail_message(fed([text("Hi")]), gone).message.raise_for_outcome()
        assert caught.value.__cause__ is gone


class TestResult:
    def test_is_the_answer_of_a_complete_message(self) -> None:
        state = finished([text('{"city": "Nara", "days": 2}'), end("stop")], MessageConfig(response_schema=Route))
        assert state.message.result() == Route(city="Nara", days=2)
        assert state.message.result() is state.message.answer
        assert Message.from_json(state.message.to_json()).result() == {"city": "Nara", "days": 2}
        assert Message((), Outcome.COMPLETE, answer=None).result() is None

    @pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome is not Outcome.COMPLETE])
    def test_raises_what_the_outcome_raises(self, outcome: Outcome) -> None:
        message, kind = ENDS[outcome]
        with pytest.raises(kind, match=outcome.value) as caught:
            message.result()
        assert type(caught.value) is kind

    def test_of_an_answer_that_does_not_fit_raises_with_the_reason(self) -> None:
        state = finished([text('{"city": "Nara", "days": "two"}'), end("stop")], MessageConfig(response_schema=Route))
        with pytest.raises(InvalidError, match="days: expected an integer"):
            state.message.result()

    @pytest.mark.parametrize(
        ("chunks", "words"),
        [([text("Hi"), end("stop")], "without a response_schema"), ([call("{}", name="a"), end()], "it calls tools")],
    )
    def test_of_a_message_without_an_answer_raises_and_says_why(self, chunks: list[Any], words: str) -> None:
        message = finished(chunks).message
        assert message.outcome is Outcome.COMPLETE
        with pytest.raises(MessageError, match=words):
            message.result()

    def test_of_calls_beside_prose_raises_too(self) -> None:
        config = MessageConfig(response_schema=Route, tools=[Tool("a")])
        state = finished([text("Let me see."), call("{}", name="a"), end()], config)
        assert state.message.outcome is Outcome.COMPLETE
        with pytest.raises(MessageError, match="it calls tools"):
            state.message.result()


class TestUsage:
    def test_adds_up(self) -> None:
        first = Usage(input_tokens=20, output_tokens=7, cached_tokens=3, raw={"a": 1})
        second = Usage(input_tokens=30, output_tokens=5, total_tokens=40, reasoning_tokens=2)
        assert first + second == Usage(
            input_tokens=50, output_tokens=12, total_tokens=67, cached_tokens=3, reasoning_tokens=2
        )
        assert first + second == second + first
        assert sum([second] * 3, Usage()).total_tokens == 120

    def test_of_what_is_not_known_stays_unknown(self) -> None:
        assert Usage() + Usage() == Usage()
        known = Usage(output_tokens=7) + Usage(input_tokens=3, output_tokens=1)
        assert (known.input_tokens, known.output_tokens, known.total_tokens) == (3, 8, 11)

    def test_does_not_add_anything_else(self) -> None:
        with pytest.raises(TypeError, match="unsupported operand"):
            Usage() + 1  # type: ignore[operator]


class TestFeedback:
    def test_says_nothing_where_nothing_was_wrong_or_nothing_can_be_mended(self) -> None:
        assert finished([text("Hi"), end("stop")]).message.feedback() == ""
        for outcome in (Outcome.STREAMING, Outcome.REFUSED, Outcome.FILTERED, Outcome.CANCELLED):
            assert ENDS[outcome][0].feedback() == ""

    @pytest.mark.parametrize(
        ("outcome", "word"),
        [(Outcome.TRUNCATED, "broke off"), (Outcome.EMPTY, "empty"), (Outcome.INVALID, "not be used")],
    )
    def test_asks_again_where_that_helps(self, outcome: Outcome, word: str) -> None:
        said = ENDS[outcome][0].feedback()
        assert word in said
        assert "again" in said

    def test_names_what_was_expected_and_found_in_the_answer(self) -> None:
        event = {"choices": [{"delta": {"content": '{"city": 7, "days": "many"}'}, "finish_reason": "stop"}]}
        said = stream_message([event], response_schema=Route).final().feedback()
        lines = said.splitlines()
        assert any("the answer" in line and "city" in line for line in lines)
        assert any("the answer" in line and "days" in line and "int" in line for line in lines)

    def test_names_the_call_and_where_it_is_wrong(self) -> None:
        calls = [
            {"index": 0, "function": {"name": "go", "arguments": '{"city": "Nara", "days": 2}'}},
            {"index": 1, "function": {"name": "go", "arguments": '{"city": "Nara", "days": {}}'}},
            {"index": 2, "function": {"name": "fly", "arguments": "{}"}},
        ]
        event = {"choices": [{"delta": {"tool_calls": calls}, "finish_reason": "tool_calls"}]}
        message = stream_message([event], tools=[Tool("go", Route)]).final()
        said = message.feedback()
        assert "the call of go" in said
        assert "days" in said
        assert "no tool is called 'fly'" in said
        assert Message.from_json(message.to_json()).feedback() == said

    @pytest.mark.parametrize("source", [0, 7, -1])
    def test_can_be_said_of_a_call_that_is_not_there(self, source: int) -> None:
        message = Message((), Outcome.INVALID, errors=(ErrorDetail(ErrorKind.JSON, source, "it is odd"),))
        assert f"call {source + 1}: it is odd" in message.feedback()

    def test_is_not_endless(self) -> None:
        numbers = json.dumps(["x"] * 500)
        event = {"choices": [{"delta": {"content": numbers}, "finish_reason": "stop"}]}
        said = stream_message([event], response_schema=list[int]).final().feedback()
        assert len(said.splitlines()) < 30
        assert "more" in said

    def test_names_a_call_without_a_name_by_its_place(self) -> None:
        assert "call 1" in finished([call("{}", index=0), end()]).message.feedback()


def test_a_state_that_was_not_fed_is_a_message_too() -> None:
    message = start_message().message
    assert Message.from_json(message.to_json()) == message == Message()
    assert feed_message(start_message(), text("")).message == message


@pytest.mark.parametrize(("choice", "error"), [(True, TypeError), ("0", TypeError), (-1, ValueError)])
def test_a_choice_is_the_number_of_one(choice: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="choice must be a"):
        MessageConfig(choice=choice)


def test_a_tool_without_a_function_cannot_be_called() -> None:
    with pytest.raises(ValueError, match="the tool 'search' has no function to call"):
        Tool("search").call({})
