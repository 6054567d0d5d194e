"""`python -m tests.encoders.every_cut`: every recording, cut after every event and ended in every way, in real clients.

The suite reads some of these cuts, for time; this reads all of them (minutes), and prints how many streams were read.
Rule: what a client has at the end is what the checker of its protocol says, nothing is logged, and the calls that it
runs are those that are complete.
"""

import sys
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

from jsontide.encoders import ObjectStreamEncoder
from jsontide.messages import CompleteCall, Message
from tests.encoders import test_ag_ui, test_assistant, test_vercel
from tests.encoders.endings import ENDS, ended, recorded
from tests.encoders.turns import encode
from tests.node_scripts import missing, run
from tests.provider_streams import NAMES

Turns = list[list[Message[Any]]]
BATCH = 100
"""Streams that one process of Node reads."""


def cut_turns(name: str) -> Turns:
    """What a reader sees that joins a recording after each of its events, and is there when it ends, in each way."""
    states = recorded(name)
    return [ended(states, at, way)[-2:] for at, way in product(range(len(states)), ENDS)]


def complete_count(turn: list[Message[Any]]) -> int:
    return sum(isinstance(part, CompleteCall) for part in turn[-1].parts)


def read_vercel(turns: Turns) -> int:
    given = [{"stream": test_vercel.sent(turn).decode()} for turn in turns]
    found = test_vercel.read_by_clients(given)
    for (version, client, one), turn in zip(found, turns * len(test_vercel.VERSIONS), strict=True):
        test_vercel.check_client(version, client, one["stream"])
        assert len(client["run"]) == complete_count(turn)
    return len(found)


def read_ag_ui(turns: Turns) -> int:
    streams = [encode(test_ag_ui.encoder(), turn) for turn in turns]
    results = run("ag_ui.mjs", [test_ag_ui.told_of(stream) for stream in streams])
    for stream, found, turn in zip(streams, results, turns, strict=True):
        test_ag_ui.agree(stream, found)
        assert len(found["ran"]) == complete_count(turn)
    return len(streams)


def read_assistant(turns: Turns) -> int:
    given = [test_assistant.in_parts(encode(test_assistant.transport(), turn)) for turn in turns]
    for found, turn in zip(test_assistant.agree_on_all(given), turns, strict=True):
        assert len(found["ran"]) == complete_count(turn)
    given = [test_assistant.as_object(encode(ObjectStreamEncoder(), turn)) for turn in turns]
    return len(turns) + len(test_assistant.agree_on_all(given))


CLIENTS: dict[str, Callable[[Turns], int]] = {
    "ai 5, 6 and 7": read_vercel,
    "@ag-ui/client": read_ag_ui,
    "assistant-stream": read_assistant,
}


def read_all(names: list[str]) -> Iterator[tuple[str, str, int]]:
    for name in names:
        turns = cut_turns(name)
        for start, (client, read) in product(range(0, len(turns), BATCH), CLIENTS.items()):
            yield name, client, read(turns[start : start + BATCH])


def main() -> None:
    if not NAMES or missing():
        sys.exit(missing() or "no recordings were found; set JSONTIDE_DATA")
    counts = dict.fromkeys(CLIENTS, 0)
    for name, client, count in read_all([name for name in NAMES if any(word in name for word in sys.argv[1:] or [""])]):
        counts[client] += count
        print(f"{name}: {client}: {count}", flush=True)  # noqa: T201 - its output is the result
    print(counts)  # noqa: T201


if __name__ == "__main__":
    main()
