"""Messages for assistant-ui, as parts and as an object: what a client has at the end is what the model said."""

import asyncio
import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide import MISSING, finalize
from jsontide.adapters import finish_stream
from jsontide.encoders import (
    AssistantState,
    AssistantTransportEncoder,
    Encoder,
    ObjectStreamEncoder,
    ObjectStreamState,
)
from jsontide.messages import CompleteCall, File, Message, Other, Outcome, ServerCall, Source, TextPart
from jsontide.testing import AssistantTransport, check_assistant_transport, check_object_stream
from tests.cuts import states_along
from tests.encoders.hostile import without_names
from tests.encoders.turns import (
    CONTRADICTED,
    TURNS,
    broken_inside_calls,
    chat,
    cut,
    encode,
    encode_failing,
    read,
    states_of,
)
from tests.encoders.turns import call as call_event
from tests.node_scripts import needs_node, run
from tests.provider_streams import NAMES, events, needs_recordings, reading
from tests.strategies import call_streams, cut_documents, texts, typed_documents
from tests.testing.mutations import frames_of

HOSTILE = {"__proto__", "constructor", "prototype"}
REASONS = {
    "complete": "stop",
    "complete with a provider's tool": "stop",
    "complete with an answer": "stop",
    "complete with an answer as a call": "stop",
    "at the limit of length": "length",
    "at the limit inside a call": "length",
    "stopped in text": "other",
    "stopped inside a call": "other",
    "stopped inside a provider's tool": "other",
    "refused": "other",
    "filtered": "content-filter",
    "empty": "other",
}
"""Why turns end, but for those that fail, and those that wait for results."""


def transport(**options: Any) -> AssistantTransportEncoder:
    return AssistantTransportEncoder(message_id="m", **options)


def reason_of(name: str) -> str:
    return REASONS.get(name, "tool-calls" if name.startswith("complete") else "error")


def runs(checked: AssistantTransport) -> list[tuple[str, Any]]:
    return [(part.start["toolName"], json.loads(part.text)) for part in checked.parts if part.may_run]


def text_of(checked: AssistantTransport, kind: str) -> str:
    return "".join(part.text for part in checked.parts if part.type == kind)


def complete_calls(message: Message[Any]) -> list[tuple[str, Any]]:
    return [(call.name or "", call.arguments_value) for call in message.tool_calls if isinstance(call, CompleteCall)]


@pytest.mark.parametrize("name", TURNS)
class TestEveryEndInParts:
    def test_is_told(self, name: str) -> None:
        checked = check_assistant_transport(encode(transport(), TURNS[name]))
        assert checked.finish_reason == reason_of(name)
        assert (checked.error is not None) is (reason_of(name) == "error")

    def test_lets_only_complete_calls_run(self, name: str) -> None:
        checked = check_assistant_transport(encode(transport(), TURNS[name]))
        assert runs(checked) == complete_calls(TURNS[name][-1])

    def test_is_the_same_for_those_who_join_late(self, name: str) -> None:
        turn = TURNS[name]
        checked = check_assistant_transport(encode(transport(), turn))
        for at in range(len(turn)):
            assert check_assistant_transport(encode(transport(), turn[at:])) == checked

    def test_is_told_when_the_program_fails(self, name: str) -> None:
        checked = check_assistant_transport(encode_failing(transport(), TURNS[name], "out of money"))
        assert checked.error == {"type": "error", "error": "out of money", "code": "failed"}
        assert not runs(checked)


@pytest.mark.parametrize("name", TURNS)
class TestEveryEndAsAnObject:
    def test_is_told(self, name: str) -> None:
        turn = TURNS[name]
        value = check_object_stream(encode(ObjectStreamEncoder(), turn))
        assert value["status"] == turn[-1].outcome.value
        ran = [(part["name"], part["arguments"]) for part in value["parts"] if part.get("status") == "complete"]
        assert ran == complete_calls(turn[-1])

    def test_is_the_same_for_those_who_join_late(self, name: str) -> None:
        turn = TURNS[name]
        value = check_object_stream(encode(ObjectStreamEncoder(), turn))
        for at in range(len(turn)):
            assert check_object_stream(encode(ObjectStreamEncoder(), turn[at:])) == value

    def test_is_told_when_the_program_fails(self, name: str) -> None:
        value = check_object_stream(encode_failing(ObjectStreamEncoder(), TURNS[name], "out of money"))
        assert value["status"] == "failed"
        assert value["errors"] == [{"kind": "failed", "message": "out of money"}]
        assert not [part for part in value.get("parts", []) if part.get("status") == "complete"]

    def test_has_arguments_as_text_if_asked_for(self, name: str) -> None:
        turn = TURNS[name]
        value = check_object_stream(encode(ObjectStreamEncoder(arguments="text"), turn))
        written = [part["arguments"] for part in value["parts"] if part["type"] == "call"]
        assert written == [call.arguments for call in turn[-1].tool_calls]


