"""Streams as `curl -N` gives them, of several providers, that say the same: a text, a call, and what they cost."""

import json

from jsontide import JsonValue


def sse(*events: JsonValue) -> bytes:
    return b"".join(f"data: {json.dumps(event)}\n\n".encode() for event in events)


def openai(*texts: str, call: str | None = None, reason: str = "stop") -> bytes:
    """A stream of Chat Completions."""
    head: dict[str, JsonValue] = {"id": "c1", "object": "chat.completion.chunk", "model": "m1"}
    deltas: list[JsonValue] = [{"role": "assistant", "content": text} for text in texts]
    if call is not None:
        function: JsonValue = {"name": "search", "arguments": call}
        deltas.append({"tool_calls": [{"index": 0, "id": "t1", "type": "function", "function": function}]})
    chunks: list[JsonValue] = [{**head, "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    end: JsonValue = {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    usage: JsonValue = {**head, "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}
    return sse(*chunks, end, usage) + b"data: [DONE]\n\n"


def ollama(*texts: str) -> bytes:
    """A stream of Ollama: JSON lines."""
    lines: list[JsonValue] = [
        {"model": "m1", "message": {"role": "assistant", "content": text}, "done": False} for text in texts
    ]
    end: JsonValue = {"model": "m1", "message": {"role": "assistant", "content": ""}, "done": True}
    return b"".join(f"{json.dumps(line)}\n".encode() for line in [*lines, end])


def anthropic_answer(text: str) -> bytes:
    """A whole response of Anthropic Messages, which was not streamed."""
    content: JsonValue = [{"type": "text", "text": text}]
    usage: JsonValue = {"input_tokens": 3, "output_tokens": 2}
    answer: JsonValue = {"id": "m", "type": "message", "role": "assistant", "model": "m1", "content": content}
    assert isinstance(answer, dict)
    return json.dumps({**answer, "stop_reason": "end_turn", "usage": usage}).encode()
