"""Texts that continue the last one: same values as of the whole text, unchanged objects shared, at a bounded cost.

Short texts are read whole, so those of these tests begin with much white space.
"""

import json
import pickle
from collections.abc import Iterator
from operator import is_
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide import JsonStreamChunker, JsonStreamError, SnapshotConflict
from jsontide._values import MAX_DEPTH
from jsontide.snapshots import SnapshotState, feed_snapshot_values, feed_snapshots, start_snapshots
from jsontide.snapshots._reader import NOTHING_READ, SLOWDOWN, ParsedText
from tests.cuts import as_bytes
from tests.oracles import Fault, fault, line_and_column, loads, shown
from tests.seeded import mishap
from tests.snapshots.forms import Fed
from tests.snapshots.laws import any_options, check_law, read
from tests.strategies import documents, examples, randoms, texts

BEFORE = "\n \t\r" * 500
repeating = st.one_of(documents, texts(repeat_keys=True))


def closed(beginning: str, gap: str) -> str:
    """A beginning of a document with everything closed, unless it ends in the middle of something else."""
    seen = shown(beginning)
    return gap.join([beginning + '"' * seen.open_string, *seen.closers[::-1]])


def snapshots(document: str, random: Random) -> Iterator[str]:
    """Most continue the last one; some are shorter, the same, or wrong."""
    at = 0
    gap = random.choice(("", "", " ", "\n"))
    strides = random.choice(((1,), (0, 1, 2, 5), (3, 20, 0), (4, 1, -1, -6)))
    for _ in range(random.choice((4, 20, 60))):
        at = max(0, min(len(document), at + random.choice(strides)))
        text = random.choice((closed(document[:at], gap), closed(document[:at], gap), shown(document[:at]).text))
        yield BEFORE + (mishap(text, random) if random.random() < 0.05 else text)


def written(text: str) -> Any:
    return loads(text, parse_int=str.encode, parse_float=str.encode)


def caught_up(last: ParsedText, text: str) -> tuple[Any, ParsedText]:
    """The value of a text that came often enough for the reader to reach its end."""
    for _ in range(SLOWDOWN + 2):
        _, last = last.read(text)
    assert last.is_continued
    return last.read(text)


@examples(2)
@given(repeating, randoms)
def test_a_continued_text_has_the_value_of_the_whole_text(document: str, random: Random) -> None:
    """After any text that came before, also when an old state is fed again; and what was handed out does not change."""
    lasts = [NOTHING_READ]
    handed_out: list[tuple[Any, str]] = []
    for text in snapshots(document, random):
        last = random.choice((*[lasts[-1]] * 9, *lasts))
        found = fault(text, ended=True)
        if found is None:
            value, last = last.read(text)
            assert repr(value) == repr(written(text))
            lasts.append(last)
            handed_out.append((value, repr(value)))
        else:
            check_error(last, text, found)
    assert all(repr(value) == before for value, before in handed_out)


def check_error(last: ParsedText, text: str, found: Fault) -> None:
    with pytest.raises(JsonStreamError) as raised:
        last.read(text)
    error = raised.value.error
    assert (error.reason.name, error.index, error.path) == (found.reason, found.index, found.path)
    assert (error.line, error.column) == line_and_column(text, found.index)


@examples(2)
@given(repeating, randoms)
def test_what_is_written_does_not_depend_on_how_texts_are_read(document: str, random: Random) -> None:
    """A pickle forgets the last text, so that the next one is read whole."""
    state = start_snapshots(**any_options(random), on_conflict=random.choice(("raise", "repair")))
    states = [state]
    for text in snapshots(document, random):
        state = random.choice((*[states[-1]] * 9, *states))
        forgetful: SnapshotState = pickle.loads(pickle.dumps(state))  # noqa: S301 - our own pickle
        item = as_bytes(text) if random.random() < 0.1 else None
        after, result = outcome(state, text if item is None else item)
        assert result == outcome(forgetful, text)[1]
        if after is not state:
            states.append(after)


def outcome(state: SnapshotState, text: str | bytes) -> tuple[SnapshotState, object]:
    try:
        after, chunk = feed_snapshots(state, text)
    except JsonStreamError as error:
        return state, error.error
    except SnapshotConflict as conflict:
        return state, conflict.args
    return after, (chunk, after.text)


@examples(2)
@given(documents, randoms)
def test_law_6_holds_for_continued_texts(document: str, random: Random) -> None:
    cuts = sorted(random.choices(range(len(document) + 1), k=random.choice((3, 10, 30))))
    seen = [
        text for cut in [*cuts, len(document)] if (text := shown(document[:cut] + " " * (cut == len(document))).text)
    ]
    history = [Fed(read(text), BEFORE + text, is_text=True) for text in seen]
    check_law(JsonStreamChunker(key_order=random.choice(("any", "kept"))), history)


