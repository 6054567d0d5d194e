"""An agent of three steps: its tools note what they do in a file, and what the model says is scripted for real clients.

`python -m tests.runs.planner PROVIDER URL RUN NOTES` goes on, in a process of its own, with a run that was saved and
approved; it prints the run that this gives.
"""

import asyncio
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from jsontide import Tool
from jsontide.runs import Request, Run, arun_agent, run_agent
from tests.streams.client_scripts import ARGUMENTS, RESULT, SAID, Turn
from tests.streams.real_clients import CLIENTS, QUESTION

REASON = "the line is closed"
COUNTED = "counted to 3"
BOOKED = "booked the ryokan"
TURNS = (
    Turn((SAID,), (("get_weather", ARGUMENTS), ("find_train", {"to": "Kyōto"}), ("count", {"to": 3})), thinks=True),
    Turn(
        ("Now the room.",),
        (("book", {"room": "ryokan"}), ("get_weather", ARGUMENTS)),
        thinks=True,
        number=2,
        after=COUNTED,
    ),
    Turn(("All is ", "done."), number=3, after=BOOKED),
)
ALL_NOTES = ["weather", "train", "count", "book", "weather"]
"""What the tools note if the run is complete, in any order."""


def make_tools(notes: Path) -> list[Tool[Any]]:
    def note(what: str) -> None:
        with notes.open("a", encoding="utf-8") as file:
            file.write(f"{what}\n")

    def get_weather(city: str) -> str:
        """Return the weather in a city."""
        assert city == ARGUMENTS["city"]
        note("weather")
        return RESULT

    def find_train(to: str) -> str:
        """Find a train."""
        note("train")
        raise LookupError(f"to {to}: {REASON}")

    def count(to: int) -> Iterator[str]:
        """Count."""
        note("count")
        for number in range(1, to + 1):
            yield f"counted to {number}"

    def book(room: str) -> str:
        """Book a room."""
        note("book")
        return f"booked the {room}"

    plain = [Tool.from_function(tool) for tool in (get_weather, find_train, count)]
    return [*plain, Tool.from_function(book, needs_approval=True)]


Show = Callable[[Run[Any]], object]


def go_on(client: Any, notes: Path, *, show: Show = id, **options: Any) -> Run[Any]:
    """Run the agent as far as it gets; `show` is called with each run."""
    tools = make_tools(notes)

    def ask(request: Request) -> Any:
        return client.ask(client.sync, request.messages(client.provider), tools)

    run: Run[Any]
    for run in run_agent(ask, QUESTION, tools=tools, **options):
        show(run)
    return run


def ago_on(client: Any, notes: Path, *, show: Show = id, **options: Any) -> Run[Any]:
    """Do as `go_on` does, with the asynchronous client."""

    async def all_of_it() -> Run[Any]:
        later = client.open_later()
        tools = make_tools(notes)

        async def ask(request: Request) -> Any:
            return await client.ask(later, request.messages(client.provider), tools)

        try:
            async for run in (stream := arun_agent(ask, QUESTION, tools=tools, **options)):
                show(run)
        finally:
            await (later.aclose if hasattr(later, "aclose") else later.close)()
        return stream.run

    return asyncio.run(all_of_it())


def approve(run: Run[Any]) -> dict[str, bool | str]:
    """Return the decisions that let all waiting calls run."""
    return {str(one.call.id): True for one in run.waiting}


def main(provider: str, url: str, saved: str, notes: str) -> None:
    run = Run.from_json(Path(saved).read_text("utf-8"))
    client = CLIENTS[provider](url)
    print(go_on(client, Path(notes), run=run, decisions=approve(run)).to_json())  # noqa: T201 - the test reads it


if __name__ == "__main__":
    main(*sys.argv[1:])
