"""Messages as runs of AG-UI: what a client has at the end is what the model said, and every run tells its end."""

import json
import pickle
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide import MISSING, finalize
from jsontide.adapters import finish_stream
from jsontide.encoders import AgUiEncoder, AgUiState, Encoder
from jsontide.messages import CompleteCall, Message, Outcome, PartialCall, Usage
from jsontide.testing import AgUiRun, check_ag_ui
from tests.cuts import states_along
from tests.encoders.hostile import without_hostile
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

ENDS = {
    "at the limit of length": "truncated",
    "at the limit inside a call": "truncated",
    "cut off in text": "transport",
    "cut off inside a call": "transport",
    "cut off after a whole call": "transport",
    "cut off inside a provider's tool": "transport",
    "cut off in an answer": "transport",
    "connection lost in text": "transport",
    "connection lost inside a call": "transport",
    "connection lost after whole calls": "transport",
    "connection lost before anything": "transport",
    "stopped inside a call": "cancelled",
    "failed in text": "transport",
    "failed inside a call": "transport",
    "invalid arguments": "invalid",
    "invalid answer": "invalid",
    "refused": "refused",
    "filtered": "filtered",
    "empty": "empty",
    "nothing at all": "transport",
}
"""The codes of turns that end with RUN_ERROR."""
STOPPED = {"stopped in text", "stopped inside a provider's tool"}


def encoder(**options: Any) -> AgUiEncoder:
    return AgUiEncoder(thread_id="t", run_id="r", **options)


def ready(checked: AgUiRun) -> list[str]:
    return [call_id for call_id, call in checked.calls.items() if call.state == "ready"]


def content(checked: AgUiRun, role: str) -> str:
    return "".join(message.get("content", "") for message in checked.messages if message["role"] == role)


def as_one(checked: AgUiRun) -> AgUiRun:
    """The same without the ids of a provider's own calls: there is a recording in which they change on the way."""
    custom = [(name, {**value, "id": ""}) for name, value in checked.custom]
    return replace(checked, custom=custom)


@pytest.mark.parametrize("name", TURNS)
class TestEveryEnd:
    def test_is_told(self, name: str) -> None:
        checked = check_ag_ui(encode(encoder(), TURNS[name]))
        if name in ENDS:
            assert checked.end["type"] == "RUN_ERROR"
            assert checked.end["code"] == ENDS[name]
        else:
            assert checked.end["type"] == "RUN_FINISHED"
            assert checked.end["outcome"]["type"] == ("cancelled" if name in STOPPED else "success")

    def test_lets_only_complete_calls_run(self, name: str) -> None:
        checked = check_ag_ui(encode(encoder(), TURNS[name]))
        complete = [call for call in TURNS[name][-1].tool_calls if isinstance(call, CompleteCall)]
        runs = [(checked.calls[each].name, json.loads(checked.calls[each].arguments)) for each in ready(checked)]
        assert runs == [(call.name, call.arguments_value) for call in complete]
        if checked.end["type"] == "RUN_FINISHED":
            assert checked.end["outcome"].get("pendingToolCallIds", []) == ready(checked)

    def test_is_the_same_for_those_who_join_late(self, name: str) -> None:
        turn = TURNS[name]
        checked = check_ag_ui(encode(encoder(), turn))
        for at in range(len(turn)):
            joined = check_ag_ui(encode(encoder(), turn[at:]))
            assert joined.messages == checked.messages
            assert joined.state == checked.state
            assert joined.end == checked.end
            assert joined.calls == checked.calls

    def test_is_told_when_the_program_fails(self, name: str) -> None:
        checked = check_ag_ui(encode_failing(encoder(), TURNS[name], "out of money"))
        assert checked.end == {**checked.end, "type": "RUN_ERROR", "code": "failed", "message": "out of money"}
        assert not ready(checked)

    def test_is_the_last_word(self, name: str) -> None:
        state, _ = encoder().begin()
        for message in TURNS[name]:
            state, _ = encoder().encode(state, message)
        assert encoder().encode(state, TURNS[name][0])[1] == b""
        assert encoder().fail(state, "late")[1] == b""


