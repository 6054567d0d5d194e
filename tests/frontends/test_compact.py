"""Messages and JSON through the compact encoder: what a browser has after each event is what Python shows."""

import json
from collections.abc import Iterable, Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide import MISSING, create_parser_state, finalize, parse_chunk, stream_message
from jsontide.frontends import CompactEncoder, CompactValue
from jsontide.mend import MODELS
from jsontide.messages import (
    Citation,
    CompleteCall,
    File,
    Message,
    MessageConfig,
    Other,
    Outcome,
    PartialCall,
    ReasoningPart,
    Refusal,
    ServerCall,
    Source,
    TextPart,
)
from jsontide.providers import feed_stream, finish_stream, start_stream
from tests.cuts import states_along
from tests.frontends.turns import encode, turn_to_the_provider
from tests.provider_streams import ALL, NAMES, events
from tests.strategies import call_streams, cut_documents, examples, texts, typed_documents

RARELY = 29
"""Most recordings are long: they are looked at after so many events, and at the end."""
KINDS = {TextPart: "text", ReasoningPart: "reasoning", Refusal: "refusal", PartialCall: "call", CompleteCall: "call"}


def shown_part(part: Any, *, has_answer: bool, as_text: bool) -> dict[str, Any]:
    """What a browser shows of a part."""
    if isinstance(part, TextPart) and has_answer:
        return {"type": "answer"}
    value: dict[str, Any]
    if isinstance(part, TextPart | ReasoningPart | Refusal):
        value = {"type": KINDS[type(part)], "text": part.text}
        if isinstance(part, TextPart) and part.citations:
            value["citations"] = len(part.citations)
        return value
    if isinstance(part, PartialCall | CompleteCall | ServerCall):
        value = {"type": "call", "id": part.id, "name": part.name}
        if as_text:
            value["arguments"] = part.arguments
        elif part.partial is not MISSING:
            value["arguments"] = part.partial
        if isinstance(part, ServerCall):
            value |= {"type": "server_call", "status": part.status}
            value |= {} if part.result is MISSING else {"result": part.result}
        else:
            value["status"] = part.status.value
        return {name: each for name, each in value.items() if each is not None or name in {"arguments", "result"}}
    if isinstance(part, Source):
        value = {"type": "source", "url": part.url, "title": part.title}
    elif isinstance(part, File):
        value = {"type": "file", "media_type": part.media_type, "url": part.url, "id": part.id, "data": part.data}
    else:
        return {"type": "other", "name": part.type, "value": part.raw}
    return {name: each for name, each in value.items() if each is not None}


def shown(message: Message[Any], *, has_answer: bool, as_text: bool = False) -> dict[str, Any]:
    """What a browser shows of a message."""
    parts = [shown_part(part, has_answer=has_answer, as_text=as_text) for part in message.parts]
    return {"role": message.role, "status": message.outcome.value, "parts": parts}


def read(value: CompactValue, sent: bytes) -> CompactValue:
    for line in sent.decode().split("\n")[:-1]:  # other line breaks may stand in a text
        value = value.read(json.loads(line))
    return value


def counted(value: Any) -> dict[str, Any]:
    """The same with the number of citations for themselves, which have fields of their own."""
    parts = [
        {name: len(each) if name == "citations" else each for name, each in part.items()} for part in value["parts"]
    ]
    return {"role": value["role"], "status": value["status"], "parts": parts}


def check_all(messages: Iterable[Message[Any]], *, has_answer: bool = False, as_text: bool = False) -> CompactValue:
    encoder = CompactEncoder(form="ndjson", arguments="text" if as_text else "values")
    state, sent = encoder.begin()
    value = read(CompactValue(), sent)
    last = None
    for at, message in enumerate(messages):
        state, sent = encoder.encode(state, message)
        value = read(value, sent)
        last = message
        if at % RARELY and message.outcome is Outcome.STREAMING:
            continue
        is_text = has_answer and (message.outcome is Outcome.STREAMING or message.answer is not MISSING)
        is_valid = message.outcome in {Outcome.STREAMING, Outcome.COMPLETE}
        assert counted(value.value) == shown(message, has_answer=is_text and is_valid, as_text=as_text)
        joined = read(CompactValue(), encoder.encode(encoder.begin()[0], message)[1])
        assert counted(joined.value) == counted(value.value)
        assert joined.end == value.end
    assert last is not None
    assert value.end is not None
    assert value.end["end"] == last.outcome.value
    if last.outcome is Outcome.COMPLETE:
        assert not value.growing
    return value


def along(sent: list[Any], config: MessageConfig | None = None) -> Iterator[Message[Any]]:
    state = start_stream(config) if config else start_stream()
    for event in sent:
        state = feed_stream(state, event)
        yield state.message
    yield finish_stream(state).message


