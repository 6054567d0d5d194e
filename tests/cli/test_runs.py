"""What the commands show of a run: drawn, as lines, as figures, and how they exit."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from jsontide.cli._drawing import LiveView, NewParts
from jsontide.recordings import Moment, Recording, follow
from tests.cli.running import EXAMPLES, run
from tests.cli.test_watch import apply
from tests.recordings.test_runs import AGENT

FILE = EXAMPLES / "run.ndjson"
RECORDING = Recording.load(FILE)
MOMENTS = list(follow(RECORDING))


def draw(moment: Moment, *, width: int = 72, height: int = 24) -> list[str]:
    out = io.StringIO()
    console = Console(file=out, width=width, height=height, color_system=None)
    console.print(LiveView(moment, NewParts()))
    return [row.rstrip() for row in out.getvalue().splitlines()]


def moment_with(name: str, status: str) -> Moment:
    """Return the first moment at which a call has a status."""
    return next(
        moment
        for moment in MOMENTS
        if moment.run is not None
        for one in moment.run.results
        if one.call.name == name and getattr(one, "status", "done") == status
    )


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    path = tmp_path / "agent.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in AGENT), "utf-8")
    return path


class TestDrawing:
    def test_the_last_step_has_its_results_and_each_before_it_a_line(self) -> None:
        rows = draw(moment_with("book_room", "waiting"))
        assert rows[0].startswith(" 1  get_weather ✓  find_train ✗  find_rooms ✓  Let me look")
        assert any("book_room · waits for a person · " in row for row in rows)
        assert any("it costs 24,000 yen" in row for row in rows)
        assert rows[-2].startswith("streaming  step 2  waiting: book_room")

    def test_calls_show_what_they_yield_and_how_they_end(self) -> None:
        rows = "\n".join(draw(moment_with("find_train", "done"), height=40))
        assert 'find_train · failed · {"to": "Kyoto"} ✗' in rows
        assert "TimeoutError: the timetable did not answer" in rows
        assert 'find_rooms · running · {"nights": 1} …' in rows
        assert '"found": 1' in rows
        assert "streaming  step 1  running: find_rooms" in rows

    def test_the_end_has_the_cost_of_all_messages(self) -> None:
        *_, state, counts = draw(MOMENTS[-1])
        assert state.startswith("complete  3 steps  stop")
        assert counts.startswith("tokens: 2,220 in, 180 out · ")

    def test_a_run_inside_a_tool_is_a_line_for_each_of_its_steps(self) -> None:
        rows = [draw(moment) for moment in follow(Recording.of_events(AGENT))]
        assert any(" 1  It is tea." in row for drawn in rows for row in drawn)

    @pytest.mark.parametrize(("width", "height"), [(120, 30), (60, 24), (40, 12), (12, 6), (1, 1)])
    def test_a_frame_fits_the_terminal(self, width: int, height: int) -> None:
        for moment in MOMENTS[::7]:
            rows = draw(moment, width=width, height=height)
            assert max(map(len, rows)) <= width
            assert len(rows) <= max(height - 1, 5)


class TestCommands:
    def test_without_a_terminal_each_change_is_a_line(self) -> None:
        result = run("watch", FILE, "--speed", "0")
        assert result.exit_code == 0
        shown = apply(result.stdout.splitlines())
        assert shown["status"] == "complete"
        assert [step["message"]["status"] for step in shown["steps"]] == ["complete"] * 3
        assert [one["status"] for one in shown["steps"][0]["results"]] == ["done", "failed", "done"]

    def test_the_value_can_be_written(self) -> None:
        result = run("watch", FILE, "--speed", "0", "--output", "-")
        assert json.loads(result.stdout) == MOMENTS[-1].value

    def test_the_output_of_an_agent_is_a_run(self, agent: Path) -> None:
        result = run("get", "steps[*].results[*].output", agent)
        assert (result.exit_code, result.stdout) == (0, '"tea"\n')
        result = run("events", agent)
        assert result.stdout.splitlines()[0].startswith("SetValue")
        assert run("watch", agent, "--as", "message").exit_code == 3

    def test_figures_are_those_of_messages_and_calls(self) -> None:
        result = run("stats", FILE)
        assert "steps[0].results[1] find_train" in result.stdout
        assert "steps[2].message" in result.stdout
        (figures,) = map(json.loads, run("stats", FILE, "--json").stdout.splitlines())
        assert (figures["kind"], figures["outcome"], figures["output_tokens"]) == ("run", "complete", 180)
        names = [lane["name"] for lane in figures["lanes"] if lane["name"]]
        calls = ["get_weather", "find_train", "find_rooms", "book_room", "find_route"]
        assert sorted(names) == sorted(["message"] * 3 + calls)

    def test_other_pieces_give_the_same(self) -> None:
        small = run("watch", FILE, "--speed", "0", "--size", "1-5", "--output", "-")
        assert json.loads(small.stdout) == MOMENTS[-1].value

    def test_what_waits_is_named_and_is_not_a_good_end(self, tmp_path: Path) -> None:
        at = next(at for at, moment in enumerate(MOMENTS) if moment.run is not None and moment.run.waiting)
        path = tmp_path / "waiting.ndjson"

        Recording(RECORDING.pieces[: at + 3]).save(path)
        result = run("watch", path, "--speed", "0")
        assert result.exit_code == 1
        assert "a person must decide about book_room" in result.stderr

    def test_a_run_that_breaks_off_is_named(self, tmp_path: Path) -> None:
        path = tmp_path / "broken.ndjson"
        Recording(RECORDING.pieces[:20]).save(path)
        result = run("watch", path, "--speed", "0")
        assert (result.exit_code, result.stderr[:10]) == (3, "jsontide: ")

    @pytest.mark.parametrize(("answer", "code"), [('{"tea": "green"}', 0), ('{"tea": 5}', 1), ("Green.", 1)])
    def test_the_last_answer_of_a_run_is_checked(self, tmp_path: Path, answer: str, code: int) -> None:
        lines = json.loads(json.dumps(AGENT))
        lines[-2]["message"]["content"][0]["text"] = answer
        path, schema = tmp_path / "agent.jsonl", tmp_path / "schema.json"
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
        schema.write_text('{"type": "object", "properties": {"tea": {"type": "string"}}}', "utf-8")
        assert run("check", path, "--schema", schema).exit_code == code
