"""Amazon Bedrock ConverseStream: what a stream says, and the next request."""

from base64 import b64encode
from typing import Any

import pytest

from jsontide.messages import File, Message, Other, Outcome, ReasoningPart, TextPart, Usage
from jsontide.providers.bedrock import BedrockForm
from tests.providers.block_streams import Event, last, only, runnable, saved
from tests.providers.client_types import check_bedrock

FORM = BedrockForm()
BEGUN = {"messageStart": {"role": "assistant"}}


def start(index: int, **block: Any) -> Event:
    return {"contentBlockStart": {"contentBlockIndex": index, "start": block}}


def call(index: int, **tool: Any) -> Event:
    return start(index, toolUse=tool)


def delta(index: int, **said: Any) -> Event:
    return {"contentBlockDelta": {"contentBlockIndex": index, "delta": said}}


def more(index: int, piece: Any) -> Event:
    return delta(index, toolUse={"input": piece})


def stop(index: int) -> Event:
    return {"contentBlockStop": {"contentBlockIndex": index}}


def end(reason: str, **said: Any) -> Event:
    return {"messageStop": {"stopReason": reason, **said}}


def failure(message: Message) -> str:
    return message.errors[0].message


class TestBlocks:
    @pytest.mark.parametrize("as_bytes", [True, False])
    def test_reasoning_that_is_withheld(self, *, as_bytes: bool) -> None:
        pieces = [b"\xff\x00secre", b"t!"]
        deltas = [
            delta(0, reasoningContent={"redactedContent": piece if as_bytes else b64encode(piece).decode()})
            for piece in pieces
        ]
        message = last(*deltas, stop(0), delta(1, text="Hi"), end("end_turn"))
        whole = b"".join(pieces)
        assert message.parts[0] == ReasoningPart(redacted=True, encrypted=b64encode(whole).decode())
        (sent,) = FORM.write_message(saved(message))
        assert sent["content"] == [{"reasoningContent": {"redactedContent": whole}}, {"text": "Hi"}]
        check_bedrock([sent])

    def test_a_signature_in_pieces(self) -> None:
        said = [{"text": "Hm."}, {"signature": "ab"}, {"signature": "cd"}, {"mood": "glad"}]
        message = last(*(delta(0, reasoningContent=each) for each in said), end("end_turn"))
        assert only(message) == ReasoningPart("Hm.", "abcd", extra={"mood": "glad"})

    def test_reasoning_without_a_signature_is_not_sent_back(self) -> None:
        assert FORM.write_message(last(delta(0, reasoningContent={"text": "Hm."}), end("end_turn"))) == []

    def test_an_image_in_pieces(self) -> None:
        pieces = [b"\x89PNG", b"more"]
        deltas = [delta(0, image={"source": {"bytes": piece}}) for piece in pieces]
        message = last(start(0, image={"format": "png"}), *deltas, stop(0), end("end_turn"))
        assert only(message) == File("image/png", b64encode(b"".join(pieces)).decode())
        sent = FORM.write_message(message)
        assert sent[0]["content"] == [{"image": {"format": "png", "source": {"bytes": b"".join(pieces)}}}]
        check_bedrock(sent)

    def test_an_image_elsewhere_or_none(self) -> None:
        place: Event = {"uri": "s3://a/b", "bucketOwner": "1"}
        message = last(
            start(0, image={"format": "png"}),
            delta(0, image={"source": {"s3Location": place}}),
            start(1, image={"format": "png"}),
            delta(1, image={"error": {"message": "no"}}),
            end("end_turn"),
        )
        assert message.parts == (
            File("image/png", url="s3://a/b", extra={"s3Location": place}),
            File("image/png", index=1, extra={"error": {"message": "no"}}),
        )
        (sent,) = FORM.write_message(message)
        assert sent["content"] == [{"image": {"format": "png", "source": {"s3Location": place}}}]

    def test_what_nobody_knows_is_kept(self) -> None:
        message = last(
            {"messageStart": {"role": "assistant", "trace": 1, "p": "abc"}},
            start(0, video={"format": "mp4"}),
            delta(0, newer={"a": 1}),
            {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"text": "Hi"}, "p": "abcdef", "span": 2}},
            delta(1, newer={"b": 1}),
            delta(2, newer={"c": 1}),
            {"progress": {"done": 0.5}},
            end("end_turn"),
        )
        assert message.parts == (
            Other("video", {"video": {"format": "mp4"}, "newer": {"a": 1}}),
            TextPart("Hi", index=1, extra={"deltas": [{"newer": {"b": 1}}]}),
            Other("", {"newer": {"c": 1}}, index=2),
        )
        assert message.metadata == {"trace": 1, "span": 2, "progress": {"done": 0.5}}

    @pytest.mark.parametrize(
        "said",
        [
            {"citation": {"title": "x"}},
            {"reasoningContent": {"signature": "x"}},
            {"reasoningContent": {"redactedContent": "x"}},
            {"newer": 1},
            None,
        ],
    )
    @pytest.mark.long
    def test_too_many_parts_end_the_stream(self, said: Event | None) -> None:
        image = {"format": "png", "source": {"bytes": b"x"}, "a": 1}
        many = [delta(at, **said) if said else start(at, image=image) for at in range(1002)]
        message = last(BEGUN, *many, end("end_turn"))
        assert (message.outcome, len(message.parts)) == (Outcome.TRUNCATED, 1000)


