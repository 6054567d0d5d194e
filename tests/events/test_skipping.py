"""Skipping what is wrong, where something else goes wrong meanwhile: no error is lost, and no text is read twice."""

import copy
import pickle
import tracemalloc
from dataclasses import asdict, replace
from typing import Any

import pytest

from jsontide import JsonFragmentAccumulator, Limits, ParserError, Reason
from jsontide.events import JsonFragmentUpdate, feed_events, start_events
from tests.cuts import ways
from tests.events.collect import collect, errors, join_strings
from tests.meters import Meter, heap


def test_skipping_is_the_same_for_any_cut_where_each_document_has_its_limit() -> None:
    text = "1 2 3 4 5 6 @\n7 [8, x, 9]\n[@]"
    expected = [1, 2, 3, 4, 5, 6, 7, [8, 9], []]
    for chunks in ways(text):
        updates = collect(chunks, on_error="skip", limits=Limits(max_chars=12))
        assert [update.value for update in updates if update.kind == "JsonComplete"] == expected
        assert [text[update.start : update.end] for update in errors(updates)] == ["@", "x", "@"]
        assert join_strings(updates) == join_strings(collect([text], on_error="skip"))


def test_a_long_fragment_with_many_errors_emits_what_its_characters_do() -> None:
    text = "[" + ", ".join(f'{number}, "a\\n{number}", @{number}' for number in range(900)) + "]"
    whole, single = (collect(chunks, on_error="skip") for chunks in ([text], list(text)))
    assert len(errors(whole)) == 900
    assert join_strings(whole) == join_strings(single)
    assert sum(update.kind == "PartialString" for update in whole) == 900


def test_what_an_error_copies_does_not_grow_with_the_fragment() -> None:
    accumulator = JsonFragmentAccumulator(on_error="skip", updates=False)
    accumulator.add_fragment("[@")  # the first error of a fragment may copy what is left of it, the others not
    strings = ('"' + "x" * 1_000 + '",') * 200
    text = f",{strings}@,{strings}"
    tracemalloc.start()
    try:
        copied, updates = heap(lambda: accumulator.add_fragment(text))
    finally:
        tracemalloc.stop()
    assert len(errors(updates)) == 2
    assert copied < len(text) / 4


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"[1, @ \xff, 2]", Reason.BAD_UTF8), (b"[1, @ \xc3", Reason.UNEXPECTED_END)],
)
def test_what_was_being_skipped_is_emitted_before_bytes_that_are_no_utf8(data: bytes, reason: Reason) -> None:
    for chunks in ways(data):
        first, second = errors(collect(chunks, on_error="skip"))
        assert isinstance(first.value, ParserError)
        assert isinstance(second.value, ParserError)
        assert (first.value.reason, first.start, first.end) == (Reason.UNEXPECTED_CHARACTER, 4, 6)
        assert (second.value.reason, second.start) == (reason, 6)


@pytest.mark.parametrize("bad", [",", "1,,", '{"a"},', '"\\x",'])
def test_an_error_costs_the_same_at_any_depth(meter: Meter, bad: str) -> None:
    count = 400

    def cost(depth: int) -> int:
        accumulator = JsonFragmentAccumulator(on_error="skip")
        accumulator.add_fragment("[" * depth + "0," + " " * (1_000 - depth))  # the same indices
        taken, updates = meter(lambda: accumulator.add_fragment(bad * count))
        found = errors(updates)
        assert len(found) == count
        assert len(found[-1].segments) == len(found[-1].path.split("[")) - 1 >= depth
        return taken

    assert cost(500) <= 1.05 * cost(5)


def deep_error(depth: int = 3) -> ParserError:
    (update,) = errors(collect(["[" * depth + "1, x, 2" + "]" * depth], on_error="skip"))
    assert isinstance(update.value, ParserError)
    return update.value


def test_the_path_of_an_error_is_a_plain_field() -> None:
    error = deep_error()
    assert error.path == (0, 0, 1)
    assert asdict(error)["path"] == (0, 0, 1)
    assert "path=(0, 0, 1)" in repr(error)
    assert error == deep_error()
    assert hash(error) == hash(deep_error())
    assert replace(error, path=("a",)).path == ("a",)
    assert replace(error, path=("a",)) != error
    for again in (copy.copy(error), copy.deepcopy(error), pickle.loads(pickle.dumps(error))):  # noqa: S301 - our own
        assert again == error
    with pytest.raises(AttributeError):
        error.path = ()  # type: ignore[misc]


MANY = "[1, @, 2, @, {@}, 3, @, 4]"


def reasons(updates: list[JsonFragmentUpdate]) -> list[Reason]:
    return [update.value.reason for update in errors(updates) if isinstance(update.value, ParserError)]


@pytest.mark.parametrize("most", [1, 2, 3, 4, 10**30])
def test_reading_ends_with_one_error_more_than_may_be_skipped(most: int) -> None:
    bad = Reason.UNEXPECTED_CHARACTER
    for chunks in ways(MANY):
        updates = collect(chunks, on_error="skip", max_errors=most, ended=False)
        if most >= 4:
            assert reasons(updates) == [bad] * 4
            assert updates[-1].value == [1, 2, {}, 3, 4]
            continue
        assert reasons(updates) == [bad] * most + [Reason.TOO_MANY_ERRORS]
        error: Any = updates[-1].value
        assert f"at most {most} errors" in error.message
        assert (error.index, error.path) == [(10, (2,)), (14, (2,)), (21, (4,))][most - 1]


def test_errors_are_counted_from_the_end_of_the_document_before() -> None:
    for chunks in ways("[@, @]\n@\n[@]\n[@, @]\n[@, @, @]\n1"):
        found = reasons(collect(chunks, on_error="skip", max_errors=2))
        assert len(found) == 9
        assert [at for at, reason in enumerate(found) if reason is Reason.TOO_MANY_ERRORS] == [8]


def test_lines_that_are_no_documents_are_bounded_too_and_nothing_is_read_after_that_until_a_reset() -> None:
    accumulator = JsonFragmentAccumulator(on_error="skip")
    updates = [update for _ in range(3_000) for update in accumulator.add_fragment("@\n")]
    assert len(reasons(updates)) == 1_001
    assert reasons(updates)[-1] is Reason.TOO_MANY_ERRORS
    assert accumulator.state.error is not None
    assert accumulator.add_fragment("2 ") == accumulator.finish() == []
    accumulator.reset()
    assert accumulator.add_fragment("[@]")[-1].value == []


def test_a_pickle_counts_on() -> None:
    state, _ = feed_events(start_events(skip_errors=True, max_errors=2), "[@, ")
    for each in (state, pickle.loads(pickle.dumps(state))):  # noqa: S301 - our own pickle
        assert reasons(feed_events(each, "@, @")[1])[-1] is Reason.TOO_MANY_ERRORS


@pytest.mark.parametrize(("wrong", "error"), [(0, ValueError), (-1, ValueError), (None, TypeError), (True, TypeError)])
def test_a_number_of_errors_that_is_none_is_refused(wrong: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="max_errors must be"):
        JsonFragmentAccumulator(max_errors=wrong)
