"""What may be a schema: types and dicts; and what may not: anything that would be called with what the stream says."""

import asyncio
import functools
import operator
import pickle
import sys
import typing
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, NotRequired, Required, TypeVar

import pytest
import typing_extensions
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    TypeAdapter,
    WithJsonSchema,
    validate_call,
)

from jsontide import (
    MISSING,
    Partial,
    SchemaError,
    Tool,
    astream_message,
    astream_model,
    create_parser_state,
    stream_message,
    stream_model,
)
from jsontide.messages import MessageConfig
from jsontide.schema import Done, Status, UnsupportedSchemaError, from_json_ast
from tests.cuts import fed, singles, whole
from tests.schema.kinds import TYPES, Everything, Note, Point, Stop
from tests.schema.resolving import resolutions, said

CALLS: list[object] = []


def remove(path: str) -> str:
    CALLS.append(path)
    return path


async def aremove(path: str) -> str:
    return remove(path)


class Remover:
    def __call__(self, path: str) -> str:
        return remove(path)

    def method(self, path: str) -> str:
        return remove(path)

    @classmethod
    def of_class(cls, path: str) -> str:
        return remove(path)

    @staticmethod
    def static(path: str) -> str:
        return remove(path)


class Described(Remover):
    """As annotations are that bring a schema of their own."""

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> Any:
        return handler(remove)


class Hidden:
    """A type that takes a function for its schema."""

    @classmethod
    def __get_pydantic_core_schema__(cls, _: Any, handler: GetCoreSchemaHandler) -> Any:
        return handler(remove)


removed: Any = remove


class Field1(BaseModel):
    target: removed


class NamedAsDataIs(BaseModel):
    """Fields that are called like what core schemas hold beside other schemas."""

    type: str = ""
    metadata: removed = None
    default: int = 0


class Around(BaseModel):
    inner: list[Field1] | None = None


@dataclass
class Data:
    target: removed


class Members(typing_extensions.TypedDict):
    target: removed


DIRECT: dict[str, Any] = {
    "function": remove,
    "coroutine function": aremove,
    "lambda": lambda path: remove(path),  # noqa: PLW0108
    "builtin": print,
    "bound method": Remover().method,
    "class method": Remover.of_class,
    "static method": Remover.static,
    "method of a builtin": str.upper,
    "partial": functools.partial(remove),
    "cached": functools.lru_cache(remove),
    "instance": Remover(),
    "instance with a schema": Described(),
    "validate_call": validate_call(remove),
    "operator": operator.itemgetter("path"),
}
NESTED: dict[str, Any] = {
    "list": list[removed],
    "dict": dict[str, removed],
    "tuple": tuple[int, removed],
    "optional": typing.Optional[removed],  # noqa: UP045 - a function has no `|`
    "annotated": Annotated[removed, Done()],
    "annotated, described": Annotated[removed, WithJsonSchema({"type": "object"})],
    "annotated, checked": Annotated[removed, AfterValidator(lambda value: value)],
    "new type": NewType("Removed", removed),
    "alias": typing_extensions.TypeAliasType("Alias", list[removed]),
    "field": Field1,
    "field of a field": Around,
    "field among data": NamedAsDataIs,
    "dataclass": Data,
    "typed dict": Members,
    "hidden": Hidden,
    "adapter": TypeAdapter(removed),
    "adapter of a list": TypeAdapter(list[removed]),
    "deferred adapter": TypeAdapter(list[removed], config=ConfigDict(defer_build=True)),
}

ARGUMENTS = '{"path": "/tmp/x"}'


