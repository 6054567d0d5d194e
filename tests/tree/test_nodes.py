"""Nodes: one for every value, by id in order of opening."""

import copy
import pickle
from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise
from random import Random
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide import Limits, ParserState, create_parser_state, parse_chunk
from jsontide.tree import ArrayNode, BooleanNode, Node, NullNode, NumberNode, ObjectNode, StringNode
from tests.cuts import Chunks, every, fed, few, prefixes, states_along, ways
from tests.oracles import Hook, first_wins, nodes
from tests.relations import facts, same_nodes
from tests.strategies import cut_documents, examples, randoms, texts

KINDS = {
    "null": NullNode,
    "boolean": BooleanNode,
    "number": NumberNode,
    "string": StringNode,
    "array": ArrayNode,
    "object": ObjectNode,
}
TEXT = '{"a":[1,"x",{}],"a":null,"":-2.5e1,"c":{"d":[true,false]}}'


@examples(2)
@given(cut_documents(texts()))
def test_after_every_chunk_the_nodes_are_those_of_the_text(document: tuple[str, Chunks]) -> None:
    _, chunks = document
    for state, prefix in zip(states_along(chunks), prefixes(chunks), strict=True):
        assert same_nodes([facts(node) for node in state.nodes], nodes(prefix))


@examples(1)
@given(cut_documents(texts(repeat_keys=True)), st.sampled_from(["last", "first"]))
def test_duplicate_keys_have_nodes_each(document: tuple[str, Chunks], policy: Any) -> None:
    _, chunks = document
    hook: Hook = dict if policy == "last" else first_wins
    states = states_along(chunks, create_parser_state(duplicate_keys=policy))
    for state, prefix in zip(states, prefixes(chunks), strict=True):
        assert same_nodes([facts(node) for node in state.nodes], nodes(prefix, hook))


@examples(1)
@given(cut_documents(texts()))
def test_ids_stack_and_root_tell_of_the_same_nodes(document: tuple[str, Chunks]) -> None:
    _, chunks = document
    for state in states_along(chunks):
        made = state.nodes
        assert [node.id for node in made] == list(range(len(made)))
        assert state.next_id == len(made)
        assert state.root_id == (0 if made else None)
        assert state.root is (made[0] if made else None)
        containers = [n for n in made if isinstance(n, ArrayNode | ObjectNode)]
        assert state.stack == tuple(node.id for node in containers if not node.closed)


@examples(1)
@given(cut_documents(texts()))
def test_the_value_of_a_container_node_is_the_object_in_the_value(
    document: tuple[str, Chunks],
) -> None:
    _, chunks = document
    for state in states_along(chunks):
        if isinstance(state.root, ArrayNode | ObjectNode):
            assert state.root.resolved_value is state.value
        for node in state.nodes:
            for child, item in members(node, state.nodes):
                assert child.resolved_value is item
                assert child.parent_id == node.id


def members(node: Node, made: Any) -> list[tuple[Node, Any]]:
    """The visible children of a container that are containers, with what the container holds there."""
    value: Any = node.resolved_value
    match node:
        case ArrayNode():
            pairs = list(zip(node.children, value, strict=False))
        case ObjectNode():
            pairs = [(child, value[key]) for key, child in zip(node.keys, node.children, strict=True) if key in value]
        case _:
            pairs = []
    return [(made[child], item) for child, item in pairs if isinstance(item, list | dict)]


ALONE = [
    *("  ", "n", "null", "t", "f", "false", "-", "-1", "1.5", "1.5 ", "1.50E+0", "1.50E+0 ", '"', "[", "{", '"a"'),
    *('"a\\n\\u00e9', '"a\\ud83d', '"a\\ud83d"'),
]
HIDDEN = ['{"a":1,"a":"x', '{"a":1,"a":["x', '{"a":1,"a":{"b":[2],"c":"x', '{"a":"y","a":"', '{"a":1,"a":[2]}']
OF_KEYS = ['{"a"', '{"a":', '{"a":1', '{"a":"', '{"a":[']


@pytest.mark.parametrize("text", [*ALONE, *HIDDEN, *OF_KEYS])
def test_a_node_exists_from_its_first_character_on(text: str) -> None:
    for chunks in every(text):
        state = fed(chunks)
        assert same_nodes([facts(node) for node in state.nodes], nodes(text))
        assert all(type(node) is KINDS[node.type] for node in state.nodes)
        state = fed(chunks, create_parser_state(duplicate_keys="first"))
        assert same_nodes([facts(node) for node in state.nodes], nodes(text, first_wins))


def test_the_buffer_of_a_long_int_is_its_lexeme() -> None:
    lexeme = "-1" + "0" * 20_000
    for chunks in few(f"[{lexeme}]"):
        node = fed(chunks, create_parser_state(limits=Limits(max_number=50_000))).nodes[1]
        assert isinstance(node, NumberNode)
        assert node.buffer == lexeme


