"""`jsontide batch` and `jsontide compare`, as people run them."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.archives.made import pack, recordings, rows_of, wait_until, write_files
from tests.cli.running import run

FILES = recordings(12, seed=4)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_files(
        tmp_path / "in", {**FILES, "more.tar.gz": pack({"a.ndjson": b'{"a": 1}', "b.json": b"{'b': 2}"})}
    )


def batch(*arguments: str | Path) -> "tuple[int, str, str]":
    ended = run("batch", *arguments)
    return ended.exit_code, ended.stdout, " ".join(ended.stderr.split())


@pytest.mark.parametrize(
    ("job", "options", "tables"),
    [
        ("stats", [], {"paths"}),
        ("check", ["--schema", "any"], set()),
        ("mend", [], set()),
        ("get", ["--pattern", "parts[*].text"], {"values"}),
    ],
)
def test_each_job_writes_its_tables(
    folder: Path, tmp_path: Path, job: str, options: list[str], tables: set[str]
) -> None:
    code, said, _ = batch(job, folder, "--out", tmp_path / "out", "--workers", "1", *options)
    rows = rows_of(tmp_path / "out")
    unreadable = sum(json.loads(row)["outcome"] is None for row in rows["recordings"])
    assert code == bool(unreadable)
    assert said.startswith(f"{len(FILES) + 2} recordings: ")
    assert {"paths", "values"} & set(rows) == tables
    written = [Path(line.strip()) for line in said.splitlines()[1:]]
    assert all(path.stat().st_size for path in written)
    assert "report.html" in [path.name for path in written]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["stats", "nothing-here"], "cannot read nothing-here"),
        (["get", "."], "get needs a pattern"),
        (["get", ".", "--pattern", "a["], "--pattern"),
        (["stats", ".", "--pattern", "a"], "only get takes one"),
        (["check", "."], "check needs a schema"),
        (["dance", "."], "JOB"),
        (["stats"], "PATH"),
        (["stats", ".", "--engine", "dask"], "--engine"),
        (["stats", ".", "--workers", "0"], "--workers"),
    ],
)
def test_what_cannot_be_done_is_said(tmp_path: Path, arguments: list[str], says: str) -> None:
    code, _, said = batch(*arguments, "--out", tmp_path / "out")
    assert code == 2
    assert says in said
    assert not (tmp_path / "out").exists()


def test_another_question_for_the_same_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    batch("mend", folder, "--out", tmp_path / "out", "--workers", "1")
    code, _, said = batch("check", folder, "--schema", "any", "--out", tmp_path / "out")
    assert code == 1
    assert "is of another batch: job was 'mend', and is 'check'" in said


def test_a_recording_in_an_archive_is_named_to_all_commands(folder: Path) -> None:
    inside = f"{folder}/more.tar.gz!a.ndjson"
    assert json.loads(run("stats", "--json", inside).stdout)["outcome"] == "complete"
    assert run("watch", inside).exit_code == 0
    ended = run("stats", f"{folder}/more.tar.gz!none")
    assert (ended.exit_code, "there is no none in" in ended.stderr) == (2, True)


def test_an_interrupt_says_how_to_go_on(folder: Path, tmp_path: Path) -> None:
    with (folder / "slow.ndjson").open("wb") as file:  # some seconds of work
        file.write(b'{"jsontide": "recording", "version": 1}\n')
        file.writelines(b'{"at": %d, "text": "[1,"}\n' % at for at in range(60_000))
    command = [
        str(Path(sys.executable).with_name("jsontide")),
        "batch",
        "stats",
        str(folder),
        "--out",
        str(tmp_path / "out"),
    ]
    process = subprocess.Popen([*command, "--workers", "1"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    wait_until(lambda: [*(tmp_path / "out/parts").glob("*.at")])
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode in {130, 0, 1}  # it may have been done just then
    assert process.returncode != 130 or "the same command goes on from there" in said.decode()
    assert not (tmp_path / "out/lock").exists()


class TestCompare:
    @pytest.fixture
    def folders(self, folder: Path, tmp_path: Path) -> tuple[Path, Path]:
        batch("check", folder, "--schema", "any", "--out", tmp_path / "a", "--workers", "1")
        batch("mend", folder, "--out", tmp_path / "b", "--workers", "1")
        return tmp_path / "a", tmp_path / "b"

    def test_says_what_differs(self, folders: tuple[Path, Path], tmp_path: Path) -> None:
        ended = run("compare", *folders, "--page", tmp_path / "page.html")
        assert ended.exit_code == 0
        assert ended.stdout.startswith("the same recordings: ")
        assert "invalid -> complete" in ended.stdout
        assert "<h2>Outcomes</h2>" in (tmp_path / "page.html").read_text()
        plain = json.loads(run("compare", *folders, "--json").stdout)
        assert plain["is_paired"]

    def test_something_worse_is_an_exit_code(self, tmp_path: Path) -> None:
        for name, data in (("good", b"[1]"), ("bad", b"[1")):
            files = {f"{at}.json": data[:-1] + b" " * at + data[-1:] for at in range(40)}
            batch("stats", write_files(tmp_path / f"{name}-in", files), "--out", tmp_path / name, "--workers", "1")
        ended = run("compare", tmp_path / "good", tmp_path / "bad")
        assert ended.exit_code == 1
        assert "truncated  worse" in ended.stdout
        assert run("compare", tmp_path / "bad", tmp_path / "good").exit_code == 0

    def test_folders_that_are_none_are_named(self, tmp_path: Path) -> None:
        ended = run("compare", tmp_path, tmp_path)
        assert ended.exit_code == 2
        assert "has no tables" in " ".join(ended.stderr.split())
