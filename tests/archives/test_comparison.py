"""What two batches differ in, against a count by hand; and the pages about it."""

import json
import math
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide.archives import BatchError, Rate, RateChange, RecordingJob, compare, map_recordings
from jsontide.mend import MODELS
from tests.archives.made import Files, recordings, write_files
from tests.archives.test_batch import InOrder

STATS = RecordingJob("stats")
HOSTILE = "<script>alert(1)</script>\u202e';DROP TABLE recordings;--.json"


def tables(tmp_path: Path, name: str, files: Files, job: RecordingJob = STATS) -> Path:
    folder = write_files(tmp_path / f"{name}-in", files)
    return map_recordings(folder, job, tmp_path / name, engine=InOrder()).out


def bad_json(count: int, of: int) -> Files:
    return {f"{at:03}.json": b"{'a': 1}" if at < count else b'{"a": %d}' % at for at in range(of)}


class TestRates:
    @given(of=st.integers(1, 10_000), data=st.data())
    def test_the_interval_has_the_rates_that_would_give_this_one(self, of: int, data: st.DataObject) -> None:
        count = data.draw(st.integers(0, of))
        rate = Rate(count, of)
        for end in rate.interval:
            # By definition, the ends are where the observed share is 1.96 standard deviations away.
            if 0 < end < 1:
                assert math.isclose(
                    abs(rate.share - end), 1.96 * math.sqrt(end * (1 - end) / of), rel_tol=1e-6, abs_tol=1e-9
                )
        assert rate.interval[0] <= rate.share <= rate.interval[1]

    def test_nothing_is_known_of_none(self) -> None:
        assert Rate(0, 0).interval == (0.0, 1.0)

    @pytest.mark.parametrize(
        ("before", "after", "verdict"),
        [
            (Rate(5, 100), Rate(40, 100), "worse"),
            (Rate(40, 100), Rate(5, 100), "better"),
            (Rate(5, 100), Rate(8, 100), "unclear"),
            (Rate(0, 29), Rate(29, 29), "unclear"),
            (Rate(0, 30), Rate(30, 30), "worse"),
        ],
    )
    def test_only_what_chance_does_not_do_is_told(self, before: Rate, after: Rate, verdict: str) -> None:
        assert RateChange("truncated", before, after).verdict == verdict


def test_the_same_recordings_read_in_two_ways_are_paired(tmp_path: Path) -> None:
    files = bad_json(7, 20)
    before, after = (
        tables(tmp_path, "before", files),
        tables(tmp_path, "after", files, RecordingJob("mend", mend=MODELS)),
    )
    found = compare(before, after)
    assert found.is_paired
    # Seven files have the same content, which is one.
    assert dict(found.outcomes) == {("complete", "complete"): 13, ("invalid", "complete"): 1}
    assert found.changed_values == 0
    assert found.examples == {"invalid before, complete after": (f"{tmp_path}/after-in/000.json",)}


def test_rows_that_differ_in_their_value_are_counted(tmp_path: Path) -> None:
    files = {"a.json": b'{"a": "x\\ud83d"}', "b.json": b"[1]"}
    schema = {"type": "object", "properties": {"a": {"x-stream": "done"}}}
    before = tables(tmp_path, "before", files)
    after = tables(tmp_path, "after", files, RecordingJob("check", schema=schema))
    counts = Counter(dict(compare(before, after).outcomes))
    assert counts.total() == 2


def test_other_recordings_are_compared_by_their_rates(tmp_path: Path) -> None:
    before, after = tables(tmp_path, "before", bad_json(0, 40)), tables(tmp_path, "after", bad_json(30, 41))
    found = compare(before, after, paired=False)
    assert not found.is_paired
    rates = {each.name: (each.before, each.after, each.verdict) for each in found.differences}
    assert rates["not complete"] == (Rate(0, 40), Rate(30, 41), "worse")
    assert rates["truncated"] == (Rate(0, 40), Rate(0, 41), "unclear")
    assert json.loads(json.dumps(found.to_dict()))["differences"][0]["verdict"] == "worse"


def test_what_has_nothing_in_common_is_not_paired(tmp_path: Path) -> None:
    before, after = tables(tmp_path, "before", {"a.json": b"1"}), tables(tmp_path, "after", {"a.json": b"2"})
    assert not compare(before, after).is_paired
    with pytest.raises(BatchError, match="no recording in common"):
        compare(before, after, paired=True)


def test_a_folder_without_tables_is_named(tmp_path: Path) -> None:
    with pytest.raises(BatchError, match="has no tables"):
        compare(tmp_path, tmp_path)


def test_pages_stand_alone_and_escape_what_recordings_say(tmp_path: Path) -> None:
    event = {"model": "<b>model</b>", "message": {"content": "Hi"}, "done": False}
    files = {HOSTILE: b"{", "b.ndjson": json.dumps(event).encode(), **recordings(30)}
    before = tables(tmp_path, "before", files)
    report, page = (before / "report.html").read_text(), compare(before, before, paired=False).draw()
    for text in (report, page):
        assert "<script" not in text
        assert not re.search(r"(src|href)=|url\(|@import", text)
        assert "&lt;script&gt;" in text
        assert "\u202e" not in text
    assert "&lt;b&gt;model&lt;/b&gt;" in report
    assert "where streams broke off" in report.lower()
