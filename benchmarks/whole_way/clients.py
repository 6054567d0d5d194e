"""The providers' own clients, and libraries on top of them, fed with the same bytes.

In: the reads of a response. Out: what each library shows after each event.
Rule: each is used as its documentation says, over a transport in this process; no connection is opened.
A library that returns the arguments only as text is followed by jiter, which parses all of it again.
"""

import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from operator import attrgetter
from typing import Any

from benchmarks.documents import records_model
from benchmarks.whole_way.streams import (
    ANTHROPIC_TEXT,
    ANTHROPIC_TOOL,
    CHAT_TEXT,
    CHAT_TOOL,
    GEMINI_PARTIAL,
    GEMINI_TEXT,
    MODEL,
    NAME,
    RESPONSES_TOOL,
    Format,
    Response,
)
from benchmarks.whole_way.works import LOOP, PLAIN, Openers, Work

CREATE = "openai create, objects only"
CREATE_JITER = "openai create, jiter"
STREAM = "openai stream()"
ANTHROPIC = "anthropic messages.stream"
GENAI = "google-genai, objects only"
INSTRUCTOR = "instructor Partial"
LANGCHAIN = "langchain-core parser (orjson)"
PYDANTIC_AI = "pydantic-ai"
LITELLM = "litellm, jiter"

SSE = {"content-type": "text/event-stream"}
ASK: dict[str, Any] = {"model": MODEL, "messages": [{"role": "user", "content": "Plan a trip."}]}
OPTIONS: dict[str, Any] = {"api_key": "none", "max_retries": 0}
SCHEMA = {"type": "object", "properties": {}, "additionalProperties": False}
TOOL = {"type": "function", "function": {"name": NAME, "strict": True, "parameters": SCHEMA}}
DELTA = "response.function_call_arguments.delta"


def http_of(client: Any) -> Any:  # noqa: ANN401
    """The library for HTTP that a client uses: there is more than one of the same interface."""
    bases = [base for base in type(client).__mro__ if base.__name__ in {"Client", "AsyncClient"}]
    return import_module(bases[-1].__module__.partition(".")[0])


def transport(http: Any, source: Iterator[bytes]) -> Any:  # noqa: ANN401
    class Body(http.SyncByteStream):  # type: ignore[misc]
        def __iter__(self) -> Iterator[bytes]:
            return source

    return http.MockTransport(lambda _: http.Response(200, headers=SSE, stream=Body()))


def async_transport(http: Any, source: Iterator[bytes]) -> Any:  # noqa: ANN401
    class Body(http.AsyncByteStream):  # type: ignore[misc]
        async def __aiter__(self) -> AsyncIterator[bytes]:
            for read in source:
                yield read

    return http.MockTransport(lambda _: http.Response(200, headers=SSE, stream=Body()))


def sdk_client(package: str, kind: str, source: Iterator[bytes]) -> Any:  # noqa: ANN401
    make = getattr(import_module(package), kind)
    http = http_of(make(**OPTIONS)._client)  # noqa: SLF001 - there is no other way to ask which one it needs
    return make(**OPTIONS, http_client=http.Client(transport=transport(http, source)))


openai_client = partial(sdk_client, "openai", "OpenAI")
anthropic_client = partial(sdk_client, "anthropic", "Anthropic")


def chat_objects(source: Iterator[bytes]) -> Iterator[Any]:
    return iter(openai_client(source).chat.completions.create(**ASK, stream=True))


def responses_objects(source: Iterator[bytes]) -> Iterator[Any]:
    return iter(openai_client(source).responses.create(model=MODEL, input="Plan a trip.", stream=True))


def anthropic_objects(source: Iterator[bytes]) -> Iterator[Any]:
    return iter(anthropic_client(source).messages.create(**ASK, max_tokens=1, stream=True))


def gemini_objects(source: Iterator[bytes]) -> Iterator[Any]:
    genai, http = import_module("google.genai"), import_module("httpx")
    options = genai.types.HttpOptions(httpx_client=http.Client(transport=transport(http, source)))
    client = genai.Client(api_key="none", http_options=options)
    return iter(client.models.generate_content_stream(model=MODEL, contents="Plan a trip."))


def objects_of(make: Callable[[Iterator[bytes]], Iterator[Any]]) -> Callable[[Response], Sequence[Any]]:
    return lambda response: list(make(iter(response.reads)))


def from_objects(form: Format, make: Callable[[Iterator[bytes]], Iterator[Any]]) -> Work:
    work = PLAIN[form.name]
    return replace(work, name=f"{form.name}, from SDK objects", delivered=objects_of(make))


OBJECTS = {
    work.name: work
    for work in (
        from_objects(CHAT_TOOL, chat_objects),
        from_objects(ANTHROPIC_TOOL, anthropic_objects),
        from_objects(RESPONSES_TOOL, responses_objects),
        from_objects(GEMINI_TEXT, gemini_objects),
        from_objects(GEMINI_PARTIAL, gemini_objects),
    )
}
"""By name: what a client makes of a response before the clock starts is what jsontide is given."""


def chat_text(chunk: Any) -> str:  # noqa: ANN401
    return chunk.choices[0].delta.content or ""


def chat_arguments(chunk: Any) -> str:  # noqa: ANN401
    calls = chunk.choices[0].delta.tool_calls
    return calls[0].function.arguments or "" if calls else ""


def responses_arguments(event: Any) -> str:  # noqa: ANN401
    return event.delta if event.type == DELTA else ""


def openai_create() -> Openers:
    import_module("openai")
    return {
        CHAT_TOOL.name: lambda source: map(chat_arguments, chat_objects(source)),
        CHAT_TEXT.name: lambda source: map(chat_text, chat_objects(source)),
        RESPONSES_TOOL.name: lambda source: map(responses_arguments, responses_objects(source)),
    }


