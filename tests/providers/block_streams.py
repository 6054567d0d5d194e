"""What the tests of streams of blocks have in common: all states of a stream, and checks that hold for each of them."""

from types import SimpleNamespace
from typing import Any

from jsontide.messages import Message, MessageConfig, Outcome, Part
from jsontide.providers import StreamState, feed_stream, start_stream
from jsontide.streams import stream_message

Event = dict[str, Any]


SNAKE = {
    "functionCall": "function_call",
    "finishReason": "finish_reason",
    "partialArgs": "partial_args",
    "jsonPath": "json_path",
    "stringValue": "string_value",
    "numberValue": "number_value",
    "boolValue": "bool_value",
    "willContinue": "will_continue",
    "promptFeedback": "prompt_feedback",
    "blockReason": "block_reason",
    "usageMetadata": "usage_metadata",
}
"""What Gemini's SDK calls otherwise than its API."""


def as_object(value: Any, key: str = "") -> Any:
    """The same as an object with attributes; SDKs leave arguments as plain JSON."""
    if isinstance(value, list):
        return [as_object(item) for item in value]
    if not isinstance(value, dict) or key in {"args", "arguments", "input"}:
        return value
    return SimpleNamespace(**{SNAKE.get(str(name), str(name)): as_object(item, name) for name, item in value.items()})


def last(*events: Any, **options: Any) -> Message:
    *_, message = stream_message(events, **options)
    return message


def runnable(message: Any) -> list[tuple[str | None, str, Any]]:
    calls = [call for call in message.tool_calls if call.status is Outcome.COMPLETE]
    return [(call.id, call.name, call.arguments_value) for call in calls]


def saved(message: Message) -> Any:
    """The message after it was saved as JSON and loaded."""
    return Message.from_json(message.to_json())


def only(message: Message) -> Part:
    (part,) = message.parts
    return part


def states(events: list[Event], config: MessageConfig | None = None) -> list[StreamState]:
    """The state before and after each event."""
    found = [start_stream(config)]
    for event in events:
        found.append(feed_stream(found[-1], event))
    return found
