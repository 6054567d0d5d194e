"""A state in, bytes out, and back: loading them runs no code that they name.

    b"jsontide state NUMBER HASH\n", a checksum, JSON

In the JSON, an array is what its first item says: one of the marks below, or the number of a maker in `MAKERS`.
What follows are the items, or the arguments; what is there twice is a reference the second time.
What the application passes when it loads (schemas, tools, options) is only named.

Rule: JSON, and no pickle, because even one that finds no class can take all memory. What is made of the JSON is made
here, by makers that only keep values. Nothing is guessed: bytes of another format are refused.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import Enum
from functools import cache
from importlib import import_module
from itertools import accumulate
from operator import sub
from typing import Any, Final, TypeVar, cast
from zlib import crc32

from jsontide._check import check_type
from jsontide._errors import ParserError, StateError
from jsontide._values import pack, write_json
from jsontide.mend import MendState
from jsontide.mend.shape import Shape
from jsontide.messages.document import UNKNOWN, Document, SchemaBinding
from jsontide.messages.message import FinalAnswer
from jsontide.messages.options import MessageConfig
from jsontide.schema import Resolution, from_json_ast, shape_of
from jsontide.tree import ParserState, create_parser_state, finalize, parse_chunk

State = TypeVar("State")

NUMBER: Final = 1
"""Raised when the same fields mean something else, or a maker without `FIELDS` takes others."""
_BEGINNING: Final = b"jsontide state "
_CHECKSUM_BYTES: Final = 4
_write: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode

STATES: Final = (
    "tree.ParserState",
    "events.EventState",
    "snapshots.SnapshotState",
    "mend.MendState",
    "messages.MessageState",
    "providers.StreamState",
    "runs.RunState",
)
"""What can be saved."""
MAKERS: Final = {
    "_decode": "ByteSource",
    "_errors": "ParserError Reason",
    "_pattern": "Key Item AnyKey AnyItem Slice AnyDepth",
    "_textbuffer": "GrowingText",
    "_values": "Missing unflatten",
    "text": "Limits",
    "text.scanner": "Skip",
    "mend._quotes": "Tally",
    "mend.options": "Mending Repair RepairKind",
    "mend.state": "restore",
    "tree._options": "ParserOptions",
    "tree._pickle": "ParserDump",
    "tree._state": "restore_state",
    "events._emitter": "Recovery",
    "events._options": "EventOptions",
    "events._pickle": "EventDump",
    "events._state": "restore_state",
    "snapshots._options": "ChunkOptions",
    "snapshots._state": "restore_state",
    "schema._mismatch": "MismatchReason SchemaMismatch",
    "messages.calls": "CompleteCall PartialCall ServerCall",
    "messages.message": "Message",
    "messages.options": "ToolResult",
    "messages.parts": "File Other ReasoningPart Refusal Source TextPart",
    "messages.state": "CallEntry MessageState PartEntry",
    "messages.types": (
        "Choice Citation CompletionChunk Delta ErrorDetail ErrorKind Outcome ProviderError ProviderErrorKind"
        " ToolCallDelta Usage"
    ),
    "providers.base": "MessageStart",
    "providers.wire": (
        "ArrayRest Damage Failure FrameRest LineChunks NamedEvent NdjsonRest OneDocument OpenEvent OtherLine SseRest"
        " StrayLine TextState UnknownFraming WireState"
    ),
    "providers.anthropic": "AnthropicReader",
    "providers.bedrock": "BedrockReader",
    "providers.claude_agent": "AgentReader",
    "providers.cohere": "CohereReader",
    "providers.envelopes": "EnvelopeReader",
    "providers.gemini": "ArgumentContainer Arguments GeminiReader",
    "providers.gemini_interactions": "InteractionsReader",
    "providers.ollama": "OllamaReader",
    "providers.openai_chat": "ChatReader",
    "providers.openai_responses": "Known ResponsesReader",
    "providers.stream_reader": "StreamState",
    "runs.run": "Run RunState",
    "runs.types": "PendingResult RunOutcome Step",
}
"""By module, all that is called when a state is loaded: classes that keep their arguments, and what restores a state.

