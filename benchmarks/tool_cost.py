"""`python -m benchmarks.tool_cost`: what one more character of a tool call's arguments costs, and docs/tool-cost.md.

In: a call whose arguments come in deltas of one character, of which so many have come.
Out: processor time per delta, event in and arguments out, beside the accumulators of the openai and anthropic packages.
Rule: all read the partial arguments after every delta; the event around a delta is made once.
"""

import gc
import json
import os
import platform
from collections.abc import Callable
from importlib.metadata import version
from itertools import count
from pathlib import Path
from time import process_time

from benchmarks.sdks import anthropic_feed, openai_feed
from benchmarks.works import Feed
from jsontide import COMPILED, __version__
from jsontide.adapters import openai_chat_chunk
from jsontide.messages import reduce_chunk, start_message

PAGE = Path(__file__).parent.parent / "docs" / "tool-cost.md"
SIZES = (1_024, 16_384, 131_072)
DELTAS = 200
ROUNDS = 20
HEAD = """# The cost of a delta

A tool call of so many characters of arguments, in deltas of one character, as a chat completion streams them.
The table has the processor time of one more delta: the event goes in, and the partial arguments are read.
"""


def ours() -> Callable[[str], Feed]:
    """Our own side: a dict of Chat Completions through its adapter and the reducer."""

    def start(before: str) -> Feed:
        function = {"arguments": ""}
        call = {"index": 0, "function": function}
        event = {"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}]}
        first = {**call, "id": "call", "function": {"name": "plan", "arguments": ""}}
        state = start_message()

        def take(event: object) -> None:
            nonlocal state
            chunk = openai_chat_chunk(event)
            state = state if chunk is None else reduce_chunk(state, chunk)

        def feed(chunk: str) -> object:
            function["arguments"] = chunk
            take(event)
            return state.message.tool_calls[0].arguments_resolved

        take({"choices": [{"index": 0, "delta": {"tool_calls": [first]}}]})
        for char in before:
            feed(char)
        return feed

    return start


SIDES: dict[str, Callable[[], Callable[[str], Feed]]] = {
    "jsontide": ours,
    "openai": openai_feed,
    "anthropic": anthropic_feed,
}


def arguments(size: int) -> str:
    """A plan of so many characters, as models write them, which is never closed."""
    days = (json.dumps({"day": 1_000_000 + day, "title": "By night train to Turin", "done": False}) for day in count())
    text = '{"days": ['
    while len(text) < size:
        text += next(days) + ", "
    return text[:size]


def cost(side: Callable[[], Callable[[str], Feed]], size: int) -> float:
    """Seconds of one delta, the least of some rounds."""
    text = arguments(size + DELTAS * ROUNDS)
    feed = side()(text[:size])
    rounds = []
    gc.collect()
    for number in range(ROUNDS):
        start = size + number * DELTAS
        began = process_time()
        for char in text[start : start + DELTAS]:
            feed(char)
        rounds.append((process_time() - began) / DELTAS)
    return min(rounds)


def page() -> str:
    rows = [f"| | {' | '.join(f'after {size:,}' for size in SIZES)} |", f"|{' --- |' * (len(SIZES) + 1)}"]
    costs = {name: [cost(side, size) for size in SIZES] for name, side in SIDES.items()}
    for name, found in costs.items():
        ratios = [mine / theirs for mine, theirs in zip(found, costs["jsontide"], strict=True)]
        cells = [f"{seconds * 1e6:,.1f} µs ({ratio:,.1f})" for seconds, ratio in zip(found, ratios, strict=True)]
        rows.append(f"| {name} | {' | '.join(cells)} |")
    build = "compiled" if COMPILED else "pure Python"
    return "\n".join(
        [
            HEAD,
            *rows,
            "",
            "In brackets: how many times what jsontide takes.",
            "",
            f"`python -m benchmarks.tool_cost`: jsontide {__version__}, {build}, the least of {ROUNDS} rounds.",
            f"openai {version('openai')}, anthropic {version('anthropic')}.",
            f"{platform.python_implementation()} {platform.python_version()}.",
            f"{platform.system()}, {platform.machine()}, {os.cpu_count()} processors.",
            "",
        ]
    )


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
    print(f"written: {PAGE}")
