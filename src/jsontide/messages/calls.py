"""Tool calls: those for the caller to run, and those that the provider runs itself.

Law 9: what is not complete and valid has no arguments to run, only a partial view.
Only `CompleteCall` declares `arguments_value`, so a type checker refuses it where the status was not asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final, Literal, NoReturn, TypeAlias, cast

from jsontide._path import Segment
from jsontide._textbuffer import GrowingText
from jsontide._values import MISSING, JsonValue, Missing
from jsontide.mend.options import Repair
from jsontide.messages.document import Document, write_json
from jsontide.messages.parts import TAIL, BasePart, File, Other, ReasoningPart, Refusal, Source, TextPart, read_text
from jsontide.messages.record import shorten
from jsontide.messages.types import ErrorDetail, IncompleteCallError, Outcome

_COMPLETE: Final = Outcome.COMPLETE  # compiled, looking up a member of an enum takes as long as making a call


class BaseCall(BasePart):
    """What all tool calls have."""

    __slots__ = ("_partial", "_repairs", "document", "growing_text", "id", "name")

    KEPT: ClassVar[dict[str, str]] = {"arguments": "growing_text", "partial": "_partial"}

    def __init__(
        self,
        name: str | None,
        arguments: object,
        partial: object,
        id: str | None,  # noqa: A002 - what everybody calls it
        index: int,
        is_open: bool,
        item_id: str | None,
        extra: dict[str, JsonValue] | None,
        repairs: tuple[Repair, ...],
        needs_action: bool = False,
    ) -> None:
        BasePart.__init__(self, index, is_open, item_id, extra, needs_action)
        self.name: Final = name
        """`None` until it is known."""
        self.id: Final = id
        """What the result of the call refers to."""
        self.growing_text: Final = read_text(arguments)
        """The arguments as they were written, in pieces that are joined when they are read."""
        self.document: Final = partial if isinstance(partial, Document) else None
        """The arguments while they are read, `None` once they are decided."""
        self._partial: Final = partial
        self._repairs: Final = repairs

    @property
    def arguments(self) -> str:
        """The arguments as they were written, so far."""
        return self.growing_text.read()

    @property
    def partial(self) -> JsonValue | Missing:
        """What may be shown of the arguments; what did not change is the same object as before."""
        return cast("JsonValue", self._partial) if self.document is None else self.document.value

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """What was mended in the arguments, in the order of their text; `arguments` stays as it was written."""
        return self._repairs if self.document is None else self.document.repairs

    def is_complete_at(self, path: str | Sequence[Segment]) -> bool:
        """Return whether the value at a path of the arguments, such as `days[0].title`, will not change any more."""
        return not self.is_open if self.document is None else self.document.is_complete_at(path)

    def grow(self, name: str | None, text: GrowingText, document: Document, call_id: str | None) -> BaseCall:
        """Return the call with a longer text of arguments, and what else is known by now."""
        raise NotImplementedError

    def describe(self) -> str:
        return f"{self.name and shorten(self.name)}({shorten(self.arguments)})"


class CompleteCall(BaseCall):
    """A call whose arguments are all there, and valid: it can be run."""

    __slots__ = ("_model", "arguments_value")

    FIELDS: ClassVar[tuple[str, ...]] = ("name", "arguments_value", "arguments", "id", *TAIL, "repairs")
    KEPT: ClassVar[dict[str, str]] = {"arguments": "growing_text", "model": "_model"}

    def __init__(
        self,
        name: str,
        arguments_value: object,
        arguments: object = None,
        id: str | None = None,  # noqa: A002
        index: int = 0,
        is_open: bool = False,
        item_id: str | None = None,
        extra: dict[str, JsonValue] | None = None,
        repairs: tuple[Repair, ...] = (),
        model: object = MISSING,
    ) -> None:
        written = write_json(arguments_value) if arguments is None else arguments
        BaseCall.__init__(self, name, written, arguments_value, id, index, is_open, item_id, extra, repairs)
        self.arguments_value: Final = cast("JsonValue", arguments_value)
        """The arguments to run the tool with."""
        self._model: Final = model

    @property
    def arguments_model(self) -> object:
        """The arguments as an instance of the tool's type, if it has one."""
        return self.arguments_value if self._model is MISSING else self._model

    @property
    def status(self) -> Literal[Outcome.COMPLETE]:
        """Always `Outcome.COMPLETE`."""
        return Outcome.COMPLETE

    @property
    def error(self) -> None:
        """Always `None`."""
        return

    def grow(self, name: str | None, text: GrowingText, document: Document, call_id: str | None) -> CompleteCall:
        return self

    def close(self) -> CompleteCall:
        return self

    def __repr__(self) -> str:
        return f"<CompleteCall {self.describe()}>"


