"""Where jsontide.js runs in tests: a Node process and a page in Chromium, each of which checks many streams.

`ask(kind, given)` returns what `tests/node/client_checks.mjs` finds wrong, or the log of a stream that is followed.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.http_serving import serving

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "src/jsontide/web/static"
NODE = ROOT / "tests/node"
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
Ask = Callable[[str, object], Any]

needs_plain_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def missing_browser() -> str:
    """Return why there is no browser, or nothing."""
    if find_spec("playwright") is None:
        return "playwright is not installed"
    return "" if CHROMIUM else "neither chromium nor google-chrome is installed"


needs_browser = pytest.mark.skipif(bool(missing_browser()), reason=missing_browser())


@contextmanager
def open_browser() -> Iterator[Any]:
    """Start Chromium; without it, skip."""
    if missing_browser():
        pytest.skip(missing_browser())
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - without it tests are skipped before

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


def write(value: object) -> str:
    """JSON in ASCII; Python's own writer has a word for infinity that is not JSON."""
    return re.sub(r"(?<=[\[ -])Infinity(?=[,\]}])", "1e999", json.dumps(value))


@contextmanager
def node_process() -> Iterator[Ask]:
    """Start one process for many questions."""
    command = ["node", str(NODE / "client.mjs")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        questions, answers = process.stdin, process.stdout

        def ask(kind: str, given: object) -> Any:
            questions.write(write([kind, given]).encode() + b"\n")
            questions.flush()
            return json.loads(answers.readline())

        yield ask
        questions.close()


class _Files(SimpleHTTPRequestHandler):
    def guess_type(self, path: Any) -> str:
        return "text/javascript" if str(path).endswith((".js", ".mjs")) else super().guess_type(path)

    def do_GET(self) -> None:
        if self.path == "/":
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(b'<!doctype html><link rel="icon" href="data:,"><title>jsontide.js</title>')
        else:
            super().do_GET()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def chromium_page() -> Iterator[Ask]:
    """Load one page for many questions; what it logs fails a check."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - without it tests are skipped before

    logged: list[str] = []
    with serving(partial(_Files, directory=ROOT)) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        page = browser.new_page()
        page.on("console", lambda message: logged.append(message.text))
        page.on("pageerror", lambda error: logged.append(str(error)))
        page.goto(address)
        page.evaluate("async () => { window.checks = await import('/tests/node/client_checks.mjs'); }")

        def ask(kind: str, given: object) -> Any:
            # As text: what playwright sends by itself has no lone surrogates.
            logged.clear()
            found = page.evaluate(
                "async text => JSON.stringify(await checks.answer(...JSON.parse(text)))", write([kind, given])
            )
            assert kind == "follow" or not logged, logged  # a browser logs each request that is refused
            return json.loads(found)

        yield ask
        browser.close()


HOSTS = [
    pytest.param(node_process, marks=needs_plain_node),
    pytest.param(chromium_page, marks=[needs_browser, pytest.mark.once, pytest.mark.long]),
]
"""For a fixture: `request.param()` is one of the two, which gives `ask`."""
