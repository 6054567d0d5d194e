"""Deltas of tool calls in, calls out: one algorithm for every provider.

An entry goes on with the last call of its index; without an index with the call of its id, else with the last open one.
It begins another call if it has another id or another name than that call, or if it names a call whose arguments are
complete already and brings more.
Ids and names count when they first come; arguments wait for the name and are never lost.

Rule: nothing raises on an entry, and a call that no entry touches stays the same object.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, cast

from jsontide._growing import joined, waits, without_half
from jsontide.messages._calls import PartialCall
from jsontide.messages._chunks import ToolCallDelta
from jsontide.messages._config import MessageConfig
from jsontide.messages._document import grown, new_document, seen
from jsontide.messages._roster import Roster

_CONTRADICTION: Final = "\0"


def merged(calls: Roster, entries: Iterable[ToolCallDelta], config: MessageConfig) -> Roster:
    """Return the calls after the entries of one chunk."""
    for entry in _cumulative(entries) if config.cumulative_arguments else entries:
        position = _place(calls, entry)
        # No call is complete while its message grows.
        before = None if position is None else cast("PartialCall", calls[position])
        if position is None or before is None or _begins_another(before, entry):
            if not _is_empty(entry):
                call = _with(_new_call(len(calls), entry, config), entry, config)
                calls = calls.put(len(calls), None, call, is_answer=config._is_output(call.name))
            continue
        call = _with(before, entry, config)
        if call is not before:
            calls = calls.put(position, before, call, is_answer=config._is_output(call.name))
    return calls


def _cumulative(entries: Iterable[ToolCallDelta]) -> Iterable[ToolCallDelta]:
    return (replace(entry, spelling="whole") for entry in entries)


def _place(calls: Roster, entry: ToolCallDelta) -> int | None:
    """Return the position of the call that an entry goes on with, unless it begins another."""
    return _of_none(calls, entry) if entry.index is None else _of_index(calls, entry.index, entry)


def _of_index(calls: Roster, index: int, entry: ToolCallDelta) -> int | None:
    found = calls.of_index(index, entry.id)
    # If the index is new, an id without a name can only be a repeated one.
    return calls.of_id(entry.id) if found is None and not entry.name else found


def _of_none(calls: Roster, entry: ToolCallDelta) -> int | None:
    found = calls.of_id(entry.id)
    if found is None:
        found = calls.last_open()
    if found is None and len(calls) and not entry.name and _is_blank(entry.arguments):
        return len(calls) - 1
    return found


def _is_empty(entry: ToolCallDelta) -> bool:
    return not (entry.id or entry.name or entry.arguments or entry.on_server)


def _begins_another(call: PartialCall, entry: ToolCallDelta) -> bool:
    if entry.id and call.id and entry.id != call.id:
        return True
    if not entry.name or not call.name:
        return False
    if entry.name != call.name:
        return True
    if entry.id or entry.spelling != "delta" or _is_blank(entry.arguments):
        return False
    # An object is a whole call: what came before it, if it is no JSON, was another.
    is_whole = isinstance(entry.arguments, Mapping) and call._document.error is not None
    return call._document.is_complete or is_whole


def _is_blank(arguments: str | Mapping[str, object] | None) -> bool:
    return arguments is None or (isinstance(arguments, str) and not arguments.strip())


def _new_call(position: int, entry: ToolCallDelta, config: MessageConfig) -> PartialCall:
    return PartialCall(
        index=position if entry.index is None else entry.index,
        _document=new_document(),
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
    if (
        not piece
        and document is call._document
        and name == call.name
        and call_id == call.id
        and is_cut_off is call._is_cut_off
        and on_server is call._on_server
        and held == call._held
    ):
        return call
    # Spelled out: this is what every delta costs.
    return PartialCall(
        index=call.index,
        id=call_id,
        name=name,
        _text=call._text.append(piece),
        _held=held,
        _document=document,
        _on_server=on_server,
        _is_cut_off=is_cut_off,
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
