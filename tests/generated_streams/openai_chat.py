"""Chat completions as OpenAI documents them, and as the many servers write them that speak the same."""

import json
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
    Refusal,
    Said,
    Source,
    Spent,
    Stream,
    Text,
    Thought,
    cut,
)
from tests.generated_streams.scenes import IMAGE, NOW, SEARCH, SIGNATURE, SPOKEN, THOUGHT, WEATHER

PROVIDER = "openai_chat"
HEAD: Event = {"id": "chatcmpl-7", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": "gpt-6"}
FINGERPRINT = "fp_44709d6fcb"
USAGE: Event = {
    "prompt_tokens": 120,
    "completion_tokens": 45,
    "total_tokens": 165,
    "prompt_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 32, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 21, "accepted_prediction_tokens": 0},
}
SPENT = Spent(
    input_tokens=120,
    output_tokens=45,
    total_tokens=165,
    cached_tokens=64,
    cache_write_tokens=32,
    reasoning_tokens=21,
    raw=USAGE,
)
REASONS = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "stop",
    "function_call": "stop",
    "content_filter": "content_filter",
    # Words of other servers.
    "eos": "stop",
    "end_turn": "stop",
    "COMPLETE": "stop",
    "tool_use": "stop",
    "max_tokens": "length",
    "model_length": "length",
    "insufficient_system_resource": "length",
    "content_filter: SAFETY": "content_filter",
    "SAFETY": "content_filter",
    "malformed_function_call": "malformed",
    "abort": "error",
    "hm": "hm",
}
"""What the words for the end of a message without calls mean."""


def chunk(*choices: Event, **more: Any) -> Event:
    return {**HEAD, "choices": list(choices), **more}


def choice(reason: str | None = None, index: int = 0, **delta: Any) -> Event:
    return {"index": index, "delta": delta, "finish_reason": reason}


def said(text: str) -> list[Event]:
    return [chunk(choice(content=piece)) for piece in cut(text)]


def written(call: Call) -> str:
    return json.dumps(call.value, ensure_ascii=False) if call.text is None else call.text


def entries(call: Call, index: int) -> list[Event]:
    """What the deltas say of a call: its head, then its arguments piece by piece."""
    function = {"name": call.name, "arguments": ""}
    head = {"index": index, "id": call.id, "type": "function", "function": function, **call.extra}
    text = "" if call.value == {} else written(call)
    return [head, *({"index": index, "function": {"arguments": piece}} for piece in cut(text, 5, 1, 8))]


def called(*calls: Call) -> list[Event]:
    return [chunk(choice(tool_calls=[entry])) for at, call in enumerate(calls) for entry in entries(call, at)]


def mixed(*calls: Call) -> list[Event]:
    """Several calls by turns, two pieces in a chunk where it comes so."""
    queues = [entries(call, at) for at, call in enumerate(calls)]
    found = []
    while any(queues):
        found.append(chunk(choice(tool_calls=[queue.pop(0) for queue in queues if queue])))
    return found


BEGUN = chunk(
    choice(role="assistant", content="", refusal=None), system_fingerprint=FINGERPRINT, usage=None, obfuscation="kX0qb"
)


def request_of(parts: tuple[Part, ...]) -> list[Event]:
    """The message as a request has it: what was thought is left out."""
    text = "".join(part.text for part in parts if isinstance(part, Text))
    calls = [
        {"type": "function", "id": part.id, "function": {"name": part.name, "arguments": written(part)}}
        for part in parts
        if isinstance(part, Call)
    ]
    item: Event = {"role": "assistant", "content": text or None}
    return [{**item, "tool_calls": calls} if calls else item]


def is_end(event: Event) -> bool:
    return any(one.get("finish_reason") for one in event.get("choices", ()))


def make(name: str, events: list[Event], *parts: Part, goes_back: bool = False, **more: Any) -> Stream:
    """A stream that begins with the fingerprint, and says the rest in its events."""
    second, end = more.pop("second", None), more.pop("end", None)
    more = {"id": HEAD["id"], "model": HEAD["model"], "created": HEAD["created"], "raw_finish_reason": "stop", **more}
    more["metadata"] = {"system_fingerprint": FINGERPRINT, **more.get("metadata", {})}
    return Stream(
        name=name,
        provider=PROVIDER,
        events=[BEGUN, *events],
        said=Said(parts=parts, **more),
        end=end or next((at for at, event in enumerate(events, 1) if is_end(event)), len(events)),
        request=request_of(parts) if goes_back else None,
        second=second,
    )


