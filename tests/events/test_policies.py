"""What happens to invalid JSON: emitted, raised, or skipped."""

import pickle
from typing import Any

import pytest
from hypothesis import example, given

from jsontide import JsonFragmentAccumulator, JsonStreamError, Limits, ParserError, Reason
from jsontide.events import JsonFragmentError
from tests.cuts import Chunks, every, singles, ways, whole
from tests.events.collect import collect, errors, join_strings
from tests.oracles import folded
from tests.strategies import bad_bytes, bad_texts, cut, cut_documents, documents, examples


def test_a_callback_that_resets_takes_back_an_error_that_would_be_raised() -> None:
    accumulator = JsonFragmentAccumulator(on_error="raise")
    accumulator.on("[*]", lambda _: accumulator.reset())
    assert accumulator.add_fragment("[1, @") == []
    assert accumulator.add_fragment("[2")[0].start == 0


def test_an_error_is_emitted_once_and_then_nothing_until_reset() -> None:
    for chunks in every('{"a": 1, x} {"b": 2}'):
        accumulator = JsonFragmentAccumulator()
        updates = [update for chunk in chunks for update in accumulator.add_fragment(chunk)]
        assert [update.kind.value for update in updates] == ["StartObject", "Key", "CompleteNumber", "Error"]
        assert accumulator.finish() == []
        assert not accumulator.is_complete
        accumulator.reset()
        assert accumulator.add_fragment("1 ")[0].value == 1


def test_an_error_is_raised_with_what_came_before() -> None:
    accumulator = JsonFragmentAccumulator(on_error="raise")
    accumulator.add_fragment('{"a": ')
    with pytest.raises(JsonFragmentError) as raised:
        accumulator.add_fragment("[1, x]}")
    assert raised.value.error.reason is Reason.UNEXPECTED_CHARACTER
    assert str(raised.value) == "expected a value, found 'x' (line 1, column 11)"
    assert [update.kind.value for update in raised.value.updates] == ["StartArray", "CompleteNumber"]
    assert pickle.loads(pickle.dumps(raised.value)).updates == raised.value.updates  # noqa: S301 - our own pickle
    with pytest.raises(JsonStreamError) as again:
        accumulator.add_fragment("1")
    assert again.value.error is raised.value.error
    with pytest.raises(JsonStreamError):
        accumulator.finish()
    accumulator.reset()
    assert len(accumulator.add_fragment("[]")) == 3
    accumulator.add_fragment('{"a": "x')
    with pytest.raises(JsonFragmentError, match="found the end of the text"):
        accumulator.finish()


SKIPPED = [
    # the text, what is left of it, what was skipped
    ("[1, @, 3]", [1, 3], ["@"]),
    ("[1 2, 3]", [1, 3], ["2"]),
    ("[1,, 2]", [1, 2], [""]),
    ("[1, 2,]", [1, 2], [""]),
    ("[,]", [], ["", ""]),
    ("[tru, 1]", [1], [""]),
    ("[truth, 1]", [1], ["th"]),
    ("[01, 2]", [2], ["1"]),
    ("[1.x, 2]", [2], ["x"]),
    ("[1, @[2, 3], 4]", [1, 4], ["@[2, 3]"]),
    ('[1, @{"a, b": "]\\"}"}, 4]', [1, 4], ['@{"a, b": "]\\"}"}']),
    ('["a\\qb, c", 1]', [1], ['qb, c"']),
    ('["a\nb", 1]', [1], ['\nb"']),
    ('["a\\u12", 1]', [1], ['"']),
    ('{"a": @, "b": 2}', {"b": 2}, ["@"]),
    ('{"a" 1, "b": 2}', {"b": 2}, ["1"]),
    ('{"a": 1 "b": 2, "c": 3}', {"a": 1, "c": 3}, ['"b": 2']),
    ('{a: 1, "b": 2}', {"b": 2}, ["a: 1"]),
    ('{"a\\q": 1, "b": 2}', {"b": 2}, ['q": 1']),
    ('{"a": 1,}', {"a": 1}, [""]),
    ('{"a": 1]}', {"a": 1}, ["]"]),
    ("\ufeff[1]", [1], ["\ufeff"]),
]


@pytest.mark.parametrize(("text", "value", "skipped"), SKIPPED)
def test_what_is_wrong_is_skipped_to_the_next_comma_or_bracket(text: str, value: Any, skipped: list[str]) -> None:
    for chunks in ways(text):
        updates = collect(chunks, on_error="skip")
        assert updates[-1].kind == "JsonComplete"
        assert updates[-1].value == value
        assert [text[update.start : update.end] for update in errors(updates)] == skipped
        for update, part in zip(errors(updates), skipped, strict=True):
            assert isinstance(update.value, ParserError)
            assert str(update.text).startswith(update.value.message)
            assert (repr(part) in str(update.text)) == bool(part)


