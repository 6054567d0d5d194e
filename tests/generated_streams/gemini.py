"""Gemini's `generateContentStream`: responses with parts of one candidate or several, and totals so far in each."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.generated_streams.said import (
    Call,
    Cited,
    Event,
    File,
    Other,
    Part,
    Said,
    ServerTool,
    Source,
    Spent,
    Stream,
    Text,
    Thought,
    cut,
)
from tests.generated_streams.scenes import IMAGE, NOW, SEARCH, SIGNATURE, SPOKEN, THOUGHT, WEATHER

PROVIDER = "gemini"
HEAD: Event = {"responseId": "resp-1", "modelVersion": "gemini-9-pro", "createTime": "2026-01-02T03:04:05.5Z"}
CREATED = 1767323045.5
FIRST: Event = {"promptTokenCount": 100, "totalTokenCount": 100}
USAGE: Event = {
    "promptTokenCount": 100,
    "toolUsePromptTokenCount": 20,
    "candidatesTokenCount": 24,
    "thoughtsTokenCount": 21,
    "totalTokenCount": 165,
    "cachedContentTokenCount": 64,
    "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 100}],
}
SPENT = Spent(input_tokens=120, output_tokens=45, total_tokens=165, cached_tokens=64, reasoning_tokens=21, raw=USAGE)
REASONS = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "TOO_MANY_TOOL_CALLS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "LANGUAGE": "content_filter",
    "MODEL_ARMOR": "content_filter",
    "IMAGE_SAFETY": "content_filter",
    "MALFORMED_FUNCTION_CALL": "malformed",
    "UNEXPECTED_TOOL_CALL": "malformed",
    "OTHER": "OTHER",
}


def response(*parts: Event, index: int = 0, usage: Event | None = None, **candidate: Any) -> Event:
    content = {"content": {"role": "model", "parts": [*parts]}} if parts else {}
    return {
        "candidates": [{**content, "index": index, **candidate}],
        "usageMetadata": FIRST if usage is None else usage,
        **HEAD,
    }


def last(*parts: Event, reason: str | int = "STOP", **candidate: Any) -> Event:
    return response(*parts, usage=USAGE, finishReason=reason, **candidate)


def said(text: str, **more: Any) -> list[Event]:
    return [response({"text": piece, **more}) for piece in cut(text, 9, 3)]


def function_call(call: Call) -> Event:
    head = {} if call.id is None else {"id": call.id}
    args = {"args": call.value} if call.value else {}
    return {"functionCall": {**head, "name": call.name, **args}, **call.extra}


def partials(value: Any, path: str) -> Iterator[Event]:
    """Yield what Vertex AI sends of arguments, value by value; an empty piece ends a string."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from partials(item, f"{path}.{name}")
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from partials(item, f"{path}[{at}]")
    elif isinstance(value, str):
        yield from ({"jsonPath": path, "stringValue": piece, "willContinue": True} for piece in cut(value, 4))
        yield {"jsonPath": path, "stringValue": ""}
    elif value is None:
        yield {"jsonPath": path, "nullValue": "NULL_VALUE"}
    elif isinstance(value, bool):
        yield {"jsonPath": path, "boolValue": value}
    else:
        yield {"jsonPath": path, "numberValue": value}


def streamed(call: Call) -> Iterator[Event]:
    """Yield a call whose arguments are streamed."""
    yield response({"functionCall": {"name": call.name, "willContinue": True}, **call.extra})
    for one in partials(call.value, "$"):
        yield response({"functionCall": {"partialArgs": [one], "willContinue": True}})
    yield response({"functionCall": {}})


def request_of(events: list[Event]) -> list[Event]:
    """The parts as they came, with text and thoughts in a row as one."""
    joined: list[Event] = []
    for event in events:
        for part in (event["candidates"][0].get("content") or {"parts": []})["parts"]:
            if joined and {*part, *joined[-1]} <= {"text", "thought"} and {*part} == {*joined[-1]}:
                joined[-1] = {**part, "text": joined[-1]["text"] + part["text"]}
            elif part.get("text") != "" or len(part) > 1:
                joined.append({**part})
    return [{"role": "model", "parts": [with_args(part) for part in joined]}]


def with_args(part: Event) -> Event:
    return {**part, "functionCall": {"args": {}, **part["functionCall"]}} if "functionCall" in part else part


def make(name: str, events: list[Event], *parts: Part, reason: str = "STOP", **more: Any) -> Stream:
    goes_back, second = more.pop("goes_back", True), more.pop("second", None)
    has_calls = any(isinstance(part, Call) for part in parts)
    told: Event = {"finish_reason": "tool_calls" if has_calls else "stop", "raw_finish_reason": reason, "usage": SPENT}
    told = {**told, "id": "resp-1", "model": "gemini-9-pro", "created": CREATED, **more}
    return Stream(
        name=name,
        provider=PROVIDER,
        events=events,
        said=Said(parts=parts, **told),
        end=len(events) - 1,
        request=request_of(events) if goes_back else None,
        second=second,
    )


