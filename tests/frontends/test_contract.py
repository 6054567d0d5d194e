"""What holds of every encoder: a client has what the model said, knows how it ended, and runs only complete calls."""

import json
import pickle
from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide import MISSING, finalize
from jsontide.frontends import Encoder, describe_error
from jsontide.messages import (
    CompleteCall,
    Message,
    MessageError,
    Outcome,
    PartialCall,
    ReasoningPart,
    Refusal,
    ServerCall,
    TextPart,
    fail_message,
)
from tests.cuts import states_along
from tests.frontends.endings import ENDS, ended, made_up, recorded
from tests.frontends.protocols import PROTOCOLS, Protocol, Runs, Seen
from tests.frontends.turns import (
    CALL,
    CONTRADICTED,
    SEARCHED,
    TEXT,
    TURNS,
    call,
    chat,
    encode,
    encode_failing,
    pieces,
    read,
    states_of,
    turn_to_the_provider,
)
from tests.node_scripts import needs_node
from tests.provider_streams import ENCODED, every_encoded_stream, reading
from tests.strategies import cut_documents, examples, randoms, texts, typed_documents


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> Protocol:
    return PROTOCOLS[request.param]


def see(protocol: Protocol, turn: Any) -> Seen:
    return protocol.read(encode(protocol.make(), turn))


def complete_calls(protocol: Protocol, message: Message[Any]) -> Runs:
    calls = [part for part in message.parts if isinstance(part, CompleteCall)]
    return [(call.name, protocol.clean(call.arguments_value)) for call in calls]


def test_every_end_is_told_and_lets_only_complete_calls_run(protocol: Protocol) -> None:
    for name, turn in TURNS.items():
        seen = see(protocol, turn)
        assert seen.end == protocol.end_of(name), name
        assert seen.runs == complete_calls(protocol, turn[-1]), name


def test_who_joins_late_has_the_same_in_the_end(protocol: Protocol) -> None:
    for name, turn in TURNS.items():
        seen = see(protocol, turn)
        for at in range(1, len(turn)):
            assert see(protocol, turn[at:]) == seen, (name, at)


def test_a_failure_of_the_program_is_told_and_runs_nothing(protocol: Protocol) -> None:
    for name, turn in TURNS.items():
        seen = protocol.read(encode_failing(protocol.make(), turn, "out of money"))
        assert (seen.reason, seen.runs) == ("out of money", []), name
        assert seen.end in {"failed", "error"}, name


def test_the_end_is_the_last_word(protocol: Protocol) -> None:
    encoder = protocol.make()
    for name, turn in TURNS.items():
        state, _ = encoder.begin()
        for message in turn:
            state, _ = encoder.encode(state, message)
        assert encoder.encode(state, turn[0])[1] == encoder.fail(state, "late")[1] == b"", name


def test_a_state_is_a_value_that_can_be_saved(protocol: Protocol) -> None:
    """Encoding from a state again gives the same again; from one that went through a pickle, what means the same."""
    encoder = protocol.make()
    for name, turn in TURNS.items():
        state, stream = encoder.begin()
        for message in turn:
            saved = pickle.loads(pickle.dumps(state))  # noqa: S301 - our own
            state, sent = encoder.encode(saved, message)
            assert encoder.encode(saved, message)[1] == sent, name
            stream += sent
        assert protocol.read(stream) == see(protocol, turn), name


def test_keep_alive_changes_nothing_between_any_two_events(protocol: Protocol) -> None:
    encoder = protocol.make()
    for turn in TURNS.values():
        assert protocol.read(encoder.keep_alive.join([b"", *pieces(encoder, turn)])) == see(protocol, turn)


def test_arguments_that_were_told_wrong_are_not_run(protocol: Protocol) -> None:
    """Where a protocol can take back what it told, it does."""
    seen = see(protocol, CONTRADICTED)
    assert isinstance(CONTRADICTED[-1].tool_calls[0], CompleteCall)
    assert seen.runs in ([], [("f", {"a": "y", "b": 1})])