def events(arguments: str, reason: str | None) -> list[dict[str, Any]]:
    call = {"index": 0, "id": "c", "type": "function", "function": {"name": "remove", "arguments": ""}}
    deltas: list[dict[str, Any]] = [{"role": "assistant", "tool_calls": [call]}]
    deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in arguments]
    deltas += [{"content": piece} for piece in arguments]
    chunks = [{"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    last = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    return [*chunks, last] if reason else chunks


STREAMS = {
    "whole": events(ARGUMENTS, "tool_calls"),
    "cut": events(ARGUMENTS[:-3], None),
    "cut by length": events(ARGUMENTS[:-1], "length"),
    "filtered": events(ARGUMENTS, "content_filter"),
}


async def aiterated(given: list[Any]) -> AsyncIterator[Any]:
    for each in given:
        yield each


async def drained(source: AsyncIterator[Any]) -> None:
    async for _ in source:
        pass


def ways_in(schema: Any) -> list[Callable[[], object]]:
    """Everything that takes a schema, and reads every stream to its end if the schema is accepted."""
    ways: list[Callable[[], object]] = [
        lambda: from_json_ast(schema, create_parser_state()),
        lambda: from_json_ast(schema, fed(whole(ARGUMENTS))),
        lambda: list(stream_model(ARGUMENTS, schema)),
        lambda: list(stream_model(singles(ARGUMENTS), schema)),
        lambda: list(stream_model([ARGUMENTS[:-1]], schema)),
        lambda: asyncio.run(drained(astream_model(aiterated([ARGUMENTS]), schema))),
        lambda: MessageConfig(response_schema=schema),
        lambda: MessageConfig(tools=[Tool("remove", schema)]),
        lambda: MessageConfig(tools=[Tool("remove", schema, stream_arguments=False)]),
    ]
    for stream in STREAMS.values():
        ways += [
            lambda stream=stream: list(stream_message(stream, tools=[Tool("remove", schema)])),  # type: ignore[misc]
            lambda stream=stream: list(stream_message(stream, response_schema=schema)),  # type: ignore[misc]
            lambda stream=stream: asyncio.run(  # type: ignore[misc]
                drained(astream_message(aiterated(stream), response_schema=schema))
            ),
        ]
    return ways


@pytest.mark.parametrize("name", [*DIRECT, *NESTED])
def test_what_can_be_called_is_no_schema_and_is_never_called(name: str) -> None:
    CALLS.clear()
    for enter in ways_in({**DIRECT, **NESTED}[name]):
        with pytest.raises(UnsupportedSchemaError, match=r"not a callable .*describe its arguments by a type"):
            enter()
    assert not CALLS


@pytest.mark.parametrize("name", DIRECT)
def test_a_tool_refuses_it_where_it_is_made(name: str) -> None:
    with pytest.raises(UnsupportedSchemaError, match="not a callable"):
        Tool("remove", DIRECT[name])


class Pair(NamedTuple):
    path: str
    times: int = 0


Item = TypeVar("Item")


@dataclass
class Box(Generic[Item]):
    path: Item


class Typed(typing_extensions.TypedDict):
    path: str


class Literally(BaseModel):
    """Data that looks like a call is not one."""

    path: dict[str, Any] = Field(
        default={"type": "call", "function": "x"}, json_schema_extra={"extra": {"type": "call"}}
    )


TAKEN: dict[str, Any] = {
    "class": Literally,
    "named tuple": Pair,
    "generic dataclass": Box[str],
    "builtin": dict,
    "generic": dict[str, str],
    "generic of typing": typing.Dict[str, str],  # noqa: UP006
    "bare generic of typing": typing.Dict,  # noqa: UP006
    "annotated": Annotated[dict[str, str], Done()],
    "union": typing.Union[dict[str, str], None],  # noqa: UP007
    "union by bar": dict[str, str] | None,
    "literal": dict[Literal["path"], str],
    "new type": NewType("New", dict[str, str]),
    "alias": typing_extensions.TypeAliasType("Named", dict[str, str]),
    "any": Any,
    "typed dict": Typed,
    "adapter": TypeAdapter(dict[str, str]),
}


@pytest.mark.parametrize("name", TAKEN)
def test_types_are_taken_also_those_that_can_be_called(name: str) -> None:
    text = '["/tmp/x"]' if TAKEN[name] is Pair else '{"path": {}}' if TAKEN[name] is Literally else ARGUMENTS
    resolution = from_json_ast(TAKEN[name], fed(whole(text)))
    assert resolution.status is Status.FINAL
    adapter = TAKEN[name] if name == "adapter" else TypeAdapter(TAKEN[name])
    assert resolution.model == adapter.validate_json(text)
    for enter in ways_in(TAKEN[name]):
        with suppress(SchemaError, ValueError):
            enter()


TEXTS = ['{"title": "a", "mood": "calm", "level": "2", "tree": {"name": 5}, "stop": {"place": "x"}}', "[1]", '"x"']


@pytest.mark.parametrize("name", TYPES)
def test_an_adapter_says_what_its_type_says(name: str) -> None:
    for text in TEXTS:
        found = [said(each) for each in resolutions(TypeAdapter(TYPES[name]), singles(text))]
        assert found == [said(each) for each in resolutions(TYPES[name], singles(text))]


def test_the_settings_of_an_adapter_hold_before_the_end_too() -> None:
    strict = TypeAdapter(list[int], config=ConfigDict(strict=True))
    assert from_json_ast(strict, fed(whole('["1", '))).errors
    assert not from_json_ast(list[int], fed(whole('["1", '))).errors
    short = TypeAdapter(list[str], config=ConfigDict(str_max_length=2))
    assert from_json_ast(short, fed(whole('["abc", '))).errors
    closed = TypeAdapter(list[Note], config=ConfigDict(extra="forbid"))
    assert from_json_ast(closed, fed(whole('[{"other": 1, '))).errors
    *_, last = stream_model('[{"text": "x"}]', closed)
    assert last == [{"text": "x"}]


def test_an_adapter_has_partials_and_its_own_instances() -> None:
    *partials, last = stream_model(['{"place": "Ko', 'be"}'], TypeAdapter(Stop))
    assert [repr(each) for each in partials] == [
        "<Partial {'place': 'Ko'}>",
        "<Partial {'place': 'Kobe', 'minutes': 5}>",
    ]
    assert all(isinstance(each, Partial) for each in partials)
    assert last == Stop("Kobe")
    message = list(stream_message(events('{"place": "Kobe"}', "stop"), response_schema=TypeAdapter(Stop)))[-1]
    assert message.answer == Stop("Kobe")


class Old(typing.TypedDict):
    """A stop."""

    name: str
    days: NotRequired[list[date]]


class Older(Old, total=False):
    inner: "list[Older | None]"
    place: Required[Point]
    by: Annotated[dict[str, Old], Done()]


class NewTwin(typing_extensions.TypedDict):
    """A stop."""

    name: str
    days: NotRequired[list[date]]


class NewerTwin(NewTwin, total=False):
    inner: "list[NewerTwin | None]"
    place: Required[Point]
    by: Annotated[dict[str, NewTwin], Done()]


OLD_TEXTS = [
    '{"name": "a", "place": {"lat": 1, "lon": 2}, "inner": [null, {"name": "b", "place": {"lat": 1, "lon": "2"}}]}',
    '{"name": "a", "place": {"lat": 1}, "inner": [{"name": 5}], "by": {"x": {"name": "b", "days": ["2026-01-02"]}}}',
    '{"days": ["2026-13-02"], "by": {"x": {"days": []}}, "other": 1}',
]


@pytest.mark.parametrize("text", OLD_TEXTS)
@pytest.mark.parametrize(
    ("old", "new", "around"),
    [
        (Older, NewerTwin, "%s"),
        (list[Older], list[NewerTwin], "[%s]"),
        (dict[str, Older | None], dict[str, NewerTwin | None], '{"a": null, "b": %s}'),
        (Annotated[tuple[Older, ...], Done()], Annotated[tuple[NewerTwin, ...], Done()], "[%s, %s]"),
        (typing.Optional[Old], typing.Optional[NewTwin], "%s"),  # noqa: UP045
    ],
)
def test_a_typed_dict_of_typing_says_what_that_of_typing_extensions_says(
    old: Any, new: Any, around: str, text: str
) -> None:
    text = around.replace("%s", text)
    found = [said(each) for each in resolutions(old, singles(text))]
    expected = [said(each) for each in resolutions(new, singles(text))]
    assert repr(found).replace("Older", "NewerTwin").replace("Old", "NewTwin") == repr(expected)


def test_a_typed_dict_is_not_changed_and_one_in_a_function_is_found() -> None:
    class Local(typing.TypedDict, total=False):
        text: str
        inner: "Local"  # type: ignore[misc]

    before = dict(Local.__annotations__)
    assert from_json_ast(Local, fed(whole('{"inner": {"text": "x"}}'))).model == {"inner": {"text": "x"}}
    assert Local.__annotations__ == before
    resolution = from_json_ast(Old, fed(whole('{"na')))
    assert pickle.loads(pickle.dumps(resolution)).value == {}  # noqa: S301


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="pydantic takes them from 3.12 on")
def test_a_typed_dict_that_cannot_be_read_says_what_to_import() -> None:
    @dataclass
    class Holder:
        inner: Old

    class Lost(typing.TypedDict):
        inner: "Nowhere"  # type: ignore[name-defined]  # noqa: F821

    for schema in (Holder, Lost):
        with pytest.raises(UnsupportedSchemaError, match=r"typing_extensions\.TypedDict"):
            from_json_ast(schema, create_parser_state())


def test_everything_can_be_asked_of_an_adapter_that_a_type_can() -> None:
    adapter = TypeAdapter(Everything)
    resolution = from_json_ast(adapter, fed(whole('{"title": "a')), policies={"title": Done()})
    assert resolution.value == {}
    tool = Tool("look", adapter)
    assert MessageConfig(tools=[tool]).tools == (tool,)
    assert from_json_ast(adapter, create_parser_state()).value is MISSING
