"""The syntax of patterns: what each text means, and where an invalid one fails."""

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide._errors import PathSyntaxError
from jsontide._path import path_text
from jsontide._pattern import AnyDepth, AnyItem, AnyKey, Item, Key, Pattern, Slice, parse_pattern, read_path
from tests.oracles import Path, Step, Steps
from tests.strategies import paths, patterns, randoms, spell_pattern


def step_of(step: Step) -> Any:
    """Turn a model step into ours."""
    if isinstance(step, slice):
        return Slice(step.start or 0, step.stop, step.step or 1)
    if isinstance(step, str):
        return Key(step)
    if isinstance(step, int):
        return Item(step)
    return {str: AnyKey(), int: AnyItem(), ...: AnyDepth()}[step]


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("users", (Key("users"),)),
        ("users.name", (Key("users"), Key("name"))),
        ("users[*].name", (Key("users"), AnyItem(), Key("name"))),
        ('["odd key"][""]', (Key("odd key"), Key(""))),
        (r'a["\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\ud83d"]', (Key("a"), Key('"\\/\b\f\n\r\té😀\ud83d'))),
        ('["*"]["**"]["a.b"]["[0]"]', (Key("*"), Key("**"), Key("a.b"), Key("[0]"))),
        ("größe._1.class", (Key("größe"), Key("_1"), Key("class"))),
        ("[0]", (Item(0),)),
        ("[007][12]", (Item(7), Item(12))),
        ("*", (AnyKey(),)),
        ("*.a.*[*]", (AnyKey(), Key("a"), AnyKey(), AnyItem())),
        ("**", (AnyDepth(),)),
        ("**.name", (AnyDepth(), Key("name"))),
        ("users.**.id", (Key("users"), AnyDepth(), Key("id"))),
        ("users.**", (Key("users"), AnyDepth())),
        ('**[0]["a"].*', (AnyDepth(), Item(0), Key("a"), AnyKey())),
        ("[*].**", (AnyItem(), AnyDepth())),
        ("[0:3]", (Slice(0, 3, 1),)),
        ("a[2:][:5]", (Key("a"), Slice(2, None, 1), Slice(0, 5, 1))),
        ("[::2][1:9:3]", (Slice(0, None, 2), Slice(1, 9, 3))),
        ("[:][::]", (Slice(0, None, 1), Slice(0, None, 1))),
    ],
)
def test_a_text_names_its_steps(text: str, pattern: Pattern) -> None:
    assert parse_pattern(text) == pattern


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("root", ()),
        ("root.answer", (Key("answer"),)),
        ("root[0]", (Item(0),)),
        ('root["a"]', (Key("a"),)),
        ("root.*", (AnyKey(),)),
        ("root.**", (AnyDepth(),)),
        ("root.root", (Key("root"),)),
        ('["root"]', (Key("root"),)),
        ("roots", (Key("roots"),)),
        ("Root", (Key("Root"),)),
        ("a.root", (Key("a"), Key("root"))),
        ("**.root", (AnyDepth(), Key("root"))),
    ],
)
def test_a_first_word_root_is_the_document_itself(text: str, pattern: Pattern) -> None:
    assert parse_pattern(text) == pattern


@pytest.mark.parametrize(
    ("segments", "pattern"),
    [
        ((), ()),
        (("root",), (Key("root"),)),
        (["users", 0, "name"], (Key("users"), Item(0), Key("name"))),
        (("*", "**", "[0]", "a.b", ""), (Key("*"), Key("**"), Key("[0]"), Key("a.b"), Key(""))),
    ],
)
def test_a_sequence_is_literal(segments: list[str | int] | Path, pattern: Pattern) -> None:
    assert parse_pattern(segments) == pattern


@given(patterns, randoms)
def test_a_pattern_means_the_same_in_every_spelling(pattern: Steps, random: Any) -> None:
    assert parse_pattern(spell_pattern(pattern, random)) == tuple(map(step_of, pattern))


@given(paths)
def test_the_text_of_a_path_is_the_pattern_of_that_path(path: Path) -> None:
    assert parse_pattern(path_text(path)) == parse_pattern(path) == tuple(map(step_of, path))


