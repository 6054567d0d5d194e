"""Paths as text: readable, and different for different paths."""

from enum import Enum

import pytest
from hypothesis import given

from jsontide._path import path_text
from tests.oracles import Path
from tests.strategies import near_paths, paths


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), "root"),
        (("users", 2, "email"), "root.users[2].email"),
        (("a.b", 0), 'root["a.b"][0]'),
        (("größe", "日本", "_x1"), "root.größe.日本._x1"),
        (("root", "class"), "root.root.class"),
        (("",), 'root[""]'),
        (("a b", 'say "hi"', "0"), r'root["a b"]["say \"hi\""]["0"]'),
        (("*", "**", "[0]"), 'root["*"]["**"]["[0]"]'),
        (("\x1b[31m", "\n", "\\"), r'root["\u001b[31m"]["\n"]["\\"]'),
        (("😀",), 'root["😀"]'),
    ],
)
def test_a_path_reads_like_an_expression(path: Path, text: str) -> None:
    assert path_text(path) == text


@pytest.mark.parametrize("key", ["\ud800", "a\udc00", "\udc00\ud800"])
def test_a_key_with_lone_surrogates_can_be_encoded(key: str) -> None:
    text = path_text((key,))
    assert text.encode().decode() == text


def test_two_surrogates_are_not_taken_for_the_character_that_they_would_be() -> None:
    assert path_text(("\ud83d\ude00",)) == 'root["\\ud83d\ude00"]'


class Key(str, Enum):  # noqa: UP042 - a `StrEnum` writes its value anyway
    NAME = "name"
    ODD = "odd key"


class Index(int, Enum):
    THIRD = 2


def test_members_of_an_enum_are_written_as_their_values() -> None:
    assert path_text((Key.NAME, Index.THIRD, Key.ODD)) == 'root.name[2]["odd key"]'


@given(paths.flatmap(lambda path: near_paths([path]).map(lambda other: (path, other))))
def test_different_paths_have_different_texts(two: tuple[Path, Path]) -> None:
    path, other = two
    assert (path_text(path) == path_text(other)) == (path == other)