@needs_recordings
@pytest.mark.untraced
@pytest.mark.parametrize("name", NAMES)
class TestEveryRecording:
    def test_says_what_the_model_said_in_parts(self, name: str) -> None:
        turn, found = read(events(name)), reading(name)
        checked = check_assistant_transport(encode(transport(), turn))
        assert text_of(checked, "text") == (found.text or turn[-1].refusal)
        assert text_of(checked, "reasoning") == found.reasoning
        assert runs(checked) == [(call.name, call.value) for call in found.calls]

    def test_says_what_the_model_said_as_an_object(self, name: str) -> None:
        turn, found = read(events(name)), reading(name)
        value = check_object_stream(encode(ObjectStreamEncoder(), turn))
        texts = {
            kind: "".join(part["text"] for part in value["parts"] if part["type"] == kind)
            for kind in ("text", "reasoning")
        }
        assert texts == {"text": found.text, "reasoning": found.reasoning}
        calls = [(part["name"], part["arguments"]) for part in value["parts"] if part["type"] == "call"]
        assert calls == [(call.name, call.value) for call in found.calls]

    @pytest.mark.once
    def test_can_be_joined_or_break_off_after_any_event(self, name: str) -> None:
        states = states_of(events(name))
        last = finish_stream(states[-1]).message
        whole, value = joined_at(last, last)
        for state in states[1:]:
            parts, joined = joined_at(state.message, last)
            assert runs(parts) == runs(whole)
            assert text_of(parts, "text") == text_of(whole, "text")
            assert joined == value
            broken, shown = joined_at(state.message, finish_stream(state).message)
            assert runs(broken) == complete_calls(finish_stream(state).message)
            assert shown["status"] == finish_stream(state).message.outcome.value

    def test_breaks_off_with_an_end(self, name: str) -> None:
        states = states_of(events(name))
        for at in range(1, len(states), max(1, len(states) // 8)):
            turn = cut(states, at)
            early = check_assistant_transport(encode(transport(), turn))
            assert runs(early) == complete_calls(turn[-1])
            value = check_object_stream(encode(ObjectStreamEncoder(), turn))
            joined = check_object_stream(encode(ObjectStreamEncoder(), turn[-1:]))
            assert value == joined


def joined_at(message: Message[Any], last: Message[Any]) -> tuple[AssistantTransport, Any]:
    turn = [message, last]
    return (
        check_assistant_transport(encode(transport(), turn)),
        check_object_stream(encode(ObjectStreamEncoder(), turn)),
    )


@given(call_streams, st.booleans())
def test_interleaved_calls_are_told_as_they_are(streamed: Any, ends: bool) -> None:  # noqa: FBT001 - drawn
    entries, _ = streamed
    sent = [
        call_event(entry["index"], entry["arguments"], **{key: entry[key] for key in ("id", "name") if key in entry})
        for entry in entries
    ]
    turn = read([*sent, chat("tool_calls")] if ends else sent)
    checked = check_assistant_transport(encode(transport(), turn))
    assert runs(checked) == complete_calls(turn[-1])
    value = check_object_stream(encode(ObjectStreamEncoder(), turn))
    shown = [part.get("arguments", MISSING) for part in value["parts"]]
    assert shown == [without_names(call.partial, HOSTILE) for call in turn[-1].tool_calls]


@given(st.one_of(typed_documents(wrong=0.1), typed_documents(repeat_keys=True)), st.integers(1, 7), st.booleans())
def test_an_answer_grows_in_the_state_and_in_the_object(document: Any, size: int, ends: bool) -> None:  # noqa: FBT001 - drawn
    schema, text = document
    sent = [chat(content=text[at : at + size]) for at in range(0, len(text), size)]
    turn = read([*sent, chat("stop")] if ends else sent, response_schema=schema)
    checked = check_assistant_transport(encode(transport(), turn))
    answer = json.loads(turn[-1].to_json()).get("answer", MISSING)
    assert (checked.state or {}).get("answer", MISSING) == without_names(answer, HOSTILE)
    assert text_of(checked, "text") == ("" if turn[-1].outcome is Outcome.COMPLETE else turn[-1].content)
    value = check_object_stream(encode(ObjectStreamEncoder(), turn))
    assert value.get("answer", MISSING) == without_names(answer, HOSTILE)


@given(cut_documents(st.one_of(texts(), texts(repeat_keys=True))), st.sampled_from(["answer", None]))
def test_json_alone_is_the_state_and_the_object(document: Any, key: str | None) -> None:
    states = states_along(document[1])
    states.append(finalize(states[-1]))
    expected = without_names(states[-1].value, HOSTILE)
    is_complete = states[-1].is_complete
    for turn in (states, states[-1:]):
        checked = check_assistant_transport(encode(transport(answer=key), turn))
        assert checked.state == (expected if key is None else {key: expected})
        assert checked.finish_reason == ("stop" if is_complete else "error")
        value = check_object_stream(encode(ObjectStreamEncoder(), turn))
        assert value["value"] == expected
        assert (value["status"] == "complete") is is_complete


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


def test_a_call_whose_told_arguments_turn_out_wrong_is_not_run() -> None:
    checked = check_assistant_transport(encode(transport(), CONTRADICTED))
    assert not runs(checked)
    assert checked.finish_reason == "error"


def test_the_response_says_what_it_is_and_must_not_be_buffered() -> None:
    for each in (transport(), ObjectStreamEncoder()):
        assert each.media_type == "text/event-stream"
        assert each.headers["x-accel-buffering"] == "no"
    assert ObjectStreamEncoder().headers["assistant-stream-format"] == "object-stream/v0"


def test_nothing_follows_the_end() -> None:
    for encoder in (transport(), ObjectStreamEncoder()):
        state, _ = encoder.begin()
        for message in TURNS["complete"]:
            state, _ = encoder.encode(state, message)  # type: ignore[arg-type]
        assert encoder.encode(state, TURNS["complete"][0])[1] == b""  # type: ignore[arg-type]
        assert encoder.fail(state, "late")[1] == b""  # type: ignore[arg-type]


def test_a_stream_goes_on_from_a_state_that_was_saved() -> None:
    for turn in TURNS.values():
        for each in (transport(), ObjectStreamEncoder()):
            state, sent = each.begin()
            for message in turn:
                state, new = each.encode(pickle.loads(pickle.dumps(state)), message)  # noqa: S301 - our own
                sent += new
            check = check_object_stream if isinstance(each, ObjectStreamEncoder) else check_assistant_transport
            assert check(sent) == check(encode(each, turn))


def test_all_of_them_are_encoders() -> None:
    parts: Encoder[AssistantState] = transport()
    whole: Encoder[ObjectStreamState] = ObjectStreamEncoder()
    assert parts.keep_alive == whole.keep_alive == b": keep-alive\n\n"


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


HEADERS = {"content-type": "text/event-stream", **ObjectStreamEncoder().headers}


def in_parts(stream: bytes, size: int = 1 << 16) -> dict[str, Any]:
    return {"kind": "transport", "text": stream.decode(), "size": size}


def as_object(stream: bytes, size: int = 1 << 16) -> dict[str, Any]:
    return {"kind": "object", "text": stream.decode(), "size": size, "headers": HEADERS}


def agree(given: dict[str, Any], found: dict[str, Any]) -> None:
    """Check that the client took a stream as our checker did, without a word of complaint."""
    assert not found["error"], found["error"]
    assert not found["warnings"], found["warnings"]
    if given["kind"] == "object":
        assert found["value"] == check_object_stream(given["text"])
        return
    checked = check_assistant_transport(given["text"])
    message = found["message"]
    assert [part["type"] for part in message["parts"]] == [part.type for part in checked.parts]
    for part, shown in zip(checked.parts, message["parts"], strict=True):
        agree_on_part(part, shown)
    assert message["metadata"]["unstable_state"] == checked.state
    assert [each["id"] for each in found["ran"]] == [part.start["toolCallId"] for part in checked.parts if part.may_run]
    assert not found["pending"]  # nothing is left that a client would run
    assert message["status"]["type"] == status_of(checked)
    assert message["metadata"]["steps"][0]["finishReason"] == checked.finish_reason


def agree_on_part(part: Any, shown: dict[str, Any]) -> None:
    if part.type in {"text", "reasoning"}:
        assert shown["text"] == part.text
    elif part.type == "tool-call":
        assert shown["argsText"] == part.text
        assert shown["state"] == ("call" if part.may_run else "result")
        assert shown.get("isError", False) is part.is_error
    else:
        assert {name: shown[name] for name in part.start} == part.start


def status_of(checked: AssistantTransport) -> str:
    if checked.error is not None:
        return "incomplete"
    words = {"tool-calls": "requires-action", "stop": "complete", "unknown": "complete"}
    return words.get(checked.finish_reason, "incomplete")


def agree_on_all(given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = run("assistant.mjs", given)
    for each, found in zip(given, results, strict=True):
        agree(each, found)
    return results


@needs_node
@pytest.mark.untraced
@pytest.mark.once
class TestTheClient:
    def test_reads_every_way_to_end(self) -> None:
        given = []
        for turn in (*TURNS.values(), CONTRADICTED):
            for at in range(len(turn)):
                given += [in_parts(encode(transport(), turn[at:])), as_object(encode(ObjectStreamEncoder(), turn[at:]))]
            given.append(in_parts(encode_failing(transport(), turn, "out of money")))
            given.append(as_object(encode_failing(ObjectStreamEncoder(), turn, "out of money")))
        agree_on_all(given)

    def test_runs_no_tool_when_the_connection_is_lost_inside_a_call(self) -> None:
        names = [name for name in TURNS if not name.startswith("complete")]
        results = agree_on_all([in_parts(encode(transport(), TURNS[name]), 7) for name in names])
        broken = [found for name, found in zip(names, results, strict=True) if name != "invalid arguments"]
        assert sum(len(found["ran"]) + len(found["pending"]) for found in broken) == 0
        (found,) = agree_on_all([in_parts(encode(transport(), TURNS["complete with a call"]), 7)])
        assert [each["args"] for each in found["ran"]] == [{"query": "Kyoto in spring", "limit": 5}]  # so it does count

    @needs_recordings
    def test_runs_no_tool_wherever_a_recording_breaks_off_inside_a_call(self) -> None:
        turns = broken_inside_calls(NAMES, events)
        results = agree_on_all([in_parts(encode(transport(), turn)) for turn in turns])
        for turn, found in zip(turns, results, strict=True):
            assert len(found["ran"]) == len(complete_calls(turn[-1]))

    def test_reads_keep_alive_between_any_two_events(self) -> None:
        for encoder, wrap in ((transport(), in_parts), (ObjectStreamEncoder(), as_object)):
            frames = encode(encoder, TURNS["complete with a call"]).split(b"\n\n")[:-1]
            agree_on_all([wrap(b"".join(encoder.keep_alive + frame + b"\n\n" for frame in frames))])

    @needs_recordings
    def test_reads_every_recording_whole_late_and_broken(self) -> None:
        given = []
        for name in NAMES:
            states = states_of(events(name))
            turn = cut(states, len(states) - 1)
            broken = cut(states, len(states) // 2)
            for each in (turn, turn[len(turn) // 2 :], broken):
                given += [in_parts(encode(transport(), each)), as_object(encode(ObjectStreamEncoder(), each))]
        agree_on_all(given)

    def test_has_the_value_that_python_shows(self) -> None:
        texts = ['{"a": "%s", "b": [1, {"c": null}], "é/~": {"": "x"}}' % ("long " * 40), "[]", '"text"', "[[[1]]]"]
        given = []
        for text in texts:
            states: Any = states_along([text[at : at + 3] for at in range(0, len(text), 3)])
            given += [as_object(encode(ObjectStreamEncoder(), states))]
            given += [in_parts(encode(transport(answer=key), states)) for key in ("s", None)]
        agree_on_all(given)
