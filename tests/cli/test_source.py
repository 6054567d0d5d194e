import os
from pathlib import Path

import pytest

from jsontide.cli._input import Sizes, UnreadableError, file_size, read_descriptor, replay

TEXT = '["Zoë", "健二", "🌊"]'.encode() * 50


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "text.json"
    path.write_bytes(TEXT)
    return path


@pytest.mark.parametrize("sizes", [Sizes(1, 1), Sizes(1, 8), Sizes(5, 5), Sizes(10_000, 10_000)])
def test_the_pieces_of_a_file_are_the_file(file: Path, sizes: Sizes) -> None:
    pieces = list(replay(file, sizes, 0))
    assert b"".join(pieces) == TEXT
    assert all(sizes.low <= len(piece) <= sizes.high for piece in pieces[:-1])
    assert pieces[-1]


def test_the_seed_chooses_the_cuts(file: Path) -> None:
    assert list(replay(file, Sizes(1, 8), 1)) == list(replay(file, Sizes(1, 8), 1))
    assert list(replay(file, Sizes(1, 8), 1)) != list(replay(file, Sizes(1, 8), 2))


def test_an_empty_file_has_no_pieces(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert list(replay(tmp_path / "empty", Sizes(1, 8), 0)) == []


def test_what_a_pipe_holds_comes_at_once() -> None:
    reader, writer = os.pipe()
    chunks = read_descriptor(reader, "standard input")
    for part in (b"[", TEXT[:3], b"]"):
        os.write(writer, part)
        assert next(chunks) == part
    os.close(writer)
    assert next(chunks, None) is None
    os.close(reader)


def test_a_place_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=r"cannot read .*missing: No such file"):
        next(replay(tmp_path / "missing", Sizes(1, 8), 0))
    with pytest.raises(UnreadableError, match="Is a directory"):
        next(replay(tmp_path, Sizes(1, 8), 0))
    reader, writer = os.pipe()
    os.close(reader)
    os.close(writer)
    with pytest.raises(UnreadableError, match="cannot read standard input"):
        next(read_descriptor(reader, "standard input"))


def test_only_a_file_has_a_length(file: Path, tmp_path: Path) -> None:
    assert file_size(file) == len(TEXT)
    assert file_size(tmp_path) is None
    assert file_size(tmp_path / "missing") is None
