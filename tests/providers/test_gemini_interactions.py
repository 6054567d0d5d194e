"""Gemini's Interactions API: what a message holds of its events."""

from typing import Any

from jsontide.messages import (
    CompleteCall,
    File,
    Other,
    Outcome,
    PartialCall,
    ReasoningPart,
    ServerCall,
    TextPart,
)
from jsontide.providers import feed_stream, start_stream
from tests.generated_streams.said import Event
from tests.providers.block_streams import as_object, last

CREATED: Event = {
    "event_type": "interaction.created",
    "interaction": {"id": "v1", "model": "m", "status": "in_progress"},
}
ARGUMENTS = {"city": "Rome"}


def start(index: Any, **step: Any) -> Event:
    return {"event_type": "step.start", "index": index, "step": step}


def delta(index: Any, **said: Any) -> Event:
    return {"event_type": "step.delta", "index": index, "delta": said}


def stop(index: Any) -> Event:
    return {"event_type": "step.stop", "index": index}


def end(status: Any = "completed", **interaction: Any) -> Event:
    return {"event_type": "interaction.completed", "interaction": {"status": status, **interaction}}


class TestSteps:
    def test_are_open_until_they_stop(self) -> None:
        state = start_stream()
        seen = []
        for event in (
            start(0, type="thought"),
            stop(0),
            delta(1, type="text", text="a"),
            stop(1),
            start(2, type="function_call", id="f", name="x"),
            stop(2),
        ):
            state = feed_stream(state, event)
            seen.append([part.is_open for part in state.message.parts])
        assert seen == [[True], [False], [False, True], [False, False], [False, False, True], [False] * 3]

    def test_in_turns_are_told_apart(self) -> None:
        message = last(
            delta(0, type="text", text="a"), delta(1, type="text", text="x"), delta(0, type="text", text="b"), end()
        )
        assert [part.text for part in message.parts if isinstance(part, TextPart)] == ["ab", "x"]

    def test_without_an_index_are_not_lost(self) -> None:
        message = last(
            delta(None, type="text", text="a"),
            delta(None, type="text", text="b"),
            delta(None, type="text_annotation_delta", annotations=[{"type": "url_citation", "url": "u"}]),
            delta(None, type="thought_signature", signature="c2ln"),
            delta(None, type="google_search_result", result=["r"]),
            end(),
        )
        text, thought, result = message.parts
        assert isinstance(text, TextPart)
        assert (text.text, [one.url for one in text.citations]) == ("ab", ["u"])
        assert isinstance(thought, ReasoningPart)
        assert isinstance(result, ServerCall)
        assert (thought.signature, result.result) == ("c2ln", ["r"])

    def test_of_an_unknown_kind_are_kept(self) -> None:
        told = [start(0, type="dream", of="sheep"), delta(0, type="dream_more", count=3), delta(1, type="odd", a=1)]
        message = last(*told, end())
        assert message.parts == (
            Other("dream", [told[0]["step"], told[1]["delta"]], index=0),
            Other("odd", [{"type": "odd", "a": 1}], index=1),
        )

    def test_of_input_are_kept_apart(self) -> None:
        step = {"type": "function_result", "call_id": "f", "result": "sunny"}
        (part,) = last(start(0, **step), end()).parts
        assert part == Other("function_result", [step])

    def test_that_failed_leave_nothing_to_run(self) -> None:
        error = {"code": 13, "message": "no"}
        call = {"type": "function_call", "id": "f", "name": "weather", "arguments": ARGUMENTS}
        message = last(start(0, **call), start(1, type="model_output", error=error), end())
        assert (message.outcome, message.metadata["error"]) == (Outcome.TRUNCATED, [error])
        assert isinstance(message.parts[0], PartialCall)


class TestServerCalls:
    def test_results_find_their_calls(self) -> None:
        calls = [start(at, type="code_execution_call", id=f"c{at}", arguments={"code": f"{at}"}) for at in range(2)]
        results = [start(at + 2, type="code_execution_result", call_id=f"c{at}", result=f"{at}") for at in (1, 0)]
        message = last(*calls, *results, end())
        assert [part.result for part in message.parts if isinstance(part, ServerCall)] == ["0", "1"]

    def test_results_of_no_call_are_kept(self) -> None:
        (part,) = last(start(0, type="google_search_result", call_id="g", result=[1]), end()).parts
        assert isinstance(part, ServerCall)
        assert (part.type, part.id, part.result) == ("google_search_result", "g", [1])


