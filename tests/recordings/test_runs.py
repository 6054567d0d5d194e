"""Runs that are recorded, and replayed as they were; and streams of several messages, which are followed as runs."""

import asyncio
import io
import json
import stat
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given

from jsontide import Tool
from jsontide.messages import Outcome
from jsontide.recordings import (
    Moment,
    Piece,
    Recording,
    RecordingError,
    RecordingWriter,
    RunNote,
    RunRecorder,
    WireFormat,
    afollow,
    feed_moment,
    finish_moment,
    follow,
    start_moment,
)
from jsontide.runs import (
    Run,
    RunOutcome,
    RunState,
    arun_agent,
    fail_run,
    feed_run,
    finish_run,
    run_agent,
    start_run,
    stop_run,
    stream_run,
)
from tests.providers.dialects import DIALECTS
from tests.providers.test_one_message import told
from tests.recordings.folding import check_changes
from tests.runs.scripts import play
from tests.runs.test_agent import ADD, Model, answer, calls
from tests.strategies import randoms
from tests.streams.arriving import arriving

HEADER = '{"jsontide": "recording", "version": 2}'
QUESTION = "What is 1 + 2?"


def record(random: Random, file: io.BytesIO, *, as_bytes: bool) -> Iterator[RunState[Any]]:
    """Play a run and record it: yield each state."""
    recorder = RunRecorder(file)
    state = start_run(id="run")
    recorder.write(state.run)
    script = play(random)
    event, _, _ = next(script)
    while True:
        if as_bytes and isinstance(event, dict):
            event = f"data: {json.dumps(event)}\n\n".encode()
        state = feed_run(state, event)
        recorder.write(event)
        yield state
        try:
            event, _, _ = script.send(state.run)  # type: ignore[attr-defined]
        except StopIteration:
            state = finish_run(state)
            recorder.finish(state.run)
            yield state
            return


def runs_of(moments: list[Moment]) -> list[str]:
    return [moment.run.to_json() for moment in moments if moment.run is not None]


@given(randoms)
def test_a_recorded_run_is_the_run_at_every_piece(random: Random) -> None:
    file = io.BytesIO()
    states = list(record(random, file, as_bytes=random.random() < 0.5))
    recording = Recording.loads(file.getvalue())
    moments = check_changes(follow(recording))
    assert runs_of(moments)[1:] == [state.run.to_json() for state in states]
    assert recording.dumps() == file.getvalue()
    assert {moment.kind for moment in moments} == {"run"}
    assert moments[-1].outcome is states[-1].run.outcome


@given(randoms)
def test_a_recorded_run_is_the_same_however_its_streams_are_cut(random: Random) -> None:
    file = io.BytesIO()
    *_, state = record(random, file, as_bytes=True)
    recording = Recording.loads(file.getvalue())
    for cut in (recording.recut(1), recording.recut(seed=random.randrange(1000)), recording.recut([3, 50])):
        assert cut.encode() == recording.encode()
        assert [piece for piece in cut.pieces if isinstance(piece.data, RunNote)] == [
            piece for piece in recording.pieces if isinstance(piece.data, RunNote)
        ]
        *_, last = follow(cut)
        assert last.run is not None
        assert last.run.to_json() == state.run.to_json()


@given(randoms)
def test_a_run_that_breaks_off_at_any_piece_ends_as_the_run_does(random: Random) -> None:
    file = io.BytesIO()
    states = [start_run(id="run"), *record(random, file, as_bytes=False)][:-1]
    pieces = Recording.loads(file.getvalue()).pieces
    moment = start_moment()
    for state, piece in zip(states, pieces, strict=True):
        moment = feed_moment(moment, piece)
        stopped, lost = finish_moment(moment, "stopped"), finish_moment(moment, "lost", "it broke")
        assert runs_of([stopped, lost]) == [stop_run(state).run.to_json(), fail_run(state, "it broke").run.to_json()]
        assert finish_moment(moment).outcome is not RunOutcome.STREAMING


def fail(n: int) -> None:
    """Fail."""
    raise LookupError(f"no {n}")


def count(to: int) -> Iterator[int]:
    """Count."""
    yield from range(to)


TOOLS: list[Tool[Any]] = [
    ADD,
    Tool.from_function(fail),
    Tool.from_function(count),
    Tool.from_function(lambda: "paid", name="pay", needs_approval=True),
]


def script() -> Model:
    first = calls(("add", {"a": 1, "b": 2}), ("fail", {"n": 3}), ("count", {"to": 3}), ("pay", {}), ("nope", {}))
    return Model(first, calls(("add", {"a": 3, "b": 4})), answer("3 and 7"))


