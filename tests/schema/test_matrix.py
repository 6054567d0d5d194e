"""The matrix of docs/concepts/schema.md: schema kind by node state, each cell a test, whole and at every cut."""

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from jsontide import loads
from jsontide.schema import Status, from_json_ast
from tests.cuts import every, fed
from tests.relations import same
from tests.schema.kinds import FITTING, KINDS, MATRIX, STATES, Cell, cells, table
from tests.schema.resolving import resolutions

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "schema.md"


@pytest.mark.parametrize(
    ("kind", "state", "cell"), list(cells()), ids=lambda part: part if isinstance(part, str) else ""
)
def test_the_cell_is_as_the_matrix_says(kind: str, state: str, cell: Cell) -> None:
    for chunks in every(cell.text):
        last = resolutions(cell.schema, chunks)[-1]
        assert same(last.value, cell.value), (kind, state)
        assert last.status is cell.status
        assert bool(last.errors) is (cell.status is Status.MISMATCH)


def test_the_matrix_has_a_cell_for_every_kind_and_state() -> None:
    assert set(MATRIX) == {(kind, state) for kind in KINDS for state in STATES}


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_matrix_calls_fitting_is_what_jsonschema_accepts(kind: str) -> None:
    tool = Draft202012Validator(KINDS[kind])
    closed = [state for state in STATES if state.startswith("closed")]
    assert [tool.is_valid(loads(MATRIX[kind, state][0])) for state in closed] == [state == FITTING for state in closed]


def test_the_page_shows_the_matrix() -> None:
    assert table() in PAGE.read_text("utf-8"), f"docs/concepts/schema.md should have this table:\n{table()}"


def test_an_open_value_is_never_final() -> None:
    for _, state, cell in cells():
        if not state.startswith("closed"):
            assert from_json_ast(cell.schema, fed([cell.text])).status is not Status.FINAL
