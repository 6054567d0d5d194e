"""A server that answers as seven providers do: with a call of `get_weather`, then, given its result, with text.

It reads a request only as far as it must: is there a tool, is its result in the conversation, does the request ask
for a stay of some nights as JSON?
"""

import json
from binascii import crc32
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

Json = dict[str, Any]

ARGUMENTS = ['{"city": ', '"Kyo', 'to"}']
ANSWER = ["It is 21 °C ", "and clear ", "in Kyoto."]
STAY = ['{"city": "Kyo', 'to", "nig', 'hts": 2}']


def chat(answer: list[str]) -> Iterator[Json]:
    def chunk(delta: Json, reason: str | None = None) -> Json:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "fake-1", "choices": [choice]}

    if answer:
        for piece in answer:
            yield chunk({"content": piece})
        yield chunk({}, "stop")
    else:
        call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": ""}}
        yield chunk({"role": "assistant", "tool_calls": [call]})
        for piece in ARGUMENTS:
            yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
        yield chunk({}, "tool_calls")
    usage = {"prompt_tokens": 50, "completion_tokens": 12, "total_tokens": 62}
    yield {"id": "chatcmpl-1", "model": "fake-1", "choices": [], "usage": usage}


def responses(answer: list[str]) -> Iterator[Json]:
    response = {"id": "resp_1", "object": "response", "model": "fake-1", "status": "in_progress", "output": []}
    yield {"type": "response.created", "response": response}
    if answer:
        item: Json = {"type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress", "content": []}
        place = {"output_index": 0, "content_index": 0, "item_id": "msg_1"}
        yield {"type": "response.output_item.added", "output_index": 0, "item": item}
        yield {"type": "response.content_part.added", **place, "part": {"type": "output_text", "text": ""}}
        for piece in answer:
            yield {"type": "response.output_text.delta", **place, "delta": piece}
        part = {"type": "output_text", "text": "".join(answer), "annotations": []}
        item = {**item, "status": "completed", "content": [part]}
    else:
        item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "get_weather", "arguments": ""}
        yield {"type": "response.output_item.added", "output_index": 0, "item": item}
        for piece in ARGUMENTS:
            yield {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": piece}
        item = {**item, "arguments": "".join(ARGUMENTS), "status": "completed"}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    usage = {"input_tokens": 50, "output_tokens": 12, "total_tokens": 62}
    ended = {**response, "status": "completed", "output": [item], "usage": usage}
    yield {"type": "response.completed", "response": ended}


def anthropic(answer: list[str]) -> Iterator[Json]:
    usage = {"input_tokens": 50, "output_tokens": 1}
    start = {"id": "msg_1", "type": "message", "role": "assistant", "model": "fake-1", "content": [], "usage": usage}
    yield {"type": "message_start", "message": start}
    thought = {"type": "thinking", "thinking": "", "signature": ""}
    yield {"type": "content_block_start", "index": 0, "content_block": thought}
    yield {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}}
    yield {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "c2lnbmVk"}}
    yield {"type": "content_block_stop", "index": 0}
    if answer:
        block: Json = {"type": "text", "text": ""}
        deltas: list[Json] = [{"type": "text_delta", "text": piece} for piece in answer]
    else:
        block = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {}}
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ARGUMENTS]
    yield {"type": "content_block_start", "index": 1, "content_block": block}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": 1, "delta": delta}
    yield {"type": "content_block_stop", "index": 1}
    reason = "end_turn" if answer else "tool_use"
    yield {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 12}}
    yield {"type": "message_stop"}


def gemini(answer: list[str]) -> Iterator[Json]:
    call = {"functionCall": {"name": "get_weather", "args": {"city": "Kyoto"}}, "thoughtSignature": "c2lnbmVk"}
    parts: list[Json] = [{"text": piece} for piece in answer] if answer else [call]
    for part in parts:
        content = {"role": "model", "parts": [part]}
        yield {"candidates": [{"index": 0, "content": content}], "modelVersion": "fake-1", "responseId": "r1"}
    usage = {"promptTokenCount": 50, "candidatesTokenCount": 12, "totalTokenCount": 62}
    yield {"candidates": [{"index": 0, "finishReason": "STOP"}], "usageMetadata": usage, "responseId": "r1"}


