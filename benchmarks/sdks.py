"""The accumulators of the openai and anthropic packages, fed with the deltas of one tool call.

In: a chunk of a tool call's arguments. Out: the arguments as the accumulator shows them.
Rule: the event around a chunk is made once and only its text is exchanged: what is measured is the accumulating.
"""

from importlib import import_module
from typing import Any

from benchmarks.kinds import Feed, Reparse
from benchmarks.tool_shapes import call, chunk

OPENAI_TOOL = {"type": "function", "function": {"name": "plan", "strict": True, "parameters": {"type": "object"}}}
OPENAI_CHUNK = chunk({"role": "assistant", "tool_calls": [call("", index=0, id="call", name="plan")]})
ANTHROPIC_MESSAGE: dict[str, object] = {
    "id": "message",
    "type": "message",
    "role": "assistant",
    "model": "model",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": {"input_tokens": 0, "output_tokens": 0},
}
ANTHROPIC_CALL = {"type": "tool_use", "id": "call", "name": "plan", "input": {}}
ANTHROPIC_DELTA = {"type": "input_json_delta", "partial_json": ""}


def openai_accumulator() -> Reparse:
    state_type = import_module("openai.lib.streaming.chat").ChatCompletionStreamState
    chunk_type = import_module("openai.types.chat").ChatCompletionChunk

    def start(before: str) -> Feed:
        state: Any = state_type(input_tools=[OPENAI_TOOL])
        first = chunk_type.model_validate(OPENAI_CHUNK)
        first.choices[0].delta.tool_calls[0].function.arguments = before
        state.handle_chunk(first)
        event = chunk_type.model_validate(OPENAI_CHUNK)
        event.choices[0].delta.role = None
        call = event.choices[0].delta.tool_calls[0]
        call.id = call.function.name = None

        def feed(chunk: str) -> object:
            call.function.arguments = chunk
            state.handle_chunk(event)
            message = state.current_completion_snapshot.choices[0].message
            return message.tool_calls[0].function.parsed_arguments

        return feed

    return Reparse(start)


def anthropic_accumulator() -> Reparse:
    accumulate = import_module("anthropic.lib.streaming._messages").accumulate_event
    types = import_module("anthropic.types")

    def start(before: str) -> Feed:
        buffers = {0: before.encode()}
        opening = types.RawMessageStartEvent(type="message_start", message=ANTHROPIC_MESSAGE)
        message: Any = accumulate(event=opening, current_snapshot=None, json_bufs=buffers)
        block = types.RawContentBlockStartEvent(type="content_block_start", index=0, content_block=ANTHROPIC_CALL)
        message = accumulate(event=block, current_snapshot=message, json_bufs=buffers)
        event = types.RawContentBlockDeltaEvent(type="content_block_delta", index=0, delta=ANTHROPIC_DELTA)

        def feed(chunk: str) -> object:
            event.delta.partial_json = chunk
            snapshot = accumulate(event=event, current_snapshot=message, json_bufs=buffers)
            return snapshot.content[0].input

        return feed

    return Reparse(start)
