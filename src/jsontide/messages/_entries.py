"""The parts of a message that is being read, each with what is needed to read on.

Rule: an entry is a value. A list of entries is copied before it is written to, so that earlier states keep theirs.
"""

from __future__ import annotations

from typing import ClassVar, Final, cast

from jsontide._textbuffer import NO_TEXT, GrowingText
from jsontide.messages.calls import BaseCall, Part
from jsontide.messages.document import Document
from jsontide.messages.parts import BasePart, GrowingPart, Source, TextPart
from jsontide.messages.record import Record

NO_KEY: Final = -(1 << 60)
"""The key of a part that the provider does not name: only the last part can grow."""
NO_INDEX: Final = -(1 << 60)
"""The index of a call that the provider does not count."""
NO_PLACES: Final[frozenset[int]] = frozenset()


class Entry(Record):
    """A part, and the key by which the provider's events name it."""

    __slots__ = ("key", "part")

    FIELDS: ClassVar[tuple[str, ...]] = ("part", "key")

    def __init__(self, part: BasePart, key: int) -> None:
        self.part: Final = part
        self.key: Final = key


class TextEntry(Entry):
    """A part whose text grows."""

    __slots__ = ("held", "text")

    FIELDS: ClassVar[tuple[str, ...]] = ("part", "key", "text", "held")

    def __init__(self, part: GrowingPart, key: int, text: GrowingText, held: str) -> None:
        Entry.__init__(self, part, key)
        self.text: Final = text
        self.held: Final = held
        """Half a character at the end of the text, which waits for its other half."""


class CallEntry(Entry):
    """A tool call."""

    __slots__ = (
        "beside",
        "document",
        "doubt",
        "held",
        "id",
        "index",
        "is_blank",
        "is_cut_off",
        "is_hidden",
        "name",
        "on_server",
        "shares_index",
        "text",
    )

    FIELDS: ClassVar[tuple[str, ...]] = (
        "part",
        "key",
        "index",
        "document",
        "on_server",
        "is_hidden",
        "text",
        "held",
        "is_blank",
        "is_cut_off",
        "doubt",
        "shares_index",
        "beside",
    )

    def __init__(
        self,
        part: BaseCall,
        key: int,
        index: int,
        document: Document,
        on_server: bool,
        is_hidden: bool,
        text: GrowingText = NO_TEXT,
        held: str = "",
        is_blank: bool = True,
        is_cut_off: bool = False,
        doubt: str = "",
        shares_index: bool = False,
        beside: frozenset[int] = NO_PLACES,
    ) -> None:
        Entry.__init__(self, part, key)
        self.index: Final = index
        """As the provider counts."""
        self.id: Final = part.id
        self.name: Final = part.name
        self.text: Final = text
        self.held: Final = held
        """Half a character at the end of the text, which waits for its other half."""
        self.document: Final = document
        self.is_blank: Final = is_blank
        """Whether there is nothing but white space in the text."""
        self.on_server: Final = on_server
        """Whether the provider runs it."""
        self.is_cut_off: Final = is_cut_off
        """Whether the provider says that it broke off."""
        self.doubt: Final = doubt
        """Why it is not known what belongs to it; such a call cannot be run."""
        self.is_hidden: Final = is_hidden
        """Whether the message does not show it: it is the answer itself, or may become that."""
        self.shares_index: Final = shares_index
        """Whether another call of its index was open when it began."""
        self.beside: Final = beside
        """The places of the calls that were open while arguments came for this one, which had no name yet."""

    def with_doubt(self, why: str) -> CallEntry:
        """Return the same call, which cannot be run; the first reason stays."""
        return self if self.doubt else self.evolve(doubt=why)

    def came_beside(self, places: frozenset[int]) -> CallEntry:
        """Return the same call after arguments that came while other calls were open."""
        return self if places <= self.beside else self.evolve(beside=self.beside | places)

    @property
    def call(self) -> BaseCall:
        part = self.part
        assert isinstance(part, BaseCall)
        return part


class Entries:
    """The entries of one state, which may be written to after a copy."""

    __slots__ = ("changed_calls", "is_changed", "items", "overflow", "room")

    def __init__(self, items: list[Entry], room: int) -> None:
        self.items: list[Entry] = items
        self.room: Final = room
        """How many there may be."""
        self.is_changed = False
        self.changed_calls = False
        """Whether a call began or grew."""
        self.overflow = False
        """Whether there was one too many, which is left out."""

    def put(self, at: int, entry: Entry) -> None:
        """Replace the entry at a place, or add one at the end."""
        if not self.is_changed:
            self.items = self.items[:]
            self.is_changed = True
        if isinstance(entry, CallEntry):
            self.changed_calls = True
        items = self.items
        if at < len(items):
            items[at] = entry
        elif at < self.room:
            items.append(entry)
        else:
            self.overflow = True

    def find(self, key: int) -> int:
        """Return the place of the last entry with a key, -1 if there is none."""
        items = self.items
        at = len(items) - 1
        while at >= 0 and items[at].key != key:
            at -= 1
        return at

    def find_text(self, key: int) -> int:
        """Return the place of the last text with a key, with `NO_KEY` of the last text, -1 if there is none."""
        items = self.items
        at = len(items) - 1
        while at >= 0 and not (isinstance(items[at].part, TextPart) and (key == NO_KEY or items[at].key == key)):
            at -= 1
        return at

    def before_sources(self, at: int) -> int:
        """Return the last place up to one that is no source: these stand beside a text, and do not end it."""
        items = self.items
        while at >= 0 and isinstance(items[at].part, Source):
            at -= 1
        return at


def shown_parts(items: list[Entry], emulates: bool) -> tuple[Part, ...]:
    """Return the parts that a message shows; where a call may be the answer itself, some may be hidden."""
    if emulates:
        items = [entry for entry in items if not (isinstance(entry, CallEntry) and entry.is_hidden)]
    return tuple([cast("Part", entry.part) for entry in items])


def has_calls(items: list[Entry]) -> bool:
    """Return whether the message shows a call for the caller."""
    for entry in items:
        if isinstance(entry, CallEntry) and not entry.on_server and not entry.is_hidden:
            return True
    return False
