"""The chunker by examples: what it accepts, what it says, what it leaves unharmed."""

import asyncio
import copy
import json
import pickle
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from decimal import Decimal
from itertools import product
from typing import Any, NamedTuple

import pytest

from jsontide import (
    JsonStreamChunker,
    JsonStreamError,
    Reason,
    SnapshotConflict,
    achunk_snapshots,
    chunk_snapshots,
    create_parser_state,
    parse_chunk,
)
from jsontide.snapshots import (
    SnapshotState,
    TextStreamChunker,
    feed_snapshot_values,
    feed_snapshots,
    finish_snapshots,
    start_snapshots,
)


def chunks(*snapshots: Any, **options: Any) -> list[str]:
    """What each snapshot adds, and what closes them; a str is JSON text."""
    chunker = JsonStreamChunker(**options)
    take: Callable[[Any], str]
    out = []
    for snapshot in snapshots:
        take = chunker.process if isinstance(snapshot, str) else chunker.process_value
        out.append(take(snapshot))
    return [*out, chunker.flush()]


def conflict(*snapshots: Any, **options: Any) -> SnapshotConflict:
    """The conflict that the last snapshot is; checks that it leaves the chunker as it was."""
    chunker = JsonStreamChunker(**options)
    takes = {True: chunker.process, False: chunker.process_value}
    for snapshot in snapshots[:-1]:
        takes[isinstance(snapshot, str)](snapshot)
    before = chunker.state
    with pytest.raises(SnapshotConflict) as caught:
        takes[isinstance(snapshots[-1], str)](snapshots[-1])
    assert chunker.state is before
    # What came before continues as if nothing had happened.
    assert takes[isinstance(snapshots[-2], str)](snapshots[-2]) == ""
    return caught.value


@pytest.mark.parametrize(
    ("root", "expected"),
    [
        ("7", ["7", ""]),
        ("-1.50", ["-1.50", ""]),
        ("true", ["true", ""]),
        ("null", ["null", ""]),
        ('"a"', ['"a', '"']),
        ("[]", ["[", "]"]),
        ("{}", ["{", "}"]),
        (' [ 1 , {"" : [] } ]\n', ['[1,{"":[', "]}]"]),
    ],
)
def test_any_root(root: str, expected: list[str]) -> None:
    assert chunks(root) == expected


def test_nothing_in_nothing_out() -> None:
    assert chunks() == [""]
    assert list(chunk_snapshots([])) == []
    assert TextStreamChunker().flush() == ""


def test_numbers_stay_as_they_were_written() -> None:
    text = '{"a":1E400,"b":-0,"c":0.10,"d":123456789012345678901234567890.5}'
    assert "".join(chunks(text)) == text
    digits = "9" * 5_000
    assert "".join(chunks(f"[{digits},1]")) == f"[{digits},1]"


def test_numbers_of_python() -> None:
    value = [10**5_000, 1.5, Decimal("0.10"), 1e300, True, -3, None]
    expected = "[1" + "0" * 5_000 + ",1.5,0.10,1e+300,true,-3,null"
    assert chunks(value) == [expected, "]"]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf"), Decimal("NaN"), Decimal("-Infinity")])
def test_what_json_has_no_number_for(number: Any) -> None:
    chunker = JsonStreamChunker()
    chunker.process_value({"a": "x"})
    with pytest.raises(ValueError, match="JSON has no number for"):
        chunker.process_value({"a": "x", "b": number})
    assert chunker.flush() == '"}'


