"""What every encoder of runs keeps, whatever its protocol: each step, call and result, at every cut.

A stream is read by the checker of its protocol and by the front end's own client, and compared with the steps of the
run. The sequences are in `runs.py`.
"""

import json
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest

from jsontide.frontends import (
    AgUiEncoder,
    AssistantTransportEncoder,
    CompactEncoder,
    CompactValue,
    Encoder,
    ObjectStreamEncoder,
    ToolFailedError,
    VercelEncoder,
)
from jsontide.messages import ToolResult
from jsontide.runs import Run, RunOutcome
from jsontide.testing import check_ag_ui, check_assistant_transport, check_object_stream, check_vercel
from tests.frontends.runs import (
    BREAKS,
    CONTINUED,
    INSIDE,
    PLAYED,
    RUNS,
    WAITING,
    broken_continuations,
    broken_runs,
    cleaned,
    runs_before,
    shown_run,
    without_proto,
)
from tests.frontends.turns import encode, pieces
from tests.node_scripts import needs_node, run

Shown = list[list[tuple[object, ...]]]


def shown_in_vercel(parts: Iterable[dict[str, Any]]) -> Shown:
    """The steps of a message as ai has it."""
    steps: Shown = []
    for part in parts:
        kind = part["type"]
        if kind == "step-start":
            steps.append([])
        elif kind in {"text", "reasoning"}:
            steps[-1].append((kind, part["text"]))
        elif kind.startswith("tool-"):
            steps[-1].append(("call", kind.removeprefix("tool-"), *result_in_vercel(part)))
    return steps


def result_in_vercel(part: dict[str, Any]) -> tuple[object, ...]:
    words = {"approval-requested": "waiting", "output-error": "error", "output-denied": "refused"}
    if part["state"] == "output-available":
        assert not part.get("preliminary")
        return "output", part["output"]
    return (words.get(part["state"], "no result"),)


def shown_in_ag_ui(messages: Sequence[dict[str, Any]]) -> Shown:
    """The messages of an AG-UI client that are the assistant's, without those of the runs of tools."""
    own = [one for one in messages if "subagentRunId" not in one and one["role"] != "activity"]
    results = {one["toolCallId"]: one for one in own if one["role"] == "tool"}
    found: Shown = []
    steps: list[str] = []
    for one in own:
        if one["role"] == "tool":
            continue
        name = one["id"].partition("-step")[2].partition("-")[0]
        if name not in steps:
            steps.append(name)
            found.append([])
        if one["role"] == "reasoning" or one.get("content"):
            found[-1].append(("reasoning" if one["role"] == "reasoning" else "text", one.get("content", "")))
        for call in one.get("toolCalls", []):
            found[-1].append(("call", call["function"]["name"], *result_in_ag_ui(results.get(call["id"]))))
    return found


def result_in_ag_ui(message: dict[str, Any] | None) -> tuple[object, ...]:
    if message is None:
        return ("no result",)
    return ("error",) if message.get("metadata") else ("output", message["content"])


def as_in_ag_ui(shown: Shown) -> Shown:
    """Outputs as text, which is what AG-UI has; waiting calls have no result, and a refusal is an error."""
    return [[as_text(one) for one in step] for step in shown if step]


def as_text(one: tuple[object, ...]) -> tuple[object, ...]:
    if one[0] != "call":
        return one
    if one[2] == "output":
        return (*one[:3], one[3] if isinstance(one[3], str) else json.dumps(one[3], separators=(",", ":")))
    return (*one[:2], {"waiting": "no result", "refused": "error"}.get(str(one[2]), one[2]))


def shown_in_transport(parts: Iterable[tuple[str, str, str, object, bool, bool]]) -> list[tuple[object, ...]]:
    """All parts of an assistant-ui message but for those of the runs of tools: it has no steps."""
    found: list[tuple[object, ...]] = []
    for kind, text, name, result, has_result, is_error in parts:
        if kind in {"text", "reasoning"}:
            found.append((kind, text))
        elif kind == "tool-call":
            told: tuple[object, ...] = ("error",) if is_error else ("output", result)
            found.append(("call", name, *(told if has_result else ("no result",))))
    return found


