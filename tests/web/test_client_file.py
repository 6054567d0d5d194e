"""Serving `jsontide.js`, and what an environment without Starlette is told."""

import subprocess
import sys

import pytest

pytest.importorskip("uvicorn", reason="uvicorn is not installed")
pytest.importorskip("starlette", reason="starlette is not installed")

from jsontide.web import client_file, client_route
from tests.web.serving import Client, serving

needs_file = pytest.mark.skipif(not client_file().exists(), reason="jsontide.js is not in this tree")


@needs_file
@pytest.mark.parametrize("path", ["/jsontide.js", "/static/jsontide.js"])
def test_the_client_is_served_as_a_module_of_javascript(path: str) -> None:
    route = client_route() if path == "/jsontide.js" else client_route(path)
    with serving(route) as port:
        client = Client(port, path)
        client.read_all()
    assert client.status == 200
    assert "content-type: text/javascript" in client.head
    assert client.body == client_file().read_bytes()


def test_the_file_lies_in_the_package() -> None:
    assert client_file().parts[-4:] == ("jsontide", "web", "static", "jsontide.js")


WITHOUT = """
import sys
sys.modules["starlette"] = None
import jsontide
try:
    import jsontide.web
except ModuleNotFoundError as error:
    print(error)
"""


def test_without_starlette_the_error_says_what_to_install() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, check=True, text=True)
    assert done.stdout == 'jsontide.web needs Starlette: pip install "jsontide[web]"\n'
