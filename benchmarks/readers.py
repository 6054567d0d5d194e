"""Readers of what was made of snapshots, for the audit.

In: pieces of text, as `str` or as bytes, or patches. Out: the value that they show so far, and the one they end with.
Rule: texts are read by the model of the tests and by `json.loads`; patches are received as the text they are sent as.
"""

import codecs
import json
from importlib import import_module
from typing import Any

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
