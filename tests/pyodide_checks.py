"""`python -m tests.pyodide_checks`: laws, held values and recordings, with nothing but the standard library.

`tests/node/pyodide.mjs` runs it in Pyodide, where Hypothesis and pytest are not at hand; any other Python runs it too.
Out: a line for each check, with what it counted and its seconds. The first thing that is wrong raises, with its seed.
Rule: every document, cut and accident hangs on a seed; what is right comes from the oracles of the other tests.
"""

import json
import pickle
import platform
import runpy
import sys
import time
from collections.abc import Callable, Iterator
from functools import reduce
from itertools import accumulate, pairwise
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from jsontide import (
    COMPILED,
    MISSING,
    JsonStreamChunker,
    SnapshotConflict,
    create_parser_state,
    finalize,
    parse_chunk,
    stream_message,
    values,
)
from jsontide.messages import Message, Outcome, feed_message, finish_message, start_message, stop_message
from jsontide.providers import feed_stream, finish_stream, start_stream
from tests.cuts import Chunks, cut_randomly, fed, prefixes, states_along, whole
from tests.events.collect import collect, join_strings
from tests.messages.telling import delta, end, entry, finished
from tests.oracles import folded, loads, outcome, visible
from tests.relations import flat, grows, has_error, hold, portrait, same, strays
from tests.seeded import Tree, chunk, interleaved_calls, mishap
from tests.snapshots.accidents import unlawful
from tests.snapshots.forms import as_text, either
from tests.snapshots.histories import any_tree, lawful
from tests.snapshots.laws import check, check_law, compact, feed

EXAMPLES = Path(__file__).parents[1] / "examples"
SEEDS = 300
HELD = 40_000


def any_text(random: Random) -> str:
    written = as_text(any_tree(random, exact=False), random).item
    return written.decode() if isinstance(written, bytes) else str(written)


def any_cut(text: str, random: Random) -> Chunks:
    """Chunks of a text, as `str`, or as its UTF-8 if it has one and no byte order mark, which is no part of it."""
    has_utf8 = not any("\ud800" <= char <= "\udfff" for char in text) and not text.startswith("\ufeff")
    return chunk(text.encode(), random) if has_utf8 and random.random() < 0.5 else chunk(text, random)


# The laws: each takes one document, cut in one way, and returns how many things it compared.


def law_1(random: Random) -> int:
    text = any_text(random)
    state = finalize(fed(any_cut(text, random)))
    assert state.is_complete
    assert same(state.value, loads(text))
    bad = mishap(text, random)
    ended = finalize(fed(any_cut(bad, random)))
    assert portrait(ended) == portrait(finalize(fed(whole(bad))))
    assert has_error(ended, outcome(bad, ended=True)[1], bad)
    return 2


def law_2(random: Random) -> int:
    chunks = any_cut(any_text(random), random)
    old: Any = MISSING
    for state, prefix in zip(states_along(chunks), prefixes(chunks), strict=True):
        assert same(state.value, visible(prefix))
        assert grows(old, state.value)
        old = state.value
    return len(chunks)


def law_3(random: Random) -> int:
    states = states_along(any_cut(any_text(random), random))
    for old, new in pairwise(states):
        assert not strays(old.value, new.value)
        assert old.value is new.value or not same(old.value, new.value)
    return len(states) - 1


def law_4(random: Random) -> int:
    text = any_text(random)
    chunks = any_cut(random.choice((text, mishap(text, random))), random)
    states = states_along(chunks)
    said = [portrait(state) for state in states]
    end_said = portrait(finalize(states[-1]))
    for at in random.sample(range(len(states)), k=min(3, len(states))):
        for state in (states[at], pickle.loads(pickle.dumps(states[at]))):  # noqa: S301 - our own pickle
            assert portrait(finalize(fed(chunks[at:], state))) == end_said
    assert [portrait(state) for state in states] == said
    return len(states)


