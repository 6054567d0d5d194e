"""The benchmark without its clock: documents, audit, estimates, checks and tables."""

import json
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks import audit, builds, ours
from benchmarks.checks import Check, Figure, Run, checks
from benchmarks.documents import CUTS, DEPTH, SHAPES, document
from benchmarks.measure import Case, Results, foreseen
from benchmarks.peers import JITER, bytes_again, text_again
from benchmarks.report import cost_cell
from benchmarks.tables import Table, for_terminal, markdown
from benchmarks.timing import Cost, Course, spread
from benchmarks.works import Feed, Works


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("cut", CUTS)
def test_documents_are_valid_near_their_size_and_always_the_same(shape: str, cut: str) -> None:
    made = document(shape, 10_000, cut)
    assert made == document(shape, 10_000, cut)
    assert json.loads(made.text)
    assert abs(len(made.text) - 10_000) < 500
    assert "".join(made.chunks) == made.text
    least, most = CUTS[cut]
    assert all(least <= len(chunk) <= most for chunk in made.chunks[:-1])


def test_records_hold_escapes_surrogate_pairs_and_text_outside_of_ascii() -> None:
    text = document("records", 10_000, "tokens").text
    assert all(part in text for part in ("\\n", "\\u", "\\ud83", "é"))


def test_the_deep_document_is_as_deep_as_it_says() -> None:
    text = document("deep", 1_000, "tokens").text
    assert max(text[:at].count("[") + text[:at].count("{") for at in range(len(text))) == DEPTH


def test_the_flat_object_has_5000_keys_at_100_kb() -> None:
    assert len(json.loads(document("flat", 100_000, "tokens").text)) == pytest.approx(5_000, rel=0.2)


def shown_by(feed: Feed, chunks: list[str]) -> audit.Finding:
    return audit.compared(feed, audit.moments(chunks))


CHUNKS = ['{"a": 1', '2, "b": "x', "y", 'z"', "}"]


def test_the_audit_finds_nothing_wrong_with_jsontide() -> None:
    found = audit.audited(ours.works(builds.imported_from(builds.SOURCE.parent, "jsontide")), [audit.moments(CHUNKS)])
    assert found is not None
    assert (found.right, found.strings, found.raised, found.is_final_right) == (len(CHUNKS), 1, 0, True)
    assert not any(found.flicker.values())


def scripted(*values: object) -> Feed:
    """A feed that shows what it was told to, whatever the text is."""
    rest = iter(values)
    return lambda _: next(rest)


END = {"a": 12, "b": "xyz"}


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (({"a": 1}, {"a": 12, "b": "x"}, {"a": 12, "b": "xy"}, END, END), audit.RENUMBERED),
        (({}, {"a": 12, "b": "x"}, {"a": 12}, END, END), audit.LOST),
        (({}, {"a": 12, "b": "x"}, {"a": 12, "b": "qy"}, {"a": 12, "b": "qyz"}, END), audit.REWRITTEN),
        (({}, {"a": 12, "b": None}, {"a": 12, "b": "xy"}, END, END), audit.RETYPED),
    ],
)
def test_the_audit_names_what_was_taken_back(values: tuple[object, ...], kind: str) -> None:
    found = shown_by(scripted(*values), CHUNKS)
    assert found.flicker[kind]
    assert found.right < len(CHUNKS)
    assert found.is_final_right


def test_the_audit_sees_a_string_that_stops_at_its_first_fragment() -> None:
    first = {"a": 12, "b": "x"}
    found = shown_by(scripted({}, first, first, END, END), CHUNKS)
    assert (found.growing, found.growing_right) == (2, 1)
    assert not found.shows_strings


def test_the_audit_tells_one_from_one_point_zero_at_the_end() -> None:
    assert not shown_by(scripted({}, END, END, END, {"a": 12.0, "b": "xyz"}), CHUNKS).is_final_right


def test_the_audit_counts_what_a_side_raises() -> None:
    def feed(_: str) -> object:
        raise ValueError

    assert shown_by(feed, CHUNKS).raised == len(CHUNKS)


@pytest.mark.parametrize("again", [bytes_again, text_again])
def test_a_reparse_that_starts_late_sees_all_text(again: Callable[[Callable[[object], object], str], Feed]) -> None:
    feed = again(lambda text: text, "one ")
    feed("two ")
    assert feed("drei ß") in {"one two drei ß", "one two drei ß".encode()}


