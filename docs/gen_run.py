"""Writes examples/run.ndjson: the recording of an agent of three steps, with a tool that fails and an approval.

Nobody is asked and nothing runs: what a provider would send, and what the tools would give, is fed to the pure form of
a run, at times that are made up. So the file is the same each time.

python docs/gen_run.py
"""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from jsontide.messages import ToolResult
from jsontide.recordings import RunRecorder
from jsontide.runs import (
    RunState,
    StepEnded,
    StepStarted,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    ToolWaits,
    feed_run,
    finish_run,
    start_run,
)

TARGET = Path(__file__).parents[1] / "examples" / "run.ndjson"
ABOUT = {"started": "2026-11-17T14:00:00Z", "source": "docs/gen_run.py"}
MODEL = "claude-sonnet-4-5"
LONGEST, SHORTEST = 0.09, 0.02
"""Seconds between two pieces of a message."""

PLANS = "They want two days in Kyoto, so I need the weather, the train from Tokyo, and a room. These can run together."
LOOKING = "Let me look at the weather, the trains and the rooms."
ASKING = "The train could not be looked up, but there is a room, so I will book it, and find the way from the station."
ANSWER = """\
Your two days in Kyoto are planned:

- **Weather**: 18 °C and clear on both days.
- **Room**: the Ryokan Yamazaki is booked, for 24,000 yen, as you allowed.
- **Way**: bus 206 from Kyoto Station, 20 minutes.

I could not look up the train; please check its times yourself.
"""
WEATHER = {"city": "Kyoto", "days": [{"sky": "clear", "high": 18}, {"sky": "clear", "high": 18}]}
ROOM = {"name": "Ryokan Yamazaki", "price": 24_000, "currency": "JPY"}
ROUTE = {"line": "bus 206", "from": "Kyoto Station", "to": "Gion", "minutes": 20}


class Player:
    """Feeds a run and its recorder at the same times."""

    def __init__(self, file: io.BytesIO) -> None:
        self._now = 0.0
        self._random = Random(29)  # noqa: S311 - not secret
        self._recorder = RunRecorder(file, ABOUT, clock=lambda: self._now)
        self.state: RunState[Any] = start_run(id="kyoto")
        self._recorder.write(self.state.run)

    def feed(self, event: object, after: float = 0.0) -> None:
        """Feed an event, some seconds after the one before."""
        self._now += after
        self.state = feed_run(self.state, event)
        self._recorder.write(event)

    def say(self, waited: float, *blocks: dict[str, Any], reason: str) -> None:
        """Feed a message, piece by piece."""
        self.feed(StepStarted(waited), waited)
        for event in write_message(len(self.state.run.steps), blocks, reason):
            data = f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n"
            self.feed(data.encode(), self._random.uniform(SHORTEST, LONGEST))
        self.feed(StepEnded())

    def start(self, *names: str) -> None:
        for name in names:
            self.feed(ToolStarted(self._call(name).id))

    def end(self, name: str, after: float, output: object = None, error: str | None = None) -> None:
        call = self._call(name)
        self.feed(ToolFinished(call.id, ToolResult(call, output, error)), after)

    def wait(self, name: str, reason: str) -> None:
        self.feed(ToolWaits(self._call(name).id, reason))

    def show(self, name: str, after: float, value: object) -> None:
        self.feed(ToolProgress(self._call(name).id, value), after)

    def finish(self) -> None:
        self.state = finish_run(self.state)
        self._recorder.finish(self.state.run)

    def _call(self, name: str) -> Any:  # noqa: ANN401 - a call of any class
        return next(result.call for result in self.state.run.results if result.call.name == name)


def thinking(text: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": text}


def text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def call(tool: str, **arguments: object) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{tool}", "name": tool, "input": arguments}


def write_message(number: int, blocks: tuple[dict[str, Any], ...], reason: str) -> Iterator[dict[str, Any]]:
    """Yield what Anthropic sends for a message with these blocks."""
    usage = {"input_tokens": 300 + 220 * number, "output_tokens": 1}
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": MODEL, "content": []}
    yield {"type": "message_start", "message": {**message, "usage": usage}}
    length = 0
    for index, block in enumerate(blocks):
        kind, empty, whole = open_block(block)
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for at in range(0, len(whole), 12):
            length += 1
            piece = {"type": f"{kind}_delta", "partial_json" if kind == "input_json" else kind: whole[at : at + 12]}
            yield {"type": "content_block_delta", "index": index, "delta": piece}
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 3 * length}}
    yield {"type": "message_stop"}


def open_block(block: dict[str, Any]) -> tuple[str, dict[str, Any], str]:
    """Return the kind of a block's deltas, the block while it is empty, and what the deltas join to."""
    kind = block["type"]
    if kind == "tool_use":
        return "input_json", {**block, "input": {}}, json.dumps(block["input"])
    return kind, {**block, kind: ""}, block[kind]


def play() -> bytes:
    """Return the recording."""
    file = io.BytesIO()
    run = Player(file)
    looks = [call("get_weather", city="Kyoto", days=2), call("find_train", to="Kyoto"), call("find_rooms", nights=1)]
    run.say(0.62, thinking(PLANS), text(LOOKING), *looks, reason="tool_use")
    run.start("get_weather", "find_train", "find_rooms")
    run.show("find_rooms", 0.31, {"found": 1, "of": 3})
    run.end("get_weather", 0.12, WEATHER)
    run.end("find_train", 0.28, error="TimeoutError: the timetable did not answer within 0.7 s")
    run.show("find_rooms", 0.25, {"found": 3, "of": 3})
    run.end("find_rooms", 0.22, [ROOM])
    run.say(
        0.48,
        text(ASKING),
        call("book_room", name=ROOM["name"], price=ROOM["price"]),
        call("find_route", to="Gion"),
        reason="tool_use",
    )
    run.wait("book_room", "it costs 24,000 yen")
    run.start("find_route")
    run.end("find_route", 0.4, ROUTE)
    run.feed(ToolStarted("toolu_book_room"), 1.9)
    run.end("book_room", 0.55, {**ROOM, "booked": True})
    run.say(0.41, text(ANSWER), reason="end_turn")
    run.finish()
    return file.getvalue()


def main() -> None:
    TARGET.write_bytes(play())
    print(f"{TARGET}: {TARGET.stat().st_size / 1000:.0f} KB")


if __name__ == "__main__":
    main()
