"""`python -m benchmarks.bridges`: bytes on the wire and the cost of a delta, and docs/measured/bridges-cost.md.

In: documents in chunks of 1 to 8 characters, and recordings of providers where there are any.
Out: what a browser is sent in each form, one server-sent event for each change; and processor time per delta, beside
what people use to send growing values.
Rule: every form leads to the same last value, which is checked; all sides take turns in one run.
"""

import asyncio
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

from benchmarks.documents import SIZE_NAMES, document
from benchmarks.pages import PURE, Command, load, ratio_cell, table, times
from benchmarks.timing import Case, Run, plan_whole

DOCUMENTS = {
    "records, 2 KB": ("records", 2_000),
    "records, 10 KB": ("records", 10_000),
    "one string, 4 KB": ("string", 4_000),
}
SIZES = (1_000, 10_000)
DISTRIBUTIONS = ("assistant-stream", "jsonpatch", "pydantic-ai-slim")
HEAD = """# Bytes and cost of deltas

What it takes to show a growing value somewhere else: bytes on the wire, one server-sent event for each change, and
processor time for each delta.
This page is written by `python -m benchmarks.bridges`; all its figures are from one run.
"""
NOTE = (
    "Chunks have 1 to 8 characters. `make_patch` compares the value before and after; a whole value is sent at each "
    "change."
)
Forms = Mapping[str, int]


def frame(event: object, write: Callable[[object], str]) -> int:
    return len(f"data: {write(event)}\n\n".encode())


class Sent:
    """How many bytes each form has taken so far."""

    def __init__(self, module: ModuleType) -> None:
        self.bytes: dict[str, int] = dict.fromkeys(
            ("raw text", "compact", "JSON Patch", "JSON Patch in steps", "make_patch", "whole values"), 0
        )
        self.deltas = module.frontends

    def add(self, form: str, events: Iterable[object]) -> None:
        self.bytes[form] += sum(frame(event, self.deltas.write_json) for event in events)


def compare(sent: Sent, before: object, after: object) -> None:
    """Add what those send who have nothing but two values."""
    if before == after:
        return
    make_patch = import_module("jsonpatch").make_patch
    sent.add("make_patch", [make_patch({"root": before}, {"root": after}).patch])
    sent.add("whole values", [after])


def bytes_of_document(module: ModuleType, shape: str, size: int) -> tuple[int, Forms]:
    """Return the length of a text, and what it takes to send its value in each form."""
    text = document(shape, size, "tokens")
    deltas, sent = module.frontends, Sent(module)
    compact, patch, steps = deltas.CompactWriter(), deltas.PatchWriter(), deltas.PatchWriter(in_steps=True)
    shown, before, value = deltas.CompactValue(), None, None
    state = module.create_parser_state()
    for chunk in text.chunks:
        state = module.parse_chunk(state, chunk)
        sent.add("raw text", [chunk])
        compact, events = compact.write(deltas.read_changes(before, state))
        sent.add("compact", events)
        for event in events:
            shown = shown.read(event)
        patch, operations = patch.write(state)
        sent.add("JSON Patch", [operations] if operations else [])
        steps, operations = steps.write(state)
        sent.add("JSON Patch in steps", [operations] if operations else [])
        now = state.value if state.value is not module.MISSING else None
        compare(sent, value, now)
        before, value = state, now
    sent.add("JSON Patch in steps", [operations] if (operations := steps.finish(state)[1]) else [])
    assert shown.value == json.loads(text.text)  # noqa: S101 - a figure of something wrong is none
    return len(text.text.encode()), sent.bytes


def bytes_of_recordings(module: ModuleType) -> list[list[str]]:
    """Return a row for each provider of the recordings: what arrived, and what it takes to send the messages."""
    recordings = import_module("tests.recorded_streams")
    rows: dict[str, list[int]] = {}
    for name in recordings.NAMES:
        events = recordings.events(name)
        found = bytes_of_messages(module, events)
        row = rows.setdefault(name.partition("/")[0], [0] * (len(found) + 1))
        rows[name.partition("/")[0]] = [old + new for old, new in zip(row, [1, *found], strict=True)]
    return [[name, *(f"{each:,}" for each in row)] for name, row in sorted(rows.items())]


