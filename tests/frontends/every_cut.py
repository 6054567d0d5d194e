"""`python -m tests.frontends.every_cut`: every recording, cut after every event and ended in all ways, in real clients.

The suite reads some of these cuts, for time; this reads all of them (an hour), and prints how many streams were read.
Rule: what a client has at the end is what the checker of its protocol says, nothing is logged, and the calls that it
runs are those that are complete.
"""

import sys
from itertools import product

from tests.frontends.endings import ENDS, ended, recorded
from tests.frontends.protocols import PROTOCOLS
from tests.frontends.turns import encode
from tests.node_scripts import missing
from tests.provider_streams import ENCODED

BATCH = 100
"""Streams that one process of Node reads."""


def read_all(name: str) -> dict[str, int]:
    """Read what is sent to who joins a recording after each of its events, and is there when it ends, in each way."""
    states = recorded(name)
    turns = [ended(states, at, way)[-2:] for at, way in product(range(len(states)), ENDS)]
    counts = {}
    for key, protocol in PROTOCOLS.items():
        if protocol.in_client is None:
            continue
        streams = [encode(protocol.make(), turn) for turn in turns]
        ran = [each for at in range(0, len(streams), BATCH) for each in protocol.in_client(streams[at : at + BATCH])]
        assert ran == [[arguments for _, arguments in protocol.read(stream).runs] for stream in streams]
        counts[key] = len(streams)
    return counts


def main() -> None:
    if not ENCODED or missing():
        sys.exit(missing() or "no recordings were found")
    for name in ENCODED:
        if any(word in name for word in sys.argv[1:] or [""]):
            print(name, read_all(name), flush=True)  # noqa: T201 - its output is the result


if __name__ == "__main__":
    main()
