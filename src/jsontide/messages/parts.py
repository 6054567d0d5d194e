"""The parts of a message beside its calls: text, reasoning, refusals, sources, files, and whatever else was sent.

Rule: a part is a value that anybody can build. While a stream grows, its texts are joined when they are read.
"""

from __future__ import annotations

from typing import ClassVar, Final, cast

from jsontide._check import check_type
from jsontide._textbuffer import GrowingText
from jsontide._values import JsonValue
from jsontide.messages.record import Record, shorten
from jsontide.messages.types import Citation

TAIL: Final = ("index", "is_open", "item_id", "extra")
"""What every part has, after its own fields."""


class BasePart(Record):
    """What all parts have."""

    __slots__ = ("_extra", "index", "is_open", "item_id", "needs_action")

    def __init__(
        self,
        index: int,
        is_open: bool,
        item_id: str | None,
        extra: dict[str, JsonValue] | None,
        needs_action: bool = False,
    ) -> None:
        self.index: Final = index
        """Its place among the parts of its message."""
        self.is_open: Final = is_open
        """Whether the provider may still add to it."""
        self.item_id: Final = item_id
        """The provider's id of its item or block, if there is one."""
        self._extra: Final = extra
        self.needs_action: Final = needs_action
        """Whether the provider waits for the caller: an approval, a patch or a command to run."""

    @property
    def extra(self) -> dict[str, JsonValue]:
        """What no field holds, as the provider wrote it."""
        return {} if self._extra is None else self._extra

    def close(self) -> BasePart:
        """Return the finished part."""
        return self.evolve(is_open=False)


class GrowingPart(BasePart):
    """A part whose text grows."""

    __slots__ = ("growing_text",)

    KEPT: ClassVar[dict[str, str]] = {"text": "growing_text"}

    def __init__(
        self, text: object, index: int, is_open: bool, item_id: str | None, extra: dict[str, JsonValue] | None
    ) -> None:
        BasePart.__init__(self, index, is_open, item_id, extra)
        self.growing_text: Final = read_text(text)
        """The text in pieces, which are joined when it is read."""

    @property
    def text(self) -> str:
        """The text so far."""
        return self.growing_text.read()

    def grow(self, text: GrowingText) -> GrowingPart:
        """Return the part with more text."""
        raise NotImplementedError

    def __repr__(self) -> str:
        is_open = " open" if self.is_open else ""
        return f"<{type(self).__name__}{is_open} {shorten(self.text)!r}>"


def read_text(text: object) -> GrowingText:
    """Return text as one that can grow."""
    return text if isinstance(text, GrowingText) else GrowingText(check_type("text", text, str, "a str"))


class Citations:
    """Citations that grow at their end; adding one costs the same however many there are."""

    __slots__ = ("_before", "_keys", "_last", "_whole", "count")

    def __init__(
        self, last: list[Citation], keys: set[str] | None = None, before: Citations | None = None, count: int = -1
    ) -> None:
        self._last: Final = last
        self._keys: Final[set[str]] = {repr(one) for one in last} if keys is None else keys
        self._before: Final = before
        self._whole: tuple[Citation, ...] | None = None
        self.count: Final[int] = len(last) if count < 0 else count

    def add(self, more: list[Citation]) -> Citations:
        count = self.count + len(more)
        keys = {repr(one) for one in more}
        before: Citations | None = self
        while before is not None and len(before._last) <= len(more):
            more = before._last + more
            keys = before._keys | keys
            before = before._before
        return Citations(more, keys, before, count)

    def has(self, citation: Citation) -> bool:
        """Return whether an equal citation is known."""
        key = repr(citation)
        part: Citations | None = self
        while part is not None:
            if key in part._keys:
                return True
            part = part._before
        return False

    def read(self) -> tuple[Citation, ...]:
        """Return all citations, joined once."""
        whole = self._whole
        if whole is None:
            lists: list[list[Citation]] = []
            part: Citations | None = self
            while part is not None:
                lists.append(part._last)
                part = part._before
            lists.reverse()
            whole = self._whole = tuple([one for each in lists for one in each])
        return whole


NO_CITATIONS: Final = Citations([])


def read_citations(citations: object) -> Citations:
    """Return citations as a collection that can grow."""
    if isinstance(citations, Citations):
        return citations
    given = list(cast("tuple[Citation, ...]", citations))
    return Citations(given) if given else NO_CITATIONS


