"""Writes docs/studio.png and docs/studio-run.png: the studio in the middle of a message and of a run.

The first shows the recording of examples/chat, compared with a moment before; the second examples/run.ndjson, where a
call runs and another one waits for a person.

python docs/gen_studio.py
"""

import sys
from pathlib import Path

from playwright.sync_api import Page
from screenshots import serving, take_picture

TARGET = Path(__file__).with_name("studio.png")
RUN_TARGET = Path(__file__).with_name("studio-run.png")
EXAMPLES = Path(__file__).parents[1] / "examples"
START = "import pathlib, sys; from jsontide.studio import serve; serve(pathlib.Path(sys.argv[1]), open_browser=False)"
EARLIER, LATER = 0.56, 0.62
RUNNING = 0.56
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


def prepare_run(page: Page) -> None:
    """Go to a moment in the second step."""
    page.locator("#outcome", has_text="complete").wait_for()
    go_to(page, RUNNING)
    page.locator("#message .result", has_text="waiting").wait_for()


def go_to(page: Page, share: float) -> None:
    before = page.inner_text("#moment")
    box = page.locator("#pulse").bounding_box()
    assert box is not None  # noqa: S101 - it is shown
    page.mouse.click(box["x"] + box["width"] * share, box["y"] + 10)
    page.locator("#moment").filter(has_not_text=before).wait_for()


def main() -> None:
    for target, recording, prepares in (
        (TARGET, "chat/recording.ndjson", prepare),
        (RUN_TARGET, "run.ndjson", prepare_run),
    ):
        with serving([sys.executable, "-c", START, str(EXAMPLES / recording)]) as url:
            take_picture(target, url, (1440, 900), prepares)


if __name__ == "__main__":
    main()
