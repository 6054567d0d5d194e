"""Plain types around a message: how it ended, what was wrong, what it cost, and the chunks that the reducer takes.

Three kinds of errors, and when a message shows them:

    TRANSPORT   the stream failed                  at once, it is the end
    JSON        a text is not JSON, or not all     at the end
    SCHEMA      a value does not fit its schema    at the end

The state knows all of them as soon as they are certain; a message does not flicker with them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar, get_args

from jsontide._check import check_choice, check_switches
from jsontide._errors import JsontideError
from jsontide._path import Path
from jsontide._values import JsonValue, pack

if TYPE_CHECKING:
    from jsontide.messages.message import Message

Item = TypeVar("Item")


def wrong_type(name: str, expected: str, value: object) -> TypeError:
    return TypeError(f"{name} must be {expected}, not {type(value).__name__}")


def check_texts(one: object, *names: str) -> None:
    """Refuse fields that are neither text nor `None`."""
    for name in names:
        value = getattr(one, name)
        if value is not None and not isinstance(value, str):
            raise wrong_type(name, "a str or None", value)


def is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def tuple_of(kind: type[Item], name: str, items: object) -> tuple[Item, ...]:
    """Return items as a tuple; a list may be changed by its owner later on."""
    if not isinstance(items, tuple | list):
        raise wrong_type(name, f"a tuple of {kind.__name__}", items)
    for item in items:
        if not isinstance(item, kind):
            raise TypeError(f"{name} must hold {kind.__name__} only, not {type(item).__name__}")
    return tuple(items)


class Outcome(Enum):
    """What the end of a call or a message means."""

    STREAMING = "streaming"
    """There is no end yet."""
    COMPLETE = "complete"
    """All there, and valid."""
    TRUNCATED = "truncated"
    """The text broke off: at a limit, with the stream, or for no known reason."""
    INVALID = "invalid"
    """Not JSON, or not what the schema asks for, or a tool that was not offered."""
    REFUSED = "refused"
    """The model refused to answer."""
    FILTERED = "filtered"
    """The provider withheld the answer."""
    CANCELLED = "cancelled"
    """The caller stopped it."""
    EMPTY = "empty"
    """The message has no content."""


class ErrorKind(Enum):
    """What failed."""

    TRANSPORT = "transport"
    JSON = "json"
    SCHEMA = "schema"


ErrorSource: TypeAlias = Literal["stream", "content"] | int
"""Where something went wrong: in the stream itself, in the content, or in the call at this place in `tool_calls`."""


NO_FINISH_REASON: Final = "the stream ended before the provider said how the message ends"
"""The error of a stream that just ends; our own words, not a provider's."""


class ProviderErrorKind(Enum):
    """What went wrong at a provider, in one vocabulary for all."""

    RATE_LIMIT = "rate_limit"
    """Too many requests or tokens: wait, and try again."""
    OVERLOADED = "overloaded"
    """The provider has too much to do: wait, and try again."""
    TIMEOUT = "timeout"
    SERVER = "server"
    """Something failed on its side."""
    CONTEXT_LENGTH = "context_length"
    """The request is too long for the model."""
    QUOTA = "quota"
    """The account has no credit left."""
    AUTHENTICATION = "authentication"
    PERMISSION = "permission"
    NOT_FOUND = "not_found"
    INVALID_REQUEST = "invalid_request"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderError:
    """An error that a provider reported, in its stream or through an exception of its client."""

    kind: ProviderErrorKind
    retry_after: float | None = None
    """How many seconds to wait before the next try, if the provider says so."""
    raw: object = None
    """As the provider wrote it: an object or a text."""

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _make, (ProviderError, {each.name: pack(getattr(self, each.name)) for each in fields(self)})


@dataclass(frozen=True, slots=True)
class ErrorDetail:
    """Something that is wrong with a message, and where."""

    kind: ErrorKind
    source: ErrorSource
    message: str
    """For people."""
    path: Path = ()
    """Where in the document."""
    cause: object = field(default=None, compare=False)
    """What it was made from: a `ParserError`, a `SchemaMismatch`, an exception, or nothing."""
    provider_error: ProviderError | None = None
    """What the provider reported, if this is an error of its own."""

    def __reduce__(self) -> tuple[type[ErrorDetail], tuple[object, ...]]:
        # Exceptions of clients hold connections, and many of them cannot be unpickled.
        cause = None if isinstance(self.cause, BaseException) else self.cause
        return ErrorDetail, (self.kind, self.source, self.message, self.path, cause, self.provider_error)


class IncompleteCallError(JsontideError, AttributeError):
    """A call that is not complete and valid has no arguments to run, only `partial`."""


class MessageError(JsontideError):
    """A message did not end as it should; `message` holds what arrived.

    Raised by `Message.raise_for_outcome`, as the subclass for the outcome.
    """

    def __init__(self, why: str, message: Message) -> None:
        super().__init__(why, message)
        self.message = message

    def __str__(self) -> str:
        return str(self.args[0])


class TruncatedError(MessageError):
    """The message broke off: at a limit, or with the stream."""


class InvalidError(MessageError):
    """The answer or a call is not JSON, or does not fit its schema."""


class RefusedError(MessageError):
    """The model refused to answer."""


class FilteredError(MessageError):
    """The provider withheld the answer."""


class CancelledError(MessageError):
    """The caller stopped the stream."""