def bytes_of_messages(module: ModuleType, events: list[Any]) -> list[int]:
    encoders = module.frontends
    received = sum(frame(event, json.dumps) for event in events)
    found = [received]
    encoder = encoders.CompactEncoder()
    values, whole, value = module.frontends.CompactValue(), 0, None
    state, sent = encoder.begin()
    for message in module.streams.stream_message(events):
        state, new = encoder.encode(state, message)
        sent += new
        for line in new.decode().split("\n"):
            if line.startswith("data: "):
                values = values.read(json.loads(line[6:]))
        if values.value != value:
            value = values.value
            whole += frame(value, json.dumps)
    return [*found, len(sent), whole]


def run_compact(module: ModuleType, chunks: Sequence[str]) -> None:
    """Parse, find what changed, and write it as JSON."""
    deltas, parse = module.frontends, module.parse_chunk
    writer, before, state = deltas.CompactWriter(), None, module.create_parser_state()
    for chunk in chunks:
        state = parse(state, chunk)
        writer, events = writer.write(deltas.read_changes(before, state))
        for event in events:
            deltas.write_json(event)
        before = state


def run_patches(module: ModuleType, chunks: Sequence[str]) -> None:
    writer, state = module.frontends.PatchWriter(in_steps=True), module.create_parser_state()
    for chunk in chunks:
        state = module.parse_chunk(state, chunk)
        writer, operations = writer.write(state)
        if operations:
            module.frontends.write_json(operations)


def make_patches() -> Callable[[Sequence[object]], None]:
    make_patch = import_module("jsonpatch").make_patch

    def run(values: Sequence[object]) -> None:
        before: object = None
        for value in values:
            json.dumps(make_patch({"root": before}, {"root": value}).patch)
            before = value

    return run


def state_proxy() -> Callable[[Sequence[object]], None]:
    """Assign each value to assistant-stream's state, as its users do; it compares texts to find what was appended."""
    manager = import_module("assistant_stream.state_manager").StateManager

    async def assign_all(values: Sequence[object]) -> None:
        held = manager(lambda chunk: json.dumps([str(each) for each in chunk.operations]), {"value": None})
        for value in values:
            assign(held.state, "value", value)
            held.flush()

    return lambda values: asyncio.run(assign_all(values))


def assign(state: Any, key: str, value: object) -> None:  # noqa: ANN401 - a proxy of another library
    """Assign what differs: containers member by member, so that texts are appended to."""
    now = state[key]
    if isinstance(value, dict) and now is not None and not isinstance(now, str | int | float | bool):
        for name, each in value.items():
            if name not in now:
                now[name] = each
            else:
                assign(now, name, each)
    elif now != value:
        state[key] = value


def run_encoder(module: ModuleType, name: str, events: Sequence[object]) -> None:
    """Read a provider's events as messages, and encode each of them."""
    encoder = getattr(module.frontends, name)(**({"thread_id": "t", "run_id": "r"} if name == "AgUiEncoder" else {}))
    state, _ = encoder.begin()
    for message in module.streams.stream_message(events):
        state, _ = encoder.encode(state, message)


def pydantic_ai(home: str, kind: str) -> Callable[[Sequence[str]], None]:
    """Encode the deltas of a text with pydantic-ai, from its own events."""
    stream, messages = getattr(import_module(home), kind), import_module("pydantic_ai.messages")

    async def events(pieces: Sequence[str]) -> Any:  # noqa: ANN401
        yield messages.PartStartEvent(index=0, part=messages.TextPart(""))
        for piece in pieces:
            yield messages.PartDeltaEvent(index=0, delta=messages.TextPartDelta(piece))

    async def encode(pieces: Sequence[str]) -> None:
        encoder = stream()
        async for _ in encoder.encode_stream(encoder.transform_stream(events(pieces))):
            pass

    return lambda pieces: asyncio.run(encode(pieces))


