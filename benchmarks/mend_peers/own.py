"""jsontide: its stage in front of its parser.

In: a task. Out: an answer.
Rule: what is shown is what the strict parser shows of the text that the stage has let out.
"""

import json
from dataclasses import replace
from importlib import import_module
from typing import Any

from benchmarks.mend_peers.kinds import Answer, Task
from benchmarks.mend_peers.tools import Tool
from jsontide import MISSING, create_parser_state, parse_chunk
from jsontide.schema import shape_of


def jsontide() -> Tool:
    module = import_module("jsontide.mend")

    def answer(task: Task) -> Answer:
        mending = replace(getattr(module, task.mending), values=task.values)
        state = module.start_mend(mending, None if task.schema is None else shape_of(task.schema))
        steps = []
        output = ""
        for chunk in task.chunks:
            state, text, _ = module.mend_chunk(state, chunk)
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
