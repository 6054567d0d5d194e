"""Amazon Bedrock ConverseStream: what a stream says, and the next request."""

from base64 import b64encode
from functools import cache
from typing import Any

import pytest

from jsontide._values import MISSING
from jsontide.messages import (
    Citation,
    CompleteCall,
    File,
    Message,
    Other,
    Outcome,
    PartialCall,
    ReasoningPart,
    ServerCall,
    TextPart,
    ToolResult,
    Usage,
)
from jsontide.providers.bedrock import BedrockForm
from tests.providers.block_streams import (
    Event,
    last,
    only,
    runnable,
    saved,
)

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


def kind_of(event: Event) -> str:
    return next(iter(event))


@cache
def shape_of(operation: str) -> Any:
    loaders = pytest.importorskip("botocore.loaders", reason="botocore is not installed")
    model = pytest.importorskip("botocore.model")
    described = loaders.Loader().load_service_model("bedrock-runtime", "service-2")
    return model.ServiceModel(described).operation_model(operation).input_shape


def validate(*messages: Event, tools: list[Event] | None = None) -> None:
    """Check messages by the model that boto3 checks requests by."""
    shape = shape_of("ConverseStream")
    validator = pytest.importorskip("botocore.validate").ParamValidator()
    request: Event = {"modelId": "m", "messages": list(messages)}
    if tools:
        request["toolConfig"] = {"tools": tools}
    report = validator.validate(request, shape)
    assert not report.has_errors(), report.generate_report()


class TestBlocks:
    def test_citations_belong_to_their_text(self) -> None:
        web: Event = {
            "title": "A",
            "sourceContent": [{"text": "It "}, {"text": "rains."}],
            "location": {"web": {"url": "u"}},
        }
        page: Event = {"location": {"documentPage": {"documentIndex": 0, "start": 1, "end": 2}}}
        message = last(
            BEGUN,
            delta(0, text="Rain."),
            delta(0, citation=web),
            delta(0, citation=page),
            delta(0, text=" Yes."),
            stop(0),
            end("end_turn"),
        )
        assert only(message) == TextPart(
            "Rain. Yes.",
            (
                Citation(type="web", url="u", title="A", cited_text="It rains.", raw=web),
                Citation(type="documentPage", raw=page),
            ),
        )
        sent = FORM.write_message(message)
        block = {"content": [{"text": "Rain. Yes."}], "citations": [web, page]}
        assert sent == [{"role": "assistant", "content": [{"citationsContent": block}]}]
        validate(*sent)

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
        validate(sent)

    def test_a_signature_in_pieces(self) -> None:
        said = [{"text": "Hm."}, {"signature": "ab"}, {"signature": "cd"}, {"mood": "glad"}]
        message = last(*(delta(0, reasoningContent=each) for each in said), end("end_turn"))
        assert only(message) == ReasoningPart("Hm.", "abcd", extra={"mood": "glad"})

    def test_reasoning_without_a_signature_is_not_sent_back(self) -> None:
        assert FORM.write_message(last(delta(0, reasoningContent={"text": "Hm."}), end("end_turn"))) == []

    def test_results_go_to_their_calls_and_back_to_their_places(self) -> None:
        message = last(
            call(0, toolUseId="s", name="search", type="server_tool_use"),
            more(0, '{"q": 1}'),
            stop(0),
            delta(1, text="Wait."),
            start(2, toolResult={"toolUseId": "s", "status": "success", "type": "search_result"}),
            delta(2, toolResult=[{"text": "a"}]),
            delta(2, toolResult=[{"json": {"b": 1}}]),
            stop(2),
            start(3, toolResult={"toolUseId": "z"}),
            delta(3, toolResult=[{"text": "c"}]),
            delta(4, text="Found."),
            end("end_turn"),
        )
        search, _, orphan, _ = message.parts
        assert isinstance(search, ServerCall)
        assert (search.name, search.arguments, search.status) == ("search", '{"q": 1}', "success")
        assert search.result == [{"text": "a"}, {"json": {"b": 1}}]
        assert isinstance(orphan, Other)
        assert orphan.raw == {"toolResult": {"toolUseId": "z", "content": [{"text": "c"}]}}
        (sent,) = FORM.write_message(message)
        used = {"toolUseId": "s", "name": "search", "input": {"q": 1}, "type": "server_tool_use"}
        result = {"toolUseId": "s", "status": "success", "type": "search_result", "content": search.result}
        assert sent["content"] == [
            {"toolUse": used},
            {"text": "Wait."},
            {"toolResult": result},
            orphan.raw,
            {"text": "Found."},
        ]
        validate(sent)

    def test_an_image_in_pieces(self) -> None:
        pieces = [b"\x89PNG", b"more"]
        deltas = [delta(0, image={"source": {"bytes": piece}}) for piece in pieces]
        message = last(start(0, image={"format": "png"}), *deltas, stop(0), end("end_turn"))
        assert only(message) == File("image/png", b64encode(b"".join(pieces)).decode())
        sent = FORM.write_message(message)
        assert sent[0]["content"] == [{"image": {"format": "png", "source": {"bytes": b"".join(pieces)}}}]
        validate(*sent)

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