def shown_in_value(value: dict[str, Any]) -> Shown:
    """The steps of the value that a browser shows."""
    steps = value["steps"]
    return [
        [one for at, part in enumerate(step["message"]["parts"]) for one in part_in_value(step, at, part)]
        for step in steps
    ]


def without_empty(shown: Shown) -> Shown:
    """Without texts that say nothing: a value has all parts, also those that nobody has to have back."""
    return [[one for one in step if one[0] == "call" or one[1]] for step in shown]


def part_in_value(step: dict[str, Any], at: int, part: dict[str, Any]) -> Iterator[tuple[object, ...]]:
    if part["type"] in {"text", "reasoning", "refusal"}:
        yield part["type"].replace("refusal", "text"), part["text"]
    elif part["type"] == "call" and "name" in part:
        found = [one for one in step.get("results", []) if one["part"] == at]
        words = {"failed": "error", "not_run": "error", "unknown": "error"}
        if part["status"] != "complete":
            yield "call", part["name"], "error"
        elif not found:
            yield "call", part["name"], "no result"
        elif found[0]["status"] == "done":
            yield "call", part["name"], "output", found[0]["output"]
        else:
            yield "call", part["name"], words.get(found[0]["status"], found[0]["status"])


def trimmed(shown: Shown) -> Shown:
    """The steps without empty ones at their end: a stream may end with one that stops clients from asking again."""
    return trimmed(shown[:-1]) if shown and not shown[-1] else shown


def as_waiting(shown: Shown) -> Shown:
    """The same where the client itself has noted an answer to a call, and the call waits on."""
    return [[(*one[:2], "waiting") if one[2:] == ("no result",) else one for one in step] for step in shown]


@dataclass(frozen=True)
class Protocol:
    make: Callable[..., Encoder[Any]]
    read: Callable[[bytes], Any]
    """Reads with the checker of the protocol; returns what is compared with another reader of the same."""
    matches: Callable[[Any, Run[Any]], None]
    """Asserts that what was read is the run."""


def read_compact(stream: bytes) -> CompactValue:
    value = CompactValue()
    for line in stream.decode().split("\n"):
        if line.startswith("data: "):
            value = value.read(json.loads(line.removeprefix("data: ")))
    return value


def match_vercel(report: Any, run: Run[Any]) -> None:
    ends = {RunOutcome.CANCELLED: "abort", RunOutcome.FAILED: "error"}
    flat = [one for step in cleaned(shown_run(run)) for one in step]
    calls = {one.id: one for one in report.calls}
    words = {"approval-requested": "waiting", "output-error": "error", "output-denied": "refused"}
    found = []
    for part in report.parts:
        if part["type"] in {"text", "reasoning"}:
            found.append((part["type"], part["text"]))
        elif part["type"] == "call":
            call = calls[part["id"]]
            assert not call.preliminary
            told = (
                ("output", call.output) if call.state == "output-available" else (words.get(call.state, "no result"),)
            )
            found.append(("call", call.name, *told))
    assert found == flat
    if run.outcome in ends:
        assert report.end == ends[run.outcome]
    if run.outcome in {RunOutcome.COMPLETE, RunOutcome.WAITING, RunOutcome.LIMIT}:
        assert report.end == "finish"
    if report.metadata:
        assert run.usage is not None
        assert report.metadata["usage"]["outputTokens"] == run.usage.output_tokens


def match_ag_ui(found: Any, run: Run[Any]) -> None:
    assert shown_in_ag_ui(found.messages) == as_in_ag_ui(shown_run(run))
    ends = {"complete": "success", "waiting": "interrupt", "cancelled": "cancelled"}
    end = found.end["outcome"]["type"] if "outcome" in found.end else found.end["code"]
    assert end == ends.get(run.outcome.value, end)
    if run.outcome is RunOutcome.WAITING:
        waiting = [one["toolCallId"] for one in found.end["outcome"]["interrupts"]]
        assert waiting == [one.call.id for one in run.waiting]
    costs = [one.message.usage.output_tokens for one in run.steps if one.message.usage is not None]
    assert [one["outputTokens"] for one in found.end.get("usage", [])] == costs