class TestTheAgent:
    def test_is_recorded_with_its_approval_in_one_file(self, tmp_path: Path) -> None:
        path, model = tmp_path / "run.ndjson", script()
        recorder = RunRecorder(path, {"source": "test"})
        waiting = run_agent(model.ask, QUESTION, tools=TOOLS, record=recorder).final()
        assert waiting.outcome is RunOutcome.WAITING
        *_, moment = check_changes(follow(Recording.load(path), tools=TOOLS))
        assert runs_of([moment]) == [waiting.to_json()]
        assert (moment.outcome, moment.is_complete) == (RunOutcome.WAITING, False)

        saved = Run.from_json(waiting.to_json())
        decisions = {str(waiting.waiting[0].call.id): True}
        run = run_agent(model.ask, QUESTION, tools=TOOLS, record=recorder, run=saved, decisions=decisions).final()
        recording = Recording.load(path)
        *_, moment = check_changes(follow(recording, tools=TOOLS))
        assert runs_of([moment]) == [run.to_json()]
        assert (run.outcome, moment.is_complete, recording.end) == (RunOutcome.COMPLETE, True, "over")
        assert moment.message is not None
        assert moment.message.content == "3 and 7"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert recorder.error is None

    def test_is_recorded_without_waiting_for_it(self, tmp_path: Path) -> None:
        async def final() -> Run[Any]:
            recorder = RunRecorder(tmp_path / "run.ndjson")
            return await arun_agent(script().aask, QUESTION, tools=TOOLS[:3], record=recorder).final()

        run = asyncio.run(final())
        *_, moment = check_changes(follow(Recording.load(tmp_path / "run.ndjson"), tools=TOOLS[:3]))
        assert runs_of([moment]) == [run.to_json()]

    def test_shows_a_run_inside_a_tool(self, tmp_path: Path) -> None:
        words = ["a", "word"] * 40

        def research() -> Any:
            """Look."""
            yield from run_agent(lambda _: spoken(words), "?")

        model = Model(calls(("research", {})), answer("Done."))
        recorder = RunRecorder(tmp_path / "run.ndjson")
        run = run_agent(model.ask, QUESTION, tools=[Tool.from_function(research)], record=recorder).final()
        recording = Recording.load(tmp_path / "run.ndjson")
        moments = check_changes(follow(recording))
        assert runs_of(moments)[-1] == run.to_json()
        shown = [piece for piece in recording.pieces if "nested" in json.dumps(getattr(piece.data, "value", {}))]
        assert 2 <= len(shown) < len(words) / 2  # what has hardly grown is not written again

    @pytest.mark.parametrize("outcome", [RunOutcome.CANCELLED, RunOutcome.FAILED])
    def test_is_recorded_as_it_ends(self, tmp_path: Path, outcome: RunOutcome) -> None:
        recorder = RunRecorder(tmp_path / "run.ndjson")

        def ask(request: Any) -> Any:
            if request.run.steps and outcome is RunOutcome.FAILED:
                raise ConnectionError("nobody answers")
            return script().ask(request)

        with run_agent(ask, QUESTION, tools=TOOLS[:1], record=recorder) as stream:
            for run in stream:
                if outcome is RunOutcome.CANCELLED and run.results:
                    break
        recording = Recording.load(tmp_path / "run.ndjson")
        *_, moment = check_changes(follow(recording, tools=TOOLS[:1]))
        assert (stream.run.outcome, runs_of([moment])) == (outcome, [stream.run.to_json()])
        assert recording.end == ("stopped" if outcome is RunOutcome.CANCELLED else "lost")

    def test_is_recorded_with_a_stream_that_fails(self, tmp_path: Path) -> None:
        def ask(_: Any) -> Iterator[Any]:
            yield answer("It is")[0]
            raise ConnectionResetError("gone")

        recorder = RunRecorder(tmp_path / "run.ndjson")
        run = run_agent(ask, QUESTION, record=recorder).final()
        *_, moment = check_changes(follow(Recording.load(tmp_path / "run.ndjson")))
        assert (run.outcome, runs_of([moment])) == (RunOutcome.TRUNCATED, [run.to_json()])
        assert moment.error == "gone"

    def test_leaves_out_what_is_no_event(self, tmp_path: Path) -> None:
        recorder = RunRecorder(tmp_path / "run.ndjson")
        run = run_agent(lambda _: [None, 5, *answer("Hi")], QUESTION, record=recorder).final()
        *_, moment = check_changes(follow(Recording.load(tmp_path / "run.ndjson")))
        assert moment.run is not None
        assert (run.content, moment.run.content, recorder.error) == ("Hi", "Hi", None)

    def test_is_not_disturbed_by_a_full_disk(self) -> None:
        class Full(io.BytesIO):
            def write(self, data: Any, /) -> int:
                if self.tell() > 400:
                    raise OSError(28, "No space left on device")
                return super().write(data)

        said: list[str] = []
        recorder = RunRecorder(Full(), on_error=said.append)
        run = run_agent(script().ask, QUESTION, tools=TOOLS[:3], record=recorder).final()
        assert run.outcome is RunOutcome.COMPLETE
        assert said == [recorder.error]
        assert "No space left on device" in said[0]

    def test_warns_if_nobody_asked_for_errors(self, tmp_path: Path) -> None:
        recorder = RunRecorder(tmp_path / "no" / "run.ndjson")
        with pytest.warns(RuntimeWarning, match="No such file"):
            run = run_agent(script().ask, QUESTION, tools=TOOLS[:3], record=recorder).final()
        assert run.outcome is RunOutcome.COMPLETE

    def test_takes_sinks_only(self) -> None:
        with pytest.raises(TypeError, match="record must be a RunSink"):
            run_agent(script().ask, QUESTION, record=print)  # type: ignore[arg-type]


