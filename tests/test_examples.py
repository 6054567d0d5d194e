"""The examples as people run them: what they see, and that they see it while it is written."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

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


@pytest.mark.long
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


PROVIDERS = ("openai_chat", "openai_responses", "anthropic", "gemini", "cohere", "ollama")
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "COHERE_API_KEY", "OLLAMA_HOST")


def run_agent(*arguments: str) -> subprocess.CompletedProcess[str]:
    surroundings = {name: value for name, value in os.environ.items() if name not in KEYS}
    return subprocess.run(
        [sys.executable, EXAMPLES / "agent.py", *arguments],
        capture_output=True,
        check=False,
        timeout=PATIENCE,
        encoding="utf-8",
        env=surroundings | {"PYTHONIOENCODING": "utf-8"},
    )


@pytest.mark.long
@pytest.mark.untraced
@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_agent_calls_the_tool_and_answers_with_any_provider(provider: str) -> None:
    done = run_agent(provider)
    called, answered, cost = done.stdout.strip().splitlines()
    assert done.stderr == ""
    assert done.returncode == 0
    name, _, arguments = called.strip("[])").partition("(")
    assert (name, json.loads(arguments)) == ("get_weather", {"city": "Kyoto"})
    assert answered == "It is 21 °C and clear in Kyoto."
    assert "124 tokens" in cost


@pytest.mark.untraced
def test_the_agent_asks_chat_completions_unless_told_otherwise() -> None:
    assert run_agent().stdout == run_agent("openai_chat", "What is the weather in Kyoto?").stdout


@pytest.mark.long
def test_the_agent_names_the_providers_that_it_knows() -> None:
    done = run_agent("nobody")
    assert done.returncode != 0
    assert all(provider in done.stderr for provider in PROVIDERS)


def test_the_agent_itself_is_ten_lines() -> None:
    source = (EXAMPLES / "agent.py").read_text("utf-8")
    agent = source[source.index("def answer") : source.index("def show")]
    assert len(agent.strip().splitlines()) <= 10
