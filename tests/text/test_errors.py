"""Errors: every reason, at the first character that cannot be right, whatever the cut."""

from typing import Any

import pytest

from jsontide import (
    MISSING,
    Limits,
    ParserError,
    ParserState,
    create_parser_state,
    finalize,
    get_resolved_value,
    parse_chunk,
)
from jsontide.tree import Mode
from tests.cuts import every, fed, few, ways
from tests.oracles import Fault, fault, outcome
from tests.relations import has_error, same

WRONG = [
    *("x", "NaN", "Infinity", "-Infinity", "+1", ".5", "'a'", "]", "}", ",", ":", "é", "\x00", "\x0b1", "\xa0 1"),
    *("// hi", "tru ", "trux", "tRue", "fals\n", "nul]", "-x", "01", "-01", "00", "--1", "1.x", "1e\x00", "[0\x00"),
    *("[1é", "[-é", "1.e5", "1ex", "1e+x", "1E-,", "[,", "[x", "[}", "[1,]", "[1,x", "[1,,", "[1 x", "[1 2", "[1}"),
    *("[1:", '["a" "b"', "[01", "[-01", "[1.5.", "[1e5e", "[tru]", "[[], [1.x", "[[1],x", "[[1]x", "{x", "{1", "{,"),
    *("{]", "{:", '{"a"x', '{"a",', '{"a"}', '{"a":x', '{"a":}', '{"a":,', '{"a"::', '{"a":1 x', '{"a":1]', '{"a":1,}'),
    *('{"a":1,x', '{"a":1,2', '{"a":[1.x', '{"a":{"b":[[],{"":n-', '{"\\u0061\\n":x', '"a\nb"', '"\x00', '"\x1f'),
    *('["a\tb"]', '{"a\tb"', '{"k":"\r', '"\\ud83d\n', '"\\q"', '"\\U0041', '"\\\n', '"\\x41', "\"\\'", '"\\é'),
    *('"\\u"', '"\\ug', '"\\u0g', '"\\u00"', '"\\u004é', '"\\u+041', '"\\u 041', '"\\u0_41', '"\\u٠٠٤١', '"\\ud83d\\q'),
    *('"\\ud83d\\ux', '"\\ud83d\\ude0x', '[1,"a\\q', '{"a\\q', '{"a":{"\\u00x', "1x", "1 2", "1.5.", "truex", "null,"),
    *('""""', "{}}", "[]]", "{} {}", "[1]\n\nx", "[]\x00", "[]\ufeff"),
]
UNFINISHED = [
    *("", " \n", "-", "1.", "1e", "1e+", "tru", '"', '"a\\', '"a\\u00', '"\\ud83d', "[", "[1", "[1 ", "[1,", '["a'),
    *('["a"', "[[]", "[nul", "{", '{"a', '{"a"', '{"a":', '{"a":1', '{"a":1,', '{"a":{"b":[0,'),
]


def assert_error(state: ParserState, text: str, found: Fault | None) -> None:
    assert found
    assert has_error(state, found, text)
    error = state.error
    assert error
    assert error.message.endswith(f"(line {error.line}, column {error.column})")
    assert error.message[0] == error.message[0].lower()
    assert (state.mode, state.is_complete, get_resolved_value(state)) == (Mode.ERROR, False, MISSING)
    assert state.index == error.index


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_character_is_an_error_where_it_stands_and_not_before(text: str) -> None:
    value, found = outcome(text)
    for chunks in every(text):
        assert_error(fed(chunks), text, found)
        assert same(fed(chunks).value, value)
    for chunks in every(text[: found.index if found else 0]):
        assert fed(chunks).error is None


@pytest.mark.parametrize("text", UNFINISHED)
def test_a_text_that_is_over_too_early_is_an_error_at_its_end(text: str) -> None:
    for chunks in every(text):
        state = fed(chunks)
        assert state.error is None
        assert_error(finalize(state), text, fault(text, ended=True))
        assert finalize(state).value is state.value


