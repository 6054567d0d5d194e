"""Writes docs/studio.png: the studio in the middle of the recording of examples/chat, compared with a moment before.

python docs/gen_studio.py
"""

import sys
from pathlib import Path

from playwright.sync_api import Page
from screenshots import serving, take_picture

TARGET = Path(__file__).with_name("studio.png")
RECORDING = Path(__file__).parents[1] / "examples/chat/recording.ndjson"
START = "import pathlib, sys; from jsontide.studio import serve; serve(pathlib.Path(sys.argv[1]), open_browser=False)"
EARLIER, LATER = 0.56, 0.62
"""Shares of the whole time."""


def prepare(page: Page) -> None:
    """Pin a moment, go to a later one, and choose a value."""
    page.locator("#outcome", has_text="complete").wait_for()
    go_to(page, EARLIER)
    page.keyboard.press("c")
    go_to(page, LATER)
    page.locator("#compared", has_text="since").wait_for()
    page.locator("#tree .row", has_text="summary").click()
    page.locator("#node .entry").first.wait_for()


def go_to(page: Page, share: float) -> None:
    before = page.inner_text("#moment")
    box = page.locator("#pulse").bounding_box()
    assert box is not None  # noqa: S101 - it is shown
    page.mouse.click(box["x"] + box["width"] * share, box["y"] + 10)
    page.locator("#moment").filter(has_not_text=before).wait_for()


def main() -> None:
    with serving([sys.executable, "-c", START, str(RECORDING)]) as url:
        take_picture(TARGET, url, (1440, 900), prepare)


if __name__ == "__main__":
    main()
