"""Pictures of pages for the documentation: what the scripts that take them have in common."""

import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


@contextmanager
def serving(command: list[str], surroundings: Mapping[str, str] | None = None) -> Iterator[str]:
    """Run a server that prints where it is as the second word of its first line; give that address."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=surroundings, encoding="utf-8") as server:  # noqa: S603
        try:
            assert server.stdout is not None  # noqa: S101 - it is a pipe
            yield server.stdout.readline().split()[1]
        finally:
            server.terminate()


def take_picture(target: Path, url: str, size: tuple[int, int], prepare: Callable[[Page], object]) -> None:
    """Write what Chromium draws of a page, once it is prepared."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        viewport = {"width": size[0], "height": size[1]}
        page = browser.new_page(viewport=viewport, reduced_motion="reduce")  # type: ignore[arg-type]  # a TypedDict
        page.goto(url)
        prepare(page)
        target.write_bytes(page.screenshot(full_page=True))
    print(f"{target}: {target.stat().st_size / 1000:.0f} KB")
