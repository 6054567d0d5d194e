"""States as bytes: they go on where they stood, whatever the cut, and what is no such state runs nothing."""

import inspect
import json
import os
import pickle
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import partial, reduce
from itertools import islice
from random import Random
from typing import Any, cast
from zlib import crc32

import pytest

from jsontide import (
    COMPILED,
    CompleteCall,
    Limits,
    ParserState,
    StateError,
    Tool,
    create_parser_state,
    finalize,
    parse_chunk,
    stream_message,
)
from jsontide.events import _pickle
from jsontide.mend import EVERYTHING, MODELS, _buffer, _outside, _strings, _value, feed_mend, start_mend
from jsontide.messages import MessageConfig
from jsontide.providers import StreamState, feed_stream, finish_stream, start_stream
from jsontide.runs import feed_run, finish_run, start_run
from jsontide.schema import Done, shape_of
from jsontide.snapshots import _state
from jsontide.streams import from_bytes, saved, to_bytes
from jsontide.text import modes
from jsontide.text.scanner import Position
from tests import across_builds
from tests.generated_streams import STREAMS
from tests.messages.test_deep_values import STREAMS as DEEP
from tests.provider_streams import RECORDED, events
from tests.runs.scripts import play

CUTS = 3


def again(state: Any, **given: Any) -> Any:
    return from_bytes(to_bytes(state), type(state), **given)


