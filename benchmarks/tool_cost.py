"""`python -m benchmarks.tool_cost`: what one more character of a tool call's arguments costs, as a page.

In: a call whose arguments come in deltas of one character, of which so many have come.
Out: processor time per delta, event in and arguments out, beside the accumulators of the openai and anthropic packages.
Rule: all read the partial arguments after every delta; the event around a delta is made once.
"""

import gc
import json
from itertools import count
from pathlib import Path
from time import process_time

from benchmarks.builds import machine, versions
from benchmarks.kinds import Feed, Reparse
from benchmarks.sdks import anthropic_accumulator, openai_accumulator
from jsontide import COMPILED, __version__
from jsontide.providers import reduce_item, start_stream

PAGE = Path(__file__).parent.parent / "docs" / "measured" / "tool-cost.md"
SIZES = (1_024, 16_384, 131_072)
DELTAS = 200
ROUNDS = 20
HEAD = """# The cost of a delta

A tool call whose arguments arrive in deltas of one character, as a chat completion streams them.
The table shows the processor time of one more delta: the event goes in, and the partial arguments are read.
"""


def jsontide_reducer() -> Reparse:
    """A dict of Chat Completions through its adapter and the reducer."""

    def start(before: str) -> Feed:
        function = {"arguments": ""}
        call = {"index": 0, "function": function}
        event = {"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}]}
        first = {**call, "id": "call", "function": {"name": "plan", "arguments": ""}}
        state = start_stream()

        def reduce_event(event: object) -> None:
            nonlocal state
            state = reduce_item(state, event)

        def feed(chunk: str) -> object:
            function["arguments"] = chunk
            reduce_event(event)
            return state.message.tool_calls[0].partial

        reduce_event({"choices": [{"index": 0, "delta": {"tool_calls": [first]}}]})
        for char in before:
            feed(char)
        return feed

    return Reparse(start)


SIDES = {"jsontide": jsontide_reducer, "openai": openai_accumulator, "anthropic": anthropic_accumulator}


def write_arguments(size: int) -> str:
    """A plan of so many characters, as models write them, which is never closed."""
    days = (json.dumps({"day": 1_000_000 + day, "title": "By night train to Turin", "done": False}) for day in count())
    text = '{"days": ['
    while len(text) < size:
        text += next(days) + ", "
    return text[:size]


def measure(side: Reparse, size: int) -> float:
    """Seconds of one delta, the least of some rounds."""
    text = write_arguments(size + DELTAS * ROUNDS)
    feed = side.start(text[:size])
    rounds = []
    gc.collect()
    for first in range(size, len(text), DELTAS):
        began = process_time()
        for char in text[first : first + DELTAS]:
            feed(char)
        rounds.append((process_time() - began) / DELTAS)
    return min(rounds)


def page() -> str:
    rows = [f"| | {' | '.join(f'after {size:,}' for size in SIZES)} |", f"|{' --- |' * (len(SIZES) + 1)}"]
    costs = {name: [measure(load(), size) for size in SIZES] for name, load in SIDES.items()}
    for name, found in costs.items():
        pairs = zip(found, costs["jsontide"], strict=True)
        cells = [f"{seconds * 1e6:,.1f} µs ({seconds / own:,.1f})" for seconds, own in pairs]
        rows.append(f"| {name} | {' | '.join(cells)} |")
    build = "compiled" if COMPILED else "pure Python"
    return "\n".join(
        [
            HEAD,
            *rows,
            "",
            "In brackets: the cost divided by that of jsontide.",
            "",
            f"`python -m benchmarks.tool_cost`: jsontide {__version__}, {build}, the least of {ROUNDS} rounds.",
            f"{', '.join(versions(('openai', 'anthropic')))}.",
            *machine(),
            "",
        ]
    )


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
    print(f"written: {PAGE}")
