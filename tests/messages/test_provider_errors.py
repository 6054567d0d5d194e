"""Errors that providers report, as data: their kind, when to try again, and what was said."""

import pickle
from types import SimpleNamespace
from typing import Any

import pytest

from jsontide.messages import (
    ErrorDetail,
    Message,
    ProviderError,
    ProviderErrorKind,
    fail_message,
    finish_message,
    start_message,
)
from jsontide.providers import feed_stream, start_stream
from jsontide.streams import stream_message

Kind = ProviderErrorKind
BEGUN = {
    "openai_chat": {"choices": [{"index": 0, "delta": {"content": "Once"}}]},
    "openai_responses": {"type": "response.created", "response": {"id": "r"}},
    "anthropic": {"type": "message_start", "message": {"id": "m"}},
    "bedrock": {"messageStart": {"role": "assistant"}},
    "cohere": {"type": "message-start", "id": "c"},
    "gemini": {"candidates": [{"content": {"parts": [{"text": "Once"}]}}]},
    "gemini_interactions": {"event_type": "interaction.created", "interaction": {"id": "i"}},
    "ollama": {"message": {"content": "Once"}, "done": False},
}


def error(message: str = "x", **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, **fields}}


def anthropic(kind: str, message: str = "x") -> dict[str, Any]:
    return {"type": "error", **error(message, type=kind)}


INVALID = "invalid_request_error"
FAILED = {"type": "response.failed", "response": {"status": "failed", **error(code="server_error")}}
LIMITED = {"type": "error", "code": "rate_limit_exceeded", "message": "x", "param": None}
DOCUMENTED: list[tuple[str, Any, Kind]] = [
    # As the documentation of each provider lists them.
    ("openai_chat", error(type="tokens", code="rate_limit_exceeded"), Kind.RATE_LIMIT),
    ("openai_chat", error(type="insufficient_quota", code="insufficient_quota"), Kind.QUOTA),
    ("openai_chat", error(type="server_error", code=None), Kind.SERVER),
    ("openai_chat", error(type=INVALID, code="context_length_exceeded"), Kind.CONTEXT_LENGTH),
    ("openai_chat", error(type=INVALID, code="invalid_api_key"), Kind.AUTHENTICATION),
    ("openai_chat", error("Provider returned error", code=502), Kind.SERVER),
    ("openai_chat", error(code=429, metadata={"provider_name": "A"}), Kind.RATE_LIMIT),
    ("openai_chat", error(code=402), Kind.QUOTA),
    ("openai_chat", {"error": "Model is overloaded", "error_type": "overloaded"}, Kind.OVERLOADED),
    ("openai_chat", error(code=400, type="exceed_context_size_error"), Kind.CONTEXT_LENGTH),
    ("openai_responses", LIMITED, Kind.RATE_LIMIT),
    ("openai_responses", FAILED, Kind.SERVER),
    ("anthropic", anthropic("overloaded_error", "Overloaded"), Kind.OVERLOADED),
    ("anthropic", anthropic("rate_limit_error"), Kind.RATE_LIMIT),
    ("anthropic", anthropic("api_error"), Kind.SERVER),
    ("anthropic", anthropic("authentication_error"), Kind.AUTHENTICATION),
    ("anthropic", anthropic("permission_error"), Kind.PERMISSION),
    ("anthropic", anthropic("not_found_error"), Kind.NOT_FOUND),
    ("anthropic", anthropic("timeout_error"), Kind.TIMEOUT),
    ("anthropic", anthropic(INVALID, "prompt is too long: 9 > 8"), Kind.CONTEXT_LENGTH),
    ("bedrock", {"throttlingException": {"message": "Too many requests"}}, Kind.RATE_LIMIT),
    ("bedrock", {"serviceUnavailableException": {"message": "x"}}, Kind.OVERLOADED),
    ("bedrock", {"internalServerException": {"message": "x"}}, Kind.SERVER),
    ("bedrock", {"modelStreamErrorException": {"message": "x", "originalStatusCode": 500}}, Kind.SERVER),
    ("bedrock", {"validationException": {"message": "x"}}, Kind.INVALID_REQUEST),
    ("bedrock", {"validationException": {"message": "Input is too long for requested model."}}, Kind.CONTEXT_LENGTH),
    ("cohere", {"message": "too many tokens: 9 > 8"}, Kind.CONTEXT_LENGTH),
    ("gemini", error(code=503, status="UNAVAILABLE"), Kind.OVERLOADED),
    ("gemini", error(code=429, status="RESOURCE_EXHAUSTED"), Kind.RATE_LIMIT),
    ("gemini", error(code=403, status="PERMISSION_DENIED"), Kind.PERMISSION),
    ("gemini", error(code=504, status="DEADLINE_EXCEEDED"), Kind.TIMEOUT),
    ("gemini", error(code=500, status="INTERNAL"), Kind.SERVER),
    ("gemini_interactions", {"event_type": "error", **error(code="too_many_requests")}, Kind.RATE_LIMIT),
    ("ollama", {"error": "the model runner has stopped"}, Kind.OTHER),
]


def error_of(provider: str, event: Any) -> ErrorDetail:
    return stream_message([BEGUN[provider], event]).final().errors[0]


@pytest.mark.parametrize(("provider", "event", "kind"), DOCUMENTED)
def test_the_kinds_that_providers_document(provider: str, event: Any, kind: Kind) -> None:
    found = error_of(provider, event).provider_error
    assert found is not None
    assert found.kind is kind


