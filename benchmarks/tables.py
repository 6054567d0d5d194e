"""Tables in Markdown, and the text of their cells."""

from collections.abc import Sequence


def table(
    title: str, header: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str] = (), align: str = "---:"
) -> str:
    """`notes` are sentences, one to a line, and `align` is for all columns but the first; nothing without rows."""
    if not rows:
        return ""
    rule = ["---", *[align] * (len(header) - 1)]
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines = [f"| {' | '.join(cells)} |" for cells in (header, rule, *escaped)]
    return "\n".join([f"### {title}", "", *([*notes, ""] if notes else []), *lines, ""])


def answer(yes: float) -> str:
    return "yes" if yes else "no"


def percent(part: float) -> str:
    return f"{part:.0%}"


def share(part: float) -> str:
    return answer(part) if part in {0, 1} else percent(part)


def times(number: float) -> str:
    return f"x{number:,.0f}" if number >= 10 else f"x{number:.2f}"  # noqa: PLR2004


def digits(number: float) -> str:
    """Three digits, or four places after the point."""
    for least, places in ((100, 0), (10, 1), (0.1, 2)):
        if number >= least:
            return f"{number:,.{places}f}"
    return f"{number:.4f}"
