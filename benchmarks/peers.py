"""The other libraries, each behind the same small interface.

In: a chunk. Out: what the library shows of all the text so far.
Rule: each is used as its documentation says, in the mode that shows most, with what it costs to hand it the text and
nothing else.
Modules are imported by name when a side is loaded, so that a missing one is reported and not fatal.
"""

import json
import sys
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Sequence
from functools import partial
from importlib import import_module
from types import ModuleType, coroutine
from typing import Any, NamedTuple

from benchmarks import tool_shapes
from benchmarks.builds import without
from benchmarks.documents import records_model
from benchmarks.kinds import Event, Events, Feed, Offers, Reparse, Stream, Whole
from benchmarks.rewriters import by_patch, by_prefix


@coroutine
def pause() -> Generator[None, None, None]:
    yield


def start_jsonriver(parse: Callable[[AsyncIterator[str]], AsyncIterator[object]]) -> Feed:
    inbox: list[str] = []

    async def chunks() -> AsyncIterator[str]:
        while True:
            while not inbox:
                await pause()
            yield inbox.pop()

    values = parse(chunks())
    waiting: Any = values.__anext__()
    value: object = None

    def feed(chunk: str) -> object:
        nonlocal waiting, value
        inbox.append(chunk)
        while True:
            try:
                waiting.send(None)
            except StopIteration as yielded:
                value = yielded.value
                waiting = values.__anext__()
            else:
                return value

    return feed


OPENAI_TOOL = {"type": "function", "function": {"name": "plan", "strict": True, "parameters": {"type": "object"}}}
OPENAI_CALL = tool_shapes.call("", index=0, id="call", name="plan")
OPENAI_CHUNK = tool_shapes.chunk({"role": "assistant", "tool_calls": [OPENAI_CALL]})
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


JITER = "jiter"
STREAMING_NATIVE = "streaming-json-parser, native"
STREAMING_PURE = "streaming-json-parser, pure Python"
IJSON_C = "ijson, yajl2_c"
IJSON_PYTHON = "ijson, Python"
PARTIAL_VALIDATION = "pydantic, partial validation"
VALIDATION_AGAIN = "pydantic, optional fields, validated again"
INSTRUCTOR = "instructor Partial"
LOADS = "json.loads"

COMPACT: dict[str, Any] = {"ensure_ascii": False, "separators": (",", ":")}
IJSON_VALUES = ("string", "number", "boolean", "null")


class Side(NamedTuple):
    """`load` raises `ImportError` for a library that is not installed."""

    name: str
    distributions: tuple[str, ...]
    load: Callable[[], Offers]


def reparse_bytes(parse: Callable[[bytes], object]) -> Reparse:
    def start(before: str) -> Feed:
        buffer = before.encode()

        def feed(chunk: str) -> object:
            nonlocal buffer
            buffer += chunk.encode()
            return parse(buffer)

        return feed

    return Reparse(start)


def reparse_text(parse: Callable[[str], object]) -> Reparse:
    def start(before: str) -> Feed:
        buffer = before

        def feed(chunk: str) -> object:
            nonlocal buffer
            buffer += chunk
            return parse(buffer)

        return feed

    return Reparse(start)


def parse_joined(parse: Callable[[str], object]) -> Offers:
    return {"final": Whole(lambda chunks: parse("".join(chunks)))}


def from_json(module: str, **partial_mode: str) -> Offers:
    """jiter, and pydantic_core, which has it inside."""
    parse = import_module(module).from_json
    again = reparse_bytes(partial(parse, **partial_mode))
    return {"dropped": again, "final": Whole(lambda chunks: parse("".join(chunks).encode()))}


def partial_json_parser() -> Offers:
    module = import_module("partial_json_parser")
    allowed = module.STR | module.ARR | module.OBJ
    return {"dropped": reparse_text(lambda text: module.loads(text, allowed))}


def langchain_core() -> Offers:
    return {"dropped": reparse_text(import_module("langchain_core.utils.json").parse_partial_json)}


def json_repair() -> Offers:
    repair = partial(import_module("json_repair").repair_json, return_objects=True, stream_stable=True)
    return {"dropped": reparse_text(repair)}


def streaming_native() -> Offers:
    import_module("streaming_json_parser_native")
    return streaming(import_module("streaming_json_parser"))


def streaming_pure() -> Offers:
    """The library decides for its native part when it is imported: a copy that cannot import it is the pure build."""
    with without("streaming_json_parser", "streaming_json_parser_native"):
        # `None` in the table of modules makes `import` of that name fail.
        modules: dict[str, Any] = sys.modules
        modules["streaming_json_parser_native"] = None
        return streaming(import_module("streaming_json_parser"))


def streaming(module: ModuleType) -> Offers:
    def read() -> Feed:
        take = module.StreamingJsonParser().feed

        def feed(chunk: str) -> object:
            return take(chunk).value

        return feed

    def parse(chunks: Sequence[str]) -> object:
        parser = module.StreamingJsonParser()
        for chunk in chunks:
            parser.consume(chunk)
        return parser.finish().value

    return {
        "dropped": Stream(read),
        "unread": Stream(lambda: module.StreamingJsonParser().consume),
        "final": Whole(parse),
    }


