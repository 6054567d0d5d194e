"""jsontide as a side: the same code for both builds."""

from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import Any

from benchmarks.documents import records_model
from benchmarks.kinds import Event, Events, Feed, Offers, Snapshots, Stream, Whole, Writer
from benchmarks.rewriters import TextReader

COMPILED = "jsontide, compiled"
PURE = "jsontide, pure Python"
VALUES = ("CompleteString", "CompleteNumber", "CompleteBoolean", "CompleteNull")


def jsontide_offers(module: ModuleType) -> Offers:
    read = Stream(partial(start_values, module))
    snapshots = Snapshots(partial(start_writer, module), TextReader)
    return {
        "dropped": read,
        "held": read,
        "unread": Stream(partial(start_unread, module)),
        "events": Events(partial(start_events, module, look=True), classify),
        "unread_events": Events(partial(start_events, module, look=False), classify),
        "schema": Stream(partial(start_schema, module)),
        "final": Whole(partial(parse_all, module)),
        "snapshots": snapshots,
        "anew": snapshots,
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


def start_events(module: ModuleType, *, look: bool) -> Callable[[str], Sequence[Any]]:
    add_fragment = module.JsonFragmentAccumulator(values=False).add_fragment

    def feed(chunk: str) -> Sequence[Any]:
        updates: Sequence[Any] = add_fragment(chunk)
        return updates

    def feed_and_look(chunk: str) -> Sequence[Any]:
        updates: Sequence[Any] = add_fragment(chunk)
        for update in updates:
            # The path is written when it is asked for; ijson's prefix is there with every event.
            _kind, _path, _value = update.kind, update.path, update.value
        return updates

    return feed_and_look if look else feed


def classify(update: Any) -> Event:  # noqa: ANN401 - of either build
    if update.kind == "PartialString":
        return Event("piece", update.path, update.text)
    sort = "value" if update.kind in VALUES else "end" if update.kind == "JsonComplete" else "other"
    return Event(sort, update.path, update.value)


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


def start_writer(module: ModuleType, key_order: str) -> Writer:
    chunker = module.JsonStreamChunker(key_order=key_order)
    return Writer(chunker.process_value, chunker.flush)
