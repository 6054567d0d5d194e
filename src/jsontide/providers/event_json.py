"""The text of an event in, the JSON value of it out, by `json`, or by `msgspec` where that is installed.

Rule: both give the same. Where `msgspec` refuses a text, which it also does for numbers and surrogates that it cannot
hold, `json` decides.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from json import JSONDecoder
from typing import Any, Final, cast

# What `json.loads` calls, without the search for white space around it: that alone takes as long as a short event.
scan_json: Final[Callable[[str, int], tuple[object, int]]] = cast("Any", JSONDecoder()).scan_once
"""Return the JSON value that begins at a place of a text, and where it ends."""
_SPACE: Final = " \t\n\r"

_msgspec: Callable[[str], object] | None = None
_refusals: Any = ()


def choose_decoder(name: str) -> str:
    """Take `json` or `msgspec` from now on, and return which one it was."""
    global _msgspec, _refusals  # noqa: PLW0603 - it is one for the whole process, as what is installed is
    before = "json" if _msgspec is None else "msgspec"
    if name == "json":
        _msgspec = None
    elif name == "msgspec":
        package = import_module("msgspec")
        _refusals = (package.MsgspecError, ValueError, RecursionError)
        _msgspec = package.json.Decoder().decode
    else:
        message = f"a decoder must be 'json' or 'msgspec', not {name!r}"
        raise ValueError(message)
    return before


with suppress(ImportError):
    choose_decoder("msgspec")


def load_json(text: str) -> object:
    """Return the value of a JSON text with no white space before it, `None` if it is not JSON."""
    if _msgspec is not None:
        try:
            return _msgspec(text)
        except _refusals:
            pass  # `json` decides
    try:
        value, end = scan_json(text, 0)
    except (StopIteration, ValueError, RecursionError):
        return None
    return value if end == len(text) or not text[end:].strip(_SPACE) else None
