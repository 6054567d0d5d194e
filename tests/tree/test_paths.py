"""`node_at` and `is_open`: from a path to what stands there."""

from typing import Any

import pytest
from hypothesis import given

from jsontide import ParserState, PathSyntaxError, create_parser_state, is_open
from jsontide._path import path_text
from jsontide.tree import ArrayNode, Node, ObjectNode, node_at
from tests.cuts import Chunks, every, fed, states_along
from tests.oracles import Path
from tests.strategies import cut_documents, texts

TEXT = '{"a":[1,{"b":"x"},[]],"":{"0":null},"s":"ab'


@pytest.mark.parametrize(
    ("path", "kind", "is_still_open"),
    [
        ((), "object", True),
        (("a",), "array", False),
        (("a", 0), "number", False),
        (("a", 1), "object", False),
        (("a", 1, "b"), "string", False),
        (("a", 2), "array", False),
        (("",), "object", False),
        (("", "0"), "null", False),
        (("s",), "string", True),
    ],
)
def test_a_path_leads_to_its_node(path: Path, kind: str, is_still_open: bool) -> None:  # noqa: FBT001
    for chunks in every(TEXT):
        state = fed(chunks)
        node = node_at(state, path)
        assert node is not None
        assert node is state.nodes[node.id]
        assert node.type == kind
        assert is_open(state, path) is is_still_open
        for spelling in (path_text(path), list(path)):
            assert node_at(state, spelling) is node
            assert is_open(state, spelling) is is_still_open


@pytest.mark.parametrize(
    "path",
    [
        ("b",),
        ("b", 0, "x"),
        (0,),
        ("a", 3),
        ("a", "0"),
        ("a", 0, 0),
        ("a", 1, 0),
        ("", 0),
        ("s", 0),
        ("s", "x"),
        ("a", 2, 0),
    ],
)
def test_where_nothing_is_there_is_no_node(path: Path) -> None:
    for chunks in every(TEXT):
        state = fed(chunks)
        assert node_at(state, path) is None
        assert is_open(state, path) is False


def test_before_the_root_there_is_nothing() -> None:
    assert node_at(create_parser_state(), ()) is None
    assert is_open(create_parser_state(), ()) is False


@pytest.mark.parametrize("text", ["[1", '{"a":tr', "[[0]", "1"])
def test_an_open_number_or_word_has_a_node_before_it_is_visible(text: str) -> None:
    paths: dict[str, Path] = {"[": (0,), "{": ("a",), "1": ()}
    path = paths[text[0]]
    for chunks in every(text):
        state = fed(chunks)
        assert node_at(state, path) is not None
        assert is_open(state, path) is (text != "[[0]")


def test_of_equal_keys_the_path_means_the_one_whose_value_is_shown() -> None:
    for chunks in every('{"a":1,"a":[2],"b":0'):
        last = fed(chunks)
        first = fed(chunks, create_parser_state(duplicate_keys="first"))
        assert resolved(node_at(last, ("a",))) == [2]
        assert resolved(node_at(first, ("a",))) == 1
        assert resolved(node_at(last, ("a", 0))) == 2
        assert node_at(first, ("a", 0)) is None


def resolved(node: Node | None) -> Any:
    assert node is not None
    return node.resolved_value


NO_PATHS: dict[tuple[type[Exception], str], tuple[Any, ...]] = {
    (TypeError, "a path must"): (None, 0, b"a", {"a"}, (None,), ("a", 1.0), ([],), ("a", True)),
    (PathSyntaxError, "expected"): ("", "a..b", "a[", "a[-1]", ("a", -1)),
    (ValueError, "may lead to many"): ("a[*]", "*", "**.b", "a[0:1]"),
}


@pytest.mark.parametrize(
    ("wrong", "error", "said"), [(path, *why) for why, paths in NO_PATHS.items() for path in paths]
)
def test_what_is_no_path_is_refused(wrong: Any, error: type[Exception], said: str) -> None:
    for function in (node_at, is_open):
        with pytest.raises(error, match=said):
            function(fed([TEXT]), wrong)


@given(cut_documents(texts()))
def test_every_node_is_found_at_its_path(document: tuple[str, Chunks]) -> None:
    _, chunks = document
    for state in states_along(chunks)[-3:]:
        for path, node in located(state):
            assert node_at(state, path) is node
            assert is_open(state, path) is not node.closed


def located(state: ParserState) -> list[tuple[Path, Node]]:
    """All nodes with their paths, by way of the ids of their parents."""
    result: list[tuple[Path, Node]] = []
    todo: list[tuple[Path, Node]] = [((), state.root)] if state.root is not None else []
    while todo:
        path, node = todo.pop()
        result.append((path, node))
        match node:
            case ArrayNode():
                segments: list[Any] = list(range(len(node.children)))
            case ObjectNode():
                segments = list(node.keys)
            case _:
                continue
        pairs = zip(segments, node.children, strict=True)
        todo += [((*path, segment), state.nodes[child]) for segment, child in pairs]
    return result
