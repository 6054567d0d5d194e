"""Writes docs/chat.png and docs/approval.png: the page of examples/chat in the middle of its recording, and where a
call waits for a person, as Chromium draws them.

python docs/gen_chat.py
"""

import os
import sys
from pathlib import Path

from playwright.sync_api import Page
from screenshots import serving, take_picture

TARGET = Path(__file__).with_name("chat.png")
APPROVAL = Path(__file__).with_name("approval.png")
EXAMPLE = Path(__file__).parents[1] / "examples/chat"
KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")


def ask(page: Page) -> None:
    """Wait until a call waits for a person."""
    page.click(".suggestion")
    page.wait_for_selector(".decision", timeout=60_000)


def prepare(page: Page) -> None:
    """Allow it, and wait until the second day of the plan is being written."""
    ask(page)
    page.click(".decision button")
    note = '["steps",1,"message","answer","days",1,"stops",0,"note"]'
    page.wait_for_selector(f"[data-path='{note}'].caret", timeout=60_000)


def main() -> None:
    surroundings = {name: value for name, value in os.environ.items() if name not in KEYS}
    with serving([sys.executable, str(EXAMPLE), "0"], surroundings) as url:
        take_picture(APPROVAL, url, (800, 1000), ask)
        take_picture(TARGET, url, (800, 1000), prepare)


if __name__ == "__main__":
    main()
