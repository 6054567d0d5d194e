"""States or changes in, the operations of a JSON Patch (RFC 6902) out.

RFC 6902 cannot append to a string: it is replaced, as a whole, each time it grows.
In steps, a string is sent again only when it has grown by half, and when it is finished: so all its copies together
are shorter than three times the string. A patch then waits for 32 more characters, so that its frame is worth it.

Rule: `add` sends a new value with its content so far; `replace` only changes a value that is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from jsontide._path import Path
from jsontide._textbuffer import GrowingText
from jsontide._values import JsonValue, find_value
from jsontide.frontends.changes import AppendText, Change, SetValue, read_changes
from jsontide.tree import ParserState

_GROWTH: Final = 1.5
LEAST_GROWTH: Final = 32
"""How many more characters a patch waits for, in steps."""
_OPERATIONS: Final = {True: "add", False: "replace"}


class _OpenText:
    """A string that grows: how it is now, and how much of it was sent."""

    __slots__ = ("sent", "text")

    def __init__(self, text: GrowingText, sent: int) -> None:
        self.text: Final = text
        self.sent: Final = sent

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _OpenText, (self.text, self.sent)


class PatchWriter:
    """How much of a stream was sent; a value, each method returns the next one.

    >>> from jsontide import create_parser_state, parse_chunk
    >>> state = parse_chunk(create_parser_state(), '{"city": "Kyo')
    >>> writer, patch = PatchWriter().write(state)
    >>> patch
    [{'op': 'add', 'path': '', 'value': {'city': 'Kyo'}}]
    >>> writer.write(parse_chunk(state, "to"))[1]
    [{'op': 'replace', 'path': '/city', 'value': 'Kyoto'}]
    """

    __slots__ = ("_before", "_texts", "in_steps")

    def __init__(
        self,
        in_steps: bool = False,
        before: ParserState | None = None,
        texts: dict[Path, _OpenText] | None = None,
    ) -> None:
        self.in_steps: Final = in_steps
        """Whether strings grow in steps, and small changes wait for more."""
        self._before: Final = before  # the last state that was sent
        self._texts: Final = {} if texts is None else texts

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return PatchWriter, (self.in_steps, self._before, self._texts)

    def write(self, state: ParserState) -> tuple[PatchWriter, list[dict[str, JsonValue]]]:
        """Return the writer after a state of a parser, and the operations that lead there from the last one sent."""
        before = self._before
        if self.in_steps and before is not None and state.index - before.index < LEAST_GROWTH and not state.is_complete:
            return self, []
        return self._write(read_changes(before, state), state)

    def write_changes(self, changes: Sequence[Change]) -> tuple[PatchWriter, list[dict[str, JsonValue]]]:
        """Return the writer after these changes, and the operations that make them."""
        return self._write(changes, self._before)

    def finish(self, state: ParserState | None = None) -> tuple[PatchWriter, list[dict[str, JsonValue]]]:
        """Return the writer at the end of the stream, and the operations not sent yet; `state` is the last state."""
        changes = () if state is None else read_changes(self._before, state)
        writer, patch = self._write(changes, state)
        texts = writer._texts.copy()
        for path in list(texts):
            writer._send(texts, path, 0, patch)
        return PatchWriter(self.in_steps, state, texts), patch

    def _write(
        self, changes: Sequence[Change], state: ParserState | None
    ) -> tuple[PatchWriter, list[dict[str, JsonValue]]]:
        texts = self._texts.copy()
        patch: list[dict[str, JsonValue]] = []
        for change in changes:
            path = change.path
            if isinstance(change, SetValue):
                patch.append({"op": _OPERATIONS[change.is_new], "path": write_pointer(path), "value": change.value})
                _begin(texts, change)
            elif isinstance(change, AppendText):
                old = texts[path]
                texts[path] = _OpenText(old.text.append(change.text), old.sent)
            else:
                self._send(texts, path, 0, patch)
                texts.pop(path, None)
        for path in list(texts):
            self._send(texts, path, _GROWTH if self.in_steps else 0, patch)
        return PatchWriter(self.in_steps, state, texts), patch

    def _send(self, texts: dict[Path, _OpenText], path: Path, growth: float, patch: list[dict[str, JsonValue]]) -> None:
        """Replace a string, if it has grown enough since it was sent."""
        found = texts.get(path)
        if found is None or found.text.length == found.sent or found.text.length < found.sent * growth:
            return
        patch.append({"op": "replace", "path": write_pointer(path), "value": found.text.read()})
        texts[path] = _OpenText(found.text, found.text.length)


def _begin(texts: dict[Path, _OpenText], change: SetValue) -> None:
    """Remember the growing string of a new value, if it has one; forget the strings of the value that it replaces."""
    depth = len(change.path)
    for path in [path for path in texts if path[:depth] == change.path]:
        del texts[path]
    if change.open is None:
        return
    value = find_value(change.value, change.open)
    if isinstance(value, str):
        texts[(*change.path, *change.open)] = _OpenText(GrowingText(value), len(value))


def write_pointer(path: Path) -> str:
    """Return a path as a JSON Pointer (RFC 6901).

    >>> write_pointer(("a/b", 0, "~"))
    '/a~1b/0/~0'
    """
    return "".join(["/" + str(segment).replace("~", "~0").replace("/", "~1") for segment in path])
