"""The contract of `jsontide.mend`, M1 to M6, and law 2 through the stage, as properties; M8 is in `test_mend_cost.py`.

M1 strict documents pass unchanged, M2 the output only grows, M3 nothing is lost in silence, M4 one reading or none,
M5 any cut ends the same, M6 what was cut off is never complete.
"""

import json
import pickle
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from jsontide import MISSING, Reason, create_parser_state, finalize, parse_chunk
from jsontide.mend import EVERYTHING, MODELS, Mending, RepairKind, feed_mend, finish_mend, start_mend
from jsontide.mend.state import MendReader
from tests.cuts import Chunks, cut_randomly, every, few, singles, whole
from tests.mend.damage import DAMAGES, DOUBTS, REFUSED, Document, contents, damaged, mixture, rooted, write
from tests.mend.runs import REFUSED as AN_ERROR
from tests.mend.runs import (
    RIGHT,
    WRONG,
    Moment,
    alike,
    along,
    begin,
    edited,
    feed,
    finish,
    judge,
    kinds_of,
    mended,
    origins,
    unedited,
)
from tests.oracles import fault, is_json, line_and_column, loads, shown, visible
from tests.relations import grows, same
from tests.shared_data import DATA, in_data
from tests.strategies import bad_bytes, bad_texts, cut, deep_texts, documents, examples, randoms, texts

SUITE = DATA / "JSONTestSuite" / "test_parsing"
BOTH = pytest.mark.parametrize(
    "mending", [MODELS, pytest.param(EVERYTHING, marks=pytest.mark.long)], ids=["models", "everything"]
)
SMALL = replace(EVERYTHING, max_held=64)
LONG = 3 * MODELS.max_held


def in_suite(test: Callable[..., None]) -> Callable[..., None]:
    return reduce(lambda marked, mark: mark(marked), in_data("JSONTestSuite"), test)


def some_damage(name: str, value: Any, random: Random) -> Document:
    if name == "none":
        return write(rooted(value, random), random)
    return mixture(rooted(value, random), random) if name == "mixture" else damaged(name, value, random)


broken = st.builds(
    some_damage, st.sampled_from([*DAMAGES, *DOUBTS, *REFUSED, *["mixture"] * 8, "none"]), contents, randoms
)
"""Documents with damage of all kinds, those with two readings and those without any among them."""
BITS = (
    *('"', "'", "{", "}", "[", "]", "(", ")", ",", ":", "\\", "/", "//", "/*", "*/", "#", "```", "```json\n", "~~~"),
    *(
        "\n",
        " ",
        "a",
        "key",
        "true",
        "None",
        "1",
        "0x1F",
        "-",
        "+",
        ".",
        "...",
        "_",
        "“",
        "”",
        "«",
        "，",
        "：",
        "\ufeff",
    ),
    *("<think>", "</think>", "<tool_call>", "</tool_call>", "<|", "|>", "[TOOL_CALLS]", '{"a": 1}', '"b": ', "[1, 2]"),
    *("Here: ", '""', '\\"', "\\u12", "é", "\u2028", "日本", "\x00", "\r\n", '{"', '":', '",', '"}', '"]', "{a: 1}"),
)
rubbish = st.lists(st.one_of(st.sampled_from(BITS), st.text(max_size=3)), max_size=12).map("".join)
broken_texts = broken.map(lambda document: document.text)
any_texts = st.one_of(broken_texts, broken_texts, rubbish, rubbish, bad_texts())


# M1. Strict in, strict out.

