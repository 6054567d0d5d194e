"""`jsontide mend`: bad JSON in, strict JSON and a report of the repairs out."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from typer.testing import CliRunner, Result

from jsontide.cli import _app
from jsontide.cli._output import RecentText, Spot
from jsontide.cli.commands.mend import KINDS, RepairReport, ReportForPeople, mend_stream
from jsontide.mend import EVERYTHING, MODELS, Repair, RepairKind, feed_mend, finish_mend, start_mend
from tests.mend.cases import read_corpus

ANSWER = """\
Sure, here it is:
```json
{city: 'Zürich',
 "open": True, "tags": ["健二",],
}
```
"""
STRICT = '{"city": "Zürich",\n "open": true, "tags": ["健二"]\n}\n'


@pytest.fixture
def mend(tmp_path: Path) -> Any:
    def run(data: bytes | str, *options: str, columns: int = 80) -> Result:
        path = tmp_path / "answer.txt"
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return CliRunner().invoke(_app.app, ["mend", str(path), *options], env={"COLUMNS": str(columns)})

    return run


def objects(result: Result) -> list[Any]:
    return [json.loads(line) for line in result.stderr.splitlines()]


def test_strict_json_goes_out_and_each_repair_is_pointed_at(mend: Any) -> None:
    result = mend(ANSWER)
    assert (result.exit_code, result.stdout) == (0, STRICT)
    assert result.stderr == (
        "jsontide: prose: dropped 'Sure, here it is:\\n' (line 1, column 1)\n"
        "1 | Sure, here it is:\n"
        "    ^\n"
        "jsontide: code fence: removed '```json\\n' (line 2, column 1)\n"
        "2 | ```json\n"
        "    ^\n"
        "jsontide: unquoted key: 'city' became '\"city\"' (line 3, column 2)\n"
        "3 | {city: 'Zürich',\n"
        "     ^\n"
        "jsontide: quotes: \"'\" became '\"' (line 3, column 8)\n"
        "3 | {city: 'Zürich',\n"
        "           ^\n"
        "jsontide: quotes: \"'\" became '\"' (line 3, column 15)\n"
        "3 | {city: 'Zürich',\n"
        "                  ^\n"
        "jsontide: literal: 'True' became 'true' (line 4, column 10)\n"
        '4 |  "open": True, "tags": ["健二",],\n'
        "             ^\n"
        "jsontide: trailing comma: removed ',' (line 4, column 29)\n"
        '4 |  "open": True, "tags": ["健二",],\n'
        "                                  ^\n"
        "jsontide: trailing comma: removed ',' (line 4, column 31)\n"
        '4 |  "open": True, "tags": ["健二",],\n'
        "                                    ^\n"
        "jsontide: code fence: removed '```\\n' (line 6, column 1)\n"
        "6 | ```\n"
        "    ^\n"
    )


def test_json_reports_say_how_to_make_the_output_from_the_original(mend: Any) -> None:
    result = mend(ANSWER, "--json")
    *repairs, end = objects(result)
    assert end == {"result": "mended", "repairs": len(repairs)}
    assert repairs[5] == {
        "kind": "literal",
        "index": ANSWER.index("True"),
        "line": 4,
        "column": 10,
        "was": "True",
        "became": "true",
        "lossy": False,
    }
    text = ANSWER
    for repair in reversed(repairs):
        start = repair["index"]
        assert text[start:].startswith(repair["was"])
        text = text[:start] + repair["became"] + text[start + len(repair["was"]) :]
    assert text == result.stdout == STRICT


@pytest.mark.parametrize("text", ["{}", ' [1, "\\u00e9\\ud800"]\r\n', '"Ω"', "12", '{"a": 1, "a": 2}'])
def test_what_is_strict_stays_as_it_is(mend: Any, text: str) -> None:
    result = mend(text)
    assert (result.exit_code, result.stdout_bytes, result.stderr) == (0, text.encode(), "")
    assert objects(mend(text, "--json")) == [{"result": "strict", "repairs": 0}]


def test_a_text_that_is_cut_off_is_closed_and_ends_with_3(mend: Any) -> None:
    result = mend('[1, {"a": "x')
    assert (result.exit_code, result.stdout) == (3, '[1, {"a": "x"}]')
    assert result.stderr == (
        "jsontide: truncated: inserted '\"}]' (line 1, column 13)\n"
        '1 | [1, {"a": "x\n'
        "                ^\n"
        "jsontide: the text is cut off: it ended before its value did\n"
    )
    assert objects(mend('[1, {"a": "x', "--json"))[-1] == {"result": "truncated", "repairs": 1}


@pytest.mark.parametrize(
    ("data", "reason", "line", "column"),
    [
        ('{"city": "Turin, "gender": "f"}', "ambiguous", None, None),
        ("[1,\n [2], spread()]", "unexpected-character", 2, 7),
        (b'["\xc3\xa9\xff"]', "bad-utf8", 1, 4),
        (b'["\xc3', "unexpected-end", 1, 3),
        ("", "unexpected-end", 1, 1),
        ("I cannot do that.", "unexpected-end", 1, 18),
    ],
)
def test_what_cannot_be_mended_ends_with_1_and_says_where(
    mend: Any, data: bytes | str, reason: str, line: int | None, column: int | None
) -> None:
    result = mend(data)
    assert result.exit_code == 1
    message, _, caret = result.stderr.rstrip("\n").split("\n")[-3:]
    assert message.startswith("jsontide: expected ")
    assert caret.strip() == "^"
    *_, error, end = objects(mend(data, "--json"))
    assert (error["error"], end["result"]) == (reason, "refused")
    assert f"(line {error['line']}, column {error['column']})" in message
    if line is not None:
        assert (error["line"], error["column"]) == (line, column)


@pytest.mark.parametrize(
    ("text", "code"), [("[1]", 0), ("[1,]", 4), ("[1", 3), ("[1 2]", 1), ("", 1), ("```\n[1]\n```", 4)]
)
def test_a_check_tells_by_its_exit_code_alone(mend: Any, text: str, code: int) -> None:
    result = mend(text, "--check")
    assert (result.exit_code, result.output) == (code, "")
    result = mend(text, "--check", "--json")
    assert (result.exit_code, result.stdout) == (code, "")
    assert objects(result)[-1]["result"] == {0: "strict", 4: "mended", 3: "truncated", 1: "refused"}[code]


def test_all_values_stand_on_lines_of_their_own(mend: Any) -> None:
    result = mend('First: {"a": 1} and then: {"b": 2,}', "--all")
    assert result.exit_code == 0
    assert [*map(json.loads, result.stdout.splitlines())] == [{"a": 1}, {"b": 2}]
    assert result.stdout.endswith("\n")
    assert mend('{"a": 1}\n{"a": 2}\n', "--all", "--check").exit_code == 0
    assert mend('{"a": 1}\n{"a": 2}\n').stdout == '{"a": 1}\n'


@pytest.mark.parametrize("name", ["trailing-comma", "TRAILING_COMMA", "trailing comma"])
def test_a_kind_can_be_switched_off(mend: Any, name: str) -> None:
    assert mend("[1,]").exit_code == 0
    assert mend("[1,]", "--without", "comment", "--without", name).exit_code == 1


def test_a_source_that_is_left_early_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []

    def read(file: str, **_: object) -> Iterator[bytes]:
        try:
            yield b"[1 2]"
            yield b"more"
        finally:
            closed.append(file)

    monkeypatch.setattr(sys.modules["jsontide.cli.commands.mend"], "read_source", read)
    result = CliRunner().invoke(_app.app, ["mend", "some file"])
    assert (result.exit_code, closed) == (1, ["some file"])


def test_everything_mends_more(mend: Any) -> None:
    assert mend('{"a": [1, 2, ...]}').exit_code == 1
    assert mend('{"a": [1, 2, ...]}', "--everything").stdout == '{"a": [1, 2 ]}'


def test_every_kind_without_a_schema_has_a_name() -> None:
    assert set(KINDS.values()) == {kind for kind in RepairKind if not kind.is_coercion}


def test_a_byte_order_mark_is_not_counted(mend: Any) -> None:
    result = mend(b"\xef\xbb\xbf[1,]", "--json")
    assert result.stdout == "[1]"
    assert objects(result)[0]["column"] == 3


class Reports(RepairReport):
    """Where repairs are said to be."""

    def __init__(self) -> None:
        self.spots: list[tuple[Repair, Spot]] = []

    def repair(self, repair: Repair, spot: Spot) -> None:
        self.spots.append((repair, spot))


@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.untraced
def test_repairs_of_the_corpus_are_found_in_the_text(size: int) -> None:
    for case in read_corpus():
        text = case.text.removeprefix("\ufeff")
        data = text.encode(errors="surrogatepass")
        reports = Reports()
        mend_stream((data[i : i + size] for i in range(0, len(data), size)), MODELS, None, reports)
        for repair, spot in reports.spots:
            before = text[: repair.index].split("\n")
            assert (spot.line, spot.column) == (len(before), len(before[-1]) + 1), case.name
            assert spot.text[spot.place :].startswith(repair.was), case.name


@pytest.mark.parametrize("size", [5, 1_000, 65_536])
@pytest.mark.untraced
@pytest.mark.long
def test_places_after_a_long_text_are_right_and_little_of_it_is_kept(size: int) -> None:
    lines = [f'{{"n": {n}, "text": "{"x" * (n % 50)}",}},' for n in range(3_000)]
    text = "Sure:\n[" + "\n".join(lines) + "]"
    data = text.encode()
    reports = Reports()
    mend_stream((data[i : i + size] for i in range(0, len(data), size)), EVERYTHING, None, reports)
    assert len(reports.spots) == 3_002
    for (repair, spot), line in zip(reports.spots[1:-1], lines, strict=True):
        assert repair.kind is RepairKind.TRAILING_COMMA
        assert spot.column == line.index(",}") + 1 + (spot.line == 2)
        assert len(spot.text) <= size + 2 * 256
    assert [spot.line for _, spot in reports.spots[1:-1]] == list(range(2, 3_002))


@given(st.lists(st.sampled_from(["x", "\n", "é", "🌊", '"', ",", "[", "]", "1", " "]), max_size=40), st.integers(1, 9))
def test_a_place_is_that_of_the_whole_text(parts: list[str], size: int) -> None:
    text = "".join(parts)
    data = text.encode()
    kept = RecentText()
    for start in range(0, len(data), size):
        kept.hold(data[start : start + size])
    for index in range(len(text)):
        before = text[:index].split("\n")
        spot = kept.spot(index)
        assert (spot.line, spot.column) == (len(before), len(before[-1]) + 1)


@given(
    st.lists(st.sampled_from(["Sure ", "\n", "```", "{", "}", '"a"', ":", ",", "[", "]", "1", "'", "//"]), max_size=20)
)
def test_all_of_a_text_is_in_the_output_or_in_a_repair(parts: list[str]) -> None:
    """What the excerpts rely on to know how much of the text is decided."""
    state = start_mend(MODELS)
    settled = 0
    for part in parts:
        state, text, repairs = feed_mend(state, part)
        settled += len(text) + sum(len(repair.was) - len(repair.became) for repair in repairs)
        assert settled <= state.index
        if state.error is not None:
            return
    state, text, repairs = finish_mend(state)
    settled += len(text) + sum(len(repair.was) - len(repair.became) for repair in repairs)
    assert state.error is not None or settled == len("".join(parts))


def said(repair: Repair, text: str, width: int) -> list[str]:
    messages: list[str] = []
    ReportForPeople(messages.append, width).repair(repair, Spot(1, repair.index + 1, text, repair.index))
    return messages[0].split("\n")


@pytest.mark.parametrize("width", [30, 60, 80, 200])
def test_long_texts_are_cut_to_the_width(width: int) -> None:
    prose = "健二 " * 200
    message, line, caret = said(Repair(RepairKind.PROSE, 0, prose, "", lossy=True), prose + "{}", width)
    assert cell_len(line) <= width
    assert caret == "    ^"
    assert "…' (line 1, column 1)" in message
    assert cell_len(message) <= max(width, 62)


@pytest.mark.parametrize(
    ("repair", "text", "message"),
    [
        (Repair(RepairKind.UNQUOTED_KEY, 1, "city", '"city"'), "{city: 1}", """unquoted key: 'city' became '"city"'"""),
        (Repair(RepairKind.INNER_QUOTE, 1, '"', '\\"'), 'x"', """inner quote: '"' became '\\"'"""),
        (Repair(RepairKind.LITERAL, 1, "NaN", "null", lossy=True), "[NaN]", "literal: 'NaN' became 'null', with loss"),
        (Repair(RepairKind.COMMENT, 1, "#x", "", lossy=True), "[#x\n]", "comment: dropped '#x'"),
    ],
)
def test_a_short_change_is_shown_whole_and_a_loss_is_said(repair: Repair, text: str, message: str) -> None:
    for width in (60, 80):
        assert said(repair, text, width)[0] == f"jsontide: {message} (line 1, column 2)"


def test_what_cannot_be_seen_is_escaped() -> None:
    message, line, _ = said(Repair(RepairKind.SPACE, 1, "\u00a0\u200b", ""), "[\u00a0\u200b\x9b2J", 80)
    assert "removed '\\xa0\\u200b'" in message
    assert line.endswith("\\u009b2J")


def test_a_long_text_that_is_dropped_piece_by_piece_is_said_once(mend: Any) -> None:
    text = "so many words\n" * 500 + '{"a": 1}'
    assert mend(text).stderr.count("jsontide: prose: dropped ") == 1
    *repairs, _ = objects(mend(text, "--json"))
    assert "".join(repair["was"] for repair in repairs) == "so many words\n" * 500
    assert mend('{"a": 1}}}').stderr.count("jsontide: extra closer: removed ") == 2
