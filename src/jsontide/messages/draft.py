"""A state and what one event says about the message in, the next state out.

A provider's reader calls the methods of a draft for each thing that it finds in an event, in order.
It names parts by keys of its choice: the place of a block or an item, or `NO_KEY` where the provider names none; text
without a key continues the last part if that is of the same kind.
`feed_message` reads the neutral form of events in this way.

Deltas of tool calls become calls by one algorithm for every provider:
a delta continues the last call of its index; without an index the call of its id, else the open one.
It begins another call if its id or name differs from that call's, or if it names a call whose arguments are complete
already and brings more.
The first id and the first name count; arguments wait for the name and are never lost.
Nothing is guessed: where a delta may belong to several open calls, two calls have one id, or a name may be the rest of
another call's name, all of these calls are ambiguous and cannot be run. So is a call whose arguments are not text, or
contradict those before: what cannot be added to it changes neither its text nor its value. A delta that lacks the index
which its call has is noted: if there are several calls at the end, it may be of any of them.

Rule: nothing raises on what a provider sends. A draft that got nothing new returns the same state, and a part that
nothing touches stays the same object.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from jsontide._check import check_state
from jsontide._textbuffer import (
    NO_TEXT,
    GrowingList,
    GrowingLists,
    GrowingText,
    ends_in_surrogate,
    join_surrogates,
    strip_surrogate,
)
from jsontide._values import MISSING, JsonValue
from jsontide.messages.calls import BaseCall, Part, PartialCall, ServerCall
from jsontide.messages.document import Document, ReadingRules, write_json
from jsontide.messages.ending import Ending, end_message, leaves_to_run, more_severe, normalize
from jsontide.messages.message import LateUsage, Message
from jsontide.messages.parts import BasePart, GrowingPart, ReasoningPart, Refusal, Source, TextPart
from jsontide.messages.provider_errors import explain_error
from jsontide.messages.state import NO_INDEX, NO_KEY, CallEntry, MessageState, PartEntry
from jsontide.messages.types import Choice, Citation, CompletionChunk, ErrorDetail, ErrorKind, ToolCallDelta, Usage

__all__ = ["NO_INDEX", "NO_KEY", "UNREADABLE_ARGUMENTS", "CallDelta", "Draft", "Note", "feed_message", "read_chunk"]

UNREADABLE_ARGUMENTS: Final = "\0not a text\0"
"""Stands for a piece of arguments that is not text."""
_UNREADABLE_PIECE: Final = "a piece of the arguments is neither text nor an object"
_CONTRADICTION: Final = "the arguments contradict those before"
_SHARED_ID: Final = "two calls have the id {!r}: what belongs to which of them is not known, it may be of either"
_TEXT_OF_CALL: Final = "a text came for a part that is a call: it may be its arguments"
_AMBIGUOUS_DELTA: Final = "a delta came that does not say which of several open calls it belongs to: it may be this one"
_SPLIT_NAME: Final = "the names {!r} and {!r} may be of two calls, or the two parts of one name"


_TEXT: Final = 0
_REASONING: Final = 1
_REFUSAL: Final = 2


class CallDelta:
    """What an event says about one tool call."""

    __slots__ = (
        "arguments",
        "cut_off",
        "id",
        "index",
        "is_object",
        "is_whole",
        "is_written",
        "key",
        "name",
        "on_server",
    )

    def __init__(
        self,
        index: int = NO_INDEX,
        id: str | None = None,  # noqa: A002 - what everybody calls it
        name: str | None = None,
        arguments: str | None = None,
        is_whole: bool = False,
        is_object: bool = False,
        on_server: bool = False,
        cut_off: bool = False,
        key: int = NO_KEY,
        is_written: bool = False,
    ) -> None:
        self.index: Final = index
        self.id: Final = id
        self.name: Final = name
        self.arguments: Final = arguments
        self.is_whole = is_whole
        """Whether these are all arguments so far, instead of a continuation."""
        self.is_object: Final = is_object
        """Whether the provider sent an object, and the reader wrote its text."""
        self.on_server: Final = on_server
        """Whether the provider runs this tool itself."""
        self.cut_off: Final = cut_off
        """Whether the provider reports that the call broke off."""
        self.key: Final = key
        """The key of the part."""
        self.is_written: Final = is_written or is_object
        """Whether the reader wrote the arguments as JSON, so that nothing needs mending."""

    def with_arguments(self, arguments: str) -> CallDelta:
        """Return the same with another text as arguments."""
        return CallDelta(
            self.index,
            self.id,
            self.name,
            arguments,
            self.is_whole,
            self.is_object,
            self.on_server,
            self.cut_off,
            self.key,
            self.is_written,
        )

    @property
    def is_delta(self) -> bool:
        """Whether the arguments continue the text."""
        return not self.is_whole and not self.is_object

    @property
    def is_blank(self) -> bool:
        """Whether it brings no arguments."""
        arguments = self.arguments
        return arguments is None or (not self.is_object and not arguments.strip())

    @property
    def is_empty(self) -> bool:
        """Whether no call can begin with it."""
        has_arguments = bool(self.arguments) and not (self.is_object and self.arguments == "{}")
        return not (self.id or self.name or has_arguments or self.on_server)

    @property
    def says_nothing(self) -> bool:
        return not (self.id or self.name or self.on_server or self.cut_off) and self.is_blank


class Note:
    """That an event adds a piece to a text or to a call, without the piece."""

    __slots__ = ("delta", "key", "kind", "place")

    def __init__(self, kind: int, key: int, delta: CallDelta | None, place: int) -> None:
        self.kind: Final = kind
        self.key: Final = key
        self.delta: Final = delta
        self.place: Final = place
        """The index of the part."""


class Draft:
    """The next state in the making: the state before, and the changes that an event brings."""

    __slots__ = (
        "_before",
        "_changes",
        "_delta",
        "_document",
        "_has_new_calls",
        "_has_new_entries",
        "_has_new_fields",
        "_is_full",
        "_key",
        "_kind",
        "_loss",
        "_notes",
        "_piece",
        "_place",
        "_raw_reason",
        "_reason",
        "_rules",
        "_unread",
        "_usage",
        "choice",
        "created",
        "entries",
        "error",
        "id",
        "metadata",
        "model",
        "provider",
        "role",
    )

    def __init__(self, before: MessageState, rules: ReadingRules) -> None:
        message = before.newest
        self._before: Final = before
        self._rules: Final = rules
        self.choice: Final = rules.choice
        self.entries: list[PartEntry] = before.entries
        """The entries of the state before, copied before the first change."""
        self._has_new_entries = False
        """Whether an entry was changed or added."""
        self._has_new_calls = False
        """Whether a call began or grew."""
        self._changes = 0
        """How often an entry was."""
        self._place = -1
        """The index of the last one."""
        self._notes = 0
        """How many pieces of texts and calls were added; the last of them is what follows."""
        self._kind = _TEXT
        self._key = NO_KEY
        self._delta: CallDelta | None = None
        self._piece: str | None = None
        self._is_full = False
        """Whether an entry was left out because there was no room for it."""
        self._document: Document | None = before.document
        self._has_new_fields = False
        self._loss: str = before.loss
        self._unread: str = before.unread
        self._reason: str | None = None
        self._raw_reason: str | None = None
        self.id: str | None = message.id
        self.model: str | None = message.model
        self.provider: str | None = message.provider
        self.created: object = message.created
        self.role: str | None = None
        self._usage: Usage | LateUsage | None = message._usage
        self.metadata: dict[str, object] | None = message._metadata
        self.error: ErrorDetail | None = None

    def identify(self, id: str | None, model: str | None, created: object, provider: str) -> None:  # noqa: A002
        """Set the id, model and time of the message; the first known value of each stays."""
        if provider and self.provider is None:
            self.provider = provider
            self._has_new_fields = True
        if id and self.id is None:
            self.id = id
            self._has_new_fields = True
        if model and self.model is None:
            self.model = model
            self._has_new_fields = True
        if created is not None and self.created is None:
            self.created = created
            self._has_new_fields = True

    def set_model(self, model: str | None) -> None:
        """Note that another model continues the message."""
        if model and model != self.model:
            self.model = model
            self._has_new_fields = True

    def set_role(self, role: str | None) -> None:
        """Set the role, unless the message has parts already: a later role belongs to another message."""
        if role and not self._before.has_role and self.role is None and not self.entries:
            self.role = role
            self._has_new_fields = self._has_new_fields or role != self._before.newest.role

    @property
    def usage(self) -> Usage | None:
        """The usage so far."""
        usage = self._usage
        return usage.read() if isinstance(usage, LateUsage) else usage

    def set_usage(self, usage: Usage | None) -> None:
        """Set the usage so far; the last one counts."""
        if usage is not None and usage != self.usage:
            self._usage = usage
            self._has_new_fields = True

    def replace_usage(self, usage: LateUsage) -> None:
        """Set a usage that is not equal to the last one."""
        self._usage = usage
        self._has_new_fields = True

    def set_metadata(self, name: str, value: JsonValue) -> None:
        """Keep something that no field holds; the last value counts."""
        known = MISSING if self.metadata is None else self.metadata.get(name, MISSING)
        if known is MISSING or known != value:
            self._keep(name, value)

    def extend_metadata(self, name: str, values: list[JsonValue]) -> None:
        """Add to a list that no field holds, such as log probabilities."""
        if values:
            known = None if self.metadata is None else self.metadata.get(name)
            if not isinstance(known, GrowingList):
                known = GrowingList(known if isinstance(known, list) else [])
            self._keep(name, known.extend(cast("list[object]", values)))

    def extend_metadata_in(self, name: str, lists: dict[str, JsonValue]) -> None:
        """Add to the lists of an object that no field holds, such as log probabilities of several kinds."""
        if lists:
            self._keep(name, self.lists_in(name).extend(cast("dict[str, object]", lists)))

    def lists_in(self, name: str) -> GrowingLists:
        """Return the lists of an object to which `extend_metadata_in` adds."""
        known = None if self.metadata is None else self.metadata.get(name)
        if isinstance(known, GrowingLists):
            return known
        return GrowingLists(dict(known) if isinstance(known, dict) else {})

    def _keep(self, name: str, value: object) -> None:
        metadata = self.metadata
        if metadata is None or metadata is self._before.newest._metadata:
            metadata = {} if metadata is None else dict(metadata)
            self.metadata = metadata
        metadata[name] = value
        self._has_new_fields = True

    def finish(self, reason: str | None, raw: str | None) -> None:
        """Note why the message ends: the normalized finish reason, and the provider's own word."""
        if reason:
            self._reason = more_severe(self._reason, reason)
            self._raw_reason = raw
            self._has_new_fields = True

    def fail(self, why: str, reported: object = None) -> None:
        """End the message with an error; `reported` is the provider's error as plain JSON, if it sent one."""
        if self.error is None:
            explained = None if reported is None else explain_error(reported)
            why = why or "the stream failed"
            self.error = ErrorDetail(ErrorKind.TRANSPORT, "stream", why, (), None, explained)

    def lose(self, why: str) -> None:
        """Note that a piece which may be arguments is unreadable: no call of the message can be run."""
        if not self._loss:
            self._loss = why
            self._has_new_fields = True

    def leave_unread(self, why: str) -> None:
        """Note that something may be all the arguments of a call: none that has no others can be run."""
        if not self._unread:
            self._unread = why
            self._has_new_fields = True

    def mark_open_calls(self, why: str) -> None:
        """Note that a piece is lost or out of order: it may be arguments of any open call."""
        _mark_ambiguous(self, _find_growing(self), why)

    def put(self, at: int, entry: PartEntry) -> None:
        """Replace the entry at an index, or add one at the end."""
        self._changes += 1
        self._place = at
        if not self._has_new_entries:
            self.entries = self.entries[:]
            self._has_new_entries = True
        if isinstance(entry, CallEntry):
            self._has_new_calls = True
        items = self.entries
        if at < len(items):
            items[at] = entry
        elif at < self._rules.max_parts:
            items.append(entry)
        else:
            self._is_full = True

    def _index_of(self, key: int) -> int:
        """Return the index of the last entry with a key, or -1."""
        items = self.entries
        at = len(items) - 1
        while at >= 0 and items[at].key != key:
            at -= 1
        return at

    def _before_sources(self, at: int) -> int:
        """Return the last index up to this one that is not a source, or -1: a source beside a text does not end it."""
        items = self.entries
        while at >= 0 and isinstance(items[at].part, Source):
            at -= 1
        return at

    def add_text(self, key: int, piece: str) -> None:
        """Add to the text of the answer."""
        if piece:
            self._grow(_TEXT, key, piece)

    def add_reasoning(self, key: int, piece: str) -> None:
        if piece:
            self._grow(_REASONING, key, piece)

    def add_refusal(self, key: int, piece: str) -> None:
        if piece:
            self._grow(_REFUSAL, key, piece)

    def add_call(self, delta: CallDelta) -> int:
        """Add a delta to its call, and return the index of that part; -1 if no call or too many parts are there."""
        self._notes += 1
        self._delta, self._piece = delta, delta.arguments
        count = len(self.entries)
        at = _merge_call(self, delta, self._rules)
        if at == count and count:
            self._close_last(count - 1)
        return at if at < len(self.entries) else -1

    @property
    def count(self) -> int:
        """The number of parts."""
        return len(self.entries)

    @property
    def parts(self) -> list[BasePart]:
        """The parts in order; what is noted later does not change this list."""
        return [entry.part for entry in self.entries]

    def key_at(self, at: int) -> int:
        """Return the key of the part at an index."""
        return self.entries[at].key

    def find(self, key: int) -> BasePart | None:
        """Return the part with a key, or `None`."""
        at = self._index_of(key)
        return None if at < 0 else self.entries[at].part

    def find_at(self, key: int) -> int:
        """Return the index of the part with a key, with `NO_KEY` of the last part; -1 if there is none."""
        return len(self.entries) - 1 if key == NO_KEY else self._index_of(key)

    def part_at(self, at: int) -> BasePart:
        return self.entries[at].part

    def place_of(self, key: int) -> int:
        """Return the index of the part with a key, or the index that a new part would get."""
        at = -1 if key == NO_KEY else self._index_of(key)
        return len(self.entries) if at < 0 else at

    def set_part(self, key: int, part: BasePart) -> int:
        """Add a part, or replace the one with its key; its `index` must be `place_of(key)`.

        Return that index, or -1 if the message has too many parts.
        """
        at = part.index
        if at == len(self.entries) and at and not isinstance(part, Source):
            self._close_last(at - 1)
        self.put(at, PartEntry(part, key))
        return at if at < len(self.entries) else -1

    def replace_part(self, at: int, part: BasePart) -> None:
        """Replace a part by the same one with other fields; its text and arguments stay."""
        has_grown = self._has_new_calls
        self.put(at, self.entries[at].evolve(part=part))
        self._has_new_calls = has_grown

    def update_part(self, at: int, **changes: object) -> None:
        """Change fields of the part at an index, if there is one."""
        if 0 <= at < len(self.entries):
            self.replace_part(at, self.entries[at].part.evolve(**changes))

    def add_extra(self, at: int, extra: dict[str, JsonValue]) -> None:
        """Keep what no field holds with the part at an index, if there is one."""
        if extra and 0 <= at < len(self.entries):
            known = self.entries[at].part.extra
            merged = {**known, **extra}
            if merged != known:  # some servers repeat it with every delta
                self.update_part(at, extra=merged)

    def annotate(self, at: int, item_id: str | None, extra: dict[str, JsonValue] | None, is_open: bool) -> None:
        """Set the id, the extra fields and the openness of a part."""
        if not 0 <= at < len(self.entries):  # there was no room for it
            return
        part = self.entries[at].part
        item_id = item_id or part.item_id
        if part.is_open is not is_open or part.item_id != item_id or part._extra != extra:
            self.update_part(at, item_id=item_id, extra=extra, is_open=is_open)

    def complete_text(self, key: int, whole: str) -> bool:
        """Add what a part lacks of its whole text; return whether the text so far is the beginning of the whole."""
        at = self._index_of(key)
        part = self.entries[at].part if at >= 0 else None
        if not isinstance(part, GrowingPart):  # there was no room for it
            return True
        rest = _find_rest(whole, part.growing_text, self.entries[at].held)
        if rest:
            self._grow_part(at, part, rest)
        return rest is not None

    def cite(self, key: int, citation: Citation) -> None:
        """Add a citation to the text with a key, with `NO_KEY` to the last text; begin a text if there is none."""
        at = len(self.entries) - 1
        while at >= 0 and not (
            isinstance(self.entries[at].part, TextPart) and (key == NO_KEY or self.entries[at].key == key)
        ):
            at -= 1
        if at < 0:
            self.set_part(key, TextPart("", (citation,), len(self.entries), True))
            return
        part = self.entries[at].part
        assert isinstance(part, TextPart)
        if not part._citations.has(citation):
            self.update_part(at, citations=part._citations.add([citation]))

    def close(self, key: int) -> None:
        """Note that the part with a key is finished."""
        at = self._index_of(key)
        if at >= 0 and self.entries[at].part.is_open:
            self.replace_part(at, self.entries[at].part.close())

    def _close_last(self, at: int) -> None:
        """Close a text without a key, because another part begins."""
        at = self._before_sources(at)
        if at < 0:
            return
        part = self.entries[at].part
        if self.entries[at].key == NO_KEY and isinstance(part, GrowingPart) and part.is_open:
            self.replace_part(at, part.close())

    def add_again(self, note: Note, piece: str) -> bool:
        """Add a piece as the one was added of which the note is; return whether just the same part grew.

        Otherwise what the event says beside the piece may be about another part, such as a call that begins with it.
        """
        delta = note.delta
        if delta is None:
            self._grow(note.kind, note.key, piece)
        else:
            self.add_call(delta.with_arguments(piece))
        return self._changes == 1 and self._place == note.place

    def find_note(self, piece: object) -> Note | None:
        """Return how this very piece was added, `None` unless that is all that an event brought, beside its usage."""
        message = self._before.newest
        # One character is the same object wherever it stands.
        if self._notes != 1 or self._changes != 1 or piece is not self._piece or len(self._piece or "") < 2:
            return None
        if self._reason is not None or self.error is not None or self.role is not None or self.id is not message.id:
            return None
        if self.metadata is not message._metadata or self._is_full:
            return None
        if self._loss is not self._before.loss or self._unread is not self._before.unread:
            return None
        is_same = self.model is message.model and self.provider is message.provider and self.created is message.created
        return Note(self._kind, self._key, self._delta, self._place) if is_same else None

    def _grow(self, kind: int, key: int, piece: str) -> None:
        self._notes += 1
        self._kind, self._key, self._piece, self._delta = kind, key, piece, None
        at = self._before_sources(len(self.entries) - 1) if key == NO_KEY else self._index_of(key)
        if at >= 0:
            part = self.entries[at].part
            if isinstance(part, GrowingPart) and _is_of_kind(part, kind):
                self._grow_part(at, part, piece)
                return
            if key != NO_KEY and isinstance(part, PartialCall):
                self.lose(_TEXT_OF_CALL)
            if key == NO_KEY and self._grow_waiting(kind, piece):
                return
        place = len(self.entries)
        if place:
            self._close_last(place - 1)
        begun: GrowingPart
        if kind == _TEXT:
            begun = TextPart(NO_TEXT, (), place, True)
        elif kind == _REASONING:
            begun = ReasoningPart(NO_TEXT, None, False, None, place, True)
        else:
            begun = Refusal(NO_TEXT, place, True)
        self._grow_part(place, begun, piece, key)

    def _grow_waiting(self, kind: int, piece: str) -> bool:
        """Add to a text that ends in a surrogate without its pair, if there is one, whatever parts followed it."""
        for at, entry in enumerate(self.entries):
            part = entry.part
            if isinstance(part, GrowingPart) and entry.held and entry.key == NO_KEY and _is_of_kind(part, kind):
                self._grow_part(at, part, piece)
                return True
        return False

    def _grow_part(self, at: int, part: GrowingPart, piece: str, key: int = NO_KEY) -> None:
        """Add to the text of the part at an index, or add a part of this key at the end."""
        held = ""
        if at < len(self.entries):
            entry = self.entries[at]
            key, held = entry.key, entry.held
        if held or ends_in_surrogate(piece):
            piece, held = join_surrogates(held, piece)
        self.put(at, PartEntry(part.grow(part.growing_text.append(piece)), key, held))
        if piece and self._document is not None and isinstance(part, TextPart):
            self._document = self._document.append(piece)

    def freeze(self) -> MessageState:
        """Return the next state; the state before if nothing is new."""
        before = self._before
        if self._is_full:
            self.fail(f"the message has more than {self._rules.max_parts} parts")
        if not self._has_new_entries and not self._has_new_fields and self._document is before.document:
            # A role that the message had anyway leaves the message itself as it is.
            state = before if self.role is None else before.evolve(has_role=True)
        else:
            state = self._make_state()
        if self.error is None:
            return state
        return end_message(state, Ending(state.reason, failure=self.error))

    def _make_state(self) -> MessageState:
        before, rules = self._before, self._rules
        message, items = before.newest, self.entries
        document = self._document
        answer: object = document
        answer_at = before.answer_at
        if rules.answer_is_call:
            if answer_at < 0:
                answer_at = _find_answer(items, rules)
            call = items[answer_at] if answer_at >= 0 else None
            answer = call.document if isinstance(call, CallEntry) else None
        reason, worst, raw_reason = before.reason, before.worst_reason, message.raw_finish_reason
        now = self._reason
        if now is not None:
            worst = reason = more_severe(worst, now)
            raw_reason = self._raw_reason or raw_reason
        elif (
            reason is not None
            and leaves_to_run(reason)
            and (self._has_new_calls or self._is_answer_open(answer, message))
        ):
            # The reason covers what came before it: a call that begins or grows after it may still be cut off.
            reason = None
        parts = message.parts
        if self._has_new_entries:
            shown = [entry for entry in items if not _is_hidden(entry)] if rules.answer_is_call else items
            parts = tuple([cast("Part", entry.part) for entry in shown])
        role = self.role
        finish_reason = None if reason is None else normalize(reason, _has_calls(items))
        made = Message(
            parts,
            message.outcome,
            finish_reason,
            raw_reason,
            self._usage,
            self.id,
            self.model,
            self.provider,
            self.created,
            message.role if role is None else role,
            (),
            self.metadata,
            (),
            message._answer if answer is None else answer,
        )
        has_role = before.has_role or role is not None
        return MessageState(
            before.config, made, items, document, reason, worst, has_role, answer_at, self._loss, self._unread
        )

    def _is_answer_open(self, answer: object, message: Message) -> bool:
        return isinstance(answer, Document) and answer is not message._answer and not answer.is_complete


