from jsontide.cli._escape import escape_unsafe, quote_safely


def test_nothing_printed_can_steer_a_terminal() -> None:
    hostile = "a\x1b[2J\x9b\x7f\u2028\u202e\ud800\tz"
    assert escape_unsafe(hostile) == r"a\u001b[2J\u009b\u007f\u2028\u202e\ud800\u0009z"
    assert quote_safely(hostile).isprintable()


def test_letters_and_emoji_stay_as_they_are() -> None:
    assert quote_safely("Zoë 健二 👩‍👩‍👧") == '"Zoë 健二 👩‍👩‍👧"'
