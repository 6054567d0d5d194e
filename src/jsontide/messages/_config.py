"""What a message is read with: the tools that were offered, and the schema of the answer."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final

from jsontide._check import check_switches
from jsontide.messages._document import UNKNOWN, Lens, check_lens
from jsontide.schema.options import check_source

RESERVED: Final = "output"


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that was offered to the model.

    `schema` is what its arguments must be: a type or a JSON Schema; without one they may be any JSON.
    """

    name: str
    schema: object = None
    stream: bool | None = None
    """Whether arguments are shown while they grow; `None` means those of types are, those of a JSON Schema are not."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            message = f"a tool must have a name, not {self.name!r}"
            raise ValueError(message)
        if self.stream is not None:
            check_switches(self, "stream")
        check_source(self.schema)
        object.__setattr__(self, "schema", _kept(self.schema))

    @property
    def _lens(self) -> Lens:
        """How its arguments are looked at."""
        streams = not isinstance(self.schema, dict) if self.stream is None else self.stream
        return Lens(self.schema, streams=streams)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageConfig:
    """What a message is read with; taken at the start, and not changed after that."""

    response_schema: object = None
    """What the content must be: a type or a JSON Schema; without one it is plain text."""
    tools: Iterable[Tool] = ()
    """The tools that were offered; without any, calls of all names are taken, with arguments of any JSON."""
    emulate_structured_output: bool = False
    """Whether the answer comes as the arguments of a reserved tool."""
    output_name: str = RESERVED
    """The name of that tool."""
    cumulative_arguments: bool = False
    """Whether the provider sends all arguments so far, each time."""
    _emulates: bool = field(init=False, repr=False, compare=False)
    _answer: Lens | None = field(init=False, repr=False, compare=False)
    """How the answer is looked at."""
    _lenses: dict[str, Lens] = field(init=False, repr=False, compare=False)
    """How the arguments of each tool are looked at."""

    _rests: tuple[tuple[str, str], ...] = field(init=False, repr=False, compare=False)
    """The names of tools with which that of another tool begins, each with the rest of it."""

    def __post_init__(self) -> None:
        check_switches(self, "emulate_structured_output", "cumulative_arguments")
        tools = _checked(self.tools)
        object.__setattr__(self, "tools", tools)
        object.__setattr__(self, "response_schema", _kept(self.response_schema))
        if not isinstance(self.output_name, str) or not self.output_name:
            message = f"the emulated output must have a name, not {self.output_name!r}"
            raise ValueError(message)
        object.__setattr__(self, "_emulates", self.emulate_structured_output and self.response_schema is not None)
        names = [tool.name for tool in tools]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            message = f"two tools are called {twice!r}"
            raise ValueError(message)
        if self._emulates and self.output_name in names:
            message = (
                f"the name {self.output_name!r} is reserved for the emulated output: rename the tool, or output_name"
            )
            raise ValueError(message)
        answer = None if self.response_schema is None else Lens(self.response_schema, streams=True)
        object.__setattr__(self, "_answer", answer)
        object.__setattr__(self, "_lenses", {tool.name: tool._lens for tool in tools})
        object.__setattr__(self, "_rests", _rests([*names, self.output_name] if self._emulates else names))
        for lens in (answer, *self._lenses.values()):
            check_lens(lens)

    def _lens_of(self, name: str | None) -> Lens | None:
        """Return how the arguments of a tool are looked at, `None` for those that were not offered."""
        if name is None:
            return UNKNOWN if self._lenses else None
        return self._answer if self._is_output(name) else self._lenses.get(name)

    def _is_output(self, name: str | None) -> bool:
        """Tell whether a call of this name is the answer itself."""
        return self._emulates and name == self.output_name

    def _hides(self, name: str | None) -> bool:
        """Tell whether a call of this name is the answer, or may still turn out to be."""
        return self._emulates and (name is None or name == self.output_name)

    def _first_parts(self, name: str) -> Collection[str]:
        """Return the names of tools that may be the first part of a name of which this is another part.

        A name that no tool has may be part of any other, that of a tool only of one that another tool has.
        """
        if name in self._lenses or self._is_output(name):
            return [first for first, rest in self._rests if rest.startswith(name)]
        return (*self._lenses, self.output_name) if self._emulates else self._lenses

    def _knows(self, name: str) -> bool:
        return not self._lenses or name in self._lenses


def _rests(names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    found = []
    in_order = sorted(names)
    for at, first in enumerate(in_order):
        # Those that begin with it come next.
        longer = takewhile(lambda name, first=first: name.startswith(first), in_order[at + 1 :])  # type: ignore[misc]
        found += [(first, name.removeprefix(first)) for name in longer]
    return tuple(found)


def _checked(tools: object) -> tuple[Tool, ...]:
    if not isinstance(tools, Iterable):
        message = f"tools must be an iterable of Tool, not {type(tools).__name__}"
        raise TypeError(message)
    given = tuple(tools)
    for one in given:
        if not isinstance(one, Tool):
            message = f"every tool must be a Tool, not {type(one).__name__}"
            raise TypeError(message)
    return given


def _kept(schema: object) -> object:
    """A JSON Schema may be changed by its owner later on."""
    if not isinstance(schema, dict):
        return schema
    try:
        return deepcopy(schema)
    except RecursionError:  # it is refused as too deep when it is looked at
        return schema
