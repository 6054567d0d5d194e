"""What is planned for which sources, and what is read of them, whole or broken."""

import gzip
import tarfile
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide.archives import Shard, SourceError, plan, read_recording
from jsontide.archives.shards import LEAST_BOMB, MOST_GROWTH, Unreadable, read_shard
from tests.archives.made import Files, pack, write_files

ONE = b'{"a": 1}'


def read(shards: list[Shard], max_bytes: int = 1000) -> list[tuple[str, object]]:
    found = [each for shard in shards for each in read_shard(shard, max_bytes)]
    return [(name, data.reason if isinstance(data, Unreadable) else data) for name, data in found]


class TestPlan:
    @given(sizes=st.lists(st.integers(0, 40), max_size=30), target=st.integers(1, 60), at_most=st.integers(1, 5))
    def test_shards_hold_every_file_once_in_order_and_are_bounded(
        self, tmp_path_factory: pytest.TempPathFactory, sizes: list[int], target: int, at_most: int
    ) -> None:
        files = {f"{at:03}.json": b"1" * size for at, size in enumerate([*sizes, 1])}
        folder = write_files(tmp_path_factory.mktemp("plan"), files)
        shards = plan(folder, target=target, at_most=at_most)
        names = [Path(member.source).name for shard in shards for member in shard.members]
        assert names == sorted(files)
        for shard in shards:
            assert shard.bytes == sum(member.size for member in shard.members)
            assert len(shard.members) <= at_most
            assert sum(member.size for member in shard.members[:-1]) < target

    def test_full_shards_stay_when_files_are_added_after_them(self, tmp_path: Path) -> None:
        files = {f"{at:03}.json": ONE for at in range(25)}
        before = plan(write_files(tmp_path, files), at_most=10)
        after = plan(write_files(tmp_path, {f"{at:03}.json": ONE for at in range(25, 40)}), at_most=10)
        assert [shard.id for shard in after[:2]] == [shard.id for shard in before[:2]]
        assert before[2].id not in {shard.id for shard in after}

    def test_a_file_that_changes_makes_another_shard(self, tmp_path: Path) -> None:
        folder = write_files(tmp_path, {"a.json": ONE})
        (before,) = plan(folder)
        (folder / "a.json").write_bytes(b'{"a": 2}')
        (after,) = plan(folder)
        assert before.id != after.id

    def test_folders_give_recordings_and_archives_but_nothing_hidden_or_left_out(self, tmp_path: Path) -> None:
        files = dict.fromkeys(
            ["a.json", "in/b.ndjson", "in/c.sse.gz", "d.tgz", "readme.md", ".e.json", ".git/f.json"], ONE
        )
        folder = write_files(tmp_path, {**files, "out/g.json": ONE})
        shards = plan(folder, leave_out=str(folder / "out"))
        names = [str(Path(each.source).relative_to(folder)) for shard in shards for each in shard.members]
        assert names == ["a.json", "in/b.ndjson", "in/c.sse.gz", "d.tgz"]
        assert [len(shard.members) for shard in shards] == [3, 1]

    def test_globs_and_named_files_of_any_name(self, tmp_path: Path) -> None:
        folder = write_files(tmp_path, {"a.txt": ONE, "b.txt": ONE, "[c].txt": ONE})
        (shard,) = plan([folder / "a.txt", str(folder / "*.txt"), str(folder / "[c].txt")])
        assert [Path(each.source).name for each in shard.members] == ["[c].txt", "a.txt", "b.txt"]

    @pytest.mark.parametrize("source", ["nothing-here", "nothing-*"])
    def test_a_source_that_is_not_there_is_named(self, source: str) -> None:
        with pytest.raises(SourceError, match=r"nothing-"):
            plan(source)

    def test_an_empty_folder_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(SourceError, match="there is no recording in"):
            plan(tmp_path)

    @pytest.mark.parametrize("name", ["target", "at_most"])
    def test_bounds_are_counts(self, name: str, tmp_path: Path) -> None:
        bounds: Any = {name: 0}
        with pytest.raises(ValueError, match=f"{name} must be"):
            plan(tmp_path, **bounds)

    def test_addresses_are_listed_and_read_by_fsspec(self) -> None:
        fsspec = pytest.importorskip("fsspec")
        memory = fsspec.filesystem("memory")
        memory.pipe({"/archive/a.json": ONE, "/archive/in/b.tar.gz": pack({"c.json": ONE}), "/archive/readme": b""})
        shards = plan("memory://archive")
        assert read(shards) == [("memory:///archive/a.json", ONE), ("memory:///archive/in/b.tar.gz!c.json", ONE)]
        with pytest.raises(SourceError, match="cannot read memory://nowhere"):
            plan("memory://nowhere")
        with pytest.raises(SourceError, match="cannot read no-such://a"):
            plan("no-such://a")


def archive(tmp_path: Path, data: bytes, name: str = "a.tar.gz") -> list[Shard]:
    (tmp_path / name).write_bytes(data)
    return plan(tmp_path / name)


