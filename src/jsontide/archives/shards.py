"""Files, folders, globs and archives in, shards out: what one worker reads at a time; then the recordings in a shard.

Rule: the plan follows from names, sizes and times of change alone. It is the same for every engine, and a shard that is
full stays as it is when more recordings are added after it.

Loose files are gathered up to a size; an archive is a shard of its own, because a compressed one is not cut.
Nothing is extracted: the names in an archive are labels, and what a file or an archive may grow to is bounded.
"""

from __future__ import annotations

import gzip
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from glob import glob, has_magic
from hashlib import sha256
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Final, TypeAlias, cast

from jsontide._check import check_count
from jsontide._errors import JsontideError

if TYPE_CHECKING:
    from typing import Self

TARGET: Final = 64 << 20
"""Bytes in a shard of loose files."""
AT_MOST: Final = 2000
"""Loose files in a shard."""
ARCHIVES: Final = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
RECORDINGS: Final = (".ndjson", ".jsonl", ".json", ".sse", *(f"{end}.gz" for end in (".ndjson", ".jsonl", ".sse")))
"""How the names of recordings end, in a folder or an archive; a file that is named itself may have any name."""
LEAST_BOMB: Final = 1 << 30
"""Bytes that any archive may have when it is unpacked."""
MOST_GROWTH: Final = 300
"""How many times larger than itself an archive may be, past that: recordings are packed about fifteen times."""


class SourceError(JsontideError, OSError):
    """A source is not there or cannot be listed; the message names it."""


@dataclass(frozen=True, slots=True, order=True)
class Member:
    """A file with a recording, or an archive of them."""

    source: str
    """A path, or an address such as `s3://bucket/turn.ndjson`."""
    size: int
    etag: str
    """Changes when the file does."""

    @property
    def is_archive(self) -> bool:
        return self.source.endswith(ARCHIVES)


@dataclass(frozen=True, slots=True)
class Shard:
    """What one worker reads at a time."""

    id: str
    """The same for the same files."""
    members: tuple[Member, ...]
    bytes: int
    deaths: int = 0
    """How many who ran it died; an engine gives it to the next one with one more."""

    @classmethod
    def of(cls, members: Iterable[Member]) -> Self:
        members = tuple(members)
        named = "\n".join(f"{each.source}\t{each.size}\t{each.etag}" for each in members)
        return cls(
            sha256(named.encode(errors="surrogateescape")).hexdigest()[:16], members, sum(m.size for m in members)
        )


@dataclass(frozen=True, slots=True)
class Part:
    """What is known of a shard whose rows are written."""

    id: str
    bytes: int
    """Of the recordings in it."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why there is no recording where one should be."""

    reason: str


Found: TypeAlias = tuple[str, bytes | Unreadable]
"""The name of a recording, `file` or `archive!member`, and its bytes."""


def plan(
    sources: str | Path | Iterable[str | Path], *, target: int = TARGET, at_most: int = AT_MOST, leave_out: str = ""
) -> list[Shard]:
    """Return the shards of all recordings in files, folders, globs and archives: loose ones by name, then archives.

    Addresses such as `s3://...` need the package fsspec. `leave_out` names a folder that is passed over.
    Raises `SourceError` for a source that is not there, or that no recording is in.
    """
    check_count("target", target)
    check_count("at_most", at_most)
    given = [sources] if isinstance(sources, str | Path) else list(sources)
    members: set[Member] = set()
    for source in given:
        found = list(_find(str(source), Path(leave_out).resolve() if leave_out else None))
        if not found:
            message = f"there is no recording in {source}"
            raise SourceError(message)
        members.update(found)
    loose = _gather(sorted(member for member in members if not member.is_archive), target, at_most)
    return [*loose, *(Shard.of([member]) for member in sorted(members) if member.is_archive)]


def _gather(files: Iterable[Member], target: int, at_most: int) -> Iterator[Shard]:
    gathered: list[Member] = []
    size = 0
    for member in files:
        gathered.append(member)
        size += member.size
        if len(gathered) == at_most or size >= target:
            yield Shard.of(gathered)
            gathered, size = [], 0
    if gathered:
        yield Shard.of(gathered)


def _find(source: str, leave_out: Path | None) -> Iterator[Member]:
    path = Path(source)
    if "://" in source:
        yield from _find_remote(source)
    elif path.is_dir():
        root = path.resolve()
        skipped = (
            leave_out.relative_to(root).parts if leave_out is not None and leave_out.is_relative_to(root) else None
        )
        for found in path.rglob("*"):
            inside = found.relative_to(path).parts
            is_left_out = skipped is not None and inside[: len(skipped)] == skipped
            if _is_recording(found.name) and not is_left_out and not any(name.startswith(".") for name in inside):
                yield _stat(found)
    elif has_magic(source) and not path.exists():
        paths = map(Path, glob(source, recursive=True))  # noqa: PTH207 - those of pathlib are not absolute
        yield from (_stat(found) for found in paths if found.is_file())
    else:
        yield _stat(path)


def _is_recording(name: str) -> bool:
    base = name.rpartition("/")[2]
    return base.endswith((*RECORDINGS, *ARCHIVES)) and not base.startswith(".")


def _stat(path: Path) -> Member:
    try:
        found = path.stat()
    except OSError as error:
        message = f"cannot read {path}: {error.strerror}"
        raise SourceError(message) from error
    return Member(str(path), found.st_size, str(found.st_mtime_ns))


