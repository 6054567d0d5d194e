"""Partials as type checkers see them: what is not there yet, or not yet of its final type, is not typed as such."""

from pathlib import Path

import pytest

from tests.typecheck import check_program, checkers

PROGRAM = """
from collections.abc import AsyncIterator
from datetime import datetime
from enum import Enum
from typing import assert_type

from pydantic import BaseModel, TypeAdapter

from jsontide import MISSING, ParserState, Partial, astream_model, stream_model
from jsontide.schema import Resolution, from_json_ast
from jsontide.schema import ArrayView, ObjectView, PartialValue

class Mood(Enum):
    CALM = "calm"

class Day(BaseModel):
    title: str

class Trip(BaseModel):
    created: datetime
    mood: Mood
    city: str
    days: list[Day]

def takes_text_for_a_date(trip: Partial[Trip]) -> object:
    return trip.created.year  # refused

def takes_text_for_a_date_so_far(trip: Partial[Trip]) -> object:
    return trip.so_far.created.year  # refused

def takes_text_for_a_member(trip: Partial[Trip]) -> object:
    return trip.mood.value  # refused

def takes_what_has_not_come(trip: Partial[Trip]) -> object:
    return trip.city.upper()  # refused

def takes_what_has_not_come_by_its_key(trip: Partial[Trip]) -> str:
    return trip["city"]  # refused

def takes_items_that_have_not_come(trip: Partial[Trip]) -> object:
    return trip.days[0]  # refused

def takes_a_partial_for_the_whole(trip: Partial[Trip]) -> Trip:
    return trip  # refused

def takes_what_is_so_far_for_the_whole(trip: Partial[Trip]) -> Trip:
    return trip.so_far  # refused

def takes_an_item_for_a_day(days: ArrayView) -> Day:
    return days[0]  # refused

def takes_what_is_in_it(day: ObjectView) -> object:
    return day.title.upper()  # refused

def adds_to_a_number(values: Partial[list[int]]) -> object:
    return [value + 1 for value in values]  # refused

def takes_the_model_before_the_end(resolution: Resolution[Trip]) -> object:
    return resolution.model.created  # refused

def asks_what_it_is(trip: Partial[Trip]) -> str:
    assert_type(trip.city, PartialValue)
    return trip.city.upper() if isinstance(trip.city, str) else ""

def asks_for_what_is_inside(trip: Partial[Trip]) -> str:
    match trip.days:
        case [ObjectView(title=str(title)), *_]:
            return title.upper()
    return ""

def asks_whether_it_came(trip: Partial[Trip]) -> bool:
    return trip.city is not MISSING and trip.is_complete_at("city")

def goes_through_it(trip: Partial[Trip]) -> list[str]:
    days = trip.days
    return [str(day.title) for day in days if isinstance(day, ObjectView)] if isinstance(days, ArrayView) else []

def takes_the_instance(resolution: Resolution[Trip]) -> int:
    return 0 if resolution.model is MISSING else resolution.model.created.year

def takes_the_last(chunks: list[str]) -> int:
    for trip in stream_model(chunks, Trip):
        if not isinstance(trip, Partial):
            return assert_type(trip, Trip).created.year
    return 0

def has_an_adapter(chunks: list[str], state: ParserState) -> None:
    adapter = TypeAdapter(list[Day])
    assert_type(from_json_ast(adapter, state), Resolution[list[Day]])
    for days in stream_model(chunks, adapter):
        assert_type(days, Partial[list[Day]] | list[Day])

async def has_an_adapter_and_waits(chunks: AsyncIterator[str]) -> None:
    async for days in astream_model(chunks, TypeAdapter(Day)):
        assert_type(days, Partial[Day] | Day)

def has_a_json_schema(state: ParserState) -> object:
    return from_json_ast({"type": "object"}, state).value
"""


@pytest.mark.long
@pytest.mark.once
@checkers
def test_type_checkers_refuse_what_is_not_there_yet_or_not_yet_of_its_type(checker: str, tmp_path: Path) -> None:
    check_program(checker, PROGRAM, tmp_path)