@pytest.mark.parametrize("root", [lambda number: number, lambda number: [number], lambda number: {"a": number}])
@pytest.mark.parametrize("number", [float("nan"), float("inf"), Decimal("-Infinity")])
def test_a_number_that_json_does_not_have_does_not_wait(root: Callable[[Any], Any], number: Any) -> None:
    chunker = JsonStreamChunker(numbers="grow")
    with pytest.raises(ValueError, match="JSON has no number"):
        chunker.process_value(root(number))
    assert chunker.process_value(root(1)) + chunker.flush() == json.dumps(root(1)).replace(" ", "")


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ({"a": {1, 2}}, "set"),
        (1j, "complex"),
        ({"a": {"b": ...}}, "ellipsis"),
        ({"a": b"x"}, "bytes"),
        (b"x", "bytes"),
        (object(), "object"),
        ({1: "x"}, "int"),
        ({"a": {None: 1}, "b": ""}, "NoneType"),
        ([[b"1"], ""], "bytes"),
        ({"a": [b"1"], "b": ""}, "bytes"),
    ],
)
def test_what_is_no_json_value(value: Any, name: str) -> None:
    for options in ({}, {"key_order": "kept"}, {"numbers": "grow"}, {"empty": "late"}):
        chunker = JsonStreamChunker(**options)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=rf"not {name}$"):
            chunker.process_value(value)
        assert chunker.text == ""
        assert chunker.flush() == ""


def test_a_value_that_contains_itself_is_refused() -> None:
    cycle: list[Any] = ["a"]
    cycle.append(cycle)
    for options in ({}, {"key_order": "kept"}, {"empty": "late"}):
        with pytest.raises(ValueError, match="or contains itself"):
            JsonStreamChunker(**options).process_value(cycle)  # type: ignore[arg-type]
    both = {"a": cycle, "b": ""}
    with pytest.raises(ValueError, match="or contains itself"):
        JsonStreamChunker().process_value(both)


@pytest.mark.parametrize(
    ("text", "reason", "index"),
    [
        ("", Reason.UNEXPECTED_END, 0),
        ('{"a": 1', Reason.UNEXPECTED_END, 7),
        ("[1, 2}", Reason.UNEXPECTED_CHARACTER, 5),
        ("NaN", Reason.UNEXPECTED_CHARACTER, 0),
        ("[-Infinity]", Reason.UNEXPECTED_CHARACTER, 2),
        ("1 2", Reason.TRAILING_TEXT, 2),
        ('"a\nb"', Reason.CONTROL_CHARACTER, 2),
        ("\ufeff{}", Reason.BYTE_ORDER_MARK, 0),
        ("[" * 20_000, Reason.TOO_DEEP, 10_000),
        (b'"a\xff"', Reason.BAD_UTF8, 2),
        (b'[\n"\xe2\x82', Reason.BAD_UTF8, 3),
        (b'"\n\xe2\x82', Reason.CONTROL_CHARACTER, 1),
        (b"[1, x, \xff]", Reason.UNEXPECTED_CHARACTER, 4),
    ],
)
def test_text_that_is_not_json_is_not_taken_in(text: str | bytes, reason: Reason, index: int) -> None:
    chunker = JsonStreamChunker()
    chunker.process('{"a": "x"}')
    with pytest.raises(JsonStreamError) as caught:
        chunker.process(text)
    assert (caught.value.error.reason, caught.value.error.index) == (reason, index)
    assert chunker.process('{"a": "xy"}') == "y"


def test_the_error_of_a_text_says_where() -> None:
    with pytest.raises(JsonStreamError) as caught:
        JsonStreamChunker().process('{"a": [1,\n 2, }]}')
    error = caught.value.error
    assert (error.line, error.column, error.path) == (2, 5, ("a", 2))


@pytest.mark.parametrize("text", [b'{"a": [1,\n \xff', b'{"a": [1,\n "\xe2"', b'{"a": [1,\n x \xff'])
def test_the_error_of_bytes_is_the_one_that_the_parser_finds(text: bytes) -> None:
    with pytest.raises(JsonStreamError) as caught:
        JsonStreamChunker().process(text)
    assert caught.value.error.path == ("a", 1)
    assert caught.value.error == parse_chunk(create_parser_state(), text).error


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_snapshots_may_be_bytes(kind: Callable[[bytes], Any]) -> None:
    chunker = JsonStreamChunker()
    assert chunker.process(kind('{"ö": "é"}'.encode())) == '{"ö":"é'
    assert chunker.process('{"ö": "éa"}') == "a"


