"""Deltas of tool calls in, calls out: one algorithm for every provider.

An entry goes on with the last call of its index; without an index with the call of its id, else with the open one.
It begins another call if it has another id or another name than that call, or if it names a call whose arguments are
complete already and brings more.
Ids and names count when they first come; arguments wait for the name and are never lost.
Nothing is guessed: where an entry may belong to several open calls, or its name may be the rest of the name of another
call, all of these are in doubt, and cannot be run.

Rule: nothing raises on an entry, and a call that no entry touches stays the same object.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, cast

from jsontide._textbuffer import joined, waits, without_half
from jsontide.messages._calls import PartialCall
from jsontide.messages._chunks import ToolCallDelta
from jsontide.messages._config import MessageConfig
from jsontide.messages._document import grown, new_document, seen
from jsontide.messages._roster import Roster

_CONTRADICTION: Final = "\0"
_WHOSE: Final = "a delta came that does not tell which of several open calls it belongs to: it may be this one"
_NAMES: Final = "the names {!r} and {!r} may be of two calls, or the two parts of one name"


def merged(calls: Roster, entries: Iterable[ToolCallDelta], config: MessageConfig) -> Roster:
    """Return the calls after the entries of one chunk."""
    for entry in _cumulative(entries) if config.cumulative_arguments else entries:
        calls = _merge(calls, entry, config)
    return calls


def _cumulative(entries: Iterable[ToolCallDelta]) -> Iterable[ToolCallDelta]:
    return (replace(entry, spelling="whole") for entry in entries)


def _merge(calls: Roster, entry: ToolCallDelta, config: MessageConfig) -> Roster:
    position = calls.of_id(entry.id) if entry.index is None else _of_index(calls, entry.index, entry)
    if position is None:
        found = calls.open_for(entry)
        if found.count > 1:
            return calls if _says_nothing(entry) else _in_doubt(calls, found.clear(), _WHOSE, config)
        position = found.first if found.count else _last(calls, entry)
    # No call is complete while its message grows.
    before = None if position is None else cast("PartialCall", calls[position])
    if position is None or before is None or _begins_another(before, entry):
        return calls if _is_empty(entry) else _begun(calls, position, entry, config)
    call = _with(before, entry, config)
    return calls if call is before else calls.put(position, before, call, is_answer=config._is_output(call.name))


def _of_index(calls: Roster, index: int, entry: ToolCallDelta) -> int | None:
    found = calls.of_index(index, entry.id)
    # If the index is new, an id without a name can only be a repeated one.
    return calls.of_id(entry.id) if found is None and not entry.name else found


def _last(calls: Roster, entry: ToolCallDelta) -> int | None:
    """Where all calls are complete, an entry that brings neither a name nor arguments is about the last one."""
    is_new = entry.index is not None or entry.name or not _is_blank(entry.arguments)
    return len(calls) - 1 if len(calls) and not is_new else None


def _begun(calls: Roster, position: int | None, entry: ToolCallDelta, config: MessageConfig) -> Roster:
    """Return the calls with one that an entry begins, which is not the one at a position."""
    doubt = ""
    for at in _first_parts(calls, position, entry, config):
        doubt = _NAMES.format(calls[at].name, entry.name)
        calls = _in_doubt(calls, [at], doubt, config)
    call = _with(_new_call(len(calls), entry, config, doubt), entry, config)
    return calls.put(len(calls), None, call, is_answer=config._is_output(call.name))


def _first_parts(calls: Roster, position: int | None, entry: ToolCallDelta, config: MessageConfig) -> list[int]:
    """Return the calls without arguments whose names and that of an entry may be parts of one."""
    if not entry.name:
        return []
    names = config._first_parts(entry.name)
    if position is None:
        return calls.blank_for(entry, names)
    call = calls[position]
    are_told_apart = call.id and entry.id
    is_part = call.name and (call.name in names or config._lens_of(call.name) is None)
    return [position] if call._is_blank and is_part and not are_told_apart else []


def _in_doubt(calls: Roster, positions: Iterable[int], why: str, config: MessageConfig) -> Roster:
    for position in positions:
        before = cast("PartialCall", calls[position])
        if not before._doubt:
            call = replace(before, _doubt=why)
            calls = calls.put(position, before, call, is_answer=config._is_output(call.name))
    return calls


def _says_nothing(entry: ToolCallDelta) -> bool:
    return not (entry.id or entry.name or entry.on_server or entry.cut_off) and _is_blank(entry.arguments)


def _is_empty(entry: ToolCallDelta) -> bool:
    return not (entry.id or entry.name or entry.arguments or entry.on_server)


def _begins_another(call: PartialCall, entry: ToolCallDelta) -> bool:
    if entry.id and call.id and entry.id != call.id:
        return True
    if not entry.name or not call.name:
        return False
    if entry.name != call.name:
        return not (entry.id and call.id)
    if entry.id or entry.spelling != "delta" or _is_blank(entry.arguments):
        return False
    # An object is a whole call: what came before it, if it is no JSON, was another.
    is_whole = isinstance(entry.arguments, Mapping) and call._document.error is not None
    return call._document.is_complete or is_whole


def _is_blank(arguments: str | Mapping[str, object] | None) -> bool:
    return arguments is None or (isinstance(arguments, str) and not arguments.strip())


def _new_call(position: int, entry: ToolCallDelta, config: MessageConfig, doubt: str) -> PartialCall:
    return PartialCall(
        index=position if entry.index is None else entry.index,
        _has_index=entry.index is not None,
        _document=new_document(),
        _doubt=doubt,
        _is_hidden=config._hides(None),
    )


def _with(call: PartialCall, entry: ToolCallDelta, config: MessageConfig) -> PartialCall:
    name = call.name or entry.name or None
    held, piece = call._held, _piece(call, entry, repeats=config.cumulative_arguments)
    if piece and (held or waits(piece)):
        # All of the text has the half that waits in it.
        piece, held = joined(held if _goes_on(entry) else "", piece)
    document = grown(seen(call._document, config._lens_of(name)), piece)
    call_id = call.id or entry.id or None
    is_cut_off, on_server = call._is_cut_off or entry.cut_off, call._on_server or entry.on_server
    has_index = call._has_index or entry.index is not None
    doubt = call._doubt
    if entry.name and name != entry.name and not doubt:
        doubt = _NAMES.format(name, entry.name)
    if (
        not piece
        and document is call._document
        and name == call.name
        and call_id == call.id
        and is_cut_off is call._is_cut_off
        and on_server is call._on_server
        and doubt == call._doubt
        and has_index is call._has_index
        and held == call._held
    ):
        return call
    # Spelled out: this is what every delta costs.
    return PartialCall(
        index=call.index if call._has_index or entry.index is None else entry.index,
        _has_index=has_index,
        id=call_id,
        name=name,
        _text=call._text.append(piece),
        _held=held,
        _is_blank=call._is_blank and not piece.strip(),
        _document=document,
        _on_server=on_server,
        _is_cut_off=is_cut_off,
        _doubt=doubt,
        _is_hidden=on_server or config._hides(name),
    )


def _piece(call: PartialCall, entry: ToolCallDelta, *, repeats: bool) -> str:
    """Return the text that an entry adds to the arguments.

    With `repeats`, a whole may be shorter than one before it.
    """
    arguments = entry.arguments
    if arguments is None:
        return ""
    if isinstance(arguments, str) and entry.spelling == "delta":
        return arguments
    whole, before = _written(arguments), call._text
    # The text before is joined only for a whole that is as long, or if nothing was added to it since.
    if len(whole) >= before.length and whole.startswith(str(before)):
        rest = whole[before.length :]
        if not call._held or without_half(rest, call._held) is not None:
            return rest
    if repeats and str(before).startswith(whole):
        return ""
    # What contradicts the text before it is kept, and with this no JSON comes of the two.
    return _CONTRADICTION + whole


def _goes_on(entry: ToolCallDelta) -> bool:
    """Tell whether the arguments of an entry are more of the text, and not all of it."""
    return isinstance(entry.arguments, str) and entry.spelling == "delta"


def _written(arguments: str | Mapping[str, object]) -> str:
    if isinstance(arguments, str):
        return arguments
    try:
        return json.dumps(dict(arguments), ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return f"{type(arguments).__name__} is not JSON"
