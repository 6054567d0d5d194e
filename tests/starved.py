"""One side of `test_surroundings`: a program in which single allocations fail, each in a process of its own.

A scene is a number of calls, one after the other.
Before each call the process is forked again and again: in the first child the first allocation of the call fails, in
the next one the second, until none is left to fail.
A child makes a call that raised `MemoryError` once more and plays the scene to its end; all results must be those of a
scene in which nothing failed.
It prints a line for each child that ended differently, and finally how many calls raised.

What the documentation excepts is left out: texts are short, because Python already has the integers up to 256, and
there are freed tuples, which Python keeps for the next ones of their length.
"""

import gc
import os
import sys
from collections.abc import Callable, Generator
from functools import partial
from importlib import import_module
from typing import Any, TypeAlias

from jsontide import JsonFragmentAccumulator, Limits, create_parser_state, finalize, parse_chunk
from jsontide.events import JsonFragmentUpdate, feed_events, finish_events, start_events
from jsontide.schema import from_json_ast
from jsontide.snapshots import feed_snapshots, finish_snapshots, start_snapshots

memory: Any = import_module("_testcapi")  # which type checkers do not know

Scene: TypeAlias = Generator[Callable[[], Any], Any, None]

TEXT = """{"a": [1, -2.5e3, 12345678901234567890123, true, null, {"b": {}}],
 "text": "caf\u00e9 \\n \\u00e9", "a": 3, "more": {"c": [[], "x", 250]}, "last": "grows and grows"}"""
PIECES = [TEXT[at : at + 13] for at in range(0, len(TEXT), 13)]
WRONG = (
    '{"a": [1, trx',
    "[1 2",
    '{"a" 1',
    '["\\x',
    "[[[[[[",
    "[1e99999999999999999999]",
    '{"a":\n\n 01}',
    '"\x01"',
    "1 2",
)
SNAPSHOTS = ('{"a": ["x"]}', '{"a": ["xy", 1, {"b": "", "c": "d"}], "e": 2.50}', '{"a": 5, "f": "g", "e": 2.50}')
OPEN = (
    '{"a": [1, ',
    '{"b": 2}, "x',
    'y", 3',
    '], "n": 1.5, "more": {"c": [[], ',
    '"x"]}, ',
    '"last": "gro',
    "ws and",
    " shrinks",
)
SCHEMA = {
    "properties": {
        "a": {"anyOf": [{"type": "array", "items": {"type": ["number", "boolean", "null"]}}, {"type": "integer"}]},
        "more": {"properties": {"c": {"maxItems": 1}}, "required": ["d"]},
        "last": {"enum": ["grows", "grows and grows"]},
    }
}

RIGHT, RAISED, DIFFERENT, FAILED = range(4)
PATIENCE = 6
"""Failures in a row that a call did not notice; then it makes no more allocations."""
MOST = 2_000
"""Allocations of one call; more would mean that it ends wrongly whatever fails."""


def tree() -> Scene:
    state = yield create_parser_state
    for piece in PIECES:
        state = yield partial(parse_chunk, state, piece)
        yield partial(getattr, state, "value")
    state = yield partial(finalize, state)
    yield partial(getattr, state, "value")


def held() -> Scene:
    """All values are held to the end, and older states are fed and read again."""
    state = yield create_parser_state
    values = []
    for piece in map("".join, zip(PIECES[::2], PIECES[1::2], strict=False)):
        before = state
        state = yield partial(parse_chunk, state, piece.encode())
        values.append((yield partial(getattr, state, "value")))
        other = yield partial(parse_chunk, before, b" ")
        yield partial(getattr, other, "value")
    yield partial(list, values)


def wrong() -> Scene:
    for text in WRONG:
        state = yield partial(create_parser_state, limits=Limits(max_depth=4))
        state = yield partial(parse_chunk, state, text)
        state = yield partial(finalize, state)
        yield partial(getattr, state, "error")


def paths(updates: list[JsonFragmentUpdate]) -> list[str]:
    return [update.path for update in updates]


