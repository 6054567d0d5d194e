"""The corpus: what becomes of texts as models write them, however they are cut.

In: the cases of `tests/mend/corpus`. Out: whether each ends as a careful reader says.
Rule: a case that is not right yet is named in `known.toml` with its reason; no case may end in a wrong value.
"""

import json
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from jsontide import ParserError, create_parser_state, mend, parse_chunk
from jsontide.mend import Mending, MendState, Repair, RepairKind, feed_mend, finish_mend, start_mend
from jsontide.schema import shape_of
from tests.cuts import as_bytes, cut_randomly, singles, whole
from tests.mend.cases import REPEATS, Case, read_corpus
from tests.relations import grows, same

EVERY = read_corpus()
CASES = EVERY
KNOWN: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("known.toml").read_text("utf-8"))
LOSSY = {
    RepairKind.PROSE,
    RepairKind.THINKING,
    RepairKind.CODE_BLOCK,
    RepairKind.SECOND_VALUE,
    RepairKind.COMMENT,
    RepairKind.ELLIPSIS,
}


class Result(NamedTuple):
    outputs: list[str]
    repairs: tuple[Repair, ...]
    error: ParserError | None
    is_truncated: bool

    @property
    def text(self) -> str:
        return "".join(self.outputs)


def begin(case: Case) -> MendState:
    mending: Mending = replace(getattr(mend, case.mending), values=case.values)
    return start_mend(mending, None if case.schema is None else shape_of(case.schema))


def run(case: Case, chunks: Iterable[str] | Iterable[bytes]) -> Result:
    state = begin(case)
    outputs = []
    told: tuple[Repair, ...] = ()
    for chunk in chunks:
        state, text, repairs = feed_mend(state, chunk)
        outputs.append(text)
        told += repairs
    state, text, repairs = finish_mend(state)
    assert state.repairs == told + repairs
    return Result([*outputs, text], state.repairs, state.error, state.is_truncated)


def cut(text: str) -> Iterator[Sequence[str] | Sequence[bytes]]:
    """All but the whole: one character at a time, three random cuts, one byte at a time.

    A byte order mark belongs to the encoding of bytes, and is a repair only in a `str`.
    """
    yield singles(text)
    random = Random(text)
    for _ in range(3):
        yield cut_randomly(text, random)
    data = as_bytes(text)
    if data is not None and not text.startswith("\ufeff"):
        yield singles(data)


def slowly(text: str) -> list[Sequence[str]]:
    return [singles(text)]


Cuts = Callable[[str], Iterable[Sequence[str] | Sequence[bytes]]]
CUTS = pytest.mark.parametrize("cuts", [slowly, pytest.param(cut, marks=pytest.mark.long)], ids=["one by one", "any"])


def named(cases: Iterable[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", list(cases), ids=lambda case: case.name)


def fail_if_known(case: Case, field: str, request: pytest.FixtureRequest) -> None:
    """Expect the test to fail if `known.toml` says so."""
    known = KNOWN.get(case.name, {})
    if known.get(field):
        request.applymarker(pytest.mark.xfail(reason=known["why"]))


def outcome(result: Result) -> str:
    if result.error is not None:
        return "refused"
    if result.is_truncated:
        return "truncated"
    return "mended" if result.repairs else "strict"


def value_of(case: Case, text: str) -> Any:
    return [json.loads(line) for line in documents(text)] if case.values == "all" else json.loads(text)


def documents(text: str) -> Iterator[str]:
    """The documents of a text, one after the other."""
    at = 0
    while at < len(text.rstrip()):
        at += len(text[at:]) - len(text[at:].lstrip())
        _, end = json.JSONDecoder().raw_decode(text, at)
        yield text[at:end]
        at = end


def is_right(case: Case, result: Result) -> bool:
    if outcome(result) != case.expect:
        return False
    return result.error is not None or same(value_of(case, result.text), case.value)


def kinds(repairs: Iterable[Repair]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(repair.kind.name for repair in repairs))


def apply(text: str, repairs: Iterable[Repair]) -> str:
    """The text with all repairs made, by nothing but their fields."""
    done = []
    at = 0
    for repair in repairs:
        assert at <= repair.index, "repairs overlap or are out of order"
        assert text.startswith(repair.was, repair.index)
        done += [text[at : repair.index], repair.became]
        at = repair.index + len(repair.was)
    return "".join([*done, text[at:]])


@named(CASES)
def test_every_case_ends_as_a_careful_reader_says(case: Case) -> None:
    result = run(case, whole(case.text))
    ends = (outcome(result), is_right(case, result), kinds(result.repairs) if result.error is None else ())
    if case.name not in KNOWN:
        assert ends == (case.expect, True, case.repairs), result.text
        return
    known = KNOWN[case.name]
    if not known.get("uneven"):
        assert ends != (case.expect, True, case.repairs), "it is right now: take it out of known.toml"
    assert ends[0] == known["outcome"]
    assert ends[2] == tuple(known.get("repairs", ends[2]))


@named(case for case in CASES if case.name in KNOWN)  # the others are right
def test_no_known_case_ends_in_a_wrong_value(case: Case, request: pytest.FixtureRequest) -> None:
    result = run(case, whole(case.text))
    fail_if_known(case, "wrong", request)
    assert is_right(case, result) or outcome(result) == "refused"


@pytest.mark.untraced
@CUTS
@named(CASES)
def test_every_case_ends_the_same_however_it_is_cut(case: Case, cuts: Cuts, request: pytest.FixtureRequest) -> None:
    fail_if_known(case, "uneven", request)
    once = run(case, whole(case.text))
    for chunks in cuts(case.text):
        result = run(case, chunks)
        assert (result.text, result.repairs, result.error) == (once.text, once.repairs, once.error)


@named(CASES)
def test_the_repairs_of_every_case_make_its_output(case: Case) -> None:
    result = run(case, whole(case.text))
    if result.error is None:
        assert apply(case.text, result.repairs) == result.text
    if case.values != "one":  # there, a second value is the same again
        assert all(repair.lossy for repair in result.repairs if repair.kind in LOSSY)


@named(case for case in CASES if case.expect == "strict")
def test_strict_cases_pass_unchanged(case: Case) -> None:
    for chunks in (whole(case.text), *cut(case.text)):
        result = run(case, chunks)
        assert (result.text, result.repairs, result.error) == (case.text, (), None)


@pytest.mark.long
@pytest.mark.untraced
@CUTS
@named(case for case in CASES if case.values != "all" and case.name not in REPEATS)
def test_no_case_flickers(case: Case, cuts: Cuts, request: pytest.FixtureRequest) -> None:
    fail_if_known(case, "uneven", request)
    for chunks in cuts(case.text):
        state = create_parser_state()
        for text in run(case, chunks).outputs:
            before = state.value
            state = parse_chunk(state, text)
            assert state.error is None
            assert grows(before, state.value)


def test_known_cases_exist_and_have_a_reason() -> None:
    assert KNOWN.keys() <= {case.name for case in CASES}
    assert all(entry["why"] for entry in KNOWN.values())


def test_nine_of_ten_cases_that_are_to_be_mended_are_right() -> None:
    names = {case.name for case in CASES if case.expect == "mended"}
    assert len(names - KNOWN.keys()) >= 0.9 * len(names)


def test_the_corpus_has_all_classes_and_kinds() -> None:
    expected = [case.expect for case in EVERY]
    assert expected.count("strict") >= 35
    assert expected.count("mended") >= 130
    assert expected.count("refused") >= 45
    assert expected.count("truncated") >= 20
    assert {kind for case in EVERY for kind in case.repairs} == {kind.name for kind in RepairKind}
