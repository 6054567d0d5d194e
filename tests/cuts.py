"""All ways to cut a text into chunks, and the two ways to feed them.

In: a text. Out: lists of chunks that join to it, as `str` and as the `bytes` of its UTF-8.
Rule: every test that parses takes its chunks from here, so no behaviour can depend on where a chunk ends.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import accumulate, pairwise
from random import Random
from typing import TypeVar

from jsontide import ParserState, create_parser_state, parse_chunk

Text = TypeVar("Text", str, bytes)
Chunks = Sequence[str] | Sequence[bytes]

FEW = 200
"""Texts up to this length are cut in all ways, longer ones in some."""


def whole(text: Text) -> list[Text]:
    return [text]


def singles(text: Text) -> list[Text]:
    """One character, or one byte, at a time."""
    return sized(text, 1)


def sized(text: Text, size: int) -> list[Text]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def halves(text: Text) -> Iterator[list[Text]]:
    """Every cut in two."""
    for place in range(1, len(text)):
        yield [text[:place], text[place:]]


def cut_at(text: Text, places: Iterable[int]) -> list[Text]:
    """Cut at the given places; a place that is given twice makes an empty chunk."""
    return [text[start:end] for start, end in pairwise([0, *sorted(places), len(text)])]


def cut_randomly(text: Text, random: Random, most: int = 12) -> list[Text]:
    return cut_at(text, [random.randint(0, len(text)) for _ in range(random.randint(0, most))])


def with_empties(chunks: Sequence[Text]) -> list[Text]:
    """An empty chunk before, between and after all others."""
    result = [part for chunk in chunks for part in (chunk[:0], chunk)]
    return result + [chunk[:0] for chunk in chunks[-1:]]


def as_bytes(text: str) -> bytes | None:
    """The UTF-8 of a text; raw surrogates have none."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return None


def ways(text: Text, *, in_two: bool = True) -> Iterator[list[Text]]:
    """Whole, one at a time, fixed sizes, in two unless that is left out, with empty chunks, and at random."""
    yield whole(text)
    yield singles(text)
    if len(text) <= FEW:
        yield with_empties(singles(text))
        yield from (sized(text, size) for size in (2, 3, 5, 7))
        yield from halves(text) if in_two else ()
    random = Random(len(text))
    for _ in range(3):
        yield cut_randomly(text, random)


def every(text: str) -> Iterator[Chunks]:
    """All ways to cut a text, as `str` and, where it has one, as its UTF-8.

    ASCII is cut in two as `str` only: each half of its bytes would be decoded to what the same half of `str` was.
    """
    yield from ways(text)
    data = as_bytes(text)
    if data is not None:
        yield from ways(data, in_two=not text.isascii())


def few(text: str) -> Iterator[Chunks]:
    """Three cuts each, for texts too long for more."""
    yield from large(text)
    data = as_bytes(text)
    if data is not None:
        yield from large(data)


def large(text: Text) -> list[list[Text]]:
    return [whole(text), sized(text, 4099), sized(text, 997)]


def fed(chunks: Iterable[str] | Iterable[bytes], state: ParserState | None = None) -> ParserState:
    """The state after all chunks."""
    return reduce(parse_chunk, chunks, create_parser_state() if state is None else state)


def states_along(chunks: Iterable[str] | Iterable[bytes], state: ParserState | None = None) -> list[ParserState]:
    """The state before the first chunk and after each."""
    start = create_parser_state() if state is None else state
    return list(accumulate(chunks, parse_chunk, initial=start))


def prefixes(chunks: Chunks) -> Iterator[str]:
    """The text before the first chunk and after each; half a UTF-8 sequence at the end does not count."""
    done: str | bytes = ""
    yield ""
    for chunk in chunks:
        done = done + chunk if done else chunk  # type: ignore[operator]
        yield done if isinstance(done, str) else done.decode("utf-8", "ignore")
