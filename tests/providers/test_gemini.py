"""Gemini's `generateContentStream`: what a message holds of its responses."""

from functools import reduce
from typing import Any, ClassVar

import pytest

from jsontide.messages import Message, MessageConfig, Outcome, ServerCall, TextPart
from jsontide.providers import feed_stream, start_stream
from tests.generated_streams.said import Event
from tests.providers.block_streams import last

STOP: Event = {"candidates": [{"finishReason": "STOP"}]}


def response(*parts: Event, **candidate: Any) -> Event:
    return {"candidates": [{"content": {"role": "model", "parts": [*parts]}, **candidate}]}


def ended(*told: Event) -> Message:
    return last(*told, STOP)


class TestText:
    def test_that_is_over_is_not_open(self) -> None:
        state = start_stream()
        seen = []
        for event in (
            response({"text": "Hm.", "thought": True}),
            response({"text": "a"}),
            response({"functionCall": {"name": "now"}}),
        ):
            state = feed_stream(state, event)
            seen.append([part.is_open for part in state.message.parts])
        assert seen == [[True], [False, True], [False, False, False]]

    def test_of_an_answer_is_read_with_its_schema_though_it_is_signed(self) -> None:
        pieces = [response({"text": '{"a": '}), response({"text": "1}", "thoughtSignature": "c2ln"}), STOP]
        message = last(*pieces, response_schema=dict[str, int])
        assert (message.answer, message.outcome) == ({"a": 1}, Outcome.COMPLETE)

    def test_signed_is_a_part_too_many_where_there_is_no_room(self) -> None:
        told = [response({"text": "a", "thoughtSignature": "c2ln"}, {"thoughtSignature": "c2ln"})]
        state = reduce(feed_stream, told, start_stream(MessageConfig(max_parts=1)))
        assert (state.outcome, len(state.message.parts)) == (Outcome.TRUNCATED, 1)


class TestCalls:
    def test_show_what_they_are_while_they_are_signed(self) -> None:
        event = response({"functionCall": {"name": "pay", "args": {"to": "Zoe"}}, "thoughtSignature": "c2ln"})
        (call,) = feed_stream(start_stream(), event).message.tool_calls
        assert (call.partial, call.is_complete_at("to")) == ({"to": "Zoe"}, True)

    @pytest.mark.parametrize("strange", [5, "x", [], True, 0.5])
    def test_do_not_end_with_what_is_no_object(self, strange: object) -> None:
        args = {"partialArgs": [{"jsonPath": "$.to", "stringValue": "Zoe"}], "willContinue": True}
        told = [{"name": "pay", "willContinue": True}, args, strange, {}]
        message = ended(*(response({"functionCall": call}) for call in told))
        assert [call.status for call in message.tool_calls] == [Outcome.TRUNCATED]

    def test_of_no_object_are_no_calls_to_run(self) -> None:
        strange: Any
        for strange in ([], 0, False, 0.0):
            begun, more = {"name": "pay", "willContinue": True}, {"args": strange}
            message = ended(response({"functionCall": begun}), response({"functionCall": more}))
            assert [call.status for call in message.tool_calls] == [Outcome.TRUNCATED]


class TestServerCalls:
    RESULT: ClassVar[Event] = {"codeExecutionResult": {"id": "x1", "outcome": "OUTCOME_OK", "output": "1\n"}}

    def test_are_found_by_their_ids(self) -> None:
        told = [
            {"toolCall": {"id": at, "toolType": "GOOGLE_SEARCH_WEB", "args": {"query_text": at}}} for at in ("a", "b")
        ] + [
            {"toolResponse": {"id": at, "toolType": "GOOGLE_SEARCH_WEB", "response": {"was": at}}} for at in ("a", "b")
        ]
        first, second = ended(response(*told)).parts
        assert isinstance(first, ServerCall)
        assert isinstance(second, ServerCall)
        assert (first.name, first.partial, first.result) == (
            "GOOGLE_SEARCH_WEB",
            {"query_text": "a"},
            told[2]["toolResponse"],
        )
        assert second.result == told[3]["toolResponse"]

    def test_a_result_of_no_call_is_kept(self) -> None:
        (part,) = ended(response(self.RESULT)).parts
        assert isinstance(part, ServerCall)
        assert (part.type, part.result) == ("codeExecutionResult", self.RESULT["codeExecutionResult"])


SAID = "Zoë won. It rained."
CHUNKS = [
    {"web": {"uri": "https://a.example", "title": "a", "domain": "a.example"}},
    {"retrievedContext": {"uri": "gs://b", "title": "b", "text": "it was wet"}},
]


def support(start: int, end: int, text: str | None, *chunks: int) -> Event:
    segment = {"startIndex": start, "endIndex": end, **({"text": text} if text else {})}
    return {"segment": segment, "groundingChunkIndices": [*chunks]}


