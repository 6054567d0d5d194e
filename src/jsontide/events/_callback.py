"""A function to be called with updates in; a `TypeError` out where calling it would not run it.

Nobody awaits what a callback returns, so that the body of a coroutine or a generator would never run, and nobody would
know.
Most are known by their function, before they are called; the others by what they return.
A task or a future runs by itself, and may be returned.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Coroutine, Generator

_HINT = "its body would never run; pass a plain function, which may start a task or fill a queue"


def check_callback(callback: object) -> None:
    """Refuse what cannot be called, and what calling does not run."""
    if not callable(callback):
        message = f"a callback must be callable, not {type(callback).__name__}"
        raise TypeError(message)
    function: object = callback
    while isinstance(function, functools.partial):
        function = function.func
    for each in (function, getattr(type(function), "__call__", None)):  # noqa: B004 - what is called, not whether
        if inspect.iscoroutinefunction(each):
            _refuse("a callback must not be a coroutine function")
        if inspect.isasyncgenfunction(each) or inspect.isgeneratorfunction(each):
            _refuse("a callback must not be a generator function")


def check_result(result: object) -> None:
    """Refuse what a callback returned, if its work is still to be done."""
    if isinstance(result, Coroutine):
        result.close()  # or Python warns as well that it was never awaited
        _refuse("a callback returned a coroutine")
    if isinstance(result, (AsyncGenerator, Generator)):
        _refuse("a callback returned a generator")


def _refuse(what: str) -> None:
    message = f"{what}: {_HINT}"
    raise TypeError(message)