STRICT = {
    "paths and numbers": r'{"path": "C:\new", "list": [1,234], "text": "{\"a\": [1, 2}", "end": "\\"}',
    "repeated keys": '{"a": 1, "a": 2, "a": {"a": [], "a": {}}}',
    "quotes, escaped": r'["\"", "\"a\", \"b\": 1", {"\"k\"": "she said \"no\", \"yes\""}]',
    "fences and tags in strings": r'{"text": "```json\n{}\n```", "a": "~~~", "b": "</think><tool_call>", "```": "```"}',
    "comments in strings": '{"a": "// no", "b": "/* no */", "c": "# no", "d": "a, ]", "e": "...", "f": "1 + 1"}',
    "other quotes in strings": """["'", "“a”", "it's", "«»", "`x`", "'''"]""",
    "odd white space in strings": '["\u00a0", "\u2028", "\ufeff", "\u3000", "\u200b", "，：、"]',
    "words in strings": '{"True": "None", "NaN": "undefined", "0x1F": "1_000", "yes": "<think>"}',
    "a root string of words": '"Sure! Here it is: {about travel}"',
    "a root string with JSON": r'"{\"a\": 1}"',
    "an empty object": "{}",
    "an empty array": " [ ] ",
    "a list of numbers": "[1, 2, 3]",
    "a list in lines": "[\n  1,\n  2\n]\n",
    "a list of lists": "[[1, 2], [3, 4]]",
    "lists of nothing": "[[], [[]], {}]",
    "an object of nothing first": '[{}, 1, {"a": []}]',
    "nothing in a list": "[{}]",
    "a citation": "[1]",
    "a number": "-12.5e+3",
    "a long string": json.dumps({"text": "lorem ipsum, " * LONG}),
    "a long root string": json.dumps("lorem ipsum. " * LONG),
    "a long first item": json.dumps(["lorem ipsum: " * LONG, 1]),
    "a long string of escapes": json.dumps({"text": '"\n' * LONG}),
    "a long string of brackets": json.dumps({"text": "{[,:]}'`" * LONG}),
    "long keys": json.dumps({"k" * LONG: {"l" * LONG: 1}}),
    "a long key in an array": json.dumps([{"k, " * LONG: 1}]),
    "many numbers": json.dumps(list(range(LONG))),
    "many keys": json.dumps({f"key {number}": number for number in range(LONG)}),
    "a long number": f"[{'7' * 4_000}]",
    "wide white space": f"{' ' * LONG}[{chr(10) * LONG}1{' ' * LONG},{' ' * LONG}{{{chr(9) * LONG}}}]{chr(10) * LONG}",
    "white space in an object": f'{{{" " * LONG}"a"{" " * LONG}:{" " * LONG}"b"{" " * LONG}}}',
    "depth": "[" * 500 + "]" * 500,
    "objects in depth": '{"a":' * 250 + "0" + "}" * 250,
}


def passes(text: str, chunks: Chunks, mending: Mending) -> bool:
    end = mended(chunks, mending)
    state = end.state
    return (end.text, end.repairs, state.repairs, state.error, state.is_truncated) == (text, (), (), None, False)


@pytest.mark.untraced
@BOTH
@pytest.mark.parametrize("name", sorted(STRICT))
def test_m1_strict_documents_pass_byte_for_byte(name: str, mending: Mending) -> None:
    text = STRICT[name]
    assert is_json(text)
    for chunks in every(text) if len(text) < 200 else [*few(text), [*singles(text[:9000]), text[9000:]]]:
        assert passes(text, chunks, mending)


@pytest.mark.parametrize("name", sorted(STRICT))
def test_m1_strict_documents_pass_though_little_may_be_held(name: str) -> None:
    assert passes(STRICT[name], whole(STRICT[name]), replace(MODELS, max_held=1))


@in_suite
@BOTH
@pytest.mark.parametrize("path", sorted(SUITE.glob("y_*.json")), ids=lambda path: path.stem)
def test_m1_what_the_suite_accepts_passes(path: Any, mending: Mending) -> None:
    text = path.read_bytes().decode()
    for chunks in every(text):
        assert passes(text, chunks, mending)


@examples(3)
@given(st.one_of(documents, deep_texts(), texts(repeat_keys=True)), st.data())
def test_m1_random_documents_pass(text: str, data: st.DataObject) -> None:
    assert passes(text, data.draw(cut(text)), data.draw(st.sampled_from([MODELS, EVERYTHING, SMALL])))


@examples(1)
@given(contents, randoms)
def test_m1_undamaged_documents_pass(value: Any, random: Random) -> None:
    text = write(value, random).text
    assert passes(text, cut_randomly(text, random), EVERYTHING)