def test_what_comes_after_an_error_has_its_own_path() -> None:
    for chunks in ways('{"a": "x\\q", "b": 1, "c": ["y\n", "z"], "d": [2]}'):
        updates = collect(chunks, on_error="skip", strings="whole", keys=False)
        scalars = [update.path for update in updates if update.kind.startswith("Complete")]
        assert scalars == ["root.b", "root.c[0]", "root.d[0]"]


def test_a_closing_bracket_of_another_kind_is_skipped() -> None:
    for chunks in ways('[{"b": [1, 2}, 3], "c": 4}]'):
        updates = collect(chunks, on_error="skip")
        assert updates[-1].value == [{"b": [1, 2, 3], "c": 4}]


def test_between_documents_the_line_is_skipped() -> None:
    text = '{"a": 1}\nno json, here\n[2]\nnul\n"x'
    for chunks in ways(text):
        updates = collect(chunks, on_error="skip")
        assert [update.value for update in updates if update.kind == "JsonComplete"] == [{"a": 1}, [2]]
        assert [text[update.start : update.end] for update in errors(updates)] == ["o json, here", "", ""]


def test_lines_in_what_was_skipped_are_counted() -> None:
    for chunks in ways("[@\n\n{\n}, x,\n y]"):
        first, second, third = errors(collect(chunks, on_error="skip"))
        assert [error.value.line for error in (first, second, third)] == [1, 4, 5]  # type: ignore[union-attr]
        assert [error.value.column for error in (first, second, third)] == [2, 4, 2]  # type: ignore[union-attr]


def test_a_long_piece_is_shown_by_its_beginning() -> None:
    (error,) = errors(collect(["[" + "x" * 1_000 + "]"], on_error="skip"))
    assert str(error.text).endswith("skipped 1000 characters: '" + "x" * 40 + "...'")


def test_limits_hold_while_skipping() -> None:
    for size in (1, 7, 100):
        text = "[@" + "x" * 98
        chunks = [text[at : at + size] for at in range(0, len(text), size)]
        first, second = errors(collect(chunks, on_error="skip", limits=Limits(max_chars=20)))
        assert (first.start, first.end) == (1, 20)
        assert isinstance(second.value, ParserError)
        assert (second.value.reason, second.start) == (Reason.TEXT_TOO_LONG, 20)


def test_what_is_too_deep_or_too_long_is_skipped() -> None:
    for chunks in ways('[[[1]], "abcdef", 1234567, 2]'):
        updates = collect(chunks, on_error="skip", limits=Limits(max_depth=2, max_string=5, max_number=5))
        assert updates[-1].value == [[], 2]


def test_a_text_that_ends_while_skipping_has_two_errors() -> None:
    for chunks in ways('{"a": [1, @'):
        first, second = errors(collect(chunks, on_error="skip"))
        assert (first.start, first.end) == (10, 11)
        assert isinstance(second.value, ParserError)
        assert second.value.reason is Reason.UNEXPECTED_END


ALL_WRONG = '}}]]::,,"\\x"[[{"'


@examples(2)
@given(cut_documents(bad_texts()))
@example((ALL_WRONG, singles(ALL_WRONG)))
def test_skipping_is_the_same_for_any_cut_and_folds(document: tuple[str, Chunks]) -> None:
    text, chunks = document
    expected = collect(whole(text), on_error="skip")
    updates = collect(chunks, on_error="skip")
    assert join_strings(updates) == join_strings(expected)
    spans = [(update.start, update.end) for update in updates if update.kind != "PartialString"]
    assert spans == [(update.start, update.end) for update in expected if update.kind != "PartialString"]


@examples(1)
@given(cut_documents(documents))
def test_with_nothing_to_skip_skipping_changes_nothing(document: tuple[str, Chunks]) -> None:
    _, chunks = document
    assert collect(chunks, on_error="skip") == collect(chunks)


@examples(1)
@given(bad_bytes().flatmap(cut))
def test_bytes_that_are_no_utf8_end_skipping_too(chunks: Chunks) -> None:
    updates = collect(chunks, on_error="skip")
    for error in errors(updates)[:-1]:
        assert isinstance(error.value, ParserError)
        assert error.value.reason is not Reason.BAD_UTF8


def test_what_is_emitted_beside_errors_folds_to_the_value() -> None:
    for chunks in ways('{"a": [1, nope, {"b" 2}, 3], "d": "e"}'):
        updates = collect(chunks, on_error="skip")
        is_taken_back = [
            event.kind == "Error" or event[:3] == ("Key", ("a", 1), "b") for event in join_strings(updates)
        ]
        assert is_taken_back.count(True) == 3
        (value,) = folded(event for event, gone in zip(join_strings(updates), is_taken_back, strict=True) if not gone)
        assert value == updates[-1].value == {"a": [1, {}, 3], "d": "e"}
