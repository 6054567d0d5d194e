"""What it costs to keep every moment of a stream: nothing that grows with what was there before."""

import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from jsontide.mend import MODELS
from jsontide.recordings import Recording, follow

ROWS = [{"id": number, "name": "lorem ipsum", "tags": ["a", "b"]} for number in range(1000)]
TEXTS: list[dict[str, object]] = [{"choices": [{"index": 0, "delta": {"content": "lorem"}}]} for _ in range(1500)]
STREAMS: dict[str, Callable[[int], bytes]] = {
    "json": lambda n: json.dumps(ROWS[:n]).encode(),
    "a long string": lambda n: json.dumps({"text": "lorem ipsum " * 4 * n}).encode(),
    "lines": lambda n: b"".join(json.dumps(row).encode() + b"\n" for row in ROWS[:n]),
    "message": lambda n: Recording.of_events(TEXTS[: n + n // 2]).encode("sse"),
    "events": lambda n: Recording.of_events([*ROWS[:n]]).encode("sse"),
    "text": lambda n: b"lorem ipsum " * 4 * n,
}


OPTIONS: dict[str, Any] = {
    "json with a schema": {"schema": {"type": "array", "items": {"type": "object"}}},
    "json that is mended": {"mend": MODELS},
}


def cost_of(data: bytes, options: Any) -> float:
    """Return how many bytes of memory each moment takes, if all are kept and their changes were read."""
    recording = Recording.of_bytes(data).recut(5)
    tracemalloc.start()
    moments = list(follow(recording, **options))
    for moment in moments:
        _ = moment.changes
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return used / len(moments)


@pytest.mark.untraced
@pytest.mark.parametrize("name", [*STREAMS, *OPTIONS])
def test_a_moment_takes_the_same_early_and_late(name: str) -> None:
    stream, options = STREAMS.get(name, STREAMS["json"]), OPTIONS.get(name, {})
    early, late = cost_of(stream(60), options), cost_of(stream(240), options)
    assert late < early * 1.15
    assert late < 2200
