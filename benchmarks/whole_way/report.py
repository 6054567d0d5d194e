"""From a run to tables and to docs/measured/whole-way.md.

In: a run and what it ran on. Out: the page, generated and never edited by hand.
Rule: no figure without version, machine and command.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.documents import SIZE_NAMES, SIZES
from benchmarks.pages import COMPILED, PURE, Figure, Target, ratio_cell, table, target_table, times
from benchmarks.timing import Case, Run
from benchmarks.whole_way.clients import ANTHROPIC, CREATE, GENAI, INSTRUCTOR, LITELLM, PYDANTIC_AI, STREAM
from benchmarks.whole_way.measure import CROWD, MANY, OPEN, OPEN_SIZE, Extent
from benchmarks.whole_way.sides import BY_HAND
from benchmarks.whole_way.streams import ANTHROPIC_TEXT, ANTHROPIC_TOOL, GEMINI_TEXT, OLLAMA_TEXT, RESPONSES_TOOL
from benchmarks.whole_way.works import ASYNCHRONOUS, CUT_READS, IN_A_RUN, TEXT, TOOL_CALL, Work, case_of

SMALL, MIDDLE, LARGE, LARGEST = SIZES
METHOD = Path(__file__).with_name("method.md")
CLIENTS = (CREATE, ANTHROPIC, GENAI)


def ratio(run: Run, over: Case, under: Case) -> Figure | None:
    first, second = run.seconds(over), run.seconds(under)
    return Figure(first / second) if first and second else None


def targets(run: Run) -> Iterator[Target]:
    def by_hand(name: str, size: int) -> Figure | None:
        return ratio(run, case_of(name, size, COMPILED), case_of(name, size, BY_HAND))

    def faster(name: str, peer: str) -> Figure | None:
        return ratio(run, case_of(name, SMALL, peer), case_of(name, SMALL, COMPILED))

    def between(one: Work, size: int, other: Work, other_size: int) -> Figure | None:
        return ratio(run, case_of(one.name, size, COMPILED), case_of(other.name, other_size, COMPILED))

    for name, size, bound in (
        (TOOL_CALL.name, SMALL, "≤ 1.6"),
        (TOOL_CALL.name, MIDDLE, "≤ 0.35"),
        (TOOL_CALL.name, LARGE, "≤ 0.03"),
        (ANTHROPIC_TOOL.name, SMALL, "≤ 1.6"),
        (RESPONSES_TOOL.name, SMALL, "≤ 1.6"),
        (TEXT.name, SMALL, "≤ 1.5"),
        (ANTHROPIC_TEXT.name, SMALL, "≤ 1.6"),
        (GEMINI_TEXT.name, SMALL, "≤ 1.6"),
        (OLLAMA_TEXT.name, SMALL, "≤ 1.6"),
    ):
        yield Target(f"{name}, {SIZE_NAMES[size]}: cost / by hand", bound, by_hand(name, size))
    for size in (LARGE, LARGEST):
        demand = f"{TEXT.name}: an event at {SIZE_NAMES[size]} / at 1 KB"
        yield Target(demand, "≤ 1.3", between(TEXT, size, TEXT, SMALL))
    for name, peer, bound in (
        (TOOL_CALL.name, CREATE, "≥ 13"),
        (TOOL_CALL.name, STREAM, "≥ 28"),
        (ANTHROPIC_TOOL.name, ANTHROPIC, "≥ 10"),
        (TOOL_CALL.name, INSTRUCTOR, "≥ 25"),
        (TOOL_CALL.name, PYDANTIC_AI, "≥ 50"),
        (TOOL_CALL.name, LITELLM, "≥ 90"),
    ):
        yield Target(f"{name}, 1 KB: times faster than {peer}", bound, faster(name, peer))
    name = TOOL_CALL.name
    yield Target(f"{name}: an event at 100 KB / at 1 KB", "≤ 1.15", between(TOOL_CALL, LARGE, TOOL_CALL, SMALL))
    found = between(CUT_READS, MIDDLE, TOOL_CALL, MIDDLE)
    yield Target(f"{name}, 10 KB: 1,400 bytes a read / one event a read", "≤ 1.2", found)
    found = between(ASYNCHRONOUS, MIDDLE, TOOL_CALL, MIDDLE)
    yield Target(f"{name}, 10 KB: asynchronous / synchronous", "≤ 1.2", found)
    found = between(IN_A_RUN, LARGE, TEXT, LARGE)
    yield Target(f"{IN_A_RUN.name}, 100 KB: cost / the message alone", "≤ 1.15", found)
    # The fewer seconds an event takes, the more there are in a second.
    found = ratio(run, case_of(CROWD, MANY, BY_HAND), case_of(CROWD, MANY, COMPILED))
    yield Target(f"{MANY:,} {CROWD}: events per second / by hand", "≥ 0.8", found)
    held = run.memory.get((OPEN, COMPILED))
    yield Target(f"{name}: an open stream with 5 KB of arguments", "≤ 40 KB", Figure(held / 1e3) if held else None)


def page(run: Run, extent: Extent, circumstances: Sequence[str]) -> str:
    head = [
        "# The whole way",
        "",
        "What an event costs on its way from the bytes of a response to the message and its partial arguments.",
        "This page is written by `make bench`; all its figures are from one run.",
        "",
        *circumstances,
        "",
        "## Results",
        "",
    ]
    return "\n".join([*head, *sections(run, extent), METHOD.read_text(encoding="utf-8")])


def sections(run: Run, extent: Extent) -> Iterator[str]:
    own = next((side for side in run.sides if side in (COMPILED, PURE)), "")
    only = "event, unless only objects are made"
    read = f"From bytes, one event a read; partial arguments are read at each {only}."
    text = f"From bytes, one event a read; the text so far is read at each {only}."
    notes = ["The compiled build; each is a ratio of two figures of this run, but the memory."]
    tables = [
        table("A tool call of OpenAI Chat Completions", *side_rows(run, extent, TOOL_CALL, own), [read]),
        target_table(targets(run), notes),
        table("Text of OpenAI Chat Completions", *side_rows(run, extent, TEXT, BY_HAND), [text]),
        *(streams_table(run, extent, size) for size in extent.sizes),
        crowd_table(run, extent),
        memory_table(run),
    ]
    return filter(None, tables)


def side_rows(run: Run, extent: Extent, work: Work, baseline: str) -> tuple[list[str], list[list[str]]]:
    """The header, and all sides by size; the ratio is to one of them."""
    sizes = [size for size in extent.sizes if size in work.sizes]
    bases = [run.seconds(case_of(work.name, size, baseline)) for size in sizes]
    rows = []
    for side in run.sides:
        cases = [case_of(work.name, size, side) for size in sizes]
        rows.append([side, *(ratio_cell(run, case, 1e6, base) for case, base in zip(cases, bases, strict=True))])
    name = "by hand" if baseline == BY_HAND else "jsontide"
    header = [f"µs per event (times {name})", *(SIZE_NAMES[size] for size in sizes)]
    return header, [row for row in rows if any(row[1:])]


def streams_table(run: Run, extent: Extent, size: int) -> str:
    own = [side for side in run.sides if side in (COMPILED, PURE)]
    rows = []
    for work in extent.works:
        hand = run.seconds(case_of(work.name, size, BY_HAND))
        cells = [ratio_cell(run, case_of(work.name, size, side), 1e6, hand) for side in (BY_HAND, *own)]
        clients = (ratio_cell(run, case_of(work.name, size, side), 1e6, hand) for side in CLIENTS)
        rows.append([work.name, *cells, next(filter(None, clients), "")])
    return table(
        f"All streams, {SIZE_NAMES[size]}",
        ["µs per event (times by hand)", "by hand", *own, "client"],
        [row for row in rows if any(row[1:])] if size < LARGEST else [],
        [f"Client: {', '.join(CLIENTS)}; the one whose stream it is."],
    )


def crowd_table(run: Run, extent: Extent) -> str:
    seconds = {side: run.seconds(case_of(CROWD, extent.streams, side)) for side in run.sides}
    hand = seconds.get(BY_HAND)
    rows = [[side, f"{1 / each:,.0f}", times(hand / each) if hand else ""] for side, each in seconds.items() if each]
    return table(f"{extent.streams:,} {CROWD}", ["", "events per second", "times by hand"], rows)


def memory_table(run: Run) -> str:
    hand = run.memory.get((OPEN, BY_HAND))
    rows = [
        [side, f"{held / 1e3:,.1f} KB", times(held / hand) if hand else ""] for (_, side), held in run.memory.items()
    ]
    title = f"Memory of an open stream with {OPEN_SIZE // 1000} KB of arguments"
    return table(title, ["", "memory", "times by hand"], rows)
