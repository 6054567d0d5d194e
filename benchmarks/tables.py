"""Tables as data, and their two faces: the terminal and Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table as RichTable


@dataclass(frozen=True)
class Table:
    """`notes` are sentences, one to a line; the first column is text, `right` says which others are figures."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    figures: bool = True


def for_terminal(table: Table) -> RichTable:
    shown = RichTable(title=table.title, title_justify="left", caption="\n".join(table.notes), caption_justify="left")
    for number, name in enumerate(table.header):
        shown.add_column(name, justify="right" if number and table.figures else "left")
    for row in table.rows:
        shown.add_row(*row)
    return shown


def markdown(table: Table) -> str:
    rule = ["---:" if number and table.figures else "---" for number in range(len(table.header))]
    lines = [f"| {' | '.join(cells)} |" for cells in (table.header, rule, *(map(escaped, row) for row in table.rows))]
    notes = [*table.notes, ""] if table.notes else []
    return "\n".join([f"### {table.title}", "", *notes, *lines, ""])


def escaped(cell: str) -> str:
    return cell.replace("|", "\\|")
