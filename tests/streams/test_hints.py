"""What is refused says what to do: with responses and streams of clients, with options of other names, with fences."""

import asyncio
import pickle
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from jsontide import (
    JsonStreamError,
    MessageError,
    Partial,
    Tool,
    astream_message,
    loads,
    run_tools,
    stream_message,
    stream_model,
    tool_definitions,
)
from jsontide.mend import MODELS
from jsontide.messages import Message, MessageConfig
from tests.streams.loops import ASYNC, OF_TEXT, PLAIN


class Stay(BaseModel):
    city: str
    place: dict[str, str] = {}


plain = pytest.mark.parametrize("loop", PLAIN)
asynchronous = pytest.mark.parametrize("loop", ASYNC)

EVENT = {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]}


@contextmanager
def manager() -> Iterator[Iterator[bytes]]:
    yield iter([b"[]"])


@asynccontextmanager
async def async_manager() -> AsyncIterator[None]:
    yield


def response() -> Any:
    httpx = pytest.importorskip("httpx", reason="httpx is not installed")
    return httpx.Response(200, content=b"[]")


class TestSources:
    @plain
    def test_of_clients_that_are_not_open_yet(self, loop: str) -> None:
        with pytest.raises(TypeError, match=r"not _GeneratorContextManager; enter it first: with \.\.\. as"):
            PLAIN[loop](manager())
        with pytest.raises(TypeError, match=r"; enter it first: async with \.\.\. as"):
            PLAIN[loop](async_manager())

    @asynchronous
    def test_of_clients_that_are_not_open_yet_and_asynchronous(self, loop: str) -> None:
        with pytest.raises(TypeError, match=r"; enter it first: async with \.\.\. as"):
            ASYNC[loop](async_manager())

    @plain
    def test_that_are_responses(self, loop: str) -> None:
        with pytest.raises(TypeError, match=r"not Response; pass its iter_bytes\(\)"):
            PLAIN[loop](response())

    @asynchronous
    def test_that_are_asynchronous_responses(self, loop: str) -> None:
        with pytest.raises(TypeError, match=r"not Response; pass its aiter_bytes\(\)"):
            ASYNC[loop](response())

    @pytest.mark.parametrize("loop", [*PLAIN, *ASYNC])
    def test_that_were_not_awaited(self, loop: str) -> None:
        async def create() -> list[object]:
            return []

        coroutine = create()
        with pytest.raises(TypeError, match="not coroutine; await it first"):
            (PLAIN | ASYNC)[loop](coroutine)
        coroutine.close()

    @plain
    def test_for_the_twin(self, loop: str) -> None:
        async def arriving() -> AsyncIterator[str]:
            yield "[]"

        with pytest.raises(TypeError, match=f"; a{loop} takes asynchronous ones"):
            PLAIN[loop](arriving())

    @pytest.mark.parametrize("loop", OF_TEXT)
    @pytest.mark.parametrize("event", [EVENT, SimpleNamespace(type="ping"), 5, None])
    @pytest.mark.parametrize("mend", [None, MODELS])
    def test_of_events_where_text_is_read(self, loop: str, event: object, mend: Any) -> None:
        words = f"not {type(event).__name__}; stream_message and stream_model read the events of a provider"
        with pytest.raises(TypeError, match=words):
            list(PLAIN[loop]([event], mend=mend))

    @pytest.mark.parametrize("event", [EVENT, Stay(city="Rome")], ids=["dict", "model"])
    def test_of_a_single_event(self, event: Any) -> None:
        with pytest.raises(TypeError, match="this is a single one"):
            stream_message(event)

    @pytest.mark.parametrize("loop", OF_TEXT)
    @pytest.mark.parametrize("begun", ["data: {", b"event: ping\ndata: {", ": waiting\n"])
    def test_of_server_sent_events_where_text_is_read(self, loop: str, begun: Any) -> None:
        with pytest.raises(JsonStreamError, match="; stream_message and stream_model read the events of a provider"):
            list(PLAIN[loop]([begun]))
        with pytest.raises(JsonStreamError) as raised:
            list(PLAIN[loop](["[" if isinstance(begun, str) else b"[", begun]))
        assert not raised.value.hint

    @pytest.mark.parametrize("loop", [f"a{each}" for each in OF_TEXT])
    def test_of_asynchronous_events_where_text_is_read(self, loop: str) -> None:
        async def arriving() -> AsyncIterator[object]:
            yield EVENT

        async def read() -> None:
            found = ASYNC[loop](arriving())
            if hasattr(found, "__aiter__"):
                async for _ in found:
                    pass
            else:
                await found

        with pytest.raises(TypeError, match="stream_message and stream_model read the events of a provider"):
            asyncio.run(read())


