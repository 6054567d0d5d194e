"""What happens in a run in, a recording of it out, while it happens.

Rule: a recorder never disturbs the run. What cannot be written, on a full disk for example, is reported once, and the
recording ends there.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, cast

from jsontide._private_file import open_private
from jsontide._values import Chunk
from jsontide.frontends.run_value import size_of
from jsontide.providers.base import plain
from jsontide.recordings._recording import BinaryFile, End, RecordingWriter
from jsontide.recordings._run_notes import RunNote, note_event
from jsontide.runs.run import Run
from jsontide.runs.types import (
    RunOutcome,
    StepEnded,
    StepStarted,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    ToolWaits,
)

if TYPE_CHECKING:
    from jsontide.runs.types import RunInput

_NOTED: Final = (Run, StepStarted, StepEnded, ToolWaits, ToolStarted, ToolProgress, ToolFinished)
_ENDS: Final[dict[RunOutcome, End]] = {RunOutcome.CANCELLED: "stopped", RunOutcome.FAILED: "lost"}


class RunRecorder:
    """Records a run: pass it to `run_agent` or `arun_agent` as `record`, or every event that you feed to `write`.

    `to` is a path, whose file only you can read, or a file that is open. A run that waits for a person can go on with
    the same recorder, and is then one recording.
    `about` is kept in the header of the file. `on_error` is called once with why nothing more is recorded; by default
    that is a warning.
    """

    def __init__(
        self,
        to: str | Path | BinaryFile,
        about: Mapping[str, object] | None = None,
        *,
        on_error: Callable[[str], object] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._file: Final = _PathFile(Path(to)) if isinstance(to, str | Path) else to
        self._about: Final = about
        self._on_error: Final = on_error or _warn
        self._clock: Final = clock
        self._writer: RecordingWriter | None = None
        self._lost: str | None = None
        """Why the stream of the message failed."""
        self._shown: dict[str, int] = {}
        """How much of the run that a tool is was written last."""
        self.error: str | None = None
        """Why nothing more is recorded."""

    def write(self, event: object) -> None:
        """Write the run that begins or goes on, what a provider sends, an exception of its stream, or a `RunInput`."""
        if isinstance(event, BaseException):
            self._lost = str(event) or type(event).__name__
        elif isinstance(event, ToolProgress) and isinstance(event.value, Run) and self._is_repeated(event):
            return
        else:
            self._try(lambda: self._write(event))

    def finish(self, run: Run[Any]) -> None:
        """Write how a run ended; one that waits may go on."""
        self._try(lambda: self._finish(run))

    def _try(self, write: Callable[[], None]) -> None:
        if self.error is not None:
            return
        try:
            write()
        except (OSError, TypeError, ValueError, RecursionError) as error:
            self.error = f"the recording of the run breaks off: {str(error) or type(error).__name__}"
            with suppress(OSError):
                self._close()
            self._on_error(self.error)

    def _write(self, event: object) -> None:
        if self._writer is None:
            self._writer = RecordingWriter(self._file, self._about, self._clock, has_run=True)
        if isinstance(event, _NOTED):
            self._write_note(cast("RunInput", event))
        elif isinstance(event, Chunk):
            self._writer.write(event.encode() if isinstance(event, str) else bytes(event))
        elif isinstance(fields := plain(event), dict):  # nothing else is an event of a provider
            self._writer.write_event(fields)

    def _write_note(self, event: RunInput | Run[Any]) -> None:
        note = note_event(event)
        if isinstance(event, StepEnded) and self._lost is not None:
            note, self._lost = RunNote({"step": "lost", "error": self._lost}), None
        if isinstance(event, StepStarted):
            self._shown = {}
        cast("RecordingWriter", self._writer).write_note(note)

    def _is_repeated(self, event: ToolProgress) -> bool:
        """Return whether a nested run has hardly grown: all of it is written each time, and at last with its result."""
        size, shown = size_of(event.value), self._shown.get(event.call_id, 0)
        if size < shown + shown // 2:
            return True
        self._shown[event.call_id] = size
        return False

    def _finish(self, run: Run[Any]) -> None:
        if self._writer is None:
            return
        if self._lost is not None:
            self._write_note(StepEnded())
        if run.outcome is not RunOutcome.WAITING:
            self._writer.finish(_ENDS.get(run.outcome, "over"), run.error)
        self._close()

    def _close(self) -> None:
        if isinstance(self._file, _PathFile):
            self._file.close()


class _PathFile:
    """The file at a path: made when something is written for the first time, and opened again if it was closed."""

    def __init__(self, path: Path) -> None:
        self._path: Final = path
        self._file: BinaryIO | None = None
        self._is_new = True

    def write(self, data: bytes) -> None:
        if self._file is None:
            self._file = open_private(self._path, "wb" if self._is_new else "ab")
            self._is_new = False
        self._file.write(data)

    def flush(self) -> None:
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            file, self._file = self._file, None
            file.close()


def _warn(why: str) -> None:
    with suppress(RuntimeWarning):  # where warnings are errors, the run goes on, too
        warnings.warn(why, RuntimeWarning, stacklevel=2)
