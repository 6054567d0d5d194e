"""The tool calls of chat completions: functions, custom tools, and the old form with one function.

In: an entry of `tool_calls` as dict. Out: notes on a draft.
The input of a custom tool is text and not JSON: its arguments are a JSON string, closed at a normal end of the message.
"""

from __future__ import annotations

from json import dumps
from typing import Any, Final

from jsontide._values import JsonValue
from jsontide.adapters._read.event_json import load_json
from jsontide.adapters._read.fields import (
    NO_ARGUMENTS_TEXT,
    arguments_of,
    as_dict,
    as_text,
    dict_of,
    integer_of,
    is_object,
    plain,
    text_of,
)
from jsontide.messages.calls import BaseCall, PartialCall
from jsontide.messages.draft import NO_INDEX, CallDelta, Draft

CUSTOM: Final = "custom"
OLD_FORM: Final = "function_call"
_USUAL: Final = 2
"""How many fields an entry has that says nothing but more arguments, and a function: no more need to be looked at."""
_CALL_READ: Final = frozenset(("custom", "function", "id", "index"))
_FUNCTION_READ: Final = frozenset(("arguments", "input", "name", "parsed_arguments"))


def read_call(draft: Draft, call: dict[str, Any]) -> None:
    """Note what an entry says about a call."""
    inner = call.get("function")
    if inner is None and call.get(CUSTOM) is not None:
        _read_custom(draft, call, dict_of(call, CUSTOM))
        return
    function = as_dict(inner)
    at = _read_function(draft, call, function)
    if len(call) > _USUAL or len(function) > _USUAL:
        _keep_rest(draft, at, call, function)


def read_function_call(draft: Draft, function: dict[str, Any]) -> None:
    """Note what the old form says, in which there is one call without an id."""
    at = _read_function(draft, {}, function)
    _keep_rest(draft, at, {"type": OLD_FORM}, function)


def _read_function(draft: Draft, call: dict[str, Any], function: dict[str, Any]) -> int:
    arguments = function.get("arguments")
    index, call_id, name = integer_of(call, "index"), text_of(call, "id"), text_of(function, "name")
    if type(arguments) is str or arguments is None:
        return draft.add_call(CallDelta(index, call_id, name, arguments))
    text, is_whole = arguments_of(arguments), is_object(arguments)
    return draft.add_call(CallDelta(index, call_id, name, text, is_object=is_whole))


def _read_custom(draft: Draft, call: dict[str, Any], custom: dict[str, Any]) -> None:
    index, call_id = integer_of(call, "index"), text_of(call, "id")
    at = draft.add_call(CallDelta(index, call_id, text_of(custom, "name"), None))
    if not 0 <= at < draft.count:
        return
    _keep_rest(draft, at, {"type": CUSTOM, **call}, custom)
    given = custom.get("input")
    if given is None:
        return
    text = as_text(given)
    piece = NO_ARGUMENTS_TEXT if text is None else dumps(text, ensure_ascii=False)[1:-1]
    part = draft.part_at(at)
    begins = isinstance(part, BaseCall) and not part.arguments
    draft.add_call(CallDelta(index, call_id, None, f'"{piece}' if begins else piece, is_written=True))


def close_custom_calls(draft: Draft) -> None:
    """End the strings that the inputs of custom tools are: only the end of the message says that they are whole."""
    for at in range(draft.count):
        part = draft.part_at(at)
        if isinstance(part, PartialCall) and part.extra.get("type") == CUSTOM and load_json(part.arguments) is None:
            name = None if part.id else part.name
            draft.add_call(CallDelta(NO_INDEX, part.id, name, '"' if part.arguments else '""', is_written=True))


def _keep_rest(draft: Draft, at: int, call: dict[str, Any], function: dict[str, Any]) -> None:
    """Keep what no field of a call holds, such as the signatures of Gemini behind this form."""
    extra: dict[str, JsonValue] = {}
    for name, value in call.items():
        if name not in _CALL_READ and value is not None and not (name == "type" and value == "function"):
            extra[name] = plain(value)
    for name, value in function.items():
        if name not in _FUNCTION_READ and value is not None:
            extra[name] = plain(value)
    if extra and 0 <= at < draft.count:
        part = draft.part_at(at)
        draft.label(at, None, {**part.extra, **extra}, part.is_open)