@in_suite
@pytest.mark.parametrize("path", sorted(SUITE.glob("[ni]_*.json")), ids=lambda path: path.stem)
def test_what_the_suite_refuses_becomes_json_or_an_error(path: Any) -> None:
    data = path.read_bytes()
    end = mended(whole(data))
    assert end.state.error is not None or is_json(end.text)
    assert mended(singles(data)).told == end.told


# What is damaged comes back with just that repair, or is refused; M4.


def explain(document: Document, end: Moment) -> str:
    """For the reader of a failure."""
    return (
        f"\ntext {document.text!r}\ngot  {end.text!r}\nmeant {document.value!r}\n{end.state.error}\n{end.state.repairs}"
    )


@examples(0.6)
@given(contents, randoms)
@pytest.mark.parametrize("name", sorted(DAMAGES))
def test_damage_comes_back_equal_with_just_that_repair(name: str, value: Any, random: Random) -> None:
    document = damaged(name, value, random)
    assume(document.is_certain)
    end = mended(cut_randomly(document.text, random), EVERYTHING)
    assert judge(end, document.value) == RIGHT, explain(document, end)
    assert document.kinds <= kinds_of(end) <= document.kinds | document.also, explain(document, end)


@examples(0.3)
@given(contents, randoms)
@pytest.mark.parametrize("name", sorted(DAMAGES))
def test_repairs_are_where_the_damage_is(name: str, value: Any, random: Random) -> None:
    document = damaged(name, value, random)
    end = mended(whole(document.text), EVERYTHING)
    assume(judge(end, document.value) == RIGHT)
    spans = document.spans()
    for repair in end.state.repairs:
        last = repair.index + len(repair.was)
        assert any(start <= repair.index and last <= stop for start, stop in spans), (repair, document.text)
        assert repair.was != repair.became


@examples(1)
@given(contents, randoms)
@pytest.mark.parametrize("name", sorted(DOUBTS))
def test_two_readings_are_refused_or_read_as_they_were_meant(name: str, value: Any, random: Random) -> None:
    document = damaged(name, value, random)
    assume(not is_json(document.text))  # and so invisible
    end = mended(cut_randomly(document.text, random), EVERYTHING)
    assert judge(end, document.value) != WRONG, explain(document, end)


@examples(0.6)
@given(contents, randoms)
@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_has_no_reading_is_an_error(name: str, value: Any, random: Random) -> None:
    document = damaged(name, value, random)
    assume(not is_json(document.text))
    end = mended(cut_randomly(document.text, random), EVERYTHING)
    assert judge(end, document.value) == AN_ERROR, explain(document, end)


@examples(8)
@given(contents, randoms)
def test_mixed_damage_comes_back_equal_or_is_refused(value: Any, random: Random) -> None:
    document = mixture(rooted(value, random), random)
    end = mended(cut_randomly(document.text, random), EVERYTHING)
    assert judge(end, document.value) != WRONG, explain(document, end)
    if document.is_certain:
        assert judge(end, document.value) == RIGHT, explain(document, end)
        assert document.kinds <= kinds_of(end) <= document.kinds | document.also, explain(document, end)


@examples(0.3)
@given(contents, randoms)
@pytest.mark.parametrize("name", sorted(DAMAGES))
def test_a_kind_that_is_switched_off_is_not_mended(name: str, value: Any, random: Random) -> None:
    document = damaged(name, value, random)
    off = random.choice(sorted(document.kinds, key=lambda kind: kind.name))
    # Without its kind some damage can still be read as quotes inside a string: `"a" + "b"`.
    end = mended(whole(document.text), EVERYTHING.without(off, RepairKind.INNER_QUOTE))
    assert off not in kinds_of(end)
    assert judge(end, document.value) != WRONG, explain(document, end)