class TestCitations:
    def test_are_counted_in_characters(self) -> None:
        cited = {"type": "url_citation", "url": "https://a.example", "title": "a", "start_index": 10, "end_index": 20}
        message = last(
            delta(0, type="text", text="Zoë won. It rained."),
            delta(0, type="text_annotation_delta", annotations=[cited]),
            delta(0, type="text_annotation_delta", annotations=[{**cited, "end_index": 900}]),
            end(),
        )
        (text,) = message.parts
        assert isinstance(text, TextPart)
        first, second = text.citations
        assert (first.type, first.url, first.title, first.raw) == ("url_citation", "https://a.example", "a", cited)
        assert (text.text[first.start : first.end], second.start, second.end) == ("It rained.", 9, None)

    def test_of_no_text_are_kept(self) -> None:
        message = last(delta(0, type="text_annotation_delta", annotations=[{"type": "url_citation"}]), end())
        assert message.metadata["annotations"] == [{"type": "url_citation"}]


class TestWholes:
    STEPS = (
        {"type": "thought", "summary": [{"type": "text", "text": "Hm."}], "signature": "x"},
        {
            "type": "model_output",
            "content": [
                {
                    "type": "text",
                    "text": "Zoë",
                    "annotations": [{"type": "url_citation", "start_index": 0, "end_index": 4}],
                },
                {
                    "type": "text",
                    "text": "won",
                    "annotations": [{"type": "url_citation", "start_index": 0, "end_index": 3}],
                },
            ],
        },
        {"type": "google_search_call", "id": "s", "arguments": {"queries": ["x"]}},
        {"type": "google_search_result", "call_id": "s", "result": [{"a": 1}]},
        {"type": "function_call", "id": "call_1", "name": "weather", "arguments": ARGUMENTS},
        {"type": "function_call", "id": "call_2", "name": "now", "arguments": {}},
    )

    def whole(self, **fields: Any) -> Event:
        usage = {"total_input_tokens": 3, "total_output_tokens": 4, "total_thought_tokens": 5, "total_tokens": 12}
        about = {"id": "v1", "object": "interaction", "status": "requires_action", "model": "m", "usage": usage}
        return {
            **about,
            "created": "2026-05-15T18:52:46Z",
            "service_tier": "standard",
            "steps": [*self.STEPS],
            **fields,
        }

    def test_are_read_with_all_that_they_say(self) -> None:
        for whole in (self.whole(), as_object(self.whole())):
            message = last(whole)
            thought, first, second, search, weather, now = message.parts
            assert thought == ReasoningPart("Hm.", "x", index=0)
            assert isinstance(first, TextPart)
            assert isinstance(second, TextPart)
            assert [
                (part.text, part.text[one.start : one.end]) for part in (first, second) for one in part.citations
            ] == [
                ("Zoë", "Zoë"),
                ("won", "won"),
            ]
            assert isinstance(search, ServerCall)
            assert search.result == [{"a": 1}]
            assert isinstance(weather, CompleteCall)
            assert isinstance(now, CompleteCall)
            assert (weather.arguments_value, now.arguments_value) == (ARGUMENTS, {})
            assert (message.id, message.model, message.created) == ("v1", "m", 1778871166.0)
            usage = message.usage
            assert usage is not None
            assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (3, 9, 12)
            assert message.metadata == {"status": "requires_action", "service_tier": "standard"}

    def test_of_the_form_before(self) -> None:
        outputs = [{"type": "text", "text": "a"}, {"type": "image", "uri": "u", "mime_type": "image/png"}]
        message = last({"id": "v1", "status": "completed", "outputs": outputs})
        assert message.parts == (TextPart("a", index=0), File("image/png", None, "u", index=1, extra={"type": "image"}))

    def test_that_failed(self) -> None:
        for fields in ({"error": {"message": "no"}}, {"errors": [{"message": "no"}]}):
            message = last(self.whole(status="failed", **fields))
            assert (message.outcome, message.errors[0].message) == (Outcome.TRUNCATED, "no")
            assert not any(isinstance(part, CompleteCall) for part in message.parts)


class TestTheRest:
    def test_usage_is_the_last_total(self) -> None:
        totals = [{"total_input_tokens": 5, "total_output_tokens": at, "total_tokens": 5 + at} for at in (1, 2, 3)]
        message = last(
            {
                "event_type": "interaction.status_update",
                "interaction_id": "v1",
                "status": "in_progress",
                "usage": totals[0],
            },
            {**delta(0, type="text", text="a"), "metadata": {"total_usage": totals[1]}},
            {**stop(0), "step_usage": {"total_tokens": 2}},
            end(usage=totals[2]),
        )
        usage = message.usage
        assert usage is not None
        assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (5, 3, 8)
        assert (message.id, message.metadata["step_usage"]) == ("v1", [{"total_tokens": 2}])

    def test_errors(self) -> None:
        for told, said in (
            ({"event_type": "error", "error": {"message": "Quota"}}, "Quota"),
            (end("failed"), "the interaction failed"),
            (end("cancelled"), "the interaction was cancelled"),
        ):
            assert last(CREATED, told).errors[0].message == said
