"""What else turns snapshots into something that can be sent, each behind the same small interface.

In: a snapshot. Out: what is to be sent after it.
Rule: each is written as well as it can be without ceasing to be what it is.

By prefix: the snapshot is written whole, and what it has in common with the text of the one before is sent, as far as
it is not sent yet.
What follows may be closing brackets that the next snapshot moves, so that it is always one snapshot behind.
By patch: the difference to the snapshot before, after RFC 6902.
"""

import json
from collections.abc import Callable
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import AnyStr, Generic

from benchmarks.sinks import PatchSink, TextSink
from benchmarks.works import Chunker, Chunking

compact = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))


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


class ByPrefix(Generic[AnyStr]):
    def __init__(self, dumps: Callable[[object], AnyStr], empty: AnyStr) -> None:
        self.dumps: Callable[[object], AnyStr] = dumps
        self.empty: AnyStr = empty
        self.text: AnyStr = empty
        self.sent = 0

    def take(self, snapshot: object) -> AnyStr:
        text = self.dumps(snapshot)
        # Of a snapshot that is repeated nothing is known to be complete, although all of it is common.
        if text == self.text:
            return self.empty
        same = common_prefix(self.text, text)
        if same < self.sent:
            raise ValueError("what was sent is not the beginning any more")
        chunk = text[self.sent : same]
        self.text, self.sent = text, same
        return chunk

    def finish(self) -> AnyStr:
        return self.text[self.sent :]


def by_prefix(dumps: Callable[[object], AnyStr], empty: AnyStr) -> Chunking:
    def start(_: str) -> Chunker:
        one = ByPrefix(dumps, empty)
        return Chunker(one.take, one.finish)

    return Chunking(start=start, sink=TextSink)


def by_patch(module: ModuleType) -> Chunking:
    def start(_: str) -> Chunker:
        before: object = None
        make_patch = module.make_patch

        def take(snapshot: object) -> object:
            nonlocal before
            patch = make_patch(before, snapshot)
            before = snapshot
            return patch

        return Chunker(take, lambda: module.JsonPatch([]))

    return Chunking(start=start, sink=PatchSink)


def orjson_prefix() -> Chunking:
    return by_prefix(import_module("orjson").dumps, b"")


def json_prefix() -> Chunking:
    return by_prefix(compact, "")


def jsonpatch() -> Chunking:
    return by_patch(import_module("jsonpatch"))
