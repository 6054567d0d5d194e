"""Writes docs/tutorial.png: the page of the tutorial while its second day is written, as Chromium draws it.

python docs/gen_tutorial.py
"""

import re
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page
from screenshots import serving, take_picture

PAGE = Path(__file__).with_name("tutorial.md")
TARGET = PAGE.with_suffix(".png")
FILE = re.compile(r'^```\w+ title="(\w+\.\w+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def write_files(folder: Path) -> None:
    """Save what the reader saves."""
    for name, text in FILE.findall(PAGE.read_text("utf-8")):
        (folder / name).write_text(text, "utf-8")


def prepare(page: Page) -> None:
    """Wait until the second day is being written."""
    page.click("button")
    page.wait_for_selector("li.growing:nth-child(2):has-text('Kiyo')")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))
        command = [sys.executable, "-m", "uvicorn", "app:app", "--port", "0"]
        with serving(command, folder=folder) as url:
            take_picture(TARGET, url, (640, 320), prepare, scale=2)


if __name__ == "__main__":
    main()