@pytest.mark.parametrize(("floats", "value"), [("decimal", Decimal("1.50")), ("lexeme", "1.50")])
def test_a_number_node_resolves_to_what_the_value_holds(floats: Any, value: Any) -> None:
    for chunks in every("[1.50]"):
        node = fed(chunks, create_parser_state(floats=floats)).nodes[1]
        assert (node.type, node.resolved_value) == ("number", value)
        assert type(node.resolved_value) is type(value)


@pytest.mark.parametrize("chunk", [" ", "\n\t", ",", ', "k', ', "key"', ', "key":', ', "key" : '])
def test_a_chunk_that_changes_nothing_keeps_all_nodes(chunk: str) -> None:
    before = fed([TEXT[:-1]])
    made = list(before.nodes)
    after = parse_chunk(before, chunk)
    assert all(one is other for one, other in zip(made, after.nodes, strict=True))


@examples(1)
@given(cut_documents(texts()))
def test_what_was_closed_keeps_its_node(document: tuple[str, Chunks]) -> None:
    _, chunks = document
    states = states_along(chunks)
    for old, new in pairwise(states):
        for one, other in zip(old.nodes, new.nodes, strict=False):
            assert one is other or not same_nodes([facts(one)], [facts(other)])


@examples(1)
@given(cut_documents(texts()), randoms)
def test_nodes_that_somebody_has_are_given_again_in_any_order(document: tuple[str, Chunks], random: Random) -> None:
    chunks: Any = document[1]
    states = states_along(chunks)
    states += [parse_chunk(random.choice(states), chunk) for chunk in random.choices(chunks, k=min(2, len(chunks)))]
    read: list[tuple[ParserState, list[Node]]] = []
    for state in random.choices(states, k=6):
        nodes = list(state.nodes)
        for other, earlier in read:
            for one, again in zip(nodes, earlier, strict=False):
                if state is other or (state._tape is other._tape and same_nodes([facts(one)], [facts(again)])):
                    assert one is again
        read.append((state, nodes))


def test_reading_the_nodes_late_gives_the_nodes_of_that_moment() -> None:
    for chunks in every(TEXT):
        moments = list(zip(states_along(chunks), prefixes(chunks), strict=True))
        for state, prefix in reversed(moments):
            assert same_nodes([facts(node) for node in state.nodes], nodes(prefix))


def test_nodes_are_an_immutable_sequence() -> None:
    made: Any = fed([TEXT]).nodes
    assert len(made) == len(list(made)) == 11
    assert made[0].type == "object"
    assert made[-1] is made[10]
    assert list(made[1:3]) == [made[1], made[2]]
    assert list(made[::-1])[0] is made[10]  # noqa: RUF015
    assert made[3] in made
    assert made.index(made[3]) == 3
    assert list(reversed(made)) == list(made)[::-1]
    with pytest.raises(IndexError):
        made[11]
    with pytest.raises(IndexError):
        made[-12]
    with pytest.raises(TypeError):
        made["0"]
    with pytest.raises(TypeError):
        made[0] = None
    with pytest.raises(AttributeError):
        made.append(None)


@pytest.mark.parametrize("at", range(11))
def test_a_node_cannot_be_changed(at: int) -> None:
    node: Any = fed([TEXT]).nodes[at]
    for name in ("id", "type", "closed", "resolved_value", "buffer", "children", "other"):
        with pytest.raises((AttributeError, TypeError)):
            setattr(node, name, 1)


def test_equal_nodes_are_equal() -> None:
    assert list(fed([TEXT]).nodes) == list(fed([TEXT]).nodes)
    assert list(fed(["[1]"]).nodes) != list(fed(["[2]"]).nodes)


def test_nodes_follow_their_branch() -> None:
    start = fed(["[1,"])
    number, string = parse_chunk(start, "23"), parse_chunk(start, '"x"')
    assert [node.type for node in number.nodes] == ["array", "number", "number"]
    assert [node.type for node in string.nodes] == ["array", "number", "string"]
    assert start.next_id == 2
    assert [node.type for node in start.nodes] == ["array", "number"]


def test_a_container_lists_its_children_as_they_were_however_late_it_is_asked() -> None:
    for chunks in ways('{"a": [1, 2'):
        state = fed(chunks)
        later = fed([', 3], "b": 4}'], state)
        root, array = state.nodes[0], state.nodes[1]
        assert later.is_complete
        assert isinstance(root, ObjectNode)
        assert isinstance(array, ArrayNode)
        assert (root.keys, root.children, array.children) == (("a",), (1,), (2, 3))


def test_a_container_that_is_copied_pickled_or_compared_has_its_children() -> None:
    def pickled(node: Node) -> Node:
        return cast("Node", pickle.loads(pickle.dumps(node)))  # noqa: S301 - our own

    made: Callable[[Node], Node]
    for made in (copy.copy, copy.deepcopy, pickled):
        node = fed(['{"a": [1], "b": "x']).nodes[0]
        again = made(node)
        assert again == node
        assert repr(again) == repr(node)
        assert again == ObjectNode(
            0, None, closed=False, resolved_value={"a": [1], "b": "x"}, keys=("a", "b"), children=(1, 3)
        )
        assert not hasattr(again, "other")