@pytest.mark.parametrize("snapshot", [None, 1, {"a": 1}, ["a"]])
def test_text_is_str_or_bytes(snapshot: Any) -> None:
    with pytest.raises(TypeError, match="a snapshot must be str, bytes"):
        JsonStreamChunker().process(snapshot)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"on_conflict": "ignore"}, ValueError, "on_conflict must be one of 'raise', 'repair', not 'ignore'"),
        ({"key_order": None}, ValueError, "key_order must be one of 'any', 'kept', not None"),
        ({"numbers": "Grow"}, ValueError, "numbers must be one of 'whole', 'grow'"),
        ({"empty": True}, ValueError, "empty must be one of 'early', 'late'"),
        ({"max_wait": 0}, ValueError, "max_wait must be at least 1, not 0"),
        ({"max_wait": 1.5}, TypeError, "max_wait must be an int or None, not float"),
        ({"max_wait": True}, TypeError, "max_wait must be an int or None, not bool"),
        ({"ensure_ascii": 1}, TypeError, "ensure_ascii must be a bool, not int"),
        ({"color": 1}, TypeError, "color"),
    ],
)
def test_options_that_do_not_exist(options: dict[str, Any], error: type[Exception], message: str) -> None:
    for make in (JsonStreamChunker, start_snapshots, lambda **given: list(chunk_snapshots([], **given))):
        with pytest.raises(error, match=message):
            make(**options)


def test_ascii_only() -> None:
    assert chunks('{"ö": "é😀"}', ensure_ascii=True) == [r'{"\u00f6":"\u00e9\ud83d\ude00', '"}']


def test_half_a_character_is_held_back() -> None:
    assert chunks(r'"a\ud83d"', r'"a\ud83d\ude00"', r'"a\ud83d\ude00b"') == ['"a', "😀", "b", '"']
    assert chunks(r'"a\ud83d"') == ['"a', r'\ud83d"']
    assert chunks(r'["a\ud83d"]', r'["a\ud83d", 1]') == ['["a', r'\ud83d",1', "]"]


def test_of_two_halves_that_are_alone_the_second_may_vanish() -> None:
    assert "".join(chunks(r'"a\ud83d\ud83d"', r'"a\ud83d"')) == r'"a\ud83d"'


def test_lone_halves_are_escaped() -> None:
    assert "".join(chunks({"\udc00": "a\ud800b"})) == r'{"\udc00":"a\ud800b"}'


DEEP = 3_000  # deeper than Python's own reader and `==` go


def deep(text: str) -> str:
    return '[{"a":' * DEEP + text + ',"b":[1,true]}]' * DEEP


def test_snapshots_deeper_than_python_reads() -> None:
    chunker = JsonStreamChunker(key_order="kept")
    assert chunker.process(deep('"x"')) == '[{"a":' * DEEP + '"x"' + ',"b":[1,true]}]' * (DEEP - 1) + ',"b":[1,true'
    assert chunker.flush() == "]}]"
    assert chunker.text == deep('"x"')


def test_what_is_closed_deeper_than_python_compares() -> None:
    first, second, other = (f'[{deep(text)},"{end}"]' for text, end in (('"x"', "a"), ('"x"', "ab"), ('"y"', "ab")))
    chunker = JsonStreamChunker()
    chunker.process(first)
    assert chunker.process(second) == "b"
    with pytest.raises(SnapshotConflict) as caught:
        chunker.process(other)
    assert (caught.value.path, caught.value.written) == ((0, *(0, "a") * DEEP), '"x"')


