"""ijson by its coroutines, which take a chunk and send on what it brings.

In: chunks, which it takes as bytes. Out: the triples (prefix, event, value) of each chunk, or the whole value.
Rule: numbers are floats, as with all other sides; `Decimal` is ijson's default and takes longer.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from types import ModuleType

from benchmarks.works import Sort, Telling, Told

Triple = tuple[str, str, object]

VALUES = ("string", "number", "boolean", "null")


def triples(backend: ModuleType) -> Telling[Triple]:
    sendable_list = import_module("ijson").sendable_list

    def stream() -> tuple[list[Triple], Callable[[bytes], object]]:
        found: list[Triple] = sendable_list()
        return found, backend.parse_coro(found, use_float=True).send

    def start() -> Callable[[str], Sequence[Triple]]:
        found, send = stream()

        def feed(chunk: str) -> Sequence[Triple]:
            found.clear()
            send(chunk.encode())
            return found

        return feed

    def start_looking() -> Callable[[str], Sequence[Triple]]:
        found, send = stream()

        def feed(chunk: str) -> Sequence[Triple]:
            found.clear()
            send(chunk.encode())
            for _prefix, _event, _value in found:
                pass
            return found

        return feed

    return Telling(start=start, start_looking=start_looking, told=told)


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
