"""From scores to tables and to docs/measured/mend-peers.md.

In: the scores of all tools. Out: the page, generated and never edited by hand.
Rule: no figure without version and command.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks import builds
from benchmarks.mend_peers.peers import ENDED, LATE
from benchmarks.mend_peers.score import Score
from benchmarks.pages import table
from tests.mend.cases import Case, Expect

METHOD = Path(__file__).with_name("method.md")
HEAD = """# Bad JSON beside other tools

What becomes of the same texts in jsontide and in other tools.
This page is written by `make mend-peers`; all its figures are from one run.
"""
COLUMNS = ("right", "mended right", "wrong, no error", "refused right", "flickers (cases)", "cuts told", "early")
EXPECTED: tuple[tuple[Expect, str], ...] = (
    ("strict", "strict"),
    ("mended", "to be mended"),
    ("refused", "to be refused"),
    ("truncated", "cut off"),
)


def page(
    scores: Mapping[str, Score], cases: Sequence[Case], versions: Mapping[str, str], missing: Mapping[str, str]
) -> str:
    tools = ", ".join(f"{name} {number}" for name, number in versions.items())
    circumstances = [
        f"`python -m benchmarks.mend_peers`: {tools}.",
        builds.machine()[0],
        *(f"Missing: {name} ({reason})." for name, reason in missing.items()),
    ]
    lines = (f"{line}  " for line in circumstances)
    return "\n".join([HEAD, *lines, "", *tables(scores, cases), METHOD.read_text("utf-8")])


def tables(scores: Mapping[str, Score], cases: Sequence[Case]) -> Iterator[str]:
    plain = [case for case in cases if case.schema is None]
    with_schema = [case for case in cases if case.schema is not None]
    yield table("Without a schema", ("", *COLUMNS), rows(scores, plain), notes=[content(plain)])
    yield table("With a schema", ("", *COLUMNS), rows(scores, with_schema), notes=[content(with_schema)])
    yield hangs(scores)


def content(cases: Sequence[Case]) -> str:
    counts = [f"{len(those(cases, expect))} {words}" for expect, words in EXPECTED]
    return f"{len(cases)} cases: {', '.join(counts)}."


def rows(scores: Mapping[str, Score], cases: Sequence[Case]) -> list[list[str]]:
    return [[name, *cells(score, asked(score, cases))] for name, score in scores.items() if asked(score, cases)]


def asked(score: Score, cases: Sequence[Case]) -> list[Case]:
    return [case for case in cases if case.name in score.verdicts]


def cells(score: Score, cases: Sequence[Case]) -> Iterator[str]:
    flickers = [score.flickers[case.name] for case in cases]
    cut = those(cases, "truncated")
    yield part(score.count(cases, "right"), len(cases))
    yield part(score.count(those(cases, "mended"), "right"), len(those(cases, "mended")))
    yield str(score.count(cases, "wrong"))
    yield part(score.count(those(cases, "refused"), "right"), len(those(cases, "refused")))
    yield f"{sum(flickers)} ({sum(map(bool, flickers))})"
    yield f"{sum(case.name in score.told for case in cut)} of {len(cut)}"
    yield f"{score.early(cases):.2f}"


def those(cases: Sequence[Case], expect: Expect) -> list[Case]:
    return [case for case in cases if case.expect == expect]


def part(count: int, total: int) -> str:
    return f"{count / total:.1%} ({count})" if total else "not asked"


def hangs(scores: Mapping[str, Score]) -> str:
    late = [
        f"- {name}: {', '.join(f'`{case}`' for case, error in score.errors.items() if error in {LATE, ENDED})}"
        for name, score in scores.items()
        if {LATE, ENDED} & set(score.errors.values())
    ]
    return "\n".join(["Cases that a tool never came back from:", "", *late, ""]) if late else ""
