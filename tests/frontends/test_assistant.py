"""Messages for assistant-ui, as parts and as an object: what a client has at the end is what the model said."""

import asyncio
import json
from typing import Any

import pytest

from jsontide import MISSING, finalize
from jsontide.frontends import AssistantTransportEncoder, ObjectStreamEncoder
from jsontide.messages import File, Message, Other, Outcome, ServerCall, Source, TextPart
from jsontide.testing import AssistantTransport, check_assistant_transport, check_object_stream
from tests.cuts import states_along
from tests.frontends.protocols import without_refused
from tests.frontends.turns import TURNS, chat, encode, read
from tests.frontends.turns import call as call_event
from tests.testing.mutations import frames_of

HOSTILE = {"__proto__", "constructor", "prototype"}


def transport(**options: Any) -> AssistantTransportEncoder:
    return AssistantTransportEncoder(message_id="m", **options)


def text_of(checked: AssistantTransport, kind: str) -> str:
    return "".join(part.text for part in checked.parts if part.type == kind)


def test_json_that_breaks_off_or_is_invalid_says_so() -> None:
    for text, word in (('{"a": [1', "truncated"), ('{"a": }', "invalid")):
        states: Any = states_along([text])
        states.append(finalize(states[-1]))
        checked = check_assistant_transport(encode(transport(), states))
        assert checked.error is not None
        assert checked.error["code"] == word
        value = check_object_stream(encode(ObjectStreamEncoder(), states))
        assert value["status"] == word
        assert value["errors"][0]["path"] == ["a"] if word == "invalid" else ["a", 0]


def test_without_a_key_an_answer_is_text() -> None:
    turn = TURNS["complete with an answer"]
    checked = check_assistant_transport(encode(transport(answer=None), turn))
    assert checked.state is None
    assert json.loads(text_of(checked, "text")) == turn[-1].answer


def test_a_provider_s_tool_has_a_result_so_that_nobody_runs_it() -> None:
    checked = check_assistant_transport(encode(transport(), TURNS["complete with a provider's tool"]))
    (call,) = [part for part in checked.parts if part.type == "tool-call"]
    assert (call.result, call.is_error, call.may_run) == ([{"title": "A"}], False, False)
    checked = check_assistant_transport(encode(transport(), TURNS["cut off inside a provider's tool"]))
    (call,) = [part for part in checked.parts if part.type == "tool-call"]
    assert (call.result, call.is_error, call.may_run) == (None, True, False)


def test_a_tool_that_the_provider_completed_without_a_result_did_not_fail() -> None:
    message = Message((ServerCall("search", "{}", status="completed", id="s"),), Outcome.COMPLETE)
    (call,) = check_assistant_transport(encode(transport(), [message])).parts
    assert (call.has_result, call.is_error) == (True, False)


def test_sources_files_and_others_are_parts() -> None:
    parts = (
        Source("https://a.example", "A"),
        Source(None, "B"),
        File("image/png", data="aGk="),
        File(None, url="https://b.example"),
        File("audio/wav", id="f1"),
        Other("thing", {"__proto__": 1, "a": 2}),
        TextPart("Hi"),
    )
    checked = check_assistant_transport(encode(transport(), [Message(parts, Outcome.COMPLETE)]))
    assert [part.start for part in checked.parts] == [
        {"type": "source", "sourceType": "url", "id": "m-0", "url": "https://a.example", "title": "A"},
        {"type": "data", "name": "source", "data": {"title": "B"}},
        {"type": "file", "data": "aGk=", "mimeType": "image/png"},
        {"type": "file", "data": "https://b.example", "mimeType": "application/octet-stream"},
        {"type": "data", "name": "file", "data": {"media_type": "audio/wav", "id": "f1"}},
        {"type": "data", "name": "thing", "data": {"a": 2}},
        {"type": "text"},
    ]


def test_hostile_keys_are_left_out_of_values_and_stay_in_the_text() -> None:
    text = '{"__proto__": {"x": "abc"}, "a": [{"constructor": "abc", "b": "c"}], "prototype": 1}'
    sent = [
        call_event(0, text[at : at + 3], **({"name": "f", "id": "c"} if not at else {}))
        for at in range(0, len(text), 3)
    ]
    turn = read([*sent, chat("tool_calls")])
    assert check_assistant_transport(encode(transport(), turn)).parts[0].text == text
    value = check_object_stream(encode(ObjectStreamEncoder(), turn))
    assert value["parts"][0]["arguments"] == {"a": [{"b": "c"}]}


def test_the_chunks_are_those_of_the_python_package() -> None:
    chunks = pytest.importorskip("assistant_stream.assistant_stream_chunk", reason="assistant-stream is not installed")
    serialization = pytest.importorskip("assistant_stream.serialization.assistant_transport")

    async def said() -> Any:
        yield chunks.ReasoningDeltaChunk("Where is ")
        yield chunks.ReasoningDeltaChunk("it?")
        yield chunks.ToolCallBeginChunk("s1", "web_search")
        yield chunks.ToolCallDeltaChunk("s1", '{"query":"a"}')
        yield chunks.ToolResultChunk("s1", [{"title": "A"}])
        yield chunks.TextDeltaChunk("There.")

    async def collect() -> bytes:
        frames = [frame async for frame in serialization.AssistantTransportEncoder().encode_stream(said())]
        return "".join(frames).encode()

    theirs = [frame for frame in frames_of(asyncio.run(collect()))[:-1] if "args-text" not in frame["type"]]
    ours = frames_of(encode(transport(), TURNS["complete with a provider's tool"]))[1:-3]
    assert in_order_of_parts(ours) == in_order_of_parts(theirs)


def in_order_of_parts(frames: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same with all of a part together; theirs ends a text when the next part begins."""
    starts = [frame for frame in frames if not frame["path"]]
    return starts + sorted((frame for frame in frames if frame["path"]), key=lambda frame: int(frame["path"][0]))


def test_an_object_has_arguments_as_values_or_as_text() -> None:
    for name, turn in TURNS.items():
        value = check_object_stream(encode(ObjectStreamEncoder(), turn))
        shown = [part.get("arguments", MISSING) for part in value["parts"] if part["type"] == "call"]
        assert shown == [without_refused(call.partial) for call in turn[-1].tool_calls], name
        value = check_object_stream(encode(ObjectStreamEncoder(arguments="text"), turn))
        written = [part["arguments"] for part in value["parts"] if part["type"] == "call"]
        assert written == [call.arguments for call in turn[-1].tool_calls], name


def test_json_alone_can_be_the_whole_state() -> None:
    states: Any = states_along(['{"a": [1', ', "x"]', "}"])
    assert check_assistant_transport(encode(transport(answer=None), [*states, finalize(states[-1])])).state == {
        "a": [1, "x"]
    }


def test_the_object_stream_names_its_format() -> None:
    assert ObjectStreamEncoder().headers["assistant-stream-format"] == "object-stream/v0"