def _has_calls(items: list[PartEntry]) -> bool:
    """Return whether the message shows a call that the caller has to run."""
    for entry in items:
        if isinstance(entry, CallEntry) and not entry.on_server and not entry.is_hidden:
            return True
    return False


def _find_answer(entries: list[PartEntry], rules: ReadingRules) -> int:
    """Return the index of the call that carries the answer, or -1."""
    for at, entry in enumerate(entries):
        if isinstance(entry, CallEntry) and not entry.on_server and rules.is_output(entry.name):
            return at
    return -1


def _is_hidden(entry: PartEntry) -> bool:
    """Return whether a message leaves an entry out: the call that is or may be the answer."""
    return isinstance(entry, CallEntry) and entry.is_hidden


def _is_of_kind(part: BasePart, kind: int) -> bool:
    if kind == _TEXT:
        return isinstance(part, TextPart)
    return isinstance(part, ReasoningPart) if kind == _REASONING else isinstance(part, Refusal)


# Deltas of tool calls.


def _merge_call(draft: Draft, delta: CallDelta, rules: ReadingRules) -> int:
    """Add a delta to a draft; return the index of its call, or -1 if it has none."""
    delta.is_whole = delta.is_whole or rules.is_cumulative
    at = _find_id(draft, delta.id) if delta.index == NO_INDEX else _find_index(draft, delta)
    if at < 0:
        found = _find_open(draft, delta)
        if len(found) > 1:
            if not delta.says_nothing:
                _mark_ambiguous(draft, found, _AMBIGUOUS_DELTA)
            return -1
        at = found[0] if found else _find_last(draft, delta)
    if at >= 0:
        before = draft.entries[at]
        assert isinstance(before, CallEntry)
        if before.shares_index and _mark_rivals(draft, before.index, delta):
            return -1
        if not _begins_another(before, delta):
            after = _advance(before, delta, rules)
            if after is not before:
                if delta.id and not before.id:
                    after = _mark_same_id(draft, after, delta.id)
                draft.put(at, after)
            return at
    return -1 if delta.is_empty else _begin(draft, at, delta, rules)


