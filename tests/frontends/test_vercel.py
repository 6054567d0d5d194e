"""Vercel's UI message stream: what is written, and what the AI SDK 5, 6 and 7 make of it."""

import json
from collections.abc import Iterable
from itertools import pairwise, product
from random import Random
from typing import Any, ClassVar

import pytest
from hypothesis import given

from jsontide import stream_message
from jsontide.frontends import VercelEncoder
from jsontide.frontends.base import LOST
from jsontide.mend import MODELS
from jsontide.messages import File, Message, Other, Outcome, Source, Tool
from jsontide.testing import VercelReport, check_vercel
from tests import provider_streams
from tests.frontends.clients import read_vercel, resume_vercel
from tests.frontends.endings import ENDS, ended, made_up, recorded, shown, some_value, states_of
from tests.frontends.turns import SEARCHED, TURNS, encode, read
from tests.messages.telling import call, delta, end, finished, text, trail
from tests.node_scripts import needs_node
from tests.strategies import examples, randoms


def sent(messages: Iterable[Any], failure: str | None = None, **options: Any) -> bytes:
    return encode(VercelEncoder(message_id="m", **options), messages, failure)


def reported(messages: Iterable[Any], failure: str | None = None, **options: Any) -> VercelReport:
    return check_vercel(sent(messages, failure, **options))


def events_of(stream: bytes) -> list[dict[str, Any]]:
    return [json.loads(line[6:]) for line in stream.decode().split("\n\n") if line.startswith("data: {")]


def some(count: int, most: int) -> list[int]:
    """At most so many numbers below a count, the last one among them."""
    return sorted({round(at * (count - 1) / max(1, min(count, most) - 1)) for at in range(min(count, most))})


def as_shown(report: VercelReport) -> list[tuple[object, ...]]:
    """What a report says, in the words of `shown`."""
    calls = {one.id: one for one in report.calls}
    found: list[tuple[object, ...]] = []
    for part in report.parts:
        if part["type"] in {"text", "reasoning"}:
            found.append((part["type"], part["text"]))
        elif part["type"] == "call":
            one = calls[part["id"]]
            state = "on server" if one.provider_executed else "ready" if one.may_run else "failed"
            found.append(("call", one.name, state, one.input)[: 4 if one.may_run else 3])
        else:
            kind = "source" if part["type"].startswith("source") else "file"
            found.append((kind, part["mediaType"] if kind == "file" else part.get("url", part.get("title"))))
    return found