class TestConflicts:
    """Where, what was written, what was wanted; nothing is harmed."""

    def test_a_string_that_was_rewritten(self) -> None:
        found = conflict('{"name": "Mat"}', '{"name": "Bob"}')
        assert (found.path, found.written, found.wanted) == (("name",), '"Mat', '"Bob"')
        assert str(found) == 'root.name is written as "Mat and cannot become "Bob"'

    def test_a_string_that_shrank(self) -> None:
        found = conflict('["abc"]', '["ab"]')
        assert (found.path, found.written, found.wanted) == ((0,), '"abc', '"ab"')

    def test_a_closed_value_deep_inside(self) -> None:
        found = conflict(
            '{"a": {"b": ["x", "y"]}, "c": 1}',
            '{"a": {"b": ["x", "y"]}, "c": 1, "d": "z"}',
            '{"d": "zz", "a": {"b": ["x", "Y"]}, "c": 1}',
        )
        assert (found.path, found.written, found.wanted) == (("a", "b", 1), '"y"', '"Y"')

    def test_a_member_added_to_what_is_closed(self) -> None:
        found = conflict('{"a": {"b": 1}}', '{"a": {"b": 1}, "c": ""}', '{"a": {"b": 1, "x": 2}, "c": ""}')
        assert (found.path, found.written, found.wanted) == (("a", "x"), "", "2")
        assert str(found) == "root.a.x cannot be added to what is already closed: 2"

    @pytest.mark.parametrize(
        ("history", "path", "written"),
        [
            (('{"a": "x"}', "{}"), ("a",), '"x'),
            (('{"a": ["x"]}', "{}"), ("a",), '["x'),
            (('{"a": 1}', "{}"), ("a",), "1"),
            (("[[1, 2]]", "[[1]]"), (0, 1), "2"),
            (('[["x"]]', "[[]]"), (0, 0), '"x'),
            (('[["x"]]', "[]"), (0,), '["x'),
        ],
    )
    def test_what_is_gone(self, history: tuple[str, str], path: tuple[Any, ...], written: str) -> None:
        found = conflict(*history)
        assert (found.path, found.written, found.wanted) == (path, written, "")
        assert str(found).endswith(f"is written as {written} and is gone from the snapshot")

    @pytest.mark.parametrize(
        ("history", "path", "written", "wanted"),
        [
            (("[1]", '{"0": 1}'), (), "[1", '{"0":1}'),
            (('{"a": {}}', '{"a": []}'), ("a",), "{", "[]"),
            (('{"a": ""}', '{"a": []}'), ("a",), '"', "[]"),
            (('"a"', "1"), (), '"a', "1"),
            (("1", "2"), (), "1", "2"),
            (("1", '"1"'), (), "1", '"1"'),
            (("[true, 0]", "[1, 0]"), (0,), "true", "1"),
            (([[True], ""], [[1], "x"]), (0, 0), "true", "1"),
            (([{"n": 1}, ""], [{"n": 1.0}, "x"]), (0, "n"), "1", "1.0"),
            (({"n": 0, "s": ""}, {"n": False, "s": ""}), ("n",), "0", "false"),
            (([[1], ""], '[[true], ""]'), (0, 0), "1", "true"),
            (('[[true], ""]', [[1], ""]), (0, 0), "true", "1"),
            (('{"a": [1]}', {"a": [1], "b": ""}, '{"a": [true], "b": ""}'), ("a", 0), "1", "true"),
        ],
    )
    def test_types_that_change(
        self, history: tuple[Any, ...], path: tuple[Any, ...], written: str, wanted: str
    ) -> None:
        found = conflict(*history)
        assert (found.path, found.written, found.wanted) == (path, written, wanted)

    def test_two_values_that_grow_in_turn(self) -> None:
        found = conflict('{"a": "x"}', '{"a": "x", "b": "y"}', '{"a": "xx", "b": "y"}')
        assert (found.path, found.written, found.wanted) == (("a",), '"x"', '"xx"')

    def test_what_changes_in_the_owners_hands_is_found_at_the_end(self) -> None:
        closed = {"x": "a"}
        chunker = JsonStreamChunker()
        chunker.process_value({"closed": closed})
        chunker.process_value({"closed": closed, "open": "b"})
        closed["x"] = "changed"
        assert chunker.process_value({"closed": closed, "open": "bb"}) == "b"
        with pytest.raises(SnapshotConflict) as caught:
            chunker.flush()
        assert (caught.value.path, caught.value.written, caught.value.wanted) == (("closed", "x"), '"a"', '"changed"')

    def test_long_texts_are_shortened_in_the_message_only(self) -> None:
        found = conflict(json.dumps("a" * 500), json.dumps("b" * 500))
        assert len(found.wanted) == 502
        assert len(str(found)) < 250

    def test_a_conflict_can_be_pickled(self) -> None:
        found = pickle.loads(pickle.dumps(SnapshotConflict(("a", 0), '"x', "")))  # noqa: S301
        assert (found.path, found.written, found.wanted) == (("a", 0), '"x', "")