def ijson(backend_name: str) -> Offers:
    """By its coroutines, which are sent a chunk as bytes and send on the triples (prefix, event, value) of it.

    Numbers are floats, as with all other sides; `Decimal` is ijson's default and takes longer.
    """
    backend = import_module(f"ijson.backends.{backend_name}")
    sendable_list = import_module("ijson").sendable_list

    def start(*, look: bool) -> Callable[[str], Sequence[Any]]:
        found: list[Any] = sendable_list()
        send = backend.parse_coro(found, use_float=True).send

        def feed(chunk: str) -> Sequence[Any]:
            found.clear()
            send(chunk.encode())
            return found

        def feed_and_look(chunk: str) -> Sequence[Any]:
            found.clear()
            send(chunk.encode())
            for _prefix, _event, _value in found:
                pass
            return found

        return feed_and_look if look else feed

    def classify(triple: tuple[str, str, object]) -> Event:
        prefix, event, value = triple
        return Event("value" if event in IJSON_VALUES else "other", prefix, value)

    return {
        "events": Events(partial(start, look=True), classify),
        "unread_events": Events(partial(start, look=False), classify),
    }


def ijson_c() -> Offers:
    """It shows no values before they are finished, so that it takes part in final values, and in events."""
    backend = import_module("ijson.backends.yajl2_c")
    sendable_list = import_module("ijson").sendable_list

    def parse(chunks: Sequence[str]) -> object:
        found = sendable_list()
        target = backend.items_coro(found, "", use_float=True)
        for chunk in chunks:
            target.send(chunk.encode())
        target.close()
        return found[0]

    return {**ijson("yajl2_c"), "final": Whole(parse)}


def pydantic(*, optional: bool) -> Offers:
    adapter = import_module("pydantic").TypeAdapter(records_model(optional=optional))
    return {"schema": reparse_text(partial(adapter.validate_json, experimental_allow_partial="trailing-strings"))}


def instructor() -> Offers:
    """The loop of the library itself, one chunk at a time."""
    import_module("instructor")
    model = import_module("instructor.dsl.partial").Partial[records_model(optional=False)]

    def start(before: str) -> Feed:
        waiting: list[str] = []

        def source() -> Iterator[str]:
            while waiting:
                yield waiting.pop()

        values = model.model_from_chunks(source())

        def feed(chunk: str) -> object:
            waiting.append(chunk)
            return next(values)

        if before:
            feed(before)
        return feed

    return {"schema": Reparse(start)}


PEERS = (
    Side(JITER, ("jiter",), lambda: from_json("jiter", partial_mode="trailing-strings")),
    Side("pydantic_core", ("pydantic_core",), lambda: from_json("pydantic_core", allow_partial="trailing-strings")),
    Side(STREAMING_NATIVE, ("streaming-json-parser", "streaming-json-parser-native"), streaming_native),
    Side(STREAMING_PURE, ("streaming-json-parser",), streaming_pure),
    Side(
        "jsonriver",
        ("jsonriver",),
        lambda: {"dropped": Stream(partial(start_jsonriver, import_module("jsonriver").parse))},
    ),
    Side("partial-json-parser", ("partial-json-parser",), partial_json_parser),
    Side("json-repair", ("json-repair",), json_repair),
    Side("langchain-core parse_partial_json", ("langchain-core",), langchain_core),
    Side("openai accumulator", ("openai", "jiter"), lambda: {"dropped": openai_accumulator()}),
    Side("anthropic accumulator", ("anthropic", "jiter"), lambda: {"dropped": anthropic_accumulator()}),
    Side(IJSON_C, ("ijson",), ijson_c),
    Side(IJSON_PYTHON, ("ijson",), lambda: ijson("python")),
    Side(PARTIAL_VALIDATION, ("pydantic",), lambda: pydantic(optional=False)),
    Side(VALIDATION_AGAIN, ("pydantic",), lambda: pydantic(optional=True)),
    Side(INSTRUCTOR, ("instructor",), instructor),
    Side(LOADS, (), lambda: parse_joined(json.loads)),
    Side("orjson", ("orjson",), lambda: parse_joined(import_module("orjson").loads)),
    Side("msgspec", ("msgspec",), lambda: parse_joined(import_module("msgspec").json.decode)),
    Side(
        "orjson.dumps, common prefix", ("orjson",), lambda: {"snapshots": by_prefix(import_module("orjson").dumps, b"")}
    ),
    Side("json.dumps, common prefix", (), lambda: {"snapshots": by_prefix(partial(json.dumps, **COMPACT), "")}),
    Side("jsonpatch.make_patch", ("jsonpatch",), lambda: {"snapshots": by_patch(import_module("jsonpatch"))}),
)