@pytest.mark.parametrize(
    ("text", "caret", "expected"),
    [
        ("", "^", "a key"),
        (".a", "^", "a key"),
        ("$.a", "^", "a key"),
        ("0", "^", "a key"),
        ("a.", "  ^", "a key"),
        ("a..b", "  ^", "a key"),
        ("a.[0]", "  ^", "a key"),
        ("a.0", "  ^", "a key"),
        ("a b", " ^", "'.', '[' or the end"),
        ("first-name", "     ^", 'write other keys as ["like this"]'),
        ("a\n", " ^", "'.', '[' or the end"),
        ("root\n", "    ^", "'.', '[' or the end"),
        ("root*", "    ^", "'.', '[' or the end"),
        ("[0]a", "   ^", "'.', '[' or the end"),
        ("[0]]", "   ^", "'.', '[' or the end"),
        ("***", "  ^", "'.', '[' or the end"),
        ("a**", " ^", "'.', '[' or the end"),
        ("**a", "  ^", "'.', '[' or the end"),
        ("a[", "  ^", "an index, a slice, '*' or a key in double quotes"),
        ("a[]", "  ^", "an index, a slice, '*' or a key in double quotes"),
        ("a['b']", "  ^", "a key in double quotes"),
        ("a[b]", "  ^", "a key in double quotes"),
        ("a[ 0]", "  ^", "an index"),
        ("a[٣]", "  ^", "an index"),
        ("a[0", "   ^", "':' or ']'"),
        ("a[0.5]", "   ^", "':' or ']'"),
        ("a[1:2", "     ^", "':' or ']'"),
        ("a[1:2:3:4]", "       ^", "']'"),
        ("a[**]", "   ^", "']'"),
        ("a[::0]", "    ^", "a step of at least 1"),
        ("a[::-1]", "    ^", "a step of at least 1"),
        ("a[-1]", "  ^", "counted from the start"),
        ("a[-1:]", "  ^", "counted from the start"),
        ("a[0:-1]", "    ^", "counted from the start"),
        ("a[" + "1" * 5000 + "]", " " * 20 + "^", "at most 18 digits"),
        ('a["b', "    ^", "more of the key"),
        ('a["b"', "     ^", "']'"),
        ('a["b" ]', "     ^", "']'"),
        (r'a["b\x"]', "    ^", "a JSON escape"),
        (r'a["\u12"]', "   ^", "a JSON escape"),
        ('a["b\t"]', "    ^", "U+0009 to be escaped"),
        ("日本[x]", "     ^", "an index"),
        ("e\u0301[x]", "  ^", "an index"),
    ],
)
def test_an_error_points_at_its_position(text: str, caret: str, expected: str) -> None:
    with pytest.raises(PathSyntaxError) as caught:
        parse_pattern(text)
    message, shown, pointer = str(caught.value).split("\n")
    assert caught.value.pattern == text
    assert message.startswith("expected ")
    assert expected in message
    assert len(shown) == 2 + len(text)
    assert pointer == "  " + caret


def test_an_error_points_at_a_negative_index_in_a_sequence() -> None:
    with pytest.raises(PathSyntaxError, match="the end of a stream is not known") as caught:
        parse_pattern(("a b", -12, "c"))
    assert caught.value.pattern[caught.value.index :] == "-12]"


def fault(text: str) -> PathSyntaxError | None:
    try:
        parse_pattern(text)
    except PathSyntaxError as error:
        return error
    return None


@given(st.text(st.sampled_from('root.*[]"\\:-012 aé日\n\t\ud800'), max_size=14))
def test_what_is_before_an_error_can_be_completed(text: str) -> None:
    error = fault(text)
    if error:
        assert any(fault(text[: error.index] + rest) is None for rest in ("", "a", "]", "0]", '"]'))
        assert str(error).encode()


@pytest.mark.parametrize("wrong", [None, 1, b"users", bytearray(b"a"), memoryview(b"a"), {"a": 1}, {"a"}, iter("ab")])
def test_what_is_neither_text_nor_sequence_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match=rf"keys and indices, not {type(wrong).__name__}"):
        parse_pattern(wrong)


@pytest.mark.parametrize("wrong", [True, None, 1.0, b"a", ("a",)])
def test_a_segment_that_is_neither_key_nor_index_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match=rf"keys and indices, not {type(wrong).__name__}"):
        parse_pattern(("a", wrong))


def test_steps_in_a_sequence_stay_as_they_are() -> None:
    steps = parse_pattern("a[*].**")
    assert parse_pattern(steps) == steps
    assert parse_pattern((*steps, "*")) == (*steps, Key("*"))


def test_patterns_are_values() -> None:
    text = "a[0][1:].*[*].**"
    assert {parse_pattern(text): 1}[parse_pattern(text)] == 1
    assert pickle.loads(pickle.dumps(parse_pattern(text))) == parse_pattern(text)  # noqa: S301


def test_the_error_survives_a_pickle() -> None:
    with pytest.raises(PathSyntaxError) as caught:
        parse_pattern("a[")
    copy = pickle.loads(pickle.dumps(caught.value))  # noqa: S301
    assert (copy.pattern, copy.index, str(copy)) == ("a[", 2, str(caught.value))


@given(paths)
def test_a_path_is_read_from_its_text_and_from_its_segments(path: Path) -> None:
    for spelling in (path_text(path), path, list(path)):
        assert read_path(spelling) == path


@pytest.mark.parametrize("pattern", ["*", "a[*]", "a.**", "[0:1]", ("a", AnyItem())])
def test_a_pattern_that_may_lead_to_many_values_is_no_path(pattern: Any) -> None:
    with pytest.raises(ValueError, match=r"a path must lead to one value, and .* may lead to many"):
        read_path(pattern)


@pytest.mark.parametrize("wrong", [None, 1, b"a", {"a"}, ("a", None), (True,)])
def test_what_is_no_path_is_called_so(wrong: Any) -> None:
    with pytest.raises(TypeError, match="a path must"):
        read_path(wrong)
