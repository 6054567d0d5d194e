"""Anthropic Messages: content blocks that begin, grow and stop.

A block is described once, as it is when it stops, which is also what a request has of it; the writer tells from its
type how it grows.
"""

import json
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.generated_streams.said import (
    NOTHING,
    UNSAID,
    Call,
    Cited,
    Event,
    Other,
    Part,
    Refusal,
    Said,
    ServerTool,
    Spent,
    Stream,
    Text,
    Thought,
    cut,
)
from tests.generated_streams.scenes import NOW, SEARCH, SIGNATURE, SPOKEN, THOUGHT, WEATHER

PROVIDER = "anthropic"
FIRST: Event = {
    "input_tokens": 24,
    "cache_creation_input_tokens": 32,
    "cache_read_input_tokens": 64,
    "cache_creation": {"ephemeral_5m_input_tokens": 32, "ephemeral_1h_input_tokens": 0},
    "output_tokens": 1,
    "service_tier": "standard",
}
LAST: Event = {
    "output_tokens": 45,
    "output_tokens_details": {"thinking_tokens": 21},
    "server_tool_use": {"web_search_requests": 1},
}
SPENT = Spent(
    input_tokens=120,
    output_tokens=45,
    total_tokens=165,
    cached_tokens=64,
    cache_write_tokens=32,
    reasoning_tokens=21,
    raw={**FIRST, **LAST},
)
REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop_sequence",
    "tool_use": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
    "pause_turn": "pause_turn",
    "hm": "hm",
}
FIRST_SPENT = Spent(
    input_tokens=120, output_tokens=1, total_tokens=121, cached_tokens=64, cache_write_tokens=32, raw=FIRST
)
MESSAGE: Event = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-9",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": FIRST,
}


def text(said: str, *citations: Event) -> Event:
    return {"type": "text", "text": said, **({"citations": [*citations]} if citations else {})}


def thinking(said: str, signature: str = SIGNATURE) -> Event:
    return {"type": "thinking", "thinking": said, "signature": signature}


def tool_use(call: Call, kind: str = "tool_use", **more: Any) -> Event:
    return {"type": kind, "id": call.id, "name": call.name, "input": call.value, **more}


def delta(kind: str, **said: Any) -> Event:
    return {"type": "content_block_delta", "delta": {"type": kind, **said}}


def grow(block: Event) -> Iterator[Event]:
    """Yield the events of a block, without its index."""
    kind = block["type"]
    if kind == "text":
        yield start({**block, "text": "", **({"citations": []} if "citations" in block else {})})
        yield from (delta("citations_delta", citation=one) for one in block.get("citations", []))
        yield from (delta("text_delta", text=piece) for piece in cut(block["text"]))
    elif kind == "thinking":
        yield start({"type": kind, "thinking": "", "signature": ""})
        yield from (delta("thinking_delta", thinking=piece) for piece in cut(block["thinking"]))
        yield delta("signature_delta", signature=block["signature"])
    elif "input" in block:
        yield start({**block, "input": {}})
        yield delta("input_json_delta", partial_json="")
        yield from (delta("input_json_delta", partial_json=piece) for piece in cut(written(block), 5, 1, 8))
    else:
        yield start(block)
    yield {"type": "content_block_stop"}


def written(block: Event) -> str:
    """The input of a block as text; that of one which broke off is text already."""
    given = block["input"]
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False) if given else ""


def start(block: Event) -> Event:
    return {"type": "content_block_start", "content_block": block}


def events_of(blocks: list[Event], reason: str = "end_turn", **end: Any) -> list[Event]:
    told: list[Event] = [{"type": "message_start", "message": MESSAGE}, {"type": "ping"}]
    for at, block in enumerate(blocks):
        told += [{**event, "index": at} for event in grow(block)]
    usage = end.pop("usage", {"input_tokens": None, **LAST})
    ended = {"stop_reason": reason, "stop_sequence": None, **end}
    return [*told, {"type": "message_delta", "delta": ended, "usage": usage}, {"type": "message_stop"}]