def test_a_call_that_turns_out_to_be_the_provider_s_is_not_run(protocol: Protocol) -> None:
    turn = turn_to_the_provider()
    assert {PartialCall, ServerCall} == {type(message.parts[0]) for message in turn if message.parts}
    assert see(protocol, turn).runs == see(protocol, turn[-1:]).runs == []


def test_the_result_of_a_provider_s_tool_is_told_though_it_comes_after_the_end_of_the_call(protocol: Protocol) -> None:
    for name in ("bedrock/a tool of the provider", "openai_responses/a shell in a container"):
        turn = [state.message for state in recorded(name)]
        assert see(protocol, turn) == see(protocol, turn[-1:]), name


INSIDE = "quota of org-acme, key sk-123, at 10.0.0.7"
RESPONSE = {"id": "r", "object": "response", "output": [], "status": "failed", "error": {"message": INSIDE}}
FAILED: dict[str, list[Any]] = {
    "chat": [*TEXT, {"error": {"message": INSIDE, "code": 429}}],
    "chat, in a call": [*CALL[:2], {"error": INSIDE}],
    "chat, after a whole call": [*CALL, {"error": {"type": INSIDE}}],
    "responses": [{"type": "response.created", "response": {"id": "r"}}, {"type": "error", "message": INSIDE}],
    "responses, whole": [{"type": "response.failed", "response": RESPONSE}],
    "anthropic": [*SEARCHED[:7], {"type": "error", "error": {"type": "overloaded_error", "message": INSIDE}}],
    "gemini": [
        {"candidates": [{"index": 0, "content": {"role": "model", "parts": [{"text": "Hi"}]}}]},
        {"error": {"code": 429, "message": INSIDE, "status": "RESOURCE_EXHAUSTED"}},
    ],
    "gemini interactions": [
        {"event_type": "interaction.created", "interaction": {"id": "i"}},
        {"event_type": "error", "error": {"message": INSIDE, "code": "gateway"}},
    ],
    "bedrock": [{"messageStart": {"role": "assistant"}}, {"throttlingException": {"message": INSIDE}}],
    "cohere": [
        {"type": "message-start", "id": "c", "delta": {"message": {"role": "assistant"}}},
        {"type": "message-end", "delta": {"finish_reason": "ERROR", "error": INSIDE}},
    ],
    "ollama": [{"message": {"content": "Hi"}, "done": False}, {"error": INSIDE}],
    "an error page": [f"<html><body><h1>502</h1>{INSIDE}</body></html>".encode()],
    "an error as JSON": [json.dumps({"error": {"message": INSIDE}}).encode()],
    "an error as text": [INSIDE.encode()],
    "damage": [f"data: {json.dumps(TEXT[0])}\n\ndata: {INSIDE}\n\n".encode()],
}
"""What a provider, or a proxy before it, says when it fails."""


@pytest.mark.parametrize("name", FAILED)
def test_what_a_provider_says_of_a_failure_stays_on_the_server(protocol: Protocol, name: str) -> None:
    turn = read(FAILED[name])
    assert any(INSIDE[:20] in error.message for error in turn[-1].errors), "nothing is hidden"
    sent = encode(protocol.make(), turn)
    assert INSIDE[:20].encode() not in sent
    told = protocol.read(sent)
    assert (told.reason, told.runs) == ("the provider failed", [])


def test_why_a_tool_of_the_provider_failed_stays_on_the_server(protocol: Protocol) -> None:
    item = {"type": "mcp_call", "id": "m", "name": "look", "server_label": "s", "arguments": "{}", "error": INSIDE}
    turn = read([{"type": "response.output_item.done", "output_index": 0, "item": item}])
    assert INSIDE in str(turn[-1].parts[0].extra), "nothing is hidden"
    assert INSIDE.encode() not in encode(protocol.make(), turn)


def test_an_application_says_what_clients_are_told(protocol: Protocol) -> None:
    encoder = protocol.make().with_describe_error(lambda error: f"sorry: {error.message}")
    for name in ("chat", "chat, in a call"):
        assert protocol.read(encode(encoder, read(FAILED[name]))).reason == f"sorry: {INSIDE}"
    with pytest.raises(TypeError, match="describe_error must be callable, not str"):
        protocol.make().with_describe_error("sorry")