def _find_id(draft: Draft, call_id: str | None) -> int:
    if not call_id:
        return -1
    items = draft.entries
    for at in range(len(items) - 1, -1, -1):
        entry = items[at]
        if isinstance(entry, CallEntry) and entry.id == call_id:
            return at
    return -1


def _find_index(draft: Draft, delta: CallDelta) -> int:
    """Return the index of the last call with the delta's index, preferably also with its id, or -1."""
    index, call_id = delta.index, delta.id
    items = draft.entries
    found = -1
    for at in range(len(items) - 1, -1, -1):
        entry = items[at]
        if isinstance(entry, CallEntry) and entry.index == index:
            if not call_id or entry.id == call_id:
                return at
            if found < 0:
                found = at
    # With a new index and no name, a known id can only be repeated.
    return _find_id(draft, call_id) if found < 0 and not delta.name else found


def _find_open(draft: Draft, delta: CallDelta) -> list[int]:
    """Return the open calls that a delta may continue; no call has its index or id."""
    is_whole_call = delta.is_object and not delta.is_whole and not delta.id
    has_index, has_id = delta.index != NO_INDEX, bool(delta.id)
    found: list[int] = []
    for at, entry in enumerate(draft.entries):
        if not isinstance(entry, CallEntry) or (has_index and entry.index != NO_INDEX) or (has_id and entry.id):
            continue
        if not _may_continue(entry, delta):
            continue
        if delta.name and entry.name is not None:
            # A whole object beside arguments that are not JSON is a call of its own.
            is_another = is_whole_call and not entry.is_blank and entry.document.error is not None
            if entry.name != delta.name or is_another:
                continue
        found.append(at)
    return found