PEERS: dict[str, Callable[[], Callable[[Any], None]]] = {
    "jsonpatch.make_patch, of values": make_patches,
    "assistant-stream state, of values": state_proxy,
    "pydantic-ai Vercel stream, of its own events": partial(
        pydantic_ai, "pydantic_ai.ui.vercel_ai", "VercelAIEventStream"
    ),
    "pydantic-ai AG-UI stream, of its own events": partial(pydantic_ai, "pydantic_ai.ui.ag_ui", "AGUIEventStream"),
}
RECORDS, STRING, TEXT = "records in an object", "one string", "a text through encoders"
PEERS_OF = {RECORDS: [*PEERS][:1], STRING: [*PEERS][:2], TEXT: [*PEERS][2:]}
"""Who does the work of each table; assistant-stream has no arrays whose items grow."""
TITLES = {
    RECORDS: f"Cost of a delta: {RECORDS}",
    STRING: f"Cost of a delta: {STRING}",
    TEXT: f"Cost of an event: {TEXT}",
}
Works = dict[str, tuple[Callable[[Any], None], Sequence[object]]]


def works_of(title: str, modules: Mapping[str, ModuleType], peers: Mapping[str, Any], size: int) -> Works:
    """By side: what runs, and what it is given."""
    chunks = document("records" if title == RECORDS else "string", size, "tokens").chunks
    works: Works = {}
    given: Sequence[object] = chunks
    if title == TEXT:
        events = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in chunks]
        for name, module in modules.items():
            for encoder in ("CompactEncoder", "VercelEncoder", "AgUiEncoder"):
                works[f"{name}: events to messages, {encoder}"] = partial(run_encoder, module, encoder), events
    else:
        given = list(modules[PURE].values(chunks))
        for name, module in modules.items():
            works[f"{name}: parse, compact"] = partial(run_compact, module), chunks
            works[f"{name}: parse, JSON Patch in steps"] = partial(run_patches, module), chunks
    return works | {name: (peers[name], given) for name in PEERS_OF[title] if name in peers}


def bytes_tables(module: ModuleType) -> list[str]:
    rows = []
    for name, (shape, size) in DOCUMENTS.items():
        length, sent = bytes_of_document(module, shape, size)
        rows.append(
            [name, f"{length:,}", *(f"{count:,} ({times(count / sent['raw text'])})" for count in sent.values())]
        )
    forms = list(Sent(module).bytes)
    tables = [table("Bytes: documents (times raw text)", ["", "text", *forms], rows, [NOTE])]
    header = ["", "recordings", "received", "compact", "whole values"]
    notes = ["What a provider sent, and what a browser is sent for it: all parts, arguments as values, usage, outcome."]
    return [*tables, table("Bytes: recordings", header, bytes_of_recordings(module), notes)]


def cost_table(
    title: str, modules: Mapping[str, ModuleType], peers: Mapping[str, Any], rounds: int, sizes: Sequence[int]
) -> str:
    run, sides = Run(), list[str]()
    for size in sizes:
        works = works_of(title, modules, peers, size)
        sides = [*works]
        run.time(
            {Case(title, size, "", "", side): plan_whole(*work, len(work[1])) for side, work in works.items()}, rounds
        )
    base = [run.seconds(Case(title, size, "", "", sides[0])) for size in sizes]
    rows = [
        [side, *(ratio_cell(run, Case(title, size, "", "", side), 1e6, base[at]) for at, size in enumerate(sizes))]
        for side in sides
    ]
    return table(TITLES[title], ["µs (times the first)", *(SIZE_NAMES[size] for size in sizes)], rows)


def main(arguments: Sequence[str]) -> None:
    command = Command(
        "benchmarks.bridges", "bridges-cost.md", __doc__, "tables with this word in their title, or `Bytes`"
    )
    command.add_clock()
    options = command.parse(arguments)
    modules, missing = command.load_builds()
    peers, no_peers = load(PEERS)
    made_with = command.circumstances(modules[PURE].__version__, DISTRIBUTIONS, {**missing, **no_peers})
    sizes = SIZES[:1] if options.quick else SIZES
    chosen = [title for title, heading in TITLES.items() if command.has(heading)]
    tables = [
        *(bytes_tables(modules[PURE]) if command.has("Bytes") else ()),
        *(cost_table(title, modules, peers, options.rounds, sizes) for title in chosen),
    ]
    command.publish([*made_with, "", *tables], lambda: "\n".join([HEAD, *made_with, "", *tables]))


if __name__ == "__main__":
    main(sys.argv[1:])