CALLS: Event = {"finish_reason": "tool_calls", "raw_finish_reason": "tool_calls"}
STOP = chunk(choice("stop"))
CALL_STOP = chunk(choice("tool_calls"))
LATE_USAGE = chunk(usage=USAGE, service_tier="default")
"""With `stream_options={"include_usage": True}`, figures come in a chunk of their own, after the end."""
LOGPROBS: list[Event] = [
    {"token": "Hi", "logprob": -0.25, "bytes": [72, 105], "top_logprobs": [{"token": "Hi", "logprob": -0.25}]},
    {"token": "!", "logprob": -1.5, "bytes": [33], "top_logprobs": []},
]
WEB: Event = {"url": "https://kyoto.example/hours", "title": "Hours", "start_index": 0, "end_index": 4}
ANNOTATION: Event = {"type": "url_citation", "url_citation": WEB}
REFERENCE: Event = {"type": "reference", "reference_ids": [1], "url": "https://kyoto.example", "title": "Kyoto"}
SAFE = {"hate": {"filtered": False, "severity": "safe"}}
ERROR: Event = {"message": "The server is overloaded", "type": "server_error", "code": "overloaded"}


def old_form() -> list[Event]:
    text = json.dumps(SEARCH.value)
    head = chunk(choice(function_call={"name": SEARCH.name, "arguments": ""}))
    return [head, *(chunk(choice(function_call={"arguments": piece})) for piece in cut(text))]


def custom(text: str) -> list[Event]:
    head = {"index": 0, "id": "call_9", "type": "custom", "custom": {"name": "patch", "input": ""}}
    pieces = [{"index": 0, "custom": {"input": piece}} for piece in cut(text)]
    return [chunk(choice(tool_calls=[entry])) for entry in [head, *pieces]]


def details(*items: Event) -> Event:
    """A piece of reasoning as OpenRouter sends it: once as plain text, and once to be sent back."""
    text = "".join(item.get("text") or item.get("summary") or "" for item in items)
    return chunk(choice(reasoning=text or None, reasoning_details=list(items)))


