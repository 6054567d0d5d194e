"""Pictures of pages for the documentation: what the scripts that take them have in common."""

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+\S*")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


@contextmanager
def serving(command: list[str], surroundings: Mapping[str, str] | None = None, folder: str = ".") -> Iterator[str]:
    """Run a server that prints its address; give that address."""
    out, err = subprocess.PIPE, subprocess.STDOUT
    with subprocess.Popen(command, stdout=out, stderr=err, env=surroundings, cwd=folder, encoding="utf-8") as server:  # noqa: S603
        try:
            assert server.stdout is not None  # noqa: S101 - it is a pipe
            said = iter(server.stdout.readline, "")
            yield next(found[0] for line in said if (found := ADDRESS.search(line)))
        finally:
            server.terminate()


def take_picture(
    target: Path, url: str, size: tuple[int, int], prepare: Callable[[Page], object], *, scale: float = 1
) -> None:
    """Write what Chromium draws of a page, once it is prepared."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        viewport = {"width": size[0], "height": size[1]}
        page = browser.new_page(
            viewport=viewport,  # type: ignore[arg-type]  # a TypedDict
            reduced_motion="reduce",
            device_scale_factor=scale,
        )
        page.goto(url)
        prepare(page)
        target.write_bytes(page.screenshot(full_page=True))
    print(f"{target}: {target.stat().st_size / 1000:.0f} KB")