def _may_continue(entry: CallEntry, delta: CallDelta) -> bool:
    """Return whether a call is open, and lacks the index and the id that a delta brings."""
    return entry.part.is_open and not entry.document.is_complete and not _is_of_another(entry, delta)


def _is_of_another(entry: CallEntry, delta: CallDelta) -> bool:
    """Return whether a call has an index or an id, and a delta brings one of its own."""
    has_new_index, has_new_id = delta.index != NO_INDEX and entry.index != NO_INDEX, bool(delta.id and entry.id)
    return has_new_index or has_new_id


def _find_growing(draft: Draft) -> list[int]:
    """Return the calls that may get more arguments."""
    items = draft.entries
    found: list[int] = []
    for at, entry in enumerate(items):
        if isinstance(entry, CallEntry) and entry.part.is_open and not entry.document.is_complete:
            found.append(at)
    return found


def _mark_rivals(draft: Draft, index: int, delta: CallDelta) -> bool:
    """Return whether arguments name only an index that several open calls share; those calls are then ambiguous."""
    if delta.id or delta.name or delta.is_blank:
        return False
    rivals: list[int] = []
    for at in _find_growing(draft):
        entry = draft.entries[at]
        if isinstance(entry, CallEntry) and entry.index == index:
            rivals.append(at)
    if len(rivals) > 1:
        _mark_ambiguous(draft, rivals, _AMBIGUOUS_DELTA)
    return len(rivals) > 1


