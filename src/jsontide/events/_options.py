"""Options and callbacks in, checked; the state before any text out.

Never compiled: these checks explain a wrong argument better than the type checks of compiled calls do.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Coroutine, Generator
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, TypedDict, Unpack

from jsontide._check import check_choice, check_choices, check_count, check_switches, check_type
from jsontide.events._emitter import EventEmitter
from jsontide.events._state import EventState
from jsontide.events.patterns import NO_PATTERNS
from jsontide.mend.options import Mending, check_mending
from jsontide.text import Limits
from jsontide.text.numbers import FLOATS, Floats

OnError: TypeAlias = Literal["event", "raise", "skip"]
Strings: TypeAlias = Literal["both", "deltas", "whole"]

_ON_ERROR: Final = ("event", "raise", "skip")
_CHOICES: Final = {"strings": ("both", "deltas", "whole"), "floats": FLOATS}
_HINT: Final = "its body would never run; pass a plain function, which may start a task or fill a queue"


class EventChoices(TypedDict, total=False):
    """The options as keyword arguments; `JsonFragmentAccumulator` explains them."""

    documents: int | None
    updates: bool
    keys: bool
    strings: Strings
    values: bool
    floats: Floats
    limits: Limits
    max_errors: int


class AccumulatorChoices(EventChoices, total=False):
    """The same, with the options that only an accumulator has."""

    on_error: OnError
    mend: Mending | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventOptions:
    """Event options, checked."""

    documents: int | None = None
    updates: bool = True
    keys: bool = True
    strings: Strings = "both"
    values: bool = True
    floats: Floats = "float"
    limits: Limits = field(default_factory=Limits)
    max_errors: int = 1_000
    skips_errors: bool = False

    def __post_init__(self) -> None:
        check_type("limits", self.limits, Limits)
        check_choices(self, _CHOICES)
        check_switches(self, "updates", "keys", "values", "skips_errors")
        check_count("max_errors", self.max_errors)
        if self.documents is not None:
            check_count("documents", self.documents, "an int or None")


def start_events(*, skip_errors: bool = False, **options: Unpack[EventChoices]) -> EventState:
    """Return the state before any text; the options are those of `JsonFragmentAccumulator`.

    With `skip_errors`, invalid JSON is reported and skipped; otherwise reading ends there.
    """
    return EventState(EventEmitter(EventOptions(skips_errors=skip_errors, **options), NO_PATTERNS), None)


def create_accumulator_state(
    *, on_error: OnError = "event", mend: Mending | None = None, **options: Unpack[EventChoices]
) -> tuple[EventState, bool, Mending | None]:
    """Return the first state of an accumulator, whether it raises errors, and what it mends."""
    check_choice("on_error", on_error, _ON_ERROR)
    first = start_events(skip_errors=on_error == "skip", **options)
    return first, on_error == "raise", None if mend is None else check_mending(mend)


def check_callback(callback: object) -> None:
    """Refuse what cannot be called, and functions whose body does not run when they are called.

    Nothing awaits or iterates the result of a callback, so the body of a coroutine or a generator would never run.
    Most are recognised here, before they are called; `check_result` finds the others.
    """
    if not callable(callback):
        raise TypeError(f"a callback must be callable, not {type(callback).__name__}")
    function: object = callback
    while isinstance(function, functools.partial):
        function = function.func
    for each in (function, getattr(type(function), "__call__", None)):  # noqa: B004 - what is called, not whether
        if inspect.iscoroutinefunction(each):
            _refuse("a callback must not be a coroutine function")
        if inspect.isasyncgenfunction(each) or inspect.isgeneratorfunction(each):
            _refuse("a callback must not be a generator function")


def check_result(result: object) -> None:
    """Refuse a coroutine or a generator returned by a callback; a task or a future runs by itself, and is fine."""
    if isinstance(result, Coroutine):
        result.close()  # or Python warns as well that it was never awaited
        _refuse("a callback returned a coroutine")
    if isinstance(result, (AsyncGenerator, Generator)):
        _refuse("a callback returned a generator")


def _refuse(what: str) -> None:
    raise TypeError(f"{what}: {_HINT}")
