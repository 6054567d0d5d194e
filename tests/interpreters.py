"""One side of `test_surroundings`: a program that uses the library in a second interpreter, and in the main one.

The argument says which of them imports it first: main or other.
It prints what each of them reads, or why it cannot.
"""

import decimal  # noqa: F401 - Python 3.12 breaks if it is first imported by another interpreter than the main one
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

NAME = next((name for name in ("_interpreters", "_xxsubinterpreters") if find_spec(name)), "")
"""The module that makes interpreters, in this version of Python; empty if there is none."""

READ = f"""
import sys
sys.path[:] = {sys.path}
try:
    import jsontide.schema, jsontide.messages
    state = jsontide.parse_chunk(jsontide.create_parser_state(), '{{"a": [1, 2, "te')
    accumulator = jsontide.JsonFragmentAccumulator()
    print(state.value, accumulator.add_fragment('[1, true]')[-1], flush=True)
except ImportError as error:
    print(error, flush=True)
"""


def main(first: str) -> None:
    interpreters: Any = import_module(NAME)
    if first == "main":
        exec(READ)  # noqa: S102 - the same in both
    other = interpreters.create()
    interpreters.run_string(other, READ)
    exec(READ)  # noqa: S102
    interpreters.destroy(other)
    exec(READ)  # noqa: S102


if __name__ == "__main__":
    main(*sys.argv[1:])