def _mark_same_id(draft: Draft, call: CallEntry, call_id: str) -> CallEntry:
    """Return a call that just got its id; if another call has that id, both are ambiguous."""
    same = _find_id(draft, call_id)
    if same < 0:
        return call
    why = _SHARED_ID.format(call_id)
    _mark_ambiguous(draft, [same], why)
    return call.with_ambiguity(why)


def _find_last(draft: Draft, delta: CallDelta) -> int:
    """Return the index of the last call for a delta that has neither index, name nor arguments, or -1."""
    if delta.index != NO_INDEX or delta.name or not delta.is_blank:
        return -1
    items = draft.entries
    at = len(items) - 1
    while at >= 0 and not isinstance(items[at], CallEntry):
        at -= 1
    return at


def _begin(draft: Draft, at: int, delta: CallDelta, rules: ReadingRules) -> int:
    """Add the call that a delta begins; `at` is the call that it might have continued, or -1."""
    ambiguity = ""
    for first in _find_first_parts(draft, at, delta, rules):
        entry = draft.entries[first]
        assert isinstance(entry, CallEntry)
        ambiguity = _SPLIT_NAME.format(entry.name, delta.name)
        _mark_ambiguous(draft, [first], ambiguity)
    before = draft.entries[at] if at >= 0 else None
    shares_index = isinstance(before, CallEntry) and before.index == delta.index and before.part.is_open
    place = len(draft.entries)
    part: BaseCall = PartialCall(index=place, is_open=True)
    if delta.on_server:
        part = ServerCall(index=place, is_open=True)
    document = rules.new_document(rules.binding_of(None), True)
    is_hidden = rules.is_maybe_answer(None) and not delta.on_server
    begun = CallEntry(
        part,
        delta.key,
        delta.index,
        document,
        delta.on_server,
        is_hidden,
        ambiguity=ambiguity,
        shares_index=shares_index,
    )
    call = _advance(begun, delta, rules)
    is_known_as_new = delta.index == NO_INDEX and at < 0  # its id was searched for, and not found
    draft.put(place, call if delta.id is None or is_known_as_new else _mark_same_id(draft, call, delta.id))
    return place


