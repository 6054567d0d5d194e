"""The responses that are measured, as their providers send them.

In: a format, a size in characters. Out: the events of a response with so much text, and their bytes.
Rule: the same format and size give the same bytes on every machine; nothing is recorded.
The text comes in deltas of 1 to 8 characters, one to an event.
"""

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, starmap
from typing import Any

from benchmarks.documents import cut_text, document, fill, prose, write

Event = dict[str, Any]

CALL, NAME, MODEL = "call_8Kx2mQvT4bWn", "plan_trip", "model-2026-08-01"
READ = 1_400
"""Bytes of a read where events are cut anywhere: about what fits into a packet of a network."""


def sse(event: Event) -> bytes:
    return b"data: " + compact(event) + b"\n\n"


def named_sse(event: Event) -> bytes:
    return f"event: {event['type']}\n".encode() + sse(event)


def line(event: Event) -> bytes:
    return compact(event) + b"\n"


def compact(event: Event) -> bytes:
    return json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()


@dataclass(frozen=True)
class Format:
    """How a provider writes a stream.

    `head` and `tail` are the events around the deltas, `delta` makes the event of one piece of text; some providers
    repeat the whole text in the end, so the tail is given it.
    `piece` finds the text in an event again, as people do who read it by hand; it returns an empty one if there is
    none.
    """

    name: str
    head: Sequence[Event]
    delta: Callable[[str], Event]
    tail: Callable[[str], Sequence[Event]]
    piece: Callable[[Any], str]
    encode: Callable[[Event], bytes] = sse
    reads: str = "text"
    """What a program reads after each event: "call" (arguments), "answer" (structured output) or "text"."""
    last: bytes = b""


@dataclass(frozen=True)
class Response:
    """One response with so many pieces of text; its events are made again each time, because they take much memory."""

    form: Format
    pieces: Sequence[str]

    @property
    def events(self) -> Iterator[Event]:
        tail = self.form.tail("".join(self.pieces))
        return starmap(count_up, enumerate(chain(self.form.head, map(self.form.delta, self.pieces), tail)))

    @property
    def reads(self) -> list[bytes]:
        """One event a read."""
        return [*map(self.form.encode, self.events), *([self.form.last] if self.form.last else [])]


def chat(delta: Event, reason: str | None = None) -> Event:
    return {
        "id": "chatcmpl-Bx7Qm2Tz9VfKc4LwYp1RsHd3",
        "object": "chat.completion.chunk",
        "created": 1_785_600_000,
        "model": MODEL,
        "service_tier": "default",
        "system_fingerprint": "fp_3f1a8c27d0",
        "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}],
    }


def chat_piece(event: Any) -> str:  # noqa: ANN401 - what a parser of JSON returned
    found: str = event["choices"][0]["delta"].get("content") or ""
    return found


def chat_arguments(event: Any) -> str:  # noqa: ANN401
    calls = event["choices"][0]["delta"].get("tool_calls")
    found: str = calls[0]["function"]["arguments"] if calls else ""
    return found


CHAT_CALL = {"index": 0, "id": CALL, "type": "function", "function": {"name": NAME, "arguments": ""}}
CHAT_TOOL = Format(
    "OpenAI tool call",
    [chat({"role": "assistant", "content": None, "tool_calls": [CHAT_CALL], "refusal": None})],
    lambda text: chat({"tool_calls": [{"index": 0, "function": {"arguments": text}}]}),
    lambda _: [chat({}, "tool_calls")],
    chat_arguments,
    reads="call",
    last=b"data: [DONE]\n\n",
)
CHAT_TEXT = Format(
    "OpenAI text",
    [chat({"role": "assistant", "content": "", "refusal": None})],
    lambda text: chat({"content": text}),
    lambda _: [chat({}, "stop")],
    chat_piece,
    last=b"data: [DONE]\n\n",
)
CHAT_ANSWER = replace(CHAT_TEXT, name="OpenAI structured output", reads="answer")


def anthropic_start(block: Event) -> list[Event]:
    message: Event = {
        "id": "msg_01Kq7Zr9WcYt5NbXe3",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 472, "output_tokens": 2},
    }
    return [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "ping"},
    ]


