"""Runs for tests of encoders: every sequence of steps, results and decisions, cut anywhere, ended in every way.

Nothing here knows a protocol. `shown_run` says what a front end must show of a run, read off its steps.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from jsontide import Message
from jsontide.messages import CompleteCall, Outcome, PartialCall, ReasoningPart, Refusal, TextPart, ToolResult
from jsontide.runs import (
    PendingResult,
    Run,
    RunState,
    StepEnded,
    StepStarted,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    ToolWaits,
    continue_run,
    fail_run,
    feed_run,
    finish_run,
    start_run,
    stop_run,
)
from tests.frontends.turns import USAGE, call, chat
from tests.providers.dialects import block, block_delta

INSIDE = "quota of org-acme, key sk-123"
"""What a tool says when it fails, and no browser may read."""


@dataclass(frozen=True)
class Did:
    """What happens to a call: the ids of calls are those of the run."""

    place: int
    outputs: tuple[object, ...] = ()
    """What the tool yields; the last one is its output."""
    error: str | None = None


def grow(states: list[RunState[Any]], events: Iterable[object]) -> None:
    """Add the state after each event; a `Did` becomes the events of a call."""
    for event in events:
        for one in _events_of(states[-1].run, event):
            states.append(feed_run(states[-1], one(states[-1].run) if callable(one) else one))


def _events_of(run: Run[Any], event: object) -> list[Any]:
    if not isinstance(event, Did):
        return [event]
    call_id = str(run.results[event.place].call.id)
    started: list[Any] = [ToolStarted(call_id), *[ToolProgress(call_id, value) for value in event.outputs[:-1]]]

    def finish(run: Run[Any]) -> ToolFinished:
        output = event.outputs[-1] if event.outputs else None
        nested = output if isinstance(output, Run) else None
        given = output.content if isinstance(output, Run) else output
        result = ToolResult(run.results[event.place].call, given, event.error, nested=nested)
        return ToolFinished(call_id, result)

    return [*started, finish]


def waits(place: int) -> Callable[[Run[Any]], ToolWaits]:
    return lambda run: ToolWaits(str(run.results[place].call.id))


def is_not_run(
    place: int, ran: Any = "no", why: str = "the call was not run: it is invalid"
) -> Callable[[Run[Any]], Any]:
    def finish(run: Run[Any]) -> ToolFinished:
        found = run.results[place].call
        return ToolFinished(str(found.id), ToolResult(found, error=why, ran=ran))

    return finish


def step(*events: object) -> list[object]:
    return [StepStarted(), *events, StepEnded()]


def two_calls(first: str = "a", second: str | None = "b", text: str = "Let me look.") -> list[object]:
    return step(
        chat(content=text[:4]),
        chat(content=text[4:]),
        call(0, "", id=first, name="search"),
        call(0, '{"query": "Kyo'),
        call(1, '{"ci', **({} if second is None else {"id": second}), name="weather"),
        call(0, 'to"}'),
        call(1, 'ty": "Osaka"}'),
        chat("tool_calls"),
        USAGE,
    )


def answer(*pieces: str) -> list[object]:
    return step(*[chat(content=piece) for piece in pieces], chat("stop"), USAGE)


THOUGHT = step(
    {
        "type": "message_start",
        "message": {"id": "m", "model": "c", "content": [], "usage": {"input_tokens": 3, "output_tokens": 1}},
    },
    block(0, type="thinking", thinking=""),
    block_delta(0, "thinking_delta", thinking="Where is "),
    block_delta(0, "thinking_delta", thinking="it?"),
    block_delta(0, "signature_delta", signature="c2ln"),
    {"type": "content_block_stop", "index": 0},
    block(1, type="redacted_thinking", data="cmVk"),
    {"type": "content_block_stop", "index": 1},
    block(2, type="tool_use", id="toolu_1", name="weather", input={}),
    block_delta(2, "input_json_delta", partial_json='{"id": 12345678'),
    block_delta(2, "input_json_delta", partial_json="901234567890}"),
    {"type": "content_block_stop", "index": 2},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
    {"type": "message_stop"},
)
"""A message with a signature, with thinking that only Anthropic can read, and with a number that JavaScript rounds."""


def states_of_run(*events: object, run_id: str = "run") -> list[RunState[Any]]:
    """The states of a run after each event, before its end."""
    states = [start_run(id=run_id)]
    grow(states, events)
    return states


def nested_runs() -> list[Run[Any]]:
    """The runs of a tool that is an agent itself, whose calls have the ids of those around it."""
    states = states_of_run(*two_calls("a", "b", "Inside, I look."), run_id="inner")
    grow(states, [Did(1, ("rain",)), Did(0, error=INSIDE), *answer("All ", "about tea.")])
    return [*[state.run for state in states[1:]], finish_run(states[-1]).run]


ASKED = [*two_calls(), waits(0), Did(1, ({"sky": "clear"},))]
SCRIPTS: dict[str, list[object]] = {
    "two steps": [
        *two_calls(),
        Did(1, error=INSIDE),
        Did(0, (["some"], ["some", "more"])),
        *answer("It is ", "in Kyoto."),
    ],
    "an answer alone": answer("Hi", "!"),
    "three steps with the same ids": [
        *[event for _ in range(2) for event in [*two_calls("call_0", "call_1"), Did(0, ("x",)), Did(1, (None,))]],
        *answer("Done."),
    ],
    "calls without ids": [
        *[event for _ in range(2) for event in [*step(call(0, "{}", name="now"), chat("tool_calls")), Did(0, (7,))]],
        *answer("Now."),
    ],
    "an invalid call": [
        *step(call(0, '{"a": 1}', id="a", name="f"), call(1, '{"b": 2} oh', id="b", name="g"), chat("tool_calls")),
        is_not_run(1),
        Did(0, ({"__proto__": {}, "ok": 1},)),
        *answer("Sorry."),
    ],
    "thinking with signatures": [*THOUGHT, Did(0, ("sunny",)), *answer("Sunny.")],
    "a nested run": [*two_calls(), Did(1, tuple(nested_runs())), Did(0, ("x",)), *answer("Tea.")],
    "a refused answer": [*two_calls(), Did(1, (1,)), Did(0, (2,)), *step(chat(refusal="I won't."), chat("stop"))],
    "filtered": [*two_calls(), Did(1, (1,)), Did(0, (2,)), *step(chat(content="It"), chat("content_filter"))],
    "at the limit of length": [*two_calls(), Did(1, (1,)), Did(0, (2,)), *step(chat(content="It"), chat("length"))],
}
"""Runs that go on to their end."""
LIMITED = [*two_calls(), Did(1, (1,)), Did(0, (2,))]
PLAYED: dict[str, list[RunState[Any]]] = {
    **{name: states_of_run(*script) for name, script in SCRIPTS.items()},
    "waits for a person": states_of_run(*ASKED),
    "two wait for a person": states_of_run(*two_calls(), waits(0), waits(1)),
    "at the limit of steps": states_of_run(*LIMITED),
}


def runs_of(states: list[RunState[Any]]) -> list[Run[Any]]:
    return [state.run for state in states]


RUNS: dict[str, list[Run[Any]]] = {
    name: [*runs_of(states), finish_run(states[-1]).run] for name, states in PLAYED.items()
}
"""Every run until its end."""
WAITING = RUNS["waits for a person"][-1]


def _go_on(*events: object, before: str = "waits for a person") -> list[RunState[Any]]:
    states = [continue_run(Run.from_json(RUNS[before][-1].to_json()))]
    grow(states, events)
    return states


SO_BE_IT = answer("So ", "be it.")
FOLLOWING: dict[str, list[RunState[Any]]] = {
    "granted": _go_on(Did(0, (["part"], ["part", "whole"])), *SO_BE_IT),
    "refused": _go_on(is_not_run(0, "refused", "the call was not run: a person refused it"), *SO_BE_IT),
    "granted, and it fails": _go_on(Did(0, error=INSIDE), *SO_BE_IT),
    "granted, and it is a run": _go_on(Did(0, tuple(nested_runs())), *SO_BE_IT),
    "granted, and calls follow": _go_on(Did(0, ("x",)), *two_calls(), Did(1, (1,)), Did(0, error=INSIDE), *SO_BE_IT),
    "one of two granted": _go_on(Did(1, ("x",)), before="two wait for a person"),
    "both refused": _go_on(is_not_run(0, "refused"), is_not_run(1, "refused"), before="two wait for a person"),
}
"""What follows on a decision about the calls that wait."""
ASKED_BEFORE = dict.fromkeys(("one of two granted", "both refused"), "two wait for a person")
"""Of which run, where it is not that in which one call waits."""
CONTINUED = {name: [*runs_of(states), finish_run(states[-1]).run] for name, states in FOLLOWING.items()}


def runs_before(name: str) -> list[Run[Any]]:
    """The runs until the one that waits for the decision on which others follow."""
    return RUNS[ASKED_BEFORE.get(name, "waits for a person")]


BREAKS: dict[str, Callable[[RunState[Any]], RunState[Any]]] = {
    "stopped": stop_run,
    "failed": lambda state: fail_run(state, INSIDE),
    "lost": lambda state: finish_run(feed_run(state, StepEnded())),
}
"""What can happen after any event: the caller stops, something fails, the stream of the provider just ends."""


def broken_runs(states: list[RunState[Any]], at: int, way: str) -> list[Run[Any]] | None:
    """The runs until a break after one of the states; `None` where that cannot be."""
    state = states[at]
    if way == "lost":
        if state.stream is None:
            return None
        whole = feed_run(state, StepEnded()).run
        if whole.results and whole.message is not None and whole.message.outcome in {Outcome.COMPLETE, Outcome.INVALID}:
            return None  # the loop would go on
    return [*runs_of(states[: at + 1]), BREAKS[way](state).run]


def broken_continuations() -> Iterator[tuple[str, list[Run[Any]]]]:
    """What follows on each decision, until it breaks, after each of its states, in every way; and to its end."""
    for name, states in FOLLOWING.items():
        yield name, CONTINUED[name]
        for at, way in product(range(len(states)), BREAKS):
            broken = broken_runs(states, at, way)
            if broken is not None:
                yield name, broken


def shown_run(run: Run[Any]) -> list[list[tuple[object, ...]]]:
    """What a front end must show of a run that has ended, step by step."""
    return [shown_step(one.message, one.results) for one in run.steps]


def cleaned(shown: list[list[tuple[object, ...]]]) -> list[list[tuple[object, ...]]]:
    """The same without the keys that most clients refuse."""
    return [[tuple(map(without_proto, one)) for one in step] for step in shown]


def shown_step(message: Message[Any], results: tuple[Any, ...]) -> list[tuple[object, ...]]:
    told = dict(zip(map(id, message.tool_calls), results, strict=True)) if results else {}
    found: list[tuple[object, ...]] = []
    for part in message.parts:
        match part:
            case TextPart() | Refusal():
                found += [("text", part.text)] if part.text else []
            case ReasoningPart():
                found += [("reasoning", part.text)] if part.text or part.signature or part.encrypted else []
            case CompleteCall():
                found.append(("call", part.name, *_shown_result(told.get(id(part)))))
            case PartialCall() if part.name:
                found.append(("call", part.name, "error"))
    return found


def _shown_result(result: object) -> tuple[object, ...]:
    if isinstance(result, PendingResult):
        return (result.status,)
    if not isinstance(result, ToolResult):
        return ("no result",)
    if result.error is None:
        return "output", result.output
    return ("refused",) if result.ran == "refused" else ("error",)


def without_proto(value: Any) -> Any:
    """An output as every client can have it."""
    return {key: one for key, one in value.items() if key != "__proto__"} if isinstance(value, dict) else value
