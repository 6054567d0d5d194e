"""Deltas of tool calls in, calls out: one algorithm for every provider.

A delta continues the last call of its index; without an index the call of its id, else the open one.
It begins another call if its id or name differs from that call's, or if it names a call whose arguments are complete
already and brings more.
The first id and the first name count; arguments wait for the name and are never lost.
Nothing is guessed: where a delta may belong to several open calls, two calls have one id, or a name may be the rest of
another call's name, all of these calls are in doubt and cannot be run. So is a call whose arguments are not text, or
contradict those before: what cannot be added to it changes neither its text nor its value.

Rule: nothing raises on a delta, and a call that no delta touches stays the same object.
"""

from __future__ import annotations

from typing import ClassVar, Final

from jsontide._textbuffer import ends_in_surrogate, join_surrogates, strip_surrogate
from jsontide.messages.calls import BaseCall, PartialCall, ServerCall
from jsontide.messages.document import ReadingRules
from jsontide.messages.record import Record
from jsontide.messages.state import NO_INDEX, NO_KEY, CallEntry, Entries

UNREADABLE: Final = "\0not a text\0"
"""Stands for a piece of arguments that is not text."""
_UNREADABLE_PIECE: Final = "a piece of the arguments is neither text nor an object"
_CONTRADICTION: Final = "the arguments contradict those before"
_SHARED_ID: Final = "two calls have the id {!r}: what belongs to which of them is not known, it may be of either"
_AMBIGUOUS_DELTA: Final = "a delta came that does not say which of several open calls it belongs to: it may be this one"
_SPLIT_NAME: Final = "the names {!r} and {!r} may be of two calls, or the two parts of one name"


class CallDelta(Record):
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

    FIELDS: ClassVar[tuple[str, ...]] = (
        "index",
        "id",
        "name",
        "arguments",
        "is_whole",
        "is_object",
        "on_server",
        "cut_off",
        "key",
        "is_written",
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
        self.is_whole: Final = is_whole
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


def merge_call(entries: Entries, delta: CallDelta, rules: ReadingRules) -> int:
    """Add a delta to the entries; return the index of its call, or -1 if it has none."""
    if rules.is_cumulative and not delta.is_whole:
        delta = delta.evolve(is_whole=True)
    at = _find_id(entries, delta.id) if delta.index == NO_INDEX else _find_index(entries, delta)
    if at < 0:
        found = _find_open(entries, delta)
        if len(found) > 1:
            if not delta.says_nothing:
                _doubt(entries, found, _AMBIGUOUS_DELTA)
            return -1
        at = found[0] if found else _find_last(entries, delta)
    if at >= 0:
        before = entries.items[at]
        assert isinstance(before, CallEntry)
        if before.shares_index and _doubt_rivals(entries, before.index, delta):
            return -1
        if not _begins_another(before, delta):
            after = _advance(before, delta, rules)
            if after is not before:
                if delta.id and not before.id:
                    after = _doubt_same_id(entries, after, delta.id)
                entries.put(at, after)
            return at
    return -1 if delta.is_empty else _begin(entries, at, delta, rules)


def _find_id(entries: Entries, call_id: str | None) -> int:
    if not call_id:
        return -1
    items = entries.items
    for at in range(len(items) - 1, -1, -1):
        entry = items[at]
        if isinstance(entry, CallEntry) and entry.id == call_id:
            return at
    return -1


def _find_index(entries: Entries, delta: CallDelta) -> int:
    """Return the index of the last call with the delta's index, preferably also with its id, or -1."""
    index, call_id = delta.index, delta.id
    items = entries.items
    found = -1
    for at in range(len(items) - 1, -1, -1):
        entry = items[at]
        if isinstance(entry, CallEntry) and entry.index == index:
            if not call_id or entry.id == call_id:
                return at
            if found < 0:
                found = at
    # With a new index and no name, a known id can only be repeated.
    return _find_id(entries, call_id) if found < 0 and not delta.name else found


def _find_open(entries: Entries, delta: CallDelta) -> list[int]:
    """Return the open calls that a delta may continue; no call has its index or id."""
    is_whole_call = delta.is_object and not delta.is_whole and not delta.id
    has_index, has_id = delta.index != NO_INDEX, bool(delta.id)
    found: list[int] = []
    for at, entry in enumerate(entries.items):
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
    has_new_index, has_new_id = delta.index != NO_INDEX and entry.index != NO_INDEX, bool(delta.id and entry.id)
    is_open = entry.part.is_open and not entry.document.is_complete
    return is_open and not has_new_index and not has_new_id


def _find_growing(entries: Entries) -> list[int]:
    """Return the calls that may get more arguments."""
    items = entries.items
    found: list[int] = []
    for at, entry in enumerate(items):
        if isinstance(entry, CallEntry) and entry.part.is_open and not entry.document.is_complete:
            found.append(at)
    return found


def doubt_open(entries: Entries, why: str) -> None:
    """Mark all open calls: any of them may lack a lost piece."""
    _doubt(entries, _find_growing(entries), why)


def _doubt_rivals(entries: Entries, index: int, delta: CallDelta) -> bool:
    """Return whether arguments name only an index that several open calls share; those calls are then in doubt."""
    if delta.id or delta.name or delta.is_blank:
        return False
    rivals: list[int] = []
    for at in _find_growing(entries):
        entry = entries.items[at]
        if isinstance(entry, CallEntry) and entry.index == index:
            rivals.append(at)
    if len(rivals) > 1:
        _doubt(entries, rivals, _AMBIGUOUS_DELTA)
    return len(rivals) > 1


def _doubt_same_id(entries: Entries, call: CallEntry, call_id: str) -> CallEntry:
    """Return a call that just got its id; if another call has that id, both are in doubt."""
    same = _find_id(entries, call_id)
    if same < 0:
        return call
    why = _SHARED_ID.format(call_id)
    _doubt(entries, [same], why)
    return call.with_doubt(why)


def _find_last(entries: Entries, delta: CallDelta) -> int:
    """Return the index of the last call for a delta that has neither index, name nor arguments, or -1."""
    if delta.index != NO_INDEX or delta.name or not delta.is_blank:
        return -1
    items = entries.items
    at = len(items) - 1
    while at >= 0 and not isinstance(items[at], CallEntry):
        at -= 1
    return at


def _begin(entries: Entries, at: int, delta: CallDelta, rules: ReadingRules) -> int:
    """Add the call that a delta begins; `at` is the call that it might have continued, or -1."""
    doubt = ""
    for first in _find_first_parts(entries, at, delta, rules):
        entry = entries.items[first]
        assert isinstance(entry, CallEntry)
        doubt = _SPLIT_NAME.format(entry.name, delta.name)
        _doubt(entries, [first], doubt)
    before = entries.items[at] if at >= 0 else None
    shares_index = isinstance(before, CallEntry) and before.index == delta.index and before.part.is_open
    place = len(entries.items)
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
        doubt=doubt,
        shares_index=shares_index,
    )
    call = _advance(begun, delta, rules)
    is_known_as_new = delta.index == NO_INDEX and at < 0  # its id was searched for, and not found
    entries.put(place, call if delta.id is None or is_known_as_new else _doubt_same_id(entries, call, delta.id))
    return place


