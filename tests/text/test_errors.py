"""Errors: every reason, at the first character that cannot be right, whatever the cut."""

from typing import Any

import pytest

from jsontide import (
    MISSING,
    Limits,
    ParserError,
    ParserState,
    Reason,
    create_parser_state,
    finalize,
    get_resolved_value,
    parse_chunk,
)
from jsontide.tree import Mode
from tests.cuts import every, fed, few, ways
from tests.oracles import Path, fault, line_and_column

CHARACTER, CONTROL, ESCAPE = (
    Reason.UNEXPECTED_CHARACTER,
    Reason.CONTROL_CHARACTER,
    Reason.BAD_ESCAPE,
)
TRAILING, END = Reason.TRAILING_TEXT, Reason.UNEXPECTED_END

WRONG = [
    ("x", CHARACTER, 0, ()),
    ("NaN", CHARACTER, 0, ()),
    ("Infinity", CHARACTER, 0, ()),
    ("-Infinity", CHARACTER, 1, ()),
    ("+1", CHARACTER, 0, ()),
    (".5", CHARACTER, 0, ()),
    ("'a'", CHARACTER, 0, ()),
    ("]", CHARACTER, 0, ()),
    ("}", CHARACTER, 0, ()),
    (",", CHARACTER, 0, ()),
    (":", CHARACTER, 0, ()),
    ("é", CHARACTER, 0, ()),
    ("\x00", CHARACTER, 0, ()),
    ("\x0b1", CHARACTER, 0, ()),
    ("\xa0 1", CHARACTER, 0, ()),
    ("// hi", CHARACTER, 0, ()),
    ("tru ", CHARACTER, 3, ()),
    ("trux", CHARACTER, 3, ()),
    ("tRue", CHARACTER, 1, ()),
    ("fals\n", CHARACTER, 4, ()),
    ("nul]", CHARACTER, 3, ()),
    ("-x", CHARACTER, 1, ()),
    ("01", CHARACTER, 1, ()),
    ("-01", CHARACTER, 2, ()),
    ("00", CHARACTER, 1, ()),
    ("--1", CHARACTER, 1, ()),
    ("1.x", CHARACTER, 2, ()),
    ("1e\x00", CHARACTER, 2, ()),
    ("[0\x00", CHARACTER, 2, ()),
    ("[1é", CHARACTER, 2, ()),
    ("[-é", CHARACTER, 2, (0,)),
    ("1.e5", CHARACTER, 2, ()),
    ("1ex", CHARACTER, 2, ()),
    ("1e+x", CHARACTER, 3, ()),
    ("1E-,", CHARACTER, 3, ()),
    ("[,", CHARACTER, 1, (0,)),
    ("[x", CHARACTER, 1, (0,)),
    ("[}", CHARACTER, 1, (0,)),
    ("[1,]", CHARACTER, 3, (1,)),
    ("[1,x", CHARACTER, 3, (1,)),
    ("[1,,", CHARACTER, 3, (1,)),
    ("[1 x", CHARACTER, 3, ()),
    ("[1 2", CHARACTER, 3, ()),
    ("[1}", CHARACTER, 2, ()),
    ("[1:", CHARACTER, 2, ()),
    ('["a" "b"', CHARACTER, 5, ()),
    ("[01", CHARACTER, 2, (0,)),
    ("[-01", CHARACTER, 3, (0,)),
    ("[1.5.", CHARACTER, 4, ()),
    ("[1e5e", CHARACTER, 4, ()),
    ("[tru]", CHARACTER, 4, (0,)),
    ("[[], [1.x", CHARACTER, 8, (1, 0)),
    ("[[1],x", CHARACTER, 5, (1,)),
    ("[[1]x", CHARACTER, 4, ()),
    ("{x", CHARACTER, 1, ()),
    ("{1", CHARACTER, 1, ()),
    ("{,", CHARACTER, 1, ()),
    ("{]", CHARACTER, 1, ()),
    ("{:", CHARACTER, 1, ()),
    ('{"a"x', CHARACTER, 4, ()),
    ('{"a",', CHARACTER, 4, ()),
    ('{"a"}', CHARACTER, 4, ()),
    ('{"a":x', CHARACTER, 5, ("a",)),
    ('{"a":}', CHARACTER, 5, ("a",)),
    ('{"a":,', CHARACTER, 5, ("a",)),
    ('{"a"::', CHARACTER, 5, ("a",)),
    ('{"a":1 x', CHARACTER, 7, ()),
    ('{"a":1]', CHARACTER, 6, ()),
    ('{"a":1,}', CHARACTER, 7, ()),
    ('{"a":1,x', CHARACTER, 7, ()),
    ('{"a":1,2', CHARACTER, 7, ()),
    ('{"a":[1.x', CHARACTER, 8, ("a", 0)),
    ('{"a":{"b":[[],{"":n-', CHARACTER, 19, ("a", "b", 1, "")),
    ('{"\\u0061\\n":x', CHARACTER, 12, ("a\n",)),
    ('"a\nb"', CONTROL, 2, ()),
    ('"\x00', CONTROL, 1, ()),
    ('"\x1f', CONTROL, 1, ()),
    ('["a\tb"]', CONTROL, 3, (0,)),
    ('{"a\tb"', CONTROL, 3, ()),
    ('{"k":"\r', CONTROL, 6, ("k",)),
    ('"\\q"', ESCAPE, 2, ()),
    ('"\\U0041', ESCAPE, 2, ()),
    ('"\\\n', ESCAPE, 2, ()),
    ('"\\x41', ESCAPE, 2, ()),
    ("\"\\'", ESCAPE, 2, ()),
    ('"\\é', ESCAPE, 2, ()),
    ('"\\u"', ESCAPE, 3, ()),
    ('"\\ug', ESCAPE, 3, ()),
    ('"\\u0g', ESCAPE, 4, ()),
    ('"\\u00"', ESCAPE, 5, ()),
    ('"\\u004é', ESCAPE, 6, ()),
    ('"\\u+041', ESCAPE, 3, ()),
    ('"\\u 041', ESCAPE, 3, ()),
    ('"\\u0_41', ESCAPE, 4, ()),
    ('"\\u٠٠٤١', ESCAPE, 3, ()),
    ('"\\ud83d\\q', ESCAPE, 8, ()),
    ('"\\ud83d\\ux', ESCAPE, 9, ()),
    ('"\\ud83d\\ude0x', ESCAPE, 12, ()),
    ('"\\ud83d\n', CONTROL, 7, ()),
    ('[1,"a\\q', ESCAPE, 6, (1,)),
    ('{"a\\q', ESCAPE, 4, ()),
    ('{"a":{"\\u00x', ESCAPE, 11, ("a",)),
    ("1x", TRAILING, 1, ()),
    ("1 2", TRAILING, 2, ()),
    ("1.5.", TRAILING, 3, ()),
    ("truex", TRAILING, 4, ()),
    ("null,", TRAILING, 4, ()),
    ('""""', TRAILING, 2, ()),
    ("{}}", TRAILING, 2, ()),
    ("[]]", TRAILING, 2, ()),
    ("{} {}", TRAILING, 3, ()),
    ("[1]\n\nx", TRAILING, 5, ()),
    ("[]\x00", TRAILING, 2, ()),
    ("[]\ufeff", TRAILING, 2, ()),
]

