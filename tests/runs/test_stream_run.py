"""`stream_run`: streams of several messages, one after the other or mixed, are runs; each message is read as alone."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from hypothesis import given

from jsontide.messages import CompleteCall, Message, Outcome, PartialCall, TextDelta, ToolResult
from jsontide.runs import PendingResult, Run, RunOutcome, astream_run, stream_run
from jsontide.streams import stream_message
from tests.cuts import cut_randomly, singles
from tests.generated_streams import STREAMS
from tests.messages.folding import Known
from tests.provider_streams import NAMES
from tests.providers.dialects import DIALECTS
from tests.providers.test_one_message import BY_ID, told
from tests.recorded_streams import FILES, TURNS, all_events
from tests.shared_data import in_data
from tests.strategies import examples, randoms
from tests.streams.arriving import Source, arriving

Event = dict[str, Any]


def read(source: Any, **options: Any) -> Run[Any]:
    """The run at the end, which both forms must give."""

    async def collect() -> list[str]:
        return [run.to_json() async for run in astream_run(arriving(kept), **options)]

    kept = list(source)
    stream = stream_run(kept, **options)
    runs = [run.to_json() for run in stream]
    assert asyncio.run(collect()) == runs
    assert runs[-1] == stream.run.to_json() or len(stream.runs) > 1
    return stream.run


def shown(message: Message[Any]) -> list[Any]:
    """What a message says, but for the ids of its calls, which a run may make."""
    parts: list[Any] = [
        one.evolve(id="") if isinstance(one, CompleteCall | PartialCall) else one for one in message.parts
    ]
    return [message.outcome, message.finish_reason, message.usage, message.id, message.errors, parts]


class TestMessagesOneAfterTheOther:
    @pytest.mark.parametrize(
        ("provider", "ids"),
        [(provider, ("one", "two")) for provider in DIALECTS]
        + [(provider, (None, None)) for provider in DIALECTS if provider not in BY_ID],
    )
    def test_are_steps_and_what_each_says_alone(self, provider: str, ids: tuple[str | None, str | None]) -> None:
        told_each = [told(provider, one) for one in ids]
        run = read([event for each in told_each for event in each])
        assert [shown(step.message) for step in run.steps] == [
            shown(stream_message(each).final()) for each in told_each
        ]
        assert run.outcome is RunOutcome.LIMIT
        for step in run.steps:
            assert [(one.ran, one.output) for one in step.results if isinstance(one, ToolResult)] == [("unknown", None)]

    @pytest.mark.parametrize("provider", ["openai_chat", "openai_responses", "anthropic"])
    @pytest.mark.parametrize("has_done", [True, False])
    def test_as_bytes_cut_anywhere_too(self, provider: str, has_done: bool) -> None:  # noqa: FBT001
        text = ""
        for one in ("one", "two"):
            text += "".join(f"data: {json.dumps(event)}\n\n" for event in told(provider, one))
            text += "data: [DONE]\n\n" if has_done else ""
        expected = [shown(step.message) for step in read([text]).steps]
        assert len(expected) == 2
        chunkings: list[list[Any]] = [singles(text.encode()), *(cut_randomly(text, Random(at)) for at in range(5))]
        for chunks in chunkings:
            assert [shown(step.message) for step in stream_run(chunks).final().steps] == expected

    @pytest.mark.parametrize("name", NAMES)
    def test_one_message_is_one_step(self, name: str) -> None:
        events = STREAMS[name].events
        run = stream_run(events).final()
        message = stream_message(events).final()
        (step,) = run.steps
        assert (step.message.outcome, step.message.content) == (message.outcome, message.content)
        assert [one.partial for one in step.message.tool_calls] == [one.partial for one in message.tool_calls]

    def test_a_message_has_ended_when_its_last_event_says_so(self) -> None:
        for provider in ("openai_responses", "anthropic"):
            stop = [{"type": "message_stop"}] if provider == "anthropic" else []
            stream = stream_run([*told(provider, "one"), *stop, {"type": "ping"}, *told(provider, "two"), *stop])
            outcomes = [(len(run.steps), run.message.outcome) for run in stream if run.message is not None]
            assert (1, Outcome.COMPLETE) in outcomes
            assert [step.message.outcome for step in stream.run.steps] == [Outcome.COMPLETE] * 2

    def test_a_last_event_that_is_repeated_is_no_message(self) -> None:
        for provider in ("openai_responses", "anthropic"):
            events = told(provider, "one")
            assert len(read([*events, events[-1]]).steps) == 1

    def test_stream_message_says_what_reads_them(self) -> None:
        message = stream_message([*told("anthropic", "one"), *told("anthropic", "two")]).final()
        assert "stream_run" in message.errors[0].message


@pytest.mark.parametrize(
    "file", [pytest.param(file, marks=in_data("provider-streams")) for file in FILES or ["recordings"]]
)
def test_recordings_of_several_messages_are_runs(file: str) -> None:
    steps = stream_run(all_events(file)).final().steps
    assert [shown(step.message) for step in steps] == [shown(stream_message(each).final()) for each in TURNS[file]]


@examples(0.3)
@given(randoms)
def test_responses_that_share_a_socket_are_runs_of_their_own(random: Random) -> None:
    streams = {
        f"stream_{at}": [
            {**event, "stream_id": f"stream_{at}"}
            for name in ("one", "two")[: random.randint(1, 2)]
            for event in told("openai_responses", f"{name}_{at}")
        ]
        for at in range(random.randint(1, 3))
    }
    left = {name: list(events) for name, events in streams.items()}
    mixed = []
    while left:
        name = random.choice(list(left))
        mixed.append(left[name].pop(0))
        left = {name: events for name, events in left.items() if events}
    stream = stream_run(mixed)
    for run in stream:
        assert run.id in streams
    assert {str(run.id): run for run in stream.runs} == {
        name: stream_run(events).final() for name, events in streams.items()
    }


SESSION = {"session_id": "s"}
INIT: Event = {"type": "system", "subtype": "init", "tools": [], **SESSION}
RESULT: Event = {"type": "result", "subtype": "success", "is_error": False, "result": "Done.", **SESSION}


def agent_message(name: str, *blocks: Event, parent: str | None = None, events: bool, whole: bool) -> list[Event]:
    """A message of an agent: its events, its blocks as they end, or both."""
    about = {"parent_tool_use_id": parent, **SESSION}
    start: Event = {"id": name, "type": "message", "role": "assistant", "model": "claude-9", "content": []}
    found: list[Event] = [{"type": "message_start", "message": start}]
    lines = []
    for at, block in enumerate(blocks):
        is_call = block["type"] == "tool_use"
        piece = (
            {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            if is_call
            else {"type": "text_delta", "text": block["text"]}
        )
        found += [
            {
                "type": "content_block_start",
                "index": at,
                "content_block": {**block, **({"input": {}} if is_call else {"text": ""})},
            },
            {"type": "content_block_delta", "index": at, "delta": piece},
            {"type": "content_block_stop", "index": at},
        ]
    reason = "tool_use" if blocks[-1]["type"] == "tool_use" else "end_turn"
    found += [{"type": "message_delta", "delta": {"stop_reason": reason}}, {"type": "message_stop"}]
    blocks_told = 0
    for event in found if events else [one for one in found if one["type"] == "content_block_stop"]:
        if events:
            lines.append({"type": "stream_event", "uuid": "u", "event": event, **about})
        if whole and event["type"] == "content_block_stop":
            message = {**start, "content": [blocks[blocks_told]]}
            lines.append({"type": "assistant", "message": message, **about})
            blocks_told += 1
    return lines


def text(said: str) -> Event:
    return {"type": "text", "text": said}


def use(call_id: str, **arguments: Any) -> Event:
    return {"type": "tool_use", "id": call_id, "name": "do", "input": arguments}


def returned(call_id: str, content: Any, *, parent: str | None = None, is_error: bool = False) -> Event:
    block = {
        "type": "tool_result",
        "tool_use_id": call_id,
        "content": content,
        **({"is_error": True} if is_error else {}),
    }
    return {"type": "user", "message": {"role": "user", "content": [block]}, "parent_tool_use_id": parent, **SESSION}


def nested_lines(at: int, **how: Any) -> list[Event]:
    parent = f"task_{at}"
    return [
        *agent_message(f"n{at}a", text("Sub"), use(f"read_{at}", path="x"), parent=parent, **how),
        returned(f"read_{at}", "42", parent=parent),
        *agent_message(f"n{at}b", text(f"It is 42 in {at}."), parent=parent, **how),
    ]


def agent_lines(random: Random, **how: Any) -> list[Event]:
    """An agent that lets two agents of its own work at the same time, whose lines are mixed."""
    left = [nested_lines(at, **how) for at in (1, 2)]
    mixed = []
    while left:
        mixed.append(random.choice(left).pop(0))
        left = [each for each in left if each]
    return [
        INIT,
        *agent_message("m1", text("Wait."), use("task_1", a=1), use("task_2", a=2), **how),
        *mixed,
        returned("task_1", [text("It is "), text("42.")]),
        returned("task_2", "no way", is_error=True),
        *agent_message("m2", text("Done."), **how),
        RESULT,
    ]


HOWS: list[dict[str, Any]] = [
    {"events": True, "whole": True},
    {"events": True, "whole": False},
    {"events": False, "whole": True},
]


def check_agent(run: Run[Any]) -> None:
    assert (run.id, run.outcome) == ("s", RunOutcome.COMPLETE)
    assert [step.message.content for step in run.steps] == ["Wait.", "Done."]
    first, second = run.steps[0].results
    assert isinstance(first, ToolResult)
    assert isinstance(second, ToolResult)
    assert (first.output, first.error, first.ran) == ("It is 42.", None, "yes")
    assert (second.error, second.ran) == ("no way", "yes")
    for at, result in enumerate((first, second), 1):
        nested = result.nested
        assert isinstance(nested, Run)
        assert nested.outcome is RunOutcome.COMPLETE
        assert [step.message.content for step in nested.steps] == ["Sub", f"It is 42 in {at}."]
        assert [one.output for one in nested.steps[0].results if isinstance(one, ToolResult)] == ["42"]


class TestAnAgentOfClaude:
    @pytest.mark.parametrize("how", HOWS)
    def test_is_a_run_with_its_results_and_the_runs_of_its_agents(self, how: dict[str, Any]) -> None:
        for seed in range(5):
            lines = agent_lines(Random(seed), **how)
            check_agent(read(lines))
            check_agent(stream_run(json.dumps(line) + "\n" for line in lines).final())

    @pytest.mark.parametrize("how", HOWS)
    def test_says_all_that_is_new_once(self, how: dict[str, Any]) -> None:
        events = list(stream_run(agent_lines(Random(0), **how)).events())
        known = Known().take(events)
        assert known.ends == [RunOutcome.COMPLETE]
        assert known.joined(TextDelta) == "Wait.Done."
        assert "".join(stream_run(agent_lines(Random(0), **how)).text_deltas()) == "Wait.Done."

    def test_shows_the_agents_of_the_agent_while_they_work(self) -> None:
        seen = set()
        for run in stream_run(agent_lines(Random(0), **HOWS[0])):
            for result in run.results:
                if isinstance(result, PendingResult) and isinstance(result.progress, Run):
                    seen.add((result.call.id, result.progress.content))
        assert {("task_1", "Sub"), ("task_1", "It is 42 in 1."), ("task_2", "It is 42 in 2.")} <= seen

    def test_runs_nothing_and_ends_with_a_result_for_every_call_wherever_it_breaks_off(self) -> None:
        lines = agent_lines(Random(1), **HOWS[0])
        for end in range(len(lines)):
            run = stream_run(lines[:end]).final()
            assert run.is_over
            assert run.outcome is (RunOutcome.FAILED if end else RunOutcome.EMPTY)
            for step in run.steps:
                assert len(step.results) == len(step.message.tool_calls)
                assert all(isinstance(one, ToolResult) for one in step.results)
            assert Run.from_json(run.to_json()).to_json() == run.to_json()

    def test_goes_on_after_a_turn(self) -> None:
        how = HOWS[0]
        more = [*agent_message("m3", text("Again."), **how), RESULT]
        run = read([*agent_lines(Random(0), **how), *more])
        assert [step.message.content for step in run.steps] == ["Wait.", "Done.", "Again."]
        assert run.outcome is RunOutcome.COMPLETE

    @pytest.mark.parametrize(
        ("result", "outcome"),
        [
            ({"subtype": "error_max_turns", "is_error": True}, RunOutcome.LIMIT),
            ({"subtype": "error_during_execution", "is_error": True}, RunOutcome.FAILED),
            ({"subtype": "success", "is_error": True, "result": "API Error"}, RunOutcome.FAILED),
        ],
    )
    def test_that_failed_says_so(self, result: Event, outcome: RunOutcome) -> None:
        lines = [*agent_message("m", use("c"), **HOWS[0]), returned("c", "1")]
        run = read([*lines, {"type": "result", **SESSION, **result}])
        assert run.outcome is outcome
        if outcome is RunOutcome.FAILED:
            assert run.error == (result.get("result") or result["subtype"])

    def test_agents_whose_call_did_not_come_are_runs_of_their_own(self) -> None:
        lines = agent_message("n", text("Sub"), parent="task_9", **HOWS[0])
        stream = stream_run([INIT, *lines, *agent_message("m", text("Hi."), **HOWS[0]), RESULT])
        assert [run.content for run in [*stream][-2:]] == ["Hi.", "Sub"]

    def test_what_a_result_holds_beside_text_stays(self) -> None:
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "eA=="}}
        for content in ([text("a"), image], None, [], "plain"):
            lines = [*agent_message("m", use("c"), **HOWS[0]), returned("c", content), RESULT]
            (result,) = stream_run(lines).final().steps[0].results
            assert isinstance(result, ToolResult)
            assert result.output == content

    def test_a_result_of_a_call_that_is_not_valid_did_not_run(self) -> None:
        lines = agent_message("m", use("c", a=1), **HOWS[1])
        for line in lines:
            if line["event"]["type"] == "content_block_delta":
                line["event"]["delta"]["partial_json"] = '{"a":'
        (result,) = stream_run([*lines, returned("c", "no input", is_error=True), RESULT]).final().steps[0].results
        assert isinstance(result, ToolResult)
        assert (result.ran, result.error) == ("no", "no input")


@dataclass
class Init:
    subtype: str
    data: Event


@dataclass
class Streamed:
    uuid: str
    session_id: str
    event: Event
    parent_tool_use_id: str | None


@dataclass
class TextBlock:
    text: str


@dataclass
class UseBlock:
    id: str
    name: str
    input: Event


@dataclass
class ResultBlock:
    tool_use_id: str
    content: Any
    is_error: bool | None


@dataclass
class Assistant:
    content: list[Any]
    model: str
    parent_tool_use_id: str | None
    message_id: str | None


@dataclass
class User:
    content: list[Any]
    parent_tool_use_id: str | None


@dataclass
class Ended:
    subtype: str
    is_error: bool
    session_id: str
    result: str


def as_sdk(line: Event) -> Any:
    parent = line.get("parent_tool_use_id")
    match line["type"]:
        case "system":
            return Init("init", line)
        case "stream_event":
            return Streamed("u", "s", line["event"], parent)
        case "result":
            return Ended("success", is_error=False, session_id="s", result="Done.")
        case "user":
            blocks = line["message"]["content"]
            results = [ResultBlock(one["tool_use_id"], one["content"], one.get("is_error")) for one in blocks]
            return User(results, parent)
    message = line["message"]
    blocks = [
        TextBlock(one["text"]) if one["type"] == "text" else UseBlock(one["id"], one["name"], one["input"])
        for one in message["content"]
    ]
    return Assistant(blocks, message["model"], parent, message["id"])


@pytest.mark.parametrize("how", HOWS)
def test_objects_of_the_agent_sdk_say_the_same(how: dict[str, Any]) -> None:
    check_agent(read([as_sdk(line) for line in agent_lines(Random(0), **how)]))


def test_a_stream_that_is_stopped_keeps_what_it_has_and_closes_its_source() -> None:
    source = Source(agent_lines(Random(0), **HOWS[0]))
    with stream_run(source) as stream:
        for run in stream:
            if run.content == "Wait.":
                break
    assert (stream.run.outcome, stream.run.content) == (RunOutcome.CANCELLED, "Wait.")
    assert source.is_closed
    assert list(stream) == []


def test_an_asynchronous_stream_is_stopped_too() -> None:
    async def read_some() -> tuple[Run[Any], list[str]]:
        texts = []
        async with astream_run(source) as stream:
            async for text in stream.text_deltas():
                texts.append(text)
                if text == "Wait.":
                    break
        assert [run async for run in stream] == []
        return stream.run, texts

    source = Source(agent_lines(Random(0), **HOWS[0]))
    run, texts = asyncio.run(read_some())
    assert (run.outcome, texts, source.is_closed) == (RunOutcome.CANCELLED, ["Wait."], True)


def test_a_connection_that_fails_ends_the_run_and_a_bug_is_raised() -> None:
    def broken(error: Exception) -> Iterator[Event]:
        yield from told("anthropic", "one")[:3]
        raise error

    run = stream_run(broken(ConnectionError("gone"))).final()
    assert (run.outcome, run.error) == (RunOutcome.FAILED, "ConnectionError: gone")
    stream = stream_run(broken(KeyError("bug")))
    with pytest.raises(KeyError):
        stream.final()
    assert stream.run.outcome is RunOutcome.CANCELLED


def test_what_is_no_stream_of_a_provider_says_so() -> None:
    for source in ([{"hello": 1}], ["hello"], [], [b"\xff\xfe"]):
        run = stream_run(source).final()
        assert run.is_over
        assert run.outcome is not RunOutcome.COMPLETE
    assert "no event of a known provider" in str(stream_run([{"hello": 1}]).final().steps[0].message.errors[0].message)


def test_wrong_arguments_are_refused_where_they_are_passed() -> None:
    with pytest.raises(TypeError, match="astream_run takes asynchronous ones"):
        stream_run(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="stream_run takes plain ones"):
        astream_run([])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unknown"):
        stream_run([], unknown=1)  # type: ignore[call-arg]
