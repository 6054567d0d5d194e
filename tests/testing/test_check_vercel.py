"""The checker of UI message streams: what it refuses, and that clients accept what it accepts."""

import json
from random import Random
from typing import Any, ClassVar

import pytest

from jsontide import JsontideError
from jsontide.testing import ProtocolError, check_vercel
from tests.node_scripts import needs_node, run
from tests.testing.mutations import frames_of
from tests.testing.test_every_stream import VERCEL_STREAM as STREAM
from tests.testing.test_every_stream import kind_of

Event = dict[str, Any]
EVENTS: list[Event | str] = frames_of(STREAM)


def written(events: list[Event | str]) -> str:
    return "".join(f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n" for event in events)


def refusal(events: list[Event | str]) -> ProtocolError:
    with pytest.raises(ProtocolError) as caught:
        check_vercel(written(events))
    return caught.value


def place_of(kind: str) -> int:
    return next(at for at, event in enumerate(EVENTS) if kind_of(event) == kind)


def changed(kind: str, **fields: Any) -> list[Event | str]:
    """The events with other fields in the first one of a kind; `...` takes one away."""
    at = place_of(kind)
    event = EVENTS[at]
    assert isinstance(event, dict)
    known = {**event, **fields}
    return [*EVENTS[:at], {name: value for name, value in known.items() if value is not ...}, *EVENTS[at + 1 :]]


def test_it_reports_what_a_client_shows() -> None:
    report = check_vercel(STREAM)
    assert (report.text, report.reasoning, report.message_id) == ("Let me look.", "Hm.", "m")
    ready, failed = report.calls
    assert (ready.name, ready.input, ready.input_text, ready.may_run) == (
        "weather",
        {"city": "Paris"},
        '{"city": "Paris"}',
        True,
    )
    assert (failed.state, failed.may_run) == ("output-error", False)
    assert (report.end, report.finish_reason, report.error_text) == ("finish", "length", None)
    assert report.metadata == {"usage": {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3}}
    assert [part["type"] for part in report.parts] == ["reasoning", "text", "call", "call"]


def test_a_refusal_says_which_event_and_is_a_failed_assertion() -> None:
    error = refusal([*EVENTS[:3], {"type": "text-delta", "id": "x", "delta": "a"}, *EVENTS[3:]])
    assert (error.event, str(error)) == (3, "event 3: text-delta: 'x' is not open")
    assert isinstance(error, AssertionError)
    assert isinstance(error, JsontideError)


@pytest.mark.parametrize(
    ("kind", "fields", "reason"),
    [
        ("start", {"type": "begin"}, "not an event that is known here"),
        ("start", {"type": 1}, "not an event that is known here"),
        ("start-step", {"type": "reset-step"}, "not an event that is known here"),
        ("start", {"messageId": None}, "messageId of start must be text, not None"),
        ("text-start", {"id": ...}, "text-start has no id"),
        ("text-delta", {"delta": 1}, "delta of text-delta must be text, not 1"),
        ("tool-input-start", {"providerexecuted": True}, "has a field 'providerexecuted'"),
        ("tool-input-start", {"toolName": "other"}, "the call began as 'other'"),
        ("tool-input-start", {"dynamic": True}, "'dynamic' is not the same"),
        ("tool-input-available", {"providerExecuted": True}, "'providerExecuted' is not the same"),
        ("tool-input-available", {"input": ...}, "tool-input-available has no input"),
        (
            "tool-input-available",
            {"input": {"a": [{"__proto__": 1}]}},
            "because of the key '__proto__'",
        ),
        (
            "tool-input-available",
            {"input": {"constructor": {"prototype": 1}}},
            "because of the key 'prototype'",
        ),
        ("tool-input-error", {"errorText": ...}, "tool-input-error has no errorText"),
        ("finish", {"finishReason": "interrupted"}, "'interrupted' is no reason"),
        ("finish", {"finishReason": "tool_calls"}, "'tool_calls' is no reason"),
        ("message-metadata", {"messageMetadata": []}, "messageMetadata of message-metadata must be object, not []"),
    ],
)
def test_a_field_that_clients_refuse_is_refused(kind: str, fields: Event, reason: str) -> None:
    assert reason in refusal(changed(kind, **fields)).reason


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("{", "not JSON"),
        ("[]", "not an event that is known here"),
        ('{"type":"start","messageMetadata":{"a":NaN}}', "NaN"),
    ],
)
def test_an_event_that_is_no_object_is_refused(data: str, reason: str) -> None:
    assert reason in str(refusal([data, *EVENTS[1:]]))


