"""Whatever a command is given, it ends with a code that its help names, and without a traceback."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cli.running import EXAMPLES, run
from tests.cli.streams import anthropic_answer, ollama, openai
from tests.strategies import examples

RECORDING = (EXAMPLES / "chat" / "recording.ndjson").read_bytes()[:6_000]
SEEDS = [
    RECORDING,
    openai("Hello", call='{"q": 1e999}', reason="tool_calls"),
    ollama("Zoë 健二"),
    anthropic_answer("x"),
    b'{"a": [1, "\\ud800", 1e999], "a": {}}',
    b'{"jsontide": "recording", "version": 1}\n{"at": 1e300, "text": "[1]"}\n',
]
COMMANDS = [
    ["watch", "--speed", "0"],
    ["watch", "--speed", "0", "-o", "-"],
    ["watch", "--speed", "0", "--mend"],
    ["events"],
    ["get", "**", "--paths"],
    ["check", "--schema", "any"],
    ["stats"],
    ["replay", "--speed", "0"],
]


@st.composite
def spoiled(draw: st.DrawFn) -> bytes:
    """A stream with some bytes taken out and others put in."""
    data = bytearray(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(data)))
        data[start : start + draw(st.integers(0, 9))] = draw(
            st.binary(max_size=4) | st.sampled_from([b"\n", b"\n\n", b'"', b"}", b"data: ", b"\xff", b"[" * 40, b"1e9"])
        )
    return bytes(data)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@settings(examples(0.2), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=spoiled() | st.binary(max_size=60))
def test_no_input_ends_in_a_traceback(tmp_path: Path, command: list[str], data: bytes) -> None:
    path = tmp_path / "input"
    path.write_bytes(data)
    result = run(*command, path)
    assert isinstance(result.exception, SystemExit | None), repr(data)
    assert result.exit_code in {0, 1, 3}
    assert result.stderr or result.exit_code == 0