LOSSY = {
    *(RepairKind.PROSE, RepairKind.THINKING, RepairKind.CODE_BLOCK, RepairKind.SECOND_VALUE, RepairKind.COMMENT),
    RepairKind.ELLIPSIS,
}
MIXED = {RepairKind.LITERAL, RepairKind.TRUNCATED, RepairKind.TAG}
STRUCTURAL = {
    *(RepairKind.EXTRA_COMMA, RepairKind.MISSING_COMMA, RepairKind.MISSING_COLON, RepairKind.CONCATENATION),
    *(RepairKind.TUPLE, RepairKind.INNER_QUOTE, RepairKind.ELLIPSIS),
}
SPELLING = {
    *(RepairKind.CONTROL_CHARACTER, RepairKind.ESCAPE, RepairKind.QUOTES, RepairKind.COMMENT, RepairKind.LITERAL),
    *(RepairKind.NUMBER, RepairKind.SPACE, RepairKind.PUNCTUATION, RepairKind.TRAILING_COMMA, RepairKind.UNQUOTED_KEY),
}


@examples(2)
@given(broken)
def test_m3_only_what_drops_words_or_values_is_lossy(document: Document) -> None:
    for repair in mended(whole(document.text), EVERYTHING).state.repairs:
        if repair.kind is RepairKind.LITERAL:
            assert repair.lossy == (repair.was.strip("+-") in {"NaN", "Infinity"})
        elif repair.kind not in MIXED:
            assert repair.lossy == (repair.kind in LOSSY), repair


@pytest.mark.parametrize(
    ("tag", "lossy"),
    [
        *[
            (tag, False)
            for tag in ("<tool_call>", "<function=pay>", "<json>", "<|im_start|>", "[TOOL_CALLS]", "<a:invoke>")
        ],
        *[
            (tag, False)
            for tag in ('<invoke name="pay">', "<tool_call id='7'>", "<｜tool▁calls▁begin｜>", "<|python_tag|>")
        ],
        *[(tag, True) for tag in ("<cancelled>", "<example>", "<b>", "<not_json>", "[CANCELLED]", "<invoke-not>")],
        *[(tag, True) for tag in ("<|cancelled|>", "<|user|>", '<tool_call status="cancelled">', "<call cancelled>")],
    ],
)
def test_m3_a_tag_is_no_loss_if_it_only_says_where_the_value_is(tag: str, lossy: bool) -> None:  # noqa: FBT001
    (repair,) = mended(whole(tag + '{"a": 1}')).repairs
    assert (repair.kind, repair.lossy) == (RepairKind.TAG, lossy)


def test_structural_kinds_are_those_that_move_the_bounds_of_values() -> None:
    assert all(kind.is_structural for kind in STRUCTURAL)
    assert not any(kind.is_structural for kind in SPELLING)


# M2. What was given out stays; how much is held is limited.


@examples(3)
@given(any_texts)
def test_m2_what_was_given_out_begins_all_that_will_be(text: str) -> None:
    end = mended(whole(text), EVERYTHING)
    moments = along(singles(text), EVERYTHING)
    for old, new in pairwise([*moments, finish(moments[-1])]):
        assert new.text.startswith(old.text)
        assert new.repairs[: len(old.repairs)] == old.repairs
        assert new.state.repairs == new.repairs
        assert old.state.error is None or new.told == old.told
    for moment in moments:
        assert end.text.startswith(moment.text)
        assert end.repairs[: len(moment.repairs)] == moment.repairs


@examples(2)
@given(any_texts, randoms)
def test_m2_a_prefix_fed_alone_gives_a_prefix(text: str, random: Random) -> None:
    end = mended(whole(text), EVERYTHING)
    prefix = text[: random.randint(0, len(text))]
    before = along(whole(prefix), EVERYTHING)[-1]
    assert end.text.startswith(before.text)
    assert end.repairs[: len(before.repairs)] == before.repairs


@examples(2)
@given(any_texts, st.sampled_from([8, 64, 1024]))
def test_m2_what_is_held_is_the_end_of_the_text_and_limited(text: str, most: int) -> None:
    token = max((len(part) for part in text.split()), default=0)
    for at, moment in enumerate(along(singles(text), replace(EVERYTHING, max_held=most))):
        assert text[:at].endswith(moment.state.held) or moment.state.error
        assert len(moment.state.held) <= most + token