def _find_first_parts(draft: Draft, at: int, delta: CallDelta, rules: ReadingRules) -> list[int]:
    """Return the calls whose name may be the first piece of a name that the delta continues.

    These are calls without arguments, the call of the same index, and those that a piece of a name makes another tool.
    Where no tools are known, a name with arguments is another call than one of its index that has some.
    """
    if not delta.name:
        return []
    names = rules.possible_prefixes(delta.name)
    if at >= 0:
        call = draft.entries[at]
        assert isinstance(call, CallEntry)
        have_two_ids = call.id and delta.id
        may_go_on = call.is_blank or delta.is_blank or bool(rules.bindings)
        return [at] if may_go_on and not have_two_ids and _is_part_of_name(call, names) else []
    # The name of a call with arguments goes on only where a delta has no more than the rest of a tool's name.
    cut = rules.tools_before(delta.name) if delta.is_blank else []
    clear: list[int] = []
    ambiguous: list[int] = []
    for place, entry in enumerate(draft.entries):
        if not isinstance(entry, CallEntry):
            continue
        is_part = _is_part_of_name(entry, names) if entry.is_blank else entry.name in cut
        if is_part and entry.part.is_open and not _is_of_another(entry, delta):
            (ambiguous if entry.ambiguity else clear).append(place)
    # One ambiguous call is enough to make the new one ambiguous.
    return clear or ambiguous[:1]


