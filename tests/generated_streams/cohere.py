"""Cohere's chat, version 2: content, a plan, calls and citations, each with its index."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.generated_streams.said import Call, Cited, Event, Other, Part, Said, Spent, Stream, Text, Thought, cut
from tests.generated_streams.scenes import NOW, SEARCH, SPOKEN, THOUGHT, WEATHER

PROVIDER = "cohere"
USAGE: Event = {
    "billed_units": {"input_tokens": 20, "output_tokens": 40},
    "tokens": {"input_tokens": 120, "output_tokens": 45},
    "cached_tokens": 64,
}
SPENT = Spent(input_tokens=120, output_tokens=45, total_tokens=165, cached_tokens=64, raw=USAGE)
REASONS = {
    "COMPLETE": "stop",
    "TOOL_CALL": "stop",
    "STOP_SEQUENCE": "stop_sequence",
    "MAX_TOKENS": "length",
    "ERROR_LIMIT": "length",
    "ERROR_TOXIC": "content_filter",
    "hm": "hm",
}
BEGUN: Event = {
    "type": "message-start",
    "id": "m-1",
    "delta": {"message": {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}},
}


def event(kind: str, index: int | None = None, **message: Any) -> Event:
    where = {} if index is None else {"index": index}
    return {"type": kind, **where, **({"delta": {"message": message}} if message else {})}


def content(index: int, text: str, name: str = "text") -> Iterator[Event]:
    yield event("content-start", index, content={"type": name, name: ""})
    yield from (event("content-delta", index, content={name: piece}) for piece in cut(text))
    yield event("content-end", index)


def plan(text: str) -> list[Event]:
    return [event("tool-plan-delta", tool_plan=piece) for piece in cut(text)]


def called(call: Call, index: int) -> Iterator[Event]:
    head = {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""}}
    yield event("tool-call-start", index, tool_calls=head)
    text = "" if call.value == {} else written(call)
    pieces = cut(text, 5, 1, 8)
    yield from (event("tool-call-delta", index, tool_calls={"function": {"arguments": piece}}) for piece in pieces)
    yield event("tool-call-end", index)


def written(call: Call) -> str:
    return json.dumps(call.value, ensure_ascii=False) if call.text is None else call.text


def cited(index: int, citation: Event) -> list[Event]:
    return [event("citation-start", index, citations=citation), event("citation-end", index)]


def end(reason: str, **delta: Any) -> Event:
    return {"type": "message-end", "id": "m-1", "delta": {"finish_reason": reason, "usage": USAGE, **delta}}


def request_of(parts: tuple[Part, ...]) -> list[Event]:
    item: Event = {"role": "assistant"}
    if plans := "".join(part.text for part in parts if isinstance(part, Thought) and part.extra):
        item["tool_plan"] = plans
    told = [
        {"type": "text", "text": part.text} if isinstance(part, Text) else {"type": "thinking", "thinking": part.text}
        for part in parts
        if isinstance(part, Text | Thought) and not part.extra
    ]
    calls = [
        {"id": part.id, "type": "function", "function": {"name": part.name, "arguments": written(part)}}
        for part in parts
        if isinstance(part, Call)
    ]
    if sources := [citation.raw for part in parts if isinstance(part, Text) for citation in part.citations]:
        item["citations"] = sources
    return [{**item, **({"content": told} if told else {}), **({"tool_calls": calls} if calls else {})}]


def make(name: str, events: list[Event], *parts: Part, reason: str = "COMPLETE", **more: Any) -> Stream:
    goes_back, last = more.pop("goes_back", True), more.pop("end", None) or end(reason)
    has_calls = any(isinstance(part, Call) for part in parts)
    told = {"finish_reason": "tool_calls" if has_calls else "stop", "raw_finish_reason": reason, "id": "m-1"}
    return Stream(
        name=name,
        provider=PROVIDER,
        events=[BEGUN, *events, last],
        said=Said(parts=parts, **{**told, "usage": SPENT, **more}),
        end=len(events) + 1,
        request=request_of(parts) if goes_back else None,
    )


SOURCE: Event = {
    "type": "document",
    "id": "doc:0",
    "document": {"id": "doc:0", "title": "Hours", "url": "https://kyoto.example/hours", "snippet": "6:00"},
}
CITATION: Event = {
    "start": 5,
    "end": 9,
    "text": "6:00",
    "sources": [SOURCE],
    "content_index": 0,
    "type": "TEXT_CONTENT",
}
OF_PLAN: Event = {"start": 0, "end": 4, "text": "Look", "sources": [SOURCE], "content_index": 0, "type": "PLAN"}
TOKENS: Event = {"text": "Hi", "token_ids": [7], "logprobs": [-0.5]}


def streams() -> list[Stream]:
    planned = Thought("Look it up.", extra={"type": "tool_plan"})
    calls = [told for at, call in enumerate((SEARCH, WEATHER, NOW)) for told in called(call, at)]
    broken: Event = {"outcome": "truncated", "goes_back": False}
    sketch = {"type": "sketch", "lines": 2}
    return [
        make("text", [*content(0, SPOKEN)], Text(SPOKEN)),
        make(
            "a plan and calls",
            [*plan("Look it up."), *calls],
            *(planned, SEARCH, WEATHER, NOW),
            reason="TOOL_CALL",
        ),
        make("no arguments", [*called(NOW, 0)], NOW, reason="TOOL_CALL"),
        make(
            "thinking and citations",
            [*content(0, "Open 6:00 on."), *cited(0, CITATION), *content(1, THOUGHT, "thinking")],
            Text(
                "Open 6:00 on.",
                (
                    Cited(
                        type="TEXT_CONTENT",
                        raw=CITATION,
                        url="https://kyoto.example/hours",
                        title="Hours",
                        start=5,
                        end=9,
                    ),
                ),
            ),
            Thought(THOUGHT),
        ),
        make(
            "a plan with a source",
            [*plan("Look it up."), *cited(0, OF_PLAN), *called(SEARCH, 0)],
            *(replace(planned, extra={"type": "tool_plan", "citations": [OF_PLAN]}), SEARCH),
            reason="TOOL_CALL",
            goes_back=False,
        ),
        make(
            "log probabilities and events of other kinds",
            [
                event("content-start", 0, content=sketch),
                event("content-end", 0),
                {**event("content-delta", 1, content={"text": "Hi"}), "logprobs": TOKENS},
                {"type": "ping"},
                {"type": "debug", "prompt": "You are"},
                {"type": "weather", "sky": "grey"},
            ],
            *(Other("sketch", sketch), Text("Hi")),
            metadata={
                "logprobs": [TOKENS],
                "prompt": "You are",
                "events": [{"type": "weather", "sky": "grey"}],
                "warnings": ["old"],
            },
            end=end("COMPLETE", warnings=["old"]),
            goes_back=False,
        ),
        make(
            "at the limit",
            [*called(WEATHER, 0), *[*called(replace(SEARCH, text='{"query": "ho'), 1)][:-1]],
            *(WEATHER, replace(SEARCH, text='{"query": "ho', status="truncated")),
            reason="MAX_TOKENS",
            finish_reason="length",
            **broken,
        ),
        make(
            "filtered",
            [*content(0, "Once"), *called(SEARCH, 0)],
            *(Text("Once"), replace(SEARCH, status="filtered")),
            reason="ERROR_TOXIC",
            finish_reason="content_filter",
            **{**broken, "outcome": "filtered"},
        ),
        make(
            "error",
            [*content(0, "Once"), *called(SEARCH, 0)],
            *(Text("Once"), replace(SEARCH, status="truncated")),
            end=end("ERROR", error="Out of memory"),
            finish_reason=None,
            raw_finish_reason=None,
            **{**broken, "errors": ("Out of memory",)},
        ),
    ]


def ending(word: str) -> list[Event]:
    return [BEGUN, *content(0, "Hi"), end(word)]


STREAMS = streams()
