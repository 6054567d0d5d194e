"""Errors: every reason, at the first character that cannot be right, whatever the cut."""

import pytest

from jsontide import (
    MISSING,
    Limits,
    Mode,
    ParserState,
    Reason,
    create_parser_state,
    finalize,
    get_resolved_value,
    parse_chunk,
)
from tests.cuts import every, fed, ways
from tests.oracles import Path, line_and_column

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
