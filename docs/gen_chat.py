"""Writes docs/chat.png: the page of examples/chat in the middle of its recording, as Chromium draws it.

python docs/gen_chat.py
"""

import os
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

TARGET = Path(__file__).with_name("chat.png")
EXAMPLE = Path(__file__).parents[1] / "examples/chat"
CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")


def take_picture(url: str) -> bytes:
    """Return the page when the second day of the plan is being written."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 800, "height": 1000}, reduced_motion="reduce")
        page.goto(url)
        page.click(".suggestion")
        page.wait_for_selector('[data-path=\'["answer","days",1,"stops",0,"note"]\'].caret', timeout=60_000)
        return page.screenshot(full_page=True)


def main() -> None:
    surroundings = {name: value for name, value in os.environ.items() if name not in KEYS}
    command = [sys.executable, str(EXAMPLE), "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=surroundings, encoding="utf-8") as server:  # noqa: S603
        try:
            assert server.stdout is not None  # noqa: S101 - it is a pipe
            TARGET.write_bytes(take_picture(server.stdout.readline().split()[1]))
        finally:
            server.terminate()
    print(f"{TARGET}: {TARGET.stat().st_size / 1000:.0f} KB")


if __name__ == "__main__":
    main()
