"""The oracles against `json.loads`: a model that is wrong proves nothing."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide import MISSING
from tests.oracles import (
    ModelNode,
    Pairs,
    Path,
    Steps,
    fault,
    first_wins,
    is_json,
    leads_to_match,
    loads,
    matches,
    nodes,
    shown,
    visible,
)
from tests.relations import flat, grows, remade, same, strays
from tests.seeded import ACCIDENTS
from tests.strategies import bad_texts, documents, texts

# Something that ends any token, then something that ends any member; then the closing brackets.
TOKEN_ENDS = (
    *("", '"', '0"', '00"', '000"', '0000"', 'u0000"', '\\"', "0", "true", "rue", "ue", "e"),
    *("alse", "lse", "se", "ull", "ll", "l"),
)
MEMBER_ENDS = ("", ":0", "0", '"":0')


def can_be_completed(prefix: str) -> bool:
    closers = "".join(shown(prefix).closers[::-1])
    return any(is_json(prefix + a + b + closers) for a in TOKEN_ENDS for b in MEMBER_ENDS)


@given(st.one_of(documents, bad_texts(), st.text(ACCIDENTS)))
def test_a_text_has_no_fault_exactly_when_json_loads_takes_it(text: str) -> None:
    assert (fault(text, ended=True) is None) == is_json(text)


@given(bad_texts())
def test_what_stands_before_a_fault_can_be_completed(text: str) -> None:
    found = fault(text, ended=True)
    prefix = text[: found.index] if found else text
    assert can_be_completed(prefix)


@given(bad_texts(), st.text(ACCIDENTS), documents)
def test_nothing_can_follow_a_fault(text: str, junk: str, more: str) -> None:
    found = fault(text)
    if found:
        assert not any(is_json(text[: found.index + 1] + rest) for rest in ("", junk, more))


@pytest.mark.parametrize(
    ("text", "index"),
    [("01", 1), ("tru ", 3), ("[1,]", 3), ('"a\x01', 2), ("-x", 1), ("1.x", 2), ("1e+x", 3)],
)
def test_a_fault_is_where_the_specification_says(text: str, index: int) -> None:
    found = fault(text)
    assert found
    assert found.index == index


@given(documents)
def test_the_whole_text_shows_what_json_loads_reads(text: str) -> None:
    assert same(visible(text + " "), loads(text))


@pytest.mark.parametrize(
    ("prefix", "value"),
    [
        *(("", MISSING), ("12", MISSING), ("12 ", 12), ("[12", []), ("[12,", [12]), ("tru", MISSING), ("true", True)),
        *(('"', ""), ('"a\\', "a"), ('"a\\u00e', "a"), ('"a\\u00e9', "aé"), ('"\\ud83d', ""), ('"\\ud83d\\', "")),
        *(('"\\ud83d\\ude0', ""), ('"\\ud83d\\ude00', "😀"), ('"\\ud83dx', "\ud83dx"), ('"\\ud83d\\ud83d', "\ud83d")),
        *(('"\\ude00', "\ude00"), ('"\\\\ud83d', "\\ud83d"), ('{"a"', {}), ('{"a":', {}), ('{"a":1', {})),
        *(('{"a":"', {"a": ""}), ('{"a":[', {"a": []}), ('{"a":1,"b":tru', {"a": 1}), ('{"a":1,"a":[', {"a": []})),
    ],
)
def test_a_prefix_shows_what_the_specification_says(prefix: str, value: Any) -> None:
    assert same(visible(prefix), value)


@given(texts(repeat_keys=True))
def test_the_nodes_of_a_whole_text_are_its_values_in_preorder(text: str) -> None:
    made = nodes(text + " ")
    assert [node.id for node in made] == list(range(len(made)))
    assert all(node.closed for node in made)
    assert same(made[0].resolved_value, loads(text))
    assert len(made) == count(json.loads(text, object_pairs_hook=Pairs))


def count(tree: Any) -> int:
    if isinstance(tree, Pairs):
        return 1 + sum(count(child) for _, child in tree)
    return 1 + sum(count(child) for child in tree) if isinstance(tree, list) else 1


def test_the_nodes_of_a_prefix_are_open_along_its_last_values() -> None:
    assert nodes('{"a":[1],"b":-2') == [
        ModelNode(0, "object", None, False, {"a": [1]}, None, ("a", "b"), (1, 3)),  # noqa: FBT003
        ModelNode(1, "array", 0, True, [1], None, None, (2,)),  # noqa: FBT003
        ModelNode(2, "number", 1, True, 1, "1"),  # noqa: FBT003
        ModelNode(3, "number", 0, False, MISSING, "-2"),  # noqa: FBT003
    ]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers())))
def test_the_first_of_equal_keys_can_win(pairs: list[tuple[str, int]]) -> None:
    assert first_wins(pairs) == dict(reversed(pairs))


@pytest.mark.parametrize(
    ("old", "new"),
    [(1, True), (1, 1.0), (0.0, -0.0), ([1], [1, 2]), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), ("", None)],
)
def test_values_that_differ_are_not_the_same(old: Any, new: Any) -> None:
    assert flat(old) != flat(new)
    assert not same(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [(MISSING, None), ("a", "ab"), ([], [1]), ([1, ["a"]], [1, ["ab"], 2]), ({}, {"a": 1})],
)
def test_a_value_grows_at_its_end(old: Any, new: Any) -> None:
    assert grows(old, new)
    assert old is MISSING or not grows(new, old)


@pytest.mark.parametrize(
    ("old", "new"),
    [([["a"], 1], [["ab"], 1]), ({"a": 1}, {"a": 2}), ({"a": 1}, {"b": 2, "a": 1}), ("", []), (1, True)],
)
def test_a_value_grows_nowhere_else(old: Any, new: Any) -> None:
    assert not grows(old, new)


def test_equal_containers_that_are_not_one_object_are_strays() -> None:
    kept: list[int] = [1]
    assert strays([kept, [2]], [kept, [2], 3]) == [(1,)]
    assert strays({"a": [kept]}, {"a": [kept, 2]}) == []
    assert strays([kept], [kept]) == [()]


def test_containers_that_both_values_have_as_different_objects_are_remade() -> None:
    kept: list[int] = [1]
    assert remade([kept, [2]], [kept, [2, 3]]) == [(), (1,)]
    assert remade([kept], [[9]]) == [(), (0,)]


@pytest.mark.parametrize(
    ("steps", "matching", "others"),
    [
        ((), [()], [("a",)]),
        (("a", 0), [("a", 0)], [("a", "0")]),
        ((str, int), [("a", 7)], []),
        ((str,), [], [(7,)]),
        ((int,), [], [("a",)]),
        ((slice(1, 5, 2),), [(3,)], [(5,)]),
        ((slice(None, None, None),), [], [("a",)]),
        ((..., "a"), [("a",), ("b", 0, "a")], [("a", "b")]),
        (("a", ..., "b"), [("a", "b", "c", "b")], []),
    ],
)
def test_a_pattern_matches_what_the_specification_says(steps: Steps, matching: list[Path], others: list[Path]) -> None:
    assert all(matches(steps, path) for path in matching)
    assert not any(matches(steps, path) for path in others)


@pytest.mark.parametrize(
    ("steps", "leading", "others"),
    [
        (("a", 0), [(), ("a",), ("a", 0)], [("a", 0, 0), ("b",)]),
        ((..., "a"), [("b", 0)], []),
        (("a", slice(3, 3)), [], [("a",)]),
    ],
)
def test_a_path_leads_to_a_match_or_never_does(steps: Steps, leading: list[Path], others: list[Path]) -> None:
    assert all(leads_to_match(steps, path) for path in leading)
    assert not any(leads_to_match(steps, path) for path in others)