class EmptyError(MessageError):
    """The message ended normally, and has no content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a message cost, in tokens; `None` where the provider gives no figure."""

    input_tokens: int | None = None
    """All tokens of the request, those read from a cache included."""
    output_tokens: int | None = None
    """All tokens of the response, reasoning included."""
    total_tokens: int | None = None
    """As the provider says, else the sum."""
    cached_tokens: int | None = None
    """Those of the input that were read from a cache."""
    cache_write_tokens: int | None = None
    """Those of the input that were written to a cache."""
    reasoning_tokens: int | None = None
    """Those of the output that are reasoning."""
    raw: Mapping[str, JsonValue] = field(default_factory=dict)
    """As the provider wrote it."""

    def __post_init__(self) -> None:
        if self.total_tokens is None and self.input_tokens is not None and self.output_tokens is not None:
            object.__setattr__(self, "total_tokens", self.input_tokens + self.output_tokens)

    def __copy__(self) -> Usage:
        return self

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _make, (Usage, {each.name: pack(getattr(self, each.name)) for each in fields(self)})

    def __add__(self, other: Usage) -> Usage:
        """Return what two messages cost together, without `raw`; a figure that one of them lacks counts as zero.

        >>> turns = [Usage(input_tokens=20, output_tokens=7), Usage(input_tokens=30, output_tokens=5)]
        >>> sum(turns, Usage()).total_tokens
        62
        """
        if not isinstance(other, Usage):
            return NotImplemented
        figures: dict[str, Any] = {
            each.name: _add(getattr(self, each.name), getattr(other, each.name))
            for each in fields(self)
            if each.name not in {"raw", "total_tokens"}
        }
        return Usage(total_tokens=_add(_total_of(self), _total_of(other)), **figures)


def _add(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return other if one is None else one
    return one + other


def _total_of(usage: Usage) -> int | None:
    """Return all tokens that are known."""
    if usage.total_tokens is not None:
        return usage.total_tokens
    return _add(usage.input_tokens, usage.output_tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """Where a part of a text comes from."""

    type: str = ""
    """As the provider calls it."""
    url: str | None = None
    title: str | None = None
    cited_text: str | None = None
    """The words of the source."""
    start: int | None = None
    """Where in the text it begins, if the provider says so."""
    end: int | None = None
    raw: Mapping[str, JsonValue] = field(default_factory=dict)
    """As the provider wrote it."""

    def __copy__(self) -> Citation:
        return self

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _make, (Citation, {each.name: pack(getattr(self, each.name)) for each in fields(self)})


def _make(kind: Callable[..., object], named: dict[str, object]) -> object:
    """Make a value from pickled fields."""
    return kind(**named)


ArgumentsMode: TypeAlias = Literal["delta", "cumulative"]
"""Whether a piece of arguments continues those before, or has all of them so far."""
_MODES: Final = get_args(ArgumentsMode)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallDelta:
    """The part of a chunk about one tool call; an unknown field is `None`."""

    index: int | None = None
    id: str | None = None
    name: str | None = None
    arguments: str | Mapping[str, object] | None = None
    """More of the text, or all arguments as an object."""
    mode: ArgumentsMode = "delta"
    on_server: bool = False
    """Whether the provider runs this tool itself: such a call is shown, and cannot be run."""
    cut_off: bool = False
    """Whether the provider reports that the call broke off: then it cannot be run."""

    def __post_init__(self) -> None:
        if self.index is not None and not is_number(self.index):
            raise wrong_type("index", "an int or None", self.index)
        check_texts(self, "id", "name")
        if not isinstance(self.arguments, str | Mapping | None):
            raise wrong_type("arguments", "a str, a mapping or None", self.arguments)
        check_choice("mode", self.mode, _MODES)
        check_switches(self, "on_server", "cut_off")


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """The new text and calls of a message."""

    role: str | None = None
    content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: tuple[ToolCallDelta, ...] = ()

    def __post_init__(self) -> None:
        check_texts(self, "role", "content", "reasoning", "refusal")
        object.__setattr__(self, "tool_calls", tuple_of(ToolCallDelta, "tool_calls", self.tool_calls))


NO_DELTA: Final = Delta()


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One of the answers that a provider was asked for."""

    index: int = 0
    delta: Delta = NO_DELTA
    finish_reason: str | None = None

    def __post_init__(self) -> None:
        if not is_number(self.index):
            raise wrong_type("index", "an int", self.index)
        if not isinstance(self.delta, Delta):
            raise wrong_type("delta", "a Delta", self.delta)
        check_texts(self, "finish_reason")


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionChunk:
    """One event of a stream in neutral form, for programs whose provider jsontide does not know."""

    choices: tuple[Choice, ...] = ()
    error: str | None = None
    """The provider's error, if it broke the stream off."""
    id: str | None = None
    model: str | None = None
    created: float | None = None
    """In seconds since 1970."""
    usage: Usage | None = None
    """What the message cost so far; the last one counts."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "choices", tuple_of(Choice, "choices", self.choices))
        check_texts(self, "error", "id", "model")
        if self.created is not None and not is_number(self.created) and not isinstance(self.created, float):
            raise wrong_type("created", "a number or None", self.created)
        if self.usage is not None and not isinstance(self.usage, Usage):
            raise wrong_type("usage", "a Usage or None", self.usage)
