"""Every loop by its name, with whatever it needs beside its source."""

from collections.abc import Callable
from typing import Any, Final

from jsontide import streams

_MORE: Final[dict[str, tuple[Any, ...]]] = {
    "text_deltas": ("a",),
    "items": ("a",),
    "first_value": ("a",),
    "stream_model": ({},),
    "stream_items": ("a", {}),
}


def _loop(name: str, twin: str) -> Callable[..., Any]:
    call: Callable[..., Any] = getattr(streams, twin)
    return lambda source, **options: call(source, *_MORE.get(name, ()), **options)


OF_TEXT: Final = ("values", "loads", "states", "text_deltas", "items", "first_value")
_NAMES: Final = (*OF_TEXT, "chunk_snapshots", "stream_model", "stream_items", "stream_message")
PLAIN: Final = {name: _loop(name, name) for name in _NAMES}
ASYNC: Final = {f"a{name}": _loop(name, f"a{name}") for name in _NAMES}
