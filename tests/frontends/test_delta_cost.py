"""Law 8 for deltas, by counting: what the changes of a chunk cost does not depend on what came before it."""

from itertools import islice
from statistics import median

import pytest

from jsontide import create_parser_state, parse_chunk
from jsontide.frontends import CompactEncoder, CompactWriter, PatchWriter, read_changes, write_json
from jsontide.messages import MessageConfig
from jsontide.providers import feed_stream, start_stream
from jsontide.tree import ParserState
from tests.meters import Meter, untraced
from tests.test_cost import SAMPLE, SHAPES, SLACK, SMALL, Shape


def fed(shape: Shape, units: int) -> ParserState:
    state = parse_chunk(create_parser_state(), shape.head)
    for chunk in islice(shape.chunks(0), units * len(shape.unit(0))):
        state = parse_chunk(state, chunk)
    return state


def sample(meter: Meter, shape: Shape, units: int) -> list[int]:
    """What it costs to tell the next changes after so many units."""
    before = untraced(lambda: fed(shape, units))
    compact, _ = CompactWriter().write(read_changes(None, before))
    costs = []
    for chunk in islice(shape.chunks(units), SAMPLE):
        after = parse_chunk(before, chunk)
        cost, changes = meter(lambda old=before, new=after: read_changes(old, new))  # type: ignore[misc]
        more, (compact, _) = meter(lambda writer=compact, found=changes: writer.write(found))  # type: ignore[misc]
        costs.append(cost + more)
        before = after
    return costs


@pytest.mark.parametrize("name", [name for name in SHAPES if name not in {"digits", "depth"}])
def test_the_changes_of_a_chunk_cost_the_same_early_and_late(meter: Meter, name: str) -> None:
    shape = SHAPES[name]
    early, late = sample(meter, shape, 3), sample(meter, shape, shape.late // 2 - SAMPLE)
    assert median(late) <= SLACK[meter] * median(early) + SMALL[meter]


@pytest.mark.parametrize("schema", [None, {"type": "object", "properties": {"text": {"type": "string"}}}])
def test_an_event_of_a_message_costs_the_same_early_and_late(meter: Meter, schema: object) -> None:
    encoder = CompactEncoder()

    def cost(pieces: int) -> float:
        state = start_stream(MessageConfig(response_schema=schema))
        told = encoder.begin()[0]
        head = '{"text": "' if schema else ""
        for piece in [head, *["word " for _ in range(pieces)]]:
            state = feed_stream(state, {"message": {"content": piece}, "done": False})
        told, _ = encoder.encode(told, state.message)
        costs = []
        for _ in range(SAMPLE):
            state = feed_stream(state, {"message": {"content": "more "}, "done": False})
            message = state.message
            spent, (told, _) = meter(lambda told=told, message=message: encoder.encode(told, message))  # type: ignore[misc]
            costs.append(spent)
        return median(costs)

    assert cost(4_000) <= SLACK[meter] * cost(20) + SMALL[meter]


@pytest.mark.parametrize("size", [1, 3, 8])
def test_a_patch_in_steps_sends_less_than_five_times_the_text(size: int) -> None:
    record = '{"id": 1, "name": "Ada Lovelace", "tags": ["first", "programmer"], "note": "A note on the engine."}'
    for text in ('"' + "word " * 2_000 + '"', "[" + ", ".join([record] * 40) + "]"):
        writer, state, sent = PatchWriter(in_steps=True), create_parser_state(), 0
        for at in range(0, len(text), size):
            state = parse_chunk(state, text[at : at + size])
            writer, patch = writer.write(state)
            sent += len(write_json(patch)) if patch else 0
        sent += len(write_json(writer.finish(state)[1]))
        assert sent < 5 * len(text)
