"""`stream_model` and `astream_model`: partials while a stream goes on, the instance or every mismatch at its end."""

import asyncio
import copy
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from typing_extensions import TypedDict, is_typeddict

from jsontide import MISSING, JsonStreamError, Missing, Partial, SchemaError, astream_model, stream_model
from jsontide.schema import ArrayView, Done, ObjectView, from_json_ast
from tests.cuts import Chunks, every, fed, singles, whole
from tests.relations import grows, same
from tests.schema.kinds import Everything
from tests.strategies import cut, examples
from tests.streams.arriving import arriving


class Day(BaseModel):
    title: str
    tags: list[str] = []
    km: float | None = Field(default=None, alias="distance")


class Itinerary(BaseModel):
    city: str
    nights: int = 1
    days: list[Day]
    errors: str = ""


DAYS = '[{"title": "Arrive", "distance": 2.5}, {"title": "Rest", "tags": ["a"]}]'
TEXT = f'{{"city": "Porto", "errors": "none", "days": {DAYS}}}'
BAD = '{"city": 12, "days": [{"title": "Arrive"}, {"title": null}], "nights": 2}'


def taken(chunks: Any, schema: Any, **options: Any) -> tuple[list[Any], Exception | None]:
    """Everything that a stream yields, and what it raises then."""
    found: list[Any] = []
    try:
        found.extend(stream_model(iter(chunks), schema, **options))
    except (SchemaError, JsonStreamError) as error:
        return found, error
    return found, None


async def ataken(chunks: Chunks, schema: Any) -> tuple[list[Any], Exception | None]:
    found: list[Any] = []
    try:
        async for each in astream_model(arriving(chunks), schema):
            found.append(each)  # noqa: PERF401 - what came before the error counts
    except (SchemaError, JsonStreamError) as error:
        return found, error
    return found, None


@examples(2)
@given(st.sampled_from([TEXT, BAD, TEXT[:-9]]), st.data())
def test_partials_grow_and_end_with_the_instance_or_every_mismatch(text: str, data: st.DataObject) -> None:
    chunks = data.draw(cut(text))
    found, error = taken(chunks, Itinerary)
    partials = [each for each in found if isinstance(each, Partial)]
    old: Any = MISSING
    for partial in partials:
        if not partial.resolution.model:
            assert grows(old, partial.resolution.value)
            old = partial.resolution.value
        assert not isinstance(partial, Itinerary)
    if text == TEXT:
        assert error is None
        assert found[-1] == Itinerary.model_validate_json(TEXT)
        assert len(partials) == len(found) - 1
    else:
        assert len(partials) == len(found)
        assert isinstance(error, SchemaError if text == BAD else JsonStreamError)


@examples(1)
@given(st.sampled_from([TEXT, BAD, TEXT[:-9]]), st.data())
def test_async_streams_give_the_same(text: str, data: st.DataObject) -> None:
    chunks = data.draw(cut(text))
    found, error = taken(chunks, Itinerary)
    afound, aerror = asyncio.run(ataken(chunks, Itinerary))
    assert list(map(repr, afound)) == list(map(repr, found))
    assert repr(aerror) == repr(error)


def test_a_schema_error_lists_every_mismatch_with_path_and_place() -> None:
    for chunks in every(BAD):
        _, error = taken(chunks, Itinerary)
        assert isinstance(error, SchemaError)
        assert [mismatch.path for mismatch in error.errors] == [("city",), ("days", 1, "title")]
        lines = str(error).splitlines()
        assert lines[0] == "2 values do not fit the schema"
        assert lines[1] == "  root.city: expected a string, found 12 (line 1, column 10)"
        assert lines[2] == "  root.days[1].title: expected a string, found null (line 1, column 54)"


def test_nothing_is_pulled_before_it_is_asked_for_and_partials_come_at_once() -> None:
    pulled: list[str] = []

    def chunks() -> Iterator[str]:
        for chunk in ('{"city": "Po', 'rto", ', '"days": []}'):
            pulled.append(chunk)
            yield chunk

    stream = stream_model(chunks(), Itinerary)
    assert not pulled
    first = next(stream)
    assert isinstance(first, Partial)
    assert (len(pulled), first.city) == (1, "Po")


def test_the_last_partial_comes_before_the_stream_ends() -> None:
    def chunks() -> Iterator[str]:
        yield '{"city": "Porto", "days": []}'
        raise ConnectionError

    stream = stream_model(chunks(), Itinerary)
    assert next(stream).city == "Porto"
    with pytest.raises(ConnectionError):
        next(stream)


def partial_of(text: str, schema: Any = Itinerary) -> Any:
    return Partial(from_json_ast(schema, fed(whole(text))))


def test_attributes_are_those_of_the_model_and_missing_before_they_come() -> None:
    trip = partial_of('{"city": "Porto", "days": [{"title": "Arrive", "distance": 2.5}, {"ti')
    assert (trip.city, trip.nights, trip.so_far.errors) == ("Porto", MISSING, MISSING)
    assert [day.title for day in trip.days] == ["Arrive", MISSING]
    assert trip.days[0].km == 2.5
    assert trip.days[0]["distance"] == 2.5
    assert trip.days[-1].tags is MISSING
    assert len(trip.days[:1]) == 1
    assert "title" in trip.days[0]
    assert list(trip.days[0]) == ["title", "distance"]