class TestCalls:
    """What may follow what in a call."""

    START: ClassVar[Event] = {"type": "tool-input-start", "toolCallId": "a", "toolName": "f"}
    DELTA: ClassVar[Event] = {"type": "tool-input-delta", "toolCallId": "a", "inputTextDelta": "{}"}
    READY: ClassVar[Event] = {**START, "type": "tool-input-available", "input": {}}
    FAILED: ClassVar[Event] = {**READY, "type": "tool-input-error", "errorText": "no"}
    OUTPUT: ClassVar[Event] = {"type": "tool-output-available", "toolCallId": "a", "output": None}
    EARLY: ClassVar[Event] = {**OUTPUT, "preliminary": True}
    BROKEN: ClassVar[Event] = {"type": "tool-output-error", "toolCallId": "a", "errorText": "no"}

    def events(self, *about: Event) -> list[Event | str]:
        return [
            {"type": "start"},
            {"type": "start-step"},
            *about,
            {"type": "finish-step"},
            {"type": "finish"},
            "[DONE]",
        ]

    @pytest.mark.parametrize(
        "about",
        [
            (READY,),
            (START, READY),
            (START, FAILED),
            (FAILED,),
            (START, DELTA, DELTA, READY, OUTPUT),
            (READY, BROKEN),
            (READY, EARLY, EARLY, OUTPUT),
        ],
    )
    def test_accepted(self, about: tuple[Event, ...]) -> None:
        (found,) = check_vercel(written(self.events(*about))).calls
        assert found.may_run == (self.READY in about)

    @pytest.mark.parametrize(
        "about",
        [
            (START,),
            (DELTA,),
            (OUTPUT,),
            (BROKEN,),
            (START, START, READY),
            (START, OUTPUT),
            (START, FAILED, READY),
            (START, READY, FAILED),
            (START, READY, READY),
            (START, READY, DELTA),
            (FAILED, OUTPUT),
            (READY, OUTPUT, OUTPUT),
            (READY, START),
        ],
    )
    def test_refused(self, about: tuple[Event, ...]) -> None:
        refusal(self.events(*about))


def test_what_ends_a_stream_badly_ends_it_too() -> None:
    start: list[Event | str] = [{"type": "start"}]
    failed = check_vercel(written([*start, {"type": "error", "errorText": "no"}, "[DONE]"]))
    assert (failed.end, failed.error_text) == ("error", "no")
    assert check_vercel(written([*start, {"type": "abort"}, "[DONE]"])).end == "abort"


def test_data_of_the_same_kind_and_id_is_replaced_and_passing_data_is_not_kept() -> None:
    start: list[Event | str] = [{"type": "start"}]
    data: list[Event | str] = [
        {"type": "data-a", "id": "1", "data": {"x": 1}},
        {"type": "data-b", "data": 1, "transient": True},
        {"type": "data-a", "id": "1", "data": {"x": 2}},
        {"type": "data-c", "data": [3]},
    ]
    report = check_vercel(written([*start, *data, {"type": "finish"}, "[DONE]"]))
    assert report.data == {"a": {"x": 2}, "c": [3]}


def mutant(random: Random) -> list[Event | str]:
    """The stream with one or two things wrong: an event dropped, doubled, moved, or with another field."""
    events = list(EVENTS)
    for _ in range(random.randint(1, 2)):
        at, other = random.randrange(len(events)), random.randrange(len(events))
        match random.randrange(5):
            case 0:
                del events[at]
            case 1:
                events.insert(other, events[at])
            case 2:
                events[at], events[other] = events[other], events[at]
            case 3:
                del events[at + 1 :]
            case _ if isinstance(event := events[at], dict):
                name = random.choice(list(event))
                events[at] = {**event, name: random.choice(["", "x", None, {}, True, *map(kind_of, EVENTS)])}
    return events


@needs_node
@pytest.mark.untraced
@pytest.mark.once
@pytest.mark.parametrize("count", [200, pytest.param(3000, marks=pytest.mark.long)])
def test_what_it_accepts_is_accepted_by_every_client(count: int) -> None:
    accepted = []
    for seed in range(count):
        events = mutant(Random(seed))
        try:
            accepted.append((written(events), check_vercel(written(events))))
        except ProtocolError:
            continue
    assert len(accepted) > count / 30
    found = run("vercel.mjs", [{"stream": stream} for stream, _ in accepted], "ai5", "ai6", "ai7")
    for clients in zip(*found.values(), strict=True):
        (stream, report), *accepted = accepted
        for client in clients:
            assert client["errors"] == ([] if report.error_text is None else [report.error_text]), stream
            assert [one["id"] for one in client["run"]] == [one.id for one in report.calls if one.may_run]
            parts = [part for message in client["messages"] for part in message["parts"] if part["type"] == "text"]
            assert "".join(part["text"] for part in parts) == report.text
