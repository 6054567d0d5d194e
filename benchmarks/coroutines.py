"""ijson by its coroutines, which take a chunk and send on what it brings.

In: chunks, as bytes. Out: the triples (prefix, event, value) of each chunk, or the whole value.
Rule: numbers are floats, as with all other sides; `Decimal` is ijson's default and takes longer.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from types import ModuleType

from benchmarks.works import Sort, Telling, Told

Triple = tuple[str, str, object]

VALUES = ("string", "number", "boolean", "null")


def triples(backend: ModuleType) -> Telling[bytes, Triple]:
    sendable_list = import_module("ijson").sendable_list

    def start() -> Callable[[bytes], Sequence[Triple]]:
        found: list[Triple] = sendable_list()
        send = backend.parse_coro(found, use_float=True).send

        def feed(chunk: bytes) -> Sequence[Triple]:
            found.clear()
            send(chunk)
            for _prefix, _event, _value in found:
                pass
            return found

        return feed

    return Telling(start=start, prepared=encoded, told=told)


def encoded(chunks: Sequence[str]) -> list[bytes]:
    return [chunk.encode() for chunk in chunks]


def told(triple: Triple) -> Told:
    prefix, event, value = triple
    return Told(Sort.VALUE if event in VALUES else Sort.OTHER, prefix, value)


def only_item(backend: ModuleType, chunks: Sequence[str]) -> object:
    found = import_module("ijson").sendable_list()
    target = backend.items_coro(found, "", use_float=True)
    for chunk in chunks:
        target.send(chunk.encode())
    target.close()
    return found[0]