HISTORIES = {
    "brackets in a string": ['["]"]', '["]}]"]', '["]}]", ""]', '["]}]", "]]"]', '["]}]", "]] }"]'],
    "a quote that is escaped": [r'["a\""]', r'["a\"\""]', r'["a\"\"\\"]', r'["a\"\"\\\""]', r'["a\"\"\\\"", {}]'],
    "halves of a pair": [
        r'["\u00e9"]',
        r'["\u00e9\ud83d"]',
        r'["\u00e9\ud83d\ude00"]',
        r'["\u00e9\ud83d\ude00\ud83d"]',
    ],
    "halves that are not escaped": ['["\ud83d"]', '["\ud83d\ude00"]', '["\ud83d\ude00\ude00"]'],
    "a key twice": [
        '{"a": [1]}',
        '{"a": [1], "b": {}}',
        '{"a": [1], "b": {}, "a": 2}',
        '{"a": [1], "b": {}, "a": 2, "b": 3}',
    ],
    "nothing but containers": ["[]", "[[]]", "[[], {}]", "[[], {}, [[]]]", "[[], {}, [[]], []]"],
    "a number": ["1", "12", "12.5", "12.5e3"],
    "a string": ['"a"', '"ab"', '"ab"\n'],
    "a word": ["true", "true ", "true\n\n"],
}


@pytest.mark.parametrize("history", HISTORIES.values(), ids=HISTORIES)
@pytest.mark.parametrize("first", ["", '["another"]'])
def test_closing_characters_may_belong_to_a_string(history: list[str], first: str) -> None:
    last = NOTHING_READ.read(first)[1] if first else NOTHING_READ
    for text in history:
        value, last = caught_up(last, BEFORE + text)
        assert repr(value) == repr(written(text))


@pytest.mark.parametrize(
    "wrong", ['["ab"', '["ab"]]', '["ab"}', '["ab\\x"]', '["ab", 01]', '["ab"] 1', '["a\nb"]', '["b']
)
def test_what_is_wrong_with_a_text_is_reported_as_for_the_first(wrong: str) -> None:
    _, last = caught_up(NOTHING_READ, BEFORE + '["a"]')
    found = fault(BEFORE + wrong, ended=True)
    assert found is not None
    check_error(last, BEFORE + wrong, found)


@pytest.mark.parametrize("depth", [2_000, MAX_DEPTH])
def test_a_text_is_continued_at_any_depth(depth: int) -> None:
    state = start_snapshots()
    chunks = []
    for text in ("a", "ab", "abc"):
        state, chunk = feed_snapshots(state, f'{"[" * depth}"{text}"{"]" * depth}')
        chunks.append(chunk)
    assert chunks == ["[" * depth + '"a', "b", "c"]
    caught_up(NOTHING_READ, f'{"[" * depth}"abc"{"]" * depth}')
    with pytest.raises(JsonStreamError, match=f"at most {MAX_DEPTH} open containers"):
        feed_snapshots(state, "[" * depth + '"abc",' + "[" * (MAX_DEPTH + 1 - depth))


def test_a_text_may_follow_a_value() -> None:
    state, _ = feed_snapshots(start_snapshots(), BEFORE + '["a"]')
    state, _ = feed_snapshot_values(state, ["ab"])
    state, chunk = feed_snapshots(state, BEFORE + '["abc"]')
    assert (chunk, state.text) == ("c", '["abc')


# What did not change is the same object.


def record(at: int) -> dict[str, Any]:
    return {"id": at, "name": f"name {at}", "tags": ["a", {"b": at}], "where": {"x": at / 8, "y": None}}


def is_shared(before: Any, now: Any) -> bool:
    """Return whether everything beside the path to the end of a text is the same object in the next one."""
    while isinstance(before, list | dict) and before:
        keys = list(before) if isinstance(before, dict) else range(len(before))
        if not all(before[key] is now[key] for key in keys[:-1]):
            return False
        before, now = before[keys[-1]], now[keys[-1]]
    return True