class TestGrounding:
    SUPPORTS = (support(0, 9, "Zoë won.", 0), support(10, 20, "It rained.", 0, 1))
    WHOLE: ClassVar[Event] = {
        "groundingChunks": CHUNKS,
        "groundingSupports": [*SUPPORTS],
        "webSearchQueries": ["who won"],
    }

    def test_that_repeats_and_grows_gives_each_once(self) -> None:
        first = {"groundingChunks": CHUNKS[:1], "groundingSupports": [self.SUPPORTS[0]]}
        told = [
            response({"text": "Zoë"}, groundingMetadata={"webSearchQueries": ["who won"]}),
            response({"text": " won."}, groundingMetadata=first),
            response({"text": " It rained."}, groundingMetadata=self.WHOLE),
            response({"text": ""}, groundingMetadata=self.WHOLE),
        ]
        message = ended(*told)
        assert message.content == SAID
        assert len(message.sources) == 2
        assert [len(part.citations) for part in message.parts if isinstance(part, TextPart)] == [3]
        assert message.metadata["groundingMetadata"] == self.WHOLE

    def test_that_comes_in_two_halves_is_counted_on(self) -> None:
        halves = [
            {"groundingChunks": [chunk], "groundingSupports": [told]}
            for chunk, told in zip(CHUNKS, [self.SUPPORTS[0], support(10, 20, "It rained.", 0)], strict=True)
        ]
        message = ended(response({"text": SAID}), *(response(groundingMetadata=half) for half in halves))
        assert [one.url for part in message.parts if isinstance(part, TextPart) for one in part.citations] == [
            "https://a.example",
            "gs://b",
        ]

    def test_before_its_text_is_placed_when_the_message_ends(self) -> None:
        message = ended(response(groundingMetadata=self.WHOLE), response({"text": SAID}))
        assert [len(part.citations) for part in message.parts if isinstance(part, TextPart)] == [3]

    @pytest.mark.parametrize(
        "segment", [{}, {"endIndex": 900}, {"startIndex": 9, "endIndex": 2}, {"endIndex": 3, "text": "x"}]
    )
    def test_of_no_certain_place_is_only_metadata(self, segment: Event) -> None:
        grounding = {
            "groundingChunks": CHUNKS,
            "groundingSupports": [{"segment": segment, "groundingChunkIndices": [0]}],
        }
        message = ended(response({"text": SAID}), response(groundingMetadata=grounding))
        assert isinstance(message.parts[0], TextPart)
        assert message.parts[0].citations == ()
        assert message.metadata["groundingMetadata"] == grounding

    def test_places_in_the_second_text(self) -> None:
        call = {"functionCall": {"name": "now", "args": {}}}
        message = ended(response({"text": "Zoë won."}, call, {"text": " It rained."}, groundingMetadata=self.WHOLE))
        texts = [part for part in message.parts if isinstance(part, TextPart)]
        assert [[part.text[one.start : one.end] for one in part.citations] for part in texts] == [
            ["Zoë won."],
            ["It rained.", "It rained."],
        ]

    def test_does_not_touch_what_it_does_not_change(self) -> None:
        state = feed_stream(start_stream(), response({"text": SAID}, groundingMetadata=self.WHOLE))
        after = feed_stream(state, response({"text": ""}, groundingMetadata=self.WHOLE))
        assert all(map(lambda one, other: one is other, state.message.parts, after.message.parts))


class TestTheRest:
    def test_a_reason_that_is_not_specified_is_none(self) -> None:
        assert last(response({"text": "a"}, finishReason="FINISH_REASON_UNSPECIFIED")).finish_reason is None

    @pytest.mark.parametrize(
        ("number", "reason"),
        [(1, "stop"), (2, "length"), (3, "content_filter"), (7, "content_filter"), (8, "content_filter"), (6, "6")],
    )
    def test_a_reason_may_be_a_number(self, number: int, reason: str) -> None:
        assert last(response({"text": "a"}, finishReason=number)).finish_reason == reason

    def test_usage_is_the_last_total(self) -> None:
        counts = [
            {"promptTokenCount": 9, "candidatesTokenCount": 1, "totalTokenCount": 10},
            {
                "promptTokenCount": 9,
                "toolUsePromptTokenCount": 4,
                "candidatesTokenCount": 3,
                "thoughtsTokenCount": 5,
                "totalTokenCount": 21,
                "cachedContentTokenCount": 2,
            },
            {"trafficType": "ON_DEMAND"},
        ]
        usage = last(*({**response({"text": "a"}), "usageMetadata": count} for count in counts), STOP).usage
        assert usage is not None
        assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (13, 8, 21)
        assert (usage.cached_tokens, usage.reasoning_tokens, usage.raw) == (2, 5, counts[1])

    def test_the_candidate_that_is_asked_for(self) -> None:
        event = {
            "candidates": [
                {"content": {"parts": [{"text": "one"}]}, "finishReason": "STOP"},
                {"index": 1, "content": {"parts": [{"text": "two"}]}, "finishReason": "STOP"},
            ]
        }
        assert last(event).content == "one"
        assert last(event, choice=1).content == "two"
        strange = {"candidates": [{"index": "first", "content": {"parts": [{"text": "one"}]}}]}
        assert last(event, strange).outcome is Outcome.TRUNCATED