def cohere(answer: list[str]) -> Iterator[Json]:
    yield {"type": "message-start", "id": "m1", "delta": {"message": {"role": "assistant"}}}
    if answer:
        yield {"type": "content-start", "index": 0, "delta": {"message": {"content": {"type": "text", "text": ""}}}}
        for piece in answer:
            yield {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": piece}}}}
        yield {"type": "content-end", "index": 0}
    else:
        call = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": ""}}
        yield {"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": call}}}
        for piece in ARGUMENTS:
            more = {"function": {"arguments": piece}}
            yield {"type": "tool-call-delta", "index": 0, "delta": {"message": {"tool_calls": more}}}
        yield {"type": "tool-call-end", "index": 0}
    usage = {"tokens": {"input_tokens": 50, "output_tokens": 12}}
    reason = "COMPLETE" if answer else "TOOL_CALL"
    yield {"type": "message-end", "delta": {"finish_reason": reason, "usage": usage}}


def ollama(answer: list[str]) -> Iterator[Json]:
    def line(message: Json, **more: object) -> Json:
        return {"model": "fake-1", "message": {"role": "assistant", "content": "", **message}, "done": False, **more}

    if answer:
        for piece in answer:
            yield line({"content": piece})
    else:
        yield line({"tool_calls": [{"function": {"name": "get_weather", "arguments": {"city": "Kyoto"}}}]})
    yield line({}, done=True, done_reason="stop", prompt_eval_count=50, eval_count=12)


def bedrock(answer: list[str]) -> Iterator[Json]:
    yield {"messageStart": {"role": "assistant"}}
    if answer:
        deltas: list[Json] = [{"text": piece} for piece in answer]
    else:
        use = {"toolUse": {"toolUseId": "tooluse_1", "name": "get_weather"}}
        yield {"contentBlockStart": {"contentBlockIndex": 0, "start": use}}
        deltas = [{"toolUse": {"input": piece}} for piece in ARGUMENTS]
    for delta in deltas:
        yield {"contentBlockDelta": {"contentBlockIndex": 0, "delta": delta}}
    yield {"contentBlockStop": {"contentBlockIndex": 0}}
    yield {"messageStop": {"stopReason": "end_turn" if answer else "tool_use"}}
    usage = {"inputTokens": 50, "outputTokens": 12, "totalTokens": 62}
    yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 1}}}


def write_sse(event: Json) -> bytes:
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event)}\n\n".encode()


def write_line(event: Json) -> bytes:
    return f"{json.dumps(event)}\n".encode()


def write_aws(event: Json) -> bytes:
    """Return an event in the binary form of Amazon's event streams."""
    [(name, content)] = event.items()
    headers = b"".join(
        bytes([len(key)]) + key.encode() + b"\x07" + len(value).to_bytes(2) + value.encode()
        for key, value in {
            ":message-type": "event",
            ":event-type": name,
            ":content-type": "application/json",
        }.items()
    )
    payload = json.dumps(content).encode()
    prelude = (16 + len(headers) + len(payload)).to_bytes(4) + len(headers).to_bytes(4)
    message = prelude + crc32(prelude).to_bytes(4) + headers + payload
    return message + crc32(message).to_bytes(4)


Script = Callable[[list[str]], Iterator[Json]]
SCRIPTS: dict[str, Script] = {
    "/v1/chat/completions": chat,
    "/v1/responses": responses,
    "/v1/messages": anthropic,
    "/v2/chat": cohere,
    "/api/chat": ollama,
}
FORMS: dict[Script, tuple[str, Callable[[Json], bytes]]] = {
    ollama: ("application/x-ndjson", write_line),
    bedrock: ("application/vnd.amazon.eventstream", write_aws),
}


class Handler(BaseHTTPRequestHandler):
    """Answers a request in the form of the provider whose path it has."""

    protocol_version = "HTTP/1.0"

    def do_POST(self) -> None:
        """Stream the events of one turn."""
        body = self.rfile.read(int(self.headers["Content-Length"])).decode().replace("\\", "")
        script = SCRIPTS.get(self.path, bedrock if self.path.endswith("/converse-stream") else gemini)
        content_type, write = FORMS.get(script, ("text/event-stream", write_sse))
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.end_headers()
        has_answer = "get_weather" not in body or '"temperature' in body
        for event in script(STAY if '"nights"' in body else ANSWER if has_answer else []):
            self.wfile.write(write(event))
            self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Print nothing: the example does."""