None of them imports, opens, compiles or calls anything that an argument names.
"""

_LIST: Final = 0
_AGAIN: Final = 1
_TUPLE: Final = 2
_DICT: Final = 3
_FROZENSET: Final = 4
_ARRAY: Final = 5
_BYTES: Final = 6
_DECIMAL: Final = 7
_LONG: Final = 8
_CONFIG: Final = 9
_BINDING: Final = 10
_DOCUMENT: Final = 11
_ANSWER: Final = 12
_SHAPE: Final = 13
_STEPS: Final = 14
_WORDS: Final = 15
_SHARED: Final = 16
_FIRST_MAKER: Final = 17

_PLAIN: Final = frozenset({type(None), bool, int, float, str})
_BASES: Final = (str, int, float)
_TEXT: Final = frozenset({str})
_INTEGER: Final = frozenset({int})
_WORD: Final = frozenset({str, bool, type(None)})
_LEAST: Final = 0x5D
"""The first of the characters that JSON writes as they are."""
_MOST: Final = 0x10FFFF - _LEAST
_LONG_TEXT: Final = 100
"""Characters of a text that is written once."""
_LONG_LIST: Final = 16
"""Items of a list that is written by its differences or different words, if that is shorter: a document has many."""
_LONGEST: Final = 1 << 12_000
"""Python converts no integers that are much longer to decimals."""
_ANSWER_NAME: Final = ""
"""Names the schema of the answer, and the shape of a text alone; no tool has it."""


def to_bytes(state: object) -> bytes:
    """Return a state as bytes, for `from_bytes`: of a parser, events, snapshots, mending, a message or a run.

    Schemas, tools and the options of a message are left out: they are passed again.

    >>> from jsontide import ParserState, create_parser_state, parse_chunk
    >>> saved = to_bytes(parse_chunk(create_parser_state(), '["Kyo'))
    >>> parse_chunk(from_bytes(saved, ParserState), 'to"]').value
    ['Kyoto']
    """
    kind = _name_of(type(state))
    config = _config_of(state)
    try:
        try:
            text = _write([kind, *_Saver(config).save_root(state)])
        except ValueError:  # a very long integer
            text = _write([kind, *_Saver(config, _PLAIN - {int}).save_root(state)])
    except RecursionError:
        raise StateError(f"this {kind} holds something that is nested too deeply to be saved") from None
    body = text.encode("utf-8", "surrogatepass")
    return b"".join((_BEGINNING, form(), b"\n", crc32(body).to_bytes(_CHECKSUM_BYTES, "big"), body))


def from_bytes(
    data: bytes, kind: type[State], *, config: MessageConfig | None = None, shape: Shape | None = None
) -> State:
    """Return the state that `to_bytes` saved; `kind` is its class.

    A message or a run needs the `config` that it was started with, a text that is mended its `shape`, if it had any.
    No code runs that the bytes name; who can write them can still make a state say anything.
    Raises `StateError` for anything but such a state, and for one of a version with another format.
    """
    check_type("data", data, bytes, "bytes")
    check_type("kind", kind, type, "the class of the state")
    name = _name_of(kind)
    if config is not None:
        check_type("config", config, MessageConfig, "a MessageConfig or None")
    if shape is not None:
        check_type("shape", shape, Shape, "what jsontide.schema.shape_of returns, or None")
    body = _check_beginning(data)
    try:
        found, options, plain = json.loads(body.decode("utf-8", "surrogatepass"))
        _check_kind(found, name)
        loader = _Loader(MessageConfig() if config is None else config, shape)
        if options is not None:
            loader.check_options(loader.load(options))
        state = loader.load(plain)
    except StateError:
        raise
    except Exception as error:  # whatever a damaged or hostile state leads to
        raise StateError(f"the bytes are no state that jsontide saved: {type(error).__name__}: {error}") from error
    _check_kind(type(state).__name__, name)
    return cast("State", state)


def _check_kind(found: str, name: str) -> None:
    if found != name:
        raise StateError(f"the bytes are a {found}, and no {name}")


def _check_beginning(data: bytes) -> bytes:
    """Return what follows the format and the checksum, which must be right."""
    beginning, _, rest = data.partition(b"\n")
    if not beginning.startswith(_BEGINNING):
        raise StateError("the bytes are no state that jsontide saved")
    if beginning.removeprefix(_BEGINNING) != form():
        raise StateError(f"the state was saved by a version of jsontide with another format than {form().decode()}")
    body = rest[_CHECKSUM_BYTES:]
    if crc32(body).to_bytes(_CHECKSUM_BYTES, "big") != rest[:_CHECKSUM_BYTES]:
        raise StateError("the state is damaged: its checksum is wrong")
    return body


@cache
def _classes() -> dict[str, type]:
    places = (place.rpartition(".") for place in STATES)
    return {name: getattr(import_module(f"jsontide.{package}"), name) for package, _, name in places}


def _name_of(kind: type) -> str:
    for name, known in _classes().items():
        if known is kind:
            return name
    raise TypeError(f"a {kind.__name__} is no state; there are {', '.join(_classes())}")


@cache
def makers() -> tuple[Callable[..., Any], ...]:
    """Return all makers; their places are their numbers."""
    return tuple(
        getattr(import_module(f"jsontide.{module}"), name) for module, names in MAKERS.items() for name in names.split()
    )


@cache
def form() -> bytes:
    """Return the number of the format, and a hash of all fields that a state may have."""
    told = [MAKERS, *map(_fields_of, makers())]
    return b"%d %08x" % (NUMBER, crc32(repr(told).encode()))


def _fields_of(maker: Any) -> object:  # noqa: ANN401 - one of `makers`
    if is_dataclass(maker):
        return [each.name for each in fields(maker)]
    if isinstance(maker, type) and issubclass(maker, Enum):
        return [one.value for one in maker]
    return getattr(maker, "FIELDS", getattr(maker, "_fields", ()))


def _call(maker: Any, arguments: list[Any]) -> object:  # noqa: ANN401 - one of `makers`
    if is_dataclass(maker):  # many take no arguments by place
        return cast("Any", maker)(**{each.name: one for each, one in zip(fields(maker), arguments, strict=True)})
    return maker(*arguments)


@cache
def _numbers() -> dict[Callable[..., Any], int]:
    return {maker: number for number, maker in enumerate(makers(), _FIRST_MAKER)}


def _config_of(state: Any) -> MessageConfig | None:  # noqa: ANN401 - any state
    config = getattr(getattr(state, "message_state", state), "config", None)
    return config if isinstance(config, MessageConfig) else None


def _options_of(config: MessageConfig) -> dict[str, object]:
    """Return the options that a message must be loaded with again, as far as they can be compared."""
    options = {each.name: getattr(config, each.name) for each in fields(config) if each.init}
    options["response_schema"] = config.response_schema is not None
    options["tools"] = [tool.name for tool in config.tools]
    options["policies"] = bool(config.policies)
    return options


def _bindings_of(config: MessageConfig) -> Iterator[tuple[str, SchemaBinding]]:
    rules = config._rules
    yield _ANSWER_NAME, SchemaBinding(None, streams=True) if rules.answer is None else rules.answer
    yield from rules.bindings.items()


class _Saver:
    """Makes JSON of one state."""

    def __init__(self, config: MessageConfig | None, plain: frozenset[type] = _PLAIN) -> None:
        self._config: Final = config
        self._plain: Final = plain
        self._bindings: Final = [] if config is None else list(_bindings_of(config))
        self._numbers: Final[dict[int, int]] = {}
        """By id, in the order in which they are complete; the loader counts in the same way."""
        self._kept: Final[list[object]] = []
        """What has a number, so that no other object gets its id."""

    def save_root(self, state: object) -> tuple[object, object]:
        options = None if self._config is None else self.save(_options_of(self._config))
        return options, self.save(state)

    def save(self, value: Any) -> object:  # noqa: ANN401 - anything
        kind = type(value)
        if kind in self._plain and (kind is not str or len(value) < _LONG_TEXT):
            return value
        if isinstance(value, Enum) and kind not in _numbers():  # of a client
            return self.save(value.value)
        if kind is not str and isinstance(value, _BASES) and not isinstance(value, Enum):
            return self._save_scalar(value)
        number = self._numbers.get(id(value))
        if number is not None:
            return [_AGAIN, number]
        saved = [_SHARED, value] if kind is str else self._save_new(value)
        self._numbers[id(value)] = len(self._kept)
        self._kept.append(value)
        return saved

    def _save_scalar(self, value: Any) -> object:  # noqa: ANN401 - a text or a number, also of a client's class
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, float):
            return float(value)
        number = int(value)
        return number if -_LONGEST < number < _LONGEST else [_LONG, hex(number)]

    def _save_new(self, value: Any) -> object:  # noqa: ANN401, PLR0911 - one return for each type
        kind = type(value)
        if kind is list:
            return self._save_column(value) or [_LIST, *self._save_all(value)]
        if kind is dict:
            if _TEXT.issuperset(map(type, value)):
                return dict(zip(value, self._save_all(value.values()), strict=True))
            return [_DICT, self.save(list(value)), self.save(list(value.values()))]
        if kind is tuple:
            return [_TUPLE, *self._save_all(value)]
        if kind is bytes:
            return [_BYTES, value.decode("latin-1")]
        if kind is frozenset:
            return [_FROZENSET, *self._save_all(value)]
        if kind is array:
            return [_ARRAY, self.save(value.tolist())]
        if kind is Decimal:
            return [_DECIMAL, str(value)]
        if isinstance(value, Enum):
            return [_numbers()[kind], value.value]
        return self._save_object(value)

    def _save_column(self, items: list[Any]) -> list[object] | None:
        """Return a long list of numbers or words, written shorter; `None` if it is another one."""
        if len(items) < _LONG_LIST:
            return None
        kinds = frozenset(map(type, items))
        if kinds == _INTEGER and kinds <= self._plain:
            steps = _to_text([-2 * step - 1 if step < 0 else 2 * step for step in map(sub, items[1:], items)])
            return None if steps is None else [_STEPS, items[0], steps]
        if kinds <= _WORD:
            places = {word: place for place, word in enumerate(dict.fromkeys(items))}
            if len(places) <= len(items) // 4:
                text = _to_text([places[word] for word in items])
                return None if text is None else [_WORDS, self.save(list(places)), text]
        return None

    def _save_all(self, values: Any) -> list[object]:  # noqa: ANN401 - any iterable
        if self._plain.issuperset(map(type, values)):
            return list(values)
        return [self.save(value) for value in values]

    def _save_object(self, value: Any) -> object:  # noqa: ANN401 - one return for each type
        if isinstance(value, MessageConfig):
            return [_CONFIG]
        if isinstance(value, SchemaBinding):
            return [_BINDING, self._name_binding(value)]
        if isinstance(value, FinalAnswer):
            return [_ANSWER, *self._save_all((pack(value.value), value.repairs, value.is_text))]
        if isinstance(value, Shape):
            _, (schema, steps) = cast("Any", value.__reduce__())
            return [_SHAPE, self._name_schema(schema), *steps]
        if type(value) is Document:
            _, (state, binding, resolution, _, mend, error) = cast("Any", value.__reduce__())
            resolved = resolution.__reduce__()[1][-1] if isinstance(resolution, Resolution) else None
            return [_DOCUMENT, *self._save_all((state, binding, resolved, mend, error))]
        maker, arguments = self._take_apart(value)
        number = _numbers().get(maker)
        if number is None:
            raise _unsaved(value)
        return [number, *[self.save(argument) for argument in arguments]]

    def _take_apart(self, value: Any) -> tuple[Any, Any]:  # noqa: ANN401 - anything
        """Return what makes an object, and from what."""
        kind = type(value)
        if isinstance(value, tuple):  # a named one
            return kind, value
        reduce: Any = kind.__reduce__
        maker, arguments = (kind, None) if reduce is object.__reduce__ else reduce(value)
        if maker in _numbers() and arguments is not None:
            return maker, arguments
        if is_dataclass(value):
            return kind, [pack(getattr(value, each.name)) for each in fields(value)]
        return None, ()

    def _name_binding(self, binding: SchemaBinding) -> str | None:
        """Return the name of the tool whose schema it is, `None` if that is not known yet."""
        if binding is UNKNOWN:
            return None
        for name, one in self._bindings:
            # A state that was pickled has others, which are equal.
            if one is binding or (one.schema == binding.schema and one.is_text == binding.is_text):
                return name
        raise _unsaved(binding)

    def _name_schema(self, schema: object) -> str:
        for name, one in self._bindings:
            if one.schema is schema or one.schema == schema:
                return name
        if self._config is not None:
            raise _unsaved(schema)
        return _ANSWER_NAME


def _to_text(numbers: list[int]) -> str | None:
    """Return a character for each number, most of them one byte; `None` if one is too large."""
    return "".join([chr(_LEAST + number) for number in numbers]) if max(numbers) <= _MOST else None


def _to_numbers(text: str) -> list[int]:
    return [ord(char) - _LEAST for char in text]


def _unsaved(value: object) -> StateError:
    return StateError(f"a state with a {type(value).__module__}.{type(value).__qualname__} in it cannot be saved")


_BUILTINS: Final[dict[int, Callable[[list[Any]], object]]] = {
    _SHARED: lambda items: items[0],
    _TUPLE: tuple,
    _DICT: lambda items: dict(zip(*items, strict=True)),
    _STEPS: lambda items: list(
        accumulate([items[0], *[-(n + 1) // 2 if n % 2 else n // 2 for n in _to_numbers(items[1])]])
    ),
    _WORDS: lambda items: [items[0][place] for place in _to_numbers(items[1])],
    _FROZENSET: frozenset,
    _ARRAY: lambda items: array("q", items[0]),
    _BYTES: lambda items: items[0].encode("latin-1"),
    _DECIMAL: lambda items: Decimal(items[0]),
}


class _Loader:
    """Makes a state of plain data."""

    def __init__(self, config: MessageConfig, shape: Shape | None) -> None:
        self._config: Final = config
        self._shape: Final = shape
        self._bindings: Final = dict(_bindings_of(config))
        self._shapes: Final[dict[str, Shape]] = {}
        self._known: Final[list[object]] = []
        """What was made, in the order in which it was complete."""
        self._references: Final[dict[int, Callable[..., object]]] = {
            _CONFIG: lambda: config,
            _BINDING: self._find_binding,
            _DOCUMENT: self._make_document,
            _ANSWER: self._make_answer,
            _SHAPE: self._find_shape,
        }

    def check_options(self, saved: Any) -> None:  # noqa: ANN401 - a dict
        """Refuse options that differ from those of the state."""
        for name, option in _options_of(self._config).items():
            if saved[name] != option:
                raise StateError(f"the state was saved with another {name}: pass the config that it was started with")

    def load(self, data: Any) -> Any:  # noqa: ANN401 - anything
        if type(data) in _PLAIN:
            return data
        if type(data) is dict:
            made: object = dict(zip(data, self._load_all(data.values()), strict=True))
        else:
            mark, *arguments = data
            if mark == _AGAIN:
                return self._known[arguments[0]]
            if mark == _LONG:
                return int(arguments[0], 16)
            arguments = self._load_all(arguments)
            made = arguments if mark == _LIST else self._make(mark, arguments)
        self._known.append(made)
        return made

    def _load_all(self, data: Any) -> list[Any]:  # noqa: ANN401 - any iterable
        return list(data) if _PLAIN.issuperset(map(type, data)) else [self.load(one) for one in data]

    def _make(self, mark: int, arguments: list[Any]) -> object:
        if mark >= _FIRST_MAKER:
            return _call(makers()[mark - _FIRST_MAKER], arguments)
        if mark in _BUILTINS:
            return _BUILTINS[mark](arguments)
        return self._references[mark](*arguments)

    def _find_binding(self, name: str | None) -> SchemaBinding:
        return UNKNOWN if name is None else self._bindings[name]

    def _make_document(
        self,
        state: ParserState,
        binding: SchemaBinding | None,
        resolved: ParserState | None,
        mend: MendState | None,
        error: ParserError | None,
    ) -> Document:
        resolution = None
        if resolved is not None and binding is not None:
            resolution = from_json_ast(binding.schema, resolved, policies=binding.policies)
        return Document(state, binding, resolution, None, mend, error)

    def _make_answer(self, value: Any, repairs: Any, is_text: bool) -> FinalAnswer:  # noqa: ANN401, FBT001
        """Validate an answer again: instances are not saved."""
        binding = self._bindings[_ANSWER_NAME]
        state = finalize(parse_chunk(create_parser_state(), write_json(value)))
        model: Any = from_json_ast(binding.schema, state, policies=binding.policies).model
        return FinalAnswer(model, value, repairs, is_text)

    def _find_shape(self, name: str, *steps: str | None) -> Shape | None:
        if name not in self._shapes:
            schema = self._bindings[name].schema
            shape = self._shape if schema is None else shape_of(schema)
            if shape is None:
                raise StateError("the text was mended by a schema: pass its shape")
            self._shapes[name] = shape
        make, (schema, _) = cast("Any", self._shapes[name].__reduce__())
        return cast("Shape | None", make(schema, steps))
