"""Options as people pass them in, or an error that names the option and what is accepted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from jsontide.text._limits import Limits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Floats: TypeAlias = Literal["float", "decimal", "lexeme"]
"""What numbers with a fraction or an exponent become."""
FLOATS: Final = ("float", "decimal", "lexeme")


def check_limits(limits: object) -> None:
    """Refuse what is no `Limits`."""
    if not isinstance(limits, Limits):
        message = f"limits must be Limits, not {type(limits).__name__}"
        raise TypeError(message)


def check_choices(options: object, accepted: Mapping[str, Sequence[str]]) -> None:
    """Refuse attributes that are none of their choices."""
    for name, choices in accepted.items():
        check_choice(name, getattr(options, name), choices)


def check_choice(name: str, choice: object, accepted: Sequence[str]) -> None:
    """Refuse what is none of the choices."""
    if choice not in accepted:
        message = f"{name} must be one of {', '.join(map(repr, accepted))}, not {choice!r}"
        raise ValueError(message)


def check_switches(options: object, *names: str) -> None:
    """Refuse attributes that are neither `True` nor `False`."""
    for name in names:
        check_switch(name, getattr(options, name))


def check_switch(name: str, value: object) -> None:
    """Refuse what is neither `True` nor `False`."""
    if not isinstance(value, bool):
        message = f"{name} must be a bool, not {type(value).__name__}"
        raise TypeError(message)
