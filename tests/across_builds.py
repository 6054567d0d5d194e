"""One side of `test_pickle_across_builds`: a program that either build runs.

dump FILE  writes a `Record` for every cut of every document: the pickled state, the rest of the text, and the result
load FILE  reads them, continues from each state, and prints one line for each result that differs in this build
"""

import pickle
import sys
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

from jsontide import COMPILED, Limits, ParserState, create_parser_state, finalize, parse_chunk
from jsontide.events import EventState, feed_events, finish_events, start_events
from jsontide.messages import Message, MessageState, feed_message, finish_message, start_message
from jsontide.providers import StreamState, feed_stream, finish_stream, start_stream
from jsontide.snapshots import SnapshotState, feed_snapshot_values, feed_snapshots, finish_snapshots, start_snapshots
from tests.cuts import singles
from tests.messages.telling import call, end, text
from tests.relations import portrait
from tests.streams import client_scripts

PLAIN = (
    "",
    ' {"a": [1, -0, 2.50, 1e400, true, false, null], "b": {}, "c": []}\n',
    '{"text": "caf\u00e9 \\ud83d\\ude00 \U0001f600 \\n\\"\\\\ \\ud83d alone", "": ""}',
    '{"a": 1, "a": {"b": [2, {"a": 3, "a": 4}]}, "k": [[], {}], "a": "last"}',
    "[[[[[[[[[[0]]]]]]]]]]",
    '"a string alone"',
    "-12.5e-3 ",
    "[1,\n2,\n\n 3,]",
    '{"a" 1}',
    '["\x01"]',
    "[1] and prose",
    "[" + "9" * 700 + ", " + '"' + "long " * 50 + '"]',
)
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"duplicate_keys": "first", "trailing": "ignore"},
    {"duplicate_keys": "error", "floats": "decimal"},
    {"floats": "lexeme", "limits": Limits(max_depth=4, max_string=20, max_number=12)},
)

EVENT_OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"skip_errors": True, "floats": "decimal"},
    {"strings": "deltas", "values": False, "documents": 1},
)

SNAPSHOTS: tuple[Any, ...] = (
    '{"title": ""}',
    '{"title": "caf\u00e9 \\ud83d"}',
    '{"days": [{}], "title": "caf\u00e9 \\ud83d\\ude00", "n": 1.50}',
    {"title": "caf\u00e9 \U0001f600", "days": [{"a": "", "b": [True]}], "n": 1.5},
    '{"days": [{"a": "x", "b": [true]}], "title": "caf\u00e9 \U0001f600", "n": 1.50}',
    '{"days": [{"a": "x", "b": [true]}, 2], "title": "caf\u00e9 \U0001f600", "n": 1.50, "z": 12}',
)
SNAPSHOT_OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"key_order": "kept", "on_conflict": "repair"},
    {"numbers": "grow", "empty": "late", "max_wait": 1, "ensure_ascii": True},
)


ARGUMENTS = '{"text": "caf\u00e9 \\ud83d\\ude00", "list": [1, {"a": null}], "n": -1.50}'
CHUNKS = (
    text("By train"),
    *(call(piece, index=0, id="a", name="plan") for piece in singles(ARGUMENTS)),
    call('{"bad": ]', index=1, name="plan"),
    call('{"cut": "of', index=2, name="plan"),
    end(),
)


STREAMS: tuple[list[Any], ...] = (
    client_scripts.chat(client_scripts.CALL),
    client_scripts.responses(client_scripts.CALL),
    client_scripts.anthropic(client_scripts.CALL),
    client_scripts.gemini(client_scripts.CALL),
    [piece.encode() for piece in singles('data: {"message": {"content": "Zo\u00eb"}, "done": true}\r\n\r\n')],
)
"""What providers send: events, and bytes one by one."""


class Record(NamedTuple):
    dumped: bytes
    rest: Any
    seen: tuple[str, str, str]


def documents() -> Iterator[str | bytes]:
    for plain in PLAIN:
        yield plain
        yield plain.encode()
    yield b'["\xf0\x9f\x98\x80", "\xc3("]'


