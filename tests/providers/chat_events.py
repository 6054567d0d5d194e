"""Chunks of chat completions for tests, and what is read off their messages."""

from typing import Any

from jsontide.messages import Message, Outcome
from tests.providers.block_streams import Event


def chunk(reason: str | None = None, **delta: Any) -> Event:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1700000000,
        "model": "gpt-5",
        "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
    }


def whole(reason: str = "stop", **message: Any) -> Event:
    choice = {"index": 0, "finish_reason": reason, "message": {"role": "assistant", **message}, "logprobs": None}
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 5,
        "model": "m",
        "choices": [choice],
        "usage": usage,
    }


def failure(message: Message) -> str:
    (error,) = (error for error in message.errors if error.source == "stream")
    assert message.outcome is Outcome.TRUNCATED
    return error.message


def kinds(message: Message) -> list[str]:
    return [type(part).__name__ for part in message.parts]
