"""Which tests `make check` runs."""

import pytest

from tests.changed import find_costly, find_tests


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ("src/jsontide/tree/_state.py", ["tests/tree"]),
        ("src/jsontide/_path.py", ["tests/test_path.py"]),
        ("tests/tree/test_state.py", ["tests/tree/test_state.py"]),
        ("tests/oracles.py", []),
        ("benchmarks/sides.py", ["tests/test_benchmarks.py"]),
        ("docs/concepts/parser.md", ["docs/concepts/parser.md"]),
        ("README.md", ["README.md"]),
        ("docs/measured/benchmarks.svg", []),
        ("Makefile", []),
    ],
)
def test_a_change_leads_to_its_tests(changed: str, expected: list[str]) -> None:
    assert list(find_tests([changed])) == expected


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (["tests/tree"], []),
        (["tests/events", "tests/test_path.py"], ["tests/events/test_event_cost.py"]),
        (["tests/events", "tests/events/test_event_cost.py"], []),
        (["tests/events/test_event_cost.py"], []),
    ],
)
def test_cost_tests_are_left_out_unless_they_changed(found: list[str], expected: list[str]) -> None:
    assert list(find_costly(found)) == expected
