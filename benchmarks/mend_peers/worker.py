"""`python -m benchmarks.mend_peers.worker TOOL`: one task per line in, one answer per line out.

A tool runs in a process of its own because some do not come back from some texts.
"""

import json
import logging
import os
import sys
from dataclasses import asdict
from importlib import import_module

from benchmarks.mend_peers.kinds import Task


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