class TestEnds:
    @pytest.mark.parametrize("name", ["throttlingException", "modelStreamErrorException", "validationException"])
    def test_exceptions_in_the_stream(self, name: str) -> None:
        assert failure(last(BEGUN, {name: {"message": "Too many"}})) == "Too many"
        assert failure(last({name: {}})) == name
        message = last(BEGUN, {name: {"originalMessage": "no", "originalStatusCode": 500}})
        assert failure(message) == "no"
        assert message.metadata == {name: {"originalMessage": "no", "originalStatusCode": 500}}

    def test_an_exception_that_is_new_is_one_too(self) -> None:
        message = last(call(0, toolUseId="t", name="now"), end("tool_use"), {"modelTimeoutException": {}})
        assert (failure(message), runnable(message)) == ("modelTimeoutException", [])

    @pytest.mark.parametrize("event", [{}, stop(0), {"metadata": {}}, {"progress": 1}])
    def test_an_error_beside_an_event_that_says_nothing(self, event: Event) -> None:
        message = last(call(0, toolUseId="t", name="now"), end("tool_use"), {**event, "error": "Broke"})
        assert (failure(message), runnable(message)) == ("Broke", [])

    def test_metadata(self) -> None:
        usage = {"inputTokens": 3, "outputTokens": 4, "totalTokens": 37, "cacheReadInputTokens": 10}
        usage |= {"cacheWriteInputTokens": 20}
        rest = {"metrics": {"latencyMs": 1}, "trace": {"guardrail": {}}, "performanceConfig": {"latency": "optimized"}}
        message = last(delta(0, text="Hi"), end("end_turn"), {"metadata": {"usage": usage, **rest}})
        assert message.usage == Usage(
            input_tokens=33, output_tokens=4, total_tokens=37, cached_tokens=10, cache_write_tokens=20, raw=usage
        )
        assert (message.metadata, message.outcome) == (rest, Outcome.COMPLETE)
        unsummed = last(delta(0, text="Hi"), {"metadata": {"usage": {"inputTokens": 3, "outputTokens": 4}}}).usage
        assert unsummed is not None
        assert unsummed.total_tokens == 7


CONTENT: list[Event] = [
    {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "x"}}},
    {"reasoningContent": {"redactedContent": b"secret"}},
    {"text": "Look."},
    {"citationsContent": {"content": [{"text": "It rains."}], "citations": [{"title": "A"}]}},
    {"toolUse": {"toolUseId": "s", "name": "search", "input": {}, "type": "server_tool_use"}},
    {"toolResult": {"toolUseId": "s", "content": [{"text": "x"}], "status": "success"}},
    {"image": {"format": "png", "source": {"bytes": b"png"}}},
    {"guardContent": {"text": {"text": "x"}}},
    {"toolUse": {"toolUseId": "t", "name": "weather", "input": {"city": "Kyōto"}}},
    {"toolUse": {"toolUseId": "u", "name": "now", "input": {}}},
]
WHOLE: Event = {
    "ResponseMetadata": {"RequestId": "r", "HTTPStatusCode": 200},
    "output": {"message": {"role": "assistant", "content": CONTENT}},
    "stopReason": "tool_use",
    "usage": {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3},
    "metrics": {"latencyMs": 5},
    "additionalModelResponseFields": {"stop_sequence": "x"},
}


class TestWholeResponses:
    def test_they_say_all_and_go_back_as_they_came(self) -> None:
        message = last(WHOLE)
        assert runnable(message) == [("t", "weather", {"city": "Kyōto"}), ("u", "now", {})]
        assert (message.content, message.reasoning) == ("Look.It rains.", "Hm.")
        assert message.usage == Usage(input_tokens=1, output_tokens=2, total_tokens=3, raw=WHOLE["usage"])
        assert message.metadata == {
            "metrics": {"latencyMs": 5},
            "additionalModelResponseFields": {"stop_sequence": "x"},
            "ResponseMetadata": {"RequestId": "r", "HTTPStatusCode": 200},
        }
        sent = FORM.write_message(saved(message))
        assert sent == [{"role": "assistant", "content": CONTENT}]
        check_bedrock(sent)
