"""The shortest stream of each provider that says something: a text, or calls whose arguments come piece by piece.

For tests of what holds for every provider, which say themselves in which order the events come, and what is in them.
Whole streams, with all that a provider adds, are in `tests.generated_streams`.
"""

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any

Event = dict[str, Any]


def chunk(reason: str | None = None, **delta: Any) -> Event:
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def response(kind: str, at: Any, **said: Any) -> Event:
    return {"type": f"response.{kind}", "output_index": at, **said}


def block(at: Any, **said: Any) -> Event:
    return {"type": "content_block_start", "index": at, "content_block": said}


def block_delta(at: Any, kind: str, **said: Any) -> Event:
    return {"type": "content_block_delta", "index": at, "delta": {"type": kind, **said}}


def converse(kind: str, at: Any, **said: Any) -> Event:
    return {f"contentBlock{kind}": {"contentBlockIndex": at, **said}}


def cohere(kind: str, at: Any, **message: Any) -> Event:
    return {"type": kind, "index": at, "delta": {"message": message}}


def parts(*said: Event) -> Event:
    return {"candidates": [{"content": {"parts": [*said]}}]}


def step(kind: str, at: Any, **said: Any) -> Event:
    return {"event_type": f"step.{kind}", "index": at, **said}


def line(*, done: bool = False, **message: Any) -> Event:
    return {"model": "m", "message": {"role": "assistant", **message}, "done": done}


def function_call(call_id: str, name: str) -> Event:
    """A call as an item of OpenAI's responses, of which no argument has come."""
    return {"type": "function_call", "id": f"fc_{call_id}", "call_id": call_id, "name": name, "arguments": ""}


def no_call(*_: object) -> Event:
    raise NotImplementedError("calls of this provider come whole")


@dataclass(frozen=True)
class Dialect:
    stop: str
    """The word for a normal end; the next ones are for one with calls, and at a limit."""
    called: str
    limit: str
    _: KW_ONLY
    end: Callable[[str], Event]
    text: Callable[[str], Event]
    head: Callable[[Any, str, str], Event] = no_call
    """What begins a call: its place, its id and its name."""
    piece: Callable[[Any, Any], Event] = no_call
    before_text: tuple[Event, ...] = ()
    begun: Callable[[str | None], list[Event]] = lambda _: []
    """What begins a message of an id."""
    closed: Callable[[Any], list[Event]] = lambda _: []
    """What ends a call."""

    def says(self, pieces: Iterable[str]) -> list[Event]:
        """A message that is a text."""
        return [*self.begun("m"), *self.before_text, *map(self.text, pieces), self.end(self.stop)]

    def call(self, at: Any, call_id: str, name: str, pieces: Iterable[Any]) -> list[Event]:
        return [self.head(at, call_id, name), *(self.piece(at, piece) for piece in pieces), *self.closed(at)]

    def calls(self, name: str, pieces: Iterable[Any]) -> list[Event]:
        """A message that is a call."""
        return [*self.begun("m"), *self.call(0, "c", name, pieces), self.end(self.called)]


DIALECTS = {
    "openai_chat": Dialect(
        *("stop", "tool_calls", "length"),
        end=chunk,
        text=lambda piece: chunk(content=piece),
        head=lambda at, call_id, name: chunk(
            tool_calls=[{"index": at, "id": call_id, "function": {"name": name, "arguments": ""}}]
        ),
        piece=lambda at, piece: chunk(tool_calls=[{"index": at, "function": {"arguments": piece}}]),
    ),
    "openai_responses": Dialect(
        *("completed", "completed", "incomplete"),
        begun=lambda message_id: [{"type": "response.created", "response": {"id": message_id}}],
        end=lambda word: {"type": "response.completed", "response": {"status": word}},
        text=lambda piece: response("output_text.delta", 0, content_index=0, delta=piece),
        head=lambda at, call_id, name: response("output_item.added", at, item=function_call(call_id, name)),
        piece=lambda at, piece: response("function_call_arguments.delta", at, delta=piece),
    ),
    "anthropic": Dialect(
        *("end_turn", "tool_use", "max_tokens"),
        begun=lambda message_id: [{"type": "message_start", "message": {"id": message_id, "content": []}}],
        end=lambda word: {"type": "message_delta", "delta": {"stop_reason": word}},
        before_text=(block(0, type="text", text=""),),
        text=lambda piece: block_delta(0, "text_delta", text=piece),
        head=lambda at, call_id, name: block(at, type="tool_use", id=call_id, name=name, input={}),
        piece=lambda at, piece: block_delta(at, "input_json_delta", partial_json=piece),
        closed=lambda at: [{"type": "content_block_stop", "index": at}],
    ),
    "bedrock": Dialect(
        *("end_turn", "tool_use", "max_tokens"),
        begun=lambda _: [{"messageStart": {"role": "assistant"}}],
        end=lambda word: {"messageStop": {"stopReason": word}},
        text=lambda piece: converse("Delta", 0, delta={"text": piece}),
        head=lambda at, call_id, name: converse("Start", at, start={"toolUse": {"toolUseId": call_id, "name": name}}),
        piece=lambda at, piece: converse("Delta", at, delta={"toolUse": {"input": piece}}),
        closed=lambda at: [converse("Stop", at)],
    ),
    "cohere": Dialect(
        *("COMPLETE", "TOOL_CALL", "MAX_TOKENS"),
        begun=lambda message_id: [
            {"type": "message-start", "id": message_id, "delta": {"message": {"role": "assistant"}}}
        ],
        end=lambda word: {"type": "message-end", "delta": {"finish_reason": word}},
        before_text=(cohere("content-start", 0, content={"type": "text", "text": ""}),),
        text=lambda piece: cohere("content-delta", 0, content={"text": piece}),
        head=lambda at, call_id, name: cohere(
            "tool-call-start",
            at,
            tool_calls={"id": call_id, "type": "function", "function": {"name": name, "arguments": ""}},
        ),
        piece=lambda at, piece: cohere("tool-call-delta", at, tool_calls={"function": {"arguments": piece}}),
        closed=lambda at: [{"type": "tool-call-end", "index": at}],
    ),
    "gemini": Dialect(
        *("STOP", "STOP", "MAX_TOKENS"),
        end=lambda word: {"candidates": [{"finishReason": word}]},
        text=lambda piece: parts({"text": piece}),
    ),
    "gemini_interactions": Dialect(
        *("completed", "requires_action", "incomplete"),
        begun=lambda message_id: [{"event_type": "interaction.created", "interaction": {"id": message_id}}],
        end=lambda word: {"event_type": "interaction.completed", "interaction": {"status": word}},
        before_text=(step("start", 0, step={"type": "model_output"}),),
        text=lambda piece: step("delta", 0, delta={"type": "text", "text": piece}),
        head=lambda at, call_id, name: step(
            "start", at, step={"type": "function_call", "id": call_id, "name": name, "arguments": {}}
        ),
        piece=lambda at, piece: step("delta", at, delta={"type": "arguments_delta", "arguments": piece}),
        closed=lambda at: [step("stop", at)],
    ),
    "ollama": Dialect(
        *("stop", "stop", "length"),
        end=lambda word: {**line(content="", done=True), "done_reason": word},
        text=lambda piece: line(content=piece),
    ),
}
IN_PIECES = [name for name, dialect in DIALECTS.items() if dialect.head is not no_call]
"""Those of whose calls the arguments come in pieces."""
