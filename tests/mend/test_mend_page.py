"""The tables of docs/how-to/bad-json.md: each example becomes what the page says, by the kind it stands for."""

import re
from pathlib import Path

from jsontide.mend import EVERYTHING, MODELS, MendState, RepairKind, feed_mend, finish_mend, start_mend
from jsontide.schema import shape_of

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "bad-json.md").read_text("utf-8")
WITHOUT_SCHEMA, WITH_SCHEMA = "kind | text | becomes | runs", "kind | text | becomes | wanted is | runs"
SIGNS = str.maketrans({"↵": "\n", "⍽": "\u00a0"})


def rows(header: str) -> list[list[str]]:
    """The cells of all tables with this header."""
    tables = re.findall(rf"^\| {re.escape(header)} \|\n\|[ |-]+\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert tables
    return [[read(cell) for cell in line.strip("| ").split(" | ")] for table in tables for line in table.splitlines()]


def read(cell: str) -> str:
    """Code without its backticks and with the characters that it stands for; words as they are."""
    code = re.fullmatch("(`+)(?!`).*[^`]\\1", cell)
    if code is None or code[1] in cell[len(code[1]) : -len(code[1])]:
        return cell
    ticks = len(code[1])
    inside = cell[ticks:-ticks]
    return (inside.strip(" ") if ticks > 1 else inside).translate(SIGNS)


def an_object(**properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties, "required": [*properties]}


STRING, INTEGER = {"type": "string"}, {"type": "integer"}
SCHEMAS: dict[str, dict[str, object]] = {
    "a string": an_object(a=STRING),
    "`low` or `high`": an_object(a={"enum": ["low", "high"]}),
    "a boolean": an_object(a={"type": "boolean"}),
    "an integer": an_object(a=INTEGER),
    "a list of strings": an_object(a={"type": "array", "items": STRING}),
    "an object": an_object(a=an_object(b=INTEGER)),
    "an object with `a`": an_object(a=INTEGER),
    "a string `a` and an integer `b`": an_object(a=STRING, b=INTEGER),
    "a list of objects": {"type": "array", "items": an_object(a=INTEGER)},
}
"""What the column of what is wanted says, as schemas."""


def mend(text: str, *, everything: bool = False, schema: dict[str, object] | None = None) -> tuple[MendState, str]:
    shape = None if schema is None else shape_of(schema)
    state, begin, _ = feed_mend(start_mend(EVERYTHING if everything else MODELS, shape), text)
    state, end, _ = finish_mend(state)
    return state, begin + end


def may_run(state: MendState) -> str:
    return "no" if any(repair.lossy or repair.kind.is_structural for repair in state.repairs) else "yes"


BESIDE = {RepairKind.FENCE, RepairKind.TRAILING_COMMA, RepairKind.LIST}
"""Kinds that an example may have beside its own."""


def test_each_example_becomes_what_the_page_says_and_every_kind_has_one() -> None:
    examples = [(*row[:3], "", row[3]) for row in rows(WITHOUT_SCHEMA)] + [(*row,) for row in rows(WITH_SCHEMA)]
    assert {RepairKind[kind] for kind, *_ in examples} == {*RepairKind}
    for kind, text, becomes, wanted, runs in examples:
        state, mended = mend(text, everything=kind == "ELLIPSIS", schema=SCHEMAS[wanted] if wanted else None)
        kinds = {repair.kind for repair in state.repairs}
        assert (state.error, mended, may_run(state)) == (None, becomes, runs), text
        assert RepairKind[kind] in kinds
        assert kinds <= {RepairKind[kind], *BESIDE}
        assert state.is_truncated == (kind == "TRUNCATED")


def test_what_the_page_calls_refused_is_an_error() -> None:
    for text, why in rows("text | why"):
        assert mend(text)[0].error is not None, why
