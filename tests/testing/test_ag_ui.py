"""The checker of AG-UI finds what is wrong with a stream, says where, and is at least as strict as the client."""

import json
from random import Random
from typing import Any

import pytest

from jsontide.testing import ProtocolError, check_ag_ui
from tests.node_scripts import needs_node, run
from tests.testing.mutations import frames_of, mishap, write
from tests.testing.test_every_stream import AG_UI_STREAMS as STREAMS
from tests.testing.test_every_stream import CHECKERS

START = {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
END = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}


@pytest.mark.parametrize("name", STREAMS)
class TestEveryStream:
    def test_is_refused_with_a_field_that_nobody_knows(self, name: str) -> None:
        for at, frame in enumerate(STREAMS[name]):
            frames = [*STREAMS[name][:at], {**frame, "odd": 1}, *STREAMS[name][at + 1 :]]
            with pytest.raises(ProtocolError, match=f"event {at}: .* has a field 'odd'"):
                check_ag_ui(write(frames))

    def test_is_refused_with_an_end_in_the_middle(self, name: str) -> None:
        frames = STREAMS[name]
        for at in range(1, len(frames)):
            with pytest.raises(ProtocolError, match=f"event {at + 1}: .* follows the end"):
                check_ag_ui(write([*frames[:at], {"type": "RUN_ERROR", "message": "no"}, *frames[at:]]))


def message(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "messageId": "a", **fields}


def call(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "toolCallId": "c", **fields}


CALL = [call("TOOL_CALL_START", toolCallName="f"), call("TOOL_CALL_ARGS", delta="{}"), call("TOOL_CALL_END")]
RESULT = call("TOOL_CALL_RESULT", messageId="x", content="no")


