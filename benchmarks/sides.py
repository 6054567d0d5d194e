"""The sides of the benchmarks of chunks: jsontide in both builds, and other libraries behind the same small interface.

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
from typing import Any, AnyStr, NamedTuple

from benchmarks.builds import without
from benchmarks.documents import records_model
from benchmarks.kinds import Offers, Reparse, Stream, Whole
from benchmarks.timing import Feed


def jsontide_offers(module: ModuleType) -> Offers:
    read = Stream(partial(start_values, module))
    mended = {"mend": module.mend.MODELS}
    return {
        "dropped": read,
        "held": read,
        "unread": Stream(partial(start_unread, module)),
        "events": Stream(partial(start_events, module, look=True)),
        "unread_events": Stream(partial(start_events, module, look=False)),
        "schema": Stream(partial(start_schema, module)),
        "final": Whole(partial(parse_all, module)),
        "snapshots": Stream(lambda: module.JsonStreamChunker(key_order="kept").process_value),
        "anew": Stream(lambda: module.JsonStreamChunker(key_order="kept").process_value),
        "texts": Stream(lambda: module.JsonStreamChunker(key_order="kept").process),
        "mended": Whole(partial(loop_values, module, mended)),
        "strict": Whole(partial(loop_values, module, {})),
    }


def start_values(module: ModuleType) -> Feed:
    state, parse_chunk = module.create_parser_state(), module.parse_chunk

    def feed(chunk: str) -> object:
        nonlocal state
        state = parse_chunk(state, chunk)
        return state.value

    return feed


def start_unread(module: ModuleType) -> Feed:
    state, parse_chunk = module.create_parser_state(), module.parse_chunk

    def feed(chunk: str) -> None:
        nonlocal state
        state = parse_chunk(state, chunk)

    return feed


def start_events(module: ModuleType, *, look: bool) -> Feed:
    add_fragment: Callable[[str], Sequence[Any]] = module.JsonFragmentAccumulator(values=False).add_fragment

    def feed_and_look(chunk: str) -> Sequence[Any]:
        updates = add_fragment(chunk)
        for update in updates:
            # The path is written when it is asked for; ijson's prefix is there with every event.
            _kind, _path, _value = update.kind, update.path, update.value
        return updates

    return feed_and_look if look else add_fragment


def start_schema(module: ModuleType) -> Feed:
    schema = records_model(optional=False)
    parse_chunk, from_json_ast = module.parse_chunk, module.schema.from_json_ast
    state = module.create_parser_state()
    resolution = from_json_ast(schema, state)

    def feed(chunk: str) -> object:
        nonlocal state, resolution
        state = parse_chunk(state, chunk)
        resolution = from_json_ast(schema, state, resolution)
        return resolution.value

    return feed


def parse_all(module: ModuleType, chunks: Sequence[str]) -> object:
    state, parse_chunk = module.create_parser_state(), module.parse_chunk
    for chunk in chunks:
        state = parse_chunk(state, chunk)
    return module.finalize(state).value


def loop_values(module: ModuleType, options: dict[str, object], chunks: Sequence[str]) -> object:
    """The loop that users write, with the end of the text."""
    value: object = None
    for value in module.values(chunks, **options):  # noqa: B007 - the last one is returned
        pass
    return value


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


JITER = "jiter"
JSONMEND = "jsonmend"
STREAMING_NATIVE = "streaming-json-parser, native"
STREAMING_PURE = "streaming-json-parser, pure Python"
IJSON_C = "ijson, yajl2_c"
IJSON_PYTHON = "ijson, Python"
PARTIAL_VALIDATION = "pydantic, partial validation"
VALIDATION_AGAIN = "pydantic, optional fields, validated again"
INSTRUCTOR = "instructor Partial"
LOADS = "json.loads"

COMPACT: dict[str, Any] = {"ensure_ascii": False, "separators": (",", ":")}


class Side(NamedTuple):
    """`load` raises `ImportError` for a library that is not installed."""

    name: str
    distributions: tuple[str, ...]
    load: Callable[[], Offers]


def reparse(parse: Callable[[Any], object], convert: Callable[[str], Any] = str) -> Reparse:
    def start(before: str) -> Feed:
        buffer = convert(before)

        def feed(chunk: str) -> object:
            nonlocal buffer
            buffer += convert(chunk)
            return parse(buffer)

        return feed

    return Reparse(start)


def parse_joined(parse: Callable[[str], object]) -> Offers:
    return {"final": Whole(lambda chunks: parse("".join(chunks)))}


def from_json(module: str, **partial_mode: str) -> Offers:
    """jiter, and pydantic_core, which has it inside."""
    parse = import_module(module).from_json
    again = reparse(partial(parse, **partial_mode), str.encode)
    return {"dropped": again, "final": Whole(lambda chunks: parse("".join(chunks).encode()))}


def jsonmend() -> Offers:
    """It shows one value, which grows in place."""
    stream = Stream(lambda: import_module("jsonmend").Mender().feed)
    return {"dropped": stream, "mended": stream}


def jsoncurrent() -> Offers:
    """Its patches; and the value that its other half makes of them."""
    module = import_module("jsoncurrent")

    def start_patches() -> Feed:
        found: list[Any] = []
        emitter = module.Emitter(completions=False)
        emitter.on("patch", found.append)

        def feed(chunk: str) -> object:
            found.clear()
            emitter.write(chunk)
            for patch in found:
                _operation, _path, _value = patch.op, patch.path, patch.value
            return found

        return feed

    def start_value() -> Feed:
        emitter, collector = module.Emitter(completions=False), module.Collector()
        emitter.on("patch", collector.consume)

        def feed(chunk: str) -> object:
            emitter.write(chunk)
            return collector.value

        return feed

    return {"dropped": Stream(start_value), "events": Stream(start_patches)}


def partial_json_parser() -> Offers:
    module = import_module("partial_json_parser")
    allowed = module.STR | module.ARR | module.OBJ
    return {"dropped": reparse(lambda text: module.loads(text, allowed))}


def langchain_core() -> Offers:
    return {"dropped": reparse(import_module("langchain_core.utils.json").parse_partial_json)}


def json_repair() -> Offers:
    repair = partial(import_module("json_repair").repair_json, return_objects=True, stream_stable=True)
    again = reparse(repair)
    return {"dropped": again, "mended": again}


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
    It shows no values before they are finished, so that it takes part in final values, and in events.
    """
    backend = import_module(f"ijson.backends.{backend_name}")
    sendable_list = import_module("ijson").sendable_list

    def start(*, look: bool) -> Feed:
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

    def parse(chunks: Sequence[str]) -> object:
        found = sendable_list()
        target = backend.items_coro(found, "", use_float=True)
        for chunk in chunks:
            target.send(chunk.encode())
        target.close()
        return found[0]

    return {
        "events": Stream(partial(start, look=True)),
        "unread_events": Stream(partial(start, look=False)),
        **({"final": Whole(parse)} if backend_name == "yajl2_c" else {}),
    }


