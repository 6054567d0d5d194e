"""What people pass to responses and stores, or an error that names the option and what is accepted."""

from __future__ import annotations

from typing import Final

_STEPS: Final = ("begin", "encode", "fail")
"""What every encoder can do; see `Encoder`."""


def check_seconds(name: str, value: object, *, least: float) -> None:
    """Refuse anything but a number of seconds of at least `least`."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        message = f"{name} must be a number of seconds, not {type(value).__name__}"
        raise TypeError(message)
    if not least <= value < float("inf"):
        message = f"{name} must be at least {least:g} seconds, not {value!r}"
        raise ValueError(message)


def check_keep_alive(value: object) -> None:
    """Refuse anything but `None` and a number of seconds that is not too small to be meant."""
    if value is not None:
        check_seconds("keep_alive", value, least=0.01)


def check_encoder(encoder: object) -> None:
    """Refuse what is no encoder."""
    if isinstance(encoder, type) or not all(callable(getattr(encoder, name, None)) for name in _STEPS):
        found = f"the class {encoder.__name__}" if isinstance(encoder, type) else type(encoder).__name__
        message = f"encoder must be an encoder, such as CompactEncoder(), not {found}"
        raise TypeError(message)
