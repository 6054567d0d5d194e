"""OpenAI Responses: items that begin, grow and are done, and a response at both ends that repeats them.

An item is described once, as it is when it is done, which is also what a request has of it; the writer tells from its
type how it grows.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

from tests.generated_streams.said import (
    NOTHING,
    UNSAID,
    Call,
    Cited,
    Event,
    File,
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
from tests.generated_streams.scenes import IMAGE, NOW, SEARCH, SPOKEN, THOUGHT, WEATHER

PROVIDER = "openai_responses"
USAGE: Event = {
    "input_tokens": 120,
    "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 32},
    "output_tokens": 45,
    "output_tokens_details": {"reasoning_tokens": 21},
    "total_tokens": 165,
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
RESPONSE: Event = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1_700_000_000,
    "model": "gpt-6",
    # All that follows repeats the request.
    "background": False,
    "frequency_penalty": 0.5,
    "instructions": None,
    "max_output_tokens": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "presence_penalty": 0.25,
    "prompt_cache_retention": "24h",
    "reasoning": {"effort": "medium", "summary": "auto"},
    "store": True,
    "temperature": 0.75,
    "text": {"format": {"type": "text"}, "verbosity": "medium"},
    "tool_choice": "auto",
    "top_logprobs": 3,
    "top_p": 0.9,
    "truncation": "disabled",
}
ENDS = {"completed": "response.completed", "incomplete": "response.incomplete", "failed": "response.failed"}


def message(*content: Event, at: int = 0, **more: Any) -> Event:
    return {
        "id": f"msg_{at}",
        "type": "message",
        "status": "completed",
        "role": "assistant",
        **more,
        "content": [*content],
    }


def output_text(text: str, *annotations: Event, **more: Any) -> Event:
    return {"type": "output_text", "text": text, "annotations": [*annotations], **more}


def reasoning(*texts: str, **more: Any) -> Event:
    return {
        "id": "rs_0",
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": one} for one in texts],
        **more,
    }


def function_call(call: Call, **more: Any) -> Event:
    text = json.dumps(call.value, ensure_ascii=False)
    item = {"id": f"fc_{call.id}", "type": "function_call", "status": "completed", **more}
    return {**item, "arguments": text, "call_id": call.id, "name": call.name}


def shown(call: Call, **extra: Any) -> Call:
    text = json.dumps(call.value, ensure_ascii=False)
    return Call(call.name, call.value, call.id, text, item_id=f"fc_{call.id}", extra={"status": "completed", **extra})


# How items grow.


def grow(item: Event) -> Iterator[Event]:
    """Yield the events between the beginning of an item and its end, without numbers."""
    kind = item["type"]
    about: Event = {"item_id": item["id"]}
    if kind == "message":
        for at, part in enumerate(item["content"]):
            yield from grow_content(part, {**about, "content_index": at})
    elif kind == "reasoning":
        yield from grow_reasoning(item, about)
    elif kind in PIECES:
        yield from grow_arguments(item, about)
    else:
        yield from WORK.get(kind, work(kind))(about)


def grow_reasoning(item: Event, about: Event) -> Iterator[Event]:
    for at, part in enumerate(item["summary"]):
        yield from grow_text(part, {**about, "summary_index": at}, "reasoning_summary_part", "reasoning_summary_text")
    for at, part in enumerate(item.get("content") or []):
        where = {**about, "content_index": at}
        yield from (delta("reasoning_text", piece, where) for piece in cut(part["text"]))
        yield {"type": "response.reasoning_text.done", **where, "text": part["text"]}


def grow_arguments(item: Event, about: Event) -> Iterator[Event]:
    kind = item["type"]
    event, field, sizes = PIECES[kind]
    if kind in {"mcp_call", "code_interpreter_call"}:
        yield {"type": f"response.{kind}.in_progress", **about}
    yield from (delta(event, piece, about) for piece in cut(item[field], *sizes))
    yield {"type": f"response.{event}.done", **about, field: item[field]}
    if kind == "code_interpreter_call":
        yield {"type": "response.code_interpreter_call.interpreting", **about}


def work(kind: str, *words: str) -> Callable[[Event], Iterator[Event]]:
    """Return what yields how far an item of a kind has come."""
    return lambda about: ({"type": f"response.{kind}.{word}", **about} for word in words)


def run_command(about: Event) -> Iterator[Event]:
    yield {"type": "response.shell_call_command.delta", **about, "command_index": 0, "delta": "ls"}
    yield {"type": "response.shell_call_command.done", **about, "command_index": 0, "command": "ls"}


def draw(about: Event) -> Iterator[Event]:
    yield {"type": "response.image_generation_call.generating", **about}
    first = {"partial_image_index": 0, "partial_image_b64": IMAGE[:4], "output_format": "png", "size": "1024x1024"}
    yield {"type": "response.image_generation_call.partial_image", **about, **first}


PIECES = {
    "function_call": ("function_call_arguments", "arguments", (5, 1, 8)),
    "custom_tool_call": ("custom_tool_call_input", "input", (2, 5)),
    "mcp_call": ("mcp_call_arguments", "arguments", (9, 4)),
    "code_interpreter_call": ("code_interpreter_call_code", "code", (3, 1, 6)),
}
WORK: dict[str, Callable[[Event], Iterator[Event]]] = {
    "web_search_call": work("web_search_call", "in_progress", "searching", "completed"),
    "file_search_call": work("file_search_call", "in_progress", "searching", "completed"),
    "mcp_list_tools": work("mcp_list_tools", "in_progress", "completed"),
    "shell_call": run_command,
    "image_generation_call": draw,
}


def delta(kind: str, piece: str, about: Event) -> Event:
    return {"type": f"response.{kind}.delta", **about, "delta": piece, "obfuscation": "x" * (16 - len(piece))}


def grow_text(part: Event, about: Event, container: str, kind: str) -> Iterator[Event]:
    yield {"type": f"response.{container}.added", **about, "part": {**part, "text": ""}}
    yield from (delta(kind, piece, about) for piece in cut(part["text"]))
    yield {"type": f"response.{kind}.done", **about, "text": part["text"]}
    yield {"type": f"response.{container}.done", **about, "part": part}


def grow_content(part: Event, about: Event) -> Iterator[Event]:
    if part["type"] == "refusal":
        yield {"type": "response.content_part.added", **about, "part": {**part, "refusal": ""}}
        yield from (delta("refusal", piece, about) for piece in cut(part["refusal"]))
        yield {"type": "response.refusal.done", **about, "refusal": part["refusal"]}
        yield {"type": "response.content_part.done", **about, "part": part}
    elif part["type"] != "output_text":
        yield {"type": "response.content_part.added", **about, "part": part}
        yield {"type": "response.content_part.done", **about, "part": part}
    elif "logprobs" in part:
        yield {"type": "response.content_part.added", **about, "part": {**part, "text": "", "logprobs": []}}
        yield from ({**delta("output_text", one["token"], about), "logprobs": [one]} for one in part["logprobs"])
        yield {"type": "response.output_text.done", **about, "text": part["text"], "logprobs": part["logprobs"]}
        yield {"type": "response.content_part.done", **about, "part": part}
    else:
        first, *middle, last = grow_text(part, about, "content_part", "output_text")
        yield {**first, "part": {**first["part"], "annotations": []}}
        yield from middle[:-1]
        for at, annotation in enumerate(part["annotations"]):
            kind = "response.output_text.annotation.added"
            yield {"type": kind, **about, "annotation_index": at, "annotation": annotation}
        yield middle[-1]
        yield last


EMPTY: Event = {
    "content": [],
    "summary": [],
    "arguments": "",
    "input": "",
    "code": "",
    "outputs": None,
    "results": None,
}
LATE = ("action", "encrypted_content", "fingerprint", "output", "queries", "result", "tools", "operation", "phase")


def begun(item: Event) -> Event:
    """An item as it is when it begins; what is encrypted is so anew in every event."""
    draft = {name: EMPTY.get(name, value) for name, value in item.items() if name not in LATE}
    if "status" in draft and item["type"] not in {"apply_patch_call", "program"}:
        draft["status"] = "in_progress"
    if item["type"] == "tool_search_call":
        draft["call_id"] = "call_draft"
    return {**draft, **anew(item, "draft")}


def anew(item: Event, word: str) -> Event:
    """What is not the same in any two events."""
    return {name: word for name in ("encrypted_content", "fingerprint") if name in item}


def events_of(
    items: list[Event], status: str = "completed", tools: list[Event] | None = None, **end: Any
) -> list[Event]:
    response = {
        **RESPONSE,
        "tools": tools or [],
        "service_tier": "auto",
        "status": "in_progress",
        "output": [],
        "usage": None,
    }
    told: list[Event] = [{"type": "response.created", "response": response}]
    told.append({"type": "response.in_progress", "response": response})
    for at, item in enumerate(items):
        told.append({"type": "response.output_item.added", "output_index": at, "item": begun(item)})
        told += [{**event, "output_index": at} for event in grow(item)]
        told.append({"type": "response.output_item.done", "output_index": at, "item": item})
    last = [{**item, **anew(item, "again")} for item in items]
    over = {**response, "status": status, "output": last, "usage": USAGE, "service_tier": "default", **end}
    told.append({"type": ENDS[status], "response": over})
    return [{"sequence_number": at, **event} for at, event in enumerate(told)]


def make(name: str, items: list[Event], *parts: Part, end: Event | None = None, **more: Any) -> Stream:
    tools, goes_back, events = more.pop("tools", None), more.pop("goes_back", True), more.pop("events", None)
    events = events or events_of(items, tools=tools, **(end or {}))
    raw = {"raw_finish_reason": "completed", "usage": SPENT, "metadata": {"service_tier": "default"}}
    has_calls = any(isinstance(part, Call) for part in parts)
    heads = {"id": "resp_1", "model": "gpt-6", "created": 1_700_000_000}
    return Stream(
        name=name,
        provider=PROVIDER,
        events=events,
        said=Said(parts=parts, **{"finish_reason": "tool_calls" if has_calls else "stop", **heads, **raw, **more}),
        end=len(events) - 1,
        request=[{key: item[key] for key in item if item[key] is not None} for item in items] if goes_back else None,
    )


URL: Event = {
    "type": "url_citation",
    "url": "https://kyoto.example/hours",
    "title": "Hours",
    "start_index": 0,
    "end_index": 4,
}
PATH: Event = {
    "type": "container_file_citation",
    "file_id": "cfile_1",
    "filename": "hours.csv",
    "container_id": "cntr_1",
}
LOGPROBS: list[Event] = [
    {"token": "Hi", "logprob": -0.25, "bytes": [72, 105], "top_logprobs": []},
    {"token": "!", "logprob": -1.5, "bytes": [33], "top_logprobs": []},
]
PATCH = '*** Begin "Patch"\n+é🏯\\'
CUSTOM: Event = {
    "id": "ctc_1",
    "type": "custom_tool_call",
    "status": "completed",
    "call_id": "call_9",
    "name": "patch",
    "input": PATCH,
}
SHELL_ACTION: Event = {"commands": ["ls"], "max_output_length": None, "timeout_ms": None}


def text_of(text: str, at: int = 0, **more: Any) -> Text:
    extra = {"status": "completed", **more.pop("extra", {})}
    return Text(text, item_id=f"msg_{at}", extra=extra, **more)


def counted_on(events: list[Event]) -> list[Event]:
    """Events as vLLM sends them: the place of a text counts on over all items, but not in the items themselves."""
    return [{**one, "content_index": one["output_index"]} if "content_index" in one else one for one in events]


def ordinary() -> list[Stream]:
    done = {"status": "completed"}
    summaries = ["Look it up.", THOUGHT]
    kept = {"type": "summary_text"}
    return [
        make("text", [message(output_text(SPOKEN))], text_of(SPOKEN)),
        make(
            "reasoning, text and calls",
            [
                reasoning(*summaries, encrypted_content="gAAA=="),
                message(output_text(SPOKEN), at=1, phase="commentary"),
                *map(function_call, (SEARCH, WEATHER, NOW)),
            ],
            Thought(summaries[0], encrypted="gAAA==", item_id="rs_0", extra=kept),
            Thought(summaries[1], item_id="rs_0", extra=kept),
            text_of(SPOKEN, 1, extra={"phase": "commentary"}),
            *map(shown, (SEARCH, WEATHER, NOW)),
        ),
        make(
            "open reasoning",
            [
                {**reasoning(), "content": [{"type": "reasoning_text", "text": THOUGHT}], **done},
                {**reasoning(), "id": "rs_2"},
                message(output_text("Hi"), output_text("🏯")),
            ],
            Thought(THOUGHT, item_id="rs_0", extra={"type": "reasoning_text", **done}),
            Thought(item_id="rs_2"),
            *(text_of("Hi"), text_of("🏯")),
        ),
        make(
            "texts that are counted on from the reasoning",
            [
                {**reasoning(), "content": [{"type": "reasoning_text", "text": THOUGHT}], **done},
                message(output_text(SPOKEN), at=1),
            ],
            Thought(THOUGHT, item_id="rs_0", extra={"type": "reasoning_text", **done}),
            text_of(SPOKEN, 1),
            events=counted_on(
                events_of(
                    [
                        {**reasoning(), "content": [{"type": "reasoning_text", "text": THOUGHT}], **done},
                        message(output_text(SPOKEN), at=1),
                    ]
                )
            ),
        ),
        make(
            "custom tool",
            [CUSTOM],
            Call("patch", PATCH, "call_9", item_id="ctc_1", extra={"status": "completed", "type": "custom_tool_call"}),
            tools=[{"type": "custom", "name": "patch"}],
        ),
        make(
            "custom tool of the provider",
            [{**CUSTOM, "name": "x_keyword_search"}],
            ServerTool("x_keyword_search", PATCH, NOTHING, "completed", "custom_tool_call", "call_9", item_id="ctc_1"),
            tools=[{"type": "namespace", "name": "n", "tools": [{"type": "custom", "name": "patch"}]}],
        ),
        make(
            "citations",
            [message(output_text("Open till 18:00.", URL, PATH))],
            text_of(
                "Open till 18:00.",
                citations=(
                    Cited(type="url_citation", raw=URL, url=URL["url"], title="Hours", start=0, end=4),
                    Cited(type="container_file_citation", raw=PATH, title="hours.csv"),
                ),
            ),
        ),
        make(
            "log probabilities",
            [message(output_text("Hi!", logprobs=LOGPROBS))],
            text_of("Hi!"),
            metadata={"service_tier": "default", "logprobs": LOGPROBS},
            goes_back=False,
        ),
        make(
            "refusal",
            [message({"type": "refusal", "refusal": "I’d rather not."})],
            Refusal("I’d rather not.", item_id="msg_0", extra=done),
            outcome="refused",
        ),
        make(
            "content of another type",
            [message(output_text("Hi"), {"type": "output_sketch", "lines": [1, 2]})],
            *(
                text_of("Hi"),
                Other("output_sketch", {"type": "output_sketch", "lines": [1, 2]}, item_id="msg_0", extra=UNSAID),
            ),
        ),
    ]


FILES: list[Event] = [{"file_id": "file_1", "filename": "hours.txt", "score": 0.75, "text": "6:00", "attributes": {}}]
SOURCES: list[Event] = [{"type": "url", "url": "https://kyoto.example"}]
TOOLS: list[Event] = [{"name": "roll", "input_schema": {"type": "object"}, "annotations": None}]
CLICK: Event = {"type": "click", "button": "left", "x": 1, "y": 2}
CONTAINER: Event = {"type": "container_reference", "container_id": "cntr_1"}
PRINTED: list[Event] = [{"type": "logs", "logs": "6"}]


def server(
    name: str, item: Event, value: Any, result: Any = NOTHING, *, waits: bool = False, **extra: Any
) -> ServerTool:
    """What a message has of an item of a tool that is no function."""
    call_id, item_id = item.get("call_id", item["id"]), item["id"]
    return ServerTool(
        name, value, result, item.get("status"), item["type"], call_id, waits, item_id=item_id, extra=extra
    )


def tool(kind: str, **fields: Any) -> Event:
    return {"id": f"{kind}_1", "type": kind, "status": "completed", **fields}


def provided() -> list[Stream]:
    """Tools that the provider runs, or whose use it leaves to the caller."""
    search = tool("web_search_call", action={"type": "search", "query": "hours", "sources": SOURCES})
    asked_as_function = tool("web_search_call", arguments='{"query": "hours 清水寺"}')
    files = tool("file_search_call", queries=["hours", "清水寺"], results=FILES)
    code = tool("code_interpreter_call", code="print(6)\n# 🏯", container_id="cntr_1", outputs=PRINTED)
    listed = {"id": "mcpl_1", "type": "mcp_list_tools", "server_label": "dice", "tools": TOOLS}
    rolled = tool("mcp_call", server_label="dice", name="roll", arguments='{"sides": 6}', output="four", error=None)
    asked = {"id": "mcpr_1", "type": "mcp_approval_request", "server_label": "dice", "name": "roll", "arguments": "{}"}
    shell = tool("shell_call", call_id="call_sh", action=SHELL_ACTION)
    local = tool("local_shell_call", call_id="call_ls", action={"type": "exec", "command": ["ls"], "env": {}})
    patch = tool("apply_patch_call", call_id="call_ap", operation={"type": "delete_file", "path": "a.txt"})
    ran = tool("shell_call", call_id="call_co", action=SHELL_ACTION, environment=CONTAINER)
    shown_output = [{"stdout": "a.txt", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]
    output = {"id": "sho_1", "type": "shell_call_output", "call_id": "call_co", "output": shown_output}
    picture = tool("image_generation_call", result=IMAGE, output_format="png", size="1024x1024")
    found = tool("tool_search_call", call_id="call_ts", execution="client", arguments={"goal": "weather"})
    click = tool(
        "computer_call",
        call_id="call_cc",
        action=CLICK,
        pending_safety_checks=[],
    )
    program = {"id": "prog_1", "type": "program", "call_id": "call_p", "code": "roll()", "fingerprint": "done"}
    programmed = {
        "id": "progo_1",
        "type": "program_output",
        "call_id": "call_p",
        "result": "four",
        "status": "completed",
    }
    caller = {"type": "program", "caller_id": "call_p"}
    return [
        make(
            "searches",
            [search, files, message(output_text("Open."), at=2)],
            server("web_search", search, {"type": "search", "query": "hours"}, SOURCES),
            server("file_search", files, {"queries": ["hours", "清水寺"]}, FILES),
            text_of("Open.", 2),
        ),
        make(
            "a search of xAI",
            [asked_as_function, message(output_text("Open."), at=1)],
            server("web_search", asked_as_function, {"query": "hours 清水寺"}),
            text_of("Open.", 1),
        ),
        make(
            "code and MCP",
            [code, listed, rolled, message(output_text("Four."), at=3)],
            server("code_interpreter", code, "print(6)\n# 🏯", PRINTED, container_id="cntr_1"),
            server("mcp_list_tools", listed, NOTHING, TOOLS, server_label="dice"),
            server("roll", rolled, {"sides": 6}, "four", server_label="dice"),
            text_of("Four.", 3),
        ),
        make("an approval", [asked], server("roll", asked, {}, waits=True, server_label="dice")),
        make(
            "commands and patches",
            [shell, local, patch, found],
            server("shell", shell, SHELL_ACTION, waits=True),
            server("local_shell", local, local["action"], waits=True),
            server("apply_patch", patch, patch["operation"], waits=True),
            server("tool_search", found, {"goal": "weather"}, waits=True, execution="client"),
        ),
        make(
            "a shell in a container",
            [ran, output],
            server("shell", ran, SHELL_ACTION, shown_output, environment=ran["environment"]),
            Other("shell_call_output", output, item_id="sho_1"),
        ),
        make(
            "an image",
            [picture],
            File("image/png", IMAGE, item_id=picture["id"], extra=without(picture, "id", "type", "result")),
        ),
        make("a computer", [click], Other("computer_call", click, needs_action=True, item_id=click["id"])),
        make(
            "a program",
            [program, function_call(SEARCH, caller=caller), programmed],
            server("program", program, "roll()", "four", fingerprint="done"),
            shown(SEARCH, caller=caller),
            Other("program_output", programmed, item_id="progo_1"),
        ),
        make(
            "an unknown item", [tool("dream", of="sheep")], Other("dream", tool("dream", of="sheep"), item_id="dream_1")
        ),
    ]


def without(fields: Event, *names: str) -> Event:
    return {key: value for key, value in fields.items() if key not in names}


def ended() -> list[Stream]:
    """Responses that do not end as they should, and servers that leave things out."""
    cut_off = {**function_call(SEARCH), "status": "incomplete", "arguments": '{"query": "ho'}
    limit: Event = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    filtered: Event = {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}
    error: Event = {"code": "server_error", "message": "The server had an error"}
    failed = {"status": "failed", "error": error}
    broken: Event = {"outcome": "truncated", "goes_back": False}
    early = events_of([message(output_text("Once"))])[:6]
    lean = [event for event in events_of([message(output_text(SPOKEN)), function_call(SEARCH)]) if is_lean(event)]
    return [
        make(
            "at the limit",
            [function_call(WEATHER), cut_off],
            shown(WEATHER),
            Call(
                "search",
                id="call_1",
                text='{"query": "ho',
                status="truncated",
                item_id="fc_call_1",
                extra={"status": "incomplete"},
            ),
            end=limit,
            finish_reason="length",
            raw_finish_reason="max_output_tokens",
            metadata={"service_tier": "default", "incomplete_details": limit["incomplete_details"]},
            **broken,
        ),
        make(
            "filtered",
            [message(output_text("Once"))],
            text_of("Once"),
            end=filtered,
            finish_reason="content_filter",
            raw_finish_reason="content_filter",
            metadata={"service_tier": "default", "incomplete_details": filtered["incomplete_details"]},
            **{**broken, "outcome": "filtered"},
        ),
        make(
            "failed",
            [message(output_text("Once")), function_call(SEARCH)],
            *(text_of("Once"), Call(*call_fields(SEARCH), item_id="fc_call_1", extra={"status": "completed"})),
            end=failed,
            finish_reason=None,
            raw_finish_reason=None,
            metadata={"service_tier": "default", "error": error},
            **{**broken, "errors": (error["message"],)},
        ),
        make(
            "error",
            [],
            Text("Once"[:5], item_id="msg_0", extra={"status": "in_progress"}),
            events=[*early, {"type": "error", "sequence_number": len(early), "param": None, **error}],
            finish_reason=None,
            raw_finish_reason=None,
            usage=None,
            metadata={"service_tier": "auto", "error": error},
            **{**broken, "errors": (error["message"],)},
        ),
        make(
            "without deltas",
            [message(output_text(SPOKEN)), function_call(SEARCH)],
            *(text_of(SPOKEN), shown(SEARCH)),
            events=lean,
        ),
        make(
            "with events of other kinds",
            [message(output_text("Hi"))],
            text_of("Hi"),
            events=with_unknown(events_of([message(output_text("Hi"))])),
            metadata={"service_tier": "default", "events": [NEWS], "mood": "calm"},
        ),
    ]


NEWS: Event = {"type": "response.news", "sequence_number": 99, "headline": "Rain"}


def with_unknown(events: list[Event]) -> list[Event]:
    return [*events[:-1], NEWS, {"type": "response.nothing", "sequence_number": 98}, {**events[-1], "mood": "calm"}]


def is_lean(event: Event) -> bool:
    """Some servers send items only when they are done."""
    return event["type"] in {"response.created", "response.output_item.done", "response.completed"}


def call_fields(call: Call) -> tuple[Any, ...]:
    return call.name, call.value, call.id, json.dumps(call.value, ensure_ascii=False), "truncated"


REASONS = {
    "max_output_tokens": "length",
    "max_messages": "length",
    "steered": "length",
    "content_filter": "content_filter",
    "hm": "hm",
}


def ending(word: str) -> list[Event]:
    return events_of([message(output_text("Hi"))], "incomplete", incomplete_details={"reason": word})


STREAMS = [*ordinary(), *provided(), *ended()]