def match_transport(found: Any, run: Run[Any]) -> None:
    own = [part for part in found.parts if "parentId" not in part.start]
    told = [
        (part.type, part.text, part.start.get("toolName", ""), part.result, part.has_result, part.is_error)
        for part in own
    ]
    flat = [one for step in cleaned(shown_run(run)) for one in step]
    expected = [
        (*one[:2], {"waiting": "no result", "refused": "error"}.get(str(one[2]), one[2]), *one[3:])
        if one[0] == "call"
        else one
        for one in flat
    ]
    assert shown_in_transport(told) == expected
    if run.outcome is RunOutcome.WAITING:
        assert found.finish_reason == "tool-calls"


def match_value(found: Any, run: Run[Any]) -> None:
    assert without_empty(shown_in_value(found)) == without_empty(cleaned(shown_run(run)))
    assert found["status"] == run.outcome.value
    if run.usage is not None:
        assert found["usage"]["output_tokens"] == run.usage.output_tokens


def match_compact(found: CompactValue, run: Run[Any]) -> None:
    match_value(without_names_in_outputs(found.value), run)
    assert found.end is not None
    assert found.end["end"] == run.outcome.value
    assert all(len(path) > 3 for path in found.growing), "only calls that broke off, and results that wait"
    assert run.outcome is RunOutcome.WAITING or not [
        path for path in found.growing if len(path) == 4 and path[2] == "results"
    ]


def without_names_in_outputs(value: Any) -> Any:
    """The value without `__proto__` in outputs, which this form passes on."""
    steps = [
        {**step, "results": [{**one, "output": without_proto(one.get("output"))} for one in step.get("results", [])]}
        for step in value["steps"]
    ]
    return {**value, "steps": steps}


PROTOCOLS = {
    "vercel": Protocol(lambda: VercelEncoder(message_id="m", hostile_keys="drop"), check_vercel, match_vercel),
    "ag-ui": Protocol(lambda: AgUiEncoder(thread_id="t", run_id="r"), check_ag_ui, match_ag_ui),
    "assistant transport": Protocol(
        lambda: AssistantTransportEncoder(message_id="m"), check_assistant_transport, match_transport
    ),
    "object stream": Protocol(ObjectStreamEncoder, check_object_stream, match_value),
    "compact": Protocol(CompactEncoder, read_compact, match_compact),
}


def every_run() -> Iterator[tuple[str, list[Run[Any]]]]:
    """Each run until its own end, and until it breaks, after each of its states, in every way."""
    yield from RUNS.items()
    for name, states in PLAYED.items():
        for at, way in product(range(len(states)), BREAKS):
            broken = broken_runs(states, at, way)
            if broken is not None:
                yield f"{name}, {way} at {at}", broken
    for at, (name, runs) in enumerate(broken_continuations()):
        yield f"{name}, {at}", runs


EVERY_RUN = dict(every_run())


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> Protocol:
    return PROTOCOLS[request.param]


