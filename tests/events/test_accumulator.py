"""The table of events in docs/concepts/events.md, cases of its rules, and the options, each at every cut."""

import copy
import json
import pickle
import re
import sys
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import pytest

from jsontide import JsonFragmentAccumulator, Limits
from jsontide.events import JsonFragmentError, JsonFragmentKind, JsonFragmentUpdate
from tests.cuts import every, ways
from tests.events.collect import collect, errors, join_strings
from tests.oracles import events

WHOLE = [
    # simple
    '{"name": "Ada", "age": 36}',
    "[1, 2, 3]",
    # nested
    '{"users": [{"name": "Ada", "tags": ["a", ["b"]]}, {"address": {"street": "Elm"}}]}',
    "[[[]], {}, [{}]]",
    # scalars
    "12345",
    "-0.5e+10 ",
    "true",
    "false",
    "null",
    '"text"',
    "[12345, -1.5, 1e3, true, false, null]",
    # edge cases
    r'"say \"hi\" \\ \/ \b\f\n\r\t"',
    r'"\u00e9 \ud83d\ude00 \ud800 \udc00 x"',
    '"日本 😀"',
    '""',
    '{"": ""}',
    "[]",
    "{}",
    ' \n {"a" : [ ] } \t',
    '{"a.b": {"c d": [0]}, "[0]": 1, "\\"": 2, "é": 3}',
]


@pytest.mark.parametrize("text", WHOLE)
def test_every_cut_emits_what_is_in_the_text(text: str) -> None:
    expected = events(text + " ")
    for chunks in every(text):
        assert join_strings(collect(chunks)) == expected


@pytest.mark.parametrize("text", WHOLE)
def test_it_is_complete_only_when_all_is_closed(text: str) -> None:
    is_number = text[0] in "-1"
    for chunks in every(text):
        accumulator = JsonFragmentAccumulator()
        assert not accumulator.is_complete
        done: Any = text[:0] if isinstance(chunks[0], str) else b""
        for chunk in chunks:
            accumulator.add_fragment(chunk)
            done += chunk
            seen = done if isinstance(done, str) else done.decode("utf-8", "ignore")
            assert accumulator.is_complete == any(event.kind == "JsonComplete" for event in events(seen))
        accumulator.finish()
        assert accumulator.is_complete
        assert is_number or len(collect(chunks)) == len(collect(chunks, ended=False))


def lines(updates: Sequence[JsonFragmentUpdate]) -> list[tuple[str, str, str | None]]:
    return [(update.path, update.kind.value, update.text) for update in updates]


def test_a_string_that_is_cut_grows_piece_by_piece() -> None:
    accumulator = JsonFragmentAccumulator()
    assert lines(accumulator.add_fragment('{"users":[{"na')) == [
        ("root", "StartObject", "{"),
        ("root", "Key", "users"),
        ("root.users", "StartArray", "["),
        ("root.users[0]", "StartObject", "{"),
    ]
    assert lines(accumulator.add_fragment('me":"A')) == [
        ("root.users[0]", "Key", "name"),
        ("root.users[0].name", "StartString", '"'),
        ("root.users[0].name", "PartialString", "A"),
    ]
    assert lines(accumulator.add_fragment("d")) == [("root.users[0].name", "PartialString", "d")]
    assert lines(accumulator.add_fragment('a"')) == [
        ("root.users[0].name", "PartialString", "a"),
        ("root.users[0].name", "CompleteString", "Ada"),
    ]
    assert not accumulator.is_complete
    assert lines(accumulator.add_fragment("}]}")) == [
        ("root.users[0]", "EndObject", "}"),
        ("root.users", "EndArray", "]"),
        ("root", "EndObject", "}"),
        ("root", "JsonComplete", None),
    ]
    assert accumulator.is_complete


def test_a_number_is_emitted_once_when_its_end_is_certain() -> None:
    accumulator = JsonFragmentAccumulator()
    assert accumulator.add_fragment("") == accumulator.add_fragment(b"") == []
    assert accumulator.add_fragment("123") == accumulator.add_fragment("") == accumulator.add_fragment("45") == []
    assert not accumulator.is_complete
    assert lines(accumulator.finish()) == [("root", "CompleteNumber", "12345"), ("root", "JsonComplete", None)]
    assert accumulator.finish() == []
    for nothing in ("", " \n"):
        (error,) = collect([nothing])
        assert "expected a value, found the end of the text" in str(error.text)


