"""One side of `test_surroundings`: a program that holds values while something meddles with counting references.

names      a tracer reads the local names of every frame of the library
objects    it keeps what these names stood for
leaks      where a function of it is called for the first time, all lists are kept, as by a tool that looks for leaks
uncounted  the library takes this for a Python whose threads run at the same time, where counts mean nothing

The second argument is when: while the library is imported, while it is used, or always.
It prints a line for each value that changed while it was held, and finally how many were held.
"""

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from json import dumps
from random import Random
from types import CodeType, FrameType
from typing import Any

SCHEMA = {"properties": {"a": {"type": ["array", "object"]}}}
kept: list[object] = []
seen: set[CodeType] = set()


def names(frame: FrameType) -> None:
    frame.f_locals  # noqa: B018 - up to Python 3.12 the frame refers to all of them once more from now on


def objects(frame: FrameType) -> None:
    kept.append(list(frame.f_locals.values()))
    del kept[:-100]


def leaks(frame: FrameType) -> None:
    if frame.f_code not in seen:
        seen.add(frame.f_code)
        # Python itself does not stand it that tuples are held while they are made.
        kept[:] = [each for each in gc.get_objects() if isinstance(each, list)]


LOOKS: dict[str, Callable[[FrameType], object]] = {"names": names, "objects": objects, "leaks": leaks}


@contextmanager
def tracing(look: Callable[[FrameType], object]) -> Iterator[None]:
    def trace(frame: FrameType, _: str, __: object) -> Any:
        # Only of functions: when a tracer reads the names of a module, Python 3.12 loses those of its comprehensions.
        if "jsontide" not in frame.f_code.co_filename or frame.f_code.co_name == "<module>":
            return None
        look(frame)
        return trace

    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(None)


def document(random: Random, depth: int) -> Any:
    kind = random.randrange(4 if depth else 2)
    if kind == 0:
        return random.choice([1, None, True, "", "short"])
    if kind == 1:
        return "long " * random.choice([1, 500, 1000])
    items = [document(random, depth - 1) for _ in range(random.randrange(4))]
    return items if kind == 2 else {f"k{at}": item for at, item in enumerate(items)}


def part(random: Random, value: Any) -> Any:
    """Some value in a value, or that itself; most often of the open end."""
    while value and isinstance(value, list | dict) and random.random() < 0.8:
        inside = list(value.values()) if isinstance(value, dict) else value
        value = inside[-1] if random.random() < 0.7 else random.choice(inside)
    return value


def read_and_hold(random: Random, held: list[tuple[Any, str]]) -> int:
    """Read a document in pieces, also by a schema; hold parts of what is seen, and let go of some; return how many."""
    jsontide = import_module("jsontide")
    count = 0
    text = dumps({"a": [document(random, 4) for _ in range(3)]})
    state, resolution = jsontide.create_parser_state(), None
    at = 0
    while at < len(text):
        size = random.choice([1, 5, 200, 800])
        state = jsontide.parse_chunk(state, text[at : at + size])
        at += size
        if random.random() < 0.5 and at < len(text):
            resolution = jsontide.schema.from_json_ast(SCHEMA, state, resolution)
        source = state if resolution is None or random.random() < 0.5 else resolution
        if random.random() < 0.6 and source.value is not jsontide.MISSING:
            value = part(random, source.value)
            held.append((value, dumps(value)))
            count += 1
        if held and random.random() < 0.4:
            report_change(*held.pop(random.randrange(len(held))))
    assert dumps(state.value) == text
    return count


def report_change(value: Any, saved: str) -> None:
    if dumps(value) != saved:
        sys.stdout.write(f"was {saved[:60]}, is {dumps(value)[:60]}\n")


def main(meddling: str, when: str) -> None:
    if meddling == "uncounted":
        setattr(sys, "_is_gil_enabled", lambda: False)  # noqa: B010 - which not every version has
    look = LOOKS.get(meddling, id)
    with tracing(look) if when in {"import", "always"} else nullcontext():
        import_module("jsontide.schema")
    held: list[tuple[Any, str]] = []
    with tracing(look) if when in {"use", "always"} else nullcontext():
        count = sum(read_and_hold(Random(seed), held) for seed in range(25))
    for value, saved in held:
        report_change(value, saved)
    sys.stdout.write(f"{count}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