class TestCalls:
    def test_a_call_without_any_delta_has_no_arguments(self) -> None:
        assert runnable(last(call(0, toolUseId="t", name="now"), end("tool_use"))) == [("t", "now", {})]

    def test_tools_that_the_server_runs_cannot_be_run(self) -> None:
        server = call(0, toolUseId="s", name="search", type="server_tool_use")
        message = last(server, more(0, "{}"), end("end_turn"))
        assert message.tool_calls == ()
        part = only(message)
        assert isinstance(part, ServerCall)
        assert (part.type, part.result) == ("server_tool_use", MISSING)

    def test_a_block_may_end_after_its_message(self) -> None:
        assert runnable(last(call(0, toolUseId="t", name="now"), end("tool_use"), stop(0))) == [("t", "now", {})]

    @pytest.mark.parametrize(
        ("reason", "outcome", "said"),
        [
            ("guardrail_intervened", Outcome.FILTERED, "content_filter"),
            ("content_filtered", Outcome.FILTERED, "content_filter"),
            ("malformed_tool_use", Outcome.INVALID, "malformed"),
            ("malformed_model_output", Outcome.INVALID, "malformed"),
            ("max_tokens", Outcome.TRUNCATED, "length"),
            ("model_context_window_exceeded", Outcome.TRUNCATED, "length"),
            ("newer", Outcome.TRUNCATED, "newer"),
        ],
    )
    def test_other_ends(self, reason: str, outcome: Outcome, said: str) -> None:
        message = last(call(0, toolUseId="t", name="now"), more(0, '{"a": 1'), end(reason))
        assert message.outcome is outcome
        assert (message.finish_reason, message.raw_finish_reason) == (said, reason)
        assert runnable(message) == []


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
        validate(*sent)


class TestRequests:
    def test_a_message_of_another_provider_has_what_both_know(self) -> None:
        message = Message(
            parts=(
                ReasoningPart("Hm.", signature="x"),
                TextPart("Hi", (Citation(type="x"),), 1),
                CompleteCall("pay", {"to": 1}, id="functions.pay:0", index=2),
                PartialCall("now", "{", index=3),
                ServerCall("search", "{}", index=4),
                File("image/png", "eA==", index=5),
                Other("x", {"type": "x"}, index=6),
            ),
            provider="openai_chat",
        )
        sent = FORM.write_message(message)
        assert sent == [
            {
                "role": "assistant",
                "content": [
                    {"text": "Hi"},
                    {"toolUse": {"toolUseId": "functions_pay_0", "name": "pay", "input": {"to": 1}}},
                    {"toolUse": {"toolUseId": "call_3", "name": "now", "input": {}}},
                ],
            }
        ]
        pay, now = message.tool_calls
        answers = FORM.write_results([ToolResult(pay, ""), ToolResult(now, error="not JSON")])
        assert answers == [
            {
                "role": "user",
                "content": [
                    {"toolResult": {"toolUseId": "functions_pay_0", "content": []}},
                    {"toolResult": {"toolUseId": "call_3", "content": [{"text": "not JSON"}], "status": "error"}},
                ],
            }
        ]
        validate(*sent, *answers)

    def test_nothing_to_say_is_no_message(self) -> None:
        assert FORM.write_message(Message(parts=(TextPart(" \n"),))) == []
        assert FORM.write_results([]) == []

    def test_tools(self) -> None:
        schema = {"type": "object", "properties": {"city": {"type": "string"}}}
        tools = [FORM.write_tool("weather", "It.", schema, strict=True), FORM.write_tool("now", "", {}, strict=False)]
        spec = {"name": "weather", "description": "It.", "inputSchema": {"json": schema}, "strict": True}
        assert tools == [
            {"toolSpec": spec},
            {"toolSpec": {"name": "now", "inputSchema": {"json": {"type": "object"}}}},
        ]
        validate({"role": "user", "content": [{"text": "Hi"}]}, tools=tools)
