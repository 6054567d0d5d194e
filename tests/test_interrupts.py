"""Law 4 under interrupts: a step or a reading that is broken off, as by Ctrl-C, harms no state."""

import sys
from collections.abc import Callable
from functools import partial
from itertools import islice
from random import Random
from types import FrameType
from typing import Any

import pytest
from hypothesis import given

from jsontide import COMPILED, create_parser_state, finalize, parse_chunk
from tests.cuts import Chunks, prefixes
from tests.oracles import loads, visible
from tests.relations import same
from tests.strategies import cut_documents, documents, examples, randoms

pytestmark = pytest.mark.skipif(COMPILED, reason="compiled code is not interrupted between its lines")


class InterruptError(BaseException):
    """What a trace function raises in the middle of the library."""


def break_off(call: Callable[[], object], lines: int) -> None:
    """Run a call up to some number of lines of the library; a shorter one runs to its end."""
    left = lines

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if "jsontide" not in frame.f_code.co_filename or "tests" in frame.f_code.co_filename:
            return None
        left -= event == "line"
        if left < 0:
            raise InterruptError
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except InterruptError:
        pass
    finally:
        sys.settrace(before)


@examples(3)
@given(cut_documents(documents), randoms)
def test_law_4_what_is_broken_off_can_be_done_again(document: tuple[str, Chunks], random: Random) -> None:
    text, chunks = document
    state = create_parser_state()
    chunk: Any
    for chunk, prefix in zip(chunks, islice(prefixes(chunks), 1, None), strict=True):
        before, picture = state, visible(prefix)
        if random.random() < 0.5:
            break_off(partial(parse_chunk, state, chunk), random.randrange(60))
        state = parse_chunk(before, chunk)
        if random.random() < 0.7:
            break_off(partial(getattr, state, "value"), random.randrange(40))
        if random.random() < 0.7:
            assert same(state.value, picture)
    assert same(finalize(state).value, loads(text))


@pytest.mark.parametrize("lines", range(160))
def test_law_4_a_step_can_be_broken_off_at_any_line(lines: int) -> None:
    text = '{"a": null, "b": [2, "x\\ny", {}], "a": "again", "c": 3.5}'
    for size in (5, 12):
        chunks = [text[at : at + size] for at in range(0, len(text), size)]
        state = create_parser_state()
        for chunk, prefix in zip(chunks, islice(prefixes(chunks), 1, None), strict=True):
            break_off(partial(parse_chunk, state, chunk), lines)
            state = parse_chunk(state, chunk)
            assert same(state.value, visible(prefix))
