"""`states` and `astates`: the parser's state after each chunk and after the end."""

import asyncio
from typing import Any

import pytest
from hypothesis import given

from jsontide import MISSING, JsonStreamError, ParserState, Reason, create_parser_state, parse_chunk
from jsontide.frontends import CompactEncoder, CompactValue
from jsontide.mend import MODELS, Repair
from jsontide.streams import astates, states
from tests import oracles
from tests.cuts import Chunks, every, prefixes
from tests.relations import fault_in, flat, same
from tests.strategies import bad_texts, cut_documents, documents
from tests.streams.arriving import arriving


def collected(chunks: Any, **options: Any) -> tuple[list[ParserState], JsonStreamError | None]:
    """What `states` yields, and what it raises."""
    found: list[ParserState] = []
    try:
        found.extend(states(chunks, **options))
    except JsonStreamError as error:
        return found, error
    return found, None


def acollected(chunks: Any, **options: Any) -> tuple[list[ParserState], JsonStreamError | None]:
    async def collect() -> tuple[list[ParserState], JsonStreamError | None]:
        found: list[ParserState] = []
        try:
            async for state in astates(arriving(chunks), **options):
                found.append(state)  # noqa: PERF401
        except JsonStreamError as error:
            return found, error
        return found, None

    return asyncio.run(collect())


@given(cut_documents(documents))
def test_there_is_a_state_for_each_chunk_and_one_for_the_end(document: tuple[str, Chunks]) -> None:
    text, chunks = document
    for collect in (collected, acollected):
        found, error = collect(chunks)
        assert error is None
        assert len(found) == len(list(chunks)) + 1
        assert found[-1].is_complete
        shown = [oracles.outcome(prefix)[0] for prefix in prefixes(chunks)][1:]
        assert flat([state.value for state in found]) == flat([*shown, oracles.loads(text)])


@given(cut_documents(bad_texts()))
def test_the_last_state_of_a_bad_text_says_what_the_exception_says(document: tuple[str, Chunks]) -> None:
    text, chunks = document
    fault = oracles.fault(text, ended=True)
    for collect in (collected, acollected):
        found, error = collect(chunks)
        if fault:
            assert error is not None
            assert fault_in(error.error) == fault_in(found[-1].error) == fault
        else:
            assert error is None


def test_a_root_number_is_complete_after_the_end() -> None:
    for chunks in every("125"):
        found, _ = collected(chunks)
        assert [state.value for state in found[:-1]] == [MISSING] * (len(found) - 1)
        assert (found[-1].value, found[-1].is_complete) == (125, True)


def test_a_stream_can_start_from_a_state() -> None:
    start = parse_chunk(create_parser_state(), "[1, ")
    found, _ = collected(["2]"], state=start)
    assert [state.value for state in found] == [[1, 2], [1, 2]]
    assert start.value == [1]


def test_mended_text_gives_the_states_of_what_it_became() -> None:
    repairs: list[Repair] = []
    for collect in (collected, acollected):
        found, error = collect(["Sure: {city: 'Kyo", "to', ", "days: 3,}"], mend=MODELS, on_repair=repairs.append)
        assert error is None
        assert found[-1].is_complete
        assert found[-1].value == {"city": "Kyoto", "days": 3}
    assert repairs


def test_mended_text_that_breaks_off_is_never_complete() -> None:
    found, error = collected(["{city: 'Kyo", "to'"], mend=MODELS)
    assert error is not None
    assert error.error.reason is Reason.UNEXPECTED_END
    assert same(found[-1].value, {"city": "Kyoto"})
    assert not any(state.is_complete for state in found)


def test_mending_begins_at_the_beginning_of_a_text() -> None:
    with pytest.raises(ValueError, match="cannot go on with mend"):
        states(["1]"], parse_chunk(create_parser_state(), "["), mend=MODELS)


@given(cut_documents(documents))
def test_encoded_states_give_the_value_again(document: tuple[str, Chunks]) -> None:
    text, chunks = document
    encoder = CompactEncoder(form="ndjson")
    sent, out = encoder.begin()
    for state in states(chunks):
        sent, new = encoder.encode(sent, state)
        out += new
    value = CompactValue()
    for line in out.decode().split("\n")[:-1]:
        value = value.read(oracles.loads(line))
    assert value.end == {"end": "complete"}
    assert flat([value.value]) == flat([oracles.loads(text)])