@examples(2)
@given(broken, st.sampled_from([2, 16, 64]))
def test_m4_a_lower_limit_changes_nothing_or_is_an_error(document: Document, most: int) -> None:
    end = mended(whole(document.text), replace(EVERYTHING, max_held=most))
    if end.state.error is None and not end.state.is_truncated:
        assert end.text == mended(whole(document.text), EVERYTHING).text


def test_m2_what_cannot_be_decided_within_the_limit_is_an_error() -> None:
    """After the quote comes a word, so it may be content or the end: nothing tells as long as white space follows."""
    text = '{"a": "b" ' + "\n" * 2_000 + 'c" d", "e": 1}'
    end = mended(whole(text))
    assert end.state.error is not None
    assert end.state.error.reason in {Reason.HELD_TOO_LONG, Reason.AMBIGUOUS, Reason.UNEXPECTED_CHARACTER}
    assert len(along([text[:1_900]])[-1].state.held) <= MODELS.max_held + 2


TOO_LONG_TO_TELL = {
    "the first key of a value in prose": ('Here: {"' + "k" * LONG + '": {"a": 1}}', {"k" * LONG: {"a": 1}}),
    "the first item of a value in prose": ('Here: ["' + "k" * LONG + '", {"a": 1}]', ["k" * LONG, {"a": 1}]),
    "a quotation before the value": ('"' + "so many words " * LONG + '", they said.\n{"a": 1}', {"a": 1}),
    "white space before a key in prose": ('Here: {"a"' + " " * LONG + ': {"b": 1}}', {"a": {"b": 1}}),
    "white space after a brace": ("Here: {" + " " * LONG + '"a": {"b": 1}}', {"a": {"b": 1}}),
}


@pytest.mark.parametrize("name", sorted(TOO_LONG_TO_TELL))
def test_m4_at_the_limit_nothing_is_read_as_something_else(name: str) -> None:
    text, value = TOO_LONG_TO_TELL[name]
    assert judge(mended(whole(text)), value) in {RIGHT, AN_ERROR}


def test_m4_at_the_limit_another_value_is_still_another_value() -> None:
    """Of two different calls none may run because the second was too long to be told from prose."""
    text = '{"a": 1}\n{"' + "k" * LONG + '": 2}'
    assert mended(whole(text), replace(MODELS, values="one")).state.error is not None


def test_more_repairs_than_the_limit_are_an_error_where_the_next_would_be() -> None:
    text = "[" + ", ".join(["True"] * 11) + "]"
    assert mended(whole(text), replace(MODELS, max_repairs=11)).state.error is None
    end = mended(whole(text), replace(MODELS, max_repairs=10))
    assert end.state.error is not None
    assert (end.state.error.reason, len(end.repairs)) == (Reason.TOO_MANY_REPAIRS, 10)


# M3. No silent loss.


@examples(3)
@given(any_texts, randoms)
def test_m3_output_and_original_are_made_of_one_another_by_the_repairs(text: str, random: Random) -> None:
    end = mended(cut_randomly(text, random), EVERYTHING)
    if end.state.error is None:
        assert edited(text, end.state.repairs) == end.text
        assert unedited(end.text, end.state.repairs) == text


@examples(2)
@given(any_texts)
def test_m3_every_character_of_a_prefix_is_given_out_repaired_or_held(text: str) -> None:
    for at, moment in enumerate(along(singles(text), EVERYTHING)):
        if moment.state.error is None:
            done = unedited(moment.text, moment.repairs)
            assert text.startswith(done)
            assert len(done) + len(moment.state.held) <= at


@examples(2)
@given(any_texts)
def test_m3_indices_of_the_output_lead_to_the_original_as_soon_as_they_are_there(text: str) -> None:
    moments = along(singles(text), EVERYTHING)
    end = finish(moments[-1])
    if end.state.error is not None:
        return
    places = origins(text, end.state.repairs)
    for index, (first, last) in enumerate(places):
        assert first <= end.state.original_index(index) <= last
    for moment in moments:
        if moment.text:
            first, last = places[len(moment.text) - 1]
            assert first <= moment.state.original_index(len(moment.text) - 1) <= last


