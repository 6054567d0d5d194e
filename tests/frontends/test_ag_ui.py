"""Messages as runs of AG-UI: what a client has at the end is what the model said, and every run tells its end."""

import json
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide import MISSING, finalize
from jsontide.frontends import AgUiEncoder, from_ag_ui
from jsontide.messages import CompleteCall, File, Message, Outcome, PartialCall, TextPart, ToolResult, Usage
from jsontide.runs import Run, RunOutcome, Step
from jsontide.testing import AgUiRun, check_ag_ui
from tests.cuts import states_along
from tests.frontends.clients import read_ag_ui
from tests.frontends.hostile import without_hostile
from tests.frontends.turns import CONTRADICTED, TURNS, chat, encode, read
from tests.frontends.turns import call as call_event
from tests.node_scripts import needs_node
from tests.provider_streams import ENCODED, events
from tests.strategies import call_streams, cut_documents, examples, texts, typed_documents

PNG = "iVBORw0KGgo="
PDF = "application/pdf"


def encoder(**options: Any) -> AgUiEncoder:
    return AgUiEncoder(thread_id="t", run_id="r", **options)


def content(checked: AgUiRun, role: str) -> str:
    return "".join(message.get("content", "") for message in checked.messages if message["role"] == role)


TOOLS = {f"tool{index}": f"state{index}" for index in range(4)}


@examples(0.3)
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


@examples(0.3)
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


@examples(0.3)
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


def test_files_that_a_tool_gives_are_shown_and_come_back() -> None:
    given = (TextPart("See:"), File("image/png", PNG), File(None, url="https://a.example/b.pdf"), File(id="f1"))
    call = CompleteCall("draw", {}, id="c1")
    step = Step(Message((call,), Outcome.COMPLETE, "tool_calls"), (ToolResult(call, given),))
    checked = check_ag_ui(encode(encoder(message_id="m"), [Run([step], RunOutcome.LIMIT)]))
    assert checked.messages[-1]["content"] == [
        {"type": "text", "text": "See:"},
        {"type": "image", "source": {"type": "data", "value": PNG, "mimeType": "image/png"}},
        {"type": "document", "source": {"type": "url", "value": "https://a.example/b.pdf", "mimeType": PDF}},
        {"type": "text", "text": "[a file that cannot be shown here: of unknown type]"},
    ]
    [back] = from_ag_ui({"messages": checked.messages}, trust_client=True).turns
    assert isinstance(back, Step)
    assert isinstance(back.results[0], ToolResult)
    assert back.results[0].parts[:2] == given[:2]


def test_a_run_can_name_the_run_that_it_belongs_to() -> None:
    assert b'"parentRunId":"p"' in encoder(parent_run_id="p").begin()[1]


@pytest.mark.untraced
def test_the_python_package_reads_every_event_and_changes_none() -> None:
    core = pytest.importorskip("ag_ui.core.events", reason="ag-ui-protocol is not installed")
    pydantic = pytest.importorskip("pydantic")
    from ag_ui.encoder import EventEncoder  # noqa: PLC0415 - only where it is installed

    check = pydantic.TypeAdapter(core.Event).validate_python
    for turn in (*TURNS.values(), *(read(events(name)) for name in ENCODED)):
        for frame in encode(encoder(state={"a": 1}), turn).decode().split("\n\n")[:-1]:
            event = json.loads(frame.removeprefix("data: "))
            assert json.loads(EventEncoder().encode(check(event))[len("data: ") :]) == event


@needs_node
@pytest.mark.untraced
@pytest.mark.long
def test_the_client_has_the_state_that_grows_however_it_is_told() -> None:
    texts = ['{"a": "%s", "b": [1, {"c": null}], "é/~": {"": "x"}}' % ("long " * 40), "[]", '"text"', "[[[1]]]"]
    alone = [states_along([text[at : at + 3] for at in range(0, len(text), 3)]) for text in texts]
    shows = encoder(state={"mine": 1}, arguments_as_state={"search": "found"})
    streams = [encode(shows, turn[at:]) for turn in TURNS.values() for at in range(len(turn))]
    for in_steps, key in product((True, False), ("s", None)):
        streams += [encode(encoder(answer=key, in_steps=in_steps), turn) for turn in alone]
    read_ag_ui(streams)
