"""jsontide as a side: the same loop for both builds."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType

from benchmarks import builds
from benchmarks.schemas import resolved
from benchmarks.sinks import TextSink
from benchmarks.works import Chunker, Chunking, Feed, Side, Sort, Telling, Told, Works
from jsontide import JsonFragmentUpdate

COMPILED = "jsontide, compiled"
PURE = "jsontide, pure Python"
SORTS = {
    "PartialString": Sort.PIECE,
    "CompleteString": Sort.VALUE,
    "CompleteNumber": Sort.VALUE,
    "CompleteBoolean": Sort.VALUE,
    "CompleteNull": Sort.VALUE,
    "JsonComplete": Sort.END,
}


def sides(directory: Path | None) -> tuple[Side, Side]:
    """Both builds; the compiled one from a directory, or built from the sources."""
    return (
        Side(COMPILED, (), lambda: works(builds.compiled(directory))),
        Side(PURE, (), lambda: works(builds.pure())),
    )


def works(module: ModuleType) -> Works:
    return Works(
        read=partial(read, module),
        keeps_values=True,
        unread=partial(unread, module),
        events=Telling(start=partial(updates, module), start_looking=partial(updates_looked_at, module), told=told),
        typed=partial(resolved, module),
        whole=partial(whole, module),
        chunking=Chunking(start=partial(chunker, module), sink=TextSink, sees_sharing=True),
        module=module,
    )


def read(module: ModuleType) -> Feed:
    state, parse_chunk = module.create_parser_state(), module.parse_chunk

    def feed(chunk: str) -> object:
        nonlocal state
        state = parse_chunk(state, chunk)
        return state.value

    return feed


def unread(module: ModuleType) -> Feed:
    state, parse_chunk = module.create_parser_state(), module.parse_chunk

    def feed(chunk: str) -> None:
        nonlocal state
        state = parse_chunk(state, chunk)

    return feed


def updates(module: ModuleType) -> Callable[[str], Sequence[JsonFragmentUpdate]]:
    add_fragment = module.JsonFragmentAccumulator(values=False).add_fragment

    def feed(chunk: str) -> Sequence[JsonFragmentUpdate]:
        found: Sequence[JsonFragmentUpdate] = add_fragment(chunk)
        return found

    return feed


def updates_looked_at(module: ModuleType) -> Callable[[str], Sequence[JsonFragmentUpdate]]:
    add_fragment = module.JsonFragmentAccumulator(values=False).add_fragment

    def feed(chunk: str) -> Sequence[JsonFragmentUpdate]:
        found: Sequence[JsonFragmentUpdate] = add_fragment(chunk)
        for update in found:
            # The path is written when it is asked for; ijson's prefix is there with every event.
            _kind, _path, _value = update.kind, update.path, update.value
        return found

    return feed


def told(update: JsonFragmentUpdate) -> Told:
    sort = SORTS.get(update.kind, Sort.OTHER)
    return Told(sort, update.path, update.text if sort is Sort.PIECE else update.value)


def whole(module: ModuleType, chunks: Sequence[str]) -> object:
    state, parse_chunk = module.create_parser_state(), module.parse_chunk
    for chunk in chunks:
        state = parse_chunk(state, chunk)
    return module.finalize(state).value


def chunker(module: ModuleType, key_order: str) -> Chunker:
    one = module.JsonStreamChunker(key_order=key_order)
    return Chunker(one.process_value, one.flush)