@examples(3)
@given(any_texts, randoms)
def test_without_an_error_the_output_is_json_and_with_one_it_is_the_beginning_of_json(
    text: str, random: Random
) -> None:
    end = mended(cut_randomly(text, random), EVERYTHING)
    error = end.state.error
    if error is None:
        assert is_json(end.text)
    else:
        assert fault(end.text) is None
        assert 0 <= error.index <= len(text)
        assert (error.line, error.column) == line_and_column(text, error.index)
        assert isinstance(error.reason, Reason)


@examples(1)
@given(broken.filter(lambda document: document.text.isascii()))
def test_errors_are_not_before_what_was_given_out(document: Document) -> None:
    end = mended(whole(document.text), EVERYTHING)
    if end.state.error and end.text:
        assert end.state.original_index(len(end.text) - 1) <= end.state.error.index


# M5. Any cut; and law 4: a state is a value.


@examples(3)
@given(any_texts, st.data())
def test_m5_any_cut_ends_the_same(text: str, data: st.DataObject) -> None:
    expected = mended(whole(text), EVERYTHING).told
    assert mended(singles(text), EVERYTHING).told == expected
    assert mended(data.draw(cut(text)), EVERYTHING).told == expected


@examples(2)
@given(any_texts, randoms)
def test_m5_every_prefix_says_the_same_however_it_was_cut(text: str, random: Random) -> None:
    moments = along(singles(text), EVERYTHING)
    chunks = cut_randomly(text, random)
    place = 0
    for chunk, moment in zip(chunks, along(chunks, EVERYTHING)[1:], strict=True):
        place += len(chunk)
        assert moment.told == moments[place].told


@examples(1)
@given(any_texts.filter(lambda text: not text.startswith("\ufeff")), randoms)
def test_m5_str_and_bytes_say_the_same(text: str, random: Random) -> None:
    assume(not any("\ud800" <= char <= "\udfff" for char in text))
    expected = mended(whole(text), EVERYTHING).told
    assert mended(cut_randomly(text.encode(), random), EVERYTHING).told == expected
    data = bytearray(text.encode())
    moment = begin(EVERYTHING)
    for view in (memoryview(data)[:7], memoryview(data)[7:]):
        state, more, repairs = feed_mend(moment.state, view)
        moment = Moment(state, moment.text + more, moment.repairs + repairs)
    told = moment.told
    data[:] = b" " * len(data)
    assert moment.told == told
    assert finish(moment).told == expected


@examples(2)
@given(st.lists(any_texts, min_size=2, max_size=3), randoms)
def test_m5_old_states_can_be_fed_again_and_say_what_a_fresh_start_says(variants: list[str], random: Random) -> None:
    start = variants[0][: random.randint(0, len(variants[0]))]
    ways = [variants[0], *(start + variant for variant in variants[1:])]
    moments, texts_so_far = [begin(EVERYTHING)], [""]
    for _ in range(25):
        at = random.randrange(len(moments))
        before = texts_so_far[at]
        going_on = [way for way in ways if way.startswith(before) and way != before] or [before + "}"]
        piece = random.choice(going_on)[len(before) :][: random.choice([1, 3, 20, 500])]
        moments.append(feed(moments[at], piece))
        texts_so_far.append(before + piece)
    for moment, text in zip(moments, texts_so_far, strict=True):
        assert moment.told == along(whole(text), EVERYTHING)[-1].told
        assert finish(moment).told == mended(whole(text), EVERYTHING).told
        assert finish(moment).told == finish(moment).told


@examples(2)
@given(any_texts, randoms)
def test_m5_a_state_can_be_pickled_at_any_point_and_continued(text: str, random: Random) -> None:
    chunks = cut_randomly(text, random)
    moment = begin(EVERYTHING)
    for chunk in chunks:
        moment = feed(moment, chunk)
        copy = pickle.loads(pickle.dumps(moment))  # noqa: S301
        assert copy.told == moment.told
        moment = copy
    assert finish(moment).told == mended(whole(text), EVERYTHING).told


