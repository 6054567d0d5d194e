"""What the tests of streams of blocks have in common: all states of a stream, and checks that hold for each of them."""

import json
import pickle
from collections.abc import Iterator
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

from jsontide.messages import Message, MessageConfig, Outcome, Part
from jsontide.providers import StreamState, finish_stream, reduce_item, start_stream
from jsontide.streams import stream_message

Event = dict[str, Any]
Row = tuple[str, str]
"""A type of event and the path of a field, whose items are `*`: what is dropped on purpose."""


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
        found.append(reduce_item(found[-1], event))
    return found


def check_saved(events: list[Event]) -> None:
    """A state that was pickled goes on as the one that was not, and every message can be saved as JSON."""
    found = states(events)
    end = finish_stream(found[-1]).message
    for at, state in enumerate(found):
        message = state.message
        assert Message.from_json(message.to_json()) == message
        loaded = pickle.loads(pickle.dumps(state))  # noqa: S301 - its own
        assert loaded.message == message
        if at % 7 == 0 or at > len(found) - 3:
            for event in events[at:]:
                loaded = reduce_item(loaded, event)
            assert finish_stream(loaded).message == end
    assert Message.from_json(end.to_json()) == end


def check_law_nine_at_every_cut(events: list[Event], is_end: Any) -> None:
    """Before the provider says how a message ends, nothing of it can be run."""
    found = states(events)
    end = next(at for at, event in enumerate(events) if is_end(event))
    for state in found[: end + 1]:
        assert runnable(finish_stream(state).message) == []


def check_law_three(events: list[Event]) -> None:
    """At most the parts that an event is about are other objects after it."""
    found = [state.message for state in states(events)]
    for before, after in pairwise(found):
        changed = [one for one, other in zip(before.parts, after.parts, strict=False) if one is not other]
        assert len(changed) <= 1


def missing_leaves(events: list[Event], message: Message, kind_of: Any, dropped: list[Row]) -> list[Any]:
    """What the events say that is neither in the message nor in a list of what is dropped."""
    kept = list(leaves(json.loads(message.to_json())))
    texts = "\0".join(value for _, value in kept if isinstance(value, str))
    others = {(path[-1:], str(value)) for path, value in kept}
    return [
        (kind_of(event), path, value)
        for event in events
        for path, value in leaves(event)
        if not is_dropped(kind_of(event), path, dropped)
        and value not in (None, "")
        and not (
            value in texts or as_json(value) in texts if isinstance(value, str) else (path[-1:], str(value)) in others
        )
    ]


def as_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def is_dropped(kind: str, path: tuple[str, ...], dropped: list[Row]) -> bool:
    return any(kind == row_kind and path[: len(row.split("."))] == tuple(row.split(".")) for row_kind, row in dropped)


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from leaves(item, (*path, name))
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item, (*path, "*"))
    else:
        yield path, value
