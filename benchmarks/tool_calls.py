"""`python -m benchmarks.tool_calls`: feed every shape of tool calls to every library, and write its page.

In: shapes, which are lists of chunks as servers that speak Chat Completions send them, and what they must become.
Out: for each shape and library, whether the calls that can be run are the intended ones.
Rule: a shape is data, and says nothing of how it is merged. Each library is used as its own code for Chat Completions
uses it, and what it raises is passed on.
A call counts as one that can be run if the library returns it with arguments, and not marked as wrong.
"""

import json
import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Any, NamedTuple

from benchmarks.pages import MEASURED, table
from jsontide.messages import Outcome
from jsontide.streams import stream_message

Chunk = dict[str, Any]
Calls = list[tuple[str | None, str, Any]]
"""The id, name and arguments of each call."""

ROME, OSLO = {"city": "Rome"}, {"city": "Oslo"}
ONE: Calls = [("a", "weather", ROME)]
TWO: Calls = [("a", "weather", ROME), ("b", "weather", OSLO)]
NO_REASON = "none"


class Shape(NamedTuple):
    name: str
    chunks: list[Chunk]
    calls: Calls
    """What can be run in the end."""


def chunk(delta: dict[str, Any], reason: str | None = None) -> Chunk:
    return {
        "id": "chunk",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "model",
        "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
    }


def call(arguments: object, **said: object) -> Chunk:
    function = {"arguments": arguments}
    if "name" in said:
        function["name"] = said.pop("name")
    return {**said, "type": "function", "function": function}


def shape(name: str, calls: Calls, *entries: str | Chunk | list[Chunk], reason: str = "tool_calls") -> Shape:
    """An entry is a delta of a call, a list of them for one chunk, a text, or a whole chunk."""
    chunks = [chunk({"role": "assistant", "content": None})]
    chunks += map(spoken, entries)
    return Shape(name, chunks if reason == NO_REASON else [*chunks, chunk({}, reason)], calls)


def spoken(entry: str | Chunk | list[Chunk]) -> Chunk:
    if isinstance(entry, str):
        return chunk({"content": entry})
    if isinstance(entry, dict):
        return entry if "choices" in entry else chunk({"tool_calls": [entry]})
    return chunk({"tool_calls": entry})


def named(call_id: str, **said: object) -> Chunk:
    return {"id": call_id, "name": "weather", **said}


FIRST, SECOND = '{"city": "Rome"}', '{"city": "Oslo"}'

SHAPES = (
    shape("regular", TWO, call("", **named("a", index=0)), call(FIRST, index=0), call(SECOND, **named("b", index=1))),
    shape("missing index", TWO, call(FIRST, **named("a")), call(SECOND, **named("b"))),
    shape(
        "reused index with a new id",
        TWO,
        call(FIRST, **named("a", index=0)),
        call('{"city": ', **named("b", index=0)),
        call('"Oslo"}', index=0),
    ),
    shape(
        "id and name repeated in every delta",
        ONE,
        *(call(piece, **named("a", index=0)) for piece in ('{"ci', 'ty": "Ro', 'me"}')),
    ),
    shape("sparse index", TWO, call(FIRST, **named("a", index=1)), call(SECOND, **named("b", index=3))),
    shape(
        "two entries of one index in a chunk",
        ONE,
        [call('{"city": ', **named("a", index=0)), call('"Rome"}', index=0)],
    ),
    shape("late id", ONE, call('{"city": ', index=0, name="weather"), call('"Rome"}', index=0, id="a")),
    shape("late name", ONE, call('{"city": ', index=0, id="a"), call('"Rome"}', index=0, name="weather")),
    shape("call without arguments", [("a", "now", {})], call("", index=0, id="a", name="now")),
    shape("arguments as an object", ONE, call(ROME, **named("a", index=0))),
    shape(
        "interleaved calls",
        TWO,
        call('{"city": ', **named("a", index=0)),
        call('{"city": ', **named("b", index=1)),
        call('"Rome"}', index=0),
        call('"Oslo"}', index=1),
    ),
    shape("text between calls", TWO, call(FIRST, **named("a", index=0)), "and", call(SECOND, **named("b", index=1))),
    shape("duplicate finish chunk", ONE, call(FIRST, **named("a", index=0)), chunk({}, "tool_calls")),
    shape("a chunk without choices", ONE, call(FIRST, **named("a", index=0)), {**chunk({}), "choices": []}),
    shape("cut off at a limit", [], call('{"city": "Ro', **named("a", index=0)), reason="length"),
    shape("cut off, but told as a call", [], call('{"city": "Ro', **named("a", index=0))),
    shape("a stream that just ends", [], call('{"city": "Rome"', **named("a", index=0)), reason=NO_REASON),
)

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

PAGE = MEASURED / "tool-calls.md"
HEAD = """# Tool calls of many shapes

Servers that speak Chat Completions do not all stream tool calls as the specification says.
Each row is one shape, fed unchanged to each library; a cell shows what came out.

- *right*: the calls that can be run are the intended ones, with their ids, names and arguments.
- *wrong*: other calls, or a truncated call that is returned as if it were complete.
- an exception: what was raised, while chunks arrived or when the arguments were read.
  For a truncated call, this is correct as well: it is not run.
"""
TAIL = """The chunks of each shape are in `benchmarks/tool_calls.py`, with how each library is fed and read.
`make peers` rewrites this page.
"""


def compare(accumulator: Accumulator, shape: Shape) -> str:
    try:
        calls = accumulator(shape.chunks)
    except ImportError:
        raise
    except Exception as error:  # noqa: BLE001 - that is what is asked
        return f"`{type(error).__name__}`"
    return "right" if calls == shape.calls else "wrong"


def page(peers: Sequence[tuple[str, Accumulator]]) -> str:
    rows = [[shape.name, *(compare(accumulator, shape) for _, accumulator in peers)] for shape in SHAPES]
    found = table("What becomes of each shape", ["shape", *(name for name, _ in peers)], rows, align="---")
    return f"{HEAD}\n{found}\n{TAIL}"


def main() -> None:
    logging.disable(logging.CRITICAL)
    try:
        others = [(f"{name} {version(package)}", fed) for name, (package, fed) in PEERS.items()]
        text = page([("jsontide", jsontide_calls), *others])
    except ImportError as error:
        sys.exit(f"error: {error.name} is not installed; `make peers` does it")
    PAGE.write_text(text, "utf-8")
    print(f"written: {PAGE}")


if __name__ == "__main__":
    main()