def test_only_messages_and_states_are_encoded(protocol: Protocol) -> None:
    encoder = protocol.make()
    with pytest.raises(TypeError, match=r"^encode\(\) takes a Message, a Run or a ParserState, not str$"):
        encoder.encode(encoder.begin()[0], "Hi")


def test_what_an_exception_says_stays_on_the_server(protocol: Protocol) -> None:
    state = states_of(TEXT)[-1].message_state
    inside = "https://inside.example/?key=1"
    sent = encode(protocol.make(), [fail_message(state, ConnectionError(inside)).message])
    assert inside.encode() not in sent
    assert protocol.read(sent).reason == "the connection to the provider failed"


def test_what_is_our_own_to_say_is_told(protocol: Protocol) -> None:
    untold = "the stream ended before the provider said how the message ends"
    assert see(protocol, read(TEXT)).reason == untold
    invalid = see(protocol, read([call(0, "[1 2]", id="c1", name="f"), chat("tool_calls")]))
    assert invalid.reason is not None
    assert "expected" in invalid.reason


def test_an_exception_that_is_about_a_message_is_described_as_the_message() -> None:
    for name, events in FAILED.items():
        with pytest.raises(MessageError) as caught:
            read(events)[-1].raise_for_outcome()
        assert describe_error(caught.value) == "the provider failed", name
    assert describe_error(ArithmeticError(INSIDE)) == "the server failed"


def test_the_response_says_what_it_is_and_must_not_be_buffered(protocol: Protocol) -> None:
    encoder: Encoder[Any] = protocol.make()
    assert encoder.media_type in {"text/event-stream", "application/x-ndjson"}
    assert encoder.headers["x-accel-buffering"] == "no"


def check_end(protocol: Protocol, seen: Seen, message: Message[Any]) -> None:
    assert seen.runs == complete_calls(protocol, message)
    said = [part for part in message.parts if isinstance(part, TextPart | Refusal)]
    assert seen.text == "".join(part.text for part in said)
    thought = [part for part in message.parts if isinstance(part, ReasoningPart)]
    assert seen.reasoning == "".join(part.text for part in thought)


@examples(0.3)
@given(randoms)
def test_any_turn_cut_and_ended_anywhere_is_told(random: Random) -> None:
    states = made_up(random)
    for at, way in product({random.randrange(len(states)), len(states) - 1}, ENDS):
        messages = ended(states, at, way)
        for protocol in PROTOCOLS.values():
            seen = see(protocol, messages)
            check_end(protocol, seen, messages[-1])
            late = see(protocol, messages[random.randrange(len(messages)) :])
            # Arguments may be spelled in another way, as where a key was repeated.
            assert replace(late, everything=None) == replace(seen, everything=None)


@examples(0.3)
@given(cut_documents(st.one_of(texts(), texts(repeat_keys=True))))
def test_json_alone_is_shown_with_how_it_ends(document: Any) -> None:
    states: list[Any] = states_along(document[1])
    states.append(finalize(states[-1]))
    for protocol in PROTOCOLS.values():
        for turn in (states, states[-1:]):
            seen = see(protocol, turn)
            assert seen.value == protocol.clean(states[-1].value)
            assert (seen.end in {"finish", "success", "stop", "complete"}) is states[-1].is_complete


@examples(0.3)
@given(
    st.one_of(typed_documents(wrong=0.1), typed_documents(repeat_keys=True)),
    st.integers(1, 7),
    st.booleans(),
)
def test_an_answer_is_shown_as_a_value_and_as_text_only_if_it_is_none(document: Any, size: int, ends: bool) -> None:  # noqa: FBT001 - drawn
    schema, text = document
    sent = [chat(content=text[at : at + size]) for at in range(0, len(text), size)]
    turn = read([*sent, chat("stop")] if ends else sent, response_schema=schema)
    answer = json.loads(turn[-1].to_json()).get("answer", MISSING)
    for protocol in PROTOCOLS.values():
        seen = see(protocol, turn)
        assert seen.value == protocol.clean(answer)
        assert seen.text == ("" if turn[-1].outcome is Outcome.COMPLETE else turn[-1].content)


