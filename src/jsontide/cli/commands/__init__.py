"""The commands, a module for each; `events` and `get` share one, and `batch` and `compare` do."""

from collections.abc import Callable, Mapping
from typing import Final

from jsontide.cli.commands.batch import batch, compare
from jsontide.cli.commands.check import check
from jsontide.cli.commands.chunk import chunk
from jsontide.cli.commands.events import events, get
from jsontide.cli.commands.mend import mend
from jsontide.cli.commands.record import record
from jsontide.cli.commands.replay import replay
from jsontide.cli.commands.stats import stats
from jsontide.cli.commands.studio import studio
from jsontide.cli.commands.watch import watch

COMMANDS: Final[Mapping[Callable[..., None], str]] = {
    record: "Record a stream with its times.",
    replay: "Play a recording as it was received.",
    watch: "Show what a stream says while it arrives.",
    events: "Write what happens in a JSON text.",
    get: "Write the values at some paths of a JSON text.",
    chunk: "Turn snapshots of a value into text chunks.",
    mend: "Mend the JSON that a language model wrote.",
    check: "Check JSON, or an answer, against a schema.",
    stats: "Measure recordings: when each path came.",
    studio: "Go back and forth in the time of a stream.",
    batch: "Ask something of an archive of recordings.",
    compare: "Compare the tables of two batches.",
}
"""In the order of the help, each with a line that a terminal of 60 columns shows whole."""
