"""The checkers of assistant-ui's streams find what is wrong, say where, and are at least as strict as the client."""

from random import Random
from typing import Any

import pytest

from jsontide.frontends import ObjectStreamEncoder
from jsontide.testing import ProtocolError, check_assistant_transport, check_object_stream
from tests.frontends.turns import TURNS, encode
from tests.node_scripts import needs_node, run
from tests.testing.mutations import frames_of, mishap, write
from tests.testing.test_every_stream import DONE, NAMES
from tests.testing.test_every_stream import TRANSPORT_STREAMS as STREAMS

OBJECTS = {name: frames_of(encode(ObjectStreamEncoder(), TURNS[name])) for name in NAMES}
HEADERS = {"content-type": "text/event-stream", **ObjectStreamEncoder().headers}


def refuses(check: Any, frames: list[Any]) -> bool:
    try:
        check(write(frames))
    except ProtocolError:
        return True
    return False


@pytest.mark.parametrize("name", NAMES)
class TestEveryStreamAsAnObject:
    def test_passes_as_it_is(self, name: str) -> None:
        assert check_object_stream(write(OBJECTS[name]))["status"] != "streaming"

    def test_is_refused_without_its_start_or_its_end(self, name: str) -> None:
        frames = OBJECTS[name]
        assert refuses(check_object_stream, frames[1:])
        assert refuses(check_object_stream, frames[:-1])
        assert refuses(check_object_stream, [*frames, frames[-1]])
        assert refuses(check_object_stream, [*frames, DONE])

    def test_is_refused_with_a_broken_operation(self, name: str) -> None:
        for at, frame in enumerate(OBJECTS[name]):
            for field in ("type", "path", "value"):
                broken = {key: value for key, value in frame[0].items() if key != field}
                frames = [*OBJECTS[name][:at], [broken, *frame[1:]], *OBJECTS[name][at + 1 :]]
                assert refuses(check_object_stream, frames)


def start(**part: Any) -> dict[str, Any]:
    return {"type": "part-start", "part": part, "path": []}


def of(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields, "path": [0]}


USAGE = {"inputTokens": 0, "outputTokens": 0}
CALL = start(type="tool-call", toolCallId="c", toolName="f")
END = {"type": "message-finish", "finishReason": "stop", "usage": USAGE}


@pytest.mark.parametrize(
    ("frames", "reason"),
    [
        ([END], r"the stream ends without \[DONE\]"),
        ([DONE], "the stream ends without message-finish"),
        ([END, END, DONE], "event 1: message-finish follows message-finish"),
        ([{"type": "odd"}, END, DONE], "event 0: not an event that is known"),
        ([start(type="odd"), END, DONE], "event 0: there is no part"),
        ([start(type="text"), END, DONE], "event 1: message-finish while a part is open"),
        ([{**start(type="text"), "path": [0]}, END, DONE], "event 0: part-start is not of a part, and has a path"),
        ([of("text-delta", textDelta="a"), END, DONE], r"event 0: there is no part at \[0\]"),
        ([start(type="text"), {**of("part-finish"), "path": [True]}], r"ends without \[DONE\]"),
        ([start(type="text"), {**of("part-finish"), "path": [True]}, DONE], r"event 1: there is no part at \[True\]"),
        (
            [start(type="text"), of("part-finish"), of("part-finish"), DONE],
            "event 2: part-finish of a part that is fin",
        ),
        ([start(type="text"), of("tool-call-args-text-finish"), DONE], "event 1: .* of a part that is no call"),
        ([CALL, of("part-finish"), DONE], "event 1: a call is finished that has no result and may not be run"),
        ([CALL, of("tool-call-args-text-finish"), DONE], "event 1: the arguments are not JSON"),
        ([CALL, CALL, DONE], "event 1: there is a call 'c' already"),
        (
            [CALL, of("result", result=1, isError=False), of("text-delta", textDelta="a"), DONE],
            "event 2: text-delta of a part whose text does not grow",
        ),
        (
            [CALL, of("result", result=1, isError=False), of("result", result=2, isError=False), DONE],
            "event 2: a call that may not be run has a result already",
        ),
        ([{**END, "finishReason": "tool-calls"}, DONE], "event 0: no call may be run"),
        ([{**END, "finishReason": "tired"}, DONE], "event 0: there is no finishReason 'tired'"),
        ([{"type": "error", "error": "no"}, END, DONE], "event 1: the message failed, and ends with 'stop'"),
        ([{"type": "step-start", "messageId": "m"}, END, DONE], "event 1: message-finish while a step is open"),
        ([{**END, "type": "step-finish", "isContinued": False}, END, DONE], "event 0: step-finish without step-start"),
        ([start(type="data", name="n", data={"__proto__": 1}), END, DONE], "event 0: .* the key '__proto__'"),
        (
            [{"type": "update-state", "operations": [{"type": "append-text", "path": ["a"], "value": "b"}]}, END, DONE],
            "event 0: there is no text at",
        ),
    ],
)
def test_what_is_wrong_in_parts_is_said_with_its_place(frames: list[Any], reason: str) -> None:
    with pytest.raises(ProtocolError, match=reason):
        check_assistant_transport(write(frames))


