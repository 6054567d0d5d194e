"""What else turns snapshots into something that can be sent, and readers of all that is sent, for the audit.

In: a snapshot. Out: what is to be sent after it; and the value that this shows.
Rule: each writer is as good as it can be without ceasing to be what it is. Texts are read by the model of the tests
and by `json.loads`; patches are received as the text they are sent as.

By prefix: the snapshot is written whole, and what it has in common with the text of the one before is sent, as far as
it is not sent yet.
What follows may be closing brackets that the next snapshot moves, so that it is always one snapshot behind.
By patch: the difference to the snapshot before, after RFC 6902.
"""

import codecs
import json
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any, AnyStr

from benchmarks.kinds import Snapshots, Writer
from tests.oracles import shown, visible


class TextReader:
    def __init__(self) -> None:
        self.text = ""
        self.decode = codecs.getincrementaldecoder("utf-8")().decode

    @property
    def length(self) -> int:
        return len(self.text)

    def receive(self, sent: str | bytes) -> object:
        self.text += sent if isinstance(sent, str) else self.decode(sent)
        # A number at the end is written whole; for the model it could continue.
        return visible(self.text if shown(self.text).open_string else f"{self.text} ")

    def finish(self) -> object:
        return json.loads(self.text)


class PatchReader:
    def __init__(self) -> None:
        self.value: object = None
        self.length = 0
        self.from_string = import_module("jsonpatch").JsonPatch.from_string

    def receive(self, sent: Any) -> object:  # noqa: ANN401 - a class of a library without types
        text = sent.to_string()
        self.length += len(text)
        self.value = self.from_string(text).apply(self.value, in_place=True)
        return self.value

    def finish(self) -> object:
        return self.value


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
