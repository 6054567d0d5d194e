"""The corpus of `tests/mend/corpus`: texts as models write them, and what a careful reader makes of each.

In: one TOML file per group, one table per case. Out: the cases.
Rule: the expectations come from people who read the text, never from a program that mends it.

A case has these fields:

- `text`: what the model wrote.
- `expect`: `strict` (passes unchanged), `mended`, `refused` (an error) or `truncated`.
- `value`: the value that is meant, as JSON; of a truncated text, all that is certain. A strict text says it itself.
- `also`: further values that say nothing wrong; a tool with other habits may return one of them.
- `repairs`: the kinds of repairs, each once, in the order in which they first occur.
- `schema`: the JSON Schema that the value is read with.
- `values`: which values are wanted: `first` (the default), `all` (then `value` is the list of them) or `one`.
- `mending`: which set of repairs is used: `MODELS` (the default) or `EVERYTHING`.
- `why`: what decides, where that is not obvious.
"""

import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

CORPUS = Path(__file__).parent / "corpus"

Expect = Literal["strict", "mended", "refused", "truncated"]
Values = Literal["first", "all", "one"]
MendingName = Literal["MODELS", "EVERYTHING"]
REPEATS = frozenset({"strict-repeated-key"})
"""Strict texts that take back a value themselves: a key that comes again replaces it, in every reader."""
FIELDS = frozenset({"text", "expect", "value", "also", "repairs", "schema", "values", "mending", "why"})


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    group: str
    text: str
    expect: Expect
    value: Any
    """`None` if the text is to be refused."""
    also: tuple[Any, ...]
    repairs: tuple[str, ...]
    schema: Any
    """`None` if there is none."""
    values: Values
    mending: MendingName


def read_corpus(directory: Path = CORPUS) -> list[Case]:
    return [case for path in sorted(directory.glob("*.toml")) for case in read_group(path)]


def read_group(path: Path) -> Iterator[Case]:
    for name, fields in tomllib.loads(path.read_text("utf-8")).items():
        if not fields.keys() <= FIELDS or fields["expect"] not in get_args(Expect):
            raise ValueError(f"{path.name}: {name}: unknown field or expectation")
        expect: Expect = fields["expect"]
        written = fields.get("value", fields["text"] if expect == "strict" else "null")
        yield Case(
            name=name,
            group=path.stem,
            text=fields["text"],
            expect=expect,
            value=json.loads(written),
            also=tuple(map(json.loads, fields.get("also", ()))),
            repairs=tuple(fields.get("repairs", ())),
            schema=json.loads(fields["schema"]) if "schema" in fields else None,
            values=fields.get("values", "first"),
            mending=fields.get("mending", "MODELS"),
        )
