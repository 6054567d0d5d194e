"""Messages as they grow, and all ways in which they end, for tests of encoders.

Rule: a turn is the list of messages that a program gets from `stream_message`, the finished one last.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from jsontide import stream_message
from jsontide.frontends import Encoder
from jsontide.mend import MODELS
from jsontide.messages import Message, MessageConfig, Outcome, fail_message, finish_message, stop_message
from jsontide.providers import feed_stream, start_stream
from tests.messages import telling
from tests.providers.dialects import block, block_delta, chunk

Turn = list[Message[Any]]
chat = chunk


def call(index: int, arguments: str, **said: Any) -> dict[str, Any]:
    """An event with more of a call; `name` and `id` begin it."""
    function = {"arguments": arguments, **({"name": said.pop("name")} if "name" in said else {})}
    return chat(tool_calls=[{"index": index, "function": function, **said}])


TEXT = [chat(content=piece) for piece in ("Let me ", "look that ", "up.")]
CALL = [
    call(0, "", id="c1", name="search"),
    call(0, '{"query": "Kyo'),
    call(0, 'to in spring", "limit": 5'),
    call(0, "}"),
]
TWO_CALLS = [*CALL[:2], call(1, '{"city": "Os', id="c2", name="weather"), *CALL[2:], call(1, 'aka"}')]
USAGE = {"choices": [], "usage": {"prompt_tokens": 12, "completion_tokens": 34}, "model": "m-1"}
SEARCHED = [
    {"type": "message_start", "message": {"id": "m", "content": [], "usage": {"input_tokens": 3, "output_tokens": 1}}},
    block(0, type="thinking", thinking=""),
    block_delta(0, "thinking_delta", thinking="Where is "),
    block_delta(0, "thinking_delta", thinking="it?"),
    {"type": "content_block_stop", "index": 0},
    block(1, type="server_tool_use", id="s1", name="web_search", input={}),
    block_delta(1, "input_json_delta", partial_json='{"query":"a"}'),
    {"type": "content_block_stop", "index": 1},
    block(2, type="web_search_tool_result", tool_use_id="s1", content=[{"title": "A"}]),
    {"type": "content_block_stop", "index": 2},
    block(3, type="text", text=""),
    block_delta(3, "text_delta", text="There."),
    {"type": "content_block_stop", "index": 3},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
    {"type": "message_stop"},
]
CITY = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "stops": {"type": "array", "items": {"type": "integer"}}},
    "required": ["name", "stops"],
}
ANSWER = [chat(content=piece) for piece in ('{"name": "Kyo', 'to, the old capital", "sto', 'ps": [1, 2', ", 3]}")]


def read(events: Iterable[Any], **options: Any) -> Turn:
    """The messages of a stream that ends as it should, or just ends."""
    return list(stream_message(events, **options))


def lose(events: Iterable[Any]) -> Turn:
    """The messages of a stream whose connection is lost."""

    def broken() -> Iterable[Any]:
        yield from events
        raise ConnectionResetError

    return list(stream_message(broken()))


def end_by(end: Any, events: Iterable[Any]) -> Turn:
    """The messages of a stream that the program ends itself."""
    state, turn = start_stream(), []
    for event in events:
        state = feed_stream(state, event)
        turn.append(state.message)
    return [*turn, end(state.message_state).message]


TURNS: dict[str, Turn] = {
    "complete": read([*TEXT, chat("stop"), USAGE]),
    "complete with a call": read([*TEXT, *CALL, chat("tool_calls"), USAGE]),
    "complete with two calls": read([*TWO_CALLS, chat("tool_calls")]),
    "complete without arguments": read([call(0, "", id="c1", name="now"), chat("tool_calls")]),
    "invalid calls that share an id": read(
        [call(0, "{}", id="c1", name="a"), call(1, "{}", id="c1", name="b"), chat("tool_calls")]
    ),
    "complete with calls without ids": read([call(0, "{}", name="a"), call(1, "{}", name="b"), chat("tool_calls")]),
    "complete with text after a call": read([*CALL, *TEXT, chat("tool_calls")]),
    "complete with a provider's tool": read(SEARCHED),
    "complete with an answer": read([*ANSWER, chat("stop")], response_schema=CITY),
    "complete with an answer as a call": read(
        [*TEXT, call(0, '{"name": "Kyo', id="c1", name="answer"), call(0, 'to", "stops": [1, 2]}'), chat("tool_calls")],
        response_schema=CITY,
        emulate_structured_output=True,
        output_name="answer",
    ),
    "at the limit of length": read([*TEXT, chat("length")]),
    "at the limit inside a call": read([*TEXT, *CALL[:3], chat("length")]),
    "cut off in text": read(TEXT),
    "cut off inside a call": read([*TEXT, *CALL[:3]]),
    "cut off after a whole call": read([*TEXT, *CALL]),
    "cut off inside a provider's tool": read(SEARCHED[:7]),
    "cut off in an answer": read(ANSWER[:3], response_schema=CITY),
    "connection lost in text": lose(TEXT),
    "connection lost inside a call": lose([*TEXT, *CALL[:3]]),
    "connection lost after whole calls": lose(TWO_CALLS),
    "connection lost before anything": lose([]),
    "stopped in text": end_by(stop_message, TEXT),
    "stopped inside a call": end_by(stop_message, [*TEXT, *CALL[:3]]),
    "stopped inside a provider's tool": end_by(stop_message, SEARCHED[:7]),
    "failed in text": end_by(lambda state: fail_message(state, "out of memory"), TEXT),
    "failed inside a call": end_by(lambda state: fail_message(state, "out of memory"), CALL[:3]),
    "invalid arguments": read([*TWO_CALLS[:-1], call(1, 'aka"} oh'), chat("tool_calls")]),
    "invalid answer": read([*ANSWER[:2], chat(content='ps": "no"}'), chat("stop")], response_schema=CITY),
    "refused": read([chat(refusal="I "), chat(refusal="won't."), chat("stop")]),
    "filtered": read([*TEXT, chat("content_filter")]),
    "empty": read([chat("stop")]),
    "nothing at all": read([]),
}
"""Every way in which a message ends."""

CONTRADICTED = read(
    [call(0, '{"a": "x", "b": 1, ', id="c", name="f"), call(0, '"a": "y"}'), chat("tool_calls")], mend=MODELS
)
"""A call that repeats a key, after its first value was told: where arguments are mended, text cannot be taken back."""


def pieces(encoder: Encoder[Any], turn: Iterable[Any], failure: str | None = None) -> Iterator[bytes]:
    """The bytes of a turn, step by step; with a failure, its end is one that no message tells of."""
    state, sent = encoder.begin()
    yield sent
    for message in turn:
        state, sent = encoder.encode(state, message)
        yield sent
    if failure is not None:
        state, sent = encoder.fail(state, failure)
        yield sent
        assert encoder.fail(state, "again")[1] == b""
        assert all(encoder.encode(state, message)[1] == b"" for message in turn)


def encode(encoder: Encoder[Any], turn: Iterable[Any], failure: str | None = None) -> bytes:
    """All bytes of a turn."""
    return b"".join(pieces(encoder, turn, failure))


def encode_failing(encoder: Encoder[Any], turn: Turn, reason: str) -> bytes:
    """All bytes of a turn that fails in its middle."""
    return encode(encoder, [message for message in turn if message.outcome is Outcome.STREAMING], reason)


def states_of(events: Iterable[Any], config: MessageConfig | None = None) -> list[Any]:
    """The states of a stream after each event, the first before any."""
    states = [start_stream(config) if config else start_stream()]
    for event in events:
        states.append(feed_stream(states[-1], event))
    return states


def turn_to_the_provider() -> Turn:
    """The messages of a stream in which a call turns out to be one that the provider runs, after its name was told."""
    chunks = [
        telling.call('{"a": ', index=0, id="c1", name="f"),
        telling.call("1}", index=0, on_server=True),
        telling.end("stop"),
    ]
    states = list(telling.trail(chunks))
    return [*(state.message for state in states), finish_message(states[-1]).message]
