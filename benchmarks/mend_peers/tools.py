"""The Python tools, each behind the same small interface: a task in, an answer out.

Rule: each is used as its documentation says for streams of a model, with a schema where it takes one.
`python -m benchmarks.mend_peers.tools MODULE TOOL` reads a task per line and writes an answer per line: a tool runs in
a process of its own, because some do not come back from some texts, and some are written in another language.
"""

import json
import logging
import os
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from importlib import import_module
from itertools import accumulate
from random import Random
from typing import Any

from jsontide import MISSING, create_parser_state, parse_chunk
from jsontide.schema import shape_of
from tests.mend.cases import Case

TOKEN = (1, 8)
"""The characters of a chunk: as few, and as many."""


NO_SCHEMA = "it takes no schema yet"
"""The error of a tool that is to be left out of the cases with a schema."""


@dataclass(frozen=True, slots=True)
class Task:
    chunks: list[str]
    schema: Any
    """`None` if there is none."""
    value: Any
    """What is expected: only for a tool that needs a type and has no other source for one."""
    values: str
    mending: str
    """As in the corpus: only jsontide takes them."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A step is `[]` (nothing) or `[value]`."""

    steps: list[list[Any]]
    """What was shown after each chunk."""
    end: list[Any] = field(default_factory=list)
    error: str = ""
    """Why there is no value; empty if there is one."""
    is_truncated: bool = False
    """Whether the tool says that the text was cut."""


def task_of(case: Case) -> Task:
    random = Random(case.name)
    chunks = []
    at = 0
    while at < len(case.text):
        size = random.randint(*TOKEN)
        chunks.append(case.text[at : at + size])
        at += size
    return Task(chunks, case.schema, case.value, case.values, case.mending)


Tool = Callable[[Task], Answer]


def again(read: Callable[[str], Any], show: Callable[[str], Any], task: Task) -> Answer:
    """Read all the text again with every chunk, as all of these tools do."""
    steps = [guarded(show, text)[0] for text in accumulate(task.chunks)]
    end, error = guarded(read, "".join(task.chunks))
    return Answer(steps, end, error)


def guarded(read: Callable[[str], Any], text: str) -> tuple[list[Any], str]:
    try:
        return [read(text)], ""
    except Exception as error:  # noqa: BLE001 - that is what is asked
        return [], type(error).__name__


def json_repair() -> Tool:
    repair = import_module("json_repair").repair_json

    def answer(task: Task) -> Answer:
        read = partial(repair, return_objects=True, **({} if task.schema is None else {"schema": task.schema}))
        return again(read, partial(read, stream_stable=True), task)

    return answer


def json_repair_strict() -> Tool:
    """Its strict mode raises where the structure is in doubt."""
    repair = import_module("json_repair").repair_json

    def answer(task: Task) -> Answer:
        read = partial(repair, return_objects=True, strict=True)
        return again(read, partial(repair, return_objects=True, stream_stable=True), task)

    return answer


def langchain() -> Tool:
    parser = import_module("langchain_core.output_parsers").JsonOutputParser()
    generation = import_module("langchain_core.outputs").Generation

    def show(text: str) -> Any:  # noqa: ANN401 - any JSON
        value = parser.parse_result([generation(text=text)], partial=True)
        if value is None:
            raise ValueError("its loop leaves out what it cannot parse yet")
        return value

    return partial(again, parser.parse, show)


def langchain_partial() -> Tool:
    parse = import_module("langchain_core.utils.json").parse_partial_json
    return partial(again, parse, parse)


def partial_json_parser() -> Tool:
    module = import_module("partial_json_parser")
    read = partial(module.loads, allow_partial=module.STR | module.ARR | module.OBJ)
    return partial(again, read, read)


def jsontide() -> Tool:
    module = import_module("jsontide.mend")

    def answer(task: Task) -> Answer:
        mending = replace(getattr(module, task.mending), values=task.values)
        state = module.start_mend(mending, None if task.schema is None else shape_of(task.schema))
        steps = []
        output = ""
        for chunk in task.chunks:
            state, text, _ = module.feed_mend(state, chunk)
            output += text
            steps.append(shown(output, task.values))
        state, text, _ = module.finish_mend(state)
        if state.error is not None:
            return Answer(steps, [], state.error.reason.name)
        value = documents(output + text)[0] if task.values == "all" else json.loads(output + text)
        return Answer(steps, [value], "", state.is_truncated)

    return answer


def shown(text: str, values: str) -> list[Any]:
    if values == "all":
        before, rest = documents(text)
        return [[*before, *shown(rest, "first")]]
    value = parse_chunk(create_parser_state(), text).value
    return [] if value is MISSING else [value]


def documents(text: str) -> tuple[list[Any], str]:
    """The complete documents of a text, and what follows them."""
    found = []
    rest = text.lstrip()
    while rest:
        try:
            value, end = json.JSONDecoder().raw_decode(rest)
        except json.JSONDecodeError:
            break
        found.append(value)
        rest = rest[end:].lstrip()
    return found, rest


def main(module: str, name: str) -> None:
    logging.disable(logging.CRITICAL)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a tool prints is not an answer
    try:
        tool = getattr(import_module(f"benchmarks.mend_peers.{module}"), name)()
    except ImportError as error:
        answers.write(json.dumps({"missing": str(error)}) + "\n")
        return
    answers.write("{}\n")
    answers.flush()
    for line in sys.stdin:
        answers.write(json.dumps(asdict(tool(Task(**json.loads(line))))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
