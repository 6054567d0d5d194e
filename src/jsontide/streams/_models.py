"""A source and a schema in, partials and finally the validated instance out, or the items of a list; sync and async.

Mismatches do not end the stream: what fits goes on growing, and all of them are raised together at the end.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, TypeVar, cast, overload

from jsontide._decode import as_text
from jsontide._pattern import AnyDepth
from jsontide._textbuffer import GrowingText
from jsontide._values import MISSING, Chunk
from jsontide.messages import MessageConfig
from jsontide.messages.options import check_names
from jsontide.messages.progress import Progress, TextDelta
from jsontide.providers.stream_reader import StreamReader, start_stream
from jsontide.schema import Partial, SchemaError, SchemaMismatch, Status, from_json_ast, shape_of
from jsontide.streams._messages import DocumentChoices
from jsontide.streams._text import Finder, ParsingStage, PathOrPattern, check_chunk, inside, mended, sniff_chunks
from jsontide.streams.sources import adrive, as_items, check_async, drive
from jsontide.tree import create_parser_state, finalize, parse_chunk

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, Callable, Generator, Iterable, Iterator, Mapping
    from typing import Unpack

    from jsontide._decode import ByteSource
    from jsontide._values import JsonValue
    from jsontide.events import JsonFragmentUpdate
    from jsontide.mend import Mending, Repair
    from jsontide.schema.options import TypeAdapterLike
    from jsontide.streams.sources import LoopStage
    from jsontide.tree import ParserState

Model = TypeVar("Model")
_Source: TypeAlias = "Chunk | Iterable[Chunk] | Iterable[object]"
OnRepair: TypeAlias = "Callable[[Repair], object]"


class ModelChoices(DocumentChoices, total=False):
    """The options of `stream_model`, as keyword arguments."""

    on_repair: OnRepair | None


class ItemChoices(TypedDict, total=False):
    """The options of `stream_items`, as keyword arguments."""

    mend: Mending | None
    on_repair: OnRepair | None


@overload
def stream_model(
    source: _Source, schema: type[Model] | TypeAdapterLike[Model], **options: Unpack[ModelChoices]
) -> Generator[Partial[Model] | Model]: ...
@overload
def stream_model(
    source: _Source, schema: Mapping[str, object], **options: Unpack[ModelChoices]
) -> Generator[Partial[JsonValue] | JsonValue]: ...
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
    return drive(as_items(source, "astream_model"), _model_stage(schema, options))


@overload
def astream_model(
    source: AsyncIterable[object], schema: type[Model] | TypeAdapterLike[Model], **options: Unpack[ModelChoices]
) -> AsyncGenerator[Partial[Model] | Model]: ...
@overload
def astream_model(
    source: AsyncIterable[object], schema: Mapping[str, object], **options: Unpack[ModelChoices]
) -> AsyncGenerator[Partial[JsonValue] | JsonValue]: ...
@overload
def astream_model(
    source: AsyncIterable[object], schema: object, **options: Unpack[ModelChoices]
) -> AsyncGenerator[object]: ...
def astream_model(
    source: AsyncIterable[object], schema: object, **options: Unpack[ModelChoices]
) -> AsyncGenerator[object]:
    """Do what `stream_model` does for an asynchronous source."""
    check_async(source, "chunks must be an asynchronous iterable of str or bytes, or of events", "stream_model")
    return adrive(source, _model_stage(schema, options))


@overload
def stream_items(
    source: _Source,
    pattern: PathOrPattern,
    schema: type[Model] | TypeAdapterLike[Model],
    **options: Unpack[ItemChoices],
) -> Generator[Model]: ...
@overload
def stream_items(
    source: _Source, pattern: PathOrPattern, schema: Mapping[str, object], **options: Unpack[ItemChoices]
) -> Generator[JsonValue]: ...
@overload
def stream_items(
    source: _Source, pattern: PathOrPattern, schema: object, **options: Unpack[ItemChoices]
) -> Generator[object]: ...
def stream_items(
    source: _Source, pattern: PathOrPattern, schema: object, **options: Unpack[ItemChoices]
) -> Generator[object]:
    """Yield each item of the lists that a pattern matches as it closes, as an instance of the schema's type.

    `source` is what `stream_model` takes: the JSON text itself, or the stream of a provider; `pattern` is one of
    `items`, and `schema` is that of an item. An item that does not fit is left out; one that broke off never comes.
    With `mend`, bad JSON is mended as `jsontide.mend` says, and `on_repair` is called with each repair as it happens.
    Raises `SchemaError` with every mismatch at the end, `JsonStreamError` when the text is wrong or not complete, and
    `MessageError` when a provider's message did not end as it should, after yielding what came before.

    >>> day = {"type": "object", "properties": {"city": {"type": "string"}}}
    >>> for item in stream_items(['{"days": [{"city": "Kyo', 'to"}, {"city": "Na', 'ra"}]}'], "days", day):
    ...     print(item)
    {'city': 'Kyoto'}
    {'city': 'Nara'}
    """
    return drive(as_items(source, "astream_items"), _item_stage(pattern, schema, options))


@overload
def astream_items(
    source: AsyncIterable[object],
    pattern: PathOrPattern,
    schema: type[Model] | TypeAdapterLike[Model],
    **options: Unpack[ItemChoices],
) -> AsyncGenerator[Model]: ...
@overload
def astream_items(
    source: AsyncIterable[object], pattern: PathOrPattern, schema: Mapping[str, object], **options: Unpack[ItemChoices]
) -> AsyncGenerator[JsonValue]: ...
@overload
def astream_items(
    source: AsyncIterable[object], pattern: PathOrPattern, schema: object, **options: Unpack[ItemChoices]
) -> AsyncGenerator[object]: ...
def astream_items(
    source: AsyncIterable[object], pattern: PathOrPattern, schema: object, **options: Unpack[ItemChoices]
) -> AsyncGenerator[object]:
    """Do what `stream_items` does for an asynchronous source."""
    check_async(source, "chunks must be an asynchronous iterable of str or bytes, or of events", "stream_items")
    return adrive(source, _item_stage(pattern, schema, options))


def _model_stage(schema: object, options: ModelChoices) -> _SniffingStage:
    check_names(options, ModelChoices)
    on_repair = options.pop("on_repair", None)
    # Made before anything is read, for errors about the options.
    config = MessageConfig(response_schema=schema, **cast("DocumentChoices", options))
    shape = None if config.mend is None else shape_of(schema)
    text = mended(_DocumentStage(config), config.mend, on_repair, shape)
    return _SniffingStage(text, lambda: _AnswerStage(config, on_repair))


def _item_stage(pattern: PathOrPattern, schema: object, options: ItemChoices) -> _SniffingStage:
    check_names(options, ItemChoices)
    text = mended(_ItemFinder(pattern, schema), options.get("mend"), options.get("on_repair"))
    return _SniffingStage(text, lambda: _TextStage(text))


class _SniffingStage:
    """Reads text as a document and a provider's events as a message; the first item, or more, shows which they are."""

    def __init__(self, text: LoopStage[Any, object], events: Callable[[], LoopStage[Any, object]]) -> None:
        self._text = text
        self._events = events
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
            return self._events()
        form = sniff_chunks((*self._waiting, item))
        if form is None:
            self._waiting.append(item)
            return None
        return self._events() if form in {"events", "frames"} else self._text


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