def operation(kind: str, path: list[Any], value: Any) -> dict[str, Any]:
    return {"type": kind, "path": path, "value": value}


ROOT = [operation("set", [], {"status": "streaming", "items": ["a"], "text": "t"})]


@pytest.mark.parametrize(
    ("frames", "reason"),
    [
        ([], "the stream ends without an end in its value"),
        ([ROOT], "the stream ends without an end in its value"),
        ([{}], "event 0: an event is a list of operations"),
        ([[]], "event 0: an event is a list of operations"),
        ([[operation("set", ["a"], 1)]], "event 0: the first operation must set the root"),
        ([ROOT, [operation("set", ["items", "2"], 1)]], "event 1: '2' is not an index for 1 items"),
        ([ROOT, [operation("set", ["items", "x"], 1)]], "event 1: 'x' is not an index for 1 items"),
        ([ROOT, [operation("set", ["items", 0], 1)]], "event 1: a path is a list of texts"),
        ([ROOT, [operation("set", ["no", "x"], 1)]], "event 1: there is nothing at 'no'"),
        ([ROOT, [operation("set", ["text", "x"], 1)]], "event 1: there is no container around 'x'"),
        ([ROOT, [operation("append-text", ["items"], "x")]], "event 1: there is no text at"),
        ([ROOT, [operation("append-text", ["no"], "x")]], "event 1: there is no text at"),
        ([ROOT, [operation("append-text", ["text"], 1)]], "event 1: there is no text at"),
        ([ROOT, [operation("remove", ["text"], 1)]], "event 1: there is no operation 'remove'"),
        ([ROOT, [operation("set", ["constructor"], 1)]], "event 1: clients refuse a path with 'constructor'"),
        ([ROOT, [operation("set", ["x"], {"__proto__": 1})]], "event 1: .* the key '__proto__'"),
        ([ROOT, ["x"]], "event 1: an operation has a type, a path and a value"),
        ([ROOT, [operation("set", ["status"], "complete")], ROOT], "event 2: something follows the end"),
        ([ROOT, DONE], r"event 1: \[DONE\]"),
    ],
)
def test_what_is_wrong_in_an_object_stream_is_said_with_its_place(frames: list[Any], reason: str) -> None:
    with pytest.raises(ProtocolError, match=reason):
        check_object_stream(write(frames))


@pytest.mark.long
@needs_node
@pytest.mark.untraced
@pytest.mark.once
def test_what_the_client_refuses_or_complains_of_is_refused() -> None:
    random = Random(7)
    given: list[tuple[Any, dict[str, Any]]] = []
    for name in NAMES:
        for _ in range(60):
            parts = {"kind": "transport", "text": write(mishap(STREAMS[name], random)).decode()}
            whole = {"kind": "object", "text": write(mishap(OBJECTS[name], random)).decode(), "headers": HEADERS}
            given += [(check_assistant_transport, parts), (check_object_stream, whole)]
    bad = 0
    for (check, each), found in zip(given, run("assistant.mjs", [each for _, each in given]), strict=True):
        is_bad = found["error"] or found["warnings"] or found.get("pending")
        bad += bool(is_bad)
        assert not is_bad or refuses(check, frames_of(each["text"].encode())), (found, each["text"])
    assert bad > len(given) // 8  # or the test would say nothing