@examples(1)
@given(st.lists(st.text(max_size=6), max_size=8))
def test_no_str_makes_the_stage_raise(chunks: list[str]) -> None:
    end = mended(chunks, EVERYTHING)
    assert end.state.error is not None or is_json(end.text)


@examples(1)
@given(st.one_of(bad_bytes(), st.binary(max_size=20)), randoms)
def test_bytes_that_are_not_utf8_are_an_error(data: bytes, random: Random) -> None:
    end = mended(cut_randomly(data, random))
    assert mended(whole(data)).told == end.told
    try:
        data.decode()
    except UnicodeDecodeError:
        assert end.state.error is not None


@examples(1)
@given(any_texts, any_texts)
def test_after_an_error_or_the_end_nothing_changes(text: str, more: str) -> None:
    end = mended(whole(text), EVERYTHING)
    if end.state.error is not None:
        state, output, repairs = feed_mend(end.state, more)
        assert (output, repairs) == ("", ())
        assert Moment(state, end.text, end.repairs).told == end.told
    state, output, repairs = finish_mend(end.state)
    assert (output, repairs) == ("", ())
    assert Moment(state, end.text, end.repairs).told == end.told


@examples(1)
@given(any_texts, any_texts)
@example(r'{"a": "\d \new', "more").via("an error inside a string, and plain text after it")
def test_a_reader_gives_out_what_states_do_and_nothing_after_an_error(text: str, more: str) -> None:
    reader = MendReader(EVERYTHING)
    moment = begin(EVERYTHING)
    for char in text:
        before = moment
        moment = feed(moment, char)
        assert reader.feed(char) == moment.text[len(before.text) :]
    assert reader.repairs == moment.repairs
    if moment.state.error is not None:
        assert reader.error == moment.state.error
        assert reader.feed(more) == ""


# M6. What was cut off is never complete.


def prefix_ends(text: str) -> Iterator[tuple[str, Moment]]:
    """What each proper prefix of a text ends in, but for those that are whole documents themselves."""
    for at, moment in enumerate(along(singles(text), EVERYTHING)[:-1]):
        if not is_json(text[:at]):  # as prose that begins with a number
            yield text[:at], finish(moment)


def sum_keys(value: Any) -> int:
    if isinstance(value, dict):
        return len(value) + sum(map(sum_keys, value.values()))
    return sum(map(sum_keys, value)) if isinstance(value, list) else 0


@examples(4)
@given(broken)
def test_m6_a_prefix_of_what_can_be_mended_is_never_complete_with_another_value(document: Document) -> None:
    expected = document.value
    assume(judge(mended(whole(document.text), EVERYTHING), expected) == RIGHT)
    # What the first of two equal keys had is taken back.
    assume(sum_keys(expected) == sum(token.role == "key" for token in document.tokens))
    for prefix, end in prefix_ends(document.text):
        if end.state.error is None:
            value = loads(end.text)
            assert (RepairKind.TRUNCATED in kinds_of(end)) == end.state.is_truncated
            right = grows(value, expected) if end.state.is_truncated else alike(value, expected)
            assert right, (prefix, end.text, document.text, end.repairs)
        else:
            assert not end.state.is_truncated


@examples(3)
@given(contents, randoms)
def test_m6_a_strict_document_cut_off_shows_what_was_certain(value: Any, random: Random) -> None:
    document = write(rooted(value, random), random)
    text = document.text
    begun = text.index(":") if text[0] == "{" else text.index(",")
    for prefix, end in prefix_ends(text):
        if len(prefix) <= begun and end.state.error is not None:
            assert end.state.error.reason is Reason.UNEXPECTED_END
            continue
        assert end.state.error is None, prefix
        assert end.state.is_truncated, prefix
        shorter = re.sub(r"(true|false|null)$", "", prefix)  # a word may still go on
        value = loads(end.text)
        assert same(value, visible(prefix)) or same(value, visible(shorter)), (prefix, end.text)
        assert kinds_of(end) == {RepairKind.TRUNCATED}
        assert any(repair.lossy for repair in end.repairs) or not shown(prefix).hidden