class TextPart(GrowingPart):
    """Text that the model wrote for its reader."""

    __slots__ = ("_citations",)

    FIELDS: ClassVar[tuple[str, ...]] = ("text", "citations", *TAIL)
    KEPT: ClassVar[dict[str, str]] = {"text": "growing_text", "citations": "_citations"}

    def __init__(
        self,
        text: object = "",
        citations: object = (),
        index: int = 0,
        is_open: bool = False,
        item_id: str | None = None,
        extra: dict[str, JsonValue] | None = None,
    ) -> None:
        GrowingPart.__init__(self, text, index, is_open, item_id, extra)
        self._citations: Final = read_citations(citations)

    @property
    def citations(self) -> tuple[Citation, ...]:
        """Where the text comes from."""
        return self._citations.read()

    def grow(self, text: GrowingText) -> TextPart:
        return TextPart(text, self._citations, self.index, True, self.item_id, self._extra)


class ReasoningPart(GrowingPart):
    """What the model says about its thinking, and what must be sent back so that it can go on."""

    __slots__ = ("encrypted", "redacted", "signature")

    FIELDS: ClassVar[tuple[str, ...]] = ("text", "signature", "redacted", "encrypted", *TAIL)

    def __init__(
        self,
        text: object = "",
        signature: str | None = None,
        redacted: bool = False,
        encrypted: str | None = None,
        index: int = 0,
        is_open: bool = False,
        item_id: str | None = None,
        extra: dict[str, JsonValue] | None = None,
    ) -> None:
        GrowingPart.__init__(self, text, index, is_open, item_id, extra)
        self.signature: Final = signature
        """Proves to the provider that the text is its own."""
        self.redacted: Final = redacted
        """Whether the provider withholds the text."""
        self.encrypted: Final = encrypted
        """The thinking in a form that only the provider can read."""

    def grow(self, text: GrowingText) -> ReasoningPart:
        return ReasoningPart(
            text, self.signature, self.redacted, self.encrypted, self.index, True, self.item_id, self._extra
        )


class Refusal(GrowingPart):
    """Why the model refused to answer."""

    __slots__ = ()

    FIELDS: ClassVar[tuple[str, ...]] = ("text", *TAIL)

    def __init__(
        self,
        text: object = "",
        index: int = 0,
        is_open: bool = False,
        item_id: str | None = None,
        extra: dict[str, JsonValue] | None = None,
    ) -> None:
        GrowingPart.__init__(self, text, index, is_open, item_id, extra)

    def grow(self, text: GrowingText) -> Refusal:
        return Refusal(text, self.index, True, self.item_id, self._extra)


class Source(BasePart):
    """A page or document that the answer is based on."""

    __slots__ = ("title", "url")

    FIELDS: ClassVar[tuple[str, ...]] = ("url", "title", *TAIL)

    def __init__(
        self,
        url: str | None = None,
        title: str | None = None,
        index: int = 0,
        is_open: bool = False,
        item_id: str | None = None,
        extra: dict[str, JsonValue] | None = None,
    ) -> None:
        BasePart.__init__(self, index, is_open, item_id, extra)
        self.url: Final = url
        self.title: Final = title

    def __repr__(self) -> str:
        return f"<Source {self.url or self.title!r}>"


class File(BasePart):
    """An image, audio, a document: of the user, the model or a tool."""

    __slots__ = ("data", "id", "media_type", "name", "url")

    FIELDS: ClassVar[tuple[str, ...]] = ("media_type", "data", "url", "id", *TAIL, "name")

    def __init__(
        self,
        media_type: str | None = None,
        data: str | None = None,
        url: str | None = None,
        id: str | None = None,  # noqa: A002
        index: int = 0,
        is_open: bool = False,
        item_id: str | None = None,
        extra: dict[str, JsonValue] | None = None,
        name: str | None = None,
    ) -> None:
        BasePart.__init__(self, index, is_open, item_id, extra)
        self.media_type: Final = media_type
        self.data: Final = data
        """The content in base64."""
        self.url: Final = url
        self.id: Final = id
        """The provider's id of the content, if the content is not here."""
        self.name: Final = name
        """What the file is called."""

    def __repr__(self) -> str:
        where = self.url or self.id or f"{len(self.data or '')} characters"
        return f"<File {self.media_type} {where}>"


class Other(BasePart):
    """What no other part describes, as the provider wrote it."""

    __slots__ = ("raw", "type")

    FIELDS: ClassVar[tuple[str, ...]] = ("type", "raw", "needs_action", *TAIL)

    def __init__(
        self,
        type: str = "",  # noqa: A002
        raw: object = None,
        needs_action: bool = False,
        index: int = 0,
        is_open: bool = False,
        item_id: str | None = None,
        extra: dict[str, JsonValue] | None = None,
    ) -> None:
        BasePart.__init__(self, index, is_open, item_id, extra, needs_action)
        self.type: Final = type
        """In the provider's words."""
        self.raw: Final = cast("JsonValue", raw)

    def __repr__(self) -> str:
        action = " needs action" if self.needs_action else ""
        return f"<Other{action} {self.type!r}>"