def anthropic_end(reason: str) -> Callable[[str], list[Event]]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    end: list[Event] = [
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 89}},
        {"type": "message_stop"},
    ]
    return lambda _: end


def anthropic_delta(kind: str, key: str) -> Callable[[str], Event]:
    return lambda text: {"type": "content_block_delta", "index": 0, "delta": {"type": kind, key: text}}


def anthropic_piece(key: str) -> Callable[[Any], str]:
    def piece(event: Any) -> str:  # noqa: ANN401
        return event["delta"][key] if event["type"] == "content_block_delta" else ""

    return piece


ANTHROPIC_TOOL = Format(
    "Anthropic tool call",
    anthropic_start({"type": "tool_use", "id": CALL, "name": NAME, "input": {}}),
    anthropic_delta("input_json_delta", "partial_json"),
    anthropic_end("tool_use"),
    anthropic_piece("partial_json"),
    encode=named_sse,
    reads="call",
)
ANTHROPIC_TEXT = Format(
    "Anthropic text",
    anthropic_start({"type": "text", "text": ""}),
    anthropic_delta("text_delta", "text"),
    anthropic_end("end_turn"),
    anthropic_piece("text"),
    encode=named_sse,
)


RESPONSE_CALL = {
    "type": "function_call",
    "id": "fc_68b1f0",
    "call_id": CALL,
    "name": NAME,
    "arguments": "",
    "status": "in_progress",
}
RESPONSE = {
    "id": "resp_68b1ef",
    "object": "response",
    "created_at": 1_785_600_000,
    "status": "in_progress",
    "model": MODEL,
    "output": [],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}


def responses_piece(event: Any) -> str:  # noqa: ANN401
    return event["delta"] if event["type"] == "response.function_call_arguments.delta" else ""


def responses_end(text: str) -> list[Event]:
    item = {**RESPONSE_CALL, "status": "completed", "arguments": text}
    at = {"item_id": RESPONSE_CALL["id"], "output_index": 0}
    return [
        {"type": "response.function_call_arguments.done", "sequence_number": 3, **at, "name": NAME, "arguments": text},
        {"type": "response.output_item.done", "sequence_number": 4, "output_index": 0, "item": item},
        {
            "type": "response.completed",
            "sequence_number": 5,
            "response": {**RESPONSE, "status": "completed", "output": [item]},
        },
    ]


RESPONSES_TOOL = Format(
    "Responses tool call",
    [
        {"type": "response.created", "sequence_number": 0, "response": RESPONSE},
        {"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": RESPONSE_CALL},
    ],
    lambda text: {
        "type": "response.function_call_arguments.delta",
        "sequence_number": 2,
        "item_id": "fc_68b1f0",
        "output_index": 0,
        "delta": text,
        "obfuscation": "aV3kQ9xTb2LmZc7R"[len(text) :],
    },
    responses_end,
    responses_piece,
    encode=named_sse,
    reads="call",
)


def gemini(part: Event, reason: str | None = None) -> Event:
    candidate: Event = {"content": {"parts": [part], "role": "model"}, "index": 0}
    usage = {"promptTokenCount": 472, "candidatesTokenCount": 1, "totalTokenCount": 473}
    return {
        "candidates": [{**candidate, "finishReason": reason} if reason else candidate],
        "usageMetadata": usage,
        "modelVersion": MODEL,
        "responseId": "q1W2e3R4t5Y6u7I8",
    }


def gemini_piece(event: Any) -> str:  # noqa: ANN401
    found: str = event["candidates"][0]["content"]["parts"][0].get("text", "")
    return found


GEMINI_TEXT = Format(
    "Gemini text",
    [],
    lambda text: gemini({"text": text}),
    lambda _: [gemini({"text": ""}, "STOP")],
    gemini_piece,
)


def gemini_arguments(partials: Sequence[Event]) -> Event:
    return gemini({"functionCall": {"partialArgs": partials, "willContinue": True}})


GEMINI_PARTIAL = Format(
    "Gemini partialArgs",
    [gemini({"functionCall": {"name": NAME, "willContinue": True}})],
    lambda text: gemini_arguments(json.loads(text)),
    lambda _: [gemini({"functionCall": {}}), gemini({"text": ""}, "STOP")],
    lambda _: "",
    reads="call",
)


