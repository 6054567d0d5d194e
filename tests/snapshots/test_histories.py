"""The hidden writer and the law against themselves: a generator that is tame, or a law that is kind, proves nothing."""

import json
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given

from tests.oracles import loads
from tests.snapshots.accidents import unlawful
from tests.snapshots.forms import Fed, as_text, as_value
from tests.snapshots.histories import Number, Tree, any_tree, deep_tree, lawful, tree_of
from tests.snapshots.laws import check_law, compact, open_object_can_carry, read, shows_only
from tests.strategies import examples, finals, randoms, written_finals


class Patient:
    """Keeps the law and is of no use: writes all at the end."""

    def __init__(self) -> None:
        self.tree: Tree = None

    def process(self, text: str | bytes) -> str:
        self.tree = read(text.decode() if isinstance(text, bytes) else text)
        return ""

    def process_value(self, value: Any) -> str:
        self.tree = tree_of(value)
        return ""

    def flush(self) -> str:
        return compact(self.tree)


class Naive(Patient):
    """Writes each snapshot anew and sends what comes after the beginning that both have."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""

    def process(self, text: str | bytes) -> str:
        super().process(text)
        return self.more(compact(self.tree).rstrip('"]}'))

    def flush(self) -> str:
        return self.more(super().flush())

    def more(self, new: str) -> str:
        same = next(
            (at for at, pair in enumerate(zip(self.text, new, strict=False)) if len(set(pair)) > 1), len(self.text)
        )
        self.text = new
        return new[same:]


class Canned:
    """Returns the chunks that it was given."""

    def __init__(self, chunks: list[str]) -> None:
        self.chunks = iter(chunks)

    def process(self, _text: Any) -> str:
        return next(self.chunks)

    process_value = process

    def flush(self) -> str:
        return next(self.chunks)


def texts(*snapshots: str) -> list[Fed]:
    return [Fed(read(snapshot), snapshot, is_text=True) for snapshot in snapshots]


def grown(old: Tree, new: Tree, *, nulls: bool = False) -> bool:
    """Any growth, anywhere: of many members at once too; of `nulls` to anything, if they stand for what is to come."""
    if nulls and old is None:
        return True
    if isinstance(old, Number):
        return isinstance(new, Number)
    if isinstance(old, str) and isinstance(new, str):
        utf16 = [text.encode("utf-16-le", "surrogatepass") for text in (old, new)]
        return utf16[1].startswith(utf16[0])
    if isinstance(old, dict) and isinstance(new, dict):
        return set(old) <= set(new) and all(grown(old[key], new[key], nulls=nulls) for key in old)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) <= len(new) and all(grown(*pair, nulls=nulls) for pair in zip(old, new, strict=False))
    return bool(old == new)


@examples(1)
@given(written_finals, randoms)
def test_a_lawful_history_only_grows_and_ends_with_the_final_value(final: Tree, random: Random) -> None:
    for options in ({}, {"skeleton": "flat"}, {"skeleton": "nested"}, {"grow": "lexemes"}, {"every": True}):
        history = lawful(final, random, **options)
        assert all(grown(old, new) for old, new in pairwise(history))
        assert history[-1] == final
    for history in (lawful(final, random, skeleton="nulls"), lawful(final, random, skeleton="mixed")):
        assert all(grown(old, new, nulls=True) for old, new in pairwise(history))
        assert history[-1] == final


@examples(1)
@given(finals, randoms)
def test_text_and_value_of_a_tree_are_the_tree(final: Tree, random: Random) -> None:
    for tree in lawful(final, random, grow="values"):
        text = as_text(tree, random).item
        assert read(text if isinstance(text, str) else text.decode()) == tree
        assert tree_of(as_value(tree, random).item) == tree
        assert read(compact(tree)) == tree
        assert read(compact(tree, ensure_ascii=True)) == tree


@pytest.mark.parametrize("value", [[1, 1.5, "é\ud800😀\n", True, None, {"": [], "a": {}}], {}, "", 10**20, -0.0, 1e16])
def test_compact_text_is_that_of_json_dumps(value: Any) -> None:
    assert compact(tree_of(value), ensure_ascii=True) == json.dumps(value, separators=(",", ":"))
    assert loads(compact(tree_of(value))) == value


def test_histories_are_of_all_kinds() -> None:
    random = Random(1)
    finals = [any_tree(random) for _ in range(500)]
    histories = [lawful(final, random) for final in finals]
    text = "\n".join(compact(tree, ensure_ascii=True) for history in histories for tree in history)
    assert {type(final) for final in finals} >= {dict, list, str, Number, bool}
    assert all(part in text for part in ('""', "[]", "{}", "true", "null", '\\ud83d"', '"":', '"[0]":', '"\\u0000":'))
    pairs = [pair for history in histories for pair in pairwise(history)]
    assert sum(old == new for old, new in pairs) > len(pairs) / 10
    appeared = [len(new_growables(old, new)) for old, new in pairs]
    assert sum(count > 1 for count in appeared) > len(pairs) / 20
    assert sum(count == 1 for count in appeared) > len(pairs) / 10


def new_growables(old: Tree, new: Tree) -> list[str]:
    """The members that appeared side by side, where the first did."""
    if not isinstance(old, dict | list) or type(old) is not type(new):
        return []
    keys: list[Any] = list(old) if isinstance(old, dict) else list(range(len(old)))
    if isinstance(old, dict) and (
        found := [key for key in new if key not in old and isinstance(new[key], str | list | dict)]
    ):
        return found
    return next((found for key in keys if (found := new_growables(old[key], new[key]))), [])


def test_keys_are_shuffled_anew_in_every_form() -> None:
    tree = {key: Number("1") for key in "abcdef"}
    random = Random(1)
    assert len({as_text(tree, random).item for _ in range(50)}) > 20
    assert len({tuple(as_value(tree, random).item) for _ in range(50)}) > 20
    assert {tuple(as_value(tree, random, shuffle=False).item) for _ in range(50)} == {tuple("abcdef")}


def test_a_number_grows_by_its_digits() -> None:
    seen = lawful([Number("-12.5e3")], Random(1), grow="lexemes", every=True)
    assert [tree[0].lexeme for tree in seen[1:]] == ["-1", "-12", "-12.5", "-12.5e3"]


def test_a_skeleton_has_all_its_keys_from_the_start() -> None:
    final = {"a": {"x": "1", "y": ["2"]}, "b": "3"}
    nested = lawful(final, Random(1), skeleton="nested", every=True)
    assert nested[0] == {"a": {"x": "", "y": []}, "b": ""}
    assert lawful(final, Random(1), skeleton="flat", every=True)[0] == {"a": {}, "b": ""}


def test_the_law_accepts_one_that_writes_all_at_the_end() -> None:
    random = Random(1)
    for _ in range(100):
        final = any_tree(random, exact=False)
        check_law(Patient(), [as_text(tree, random) for tree in lawful(final, random)])


def test_the_law_catches_a_chunker_that_compares_texts() -> None:
    random = Random(1)
    caught = 0
    for _ in range(100):
        history = [as_text(tree, random) for tree in lawful(any_tree(random), random)]
        try:
            check_law(Naive(), history)
        except (AssertionError, ValueError):
            caught += 1
    assert caught > 50


def test_the_law_is_broken_by_forgetting_the_last_snapshot() -> None:
    random = Random(1)
    history = [as_text(tree, random) for tree in ({"a": "x"}, {"a": "xy"})]
    with pytest.raises(AssertionError, match="is not"):
        check_law(Canned(['{"a":"x', "", '"}']), history)


WRONG = {
    "another value": (texts('{"a":"x"}'), ['{"a":"', 'y"}']),
    "no prefix of JSON": (texts('{"a":"x"}', '{"a":"x","b":1}'), ['{"a":"x"}', ',"b":1', ""]),
    "a trailing comma": (texts("[1]"), ["[1,", "]"]),
    "ahead of the snapshot": (texts('{"a":"x"}', '{"a":"xy"}'), ['{"a":"xy', "", '"}']),
    "closed too early": (texts('{"a":"x"}', '{"a":"xy"}'), ['{"a":"x"', "", '"}']),
    "an array ahead": (texts("[]", "[1]"), ["[1", "", "]"]),
    "a member ahead": (texts("{}", '{"a":[]}'), ['{"a":[', "", "]}"]),
    "a key twice": (texts('{"a":"x"}'), ['{"a":"x","a":"x', '"}']),
    "white space": (texts('{"a":"x"}'), ['{"a": "x', '"}']),
    "an escape too many": (texts('["/"]'), ['["\\/', '"]']),
    "true for 1": (texts("[1]"), ["[true", "]"]),
    "1.0 for 1": (texts("[1]"), ["[1.0", "]"]),
    "a string for 1": (texts("[1]"), ['["1"', "]"]),
    "another lexeme": (texts("[1.50]"), ["[1.5", "]"]),
    "half a character": (texts('["\\ud83d"]', '["\\ud83d\\ude00"]'), ['["\\ud83d', "\\ude00", '"]']),
    "a raw surrogate": (texts('["\\ud83d","a"]'), ['["\ud83d","a', '"]']),
    "an open end": (texts('{"a":"x"}'), ['{"a":"x"', ""]),
    "a closed member changed": (texts('{"a":[1],"b":""}'), ['{"a":[2],"b":"', '"}']),
}


@pytest.mark.parametrize(("history", "chunks"), WRONG.values(), ids=WRONG)
def test_the_law_catches(history: list[Fed], chunks: list[str]) -> None:
    with pytest.raises((AssertionError, ValueError)):
        check_law(Canned(chunks), history)


@pytest.mark.parametrize(
    ("text", "tree", "can"),
    [
        ('{"a":"x', {"a": "y"}, True),
        ('{"a":"x', {"b": "y"}, False),
        ('{"a":"x', ["x"], False),
        ('["x', ["y"], False),
        ('[{"a":"x', [{"a": "y"}], True),
        ('[{"a":"x"},{"a":"', [{"a": "y"}, {"a": ""}], False),
        ('[{"a":"x"},{"a":"', [{"a": "x"}], False),
        ('{"a":[1,2', {"a": []}, True),
        ('{"a":{"x":1', {"a": {}}, True),
        ('{"a":1}', {"a": "2"}, False),
        ('"x', "y", False),
        ("[", {}, False),
    ],
)
def test_where_an_open_object_can_carry_a_repair(text: str, tree: Tree, *, can: bool) -> None:
    assert open_object_can_carry(text, tree) is can


def test_unlawful_histories_break_what_a_hasty_reader_would_have_written() -> None:
    random = Random(1)
    broken = 0
    for _ in range(200):
        history = unlawful(any_tree(random), random)
        broken += any(not shows_only(compact(old).rstrip("]}"), new) for old, new in pairwise(history))
    assert broken > 100


def test_any_depth_can_be_written() -> None:
    random = Random(1)
    final = deep_tree(random, 300)
    check_law(Patient(), [as_text(tree, random) for tree in lawful(final, random)])