class TestRepair:
    """The innermost open object gets the member again."""

    @pytest.mark.parametrize(
        ("history", "text"),
        [
            (('{"a": "x"}', '{"a": "y"}'), '{"a":"x","a":"y"}'),
            (('{"a": "x"}', '{"a": 5}'), '{"a":"x","a":5}'),
            (('{"a": ["x"]}', '{"a": ["y"]}'), '{"a":["x"],"a":["y"]}'),
            (('{"o": {"a": "x"}}', '{"o": {"a": "y"}}'), '{"o":{"a":"x","a":"y"}}'),
            (('{"o": {"a": "x"}}', '{"o": {}}'), '{"o":{"a":"x"},"o":{}}'),
            (
                ('{"a": {"x": 1}}', '{"a": {"x": 1}, "b": ""}', '{"a": {"x": 2}, "b": "c"}'),
                '{"a":{"x":1},"b":"c","a":{"x":2}}',
            ),
            (
                ('{"a": "x"}', '{"a": "x", "b": "y"}', '{"a": "xx", "b": "y"}', '{"a": "xx", "b": "yy"}'),
                '{"a":"x","b":"y","a":"xx","b":"yy"}',
            ),
        ],
    )
    def test_the_member_is_written_again(self, history: tuple[str, ...], text: str) -> None:
        assert "".join(chunks(*history, on_conflict="repair")) == text
        assert json.loads(text) == json.loads(history[-1])

    @pytest.mark.parametrize("history", [('["x"]', '["y"]'), ('"x"', '"y"'), ('{"a": 1}', "{}"), ("[1]", "{}")])
    def test_nothing_open_can_carry_it(self, history: tuple[str, str]) -> None:
        conflict(*history, on_conflict="repair")

    @pytest.mark.parametrize(
        ("history", "text"),
        [
            (('{"a": "x"}', '{"a": ["y"], "b": ["z"], "c": "w"}'), '{"a":"x","a":["y"]'),
            (('{"a": 1, "b": "x"}', '{"a": "", "b": "x"}'), '{"a":1,"b":"x","a":"'),
            (('{"a": 1, "b": 2}', '{"a": "y", "b": "z"}'), '{"a":1,"b":2,"a":"y","b":"z'),
        ],
    )
    def test_what_is_wrong_does_not_wait(self, history: tuple[str, ...], text: str) -> None:
        for empty in ("early", "late"):
            assert "".join(chunks(*history, on_conflict="repair", empty=empty)[:-1]) == text


class TestOwners:
    """Values belong to the caller."""

    def test_one_object_that_grows_in_place(self) -> None:
        value: dict[str, Any] = {}
        chunker = JsonStreamChunker()
        out = [chunker.process_value(value)]
        value["list"] = ["a"]
        out.append(chunker.process_value(value))
        value["list"][0] = "ab"
        value["list"].append({})
        out.append(chunker.process_value(value))
        value["list"][1].update({"x": "", "y": []})
        out.append(chunker.process_value(value))
        value["list"][1]["y"].append(1)
        out.append(chunker.process_value(value))
        assert [*out, chunker.flush()] == ["{", '"list":["a', 'b",{', "", '"y":[1', '],"x":""}]}']

    def test_tuples_are_arrays(self) -> None:
        assert chunks(("a",), ["ab"], ("ab", 1), ["ab", 1, ()]) == ['["a', "b", '",1', ",[", "]]"]


def _fed(state: SnapshotState, text: str, *, as_text: bool) -> tuple[SnapshotState, str]:
    return feed_snapshots(state, text) if as_text else feed_snapshot_values(state, json.loads(text))


