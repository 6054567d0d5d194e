"""One stream is one message: a second one in it is not joined to the first."""

import pytest

from jsontide.messages import Message, Outcome
from jsontide.streams import stream_message
from tests.providers.dialects import DIALECTS, Event, line, parts


def last(events: list[Event]) -> Message:
    *_, message = stream_message(events)
    return message


BY_START = ["openai_responses", "anthropic", "gemini_interactions", "cohere", "bedrock"]
BY_ID = {"openai_chat": "id", "gemini": "responseId"}
"""Those that do not say that a message begins, and the field of each event that says which it is of."""


def told(provider: str, message_id: str | None) -> list[Event]:
    """A message with a text and a call."""
    dialect, call_id = DIALECTS[provider], f"call_{message_id}"
    wholes = {
        "gemini": [parts({"functionCall": {"name": "pay", "args": {"to": "Zoe"}}})],
        "ollama": [line(tool_calls=[{"function": {"name": "pay", "arguments": {"to": "Zoe"}}}])],
    }
    call = wholes.get(provider) or dialect.call(1, call_id, "pay", ['{"to":"Zoe"}'])
    events = [*dialect.begun(message_id), dialect.text("Hi."), *call, dialect.end(dialect.called)]
    return [{**event, BY_ID[provider]: message_id} for event in events] if provider in BY_ID else events


@pytest.mark.parametrize("provider", DIALECTS)
class TestEveryProvider:
    def test_a_message_alone_can_be_run(self, provider: str) -> None:
        for message_id in ("one", None):
            message = last(told(provider, message_id))
            assert (message.outcome, message.content) == (Outcome.COMPLETE, "Hi.")
            assert [call.status for call in message.tool_calls] == [Outcome.COMPLETE]

    def test_of_two_messages_nothing_can_be_run(self, provider: str) -> None:
        message = last([*told(provider, "one"), *told(provider, "two")])
        assert (message.outcome, message.content) == (Outcome.TRUNCATED, "Hi.")
        assert [call.status for call in message.tool_calls] == [Outcome.TRUNCATED]
        assert message.errors[0].source == "stream"
        assert "another message" in message.errors[0].message


@pytest.mark.parametrize("provider", BY_START)
@pytest.mark.parametrize("ids", [("one", "two"), ("one", None), (None, "two"), (None, None)])
def test_a_message_that_breaks_off_before_another_begins_cannot_be_run(provider: str, ids: tuple[str, str]) -> None:
    first, second = ids
    whole = told(provider, first)
    for count in range(2, len(whole)):
        message = last([*whole[:count], *told(provider, second)])
        assert message.outcome is Outcome.TRUNCATED
        assert all(call.status is Outcome.TRUNCATED for call in message.tool_calls)
        assert len(message.tool_calls) <= 1


@pytest.mark.parametrize("provider", BY_START)
@pytest.mark.parametrize("message_id", ["one", None])
def test_a_message_may_begin_twice(provider: str, message_id: str | None) -> None:
    begun, *more = told(provider, message_id)
    message = last([begun, begun, *more])
    assert (message.outcome, message.content) == (Outcome.COMPLETE, "Hi.")


@pytest.mark.parametrize("provider", [each for each in BY_START if each != "bedrock"])
def test_a_beginning_that_is_repeated_later_says_nothing(provider: str) -> None:
    begun, *more = told(provider, "one")
    for at in range(len(more) + 1):
        message = last([begun, *more[:at], begun, *more[at:]])
        assert (message.outcome, message.content) == (Outcome.COMPLETE, "Hi.")
        assert [call.status for call in message.tool_calls] == [Outcome.COMPLETE]


@pytest.mark.parametrize("provider", BY_ID)
@pytest.mark.parametrize("ids", [("", "a"), ("a", "b"), (None, "a"), ("a", "")])
def test_servers_may_give_each_chunk_an_id_of_its_own_or_none(provider: str, ids: tuple[str | None, str]) -> None:
    name = BY_ID[provider]
    events = [{**event, name: ids[at % 2]} for at, event in enumerate(told(provider, "one"))]
    usage = {name: "c", **({"choices": []} if provider == "openai_chat" else {"usageMetadata": {}})}
    message = last([*events, usage])
    assert (message.outcome, message.content) == (Outcome.COMPLETE, "Hi.")
    assert [call.status for call in message.tool_calls] == [Outcome.COMPLETE]
