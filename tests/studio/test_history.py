"""The history of a stream: at every moment it is the value of that moment, and knows when each part of it came."""

import json
from typing import Any

from hypothesis import given

from jsontide import MISSING
from jsontide.frontends import AppendText, Finish, SetValue
from jsontide.recordings import Moment, Piece, Recording, follow, start_moment
from jsontide.studio._history import History, HistoryEntry
from tests.cuts import Chunks
from tests.strategies import cut_documents, documents, examples


def rebuild(entry: HistoryEntry | None, number: int) -> Any:
    """Make the value that a history shows at a moment, reading nothing but its entries."""
    if entry is None:
        return MISSING
    children = [slot.at(number) for slot in entry.children if slot.born <= number]
    if entry.kind == "object":
        return {child.segment: rebuild(child, number) for child in children}
    if entry.kind == "array":
        return [rebuild(child, number) for child in children]
    text = "".join(text for text, born in zip(entry.texts, entry.numbers, strict=True) if born <= number)
    assert text == entry.head(number, 10**9) == entry.tail(number, 10**9)
    assert len(text) == entry.length(number)
    return text if entry.kind == "string" else json.loads(text)


def record(pieces: list[bytes]) -> tuple[History, list[Moment]]:
    history, moments = History(), [start_moment()]
    for moment in follow(Recording(tuple(Piece(0.0, piece) for piece in pieces), end="over")):
        moments.append(moment)
        history.add(moment.changes)
    return history, moments


class TestEveryMoment:
    @examples(0.3)
    @given(cut_documents(documents))
    def test_shows_the_value_of_its_moment(self, case: tuple[str, Chunks]) -> None:
        pieces = [piece if isinstance(piece, bytes) else piece.encode("utf-8", "replace") for piece in case[1]]
        history, moments = record([bytes(piece) for piece in pieces if piece])
        for number, moment in enumerate(moments):
            assert rebuild(history.root(number), number) == moment.value

    def test_stays_as_it_was_when_a_key_is_repeated(self) -> None:
        history, moments = record([b'{"a": "one"', b', "b": 1, "a"', b': ["two"', b"]}"])
        assert [rebuild(history.root(number), number) for number in range(1, 5)] == [m.value for m in moments[1:5]]
        assert history.find(("a",), 2) is not history.find(("a",), 4)
        assert [slot.at(4).segment for slot in history.root(4).children] == ["a", "b"]  # type: ignore[union-attr]


class TestTimes:
    def test_tells_when_each_part_of_a_string_came(self) -> None:
        history, _ = record([b'{"city": "K', b"yo", b" ", b'to", "n": 1', b"}"])
        city = history.find(("city",), 5)
        assert city is not None
        assert (city.born, city.numbers, city.texts, city.finished) == (1, [1, 2, 3, 4], ["K", "yo", " ", "to"], 4)
        assert [city.is_open(number) for number in range(1, 6)] == [True, True, True, False, False]
        assert (city.fresh(2), city.fresh(5), city.tail(4, 3), city.head(4, 2), city.length(0)) == (
            2,
            0,
            " to",
            "Ky",
            0,
        )

    def test_knows_what_changed_last(self) -> None:
        history, _ = record([b" ", b'{"a": [1', b', 2], "b": "x', b'"}'])
        touched = [history.touched(number) for number in range(6)]
        assert [entry if entry is None else entry.path() for entry in touched] == [
            *(None, None, ("a",), ("b",), ("b",), ("b",))
        ]

    def test_what_is_not_there_is_not_found(self) -> None:
        history, _ = record([b'{"a": [1,', b"2]}"])
        assert history.find(("a", 1), 1) is None
        assert history.find(("a", 1), 2) is not None
        for path in [("b",), ("a", 5), ("a", "x"), ("a", -1), (0,), ("a", 0, "deep")]:
            assert history.find(path, 2) is None

    def test_counts_values(self) -> None:
        history, _ = record([b'{"a": [1,', b"2]}"])
        assert [history.value_count(number) for number in range(3)] == [0, 3, 4]


def test_changes_are_taken_as_they_are_told() -> None:
    history = History()
    history.add([SetValue((), {"parts": [{"text": "a"}]}, ("parts", 0, "text"))])
    history.add([AppendText(("parts", 0, "text"), "b"), Finish(("parts", 0, "text"), 2)])
    history.add([SetValue(("parts", 1), None), Finish((), 5)])
    assert rebuild(history.root(3), 3) == {"parts": [{"text": "ab"}, None]}
    opened = [(path, history.find(path, 2).is_open(2)) for path in [(), ("parts",), ("parts", 0)]]  # type: ignore[union-attr]
    assert opened == [((), True), (("parts",), True), (("parts", 0), False)]
