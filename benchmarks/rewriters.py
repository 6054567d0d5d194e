"""What else turns snapshots into something that can be sent.

In: a snapshot. Out: what is to be sent after it.
Rule: each is written as well as it can be without ceasing to be what it is.

By prefix: the snapshot is written whole, and what it has in common with the text of the one before is sent, as far as
it is not sent yet.
What follows may be closing brackets that the next snapshot moves, so that it is always one snapshot behind.
By patch: the difference to the snapshot before, after RFC 6902.
"""

from collections.abc import Callable
from types import ModuleType
from typing import AnyStr

from benchmarks.kinds import Snapshots, Writer
from benchmarks.readers import PatchReader, TextReader


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


def by_prefix(dumps: Callable[[object], AnyStr], empty: AnyStr) -> Snapshots:
    def start(_: str) -> Writer:
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

        return Writer(write, lambda: before[sent:])

    return Snapshots(start, TextReader)


def by_patch(module: ModuleType) -> Snapshots:
    def start(_: str) -> Writer:
        before: object = None

        def write(snapshot: object) -> object:
            nonlocal before
            patch = module.make_patch(before, snapshot)
            before = snapshot
            return patch

        return Writer(write, lambda: module.JsonPatch([]))

    return Snapshots(start, PatchReader)
