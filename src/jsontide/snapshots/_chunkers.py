"""Whole snapshots in, text chunks out: `(state, snapshot) -> (state, chunk)`, and objects that hold a state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from jsontide._check import check_state, check_type
from jsontide._mypyc import mypyc_attr
from jsontide._values import MISSING, JsonValue, compact
from jsontide.snapshots._conflicts import find_difference
from jsontide.snapshots._options import ChunkChoices, start_snapshots
from jsontide.snapshots._reader import read_whole, snapshot_text
from jsontide.snapshots._state import SnapshotState
from jsontide.snapshots._types import SnapshotConflict
from jsontide.snapshots._writer import SnapshotWriter, certain_length


def feed_snapshots(state: SnapshotState, snapshot: str | bytes | bytearray | memoryview) -> tuple[SnapshotState, str]:
    """Return the state after one more snapshot, and the chunk that it adds; the given state does not change.

    >>> from jsontide.snapshots import start_snapshots
    >>> state, chunk = feed_snapshots(start_snapshots(), '{"name": "Mat"}')
    >>> print(chunk)
    {"name":"Mat
    >>> print(feed_snapshots(state, '{"age": 32, "name": "Matthew"}')[1])
    thew","age":32
    """
    check_state(state, SnapshotState)
    value, parsed_text = state._parsed_text.read(snapshot_text(snapshot))
    writer = _start_writer(state, value, True)
    if parsed_text.switched_reader:
        writer.adopt()
    writer.write_news()
    after = state._after(writer)
    after._parsed_text = parsed_text
    return after, "".join(writer.out)


def feed_snapshot_values(
    state: SnapshotState, snapshot: JsonValue | Mapping[str, object] | Sequence[object]
) -> tuple[SnapshotState, str]:
    """Return the same as `feed_snapshots`, for a snapshot that is a Python value.

    >>> from jsontide.snapshots import start_snapshots
    >>> state, chunk = feed_snapshot_values(start_snapshots(), ["a", "b"])
    >>> print(chunk)
    ["a","b
    """
    check_state(state, SnapshotState)
    writer = _start_writer(state, snapshot, False)
    writer.write_news()
    return state._after(writer), "".join(writer.out)


def finish_snapshots(state: SnapshotState) -> tuple[SnapshotState, str]:
    """Return the state after the last snapshot, and the chunk that closes everything that is open.

    >>> from jsontide.snapshots import start_snapshots
    >>> state, chunk = feed_snapshots(start_snapshots(), '{"name": "Mat"}')
    >>> print(finish_snapshots(state)[1])
    "}
    """
    check_state(state, SnapshotState)
    last = state._last_snapshot()
    if last is MISSING or state.is_complete:
        return state, ""
    writer = _start_writer(state, last, True)
    writer.finish()
    after = state._after(writer)
    if not state._is_all_text:
        _read_back(after.text, last)
    return after, "".join(writer.out)


def _start_writer(state: SnapshotState, snapshot: Any, is_text: bool) -> SnapshotWriter:
    """Return a writer for a snapshot without conflicts, after repairs if the options ask for them."""
    writer = SnapshotWriter(state, snapshot, is_text)
    is_exact = state._is_all_text and is_text
    conflict = writer.find_conflict(is_exact)
    while conflict is not None:
        if state._options.on_conflict != "repair" or not writer.repair(conflict):
            raise conflict.to_exception(writer.frames, state.text + "".join(writer.out))
        conflict = writer.find_conflict(is_exact)
    return writer


def _read_back(text: str, last: Any) -> None:
    """Compare the whole text with the last snapshot: its owner may have changed closed values in place."""
    found = find_difference(read_whole(text), last)
    if found is not None:
        raise SnapshotConflict(found.path(), compact(found.before), compact(found.now))


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class JsonStreamChunker:
    """Turns snapshots of one growing value into text chunks that join to JSON.

    Each snapshot is the whole value, as far as it has come; the order of its keys means nothing.
    After each call, the chunks joined are the beginning of a JSON text that shows only what the snapshot holds; after
    `flush` they are the last snapshot.
    A snapshot that contradicts the written text raises `SnapshotConflict` and changes nothing.

    >>> chunker = JsonStreamChunker()
    >>> chunker.process('{"name": "Mat"}')
    '{"name":"Mat'
    >>> chunker.process('{"age": 32, "name": "Matthew"}')
    'thew","age":32'
    >>> chunker.flush()
    '}'
    """

    def __init__(self, **options: Unpack[ChunkChoices]) -> None:
        """Choose how snapshots are read.

        - `on_conflict="raise"`: with `"repair"`, a member that contradicts the written text is written again in the
          innermost object that is still open, because parsers take the last of two equal keys; where no open object
          can hold it, the conflict is raised.
        - `key_order="any"`: `"kept"` for sources whose keys come in the order of writing, as those of any partial
          parser do: the last value is the one that grows, and nothing ever waits.
        - `numbers="whole"`: `"grow"` for sources whose numbers arrive digit by digit: a number is written when
          something later appears, or its container closes.
        - `empty="early"`: `"late"` for sources that send whole skeletons and fill them in later: nothing empty is
          written before it fills, or its container closes.
        - `nulls="early"`: `"late"` for sources that send null for what has not come yet, as `model_dump()` does with
          optional fields: null is not written before its container closes, unless something takes its place.
        - `max_wait=None`: after how many more snapshots values that wait count as complete, which is a guess; by
          default they wait until it is clear which one grows.
        - `ensure_ascii=False`: `True` escapes all characters that are not ASCII.
        """
        self._first: SnapshotState = start_snapshots(**options)
        self._state: SnapshotState = self._first

    @property
    def state(self) -> SnapshotState:
        """The current state, for the functions of `jsontide.snapshots`."""
        return self._state

    @property
    def text(self) -> str:
        """All chunks so far, joined."""
        return self._state.text

    def process(self, snapshot: str | bytes | bytearray | memoryview) -> str:
        """Take the next snapshot as JSON text and return the chunk that it adds, which may be empty.

        Raises `SnapshotConflict` if it contradicts the written text, `JsonStreamError` if it is not JSON.
        """
        self._state, chunk = feed_snapshots(self._state, snapshot)
        return chunk

    def process_value(self, snapshot: JsonValue | Mapping[str, object] | Sequence[object]) -> str:
        """Take the next snapshot as a Python value and return the chunk that it adds, which may be empty.

        The value is not modified; you may change it afterwards, as partial parsers do that return one object.

        >>> chunker = JsonStreamChunker(key_order="kept")
        >>> value = {"title": "Kyo"}
        >>> chunker.process_value(value)
        '{"title":"Kyo'
        >>> value["title"] = "Kyoto"
        >>> chunker.process_value(value)
        'to'
        """
        self._state, chunk = feed_snapshot_values(self._state, snapshot)
        return chunk

    def flush(self) -> str:
        """End the stream and return the chunk that closes everything that is open."""
        self._state, chunk = finish_snapshots(self._state)
        return chunk

    def reset(self) -> None:
        """Discard all snapshots; keep the options."""
        self._state = self._first


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class TextStreamChunker:
    """Turns plain texts that each continue the one before into the pieces that are new.

    >>> chunker = TextStreamChunker()
    >>> chunker.process("Hello"), chunker.process("Hello, world"), chunker.flush()
    ('Hello', ', world', '')
    """

    def __init__(self) -> None:
        self._text: str = ""
        self._held: str = ""  # the first half of a surrogate pair, whose second half may come

    @property
    def text(self) -> str:
        """All pieces so far, joined."""
        return self._text

    def process(self, text: str) -> str:
        """Take the whole text so far and return the part that is new.

        Raises `SnapshotConflict` if it does not continue the text before; then nothing changes.
        """
        check_type("a text", text, str)
        before = self._text
        if not text.startswith(before):
            raise SnapshotConflict((), before, text)
        length = max(certain_length(text), len(before))
        self._text = text[:length]
        self._held = text[length:]
        return self._text[len(before) :]

    def flush(self) -> str:
        """End the text and return the part that was held back."""
        held = self._held
        self._text += held
        self._held = ""
        return held

    def reset(self) -> None:
        """Discard all text."""
        self._text = self._held = ""
