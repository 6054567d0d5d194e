"""A pytest fixture; to use it, set `pytest_plugins = ["jsontide.testing.pytest_plugin"]` in `conftest.py`.

`recut` runs a test once for each of several seeds (`--recut-seeds`, 5 by default), and cuts recordings by the seed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest

from jsontide.recordings import Recording, WireFormat

if TYPE_CHECKING:
    from typing import Unpack

    from jsontide.messages import Message
    from jsontide.streams import ReadingChoices

RecordingSource: TypeAlias = Recording | str | Path | Iterable[Mapping[str, object]]
_SEEDS = 5


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--recut-seeds", type=int, default=_SEEDS, help="how many times each test runs, with other cuts each time"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "recut" in metafunc.fixturenames:
        metafunc.parametrize("recut", range(metafunc.config.getoption("--recut-seeds")), indirect=True)


class Recut:
    """Cuts recordings at random, by one seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def chunks(self, recording: RecordingSource, form: WireFormat | None = None) -> list[bytes]:
        """Return the bytes of a recording, or of a recorded file, cut at random."""
        return _recording(recording).cut(self.seed, form)

    def drop(self, recording: RecordingSource, form: WireFormat | None = None) -> Iterable[bytes]:
        """Return the same up to a random byte, where the connection is lost."""
        return _recording(recording).drop(self.seed, form)

    def messages(self, recording: RecordingSource, **options: Unpack[ReadingChoices]) -> list[Message]:
        """Return the messages of the cut, the finished one last; takes the options of `stream_message`."""
        return _recording(recording).replay(self.seed, **options)


def _recording(recording: RecordingSource) -> Recording:
    if isinstance(recording, Recording):
        return recording
    return Recording.load(recording) if isinstance(recording, str | Path) else Recording.of_events(recording)


@pytest.fixture
def recut(request: pytest.FixtureRequest) -> Recut:
    """Cut and replay recordings, in another way in each run of the test."""
    seed: int = request.param
    return Recut(seed)


__all__ = ["Recut", "recut"]
