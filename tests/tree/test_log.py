"""The log: what a fold over nodes reads, against the nodes and the text themselves."""

import pickle
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide import ParserState, create_parser_state, parse_chunk
from jsontide.tree.log import Log, continues, find_position, open_scalar
from jsontide.tree.tape import Container
from tests.cuts import Chunks, cut_randomly, prefixes, singles, states_along
from tests.oracles import line_and_column
from tests.seeded import Tree
from tests.strategies import cut_documents, examples, randoms, texts, trees


def begins(state: ParserState) -> list[int]:
    """Where each node begins, the open scalar included."""
    log = Log(state)
    scalar = open_scalar(state)
    return [*map(log.start_of, range(log.length)), *([] if scalar is None else [scalar.start])]


@examples(1)
@given(cut_documents(texts()))
def test_each_node_begins_with_a_character_of_its_kind(document: tuple[str, Chunks]) -> None:
    _, chunks = document
    firsts = {"null": "n", "boolean": "tf", "number": "-0123456789", "string": '"', "array": "[", "object": "{"}
    for state, prefix in zip(states_along(chunks), prefixes(chunks), strict=True):
        for node, start in zip(state.nodes, begins(state), strict=True):
            assert prefix[start - (node.type == "string")] in firsts[node.type]
            assert find_position(state, start) == line_and_column(prefix, start)


@examples(1)
@given(cut_documents(texts()))
def test_the_log_has_each_closed_value_with_its_key_and_parent(document: tuple[str, Chunks]) -> None:
    _, chunks = document
    for state in states_along(chunks):
        log = Log(state)
        for node in state.nodes[: log.length]:
            entry = log.entries[node.id]
            parent = log.owners[node.id].node_id
            assert (None if parent < 0 else parent) == node.parent_id
            assert isinstance(entry, Container) or entry == node.resolved_value


def test_a_pickled_state_knows_where_its_nodes_begin() -> None:
    for state in states_along(singles('{"a": [1, "x"],\n "b": tru')):
        restored: ParserState = pickle.loads(pickle.dumps(state))  # noqa: S301
        assert begins(restored) == begins(state)
        assert begins(parse_chunk(restored, "1")) == begins(parse_chunk(state, "1"))


@examples(1)
@given(trees())
def test_a_state_goes_on_from_those_that_it_was_fed_from(tree: Tree) -> None:
    before: dict[int, set[int]] = {0: set()}
    for parent, child in tree.edges:
        before[child] = before[parent] | {parent}
    for child, ancestors in before.items():
        assert all(continues(tree.states[child], tree.states[ancestor]) for ancestor in ancestors)


@examples(2)
@given(texts(), randoms, st.booleans())
def test_a_state_goes_on_from_no_state_with_other_nodes(text: str, random: Random, deeper: bool) -> None:  # noqa: FBT001
    """A document that is the same up to some node, and then another value there, a key, or a bracket."""
    place = random.randrange(len(text))
    chunks = cut_randomly(text, random)
    late = states_along(chunks)[-1]
    other = parse_chunk(create_parser_state(), text[:place] + ("[[" if deeper else "  1"))
    mine = [(node.type, node.parent_id, start) for node, start in zip(late.nodes, begins(late), strict=True)]
    theirs = [(node.type, node.parent_id, start) for node, start in zip(other.nodes, begins(other), strict=True)]
    closed = Log(other).length
    if mine[:closed] != theirs[:closed]:
        assert not continues(late, other)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        *(('"', " 1"), ('"', " 1 "), ('"1', " 1.5 "), ('"ab', '"xyz'), ('"ab', '"xyz"'), ('"ab', '"a'), ("tr", "12")),
        *(('{"k": "ab', '{"k": "xyz"}'), ('["a", "b', '["a", "c'), ("1", "tr"), ("nul", "true")),
    ],
)
@pytest.mark.parametrize("floats", ["float", "lexeme"])
def test_a_state_goes_on_from_no_state_with_another_open_scalar(before: str, after: str, floats: Any) -> None:
    start = create_parser_state(floats=floats)
    first, other = parse_chunk(start, before), parse_chunk(create_parser_state(floats=floats), after)
    assert not continues(other, first)
    assert continues(parse_chunk(create_parser_state(floats=floats), before), first)