class TestStates:
    """States are values."""

    def test_a_state_tells_how_far_it_is(self) -> None:
        state, _ = feed_snapshot_values(start_snapshots(), ["a"])
        assert (state.is_complete, repr(state)) == (False, "<SnapshotState after 3 characters>")
        done, _ = finish_snapshots(state)
        assert (done.is_complete, done.text) == (True, '["a"]')
        assert finish_snapshots(done) == (done, "")

    @pytest.mark.parametrize("as_text", [True, False], ids=["text", "values"])
    def test_a_pickled_state_goes_on_the_same(self, *, as_text: bool) -> None:
        history = ['{"a": [1, {"b": "x"}]}', '{"a": [1, {"b": "xy", "c": "", "d": [2.5]}]}', '{"a": [1], "e": true}']
        state = start_snapshots(numbers="grow", on_conflict="repair")
        for text in history:
            again = pickle.loads(pickle.dumps(state))  # noqa: S301
            state, chunk = _fed(state, text, as_text=as_text)
            again, same = _fed(again, text, as_text=as_text)
            assert (chunk, state.text) == (same, again.text)
        assert finish_snapshots(state)[1] == finish_snapshots(pickle.loads(pickle.dumps(state)))[1]  # noqa: S301

    @pytest.mark.parametrize("shape", ['[%s,"x"]', '{"a":%s,"b":["x"],"c":1}', '{"a":%s,"b":"x"}', "%s"])
    def test_a_state_deeper_than_pickles_go_can_be_pickled(self, shape: str) -> None:
        state, _ = feed_snapshots(start_snapshots(), shape % deep('"x"'))
        again = pickle.loads(pickle.dumps(state))  # noqa: S301
        assert finish_snapshots(again)[0].text == finish_snapshots(state)[0].text

    def test_a_value_that_is_closed_has_the_same_types_after_a_pickle(self) -> None:
        closed = [1, 1.5, Decimal("2.50"), True, None, "a", [], {}, [[], {"": {}}], {"b": [0]}]
        state, _ = feed_snapshot_values(start_snapshots(), [closed, closed, "x"])
        again = pickle.loads(pickle.dumps(state))  # noqa: S301
        assert feed_snapshot_values(again, [closed, closed, "xy"])[1] == "y"
        for at, other in ((0, True), (1, Decimal("1.6")), (3, 1), (6, {}), (7, [])):
            with pytest.raises(SnapshotConflict):
                feed_snapshot_values(again, [closed, [*closed[:at], other, *closed[at + 1 :]], "xy"])

    def test_copies_are_the_same(self) -> None:
        state, _ = feed_snapshot_values(start_snapshots(), ["a"])
        assert copy.copy(state) is copy.deepcopy(state) is state

    @pytest.mark.parametrize(
        "function",
        [lambda state: feed_snapshots(state, "1"), lambda state: feed_snapshot_values(state, 1), finish_snapshots],
    )
    def test_only_states_are_states(self, function: Callable[[Any], object]) -> None:
        for wrong in (None, SnapshotState, JsonStreamChunker()):
            with pytest.raises(TypeError, match="SnapshotState"):
                function(wrong)

    def test_after_the_end_only_the_same_fits(self) -> None:
        chunker = JsonStreamChunker()
        chunker.process('{"a": "x"}')
        assert chunker.flush() == '"}'
        assert (chunker.flush(), chunker.process('{"a": "x"}')) == ("", "")
        with pytest.raises(SnapshotConflict):
            chunker.process('{"a": "xy"}')
        chunker.reset()
        assert (chunker.text, chunker.process("[]")) == ("", "[")

    @pytest.mark.parametrize("chunker", [JsonStreamChunker(key_order="kept"), TextStreamChunker()])
    def test_chunkers_can_be_copied_and_pickled(self, chunker: JsonStreamChunker | TextStreamChunker) -> None:
        first, second = ('"a', '"ab') if isinstance(chunker, TextStreamChunker) else ('"a"', '"ab"')
        chunker.process(first)
        pickled = pickle.loads(pickle.dumps(chunker))  # noqa: S301 - our own pickle
        for other in (copy.copy(chunker), copy.deepcopy(chunker), pickled):
            assert (other.process(second), other.text, chunker.text) == ("b", '"ab', '"a')