_Unfinished: TypeAlias = Literal[
    Outcome.STREAMING, Outcome.TRUNCATED, Outcome.INVALID, Outcome.REFUSED, Outcome.FILTERED, Outcome.CANCELLED
]


class PartialCall(BaseCall):
    """A call that is not complete, or not valid: there is nothing to run."""

    __slots__ = ("error", "status")

    FIELDS: ClassVar[tuple[str, ...]] = ("name", "arguments", "partial", "status", "error", "id", *TAIL, "repairs")

    def __init__(
        self,
        name: str | None = None,
        arguments: object = "",
        partial: object = MISSING,
        status: Outcome = Outcome.STREAMING,
        error: ErrorDetail | None = None,
        id: str | None = None,  # noqa: A002
        index: int = 0,
        is_open: bool = False,
        item_id: str | None = None,
        extra: dict[str, JsonValue] | None = None,
        repairs: tuple[Repair, ...] = (),
    ) -> None:
        if status is _COMPLETE:
            raise ValueError("a call that is complete is a CompleteCall")
        BaseCall.__init__(self, name, arguments, partial, id, index, is_open, item_id, extra, repairs)
        self.status: Final[_Unfinished] = cast("_Unfinished", status)
        """How it ended, or `STREAMING`; never `Outcome.COMPLETE`."""
        self.error: Final = error
        """The first error, once the message has ended."""

    def grow(self, name: str | None, text: GrowingText, document: Document, call_id: str | None) -> PartialCall:
        return PartialCall(
            name, text, document, self.status, None, call_id, self.index, self.is_open, self.item_id, self._extra
        )

    def __repr__(self) -> str:
        return f"<PartialCall {self.status.name} {self.describe()}>"


def _refuse(call: PartialCall) -> NoReturn:
    why = f": {call.error.message}" if call.error else ""
    raise IncompleteCallError(
        f"the call of {call.name!r} is {call.status.value}{why}; it has no arguments to run, only .partial"
    )


# Not in the class, so that type checkers do not know them either.
for _name in ("arguments_value", "arguments_model"):
    setattr(PartialCall, _name, property(_refuse))


class ServerCall(BaseCall):
    """A tool that the provider runs itself: shown, never to be run by the caller."""

    __slots__ = ("result", "status", "type")

    FIELDS: ClassVar[tuple[str, ...]] = (
        "name",
        "arguments",
        "result",
        "status",
        "type",
        "needs_action",
        "partial",
        "id",
        *TAIL,
        "repairs",
    )

    def __init__(
        self,
        name: str | None = None,
        arguments: object = "",
        result: object = MISSING,
        status: str | None = None,
        type: str = "",  # noqa: A002 - what providers call it
        needs_action: bool = False,
        partial: object = MISSING,
        id: str | None = None,  # noqa: A002
        index: int = 0,
        is_open: bool = False,
        item_id: str | None = None,
        extra: dict[str, JsonValue] | None = None,
        repairs: tuple[Repair, ...] = (),
    ) -> None:
        BaseCall.__init__(self, name, arguments, partial, id, index, is_open, item_id, extra, repairs, needs_action)
        self.result: Final = cast("JsonValue | Missing", result)
        """What the tool returned, as the provider wrote it; `MISSING` before."""
        self.status: Final = status
        """Its status, in the provider's words."""
        self.type: Final = type
        """What kind of tool it is, in the provider's words."""

    def grow(self, name: str | None, text: GrowingText, document: Document, call_id: str | None) -> ServerCall:
        return ServerCall(
            name,
            text,
            self.result,
            self.status,
            self.type,
            self.needs_action,
            document,
            call_id,
            self.index,
            self.is_open,
            self.item_id,
            self._extra,
        )

    def __repr__(self) -> str:
        status = f" {self.status}" if self.status else ""
        return f"<ServerCall{status} {self.describe()}>"


ToolCall: TypeAlias = CompleteCall | PartialCall
"""A call for the caller to run; ask `status`, or for the class, before you run it."""
Part: TypeAlias = TextPart | ReasoningPart | CompleteCall | PartialCall | ServerCall | Refusal | Source | File | Other
"""One piece of a message, in the order in which the provider began them."""