MESSAGES = [
    ("`", "expected a value, found '`'"),
    ("[1,]", "expected a value, found ']'"),
    ("[x", "expected a value or ']', found 'x'"),
    ("{'a'", "expected a key in quotes or '}', found \"'\""),
    ('{"a";', "expected ':', found ';'"),
    ('{"a":1\\', "expected ',' or '}', found '\\'"),
    ("[“", "expected a value or ']', found '“'"),
    ("[\x00", "expected a value or ']', found '\\x00'"),
    ("\x0b", "expected a value, found '\\x0b'"),
    ("\xa0", "expected a value, found U+00A0"),
    ("\u202e", "expected a value, found U+202E"),
    ("\u0301", "expected a value, found U+0301"),
    ("[tru\n", "expected 'true', found '\\n'"),
    ("01", "expected no digit after a leading zero, found '1'"),
    ("[-é", "expected a digit, found 'é'"),
    ("[] x", "expected nothing after the document, found 'x'"),
    ('"\n', "expected control characters to be escaped, found '\\n'"),
    ('"\\q', "expected one of \"\\/bfnrtu after a backslash, found 'q'"),
    ('"\\u00"', "expected a hex digit, found '\"'"),
    ("[\ud800", "expected a value or ']', found U+D800"),
    ("", "expected a value, found the end of the text"),
    ("[1", "expected ',' or ']', found the end of the text"),
    ("[tr", "expected 'true', found the end of the text"),
    ("[-", "expected a digit, found the end of the text"),
    ('{"a', "expected more of the key or '\"', found the end of the text"),
]


def said(error: ParserError | None) -> str:
    """What a message says before the place."""
    assert error
    return error.message.rpartition(" (line ")[0]


@pytest.mark.parametrize(("text", "message"), MESSAGES)
def test_a_message_says_what_was_expected_and_what_was_found(text: str, message: str) -> None:
    for chunks in every(text):
        assert said(finalize(fed(chunks)).error) == message


@pytest.mark.parametrize(
    ("options", "text", "message"),
    [
        ({"duplicate_keys": "error"}, '{"k\\n":1,"k\\n":2}', "found 'k\\n'"),
        ({"duplicate_keys": "error"}, f'{{"{"k" * 99}":1,"{"k" * 99}":2}}', f"found '{'k' * 40}'..."),
        ({"floats": "decimal"}, f"[1e{'9' * 99}]", f"found '1e{'9' * 38}'..."),
        ({"limits": Limits(max_depth=1)}, "[[", "expected at most 1 open containers, found more"),
        ({"limits": Limits(max_nodes=1)}, "[[", "expected at most 1 values, found more"),
        ({"limits": Limits(max_chars=1)}, "[[", "expected at most 1 characters of text, found more"),
        ({"limits": Limits(max_string=1)}, '"ab', "expected the end of a string after 1 characters, found more"),
        ({"limits": Limits(max_number=1)}, "12", "expected the end of a number after 1 characters, found more"),
    ],
)
def test_what_a_limit_or_an_option_refuses_is_named_and_nothing_else_was_expected(
    options: dict[str, Any], text: str, message: str
) -> None:
    for chunks in few(text):
        error = fed(chunks, create_parser_state(**options)).error
        assert said(error).endswith(message)
        assert error
        assert error.expected == frozenset()


@pytest.mark.parametrize("text", WRONG)
def test_a_message_is_short_and_can_be_printed(text: str) -> None:
    error = fed([text * 1_000]).error
    assert error
    assert error.message.isprintable()
    assert len(error.message) < 120


STANDS_FOR = {
    "value": frozenset('"-0123456789tfn{['),
    "key": frozenset('"'),
    "digit": frozenset("0123456789"),
    "hex digit": frozenset("0123456789abcdefABCDEF"),
    "character": frozenset(map(chr, range(32, 128))) - {'"'},
    "end": frozenset[str](),
}


def accepted(error: ParserError, text: str) -> set[str]:
    """The characters that `expected` stands for; of a literal, the one whose turn it is."""
    characters: set[str] = set()
    for name in error.expected:
        if name in {"true", "false", "null"}:
            written = max(length for length in range(len(name)) if text[: error.index].endswith(name[:length]))
            characters.add(name[written])
        else:
            characters |= STANDS_FOR.get(name, {name})
    return characters


def possible(text: str, wrong: str = "") -> set[str]:
    """The characters that may follow a text, white space outside of strings aside; a number that may end has ended."""
    if not wrong.isdigit() and fault(f"{text} ") is None:
        text += " " * text[-1:].isdigit()
    ascii_characters = map(chr, range(128))
    return {
        char
        for char in ascii_characters
        if fault(text + char) is None and (not char.isspace() or fault(f"{text}{char}x") is None)
    }


