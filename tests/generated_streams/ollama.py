"""Ollama's own chat: lines of JSON, in which calls come whole."""

from dataclasses import replace
from typing import Any

from tests.generated_streams.said import Call, Event, File, Part, Said, Spent, Stream, Text, Thought, cut
from tests.generated_streams.scenes import IMAGE, NOW, SEARCH, SPOKEN, THOUGHT, WEATHER

PROVIDER = "ollama"
HEAD: Event = {"model": "qwen9", "created_at": "2026-01-02T03:04:05.5Z"}
CREATED = 1767323045.5
COUNTS: Event = {"prompt_eval_count": 120, "eval_count": 45}
SPENT = Spent(input_tokens=120, output_tokens=45, total_tokens=165, raw=COUNTS)
TIMES: Event = {"total_duration": 5_000, "load_duration": 100, "prompt_eval_duration": 200, "eval_duration": 300}
REASONS = {"stop": "stop", "length": "length", "load": "load", "unload": "unload"}


def line(**message: Any) -> Event:
    return {**HEAD, "message": {"role": "assistant", "content": "", **message}, "done": False}


def last(reason: str | None = "stop", **more: Any) -> Event:
    given = {} if reason is None else {"done_reason": reason}
    return {**line(), "done": True, **given, **COUNTS, **TIMES, **more}


def said(text: str, name: str = "content") -> list[Event]:
    return [line(**{name: piece}) for piece in cut(text)]


def entry(call: Call) -> Event:
    head = {} if call.id is None else {"id": call.id}
    return {**head, "function": {**call.extra, "name": call.name, "arguments": call.value}}


def request_of(parts: tuple[Part, ...]) -> list[Event]:
    item: Event = {"role": "assistant", "content": "".join(part.text for part in parts if isinstance(part, Text))}
    if thought := "".join(part.text for part in parts if isinstance(part, Thought)):
        item["thinking"] = thought
    calls = [entry(part) for part in parts if isinstance(part, Call)]
    return [{**item, "tool_calls": calls} if calls else item]


def make(name: str, events: list[Event], *parts: Part, goes_back: bool = True, **more: Any) -> Stream:
    has_calls = any(isinstance(part, Call) for part in parts)
    told: Event = {"finish_reason": "tool_calls" if has_calls else "stop", "raw_finish_reason": "stop", "usage": SPENT}
    told = {**told, "model": "qwen9", "created": CREATED, "metadata": TIMES, **more}
    return Stream(
        name=name,
        provider=PROVIDER,
        events=events,
        said=Said(parts=parts, **told),
        end=len(events) - 1,
        request=request_of(parts) if goes_back else None,
    )


LOGPROBS: list[Event] = [
    {"token": "Hi", "logprob": -0.25, "top_logprobs": [{"token": "Hi", "logprob": -0.25}]},
    {"token": "!", "logprob": -1.5, "top_logprobs": []},
]


def streams() -> list[Stream]:
    unnamed = replace(SEARCH, id=None)
    numbered = replace(WEATHER, extra={"index": 1})
    broken: Event = {"outcome": "truncated", "goes_back": False}
    return [
        make("text", [*said(SPOKEN), last()], Text(SPOKEN)),
        make(
            "thinking, text and calls",
            [*said(THOUGHT, "thinking"), *said(SPOKEN), line(tool_calls=[entry(unnamed), entry(numbered)]), last()],
            *(Thought(THOUGHT), Text(SPOKEN), unnamed, numbered),
            goes_back=False,
        ),
        make("calls line by line", [*(line(tool_calls=[entry(one)]) for one in (unnamed, NOW)), last()], unnamed, NOW),
        make(
            "an image",
            [line(images=[IMAGE]), *said("There."), last()],
            File(None, IMAGE),
            Text("There."),
            goes_back=False,
        ),
        make(
            "log probabilities and other fields",
            [
                *({**line(content=one["token"]), "logprobs": [one]} for one in LOGPROBS),
                line(mood="calm"),
                last(remote_model="qwen9-big"),
            ],
            Text("Hi!"),
            metadata={**TIMES, "logprobs": LOGPROBS, "mood": "calm", "remote_model": "qwen9-big"},
        ),
        make("no reason", [*said("Hi"), last(None)], Text("Hi"), raw_finish_reason=None),
        make(
            "at the limit",
            [*said("Once upon"), last("length")],
            Text("Once upon"),
            finish_reason="length",
            raw_finish_reason="length",
            **broken,
        ),
        make(
            "generate",
            [
                *({**HEAD, "response": "", "thinking": one, "done": False} for one in cut(THOUGHT)),
                *({**HEAD, "response": one, "done": False} for one in cut(SPOKEN)),
                {**HEAD, "response": "", "done": True, "done_reason": "stop", "context": [1, 2], **COUNTS, **TIMES},
            ],
            *(Thought(THOUGHT), Text(SPOKEN)),
            metadata={**TIMES, "context": [1, 2]},
        ),
        make(
            "error",
            [*said("Once"), line(tool_calls=[entry(unnamed)]), {"error": "the model runner has stopped"}],
            *(Text("Once"), replace(unnamed, status="truncated")),
            finish_reason=None,
            raw_finish_reason=None,
            usage=None,
            metadata={},
            **{**broken, "errors": ("the model runner has stopped",)},
        ),
    ]


def ending(word: str) -> list[Event]:
    return [*said("Hi"), last(word)]


STREAMS = streams()
