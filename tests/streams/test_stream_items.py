"""`stream_items` and `astream_items`: each item of a list as it closes, validated, and what went wrong at the end."""

import asyncio
import json
from collections.abc import Iterable, Iterator
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter
from typing_extensions import TypedDict

from jsontide import JsonStreamError, MessageError, PathSyntaxError, SchemaError, stream_model
from jsontide.mend import MODELS
from jsontide.messages import Outcome
from jsontide.schema import UnsupportedSchemaError
from jsontide.streams import astream_items, stream_items
from tests.cuts import cut_randomly, every, singles
from tests.generated_streams.said import cut
from tests.streams.arriving import Source, arriving


class Day(BaseModel):
    city: str
    nights: int = 1


class Stop(TypedDict):
    name: str


DAYS = [Day(city="Kyo\nto", nights=2), Day(city="Nara"), Day(city="𝄞"), Day(city="Porto", nights=3)]
TEXT = json.dumps({"title": "x [", "days": [day.model_dump() for day in DAYS], "end": [1]}, indent=1)
BAD = """{"days": [
  {"city": "Kyoto"},
  {"city": 12,
   "nights": "many"}, {"city": "Nara"},
  {}
]}"""


def taken(chunks: Any, pattern: Any = "days", schema: Any = Day, **options: Any) -> tuple[list[Any], Exception | None]:
    """Everything that both loops yield, and what they raise then."""

    async def collect() -> tuple[list[Any], Exception | None]:
        found: list[Any] = []
        try:
            async for item in astream_items(arriving(kept), pattern, schema, **options):
                found.append(item)  # noqa: PERF401 - what came before the error counts
        except (SchemaError, JsonStreamError, MessageError) as error:
            return found, error
        return found, None

    kept = list(chunks)
    found: list[Any] = []
    raised = None
    try:
        found.extend(stream_items(iter(kept), pattern, schema, **options))
    except (SchemaError, JsonStreamError, MessageError) as error:
        raised = error
    later, raised_later = asyncio.run(collect())
    assert later == found
    assert (type(raised_later), str(raised_later)) == (type(raised), str(raised))
    return found, raised


def chat(text: str, reason: str | None = "stop") -> list[dict[str, Any]]:
    events = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in cut(text)]
    return events if reason is None else [*events, {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}]


def sse(events: Iterable[object]) -> bytes:
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode()


def test_items_are_the_same_however_the_text_is_cut() -> None:
    for text in (TEXT, TEXT.encode()):
        random = Random(1)
        for chunks in ([text], singles(text), *(cut_randomly(text, random) for _ in range(10))):  # type: ignore[type-var]
            assert list(stream_items(chunks, "days", Day)) == DAYS


def test_an_item_comes_with_the_chunk_that_closes_it_and_nothing_after_a_cut() -> None:
    closed = [at for at, one in enumerate(TEXT, 1) if one == "}"]
    for end in range(len(TEXT)):
        found, error = taken(singles(TEXT[:end])) if end % 40 == 0 else ([*_until_it_raises(TEXT[:end])], None)
        assert found == DAYS[: sum(at <= end for at in closed[:-1])]
        assert error is None or isinstance(error, JsonStreamError)


def _until_it_raises(text: str) -> Iterator[Day]:
    with pytest.raises(JsonStreamError):
        yield from stream_items(text, "days", Day)


def test_nothing_is_pulled_before_it_is_asked_for() -> None:
    source = Source(singles(TEXT))
    days = stream_items(source, "days", Day)
    assert source.pulled == 0
    assert next(days) == DAYS[0]
    assert source.pulled == TEXT.index("}") + 1
    days.close()
    assert source.is_closed


def test_an_item_that_does_not_fit_is_left_out_and_told_at_the_end_with_its_place() -> None:
    with pytest.raises(SchemaError) as whole:
        list(stream_model(BAD, TypeAdapter(dict[str, list[Day]])))
    for chunks in ([BAD], singles(BAD), singles(BAD.encode()), *(cut_randomly(BAD, Random(at)) for at in range(5))):
        found, error = taken(chunks)
        assert found == [Day(city="Kyoto"), Day(city="Nara")]
        assert isinstance(error, SchemaError)
        assert error.errors == whole.value.errors