def make(name: str, blocks: list[Event], *parts: Part, reason: str = "end_turn", **more: Any) -> Stream:
    end, goes_back, events = more.pop("end", {}), more.pop("goes_back", True), more.pop("events", None)
    events = events or events_of(blocks, reason, **end)
    has_calls = any(isinstance(part, Call) for part in parts)
    told: Event = {
        "finish_reason": "tool_calls" if has_calls else "stop",
        "raw_finish_reason": reason,
        "usage": SPENT,
        "id": "msg_1",
        "model": "claude-9",
        **more,
    }
    told["metadata"] = {"service_tier": "standard", **more.get("metadata", {})}
    return Stream(
        name=name,
        provider=PROVIDER,
        events=events,
        said=Said(parts=parts, **told),
        end=next((at for at, event in enumerate(events) if event["type"] == "message_delta"), len(events) - 1),
        request=[{"role": "assistant", "content": blocks}] if goes_back else None,
    )


WEB: Event = {
    "type": "web_search_result_location",
    "url": "https://kyoto.example/hours",
    "title": "Hours",
    "cited_text": "Open from 6:00",
    "encrypted_index": "Eo8B",
}
PAGE: Event = {
    "type": "page_location",
    "document_index": 0,
    "document_title": "Guide",
    "cited_text": "Closes at 18:00",
    "start_page_number": 1,
    "end_page_number": 2,
}
CITED = (
    Cited(type=WEB["type"], raw=WEB, url=WEB["url"], title="Hours", cited_text="Open from 6:00"),
    Cited(type=PAGE["type"], raw=PAGE, title="Guide", cited_text="Closes at 18:00"),
)
FOUND: list[Event] = [
    {"type": "web_search_result", "url": WEB["url"], "title": "Hours", "encrypted_content": "EqgC", "page_age": None}
]
QUERY = Call("web_search", {"query": "清水寺 hours"}, "srvtoolu_1")
ERROR: Event = {"type": "overloaded_error", "message": "Overloaded"}
HANDED_OVER: Event = {"type": "fallback", "from": {"model": "claude-9"}, "to": {"model": "claude-9-mini"}}


def result(call: Call, kind: str, content: Any) -> Event:
    return {"type": kind, "tool_use_id": call.id, "content": content}


def ran(call: Call, content: Any = NOTHING, kind: str = "server_tool_use") -> ServerTool:
    """A tool of the provider; where its result stood is said in `extra`, in words of our own."""
    return ServerTool(str(call.name), call.value, content, None, kind, call.id, extra=UNSAID)


def ordinary() -> list[Stream]:
    calls = (SEARCH, WEATHER, NOW)
    said_by_code: Event = {"caller": {"type": "code_execution_20260120", "tool_id": "srvtoolu_2"}}
    return [
        make("text", [text(SPOKEN)], Text(SPOKEN)),
        make(
            "thinking, text and calls",
            [thinking(THOUGHT), text(SPOKEN), *map(tool_use, calls)],
            *(Thought(THOUGHT, SIGNATURE), Text(SPOKEN), *calls),
            reason="tool_use",
        ),
        make("no arguments", [tool_use(NOW)], NOW, reason="tool_use"),
        make(
            "redacted thinking",
            [{"type": "redacted_thinking", "data": "EmwKAhgB"}, text("Hi")],
            *(Thought(redacted=True, encrypted="EmwKAhgB"), Text("Hi")),
        ),
        make("citations", [text("Open."), text("6 to 18.", WEB, PAGE)], Text("Open."), Text("6 to 18.", CITED)),
        make(
            "a call by the model's code",
            [tool_use(SEARCH, **said_by_code)],
            replace(SEARCH, extra=said_by_code),
            reason="tool_use",
            metadata={"container": {"id": "cntr_1"}},
            end={"container": {"id": "cntr_1"}},
        ),
        make("stop sequence", [text("One, two")], Text("One, two"), **STOPPED),
        make(
            "two beginnings of one message",
            [text("Hi")],
            Text("Hi"),
            events=[events_of([])[0], *events_of([text("Hi")])],
        ),
    ]


