"""Values seen through a schema, side by side: the model of the records document, and who can fill it while it grows.

In: a chunk. Out: what a library shows of all the text so far, as an instance or as plain values.
Rule: each is used in the mode that shows most; a side may raise, which is counted by the audit and paid for in time.
"""

from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import import_module
from types import GenericAlias, ModuleType
from typing import Any

from benchmarks.works import Feed, Works

PARTIAL_VALIDATION = "pydantic, partial validation"
AGAIN = "pydantic, optional fields, validated again"
INSTRUCTOR = "instructor Partial"


@cache
def trip(*, optional: bool) -> Any:  # noqa: ANN401
    """The type of the records document, as models; with all fields optional, as people write them to see them grow."""
    pydantic = import_module("pydantic")

    def model(title: str, **fields: Any) -> Any:  # noqa: ANN401
        said = {key: (kind | None, None) if optional else (kind, ...) for key, kind in fields.items()}
        return pydantic.create_model(title, **said)

    position = model("Position", lat=float, lon=float)
    place = model("Place", position=position, open=bool, closed_until=str | None)
    record = model("Record", id=int, name=str, price=float, tags=list[str], note=str, place=place)
    return model("Trip", trip=str, version=int, items=GenericAlias(list, (record,)), done=bool)


def resolved(module: ModuleType) -> Feed:
    """Start a stream of jsontide."""
    schema = trip(optional=False)
    parse_chunk, from_json_ast = module.parse_chunk, module.from_json_ast
    state = module.create_parser_state()
    resolution = from_json_ast(schema, state)

    def feed(chunk: str) -> object:
        nonlocal state, resolution
        state = parse_chunk(state, chunk)
        resolution = from_json_ast(schema, state, resolution.cache)
        return resolution.value

    return feed


def again(validate: Callable[[str], object], before: str) -> Feed:
    buffer = before

    def feed(chunk: str) -> object:
        nonlocal buffer
        buffer += chunk
        return validate(buffer)

    return feed


def pydantic_works(*, optional: bool) -> Works:
    adapter = import_module("pydantic").TypeAdapter(trip(optional=optional))
    validate = partial(adapter.validate_json, experimental_allow_partial="trailing-strings")
    return Works(typed_again=partial(again, validate))


def instructor_works() -> Works:
    import_module("instructor")
    partial_of = import_module("instructor.dsl.partial").Partial[trip(optional=False)]
    return Works(typed_again=partial(instructor_feed, partial_of))


def instructor_feed(partial_of: Any, before: str) -> Feed:  # noqa: ANN401
    """Drive the loop of the library itself, one chunk at a time."""
    waiting: list[str] = []

    def source() -> Iterator[str]:
        while waiting:
            yield waiting.pop()

    found = partial_of.model_from_chunks(source())

    def feed(chunk: str) -> object:
        waiting.append(chunk)
        return next(found)

    if before:
        feed(before)
    return feed


def plain(value: object) -> object:
    """What a side shows, as plain values; what was not set is not shown."""
    dump: Callable[..., object] | None = getattr(value, "model_dump", None)
    return value if dump is None else dump(exclude_unset=True)


def audited_feed(works: Works) -> Feed | None:
    """Start a stream whose feed returns plain values, for a side that sees through schemas."""
    if works.typed is not None:
        feed = works.typed()
    elif works.typed_again is not None:
        feed = works.typed_again("")
    else:
        return None
    return lambda chunk: plain(feed(chunk))
