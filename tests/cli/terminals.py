"""The command as a real process: with pipes, or at a terminal whose screen can be read.

Rule: nothing waits for a time; what is awaited is a text, or the end.
"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

needs_interrupts = pytest.mark.skipif(
    signal.getsignal(signal.SIGINT) == signal.SIG_IGN,
    reason="interrupts are ignored here, and so by every process started from here",
)
COMMAND = (sys.executable, "-c", "from jsontide.cli import main; main()")
PATIENCE = 60
_CODE = re.compile(rb"\x1b\[([0-9;?]*)([A-Za-z])|\x1b[()][A-Z0-9]|\r\n|[\r\n\x08]")


def start(*arguments: str | Path, stdout: int = subprocess.PIPE) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=subprocess.PIPE,
    )


class Screen:
    """What a terminal shows of what it was sent, as far as this program uses it: rows, and those scrolled away."""

    def __init__(self, columns: int, lines: int) -> None:
        self.columns, self.lines = columns, lines
        self.rows = [""]
        self._row = self._column = 0
        self._rest = b""
        self.widest = 0

    def feed(self, data: bytes) -> None:
        data = self._rest + data
        self._rest = b""
        cut = data.rfind(b"\x1b", max(0, len(data) - 16))
        if cut >= 0 and not _CODE.match(data, cut):
            data, self._rest = data[:cut], data[cut:]
        at = 0
        for code in _CODE.finditer(data):
            self._write(data[at : code.start()])
            self._obey(code)
            at = code.end()
        self._write(data[at:])

    def _write(self, data: bytes) -> None:
        # Half a character at the end of a read is not worth a decoder: it is drawn again.
        text = data.decode(errors="replace")
        row = self.rows[self._row].ljust(self._column)
        self.rows[self._row] = row[: self._column] + text + row[self._column + len(text) :]
        self._column += len(text)
        self.widest = max(self.widest, self._column)

    def _obey(self, code: re.Match[bytes]) -> None:
        if code[0] in {b"\r\n", b"\n"}:
            self._row, self._column = self._row + 1, 0
            self.rows += [""] * (self._row + 1 - len(self.rows))
        elif code[0] == b"\r":
            self._column = 0
        elif code[2] == b"A":
            self._row = max(0, self._row - int(code[1] or 1))
        elif code[2] == b"K":
            self.rows[self._row] = ""
        elif code[2] == b"H":
            self._row = self._column = 0

    @property
    def text(self) -> str:
        return "\n".join(row.rstrip() for row in self.rows)


class Terminal:
    """A command at a terminal."""

    def __init__(self, process: subprocess.Popen[bytes], descriptor: int, screen: Screen) -> None:
        self.process = process
        self.screen = screen
        self.sent = b""
        self._descriptor = descriptor

    def read_until(self, is_there: Callable[[str], bool]) -> str:
        """Read until the screen shows something; return all of it."""
        ends = time.monotonic() + PATIENCE
        while not is_there(self.screen.text):
            assert time.monotonic() < ends, self.screen.text
            if select.select([self._descriptor], [], [], 1)[0] and not self._read():
                break
        assert is_there(self.screen.text), self.screen.text
        return self.screen.text

    def read_all(self) -> str:
        """Read to the end; return the screen."""
        while self._read():
            pass
        return self.screen.text

    def _read(self) -> bool:
        try:
            data = os.read(self._descriptor, 65_536)
        except OSError:  # Linux says so, instead of an empty read, when the other side is closed
            data = b""
        self.sent += data
        self.screen.feed(data)
        return bool(data)

    def press(self, keys: str) -> None:
        os.write(self._descriptor, keys.encode())

    def wait(self) -> int:
        return self.process.wait(PATIENCE)


@contextmanager
def at_terminal(
    *arguments: str | Path,
    columns: int = 80,
    lines: int = 24,
    term: str = "xterm",
    stdin: int | None = None,
    stdout: int | None = None,
) -> Iterator[Terminal]:
    """Run the command at a terminal of this size, its own; standard input and output may be elsewhere."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    clean = {key: value for key, value in os.environ.items() if key not in {"COLUMNS", "LINES", "NO_COLOR"}}
    process = subprocess.Popen(
        [sys.executable, "-c", _OWN_TERMINAL, str(theirs), *COMMAND, *map(str, arguments)],
        stdin=theirs if stdin is None else stdin,
        stdout=theirs if stdout is None else stdout,
        stderr=theirs,
        env=clean | {"TERM": term},
        pass_fds=[theirs],
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield Terminal(process, ours, Screen(columns, lines))
    finally:
        process.kill()
        process.wait()
        os.close(ours)


# The terminal becomes that of the session, so that /dev/tty is it and Ctrl-C comes from it.
_OWN_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(int(sys.argv[1]), termios.TIOCSCTTY, 0);"
    " os.close(int(sys.argv[1])); os.execv(sys.argv[2], sys.argv[2:])"
)


def on_terminal(
    *arguments: str | Path, columns: int = 80, lines: int = 24, term: str = "xterm", stdout: int | None = None
) -> tuple[int, str]:
    """Exit code and all that a terminal of this size was sent."""
    with at_terminal(*arguments, columns=columns, lines=lines, term=term, stdout=stdout) as terminal:
        terminal.read_all()
        return terminal.wait(), terminal.sent.decode()
