"""Recorded streams of providers, and an independent reading of what is in them.

In: the name of a recording. Out: its events, and what a person would read off them.
Some files hold the turns of a conversation one after another; each is a recording, named for the file and its number.
Rule: nothing here comes from `jsontide`, and nothing is merged by an algorithm: each provider's events are read as its
documentation says, by index or block, or from the whole answer that its last event repeats.

The recordings are not part of this repository; see `shared_data`. They are an extra to the streams of
`tests.generated_streams`, which every clone has: tests over them are marked `long`.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.shared_data import DATA

FOLDER = DATA / "provider-streams"
FILES = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.glob("*/*.chunks.txt"))
BEGINNINGS = {"message_start": "message", "response.created": "response"}
"""Events that begin a turn, and what has its id."""
Event = dict[str, Any]


def all_events(file: str) -> list[Event]:
    return [json.loads(line) for line in (FOLDER / file).read_text("utf-8").split("\n") if line.strip()]


def turns(file: str) -> list[list[Event]]:
    found: list[list[Event]] = []
    last = None
    for event in all_events(file):
        name = BEGINNINGS.get(str(event.get("type")))
        turn = event[name]["id"] if name else last
        if not found or turn != last:
            found.append([])
        last = turn
        found[-1].append(event)
    return found


TURNS = {file: turns(file) for file in FILES}
NAMES = [f"{file}#{at}" if len(sent) > 1 else file for file, sent in TURNS.items() for at in range(len(sent))]

every_recording = pytest.mark.parametrize("name", NAMES or ["missing"])


@dataclass
class Call:
    id: str | None = None
    name: str = ""
    value: Any = None


@dataclass
class Reading:
    """What a person reads off a recording."""

    text: str = ""
    reasoning: str = ""
    calls: list[Call] = field(default_factory=list)
    reason: str | None = None
    """In the words of OpenAI's chat completions."""
    has_items: bool = False
    """Whether there are items beside these: tools of the provider, patches, commands."""


def events(name: str) -> list[Event]:
    file, _, at = name.partition("#")
    return deepcopy(TURNS[file][int(at or 0)])  # a test may change its own


def kind_of(sent: list[Event]) -> str:
    return next(kind for kind, is_it in KINDS.items() if any(is_it(event) for event in sent))


def reading(name: str) -> Reading:
    sent = events(name)
    found = READERS[kind_of(sent)](sent)
    if found.reason in {"stop", "tool_calls"}:  # some providers stop in either case
        found.reason = "tool_calls" if found.calls else "stop"
    return found


def is_end(event: Event) -> bool:
    """Tell whether an event says how its message ends, by the words that providers have for it."""
    words = ('_reason": "', "response.completed", "interaction.completed", "stopReason", "finishReason")
    return any(word in json.dumps(event) for word in words)


KINDS: dict[str, Callable[[Event], bool]] = {
    "chat": lambda event: "choices" in event,
    "responses": lambda event: str(event.get("type")).startswith("response."),
    "anthropic": lambda event: event.get("type") == "message_start",
    "cohere": lambda event: event.get("type") == "message-start",
    "interactions": lambda event: "event_type" in event,
    "gemini": lambda event: "candidates" in event,
    "bedrock": lambda event: "messageStop" in event,
}


def chat(sent: Iterable[Event]) -> Reading:
    found = Reading()
    calls: dict[int, dict[str, Any]] = defaultdict(lambda: {"id": None, "name": "", "text": ""})
    for choice in (choice for event in sent for choice in event["choices"]):
        delta = choice.get("delta", {})
        found.text += delta.get("content") or choice.get("text") or ""
        found.reasoning += delta.get("reasoning_content") or delta.get("reasoning") or ""
        found.reason = choice.get("finish_reason") or found.reason
        for entry in delta.get("tool_calls", []):
            call = calls[entry["index"]]
            call["id"] = call["id"] or entry.get("id")
            call["name"] = call["name"] or entry["function"].get("name")
            call["text"] += entry["function"]["arguments"]
    found.calls = [Call(call["id"], call["name"], json.loads(call["text"])) for call in calls.values()]
    return found


def responses(sent: list[Event]) -> Reading:
    """From the whole answer in the last event, and not from any delta."""
    found = Reading()
    (whole,) = (event["response"] for event in sent if event["type"] == "response.completed")
    assert whole["status"] == "completed"
    kinds = [item["type"] for item in whole["output"]]
    found.reason = "tool_calls" if {"function_call", "custom_tool_call"} & set(kinds) else "stop"
    for item in whole["output"]:
        read_item(found, item)
    return found


