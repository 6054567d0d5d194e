"""Options as people pass them in, or an error that names the option and what is accepted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

Kind = TypeVar("Kind")


def check_state(state: object, kind: type[Kind], article: str = "a") -> Kind:
    """Return a state, refuse anything else."""
    if not isinstance(state, kind):
        raise TypeError(f"a state must be {article} {kind.__name__}, not {type(state).__name__}")
    return state


def check_type(name: str, value: object, kind: type[Kind], expected: str = "") -> Kind:
    """Return a value, refuse one of another type."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be {expected or kind.__name__}, not {type(value).__name__}")
    return value


def check_choices(options: object, accepted: Mapping[str, Sequence[str]]) -> None:
    """Refuse attributes that are not one of their choices."""
    for name, choices in accepted.items():
        check_choice(name, getattr(options, name), choices)


def check_choice(name: str, choice: object, accepted: Sequence[str]) -> None:
    """Refuse anything but one of the choices."""
    if choice not in accepted:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, accepted))}, not {choice!r}")


def check_switches(options: object, *names: str) -> None:
    """Refuse attributes that are neither `True` nor `False`."""
    for name in names:
        check_switch(name, getattr(options, name))


def check_switch(name: str, value: object) -> None:
    """Refuse anything but `True` and `False`."""
    check_type(name, value, bool, "a bool")


def check_count(name: str, value: object, expected: str = "an int", least: int = 1) -> None:
    """Refuse anything but an integer of at least 1, or another least one."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} must be {expected}, not {type(value).__name__}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, not {value}")


def check_seconds(name: str, value: object, least: float = 0) -> None:
    """Refuse anything but a number of seconds of at least `least`."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number of seconds, not {type(value).__name__}")
    if not least <= value < float("inf"):
        raise ValueError(f"{name} must be at least {least:g} seconds, not {value!r}")
