"""What is visible while it is open: the table of parser.md, one line per rule."""

from typing import Any

import pytest

from jsontide import MISSING, Missing, create_parser_state, get_resolved_value, parse_chunk
from tests.cuts import every, fed, prefixes, singles, sized, states_along
from tests.oracles import loads, visible
from tests.relations import same

SHOWN = [
    # a string is visible from its opening quote on, as the decoded prefix
    *('"', '"a', '["a', '{"k":"'),
    # half an escape is held back
    *('"a\\', '"a\\u', '"a\\u00e', '"a\\u00e9', '"a\\n', '"\\\\', '"\\\\u', '"\\/\\b\\f\\r\\t\\"', '"\\u0000'),
    # a high surrogate waits for its partner
    *('"a\\ud83d', '"a\\uD83D\\', '"a\\ud83d\\u', '"a\\ud83d\\ud', '"a\\ud83d\\uDF', '"a\\ud83d\\ude0'),
    *('"a\\ud83d\\uDE00', '"\\udbff\\udfff', '"\\ud800\\udc00'),
    # and is shown alone when something else comes
    *('"\\ud83d ', '"\\ud83d"', '"\\ud83d\\n', '"\\ud83d\\u0', '"\\ud83d\\ud8', '"\\ud83d\\u0041', '"\\ud83d\\ue000'),
    *('"\\ud83d\\ud83d', '"\\ud83d\\ud83d\\ude00', '"\\ud83d\\\\'),
    # a low surrogate waits for nothing
    *('"\\ude00', '"\\ude00\\ud83d'),
    # a number shows when the first character comes that cannot continue it
    *("1", "12 ", "[1", "[-1.5e3", "[1,", "[1]", "[1 ", '{"a":1', '{"a":1}'),
    # a literal shows on its last letter
    *("nul", "null", "[tru", "[true", "[false", '{"a":null'),
    # a key is invisible until its value shows something
    *("{", '{"', '{"a', '{"a"', '{"a":', '{"a": ', '{"a":t', '{"a":[', '{"a":{', '{"a":1,"b', '{"a":1,"b":', '{"":"'),
    # a container shows from its bracket on, and its end shows nothing more
    *("", " \t\r\n", "[", "[[", "[[]", "[[],", "[[]]", '[{"a":[[{'),
]


@pytest.mark.parametrize("text", SHOWN)
def test_exactly_the_certain_is_visible(text: str) -> None:
    for chunks in every(text):
        assert same(fed(chunks).value, visible(text))


NUMBERS = [
    *(
        "-0 ",
        "-0.0 ",
        "0e0 ",
        "1E+2 ",
        "1e400 ",
        "-1e400 ",
        "1e-400 ",
        "100000000000000000000000000001 ",
        "1.0 ",
        "0.1 ",
    ),
    *("9007199254740993 ", "9007199254740993.0 "),
]


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_are_read_as_json_loads_reads_them(text: str) -> None:
    for chunks in every(text):
        assert same(fed(chunks).value, loads(text))


def test_raw_surrogates_are_ordinary_characters() -> None:
    for chunks in every('["\ud83d\ude00", "\ud83d", "\\ud83d\ude00", "\ud83d\\ude00"]'):
        assert fed(chunks).value == ["\ud83d\ude00", "\ud83d", "\ud83d\ude00", "\ud83d\ude00"]


@pytest.mark.parametrize(
    "chunks",
    [
        *(
            ["[1,2 ", " ", "\n"],
            ['["a', '"', " ", ",", " "],
            ['{"a":[1', "2"],
            ['{"a":[1,', "2", "3"],
            ["[[]", "]", " "],
        ),
        *(['{"a":{', "}", ",", '"', "k", "e", "y", '"', ":", "t", "ru"], ['["a', "\\", "u", "0"], ['"a', '"', " "]),
        *(['["a', "\\ud8", "3d", "\\", "u"], ['["a', "\\q"], ['["a', "\\u0", "0g"], ['["a', "\n"], ["[true", "]"]),
        *([b'["a', b"\xe2", b"\x82"], [b'["', b"\xf0"], [b'["a\\u0065', b"\xc3"], [b'{"k":"\xc3\xa9', b"\xc3"]),
    ],
)
def test_a_chunk_that_shows_nothing_keeps_the_value(chunks: list[str] | list[bytes]) -> None:
    states = states_along(chunks)[1:]
    assert all(state.value is states[0].value for state in states)


def test_a_closed_string_is_the_same_object_ever_after() -> None:
    states = states_along(['{"a":"lorem ipsum"', ',"b":"dolor', ' sit"', ',"c":[', "1", "]}"])
    first: Any = states[1].value
    for state in states[2:]:
        value: Any = state.value
        assert value["a"] is first["a"]


@pytest.mark.parametrize("start", ["[", '{"a":', '[0,[],{"a":', '{"a":1,"b":[2,'])
def test_a_held_string_never_changes_while_its_text_grows(start: str) -> None:
    state = parse_chunk(create_parser_state(), start + '"')
    held = []
    for size in range(300):
        value: Any = state.value
        while isinstance(value, list | dict):
            value = value[-1] if isinstance(value, list) else list(value.values())[-1]
        assert value == "lorem ipsum " * size
        if size % 3 == 0:
            held.append((size, value))
        del value
        state = parse_chunk(state, "lorem ipsum ")
    assert all(text == "lorem ipsum " * size for size, text in held)


def test_the_resolved_value_waits_for_the_end_and_a_value_is_made_once() -> None:
    state = create_parser_state()
    for chunk in singles('{"a":[1,2]'):
        state = parse_chunk(state, chunk)
        assert get_resolved_value(state) is MISSING
        assert state.value is state.value
    state = parse_chunk(state, "}")
    assert get_resolved_value(state) is state.value


def test_missing_is_falsy_but_not_none_and_prints_as_its_name() -> None:
    assert not MISSING
    assert MISSING is not None
    assert repr(MISSING) == "MISSING"
    assert f"{MISSING}" == "MISSING"
    assert isinstance(MISSING, Missing)


def test_a_root_null_is_a_value() -> None:
    for chunks in every("null"):
        state = fed(chunks)
        assert state.is_complete
        assert state.value is None
        assert get_resolved_value(state) is None


@pytest.mark.parametrize("size", [1, 5, 30])
@pytest.mark.parametrize("every_other", [1, 2, 3])
def test_a_program_that_keeps_nothing_sees_the_same(size: int, every_other: int) -> None:
    """Values are changed in place when nothing else refers to them; here nothing does."""
    chunks = sized('{"a": "xy", "days": [{"b": 1}, "long text", [1, [2], {}], 3, 4], "d": 4, "e": {"f": "6"}}', size)
    state = create_parser_state()
    for at, prefix in enumerate(list(prefixes(chunks))[1:]):
        state = parse_chunk(state, chunks[at])
        if at % every_other == 0:
            assert same(state.value, visible(prefix))
