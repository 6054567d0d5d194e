import json
from functools import reduce
from operator import getitem
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from jsontide import JsonValue
from jsontide.cli._output import write_pretty
from jsontide.frontends.changes import walk

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