def chunked(state: SnapshotState, snapshot: Any) -> tuple[SnapshotState, str]:
    return feed_snapshots(state, snapshot) if isinstance(snapshot, str) else feed_snapshot_values(state, snapshot)


State = ParserState | EventState | SnapshotState | MessageState | StreamState


def seen(state: State, rest: Any) -> tuple[str, str, str]:
    """What a state says, then after the rest of the text, then at its end; as text, so that types count."""
    if isinstance(state, SnapshotState):
        chunking, chunks = state, []
        for snapshot in rest:
            chunking, chunk = chunked(chunking, snapshot)
            chunks.append(chunk)
        return state.text, repr(chunks), finish_snapshots(chunking)[1]
    if isinstance(state, EventState):
        later, updates = feed_events(state, rest)
        return repr(state), repr(updates), repr(finish_events(later)[1])
    if isinstance(state, MessageState):
        after = reduce(feed_message, rest, state)
        return shown(state), shown(after), shown(finish_message(after))
    if isinstance(state, StreamState):
        read = reduce(feed_stream, rest, state)
        return shown(state), shown(read), shown(finish_stream(read))
    fed = parse_chunk(state, rest)
    return repr(portrait(state)), repr(portrait(fed)), repr(portrait(finalize(fed)))


def records() -> Iterator[Record]:
    for document in documents():
        for options in OPTIONS:
            state = create_parser_state(**options)
            for place in range(len(document) + 1):
                rest = document[place:]
                yield Record(pickle.dumps(state), rest, seen(state, rest))
                # From the pickled place on, one character at a time: states in all modes.
                state = parse_chunk(state, document[place : place + 1])
        for options in EVENT_OPTIONS:
            telling = start_events(**options)
            for place in range(len(document) + 1):
                rest = document[place:]
                yield Record(pickle.dumps(telling), rest, seen(telling, rest))
                telling, _ = feed_events(telling, document[place : place + 1])
    for options in SNAPSHOT_OPTIONS:
        chunking = start_snapshots(**options)
        for place in range(len(SNAPSHOTS) + 1):
            later = SNAPSHOTS[place:]
            yield Record(pickle.dumps(chunking), later, seen(chunking, later))
            for snapshot in later[:1]:
                chunking, _ = chunked(chunking, snapshot)
    yield from messages()


def messages() -> Iterator[Record]:
    message = start_message()
    for place in range(len(CHUNKS) + 1):
        coming = CHUNKS[place:]
        yield Record(pickle.dumps(message), coming, seen(message, coming))
        for chunk in coming[:1]:
            message = feed_message(message, chunk)
    for told in STREAMS:
        stream = start_stream()
        for place in range(len(told) + 1):
            yield Record(pickle.dumps(stream), told[place:], seen(stream, told[place:]))
            for item in told[place : place + 1]:
                stream = feed_stream(stream, item)


def shown(state: MessageState | StreamState) -> str:
    """Return all that a message says, arguments to run included where there are any, and what is saved of it."""
    assert Message.from_json(state.message.to_json()) == state.message
    calls = [
        (call, call.arguments, call.partial, getattr(call, "arguments_value", None))
        for call in state.message.tool_calls
    ]
    return repr((state.message.to_json(), calls, [(error.kind, error.message) for error in state.errors]))


def dump(file: Path) -> None:
    file.write_bytes(pickle.dumps([tuple(record) for record in records()]))


def load(file: Path) -> None:
    todo = [Record(*fields) for fields in pickle.loads(file.read_bytes())]  # noqa: S301 - our own file
    for record in todo:
        found = seen(pickle.loads(record.dumped), record.rest)  # noqa: S301 - the same
        if found != record.seen:
            sys.stdout.write(f"{record.rest!r}: {found} and not {record.seen}\n")
    sys.stdout.write(f"{len(todo)} states, {'compiled' if COMPILED else 'pure'}\n")


if __name__ == "__main__":
    {"dump": dump, "load": load}[sys.argv[1]](Path(sys.argv[2]))
