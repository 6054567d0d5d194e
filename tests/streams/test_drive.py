"""`values`, `loads` and their async twins over streams of chunks, and which streams every loop takes."""

import asyncio
import pickle
from collections.abc import Callable, Iterator
from inspect import iscoroutine
from typing import Any

import pytest
from hypothesis import given

import jsontide
from jsontide import (
    MISSING,
    JsonStreamError,
    JsonValue,
    Limits,
    ParserState,
    Reason,
    aloads,
    avalues,
    create_parser_state,
    loads,
    parse_chunk,
    text_deltas,
    values,
)
from jsontide.streams import Chunk
from tests import oracles
from tests.cuts import Chunks, every, prefixes, singles, ways
from tests.relations import fault_in, flat, same
from tests.strategies import bad_texts, cut_documents, documents, examples
from tests.streams.arriving import Source, arriving
from tests.streams.loops import ASYNC, OF_TEXT, PLAIN


def collected(chunks: Any, state: ParserState | None = None) -> list[Any]:
    """What `values` yields; the last entry is the error if it raised."""
    result: list[Any] = []
    try:
        result.extend(values(chunks, state))
    except JsonStreamError as error:
        result.append(error.error)
    return result


def acollected(chunks: Any, state: ParserState | None = None) -> list[Any]:
    """The same for `avalues`."""

    async def collect() -> list[Any]:
        result: list[Any] = []
        try:
            async for value in avalues(chunks, state):
                result.append(value)  # noqa: PERF401
        except JsonStreamError as error:
            result.append(error.error)
        return result

    return asyncio.run(collect())


def changes(text: str, chunks: Chunks) -> list[Any]:
    """What must be yielded: the visible value after each chunk that changed it, and at the end."""
    result: list[Any] = [MISSING]
    shown = [oracles.outcome(prefix)[0] for prefix in prefixes(chunks)]
    shown.append(oracles.outcome(text, ended=True)[0])
    for value in shown:
        if not same(value, result[-1]):
            result.append(value)
    return result[1:]


@examples(2)
@given(cut_documents(documents))
def test_values_are_yielded_after_each_chunk_that_changed_them(
    document: tuple[str, Chunks],
) -> None:
    text, chunks = document
    assert flat(collected(chunks)) == flat(changes(text, chunks))


@examples(1)
@given(cut_documents(bad_texts()))
def test_what_became_visible_is_yielded_before_bad_text_raises(
    document: tuple[str, Chunks],
) -> None:
    text, chunks = document
    fault = oracles.fault(text, ended=True)
    got = collected(chunks)
    if fault:
        assert fault_in(got.pop()) == fault
    assert flat(got) == flat(changes(text, chunks))


@given(cut_documents(documents))
def test_async_values_are_the_same_as_values(document: tuple[str, Chunks]) -> None:
    _, chunks = document
    assert flat(acollected(arriving(chunks))) == flat(collected(chunks))


@given(cut_documents(documents))
def test_loads_returns_the_final_value(document: tuple[str, Chunks]) -> None:
    text, chunks = document
    assert same(loads(chunks), oracles.loads(text))
    assert same(asyncio.run(aloads(arriving(chunks))), oracles.loads(text))


@given(documents)
def test_loads_takes_a_single_text(text: str) -> None:
    assert same(loads(text), oracles.loads(text))


def test_a_root_number_is_yielded_at_the_end() -> None:
    for chunks in every("125"):
        assert collected(chunks) == [125]
    assert acollected(arriving(["12", "5"])) == [125]


def test_a_root_null_is_yielded() -> None:
    for chunks in every("null"):
        assert collected(chunks) == [None]


def test_chunks_that_change_nothing_yield_nothing() -> None:
    assert collected(["[", " ", "1", "2", ",", "", '"', "a", '"', "]", "\n"]) == [
        [],
        [12],
        [12, ""],
        [12, "a"],
    ]