class TestEnds:
    """What a client is told at the end, by the way in which a message ends."""

    CALL = call('{"city": "Par', index=0, id="c", name="weather")

    @pytest.mark.parametrize(
        ("reason", "told"),
        [
            ("stop", "stop"),
            ("stop_sequence", "stop"),
            ("length", "length"),
            ("content_filter", "content-filter"),
            ("refusal", "content-filter"),
            ("pause_turn", "other"),
        ],
    )
    def test_a_reason_is_told_in_words_that_all_clients_know(self, reason: str, told: str) -> None:
        report = reported([finished([text("Hi"), end(reason)]).message])
        assert (report.end, report.finish_reason, report.text) == ("finish", told, "Hi")

    def test_calls_to_run_are_a_reason_of_their_own(self) -> None:
        report = reported([finished([call("{}", index=0, id="c", name="weather"), end()]).message])
        assert (report.finish_reason, report.calls[0].may_run, report.calls[0].input) == ("tool-calls", True, {})

    @pytest.mark.parametrize("way", ENDS)
    def test_a_call_that_breaks_off_fails_however_the_stream_ends(self, way: str) -> None:
        report = reported(ended(trail([text("Look: "), self.CALL]), 2, way))
        assert report.end == {"over": "error", "lost": "error", "stopped": "abort"}[way]
        assert [(one.state, one.input, one.may_run) for one in report.calls] == [
            ("output-error", {"city": "Par"}, False)
        ]
        assert report.text == "Look: "

    def test_a_lost_connection_is_told_without_what_the_exception_says(self) -> None:
        assert reported(ended(trail([text("Hi")]), 1, "lost")).error_text == LOST

    def test_arguments_that_do_not_fit_fail_the_message(self) -> None:
        config = {"tools": [Tool("weather", {"type": "object", "required": ["city"]})]}
        *_, last = states_of([call('{"town": 1}', index=0, id="c", name="weather"), end()], **config)
        report = reported([last.message])
        assert last.message.outcome is Outcome.INVALID
        assert (report.end, report.calls[0].state, report.calls[0].may_run) == ("error", "output-error", False)

    def test_of_two_calls_at_the_limit_the_whole_one_may_run(self) -> None:
        chunks = [call("{}", index=0, id="a", name="weather"), call('{"a', index=1, id="b", name="weather")]
        report = reported([finished([*chunks, end("length")]).message])
        assert [one.may_run for one in report.calls] == [True, False]
        assert report.finish_reason == "length"

    def test_a_refusal_is_text(self) -> None:
        report = reported([finished([delta(refusal="I would rather not."), end("stop")]).message])
        assert (report.text, report.end, report.finish_reason) == ("I would rather not.", "finish", "content-filter")

    def test_nothing_at_all_is_an_end_too(self) -> None:
        assert reported([finished([end("stop")]).message]).parts == ()
        assert reported([], "no provider").error_text == "no provider"

    def test_what_it_cost_is_metadata(self) -> None:
        usage = {"prompt_tokens": 7, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
        chunk = {"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}], "usage": usage}
        told = {"inputTokens": 7, "outputTokens": 2, "totalTokens": 9, "cachedInputTokens": 4}
        assert reported(stream_message([chunk])).metadata == {"usage": told}
        assert reported(stream_message([chunk, OSError("gone")])).metadata in ({}, {"usage": told})


class TestWholeParts:
    """What comes whole: sources, files, and what there is no word for."""

    def test_a_source_is_told_by_its_address_or_its_title(self) -> None:
        parts = (Source("https://a.example", "A"), Source("https://b.example"), Source(None, "C"), Source(None, None))
        assert reported([Message(parts, Outcome.COMPLETE)]).parts == (
            {"type": "source-url", "sourceId": "m-0", "url": "https://a.example", "title": "A"},
            {"type": "source-url", "sourceId": "m-1", "url": "https://b.example"},
            {"type": "source-document", "sourceId": "m-2", "mediaType": "text/plain", "title": "C"},
        )

    def test_a_file_is_told_if_it_can_be_shown(self) -> None:
        parts = (File("image/png", data="aGk="), File(None, url="https://a.example"), File("audio/wav", id="f"))
        assert reported([Message(parts, Outcome.COMPLETE)]).parts == (
            {"type": "file", "url": "data:image/png;base64,aGk=", "mediaType": "image/png"},
            {"type": "file", "url": "https://a.example", "mediaType": "application/octet-stream"},
        )

    def test_other_things_are_not_told(self) -> None:
        assert reported([Message((Other("thing", {"a": 1}),), Outcome.COMPLETE)]).parts == ()


class TestBeginning:
    def test_who_joins_gets_the_same_id_from_the_same_encoder_and_another_from_another(self) -> None:
        encoder = VercelEncoder()
        assert encoder.begin()[1] == encoder.begin()[1]
        assert encoder.message_id != VercelEncoder().message_id

    def test_the_headers_name_the_protocol(self) -> None:
        assert VercelEncoder().headers["x-vercel-ai-ui-message-stream"] == "v1"
        assert VercelEncoder().media_type == "text/event-stream"

    @pytest.mark.parametrize("options", [{"answer": "json"}, {"hostile_keys": "keep"}])
    def test_an_option_that_is_none_is_refused(self, options: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match=f"{next(iter(options))} must be "):
            VercelEncoder(**options)


class TestHostileKeys:
    VALUES = ({"a": [{"__proto__": {"x": 1}, "b": 2}]}, {"constructor": {"prototype": {}, "c": 3}, "b": 2})
    DROPPED = ({"a": [{"b": 2}]}, {"constructor": {"c": 3}, "b": 2})

    @pytest.mark.parametrize("value", VALUES)
    def test_a_call_with_one_is_refused_or_loses_it(self, value: dict[str, Any]) -> None:
        messages = [state.message for state in trail([call(json.dumps(value), index=0, id="c", name="f"), end()])]
        messages.append(finished([call(json.dumps(value), index=0, id="c", name="f"), end()]).message)
        (refused,) = reported(messages).calls
        assert (refused.state, refused.may_run, refused.input_text) == ("output-error", False, json.dumps(value))
        assert "clients refuse it" in str(refused.error_text)
        (dropped,) = reported(messages, hostile_keys="drop").calls
        assert dropped.may_run
        assert dropped.input in self.DROPPED

    @pytest.mark.parametrize("value", VALUES)
    def test_an_answer_with_one_fails_or_loses_it(self, value: dict[str, Any]) -> None:
        chunks = [*(text(char) for char in json.dumps(value)), end("stop")]
        messages = [state.message for state in states_of(chunks, response_schema={"type": "object"})]
        refused = reported(messages, answer="data")
        assert (refused.end, refused.text) == ("error", "")
        assert "clients refuse it" in str(refused.error_text)
        assert reported(messages, answer="data", hostile_keys="drop").data["answer"] in self.DROPPED
        assert json.loads(reported(messages).text) == value

    @pytest.mark.parametrize("way", ENDS)
    def test_a_partial_answer_with_one_is_not_sent_and_its_end_stays_the_same(self, way: str) -> None:
        states = states_of([text('{"__proto__": {}, "b": ')], response_schema={"type": "object"})[:-1]
        report = reported(ended(states, len(states) - 1, way), answer="data")
        assert (report.data, report.text) == ({}, '{"__proto__": {}, "b": ')
        assert report.end == ("abort" if way == "stopped" else "error")
        assert "clients refuse" not in str(report.error_text)

    def test_words_that_are_no_threat_are_left_alone(self) -> None:
        value = {"constructor": "me", "prototype": {"__proto": 1}, "text": "__proto__"}
        report = reported([finished([call(json.dumps(value), index=0, id="c", name="f"), end()]).message])
        assert report.calls[0].input == value


class TestAnswers:
    VALUE: ClassVar = {"title": "Kyōto", "days": [{"name": "day " * 20, "stops": [1, 2, 3]}] * 20}
    SCHEMA: ClassVar = {"type": "object"}

    def messages(self, *chunks: Any, **options: Any) -> list[Message[Any]]:
        return [state.message for state in states_of(chunks, response_schema=self.SCHEMA, **options)]

    def test_an_answer_is_a_data_part_instead_of_its_text(self) -> None:
        messages = self.messages(*map(text, json.dumps(self.VALUE)), end("stop"))
        report = reported(messages, answer="data")
        assert (report.data, report.text, report.end) == ({"answer": self.VALUE}, "", "finish")
        assert [part["type"] for part in report.parts] == ["data-answer"]
        assert json.loads(reported(messages).text) == self.VALUE

    def test_all_of_it_costs_a_few_times_its_text(self) -> None:
        written = json.dumps(self.VALUE, separators=(",", ":"))
        stream = sent(self.messages(*map(text, written), end("stop")), answer="data")
        assert stream.count(b"data-answer") > 5
        assert len(stream) < 5 * len(written)

    def test_joining_late_gives_the_same_answer(self) -> None:
        messages = self.messages(delta(reasoning="Hm"), *map(text, json.dumps(self.VALUE)[:200] + "]}"), end("stop"))
        whole = reported(messages, answer="data")
        for late in range(len(messages)):
            assert reported(messages[late:], answer="data").parts == whole.parts

    def test_text_that_is_no_answer_is_told_at_the_end(self) -> None:
        messages = self.messages(*map(text, '{"a": 1, sorry'), end("stop"))
        for late in range(len(messages)):
            report = reported(messages[late:], answer="data")
            assert (report.text, report.data, report.end) == ('{"a": 1, sorry', {"answer": {"a": 1}}, "error")

    def test_text_beside_calls_is_told_at_the_end(self) -> None:
        chunks = [*map(text, "Let me look."), call("{}", index=0, id="c", name="f"), end()]
        messages = self.messages(*chunks, tools=[Tool("f")])
        for late in range(len(messages)):
            report = reported(messages[late:], answer="data")
            assert (report.text, report.data, report.finish_reason) == ("Let me look.", {}, "tool-calls")

    @pytest.mark.parametrize("prose", ["", "Here it is: "])
    def test_an_answer_that_comes_as_a_call_leaves_the_text_alone(self, prose: str) -> None:
        written = json.dumps(self.VALUE)
        first = call("", index=0, id="c", name="output")
        chunks = [*map(text, prose), first, *(call(char, index=0) for char in written), end()]
        messages = self.messages(*chunks, emulate_structured_output=True)
        for late in [*range(len(prose) + 10), len(messages) - 1]:
            report = reported(messages[late:], answer="data")
            assert (report.text, report.data, report.calls) == (prose, {"answer": self.VALUE}, ())
        assert sent(messages[:-1], answer="data").count(b"data-answer") > 5

    def test_a_mended_answer_is_told_as_it_was_mended(self) -> None:
        messages = self.messages(*map(text, "```json\n{a: 1, 'b': [2,],}\n```"), end("stop"), mend=MODELS)
        for late in range(len(messages)):
            report = reported(messages[late:], answer="data")
            assert (report.data, report.text) == ({"answer": {"a": 1, "b": [2]}}, "")

    @pytest.mark.parametrize("way", ENDS)
    def test_what_is_there_of_a_cut_answer_is_told(self, way: str) -> None:
        states = states_of(map(text, '{"a": 1, "b": [2, 3'), response_schema=self.SCHEMA)[:-1]
        report = reported(ended(states, len(states) - 1, way), answer="data")
        assert report.data == {"answer": {"a": 1, "b": [2]}}
        assert report.text == '{"a": 1, "b": [2, 3'

    def test_without_a_schema_text_stays_text(self) -> None:
        assert reported([finished([text("{}"), end("stop")]).message], answer="data").text == "{}"


class TestServerTools:
    def report(self, *parts: dict[str, Any], stop: str = "end_turn") -> VercelReport:
        events: list[dict[str, Any]] = [{"type": "message_start", "message": {"id": "m", "content": []}}]
        for index, block in enumerate(parts):
            events += [
                {"type": "content_block_start", "index": index, "content_block": block},
                {"type": "content_block_stop", "index": index},
            ]
        events.append({"type": "message_delta", "delta": {"stop_reason": stop}})
        return reported(stream_message(events))

    USE: ClassVar = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "a"}}

    def test_a_result_is_told_as_run_by_the_provider(self) -> None:
        result = {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"title": "A"}]}
        (one,) = self.report(self.USE, result).calls
        assert (one.state, one.output, one.provider_executed, one.may_run) == (
            "output-available",
            [{"title": "A"}],
            True,
            False,
        )

    def test_a_result_that_never_comes_is_an_error(self) -> None:
        (one,) = self.report(self.USE).calls
        assert (one.state, one.input, one.provider_executed) == ("output-error", {"query": "a"}, True)

    def test_one_that_breaks_off_is_an_error_of_its_input(self) -> None:
        half = {"type": "input_json_delta", "partial_json": '{"query": "a'}
        turn = read([*SEARCHED[:6], {"type": "content_block_delta", "index": 1, "delta": half}])
        told = events_of(encode(VercelEncoder(message_id="m"), turn))
        (failed,) = [event for event in told if event["type"] == "tool-input-error"]
        assert (failed["errorText"], failed["providerExecuted"]) == ("the call broke off", True)

    def test_a_hostile_result_is_refused_or_cleaned(self) -> None:
        result = {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"__proto__": 1}]}
        (one,) = self.report(self.USE, result).calls
        assert (one.state, one.output) == ("output-error", None)

    def test_dynamic_tools_are_dynamic_in_every_event(self) -> None:
        chunks = [call("{}", index=0, id="a", name="f"), call("{", index=1, id="b", name="g"), end("length")]
        report = reported([finished(chunks).message], dynamic_tools=True)
        assert [one.dynamic for one in report.calls] == [True, True]