TEMPLE = "“清水寺” opens at 6:00."
SUPPORTED = TEMPLE[:5].encode()
CHUNKS: list[Event] = [
    {"web": {"uri": "https://kyoto.example/hours", "title": "Hours", "domain": "kyoto.example"}},
    {"retrievedContext": {"uri": "gs://guide", "title": "Guide", "text": "From 6:00"}},
]
SUPPORT: Event = {
    "segment": {"startIndex": 0, "endIndex": len(SUPPORTED), "text": TEMPLE[:5]},
    "groundingChunkIndices": [0, 1],
    "confidenceScores": [0.5, 0.75],
}
GROUNDING: Event = {"webSearchQueries": ["hours"], "groundingChunks": CHUNKS, "groundingSupports": [SUPPORT]}
CITATION: Event = {"startIndex": 0, "endIndex": 4, "uri": "https://kyoto.example/poem", "title": "Poem"}
CODE: Event = {"language": "PYTHON", "code": "print(6)"}
PRINTED: Event = {"outcome": "OUTCOME_OK", "output": "6\n"}
CHOSEN: list[Event] = [{"token": "Hi", "tokenId": 1, "logProbability": -0.25}, {"token": "!", "logProbability": -1.5}]
READ: Event = {
    "urlContextMetadata": {"urlMetadata": [{"retrievedUrl": "u"}]},
    "finishMessage": "fine",
    "tokenCount": 2,
}
STAGE: Event = {"modelStatus": {"modelStage": "PREVIEW"}}
RATINGS: list[Event] = [{"category": "HARM_CATEGORY_HARASSMENT", "probability": "NEGLIGIBLE"}]


def grounded(at: int, cited_text: str | None) -> Cited:
    ((_, source),) = CHUNKS[at].items()
    return Cited(
        type="groundingSupport",
        raw=SUPPORT,
        url=source["uri"],
        title=source["title"],
        cited_text=cited_text,
        start=0,
        end=5,
    )


def ordinary() -> list[Stream]:
    signed = {"thoughtSignature": SIGNATURE}
    calls = (replace(SEARCH, extra=signed), WEATHER, replace(NOW, id=None))
    vertex = Call(
        "plan", {"title": 'Tea "清"', "stops": [{"at": 6, "open": True}, {"at": 7.5, "open": None}]}, extra=signed
    )
    return [
        make("text", [*said(SPOKEN), last({"text": ""})], Text(SPOKEN)),
        make(
            "thoughts, text and calls",
            [
                *said(THOUGHT, thought=True),
                *said(SPOKEN),
                response(*map(function_call, calls[:2])),
                response({"text": "And"}),
                last(function_call(calls[2])),
            ],
            *(Thought(THOUGHT), Text(SPOKEN), *calls[:2], Text("And"), calls[2]),
        ),
        make(
            "signatures",
            [
                response({"text": "Hm.", "thought": True, **signed}),
                *said("Open."),
                response({"text": "Now.", **signed}),
                *said("Till 18:00."),
                response({"text": "", **signed}),
                last(),
            ],
            *(Thought("Hm.", SIGNATURE), Text("Open."), Text("Now.", extra=signed), Text("Till 18:00.")),
            Text("", extra=signed),
        ),
        make(
            "streamed arguments",
            [
                *streamed(vertex),
                *streamed(replace(WEATHER, id=None)),
                response(function_call(replace(NOW, id=None))),
                last(),
            ],
            *(vertex, replace(WEATHER, id=None), replace(NOW, id=None)),
            goes_back=False,
        ),
        make(
            "two candidates",
            [
                *(two(one, other) for one, other in zip(cut("One. ", 1), cut("Two🏯!", 1), strict=True)),
                {**last(), "candidates": [{"finishReason": "STOP"}, {"index": 1, "finishReason": "MAX_TOKENS"}]},
            ],
            Text("One. "),
            goes_back=False,
            second=Said(
                parts=(Text("Two🏯!"),), finish_reason="length", raw_finish_reason="MAX_TOKENS", outcome="truncated"
            ),
        ),
        make(
            "log probabilities",
            [
                response({"text": "Hi"}, logprobsResult={"chosenCandidates": CHOSEN[:1]}),
                last(
                    {"text": "!"},
                    logprobsResult={"chosenCandidates": CHOSEN[1:]},
                    avgLogprobs=-0.875,
                    safetyRatings=RATINGS,
                    **READ,
                )
                | STAGE,
            ],
            Text("Hi!"),
            metadata={
                "logprobsResult": {"chosenCandidates": CHOSEN},
                "avgLogprobs": -0.875,
                "safetyRatings": RATINGS,
                **READ,
                **STAGE,
            },
        ),
    ]


def two(one: str, other: str) -> Event:
    first, second = response({"text": one}), response({"text": other}, index=1)
    return {**first, "candidates": [*first["candidates"], *second["candidates"]]}