class TestOptions:
    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("response_format", "response_schema, which takes the type or the JSON Schema of the answer, is meant"),
            ("response_model", "response_schema"),
            ("output_format", "response_schema"),
            ("functions", "tools is meant"),
            ("colour", "there are choice, cumulative_arguments, done_is_end, emulate_structured_output,"),
        ],
    )
    def test_of_other_names(self, name: str, words: str) -> None:
        async def arriving() -> AsyncIterator[object]:
            yield EVENT

        for begin in (lambda **options: stream_message([], **options),
                      lambda **options: astream_message(arriving(), **options)):  # fmt: skip
            with pytest.raises(TypeError, match=f"there is no option '{name}'; .*{words}"):
                begin(**{name: Stay})

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            (loads, r"not function: pass Tool\.from_function\(loads\)"),
            (Stay, r"pass Tool\('name', Stay\)"),
            ({"name": "x"}, r"not dict: pass Tool\(name, schema"),
            ("weather", "not str$"),
        ],
    )
    def test_tools_that_are_none(self, given: Any, words: str) -> None:
        for call in (
            lambda: stream_message([], tools=[given]),
            lambda: MessageConfig(tools=[given]),
            lambda: tool_definitions([given], "openai_chat"),
            lambda: run_tools(Message(), [given]),
        ):
            with pytest.raises(TypeError, match=f"every tool must be a Tool, .*{words}"):
                call()

    def test_a_single_tool(self) -> None:
        with pytest.raises(TypeError, match=r"not a single one: pass \[tool\]"):
            stream_message([], tools=Tool("a"))  # type: ignore[call-overload]


class TestPartials:
    @pytest.mark.parametrize("name", ["model_dump", "model_dump_json", "dict", "json", "_asdict"])
    def test_that_are_taken_for_models(self, name: str) -> None:
        shown = list(stream_model(['{"city": "Na', '", "place": {"a": "', 'b"}}'], Stay))
        partial: Any = shown[-2]
        assert isinstance(partial, Partial)
        for one in (partial, partial.place):
            with pytest.raises(AttributeError, match=rf"no '{name}'; to_dict\(\) of the Partial"):
                getattr(one, name)
        items_of = next(stream_model(["[1,"], list[int]))
        with pytest.raises(AttributeError, match=r"to_dict\(\) of the Partial"):
            getattr(items_of, name)

    def test_with_a_field_of_that_name_have_it(self) -> None:
        schema = {"type": "object", "properties": {"json": {"type": "string"}}}
        partial: Any = next(stream_model(['{"json": "a'], schema))
        assert partial.json == "a"


FENCED = '```json\n{"city": "Nara"}\n```'


class TestFences:
    @pytest.mark.parametrize("text", [FENCED, FENCED.replace("`", "~"), '{"city": "Nara"}\n```'])
    @pytest.mark.parametrize("loop", ["values", "loads", "states", "items", "stream_model"])
    def test_in_loops(self, text: str, loop: str) -> None:
        with pytest.raises(JsonStreamError, match=r"found '[`~]'.*; a fence .* mend=jsontide\.mend\.MODELS") as caught:
            list(PLAIN[loop](text))
        assert "mend" not in caught.value.error.message
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # noqa: S301 - ours
        assert loads(text, mend=MODELS) == {"city": "Nara"}

    def test_in_answers(self) -> None:
        said = [{"choices": [{"index": 0, "delta": {"content": FENCED}, "finish_reason": "stop"}]}]
        message = stream_message(said, response_schema=Stay).final()
        with pytest.raises(MessageError, match=r"; a fence .* mend=jsontide\.mend\.MODELS"):
            message.result()
        assert "mend" not in message.feedback()
        assert stream_message(said, response_schema=Stay, mend=MODELS).final().result() == Stay(city="Nara")

    def test_in_the_arguments_of_calls(self) -> None:
        calls = [{"index": 0, "id": "c", "function": {"name": "stay", "arguments": FENCED}}]
        said = [{"choices": [{"index": 0, "delta": {"tool_calls": calls}, "finish_reason": "tool_calls"}]}]
        with pytest.raises(MessageError, match=r"; a fence .* mend=jsontide\.mend\.MODELS"):
            stream_message(said).final().raise_for_outcome()

    def test_that_mending_does_not_help_with(self) -> None:
        content = '```json\n{"city": `Nara`, `}\n```'
        said = [{"choices": [{"index": 0, "delta": {"content": content}, "finish_reason": "stop"}]}]
        message = stream_message(said, response_schema=Stay, mend=MODELS).final()
        with pytest.raises(MessageError) as caught:
            message.result()
        assert "mend=" not in str(caught.value)

    @pytest.mark.parametrize("text", ["{]", "", '{"a": x}'])
    def test_and_nothing_else(self, text: str) -> None:
        with pytest.raises(JsonStreamError) as caught:
            loads(text)
        assert str(caught.value) == caught.value.error.message
