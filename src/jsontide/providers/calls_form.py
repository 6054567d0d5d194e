"""What request forms say about calls: ids and arguments that a provider takes, whatever came of the call."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from jsontide.messages.calls import BaseCall, CompleteCall, ToolCall
from jsontide.messages.document import has_infinity, write_json

if TYPE_CHECKING:
    from jsontide.messages import Message


UNNAMED: Final = "unknown"
"""The name of a call whose name never came; its result, which says so, must refer to something."""


def is_own(message: Message[Any], provider: str) -> bool:
    """Return whether a message comes from the provider that it is written for; one made by hand is taken for that."""
    return message.provider is None or message.provider == provider


def id_of(call: ToolCall) -> str:
    """Return the id of a call; calls without one are told apart by their place."""
    return call.id or f"call_{call.index}"


def name_of(call: ToolCall) -> str:
    return call.name or UNNAMED


def written_arguments(call: BaseCall) -> str:
    """Return the arguments of a call as they were written; if they were mended, as they should have been."""
    is_mended = isinstance(call, CompleteCall) and call.repairs
    return write_json(call.arguments_value) if is_mended and isinstance(call, CompleteCall) else call.arguments


def input_of(call: BaseCall) -> dict[str, Any]:
    """Return the arguments of a call as an object, an empty one if they are not."""
    try:
        found = json.loads(written_arguments(call))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) and not has_infinity(found) else {}


def arguments_of(call: ToolCall) -> str:
    """Return the arguments of a call as text, as they were written; an empty object if they are not one."""
    if isinstance(call, CompleteCall):
        return written_arguments(call)
    return call.arguments if input_of(call) else "{}"