def openai() -> list[Stream]:
    return [
        make("text", [*said(SPOKEN), STOP, LATE_USAGE], Text(SPOKEN), goes_back=True, usage=SPENT, metadata=TIER),
        make(
            "text and calls",
            [*said(SPOKEN), *mixed(SEARCH, WEATHER, NOW), CALL_STOP, LATE_USAGE],
            *(Text(SPOKEN), SEARCH, WEATHER, NOW),
            goes_back=True,
            usage=SPENT,
            metadata=TIER,
            **CALLS,
        ),
        make("no arguments", [*called(NOW), CALL_STOP], NOW, goes_back=True, **CALLS),
        make(
            "old function call",
            [*old_form(), chunk(choice("function_call"))],
            replace(SEARCH, id=None, extra={"type": "function_call"}),
            finish_reason="tool_calls",
            raw_finish_reason="function_call",
        ),
        make(
            "custom tool",
            [*custom('*** "Begin"\n+é🏯\\'), CALL_STOP],
            Call("patch", '*** "Begin"\n+é🏯\\', "call_9", extra={"type": "custom"}),
            **CALLS,
        ),
        make(
            "refusal",
            [*(chunk(choice(refusal=piece)) for piece in cut("I’d rather not.")), STOP],
            Refusal("I’d rather not."),
            outcome="refused",
        ),
        make(
            "filtered",
            [*said("Once"), *called(SEARCH), chunk(choice("content_filter"))],
            *(Text("Once"), replace(SEARCH, status="filtered")),
            finish_reason="content_filter",
            raw_finish_reason="content_filter",
            outcome="filtered",
        ),
        make(
            "at the limit",
            [*called(WEATHER, replace(SEARCH, text='{"query": "ho')), chunk(choice("length"))],
            *(WEATHER, replace(SEARCH, text='{"query": "ho', status="truncated")),
            finish_reason="length",
            raw_finish_reason="length",
            outcome="truncated",
        ),
        make(
            "error",
            [*said("Once"), *called(SEARCH), {"error": ERROR}],
            *(Text("Once"), replace(SEARCH, status="truncated")),
            **FAILED,
        ),
        make(
            "log probabilities",
            [
                *(
                    chunk({**choice(content=one["token"]), "logprobs": {"content": [one], "refusal": None}})
                    for one in LOGPROBS
                ),
                chunk({**choice("stop"), "logprobs": {"content": None, "refusal": LOGPROBS}}),
            ],
            Text("Hi!"),
            goes_back=True,
            metadata={"logprobs": {"content": LOGPROBS, "refusal": LOGPROBS}},
        ),
        make(
            "two choices",
            [
                *(
                    chunk(choice(index=at, content=piece))
                    for pair in zip(cut("One..", 1), cut("Two🏯.", 1), strict=True)
                    for at, piece in enumerate(pair)
                ),
                chunk(choice("length", 1)),
                chunk(choice("stop", 0)),
            ],
            Text("One.."),
            second=Said(
                parts=(Text("Two🏯."),), finish_reason="length", raw_finish_reason="length", outcome="truncated"
            ),
        ),
        make(
            "audio",
            [
                chunk(choice(audio={"id": "audio_1", "transcript": "Good "})),
                chunk(choice(audio={"data": "AAEC", "transcript": "day"})),
                chunk(choice(audio={"data": "Aw=="})),
                chunk(choice(audio={"data": "BA==", "expires_at": 1_700_000_600})),
                STOP,
            ],
            File("audio/*", "AAECAwQ=", id="audio_1", extra={"transcript": "Good day", "expires_at": 1_700_000_600}),
        ),
        make(
            "web search",
            [*said("Open till 18:00."), chunk(choice(annotations=[ANNOTATION])), STOP],
            Text("Open till 18:00.", (cited(ANNOTATION, WEB),)),
        ),
        make(
            "helper of the SDK",
            [
                {"type": "chunk", "chunk": chunk(choice(content="Hi"))},
                {"type": "content.delta", "delta": "Hi", "snapshot": "Hi", "parsed": None},
                {"type": "chunk", "chunk": chunk(choice(content="!"))},
                {"type": "content.done", "content": "Hi!", "parsed": None},
                {"type": "chunk", "chunk": STOP},
            ],
            Text("Hi!"),
            end=5,
        ),
    ]


TIER = {"service_tier": "default"}
FAILED: Event = {
    "finish_reason": None,
    "raw_finish_reason": None,
    "outcome": "truncated",
    "errors": (ERROR["message"],),
}


def cited(raw: Event, fields: Event) -> Cited:
    return Cited(
        type=raw["type"],
        raw=raw,
        url=fields["url"],
        title=fields["title"],
        start=fields["start_index"],
        end=fields["end_index"],
    )


