"""The examples as people run them: what they see, and that they see it while it is written."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"
PATIENCE = 60


def printed_answer() -> str:
    """What the recording says, read at once."""
    recorded = json.loads((EXAMPLES / "answer.json").read_bytes())
    sources = "".join(f"- {source['title']}\n  {source['url']}\n" for source in recorded["sources"])
    return f"{recorded['answer']}\n\n{sources}"


def test_print_answer_prints_the_answer_and_its_sources() -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLES / "print_answer.py"],
        capture_output=True,
        check=True,
        timeout=PATIENCE,
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
    )
    assert done.stdout.decode().replace(os.linesep, "\n") == printed_answer()
    assert done.stderr == b""


def test_print_answer_shows_the_answer_while_it_is_written() -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, EXAMPLES / "print_answer.py"],
        stdout=theirs,
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
    )
    os.close(theirs)
    try:
        seen = b""
        while len(seen) < 20:
            seen += os.read(ours, 64)
        assert process.poll() is None
        assert printed_answer().encode().startswith(seen.replace(b"\r", b""))
    finally:
        process.kill()
        process.wait(PATIENCE)
        os.close(ours)