def _file_system(address: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs  # noqa: PLC0415 - an optional package
    except ImportError as error:
        message = f"{address} needs the package fsspec, and the one for its protocol: pip install fsspec"
        raise SourceError(message) from error
    try:
        system, path = url_to_fs(address)
    except (ImportError, ValueError) as error:
        message = f"cannot read {address}: {error}"
        raise SourceError(message) from error
    return system, path


def _find_remote(address: str) -> Iterator[Member]:
    system, path = _file_system(address)
    try:
        if has_magic(path):
            found = system.glob(path, detail=True)
        elif system.isdir(path):
            found = {name: info for name, info in system.find(path, detail=True).items() if _is_recording(name)}
        else:
            found = {path: system.info(path)}
    except OSError as error:
        message = f"cannot read {address}: {error}"
        raise SourceError(message) from error
    for name, info in found.items():
        if info.get("type") == "file":
            changes = [info.get(key) for key in ("ETag", "etag", "mtime", "created")]
            etag = next((str(value) for value in changes if value), "")
            yield Member(system.unstrip_protocol(name), info.get("size") or 0, etag)


def read_shard(shard: Shard, max_bytes: int) -> Iterator[Found]:
    """Yield the recordings of a shard in order; what cannot be read is told by its reason."""
    for member in shard.members:
        yield from _read_archive(member, max_bytes) if member.is_archive else [_read_file(member, max_bytes)]


def read_recording(name: str, max_bytes: int = 1 << 30) -> bytes:
    """Return the bytes of one recording, by the name that tables have: `file`, or `archive!member`.

    Raises `SourceError` if there is none.
    """
    source, mark, inner = name.partition("!")
    is_inside = mark and not Path(name).exists()
    member = Member(source, 0, "") if "://" in source else _stat(Path(source if is_inside else name))
    found = _read_archive(member, max_bytes) if is_inside else [_read_file(member, max_bytes)]
    for label, data in found:
        if label == name and isinstance(data, bytes):
            return data
        if label == name and isinstance(data, Unreadable):
            message = f"cannot read {name}: {data.reason}"
            raise SourceError(message)
    message = f"there is no {inner} in {source}"
    raise SourceError(message)


def _open(source: str) -> BinaryIO:
    if "://" not in source:
        return Path(source).open("rb")
    system, path = _file_system(source)
    return cast("BinaryIO", system.open(path, "rb"))


_BROKEN: Final = (OSError, EOFError, zlib.error, tarfile.TarError, ValueError)
"""What reading raises where a file, or what packed it, is broken."""


def _read_file(member: Member, max_bytes: int) -> Found:
    try:
        with _open(member.source) as file:
            return member.source, _read_bounded(file, member.source, max_bytes)
    except _BROKEN as error:
        return member.source, Unreadable(_describe(error))


def _read_bounded(file: IO[bytes], name: str, max_bytes: int) -> bytes | Unreadable:
    """Read a file to its end, unpacked; one that is broken raises."""
    with gzip.GzipFile(fileobj=file) if name.endswith(".gz") else nullcontext(file) as unpacked:
        data: bytes = unpacked.read(max_bytes + 1)
    return data if len(data) <= max_bytes else Unreadable(f"it has more than {max_bytes:,} bytes")


def _describe(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


_NAMES: Final = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
_LONGEST_NAMES: Final = 1 << 20


class _ArchiveEntry(tarfile.TarInfo):
    """The header of a member; a missing one is an error, where `tarfile` takes it for the end of the archive."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        entry = super().frombuf(buf, encoding, errors)
        if entry.type in _NAMES and entry.size > _LONGEST_NAMES:  # `tarfile` reads them at once
            message = "a name in it is too long"
            raise ValueError(message)
        return entry

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Self:
        try:
            return super().fromtarfile(archive)
        except tarfile.HeaderError as error:
            if type(error).__name__ == "EOFHeaderError":  # the end, as it should be
                raise
            message = "the archive breaks off"
            raise EOFError(message) from error


def _read_archive(member: Member, max_bytes: int) -> Iterator[Found]:
    most = max(MOST_GROWTH * member.size, LEAST_BOMB)
    try:
        with _open(member.source) as file, _unpack(file, member.source, most) as archive:
            for entry in archive:
                if entry.offset_data + entry.size > most:
                    message = f"it would be larger than {most:,} bytes when it is unpacked"
                    raise ValueError(message)
                name = f"{member.source}!{entry.name}"
                if not entry.isfile() or not _is_recording(entry.name) or entry.name.endswith(ARCHIVES):
                    continue
                data = cast("IO[bytes]", archive.extractfile(entry))
                yield name, _read_bounded(data, name, max_bytes)
    except _BROKEN as error:
        yield member.source, Unreadable(_describe(error))


@contextmanager
def _unpack(file: BinaryIO, name: str, most: int) -> Iterator[tarfile.TarFile]:
    """Open an archive to be read once, from its beginning to its end."""
    if name.endswith(("gz", ".tgz")):  # this one checks what the archive says of itself
        with gzip.open(file) as unpacked, tarfile.open(fileobj=unpacked, mode="r|", tarinfo=_ArchiveEntry) as archive:
            yield archive
            while unpacked.tell() < most and unpacked.read(1 << 20):
                pass
    else:
        with tarfile.open(fileobj=file, mode="r|*", tarinfo=_ArchiveEntry) as archive:
            yield archive