def provided() -> list[Stream]:
    tool = {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["hours"]}}
    answer = {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "response": {"found": 1}}
    sources = (Source("https://kyoto.example/hours", "Hours", extra={"web": {"domain": "kyoto.example"}}),)
    return [
        make(
            "grounding",
            [*said(TEMPLE), last(groundingMetadata=GROUNDING)],
            Text(TEMPLE, (grounded(0, None), grounded(1, "From 6:00"))),
            *(*sources, Source("gs://guide", "Guide", extra={"retrievedContext": {"text": "From 6:00"}})),
            metadata={"groundingMetadata": GROUNDING},
        ),
        make(
            "citations",
            [*said("Once upon"), last(citationMetadata={"citations": [CITATION]})],
            Text(
                "Once upon", (Cited(type="citation", raw=CITATION, url=CITATION["uri"], title="Poem", start=0, end=4),)
            ),
            metadata={"citationMetadata": {"citations": [CITATION]}},
        ),
        make(
            "code and tools of the provider",
            [
                response({"executableCode": CODE}),
                response({"codeExecutionResult": PRINTED}),
                response({"toolCall": tool, "thoughtSignature": SIGNATURE}),
                response({"toolResponse": answer}),
                last({"text": "Six."}),
            ],
            ServerTool("code_execution", CODE, PRINTED, "OUTCOME_OK", "executableCode"),
            ServerTool(
                "GOOGLE_SEARCH_WEB", tool["args"], answer, None, "toolCall", "t1", extra={"thoughtSignature": SIGNATURE}
            ),
            Text("Six."),
        ),
        make(
            "files and parts of other kinds",
            [
                response({"inlineData": {"mimeType": "image/png", "data": IMAGE}, "thoughtSignature": SIGNATURE}),
                response({"fileData": {"mimeType": "video/mp4", "fileUri": "gs://film"}}),
                last({"sketch": {"lines": 2}}),
            ],
            File("image/png", IMAGE, extra={"thoughtSignature": SIGNATURE}),
            File("video/mp4", url="gs://film"),
            Other("sketch", {"sketch": {"lines": 2}}),
        ),
    ]


def ended() -> list[Stream]:
    broken: Event = {"outcome": "truncated", "goes_back": False}
    error: Event = {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}
    feedback = {"blockReason": "PROHIBITED_CONTENT", "safetyRatings": RATINGS}
    half = [*streamed(Call("plan", {"title": "Tea"}))][:2]
    return [
        make(
            "at the limit",
            [response(function_call(WEATHER)), *half, last(reason="MAX_TOKENS")],
            *(WEATHER, Call("plan", status="truncated", text='{"title":"Tea')),
            reason="MAX_TOKENS",
            finish_reason="length",
            **broken,
        ),
        make(
            "filtered",
            [*said("Once"), response(function_call(SEARCH)), last(reason="SAFETY", safetyRatings=RATINGS)],
            *(Text("Once"), replace(SEARCH, status="filtered")),
            reason="SAFETY",
            finish_reason="content_filter",
            metadata={"safetyRatings": RATINGS},
            **{**broken, "outcome": "filtered"},
        ),
        make(
            "enums as numbers",
            [*said("Hi"), response(function_call(replace(SEARCH, id=None))), last(reason=1)],
            *(Text("Hi"), replace(SEARCH, id=None)),
            reason="1",
        ),
        make(
            "a limit as number",
            [*said("Hi"), last(reason=2)],
            Text("Hi"),
            reason="2",
            finish_reason="length",
            **broken,
        ),
        make(
            "a number that has two meanings",
            [*said("Hi"), response(function_call(SEARCH)), last(reason=10)],
            *(Text("Hi"), replace(SEARCH, status="truncated")),
            reason="10",
            finish_reason="10",
            **broken,
        ),
        make(
            "blocked",
            [{"promptFeedback": feedback, "usageMetadata": USAGE, **HEAD}],
            reason="PROHIBITED_CONTENT",
            finish_reason="content_filter",
            metadata={"promptFeedback": feedback},
            **{**broken, "outcome": "filtered"},
        ),
        make(
            "error with usage",
            [*said("Once"), {"error": error, "usageMetadata": USAGE}],
            Text("Once"),
            finish_reason=None,
            raw_finish_reason=None,
            **{**broken, "errors": ("The model is overloaded.",)},
        ),
        make(
            "error",
            [*said("Once"), response(function_call(SEARCH)), {"error": error}],
            *(Text("Once"), replace(SEARCH, status="truncated")),
            finish_reason=None,
            raw_finish_reason=None,
            usage=Spent(input_tokens=100, total_tokens=100, raw=FIRST),
            **{**broken, "errors": ("The model is overloaded.",)},
        ),
    ]


def ending(word: str) -> list[Event]:
    return [*said("Hi"), last(reason=word)]


STREAMS = [*ordinary(), *provided(), *ended()]