def _is_part_of_name(call: CallEntry, names: list[str]) -> bool:
    """Return whether the name of a call is one of these, or of no tool that was offered."""
    return call.name is not None and (call.name in names or call.document.binding is None)


def _mark_ambiguous(draft: Draft, places: list[int], why: str) -> None:
    for at in places:
        entry = draft.entries[at]
        if isinstance(entry, CallEntry) and not entry.ambiguity:
            draft.put(at, entry.with_ambiguity(why))


def _begins_another(call: CallEntry, delta: CallDelta) -> bool:
    if delta.id and call.id and delta.id != call.id:
        return True
    if not delta.name or not call.name:
        return False
    if delta.name != call.name:
        return not (delta.id and call.id)
    if delta.id or delta.is_whole or delta.is_blank:
        return False
    # An object is a whole call: text before it that is not JSON belongs to another.
    return call.document.is_complete or (delta.is_object and call.document.error is not None)


def _advance(call: CallEntry, delta: CallDelta, rules: ReadingRules) -> CallEntry:
    """Return a call after a delta; the same object if the delta brings nothing new."""
    name = call.name or delta.name or None
    ambiguity = call.ambiguity
    held = call.held
    found = _find_piece(call, delta, rules.is_cumulative)
    if found is None:
        ambiguity = ambiguity or (
            _UNREADABLE_PIECE
            if delta.arguments is not None and UNREADABLE_ARGUMENTS in delta.arguments
            else _CONTRADICTION
        )
    piece = found or ""
    if piece and (held or ends_in_surrogate(piece)):
        piece, held = join_surrogates(held, piece)
    document = call.document
    if name is not call.name:
        document = rules.name_document(document, name)
    if piece:
        if document.mend is not None and delta.is_written and call.is_blank:
            document = document.read_strictly()
        document = document.append(piece)
    call_id = call.id or delta.id or None
    is_cut_off, on_server = call.is_cut_off or delta.cut_off, call.on_server or delta.on_server
    index = delta.index if call.index == NO_INDEX else call.index
    is_guess = call.is_guess
    if (call.index == NO_INDEX) is not (delta.index == NO_INDEX) and not (delta.id and delta.id == call.id):
        is_guess = is_guess or bool(piece) or not call.is_blank
    if delta.name and name != delta.name and not ambiguity:
        ambiguity = _SPLIT_NAME.format(name, delta.name)
    key = delta.key if call.key == NO_KEY else call.key
    if (
        not piece
        and document is call.document
        and name == call.name
        and call_id == call.id
        and is_cut_off is call.is_cut_off
        and on_server is call.on_server
        and ambiguity == call.ambiguity
        and index == call.index
        and held == call.held
        and key == call.key
    ):
        return call
    text = call.text.append(piece)
    part = call.call
    if on_server and not call.on_server:
        part = ServerCall(index=part.index, is_open=part.is_open, item_id=part.item_id, extra=part.extra or None)
    return CallEntry(
        part.grow(name, text, document, call_id),
        key,
        index,
        document,
        on_server,
        rules.answer_is_call and not on_server and rules.is_maybe_answer(name),
        text,
        held,
        call.is_blank and not piece.strip(),
        is_cut_off,
        ambiguity,
        call.shares_index,
        is_guess,
    )


