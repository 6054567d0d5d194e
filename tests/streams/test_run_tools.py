"""Tools that are functions: what is made of their signatures, what runs them, and what never does."""

import asyncio
import functools
import json
import pickle
import re
import threading
import time
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from datetime import time as clock
from decimal import Decimal
from enum import Enum
from pathlib import PurePosixPath
from random import Random
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import given
from pydantic import BaseModel, Field

from jsontide.messages import (
    CompleteCall,
    ErrorDetail,
    ErrorKind,
    Message,
    MessageConfig,
    Other,
    Outcome,
    PartialCall,
    ServerCall,
    TextPart,
    Tool,
    ToolResult,
)
from jsontide.providers import PROVIDERS, feed_stream, finish_stream, start_stream, to_request, tool_definitions
from jsontide.schema import UnsupportedSchemaError, to_json_schema
from jsontide.streams import arun_tools, run_tools, stream_message
from tests.provider_streams import NAMES, Event, end_of, events, every_complete_stream, reading
from tests.providers.dialects import DIALECTS
from tests.relations import same
from tests.strategies import randoms


class Told:
    """Remembers every call."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def tool(self, name: str, output: object = "done") -> Tool[Any]:
        def call(arguments: Any) -> object:
            self.calls.append((name, arguments))
            return output

        return Tool(name, function=call)


def said(*parts: Any, outcome: Outcome = Outcome.COMPLETE) -> Message[Any]:
    return Message(parts, outcome)


def run_later(message: Message[Any], tools: Iterable[Tool[Any]], **options: Any) -> list[ToolResult]:
    return asyncio.run(arun_tools(message, tools, **options))


both = pytest.mark.parametrize("run", [run_tools, run_later])
Run = Callable[..., list[ToolResult]]


def add(a: int, b: int = 2) -> int:
    """Add two numbers."""
    return a + b


class NotANumber(BaseModel):
    value: float


class Color(Enum):
    RED = "red"


class TestRunning:
    @both
    def test_gives_one_result_for_each_call_in_their_order(self, run: Run) -> None:
        def wait(seconds: float) -> float:
            time.sleep(seconds)
            return seconds

        told = said(
            CompleteCall("wait", {"seconds": 0.05}, id="a"),
            TextPart("between"),
            PartialCall("wait", '{"sec', status=Outcome.TRUNCATED, id="b"),
            CompleteCall("wait", {"seconds": 0.0}, id="c"),
            ServerCall("wait", '{"seconds": 9}', id="d"),
            CompleteCall("nothing", {}, id="e"),
        )
        results = run(told, [Tool.from_function(wait)])
        assert [result.call.id for result in results] == ["a", "b", "c", "e"]
        assert [result.call for result in results] == list(told.tool_calls)
        assert all(result.call is call for result, call in zip(results, told.tool_calls, strict=True))
        assert [result.output for result in results] == [0.05, None, 0.0, None]
        assert [result.error is None for result in results] == [True, False, True, False]

    @both
    def test_of_a_message_without_calls_gives_nothing(self, run: Run) -> None:
        assert run(said(TextPart("Hi")), [Tool.from_function(add)]) == []
        assert run(said(), []) == []

    @both
    def test_passes_arguments_by_name_and_leaves_out_defaults(self, run: Run) -> None:
        told = said(CompleteCall("add", {"a": 1}), CompleteCall("add", {"b": 5, "a": 1}))
        assert [result.output for result in run(told, [Tool.from_function(add)])] == [3, 6]

    @both
    def test_passes_all_arguments_as_one_to_a_tool_with_a_schema(self, run: Run) -> None:
        class Pay(BaseModel):
            amount: int

        seen: list[Any] = []
        tools = [Tool("pay", Pay, function=seen.append), Tool("any", function=seen.append)]
        run(said(CompleteCall("pay", {"amount": 7}), CompleteCall("any", [1])), tools)
        assert sorted(map(repr, seen)) == sorted([repr(Pay(amount=7)), "[1]"])

    @both
    def test_makes_an_exception_an_error_that_the_model_is_told(self, run: Run) -> None:
        def fail(_: object) -> object:
            raise ValueError("no such city")

        told = said(CompleteCall("fail", {}, id="a"), CompleteCall("add", {"a": 1}, id="b"))
        first, second = run(told, [Tool("fail", function=fail), Tool.from_function(add)])
        assert (first.error, first.text) == ("ValueError: no such city",) * 2
        assert (second.output, second.error) == (3, None)

    @both
    def test_keeps_and_logs_the_exception(self, run: Run, caplog: pytest.LogCaptureFixture) -> None:
        raised = ValueError("no such city")

        def fail(_: object) -> object:
            raise raised

        (result,) = run(said(CompleteCall("fail", {})), [Tool("fail", function=fail)])
        assert result.exception is raised
        ((name, level, text),) = [(one.name, one.levelname, one.getMessage()) for one in caplog.records]
        assert (name, level, text) == ("jsontide.tools", "ERROR", "the tool 'fail' failed")
        assert caplog.records[0].exc_info is not None
        assert caplog.records[0].exc_info[1] is raised
        restored = pickle.loads(pickle.dumps(result))  # noqa: S301 - ours
        assert (restored, restored.exception) == (result, None)

    @both
    def test_tells_the_model_what_the_program_says_of_an_exception(self, run: Run) -> None:
        def fail(_: object) -> object:
            raise ValueError("postgres://user:password@host")

        tools = [Tool("fail", function=fail), Tool.from_function(add)]
        calls = said(CompleteCall("fail", {}), CompleteCall("add", {"a": 1}), CompleteCall("none", {}))
        first, second, third = run(calls, tools, describe_error=lambda error: f"sorry, a {type(error).__name__}")
        assert (first.error, second.output) == ("sorry, a ValueError", 3)
        assert "there is no tool called 'none'" in str(third.error)

    @both
    @pytest.mark.parametrize("describe", ["sorry", None, 5])
    def test_refuses_a_description_of_errors_that_cannot_be_called(self, run: Run, describe: Any) -> None:
        with pytest.raises(TypeError, match="describe_error must be callable, not"):
            run(said(), [], describe_error=describe)

    @both
    def test_tells_of_a_tool_that_raises_the_end_of_an_iterator(self, run: Run) -> None:
        def fail(_: object) -> object:
            raise StopIteration

        (result,) = run(said(CompleteCall("fail", {})), [Tool("fail", function=fail)])
        assert "StopIteration" in result.text

    @both
    @pytest.mark.parametrize(
        ("output", "words"),
        [
            (object(), "object has no form in JSON"),
            ([{"a": {1, object()}}], "object has no form in JSON"),
            (float("nan"), "nan is not a number in JSON"),
            ({"a": [float("inf")]}, "inf is not a number in JSON"),
            (b"bytes", "bytes has no form in JSON"),
            ({(1, 2): 3}, "a key must be text, not tuple"),
            (NotANumber(value=float("nan")), "nan is not a number"),
        ],
    )
    def test_makes_an_output_that_is_no_json_an_error(
        self, run: Run, output: object, words: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        (result,) = run(said(CompleteCall("get", {})), [Tool("get", function=lambda _: output)])
        assert result.error == result.text
        assert words in result.text
        assert f"the tool returned {type(output).__name__}, which cannot be written as JSON" in result.text
        assert isinstance(result.exception, TypeError | ValueError)
        assert [one.name for one in caplog.records] == ["jsontide.tools"]
        assert ToolResult(result.call, output).error == result.error
        for provider in PROVIDERS:
            assert words in json.dumps(to_request([result], provider))

    @pytest.mark.parametrize(
        ("output", "text"),
        [
            (datetime(2026, 11, 17, 9, 30, tzinfo=UTC), '"2026-11-17T09:30:00+00:00"'),
            ({"on": date(2026, 11, 17), "at": clock(9, 30)}, '{"on":"2026-11-17","at":"09:30:00"}'),
            ([Decimal("1.50"), UUID(int=1)], '["1.50","00000000-0000-0000-0000-000000000001"]'),
            ({Color.RED: Color.RED, 1: PurePosixPath("/a"), None: True}, '{"red":"red","1":"/a","null":true}'),
            (NotANumber(value=1.5), '{"value":1.5}'),
            ((1, None, "é"), '[1,null,"é"]'),
            ("plain", "plain"),
            (None, "null"),
        ],
    )
    def test_writes_what_has_a_form_in_json(self, output: object, text: str) -> None:
        result = ToolResult(CompleteCall("get", {}), output)
        assert (result.text, result.error) == (text, None)

    def test_an_output_that_changed_meanwhile_is_told_as_an_error(self) -> None:
        output: list[object] = []
        result = ToolResult(CompleteCall("get", {}), output)
        output.append(output)
        assert "cannot be written as JSON: it contains itself" in result.text

    def test_refuses_what_is_no_exception(self) -> None:
        with pytest.raises(TypeError, match="exception must be an Exception or None, not str"):
            ToolResult(CompleteCall("get", {}), exception="no")  # type: ignore[arg-type]

    @both
    def test_lets_an_interrupt_through(self, run: Run) -> None:
        def interrupt(_: object) -> object:
            raise KeyboardInterrupt

        with pytest.raises(BaseException) as caught:  # noqa: PT011 - a task group wraps it
            run(said(CompleteCall("stop", {})), [Tool("stop", function=interrupt)])
        assert (
            caught.group_contains(KeyboardInterrupt)
            if isinstance(caught.value, BaseExceptionGroup)
            else isinstance(caught.value, KeyboardInterrupt)
        )

    @both
    @pytest.mark.parametrize(
        ("call", "words"),
        [
            (PartialCall("add", '{"a": 1', status=Outcome.TRUNCATED), ["truncated"]),
            (PartialCall("add", '{"a": 1}', {"a": 1}, Outcome.STREAMING), ["streaming"]),
            (PartialCall("add", '{"a": 1}', {"a": 1}, Outcome.FILTERED), ["filtered"]),
            (PartialCall("add", '{"a": 1}', {"a": 1}, Outcome.REFUSED), ["refused"]),
            (PartialCall("add", '{"a": 1}', {"a": 1}, Outcome.CANCELLED), ["cancelled"]),
            (
                PartialCall("add", "{]", status=Outcome.INVALID, error=ErrorDetail(ErrorKind.JSON, 0, "a bracket")),
                ["invalid", "a bracket"],
            ),
            (CompleteCall("subtract", {"a": 1}), ["no tool", "subtract"]),
            (CompleteCall("add", {"a": "one"}), ["not valid", "int"]),
            (CompleteCall("add", {"b": 1}), ["not valid", "a"]),
            (CompleteCall("add", {"a": 1, "c": 3}), ["not valid", "c"]),
            (CompleteCall("add", [1, 2]), ["not valid"]),
            (PartialCall(), ["streaming"]),
        ],
    )
    def test_tells_why_a_call_was_not_run(self, run: Run, call: Any, words: list[str]) -> None:
        (result,) = run(said(call), [Tool.from_function(add)])
        assert result.output is None
        assert result.error is not None
        assert "was not run" in result.error
        assert all(word in result.error for word in words), result.error

    @both
    def test_runs_a_message_that_was_loaded_as_it_runs_the_one_that_was_read(self, run: Run) -> None:
        class Pay(BaseModel):
            amount: int

        def written(name: str, arguments: str) -> Event:
            call = {"index": 0, "id": "c", "function": {"name": name, "arguments": arguments}}
            return {"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}

        seen: list[Any] = []
        tools: list[Tool[Any]] = [Tool("pay", Pay, function=seen.append), Tool.from_function(add)]
        for event in (written("pay", '{"amount": 7}'), written("add", '{"a": 3}')):
            message = stream_message([event], tools=tools).final()
            loaded = Message.from_json(message.to_json())
            assert run(loaded, tools) == run(message, tools)
        assert seen == [Pay(amount=7)] * 2

    @both
    def test_of_a_loaded_message_validates_the_arguments_again(self, run: Run) -> None:
        told = Told()
        schema = {"type": "object", "properties": {"amount": {"type": "integer"}}, "required": ["amount"]}
        tool = Tool("pay", schema, function=told.tool("pay").function)
        good, bad = ({"kind": "call", "name": "pay", "arguments_value": {"amount": amount}} for amount in (7, "7"))
        loaded = Message.from_json({"jsontide": 1, "outcome": "complete", "parts": [good, bad]})
        results = run(loaded, [tool])
        assert told.calls == [("pay", {"amount": 7})]
        assert results[0].error is None
        assert "not valid" in str(results[1].error)

    @both
    @pytest.mark.parametrize(
        ("message", "tools", "error", "words"),
        [
            ("Hi", [], TypeError, "must be a Message, not str"),
            (said(), [add], TypeError, "must be a Tool, not function"),
            (said(), [Tool("add", dict[str, int])], ValueError, "'add' has no function"),
        ],
    )
    def test_refuses_what_cannot_be_run_at_all(
        self, run: Run, message: Any, tools: Any, error: type[Exception], words: str
    ) -> None:
        with pytest.raises(error, match=words):
            run(message, tools)

    def test_refuses_asynchronous_tools_before_anything_runs(self) -> None:
        async def later(_: object) -> None: ...

        class Later:
            async def __call__(self, _: object) -> None: ...

        told = Told()
        message = said(CompleteCall("now", {}), CompleteCall("later", {}))
        for function in (later, Later(), functools.partial(later)):
            with pytest.raises(TypeError, match="'later' is asynchronous; arun_tools"):
                run_tools(message, [told.tool("now"), Tool("later", function=function)])
        assert told.calls == []


class TestRunningTogether:
    def test_runs_asynchronous_functions_and_whatever_can_be_awaited(self) -> None:
        async def double(n: int) -> int:
            await asyncio.sleep(0)
            return 2 * n

        class Doubles:
            __name__ = "doubles"

            async def __call__(self, n: int) -> int:
                return 2 * n

        def returns(n: int) -> object:
            return double(n)

        names: dict[str, Callable[..., object]] = {"double": double, "doubles": Doubles(), "returns": returns}
        tools = [Tool.from_function(function, name=name) for name, function in names.items()]
        told = said(*(CompleteCall(name, {"n": at}) for at, name in enumerate(names)))
        assert [result.output for result in run_later(told, tools)] == [0, 2, 4]

    def test_runs_plain_functions_in_threads_at_the_same_time(self) -> None:
        meet = threading.Barrier(3, timeout=60)
        seen = set()

        def wait(n: int) -> int:
            seen.add(threading.current_thread())
            meet.wait()
            return n

        told = said(*(CompleteCall("wait", {"n": at}) for at in range(3)))
        assert [result.output for result in run_later(told, [Tool.from_function(wait)])] == [0, 1, 2]
        assert threading.main_thread() not in seen

    @pytest.mark.parametrize("limit", [1, 2, 5, None])
    def test_runs_no_more_than_the_limit_at_once(self, limit: int | None) -> None:
        running, most = 0, 0

        async def work(_: object) -> None:
            nonlocal running, most
            running += 1
            most = max(most, running)
            for _ in range(9):  # long enough for all that may begin
                await asyncio.sleep(0)
            running -= 1

        told = said(*(CompleteCall("work", {}) for _ in range(5)))
        assert len(run_later(told, [Tool("work", function=work)], limit=limit)) == 5
        assert most == (limit or 5)

    @pytest.mark.parametrize("limit", [0, -1, True, 1.5, "2"])
    def test_refuses_a_limit_that_is_no_count(self, limit: Any) -> None:
        with pytest.raises((TypeError, ValueError), match="limit"):
            run_later(said(), [], limit=limit)

    def test_gives_up_on_a_call_that_takes_too_long_and_not_on_the_others(self) -> None:
        async def sleep(seconds: float) -> str:
            await asyncio.sleep(seconds)
            return "slept"

        told = said(CompleteCall("sleep", {"seconds": 60}), CompleteCall("sleep", {"seconds": 0}))
        slow, quick = run_later(told, [Tool.from_function(sleep)], timeout=0.2)
        assert slow.output is None
        assert "0.2 seconds" in str(slow.error)
        assert isinstance(slow.exception, TimeoutError)
        assert quick.output == "slept"

    def test_tells_a_timeout_of_the_tool_itself_in_its_own_words(self) -> None:
        async def ask(_: object) -> None:
            raise TimeoutError("the database is busy")

        (result,) = run_later(said(CompleteCall("ask", {})), [Tool("ask", function=ask)], timeout=60)
        assert "the database is busy" in str(result.error)

    def test_tells_a_timeout_of_the_tool_that_says_nothing_by_its_name(self) -> None:
        async def ask(_: object) -> None:
            raise TimeoutError

        (result,) = run_later(said(CompleteCall("ask", {})), [Tool("ask", function=ask)])
        assert "None seconds" not in str(result.error)
        assert "Timeout" in str(result.error)

    def test_is_cancelled_with_all_its_calls(self) -> None:
        ended: list[str] = []

        async def run() -> None:
            both_run = asyncio.Barrier(3)

            async def wait(name: str) -> None:
                try:
                    await both_run.wait()
                    await asyncio.sleep(60)
                except asyncio.CancelledError:
                    ended.append(name)
                    raise

            told = said(CompleteCall("wait", {"name": "a"}), CompleteCall("wait", {"name": "b"}))
            task = asyncio.create_task(arun_tools(told, [Tool.from_function(wait)]))
            await both_run.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(run())
        assert sorted(ended) == ["a", "b"]


class TestToolsFromFunctions:
    def test_have_the_name_and_the_description_of_the_function(self) -> None:
        tool = Tool.from_function(add)
        assert (tool.name, tool.description, tool.function) == ("add", "Add two numbers.", add)
        named = Tool.from_function(add, name="plus", description="Sum.")
        assert (named.name, named.description) == ("plus", "Sum.")
        assert Tool.from_function(lambda: None, name="nothing").description is None

    def test_have_the_parameters_of_the_signature(self) -> None:
        class Place(BaseModel):
            city: str

        def plan(
            where: Place,
            days: Annotated[int, Field(ge=1)],
            mode: Literal["train", "bus"] = "train",
            notes: list[str] | None = None,
        ) -> None: ...

        schema = to_json_schema(Tool.from_function(plan).schema)
        assert schema["required"] == ["where", "days"]
        assert schema["additionalProperties"] is False
        assert list(schema["properties"]) == ["where", "days", "mode", "notes"]
        assert schema["properties"]["days"]["minimum"] == 1
        assert schema["properties"]["mode"]["enum"] == ["train", "bus"]
        assert schema["properties"]["mode"]["default"] == "train"

    def test_describe_a_parameter_by_its_annotation_before_the_docstring(self) -> None:
        def plan(
            city: Annotated[str, Field(description="the annotation")],
            days: Annotated[int, Field(ge=1)],
            mode: Annotated[str, Field(description="also this", examples=["bus"])] = "train",
        ) -> None:
            """Plan.

            Args:
                city: the docstring
                days: how many
                mode: the docstring
            """

        fields = to_json_schema(Tool.from_function(plan).schema)["properties"]
        assert [fields[name]["description"] for name in fields] == ["the annotation", "how many", "also this"]
        assert (fields["mode"]["default"], fields["mode"]["examples"]) == ("train", ["bus"])

    def test_give_typed_arguments_to_the_function(self) -> None:
        class Place(BaseModel):
            city: str

        @dataclass
        class Day:
            number: int

        seen: list[Any] = []

        def plan(where: Place, day: Day) -> None:
            seen.append((where, day))

        tool = Tool.from_function(plan)
        (result,) = run_tools(said(CompleteCall("plan", {"where": {"city": "Nara"}, "day": {"number": 2}})), [tool])
        assert result.error is None
        assert seen == [(Place(city="Nara"), Day(2))]

    @pytest.mark.parametrize(
        "docstring",
        [
            """Return the weather.

            In a city.

            Args:
                city: the name
                    of the city
                unit (str): C or F

            Returns:
                a text: of words
            """,
            """Return the weather.

            In a city.

            :param city: the name of the city
            :param str unit: C or F
            :returns: a text
            """,
        ],
        ids=["Google", "Sphinx"],
    )
    def test_describe_arguments_as_the_docstring_does(self, docstring: str) -> None:
        def weather(city: str, unit: str = "C") -> str:
            return city + unit

        weather.__doc__ = docstring
        tool = Tool.from_function(weather)
        properties = to_json_schema(tool.schema)["properties"]
        assert properties["city"]["description"] == "the name of the city"
        assert properties["unit"]["description"] == "C or F"
        assert (tool.description or "").split() == ["Return", "the", "weather.", "In", "a", "city."]

    def test_take_a_default_that_is_no_json_without_showing_it(self) -> None:
        nothing = object()

        def find(name: str, start: Any = nothing) -> bool:
            return start is nothing and name == "x"

        tool = Tool.from_function(find)
        assert "default" not in to_json_schema(tool.schema)["properties"]["start"]
        assert run_tools(said(CompleteCall("find", {"name": "x"})), [tool])[0].output is True

    def test_take_methods_partials_and_objects_that_can_be_called(self) -> None:
        class Shop:
            def __init__(self) -> None:
                self.sold: list[str] = []

            def sell(self, item: str) -> int:
                """Sell something."""
                self.sold.append(item)
                return len(self.sold)

            def __call__(self, item: str) -> int:
                return self.sell(item)

        shop = Shop()
        tools = [
            Tool.from_function(shop.sell),
            Tool.from_function(shop, name="shop"),
            Tool.from_function(functools.partial(add, b=10), name="plus_ten"),
        ]
        told = said(
            CompleteCall("sell", {"item": "tea"}),
            CompleteCall("shop", {"item": "cup"}),
            CompleteCall("plus_ten", {"a": 1}),
        )
        assert [result.output for result in run_tools(told, tools)] == [1, 2, 11]
        assert shop.sold == ["tea", "cup"]
        assert list(to_json_schema(tools[0].schema)["properties"]) == ["item"]

    def test_take_a_function_without_arguments(self) -> None:
        tool = Tool.from_function(lambda: "noon", name="now")
        assert run_tools(said(CompleteCall("now", {})), [tool])[0].text == "noon"
        assert "not valid" in run_tools(said(CompleteCall("now", {"at": 1})), [tool])[0].text

    def test_refuse_signatures_whose_arguments_have_no_names(self) -> None:
        def variadic(*cities: str) -> None: ...
        def keywords(**cities: str) -> None: ...
        def positional(city: str, /) -> None: ...

        for function in (variadic, keywords, positional):
            with pytest.raises(UnsupportedSchemaError, match="cannot be passed by its name"):
                Tool.from_function(function)

    def test_refuse_what_has_no_signature_or_is_no_function(self) -> None:
        def unknown(city: "Nowhere") -> None: ...  # type: ignore[name-defined]  # noqa: F821

        with pytest.raises(UnsupportedSchemaError, match="unknown cannot be read"):
            Tool.from_function(unknown)
        wrong: Any = "add"
        with pytest.raises(TypeError, match="callable"):
            Tool.from_function(wrong)

    def test_are_the_only_way_to_give_a_function_for_a_schema(self) -> None:
        for wrong in (add, functools.partial(add), lambda: None):
            with pytest.raises((TypeError, UnsupportedSchemaError), match="from_function"):
                Tool("add", wrong)
            with pytest.raises((TypeError, UnsupportedSchemaError), match="from_function"):
                MessageConfig(response_schema=wrong)


class TestNothingIsCalled:
    def test_by_reading_resolving_validating_or_writing_definitions(self) -> None:
        def pay(amount: int, to: str = "Zoe") -> None:  # noqa: ARG001
            """Pay.

            Args:
                amount: how much
            """
            raise AssertionError

        tool = Tool.from_function(pay)
        call = {"id": "c", "function": {"name": "pay", "arguments": '{"amount": 7}'}}
        whole = {"choices": [{"index": 0, "message": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}
        message = stream_message([whole], tools=[tool]).final()
        assert tool.accepts(message.tool_calls[0])
        for name in PROVIDERS:
            assert tool_definitions([tool], name)
            to_request(message, name)
            to_request([ToolResult(message.tool_calls[0], "paid")], name)
        assert repr(tool)
        assert hash(tool) == hash(Tool.from_function(pay))
        assert tool == Tool.from_function(pay)
        assert Message.from_json(message.to_json()) == message
        message.raise_for_outcome()
        assert message.feedback() == ""
        MessageConfig(tools=[tool])
        to_json_schema(tool.schema)


FINISHES = ("finish_reason", "stop_reason", "stopReason", "finishReason", "done_reason", "status")
BAD_ENDS = ("content_filter", "refusal", "SAFETY", "error", "unknown_word", "MALFORMED_FUNCTION_CALL", "failed", "")
TEXTS = ("arguments", "partial_json", "input", "delta", "args", "stringValue", "text")


def mutated(told: list[Event], random: Random) -> list[Any]:
    """A recording to which something happened on the way."""
    found: list[Any] = list(told)
    for _ in range(random.randint(1, 4)):
        if not found:
            break
        at = random.randrange(len(found))
        kind = random.randrange(6)
        if kind == 0:
            del found[at]
        elif kind == 1:
            found.insert(at, found[at])
        elif kind == 2:
            del found[at + 1 :]
        elif kind == 3:
            found = [changed(event, FINISHES, lambda _: random.choice(BAD_ENDS)) for event in found]
        elif kind == 4:
            found[at] = changed(found[at], TEXTS, lambda value: damaged(value, random))
        else:
            other = random.randrange(len(found))
            found[at], found[other] = found[other], found[at]
    return found


def changed(part: Any, keys: tuple[str, ...], change: Callable[[Any], Any]) -> Any:
    if isinstance(part, list):
        return [changed(item, keys, change) for item in part]
    if not isinstance(part, dict):
        return part
    return {
        key: change(value) if key in keys and isinstance(value, str) else changed(value, keys, change)
        for key, value in part.items()
    }


def damaged(text: str, random: Random) -> str:
    at = random.randint(0, len(text))
    return text[:at] + random.choice(("", "", "}", '"', "{", "\0")) + text[at + random.randint(0, 3) :]


WITH_CALLS = [name for name in NAMES if reading(name).calls]


def written(told: object) -> str:
    """All that the events say, also what is in base64, as Bedrock wraps the events of others."""
    text = json.dumps(told)
    wrapped = re.findall(r'"bytes": "([A-Za-z0-9+/]*)', text)
    return text + "".join(b64decode(each[: len(each) // 4 * 4]).decode("utf-8", "replace") for each in wrapped)


@given(randoms)
def test_over_mutated_streams_nothing_is_called_that_is_not_complete_and_valid(random: Random) -> None:
    name = random.choice(WITH_CALLS)
    told = mutated(events(name), random)
    offered = {call.name for call in reading(name).calls}
    unknown = {one for one in offered if random.random() < 0.2}
    guard = Told()
    message = stream_message(told).final()
    results = run_tools(message, [guard.tool(one) for one in offered - unknown])
    assert len(results) == len(message.tool_calls)
    runnable = [
        (call.name, call.arguments_value)
        for call in message.parts
        if isinstance(call, CompleteCall) and call.name in offered - unknown
    ]
    assert len(guard.calls) == len(runnable)
    for (called, arguments), (meant, value) in zip(guard.calls, runnable, strict=True):
        assert called == meant
        assert same(arguments, value)
    for result in results:
        was_run = isinstance(result.call, CompleteCall) and result.call.name in offered - unknown
        assert (result.error is None) is was_run
    if guard.calls:  # then the provider said how it ends, in a word that allows it, and all text is JSON
        assert message.outcome in {Outcome.COMPLETE, Outcome.TRUNCATED, Outcome.INVALID}
        assert message.finish_reason in {"tool_calls", "length", "stop_sequence", "stop"}
        assert not any(error.source == "stream" for error in message.errors)
        # Vertex may number its words; Ollama and Workers AI may give none.
        ends = (f'"{message.raw_finish_reason}"', '"completed"', '"finishReason": 1', '"done": true', '"success": true')
        assert any(end in written(told) for end in ends)
        for call in message.parts:
            if isinstance(call, CompleteCall):
                assert same(json.loads(call.arguments), call.arguments_value)


@given(randoms)
def test_over_streams_cut_anywhere_nothing_is_called_before_the_end_is_told(random: Random) -> None:
    name = random.choice(WITH_CALLS)
    told = events(name)
    state: Any = start_stream()
    for event in told[: random.randrange(len(told))]:
        state = feed_stream(state, event)
    guard = Told()
    tools = [guard.tool(call.name) for call in {call.name: call for call in reading(name).calls}.values()]
    run_tools(state.message, tools)
    assert guard.calls == []
    message = finish_stream(state).message
    run_tools(message, tools)
    if message.outcome is Outcome.TRUNCATED and message.finish_reason is None:
        assert guard.calls == []


def run_all(told: list[Event], name: str, **options: Any) -> list[tuple[str, Any]]:
    """What is called of all tools that a stream calls."""
    guard = Told()
    message = stream_message(told, **options).final()
    results = run_tools(message, [guard.tool(one) for one in {call.name for call in reading(name).calls}])
    assert len([result for result in results if result.error is None]) == len(guard.calls)
    return guard.calls


def with_end(told: list[Event], word: str) -> list[Event]:
    """The same events, and another word for how the message ended."""
    found = []
    for event in told:
        if event.get("type") == "response.completed":
            is_filtered = word == "content_filter"
            ended = {"status": "incomplete" if is_filtered else word, "incomplete_details": {"reason": word}}
            found.append({**event, "response": {**event["response"], **ended}})
        elif event.get("event_type") == "interaction.completed":
            found.append({**event, "interaction": {**event["interaction"], "status": word}})
        else:
            found.append(changed(event, FINISHES[:-1], lambda _: word))
    return found


@pytest.mark.parametrize("name", WITH_CALLS)
class TestNothingOfAStreamIsCalled:
    @pytest.mark.parametrize("word", [word for word in BAD_ENDS if word])
    def test_if_it_ended_otherwise(self, name: str, word: str) -> None:
        told = with_end(events(name), word)
        if told != events(name):  # its end has a word, which is not inside an envelope
            assert run_all(told, name) == []

    def test_if_no_arguments_fit_the_schemas_of_the_tools(self, name: str) -> None:
        narrow = {"type": "object", "required": ["what nobody says"]}
        names = {call.name for call in reading(name).calls}
        assert run_all(events(name), name, tools=[Tool(one, narrow) for one in names]) == []
        guard = Told()
        tools = [Tool(one, narrow, function=guard.tool(one).function) for one in names]
        results = run_tools(stream_message(events(name)).final(), tools)
        assert guard.calls == []
        assert all("not valid" in str(result.error) for result in results)

    def test_if_its_tools_were_not_offered_or_are_not_there(self, name: str) -> None:
        assert run_all(events(name), name, tools=[Tool("another")]) == []
        guard = Told()
        results = run_tools(stream_message(events(name)).final(), [guard.tool("another")])
        assert guard.calls == []
        assert all("no tool" in str(result.error) for result in results)

    def test_if_it_was_stopped_or_the_connection_broke(self, name: str) -> None:
        def broken() -> Iterator[Event]:
            yield from events(name)
            raise ConnectionResetError

        guard = Told()
        tools = [guard.tool(call.name) for call in reading(name).calls]
        end = end_of(name)
        with stream_message(events(name)) as stream:
            for _ in zip(range(end // 3), stream, strict=False):
                pass
        run_tools(stream.message, tools)
        run_tools(stream_message(broken()).final(), tools)
        assert guard.calls == []


@every_complete_stream
def test_what_the_provider_runs_itself_is_never_called(name: str) -> None:
    message = stream_message(events(name)).final()
    guard = Told()
    names = {part.name for part in message.parts if isinstance(part, ServerCall | CompleteCall | PartialCall)}
    run_tools(message, [guard.tool(one) for one in names if one])
    meant = [(call.name, call.value) for call in reading(name).calls]
    assert [called for called, _ in guard.calls] == [called for called, _ in meant]
    assert all(same(arguments, value) for (_, arguments), (_, value) in zip(guard.calls, meant, strict=True))


class TestResults:
    def test_of_types_are_their_fields(self) -> None:
        class Place(BaseModel):
            city: str

        @dataclass
        class Trip:
            places: list[Place]

        text = ToolResult(CompleteCall("a", {}), Trip([Place(city="Nara")])).text
        assert json.loads(text) == {"places": [{"city": "Nara"}]}

    def test_refuse_what_is_no_call(self) -> None:
        wrong: Any = TextPart("Hi")
        with pytest.raises(TypeError, match="call"):
            ToolResult(wrong)
        with pytest.raises(TypeError, match="error"):
            ToolResult(CompleteCall("a", {}), error=7)  # type: ignore[arg-type]


def test_other_parts_are_no_calls() -> None:
    told = Told()
    message = said(Other("shell_call", {"command": "ls"}, needs_action=True), ServerCall("pay", "{}"))
    assert run_tools(message, [told.tool("pay"), told.tool("shell_call")]) == []
    assert told.calls == []


def test_the_state_of_a_stream_with_tools_from_functions_can_be_saved() -> None:
    told = DIALECTS["openai_chat"].calls("add", ['{"a"', ": 1", "}"])
    tools = [Tool.from_function(add)]
    for at in range(len(told) + 1):
        stream = stream_message(told[:at], tools=tools)
        for _ in zip(range(at), stream, strict=False):
            pass
        saved = pickle.loads(pickle.dumps(stream.state))  # noqa: S301
        message = stream_message(told[at:], state=saved).final()
        assert [result.output for result in run_tools(message, tools)] == [3]
