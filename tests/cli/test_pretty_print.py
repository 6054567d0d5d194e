import itertools
import json
from functools import reduce
from operator import getitem
from pathlib import Path as FilePath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from jsontide import MISSING, JsonValue, create_parser_state, parse_chunk
from jsontide.cli._drawing import Room, print_end
from jsontide.cli._output import write_pretty
from jsontide.frontends import open_path
from jsontide.frontends.changes import walk
from jsontide.tree import Path

ITINERARY = FilePath(__file__).parents[2] / "examples" / "itinerary.json"


def rows(value: JsonValue, growing: Path | None = None, *, width: int = 80, height: int = 1000) -> list[str]:
    console = Console(width=width, height=height)
    return [row.plain for row in print_end(console, value, growing, Room(width, height))]


def rows_of(text: str) -> list[str]:
    state = parse_chunk(create_parser_state(), text)
    assert state.value is not MISSING
    return rows(state.value, open_path(state))


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -1.5e300,
        "",
        [],
        {},
        [[], {}, [[]]],
        {"": [1, {"a": None}, False], "b": {"c": "d\n\"é'"}},
    ],
)
def test_a_finished_value_is_printed_as_json_prints_it(value: JsonValue) -> None:
    assert rows(value) == json.dumps(value, indent=2, ensure_ascii=False).split("\n")


def test_the_example_is_printed_as_json_prints_it() -> None:
    value = json.loads(ITINERARY.read_bytes())
    expected = json.dumps(value, indent=2, ensure_ascii=False).split("\n")
    assert rows(value, width=200) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{", ["{▌"]),
        ('{"a', ["{▌"]),
        ('{"a":"x', ["{", '  "a": "x▌']),
        ('{"a":"x"', ["{", '  "a": "x"', "  ▌"]),
        ('{"a":1,"b":[', ["{", '  "a": 1,', '  "b": [▌']),
        ('{"a":{"b":[{}', ["{", '  "a": {', '    "b": [', "      {}", "      ▌"]),
        ('"half \\u00', ['"half ▌']),
    ],
)
def test_the_growing_end_is_marked_and_nothing_open_is_closed(text: str, expected: list[str]) -> None:
    assert rows_of(text) == expected


def test_a_repeated_key_grows_where_it_stands() -> None:
    assert rows_of('{"a":1,"b":2,"a":"x') == ["{", '  "a": "x▌', '  "b": 2']


@pytest.mark.parametrize("height", [1, 2, 5])
def test_of_a_long_value_the_end_is_shown(height: int) -> None:
    whole = rows(list(range(50)))
    shown = rows(list(range(50)), height=height)
    assert shown == ["⋮", *whole[len(whole) - height + 1 :]]
    assert rows([1, 2], height=4) == ["[", "  1,", "  2", "]"]


@pytest.mark.parametrize("width", [10, 23, 40])
def test_no_row_is_wider_than_the_terminal(width: int) -> None:
    deep: JsonValue = "bottom 深い " * 5
    for _ in range(100):
        deep = {"key with spaces": deep}
    shown = rows([deep, json.loads(ITINERARY.read_bytes())], width=width)
    assert max(map(cell_len, shown)) <= width


def test_of_a_long_string_the_growing_end_is_shown() -> None:
    shown = rows(["word " * 100_000 + "end"], (0,), width=30, height=5)
    assert shown[0] == "⋮"
    assert shown[-1].endswith("end▌")
    assert len(shown) == 5


def test_depth_does_not_meet_pythons_limit() -> None:
    value: JsonValue = []
    for _ in range(5_000):
        value = [value]
    assert len(rows(value, height=20_000)) == 10_001


class CountingList(list[JsonValue]):
    """Counts how many items were taken from its end."""

    taken = 0

    def __reversed__(self):  # type: ignore[no-untyped-def] # noqa: ANN204 - list's own is a C type
        for item in super().__reversed__():
            self.taken += 1
            yield item


def test_a_frame_looks_only_at_what_fits() -> None:
    value = CountingList(itertools.repeat(0, 100_000))
    rows(value, (), height=20)
    assert value.taken <= 21


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(VALUES)
def test_a_value_is_written_as_json_writes_it(value: JsonValue) -> None:
    assert write_pretty(value) == json.dumps(value, indent=2, ensure_ascii=False)


@given(VALUES)
def test_a_walk_finds_every_value_at_its_path(value: JsonValue) -> None:
    found = list(walk(value, ("x",)))
    assert found[0] == (("x",), value)
    whole: Any = {"x": value}
    assert all(reduce(getitem, path, whole) is inner for path, inner in found)
    assert len({path for path, _ in found}) == len(found)


def test_a_document_may_be_deeper_than_the_stack_of_python() -> None:
    deep: JsonValue = []
    for _ in range(5_000):
        deep = [deep]
    text = write_pretty(deep)
    assert "".join(text.split()) == "[" * 5_001 + "]" * 5_001
    assert max(map(len, text.splitlines())) < 500
    assert sum(1 for _ in walk(deep)) == 5_001


def test_numbers_that_python_cannot_hold_are_written() -> None:
    assert json.loads(write_pretty([float("inf"), float("-inf")])) == [float("inf"), float("-inf")]
