"""How each library puts the tool calls of a stream together: chunks in, the calls that can be run out.

Rule: each library is used as its own code for Chat Completions uses it, and what it raises is passed on.
A call counts as one that can be run if the library returns it with arguments, and not marked as wrong.
"""

import json
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from benchmarks.tool_shapes import Calls, Chunk
from jsontide.messages import Outcome
from jsontide.streams import stream_message

Accumulator = Callable[[list[Chunk]], Calls]


def jsontide_calls(chunks: list[Chunk]) -> Calls:
    *_, message = stream_message(chunks)
    return [
        (call.id, str(call.name), call.arguments_value)
        for call in message.tool_calls
        if call.status is Outcome.COMPLETE
    ]


def openai_calls(chunks: list[Chunk]) -> Calls:
    state: Any = import_module("openai.lib.streaming.chat").ChatCompletionStreamState()
    chunk_type = import_module("openai.types.chat").ChatCompletionChunk
    for chunk in chunks:
        # As its client does: no validation.
        state.handle_chunk(chunk_type.construct(**chunk))
    return read_calls(state.get_final_completion())


def litellm_calls(chunks: list[Chunk]) -> Calls:
    chunk_type = import_module("litellm.types.utils").ModelResponseStream
    return read_calls(import_module("litellm").stream_chunk_builder([chunk_type(**chunk) for chunk in chunks]))


def read_calls(completion: Any) -> Calls:  # noqa: ANN401
    """What a program does with arguments that it gets as text."""
    functions = [(call.id, call.function) for call in completion.choices[0].message.tool_calls or []]
    return [
        (call_id, each.name, json.loads(each.arguments) if isinstance(each.arguments, str) else each.arguments)
        for call_id, each in functions
    ]


def langchain_calls(chunks: list[Chunk]) -> Calls:
    messages = import_module("langchain_core.messages")
    whole: Any = None
    for delta in deltas(chunks):
        entries = [
            messages.tool.tool_call_chunk(
                name=entry["function"].get("name"),
                args=entry["function"]["arguments"],
                id=entry.get("id"),
                index=entry.get("index"),
            )
            for entry in delta.get("tool_calls", [])
        ]
        piece = messages.AIMessageChunk(content=delta.get("content") or "", tool_call_chunks=entries)
        whole = piece if whole is None else whole + piece
    return [(call["id"], call["name"], call["args"]) for call in whole.tool_calls]


def pydantic_ai_calls(chunks: list[Chunk]) -> Calls:
    manager: Any = import_module("pydantic_ai._parts_manager").ModelResponsePartsManager(
        model_request_parameters=import_module("pydantic_ai.models").ModelRequestParameters()
    )
    for delta in deltas(chunks):
        for entry in delta.get("tool_calls", []):
            manager.handle_tool_call_delta(
                vendor_part_id=entry.get("index"),
                tool_name=entry["function"].get("name"),
                args=entry["function"]["arguments"],
                tool_call_id=entry.get("id"),
            )
    parts = [part for part in manager.get_parts() if part.part_kind == "tool-call"]
    return [(part.tool_call_id, part.tool_name, part.args_as_dict(raise_if_invalid=True)) for part in parts]


def deltas(chunks: list[Chunk]) -> Iterator[dict[str, Any]]:
    return (choice["delta"] for chunk in chunks for choice in chunk["choices"])


PEERS: dict[str, tuple[str, Accumulator]] = {
    "openai": ("openai", openai_calls),
    "langchain-core": ("langchain-core", langchain_calls),
    "litellm": ("litellm", litellm_calls),
    "pydantic-ai": ("pydantic-ai-slim", pydantic_ai_calls),
}
"""By name: the distribution, and how it is fed."""
