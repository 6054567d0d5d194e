"""The options of a message, in the form in which the reducer asks for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

from jsontide.mend import Mending, MendState, RepairKind, start_mend
from jsontide.messages.document import UNKNOWN, Document, SchemaBinding
from jsontide.schema import shape_of
from jsontide.text import Limits
from jsontide.tree import create_parser_state


class ReadingRules:
    """How a message is read."""

    __slots__ = (
        "_call_mend",
        "_call_mends",
        "_limits",
        "_mend",
        "_rests",
        "_trailing",
        "answer",
        "bindings",
        "choice",
        "done_is_end",
        "emulates",
        "is_cumulative",
        "max_parts",
        "output_name",
        "runs_with",
    )

    def __init__(
        self,
        answer: SchemaBinding | None,
        bindings: dict[str, SchemaBinding],
        emulates: bool,
        output_name: str,
        is_cumulative: bool,
        done_is_end: bool,
        choice: int,
        max_parts: int,
        limits: Limits,
        trailing: Literal["error", "ignore"],
        mend: Mending | None,
    ) -> None:
        self.answer: Final = answer
        """How the answer is read."""
        self.bindings: Final = bindings
        """How the arguments of each tool are read."""
        self.emulates: Final = emulates
        """Whether the answer comes as the arguments of a reserved tool."""
        self.output_name: Final = output_name
        self.is_cumulative: Final = is_cumulative
        """Whether the provider sends all arguments so far, each time."""
        self.done_is_end: Final = done_is_end
        """Whether `[DONE]` ends a message as a finish reason does."""
        self.choice: Final = choice
        self.max_parts: Final = max_parts
        self._limits: Final = limits
        self._trailing: Final = trailing
        self._mend: Final = _start(mend, answer)
        # Of two calls in one, none is the right one to run.
        one = replace(mend, values="one") if mend is not None and mend.values == "first" else mend
        self._call_mend: Final = _start(one, None)
        self._call_mends: Final = {name: _start(one, binding) for name, binding in bindings.items()}
        if emulates:
            self._call_mends[output_name] = _start(one, answer)
        self.runs_with: Final[frozenset[RepairKind]] = frozenset() if mend is None else mend.runs_with
        """The repairs that drop or restructure something, with which a call is complete nevertheless."""
        names = [*bindings, output_name] if emulates else [*bindings]
        self._rests: Final = _find_rests(names)
        """The names of tools with which that of another tool begins, each with the rest of it."""

    def new_document(self, binding: SchemaBinding | None, is_call: bool) -> Document:
        state = create_parser_state(limits=self._limits, trailing=self._trailing)
        return Document(state, binding, mend=self._call_mend if is_call else self._mend)

    def name_document(self, document: Document, name: str | None) -> Document:
        """Return the arguments of a call, now that the name of its tool is known."""
        mend = self._call_mend if name is None else self._call_mends.get(name, self._call_mend)
        return document.bind(self.binding_of(name), mend)

    def binding_of(self, name: str | None) -> SchemaBinding | None:
        """Return how the arguments of a tool are read, `None` for those that were not offered."""
        if name is None:
            return UNKNOWN if self.bindings else None
        return self.answer if self.is_output(name) else self.bindings.get(name)

    def is_output(self, name: str | None) -> bool:
        """Return whether a call of this name is the answer itself."""
        return self.emulates and name == self.output_name

    def hides(self, name: str | None) -> bool:
        """Return whether a call of this name is the answer, or may still turn out to be."""
        return self.emulates and (name is None or name == self.output_name)

    def knows(self, name: str) -> bool:
        return not self.bindings or name in self.bindings

    def first_parts(self, name: str) -> list[str]:
        """Return the names of tools that may be the first part of a name of which this is another part.

        A name that no tool has may be part of any other, that of a tool only of one that another tool has.
        """
        if name in self.bindings or self.is_output(name):
            return [first for first, rest in self._rests if rest.startswith(name)]
        return [*self.bindings, self.output_name] if self.emulates else [*self.bindings]


def _start(mend: Mending | None, binding: SchemaBinding | None) -> MendState | None:
    if mend is None:
        return None
    return start_mend(mend, None if binding is None or binding.schema is None else shape_of(binding.schema))


def _find_rests(names: list[str]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    in_order = sorted(names)
    for at, first in enumerate(in_order):
        for name in in_order[at + 1 :]:
            if not name.startswith(first):  # those that begin with it come next
                break
            found.append((first, name.removeprefix(first)))
    return found