@pytest.mark.parametrize(("most", "places"), [(0, [50]), (2, [50]), (3, [25, 50, 75]), (6, [25, 50, 75])])
def test_places_are_spread_evenly_around_the_middle(most: int, places: list[int]) -> None:
    assert spread(100, most) == places


def test_a_stream_that_was_cut_off_is_continued_by_a_straight_line() -> None:
    course = Course(100, [10] * 10, [(at + 0.5) / 10 for at in range(10)], lambda _: [], 1.0)
    course.best = [10 * (1 + at) for at in range(4)]  # a chunk costs 1, 2, 3, 4 ... in the stretches
    cost = course.cost()
    assert cost.seconds == pytest.approx(5.5)
    assert cost.is_extrapolated
    course.best = [10 * (1 + at) for at in range(10)]
    assert course.cost() == Cost(5.5, 100, 100)


def test_rounds_keep_the_least_of_each_stretch() -> None:
    rounds = iter([[3.0, 1.0], [2.0, 2.0]] * 20)
    course = Course(2, [1, 1], [0.25, 0.75], lambda _: next(rounds), 1.0)
    course.round()
    assert course.best == [2.0, 1.0]


def test_what_took_too_long_is_not_tried_again_but_grows_on() -> None:
    results = Results()
    for size, seconds in ((1_000, 0.004), (10_000, 0.4)):
        results.costs[Case("records", size, "tokens", "dropped", "slow")] = Cost(seconds, 1, 1)
    far = foreseen(Case("records", 100_000, "tokens", "dropped", "slow"), results, 5)
    assert far is not None
    assert far.seconds == pytest.approx(40)
    assert (far.chunks, far.measured) == (5, 0)
    assert foreseen(Case("records", 10_000, "tokens", "dropped", "slow"), results, 5) is None


@pytest.mark.parametrize(
    ("dropped", "held", "reached"),
    [(5, 5, "yes"), (5, 4, "only when dropped"), (4, 5, "only when held"), (4, 4, "no"), (None, 5, "not measured")],
)
def test_a_demand_is_reached_in_both_ways_or_says_in_which(dropped: int | None, held: int, reached: str) -> None:
    assert Check("", 5.0, None, Figure(dropped) if dropped else None, Figure(held)).reached == reached


def test_checks_come_from_the_results_and_what_has_none_says_so() -> None:
    results = Results()
    for work, side, seconds in (("dropped", ours.COMPILED, 1), ("held", ours.COMPILED, 2), ("dropped", JITER, 5)):
        results.costs[Case("records", 1_000, "tokens", work, side)] = Cost(seconds, 1, 1)
    found = checks(Run(results, {}, {}, (JITER,)))
    assert found[0].dropped == Figure(5.0)
    assert found[0].held == Figure(2.5)
    assert found[0].reached == "only when dropped"
    assert {check.reached for check in found[1:]} == {"not measured"}


def test_a_cell_shows_the_cost_the_ratio_and_that_it_was_extrapolated() -> None:
    results = Results()
    ours_case, peer = (Case("records", 1_000, "tokens", "dropped", side) for side in (ours.COMPILED, "peer"))
    results.costs = {ours_case: Cost(1e-6, 10, 10), peer: Cost(25e-6, 10, 3)}
    run = Run(results, {}, {}, ("peer",))
    assert cost_cell(run, ours_case) == "1.00 (x1.00)"
    assert cost_cell(run, peer) == "~25.0 (x25)"


TABLE = Table("Title", ["side", "1 KB"], [["a|b", "1.00"]], ["A note."])


def test_a_table_becomes_markdown() -> None:
    assert markdown(TABLE) == "### Title\n\nA note.\n\n| side | 1 KB |\n| --- | ---: |\n| a\\|b | 1.00 |\n"


def test_a_table_becomes_lines_on_a_terminal() -> None:
    out = StringIO()
    Console(file=out, width=60).print(for_terminal(TABLE))
    assert all(text in out.getvalue() for text in ("Title", "1 KB", "a|b", "A note."))


def test_a_copy_of_a_package_leaves_the_imported_one_alone(tmp_path: Path) -> None:
    (tmp_path / "jsontide.py").write_text("COMPILED = False", encoding="utf-8")
    before = sys.modules["jsontide"]
    copy = builds.imported_from(tmp_path, "jsontide")
    assert copy is not before
    assert sys.modules["jsontide"] is before
    with pytest.raises(ImportError, match="pure build"):
        builds.compiled(tmp_path)


def test_a_side_without_a_stream_is_not_audited() -> None:
    assert audit.audited(Works(whole=len), [audit.moments(CHUNKS)]) is None
