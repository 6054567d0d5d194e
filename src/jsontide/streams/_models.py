"""A source and a schema in, partials and finally the validated instance out, sync and async.

Mismatches do not end the stream: what fits goes on growing, and all of them are raised together at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast, overload

from jsontide._values import MISSING, Chunk
from jsontide.messages import MessageConfig
from jsontide.messages.options import check_names
from jsontide.providers.stream_reader import StreamReader, start_stream
from jsontide.schema import Partial, SchemaError, SchemaMismatch, Status, from_json_ast, shape_of
from jsontide.streams._messages import DocumentChoices
from jsontide.streams._text import ParsingStage, mended, sniff_chunks
from jsontide.streams.sources import adrive, as_items, check_async, drive
from jsontide.tree import create_parser_state

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, Callable, Generator, Iterable, Iterator, Mapping
    from typing import Unpack

    from jsontide._values import JsonValue
    from jsontide.mend import Repair
    from jsontide.schema.options import TypeAdapterLike
    from jsontide.streams.sources import LoopStage
    from jsontide.tree import ParserState

Model = TypeVar("Model")
_Source: TypeAlias = "Chunk | Iterable[Chunk] | Iterable[object]"


class ModelChoices(DocumentChoices, total=False):
    """The options of `stream_model`, as keyword arguments."""

    on_repair: Callable[[Repair], object] | None


@overload
def stream_model(
    source: _Source, schema: type[Model], **options: Unpack[ModelChoices]
) -> Generator[Partial[Model] | Model]: ...
@overload
def stream_model(
    source: _Source, schema: Mapping[str, object], **options: Unpack[ModelChoices]
) -> Generator[Partial[JsonValue] | JsonValue]: ...
@overload
def stream_model(
    source: _Source, schema: TypeAdapterLike[Model], **options: Unpack[ModelChoices]
) -> Generator[Partial[Model] | Model]: ...
@overload
def stream_model(source: _Source, schema: object, **options: Unpack[ModelChoices]) -> Generator[object]: ...
def stream_model(source: _Source, schema: object, **options: Unpack[ModelChoices]) -> Generator[object]:
    """Yield a `Partial` after each item that changed what may be shown, and at the end the validated instance.

    `source` has the JSON text itself, cut anywhere, or what `stream_message` takes: the events of a provider's client,
    or the server-sent events of its response as bytes; then the answer of the message is read.
    A partial is never an instance of the type, so `isinstance` distinguishes the two.
    `policies` maps path patterns to `Stream()`, `Done()` or `Gate()`; `trailing="ignore"` ends at the end of the JSON.
    With `mend`, bad JSON is mended as `jsontide.mend` says, and `on_repair` is called with each repair as it happens.
    Text is taken for server-sent events only if it begins with a whole field, such as `data:`, or with the colon of a
    comment; anything else, such as "Here is the answer", is JSON, or text to mend.
    Raises `SchemaError` with every mismatch at the end of a document that does not fit, `JsonStreamError` when the text
    is wrong or not complete, and `MessageError` when a provider's message did not end as it should, after yielding what
    came before.

    >>> schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    >>> for city in stream_model(['{"city": "Kyo', 'to"}'], schema):
    ...     print(city)
    <Partial {'city': 'Kyo'}>
    <Partial {'city': 'Kyoto'}>
    {'city': 'Kyoto'}
    """
    return drive(as_items(source, "astream_model"), _ModelStage(schema, options))


@overload
def astream_model(
    source: AsyncIterable[object], schema: type[Model], **options: Unpack[ModelChoices]
) -> AsyncGenerator[Partial[Model] | Model]: ...
@overload
def astream_model(
    source: AsyncIterable[object], schema: Mapping[str, object], **options: Unpack[ModelChoices]
) -> AsyncGenerator[Partial[JsonValue] | JsonValue]: ...
@overload
def astream_model(
    source: AsyncIterable[object], schema: TypeAdapterLike[Model], **options: Unpack[ModelChoices]
) -> AsyncGenerator[Partial[Model] | Model]: ...
@overload
def astream_model(
    source: AsyncIterable[object], schema: object, **options: Unpack[ModelChoices]
) -> AsyncGenerator[object]: ...
def astream_model(
    source: AsyncIterable[object], schema: object, **options: Unpack[ModelChoices]
) -> AsyncGenerator[object]:
    """Do what `stream_model` does for an asynchronous source."""
    check_async(source, "chunks must be an asynchronous iterable of str or bytes, or of events", "stream_model")
    return adrive(source, _ModelStage(schema, options))


class _ModelStage:
    """Reads text as a document and a provider's events as a message; the first item, or more, shows which they are."""

    def __init__(self, schema: object, options: ModelChoices) -> None:
        check_names(options, ModelChoices)
        self._on_repair = options.pop("on_repair", None)
        # Made before anything is read, for errors about the options.
        self._config = MessageConfig(response_schema=schema, **cast("DocumentChoices", options))
        mend = self._config.mend
        shape = None if mend is None else shape_of(schema)
        self._text = mended(_DocumentStage(self._config), mend, self._on_repair, shape)
        self._inner: LoopStage[Any, object] | None = None
        self._waiting: list[Chunk] = []
        """Chunks that came before the form of the source was certain."""

    @property
    def is_over(self) -> bool:
        return self._inner is not None and self._inner.is_over

    def add(self, item: object) -> Iterator[object]:
        if self._inner is None:
            self._inner = self._choose(item)
            if self._inner is None:
                return
            for chunk in self._waiting:
                yield from self._inner.add(chunk)
        yield from self._inner.add(item)

    def finish(self) -> Iterator[object]:
        if self._inner is None:
            self._inner = self._text
            for chunk in self._waiting:
                yield from self._inner.add(chunk)
        yield from self._inner.finish()

    def _choose(self, item: object) -> LoopStage[Any, object] | None:
        if not isinstance(item, Chunk):
            return _EventStage(self._config, self._on_repair)
        form = sniff_chunks((*self._waiting, item))
        if form is None:
            self._waiting.append(item)
            return None
        return _EventStage(self._config, self._on_repair) if form in {"events", "frames"} else self._text


