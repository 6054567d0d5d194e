"""What is asked of a tool, and what it answers.

In: a case as a `Task`: its text in chunks of a token's size.
Out: an `Answer`: what was shown after each chunk, and the end.
Rule: both are JSON, because a tool may run in another process and another language.
"""

from dataclasses import dataclass, field
from random import Random
from typing import Any

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