@pytest.mark.parametrize("closing", ["\n```", "</tool_call>", "\n</tool_call>", "<|im_end|>"])
@pytest.mark.parametrize("opening", ["```json\n", "<tool_call>\n"])
@pytest.mark.parametrize("text", ['{"a": [1, {"b": "c"', '{"a": "b', '{"a": 1, "b', '{"a": [1, 2'])
def test_m6_closers_added_before_a_closing_fence_or_tag_mean_truncated(text: str, opening: str, closing: str) -> None:
    end = mended(whole(opening + text + closing))
    assert end.state.error is not None or end.state.is_truncated


@pytest.mark.parametrize(
    "text", ["", " ", "no value here", "<think>{}", "```python\nx = {'a': 1}\n```", "{name}", "see [docs]"]
)
def test_no_value_at_all_is_an_unexpected_end(text: str) -> None:
    end = mended(whole(text))
    assert end.state.error is not None
    assert (end.state.error.reason, end.text.strip()) == (Reason.UNEXPECTED_END, "")


# Several values.


@examples(1)
@given(st.lists(contents, min_size=2, max_size=4), randoms)
def test_all_values_come_on_lines_of_their_own(values: list[Any], random: Random) -> None:
    wanted = [rooted(value, random) for value in values]
    text = "".join(write(value, random).text + random.choice(("\n", "\n\n", "\nand then:\n")) for value in wanted)
    end = mended(cut_randomly(text, random), replace(MODELS, values="all"))
    assert end.state.error is None
    assert [same(value, found) for value, found in zip(wanted, decoded(end.text), strict=True)] == [True] * len(wanted)


def decoded(text: str) -> Iterator[Any]:
    """All values of a text; between two there must be a newline."""
    decoder, place = json.JSONDecoder(), 0
    while text[place:].strip():
        start = len(text) - len(text[place:].lstrip())
        assert place == 0 or "\n" in text[place:start]
        value, place = decoder.raw_decode(text, start)
        yield value


@pytest.mark.parametrize("between", ["", "\n", "\nor rather\n"])
def test_one_value_may_be_repeated_but_not_be_followed_by_another(between: str) -> None:
    one = replace(MODELS, values="one")
    first, other = '{"city": "Rome", "days": [1]}', '{"city": "Rome", "days": [2]}'
    assert judge(mended(whole(first + between + first), one), json.loads(first)) == RIGHT
    assert mended(whole(first + between + other), one).state.error is not None


# Law 2 through the stage.


@examples(3)
@given(any_texts)
def test_law_2_values_only_grow_at_every_character(text: str) -> None:
    """The stage before the parser, one character at a time, then the end: nothing shown is taken back."""
    state = start_mend(EVERYTHING)
    parser = create_parser_state(duplicate_keys="first")
    old: Any = MISSING
    for char in text:
        state, output, _ = feed_mend(state, char)
        parser = parse_chunk(parser, output)
        assert parser.error is None, (text, output)
        assert grows(old, parser.value)
        old = parser.value
    state, output, _ = finish_mend(state)
    parser = parse_chunk(parser, output)
    assert grows(old, parser.value)
    if state.error is None:
        assert finalize(parser).is_complete


@examples(2)
@given(contents, randoms)
def test_what_is_certain_is_shown_at_once(value: Any, random: Random) -> None:
    """Of a strict document, an open string is shown to its last character; else a comma and one member may be held."""
    document = write({"first": rooted(value, random)}, random)
    text = document.text
    starts, place = [], 0
    for token in document.tokens:
        if token.role != "gap":
            starts.append(place)
        place += len(token.text)
    for at, moment in enumerate(along(singles(text))):
        if at <= text.index(":") + 1:
            continue
        if shown(text[:at]).open_string and text[at - 1] != "\\":
            assert same(visible(moment.text), visible(text[:at])), text[:at]
        else:
            before = [0, 0, *(start for start in starts if start < at)][-4]
            assert grows(visible(text[:before]), visible(moment.text)), text[:at]
