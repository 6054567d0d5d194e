"""The other libraries, each behind the same small interface.

In: a chunk. Out: what the library shows of all the text so far.
Rule: each is used as its documentation says, in the mode that shows most, with what it costs to hand it the text and
nothing else.
Modules are imported by name when a side is loaded, so that a missing one is reported and not fatal.
"""

import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

from benchmarks import rewriters
from benchmarks.builds import without
from benchmarks.coroutines import only_item, triples
from benchmarks.river import river_feed
from benchmarks.schemas import AGAIN, INSTRUCTOR, PARTIAL_VALIDATION, instructor_works, pydantic_works
from benchmarks.sdks import anthropic_feed, openai_feed
from benchmarks.works import Feed, Side, Works

JITER = "jiter"
STREAMING_NATIVE = "streaming-json-parser, native"
STREAMING_PURE = "streaming-json-parser, pure Python"
IJSON_C = "ijson, yajl2_c"
IJSON_PYTHON = "ijson, Python"
LOADS = "json.loads"


def bytes_again(parse: Callable[[bytes], object], before: str) -> Feed:
    buffer = before.encode()

    def feed(chunk: str) -> object:
        nonlocal buffer
        buffer += chunk.encode()
        return parse(buffer)

    return feed


def text_again(parse: Callable[[str], object], before: str) -> Feed:
    buffer = before

    def feed(chunk: str) -> object:
        nonlocal buffer
        buffer += chunk
        return parse(buffer)

    return feed


def joined(parse: Callable[[str], object], chunks: Sequence[str]) -> object:
    return parse("".join(chunks))


def joined_bytes(parse: Callable[[bytes], object], chunks: Sequence[str]) -> object:
    return parse("".join(chunks).encode())


def loads() -> Works:
    return Works(whole=partial(joined, json.loads))


def orjson() -> Works:
    return Works(whole=partial(joined, import_module("orjson").loads))


def msgspec() -> Works:
    return Works(whole=partial(joined, import_module("msgspec").json.decode))


def jiter() -> Works:
    from_json = import_module("jiter").from_json
    again = partial(from_json, partial_mode="trailing-strings")
    return Works(reparse=partial(bytes_again, again), whole=partial(joined_bytes, from_json))


def pydantic_core() -> Works:
    from_json = import_module("pydantic_core").from_json
    again = partial(from_json, allow_partial="trailing-strings")
    return Works(reparse=partial(bytes_again, again), whole=partial(joined_bytes, from_json))


def partial_json_parser() -> Works:
    module = import_module("partial_json_parser")
    kinds = module.STR | module.ARR | module.OBJ
    return Works(reparse=partial(text_again, lambda text: module.loads(text, kinds)))


def json_repair() -> Works:
    repair = partial(import_module("json_repair").repair_json, return_objects=True, stream_stable=True)
    return Works(reparse=partial(text_again, repair))


def langchain_core() -> Works:
    return Works(reparse=partial(text_again, import_module("langchain_core.utils.json").parse_partial_json))


def streaming_native() -> Works:
    import_module("streaming_json_parser_native")
    return streaming(import_module("streaming_json_parser"))


def streaming_pure() -> Works:
    """The library decides for its native part when it is imported: a copy that cannot import it is the pure build."""
    with without("streaming_json_parser", "streaming_json_parser_native"):
        # `None` in the table of modules makes `import` of that name fail.
        modules: dict[str, Any] = sys.modules
        modules["streaming_json_parser_native"] = None
        return streaming(import_module("streaming_json_parser"))


def streaming(module: ModuleType) -> Works:
    def read() -> Feed:
        take = module.StreamingJsonParser().feed

        def feed(chunk: str) -> object:
            return take(chunk).value

        return feed

    def unread() -> Feed:
        consume: Feed = module.StreamingJsonParser().consume
        return consume

    def whole(chunks: Sequence[str]) -> object:
        parser = module.StreamingJsonParser()
        for chunk in chunks:
            parser.consume(chunk)
        return parser.finish().value

    return Works(read=read, unread=unread, whole=whole)


def jsonriver() -> Works:
    return Works(read=partial(river_feed, import_module("jsonriver").parse))


def ijson_c() -> Works:
    """It shows finished items only, so that it takes part in whole values, and in events."""
    backend = import_module("ijson.backends.yajl2_c")
    return Works(events=triples(backend), whole=partial(only_item, backend))


def ijson_python() -> Works:
    return Works(events=triples(import_module("ijson.backends.python")))


def openai() -> Works:
    return Works(reparse=openai_feed())


def anthropic() -> Works:
    return Works(reparse=anthropic_feed())


def orjson_prefix() -> Works:
    return Works(chunking=rewriters.orjson_prefix())


def json_prefix() -> Works:
    return Works(chunking=rewriters.json_prefix())


def jsonpatch() -> Works:
    return Works(chunking=rewriters.jsonpatch())


PEERS = (
    Side(JITER, ("jiter",), jiter),
    Side("pydantic_core", ("pydantic_core",), pydantic_core),
    Side(STREAMING_NATIVE, ("streaming-json-parser", "streaming-json-parser-native"), streaming_native),
    Side(STREAMING_PURE, ("streaming-json-parser",), streaming_pure),
    Side("jsonriver", ("jsonriver",), jsonriver),
    Side("partial-json-parser", ("partial-json-parser",), partial_json_parser),
    Side("json-repair", ("json-repair",), json_repair),
    Side("langchain-core parse_partial_json", ("langchain-core",), langchain_core),
    Side("openai accumulator", ("openai", "jiter"), openai),
    Side("anthropic accumulator", ("anthropic", "jiter"), anthropic),
    Side(IJSON_C, ("ijson",), ijson_c),
    Side(IJSON_PYTHON, ("ijson",), ijson_python),
    Side(PARTIAL_VALIDATION, ("pydantic",), partial(pydantic_works, optional=False)),
    Side(AGAIN, ("pydantic",), partial(pydantic_works, optional=True)),
    Side(INSTRUCTOR, ("instructor",), instructor_works),
    Side(LOADS, (), loads),
    Side("orjson", ("orjson",), orjson),
    Side("msgspec", ("msgspec",), msgspec),
    Side("orjson.dumps, common prefix", ("orjson",), orjson_prefix),
    Side("json.dumps, common prefix", (), json_prefix),
    Side("jsonpatch.make_patch", ("jsonpatch",), jsonpatch),
)