UNFINISHED = [
    ("", ()),
    (" \n", ()),
    ("-", ()),
    ("1.", ()),
    ("1e", ()),
    ("1e+", ()),
    ("tru", ()),
    ('"', ()),
    ('"a\\', ()),
    ('"a\\u00', ()),
    ('"\\ud83d', ()),
    ("[", (0,)),
    ("[1", (0,)),
    ("[1 ", ()),
    ("[1,", (1,)),
    ('["a', (0,)),
    ('["a"', ()),
    ("[[]", ()),
    ("[nul", (0,)),
    ("{", ()),
    ('{"a', ()),
    ('{"a"', ()),
    ('{"a":', ("a",)),
    ('{"a":1', ("a",)),
    ('{"a":1,', ()),
    ('{"a":{"b":[0,', ("a", "b", 1)),
]


def assert_error(state: ParserState, text: str, reason: Reason, index: int, path: Path) -> None:
    error = state.error
    assert error is not None
    assert (error.reason, error.index, error.path) == (reason, index, path)
    assert (error.line, error.column) == line_and_column(text, index)
    assert error.message.endswith(f"(line {error.line}, column {error.column})")
    assert error.message[0] == error.message[0].lower()
    assert state.mode is Mode.ERROR
    assert not state.is_complete
    assert get_resolved_value(state) is MISSING
    assert state.index == index