def test_documents_in_a_row_each_end_with_json_complete() -> None:
    text = '{} [] 1 2 "a""b"nulltrue12{"c":[]}\n\n[3]'
    for chunks in every(text):
        updates = collect(chunks)
        assert join_strings(updates) == events(text)
        assert [update.value for update in updates if update.kind == "JsonComplete"] == (
            [{}, [], 1, 2, "a", "b", None, True, 12, {"c": []}, [3]]
        )


def test_text_after_the_last_document_is_an_error() -> None:
    for chunks in every('{"a": 1} [2]'):
        accumulator = JsonFragmentAccumulator(documents=1)
        updates = [update for chunk in chunks for update in accumulator.add_fragment(chunk)]
        (error,) = errors(updates)
        assert (error.start, error.text) == (9, "expected nothing after the document, found '[' (line 1, column 10)")
        assert not accumulator.is_complete


def test_limits_are_for_each_document() -> None:
    assert not errors(collect(["[1, 2] \n" * 50], limits=Limits(max_chars=12, max_nodes=3)))
    (error,) = errors(collect(["[1, 2] [1, 2, 3] "], limits=Limits(max_chars=12, max_nodes=3)))
    assert "at most 3 values" in str(error.text)
    largest = Limits(max_chars=sys.maxsize, max_string=sys.maxsize, max_number=sys.maxsize)
    for chunks in ways('[1, "a"] \n {"b": 2} 3'):
        updates = collect(chunks, limits=largest, documents=2**70)
        assert [update.value for update in updates if update.kind == "JsonComplete"] == [[1, "a"], {"b": 2}, 3]


@pytest.mark.parametrize(("name", "begin"), [("max_chars", 0), ("max_string", 7)])
def test_a_string_that_exceeds_a_limit_is_emitted_up_to_it(name: str, begin: int) -> None:
    text = '["a", "b\\ncdef\\u0041g\\ud83d\\ude00"]'
    for limit in range(7 - begin + 1, len(text) - 2 - begin):
        for chunks in ways(text):
            updates = collect(chunks, ended=False, limits=Limits(**{name: limit}))
            pieces = [update for update in updates if update.kind == "PartialString" and update.segments == (1,)]
            assert "".join(json.loads(f'"{text[each.start : each.end]}"') for each in pieces) == (
                "".join(each.text or "" for each in pieces)
            )
            assert updates[-1].start == begin + limit


def test_lines_are_counted_across_documents() -> None:
    for chunks in ways("1\n[2,\n3]\n\n{}\n [x]"):
        (error,) = errors(collect(chunks))
        assert error.text == "expected a value or ']', found 'x' (line 6, column 3)"


def kinds(text: str, **options: Any) -> list[str]:
    return [update.kind.value for update in collect([text[:9], text[9:]], **options)]


def test_options_choose_what_is_emitted() -> None:
    text = '{"a": "text", "b": []}'
    assert "Key" not in kinds(text, keys=False)
    assert [kind for kind in kinds(text, strings="whole") if "String" in kind] == ["CompleteString"]
    assert [kind for kind in kinds(text, strings="deltas") if "String" in kind] == (
        ["StartString", "PartialString", "PartialString"]
    )
    assert collect([text])[-1].value == {"a": "text", "b": []}
    assert collect([text], values=False)[-1].value is None
    assert collect([text], updates=False) == []


def test_numbers_become_what_was_asked_for() -> None:
    def first(**options: Any) -> object:
        return collect(["1.50 "], **options)[0].value

    assert first() == 1.5
    assert first(floats="decimal") == Decimal("1.50")
    assert first(floats="lexeme") == "1.50"
    assert collect(["7 "], floats="decimal")[0].value == 7
    (error,) = errors(collect(["1e9999999999999999999 "], floats="decimal"))
    assert "range of Decimal" in str(error.text)


def test_equal_keys_of_one_document_are_one_object() -> None:
    value: Any = collect(['[{"some key": 1}, {"some ', 'key": 2}]'])[-1].value
    assert next(iter(value[0])) is next(iter(value[1]))


def test_reset_makes_it_as_new() -> None:
    accumulator = JsonFragmentAccumulator()
    before = accumulator.add_fragment('{"a": ["x')
    accumulator.reset()
    assert not accumulator.is_complete
    assert accumulator.add_fragment('{"a": ["x') == before
    accumulator.add_fragment(" \x00")
    accumulator.reset()
    assert accumulator.add_fragment(b"[]")[-1].kind == JsonFragmentKind.JsonComplete


