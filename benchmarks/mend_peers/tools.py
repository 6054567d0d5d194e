"""The Python tools, each behind the same small interface.

In: a task. Out: an answer.
Rule: each is used as its documentation says for streams of a model, with a schema where it takes one.
"""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from itertools import accumulate
from typing import Any

from benchmarks.mend_peers.kinds import Answer, Task

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