def test_the_raw_error_is_kept() -> None:
    error = {"message": "x", "type": "server_error", "code": None, "more": [1, {"a": None}]}
    found = error_of("openai_chat", {"error": error}).provider_error
    assert found == ProviderError(kind=Kind.SERVER, raw=error)


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        ({"message": "Please try again in 1.5s."}, 1.5),
        ({"message": "Please try again in 20ms. Visit us"}, 0.02),
        ({"message": "Please retry after 3 minutes"}, 180.0),
        ({"message": "x", "retry_after": 7}, 7.0),
        ({"message": "x", "retry_after_ms": "250"}, 0.25),
        ({"message": "x", "details": [{"@type": "Help"}, {"@type": "RetryInfo", "retryDelay": "17s"}]}, 17.0),
        ({"message": "x", "retry_after": -1}, None),
        ({"message": "x", "retry_after": "soon"}, None),
        ({"message": "x", "retry_after": True}, None),
        ({"message": "x"}, None),
    ],
)  # fmt: skip
def test_when_to_try_again(error: dict[str, Any], seconds: float | None) -> None:
    found = error_of("openai_chat", {"error": error}).provider_error
    assert found is not None
    assert found.retry_after == (None if seconds is None else pytest.approx(seconds))


class ClientError(Exception):
    """As clients raise it, with fields of their own."""

    def __init__(self, said: str, **fields: Any) -> None:
        super().__init__(said)
        for name, value in fields.items():
            setattr(self, name, value)


@pytest.mark.parametrize(
    ("error", "kind", "seconds"),
    [
        (
            ClientError("429", status_code=429, body=None, response=SimpleNamespace(headers={"Retry-After": "12"})),
            Kind.RATE_LIMIT,
            12.0,
        ),
        (ClientError("x", status_code=400, body={"code": "context_length_exceeded"}), Kind.CONTEXT_LENGTH, None),
        (
            ClientError("x", status_code=529, body={"type": "error", "error": {"type": "overloaded_error"}}),
            Kind.OVERLOADED,
            None,
        ),
        (
            ClientError(
                "x",
                response={
                    "Error": {"Code": "ThrottlingException", "Message": "x"},
                    "ResponseMetadata": {"HTTPStatusCode": 429, "HTTPHeaders": {"retry-after": "3"}},
                },
            ),
            Kind.RATE_LIMIT,
            3.0,
        ),
        (ClientError("x", code=503, details={"error": {"status": "UNAVAILABLE"}}), Kind.OVERLOADED, None),
    ],
)
def test_exceptions_of_clients_say_the_same(error: Exception, kind: Kind, seconds: float | None) -> None:
    found = fail_message(start_message(), error).message.errors[0].provider_error
    assert found is not None
    assert (found.kind, found.retry_after) == (kind, seconds)


@pytest.mark.parametrize("error", [ConnectionResetError("gone"), TimeoutError(), "the stream failed"])
def test_a_lost_connection_is_no_error_of_the_provider(error: Any) -> None:
    assert fail_message(start_message(), error).message.errors[0].provider_error is None
    assert finish_message(start_message()).message.errors[0].provider_error is None


def test_an_exception_that_raises_when_it_is_asked_is_none() -> None:
    class HostileError(Exception):
        @property
        def response(self) -> object:
            raise RuntimeError

    assert fail_message(start_message(), HostileError()).message.errors[0].provider_error is None


def test_it_is_saved_with_the_message() -> None:
    for provider, event, _ in DOCUMENTED:
        state = feed_stream(feed_stream(start_stream(), BEGUN[provider]), event)
        message = state.message
        assert Message.from_json(message.to_json()) == message == pickle.loads(pickle.dumps(message))  # noqa: S301
    for odd in ({"kind": "x"}, None, {"kind": "server", "retry_after": "x"}, {"kind": "server", "more": 1}):
        text = {
            "jsontide": 1,
            "errors": [{"kind": "transport", "source": "stream", "message": "x", "provider_error": odd}],
        }
        with pytest.raises(ValueError, match="not a message"):
            Message.from_json(text)


class TestFeedback:
    """It is about what the model wrote, and about nothing else."""

    @pytest.mark.parametrize(
        "told",
        [
            [],
            [BEGUN["openai_chat"]],
            [BEGUN["openai_chat"], {"error": {"message": "Rate limit", "code": 429}}],
            [{"error": {"message": "Rate limit", "code": 429}}],
            [{"choices": [{"index": 0, "delta": {"content": "{"}, "finish_reason": "hm"}]}],
        ],
    )
    def test_is_empty_where_the_stream_is_to_blame(self, told: list[Any]) -> None:
        assert stream_message(told).final().feedback() == ""

    @pytest.mark.parametrize("schema", [dict[str, int], {"type": "object"}])
    def test_says_that_the_limit_was_reached(self, schema: Any) -> None:
        told = [{"choices": [{"index": 0, "delta": {"content": '{"a'}, "finish_reason": "length"}]}]
        message = stream_message(told, response_schema=schema).final()
        (error,) = message.errors
        assert error.message.startswith("the provider stopped at its limit")
        assert "limit of tokens" in message.feedback()

    def test_of_a_call_at_the_limit_too(self) -> None:
        call = {"index": 0, "id": "a", "function": {"name": "pay", "arguments": '{"to": "Zo'}}
        told = [{"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "length"}]}]
        message = stream_message(told).final()
        assert message.errors[0].message.startswith("the provider stopped at its limit")
        assert "the call of pay: the provider stopped at its limit" in message.feedback()
