"""A fixture for pytest; a project asks for it with `pytest_plugins = ["jsontide.testing.pytest_plugin"]`.

`recut` runs a test once for each seed, five unless `--recut-seeds` says otherwise, and cuts recordings by it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jsontide.testing._recording import Form, Recording

if TYPE_CHECKING:
    from typing import Unpack

    from jsontide.adapters import MessageChoices
    from jsontide.messages import Message

_SEEDS = 5


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--recut-seeds", type=int, default=_SEEDS, help="how often a recording is cut and replayed")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "recut" in metafunc.fixturenames:
        metafunc.parametrize("recut", range(metafunc.config.getoption("--recut-seeds")), indirect=True)


class Recut:
    """Cuts recordings by one seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def chunks(self, recording: Recording | str | Path | Iterable[object], form: Form = "sse") -> list[bytes]:
        """Return the bytes of a recording, or of a file of one, cut at random."""
        return _recording(recording).cut(self.seed, form)

    def dropped(self, recording: Recording | str | Path | Iterable[object], form: Form = "sse") -> Iterable[bytes]:
        """Return the same up to a random byte, where the connection fails."""
        return _recording(recording).dropped(self.seed, form)

    def messages(
        self, recording: Recording | str | Path | Iterable[object], **options: Unpack[MessageChoices]
    ) -> list[Message]:
        """Return the messages of the cut, the finished one last; the options are those of `stream_message`."""
        return _recording(recording).replay(self.seed, **options)


def _recording(recording: Recording | str | Path | Iterable[object]) -> Recording:
    if isinstance(recording, Recording):
        return recording
    return Recording.load(recording) if isinstance(recording, str | Path) else Recording(recording)


@pytest.fixture
def recut(request: pytest.FixtureRequest) -> Recut:
    """Cut and replay recordings, otherwise in each run of the test."""
    seed: int = request.param
    return Recut(seed)


__all__ = ["Recut", "recut"]