def law_5(random: Random) -> int:
    text = any_text(random)
    updates = collect(any_cut(text, random))
    (value,) = folded(join_strings(updates))
    assert same(value, loads(text))
    return len(updates)


def law_6(random: Random) -> int:
    final = any_tree(random)
    history = [either(tree, random) for tree in lawful(final, random)]
    check_law(JsonStreamChunker(), history)
    chunker = JsonStreamChunker()
    wrong = [either(tree, random) for tree in unlawful(final, random)]
    for snapshot in wrong:
        before = chunker.text
        try:
            written = feed(chunker, snapshot)
        except SnapshotConflict:
            assert chunker.text == before
            continue
        assert chunker.text == before + written
        check(chunker.text, snapshot.tree, has_shrunk=True)
    return len(history) + len(wrong)


def law_9(random: Random) -> int:
    wanted = [json.loads(compact(any_tree(random))) for _ in range(random.randint(1, 4))]
    chunks = [delta(tool_calls=(entry(**said),)) for said in interleaved_calls(wanted, random)]
    calls = finished([*chunks, end()]).message.tool_calls
    assert all(same(call.arguments_value, value) for call, value in zip(calls, wanted, strict=True))  # type: ignore[union-attr]
    state = reduce(feed_message, chunks[: random.randint(0, len(chunks))], start_message())
    for ended in (finish_message(state), stop_message(state)):
        assert not any(hasattr(call, "arguments_value") for call in ended.message.tool_calls)
    return len(chunks)


# Held values: whatever is held of a state that is gone, in whatever way, stays as it was.


def held_from_branches(random: Random) -> int:
    text = any_text(random)
    tree = Tree([text, *(mishap(text, random) for _ in range(3))], random)
    held = []
    for _ in range(60):
        tree.branch()
        if random.random() < 0.8:
            held.append(hold(tree.states[-1].value, random))
        while len(tree.states) > random.choice((1, 2, 5)):
            tree.forget()
    assert all(flat(look()) == saved for look, saved in held)
    return len(held)


def held_from_a_loop(random: Random) -> int:
    """All the values, some of them, or only the one before."""
    chunks = any_cut(any_text(random), random)
    share = random.choice((0, 0.2, 1))
    held = []
    before, saved = None, flat(None)
    for value in values(chunks):
        assert flat(before) == saved
        before, saved = value, flat(value)
        if random.random() < share:
            held.append(hold(value, random))
    assert all(flat(look()) == saved for look, saved in held)
    return len(held) + len(chunks)


def held_while_nothing_else_is(random: Random) -> int:
    """The state before is let go at once, so that the parser is alone with what is held here."""
    state = create_parser_state()
    held: list[tuple[Callable[[], Any], Any]] = []
    chunks: Any = any_cut(any_text(random), random)
    for piece in chunks:
        state = parse_chunk(state, piece)
        held.append(hold(state.value, random))
        if random.random() < 0.2:
            assert all(flat(look()) == saved for look, saved in held)
            held.clear()
    assert all(flat(look()) == saved for look, saved in held)
    return len(chunks)


# Recordings: what is bundled, with what it must say. Generated streams of providers belong here too.


class Recorded(NamedTuple):
    """The events of a turn, and what a person reads off them."""

    name: str
    events: list[Any]
    text: str
    calls: list[tuple[str, Any]]


def recordings() -> Iterator[Recorded]:
    yield chat_recording()
    server = runpy.run_path(str(EXAMPLES / "fake_server.py"))
    arguments = json.loads("".join(server["ARGUMENTS"]))
    for script in (*server["SCRIPTS"].values(), server["gemini"], server["bedrock"]):
        answer = list(script(server["ANSWER"]))
        yield Recorded(f"{script.__name__}, text", answer, "".join(server["ANSWER"]), [])
        yield Recorded(f"{script.__name__}, call", list(script([])), "", [("get_weather", arguments)])