def is_ready(value: Any) -> bool:
    return any(part.get("status") == "complete" for part in value["parts"] if part["type"] == "call")


def chat(entry: dict[str, Any]) -> dict[str, Any]:
    function = {name: entry[name] for name in ("name", "arguments") if name in entry}
    call = {"index": entry["index"], "function": function}
    return {"choices": [{"index": 0, "delta": {"tool_calls": [call | ({"id": entry["id"]} if "id" in entry else {})]}}]}


@examples(0.3)
@given(call_streams, st.booleans(), st.booleans())
def test_interleaved_calls_are_shown_and_run_only_when_complete(
    streamed: Any,
    ends: bool,  # noqa: FBT001
    as_text: bool,  # noqa: FBT001 - drawn by Hypothesis
) -> None:
    entries, _ = streamed
    sent = [chat(entry) for entry in entries]
    if ends:
        sent.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    value = check_all(along(sent), as_text=as_text)
    assert is_ready(value.value) is ends


def structured(document: tuple[dict[str, Any], str], chunks: list[str]) -> tuple[MessageConfig, list[Any]]:
    """An answer with a schema, in the events of a provider."""
    sent: list[Any] = [{"message": {"content": chunk}, "done": False} for chunk in chunks]
    return MessageConfig(response_schema=document[0]), [*sent, {"message": {}, "done": True}]


@examples(0.3)
@given(typed_documents(wrong=0.1), st.integers(1, 7), st.booleans())
def test_an_answer_with_a_schema_is_shown_as_python_shows_it(document: Any, size: int, ends: bool) -> None:  # noqa: FBT001
    text = document[1]
    config, sent = structured(document, [text[at : at + size] for at in range(0, len(text), size)])
    encoder = CompactEncoder(form="ndjson")
    state, value = encoder.begin()[0], CompactValue()
    for message in along(sent if ends else sent[:-1], config):
        state, new = encoder.encode(state, message)
        value = read(value, new)
        answer = json.loads(message.to_json()).get("answer", MISSING)
        assert isinstance(value.value, dict)
        assert value.value.get("answer", MISSING) == answer


@examples(0.3)
@given(cut_documents(texts()), st.booleans())
def test_json_alone_is_shown_as_python_shows_it(document: Any, ends: bool) -> None:  # noqa: FBT001
    _, chunks = document
    encoder = CompactEncoder(form="ndjson")
    state, value = encoder.begin()[0], CompactValue()
    states = states_along(chunks)
    for each in [*states, finalize(states[-1])] if ends else states:
        state, sent = encoder.encode(state, each)
        value = read(value, sent)
        assert value.value == each.value
    assert (value.end is not None) is (ends or states[-1].is_complete)


@pytest.mark.parametrize("text", ["{'a': 1, b: [1, 2,]}", 'Sure: {"a": 1, "b": [1, 2]}'])
def test_mended_arguments_are_shown_as_they_are_read(text: str) -> None:
    sent = [chat({"index": 0, "id": "a", "name": "find", "arguments": piece}) for piece in (text[:9], text[9:])]
    sent.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    shown_last: Any = check_all(along(sent, MessageConfig(mend=MODELS))).value
    assert shown_last["parts"][0]["arguments"] == {"a": 1, "b": [1, 2]}


def test_server_sent_events_name_the_turn_where_it_can_be_joined() -> None:
    encoder = CompactEncoder(run_id="r1")
    state, sent = encoder.encode(encoder.begin()[0], parse_chunk(create_parser_state(), '{"a": "b'))
    assert sent == b'id: r1\ndata: {"version":0,"value":{"a":"b"},"at":["a"]}\n\n'
    _, sent = encoder.encode(state, parse_chunk(create_parser_state(), '["other'))
    assert sent == b'id: r1\ndata: {"version":1,"value":["other"],"at":[0]}\n\n'


def emulated(text: str, answer: str) -> Iterator[Message[Any]]:
    """Messages with a text, and an answer that comes as the arguments of a call, a character at a time."""
    config = MessageConfig(response_schema={"type": "object"}, emulate_structured_output=True)
    calls = [{"index": 0, "id": "a", "name": "output", "arguments": piece} for piece in answer]
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    return along([{"choices": [{"index": 0, "delta": {"content": text}}]}, *map(chat, calls), end], config)


def test_text_beside_an_answer_that_is_a_call_is_shown_also_to_those_who_join_late() -> None:
    encoder = CompactEncoder(form="ndjson")
    messages = emulated("Here is", '{"city":"Kyoto"}')
    shown_late: list[Any] = [
        read(CompactValue(), encoder.encode(encoder.begin()[0], message)[1]).value for message in messages
    ]
    assert all(value["parts"] == [{"type": "text", "text": "Here is"}] for value in shown_late)
    assert shown_late[-1]["answer"] == {"city": "Kyoto"}