def compatible() -> list[Stream]:
    """The same from servers that speak it in their own ways."""
    url = f"data:image/png;base64,{IMAGE}"
    mistral = make(
        "",
        [*said(SPOKEN), *called(SEARCH, NOW), CALL_STOP],
        *(Text(SPOKEN), SEARCH, NOW),
        goes_back=True,
        **CALLS,
    )
    both = {"prompt_cache_hit_tokens": 4, "prompt_cache_miss_tokens": 6}
    signed = {"type": "reasoning.text", "index": 0, "format": "anthropic-claude-v1"}
    return [
        make(
            "deepseek",
            [
                *(chunk(choice(content=None, reasoning_content=piece)) for piece in cut(THOUGHT)),
                *said("Done."),
                *called(SEARCH),
                chunk(choice("tool_calls", content=""), usage={**COUNTS, **both}),
            ],
            *(Thought(THOUGHT), Text("Done."), SEARCH),
            usage=Spent(input_tokens=10, output_tokens=5, total_tokens=15, cached_tokens=4, raw={**COUNTS, **both}),
            **CALLS,
        ),
        make(
            "groq",
            [
                chunk(choice(reasoning=THOUGHT), x_groq={"id": "req_1"}),
                chunk(choice(tool_calls=[whole(SEARCH, 0), whole(WEATHER, 1)])),
                chunk(choice("tool_calls"), x_groq={"id": "req_1", "usage": {**COUNTS, "queue_time": 0.25}}),
            ],
            *(Thought(THOUGHT), SEARCH, WEATHER),
            usage=Spent(input_tokens=10, output_tokens=5, total_tokens=15, raw={**COUNTS, "queue_time": 0.25}),
            metadata={"x_groq": {"id": "req_1"}},
            **CALLS,
        ),
        make(
            "both names of reasoning",
            [*(chunk(choice(reasoning=one, reasoning_content=one)) for one in cut(THOUGHT)), *said("So."), STOP],
            *(Thought(THOUGHT), Text("So.")),
        ),
        make(
            "openrouter",
            [
                details({**signed, "text": "First, "}),
                details({**signed, "text": "look."}),
                details({**signed, "signature": SIGNATURE, "text": ""}),
                details({"type": "reasoning.summary", "index": 1, "id": "rs_1", "summary": "Looked."}),
                details({"type": "reasoning.encrypted", "index": 2, "id": "rs_2", "data": "Z0FBQUE="}),
                details({"type": "reasoning.sketch", "index": 3, "lines": 2}),
                *said("Open."),
                chunk(choice(images=[{"type": "image_url", "index": 0, "image_url": {"url": url, "detail": "low"}}])),
                chunk(choice(images=[SKETCH, {"type": "image_url", "image_url": "https://kyoto.example/b.png"}])),
                chunk({**choice("stop"), "native_finish_reason": "end_turn"}, provider="Anthropic"),
            ],
            Thought("First, look.", SIGNATURE, extra={"type": "reasoning.text", **without(signed, "type")}),
            Thought("Looked.", item_id="rs_1", extra={"type": "reasoning.summary", "index": 1}),
            Thought(encrypted="Z0FBQUE=", item_id="rs_2", extra={"type": "reasoning.encrypted", "index": 2}),
            Other("reasoning.sketch", {"type": "reasoning.sketch", "index": 3, "lines": 2}),
            *(Text("Open."), File("image/png", IMAGE, extra={"index": 0, "detail": "low"})),
            *(Other("sketch", SKETCH), File(url="https://kyoto.example/b.png")),
            metadata={"native_finish_reason": "end_turn", "provider": "Anthropic"},
        ),
        make(
            "openrouter error",
            [*said("Once"), chunk({**choice("error"), "error": ERROR})],
            Text("Once"),
            **{**FAILED, "finish_reason": UNSAID, "raw_finish_reason": UNSAID},
        ),
        make(
            "openrouter error with usage",
            [*said("Once"), chunk(choice("error", content=""), error=ERROR, usage=COUNTS, provider="Azure")],
            Text("Once"),
            usage=Spent(input_tokens=10, output_tokens=5, total_tokens=15, raw=COUNTS),
            metadata={"provider": "Azure"},
            **{**FAILED, "finish_reason": UNSAID, "raw_finish_reason": UNSAID},
        ),
        make(
            "together",
            [*(chunk({**choice(content=piece), "text": piece}) for piece in cut(SPOKEN)), TOGETHER_STOP],
            Text(SPOKEN),
            goes_back=True,
        ),
        make(
            "together with calls",
            [*(chunk({**one["choices"][0], "text": ""}) for one in called(SEARCH, WEATHER)), CALL_STOP],
            *(SEARCH, WEATHER),
            goes_back=True,
            **CALLS,
        ),
        whole_completion(
            "perplexity without streaming",
            {**choice("stop"), "delta": {"role": "assistant", "content": ""}, "message": plain_message(SPOKEN)},
            Text(SPOKEN),
        ),
        whole_completion(
            "workers ai, structured",
            {"index": 0, "message": {**plain_message(None), "content": STRUCTURED}, "finish_reason": "stop"},
            Text('{"city":"Kyōto","open":[6,18.5,null]}'),
        ),
        Stream(
            name="azure",
            provider=PROVIDER,
            events=[
                *({**chunk(prompt_filter_results=[{"prompt_index": 0}]), **EMPTY_HEAD}, BEGUN),
                *({**one, "choices": [{**one["choices"][0], "content_filter_results": SAFE}]} for one in said(SPOKEN)),
                STOP,
                {**chunk({**choice(), "content_filter_offsets": {"check_offset": 40}}), **EMPTY_HEAD},
            ],
            said=Said(
                parts=(Text(SPOKEN),),
                raw_finish_reason="stop",
                **{key: HEAD[key] for key in ("id", "model", "created")},
                metadata={
                    "system_fingerprint": FINGERPRINT,
                    "prompt_filter_results": [{"prompt_index": 0}],
                    "content_filter_results": SAFE,
                    "content_filter_offsets": {"check_offset": 40},
                },
            ),
            end=len(said(SPOKEN)) + 2,
        ),
        make(
            "mistral",
            [
                chunk(choice(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "Hm, "}]}])),
                chunk(choice(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "so."}, REFERENCE]}])),
                chunk(choice(content=[{"type": "thinking", "thinking": [], "closed": True, "signature": SIGNATURE}])),
                chunk(choice(content=[{"type": "text", "text": "Open"}, REFERENCE, {"type": "text", "text": " now"}])),
                chunk(choice(content=[{"type": "image_url", "image_url": "https://kyoto.example/a.png"}])),
                chunk(choice(content=[{"type": "document_url", "document_url": "https://kyoto.example/a.pdf"}])),
                chunk({**choice(), "delta": {"index": 0, "content": "."}}, p="padding"),
                chunk(choice("stop", content="")),
            ],
            Thought("Hm, so.", SIGNATURE, extra={"type": "thinking", "thinking": [REFERENCE], "closed": True}),
            Text(
                "Open now",
                (Cited(type="reference", raw=REFERENCE, url=REFERENCE["url"], title="Kyoto", start=4, end=4),),
            ),
            File(url="https://kyoto.example/a.png"),
            Other("document_url", {"type": "document_url", "document_url": "https://kyoto.example/a.pdf"}),
            Text("."),
            metadata={"p": "padding"},
        ),
        make(
            "perplexity",
            [
                chunk(choice(content="Open"), citations=[WEB["url"]], usage={**PERPLEXITY, "total_tokens": 12}),
                chunk(
                    {**choice(content=" now."), "message": {"role": "assistant", "content": "Open now."}},
                    citations=[WEB["url"]],
                    search_results=[{"title": "Hours", "url": WEB["url"], "date": "2026-01-01"}],
                    usage=PERPLEXITY,
                ),
                chunk(choice("stop"), usage={**PERPLEXITY, "citation_tokens": 9}),
            ],
            *(Source(WEB["url"], "Hours", extra={"date": "2026-01-01"}), Text("Open now.")),
            usage=Spent(
                input_tokens=10,
                output_tokens=5,
                total_tokens=15,
                reasoning_tokens=2,
                raw={**PERPLEXITY, "citation_tokens": 9},
            ),
        ),
        make(
            "xai",
            [
                *(chunk(choice(reasoning_content=piece)) for piece in cut(THOUGHT, 9)),
                *said("Open."),
                chunk(choice("stop"), citations=[WEB["url"]], usage=XAI),
            ],
            *(Thought(THOUGHT), Text("Open."), Source(WEB["url"])),
            usage=Spent(input_tokens=10, output_tokens=12, total_tokens=22, reasoning_tokens=7, raw=XAI),
        ),
        make(
            "moonshot",
            [*said("Open."), chunk({**choice("stop"), "usage": {**COUNTS, "cached_tokens": 3}})],
            Text("Open."),
            usage=Spent(
                input_tokens=10,
                output_tokens=5,
                total_tokens=15,
                cached_tokens=3,
                raw={**COUNTS, "cached_tokens": 3},
            ),
        ),
        make(
            "gateway",
            [
                chunk(choice(content="Wait.", tags=["a"])),
                {"type": "progress", "percent": 40},
                {"type": "ping"},
                chunk(choice(tags=["b"], mood={"calm": 1})),
                chunk(choice(tool_calls=[object_entry(SEARCH)])),
                chunk(choice("STOP", mood={"glad": 2})),
            ],
            *(Text("Wait."), replace(SEARCH, id=None)),
            finish_reason="tool_calls",
            raw_finish_reason="STOP",
            metadata={
                "events": [{"type": "progress", "percent": 40}],
                "tags": ["a", "b"],
                "mood": {"calm": 1, "glad": 2},
            },
        ),
        make(
            "gemini behind it",
            [chunk(choice(tool_calls=[{**whole(SEARCH, 0), "extra_content": {"google": SIGNATURE}}])), CALL_STOP],
            replace(SEARCH, extra={"extra_content": {"google": SIGNATURE}}),
            **CALLS,
        ),
        replace(mistral, name="mistralai", events=[{"data": one} for one in mistral.events]),
        Stream(
            name="llama.cpp",
            provider=PROVIDER,
            events=[
                *(
                    {"index": 0, "content": one, "tokens": [7], "stop": False, "id_slot": 2, **LLAMA}
                    for one in cut(SPOKEN)
                ),
                {**LLAMA_END, "stop_type": "eos"},
            ],
            said=Said(
                parts=(Text(SPOKEN),),
                raw_finish_reason="eos",
                model="qwen9.gguf",
                usage=Spent(input_tokens=10, output_tokens=5, total_tokens=15, raw=COUNTS),
                metadata={"id_slot": 2, "timings": {"predicted_ms": 12.5}, "stopping_word": ""},
            ),
            end=len([*cut(SPOKEN)]),
            request=request_of((Text(SPOKEN),)),
        ),
        Stream(
            name="llama.cpp at its limit",
            provider=PROVIDER,
            events=[{"index": 0, "content": "Once", "stop": False, **LLAMA}, {**LLAMA_END, "stopped_limit": True}],
            said=Said(
                parts=(Text("Once"),),
                finish_reason="length",
                raw_finish_reason="limit",
                outcome="truncated",
                model="qwen9.gguf",
                usage=Spent(input_tokens=10, output_tokens=5, total_tokens=15, raw=COUNTS),
                metadata={"timings": {"predicted_ms": 12.5}, "stopping_word": "", "stopped_limit": True},
            ),
            end=1,
        ),
        Stream(
            name="text generation inference",
            provider=PROVIDER,
            events=[
                *({**token(one), "generated_text": None, "details": None} for one in cut(SPOKEN)),
                {**token("</s>", special=True), "generated_text": SPOKEN, "details": TGI_DETAILS},
            ],
            said=Said(
                parts=(Text(SPOKEN),),
                raw_finish_reason="eos_token",
                usage=Spent(output_tokens=5, raw={"completion_tokens": 5}),
                metadata={
                    "logprobs": {
                        "content": [*(token(one)["token"] for one in cut(SPOKEN)), token("</s>", special=True)["token"]]
                    },
                    "seed": 42,
                },
            ),
            end=len([*cut(SPOKEN)]),
            request=request_of((Text(SPOKEN),)),
        ),
        Stream(
            name="text generation inference without streaming",
            provider=PROVIDER,
            events=[{"generated_text": SPOKEN, "details": TGI_DETAILS}],
            said=Said(
                parts=(Text(SPOKEN),),
                raw_finish_reason="eos_token",
                usage=Spent(output_tokens=5, raw={"completion_tokens": 5}),
                metadata={"seed": 42},
            ),
            end=0,
            request=request_of((Text(SPOKEN),)),
        ),
        Stream(
            name="workers ai without streaming",
            provider=PROVIDER,
            events=[
                {
                    "result": {
                        "response": SPOKEN,
                        "tool_calls": [{"name": SEARCH.name, "arguments": SEARCH.value}],
                        "usage": COUNTS,
                    },
                    "success": True,
                    "errors": [],
                    "messages": [],
                }
            ],
            said=Said(
                parts=(Text(SPOKEN), replace(SEARCH, id=None)),
                finish_reason="tool_calls",
                raw_finish_reason="stop",
                usage=Spent(input_tokens=10, output_tokens=5, total_tokens=15, raw=COUNTS),
            ),
            end=0,
        ),
        Stream(
            name="workers ai, which does not say how it ends",
            provider=PROVIDER,
            events=[
                *({"response": one, "p": "abdefg"} for one in cut(SPOKEN)),
                {"response": "", "usage": COUNTS},
            ],
            said=Said(
                parts=(Text(SPOKEN),),
                finish_reason=None,
                outcome="truncated",
                usage=Spent(input_tokens=10, output_tokens=5, total_tokens=15, raw=COUNTS),
                metadata={"p": "abdefg"},
                errors=("the stream ended before the provider said how the message ends",),
            ),
            end=len([*cut(SPOKEN)]),
        ),
        Stream(
            name="text completion",
            provider=PROVIDER,
            events=[
                *({**HEAD, "object": "text_completion", "choices": [old_choice(one)]} for one in cut(SPOKEN)),
                {**HEAD, "object": "text_completion", "choices": [old_choice("", "stop")], "usage": COUNTS},
            ],
            said=Said(
                parts=(Text(SPOKEN),),
                raw_finish_reason="stop",
                **{key: HEAD[key] for key in ("id", "model", "created")},
                usage=Spent(input_tokens=10, output_tokens=5, total_tokens=15, raw=COUNTS),
                metadata={"logprobs": {"tokens": [*cut(SPOKEN), ""]}},
            ),
            end=len([*cut(SPOKEN)]),
        ),
    ]