@pytest.mark.parametrize("name", RUNS)
def test_every_step_and_result_is_told_also_to_who_joins_late(protocol: Protocol, name: str) -> None:
    runs = RUNS[name]
    for at in {0, len(runs) // 3, len(runs) // 2, len(runs) - 1}:
        protocol.matches(protocol.read(encode(protocol.make(), runs[at:])), runs[-1])


def test_every_run_that_breaks_anywhere_is_told_to_its_end(protocol: Protocol) -> None:
    for name, runs in EVERY_RUN.items():
        try:
            protocol.matches(protocol.read(encode(protocol.make(), runs[-2:])), runs[-1])
        except AssertionError as error:
            raise AssertionError(name) from error


@pytest.mark.long
def test_every_run_is_told_to_who_joins_anywhere(protocol: Protocol) -> None:
    for runs in EVERY_RUN.values():
        for at in range(len(runs)):
            protocol.matches(protocol.read(encode(protocol.make(), runs[at:])), runs[-1])


def test_a_failure_of_the_program_is_told(protocol: Protocol) -> None:
    for name, runs in RUNS.items():
        for at in range(0, len(runs) - 1, 3):
            sent = encode(protocol.make(), runs[:at], "out of money")
            protocol.read(sent)
            assert b"out of money" in sent, name


def test_a_state_of_a_run_is_a_value(protocol: Protocol) -> None:
    encoder = protocol.make()
    for name in ("two steps", "a nested run", "waits for a person"):
        state, stream = encoder.begin()
        for one in RUNS[name]:
            saved = pickle.loads(pickle.dumps((state, one)))  # noqa: S301 - our own
            state, sent = encoder.encode(*saved)
            assert encoder.encode(*saved)[1] == sent
            stream += sent
        protocol.matches(protocol.read(stream), RUNS[name][-1])


def test_what_a_tool_says_of_its_failure_stays_on_the_server(protocol: Protocol) -> None:
    for name in ("two steps", "a nested run"):
        saved = [Run.from_json(run.to_json()) for run in RUNS[name]]
        for runs in (RUNS[name], saved[-1:]):
            sent = encode(protocol.make(), runs)
            assert INSIDE.encode() not in sent
            assert name != "two steps" or b"the tool failed" in sent
    for broken in ([RUNS["two steps"][0], EVERY_RUN["two steps, failed at 5"][-1]],):
        assert INSIDE.encode() not in encode(protocol.make(), broken)


def test_an_application_may_tell_what_a_tool_says(protocol: Protocol) -> None:
    def describe(error: object) -> str:
        assert isinstance(error, ToolFailedError)
        assert isinstance(error.result, ToolResult)
        return f"sorry: {error}"

    encoder: Any = protocol.make()
    sent = encode(encoder.with_describe_error(describe), RUNS["two steps"])
    assert f"sorry: {INSIDE}".encode() in sent


class TestDecisions:
    """What follows on the decision of a person, in a second response."""

    def test_vercel_goes_on_with_its_message(self) -> None:
        for name, runs in broken_continuations():
            *_, waiting = before = runs_before(name)
            first = check_vercel(encode(VercelEncoder(message_id="m"), before))
            for given in (runs, runs[-1:]):
                encoder = VercelEncoder(message_id="m", continues=Run.from_json(waiting.to_json()))
                match_vercel(check_vercel(encode(encoder, given), first), runs[-1])

    @pytest.mark.parametrize("name", CONTINUED)
    def test_what_goes_on_in_vercel_is_nothing_by_itself(self, name: str) -> None:
        encoder = VercelEncoder(message_id="m", continues=runs_before(name)[-1])
        with pytest.raises(AssertionError, match=r"has no arguments|does not wait|not begun"):
            check_vercel(encode(encoder, CONTINUED[name]))

    def test_ag_ui_goes_on_in_its_thread(self) -> None:
        for name, runs in broken_continuations():
            *_, waiting = before = runs_before(name)
            first = check_ag_ui(encode(AgUiEncoder(thread_id="t", run_id="r"), before))
            for given in (runs, runs[-1:]):
                stream = encode(AgUiEncoder(thread_id="t", run_id="r2", message_id="m", continues=waiting), given)
                found = check_ag_ui(stream, before=first)
                assert shown_in_ag_ui(found.messages) == as_in_ag_ui(shown_run(runs[-1])), name
                costs = [one.message.usage for one in runs[-1].steps[1:] if one.message.usage is not None]
                assert len(found.end.get("usage", [])) == len(costs), "the first run told what its step cost"

    def test_ai_5_is_told_of_a_plain_call(self) -> None:
        runs = [*RUNS["waits for a person"], *CONTINUED["refused"]]
        for given in (runs[: len(RUNS["waits for a person"])], CONTINUED["refused"]):
            check_vercel(encode(VercelEncoder(message_id="m", approvals=False), given), approvals=False)
        with pytest.raises(AssertionError, match="is not known to ai 5"):
            check_vercel(encode(VercelEncoder(message_id="m"), RUNS["waits for a person"]), approvals=False)


def test_the_second_of_two_decisions_waits_on() -> None:
    """Nothing is told again of what still waits."""
    encoder = VercelEncoder(message_id="m", continues=WAITING)
    sent = encode(encoder, [WAITING])
    assert sent.count(b"approval") == 0
    assert b'"finishReason":"tool-calls"' in sent


SOME = [name for at, name in enumerate(EVERY_RUN) if name in RUNS or at % 41 == 0]


@needs_node
@pytest.mark.untraced
class TestClients:
    """The front ends' own clients end with the run of the server."""

    def check_vercel(self, runs: list[list[Run[Any]]], make: Callable[[], Any], *versions: str) -> None:
        encoder = make()
        given = [{"stream": encode(encoder, each).decode(), "automatic": True} for each in runs]
        for found in run("vercel.mjs", given, *versions).values():
            for each, client in zip(runs, found, strict=True):
                (message,) = client["messages"]
                assert trimmed(shown_in_vercel(message["parts"])) == trimmed(cleaned(shown_run(each[-1])))
                assert client["asked"] == 1, "the client asked again by itself"
                if each[-1].outcome in {RunOutcome.COMPLETE, RunOutcome.LIMIT, RunOutcome.WAITING}:
                    assert client["errors"] == []

    def test_vercel(self) -> None:
        runs = [EVERY_RUN[name] for name in SOME]
        self.check_vercel(runs, PROTOCOLS["vercel"].make, "ai6", "ai7")

    @pytest.mark.long
    def test_vercel_at_every_cut(self) -> None:
        runs = list(EVERY_RUN.values())
        for at in range(0, len(runs), 100):
            self.check_vercel(runs[at : at + 100], PROTOCOLS["vercel"].make, "ai6", "ai7")

    @pytest.mark.long
    def test_vercel_resumes_at_every_cut(self) -> None:
        """The network fails after each event; what is sent then begins anew, and the client has each part once."""
        for name, runs in RUNS.items():
            sent = list(pieces(VercelEncoder(message_id="m", hostile_keys="drop"), runs))
            given = [
                {
                    "stream": b"".join(sent[:at]).decode(),
                    "resume": encode(VercelEncoder(message_id="m", hostile_keys="drop"), runs[at - 1 :]).decode(),
                }
                for at in range(1, len(sent))
            ]
            for version, found in run("vercel.mjs", given, "ai6", "ai7").items():
                for client in found:
                    (message,) = client["messages"]
                    shown = trimmed(shown_in_vercel(message["parts"]))
                    assert shown == trimmed(cleaned(shown_run(runs[-1]))), (version, name)

    def check_vercel_continued(self, continued: list[tuple[str, list[Run[Any]]]]) -> None:
        given = [
            {
                "stream": encode(VercelEncoder(message_id="m"), runs_before(name)).decode(),
                "then": encode(VercelEncoder(message_id="m", continues=runs_before(name)[-1]), runs).decode(),
                "decisions": {one.call.id: "refused" not in name for one in runs_before(name)[-1].waiting},
            }
            for name, runs in continued
        ]
        for version, found in run("vercel.mjs", given, "ai6", "ai7").items():
            for (name, runs), client in zip(continued, found, strict=True):
                (message,) = client["messages"]
                shown = trimmed(shown_in_vercel(message["parts"]))
                assert as_waiting(shown) == trimmed(shown_run(runs[-1])), (version, name)
                assert client["asked"] == 2
                if runs[-1].outcome in {RunOutcome.COMPLETE, RunOutcome.LIMIT, RunOutcome.WAITING}:
                    assert client["errors"] == []

    def test_vercel_goes_on_after_a_decision(self) -> None:
        self.check_vercel_continued(list(CONTINUED.items()))

    @pytest.mark.long
    def test_vercel_goes_on_after_a_decision_at_every_cut(self) -> None:
        self.check_vercel_continued(list(broken_continuations()))

    def test_signatures_come_back(self) -> None:
        """`from_vercel` and `from_ag_ui` read them there."""
        stream = encode(VercelEncoder(message_id="m"), RUNS["thinking with signatures"]).decode()
        for found in run("vercel.mjs", [{"stream": stream}], "ai6", "ai7").values():
            parts = found[0]["messages"][0]["parts"]
            kept = [part.get("providerMetadata") or part.get("callProviderMetadata") for part in parts]
            assert [one["jsontide"] for one in kept if one] == [
                {"provider": "anthropic", "signature": "c2ln"},
                {"provider": "anthropic", "encrypted": "cmVk", "redacted": True},
                {"provider": "anthropic", "arguments": '{"id": 12345678901234567890}'},
            ]

    def check_ag_ui(self, streams: list[bytes], runs: list[Run[Any]]) -> None:
        results = run("ag_ui.mjs", [{"text": stream.decode()} for stream in streams])
        for stream, found, each in zip(streams, results, runs, strict=True):
            checked = check_ag_ui(stream)
            assert (found["error"], found["warnings"]) == (None, [])
            assert found["messages"] == checked.messages
            assert shown_in_ag_ui(found["messages"]) == as_in_ag_ui(shown_run(each))

    def test_ag_ui(self) -> None:
        runs = [EVERY_RUN[name] for name in SOME]
        self.check_ag_ui([encode(PROTOCOLS["ag-ui"].make(), each) for each in runs], [each[-1] for each in runs])

    @pytest.mark.long
    def test_ag_ui_at_every_cut(self) -> None:
        runs = list(EVERY_RUN.values())
        self.check_ag_ui([encode(PROTOCOLS["ag-ui"].make(), each) for each in runs], [each[-1] for each in runs])

    def check_ag_ui_continued(self, continued: list[tuple[str, list[Run[Any]]]]) -> None:
        first = {name: encode(AgUiEncoder(thread_id="t", run_id="r"), runs_before(name)) for name, _ in continued}
        second = [
            encode(AgUiEncoder(thread_id="t", run_id="r2", continues=runs_before(name)[-1]), runs)
            for name, runs in continued
        ]
        given = [
            {"text": first[name].decode(), "then": sent.decode(), "approved": "refused" not in name}
            for (name, _), sent in zip(continued, second, strict=True)
        ]
        for (name, runs), sent, found in zip(continued, second, run("ag_ui.mjs", given), strict=True):
            assert (found["error"], found["warnings"]) == (None, []), name
            assert shown_in_ag_ui(found["messages"]) == as_in_ag_ui(shown_run(runs[-1])), name
            assert found["messages"] == check_ag_ui(sent, before=check_ag_ui(first[name])).messages

    def test_ag_ui_goes_on_after_a_decision(self) -> None:
        self.check_ag_ui_continued(list(CONTINUED.items()))

    @pytest.mark.long
    def test_ag_ui_goes_on_after_a_decision_at_every_cut(self) -> None:
        self.check_ag_ui_continued(list(broken_continuations()))

    def check_transport(self, runs: list[list[Run[Any]]]) -> None:
        make = PROTOCOLS["assistant transport"].make
        given = [{"kind": "transport", "text": encode(make(), each).decode()} for each in runs]
        for each, found in zip(runs, run("assistant.mjs", given), strict=True):
            assert (found["error"], found["warnings"]) == (None, [])
            message = found["message"]
            told = [
                (
                    part["type"],
                    part.get("text", ""),
                    part.get("toolName", ""),
                    part.get("result"),
                    "result" in part,
                    part.get("isError", False),
                )
                for part in message["parts"]
                if "parentId" not in part
            ]
            expected = check_assistant_transport(encode(make(), each))
            own = [part for part in expected.parts if "parentId" not in part.start]
            checked = [
                (part.type, part.text if part.type != "tool-call" else "", part.start.get("toolName", ""))
                for part in own
            ]
            assert [one[:3] for one in told] == checked
            assert [one[3:] for one in told if one[0] == "tool-call"] == [
                (part.result, part.has_result, part.is_error) for part in own if part.type == "tool-call"
            ]
            if each[-1].outcome is RunOutcome.WAITING:
                assert message["status"]["type"] == "requires-action"

    def test_assistant_ui(self) -> None:
        self.check_transport([EVERY_RUN[name] for name in SOME])

    @pytest.mark.long
    def test_assistant_ui_at_every_cut(self) -> None:
        self.check_transport(list(EVERY_RUN.values()))
