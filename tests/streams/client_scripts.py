"""Turns of a model in the words of four providers: thinking with a signature, text, calls.

In: a `Turn`. Out: its events, as the provider's documentation has them.
"""

import json
from dataclasses import dataclass
from typing import Any

Event = dict[str, Any]

THOUGHT = "They want the weather."
SIGNATURE = "c2lnbmVkIGJ5IHRoZSBwcm92aWRlcg=="
SECRET = "ZW5jcnlwdGVk"  # noqa: S105 - what is encrypted
SAID = "Let me look."
ARGUMENTS = {"city": "Kyōto 𝄞"}
RESULT = "21 degrees"


@dataclass(frozen=True)
class Turn:
    """What the model says in one message."""

    said: tuple[str, ...]
    """Its text, in pieces."""
    calls: tuple[tuple[str, Event], ...] = ()
    """Name and arguments of each call."""
    thinks: bool = False
    number: int = 1
    """Which turn it is: no two have the same ids."""
    after: str = ""
    """What the request holds if this is the answer to it."""

    def call_ids(self, prefix: str) -> list[str]:
        return [f"{prefix}_{self.number}{at or ''}" for at in range(len(self.calls))]


CALL = Turn((SAID,), (("get_weather", ARGUMENTS),), thinks=True)
ANSWER = Turn(("It is 21 ", "degrees."), number=2, after=RESULT)


def cut(arguments: Event) -> list[str]:
    """Return the text of arguments in pieces, which end anywhere."""
    text = json.dumps(arguments, ensure_ascii=False)
    return [piece for piece in (text[:9], text[9:13], text[13:]) if piece]


def chat(turn: Turn) -> list[Event]:
    made = {"id": f"chatcmpl-{turn.number}", "object": "chat.completion.chunk", "created": 1, "model": "m"}

    def chunk(reason: str | None = None, **delta: Any) -> Event:
        return {**made, "choices": [{"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}]}

    def grow(at: int, piece: str, **more: Any) -> Event:
        function = {"arguments": piece, **more.pop("function", {})}
        return chunk(tool_calls=[{"index": at, "function": function, **more}])

    told = [chunk(role="assistant", content="")]
    told += [chunk(reasoning_content=THOUGHT)] if turn.thinks else []
    told += [chunk(content=piece) for piece in turn.said]
    for at, (call_id, (name, arguments)) in enumerate(zip(turn.call_ids("call"), turn.calls, strict=True)):
        told.append(grow(at, "", id=call_id, type="function", function={"name": name}))
        told += [grow(at, piece) for piece in cut(arguments)]
    usage = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
    return [*told, chunk("tool_calls" if turn.calls else "stop"), {**made, "choices": [], "usage": usage}]


def responses(turn: Turn) -> list[Event]:
    response: Event = {
        "id": f"resp_{turn.number}",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": "in_progress",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    told: list[Event] = [{"type": "response.created", "response": response}]
    output: list[Event] = []

    def add(item: Event, done: Event, *between: Event) -> None:
        at = len(output)
        told.append(
            {"type": "response.output_item.added", "output_index": at, "item": {**item, "status": "in_progress"}}
        )
        told.extend({**event, "output_index": at, "item_id": item["id"]} for event in between)
        output.append({**item, **done, "status": "completed"})
        told.append({"type": "response.output_item.done", "output_index": at, "item": output[-1]})

    if turn.thinks:
        summary = [{"type": "summary_text", "text": THOUGHT}]
        thought = {"type": "response.reasoning_summary_text.delta", "summary_index": 0, "delta": THOUGHT}
        add(
            {"type": "reasoning", "id": f"rs_{turn.number}", "summary": []},
            {"summary": summary, "encrypted_content": SECRET},
            {"type": "response.reasoning_summary_part.added", "summary_index": 0, "part": {**summary[0], "text": ""}},
            thought,
        )
    if not turn.calls:
        part = {"type": "output_text", "text": "".join(turn.said), "annotations": [], "logprobs": []}
        deltas = [
            {"type": "response.output_text.delta", "content_index": 0, "delta": piece, "logprobs": []}
            for piece in turn.said
        ]
        message = {"type": "message", "id": f"msg_{turn.number}", "role": "assistant", "content": []}
        add(message, {"content": [part]}, *deltas)
    ids = zip(turn.call_ids("fc"), turn.call_ids("call"), turn.calls, strict=True)
    for item_id, call_id, (name, arguments) in ids:
        call = {"type": "function_call", "id": item_id, "call_id": call_id, "name": name, "arguments": ""}
        pieces = cut(arguments)
        grown = [{"type": "response.function_call_arguments.delta", "delta": piece} for piece in pieces]
        add(call, {"arguments": "".join(pieces)}, *grown)
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 2}}
    usage = {"input_tokens": 9, "output_tokens": 4, "total_tokens": 13, **details}
    ended = {**response, "status": "completed", "output": output, "usage": usage}
    told.append({"type": "response.completed", "response": ended})
    return [{**event, "sequence_number": at} for at, event in enumerate(told)]


def anthropic(turn: Turn) -> list[Event]:
    start: Event = {
        "id": f"msg_{turn.number}",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 1},
    }
    told: list[Event] = [{"type": "message_start", "message": start}]
    blocks: list[tuple[Event, list[Event]]] = []
    if turn.thinks:
        thought = [
            {"type": "thinking_delta", "thinking": THOUGHT},
            {"type": "signature_delta", "signature": SIGNATURE},
        ]
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, thought))
        blocks.append(({"type": "redacted_thinking", "data": SECRET}, []))
    blocks.append(({"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in turn.said]))
    for call_id, (name, arguments) in zip(turn.call_ids("toolu"), turn.calls, strict=True):
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in cut(arguments)]
        blocks.append(({"type": "tool_use", "id": call_id, "name": name, "input": {}}, deltas))
    for at, (block, deltas) in enumerate(blocks):
        told.append({"type": "content_block_start", "index": at, "content_block": block})
        told += [{"type": "content_block_delta", "index": at, "delta": delta} for delta in deltas]
        told.append({"type": "content_block_stop", "index": at})
    ended = {"stop_reason": "tool_use" if turn.calls else "end_turn", "stop_sequence": None}
    told.append({"type": "message_delta", "delta": ended, "usage": {"output_tokens": 4}})
    return [*told, {"type": "message_stop"}]


def gemini(turn: Turn) -> list[Event]:
    parts: list[Event] = [{"text": THOUGHT, "thought": True}] if turn.thinks else []
    parts += [{"text": piece} for piece in turn.said]
    for at, (name, arguments) in enumerate(turn.calls):
        signature = {} if at or not turn.thinks else {"thoughtSignature": SIGNATURE}  # the first call of a step has it
        parts.append({"functionCall": {"name": name, "args": arguments}, **signature})
    made = {"responseId": f"r{turn.number}"}
    told: list[Event] = [
        {"candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}}], **made} for part in parts
    ]
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 2, "thoughtsTokenCount": 2, "totalTokenCount": 13}
    end = {"index": 0, "content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP"}
    return [*told, {"candidates": [end], "usageMetadata": usage, "modelVersion": "m", **made}]