class TestReading:
    FILES: ClassVar[Files] = {
        "a.json": ONE,
        "b/c.json": b"2",
        "../d.json": b"3",
        "/e.json": b"4",
        "notes.txt": b"",
        "f.tar": b"",
    }
    NAMES = ("a.json", "b/c.json", "../d.json", "/e.json")

    def test_names_in_an_archive_are_labels(self, tmp_path: Path) -> None:
        found = read(archive(tmp_path, pack(self.FILES)))
        assert found == [(f"{tmp_path}/a.tar.gz!{name}", self.FILES[name]) for name in self.NAMES]
        assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tar.gz"]
        assert not (tmp_path.parent / "d.json").exists()

    @pytest.mark.parametrize("name", ["a.tar", "a.tar.bz2", "a.tar.xz"])
    def test_other_archives(self, tmp_path: Path, name: str) -> None:
        with tarfile.open(tmp_path / name, f"w:{name.partition('.tar')[2].lstrip('.')}") as made:  # type: ignore[call-overload]
            entry = tarfile.TarInfo("x.json")
            entry.size = len(ONE)
            made.addfile(entry, BytesIO(ONE))
        assert read(plan(tmp_path / name)) == [(f"{tmp_path / name}!x.json", ONE)]

    @given(share=st.floats(0, 1, exclude_max=True), name=st.sampled_from(["a.tar", "a.tar.gz"]))
    def test_an_archive_that_is_cut_off_says_so_after_what_it_has(
        self, tmp_path_factory: pytest.TempPathFactory, share: float, name: str
    ) -> None:
        files = {f"{at}.json": bytes([65 + at]) * 400 for at in range(9)}
        is_packed = name.endswith("gz")
        data = pack(files) if is_packed else gzip.decompress(pack(files))
        # A tar may lack what fills its last record: its end is two empty blocks.
        whole = len(data) if is_packed else data.rindex(b"I") + 600
        found = read(archive(tmp_path_factory.mktemp("cut"), data[: int(share * whole)], name))
        *good, (where, why) = found
        assert [(label.rpartition("!")[2], content) for label, content in good] == [*files.items()][: len(good)]
        assert where.endswith(name)
        assert isinstance(why, str)

    def test_a_damaged_archive_says_so(self, tmp_path: Path) -> None:
        data = bytearray(pack({"a.json": ONE}))
        data[-6] ^= 1  # of the check sum
        *_, (where, why) = read(archive(tmp_path, bytes(data)))
        assert where.endswith("a.tar.gz")
        assert "CRC" in str(why)

    def test_what_would_be_too_large_is_not_unpacked(self, tmp_path: Path) -> None:
        entry = tarfile.TarInfo("a.json")
        entry.size = max(LEAST_BOMB, 600 * MOST_GROWTH) + 1
        found = read(archive(tmp_path, gzip.compress(entry.tobuf() + ONE)))
        assert found == [(f"{tmp_path}/a.tar.gz", f"it would be larger than {LEAST_BOMB:,} bytes when it is unpacked")]

    def test_a_name_without_end_is_not_read(self, tmp_path: Path) -> None:
        entry = tarfile.TarInfo("././@LongLink")
        entry.type, entry.size = tarfile.GNUTYPE_LONGNAME, 1 << 40
        header = entry.tobuf(tarfile.GNU_FORMAT)
        assert read(archive(tmp_path, gzip.compress(header))) == [(f"{tmp_path}/a.tar.gz", "a name in it is too long")]

    @pytest.mark.parametrize("name", ["a.json", "a.ndjson.gz", "a.tar.gz"])
    def test_a_recording_is_bounded(self, tmp_path: Path, name: str) -> None:
        data = b"1" * 1001
        packed = pack({"b.json": data, "c.ndjson.gz": gzip.compress(data)}) if "tar" in name else gzip.compress(data)
        found = read(archive(tmp_path, packed if name.endswith("gz") else data, name))
        assert [why for _, why in found] == ["it has more than 1,000 bytes"] * len(found)
        assert len(found) == (2 if "tar" in name else 1)

    def test_a_file_that_is_gone_says_so(self, tmp_path: Path) -> None:
        shards = archive(tmp_path, ONE, "a.json")
        (tmp_path / "a.json").unlink()
        assert read(shards) == [(f"{tmp_path}/a.json", "No such file or directory")]


class TestOneRecording:
    def test_by_the_names_of_tables(self, tmp_path: Path) -> None:
        write_files(tmp_path, {"a.json": ONE, "odd!name.json": b"2", "b.tar.gz": pack({"in/c.json": b"3"})})
        assert read_recording(f"{tmp_path}/a.json") == ONE
        assert read_recording(f"{tmp_path}/odd!name.json") == b"2"
        assert read_recording(f"{tmp_path}/b.tar.gz!in/c.json") == b"3"

    @pytest.mark.parametrize("name", ["b.tar.gz!x.json", "none.json", "none.tar!a.json"])
    def test_one_that_is_not_there_is_named(self, tmp_path: Path, name: str) -> None:
        write_files(tmp_path, {"b.tar.gz": pack({"in/c.json": b"3"})})
        with pytest.raises(SourceError, match=r"there is no x\.json in|cannot read"):
            read_recording(f"{tmp_path}/{name}")
