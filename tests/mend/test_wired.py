"""Mending in the loops and in the accumulator: what they show, raise and report of texts as models write them.

In: the corpus, cut in all ways. Out: whether each door says what the stage itself says.
Rule: a value that broke off is never complete, and every error points into the original text.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jsontide
from jsontide import JsonFragmentAccumulator, JsonStreamError, Limits, ParserError, Reason, create_parser_state
from jsontide.events import JsonFragmentError
from jsontide.mend import MODELS, Mending, Repair, RepairKind, feed_mend, finish_mend, start_mend
from jsontide.mend.state import Passage, original_index, place_error
from tests.cuts import Chunks, as_bytes, cut_at, cut_randomly, singles, whole
from tests.mend.cases import Case, read_corpus
from tests.relations import same

CASES = [case for case in read_corpus() if case.schema is None and case.values == "first" and case.mending == "MODELS"]
ANYTHING: dict[str, Any] = {}
named = pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case.name, marks=pytest.mark.long if at % 8 else ()) for at, case in enumerate(CASES)],
)
"""Some cases of every group; the others are for `make test-long`."""


class Expected:
    """What the stage itself says of a whole text."""

    def __init__(self, text: str) -> None:
        state, begun, _ = feed_mend(start_mend(MODELS), text)
        self.state, rest, _ = finish_mend(state)
        self.text = begun + rest
        self.repairs = self.state.repairs

    @property
    def error(self) -> ParserError | None:
        return self.state.error or self.state.truncation

    @property
    def value(self) -> Any:
        return json.loads(self.text)


def few_ways(text: str) -> Iterator[Chunks]:
    yield whole(text)
    yield singles(text)
    data = as_bytes(text)
    assert data is not None
    if not text.startswith("\ufeff"):  # of bytes, a byte order mark is no text
        yield singles(data)
        yield cut_at(data, [len(data) // 3, len(data) // 2])


async def arriving(chunks: Iterable[Any]) -> AsyncIterator[Any]:
    for chunk in chunks:
        yield chunk


async def collect(found: AsyncIterator[Any], into: list[Any]) -> None:
    into.extend([one async for one in found])


def last_of(found: Iterable[Any]) -> Any:
    shown = list(found)
    return shown[-1]


async def alast_of(found: AsyncIterator[Any]) -> Any:
    shown: list[Any] = []
    await collect(found, shown)
    return shown[-1]


DOORS: dict[str, Callable[..., Any]] = {
    "loads": jsontide.loads,
    "values": lambda chunks, **options: last_of(jsontide.values(chunks, **options)),
    "first_value": lambda chunks, **options: jsontide.first_value(chunks, (), **options),
    "stream_model": lambda chunks, **options: last_of(jsontide.stream_model(chunks, ANYTHING, **options)),
    "aloads": lambda chunks, **options: asyncio.run(aloaded(chunks, options)),
    "avalues": lambda chunks, **options: asyncio.run(alast_of(jsontide.avalues(arriving(chunks), **options))),
    "afirst_value": lambda chunks, **options: asyncio.run(avalued(chunks, options)),
    "astream_model": lambda chunks, **options: asyncio.run(
        alast_of(jsontide.astream_model(arriving(chunks), ANYTHING, **options))
    ),
}


async def aloaded(chunks: Iterable[Any], options: dict[str, Any]) -> Any:
    return await jsontide.aloads(arriving(chunks), **options)


async def avalued(chunks: Iterable[Any], options: dict[str, Any]) -> Any:
    return await jsontide.afirst_value(arriving(chunks), (), **options)


doors = pytest.mark.parametrize("door", DOORS)


@pytest.mark.untraced
@named
def test_every_door_says_what_the_stage_says(case: Case) -> None:
    expected = Expected(case.text)
    for door in DOORS:
        if door.endswith("model") and case.text.startswith("data:"):
            continue  # taken for server-sent events
        for chunks in ways_through(door, case):
            check_door(door, chunks, expected)


def ways_through(door: str, case: Case) -> list[Chunks]:
    """All ways through the first two doors; the others read by the same stage, so one each, drawn once and for all."""
    ways = list(few_ways(case.text))
    return ways if door in {"loads", "values"} else [Random(f"{door} {case.name}").choice(ways)]


def check_door(door: str, chunks: Chunks, expected: Expected) -> None:
    reported: list[Repair] = []
    if expected.error is None:
        value = DOORS[door](chunks, mend=MODELS, on_repair=reported.append)
        assert same(value, expected.value), door
    else:
        if door.endswith("value") and expected.text and not expected.state.is_truncated:
            return  # the value came before the error
        with pytest.raises(JsonStreamError) as caught:
            DOORS[door](chunks, mend=MODELS, on_repair=reported.append)
        error = caught.value.error
        assert (error.reason, error.index, error.line, error.column, error.message) == (
            expected.error.reason,
            expected.error.index,
            expected.error.line,
            expected.error.column,
            expected.error.message,
        ), door
    if not door.endswith("value"):  # which stops when the value is there
        assert tuple(reported) == expected.repairs, door


@given(st.data())
def test_a_text_broken_off_anywhere_is_never_complete(data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(CASES))
    text = case.text[: data.draw(st.integers(0, len(case.text)))]
    random = data.draw(st.randoms(use_true_random=False))
    expected = Expected(text)
    chunks = cut_randomly(text, random)
    if expected.error is None:
        assert same(last_of(jsontide.values(chunks, mend=MODELS)), expected.value)
        return
    with pytest.raises(JsonStreamError) as caught:
        list(jsontide.values(chunks, mend=MODELS))
    assert (caught.value.error.reason, caught.value.error.index) == (expected.error.reason, expected.error.index)


@named
def test_the_accumulator_says_what_the_stage_says(case: Case) -> None:
    expected = Expected(case.text)
    for chunks in few_ways(case.text):
        accumulator = JsonFragmentAccumulator(mend=MODELS)
        updates = [update for chunk in chunks for update in accumulator.add_fragment(chunk)] + accumulator.finish()
        errors = [update for update in updates if update.kind == "Error"]
        whole_values = [update.value for update in updates if update.kind == "JsonComplete"]
        assert accumulator.repairs == expected.repairs
        assert accumulator.is_complete is (expected.error is None)
        if expected.error is None:
            assert not errors
            assert same(whole_values, [expected.value])
        else:
            (error,) = errors
            assert isinstance(error.value, ParserError)
            assert (error.start, error.value.index, error.text) == (
                expected.error.index,
                expected.error.index,
                expected.error.message,
            )


def test_an_accumulator_is_as_new_after_a_reset() -> None:
    accumulator = JsonFragmentAccumulator(mend=MODELS, on_error="raise")
    accumulator.add_fragment("{a: 1,")
    accumulator.reset()
    assert accumulator.repairs == ()
    accumulator.add_fragment(b"[1")
    with pytest.raises(TypeError, match="a str chunk cannot follow bytes"):
        accumulator.add_fragment("]")
    accumulator.add_fragment(b",]")
    assert accumulator.is_complete
    with pytest.raises(TypeError, match="has no state of its own"):
        _ = accumulator.state


def test_an_accumulator_raises_what_cannot_be_mended_with_what_came_before() -> None:
    accumulator = JsonFragmentAccumulator(mend=MODELS, on_error="raise")
    with pytest.raises(JsonFragmentError) as caught:
        accumulator.add_fragment('Sure: {"a": [x + 1], b: 2}')
    assert caught.value.error.index == 13
    assert [update.kind for update in caught.value.updates][:2] == ["StartObject", "Key"]


def test_an_accumulator_finds_all_documents() -> None:
    accumulator = JsonFragmentAccumulator(mend=Mending(kinds=MODELS.kinds, values="all"))
    updates = accumulator.add_fragment("{a: 1} and then\n{a: 2}") + accumulator.finish()
    assert [update.value for update in updates if update.kind == "JsonComplete"] == [{"a": 1}, {"a": 2}]


PLACES = {
    'Well,\nhere:\n{"a": 1,\n "b": "x\ny", "a": 2}': '"a": 2',
    "{'a': 1, b: 'two\nlines', 'a': 3}": "'a': 3",
    '```json\n{"a": 1, // first\n"a": 2}\n```': '"a": 2',
    '﻿{"é": True, “é”: 2}': "“é”: 2",
}


@pytest.mark.parametrize("text", PLACES)
def test_an_error_of_the_parser_points_at_its_character_of_the_original(text: str) -> None:
    index = text.index(PLACES[text]) + 2  # where the key ends
    line, start = text.count("\n", 0, index) + 1, text.rfind("\n", 0, index) + 1
    for chunks in (whole(text), singles(text), *[cut_at(text, [at]) for at in range(len(text))]):
        with pytest.raises(JsonStreamError) as caught:
            jsontide.loads(chunks, create_parser_state(duplicate_keys="error"), mend=MODELS)
        error = caught.value.error
        assert (error.reason, error.index) == (Reason.DUPLICATE_KEY, index)
        assert (error.line, error.column) == (line, index - start + 1)
        assert error.message.endswith(f"(line {line}, column {index - start + 1})")


def test_an_error_that_is_skipped_points_into_the_original_too() -> None:
    text = "See:\n{a: 'much too\nlong', b: 2}"
    accumulator = JsonFragmentAccumulator(mend=MODELS, on_error="skip", limits=Limits(max_string=4))
    updates = [update for chunk in singles(text) for update in accumulator.add_fragment(chunk)] + accumulator.finish()
    (error,) = [update for update in updates if update.kind == "Error"]
    assert text[error.start :].startswith(" too")
    assert text[error.end :].startswith(", b")
    assert isinstance(error.value, ParserError)
    assert (error.value.line, error.value.column) == (2, 10)
    assert updates[-1].value == {"b": 2}


@named
def test_every_place_of_the_mended_text_is_one_of_the_original(case: Case) -> None:
    expected = Expected(case.text)
    if expected.state.error is not None:
        return
    changed = {place for each in expected.repairs for place in range(each.index, each.index + len(each.was))}
    for at, char in enumerate(expected.text):
        place = original_index(expected.repairs, at)
        assert place in changed or place >= len(case.text) or case.text[place] == char or _is_insertion(expected, at)


def _is_insertion(expected: Expected, at: int) -> bool:
    shift = 0
    for repair in expected.repairs:
        begin = repair.index + shift
        if begin <= at < begin + len(repair.became):
            return True
        shift += len(repair.became) - len(repair.was)
    return False


def test_the_line_of_a_token_that_began_before_is_found_by_the_repairs() -> None:
    text = 'x\n{"a": "b\nc\nd'
    state, mended, _ = feed_mend(start_mend(MODELS), text)
    strict = jsontide.parse_chunk(create_parser_state(limits=Limits(max_string=1)), mended)
    assert strict.error is not None
    placed = place_error(strict.error, state.repairs, Passage("e", len(text), 4, 13))
    assert (placed.index, placed.line, placed.column) == (10, 2, 9)


@doors
def test_wrong_options_are_refused_where_they_are_passed(door: str) -> None:
    call = DOORS[door]
    with pytest.raises(TypeError, match=r"mend must be a Mending, such as jsontide\.mend\.MODELS, not bool"):
        call(["1"], mend=True)
    with pytest.raises(TypeError, match="on_repair needs mend"):
        call(["1"], on_repair=print)
    with pytest.raises(TypeError, match="on_repair must be callable, not int"):
        call(["1"], mend=MODELS, on_repair=1)


def test_wrong_options_raise_before_anything_is_read() -> None:
    with pytest.raises(TypeError, match="on_repair needs mend"):
        jsontide.values(["1"], on_repair=print)
    with pytest.raises(TypeError, match="on_repair needs mend"):
        jsontide.avalues(arriving(["1"]), on_repair=print)
    for follow in (jsontide.text_deltas, jsontide.items):
        with pytest.raises(TypeError, match="mend must be a Mending"):
            follow(["1"], "a", mend=1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="mend must be a Mending"):
        JsonFragmentAccumulator(mend="MODELS")  # type: ignore[arg-type]


def test_a_state_that_has_read_text_cannot_go_on_with_mend() -> None:
    state = jsontide.parse_chunk(create_parser_state(), "[1,")
    with pytest.raises(ValueError, match="cannot go on with mend"):
        jsontide.values("2]", state, mend=MODELS)


def test_chunks_of_two_types_and_of_none_are_refused() -> None:
    with pytest.raises(TypeError, match="a bytes chunk cannot follow str"):
        jsontide.loads(["{a: ", b"1}"], mend=MODELS)
    with pytest.raises(TypeError, match="a chunk must be str, bytes, bytearray or memoryview, not int"):
        jsontide.loads(["{", 1], mend=MODELS)  # type: ignore[list-item]


@pytest.mark.parametrize(("data", "index"), [(b"Sure: {a: \xff}", 10), (b"{a: '\xc3", 5)])
def test_bytes_that_are_not_utf8_are_an_error_at_their_place(data: bytes, index: int) -> None:
    for chunks in (whole(data), singles(data)):
        with pytest.raises(JsonStreamError) as caught:
            list(jsontide.values(chunks, mend=MODELS))
        assert caught.value.error.index == index
        assert caught.value.error.reason in {Reason.BAD_UTF8, Reason.UNEXPECTED_END}


def test_stream_and_items_show_what_is_mended() -> None:
    text = "Sure!\n{answer: 'Take the \"night\" train', steps: [1, 2,], }"
    for chunks in (whole(text), singles(text)):
        assert "".join(jsontide.text_deltas(chunks, "answer", mend=MODELS)) == 'Take the "night" train'
        assert list(jsontide.items(chunks, "steps", mend=MODELS)) == [(0, 1), (1, 2)]
        found: list[Any] = []
        asyncio.run(collect(jsontide.atext_deltas(arriving(chunks), "answer", mend=MODELS), found))
        assert "".join(found) == 'Take the "night" train'
        found.clear()
        asyncio.run(collect(jsontide.aitems(arriving(chunks), "steps", mend=MODELS), found))
        assert found == [(0, 1), (1, 2)]


def test_what_was_shown_before_an_error_stays() -> None:
    shown = jsontide.text_deltas(["{a: 'Kyo", "to', b: (1 + ", "2)}"], "a", mend=MODELS)
    assert (next(shown), next(shown)) == ("Kyo", "to")
    with pytest.raises(JsonStreamError) as caught:
        next(shown)
    assert caught.value.error.path == ("b",)


def test_the_path_of_an_error_is_that_of_the_value_being_read() -> None:
    for loop in (jsontide.loads, lambda text, **options: jsontide.first_value(text, "z", **options)):
        with pytest.raises(JsonStreamError) as caught:
            loop('{"a": {"b": [1, "cut', mend=MODELS)
        assert caught.value.error.path == ("a", "b", 1)
        assert caught.value.error.reason is Reason.UNEXPECTED_END


def test_a_value_cut_off_by_a_fence_raises_where_it_broke_off() -> None:
    text = '```json\n{"a": [1, "b",\n```\nDone.'
    with pytest.raises(JsonStreamError) as caught:
        list(jsontide.values(singles(text), mend=MODELS))
    error = caught.value.error
    assert (error.reason, error.index, error.line, error.column) == (Reason.UNEXPECTED_END, text.rindex("```"), 3, 1)


def test_on_repair_may_raise_and_ends_the_loop() -> None:
    def refuse(repair: Repair) -> None:
        raise LookupError(repair.kind.value)

    with pytest.raises(LookupError, match="prose"):
        jsontide.loads("Sure: {}", mend=MODELS, on_repair=refuse)


@pytest.mark.parametrize("begin", ["Here is", "data", "data ", "event", "Data: ", "id", "idea: ", "retrying", "e", "d"])
def test_prose_is_not_taken_for_server_sent_events(begin: str) -> None:
    text = begin + '\n{"city": "Kyoto"}'
    for chunks in few_ways(text):
        assert last_of(jsontide.stream_model(chunks, ANYTHING, mend=MODELS)) == {"city": "Kyoto"}


def chat_event(content: str, reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": reason}
    return {"id": "1", "object": "chat.completion.chunk", "choices": [choice]}


def test_server_sent_events_are_still_recognised_and_their_answer_mended() -> None:
    events = [chat_event("Sure: {city: 'Kyo"), chat_event("to'}", "stop")]
    raw = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
    for source in ([*singles(raw)], [": ping\n\n" + raw], events):
        reported: list[Repair] = []
        shown = list(jsontide.stream_model(source, ANYTHING, mend=MODELS, on_repair=reported.append))
        assert shown[-1] == {"city": "Kyoto"}
        assert [repair.kind for repair in reported] == [
            RepairKind.PROSE,
            RepairKind.UNQUOTED_KEY,
            RepairKind.QUOTES,
            RepairKind.QUOTES,
        ]


def test_without_mend_bad_json_is_an_error() -> None:
    for door, call in DOORS.items():
        with pytest.raises(JsonStreamError):
            call(["{a: 1}"])
        assert call(['{"a": 1}']) == {"a": 1}, door


def test_the_schema_of_a_model_decides_what_only_it_can() -> None:
    schema = {"type": "object", "properties": {"size": {"enum": ["small", "large"]}}}
    for chunks in few_ways('Sure: {"size": LARGE}'):
        assert last_of(jsontide.stream_model(chunks, schema, mend=MODELS)) == {"size": "large"}