def _find_piece(call: CallEntry, delta: CallDelta, repeats: bool) -> str | None:
    """Return the text that a delta adds to the arguments; `None` if it is not text, or contradicts the text so far.

    With `repeats`, a whole may be shorter than one before it.
    """
    whole = delta.arguments
    if whole is None:
        return ""
    if UNREADABLE_ARGUMENTS in whole:
        return None
    if delta.is_delta:
        return whole
    rest = _find_rest(whole, call.text, call.held)
    return "" if rest is None and repeats and call.text.read().startswith(whole) else rest


def _find_rest(whole: str, text: GrowingText, held: str) -> str | None:
    """Return what a text, and the surrogate that waits after it, lack of the whole; `None` if they do not begin it."""
    # The length is compared first, so that a shorter text does not join the pieces.
    if len(whole) < text.length or not whole.startswith(text.read()):
        return None
    rest = whole[text.length :]
    return strip_surrogate(rest, held) if held else rest


# The neutral form of events.


def feed_message(state: object, chunk: object) -> MessageState:
    """Return the state after one more chunk; the same state if the chunk brings nothing new.

    >>> from jsontide.messages import Choice, CompletionChunk, Delta, start_message
    >>> chunk = CompletionChunk(choices=(Choice(delta=Delta(content="Hi")),))
    >>> feed_message(start_message(), chunk).message.content
    'Hi'
    """
    state = check_state(state, MessageState)
    if not isinstance(chunk, CompletionChunk):
        raise TypeError(f"a chunk must be a CompletionChunk, not {type(chunk).__name__}; stream_message takes events")
    if state.is_over:
        return state
    draft = Draft(state, state.config._rules)
    read_chunk(draft, chunk)
    return draft.freeze()


def read_chunk(draft: Draft, chunk: CompletionChunk) -> None:
    """Add a chunk to a draft."""
    if chunk.error is not None:
        draft.fail(chunk.error, chunk.error)
        return
    if chunk.id is not None or chunk.model is not None or chunk.created is not None:
        draft.identify(chunk.id, chunk.model, chunk.created, "")
    draft.set_usage(chunk.usage)
    for choice in chunk.choices:
        if choice.index == draft.choice:
            _read_choice(draft, choice)


def _read_choice(draft: Draft, choice: Choice) -> None:
    delta = choice.delta
    draft.set_role(delta.role)
    if delta.reasoning is not None:
        draft.add_reasoning(NO_KEY, delta.reasoning)
    if delta.content is not None:
        draft.add_text(NO_KEY, delta.content)
    if delta.refusal is not None:
        draft.add_refusal(NO_KEY, delta.refusal)
    for entry in delta.tool_calls:
        draft.add_call(_read_call(entry))
    draft.finish(choice.finish_reason, choice.finish_reason)


def _read_call(entry: ToolCallDelta) -> CallDelta:
    arguments = entry.arguments
    is_object = isinstance(arguments, Mapping)
    return CallDelta(
        NO_INDEX if entry.index is None else entry.index,
        entry.id,
        entry.name,
        write_json(dict(arguments)) if isinstance(arguments, Mapping) else arguments,
        entry.mode == "cumulative",
        is_object,
        entry.on_server,
        entry.cut_off,
    )