class TestAStateGoesOn:
    def test_of_every_kind_at_every_cut(self) -> None:
        sizes = [0, 0]
        for record in islice(across_builds.records(), None, None, 97):
            state = pickle.loads(record.dumped)  # noqa: S301 - our own
            data = to_bytes(state)
            assert across_builds.seen(from_bytes(data, type(state)), record.rest) == record.seen
            sizes[0] += len(data)
            sizes[1] += len(record.dumped)
        assert sizes[0] < 1.1 * sizes[1], "the bytes are about as long as the pickle"

    @pytest.mark.parametrize("mend", [None, MODELS], ids=["strict", "mended"])
    @pytest.mark.parametrize("name", [*STREAMS, *RECORDED])
    def test_of_every_provider(self, name: str, mend: Any) -> None:
        config = MessageConfig(mend=mend)
        told: list[Any] = events(name)
        data = "".join(f"data: {json.dumps(event)}\n\n" for event in told).encode()
        width = max(1, len(data) // 97)
        for items in (told, [data[at : at + width] for at in range(0, len(data), width)]):
            ends = across_builds.shown(finish_stream(reduce(feed_stream, items, start_stream(config))))
            for at in range(0, len(items) + 1, max(1, len(items) // CUTS)):
                state = again(reduce(feed_stream, items[:at], start_stream(config)), config=config)
                assert across_builds.shown(finish_stream(reduce(feed_stream, items[at:], state))) == ends

    @pytest.mark.parametrize("name", DEEP)
    def test_of_many_levels(self, name: str) -> None:
        for state in (reduce(feed_stream, DEEP[name], start_stream()), start_stream()):
            assert again(finish_stream(state)).message == finish_stream(state).message
            assert again(state).message == state.message
        levels = 20_000
        deep = parse_chunk(create_parser_state(limits=Limits(max_depth=levels)), "[" * levels)
        assert finalize(parse_chunk(again(deep), "]" * levels)).is_complete

    @pytest.mark.parametrize("seed", range(5))
    def test_of_a_run(self, seed: int) -> None:
        state, script = start_run(), play(Random(seed))
        event = next(script)[0]
        with suppress(StopIteration):
            while True:
                state = feed_run(state, event)
                assert again(state).run == state.run
                event = cast("Any", script).send(state.run)[0]
        assert finish_run(again(state)).run == finish_run(state).run

    def test_of_many_nodes_and_of_numbers_that_are_very_long(self) -> None:
        rows = json.dumps([{"id": at, "name": f"{at}", "tags": [at % 3, None, True]} for at in range(400)])
        long = parse_chunk(create_parser_state(), rows[:-1])
        assert parse_chunk(again(long), "]").value == json.loads(rows)
        assert len(to_bytes(long)) < len(pickle.dumps(long))
        for floats in ("float", "decimal", "lexeme"):
            state: Any = create_parser_state(floats=floats, limits=Limits(max_number=10_000))
            state = parse_chunk(state, f"[{'9' * 6000}, -{'8' * 5000}, 1e400, -1.5")
            assert parse_chunk(again(state), "]").value == parse_chunk(state, "]").value


class Size(Enum):
    SMALL = "small"
    LARGE = "large"


@dataclass
class Room:
    size: Size
    beds: list[int]


JSON_SCHEMA = {"type": "object", "properties": {"size": {"enum": ["small", "large"]}, "beds": {"type": "array"}}}


def schemas() -> Iterator[Any]:
    yield JSON_SCHEMA
    pydantic = pytest.importorskip("pydantic")
    yield Room
    yield pydantic.create_model("Room", size=Size, beds=list[int])
    yield pydantic.TypeAdapter(Room)


ROOM = '{"size": "small", "beds": [1, 2]}'
UNTIDY = "Sure:\n```json\n{size: 'SMALL', 'beds': [1, 2,],}\n```"


@pytest.mark.parametrize("schema", [pytest.param(one, id=str(at)) for at, one in enumerate(schemas())])
@pytest.mark.parametrize("mend", [None, MODELS], ids=["strict", "mended"])
class TestASchema:
    def test_of_an_answer_is_passed_again(self, schema: Any, mend: Any) -> None:
        config = MessageConfig(response_schema=schema, mend=mend, policies={"size": Done()})
        pieces = [{"message": {"content": piece}, "done": False} for piece in (UNTIDY if mend else ROOM)]
        items = [*pieces, {"message": {}, "done": True, "done_reason": "stop"}]
        expected = finish_stream(reduce(feed_stream, items, start_stream(config))).message
        assert expected.result()
        for at in range(0, len(items) + 1, 7):
            state = reduce(feed_stream, items[:at], start_stream(config))
            other = MessageConfig(response_schema=schema, mend=mend, policies={"size": Done()})
            assert again(state, config=other).message.to_json() == state.message.to_json()
            message = finish_stream(reduce(feed_stream, items[at:], again(state, config=other))).message
            assert message.result() == expected.result()
            assert type(message.result()) is type(expected.result())
            assert message.repairs == expected.repairs

    def test_of_a_tool_is_passed_again(self, schema: Any, mend: Any) -> None:
        config = MessageConfig(tools=[Tool("other"), Tool("book", schema)], mend=mend and EVERYTHING)
        entries = [{"index": 0, "function": {"arguments": piece}} for piece in ROOM]
        entries[0] = {"index": 0, "id": "c", "function": {"name": "book", "arguments": "{"}}
        items = [{"choices": [{"index": 0, "delta": {"tool_calls": [entry]}}]} for entry in entries]
        items.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
        for at in range(0, len(items) + 1, 7):
            state = again(reduce(feed_stream, items[:at], start_stream(config)), config=config)
            (call,) = finish_stream(reduce(feed_stream, items[at:], state)).message.tool_calls
            assert isinstance(call, CompleteCall)
            assert call.arguments_value == json.loads(ROOM)

    def test_of_a_text_that_is_mended_is_passed_again(self, schema: Any, mend: Any) -> None:
        del mend
        shape = shape_of(schema)
        for at in range(0, len(UNTIDY), 3):
            state, _, _ = feed_mend(start_mend(MODELS, shape), UNTIDY[:at])
            rest = feed_mend(state, UNTIDY[at:])[1:]
            assert feed_mend(again(state, shape=shape), UNTIDY[at:])[1:] == rest
            with pytest.raises(StateError, match="pass its shape"):
                again(feed_mend(start_mend(MODELS, shape), '{"size')[0])


def test_an_answer_as_a_call_is_validated_again() -> None:
    config = MessageConfig(response_schema=JSON_SCHEMA, emulate_structured_output=True)
    call = {"index": 0, "id": "c", "function": {"name": "output", "arguments": ROOM}}
    items = [{"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}]
    state = finish_stream(reduce(feed_stream, items, start_stream(config)))
    assert again(state, config=config).message.result() == json.loads(ROOM)


def test_a_stream_goes_on_where_it_was_left() -> None:
    stream = stream_message([{"message": {"content": "Take the nig"}, "done": False}])
    assert next(stream).content == "Take the nig"
    rest = [{"message": {"content": "ht train"}, "done": True, "done_reason": "stop"}]
    state = from_bytes(to_bytes(stream.state), StreamState)
    assert stream_message(rest, state=state).final().content == "Take the night train"


def test_what_a_client_made_is_kept_as_text() -> None:
    class Word(str):
        __slots__ = ()

    state = feed_stream(start_stream(), {"message": {"content": Word("Hi"), "more": Word("x")}, "done": False})
    assert again(state).message.content == "Hi"


# What is refused.


@pytest.mark.parametrize(
    ("other", "name"),
    [
        (MessageConfig(), "response_schema"),
        (MessageConfig(response_schema=JSON_SCHEMA), "tools"),
        (MessageConfig(response_schema=JSON_SCHEMA, tools=[Tool("a")], mend=MODELS), "mend"),
        (MessageConfig(response_schema=JSON_SCHEMA, tools=[Tool("a")], limits=Limits(max_depth=3)), "limits"),
        (None, "response_schema"),
    ],
)
def test_other_options_are_refused(other: MessageConfig | None, name: str) -> None:
    data = to_bytes(start_stream(MessageConfig(response_schema=JSON_SCHEMA, tools=[Tool("a")])))
    with pytest.raises(StateError, match=f"another {name}: pass the config"):
        from_bytes(data, StreamState, config=other)


def packed(body: bytes, form: bytes = saved.form()) -> bytes:
    return b"jsontide state %b\n" % form + crc32(body).to_bytes(4, "big") + body


class Call:
    """Pickled as a call of something."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = function, arguments

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return self.call


ran: list[object] = []


def data_of(data: object) -> bytes:
    return packed(json.dumps(["ParserState", None, data]).encode())


GOOD = to_bytes(parse_chunk(create_parser_state(), '{"a": [1, 2.5, "text'))
BODY = GOOD.partition(b"\n")[2][4:]
STATE = json.loads(BODY)[2]
FIRST = saved._FIRST_MAKER
NUMBER = {maker: FIRST + number for number, maker in enumerate(saved.makers())}
CALLS = {
    "os.system": Call(os.system, "exit 1"),
    "eval": Call(eval, "ran.append(1)"),
    "getattr": Call(getattr, StateError, "__init__"),
    "partial": Call(partial, ran.append, 1),
    "append": Call(ran.append, 1),
    "a function of jsontide": Call(stream_message, []),
    "a class of jsontide": Limits,
}
HOSTILE: dict[str, bytes] = {
    **{f"calls {name} in a pickle": packed(pickle.dumps(call)) for name, call in CALLS.items()},
    **{f"calls {name} as a pickle": pickle.dumps(call) for name, call in CALLS.items()},
    "is empty": b"",
    "is a pickle": pickle.dumps(create_parser_state()),
    "has no body": GOOD.partition(b"\n")[0] + b"\n",
    "is of another format": packed(BODY, b"0 12345678"),
    "is of another kind": to_bytes(start_stream()),
    "is no JSON": packed(b"text"),
    "is no UTF-8": packed(b"\xff"),
    "is another value": packed(b'"text"'),
    "has too few values": packed(b'["ParserState"]'),
    "is no state": data_of(None),
    "is another state": data_of([NUMBER[Limits], 1, 1, 1, 1, 1]),
    "has an unknown maker": data_of([FIRST + len(NUMBER), 1]),
    "has an unknown mark": data_of([-99]),
    "has a maker with a name": data_of(["eval", "ran.append(1)"]),
    "has wrong arguments": data_of([*STATE, 1]),
    "has an empty array": data_of([]),
    "has a list as a key": data_of([saved._DICT, [0, [0]], [0, 1]]),
    "has steps of text": data_of([saved._STEPS, 1, 7]),
    "has words that are not there": data_of([saved._WORDS, [0, "a"], "~"]),
    "refers to nothing": data_of([1, 7]),
    "has a tool that is not there": data_of([saved._BINDING, "eval"]),
    "is very deep": packed(b'["ParserState",null,' + b"[0," * 100_000 + b"]" * 100_001),
    "has a very long number": packed(b'["ParserState",null,' + b"9" * 100_000 + b"]"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_bytes_that_are_no_state_raise_one_error_and_run_nothing(name: str) -> None:
    ran.clear()
    with pytest.raises(StateError):
        from_bytes(HOSTILE[name], ParserState)
    assert not ran


def test_damaged_bytes_are_refused_wherever_they_are_damaged() -> None:
    random = Random(7)
    for at in range(len(GOOD)):
        flipped = bytearray(GOOD)
        flipped[at] ^= 1 << random.randrange(8)
        for damaged in (bytes(flipped), GOOD[:at]):
            with pytest.raises(StateError):
                from_bytes(damaged, ParserState)


def test_damage_that_hides_behind_a_right_checksum_makes_a_state_or_the_error() -> None:
    random = Random(11)
    stream = reduce(feed_stream, DEEP["arguments as text"], start_stream(MessageConfig(mend=MODELS)))
    bodies = [(BODY, ParserState), (to_bytes(stream).partition(b"\n")[2][4:], StreamState)]
    before = dict(vars(ParserState)), dict(vars(Limits)), set(sys.modules)
    for _ in range(1000):
        body, kind = random.choice(bodies)
        flipped = bytearray(body)
        for _ in range(random.choice((1, 1, 2, 5))):
            flipped[random.randrange(len(flipped))] = random.randrange(256)
        with suppress(StateError):
            assert isinstance(from_bytes(packed(bytes(flipped)), kind, config=MessageConfig(mend=MODELS)), kind)
    assert (dict(vars(ParserState)), dict(vars(Limits)), set(sys.modules)) == before


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: to_bytes(1), "a int is no state; there are ParserState"),
        (lambda: to_bytes(b""), "a bytes is no state"),
        (lambda: from_bytes("text", ParserState), "data must be bytes"),  # type: ignore[arg-type]
        (lambda: from_bytes(GOOD, int), "a int is no state"),
        (lambda: from_bytes(GOOD, "ParserState"), "kind must be the class"),  # type: ignore[arg-type]
        (lambda: from_bytes(GOOD, ParserState, config=1), "config must be"),  # type: ignore[arg-type]
        (lambda: from_bytes(GOOD, ParserState, shape=1), "shape must be"),  # type: ignore[arg-type]
    ],
)
def test_wrong_arguments_are_refused(make: Any, why: str) -> None:
    with pytest.raises(TypeError, match=why):
        make()


def test_a_state_with_what_cannot_be_saved_says_what_it_is() -> None:
    state = feed_stream(start_stream(), {"message": {"content": "Hi"}, "done": False})
    pending = StreamState(state.message_state, state.reader, pending=({"of": Room(Size.SMALL, [])},))
    with pytest.raises(StateError, match=r"a state with a tests\.streams\.test_saved\.Room in it cannot be saved"):
        to_bytes(pending)


# The format.


def test_the_format_says_which_fields_a_state_has() -> None:
    makers = saved.makers()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(saved, "makers", lambda: (*makers[:-1], Room))
        assert saved.form.__wrapped__() != saved.form()


@pytest.mark.skipif(COMPILED, reason="compiled code has no source to read")
def test_the_format_has_a_new_number_when_what_it_does_not_hash_changes() -> None:
    others = [maker for maker in saved.makers() if saved._fields_of(maker) == ()]
    parts = _buffer.Buffer, _value.OpenValue, _strings.Strings, _outside.Outside
    told = [
        [[maker.__name__, *inspect.signature(maker).parameters] for maker in (*others, *parts)],
        _pickle._FRAME_FIELDS,
        {name: value for name, value in vars(modes).items() if isinstance(value, int)},
        [inspect.getsource(one).split() for one in (Position.to_tuple, _state.WriteFrame.dump, _value.list_frames)],
    ]
    assert (saved.NUMBER, crc32(repr(told).encode())) == (1, 904141834), "raise NUMBER of jsontide/streams/saved.py"
