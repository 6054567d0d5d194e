"""Gemini's Interactions: steps that begin, grow and stop.

A step is described once, as it is when it stops, which is also what a request has of it; the writer tells from its
type how it grows.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.generated_streams.said import (
    NOTHING,
    Call,
    Cited,
    Event,
    File,
    Other,
    Part,
    Said,
    ServerTool,
    Spent,
    Stream,
    Text,
    Thought,
    cut,
)
from tests.generated_streams.scenes import IMAGE, NOW, SEARCH, SIGNATURE, SPOKEN, THOUGHT, WEATHER

PROVIDER = "gemini_interactions"
USAGE: Event = {
    "total_input_tokens": 100,
    "total_tool_use_tokens": 20,
    "total_output_tokens": 24,
    "total_thought_tokens": 21,
    "total_cached_tokens": 64,
    "total_tokens": 165,
    "input_tokens_by_modality": [{"modality": "text", "tokens": 100}],
}
SPENT = Spent(input_tokens=120, output_tokens=45, total_tokens=165, cached_tokens=64, reasoning_tokens=21, raw=USAGE)
INTERACTION: Event = {"id": "v1_1", "object": "interaction", "model": "gemini-9-pro"}
CREATED = 1767323045.0
LATE: Event = {"created": "2026-01-02T03:04:05Z", "updated": "2026-01-02T03:04:09Z", "service_tier": "standard"}
REASONS = {
    "completed": "stop",
    "requires_action": "stop",
    "incomplete": "length",
    "budget_exceeded": "length",
    "requires_continuation": "length",
    "hm": "hm",
}


def thought(*texts: str, signature: str = SIGNATURE) -> Event:
    summary = {"summary": [{"type": "text", "text": one} for one in texts]} if texts else {}
    return {"type": "thought", **summary, "signature": signature}


def output(*contents: Event) -> Event:
    return {"type": "model_output", "content": [*contents]}


def text(said: str, *annotations: Event) -> Event:
    return {"type": "text", "text": said, **({"annotations": [*annotations]} if annotations else {})}


def function_call(call: Call, **more: Any) -> Event:
    return {"type": "function_call", "id": call.id, "name": call.name, "arguments": call.value, **more}


def grow(step: Event) -> Iterator[Event]:
    """Yield the events of a step, without its index."""
    kind = step["type"]
    if kind == "thought":
        yield start({"type": kind})
        for item in step.get("summary", []):
            pieces = cut(item["text"])
            yield from (delta("thought_summary", content={"type": "text", "text": piece}) for piece in pieces)
        yield delta("thought_signature", signature=step["signature"])
    elif kind == "model_output":
        yield start({"type": kind})
        for content in step["content"]:
            if content["type"] != "text":
                yield delta(**content)
                continue
            yield from (delta("text", text=piece) for piece in cut(content["text"]))
            if "annotations" in content:
                yield delta("text_annotation_delta", annotations=content["annotations"])
    elif kind == "function_call":
        yield start({**step, "arguments": {}})
        given = step["arguments"]
        written = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False) if given else ""
        yield from (delta("arguments_delta", arguments=piece) for piece in cut(written, 5, 1, 8))
    elif kind.endswith("_call"):
        yield start({name: value for name, value in step.items() if name not in {"arguments", "signature"}})
        yield delta(**{name: value for name, value in step.items() if name not in {"id", "name", "server_name"}})
    elif kind.endswith("_result"):
        yield start({"type": kind, "call_id": step["call_id"]})
        first, *more = results(step["result"])
        yield delta(**{**step, "result": first})
        yield from (delta(kind, result=one) for one in more)
    else:
        yield start(step)
    yield {"event_type": "step.stop"}


def results(whole: Any) -> list[Any]:
    """What the deltas of a result have of it: a list comes item by item."""
    return [[one] for one in whole] if isinstance(whole, list) else [whole]


def start(step: Event) -> Event:
    return {"event_type": "step.start", "step": step}


def delta(type: str, **said: Any) -> Event:  # noqa: A002 - as it is written
    return {"event_type": "step.delta", "delta": {"type": type, **said}}


def events_of(steps: list[Event], status: str = "completed", **more: Any) -> list[Event]:
    told: list[Event] = [{"event_type": "interaction.created", "interaction": {**INTERACTION, "status": "in_progress"}}]
    told.append({"event_type": "interaction.status_update", "interaction_id": "v1_1", "status": "in_progress"})
    for at, step in enumerate(steps):
        told += [{**event, "index": at} for event in grow(step)]
    last = {**INTERACTION, **LATE, "status": status, "usage": USAGE, **more}
    return [*told, {"event_type": "interaction.completed", "interaction": last}]


def make(name: str, steps: list[Event], *parts: Part, status: str = "completed", **more: Any) -> Stream:
    goes_back, events, end = more.pop("goes_back", True), more.pop("events", None), more.pop("end", {})
    events = events or events_of(steps, status, **end)
    has_calls = any(isinstance(part, Call) for part in parts)
    told: Event = {"finish_reason": "tool_calls" if has_calls else "stop", "raw_finish_reason": status, "usage": SPENT}
    told = {**told, "id": "v1_1", "model": "gemini-9-pro", "created": CREATED, **more}
    kept = {"status": status, "updated": LATE["updated"], "service_tier": "standard"}
    told["metadata"] = more.get("metadata", {**kept, **end})
    return Stream(
        name=name,
        provider=PROVIDER,
        events=events,
        said=Said(parts=parts, **told),
        end=len(events) - 1,
        request=steps if goes_back else None,
    )


TEMPLE = "“清水寺” opens at 6:00."
ANNOTATION: Event = {
    "type": "url_citation",
    "url": "https://kyoto.example/hours",
    "title": "Hours",
    "start_index": 0,
    "end_index": len(TEMPLE[:5].encode()),
}
FILE: Event = {"type": "file_citation", "document_uri": "gs://guide", "file_name": "guide.pdf", "source": "From 6:00"}
CITED = (
    Cited(type="url_citation", raw=ANNOTATION, url=ANNOTATION["url"], title="Hours", start=0, end=5),
    Cited(type="file_citation", raw=FILE, url="gs://guide", title="guide.pdf", cited_text="From 6:00"),
)
PICTURE: Event = {"type": "image", "mime_type": "image/png", "data": IMAGE}
FILM: Event = {"type": "video", "mime_type": "video/mp4", "uri": "gs://film", "resolution": "low"}


def streams() -> list[Stream]:
    calls = (SEARCH, WEATHER, NOW)
    search = {"type": "google_search_call", "id": "g1", "arguments": {"queries": ["hours"]}, "signature": "Zg=="}
    suggested = [{"search_suggestions": "<div>"}, {"search_suggestions": "<p>"}]
    found = {
        "type": "google_search_result",
        "call_id": "g1",
        "result": suggested,
        "is_error": False,
        "signature": "aA==",
    }
    roll = {
        "type": "mcp_server_tool_call",
        "id": "m1",
        "name": "roll",
        "server_name": "dice",
        "arguments": {"sides": 6},
    }
    rolled = {"type": "mcp_server_tool_result", "call_id": "m1", "result": "4", "is_error": True}
    about = {name: found[name] for name in ("call_id", "is_error", "signature")}
    broken: Event = {"outcome": "truncated", "goes_back": False}
    error: Event = {"code": "overloaded", "message": "The model is overloaded."}
    once = [*events_of([output(text("Once")), function_call(SEARCH)])[:-1]]
    return [
        make("text", [output(text(SPOKEN))], Text(SPOKEN)),
        make(
            "thought, text and calls",
            [thought(THOUGHT), output(text(SPOKEN)), *map(function_call, calls)],
            *(Thought(THOUGHT, SIGNATURE), Text(SPOKEN), *calls),
            status="requires_action",
        ),
        make(
            "a signature alone",
            [thought(), function_call(SEARCH, signature="Zg==")],
            *(Thought("", SIGNATURE), replace(SEARCH, extra={"signature": "Zg=="})),
            status="requires_action",
        ),
        make("citations", [output(text(TEMPLE, ANNOTATION, FILE))], Text(TEMPLE, CITED)),
        make(
            "images between texts",
            [output(text("Look: "), PICTURE, text("and"), FILM)],
            *(Text("Look: "), File("image/png", IMAGE, extra={"type": "image"}), Text("and")),
            File("video/mp4", url="gs://film", extra={"type": "video", "resolution": "low"}),
        ),
        make(
            "tools of the provider",
            [search, found, roll, rolled, output(text("Four."))],
            ServerTool(
                "google_search",
                search["arguments"],
                suggested,
                None,
                "google_search_call",
                "g1",
                extra={"signature": "Zg==", "google_search_result": about},
            ),
            ServerTool(
                "roll",
                roll["arguments"],
                "4",
                "failed",
                "mcp_server_tool_call",
                "m1",
                extra={"server_name": "dice", "mcp_server_tool_result": {"call_id": "m1", "is_error": True}},
            ),
            Text("Four."),
        ),
        make(
            "a step of another kind",
            [{"type": "dream", "of": "sheep"}, output(text("Hi"))],
            *(Other("dream", [{"type": "dream", "of": "sheep"}]), Text("Hi")),
        ),
        make(
            "a search without a result",
            [search, output(text("Hi"))],
            ServerTool(
                "google_search",
                search["arguments"],
                NOTHING,
                None,
                "google_search_call",
                "g1",
                extra={"signature": "Zg=="},
            ),
            Text("Hi"),
        ),
        make(
            "at the limit",
            [function_call(WEATHER), function_call(replace(SEARCH, value='{"query": "ho'))],
            *(WEATHER, replace(SEARCH, text='{"query": "ho', status="truncated")),
            status="incomplete",
            finish_reason="length",
            **broken,
        ),
        make(
            "failed",
            [output(text("Once"))],
            Text("Once"),
            status="failed",
            end={"error": error},
            finish_reason=None,
            raw_finish_reason=None,
            **{**broken, "errors": ("The model is overloaded.",)},
            metadata={"status": "failed", "updated": LATE["updated"], "service_tier": "standard"},
        ),
        make(
            "error",
            [],
            *(Text("Once"), replace(SEARCH, status="truncated")),
            events=[*once, {"event_type": "error", "error": error}],
            finish_reason=None,
            raw_finish_reason=None,
            usage=None,
            created=None,
            metadata={"status": "in_progress"},
            **{**broken, "errors": ("The model is overloaded.",)},
        ),
    ]


def ending(word: str) -> list[Event]:
    return events_of([output(text("Hi"))], word)


STREAMS = streams()