@pytest.mark.parametrize(("text", "reason", "index", "path"), WRONG)
def test_a_wrong_character_is_an_error_where_it_stands(text: str, reason: Reason, index: int, path: Path) -> None:
    for chunks in every(text):
        assert_error(fed(chunks), text, reason, index, path)


@pytest.mark.parametrize(("text", "index"), [(row[0], row[2]) for row in WRONG])
def test_before_the_wrong_character_there_is_no_error(text: str, index: int) -> None:
    for chunks in every(text[:index]):
        assert fed(chunks).error is None


@pytest.mark.parametrize(("text", "path"), UNFINISHED)
def test_a_text_that_is_over_too_early_is_an_error_at_its_end(text: str, path: Path) -> None:
    for chunks in every(text):
        state = fed(chunks)
        assert state.error is None
        assert_error(finalize(state), text, Reason.UNEXPECTED_END, len(text), path)


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
]
AT_THE_END = [
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
        assert said(fed(chunks).error) == message


@pytest.mark.parametrize(("text", "message"), AT_THE_END)
def test_a_message_says_that_the_text_ended(text: str, message: str) -> None:
    for chunks in every(text):
        assert said(finalize(fed(chunks)).error) == message


def test_a_message_names_a_lone_surrogate() -> None:
    for chunks in ways("[\ud800"):
        assert said(fed(chunks).error) == "expected a value or ']', found U+D800"


def test_a_message_names_a_byte_order_mark() -> None:
    assert said(fed(["\ufeff{}"]).error) == "expected a value, found a byte order mark"


def test_a_message_names_the_byte_that_is_not_utf8() -> None:
    for chunks in ways(b'["a\xff"]'):
        assert said(fed(chunks).error) == "expected UTF-8 at byte 3, found 0xff"


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


@pytest.mark.parametrize("text", [row[0] for row in WRONG])
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


@pytest.mark.parametrize(("text", "index"), [(row[0], row[2]) for row in WRONG])
def test_what_was_expected_is_what_may_stand_there(text: str, index: int) -> None:
    for chunks in few(text):
        error = fed(chunks).error
        assert error
        assert accepted(error, text) == possible(text[:index], text[index])
        assert ("end" in error.expected) == (fault(text[:index], ended=True) is None)


@pytest.mark.parametrize("text", [row[0] for row in UNFINISHED])
def test_what_was_expected_at_the_end_is_what_may_follow(text: str) -> None:
    for chunks in few(text):
        error = finalize(fed(chunks)).error
        assert error
        assert accepted(error, text) == possible(text)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [("\n\n x", 3, 2), ("[1,\r\n2 x", 2, 3), ("[\r1\rx", 1, 5), ("[\u2028", 1, 2), ("\n", 2, 1)],
)
def test_only_a_newline_begins_a_line(text: str, line: int, column: int) -> None:
    for chunks in every(text):
        error = finalize(fed(chunks)).error
        assert error
        assert (error.line, error.column) == (line, column)


