"""Skipping what is wrong, where something else goes wrong meanwhile: no error is lost, and no text is read twice."""

import pytest

from jsontide import COMPILED, Limits, ParserError, Reason
from jsontide.events import _read
from jsontide.events._teller import Teller
from tests.cuts import ways
from tests.events.telling import errors, joined, told


def test_skipping_is_the_same_for_any_cut_where_each_document_has_its_limit() -> None:
    text = "1 2 3 4 5 6 @\n7 [8, x, 9]\n[@]"
    expected = [1, 2, 3, 4, 5, 6, 7, [8, 9], []]
    for chunks in ways(text):
        updates = told(chunks, on_error="skip", limits=Limits(max_chars=12))
        assert [update.value for update in updates if update.kind == "JsonComplete"] == expected
        assert [text[update.start : update.end] for update in errors(updates)] == ["@", "x", "@"]
        assert joined(updates) == joined(told([text], on_error="skip"))


def test_a_long_fragment_with_many_errors_is_told_as_its_characters_are() -> None:
    text = "[" + ", ".join(f'{number}, "a\\n{number}", @{number}' for number in range(900)) + "]"
    whole, single = (told(chunks, on_error="skip") for chunks in ([text], list(text)))
    assert len(errors(whole)) == 900
    assert joined(whole) == joined(single)
    assert sum(update.kind == "PartialString" for update in whole) == 900


@pytest.mark.skipif(COMPILED, reason="compiled calls cannot be counted from outside")
def test_what_an_error_copies_does_not_grow_with_the_fragment(monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[int] = []
    whole_step = _read._after_error

    def counted(teller: Teller, held: str, text: str) -> str:
        rest = whole_step(teller, held, text)
        copied.append(len(rest))
        return rest

    monkeypatch.setattr(_read, "_after_error", counted)
    totals = []
    for count in (5_000, 20_000):
        copied.clear()
        told([f"[{'@,' * count}1]"], on_error="skip")
        assert len(copied) == count
        totals.append(sum(copied))
    assert totals[1] < 5 * totals[0]


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"[1, @ \xff, 2]", Reason.BAD_UTF8), (b"[1, @ \xc3", Reason.UNEXPECTED_END)],
)
def test_what_was_being_skipped_is_told_before_bytes_that_are_no_utf8(data: bytes, reason: Reason) -> None:
    for chunks in ways(data):
        first, second = errors(told(chunks, on_error="skip"))
        assert isinstance(first.value, ParserError)
        assert isinstance(second.value, ParserError)
        assert (first.value.reason, first.start, first.end) == (Reason.UNEXPECTED_CHARACTER, 4, 6)
        assert (second.value.reason, second.start) == (reason, 6)