def spoken(words: list[str]) -> list[Any]:
    """An answer in many pieces."""
    return [*({"message": {"content": word}, "done": False} for word in words), *answer("")[1:]]


class TestTheFile:
    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ('{"at": 1, "run": 5}', "not a run"),
            ('{"at": 1, "run": {}, "step": "over"}', "must have one of"),
            ('{"at": 1, "step": "begun"}', "step must be one of started, over, lost, not 'begun'"),
            ('{"at": 1, "step": ["over"]}', "step must be one of"),
            ('{"at": 1, "step": "over", "error": "no"}', "has only step"),
            ('{"at": 1, "step": "started", "waited": "long"}', "waited must be a number of seconds"),
            ('{"at": 1, "step": "lost", "error": 5}', "error must be a str"),
            ('{"at": 1, "result": "done"}', "result must be a dict"),
            ('{"at": 1, "result": {"status": "done"}}', "call must be a str"),
            ('{"at": 1, "result": {"call": "a", "status": "queued"}}', "waiting, running or done"),
            ('{"at": 1, "result": {"call": "a", "status": "done", "ran": "maybe"}}', "ran must be"),
            ('{"at": 1, "result": {"call": "a", "status": "done"}, "more": 1}', "has nothing else"),
            ('{"at": 1, "event": {}}\n{"at": 1, "text": "a"}', "bytes or events, not both"),
        ],
    )
    def test_a_wrong_line_is_named(self, line: str, said: str) -> None:
        number = 2 + line.count("\n")
        with pytest.raises(RecordingError, match=f"^line {number}: .*{said}"):
            Recording.loads(f"{HEADER}\n{line}\n".encode())

    def test_an_older_version_has_no_lines_of_a_run(self) -> None:
        with pytest.raises(RecordingError, match="line 2: a line must have one of text, base64, event, end"):
            Recording.loads(b'{"jsontide": "recording", "version": 1}\n{"at": 0, "step": "started"}\n')
        with pytest.raises(ValueError, match="pass has_run=True"):
            RecordingWriter(io.BytesIO()).write_note(RunNote({"step": "over"}))

    def test_messages_may_be_bytes_and_events(self) -> None:
        lines = [
            '{"at": 0, "step": "started"}',
            '{"at": 0, "event": {"message": {"content": "Hi"}, "done": true}}',
            '{"at": 0, "step": "over"}',
            '{"at": 1, "step": "started"}',
            '{"at": 1, "text": "{\\"message\\": {\\"content\\": \\"Ho\\"}, \\"done\\": true}\\n"}',
            '{"at": 1, "step": "over"}',
        ]
        recording = Recording.loads("\n".join([HEADER, *lines]).encode())
        *_, moment = check_changes(follow(recording))
        assert moment.run is not None
        assert [step.message.content for step in moment.run.steps] == ["Hi", "Ho"]
        assert recording.has_run
        assert len(recording.events) == 2

    @pytest.mark.parametrize(
        ("notes", "said"),
        [
            ([{"step": "over"}], "no message is being read"),
            ([{"result": {"call": "a", "status": "running"}}], "has no call 'a'"),
            ([{"step": "started"}, {"step": "started"}], "feed StepEnded first"),
        ],
    )
    def test_what_does_not_follow_is_told_and_left_out(self, notes: list[Any], said: str) -> None:
        pieces = [Piece(0.0, RunNote(note)) for note in notes]
        *_, moment = check_changes(follow(Recording(tuple(pieces), end="over")))
        assert said in str(moment.error)
        assert not moment.is_complete

    def test_without_an_end_it_was_lost_unless_the_run_waits(self, tmp_path: Path) -> None:
        path, model = tmp_path / "run.ndjson", script()
        run_agent(model.ask, QUESTION, tools=TOOLS[:3], record=RunRecorder(path)).final()
        pieces = Recording.load(path).pieces
        for at in range(1, len(pieces) + 1):
            *_, moment = check_changes(follow(Recording(pieces[:at]), tools=TOOLS[:3]))
            assert (moment.end, moment.outcome) == ("lost", RunOutcome.FAILED)
            assert moment.error == "the recording ended before the run did"

    def test_notes_follow_no_other_stream(self) -> None:
        for begun in (b"data: {}", b"[1", b"prose", b"d"):
            with pytest.raises(TypeError, match="a note of a run follows a stream"):
                list(follow([begun, Piece(1.0, RunNote({"step": "over"}))]))