@pytest.mark.parametrize("text", WRONG)
def test_what_was_expected_is_what_may_stand_there(text: str) -> None:
    for chunks in few(text):
        error = fed(chunks).error
        assert error
        assert accepted(error, text) == possible(text[: error.index], text[error.index])
        assert ("end" in error.expected) == (fault(text[: error.index], ended=True) is None)


@pytest.mark.parametrize("text", UNFINISHED)
def test_what_was_expected_at_the_end_is_what_may_follow(text: str) -> None:
    for chunks in few(text):
        error = finalize(fed(chunks)).error
        assert error
        assert accepted(error, text) == possible(text)


@pytest.mark.parametrize("text", ["\n\n x", "[1,\r\n2 x", "[\r1\rx", "[\u2028", "\n", '["é😀", x', '["ab\\ud83d\x00'])
def test_only_a_newline_begins_a_line_and_a_column_counts_code_points(text: str) -> None:
    value, found = outcome(text, ended=True)
    for chunks in every(text):
        state = finalize(fed(chunks))
        assert_error(state, text, found)
        assert same(state.value, value)


def test_what_had_closed_before_an_error_is_still_in_the_nodes() -> None:
    for chunks in every('{"a":[1,2],"b":[3,x'):
        nodes = fed(chunks).nodes
        assert [node.closed for node in nodes] == [False, True, True, True, False, True]
        assert nodes[1].resolved_value == [1, 2]


def test_a_state_in_error_returns_itself() -> None:
    for chunks in every("[1,]"):
        state = fed(chunks)
        assert parse_chunk(state, "x" if isinstance(chunks[0], str) else b"x") is state
        assert parse_chunk(state, "") is state
        assert finalize(state) is state


def test_a_byte_order_mark_is_an_error_in_str_and_skipped_in_bytes() -> None:
    for chunks in ways("\ufeff{}"):
        assert_error(fed(chunks), "\ufeff{}", Fault("BYTE_ORDER_MARK", 0, ()))
        assert said(fed(chunks).error) == "expected a value, found a byte order mark"
    for data in ways("\ufeff[1,x".encode()):
        assert_error(fed(data), "[1,x", Fault("UNEXPECTED_CHARACTER", 3, (1,)))
    for data in ways("\ufeff\ufeff1".encode()):  # another one after it is a character like any other
        state = fed(data)
        assert state.error
        assert state.error.index == 0


@pytest.mark.parametrize("text", [" \ufeff1", "[\ufeff"])
def test_a_byte_order_mark_elsewhere_is_a_wrong_character(text: str) -> None:
    for chunks in every(text):
        assert_error(fed(chunks), text, fault(text))


@pytest.mark.parametrize(
    ("text", "key", "path"),
    [
        ('{"a":1,"a":2}', 9, ("a",)),
        ('[{"b":{"":1, "\\u0000":2,"":', 25, (0, "b", "")),
        ('{"é":1,"\\u00E9":2}', 14, ("é",)),
    ],
)
def test_a_duplicate_key_is_an_error_at_its_closing_quote_if_asked_for(text: str, key: int, path: Any) -> None:
    for chunks in every(text):
        state = fed(chunks, create_parser_state(duplicate_keys="error"))
        assert_error(state, text, Fault("DUPLICATE_KEY", key, path))


def test_equal_keys_of_different_objects_are_no_duplicates() -> None:
    text = '{"a":{"a":[{"a":1},{"a":2}]},"b":{"a":3}}'
    for chunks in every(text):
        assert fed(chunks, create_parser_state(duplicate_keys="error")).is_complete


@pytest.mark.parametrize("exponent", ["9999999999999999999", "-9999999999999999999"])
def test_a_number_that_decimal_cannot_hold_is_an_error(exponent: str) -> None:
    text = f"[1e{exponent},"
    for chunks in every(text):
        state = fed(chunks, create_parser_state(floats="decimal"))
        assert_error(state, text, Fault("NUMBER_OUT_OF_RANGE", len(text) - 1, (0,)))


def test_the_first_of_two_faults_is_the_error() -> None:
    for chunks in every('["abc\\q'):
        state = fed(chunks, create_parser_state(limits=Limits(max_string=2)))
        assert_error(state, '["abc\\q', Fault("STRING_TOO_LONG", 4, (0,)))
