"""Whatever happens to a stream on its way, a call is run with its own arguments, all of them, or not at all: law 9."""

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide.messages import CompleteCall, MessageConfig, Tool
from jsontide.providers import StreamState, feed_stream, start_stream
from jsontide.streams import stream_message
from tests.generated_streams import STREAMS
from tests.generated_streams.mutate import Base, find_base, may_run, mutate, pieces_of
from tests.generated_streams.said import Call, Event, Said, Stream
from tests.providers.test_whole import ARGUMENTS, WHOLES


def of_one_call(whole: Any) -> Any:
    """Return a whole completion without the call that has no arguments."""
    if isinstance(whole, dict):
        return {name: of_one_call(each) for name, each in whole.items()}
    return [of_one_call(each) for each in whole if not is_now(each)] if isinstance(whole, list) else whole


def is_now(item: Any) -> bool:
    inside = [item, *item.values()] if isinstance(item, dict) else []
    return any(isinstance(each, dict) and each.get("name") == "now" for each in inside)


def whole_stream(name: str) -> Stream:
    whole = of_one_call(WHOLES[name])
    provider = stream_message(whole).final().provider or ""
    return Stream(name=name, provider=provider, events=[whole], said=Said(parts=(Call("weather", ARGUMENTS),)), end=0)


SESSION = {"session_id": "s", "uuid": "u", "parent_tool_use_id": None}
AGENT_BEGINS: Event = {"type": "system", "subtype": "init", **SESSION}
AGENT_ENDS: Event = {"type": "result", "subtype": "success", "is_error": False, "stop_reason": "tool_use", **SESSION}


def of_agent(event: Event) -> Event:
    """An event as the Claude Agent SDK wraps it; of a whole completion, a message as it has it without events."""
    if event.get("type") == "message":
        return {"type": "assistant", "message": {**event, "stop_reason": None}, **SESSION}
    return {"type": "stream_event", "event": event, **SESSION}


def with_blocks(stream: Stream) -> Iterator[Event]:
    """Its events as an agent wraps them, and after each call the block that repeats it."""
    said: dict[Any, Any] = {call.name: call.value for call in stream.said.calls}
    blocks: dict[Any, Any] = {}
    for event in stream.events:
        yield of_agent(event)
        blocks[event.get("index")] = event.get("content_block") or blocks.get(event.get("index"), {})
        block = blocks[event.get("index")]
        if event.get("type") == "content_block_stop" and block.get("name") in said:
            yield of_agent({"type": "message", "id": "msg_1", "content": [{**block, "input": said[block["name"]]}]})


def with_agents(stream: Stream) -> list[Stream]:
    """The same stream as agents and clouds wrap it; clouds wrap no whole completions."""
    if stream.provider != "anthropic":
        return [stream]
    agent = replace(stream, provider="agent", events=[AGENT_BEGINS, *map(of_agent, stream.events), AGENT_ENDS])
    both = replace(agent, name=f"{stream.name}, with blocks", events=[AGENT_BEGINS, *with_blocks(stream), AGENT_ENDS])
    cloud = replace(stream, provider="cloud", events=[{"chunk": {"bytes": event}} for event in stream.events])
    return [stream, agent] if len(stream.events) == 1 else [stream, agent, both, cloud]


BASES: dict[str, list[Base]] = {}
for _stream in (*STREAMS.values(), *map(whole_stream, WHOLES)):
    for _each in with_agents(_stream):
        if (_base := find_base(_each)) is not None:
            BASES.setdefault(_each.provider, []).append(_base)


@cache
def states_of(base: Base) -> list[StreamState]:
    """Return where a stream stands before each of its events and at its end."""
    states = [start_stream(MessageConfig(tools=[Tool(name) for name in base.calls]))]
    for event in base.events:
        states.append(feed_stream(states[-1], base.written(event)))
    return states


def wrong_runs(base: Base, random: Random) -> list[str]:
    """Mutate a stream, and return what runs though it must not.

    Reading goes on from the last state before the first mutation, so that what is the same is read once.
    """
    events, done = mutate(base, random)
    are_same = [event is before for event, before in zip(events, base.events, strict=False)]
    first = are_same.index(False) if False in are_same else len(are_same)
    rest = [base.written(event) for event in events[first:]]
    message = stream_message(rest, state=states_of(base)[first]).final()
    calls = [call for call in message.tool_calls if isinstance(call, CompleteCall)]
    pieces = pieces_of(events, base) if calls else {}
    return [
        f"{base.stream.provider}/{base.stream.name}: {call.name}({call.arguments}) after {'; '.join(done)}"
        for call in calls
        if not may_run(str(call.name), call.arguments_value, base, pieces)
    ]


def test_every_provider_has_streams_to_mutate() -> None:
    assert set(BASES) == {"agent", "cloud", *(stream.provider for stream in STREAMS.values())}


@pytest.mark.parametrize("provider", BASES)
def test_streams_run_what_they_say_if_nothing_happens(provider: str) -> None:
    for base in BASES[provider]:
        message = stream_message([base.written(event) for event in base.events]).final()
        ran = {call.name: call.arguments_value for call in message.tool_calls if isinstance(call, CompleteCall)}
        assert ran == {name: call.value for name, call in base.calls.items()}


@pytest.mark.parametrize("provider", BASES)
@given(st.integers(0, 2**64))
def test_mutated_streams_run_nothing_else(provider: str, seed: int) -> None:
    random = Random(seed)
    for base in BASES[provider]:
        assert wrong_runs(base, random) == []


@pytest.mark.long
@pytest.mark.parametrize("provider", BASES)
def test_many_mutated_streams_run_nothing_else(provider: str) -> None:
    """JSONTIDE_MUTATIONS says how many, and SEED draws others."""
    random = Random(provider + os.environ.get("SEED", ""))
    for at in range(int(os.environ.get("JSONTIDE_MUTATIONS") or 3_000)):
        assert wrong_runs(BASES[provider][at % len(BASES[provider])], random) == []
