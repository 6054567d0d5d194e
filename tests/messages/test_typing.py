"""Law 9 for type checkers: only code that checked that a call is complete may read its arguments."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy", reason="mypy is not installed here; `make types` has it")

SOURCE = Path(__file__).parents[2] / "src"
PROGRAM = """
from jsontide.messages import CompleteCall, Message, Outcome, PartialCall, ToolCall

def runs_what_it_was_given(message: Message) -> object:
    return message.tool_calls[0].arguments_value  # refused

def runs_what_is_partial(call: PartialCall) -> object:
    return call.arguments_value  # refused

def takes_the_model(call: ToolCall) -> object:
    return call.arguments_model  # refused

def asks_for_the_wrong_status(call: ToolCall) -> object:
    if call.status is Outcome.TRUNCATED:
        return call.arguments_value  # refused
    return None

def asks_for_the_status(call: ToolCall) -> object:
    if call.status is Outcome.COMPLETE:
        return call.arguments_value
    return call.partial

def asks_for_the_class(call: ToolCall) -> object:
    return call.arguments_value if isinstance(call, CompleteCall) else call.error
"""


def test_mypy_refuses_arguments_of_calls_that_may_not_be_complete(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--cache-dir", os.devnull, str(program)],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(SOURCE)},
        text=True,
    )
    found = {int(line) for line in re.findall(r"program\.py:(\d+): error", done.stdout)}
    expected = {at for at, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith("# refused")}
    assert found == expected, done.stdout
    assert done.stdout.count('has no attribute "arguments_') == len(expected)
