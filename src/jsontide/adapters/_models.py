"""Chunks and a schema in, partials and finally the validated instance out, sync and async.

Mismatches do not end the stream: what fits goes on growing, and all of them are raised together at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar, cast, overload

from jsontide._errors import JsonStreamError
from jsontide._values import MISSING
from jsontide.adapters._chunks import Chunk, adrive, as_async_chunks, as_chunks, drive
from jsontide.schema import Partial, SchemaError, Status, from_json_ast
from jsontide.tree import create_parser_state, finalize, parse_chunk

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable, Iterator, Mapping

    from jsontide._values import JsonValue
    from jsontide.schema import Policies, Resolution
    from jsontide.schema.options import TypeAdapterLike
    from jsontide.tree import ParserState

Model = TypeVar("Model")


@overload
def stream_model(
    chunks: Chunk | Iterable[Chunk], schema: type[Model], *, policies: Policies | None = None
) -> Generator[Partial[Model] | Model]: ...
@overload
def stream_model(
    chunks: Chunk | Iterable[Chunk], schema: Mapping[str, object], *, policies: Policies | None = None
) -> Generator[Partial[JsonValue] | JsonValue]: ...
@overload
def stream_model(
    chunks: Chunk | Iterable[Chunk], schema: TypeAdapterLike[Model], *, policies: Policies | None = None
) -> Generator[Partial[Model] | Model]: ...
@overload
def stream_model(
    chunks: Chunk | Iterable[Chunk], schema: object, *, policies: Policies | None = None
) -> Generator[object]: ...
def stream_model(
    chunks: Chunk | Iterable[Chunk], schema: object, *, policies: Policies | None = None
) -> Generator[object]:
    """Yield a `Partial` after each chunk that changed what may be shown, and at the end the validated instance.

    A partial is never an instance of the type, so `isinstance` tells the two apart.
    Raises `SchemaError` with every mismatch at the end of a document that does not fit, and `JsonStreamError` when the
    text is wrong or not complete, after yielding what came before.

    >>> schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    >>> for city in stream_model(['{"city": "Kyo', 'to"}'], schema):
    ...     print(city)
    <Partial {'city': 'Kyo'}>
    <Partial {'city': 'Kyoto'}>
    {'city': 'Kyoto'}
    """
    return drive(as_chunks(chunks, "astream_model"), _Stage[object](schema, policies))


@overload
def astream_model(
    chunks: AsyncIterable[Chunk], schema: type[Model], *, policies: Policies | None = None
) -> AsyncGenerator[Partial[Model] | Model]: ...
@overload
def astream_model(
    chunks: AsyncIterable[Chunk], schema: Mapping[str, object], *, policies: Policies | None = None
) -> AsyncGenerator[Partial[JsonValue] | JsonValue]: ...
@overload
def astream_model(
    chunks: AsyncIterable[Chunk], schema: TypeAdapterLike[Model], *, policies: Policies | None = None
) -> AsyncGenerator[Partial[Model] | Model]: ...
@overload
def astream_model(
    chunks: AsyncIterable[Chunk], schema: object, *, policies: Policies | None = None
) -> AsyncGenerator[object]: ...
def astream_model(
    chunks: AsyncIterable[Chunk], schema: object, *, policies: Policies | None = None
) -> AsyncGenerator[object]:
    """Do what `stream_model` does for an asynchronous stream of chunks."""
    return adrive(as_async_chunks(chunks, "stream_model"), _Stage[object](schema, policies))


class _Stage(Generic[Model]):
    """The stage inside the loops: a chunk in, what it changed out."""

    def __init__(self, schema: object, policies: Policies | None) -> None:
        self._schema = schema
        self._policies = policies
        self._state = create_parser_state()
        self._resolution = self._resolve(None)

    def add(self, chunk: Chunk) -> Iterator[Partial[Model]]:
        return self._advance(parse_chunk(self._state, chunk))

    def finish(self) -> Iterator[Partial[Model] | Model]:
        yield from self._advance(finalize(self._state))
        if self._resolution.status is not Status.FINAL:
            raise SchemaError(self._resolution.errors)
        yield cast("Model", self._resolution.model)

    def _advance(self, state: ParserState) -> Iterator[Partial[Model]]:
        self._state = state
        before, self._resolution = self._resolution, self._resolve(self._resolution)
        value = self._resolution.value
        if value is not MISSING and value is not before.value:
            yield Partial(self._resolution)
        if state.error is not None:
            raise JsonStreamError(state.error)

    def _resolve(self, before: Resolution[Model] | None) -> Resolution[Model]:
        found = from_json_ast(self._schema, self._state, before, policies=self._policies)
        return cast("Resolution[Model]", found)