def seen_in(shown: Any) -> Iterator[Any]:
    """Everything that a partial shows, at every place."""
    yield shown
    if isinstance(shown, ObjectView):
        for key in shown:
            yield from seen_in(shown[key])
    elif isinstance(shown, ArrayView):
        for each in shown:
            yield from seen_in(each)


def test_what_a_partial_shows_is_json_so_far_or_missing_as_type_checkers_are_told() -> None:
    text = (
        '{"title": "a", "mood": "calm", "level": 2, "pair": ["1", "b"], "seen": [1], "when": "2026-01-02T03:04:05Z", '
        '"day": "2026-01-02", "pet": {"kind": "cat"}, "who": "00000000-0000-0000-0000-000000000000"}'
    )
    kinds = (ObjectView, ArrayView, str, int, float, bool, Missing, type(None))
    *partials, last = taken(singles(text), Everything)[0]
    for partial in partials:
        assert all(type(each) in kinds for each in seen_in(partial.so_far))
        assert (partial.when, partial.mood) == (partial.resolution.value.get("when", MISSING), partial["mood"])
    assert (partials[-1].when, partials[-1].mood, partials[-1].pair[0]) == ("2026-01-02T03:04:05Z", "calm", 1)
    assert (last.when.year, last.mood.value) == (2026, "calm")


def test_a_pattern_finds_what_has_come() -> None:
    def first_title(text: str) -> Any:
        match partial_of(text).days:
            case [ObjectView(title=str(title)), *_]:
                return title
        return None

    assert [first_title(text) for text in ("{", '{"days": [{', '{"days": [{"title": "Arr')] == [None, None, "Arr"]


def test_a_name_that_the_model_does_not_have_is_an_attribute_error() -> None:
    trip = partial_of('{"city": "Porto", "unknown": 1')
    with pytest.raises(AttributeError, match="'town'"):
        _ = trip.town
    with pytest.raises(AttributeError, match="'unknown'"):
        _ = trip.unknown
    assert not hasattr(partial_of(""), "city")


@pytest.mark.parametrize(
    ("path", "complete"),
    [
        ("city", True),
        ("days", False),
        ("days[0]", True),
        ("days[0].title", True),
        ("days[0].km", True),
        ("days[0].distance", True),
        (("days", 0, "title"), True),
        ("days[1].title", False),
        ("days[1].tags", False),
        ("days[7].title", False),
        ("nights", False),
        ("unknown", False),
        ("root", False),
    ],
)
@pytest.mark.untraced
def test_is_complete_tells_of_values_that_will_not_change(path: Any, complete: bool) -> None:  # noqa: FBT001
    text = '{"city": "Porto", "nights": "x", "unknown": 1, "days": [{"title": "A", "distance": 2.5}, {"title": "Re'
    for chunks in every(text):
        assert Partial(from_json_ast(Itinerary, fed(chunks))).is_complete_at(path) is complete


def test_a_path_with_many_values_is_refused() -> None:
    with pytest.raises(ValueError, match="may lead to many"):
        partial_of("{").is_complete_at("days[*].title")
    with pytest.raises(TypeError, match="a path must"):
        partial_of("{").is_complete_at(None)


@dataclass
class Stop:
    place: str


class Note(TypedDict):
    text: str


@pytest.mark.parametrize(
    ("schema", "text", "look", "seen"),
    [
        (Stop, '{"place": "Ko', lambda partial: partial.place, "Ko"),
        (Note, '{"text": "a', lambda partial: partial["text"], "a"),
        (list[Stop], '[{"place": "Ko', lambda partial: partial.so_far[0].place, "Ko"),
        (dict[str, Stop], '{"x": {"place": "K', lambda partial: partial["x"].place, "K"),
        (str, '"gro', lambda partial: partial.so_far, "gro"),
        (Stop | Note, '{"place": "a"}', lambda partial: partial.place, "a"),
        ({"properties": {"a": {"type": "string"}}}, '{"a": "x', lambda partial: partial.a, "x"),
    ],
)
def test_every_kind_of_schema_has_partials(schema: Any, text: str, look: Any, seen: Any) -> None:
    partial = partial_of(text, schema)
    assert look(partial) == seen
    if isinstance(schema, type) and not is_typeddict(schema):
        assert not isinstance(partial, schema)


def test_partials_can_be_copied_and_pickled() -> None:
    trip = partial_of('{"days": [{"title": "a')
    for other in (copy.copy(trip), copy.deepcopy(trip), pickle.loads(pickle.dumps(trip))):  # noqa: S301
        assert other.days == trip.days
        assert other.so_far == trip.so_far
    for view in (trip.days, trip.days[0], trip.so_far):
        assert copy.copy(view) == copy.deepcopy(view) == view
        with pytest.raises(TypeError, match="pickle the partial"):
            pickle.dumps(view)


def test_views_compare_by_what_they_show() -> None:
    one, other = partial_of('{"days": [{"title": "a'), partial_of('{"days":[{"title":"a')
    assert one.days == other.days
    assert one.days[0] == other.days[0]
    assert one.days != [{"title": "a"}]
    assert repr(one.days[0]) == "<so far: {'title': 'a'}>"


def test_policies_are_passed_on() -> None:
    found, _ = taken(singles('{"city": "Porto", "days": []}'), Itinerary, policies={"city": Done()})
    assert {each.city for each in found} == {MISSING, "Porto"}


def test_a_json_schema_ends_with_the_value() -> None:
    *partials, last = stream_model(singles('{"a": [1, 2]}'), {"type": "object"})
    assert all(isinstance(partial, Partial) for partial in partials)
    assert same(last, {"a": [1, 2]})