def read_item(found: Reading, item: Event) -> None:
    if item["type"] == "message":
        found.text += "".join(part["text"] for part in item["content"])
    elif item["type"] == "reasoning":
        found.reasoning += "".join(part["text"] for part in item.get("summary") or item.get("content") or [])
    elif item["type"] == "function_call":
        found.calls.append(Call(item["call_id"], item["name"], json.loads(item["arguments"])))
    elif item["type"] == "custom_tool_call":
        found.calls.append(Call(item["call_id"], item["name"], item["input"]))
    else:
        found.has_items = True


def anthropic(sent: Iterable[Event]) -> Reading:
    found = Reading()
    reasons = {"end_turn": "stop", "tool_use": "tool_calls", "refusal": "refusal"}
    block: Event = {}
    text = ""
    for event in sent:
        match event["type"], event.get("delta", {}):
            case "content_block_start", _:
                block, text = event["content_block"], ""
            case "content_block_delta", {"type": "text_delta", "text": piece}:
                found.text += piece
            case "content_block_delta", {"type": "thinking_delta", "thinking": piece}:
                found.reasoning += piece
            case "content_block_delta", {"type": "input_json_delta", "partial_json": piece}:
                text += piece
            case "content_block_stop", _ if block["type"] == "tool_use":
                found.calls.append(Call(block["id"], block["name"], json.loads(text or "{}")))
            case "message_delta", {"stop_reason": reason}:
                found.reason = reasons[reason]
    return found


def cohere(sent: Iterable[Event]) -> Reading:
    found = Reading()
    for event in sent:
        message = event.get("delta", {}).get("message", {})
        if event["type"] == "content-delta":
            found.text += message["content"]["text"]
        elif event["type"] == "tool-plan-delta":
            found.reasoning += message["tool_plan"]
        elif event["type"] == "tool-call-start":
            call = message["tool_calls"]
            assert not call["function"]["arguments"]
            found.calls.append(Call(call["id"], call["function"]["name"], {}))
        elif event["type"] == "message-end":
            found.reason = {"COMPLETE": "stop", "TOOL_CALL": "tool_calls"}[event["delta"]["finish_reason"]]
        assert event["type"] != "tool-call-delta"
    return found


def interactions(sent: Iterable[Event]) -> Reading:
    found = Reading()
    for event in sent:
        delta = event.get("delta", {})
        found.text += delta.get("text", "") if delta.get("type") == "text" else ""
        if event["event_type"] == "interaction.completed":
            found.reason = {"completed": "stop"}[event["interaction"]["status"]]
        assert event.get("step", {}).get("type") != "function_call"
    return found


def gemini(sent: Iterable[Event]) -> Reading:
    found = Reading()
    for candidate in (event["candidates"][0] for event in sent):
        found.reason = {"STOP": "stop"}.get(candidate.get("finishReason")) or found.reason
        for part in candidate["content"]["parts"]:
            if part.get("thought"):
                found.reasoning += part["text"]
            else:
                found.text += part.get("text", "")
            call = part.get("functionCall", {})
            if "name" in call:
                found.calls.append(Call(None, call["name"], call.get("args", {})))
            for partial in call.get("partialArgs", []):
                put(found.calls[-1].value, partial)
    return found


def put(value: Any, partial: Event) -> None:
    """Write a partial argument where its path says, into lists that are long enough by then."""
    keys = [int(key[1:-1]) if key[0] == "[" else key for key in re.findall(r"[^$.\[\]]+|\[\d+\]", partial["jsonPath"])]
    for key, following in zip(keys, [*keys[1:], None], strict=True):
        empty: Any = "" if following is None else [] if isinstance(following, int) else {}
        if isinstance(key, int) and key == len(value):
            value.append(empty)
        elif isinstance(key, str):
            value.setdefault(key, empty)
        if following is None:
            value[key] = partial["numberValue"] if "numberValue" in partial else value[key] + partial["stringValue"]
        value = value[key]


def bedrock(sent: Iterable[Event]) -> Reading:
    found = Reading()
    texts: dict[int, str] = {}
    for event in sent:
        delta = event.get("contentBlockDelta", {}).get("delta", {})
        found.text += delta.get("text", "")
        found.reasoning += delta.get("reasoningContent", {}).get("text", "")
        if "contentBlockStart" in event:
            use = event["contentBlockStart"]["start"]["toolUse"]
            found.calls.append(Call(use["toolUseId"], use["name"]))
            texts[len(texts)] = ""
        if "toolUse" in delta:
            texts[len(texts) - 1] += delta["toolUse"]["input"]
        if "messageStop" in event:
            found.reason = {"tool_use": "tool_calls", "end_turn": "stop"}[event["messageStop"]["stopReason"]]
    for call, text in zip(found.calls, texts.values(), strict=True):
        call.value = json.loads(text)
    return found


READERS: dict[str, Callable[[list[Event]], Reading]] = {
    "chat": chat,
    "responses": responses,
    "anthropic": anthropic,
    "cohere": cohere,
    "interactions": interactions,
    "gemini": gemini,
    "bedrock": bedrock,
}