class TestStreamsOfSeveralMessages:
    @pytest.mark.parametrize("provider", DIALECTS)
    def test_are_runs_as_stream_run_reads_them(self, provider: str) -> None:
        events = [event for name in ("one", "two") for event in told(provider, name)]
        *_, moment = check_changes(follow(Recording.of_events(events)))
        assert runs_of([moment]) == [stream_run(events).final().to_json()]
        assert moment.kind == "run"
        *_, alone = check_changes(follow(Recording.of_events(events), as_kind="message"))
        assert (alone.kind, alone.outcome, alone.run) == ("message", Outcome.TRUNCATED, None)

    @pytest.mark.parametrize("provider", ["openai_responses", "anthropic"])
    def test_are_runs_however_they_are_cut(self, provider: str) -> None:
        events = [event for name in ("one", "two") for event in told(provider, name)]
        recording = Recording.of_events(events)
        forms: tuple[WireFormat, ...] = ("sse", "ndjson")
        for form in forms:
            for seed in range(3):
                *_, moment = check_changes(follow(recording.cut(seed, form)))
                assert runs_of([moment]) == [stream_run([recording.encode("ndjson")]).final().to_json()]

    def test_one_message_can_be_followed_as_a_run(self) -> None:
        *_, moment = check_changes(follow([b'{"message": {"content": "Hi"}, "done": true}\n'], as_kind="run"))
        assert (moment.kind, moment.outcome) == ("run", RunOutcome.COMPLETE)

    def test_an_agent_is_a_run_from_its_first_line(self) -> None:
        lines = [json.dumps(event).encode() + b"\n" for event in AGENT]
        moments = check_changes(follow(lines))
        assert {moment.kind for moment in moments} == {"run"}
        assert runs_of(moments[-1:]) == [stream_run(lines).final().to_json()]
        assert {len(moment.runs) for moment in moments} == {1}
        asynchronous = asyncio.run(collect(afollow(arriving(lines))))
        assert runs_of(asynchronous) == runs_of(moments)
        *_, nested = [step.results for step in moments[-1].run.steps][:1]  # type: ignore[union-attr]
        assert [getattr(one.nested, "content", None) for one in nested] == ["It is tea."]  # type: ignore[union-attr]

    def test_several_runs_stand_beside_each_other(self) -> None:
        events = [{**event, "stream_id": name} for name in ("x", "y") for event in told("openai_responses", name)]
        half = len(events) // 2
        mixed = [event for pair in zip(events[:half], events[half:], strict=True) for event in pair]
        *_, moment = check_changes(follow(Recording.of_events(mixed)))
        stream = stream_run(mixed)
        stream.final()
        assert [run.to_json() for run in moment.runs] == [run.to_json() for run in stream.runs]
        assert isinstance(moment.value, dict)
        assert len(moment.value["others"]) == 1  # type: ignore[arg-type]

    def test_an_old_moment_can_be_fed_again(self) -> None:
        lines = [json.dumps(event).encode() + b"\n" for event in AGENT]
        moments = list(follow(lines))
        for at, moment in enumerate(moments[:-2]):
            again = moment
            for line in lines[at + 1 :]:
                again = feed_moment(again, line)
            assert runs_of([finish_moment(again)]) == runs_of(moments[-1:])


async def collect(moments: AsyncIterator[Moment]) -> list[Moment]:
    return [moment async for moment in moments]


ABOUT = {"session_id": "s", "parent_tool_use_id": None}
INSIDE = {"session_id": "s", "parent_tool_use_id": "t"}
AGENT: list[dict[str, Any]] = [
    {"type": "system", "subtype": "init", "session_id": "s"},
    {
        "type": "assistant",
        "message": {"id": "m1", "content": [{"type": "tool_use", "id": "t", "name": "Task", "input": {}}]},
        **ABOUT,
    },
    {"type": "assistant", "message": {"id": "n1", "content": [{"type": "text", "text": "It is tea."}]}, **INSIDE},
    {
        "type": "user",
        "message": {"content": [{"type": "tool_result", "tool_use_id": "t", "content": "tea"}]},
        **ABOUT,
    },
    {"type": "assistant", "message": {"id": "m2", "content": [{"type": "text", "text": "Tea, green."}]}, **ABOUT},
    {"type": "result", "subtype": "success", "is_error": False, "session_id": "s"},
]
"""What an agent says that asks another one, as `claude --output-format stream-json` prints it."""
