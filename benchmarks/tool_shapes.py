"""The shapes in which servers that speak Chat Completions stream tool calls, and what each of them must become.

Rule: a shape is data, a list of chunks as a server sends them, and says nothing of how they are merged.
"""

from typing import Any, NamedTuple

Chunk = dict[str, Any]
Calls = list[tuple[str | None, str, Any]]
"""The id, name and arguments of each call."""

ROME, OSLO = {"city": "Rome"}, {"city": "Oslo"}
ONE: Calls = [("a", "weather", ROME)]
TWO: Calls = [("a", "weather", ROME), ("b", "weather", OSLO)]
NO_REASON = "none"


class Shape(NamedTuple):
    name: str
    chunks: list[Chunk]
    calls: Calls
    """What can be run in the end."""


def chunk(delta: dict[str, Any], reason: str | None = None) -> Chunk:
    return {
        "id": "chunk",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "model",
        "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
    }


def call(arguments: object, **said: object) -> Chunk:
    function = {"arguments": arguments}
    if "name" in said:
        function["name"] = said.pop("name")
    return {**said, "type": "function", "function": function}


def shape(name: str, calls: Calls, *entries: str | Chunk | list[Chunk], reason: str = "tool_calls") -> Shape:
    """An entry is a delta of a call, a list of them for one chunk, a text, or a whole chunk."""
    chunks = [chunk({"role": "assistant", "content": None})]
    chunks += map(spoken, entries)
    return Shape(name, chunks if reason == NO_REASON else [*chunks, chunk({}, reason)], calls)


def spoken(entry: str | Chunk | list[Chunk]) -> Chunk:
    if isinstance(entry, str):
        return chunk({"content": entry})
    if isinstance(entry, dict):
        return entry if "choices" in entry else chunk({"tool_calls": [entry]})
    return chunk({"tool_calls": entry})


def named(call_id: str, **said: object) -> Chunk:
    return {"id": call_id, "name": "weather", **said}


FIRST, SECOND = '{"city": "Rome"}', '{"city": "Oslo"}'

SHAPES = (
    shape("regular", TWO, call("", **named("a", index=0)), call(FIRST, index=0), call(SECOND, **named("b", index=1))),
    shape("missing index", TWO, call(FIRST, **named("a")), call(SECOND, **named("b"))),
    shape(
        "reused index with a new id",
        TWO,
        call(FIRST, **named("a", index=0)),
        call('{"city": ', **named("b", index=0)),
        call('"Oslo"}', index=0),
    ),
    shape(
        "id and name repeated in every delta",
        ONE,
        *(call(piece, **named("a", index=0)) for piece in ('{"ci', 'ty": "Ro', 'me"}')),
    ),
    shape("sparse index", TWO, call(FIRST, **named("a", index=1)), call(SECOND, **named("b", index=3))),
    shape(
        "two entries of one index in a chunk",
        ONE,
        [call('{"city": ', **named("a", index=0)), call('"Rome"}', index=0)],
    ),
    shape("late id", ONE, call('{"city": ', index=0, name="weather"), call('"Rome"}', index=0, id="a")),
    shape("late name", ONE, call('{"city": ', index=0, id="a"), call('"Rome"}', index=0, name="weather")),
    shape("call without arguments", [("a", "now", {})], call("", index=0, id="a", name="now")),
    shape("arguments as an object", ONE, call(ROME, **named("a", index=0))),
    shape(
        "interleaved calls",
        TWO,
        call('{"city": ', **named("a", index=0)),
        call('{"city": ', **named("b", index=1)),
        call('"Rome"}', index=0),
        call('"Oslo"}', index=1),
    ),
    shape("text between calls", TWO, call(FIRST, **named("a", index=0)), "and", call(SECOND, **named("b", index=1))),
    shape("duplicate finish chunk", ONE, call(FIRST, **named("a", index=0)), chunk({}, "tool_calls")),
    shape("a chunk without choices", ONE, call(FIRST, **named("a", index=0)), {**chunk({}), "choices": []}),
    shape("cut off at a limit", [], call('{"city": "Ro', **named("a", index=0)), reason="length"),
    shape("cut off, but told as a call", [], call('{"city": "Ro', **named("a", index=0))),
    shape("a stream that just ends", [], call('{"city": "Rome"', **named("a", index=0)), reason=NO_REASON),
)