def pydantic(*, optional: bool) -> Offers:
    adapter = import_module("pydantic").TypeAdapter(records_model(optional=optional))
    return {"schema": reparse(partial(adapter.validate_json, experimental_allow_partial="trailing-strings"))}


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


def common_prefix(one: AnyStr, other: AnyStr) -> int:
    """How many characters two texts have in common, by bisection: Python compares slices as fast as memory can."""
    same, most = 0, min(len(one), len(other))
    while same < most:
        middle = (same + most + 1) // 2
        if one[same:middle] == other[same:middle]:
            same = middle
        else:
            most = middle - 1
    return same


def by_prefix(dumps: Callable[[object], AnyStr], empty: AnyStr) -> Offers:
    """The snapshot is written whole, and what it has in common with the text before is sent, as far as it is new.

    What follows may be closing brackets that the next snapshot moves, so that it is always one snapshot behind.
    """

    def start() -> Feed:
        before, sent = empty, 0

        def write(snapshot: object) -> AnyStr:
            nonlocal before, sent
            text = dumps(snapshot)
            # Of a snapshot that is repeated nothing is known to be complete, although all of it is common.
            if text == before:
                return empty
            same = common_prefix(before, text)
            if same < sent:
                raise ValueError("what was sent is not the beginning any more")
            chunk = text[sent:same]
            before, sent = text, same
            return chunk

        return write

    return {"snapshots": Stream(start)}


def by_patch() -> Offers:
    """The difference to the snapshot before, after RFC 6902."""
    make_patch = import_module("jsonpatch").make_patch

    def start() -> Feed:
        before: object = None

        def write(snapshot: object) -> object:
            nonlocal before
            patch = make_patch(before, snapshot)
            before = snapshot
            return patch

        return write

    return {"snapshots": Stream(start)}


def start_loads() -> Feed:
    """Parse whole texts, and hold the last value too: its memory is not free for the next one."""
    value: object = None

    def feed(text: str) -> None:
        nonlocal value
        value = json.loads(text)

    return feed


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
    Side(JSONMEND, ("jsonmend",), jsonmend),
    Side("jsoncurrent", ("jsoncurrent",), jsoncurrent),
    Side("json-repair", ("json-repair",), json_repair),
    Side("langchain-core parse_partial_json", ("langchain-core",), langchain_core),
    Side(IJSON_C, ("ijson",), lambda: ijson("yajl2_c")),
    Side(IJSON_PYTHON, ("ijson",), lambda: ijson("python")),
    Side(PARTIAL_VALIDATION, ("pydantic",), lambda: pydantic(optional=False)),
    Side(VALIDATION_AGAIN, ("pydantic",), lambda: pydantic(optional=True)),
    Side(INSTRUCTOR, ("instructor",), instructor),
    Side(LOADS, (), lambda: {**parse_joined(json.loads), "texts": Stream(start_loads)}),
    Side("orjson", ("orjson",), lambda: parse_joined(import_module("orjson").loads)),
    Side("msgspec", ("msgspec",), lambda: parse_joined(import_module("msgspec").json.decode)),
    Side("orjson.dumps, common prefix", ("orjson",), lambda: by_prefix(import_module("orjson").dumps, b"")),
    Side("json.dumps, common prefix", (), lambda: by_prefix(partial(json.dumps, **COMPACT), "")),
    Side("jsonpatch.make_patch", ("jsonpatch",), by_patch),
)