@examples(0.3)
@given(randoms)
def test_any_answer_is_told_as_data_or_as_text_and_nothing_of_it_is_lost(random: Random) -> None:
    value = some_value(random)
    written = json.dumps(value)
    written = random.choice([written, written, written[: len(written) // 2], "Sorry, " + written])
    cuts = sorted(random.randint(0, len(written)) for _ in range(5))
    chunks = [*(text(written[start:stop]) for start, stop in pairwise([0, *cuts, len(written)])), end("stop")]
    states = states_of(chunks, response_schema={"type": "object"})
    for at, way in product(range(len(states)), ENDS):
        messages = ended(states, at, way)
        report = reported(messages, answer="data")
        if messages[-1].outcome is Outcome.COMPLETE:
            assert (report.data, report.text) == ({"answer": value}, "")
        else:
            assert report.text == messages[-1].content


def test_all_parts_of_a_message_are_shown_in_their_order() -> None:
    turns = [*TURNS.values(), *([state.message for state in recorded(name)] for name in provider_streams.ENCODED)]
    for turn in turns:
        assert as_shown(reported(turn)) == shown(turn[-1])


@needs_node
@pytest.mark.untraced
class TestClients:
    """The AI SDK's own chat, in every version; what holds of all clients is in the contract."""

    @pytest.mark.parametrize("count", [5, pytest.param(200, marks=pytest.mark.long)])
    def test_who_resumes_has_the_same_as_who_stayed(self, count: int) -> None:
        """The network fails anywhere in an event; the client asks again, and gets the message as it is then."""
        given = []
        for seed in range(count):
            states = made_up(Random(seed))
            messages = ended(states, len(states) - 1, "over")
            whole = sent(messages)
            for cut in (len(whole) // 3, len(whole) - 1):
                late = cut * len(messages) // len(whole)
                given.append((whole[:cut], sent(messages[late:])))
        resume_vercel(given)

    @pytest.mark.long
    @pytest.mark.parametrize("options", [{"answer": "text"}, {"dynamic_tools": True}, {"hostile_keys": "refuse"}])
    def test_options(self, options: dict[str, Any]) -> None:
        value = {"a": [{"__proto__": {"x": 1}, "b": 2}], "constructor": {"prototype": 1}}
        hostile = [*(call(char, index=0, id="c", name="f") for char in json.dumps(value)), end()]
        answer = [delta(reasoning="Hm"), *map(text, json.dumps({"days": [{"name": "é" * 20}] * 9})), end("stop")]
        read_vercel(
            [
                sent(ended(states, at, way), **options)
                for states in (states_of(hostile), states_of(answer, response_schema={"type": "object"}))
                for at, way in product(range(0, len(states), 7), ENDS)
            ]
        )
