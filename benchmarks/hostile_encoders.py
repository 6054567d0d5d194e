"""Hostile streams of any size for deltas, encoders, and the checkers of what they write."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import jsontide as js
from benchmarks.hostile import NO_LIMITS, Call, adrain, case, cut, drain
from benchmarks.hostile_messages import ANSWER, CASES, chat_answer, chat_tool
from jsontide import frontends, streams, testing

__all__ = ["CASES"]

STEPS = "JSON Patch sends a string again, as a whole, each time it grows; in steps it does so rarely."
TEXTS: dict[str, Callable[[int], str]] = {
    "a long string": lambda n: json.dumps({"a": "x" * n * 4}),
    "n members": lambda n: json.dumps({f"k{i}": i for i in range(n)}),
    "n records": lambda n: json.dumps([{"id": i, "name": "word"} for i in range(n // 4)]),
}
ENCODERS: dict[str, Callable[[], Any]] = {
    "CompactEncoder CompactState": frontends.CompactEncoder,
    "VercelEncoder VercelState": frontends.VercelEncoder,
    "AgUiEncoder AgUiState": lambda: frontends.AgUiEncoder(thread_id="t", run_id="r"),
    "AssistantTransportEncoder AssistantState": lambda: frontends.AssistantTransportEncoder(message_id="m"),
    "ObjectStreamEncoder ObjectStreamState": frontends.ObjectStreamEncoder,
}
CHECKERS: dict[str, tuple[Callable[[bytes], object], Callable[[], Any]]] = {
    "check_vercel": (testing.check_vercel, ENCODERS["VercelEncoder VercelState"]),
    "check_ag_ui": (testing.check_ag_ui, ENCODERS["AgUiEncoder AgUiState"]),
    "check_assistant_transport": (
        testing.check_assistant_transport,
        ENCODERS["AssistantTransportEncoder AssistantState"],
    ),
    "check_object_stream": (testing.check_object_stream, ENCODERS["ObjectStreamEncoder ObjectStreamState"]),
}


def states_of(text: str) -> list[Any]:
    state, found = js.create_parser_state(limits=NO_LIMITS), []
    for chunk in cut(text):
        state = js.parse_chunk(state, chunk)
        found.append(state)
    return found


def follow(states: list[Any]) -> None:
    writer, patches, shown, before = frontends.CompactWriter(), frontends.PatchWriter(in_steps=True), None, None
    for state in states:
        writer, events = writer.write(frontends.read_changes(before, state))
        for event in events:
            shown = (shown or frontends.CompactValue()).read(json.loads(frontends.write_json(event)))
        patches, _ = patches.write(state)
        frontends.open_path(state)
        before = state
    patches.finish(before)


def add_text(given: str, make: Callable[[int], str]) -> None:
    why = "Each state's value that is read back is a list or dict of its own." if given != "a long string" else STEPS

    @case("read_changes CompactWriter CompactValue PatchWriter write_json write_pointer open_path", given, why=why)
    def _(n: int) -> Call:
        states = states_of(make(n))
        return lambda: follow(states)

    @case("states astates", given)
    def _(n: int) -> Call:
        chunks = cut(make(n))
        return lambda: (drain(streams.states(chunks)), adrain(streams.astates, chunks))


for _given, _make in TEXTS.items():
    add_text(_given, _make)


@case("compare_values", "n states of a schema")
def schema_values(n: int) -> Call:
    found = chat_answer(n)
    return lambda: encode(frontends.CompactEncoder(), js.stream_message(found, response_schema=ANSWER))


def encode(encoder: Any, messages: Iterable[Any]) -> bytes:  # noqa: ANN401 - any encoder
    state, sent = encoder.begin()
    parts = [sent]
    for message in messages:
        state, new = encoder.encode(state, message)
        parts.append(new)
    return b"".join(parts)


def add_encoder(entries: str, make: Callable[[], Any]) -> None:
    @case(f"{entries} message_changes", "arguments in n pieces")
    def _(n: int) -> Call:
        found = chat_tool(n)
        return lambda: encode(make(), js.stream_message(found))


for _entries, _encoder in ENCODERS.items():
    add_encoder(_entries, _encoder)


def add_checker(name: str, check: Callable[[bytes], object], make: Callable[[], Any]) -> None:
    why = "Each operation copies the containers around it, as the client does." if "object" in name else ""

    @case(name, "arguments in n pieces", why=why)
    def _(n: int) -> Call:
        sent = encode(make(), js.stream_message(chat_tool(n)))
        return lambda: check(sent)


for _name, (_check, _maker) in CHECKERS.items():
    add_checker(_name, _check, _maker)