STOPPED: Event = {
    "reason": "stop_sequence",
    "finish_reason": "stop_sequence",
    "end": {"stop_sequence": "three"},
    "metadata": {"stop_sequence": "three"},
}


def provided() -> list[Stream]:
    """Tools that the provider runs, and blocks that it alone understands."""
    run = Call("bash_code_execution", {"command": "ls 🏯"}, "srvtoolu_3")
    printed = {"type": "bash_code_execution_result", "stdout": "a.txt", "stderr": "", "return_code": 0, "content": []}
    roll = Call("roll", {"sides": 6}, "mcptoolu_1")
    rolled = "there are no dice"
    before = Call("search", {}, "srvtoolu_0")
    return [
        make(
            "web search",
            [tool_use(QUERY, "server_tool_use"), result(QUERY, "web_search_tool_result", FOUND), text("Open.", WEB)],
            *(ran(QUERY, FOUND), Text("Open.", CITED[:1])),
        ),
        make(
            "code and MCP",
            [
                tool_use(run, "server_tool_use"),
                result(run, "bash_code_execution_tool_result", printed),
                tool_use(roll, "mcp_tool_use", server_name="dice"),
                {**result(roll, "mcp_tool_result", rolled), "is_error": True},
                text("Four."),
            ],
            *(ran(run, printed), ran(roll, rolled, "mcp_tool_use"), Text("Four.")),
        ),
        make(
            "a result after a text, and one of an earlier call",
            [
                tool_use(QUERY, "server_tool_use"),
                text("Wait."),
                result(QUERY, "web_search_tool_result", FOUND),
                result(before, "web_search_tool_result", []),
                text("Open."),
            ],
            *(ran(QUERY, FOUND), Text("Wait.")),
            *(Other("web_search_tool_result", result(before, "web_search_tool_result", [])), Text("Open.")),
        ),
        make(
            "a pause",
            [text("Wait."), tool_use(QUERY, "server_tool_use")],
            *(Text("Wait."), ran(QUERY)),
            reason="pause_turn",
            finish_reason="pause_turn",
            outcome="truncated",
            goes_back=False,
        ),
        make(
            "another model takes over",
            [HANDED_OVER, text("Hi")],
            *(Other("fallback", HANDED_OVER), Text("Hi")),
            model="claude-9-mini",
        ),
        make(
            "blocks and events of other kinds",
            [{"type": "container_upload", "file_id": "file_1"}, text("Hi")],
            *(Other("container_upload", {"type": "container_upload", "file_id": "file_1"}), Text("Hi")),
            events=with_unknown(events_of([{"type": "container_upload", "file_id": "file_1"}, text("Hi")])),
            metadata={"weather": {"sky": "grey"}, "context_management": {"applied_edits": []}},
        ),
        make(
            "compaction",
            [{"type": "compaction", "content": "So far: temples."}, text("Hi")],
            *(Other("compaction", {"type": "compaction", "content": "So far: temples."}), Text("Hi")),
            events=with_compaction(events_of([{"type": "compaction", "content": None}, text("Hi")])),
            goes_back=False,
        ),
    ]


def with_unknown(events: list[Event]) -> list[Event]:
    *most, end, stop = events
    return [*most, {"type": "weather", "sky": "grey"}, {**end, "context_management": {"applied_edits": []}}, stop]


def with_compaction(events: list[Event]) -> list[Event]:
    at = next(at for at, event in enumerate(events) if event["type"] == "content_block_start") + 1
    return [*events[:at], {**delta("compaction_delta", content="So far: temples."), "index": 0}, *events[at:]]