@pytest.mark.parametrize("fragment", [None, 1, ["[]"], object()])
def test_what_is_no_text_is_refused_and_harms_nothing(fragment: Any) -> None:
    accumulator = JsonFragmentAccumulator()
    accumulator.add_fragment("[1")
    with pytest.raises(TypeError):
        accumulator.add_fragment(fragment)
    assert accumulator.add_fragment("2]")[0].value == 12


def test_str_and_bytes_cannot_be_mixed() -> None:
    for first, second in (("[1", b"]"), (b"[1", "]")):
        accumulator = JsonFragmentAccumulator()
        accumulator.add_fragment(first)
        with pytest.raises(TypeError, match="cannot follow"):
            accumulator.add_fragment(second)
        assert accumulator.add_fragment(type(first)([93]) if isinstance(first, bytes) else "]")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"on_error": "ignore"}, ValueError, "on_error must be one of 'event', 'raise', 'skip', not 'ignore'"),
        ({"on_error": 3}, ValueError, "on_error must be one of 'event', 'raise', 'skip', not 3"),
        ({"strings": "none"}, ValueError, "strings must be one of 'both', 'deltas', 'whole', not 'none'"),
        ({"strings": None}, ValueError, "strings must be one of 'both', 'deltas', 'whole', not None"),
        ({"floats": "int"}, ValueError, "floats must be one of"),
        ({"documents": 0}, ValueError, "documents must be"),
        ({"documents": True}, TypeError, "documents must be an int or None, not bool"),
        ({"documents": "1"}, TypeError, "documents must be an int or None, not str"),
        ({"limits": 5}, TypeError, "limits must be Limits, not int"),
        ({"keys": 1}, TypeError, "keys must be a bool, not int"),
        ({"updates": None}, TypeError, "updates must be a bool, not NoneType"),
        ({"key": True}, TypeError, "unexpected keyword argument 'key'"),
    ],
)
def test_wrong_options_are_refused_by_name(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        JsonFragmentAccumulator(**options)


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, pickle.dumps])
def test_an_accumulator_is_not_copied_but_its_state_is(way: Callable[[object], object]) -> None:
    accumulator = JsonFragmentAccumulator()
    accumulator.add_fragment('["a')
    with pytest.raises(TypeError, match="its state can"):
        way(accumulator)
    way(accumulator.state)
    assert accumulator.add_fragment('b"]')[-1].value == ["ab"]


def test_a_subclass_says_more_and_calls_what_it_extends() -> None:
    class Counting(JsonFragmentAccumulator):
        def __init__(self) -> None:
            super().__init__(updates=False, on_error="raise")
            self.fragments = 0

        def add_fragment(self, fragment: str | bytes | bytearray | memoryview) -> list[JsonFragmentUpdate]:
            self.fragments += 1
            return super().add_fragment(fragment)

    accumulator = Counting()
    heard: list[object] = []
    accumulator.on("**", lambda update: heard.append(update.value))
    for fragment in ('{"a": "x', 'y"}'):
        assert accumulator.add_fragment(fragment) == []
    with pytest.raises(JsonFragmentError):
        accumulator.add_fragment("}")
    assert heard == ["xy", {"a": "xy"}]
    assert accumulator.fragments == 3


def test_an_accumulator_takes_no_attributes_that_it_does_not_have() -> None:
    accumulator: Any = JsonFragmentAccumulator()
    for each in (accumulator, accumulator.on("a")):
        with pytest.raises(AttributeError):
            each.name = "mine"


def test_depth_costs_no_recursion() -> None:
    depth = 5_000
    limits = Limits(max_depth=depth)
    text = '{"a":[' * (depth // 2) + '"x"' + "]}" * (depth // 2)
    updates = collect([text[:7_000], text[7_000:]], limits=limits)
    assert len(updates[-1].path) == len("root")
    deepest = next(update for update in updates if update.kind == "CompleteString")
    assert deepest.segments == ("a", 0) * (depth // 2)
    assert deepest.path == "root" + ".a[0]" * (depth // 2)


def test_updates_are_values() -> None:
    updates = collect(['{"a": [1, "x"]} ['])
    again = collect(['{"a": [1, "x"]} ['])
    assert updates == again
    assert list(map(hash, updates)) == list(map(hash, again))
    assert pickle.loads(pickle.dumps(updates)) == updates  # noqa: S301 - our own pickle
    assert updates[0] != updates[1]
    assert updates[0] != "StartObject"
    assert repr(updates[3]) == "<CompleteNumber root.a[0] text='1' value=1 [7:8]>"