def test_a_column_counts_code_points() -> None:
    for chunks in every('["é😀", x'):
        error = fed(chunks).error
        assert error
        assert (error.index, error.column) == (7, 8)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[1,x", [1]),
        ("[1x", [1]),
        ('["ab\x00', ["ab"]),
        ('["ab\\q', ["ab"]),
        ('["ab\\ud83d\\q', ["ab\ud83d"]),
        ('["ab\\ud83d\x00', ["ab\ud83d"]),
        ("[01", []),
        ('{"a":"b","c":tru]', {"a": "b"}),
        ('{"a":[1,{"b":1.x', {"a": [1, {}]}),
        ("[] x", []),
    ],
)
def test_what_was_visible_before_an_error_stays_visible(text: str, value: object) -> None:
    for chunks in every(text):
        assert fed(chunks).value == value


@pytest.mark.parametrize("text", ["[1", '["a', '{"a":"b","c', "[tru"])
def test_what_was_visible_before_the_end_stays_visible(text: str) -> None:
    for chunks in every(text):
        state = fed(chunks)
        assert finalize(state).value is state.value


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
        assert_error(fed(chunks), "\ufeff{}", Reason.BYTE_ORDER_MARK, 0, ())
    for data in ways("\ufeff[1,x".encode()):
        assert_error(fed(data), "[1,x", Reason.UNEXPECTED_CHARACTER, 3, (1,))


@pytest.mark.parametrize("text", [" \ufeff1", "[\ufeff"])
def test_a_byte_order_mark_elsewhere_is_a_wrong_character(text: str) -> None:
    for chunks in every(text):
        error = fed(chunks).error
        assert error
        assert (error.reason, error.index) == (Reason.UNEXPECTED_CHARACTER, 1)


def test_a_second_byte_order_mark_is_a_wrong_character() -> None:
    for chunks in ways("\ufeff\ufeff1".encode()):
        error = fed(chunks).error
        assert error
        assert error.index == 0
        assert error.reason in {Reason.UNEXPECTED_CHARACTER, Reason.BYTE_ORDER_MARK}


@pytest.mark.parametrize(
    ("text", "path"),
    [('{"a":1,"a":2}', ("a",)), ('[{"b":{"":1, "\\u0000":2,"":', (0, "b", ""))],
)
def test_a_duplicate_key_is_an_error_at_its_closing_quote_if_asked_for(text: str, path: Path) -> None:
    index = text.rindex('":') if path[-1] else text.rindex('"')
    for chunks in every(text):
        state = fed(chunks, create_parser_state(duplicate_keys="error"))
        assert_error(state, text, Reason.DUPLICATE_KEY, index, path)


def test_equal_keys_of_different_objects_are_no_duplicates() -> None:
    text = '{"a":{"a":[{"a":1},{"a":2}]},"b":{"a":3}}'
    for chunks in every(text):
        assert fed(chunks, create_parser_state(duplicate_keys="error")).is_complete


def test_a_key_is_a_duplicate_however_it_is_spelled() -> None:
    for chunks in every('{"é":1,"\\u00E9":2}'):
        error = fed(chunks, create_parser_state(duplicate_keys="error")).error
        assert error
        assert (error.reason, error.index) == (Reason.DUPLICATE_KEY, 14)


@pytest.mark.parametrize("exponent", ["9999999999999999999", "-9999999999999999999"])
def test_a_number_that_decimal_cannot_hold_is_an_error(exponent: str) -> None:
    text = f"[1e{exponent},"
    for chunks in every(text):
        state = fed(chunks, create_parser_state(floats="decimal"))
        assert state.error
        assert state.error.reason is Reason.NUMBER_OUT_OF_RANGE
        assert state.error.path == (0,)


def test_the_first_of_two_faults_is_the_error() -> None:
    limits = Limits(max_string=2)
    for chunks in every('["abc\\q'):
        error = fed(chunks, create_parser_state(limits=limits)).error
        assert error
        assert (error.reason, error.index) == (Reason.STRING_TOO_LONG, 4)
