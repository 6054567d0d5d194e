"""Recorded streams of snapshots (dotnet/maui, MIT): law 6, and how many snapshots are not shown whole at once.

The files are not part of this repository; see `shared_data`.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from jsontide import JsonStreamChunker
from tests.shared_data import DATA, in_data
from tests.snapshots.forms import Fed
from tests.snapshots.laws import check_law, part_seen, read

FILES = sorted((DATA / "object-streams").glob("*.jsonl"))
MOST_WAITING = 8
"""Snapshots of all four files together that wait for evidence; what the documents describe needs more."""

pytestmark = in_data("object-streams")


def as_text(line: str) -> Fed:
    return Fed(read(line), line, is_text=True)


def as_value(line: str) -> Fed:
    return Fed(read(line), json.loads(line), is_text=False)


Form = Callable[[str], Fed]
forms = pytest.mark.parametrize("form", [as_text, as_value])


def recorded(path: Path, form: Form) -> list[Fed]:
    return [form(line) for line in path.read_text(encoding="utf-8").splitlines()]


def waiting(history: list[Fed], chunks: list[str]) -> list[int]:
    """The lines after which the text shows less than the snapshot holds."""
    texts = ["".join(chunks[: at + 1]) for at in range(len(history))]
    return [at for at, (text, fed) in enumerate(zip(texts, history, strict=True), 1) if part_seen(text) != fed.tree]


@forms
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_law_6_holds_for_recorded_streams(path: Path, form: Form) -> None:
    check_law(JsonStreamChunker(), recorded(path, form))


@forms
def test_few_snapshots_are_not_shown_whole_at_once(form: Form, record_property: Callable[[str, object], None]) -> None:
    lines: dict[str, list[int]] = {}
    for path in FILES:
        history = recorded(path, form)
        lines[path.stem] = waiting(history, check_law(JsonStreamChunker(), history))
        record_property(path.stem, lines[path.stem])
    assert sum(map(len, lines.values())) <= MOST_WAITING, lines
