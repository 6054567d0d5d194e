"""JSONTestSuite (nst/JSONTestSuite, MIT): what must be accepted, what must not, and what we decided.

The files are not part of this repository; see `shared_data`.
"""

from functools import cache
from typing import NamedTuple

import pytest

from jsontide import ParserState, Reason, finalize, get_resolved_value
from tests.cuts import Chunks, every, fed, ways
from tests.oracles import loads
from tests.relations import same
from tests.shared_data import DATA, in_data

FOLDER = DATA / "JSONTestSuite" / "test_parsing"

pytestmark = in_data("JSONTestSuite")


class Decision(NamedTuple):
    """`None` accepts the file."""

    reason: Reason | None
    why: str


HUGE = Decision(None, "a float out of range is an infinity or zero, as json.loads reads it")
EXACT = Decision(None, "an int is exact at any size within the limits")
LONE = Decision(None, "RFC 8259, 8.2: the grammar allows lone surrogate escapes; they are kept")
NOT_UTF8 = Decision(Reason.BAD_UTF8, "RFC 8259, 8.1: text between systems is UTF-8")
NOT_UTF8_BUT_ASCII = Decision(
    Reason.UNEXPECTED_CHARACTER, "UTF-16 is not guessed at, and its zero bytes stand for no JSON"
)

DECISIONS = {
    "i_number_double_huge_neg_exp": HUGE,
    "i_number_huge_exp": HUGE,
    "i_number_neg_int_huge_exp": HUGE,
    "i_number_pos_double_huge_exp": HUGE,
    "i_number_real_neg_overflow": HUGE,
    "i_number_real_pos_overflow": HUGE,
    "i_number_real_underflow": HUGE,
    "i_number_too_big_neg_int": EXACT,
    "i_number_too_big_pos_int": EXACT,
    "i_number_very_big_negative_int": EXACT,
    "i_object_key_lone_2nd_surrogate": LONE,
    "i_string_1st_surrogate_but_2nd_missing": LONE,
    "i_string_1st_valid_surrogate_2nd_invalid": LONE,
    "i_string_incomplete_surrogate_and_escape_valid": LONE,
    "i_string_incomplete_surrogate_pair": LONE,
    "i_string_incomplete_surrogates_escape_valid": LONE,
    "i_string_invalid_lonely_surrogate": LONE,
    "i_string_invalid_surrogate": LONE,
    "i_string_inverted_surrogates_U+1D11E": LONE,
    "i_string_lone_second_surrogate": LONE,
    "i_string_UTF-16LE_with_BOM": NOT_UTF8,
    "i_string_UTF-8_invalid_sequence": NOT_UTF8,
    "i_string_UTF8_surrogate_U+D800": NOT_UTF8,
    "i_string_invalid_utf-8": NOT_UTF8,
    "i_string_iso_latin_1": NOT_UTF8,
    "i_string_lone_utf8_continuation_byte": NOT_UTF8,
    "i_string_not_in_unicode_range": NOT_UTF8,
    "i_string_overlong_sequence_2_bytes": NOT_UTF8,
    "i_string_overlong_sequence_6_bytes": NOT_UTF8,
    "i_string_overlong_sequence_6_bytes_null": NOT_UTF8,
    "i_string_truncated-utf-8": NOT_UTF8,
    "i_string_utf16BE_no_BOM": NOT_UTF8_BUT_ASCII,
    "i_string_utf16LE_no_BOM": NOT_UTF8_BUT_ASCII,
    "i_structure_500_nested_arrays": Decision(None, "500 is below the default limit of 512"),
    "i_structure_UTF-8_BOM_empty_object": Decision(None, "RFC 8259, 8.1: a BOM may be ignored"),
}
DEEP = {"n_structure_100000_opening_arrays": 512, "n_structure_open_array_object": 256 * len('[{"":')}
"""Files that end at the depth limit, and the index of the bracket that is one too many."""


def names(kind: str) -> list[str]:
    return sorted(path.stem for path in FOLDER.glob(f"{kind}_*.json"))


@cache
def ends(name: str) -> list[ParserState]:
    """The file's final state at every cut; as `str` too where it is UTF-8 without a byte order mark."""
    data = (FOLDER / f"{name}.json").read_bytes()
    try:
        cuts: list[Chunks] = list(every(data.decode()))
    except UnicodeDecodeError:
        cuts = list(ways(data))
    if data.startswith(b"\xef\xbb\xbf"):
        cuts = list(ways(data))
    return [finalize(fed(chunks)) for chunks in cuts]


def expected(name: str) -> object:
    return loads((FOLDER / f"{name}.json").read_text("utf-8-sig"))


@pytest.mark.parametrize("name", names("y"))
def test_what_must_be_accepted_is_read_as_json_loads_reads_it(name: str) -> None:
    for state in ends(name):
        assert state.error is None
        assert same(get_resolved_value(state), expected(name))


@pytest.mark.parametrize("name", names("n"))
def test_what_must_be_rejected_is_one_error_at_every_cut(name: str) -> None:
    errors = {state.error for state in ends(name)}
    assert len(errors) == 1
    assert None not in errors


@pytest.mark.parametrize("name", names("i"))
def test_what_is_up_to_the_parser_is_decided(name: str) -> None:
    decision = DECISIONS[name]
    for state in ends(name):
        assert (state.error and state.error.reason) == decision.reason
        assert decision.reason or same(get_resolved_value(state), expected(name))


def test_every_decision_is_about_a_file() -> None:
    assert set(DECISIONS) == set(names("i"))


@pytest.mark.parametrize("name", sorted(DEEP))
def test_hostile_depth_ends_at_the_limit(name: str) -> None:
    for state in ends(name):
        assert state.error
        assert state.error.reason is Reason.TOO_DEEP
        assert state.error.index == DEEP[name]
        assert state.next_id == 512
