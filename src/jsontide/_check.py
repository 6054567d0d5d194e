"""Options as people pass them in, or an error that names the option and what is accepted."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

State = TypeVar("State")


def check_state(state: object, kind: type[State], article: str = "a") -> State:
    """Return a state, refuse anything else."""
    if not isinstance(state, kind):
        message = f"a state must be {article} {kind.__name__}, not {type(state).__name__}"
        raise TypeError(message)
    return state


def check_choices(options: object, accepted: Mapping[str, Sequence[str]]) -> None:
    """Refuse attributes that are not one of their choices."""
    for name, choices in accepted.items():
        check_choice(name, getattr(options, name), choices)


def check_choice(name: str, choice: object, accepted: Sequence[str]) -> None:
    """Refuse anything but one of the choices."""
    if choice not in accepted:
        message = f"{name} must be one of {', '.join(map(repr, accepted))}, not {choice!r}"
        raise ValueError(message)


def check_switches(options: object, *names: str) -> None:
    """Refuse attributes that are neither `True` nor `False`."""
    for name in names:
        check_switch(name, getattr(options, name))


def check_switch(name: str, value: object) -> None:
    """Refuse anything but `True` and `False`."""
    if not isinstance(value, bool):
        message = f"{name} must be a bool, not {type(value).__name__}"
        raise TypeError(message)


def check_count(name: str, value: object, expected: str = "an int") -> None:
    """Refuse anything but an integer of at least 1."""
    if not isinstance(value, int) or isinstance(value, bool):
        message = f"{name} must be {expected}, not {type(value).__name__}"
        raise TypeError(message)
    if value < 1:
        message = f"{name} must be at least 1, not {value}"
        raise ValueError(message)