class _AnswerStage:
    """Shows the answer in the messages that `stream_message` reads."""

    def __init__(self, config: MessageConfig, on_repair: OnRepair | None) -> None:
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

    def _report(self, on_repair: OnRepair, repairs: tuple[Repair, ...]) -> None:
        for repair in repairs[self._reported :]:
            self._reported += 1
            on_repair(repair)


class _TextStage:
    """Feeds another stage with the text of the messages that `stream_message` reads."""

    def __init__(self, inner: LoopStage[Any, object]) -> None:
        self._reader = StreamReader(start_stream())
        self._progress = Progress("part")
        self._inner = inner

    @property
    def is_over(self) -> bool:
        return self._reader.is_over

    def add(self, item: object) -> Iterator[object]:
        self._reader.feed(item)
        return self._read()

    def finish(self) -> Iterator[object]:
        self._reader.end()
        yield from self._read()
        self._reader.message_state.message.raise_for_outcome()
        yield from self._inner.finish()

    def _read(self) -> Iterator[object]:
        while (message := self._reader.next_message()) is not None:
            self._progress, events = self._progress.advance_all(message)
            for event in events:
                if isinstance(event, TextDelta):
                    yield from self._inner.add(event.text)


class _ItemFinder(Finder[object]):
    """Shows the items that a pattern matches, each as its schema's type, and raises at the end what does not fit."""

    def __init__(self, pattern: PathOrPattern, schema: object) -> None:
        patterns = inside(pattern)
        super().__init__(self._read, *patterns)
        self._has_nested = any(isinstance(step, AnyDepth) for step in patterns[0])
        self._empty = from_json_ast(schema, create_parser_state())
        self._schema = schema
        self._source: ByteSource | None = None
        self._text = GrowingText()
        """The end of the text, from where an item may begin, as it is written: the schema decides about its numbers."""
        self._end = 0
        """How many characters of the whole text there were."""
        self._lines = [0]
        """Where the lines of that part begin; the first of them is line `_line`."""
        self._line = 1
        self._mismatches: list[SchemaMismatch] = []

    def add(self, chunk: Chunk) -> Iterator[object]:
        check_chunk(chunk)
        self._source, text, _ = as_text(chunk, self._source, self._end, "chunk")
        self._lines += [self._end + at + 1 for at, character in enumerate(text) if character == "\n"]
        self._text = self._text.append(text)
        self._end += len(text)
        return filter(_is_found, super().add(chunk))

    def finish(self) -> Iterator[object]:
        yield from filter(_is_found, super().finish())
        if self._mismatches:
            raise SchemaError(tuple(self._mismatches))

    def _read(self, update: JsonFragmentUpdate) -> object:
        """Return an item, or `MISSING` if it does not fit."""
        text = self._text.tail(self._end - update.start)[: update.end - update.start]
        found = from_json_ast(self._schema, finalize(parse_chunk(create_parser_state(), text)), self._empty)
        if found.status is not Status.FINAL:
            self._mismatches += [self._place(one, update) for one in found.errors]
        if not self._has_nested:
            self._forget(update.end)
        return found.model

    def _place(self, mismatch: SchemaMismatch, item: JsonFragmentUpdate) -> SchemaMismatch:
        """Return a mismatch in an item with its place in the whole text."""
        index = item.start + mismatch.index
        line = bisect_right(self._lines, index) - 1
        path, column = (*item.segments, *mismatch.path), index - self._lines[line] + 1
        return replace(mismatch, path=path, index=index, line=self._line + line, column=column)

    def _forget(self, end: int) -> None:
        """Drop the text before the end of an item."""
        self._text = GrowingText(self._text.tail(self._end - end))
        line = bisect_right(self._lines, end) - 1
        self._line += line
        del self._lines[:line]


def _is_found(item: object) -> bool:
    return item is not MISSING
