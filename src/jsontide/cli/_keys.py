"""Keys that a person presses at the terminal, whatever standard input and output are."""

import os
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from jsontide.cli._source import UnreadableError

_TERMINAL = "/dev/tty"
_ESCAPE = b"\x1b"


@contextmanager
def read_keys() -> Iterator[Callable[[], str]]:
    """Give a function that waits for the next key; the empty string is the end."""
    try:
        # Imported late: Windows has neither.
        import termios  # noqa: PLC0415
        import tty  # noqa: PLC0415

        terminal = os.open(_TERMINAL, os.O_RDONLY | os.O_NOCTTY)
    except (ImportError, OSError) as error:
        message = "cannot read keys: there is no terminal"
        raise UnreadableError(message) from error
    before = termios.tcgetattr(terminal)
    waiting: deque[str] = deque()

    def read_key() -> str:
        if not waiting:
            waiting.extend(_split(os.read(terminal, 64)))
        return waiting.popleft() if waiting else ""

    try:
        tty.setcbreak(terminal)
        yield read_key
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
        os.close(terminal)


def _split(data: bytes) -> list[str]:
    """Return the keys in what was read: an arrow or the like comes as several bytes, and is one."""
    return [data.decode(errors="replace")] if data.startswith(_ESCAPE) else list(data.decode(errors="replace"))