@pytest.mark.parametrize(
    ("frames", "reason"),
    [
        ([END], "event 0: the first event must be RUN_STARTED, not RUN_FINISHED"),
        ([START], "the stream ends without RUN_FINISHED or RUN_ERROR"),
        ([START, START, END], "event 1: RUN_STARTED while the run is active"),
        ([START, {**END, "runId": "other"}], "event 1: runId is not the same as in RUN_STARTED"),
        ([START, END, "[DONE]"], r"event 2: \[DONE\] may only end a stream"),
        ([START, "{", END], "event 1: not JSON"),
        ([START, '{"type": "CUSTOM", "name": "a", "value": NaN}', END], "event 1: not JSON: NaN is not a value"),
        ([START, [], END], "event 1: not an event that is known"),
        ([START, {"type": "NEW"}, END], "event 1: not an event that is known"),
        (
            [START, message("TEXT_MESSAGE_CONTENT", delta="a"), END],
            "event 1: TEXT_MESSAGE_CONTENT of 'a', which is not",
        ),
        ([START, message("TEXT_MESSAGE_START"), END], "event 2: RUN_FINISHED while TEXT_MESSAGE 'a' is open"),
        ([START, message("TEXT_MESSAGE_START", role="tool"), END], "event 1: there is no role 'tool' here"),
        ([START, message("REASONING_START"), END], "event 2: RUN_FINISHED while REASONING 'a' is open"),
        ([START, {"type": "STEP_STARTED", "stepName": "s"}, END], "event 2: RUN_FINISHED while STEP 's' is open"),
        ([START, CALL[0], END], "event 2: RUN_FINISHED while TOOL_CALL 'c' is open"),
        ([START, CALL[0], CALL[2], END], "event 2: the arguments of 'c' are not JSON"),
        ([START, *CALL, *CALL, END], "event 4: there is a call 'c' already"),
        ([START, CALL[0], RESULT, CALL[1], END], "event 3: the call 'c' has a result already"),
        ([START, CALL[0], RESULT, RESULT, END], "event 3: there is a message 'x' already"),
        ([START, *CALL, RESULT, {**RESULT, "messageId": "y"}, END], "event 5: no call 'c' waits for a result"),
        ([START, *CALL, {**RESULT, "messageId": "c"}, END], "event 4: there is a message 'c' already"),
        (
            [START, message("REASONING_MESSAGE_START", role="reasoning"), {**CALL[0], "parentMessageId": "a"}],
            "event 2: the message 'a' is not the assistant's",
        ),
        (
            [START, *CALL, message("REASONING_MESSAGE_START", messageId="c", role="reasoning")],
            "event 4: the message 'c' is of another role",
        ),
        (
            [START, *CALL, {**END, "outcome": {"type": "success", "pendingToolCallIds": ["d"]}}],
            r"event 4: pendingToolCallIds must be \['c'\], not \['d'\]",
        ),
        ([START, {**END, "outcome": {"type": "good"}}], "event 1: there is no outcome"),
        ([START, {**END, "outcome": {"type": "success", "pendingToolCallIds": None}}], "event 1: pendingToolCallIds"),
        ([START, {**END, "usage": [{"inputTokens": -1}]}], "event 1: inputTokens of None must be count"),
        ([START, {**END, "usage": [1]}], "event 1: expected an object"),
        ([START, {"type": "STATE_SNAPSHOT", "snapshot": {"__proto__": 1}}, END], "event 1: .* key '__proto__'"),
        ([START, {"type": "CUSTOM", "name": "n", "value": [{"constructor": {"prototype": 1}}]}], "the key 'prototype'"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(frames: list[Any], reason: str) -> None:
    with pytest.raises(ProtocolError, match=reason):
        check_ag_ui(write(frames))


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        ({"op": "replace", "path": "/b", "value": 1}, "there is nothing at 'b'"),
        ({"op": "add", "path": "/b/c", "value": 1}, "there is nothing at 'b'"),
        ({"op": "add", "path": "/a/0/x", "value": 1}, "there is no container around 'x'"),
        ({"op": "add", "path": "/a/3", "value": 1}, "there is nothing at '3' of 2 items"),
        ({"op": "add", "path": "/a/01", "value": 1}, "there is nothing at '01'"),
        ({"op": "replace", "path": "/a/2", "value": 1}, "there is nothing at '2' of 2 items"),
        ({"op": "remove", "path": "/b"}, "there is nothing at 'b'"),
        ({"op": "remove", "path": ""}, "the root cannot be removed"),
        ({"op": "test", "path": "/a/0", "value": 2}, "the test of .* fails"),
        ({"op": "append", "path": "/a", "value": 2}, "there is no operation 'append'"),
        ({"op": "add", "path": "/b"}, "add has no value"),
        ({"op": "add", "path": "b", "value": 1}, "a pointer begins with '/'"),
        ({"op": "add", "value": 1}, "not an operation"),
        ({"op": "add", "path": "/__proto__", "value": 1}, "clients refuse the key '__proto__' in a pointer"),
        ({"op": "add", "path": "/constructor/prototype", "value": 1}, "clients refuse the key 'prototype'"),
    ],
)
def test_a_patch_that_does_not_fit_is_refused(operation: Any, reason: str) -> None:
    delta = {"type": "STATE_DELTA", "delta": [operation]}
    with pytest.raises(ProtocolError, match=reason):
        check_ag_ui(write([START, delta, END]), state={"a": [1, 1]})


def test_patches_are_applied_as_the_standard_says() -> None:
    jsonpatch = pytest.importorskip("jsonpatch")
    state = {"a": [1, {"b": 2}], "c/~": {}}
    patch = [
        {"op": "add", "path": "/a/0", "value": 0},
        {"op": "add", "path": "/a/-", "value": "end"},
        {"op": "replace", "path": "/a/2/b", "value": {"x": [1]}},
        {"op": "copy", "from": "/a/2", "path": "/c~1~0/copy"},
        {"op": "move", "from": "/a/2/b/x", "path": "/x"},
        {"op": "remove", "path": "/a/1"},
        {"op": "test", "path": "/x/0", "value": 1},
        {"op": "add", "path": "/c~1~0", "value": []},
    ]
    for count in range(len(patch) + 1):
        events = [START, {"type": "STATE_DELTA", "delta": patch[:count]}, END]
        assert check_ag_ui(write(events), state=state).state == jsonpatch.apply_patch(state, patch[:count])


@pytest.mark.long
@needs_node
@pytest.mark.untraced
@pytest.mark.once
def test_what_the_client_refuses_or_complains_of_is_refused() -> None:
    random = Random(7)
    mutants = [write(mishap(frames, random)) for frames in STREAMS.values() for _ in range(60)]
    results = run("ag_ui.mjs", [{"text": mutant.decode()} for mutant in mutants])
    bad = 0
    for mutant, found in zip(mutants, results, strict=True):
        is_bad = found["error"] or found["warnings"] or not found["end"]
        bad += bool(is_bad)
        assert not is_bad or CHECKERS["ag-ui"].refuses(frames_of(mutant)), (found, json.dumps(frames_of(mutant)))
    assert bad > len(mutants) // 3  # or the test would say nothing
