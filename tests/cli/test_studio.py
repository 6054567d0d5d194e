"""`jsontide studio`: how it is called; what it does is tested with it."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.cli.running import ITINERARY, run


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path | None, dict[str, Any]]]:
    """What a studio in place of the real one was asked to serve."""
    found: list[tuple[Path | None, dict[str, Any]]] = []
    module = ModuleType("jsontide.studio")
    monkeypatch.setattr(module, "serve", lambda path, **options: found.append((path, options)), raising=False)
    monkeypatch.setitem(sys.modules, "jsontide.studio", module)
    return found


def test_the_studio_is_served_as_asked(calls: list[tuple[Path | None, dict[str, Any]]]) -> None:
    assert run("studio").exit_code == 0
    assert run("studio", ITINERARY, "--listen", "--port", "8123", "--no-browser").exit_code == 0
    assert run("studio", "--proxy", "http://127.0.0.1").exit_code == 0
    off = {"port": 0, "listen": False, "proxy": None, "open_browser": True}
    assert calls == [
        (None, off),
        (ITINERARY, {"port": 8123, "listen": True, "proxy": None, "open_browser": False}),
        (None, {**off, "proxy": "http://127.0.0.1"}),
    ]


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (KeyboardInterrupt(), 0, ""),
        (OSError(98, "Address already in use"), 2, "cannot serve on port 0: Address already in use"),
    ],
)
def test_how_it_ends(
    raised: BaseException, code: int, said: str, calls: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    def serve(*_: object, **__: object) -> None:
        raise raised

    monkeypatch.setattr(sys.modules["jsontide.studio"], "serve", serve)
    result = run("studio")
    assert (result.exit_code, calls) == (code, [])
    assert said in " ".join(result.stderr.split())


def test_without_its_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsontide.studio", None)
    result = run("studio")
    assert result.exit_code == 2
    assert 'pip install "jsontide[studio]"' in result.stderr