def test_yielded_values_keep_identity() -> None:
    got: list[Any] = list(values(['{"a":[1],"b":["x', "y", 'z"]}']))
    assert got[0]["a"] is got[1]["a"] is got[2]["a"]


@pytest.mark.parametrize("text", ["[1,x", "[1", '{"a":1]', "", "tru"])
def test_bad_text_raises_a_value_error_that_carries_the_error(text: str) -> None:
    for chunks in every(text):
        with pytest.raises(JsonStreamError) as caught:
            list(values(chunks))
        fault = oracles.fault(text, ended=True)
        assert isinstance(caught.value, ValueError)
        assert fault_in(caught.value.error) == fault
        assert str(caught.value) == caught.value.error.message
        with pytest.raises(JsonStreamError):
            loads(chunks)


def test_a_stream_error_can_be_pickled() -> None:
    with pytest.raises(JsonStreamError) as caught:
        loads("[1,]")
    copied = pickle.loads(pickle.dumps(caught.value))  # noqa: S301
    assert copied.error == caught.value.error
    assert str(copied) == str(caught.value)


def test_an_error_raises_at_once_and_reads_no_further() -> None:
    read = []

    def chunks() -> Iterator[str]:
        for chunk in ("[1,", "2", "]]", "never", "read"):
            read.append(chunk)
            yield chunk

    assert collected(chunks())[:2] == [[1], [1, 2]]
    assert read == ["[1,", "2", "]]"]


def test_loads_raises_at_once_and_reads_no_further() -> None:
    def chunks() -> Iterator[str]:
        yield "[1,]"
        pytest.fail("read on after an error")

    with pytest.raises(JsonStreamError):
        loads(chunks())


def test_a_stream_can_start_from_a_state() -> None:
    state = parse_chunk(create_parser_state(limits=Limits(max_depth=1)), '{"a":1,"b":"')
    assert collected(["x", '"}'], state) == [{"a": 1, "b": "x"}]
    assert loads(["x", '"}'], state) == {"a": 1, "b": "x"}
    assert acollected(arriving(["x", '"}']), state) == [{"a": 1, "b": "x"}]
    assert state.value == {"a": 1, "b": ""}
    assert collected(['",', '"c":['], state)[-1].reason is Reason.TOO_DEEP


def test_starting_from_a_state_yields_no_value_that_it_had_already() -> None:
    state = parse_chunk(create_parser_state(), "[1,")
    assert collected([" ", "2]"], state) == [[1, 2]]


def test_starting_from_a_finished_state_yields_nothing() -> None:
    state = parse_chunk(create_parser_state(), "[1]")
    assert collected([], state) == []
    assert loads([], state) == [1]
    assert asyncio.run(aloads(arriving([]), state)) == [1]


def test_starting_from_a_state_in_error_raises() -> None:
    state = parse_chunk(create_parser_state(), "[1,]")
    assert [error.reason for error in collected([], state)] == [Reason.UNEXPECTED_CHARACTER]
    with pytest.raises(JsonStreamError):
        loads([], state)


def test_options_come_with_the_state() -> None:
    state = create_parser_state(trailing="ignore", floats="lexeme")
    for chunks in every("[1.50] and prose"):
        assert loads(chunks, state) == ["1.50"]


def test_bytes_cut_inside_a_character_are_fine() -> None:
    for chunks in ways('["é😀"]'.encode()):
        assert loads(chunks) == ["é😀"]
        assert collected(chunks)[-1] == ["é😀"]


@pytest.mark.parametrize("text", ["[1]", b"[1]", bytearray(b"[1]"), memoryview(b"[1]")])
def test_a_single_text_is_a_stream_of_one_chunk(text: Chunk) -> None:
    assert list(values(text)) == [[1]]


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_chunks_are_bytes_of_any_kind_for_type_checkers_too(kind: Callable[[bytes], Chunk]) -> None:
    chunks = [kind(b'{"a": "x'), kind(b'"}')]
    assert list(values(chunks)) == [{"a": "x"}]
    assert loads(chunks) == {"a": "x"}
    assert list(text_deltas(chunks, "a")) == ["x"]


