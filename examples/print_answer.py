"""Print the answer of a model while it is being written, then its sources, each as soon as it is complete.

    python examples/print_answer.py [--fast]

A recording stands in for the model: put the text deltas of yours in the place of `recording()`.
"""

import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from jsontide import JsonFragmentAccumulator
from jsontide.events import JsonFragmentUpdate

RECORDING = Path(__file__).with_name("answer.json")
TOKEN = 4  # characters, about as many as a model writes at a time
DELAY = 0.03  # seconds between two of them

# A model can write anything: leave out what would steer the terminal, and halves of characters, which nothing prints.
UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")

# Only what the subscriptions ask for is made. A stream that breaks off raises: it must not pass for a whole answer.
accumulator = JsonFragmentAccumulator(updates=False, on_error="raise")


@accumulator.on("answer", deltas=True)
def write(update: JsonFragmentUpdate) -> None:
    show(update.text or "")  # only what is new, escapes decoded, however the text was cut


@accumulator.on("answer")
def end_answer(_: JsonFragmentUpdate) -> None:
    show("\n\n")


@accumulator.on("sources[*]")
def list_source(update: JsonFragmentUpdate) -> None:
    match update.value:  # whole, so all fields that the model wrote are there; it may have left one out
        case {"title": str(title), "url": str(url)}:
            show(f"- {title}\n  {url}\n")


def show(text: str) -> None:
    print(UNPRINTABLE.sub("", text), end="", flush=True)  # or Python would wait for the end of the line


def recording(delay: float) -> Iterator[str]:
    text = RECORDING.read_text(encoding="utf-8")
    for start in range(0, len(text), TOKEN):
        time.sleep(delay)
        yield text[start : start + TOKEN]


def main() -> None:
    is_watched = sys.stdout.isatty() and "--fast" not in sys.argv
    for piece in recording(DELAY if is_watched else 0):
        accumulator.add_fragment(piece)
    accumulator.finish()


if __name__ == "__main__":
    main()
