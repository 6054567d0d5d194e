"""Bedrock ConverseStream: events of one member each, with content blocks that a request has in the same form."""

import base64
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.generated_streams.said import (
    UNSAID,
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

PROVIDER = "bedrock"
USAGE: Event = {
    "inputTokens": 24,
    "outputTokens": 45,
    "totalTokens": 165,
    "cacheReadInputTokens": 64,
    "cacheWriteInputTokens": 32,
}
SPENT = Spent(input_tokens=120, output_tokens=45, total_tokens=165, cached_tokens=64, cache_write_tokens=32, raw=USAGE)
METRICS: Event = {"latencyMs": 2281}
REASONS = {
    "end_turn": "stop",
    "tool_use": "stop",
    "stop_sequence": "stop_sequence",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
    "malformed_model_output": "malformed",
    "malformed_tool_use": "malformed",
    "hm": "hm",
}
EXCEPTIONS = (
    "internalServerException",
    "modelStreamErrorException",
    "serviceUnavailableException",
    "throttlingException",
    "validationException",
)


def thinking(text: str) -> Event:
    return {"reasoningContent": {"reasoningText": {"text": text, "signature": SIGNATURE}}}


def tool_use(call: Call, **more: Any) -> Event:
    return {"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.value, **more}}


def grow(block: Event) -> Iterator[tuple[str, Event]]:
    """Yield what the events of a block say, each with the name of its event."""
    ((kind, value),) = block.items()
    if kind == "text":
        yield from (delta(text=piece) for piece in cut(value))
    elif kind == "reasoningContent" and "redactedContent" in value:
        yield delta(reasoningContent=value)
    elif kind == "reasoningContent":
        signed = value["reasoningText"]
        yield from (delta(reasoningContent={"text": piece}) for piece in cut(signed["text"]))
        yield from (delta(reasoningContent={"signature": piece}) for piece in cut(signed["signature"], 12))
    elif kind == "citationsContent":
        yield from (delta(text=piece) for content in value["content"] for piece in cut(content["text"]))
        yield from (delta(citation=citation) for citation in value["citations"])
    elif kind == "toolUse":
        head = {name: field for name, field in value.items() if name != "input"}
        yield "contentBlockStart", {"start": {"toolUse": head}}
        given = value["input"]
        text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False) if given else ""
        yield from (delta(toolUse={"input": piece}) for piece in cut(text, 5, 1, 8))
    elif kind == "toolResult":
        yield "contentBlockStart", {"start": {kind: {name: value[name] for name in value if name != "content"}}}
        yield from (delta(toolResult=[content]) for content in value["content"])
    elif kind == "image":
        yield "contentBlockStart", {"start": {kind: {"format": value["format"]}}}
        yield delta(image={"source": value["source"]})
    else:
        yield "contentBlockStart", {"start": block}
    yield "contentBlockStop", {}


def delta(**said: Any) -> tuple[str, Event]:
    return "contentBlockDelta", {"delta": said}


def events_of(blocks: list[Event], reason: str = "end_turn", **end: Any) -> list[Event]:
    told: list[Event] = [{"messageStart": {"role": "assistant", "p": "abcdef"}}]
    for at, block in enumerate(blocks):
        told += [{name: {"contentBlockIndex": at, **said}} for name, said in grow(block)]
    metadata = {"usage": USAGE, "metrics": METRICS, "p": "abc"}
    return [*told, {"messageStop": {"stopReason": reason, **end}}, {"metadata": metadata}]


def make(name: str, blocks: list[Event], *parts: Part, reason: str = "end_turn", **more: Any) -> Stream:
    goes_back, events, end = more.pop("goes_back", True), more.pop("events", None), more.pop("end", {})
    events = events or events_of(blocks, reason, **end)
    has_calls = any(isinstance(part, Call) for part in parts)
    told: Event = {"finish_reason": "tool_calls" if has_calls else "stop", "raw_finish_reason": reason, "usage": SPENT}
    told = {**told, "metadata": {"metrics": METRICS}, **more}
    return Stream(
        name=name,
        provider=PROVIDER,
        events=events,
        said=Said(parts=parts, **told),
        end=next((at for at, event in enumerate(events) if "messageStop" in event), len(events) - 1),
        request=[{"role": "assistant", "content": blocks}] if goes_back else None,
    )


WEB: Event = {
    "title": "Hours",
    "sourceContent": [{"text": "Open "}, {"text": "from 6:00"}],
    "location": {"web": {"url": "https://kyoto.example/hours", "domain": "kyoto.example"}},
}
PAGE: Event = {"title": "Guide", "location": {"documentPage": {"documentIndex": 0, "start": 1, "end": 2}}}
FOUND = Call("nova_grounding", {"query": "hours"}, "srv_1")
RESULT: list[Event] = [{"text": "6:00"}, {"json": {"open": True}}]
LOGGED: Event = {"message": "Too many requests"}
HIDDEN = base64.b64encode(b"hidden thoughts").decode()


def streams() -> list[Stream]:
    calls = (SEARCH, WEATHER, NOW)
    broken: Event = {"outcome": "truncated", "goes_back": False}
    image = {"format": "png", "source": {"bytes": IMAGE}}
    result = {"toolUseId": FOUND.id, "status": "success", "type": "nova_grounding_result", "content": RESULT}
    earlier, asked = {**result, "toolUseId": "srv_0"}, tool_use(FOUND, type="server_tool_use")
    ran = ServerTool("nova_grounding", FOUND.value, RESULT, "success", "server_tool_use", "srv_1", extra=UNSAID)
    failing = events_of([{"text": "Once"}, tool_use(SEARCH)])[:-2]
    return [
        make("text", [{"text": SPOKEN}], Text(SPOKEN)),
        make(
            "reasoning, text and calls",
            [thinking(THOUGHT), {"text": SPOKEN}, *map(tool_use, calls)],
            *(Thought(THOUGHT, SIGNATURE), Text(SPOKEN), *calls),
            reason="tool_use",
        ),
        make("no arguments", [tool_use(NOW)], NOW, reason="tool_use"),
        make(
            "redacted reasoning",
            [{"reasoningContent": {"redactedContent": HIDDEN}}, {"text": "Hi"}],
            *(Thought(redacted=True, encrypted=HIDDEN), Text("Hi")),
            goes_back=False,  # there it is bytes
        ),
        make(
            "citations",
            [{"citationsContent": {"content": [{"text": "6 to 18."}], "citations": [WEB, PAGE]}}],
            Text(
                "6 to 18.",
                (
                    Cited(
                        type="web",
                        raw=WEB,
                        url=WEB["location"]["web"]["url"],
                        title="Hours",
                        cited_text="Open from 6:00",
                    ),
                    Cited(type="documentPage", raw=PAGE, title="Guide"),
                ),
            ),
        ),
        make(
            "a tool of the provider",
            [asked, {"toolResult": result}, {"text": "Open."}],
            *(ran, Text("Open.")),
        ),
        make(
            "a result after a text, and one of an earlier call",
            [asked, {"text": "Wait."}, {"toolResult": result}, {"toolResult": earlier}, {"text": "Open."}],
            *(ran, Text("Wait."), Other("toolResult", {"toolResult": earlier}), Text("Open.")),
        ),
        make(
            "an image and a block of another kind",
            [{"image": image}, {"sketch": {"lines": 2}}],
            File("image/png", IMAGE),
            Other("sketch", {"sketch": {"lines": 2}}),
            goes_back=False,
        ),
        make(
            "fields of the model",
            [{"text": "One, two"}],
            Text("One, two"),
            reason="stop_sequence",
            finish_reason="stop_sequence",
            end={"additionalModelResponseFields": {"stop_sequence": "three"}},
            metadata={"metrics": METRICS, "additionalModelResponseFields": {"stop_sequence": "three"}},
        ),
        make(
            "at the limit",
            [tool_use(WEATHER), tool_use(replace(SEARCH, value='{"query": "ho'))],
            *(WEATHER, replace(SEARCH, text='{"query": "ho', status="truncated")),
            reason="max_tokens",
            finish_reason="length",
            **broken,
        ),
        make(
            "filtered",
            [{"text": "Once"}, tool_use(SEARCH)],
            *(Text("Once"), replace(SEARCH, status="filtered")),
            reason="guardrail_intervened",
            finish_reason="content_filter",
            **{**broken, "outcome": "filtered"},
        ),
        *(
            make(
                name,
                [],
                *(Text("Once"), replace(SEARCH, status="truncated")),
                events=[*failing, {name: LOGGED}],
                finish_reason=None,
                raw_finish_reason=None,
                usage=None,
                metadata={name: LOGGED},
                **{**broken, "errors": ("Too many requests",)},
            )
            for name in EXCEPTIONS[3:4]
        ),
    ]


def ending(word: str) -> list[Event]:
    return events_of([{"text": "Hi"}], word)


STREAMS = streams()