def test_a_state_that_is_none_of_ours_is_refused() -> None:
    wrong: Any = "[1]"
    for call in (
        lambda: list(values(["1"], wrong)),
        lambda: loads(["1"], wrong),
        lambda: acollected(arriving(["1"]), wrong),
    ):
        with pytest.raises(TypeError, match="ParserState"):
            call()


def test_values_can_be_abandoned_and_closes_its_source() -> None:
    source = Source(["[1,", "2,", "3]"])
    chunks = iter(source)
    growing: Any = values(chunks)
    assert next(growing) == [1]
    growing.close()
    del growing, chunks
    assert source.is_closed


def test_async_values_can_be_abandoned_and_closes_its_source() -> None:
    source = Source(["[1,", "2,", "3]"])

    async def first() -> JsonValue:
        growing: Any = avalues(aiter(source))
        value: JsonValue = await anext(growing)
        await growing.aclose()
        return value

    assert asyncio.run(first()) == [1]
    assert source.is_closed


def test_an_error_of_the_source_comes_through() -> None:
    def broken() -> Iterator[str]:
        yield "[1,"
        raise ConnectionError

    growing = values(broken())
    assert next(iter(growing)) == [1]
    with pytest.raises(ConnectionError):
        list(growing)
    with pytest.raises(ConnectionError):
        loads(broken())


def test_two_streams_do_not_disturb_each_other() -> None:
    one, other = iter(values(singles("[1,2]"))), iter(values(singles("[3,4]")))
    pairs = list(zip(one, other, strict=True))
    assert pairs == [([], []), ([1], [3]), ([1, 2], [3, 4])]


# One rule for every loop: the plain name takes plain streams, the one with an `a` asynchronous ones.


def test_every_loop_has_a_twin() -> None:
    offered = {*jsontide.__all__, *jsontide.streams.__all__}
    assert {*PLAIN, *ASYNC} <= offered
    assert {name for name in offered if "a" + name in offered} - {"run_tools"} == set(PLAIN)  # it takes no stream


@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_loop_refuses_an_asynchronous_stream_by_naming_its_twin(name: str) -> None:
    with pytest.raises(TypeError, match=rf"not async_generator; a{name} takes"):
        PLAIN[name](arriving(["[1]"]))


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("source", [["[1]"], "[1]", iter(("[1]",))])
def test_an_asynchronous_loop_refuses_a_plain_stream_by_naming_its_twin(name: str, source: Any) -> None:
    with pytest.raises(TypeError, match=rf"not {type(source).__name__}; {name} takes"):
        ASYNC["a" + name](source)


@pytest.mark.parametrize("wrong", [None, 1, 1.5, object()])
@pytest.mark.parametrize("name", PLAIN)
def test_what_is_no_stream_is_refused_where_it_is_passed(name: str, wrong: Any) -> None:
    for call in (PLAIN[name], ASYNC["a" + name]):
        with pytest.raises(TypeError, match=f"not {type(wrong).__name__}"):
            call(wrong)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [(None, "not NoneType"), (1, "not int"), (["["], "not list"), (b"]", "a bytes .* cannot follow str")],
)
@pytest.mark.parametrize("name", OF_TEXT)
def test_a_stream_of_what_is_no_chunk_or_of_text_and_bytes_is_refused(name: str, wrong: Any, said: str) -> None:
    async def drain() -> None:
        found = ASYNC["a" + name](arriving(["[", wrong]))
        if iscoroutine(found):
            await found
        else:
            async for _ in found:
                pass

    with pytest.raises(TypeError, match=said):
        list(PLAIN[name](["[", wrong]))
    with pytest.raises(TypeError, match=said):
        asyncio.run(drain())
