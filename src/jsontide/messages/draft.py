"""A state and what one event says about the message in, the next state out.

A provider's reader calls the methods of a draft for each thing that it finds in an event, in order.
It names parts by keys of its choice: the place of a block or an item, or `NO_KEY` where the provider names none; text
without a key continues the last part if that is of the same kind.
`reduce_chunk` reads the neutral form of events in this way.

Rule: nothing raises on what a provider sends. A draft that got nothing new returns the same state.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from jsontide._check import check_state
from jsontide._textbuffer import NO_TEXT, GrowingList, GrowingLists, ends_in_surrogate, join_surrogates, strip_surrogate
from jsontide._values import MISSING, JsonValue
from jsontide.messages._merge import UNREADABLE, CallDelta, doubt_open, merge_call
from jsontide.messages.document import Document, ReadingRules, write_json
from jsontide.messages.ending import Ending, end_message, leaves_to_run, more_severe, normalize
from jsontide.messages.message import Message
from jsontide.messages.parts import BasePart, GrowingPart, ReasoningPart, Refusal, Source, TextPart
from jsontide.messages.provider_errors import explain_error
from jsontide.messages.state import (
    NO_INDEX,
    NO_KEY,
    CallEntry,
    Entries,
    Entry,
    MessageState,
    TextEntry,
    find_answer,
    has_calls,
    shown_parts,
)
from jsontide.messages.types import Choice, Citation, CompletionChunk, ErrorDetail, ErrorKind, ToolCallDelta, Usage

__all__ = ["NO_INDEX", "NO_KEY", "UNREADABLE", "CallDelta", "Draft", "read_chunk", "reduce_chunk"]

_TEXT: Final = 0
_REASONING: Final = 1
_REFUSAL: Final = 2


class Draft:
    """The next state in the making: the state before, and the changes that an event brings."""

    __slots__ = (
        "_before",
        "_document",
        "_entries",
        "_is_changed",
        "_loss",
        "_raw_reason",
        "_reason",
        "_rules",
        "choice",
        "created",
        "error",
        "id",
        "metadata",
        "model",
        "provider",
        "role",
        "usage",
    )

    def __init__(self, before: MessageState, rules: ReadingRules) -> None:
        message = before.newest
        self._before: Final = before
        self._rules: Final = rules
        self.choice: Final = rules.choice
        self._entries: Final = Entries(before.entries, rules.max_parts)
        self._document: Document | None = before.document
        self._is_changed = False
        self._loss: str = before.loss
        self._reason: str | None = None
        self._raw_reason: str | None = None
        self.id: str | None = message.id
        self.model: str | None = message.model
        self.provider: str | None = message.provider
        self.created: object = message.created
        self.role: str | None = None
        self.usage: Usage | None = message.usage
        self.metadata: dict[str, object] | None = message._metadata
        self.error: ErrorDetail | None = None

    def identify(self, id: str | None, model: str | None, created: object, provider: str) -> None:  # noqa: A002
        """Set the id, model and time of the message; the first known value of each stays."""
        if provider and self.provider is None:
            self.provider = provider
            self._is_changed = True
        if id and self.id is None:
            self.id = id
            self._is_changed = True
        if model and self.model is None:
            self.model = model
            self._is_changed = True
        if created is not None and self.created is None:
            self.created = created
            self._is_changed = True

    def set_model(self, model: str | None) -> None:
        """Note that another model continues the message."""
        if model and model != self.model:
            self.model = model
            self._is_changed = True

    def set_role(self, role: str | None) -> None:
        """Set the role, unless the message has parts already: a later role belongs to another message."""
        if role and not self._before.has_role and self.role is None and not self._entries.items:
            self.role = role
            self._is_changed = self._is_changed or role != self._before.newest.role

    def set_usage(self, usage: Usage | None) -> None:
        """Set the usage so far; the last one counts."""
        if usage is not None and usage != self.usage:
            self.usage = usage
            self._is_changed = True

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
            known = None if self.metadata is None else self.metadata.get(name)
            if not isinstance(known, GrowingLists):
                known = GrowingLists(dict(known) if isinstance(known, dict) else {})
            self._keep(name, known.extend(cast("dict[str, object]", lists)))

    def _keep(self, name: str, value: object) -> None:
        metadata = self.metadata
        if metadata is None or metadata is self._before.newest._metadata:
            metadata = {} if metadata is None else dict(metadata)
            self.metadata = metadata
        metadata[name] = value
        self._is_changed = True

    def finish(self, reason: str | None, raw: str | None) -> None:
        """Note why the message ends: the normalized finish reason, and the provider's own word."""
        if reason:
            self._reason = more_severe(self._reason, reason)
            self._raw_reason = raw
            self._is_changed = True

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
            self._is_changed = True

    def doubt_open_calls(self, why: str) -> None:
        """Note that a piece is lost or out of order: it may be arguments of any open call."""
        doubt_open(self._entries, why)

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
        """Add a delta to its call, and return the index of that part, or -1 if there is no such call."""
        count = len(self._entries.items)
        at = merge_call(self._entries, delta, self._rules)
        if at == count and count:
            self._close_last(count - 1)
        return at

    @property
    def count(self) -> int:
        """The number of parts."""
        return len(self._entries.items)

    def key_at(self, at: int) -> int:
        """Return the key of the part at an index."""
        return self._entries.items[at].key

    def find(self, key: int) -> BasePart | None:
        """Return the part with a key, or `None`."""
        at = self._entries.find(key)
        return None if at < 0 else self._entries.items[at].part

    def part_at(self, at: int) -> BasePart:
        return self._entries.items[at].part

    def place_of(self, key: int) -> int:
        """Return the index of the part with a key, or the index that a new part would get."""
        at = -1 if key == NO_KEY else self._entries.find(key)
        return len(self._entries.items) if at < 0 else at

    def put(self, key: int, part: BasePart) -> None:
        """Add a part, or replace the one with its key; its `index` must be `place_of(key)`."""
        at = part.index
        if at == len(self._entries.items) and at and not isinstance(part, Source):
            self._close_last(at - 1)
        if isinstance(part, GrowingPart):
            self._entries.put(at, TextEntry(part, key, part.growing_text, ""))
        else:
            self._entries.put(at, Entry(part, key))

    def describe(self, at: int, part: BasePart) -> None:
        """Replace a part by the same one with other fields; its text and arguments stay."""
        has_grown = self._entries.changed_calls
        self._entries.put(at, self._entries.items[at].evolve(part=part))
        self._entries.changed_calls = has_grown

    def label(self, at: int, item_id: str | None, extra: dict[str, JsonValue] | None, is_open: bool) -> None:
        """Set the id, the extra fields and the openness of a part."""
        if not 0 <= at < len(self._entries.items):  # there was no room for it
            return
        part = self._entries.items[at].part
        item_id = item_id or part.item_id
        if part.is_open is not is_open or part.item_id != item_id or part._extra != extra:
            self.describe(at, part.evolve(item_id=item_id, extra=extra, is_open=is_open))

    def complete_text(self, key: int, whole: str) -> bool:
        """Add what a part lacks of its whole text; return whether the text so far is the beginning of the whole."""
        at = self._entries.find(key)
        entry = self._entries.items[at] if at >= 0 else None
        if not isinstance(entry, TextEntry):  # there was no room for it
            return True
        # The length is compared first, so that a shorter text does not join the pieces.
        if len(whole) < entry.text.length or not whole.startswith(entry.text.read()):
            return False
        rest: str | None = whole[entry.text.length :]
        if entry.held and rest is not None:
            rest = strip_surrogate(rest, entry.held)
        if rest:
            self._grow_entry(at, entry, rest)
        return rest is not None

    def cite(self, key: int, citation: Citation) -> None:
        """Add a citation to the text with a key, with `NO_KEY` to the last text; begin a text if there is none."""
        at = self._entries.find_text(key)
        if at < 0:
            self.put(key, TextPart("", (citation,), len(self._entries.items), True))
            return
        part = self._entries.items[at].part
        assert isinstance(part, TextPart)
        if not part._citations.has(citation):
            self.describe(at, part.evolve(citations=part._citations.add([citation])))

    def close(self, key: int) -> None:
        """Note that the part with a key is finished."""
        at = self._entries.find(key)
        if at >= 0 and self._entries.items[at].part.is_open:
            self.describe(at, self._entries.items[at].part.close())

    def _close_last(self, at: int) -> None:
        """Close a text without a key, because another part begins."""
        at = self._entries.before_sources(at)
        if at < 0:
            return
        entry = self._entries.items[at]
        if entry.key == NO_KEY and isinstance(entry, TextEntry) and entry.part.is_open:
            self.describe(at, entry.part.close())

    def _grow(self, kind: int, key: int, piece: str) -> None:
        entries = self._entries
        at = entries.before_sources(len(entries.items) - 1) if key == NO_KEY else entries.find(key)
        if at >= 0:
            entry = entries.items[at]
            if isinstance(entry, TextEntry) and _is_of_kind(entry.part, kind):
                self._grow_entry(at, entry, piece)
                return
            if key == NO_KEY and self._grow_waiting(kind, piece):
                return
        place = len(entries.items)
        if place:
            self._close_last(place - 1)
        part: GrowingPart
        if kind == _TEXT:
            part = TextPart(NO_TEXT, (), place, True)
        elif kind == _REASONING:
            part = ReasoningPart(NO_TEXT, None, False, None, place, True)
        else:
            part = Refusal(NO_TEXT, place, True)
        self._grow_entry(place, TextEntry(part, key, NO_TEXT, ""), piece)

    def _grow_waiting(self, kind: int, piece: str) -> bool:
        """Add to a text that ends in a surrogate without its pair, if there is one, whatever parts followed it."""
        for at, entry in enumerate(self._entries.items):
            if isinstance(entry, TextEntry) and entry.held and entry.key == NO_KEY and _is_of_kind(entry.part, kind):
                self._grow_entry(at, entry, piece)
                return True
        return False

    def _grow_entry(self, at: int, entry: TextEntry, piece: str) -> None:
        held = entry.held
        if held or ends_in_surrogate(piece):
            piece, held = join_surrogates(held, piece)
        text = entry.text.append(piece)
        part = entry.part
        assert isinstance(part, GrowingPart)
        self._entries.put(at, TextEntry(part.grow(text), entry.key, text, held))
        if piece and self._document is not None and isinstance(part, TextPart):
            self._document = self._document.append(piece)

    def freeze(self) -> MessageState:
        """Return the next state; the state before if nothing is new."""
        before, entries = self._before, self._entries
        if entries.overflow:
            self.fail(f"the message has more than {self._rules.max_parts} parts")
        if not entries.is_changed and not self._is_changed and self._document is before.document:
            # A role that the message had anyway leaves the message itself as it is.
            state = before if self.role is None else before.evolve(has_role=True)
        else:
            state = self._make_state()
        if self.error is None:
            return state
        return end_message(state, Ending(state.reason, failure=self.error))

    def _make_state(self) -> MessageState:
        before, entries, rules = self._before, self._entries, self._rules
        message, items = before.newest, entries.items
        document = self._document
        answer: object = document
        answer_at = before.answer_at
        if rules.answer_is_call:
            if answer_at < 0:
                answer_at = find_answer(items, rules)
            call = items[answer_at] if answer_at >= 0 else None
            answer = call.document if isinstance(call, CallEntry) else None
        reason, worst, raw_reason = before.reason, before.worst_reason, message.raw_finish_reason
        now = self._reason
        if now is not None:
            worst = reason = more_severe(worst, now)
            raw_reason = self._raw_reason or raw_reason
        elif leaves_to_run(reason) and (entries.changed_calls or self._is_answer_open(answer, message)):
            # The reason covers what came before it: a call that begins or grows after it may still be cut off.
            reason = None
        parts = message.parts
        if entries.is_changed:
            parts = shown_parts(items, rules.answer_is_call)
        role = self.role
        finish_reason = None if reason is None else normalize(reason, has_calls(items))
        made = Message(
            parts,
            message.outcome,
            finish_reason,
            raw_reason,
            self.usage,
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
        return MessageState(before.config, made, items, document, reason, worst, has_role, answer_at, self._loss)

    def _is_answer_open(self, answer: object, message: Message) -> bool:
        return isinstance(answer, Document) and answer is not message._answer and not answer.is_complete


def _is_of_kind(part: BasePart, kind: int) -> bool:
    if kind == _TEXT:
        return isinstance(part, TextPart)
    return isinstance(part, ReasoningPart) if kind == _REASONING else isinstance(part, Refusal)


def reduce_chunk(state: object, chunk: object) -> MessageState:
    """Return the state after one more chunk; the same state if the chunk brings nothing new.

    >>> from jsontide.messages import Choice, CompletionChunk, Delta, start_message
    >>> chunk = CompletionChunk(choices=(Choice(delta=Delta(content="Hi")),))
    >>> reduce_chunk(start_message(), chunk).message.content
    'Hi'
    """
    state = check_state(state, MessageState)
    if not isinstance(chunk, CompletionChunk):
        message = f"a chunk must be a CompletionChunk, not {type(chunk).__name__}; stream_message takes events"
        raise TypeError(message)
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
        entry.spelling == "whole",
        is_object,
        entry.on_server,
        entry.cut_off,
    )