@needs_recordings
@pytest.mark.untraced
@pytest.mark.parametrize("name", NAMES)
class TestEveryRecording:
    def test_says_what_the_model_said(self, name: str) -> None:
        turn, found = read(events(name)), reading(name)
        checked = check_ag_ui(encode(encoder(), turn))
        assert content(checked, "assistant") == (found.text or turn[-1].refusal)
        assert content(checked, "reasoning") == found.reasoning
        runs = [checked.calls[call_id] for call_id in ready(checked)]
        assert [(call.name, json.loads(call.arguments)) for call in runs] == [
            (call.name, call.value) for call in found.calls
        ]

    @pytest.mark.once
    def test_can_be_joined_or_break_off_after_any_event(self, name: str) -> None:
        states = states_of(events(name))
        last = finish_stream(states[-1]).message
        whole = check_ag_ui(encode(encoder(), [last]))
        for state in states[1:]:
            joined = check_ag_ui(encode(encoder(), [state.message, last]))
            assert as_one(joined) == as_one(whole)
            broken = check_ag_ui(encode(encoder(), [state.message, finish_stream(state).message]))
            complete = [call for call in finish_stream(state).message.tool_calls if isinstance(call, CompleteCall)]
            assert len(ready(broken)) == len(complete)

    def test_is_the_same_from_the_start_and_from_the_end(self, name: str) -> None:
        turn = read(events(name))
        early, late = check_ag_ui(encode(encoder(), turn)), check_ag_ui(encode(encoder(), turn[-1:]))
        assert early.messages == late.messages
        assert early.calls == late.calls
        assert early.end == late.end

    def test_breaks_off_with_an_end(self, name: str) -> None:
        states = states_of(events(name))
        for at in range(1, len(states), max(1, len(states) // 8)):
            turn = cut(states, at)
            checked = check_ag_ui(encode(encoder(), turn))
            assert as_one(checked) == as_one(check_ag_ui(encode(encoder(), turn[-1:])))


TOOLS = {f"tool{index}": f"state{index}" for index in range(4)}


@given(call_streams, st.booleans(), st.booleans())
def test_arguments_grow_in_the_state(streamed: Any, ends: bool, in_steps: bool) -> None:  # noqa: FBT001 - drawn
    entries, wanted = streamed
    sent = [
        call_event(entry["index"], entry["arguments"], **{key: entry[key] for key in ("id", "name") if key in entry})
        for entry in entries
    ]
    turn = read([*sent, chat("tool_calls")] if ends else sent)
    shows = encoder(state={"mine": 1}, arguments_as_state=TOOLS, in_steps=in_steps)
    checked = check_ag_ui(encode(shows, turn))
    expected = {
        f"state{at}": call.partial for at, call in enumerate(turn[-1].tool_calls) if call.partial is not MISSING
    }
    assert checked.state == without_hostile({"mine": 1, **expected})
    if ends and all(isinstance(call, CompleteCall) for call in turn[-1].tool_calls):
        assert checked.state == without_hostile({"mine": 1, **{f"state{at}": each for at, each in enumerate(wanted)}})
    assert check_ag_ui(encode(shows, turn[-1:])).state == checked.state


@given(
    st.one_of(typed_documents(wrong=0.1), typed_documents(repeat_keys=True)),
    st.integers(1, 7),
    st.booleans(),
    st.booleans(),
)
def test_an_answer_grows_in_the_state(document: Any, size: int, ends: bool, in_steps: bool) -> None:  # noqa: FBT001 - drawn
    schema, text = document
    sent = [chat(content=text[at : at + size]) for at in range(0, len(text), size)]
    turn = read([*sent, chat("stop")] if ends else sent, response_schema=schema)
    shows = encoder(in_steps=in_steps)
    state, sent_bytes = shows.begin()
    for message in turn:
        state, new = shows.encode(state, message)
        sent_bytes += new
        if in_steps and message.outcome is Outcome.STREAMING:
            continue
        end = b"" if message.outcome is not Outcome.STREAMING else shows.fail(state, "look")[1]
        answer = json.loads(message.to_json()).get("answer", MISSING)
        shown = check_ag_ui(sent_bytes + end).state.get("answer", MISSING)
        assert shown == without_hostile(answer)
    checked = check_ag_ui(sent_bytes)
    is_valid = turn[-1].outcome is Outcome.COMPLETE
    assert content(checked, "assistant") == ("" if is_valid else turn[-1].content)


@given(cut_documents(st.one_of(texts(), texts(repeat_keys=True))), st.booleans(), st.sampled_from(["answer", None]))
def test_json_alone_grows_in_the_state(document: Any, in_steps: bool, key: str | None) -> None:  # noqa: FBT001 - drawn
    states = states_along(document[1])
    states.append(finalize(states[-1]))
    shows = encoder(answer=key, in_steps=in_steps)
    checked = check_ag_ui(encode(shows, states))
    value = without_hostile(states[-1].value)
    assert checked.end["type"] == ("RUN_FINISHED" if states[-1].is_complete else "RUN_ERROR")
    assert checked.state == (value if key is None else {key: value})
    assert check_ag_ui(encode(shows, states[-1:])).state == checked.state


def test_json_that_breaks_off_or_is_invalid_says_so() -> None:
    for text, code in (('{"a": [1', "truncated"), ('{"a": }', "invalid")):
        states = states_along([text])
        checked = check_ag_ui(encode(encoder(), [*states, finalize(states[-1])]))
        assert checked.end["code"] == code


def test_state_in_steps_costs_less_than_five_times_the_text() -> None:
    long = json.dumps({"text": "All work and no play makes Jack a dull boy. " * 90})
    many = json.dumps([{"name": f"number {at}", "size": at, "tags": ["a", "b"]} for at in range(60)])
    for text in (long, many):
        sent = [call_event(0, "", id="c", name="write")]
        sent += [call_event(0, text[at : at + 4]) for at in range(0, len(text), 4)]
        stream = encode(encoder(arguments_as_state={"write": "draft"}), read([*sent, chat("tool_calls")]))
        told = [event for event in stream.split(b"\n\n") if b'"STATE_' in event]
        assert sum(map(len, told)) < 5 * len(text)
        assert check_ag_ui(stream).state == {"draft": json.loads(text)}


def test_hostile_keys_are_left_out_of_the_state_and_stay_in_the_text() -> None:
    text = '{"__proto__": {"x": "abc"}, "a": {"constructor": {"prototype": [1], "b": "c"}}, "constructor": 1}'
    sent = [
        call_event(0, text[at : at + 3], **({"name": "f", "id": "c"} if not at else {}))
        for at in range(0, len(text), 3)
    ]
    turn = read([*sent, chat("tool_calls")])
    for in_steps in (True, False):
        checked = check_ag_ui(encode(encoder(arguments_as_state={"f": "s"}, in_steps=in_steps), turn))
        assert checked.state == {"s": {"a": {"constructor": {"b": "c"}}, "constructor": 1}}
        assert checked.calls["c"].arguments == text


def test_the_last_call_of_a_tool_is_the_one_in_the_state() -> None:
    sent = [
        call_event(0, '{"a": "first, and long enough to', id="1", name="f"),
        call_event(1, '{"b": "second, and long enough', id="2", name="f"),
        call_event(0, ' be sent in several steps"}'),
        call_event(1, ' to be sent in several steps"}'),
        chat("tool_calls"),
    ]
    turn = read(sent)
    for in_steps in (True, False):
        for at in range(len(turn)):
            shows = encoder(arguments_as_state={"f": "s"}, in_steps=in_steps)
            assert check_ag_ui(encode(shows, turn[at:])).state == {
                "s": {"b": "second, and long enough to be sent in several steps"}
            }


def test_a_call_is_shown_in_the_state_when_its_name_comes_late() -> None:
    sent = [
        call_event(0, '{"a": 1, ', id="1"),
        call_event(0, '"b": 2', name="f"),
        call_event(0, "}"),
        chat("tool_calls"),
    ]
    checked = check_ag_ui(encode(encoder(arguments_as_state={"f": "s"}, in_steps=False), read(sent)))
    assert checked.state == {"s": {"a": 1, "b": 2}}


def test_text_and_calls_are_one_message() -> None:
    checked = check_ag_ui(encode(encoder(message_id="m"), TURNS["complete with a call"]))
    (message,) = checked.messages
    assert message["id"] == "m"
    assert message["content"] == "Let me look that up."
    assert [call["id"] for call in message["toolCalls"]] == ["c1"]


def test_prose_beside_an_answer_is_text() -> None:
    turn = TURNS["complete with an answer as a call"]
    for at in range(len(turn)):
        checked = check_ag_ui(encode(encoder(), turn[at:]))
        assert content(checked, "assistant") == "Let me look that up."
        assert checked.state == {"answer": {"name": "Kyoto", "stops": [1, 2]}}
        assert not checked.calls


def test_a_provider_s_tool_is_told_by_custom_events() -> None:
    checked = check_ag_ui(encode(encoder(), TURNS["complete with a provider's tool"]))
    assert not checked.calls
    (_, started), (name, ended) = checked.custom
    assert name == "jsontide.server_call"
    assert started == {"id": "s1", "name": "web_search", "status": "started"}
    assert ended["arguments"] == {"query": "a"}
    assert ended["result"] == [{"title": "A"}]


def test_a_call_that_must_not_run_has_a_result_that_says_why() -> None:
    checked = check_ag_ui(encode(encoder(), TURNS["connection lost inside a call"]))
    assert checked.calls["c1"].state == "answered"
    assert checked.messages[-1]["role"] == "tool"
    assert checked.messages[-1]["content"].startswith("this call was not run: ")


def test_a_call_whose_told_arguments_turn_out_wrong_ends_in_an_error() -> None:
    checked = check_ag_ui(encode(encoder(), CONTRADICTED))
    assert isinstance(CONTRADICTED[-1].tool_calls[0], CompleteCall)
    assert checked.calls["c"].state == "answered"
    assert checked.end["code"] == "invalid"


def test_the_end_says_what_it_cost() -> None:
    checked = check_ag_ui(encode(encoder(), TURNS["complete"]))
    (usage,) = checked.end["usage"]
    assert usage == {
        "provider": "openai_chat",
        "model": "m-1",
        "inputTokens": 12,
        "outputTokens": 34,
        "totalTokens": 46,
    }


def test_counts_that_the_protocol_does_not_take_are_left_out() -> None:
    message = Message(outcome=Outcome.EMPTY, usage=Usage(input_tokens=-1, output_tokens=2**60, cached_tokens=3))
    assert check_ag_ui(encode(encoder(), [message])).end["usage"] == [{"cachedInputTokens": 3}]


def test_a_failed_call_in_a_message_made_by_hand_ends_in_an_error() -> None:
    call = PartialCall("f", "{", status=Outcome.TRUNCATED, id="c")
    checked = check_ag_ui(encode(encoder(), [Message((call,), Outcome.COMPLETE)]))
    assert checked.end["code"] == "truncated"


def test_options_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot both be at 'answer'"):
        encoder(arguments_as_state={"f": "answer"})
    with pytest.raises(TypeError, match="state must be a mapping, not list"):
        encoder(state=[])


def test_the_response_says_what_it_is_and_must_not_be_buffered() -> None:
    each: Encoder[AgUiState] = encoder()
    assert each.media_type == "text/event-stream"
    assert each.headers["x-accel-buffering"] == "no"


def test_a_run_goes_on_from_a_state_that_was_saved() -> None:
    shows = encoder(arguments_as_state={"search": "found"})
    for turn in TURNS.values():
        state, sent = shows.begin()
        for message in turn:
            state, new = shows.encode(pickle.loads(pickle.dumps(state)), message)  # noqa: S301 - our own
            sent += new
        assert check_ag_ui(sent) == check_ag_ui(encode(shows, turn))


def test_a_run_can_name_the_run_that_it_belongs_to() -> None:
    assert b'"parentRunId":"p"' in encoder(parent_run_id="p").begin()[1]


@pytest.mark.parametrize("name", [*TURNS, *(pytest.param(name, marks=pytest.mark.untraced) for name in NAMES)])
def test_the_python_package_reads_every_event_and_changes_none(name: str) -> None:
    core = pytest.importorskip("ag_ui.core.events", reason="ag-ui-protocol is not installed")
    pydantic = pytest.importorskip("pydantic")
    from ag_ui.encoder import EventEncoder  # noqa: PLC0415 - only where it is installed

    check = pydantic.TypeAdapter(core.Event).validate_python
    turn = TURNS[name] if name in TURNS else read(events(name))
    for frame in encode(encoder(state={"a": 1}), turn).decode().split("\n\n")[:-1]:
        event = json.loads(frame.removeprefix("data: "))
        assert json.loads(EventEncoder().encode(check(event))[len("data: ") :]) == event


def told_of(text: bytes, size: int | None = None) -> dict[str, Any]:
    return {"text": text.decode(), **({} if size is None else {"size": size})}


def agree(stream: bytes, found: dict[str, Any]) -> None:
    """Check that the client took a stream as our checker did, without a word of complaint."""
    checked = check_ag_ui(stream)
    assert not found["error"], found["error"]
    assert not found["warnings"], found["warnings"]
    assert found["messages"] == checked.messages
    assert found["state"] == checked.state
    assert [each["id"] for each in found["ran"]] == ready(checked)
    assert found["custom"] == [list(each) for each in checked.custom]
    code = checked.end.get("code")
    assert found["end"] == (checked.end["outcome"]["type"] if code is None else f"error {code}")


@needs_node
@pytest.mark.untraced
@pytest.mark.once
class TestTheClient:
    def test_reads_every_way_to_end(self) -> None:
        shows = encoder(state={"mine": 1}, arguments_as_state={"search": "found"})
        streams = []
        for turn in (*TURNS.values(), CONTRADICTED):
            streams += [encode(shows, turn[at:]) for at in range(len(turn))]
            streams.append(encode_failing(shows, turn, "out of money"))
        for stream, found in zip(streams, run("ag_ui.mjs", [told_of(stream) for stream in streams]), strict=True):
            agree(stream, found)

    def test_fires_no_callback_when_the_connection_is_lost_inside_a_call(self) -> None:
        names = [name for name in TURNS if "lost" in name or "cut off" in name or "failed" in name]
        streams = [encode(encoder(), TURNS[name]) for name in names]
        results = run("ag_ui.mjs", [told_of(stream, 7) for stream in streams])
        assert sum(len(found["ran"]) for found in results) == 0
        assert all(found["end"].startswith("error ") for found in results)
        (found,) = run("ag_ui.mjs", [told_of(encode(encoder(), TURNS["complete with a call"]), 7)])
        assert [json.loads(each["arguments"]) for each in found["ran"]] == [
            {"query": "Kyoto in spring", "limit": 5}
        ]  # so the callback does count

    @needs_recordings
    def test_fires_no_callback_wherever_a_recording_breaks_off_inside_a_call(self) -> None:
        turns = broken_inside_calls(NAMES, events)
        assert len(turns) > 100
        streams = [encode(encoder(), turn) for turn in turns]
        for turn, found in zip(turns, run("ag_ui.mjs", [told_of(stream) for stream in streams]), strict=True):
            complete = [call for call in turn[-1].tool_calls if isinstance(call, CompleteCall)]
            assert len(found["ran"]) == len(complete)
            assert not found["error"]
            assert not found["warnings"]
            assert found["end"].startswith("error ")

    def test_reads_keep_alive_between_any_two_events(self) -> None:
        frames = encode(encoder(), TURNS["complete with a call"]).split(b"\n\n")[:-1]
        stream = b"".join(encoder().keep_alive + frame + b"\n\n" for frame in frames)
        (found,) = run("ag_ui.mjs", [told_of(stream)])
        agree(stream, found)

    @needs_recordings
    def test_reads_every_recording_whole_late_and_broken(self) -> None:
        streams = []
        for name in NAMES:
            states = states_of(events(name))
            turn = cut(states, len(states) - 1)
            streams += [encode(encoder(), turn), encode(encoder(), turn[len(turn) // 2 :])]
            for part in (3, 2):
                streams.append(encode(encoder(), cut(states, len(states) * (part - 1) // part)))
        for stream, found in zip(streams, run("ag_ui.mjs", [told_of(stream) for stream in streams]), strict=True):
            agree(stream, found)

    def test_has_the_state_that_python_shows(self) -> None:
        texts = ['{"a": "%s", "b": [1, {"c": null}], "é/~": {"": "x"}}' % ("long " * 40), "[]", '"text"', "[[[1]]]"]
        for in_steps in (True, False):
            turns = [states_along([text[at : at + 3] for at in range(0, len(text), 3)]) for text in texts]
            streams = [encode(encoder(answer=key, in_steps=in_steps), turn) for turn in turns for key in ("s", None)]
            for stream, found in zip(streams, run("ag_ui.mjs", [told_of(stream) for stream in streams]), strict=True):
                agree(stream, found)
