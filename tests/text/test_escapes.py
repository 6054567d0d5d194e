"""What a backslash stands for: what `json.loads` says, for every character that may follow and every cut."""

import json

import pytest

from jsontide.text.strings import unescape

CODES = [*range(0x180), 0x660, 0xFF10, 0xFF21, 0x1D7D8]
"""ASCII, what is near to it, and digits and letters of other scripts."""
CHARACTERS = list(map(chr, CODES))
HALVES = ("0041", "d7ff", "d800", "DBFF", "dc00", "DfFf", "e000", "ffff")
LOW_ESCAPES = [f"\\u{code:04x}" for code in range(0xDC00, 0xE000)]


def read_by_json(escape: str) -> str | None:
    try:
        text: str = json.loads(f'"{escape}"')
    except json.JSONDecodeError:
        return None
    return text


@pytest.mark.parametrize("before", ["", "é"])
def test_every_character_after_a_backslash(before: str) -> None:
    for character in CHARACTERS:
        if character == "u":
            continue
        text, end = unescape(f"{before}\\{character}", len(before))
        assert (text or None) == read_by_json(f"\\{character}")
        assert end == len(before) + (2 if text else 1)


@pytest.mark.parametrize("at", range(4))
@pytest.mark.parametrize("digits", ["0000", "9aFf", "dBc0"])
def test_every_character_in_place_of_a_digit(digits: str, at: int) -> None:
    for character in CHARACTERS:
        escape = f"\\u{digits[:at]}{character}{digits[at + 1 :]}"
        text, end = unescape(escape + "!", 0)
        # The standard library takes what `int` takes, and jsontide what RFC 8259 does.
        is_digit = character in "0123456789abcdefABCDEF"
        assert (text or None) == (read_by_json(escape) if is_digit else None)
        assert end == (6 if is_digit else 2 + at)


@pytest.mark.parametrize("first", HALVES)
@pytest.mark.parametrize("second", HALVES)
def test_halves_are_joined_and_nothing_else_is(first: str, second: str) -> None:
    whole = read_by_json(f"\\u{first}\\u{second}")
    assert whole is not None
    assert unescape(f"\\u{first}\\u{second}", 0) == (whole[0], 6 if len(whole) == 2 else 12)


@pytest.mark.parametrize("first", HALVES)
@pytest.mark.parametrize("second", [*HALVES, "dcz0", "dz", "x"])
def test_a_cut_escape_waits_only_while_what_follows_may_be_its_other_half(first: str, second: str) -> None:
    escape = f"\\u{first}\\u{second}"
    for cut in range(1, len(escape)):
        part, tail = escape[:cut], escape[6:cut].lower()
        is_high = "d800" <= first.lower() < "dc00"
        waits = cut < 6 or (is_high and any(low.startswith(tail) for low in LOW_ESCAPES))
        assert unescape(part, 0) == (("", 0) if waits else (chr(int(first, 16)), 6))