def ended() -> list[Stream]:
    broken = tool_use(replace(SEARCH, value='{"query": "ho'))
    details = {"type": "refusal", "category": "bio", "explanation": "I’d rather not."}
    return [
        make(
            "at the limit",
            [tool_use(WEATHER), broken],
            *(WEATHER, replace(SEARCH, text='{"query": "ho', status="truncated")),
            reason="max_tokens",
            finish_reason="length",
            outcome="truncated",
            goes_back=False,
        ),
        make(
            "a pause after compaction",
            [{"type": "compaction", "content": "So far: temples."}],
            Other("compaction", {"type": "compaction", "content": "So far: temples."}),
            reason="compaction",
            finish_reason="pause",
        ),
        make(
            "refusal",
            [text("Well")],
            *(Text("Well"), Refusal("I’d rather not.")),
            reason="refusal",
            finish_reason="refusal",
            outcome="refused",
            end={"stop_details": details},
            metadata={"stop_details": details},
        ),
        make(
            "error",
            [],
            *(Text("Once"), replace(SEARCH, status="truncated")),
            events=[
                *events_of([text("Once"), tool_use(SEARCH)])[:-2],
                {"type": "error", "error": ERROR, "request_id": "req"},
            ],
            finish_reason=None,
            raw_finish_reason=None,
            usage=FIRST_SPENT,
            outcome="truncated",
            errors=("Overloaded",),
            metadata={"error": ERROR, "request_id": "req"},
            goes_back=False,
        ),
    ]


def ending(word: str) -> list[Event]:
    return events_of([text("Hi")], word)


SESSION: Event = {"session_id": "8b1c", "uuid": "e0f2"}
SYSTEM: Event = {"type": "system", "subtype": "init", "tools": ["Bash"], **SESSION}
RESULT: Event = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "num_turns": 1,
    "result": SPOKEN,
    "total_cost_usd": 0.0625,
    **SESSION,
}
KEPT_RESULT = {name: value for name, value in RESULT.items() if name not in {"result", "type"}}


def agent_events() -> list[Event]:
    """One message of an agent, with its events, and the blocks that repeat them."""
    blocks = [thinking(THOUGHT), text(SPOKEN)]
    told: list[Event] = [SYSTEM]
    for event in events_of(blocks):
        told.append({"type": "stream_event", "event": event, "parent_tool_use_id": None, **SESSION})
        if event["type"] == "content_block_stop":
            told.append(agent_block(blocks[event["index"]]))
    return [*told, RESULT]


def agent_block(block: Event) -> Event:
    return {"type": "assistant", "message": {**MESSAGE, "content": [block]}, "parent_tool_use_id": None, **SESSION}


def wrapped() -> list[Stream]:
    """The same events as clouds and agents wrap them."""
    blocks = [thinking(THOUGHT), text(SPOKEN), tool_use(SEARCH)]
    said: tuple[Part, ...] = (Thought(THOUGHT, SIGNATURE), Text(SPOKEN))
    metrics: Event = {"inputTokenCount": 120, "outputTokenCount": 45, "invocationLatency": 900}
    whole = make("invoke model of Bedrock", blocks, *said, SEARCH, reason="tool_use", finish_reason="tool_calls")
    events = [*whole.events[:-1], {**whole.events[-1], "amazon-bedrock-invocationMetrics": metrics}]
    bare = [agent_block(block) for block in blocks[:2]]
    agent = make("", blocks[:2], *said, events=agent_events())
    return [
        replace(
            whole,
            events=[{"chunk": {"bytes": b64encode(json.dumps(event).encode()).decode()}} for event in events],
            said=replace(whole.said, metadata={**whole.said.metadata, "amazon-bedrock-invocationMetrics": metrics}),
        ),
        replace(
            agent,
            name="an agent with the events of its message",
            said=replace(agent.said, metadata={**agent.said.metadata, "events": [SYSTEM], "result": KEPT_RESULT}),
            end=len(agent.events) - 3,
        ),
        replace(
            agent,
            name="an agent",
            events=[SYSTEM, *bare, RESULT],
            said=replace(
                agent.said,
                metadata={**agent.said.metadata, "events": [SYSTEM], "result": KEPT_RESULT},
                usage=FIRST_SPENT,
            ),
            end=3,
        ),
    ]


STREAMS = [*ordinary(), *provided(), *ended(), *wrapped()]
