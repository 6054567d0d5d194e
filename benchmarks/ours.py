"""jsontide as a side: the same loop for both builds."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import ModuleType

from benchmarks import builds
from benchmarks.works import Feed, Side, Works

COMPILED = "jsontide, compiled"
PURE = "jsontide, pure Python"


def sides(directory: Path | None) -> tuple[Side, Side]:
    """Both builds; the compiled one from a directory, or built from the sources."""
    return (
        Side(COMPILED, (), lambda: works(builds.compiled(directory))),
        Side(PURE, (), lambda: works(builds.pure())),
    )


def works(module: ModuleType) -> Works:
    return Works(
        read=partial(read, module),
        keeps_values=True,
        unread=partial(unread, module),
        whole=partial(whole, module),
        module=module,
    )


def read(module: ModuleType) -> Feed:
    state, parse_chunk = module.create_parser_state(), module.parse_chunk

    def feed(chunk: str) -> object:
        nonlocal state
        state = parse_chunk(state, chunk)
        return state.value

    return feed


def unread(module: ModuleType) -> Feed:
    state, parse_chunk = module.create_parser_state(), module.parse_chunk

    def feed(chunk: str) -> None:
        nonlocal state
        state = parse_chunk(state, chunk)

    return feed


def whole(module: ModuleType, chunks: Sequence[str]) -> object:
    state, parse_chunk = module.create_parser_state(), module.parse_chunk
    for chunk in chunks:
        state = parse_chunk(state, chunk)
    return module.finalize(state).value