def _find_first_parts(entries: Entries, at: int, delta: CallDelta, rules: ReadingRules) -> list[int]:
    """Return the calls whose name may be the first piece of a name that the delta continues.

    These are calls without arguments, or the call of the same index: no name continues after its arguments.
    Where no tools are known, a name with arguments is another call than one of its index that has some.
    """
    if not delta.name:
        return []
    names = rules.possible_prefixes(delta.name)
    if at >= 0:
        call = entries.items[at]
        assert isinstance(call, CallEntry)
        have_two_ids = call.id and delta.id
        may_go_on = call.is_blank or delta.is_blank or bool(rules.bindings)
        return [at] if may_go_on and not have_two_ids and _is_part_of_name(call, names) else []
    clear: list[int] = []
    doubtful: list[int] = []
    for place, entry in enumerate(entries.items):
        is_blank = isinstance(entry, CallEntry) and entry.is_blank and _may_continue(entry, delta)
        if is_blank and isinstance(entry, CallEntry) and _is_part_of_name(entry, names):
            (doubtful if entry.doubt else clear).append(place)
    # One call in doubt is enough to put the new one in doubt.
    return clear or doubtful[:1]


def _is_part_of_name(call: CallEntry, names: list[str]) -> bool:
    """Return whether the name of a call is one of these, or of no tool that was offered."""
    return call.name is not None and (call.name in names or call.document.binding is None)


def _doubt(entries: Entries, places: list[int], why: str) -> None:
    for at in places:
        entry = entries.items[at]
        if isinstance(entry, CallEntry) and not entry.doubt:
            entries.put(at, entry.with_doubt(why))


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
    doubt = call.doubt
    held = call.held
    found = _find_piece(call, delta, rules.is_cumulative)
    if found is None:
        doubt = doubt or (
            _UNREADABLE_PIECE if delta.arguments is not None and UNREADABLE in delta.arguments else _CONTRADICTION
        )
    piece = found or ""
    if piece and (held or ends_in_surrogate(piece)):
        # A whole text contains the surrogate that waits.
        piece, held = join_surrogates(held if delta.is_delta else "", piece)
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
    if delta.name and name != delta.name and not doubt:
        doubt = _SPLIT_NAME.format(name, delta.name)
    key = delta.key if call.key == NO_KEY else call.key
    if (
        not piece
        and document is call.document
        and name == call.name
        and call_id == call.id
        and is_cut_off is call.is_cut_off
        and on_server is call.on_server
        and doubt == call.doubt
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
        doubt,
        call.shares_index,
    )


def _find_piece(call: CallEntry, delta: CallDelta, repeats: bool) -> str | None:
    """Return the text that a delta adds to the arguments; `None` if it is not text, or contradicts the text so far.

    With `repeats`, a whole may be shorter than one before it.
    """
    whole = delta.arguments
    if whole is None:
        return ""
    if UNREADABLE in whole:
        return None
    if delta.is_delta:
        return whole
    before = call.text
    # The length is compared first, so that a shorter text does not join the pieces.
    if len(whole) >= before.length and whole.startswith(before.read()):
        rest = whole[before.length :]
        if not call.held or strip_surrogate(rest, call.held) is not None:
            return rest
    if repeats and before.read().startswith(whole):
        return ""
    return None