def events() -> Scene:
    state = yield partial(start_events, skip_errors=True, documents=None)
    for piece in [*PIECES, *WRONG]:
        state, updates = yield partial(feed_events, state, piece)
        yield partial(paths, updates)
    yield partial(finish_events, state)


def subscriptions() -> Scene:
    """An accumulator that is broken off only says so: another one begins again."""

    def read() -> list[object]:
        found: list[object] = []
        accumulator = JsonFragmentAccumulator()
        accumulator.on("a[*]", found.append)
        accumulator.on("more", found.append)
        accumulator.on("last", found.append, deltas=True)
        return [[accumulator.add_fragment(piece) for piece in PIECES], found]

    yield read


def snapshots() -> Scene:
    state = yield partial(start_snapshots, on_conflict="repair")
    for snapshot in SNAPSHOTS:
        state, _ = yield partial(feed_snapshots, state, snapshot)
    yield partial(finish_snapshots, state)


def nested(word: str) -> str:
    """A text that is deeper than the number of freed tuples that there are."""
    return '{"a": ' * 52 + f'"{word}"' + ', "b": "c"}' * 52


def levels() -> Scene:
    """At each level of a snapshot it is asked which of the members has changed."""
    state, _ = feed_snapshots(start_snapshots(on_conflict="repair"), nested("x"))
    state, _ = yield partial(feed_snapshots, state, nested("xy"))
    yield partial(finish_snapshots, state)


def schema() -> Scene:
    """What a schema shows of an open document: the packages that have the last word on a closed one do not survive."""
    state = create_parser_state()
    resolution = from_json_ast(SCHEMA, state)
    for piece in OPEN:
        state = parse_chunk(state, piece)
        resolution = yield partial(from_json_ast, SCHEMA, state, resolution)
        yield partial(getattr, resolution, "value")
        yield partial(getattr, resolution, "errors")


SCENES = {scene.__name__: scene for scene in (tree, held, wrong, events, subscriptions, snapshots, levels, schema)}


def play(scene: Scene, call: Callable[[], Any], results: list[str]) -> None:
    """Make a call of a scene and all that follow it; note the results."""
    while True:
        result = call()
        results.append(repr(result))
        try:
            call = scene.send(result)
        except StopIteration:
            return


def play_starved(scene: Scene, call: Callable[[], Any], failing: int, expected: list[str]) -> int:
    """Do the same, where an allocation of the first call fails; return what came of it."""
    code = RIGHT
    stock = [(*range(length),) for length in range(1, 4) for _ in range(50)]
    del stock
    memory.set_nomemory(failing, failing + 1)
    try:
        result = call()
        memory.remove_mem_hooks()
    except MemoryError:
        memory.remove_mem_hooks()
        code = RAISED
        result = call()
    results: list[str] = []
    play(scene, lambda: result, results)
    return code if results == expected else DIFFERENT


def in_child(act: Callable[[], int]) -> int:
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = FAILED
    try:
        code = act()
    finally:
        os._exit(code)


def starve(scene: Scene, expected: list[str]) -> int:
    """Play a scene, each call after children that starve it; return how many of those have raised."""
    raised = 0
    call = next(scene)
    for at in range(len(expected)):
        failing = unnoticed = 0
        while unnoticed < PATIENCE and failing < MOST:
            code = in_child(partial(play_starved, scene, call, failing, expected[at:]))
            if code in {RIGHT, RAISED}:
                unnoticed = 0 if code == RAISED else unnoticed + 1
                raised += code == RAISED
            else:
                unnoticed = 0
                sys.stdout.write(f"call {at}, allocation {failing}: {call} ended with {code}\n")
            failing += 1
        result = call()
        if at < len(expected) - 1:
            call = scene.send(result)
    return raised


def main(name: str) -> None:
    expected: list[str] = []
    for _ in range(2):  # what is made once only is made
        expected.clear()
        scene = SCENES[name]()
        play(scene, next(scene), expected)
    gc.collect()
    gc.disable()
    sys.stdout.write(f"{starve(SCENES[name](), expected)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
