"""An agent with the real clients of four providers: three steps, tools that fail, yield or wait, cut at every event."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jsontide.messages import CompleteCall, Outcome, ToolResult
from jsontide.recordings import Recording, RunRecorder, follow
from jsontide.runs import PendingResult, Request, Run, RunOutcome
from tests.runs.planner import ALL_NOTES, BOOKED, COUNTED, REASON, TURNS, ago_on, approve, go_on, make_tools
from tests.streams.client_scripts import RESULT, SECRET, SIGNATURE, Event, Turn
from tests.streams.real_clients import CLIENTS, DROP, END, QUESTION, Server, answering

SIGNED = {"openai_chat": None, "openai_responses": SECRET, "anthropic": SIGNATURE, "gemini": SIGNATURE}
"""What a provider wants back unchanged of each step in which the model thought."""
THINKING = sum(turn.thinks for turn in TURNS)


@pytest.fixture(scope="module")
def shared() -> Iterator[Server]:
    with answering() as server:
        yield server


@pytest.fixture
def server(shared: Server) -> Server:
    shared.reset()
    shared.turns = TURNS
    return shared


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest, server: Server) -> Iterator[Any]:
    made = CLIENTS[request.param](server.url)
    yield made
    made.sync.close()


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """The file in which tools note that they ran."""
    file = tmp_path / "notes"
    file.touch()
    return file


def ran(notes: Path) -> Counter[str]:
    return Counter(notes.read_text("utf-8").split())


def check_end(run: Run[Any], client: Any, bodies: list[Event]) -> None:
    """What the run and the requests must be in the end, whoever went on with it."""
    assert run.outcome is RunOutcome.COMPLETE
    first, second, last = run.steps
    outputs = [(result.output, result.error) for result in first.results if isinstance(result, ToolResult)]
    assert outputs == [(RESULT, None), (None, f"LookupError: to Kyōto: {REASON}"), (COUNTED, None)]
    assert [result.text for result in second.results if isinstance(result, ToolResult)] == [BOOKED, RESULT]
    assert (last.results, run.content) == ((), "All is done.")
    assert run.usage is not None
    assert run.usage.total_tokens == 3 * 13
    assert len(bodies) == len(TURNS)
    for earlier, body in enumerate(bodies):
        request = json.dumps(client.conversation(body), ensure_ascii=False)
        signed = SIGNED[client.provider]
        assert signed is None or request.count(signed) == earlier
    request = json.dumps(bodies[-1], ensure_ascii=False)
    assert all(text in request for text in (RESULT, REASON, COUNTED, BOOKED))


@pytest.mark.parametrize("run_all", [go_on, ago_on])
def test_three_steps_are_answered_as_the_client_wants_it(
    client: Any, notes: Path, server: Server, run_all: Callable[..., Run[Any]]
) -> None:
    shown: list[Run[Any]] = []
    waiting = run_all(client, notes, show=shown.append)
    assert waiting.outcome is RunOutcome.WAITING
    assert [one.call.name for one in waiting.waiting] == ["book"]
    assert ran(notes) == Counter(ALL_NOTES) - Counter(["book"])
    yielded = {one.progress for run in shown for one in run.results if isinstance(one, PendingResult)}
    assert {"counted to 1", "counted to 2", COUNTED} <= yielded
    run = run_all(client, notes, run=Run.from_json(waiting.to_json()), decisions=approve(waiting))
    assert ran(notes) == Counter(ALL_NOTES)
    check_end(run, client, server.bodies)


@pytest.mark.parametrize("run_all", [go_on, ago_on])
def test_what_its_client_sends_is_recorded(
    client: Any, notes: Path, run_all: Callable[..., Run[Any]], tmp_path: Path
) -> None:
    recorder = RunRecorder(tmp_path / "run.ndjson")
    run = run_all(client, notes, record=recorder)
    run = run_all(client, notes, record=recorder, run=run, decisions=approve(run))
    *_, moment = follow(Recording.load(tmp_path / "run.ndjson"), tools=make_tools(notes))
    assert moment.run is not None
    assert moment.run.to_json() == run.to_json()
    assert (moment.is_complete, recorder.error) == (True, None)


@pytest.mark.long
@pytest.mark.untraced
def test_an_approved_run_goes_on_in_another_process(client: Any, notes: Path, server: Server, tmp_path: Path) -> None:
    saved = tmp_path / "run.json"
    saved.write_text(go_on(client, notes).to_json(), "utf-8")
    command = [sys.executable, "-m", "tests.runs.planner", client.provider, server.url, str(saved), str(notes)]
    done = subprocess.run(command, capture_output=True, check=True, text=True, encoding="utf-8")
    assert ran(notes) == Counter(ALL_NOTES)
    check_end(Run.from_json(done.stdout), client, server.bodies)


@pytest.mark.long
@pytest.mark.untraced
@pytest.mark.parametrize("turn", TURNS, ids=lambda turn: f"step {turn.number}")
@pytest.mark.parametrize("cut", [DROP, END])
def test_cut_at_every_event_nothing_incomplete_runs_and_nothing_runs_twice(
    client: Any, notes: Path, server: Server, turn: Turn, cut: str
) -> None:
    run_all = ago_on if cut == DROP else go_on
    for kept in range(1, len(client.script(turn))):
        server.reset()
        server.turns, server.cut_turn, server.kept, server.cut = TURNS, turn.number, kept, cut
        notes.write_text("", "utf-8")
        run = run_all(client, notes)
        if run.waiting:
            run = run_all(client, notes, run=Run.from_json(run.to_json()), decisions=approve(run))
        message = run.message
        assert message is not None
        if message.outcome is Outcome.TRUNCATED:
            assert len(run.steps) == turn.number
            assert not any(isinstance(part, CompleteCall) for part in message.parts)
        assert ran(notes) == may_have_run(run)
        assert cut == END or run.outcome is RunOutcome.TRUNCATED
        client.check_items(Request(QUESTION, run).messages(client.provider))
        assert all(client.conversation(body) for body in server.bodies)


def may_have_run(run: Run[Any]) -> Counter[str]:
    """Each call that its result says has run, once."""
    results = [result for step in run.steps for result in step.results if isinstance(result, ToolResult)]
    assert len(results) == sum(len(step.message.tool_calls) for step in run.steps)
    return Counter(str(result.call.name).split("_")[-1] for result in results if result.ran == "yes")
