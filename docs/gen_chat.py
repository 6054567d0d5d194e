"""Writes docs/chat.png: the page of examples/chat in the middle of its recording, as Chromium draws it.

python docs/gen_chat.py
"""

import os
import sys
from pathlib import Path

from playwright.sync_api import Page
from screenshots import serving, take_picture

TARGET = Path(__file__).with_name("chat.png")
EXAMPLE = Path(__file__).parents[1] / "examples/chat"
KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")


def prepare(page: Page) -> None:
    """Wait until the second day of the plan is being written."""
    page.click(".suggestion")
    page.wait_for_selector('[data-path=\'["answer","days",1,"stops",0,"note"]\'].caret', timeout=60_000)


def main() -> None:
    surroundings = {name: value for name, value in os.environ.items() if name not in KEYS}
    with serving([sys.executable, str(EXAMPLE), "0"], surroundings) as url:
        take_picture(TARGET, url, (800, 1000), prepare)


if __name__ == "__main__":
    main()