@pytest.mark.parametrize("reason", ["stop", "length", "content_filter", None])
def test_the_answer_of_a_message_is_read_as_far_as_it_goes(reason: str | None) -> None:
    events = chat(TEXT, reason)
    for source in (events, [sse(events)], singles(sse(events))):
        found, error = taken(source)
        assert found == DAYS
        assert (error is None) == (reason == "stop")
        if reason != "stop":
            assert isinstance(error, MessageError)
            assert error.message.outcome is (Outcome.FILTERED if reason == "content_filter" else Outcome.TRUNCATED)


def test_a_message_that_broke_off_in_an_item_does_not_give_it() -> None:
    for end in range(TEXT.index('"Nara"'), len(TEXT), 29):
        found, error = taken(chat(TEXT[:end], "length"))
        assert found == DAYS[: TEXT[:end].count("}")]
        assert isinstance(error, MessageError)
        found, error = taken(chat(TEXT[:end], "stop"))
        assert isinstance(error, JsonStreamError)


def test_json_of_models_is_mended() -> None:
    bad = "Sure:\n```json\n{days: [{'city': 'Kyoto', nights: 2,}, {'city': 'Nara'}]}\n```"
    repairs: list[Any] = []
    expected = [Day(city="Kyoto", nights=2), Day(city="Nara")]
    for source in (singles(bad), chat(bad)):
        assert taken(source, mend=MODELS) == (expected, None)
    assert list(stream_items(bad, "days", Day, mend=MODELS, on_repair=repairs.append)) == expected
    assert repairs


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("root", "[1, 2]", [1, 2]),
        ("a", '{"a": {"x": 1, "y": 2}}', [1, 2]),
        ("a[*]", '{"a": [1, 2]}', [1, 2]),
        ("a[*].b", '{"a": [{"b": [1]}, {"b": [2, 3]}]}', [1, 2, 3]),
        (("a", 0), '{"a": [[1], [2]]}', [1]),
        ("b", '{"a": [1]}', []),
    ],
)
def test_a_pattern_is_one_of_items(pattern: Any, text: str, expected: list[int]) -> None:
    for chunks in every(text):
        assert taken(chunks, pattern, int) == (expected, None)


def test_items_may_hold_items() -> None:
    text = '{"in": [{"name": "a", "in": [{"name": "b", "in": [], "km": 1.10}]}, {"name": 3}]}'
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    for chunks in (singles(text), [text]):
        found, error = taken(chunks, "**.in", schema)
        assert [item["name"] for item in found] == ["b", "a"]
        assert isinstance(error, SchemaError)
        assert [(one.path, one.index) for one in error.errors] == [(("in", 1, "name"), text.index("3"))]


def test_an_item_is_what_stream_model_makes_of_it() -> None:
    assert list(stream_items('[{"name": "a"}]', "root", Stop)) == [{"name": "a"}]
    assert list(stream_items('[{"name": "a"}]', "root", TypeAdapter(Stop))) == [{"name": "a"}]
    numbers = ["0.12345678901234567890123", "1.10", "-0.0", "7"]
    expected = [[*stream_model(one, Decimal)][-1] for one in numbers]
    assert list(stream_items(f"[{', '.join(numbers)}]", "root", Decimal)) == expected


def test_wrong_arguments_are_refused_where_they_are_passed() -> None:
    with pytest.raises(TypeError, match="astream_items takes asynchronous ones"):
        stream_items(3, "days", Day)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="stream_items takes plain ones"):
        astream_items([TEXT], "days", Day)  # type: ignore[call-overload]
    with pytest.raises(PathSyntaxError):
        stream_items([TEXT], "days[", Day)
    with pytest.raises(UnsupportedSchemaError):
        stream_items([TEXT], "days", 3)
    with pytest.raises(TypeError, match="on_repair"):
        stream_items([TEXT], "days", Day, on_repair=print)


def test_places_are_right_far_into_a_text() -> None:
    lines = ["[", *['{"city": "x"},\n'] * 50, '{"city": 3}]']
    found, error = taken(lines, "root")
    assert len(found) == 50
    assert isinstance(error, SchemaError)
    assert [(one.path, one.line, one.column) for one in error.errors] == [((50, "city"), 51, 10)]
