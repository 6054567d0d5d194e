"""Archives of recordings of mixed quality, made from a seed, and jobs that misbehave.

In: a number and a seed. Out: names and bytes of recordings, and files of them.
"""

import gzip
import io
import json
import os
import signal
import tarfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from jsontide import JsonValue
from jsontide.archives import RecordingJob
from tests.generated_streams import STREAMS

Files = dict[str, bytes]
POISON = b"poison"


def recording(random: Random) -> bytes:
    """A recording: whole, cut off, with a time that goes back a little or a lot, or no recording at all."""
    stream = STREAMS[random.choice([*STREAMS])]
    at = 0.0
    head = {"jsontide": "recording", "version": 1, "started": f"2026-11-{random.randint(1, 28):02}T12:00:00Z"}
    lines = [json.dumps({**head, "labels": {"team": random.choice("ab")}})]
    for event in stream.events:
        at = round(at + random.choice([0.02, 0.3, -0.0005]), 6) if at else 0.4
        lines.append(json.dumps({"at": max(at, 0), "event": event}))
    lines.append(json.dumps({"at": at + 0.1, "end": "over"}))
    data = "\n".join([*lines, ""]).encode()
    kind = random.random()
    if kind < 0.2:
        return data[: random.randrange(len(data))]
    if kind < 0.25:
        return data.replace(b'"at": 0.4', b'"at": 99', 1)
    return b"not a recording" if kind < 0.27 else data


def recordings(count: int, seed: int = 0) -> Files:
    random = Random(seed)
    return {f"turn-{at:06}.ndjson": recording(random) for at in range(count)}


def write_files(folder: Path, files: Files) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (0, 0))
    return folder


def pack(files: Files) -> bytes:
    """The files as a tar, compressed with gzip."""
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return gzip.compress(tar.getvalue(), mtime=0)


def rows_of(out: Path) -> dict[str, list[bytes]]:
    """The rows of each table, in order, as they stand in the parts."""
    rows: dict[str, list[bytes]] = {}
    for part in sorted((out / "parts").glob("*.gz")):
        for line in gzip.decompress(part.read_bytes()).splitlines(keepends=True):
            table, _, row = line.partition(b"\t")
            rows.setdefault(table.decode(), []).append(row)
    return {table: sorted(found) for table, found in rows.items()}


def rows_by_hand(files: Iterable[tuple[str, bytes]], job: RecordingJob) -> dict[str, list[bytes]]:
    """The same by a plain loop over the recordings."""
    rows: dict[str, list[bytes]] = {}
    for name, data in files:
        for table, row in job.rows(name, data):
            line = json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n"
            rows.setdefault(table, []).append(line.encode())
    return {table: sorted(found) for table, found in rows.items()}


def wait_until(what: Callable[[], object]) -> None:
    """Wait for something that must happen; a machine may be slow."""
    for _ in range(6000):
        if what():
            return
        time.sleep(0.01)
    message = "it did not happen in a minute"
    raise AssertionError(message)


@dataclass(frozen=True)
class HarmfulJob(RecordingJob):
    """Dies at recordings that are poison, and at each recording the first time if `dies_once` is a folder."""

    dies_once: str = ""
    takes: float = 0.0

    def rows(self, name: str, data: bytes) -> Iterator[tuple[str, dict[str, JsonValue]]]:
        if data == POISON:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.dies_once:
            mark = Path(self.dies_once, name.replace("/", "_"))
            if not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(self.takes)
        yield from super().rows(name, data)