@examples(2)
@given(documents, randoms)
def test_what_did_not_change_is_the_same_object(document: str, random: Random) -> None:
    _, last = NOTHING_READ.read(BEFORE + '"another"') if random.random() < 0.5 else (None, NOTHING_READ)
    value: Any = None
    for text in filter(None, (shown(document[:end]).text for end in range(0, len(document), 1 + len(document) // 40))):
        before, was_continued = value, last.is_continued
        value, last = last.read(BEFORE + text)
        if was_continued and last.is_continued:
            assert is_shared(before, value)


def test_objects_are_shared_by_a_source_that_continues() -> None:
    """Also by one that continues again after it did not: the property above is not empty."""
    text = BEFORE + json.dumps({"items": [record(at) for at in range(30)], "text": "a"})
    for last in (NOTHING_READ, NOTHING_READ.read('"another"')[1]):
        before, after = caught_up(last, text)
        now, after = after.read(text[:-2] + 'b"}')
        assert after.is_continued
        assert now == before | {"text": "ab"}
        assert is_shared(before, now)
        assert before["items"] is now["items"]


def frames_share(state: SnapshotState, text: str) -> bool:
    """Return whether the closed values of a state are the objects of the reader: then `==` is immediate."""
    current: Any = [[state._parsed_text.read(text)[0]]]
    for frame in state._frames:
        current = current[frame.key]
        before = dict(enumerate(frame.items)) if frame.members is None else frame.members
        # Numbers at the end of a text are complete for the chunker, and not for the reader.
        if not all(value is current[key] for key, value in before.items() if not isinstance(value, bytes)):
            return False
    return True


@pytest.mark.long
@pytest.mark.parametrize(
    "begins",
    [pytest.param("small", marks=pytest.mark.untraced), "large", pytest.param("otherwise", marks=pytest.mark.untraced)],
)
def test_a_state_holds_the_objects_that_the_reader_has(begins: str) -> None:
    whole = json.dumps({"title": "x", "items": [record(at) for at in range(60)]})
    state = start_snapshots(key_order="kept")
    if begins == "otherwise":
        state, _ = feed_snapshots(state, '{ "title": "x"}')
    start = len(whole) * 9 // 10 if begins == "large" else len('{"title": "x"')
    shared = []
    for end in range(start, len(whole), 7):
        text = shown(whole[:end]).text
        state, _ = feed_snapshots(state, text)
        if state._parsed_text.is_continued:
            shared.append(frames_share(state, text))
    assert len(shared) > 30
    assert all(shared)


# The cost, counted.


def read_on(last: ParsedText, text: str) -> tuple[ParsedText, int]:
    """How many characters our own reader reads for a text."""
    before = 0 if last.reader is None else last.reader.index
    _, after = last.read(text)
    return after, 0 if after.reader is None else after.reader.index - before


@examples(1)
@given(documents, randoms)
def test_a_source_that_does_not_always_continue_has_every_text_read_in_bounded_time(
    document: str, random: Random
) -> None:
    _, last = NOTHING_READ.read('"another"')
    for text in filter(lambda text: fault(text, ended=True) is None, snapshots(document, random)):
        last, count = read_on(last, text)
        assert count <= len(text) // SLOWDOWN


@pytest.mark.long
@pytest.mark.untraced
def test_a_source_that_always_continues_has_every_character_read_once() -> None:
    whole = json.dumps([record(at) for at in range(200)])
    last = NOTHING_READ
    total = 0
    for end in range(1, len(whole), 50):
        text = shown(whole[:end]).text
        last, count = read_on(last, text)
        total += count
        assert total <= len(text)
    assert last.is_continued
    assert total == last.length


def test_a_state_that_is_fed_again_is_not_read_again() -> None:
    text = json.dumps([*map(record, range(100)), "a"])
    _, last = NOTHING_READ.read(text)
    one, _ = last.read(text[:-2] + 'b"]')
    reader = last.reader
    assert reader is not None
    assert reader.index == last.length
    other, _ = last.read(text[:-2] + 'c"]')
    assert last.reader is reader
    assert all(map(is_, one[:-1], other[:-1]))


def test_a_state_that_is_fed_again_has_every_text_read_in_bounded_time() -> None:
    """As when what follows contradicts it, again and again."""
    _, last = NOTHING_READ.read(BEFORE + "[]")
    text = BEFORE + json.dumps([record(at) for at in range(200)])
    _, after = last.read(text)
    assert after.is_continued
    for _ in range(3):
        value, after = last.read(text)
        assert not after.is_continued
        assert value == written(text)
        assert after.reader is not None
        assert after.reader.index <= last.length + len(text) // SLOWDOWN


def test_a_source_that_never_continues_is_not_read_twice() -> None:
    last = NOTHING_READ
    for at in range(40):
        _, last = last.read(json.dumps([at % 2, *map(record, range(40))]))
        assert last.reader is None


@pytest.mark.parametrize("records", [50, 800])
def test_a_character_more_is_all_that_is_read(records: int) -> None:
    """And the text before it is compared, not copied."""
    text = json.dumps([*map(record, range(records)), "a"])
    _, last = caught_up(NOTHING_READ, text)
    first = last.pieces[0]
    for at in range(1, 300):
        last, count = read_on(last, text[:-2] + "b" * at + text[-2:])
        assert count == 1
        assert last.pieces[0] is first
        assert len(last.pieces) < 2 + at.bit_length()
    assert "".join(last.pieces) == text[:-2] + "b" * 299


def test_what_is_open_is_copied_and_nothing_else() -> None:
    text = json.dumps({"closed": [1, 2], "open": [[3], {"text": "a"}]})
    value, last = caught_up(NOTHING_READ, BEFORE + text)
    again, _ = last.read(BEFORE + text)
    assert list(map(is_, value.values(), again.values())) == [True, False]
    assert list(map(is_, value["open"], again["open"])) == [True, False]