def keeps_ids(states: list[Any]) -> bool:
    """Whether a provider never changes the id of its own calls: what was told cannot be taken back."""
    ids = {part.index: part.id for part in states[-1].message.parts if isinstance(part, ServerCall)}
    parts = [part for state in states for part in state.message.parts if isinstance(part, ServerCall)]
    return all(part.id == ids[part.index] for part in parts)


@pytest.mark.untraced
@every_encoded_stream
class TestEveryStream:
    def test_says_what_the_model_said_also_to_who_joins_at_the_end(self, name: str) -> None:
        states, found = recorded(name), reading(name)
        turn = [state.message for state in states]
        for protocol in PROTOCOLS.values():
            seen = see(protocol, turn)
            assert seen.text == (found.text or turn[-1].refusal or "")
            assert seen.reasoning == found.reasoning
            assert seen.runs == [(call.name, call.value) for call in found.calls]
        check_cuts(states, [len(states) - 1])

    @pytest.mark.long
    def test_can_be_joined_or_break_off_after_any_event(self, name: str) -> None:
        states = recorded(name)
        check_cuts(states, range(len(states)))


def check_cuts(states: list[Any], cuts: Iterable[int]) -> None:
    for protocol, at, way in product(PROTOCOLS.values(), cuts, ENDS):
        messages = ended(states, at, way)
        joins = see(protocol, messages[-2:])
        check_end(protocol, joins, messages[-1])
        seen = see(protocol, messages[-1:])
        if not keeps_ids(states):
            joins, seen = replace(joins, everything=None), replace(seen, everything=None)
        assert joins == seen, (at, way)


with_clients = pytest.mark.parametrize("name", [name for name, each in PROTOCOLS.items() if each.in_client])


@needs_node
@pytest.mark.untraced
@with_clients
class TestTheClient:
    """The front end's own code has what our checker says, and runs what is complete, and nothing else."""

    def check(self, name: str, turns: list[list[Any]]) -> None:
        protocol = PROTOCOLS[name]
        assert protocol.in_client is not None
        encoder = protocol.make()
        streams = [encoder.keep_alive.join(pieces(encoder, turn)) for turn in turns]
        ran = protocol.in_client(streams)
        assert ran == [[arguments for _, arguments in protocol.read(stream).runs] for stream in streams]

    def test_reads_every_way_to_end(self, name: str) -> None:
        self.check(name, [*TURNS.values(), CONTRADICTED])

    @pytest.mark.long
    def test_reads_them_whenever_it_joins(self, name: str) -> None:
        self.check(name, [turn[at:] for turn in (*TURNS.values(), CONTRADICTED) for at in range(len(turn))])

    @pytest.mark.long
    def test_reads_a_failure_of_the_program(self, name: str) -> None:
        protocol = PROTOCOLS[name]
        assert protocol.in_client is not None
        streams = [encode_failing(protocol.make(), turn, "out of money") for turn in TURNS.values()]
        assert protocol.in_client(streams) == [[]] * len(streams)

    @pytest.mark.long
    def test_has_the_value_that_python_shows(self, name: str) -> None:
        texts = ['{"a": "%s", "b": [1, {"c": null}], "é/~": {"": "x"}}' % ("long " * 40), "[]", '"text"', "[[[1]]]"]
        self.check(name, [states_along([text[at : at + 3] for at in range(0, len(text), 3)]) for text in texts])

    @pytest.mark.long
    def test_reads_every_stream_whole_late_and_broken(self, name: str) -> None:
        turns = []
        for each in ENCODED:
            states = recorded(each)
            whole = ended(states, len(states) - 1, "over")
            turns += [whole, whole[len(whole) // 2 :]]
            turns += [ended(states, len(states) * part // 4, way) for part in (1, 2, 3) for way in ENDS]
        self.check(name, turns)