def chat_recording() -> Recorded:
    """Anthropic's blocks, each read by its index."""
    lines = (EXAMPLES / "chat" / "recording.ndjson").read_text("utf-8").splitlines()
    events = [line["event"] for line in map(json.loads, lines) if "event" in line]
    blocks: dict[int, list[str]] = {}
    names: dict[int, str] = {}
    for event in events:
        if event["type"] == "content_block_start":
            blocks[event["index"]] = []
            names[event["index"]] = event["content_block"].get("name") or event["content_block"]["type"]
        if event["type"] == "content_block_delta":
            piece = event["delta"].get("text") or event["delta"].get("partial_json") or ""
            blocks[event["index"]].append(piece)
    joined = {index: "".join(pieces) for index, pieces in blocks.items()}
    calls = [(name, json.loads(joined[at])) for at, name in names.items() if name not in {"text", "thinking"}]
    return Recorded("chat", events, "".join(joined[at] for at, name in names.items() if name == "text"), calls)


def check_message(message: Message[Any], recorded: Recorded) -> None:
    assert message.outcome is Outcome.COMPLETE
    assert message.content == recorded.text
    assert [(call.name, getattr(call, "arguments_value", MISSING)) for call in message.tool_calls] == recorded.calls


def read_recording(recorded: Recorded) -> int:
    """After each event, from every kind of cut, from pickles, broken off anywhere; all that is shown stays as it is."""
    random = Random(recorded.name)
    states = list(accumulate(recorded.events, feed_stream, initial=start_stream()))
    check_message(finish_stream(states[-1]).message, recorded)
    shown = [state.message.to_json() for state in states]
    partials = []  # all that is held of messages that are gone
    for message in stream_message(recorded.events):
        partials += [hold(call.partial, random) for call in message.tool_calls]
    for form in ("data: {}\n\n", "{}\n"):
        data = "".join(form.replace("{}", json.dumps(event)) for event in recorded.events).encode()
        for pieces in (whole(data), cut_randomly(data, random), cut_randomly(data, random, most=200)):
            check_message(stream_message(pieces).final(), recorded)
    for at in range(0, len(states), 7):
        restored = pickle.loads(pickle.dumps(states[at]))  # noqa: S301 - our own pickle
        check_message(stream_message(recorded.events[at:], state=restored).final(), recorded)
    for state in states[:-3]:  # the last events say how the message ended
        broken_off = finish_stream(state).message
        assert broken_off.outcome is not Outcome.COMPLETE
        assert not any(hasattr(call, "arguments_value") for call in broken_off.tool_calls)
    assert [state.message.to_json() for state in states] == shown
    assert all(flat(look()) == saved for look, saved in partials)
    return len(states) + len(partials)


# Running them.

LAWS = (law_1, law_2, law_3, law_4, law_5, law_6, law_9)
HOLDING = (held_from_branches, held_from_a_loop, held_while_nothing_else_is)


def seeded(run: Callable[[Random], int], seed: int) -> int:
    try:
        return run(Random(f"{run.__name__} {seed}"))
    except Exception as error:
        error.add_note(f"in {run.__name__} with seed {seed}")
        raise


def report(name: str, counted: str, started: float) -> None:
    print(f"  {name:<12}{counted:<44}{time.monotonic() - started:6.1f} s", flush=True)  # noqa: T201 - its output


def main() -> None:
    build = "compiled" if COMPILED else "pure"
    print(f"{build} build, Python {platform.python_version()} on {sys.platform}")  # noqa: T201 - its output
    for law in LAWS:
        started = time.monotonic()
        compared = sum(seeded(law, seed) for seed in range(SEEDS))
        report(law.__name__, f"{SEEDS} documents, {compared:,} comparisons", started)
    started, held, seed = time.monotonic(), 0, 0
    while held < HELD:
        held += sum(seeded(way, seed) for way in HOLDING)
        seed += 1
    report("held", f"{held:,} values held, none changed", started)
    started = time.monotonic()
    read = {recorded.name: read_recording(recorded) for recorded in recordings()}
    report("recordings", f"{len(read)} turns, {sum(read.values()):,} states and values", started)


if __name__ == "__main__":
    main()