class TestText:
    """The sibling for plain text."""

    def test_what_is_new(self) -> None:
        chunker = TextStreamChunker()
        assert [chunker.process(text) for text in ("", "He", "He", "Hello")] == ["", "He", "", "llo"]
        assert (chunker.flush(), chunker.text) == ("", "Hello")

    def test_a_text_that_does_not_go_on(self) -> None:
        chunker = TextStreamChunker()
        chunker.process("Hello")
        with pytest.raises(SnapshotConflict) as caught:
            chunker.process("Help")
        assert (caught.value.path, caught.value.written, caught.value.wanted) == ((), "Hello", "Help")
        assert chunker.process("Hello!") == "!"

    def test_half_a_character_is_held_back(self) -> None:
        chunker = TextStreamChunker()
        assert [chunker.process("a\ud83d"), chunker.process("a😀"), chunker.process("a😀\ud83d")] == ["a", "😀", ""]
        assert (chunker.flush(), chunker.text) == ("\ud83d", "a😀\ud83d")

    def test_half_a_character_that_was_finished_is_not_held_back_again(self) -> None:
        chunker = TextStreamChunker()
        assert [chunker.process("a\ud83d"), chunker.flush()] == ["a", "\ud83d"]
        assert [chunker.process("a\ud83d"), chunker.text, chunker.flush()] == ["", "a\ud83d", ""]

    def test_reset(self) -> None:
        chunker = TextStreamChunker()
        chunker.process("a")
        chunker.reset()
        assert chunker.process("b") == "b"

    @pytest.mark.parametrize("text", [None, b"a", 1])
    def test_text_is_str(self, text: Any) -> None:
        with pytest.raises(TypeError, match=r"\bstr\b"):
            TextStreamChunker().process(text)


class TestStreams:
    """The loops around the chunker."""

    def test_texts_and_values(self) -> None:
        assert list(chunk_snapshots(['{"a": "x"}', b'{"a": "x"}', {"a": "xy"}])) == ['{"a":"x', "y", '"}']

    def test_values_of_any_type_that_are_json(self) -> None:
        snapshots: list[dict[str, list[str]]] = [{"stops": ["Ly"]}, {"stops": ["Lyon"]}]
        assert list(chunk_snapshots(snapshots)) == ['{"stops":["Ly', "on", '"]}']
        assert list(chunk_snapshots([("a",), ("ab",)])) == ['["a', "b", '"]']

    def test_async(self) -> None:
        async def snapshots() -> AsyncIterator[str | list[Any]]:
            for snapshot in ('["a"]', ["a"], ["ab", 1]):
                yield snapshot

        async def collect() -> list[str]:
            return [chunk async for chunk in achunk_snapshots(snapshots(), key_order="kept")]

        assert asyncio.run(collect()) == ['["a', 'b",1', "]"]

    @pytest.mark.parametrize("wrong", [None, "[]", b"[]", 1, {"1": 2}])
    def test_only_iterables(self, wrong: Any) -> None:
        with pytest.raises(TypeError, match="snapshots must be an iterable"):
            chunk_snapshots(wrong)
        with pytest.raises(TypeError, match="snapshots must be an asynchronous iterable"):
            achunk_snapshots(wrong)

    def test_a_conflict_comes_after_what_was_written(self) -> None:
        stream = chunk_snapshots(['["a"]', '["b"]'])
        assert next(stream) == '["a'
        with pytest.raises(SnapshotConflict):
            next(stream)


@pytest.mark.parametrize("text", ['[%s,"a"]', '[{"z":[%s]},"a"]'])
@pytest.mark.parametrize("zeros", [("0.0", "-0.0"), ("-0e1", "0e1"), ("-0", "0")])
@pytest.mark.parametrize("as_decimal", [False, True])
def test_a_zero_that_changes_its_sign_is_a_conflict(text: str, zeros: tuple[str, str], *, as_decimal: bool) -> None:
    """Python takes the two for equal, and JSON writes them differently."""
    number = Decimal if as_decimal else float
    before, now = ([text % zero, json.loads(text % zero, parse_float=number, parse_int=number)] for zero in zeros)
    assert before[1] == now[1]
    for first, second in product(before, now):
        assert "0" in conflict(first, second).wanted


class Pair(NamedTuple):
    one: Any
    other: Any


@pytest.mark.parametrize(
    "container", [tuple, list, lambda pair: Pair(*pair), lambda pair: OrderedDict(a=pair[0], b=pair[1])]
)
def test_types_are_compared_inside_containers_of_all_types(container: Callable[[list[Any]], Any]) -> None:
    """Python takes 0 and `False` for equal."""
    first, second = ([container([12.5, last]), "a"] for last in (False, 0))
    assert first == second
    assert conflict(first, second).wanted == "0"
