"""Writes docs/tutorial.png: the page of the tutorial while its second day is written, as Chromium draws it.

python docs/gen_tutorial.py
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

PAGE = Path(__file__).with_name("tutorial.md")
TARGET = PAGE.with_suffix(".png")
FILE = re.compile(r'^```\w+ title="(\w+\.\w+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


def write_files(folder: Path) -> None:
    """Save what the reader saves."""
    for name, text in FILE.findall(PAGE.read_text("utf-8")):
        (folder / name).write_text(text, "utf-8")


def take_picture(url: str) -> bytes:
    """Return the page when the second day is being written."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 640, "height": 320}, device_scale_factor=2)
        page.goto(url)
        page.click("button")
        page.wait_for_selector("li.growing:nth-child(2):has-text('Kiyo')")
        return page.screenshot()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))
        command = [sys.executable, "-m", "uvicorn", "app:app", "--port", "0"]
        with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, encoding="utf-8") as server:  # noqa: S603
            try:
                assert server.stderr is not None  # noqa: S101 - it is a pipe
                said = iter(server.stderr.readline, "")
                url = next(found[0] for line in said if (found := re.search(r"http://127\.0\.0\.1:\d+", line)))
                TARGET.write_bytes(take_picture(url))
            finally:
                server.terminate()
    print(f"{TARGET}: {TARGET.stat().st_size / 1000:.0f} KB")


if __name__ == "__main__":
    main()