def ollama(message: Event, **said: object) -> Event:
    return {
        "model": MODEL,
        "created_at": "2026-08-01T12:00:00.000000Z",
        "message": {"role": "assistant", **message},
        **({"done": False} | said),
    }


OLLAMA_TEXT = Format(
    "Ollama text (NDJSON)",
    [],
    lambda text: ollama({"content": text}),
    lambda _: [ollama({"content": ""}, done=True, done_reason="stop", total_duration=1_000_000, eval_count=42)],
    lambda event: event["message"]["content"],
    encode=line,
)

FORMATS = (
    CHAT_TOOL,
    CHAT_TEXT,
    CHAT_ANSWER,
    ANTHROPIC_TOOL,
    ANTHROPIC_TEXT,
    RESPONSES_TOOL,
    GEMINI_TEXT,
    GEMINI_PARTIAL,
    OLLAMA_TEXT,
)


def pieces_of(form: Format, text: str) -> list[str]:
    """What `delta` is given, one after the other."""
    if form is GEMINI_PARTIAL:
        rng = random.Random(f"partials {len(text)}")
        return [json.dumps([partial]) for partial in partial_arguments(json.loads(text), "$", rng)]
    return cut_text(text, "tokens")


def partial_arguments(value: object, path: str, rng: random.Random) -> Iterator[Event]:
    """A value as Gemini writes it: each scalar with its path, a string in pieces."""
    match value:
        case dict():
            for key, inner in value.items():
                yield from partial_arguments(inner, f"{path}.{key}", rng)
        case list():
            for at, inner in enumerate(value):
                yield from partial_arguments(inner, f"{path}[{at}]", rng)
        case str():
            pieces = cut_text(value, "tokens")
            for piece in pieces:
                yield {"jsonPath": path, "stringValue": piece, "willContinue": True}
            yield {"jsonPath": path, "stringValue": ""}
        case bool():
            yield {"jsonPath": path, "boolValue": value}
        case int() | float():
            yield {"jsonPath": path, "numberValue": value}
        case _:
            yield {"jsonPath": path, "nullValue": "NULL_VALUE"}


def count_up(at: int, event: Event) -> Event:
    """An event with what is another number in each: its place, the tokens so far, the time."""
    if "sequence_number" in event:
        return {**event, "sequence_number": at}
    if "usageMetadata" in event:
        counts = {"candidatesTokenCount": at + 1, "totalTokenCount": at + 473}
        return {**event, "usageMetadata": {**event["usageMetadata"], **counts}}
    if "created_at" in event:
        return {**event, "created_at": f"2026-08-01T12:00:{at // 1_000:02}.{at % 1_000:03}000Z"}
    return event


def cut_reads(reads: Sequence[bytes], size: int = READ) -> list[bytes]:
    """The same bytes, so many to a read."""
    joined = b"".join(reads)
    return [joined[at : at + size] for at in range(0, len(joined), size)]


@cache
def records_text(size: int) -> str:
    return document("records", size, "tokens").text


@cache
def prose_text(size: int) -> str:
    rng = random.Random(f"prose {size}")
    return prose(rng, size // 6)[:size]


FIELDS: Mapping[str, object] = {
    "title": str,
    "days": int,
    "budget": float,
    "return_trip": bool,
    "from_station": str,
    "to_station": str,
    "tags": list[str],
    "seats": list[int],
    "summary": str,
    "stops": list[str],
}


@cache
def fields_text(size: int) -> str:
    """An object of the ten fields; the last of them grows with the size."""
    rng = random.Random(f"fields {size}")
    start = {
        "title": prose(rng, 4),
        "days": 12,
        "budget": 1830.5,
        "return_trip": True,
        "from_station": "Zürich HB",
        "to_station": "Łódź Fabryczna",
        "tags": ["coast", "night train"],
        "seats": [61, 62, 63],
        "summary": prose(rng, 16),
    }
    before = json.dumps(start, ensure_ascii=False)[:-1] + ', "stops": ['
    return fill(iter(lambda: write(rng, prose(rng, 8)), None), size, (before, "]}"))