class _DocumentStage(ParsingStage[object]):
    """Shows what a schema makes of a JSON document."""

    def __init__(self, config: MessageConfig) -> None:
        super().__init__(create_parser_state(limits=config.limits, trailing=config.trailing))
        self._schema, self._policies = config.response_schema, config.policies
        self._resolution = from_json_ast(self._schema, self._state, policies=self._policies)

    def finish(self) -> Iterator[object]:
        yield from super().finish()
        if self._resolution.status is not Status.FINAL:
            raise SchemaError(self._resolution.errors)
        yield self._resolution.model

    def _show(self, _: ParserState, /) -> tuple[object, ...]:
        before = self._resolution
        self._resolution = from_json_ast(self._schema, self._state, before, policies=self._policies)
        value = self._resolution.value
        return () if value is MISSING or value is before.value else (Partial(self._resolution),)


class _EventStage:
    """Shows the answer in the messages that `stream_message` reads."""

    def __init__(self, config: MessageConfig, on_repair: Callable[[Repair], object] | None) -> None:
        self._reader = StreamReader(start_stream(config))
        self._shown: object = MISSING
        self._on_repair = on_repair
        self._reported = 0

    @property
    def is_over(self) -> bool:
        """Whether the message has ended; a server may keep the connection open after `[DONE]`."""
        return self._reader.is_over

    def add(self, item: object) -> Iterator[object]:
        self._reader.feed(item)
        return self._show()

    def finish(self) -> Iterator[object]:
        self._reader.end()
        yield from self._show()
        message = self._reader.message_state.message
        mismatches = tuple(error.cause for error in message.errors if isinstance(error.cause, SchemaMismatch))
        if mismatches:
            raise SchemaError(mismatches)
        message.raise_for_outcome()
        yield message.answer

    def _show(self) -> Iterator[object]:
        while (message := self._reader.next_message()) is not None:
            if self._on_repair is not None:
                self._report(self._on_repair, message.repairs)
            answer = message.answer
            if isinstance(answer, Partial) and answer.resolution.value is not self._shown:
                self._shown = answer.resolution.value
                yield answer

    def _report(self, on_repair: Callable[[Repair], object], repairs: tuple[Repair, ...]) -> None:
        for repair in repairs[self._reported :]:
            self._reported += 1
            on_repair(repair)