def parts_of(turn: list[Message[Any]]) -> Any:
    """What a browser has of the parts of a turn."""
    value = CompactValue()
    for line in encode(CompactEncoder(form="ndjson"), turn).splitlines():
        value = value.read(json.loads(line))
    assert isinstance(value.value, dict)
    return value.value["parts"]


def test_parts_that_come_whole_and_citations_are_shown_as_json() -> None:
    parts = (
        TextPart("Hi", citations=(Citation(type="web", url="https://a.example", title="A"),)),
        Source("https://b.example", None),
        File("image/png", data="aGk="),
        Other("thing", {"a": 1}),
    )
    assert parts_of([Message(parts, Outcome.COMPLETE)]) == [
        {"type": "text", "text": "Hi", "citations": [{"type": "web", "url": "https://a.example", "title": "A"}]},
        {"type": "source", "url": "https://b.example"},
        {"type": "file", "media_type": "image/png", "data": "aGk="},
        {"type": "other", "name": "thing", "value": {"a": 1}},
    ]


def test_citations_that_come_later_are_shown_later() -> None:
    cited = (Citation(type="web", url="https://a.example"),)
    turn = [Message((TextPart("Hi", is_open=True),)), Message((TextPart("Hi", citations=cited),), Outcome.COMPLETE)]
    (shown,) = parts_of(turn)
    assert shown == {"type": "text", "text": "Hi", "citations": [{"type": "web", "url": "https://a.example"}]}


@pytest.mark.untraced
@pytest.mark.parametrize("as_text", [False, True])
def test_every_stream_is_shown_as_python_shows_it(as_text: bool) -> None:  # noqa: FBT001
    for name in NAMES:
        check_all(stream_message(events(name)), as_text=as_text)


def mutate(sent: list[Any], random: Random) -> list[Any]:
    """The same events with some of them dropped, doubled, or in another place, as no provider should send them."""
    sent = list(sent)
    for _ in range(random.randint(1, 4)):
        one, other = random.randrange(len(sent)), random.randrange(len(sent))
        match random.randrange(3):
            case 0:
                sent.insert(other, sent[one])
            case 1 if len(sent) > 1:
                sent.pop(one)
            case _:
                sent[one], sent[other] = sent[other], sent[one]
    return sent


def check_alike(messages: Iterable[Message[Any]]) -> CompactValue:
    """Check that a browser that follows has what one has that joins late; return what it has in the end."""
    value = CompactValue()
    for arguments in ("text", "values"):
        encoder = CompactEncoder(form="ndjson", arguments=arguments)
        state, value = encoder.begin()[0], CompactValue()
        for message in messages:
            state, sent = encoder.encode(state, message)
            value = read(value, sent)
            joined = read(CompactValue(), encoder.encode(encoder.begin()[0], message)[1])
            assert (value.value, value.growing, value.end) == (joined.value, joined.growing, joined.end)
    return value


@pytest.mark.long
@pytest.mark.parametrize("name", ALL)
def test_a_browser_has_what_the_server_has_whatever_a_provider_sends(name: str) -> None:
    for seed in range(10):
        check_alike(list(along(mutate(events(name), Random(seed)))))


def item(kind: str, event: str, **said: Any) -> dict[str, Any]:
    one = {"id": "i", "type": kind, "name": "f", "arguments": "", **said}
    return {"type": f"response.output_item.{event}", "output_index": 0, "item": one}


CREATED = {"type": "response.created", "response": {"id": "r"}}


def test_a_finish_reason_that_is_taken_back_is_not_kept() -> None:
    stopped = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    messages = list(along([stopped, chat({"index": 0, "id": "c", "name": "f", "arguments": ""})]))
    assert [message.finish_reason for message in messages[:2]] == ["stop", None]
    check_alike(messages)
    value = check_alike(messages[:2]).value
    assert isinstance(value, dict)
    assert "finish_reason" not in value


def test_a_call_that_turns_out_to_be_the_provider_s_is_shown_as_one() -> None:
    messages = turn_to_the_provider()
    assert {PartialCall, ServerCall} == {type(message.parts[0]) for message in messages if message.parts}
    value = check_alike(messages).value
    assert isinstance(value, dict)
    assert value["parts"][0]["type"] == "server_call"  # type: ignore[index, call-overload]


def test_a_call_of_the_provider_can_open_again() -> None:
    opened, done = item("mcp_call", "added", status="in_progress"), item("mcp_call", "done", status="completed")
    again = {**done, "item": {**done["item"], "output": "four"}}
    messages = list(along([CREATED, opened, done, opened, again]))
    assert [message.parts[0].is_open for message in messages[1:5]] == [True, False, True, False]
    value = check_alike(messages).value
    assert isinstance(value, dict)
    assert value["parts"][0]["result"] == "four"  # type: ignore[index, call-overload]
