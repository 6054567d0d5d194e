"""The tools of the table, in its order, and how each is started.

In: the environment. Out: an asker for each tool: tasks in, answers out.
Rule: a tool that is not there is named with the reason, and left out.
"""

import json
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.mend_peers.kinds import Answer, Task
from benchmarks.mend_peers.own import shown
from benchmarks.mend_peers.processes import MissingToolError, Process
from jsontide import __version__

PACKAGES = Path(sys.prefix) / "node_modules"
NODE = Path(__file__).with_name("node_tools.mjs")


class Peer(NamedTuple):
    name: str
    distribution: str
    tool: str
    """The module and function of a Python tool, or `node` and the name of one there."""
    needs_type: bool = False
    """Whether it is asked only where a schema or an expected value says what to read."""


PEERS = (
    Peer("jsontide", "jsontide", "own jsontide"),
    Peer("json_repair", "json-repair", "tools json_repair"),
    Peer("json_repair, strict", "json-repair", "tools json_repair_strict"),
    Peer("jsonrepair", "jsonrepair", "node plain"),
    Peer("jsonrepair, streaming", "jsonrepair", "node streaming"),
    Peer("BAML, any JSON", "baml-py", "baml any_json"),
    Peer("BAML, type made for the answer", "baml-py", "baml made_type", needs_type=True),
    Peer("langchain JsonOutputParser", "langchain-core", "tools langchain"),
    Peer("langchain parse_partial_json", "langchain-core", "tools langchain_partial"),
    Peer("partial-json-parser", "partial-json-parser", "tools partial_json_parser"),
)


class Asker(NamedTuple):
    ask: Callable[[Task], Answer]
    stop: Callable[[], None]


def start(peer: Peer) -> Asker:
    module, _, name = peer.tool.partition(" ")
    if module != "node":
        process = Process([sys.executable, "-m", "benchmarks.mend_peers.worker", module, name])
        return Asker(process.ask, process.stop)
    if not PACKAGES.is_dir():
        raise MissingToolError("not installed by npm")
    process = Process(["node", str(NODE), str(PACKAGES), name])
    return Asker(lambda task: read_texts(process.ask(task), is_prefix=name == "streaming"), process.stop)


def read_texts(answer: Answer, *, is_prefix: bool) -> Answer:
    """The same with values for texts; of the beginning of a text, all that our parser shows of it."""
    steps = [read_text(step, is_prefix=is_prefix) for step in answer.steps]
    end = read_text(answer.end, is_prefix=False)
    return Answer(steps, end, answer.error if end or answer.error else "JSONDecodeError")


def read_text(step: list[Any], *, is_prefix: bool) -> list[Any]:
    try:
        return [] if not step else shown(step[0], "first") if is_prefix else [json.loads(step[0])]
    except json.JSONDecodeError:
        return []


def version_of(peer: Peer) -> str:
    if peer.tool.startswith("node"):
        description: dict[str, str] = json.loads((PACKAGES / peer.distribution / "package.json").read_text("utf-8"))
        return description["version"]
    return __version__ if peer.distribution == "jsontide" else version(peer.distribution)
