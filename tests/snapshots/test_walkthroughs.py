"""Streams of snapshots written out chunk by chunk, with an example for each rule of the chunker.

They come from two descriptions of such chunkers, which print the chunks.
Where a description would lose data, the chunk here is the one that law 6 demands, and the name of the case says so.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest

from jsontide import JsonStreamChunker

Rows = tuple[tuple[str, str], ...]
"""Snapshots, each with the chunk that it must give; without a snapshot, the end of the stream."""

DESCRIPTION = "Embark on a thrilling morning game drive to witness the Great Migration in all its glory."

STACK_WALKTHROUGH: Rows = (
    ('{"title":""}', '{"title":"'),
    ('{"title":"Mount"}', "Mount"),
    ('{"title":"Mount Fuji"}', " Fuji"),
    ('{"title":"Mount Fuji","days":[]}', '","days":['),
    ('{"title":"Mount Fuji","days":[{}]}', "{"),
    ('{"title":"Mount Fuji","days":[{"name":"Day 1"}]}', '"name":"Day 1'),
    ("", '"}]}'),
)
"""From the first description, which writes the last chunk and the end of the stream in one row."""

SAFARI_WALKTHROUGH: Rows = (
    ('{"days": [{"subtitle": "Day"}]}', '{"days":[{"subtitle":"Day'),
    (
        '{"days": [{"subtitle": "Day 1: Arrival and Wildlife Safari", "activities": []}]}',
        ' 1: Arrival and Wildlife Safari","activities":[',
    ),
    (
        (
            '{"days": [{"subtitle": "Day 1: Arrival and Wildlife Safari", '
            '"activities": [{"title": "", "type": "Sightseeing"}]}]}'
        ),
        "{",
    ),
    (
        (
            '{"days": [{"activities": [{"type": "Sightseeing", "description": "Embark", '
            '"title": "Morning Game Drive"}], "subtitle": "Day 1: Arrival and Wildlife Safari"}]}'
        ),
        '"type":"Sightseeing","title":"Morning Game Drive","description":"Embark',
    ),
    (
        (
            '{"days": [{"activities": [{"description": "Embark on a thrilling", "title": "Morning Game Drive", '
            '"type": "Sightseeing"}], "subtitle": "Day 1: Arrival and Wildlife Safari"}]}'
        ),
        " on a thrilling",
    ),
    (
        (
            '{"days": [{"subtitle": "Day 1: Arrival and Wildlife Safari", '
            f'"activities": [{{"description": "{DESCRIPTION}", "type": "Sightseeing", "title": "Morning Game Drive"}}, '
            '{"type": ""}]}]}'
        ),
        ' morning game drive to witness the Great Migration in all its glory."},{"type":"',
    ),
    (
        (
            '{"days": [{"subtitle": "Day 1: Arrival and Wildlife Safari", '
            f'"activities": [{{"title": "Morning Game Drive", "description": "{DESCRIPTION}", "type": "Sightseeing"}}, '
            '{"type": "FoodAndDining", "title": "Lunch"}]}]}'
        ),
        'FoodAndDining","title":"Lunch',
    ),
    (
        (
            f'{{"days": [{{"activities": [{{"type": "Sightseeing", "description": "{DESCRIPTION}", '
            '"title": "Morning Game Drive"}, '
            '{"description": "Enjoy", "title": "Lunch at Restaurant 1", "type": "FoodAndDining"}], '
            '"subtitle": "Day 1: Arrival and Wildlife Safari"}]}'
        ),
        ' at Restaurant 1","description":"Enjoy',
    ),
    ("", '"}]}]}'),
)
"""From the second description; the fifth snapshot, which it abridges, is written out."""

RULES: dict[str, Rows] = {
    "a number after values that wait says that they are complete": (
        ('{"a": "x", "b": "y"}', "{"),
        ('{"a": "x", "b": "y", "n": 5}', '"n":5,"a":"x","b":"y"'),
        ("", "}"),
    ),
    "000 the problem": (
        ('{"name":"Mat"}', '{"name":"Mat'),
        ('{"name":"Matthew"}', "thew"),
        ('{"name":"Matthew","age":32}', '","age":32'),
        ("", "}"),
    ),
    "000 change detection": (('{"title":"Mount"}', '{"title":"Mount'), ('{"title":"Mount Fuji"}', " Fuji")),
    "000 stack reconciliation": (
        ('{"days":[{"activities":[1,2,{"description":"x"}]}]}', '{"days":[{"activities":[1,2,{"description":"x'),
        ('{"days":[{"activities":[1,2,{"description":"x"},{}]}]}', '"},{'),
    ),
    "000 completion detection": (
        ('{"title":"Mount Fuji"}', '{"title":"Mount Fuji'),
        ('{"title":"Mount Fuji","days":[]}', '","days":['),
        ('{"title":"Mount Fuji","days":[{"name":""}]}', '{"name":"'),
    ),
    "000 property reordering": (
        ('{"b":"hello","a":1}', '{"a":1,"b":"hello'),
        ('{"a":1,"b":"hello world"}', " world"),
        ("", '"}'),
    ),
    "000 empty values that get filled": (('{"title":""}', '{"title":"'), ('{"title":"Mount"}', "Mount")),
    "000 nested object appears": (
        ('{"days":[]}', '{"days":['),
        ('{"days":[{}]}', "{"),
        ('{"days":[{"name":""}]}', '"name":"'),
    ),
    "000 multiple properties complete": (
        ('{"a":"hello"}', '{"a":"hello'),
        ('{"a":"hello","b":"wor"}', '","b":"wor'),
        ('{"a":"hello","b":"world","c":123}', 'ld","c":123'),
    ),
    "001 sibling rule": (('{"name": "Mat"}', '{"name":"Mat'), ('{"name": "Matthew", "age": 30}', 'thew","age":30')),
    "001 parent-level rule": (
        ('{"days": [{"title": "Day 1"}]}', '{"days":[{"title":"Day 1'),
        ('{"days": [{"title": "Day 1"}, {"title": "Day 2"}]}', '"},{"title":"Day 2'),
    ),
    "001 unchanged rule": (
        ('{"name": "Matthew"}', '{"name":"Matthew'),
        ('{"name": "Matthew", "age": 30}', '","age":30'),
    ),
    "001 pending rule, strings": (
        ('{"count": 5}', '{"count":5'),
        ('{"count": 5, "a": "Hello", "b": "World"}', ""),
        ('{"count": 5, "a": "Hello", "b": "World!"}', ',"a":"Hello","b":"World!'),
    ),
    "001 pending rule, the string is active, and the empty array waits on": (
        ('{"days": [{}]}', '{"days":[{'),
        ('{"days": [{"subtitle": "", "activities": []}]}', ""),
        ('{"days": [{"subtitle": "Day 1", "activities": []}]}', '"subtitle":"Day 1'),
        ("", '","activities":[]}]}'),
    ),
    "001 pending rule, the array is active, and the empty string waits on": (
        ('{"days": [{}]}', '{"days":[{'),
        ('{"days": [{"subtitle": "", "activities": []}]}', ""),
        ('{"days": [{"subtitle": "", "activities": [{"type": ""}]}]}', '"activities":[{"type":"'),
        ("", '"}],"subtitle":""}]}'),
    ),
    "001 nested array with growing string": (
        ('{"items": [{"name": "Jo"}]}', '{"items":[{"name":"Jo'),
        ('{"items": [{"name": "John"}]}', "hn"),
    ),
    "001 deep nesting": (
        ('{"root": {"level1": {"level2": {"value": "He"}}}}', '{"root":{"level1":{"level2":{"value":"He'),
        ('{"root": {"level1": {"level2": {"value": "Hello"}}}}', "llo"),
    ),
    "001 array grows by new item": (
        ('{"activities": [{"type": "Sight"}]}', '{"activities":[{"type":"Sight'),
        ('{"activities": [{"type": "Sight"}, {"type": "Food"}]}', '"},{"type":"Food'),
    ),
    "001 structures are closed down to the target": (
        ('{"days": [{"activities": []}]}', '{"days":[{"activities":['),
        ('{"days": [{"activities": []}, {}]}', "]},{"),
    ),
    "001 unchanged values are not closed, they may have paused": (
        ('{"name": "Mat"}', '{"name":"Mat'),
        ('{"name": "Mat"}', ""),
        ('{"name": "Matthew"}', "thew"),
    ),
}


def as_text(chunker: JsonStreamChunker, snapshot: str) -> str:
    return chunker.process(snapshot)


def as_bytes(chunker: JsonStreamChunker, snapshot: str) -> str:
    return chunker.process(snapshot.encode())


def as_value(chunker: JsonStreamChunker, snapshot: str) -> str:
    return chunker.process_value(json.loads(snapshot))


Form = Callable[[JsonStreamChunker, str], str]
forms = pytest.mark.parametrize("form", [as_text, as_bytes, as_value])


def walk(rows: Rows, form: Form, **options: Any) -> list[str]:
    chunker = JsonStreamChunker(**options)
    return [form(chunker, snapshot) if snapshot else chunker.flush() for snapshot, _ in rows]


@forms
def test_the_walkthrough_of_the_stack(form: Form) -> None:
    assert walk(STACK_WALKTHROUGH, form) == [chunk for _, chunk in STACK_WALKTHROUGH]


def test_the_last_row_of_the_stack_is_a_chunk_and_the_end() -> None:
    assert "".join(walk(STACK_WALKTHROUGH, as_text)[5:]) == '"name":"Day 1"}]}'


@forms
def test_the_walkthrough_of_the_safari(form: Form) -> None:
    assert walk(SAFARI_WALKTHROUGH, form) == [chunk for _, chunk in SAFARI_WALKTHROUGH]


@forms
@pytest.mark.parametrize("rows", RULES.values(), ids=RULES)
def test_the_examples_of_the_rules(rows: Rows, form: Form) -> None:
    assert walk(rows, form) == [chunk for _, chunk in rows]


@forms
def test_with_max_wait_pending_values_that_do_not_change_are_complete(form: Form) -> None:
    rows = (
        ('{"a": "x", "b": "y"}', "{"),
        ('{"a": "x", "b": "y"}', '"a":"x","b":"y"'),
        ('{"a": "x", "b": "y", "c": "z"}', ',"c":"z'),
        ("", '"}'),
    )
    assert walk(rows, form, max_wait=1) == [chunk for _, chunk in rows]


@forms
def test_null_that_waits_does_not_hold_back_what_is_empty(form: Form) -> None:
    rows = (('{"a": null}', ""), ('{"a": null, "b": []}', '{"b":['), ("", '],"a":null}'))
    assert walk(rows, form, nulls="late") == [chunk for _, chunk in rows]
