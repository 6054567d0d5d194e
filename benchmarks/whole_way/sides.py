"""jsontide, what people write by hand, and what nobody can save.

In: the reads of a response. Out: what a program shows after each event.
Rule: by hand means without any of the checks that jsontide makes, and with the fastest parsers there are.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from operator import attrgetter
from types import ModuleType
from typing import Any

from benchmarks.documents import records_model
from benchmarks.whole_way.clients import OBJECTS
from benchmarks.whole_way.streams import CHAT_ANSWER, FIELDS, GEMINI_PARTIAL, NAME, Format, line
from benchmarks.whole_way.works import (
    ASYNCHRONOUS,
    CUT_READS,
    DICTS,
    IN_A_RUN,
    JSON_SCHEMA,
    PLAIN,
    TOOL_CALL,
    TYPED,
    Opener,
    Openers,
)

BY_HAND = "by hand (orjson, jiter)"
FLOOR = "floor: SSE, json, append"
FLOOR_ORJSON = "floor: SSE, orjson, append"

DONE = b"[DONE]"
Loads = Callable[[bytes], Any]


def framing(form: Format) -> tuple[bytes, bytes]:
    """What stands before the JSON of an event, and what follows it."""
    return (b"", b"\n") if form.encode is line else (b"data: ", b"\n\n")


def by_hand() -> Openers:
    loads: Loads = import_module("orjson").loads
    parse = partial(import_module("jiter").from_json, partial_mode="trailing-strings")
    works = [work for work in (*PLAIN.values(), CUT_READS) if work.form is not GEMINI_PARTIAL]
    openers: dict[str, Opener] = {
        work.name: partial(text_by_hand, work.form, loads)
        if work.form.reads == "text"
        else partial(values_by_hand, work.form, loads, parse)
        for work in works
    }
    return {**openers, ASYNCHRONOUS.name: partial(values_by_hand_async, ASYNCHRONOUS.form, loads, parse)}


def values_by_hand(form: Format, loads: Loads, parse: Loads, source: Iterator[bytes]) -> Iterator[object]:
    """All text so far is parsed again after each event."""
    piece, (mark, end) = form.piece, framing(form)
    rest = text = b""
    for read in source:
        *parts, rest = (rest + read).split(end)
        for part in parts:
            data = part[part.index(mark) + len(mark) :]
            if data != DONE and (new := piece(loads(data))):
                text += new.encode()
                yield parse(text)


async def values_by_hand_async(
    form: Format, loads: Loads, parse: Loads, source: Iterator[bytes], pause: Callable[[], Any] | None = None
) -> AsyncIterator[object]:
    piece, (mark, end) = form.piece, framing(form)
    rest = text = b""
    async for read in asynchronous(source, pause):
        *parts, rest = (rest + read).split(end)
        for part in parts:
            data = part[part.index(mark) + len(mark) :]
            if data != DONE and (new := piece(loads(data))):
                text += new.encode()
                yield parse(text)


def text_by_hand(form: Format, loads: Loads, source: Iterator[bytes]) -> Iterator[object]:
    piece, (mark, end) = form.piece, framing(form)
    rest, text = b"", ""
    for read in source:
        *parts, rest = (rest + read).split(end)
        for part in parts:
            data = part[part.index(mark) + len(mark) :]
            if data != DONE:
                text += piece(loads(data))
                yield text


def floor(loads: Loads) -> Openers:
    return {work.name: partial(append_pieces, work.form, loads) for work in (TOOL_CALL, CUT_READS)}


def append_pieces(form: Format, loads: Loads, source: Iterator[bytes]) -> Iterator[object]:
    """What everybody has to do: find the event, parse its JSON, keep the new piece. Nothing is made of the pieces."""
    piece, (mark, end) = form.piece, framing(form)
    rest, pieces = b"", list[str]()
    for read in source:
        *parts, rest = (rest + read).split(end)
        for part in parts:
            data = part[part.index(mark) + len(mark) :]
            if data != DONE:
                pieces.append(piece(loads(data)))
                yield pieces[-1]


async def asynchronous(source: Iterator[Any], pause: Callable[[], Any] | None = None) -> AsyncIterator[Any]:
    """A source as asynchronous clients have it; `pause` lets others go on before each read."""
    for read in source:
        if pause is not None:
            await pause()
        yield read


def read_call(message: Any) -> object:  # noqa: ANN401 - of any build
    calls = message.tool_calls
    return calls[0].partial if calls else None


READERS: Mapping[str, Callable[[Any], object]] = {
    "call": read_call,
    "answer": attrgetter("answer"),
    "text": attrgetter("content"),
}


def jsontide_openers(module: ModuleType) -> Openers:
    plain: dict[str, dict[str, object]] = {name: {} for name in (*PLAIN, CUT_READS.name, DICTS.name, *OBJECTS)}
    if model := ten_fields():
        tool = partial(module.messages.Tool, NAME)
        plain[JSON_SCHEMA.name] = {"tools": [tool(model.model_json_schema(), stream_arguments=True)]}
        plain[TYPED.name] = {"tools": [tool(model)]}
        plain[CHAT_ANSWER.name] = {"response_schema": records_model(optional=False)}
    else:
        del plain[CHAT_ANSWER.name]
    forms = {work.name: work.form for work in (*PLAIN.values(), *OBJECTS.values())}
    openers: dict[str, Opener] = {
        name: partial(open_message, module, forms.get(name, TOOL_CALL.form), options) for name, options in plain.items()
    }
    others: dict[str, Opener] = {
        ASYNCHRONOUS.name: partial(open_message_async, module),
        IN_A_RUN.name: partial(open_run, module),
    }
    return {**openers, **others}


def open_message(
    module: ModuleType, form: Format, options: Mapping[str, object], source: Iterator[Any]
) -> Iterator[object]:
    return map(READERS[form.reads], module.streams.stream_message(source, **options))


def open_run(module: ModuleType, source: Iterator[Any]) -> Iterator[object]:
    return map(READERS["text"], module.runs.run_agent(lambda _: source, "?"))


async def open_message_async(
    module: ModuleType, source: Iterator[Any], pause: Callable[[], Any] | None = None
) -> AsyncIterator[object]:
    async for message in module.streams.astream_message(asynchronous(source, pause)):
        yield read_call(message)


def ten_fields() -> Any:  # noqa: ANN401 - pydantic may be missing
    try:
        create_model = import_module("pydantic").create_model
    except ImportError:
        return None
    return create_model("Trip", **{name: (kind, ...) for name, kind in FIELDS.items()})
