"""What providers stream, in one shape: the chunks that the reducer takes.

Every provider's events become these; the words are those of OpenAI's chat completions, which most servers speak.
Fields of a wrong type are refused. What a field is exactly is asked first, for speed, and the long way only then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from jsontide._check import check_switches
from jsontide.messages._check import check_texts, is_number, is_tuple_of, tuple_of, wrong_type

Spelling: TypeAlias = Literal["delta", "whole"]
"""Whether a text of arguments goes on where the last one ended, or is all of it so far."""
_SPELLINGS: Final = get_args(Spelling)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallDelta:
    """What a chunk says of one tool call; whatever it does not say is `None`."""

    index: int | None = None
    id: str | None = None
    name: str | None = None
    arguments: str | Mapping[str, object] | None = None
    """More of the text, or all of them as an object."""
    spelling: Spelling = "delta"
    """Whether the text goes on where it was, or is all of it so far."""
    on_server: bool = False
    """Whether the provider runs this tool itself: such a call is nobody else's to run, and is not shown."""
    cut_off: bool = False
    """Whether the provider says that the call broke off: it cannot be run, whatever else is told."""

    def __post_init__(self) -> None:
        if self.index is not None and type(self.index) is not int and not is_number(self.index):
            raise wrong_type("index", "an int or None", self.index)
        if (self.id is not None and type(self.id) is not str) or (self.name is not None and type(self.name) is not str):
            check_texts(self, "id", "name")
        if type(self.arguments) is not str and not isinstance(self.arguments, str | Mapping | None):
            raise wrong_type("arguments", "a str, a mapping or None", self.arguments)
        if self.spelling not in _SPELLINGS:
            message = f"spelling must be 'delta' or 'whole', not {self.spelling!r}"
            raise ValueError(message)
        if type(self.on_server) is not bool or type(self.cut_off) is not bool:
            check_switches(self, "on_server", "cut_off")


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """What is new in a message."""

    role: str | None = None
    content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: tuple[ToolCallDelta, ...] = ()

    def __post_init__(self) -> None:
        if (
            (self.content is not None and type(self.content) is not str)
            or (self.role is not None and type(self.role) is not str)
            or (self.reasoning is not None and type(self.reasoning) is not str)
            or (self.refusal is not None and type(self.refusal) is not str)
        ):
            check_texts(self, "role", "content", "reasoning", "refusal")
        if not is_tuple_of(ToolCallDelta, self.tool_calls):
            object.__setattr__(self, "tool_calls", tuple_of(ToolCallDelta, "tool_calls", self.tool_calls))


NO_DELTA: Final = Delta()


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One of the answers that a provider was asked for; only the one with index 0 counts."""

    index: int = 0
    delta: Delta = NO_DELTA
    finish_reason: str | None = None

    def __post_init__(self) -> None:
        if type(self.index) is not int and not is_number(self.index):
            raise wrong_type("index", "an int", self.index)
        if type(self.delta) is not Delta and not isinstance(self.delta, Delta):
            raise wrong_type("delta", "a Delta", self.delta)
        if self.finish_reason is not None:
            check_texts(self, "finish_reason")


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionChunk:
    """One event of a stream, whoever it came from."""

    choices: tuple[Choice, ...] = ()
    error: str | None = None
    """What the provider says went wrong, if it broke the stream off."""

    def __post_init__(self) -> None:
        if not is_tuple_of(Choice, self.choices):
            object.__setattr__(self, "choices", tuple_of(Choice, "choices", self.choices))
        if self.error is not None:
            check_texts(self, "error")
