"""The tutorial, followed to the letter: its files are saved, run, and looked at in a browser."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from urllib.request import urlopen

import pytest

from jsontide.frontends import CompactValue
from tests.web.browsers import CHROMIUM, FLAGS, needs_browser

pytest.importorskip("fastapi", reason="fastapi is not installed")
pytest.importorskip("uvicorn", reason="uvicorn is not installed")
pytestmark = [pytest.mark.untraced, pytest.mark.once]  # the page of the documentation is under test

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/tutorial.md").read_text("utf-8")
FILES = dict(re.findall(r'^```\w+ title="(\w+\.\w+)"\n(.*?)^```$', PAGE, re.MULTILINE | re.DOTALL))
SLOW, FAST = "asyncio.sleep(0.02)", "asyncio.sleep(0.001)"
FINISH = '    yield {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n'
PATIENCE = 60


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files of the reader, who has less patience here."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text.replace(SLOW, FAST), "utf-8")
    return tmp_path


def break_off(folder: Path) -> None:
    provider = folder / "provider.py"
    provider.write_text(provider.read_text("utf-8").replace(FINISH, ""), "utf-8")


def answer() -> object:
    """What the fake model writes, read at once."""
    (text,) = re.findall(r'ANSWER = """(.*?)"""', FILES["provider.py"], re.DOTALL)
    return json.loads(text)


def watch(folder: Path) -> subprocess.CompletedProcess[str]:
    surroundings = os.environ | {"PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "watch.py"]
    return subprocess.run(
        command, cwd=folder, capture_output=True, check=False, timeout=PATIENCE, encoding="utf-8", env=surroundings
    )


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Start the server as the tutorial says, on a free port."""
    command = [sys.executable, "-m", "uvicorn", "app:app", "--port", "0"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, encoding="utf-8") as server:
        assert server.stderr is not None
        try:
            said = iter(server.stderr.readline, "")
            yield next(found[0] for line in said if (found := re.search(r"http://127\.0\.0\.1:\d+", line)))
        finally:
            server.terminate()
            server.communicate(timeout=PATIENCE)


def test_the_files_are_those_that_the_text_names() -> None:
    assert list(FILES) == ["provider.py", "trip.py", "watch.py", "app.py", "index.html"]
    assert all(f"`{name}`" in PAGE for name in FILES)
    assert FINISH in FILES["provider.py"]
    assert SLOW in FILES["provider.py"]


@pytest.mark.long
def test_watching_prints_what_the_page_shows(folder: Path) -> None:
    (shown,) = re.findall(r'^```text title="Output"\n(.*?)^```$', PAGE, re.MULTILINE | re.DOTALL)
    done = watch(folder)
    assert done.stdout.startswith(shown)
    final = done.stdout.splitlines()[-1]
    assert eval(final, {"Trip": dict, "Day": dict}) == answer()  # noqa: S307 - what our own program printed
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.long
def test_without_a_finish_reason_watching_raises(folder: Path) -> None:
    break_off(folder)
    done = watch(folder)
    assert "TruncatedError" in done.stderr.splitlines()[-1]
    assert done.stdout


@pytest.mark.long
@pytest.mark.parametrize("end", ["complete", "truncated"])
def test_the_server_streams_the_answer_and_how_it_ended(folder: Path, end: str) -> None:
    if end == "truncated":
        break_off(folder)
    with serve(folder) as url, urlopen(f"{url}/trip?question=where", data=b"") as response:  # noqa: S310
        lines = [line.decode().removeprefix("data: ") for line in response if line.startswith(b"data: ")]
    value = reduce(CompactValue.read, map(json.loads, lines), CompactValue())
    assert isinstance(value.value, dict)
    assert value.value["answer"] == answer()
    assert value.end is not None
    assert value.end["end"] == end
    assert len(lines) > 50


OBSERVE = """() => {
  window.seen = [];
  const note = () => window.seen.push(["h1", "ol"].map((tag) => document.querySelector(tag).textContent));
  new MutationObserver(note).observe(document.body, { childList: true, characterData: true, subtree: true });
}"""


HOLD = """

async def hold(start: int) -> None:
    import pathlib
    while ANSWER[: start + 2].endswith("by ") and not pathlib.Path("go").exists():
        await asyncio.sleep(0.001)
"""


@pytest.mark.long
@needs_browser
def test_the_page_shows_the_trip_while_it_grows(folder: Path) -> None:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - tests without it are skipped before

    provider = folder / "provider.py"
    provider.write_text(provider.read_text("utf-8").replace(FAST, "hold(start)") + HOLD, "utf-8")
    with serve(folder) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page()
        problems: list[str] = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(url)
        page.evaluate(OBSERVE)
        page.click("button")
        page.wait_for_selector("li:text-is('Arrive by')", timeout=PATIENCE * 1000)
        (folder / "go").touch()
        page.wait_for_selector("footer:has-text('The message is complete.')", timeout=PATIENCE * 1000)
        seen = page.evaluate("seen")
        days = page.locator("li").all_text_contents()
        browser.close()
    assert problems == []
    assert {title for title, _ in seen} <= {"", "K", "Kyo", "Kyoto", "12 nights in Kyoto"}
    assert days[1] == "Eastern hills · Kiyomizu-dera · Gion"