def parse_pieces(pieces: Iterator[str]) -> Iterator[object]:
    """The pieces of a text that arrive as text; all so far is parsed after each."""
    parse = partial(import_module("jiter").from_json, partial_mode="trailing-strings")
    text = b""
    for piece in pieces:
        text += piece.encode()
        yield parse(text) if text else None


def openai_create_jiter() -> Openers:
    return {
        CHAT_TOOL.name: lambda source: parse_pieces(map(chat_arguments, chat_objects(source))),
        RESPONSES_TOOL.name: lambda source: parse_pieces(map(responses_arguments, responses_objects(source))),
    }


def openai_stream() -> Openers:
    import_module("openai")

    def arguments(source: Iterator[bytes]) -> Iterator[object]:
        stream = openai_client(source).chat.completions.stream(**ASK, tools=[TOOL]).__enter__()
        return read_snapshots(stream)

    return {CHAT_TOOL.name: arguments}


def read_snapshots(stream: Iterator[Any]) -> Iterator[object]:
    for event in stream:
        if event.type == "chunk":
            calls = event.snapshot.choices[0].message.tool_calls
            yield calls[0].function.parsed_arguments if calls else None


def anthropic_stream() -> Openers:
    import_module("anthropic")

    def open_stream(kind: str, source: Iterator[bytes]) -> Iterator[object]:
        stream = anthropic_client(source).messages.stream(**ASK, max_tokens=1).__enter__()
        return (event.snapshot for event in stream if event.type == kind)

    return {
        ANTHROPIC_TOOL.name: partial(open_stream, "input_json"),
        ANTHROPIC_TEXT.name: partial(open_stream, "text"),
    }


def google_genai() -> Openers:
    import_module("google.genai")
    return {GEMINI_TEXT.name: lambda source: map(attrgetter("text"), gemini_objects(source))}


def instructor() -> Openers:
    """Its loop over the pieces of the openai client; `create_partial` returns only after the whole stream was read."""
    import_module("openai")
    import_module("instructor")
    model = import_module("instructor.dsl.partial").Partial[records_model(optional=False)]

    def partials(source: Iterator[bytes]) -> Iterator[object]:
        found: Iterator[object] = model.model_from_chunks(map(chat_arguments, chat_objects(source)))
        return found

    return {CHAT_TOOL.name: partials}


def langchain() -> Openers:
    """Its client is another package; what that does with the JSON of a chunk is written out here."""
    messages = import_module("langchain_core.messages")
    make_call = import_module("langchain_core.messages.tool").tool_call_chunk
    parser = import_module("langchain_core.output_parsers.openai_tools").JsonOutputToolsParser
    loads = import_module("orjson").loads

    def chunks(source: Iterator[bytes]) -> Iterator[Any]:
        rest = b""
        for read in source:
            *parts, rest = (rest + read).split(b"\n\n")
            for data in (part.removeprefix(b"data: ") for part in parts):
                if data != b"[DONE]":
                    yield chunk(loads(data)["choices"][0]["delta"])

    def chunk(delta: dict[str, Any]) -> Any:  # noqa: ANN401
        calls = [
            make_call(
                name=call["function"].get("name"),
                args=call["function"]["arguments"],
                id=call.get("id"),
                index=call["index"],
            )
            for call in delta.get("tool_calls", ())
        ]
        return messages.AIMessageChunk(content=delta.get("content") or "", tool_call_chunks=calls)

    def arguments(source: Iterator[bytes]) -> Iterator[object]:
        return (found["args"] for found in parser(first_tool_only=True).transform(chunks(source)))

    return {CHAT_TOOL.name: arguments}


def pydantic_ai() -> Openers:
    models, tools = import_module("pydantic_ai.models"), import_module("pydantic_ai.tools")
    provider = import_module("pydantic_ai.providers.openai").OpenAIProvider
    chat_model = import_module("pydantic_ai.models.openai").OpenAIChatModel
    messages = import_module("pydantic_ai.messages")
    client = import_module("openai").AsyncOpenAI
    parse = partial(import_module("pydantic_core").from_json, allow_partial="trailing-strings")
    definition = tools.ToolDefinition(name=NAME, parameters_json_schema=SCHEMA)
    parameters = models.ModelRequestParameters(function_tools=[definition])
    request = [messages.ModelRequest(parts=[messages.UserPromptPart("Plan a trip.")])]

    def arguments(source: Iterator[bytes]) -> AsyncIterator[object]:
        http = http_of(client(**OPTIONS)._client)  # noqa: SLF001
        http_client = http.AsyncClient(transport=async_transport(http, source))
        model = chat_model(MODEL, provider=provider(openai_client=client(**OPTIONS, http_client=http_client)))
        opened = model.request_stream(request, None, parameters)
        return read(opened, LOOP.run_until_complete(opened.__aenter__()))

    async def read(opened: object, response: Any) -> AsyncIterator[object]:  # noqa: ANN401
        async for _ in response:
            parts = response.get().parts
            text = parts[0].args if parts else None
            yield parse(text) if text else None
        del opened  # it would close the response if it were not held

    return {CHAT_TOOL.name: arguments}


def litellm() -> Openers:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # otherwise the import fetches a file
    module: Any = import_module("litellm")
    module.disable_streaming_logging = True  # it runs in other threads, while others are timed

    def arguments(source: Iterator[bytes]) -> Iterator[object]:
        chunks = module.completion(
            **{**ASK, "model": f"openai/{MODEL}"}, stream=True, client=openai_client(source), api_key="none"
        )
        return parse_pieces(map(chat_arguments, chunks))

    return {CHAT_TOOL.name: arguments}