LLAMA: Event = {"tokens_predicted": 1, "tokens_evaluated": 10}
LLAMA_END: Event = {
    "index": 0,
    "content": "",
    "stop": True,
    "model": "qwen9.gguf",
    "tokens_predicted": 5,
    "tokens_evaluated": 10,
    "generation_settings": {"temperature": 0.75},
    "prompt": "<s>When does it open?",
    "stopping_word": "",
    "timings": {"predicted_ms": 12.5},
}
TGI_DETAILS: Event = {"finish_reason": "eos_token", "generated_tokens": 5, "seed": 42, "prefill": [], "tokens": []}


def token(text: str, *, special: bool = False) -> Event:
    return {"index": 3, "token": {"id": 421, "text": text, "logprob": -0.25, "special": special}}


TOGETHER_STOP = chunk({**choice("stop", content=""), "text": ""})
STRUCTURED: Event = {"city": "Kyōto", "open": [6, 18.5, None]}


def plain_message(text: str | None) -> Event:
    return {"role": "assistant", "content": text}


def whole_completion(name: str, one: Event, *parts: Part) -> Stream:
    """A completion that a server sends at once, though it was asked to stream."""
    heads = {key: HEAD[key] for key in ("id", "model", "created")}
    return Stream(
        name=name,
        provider=PROVIDER,
        events=[{**HEAD, "object": "chat.completion", "choices": [one]}],
        said=Said(parts=parts, raw_finish_reason="stop", **heads),
        end=0,
        request=request_of(parts),
    )


SKETCH: Event = {"type": "sketch", "lines": 2}
COUNTS: Event = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
PERPLEXITY: Event = {**COUNTS, "reasoning_tokens": 2, "search_context_size": "low"}
XAI: Event = {**COUNTS, "total_tokens": 22, "completion_tokens_details": {"reasoning_tokens": 7}}
EMPTY_HEAD: Event = {"id": "", "model": "", "created": 0, "object": ""}


def without(fields: Event, name: str) -> Event:
    return {key: value for key, value in fields.items() if key != name}


def whole(call: Call, index: int) -> Event:
    """A call in one delta."""
    function = {"name": call.name, "arguments": written(call)}
    return {"index": index, "id": call.id, "type": "function", "function": function}


def object_entry(call: Call) -> Event:
    """A call in one delta whose arguments are no text, and that has no id."""
    return {"index": 0, "type": "function", "function": {"name": call.name, "arguments": call.value}}


def old_choice(text: str, reason: str | None = None) -> Event:
    return {"index": 0, "text": text, "logprobs": {"tokens": [text]}, "finish_reason": reason}


def ending(word: str) -> list[Event]:
    return [BEGUN, *said("Hi"), chunk(choice(word))]


STREAMS = [*openai(), *compatible()]
