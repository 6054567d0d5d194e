"""Panels and the size of a terminal in, rows out: side by side where there is room, otherwise one above the other.

Rule: no row is wider than the terminal and no drawing higher; what grows gets the rows that the rest can spare.
"""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from jsontide.cli._panels import Panel
from jsontide.cli._pretty_print import Room

_WIDE = 80
"""Columns from which on panels stand side by side."""
_FRAMED = 60
"""Columns from which on panels have a frame; below, a line with the title."""
_FEW = 3
"""Rows that a panel keeps if others need room, and that is not at the cost of what grows."""
_MORE = 5
"""Rows that what grows should have beside those."""
_GAP = " "
_SIDES = ("│ ", " │")
_DOTS = Text("⋮", "dim")


def lay_out(console: Console, panels: Sequence[Panel], room: Room) -> list[Text]:
    """Return the rows of all panels."""
    is_framed = room.width >= _FRAMED
    sides = [[panel for panel in panels if panel.side == side] for side in ("prose", "data")]
    if room.width < _WIDE or not all(sides):
        return _stack(console, panels, room, is_framed=is_framed)
    left = (room.width - len(_GAP)) // 2
    rooms = (Room(left, room.height), Room(room.width - len(_GAP) - left, room.height))
    columns = [_stack(console, side, each, is_framed=is_framed) for side, each in zip(sides, rooms, strict=True)]
    return [_beside(row, columns, left) for row in range(max(map(len, columns)))]


def _beside(row: int, columns: Sequence[Sequence[Text]], width: int) -> Text:
    first, second = (column[row] if row < len(column) else Text() for column in columns)
    return Text.assemble(_fill(first, width), _GAP, second)


def _stack(console: Console, panels: Sequence[Panel], room: Room, *, is_framed: bool) -> list[Text]:
    around = 2 if is_framed else 1
    width = room.width - len(_SIDES[0]) - len(_SIDES[1]) if is_framed else room.width
    inner = Room(width, max(room.height - around, 1))
    bodies = [panel.body.draw(console, inner) for panel in panels]
    shares = share_rows([len(body) for body in bodies], [panel.is_open for panel in panels], room.height, around)
    rows: list[Text] = []
    for panel, body, share in zip(panels, bodies, shares, strict=True):
        if share:
            shown = _crop(body, share, keeps_end=panel.is_open)
            rows += _frame(panel, shown, room.width) if is_framed else [_title(panel, room.width), *shown]
    return rows


def _crop(rows: list[Text], height: int, *, keeps_end: bool) -> list[Text]:
    """Return as many rows as there is room for: the last ones of what grows, the first ones of what is done."""
    if len(rows) <= height:
        return rows
    if height == 1:
        return rows[-1:] if keeps_end else rows[:1]
    return [_DOTS, *rows[len(rows) - height + 1 :]] if keeps_end else [*rows[: height - 1], _DOTS]


def share_rows(wanted: Sequence[int], are_open: Sequence[bool], height: int, around: int) -> list[int]:
    """Return how many rows each panel gets inside: all that it wants, or few, or none where there is no room at all.

    `around` is what each one needs beside them. Open panels come first, and later ones before earlier ones.
    """
    order = sorted(range(len(wanted)), key=lambda at: (are_open[at], at), reverse=True)
    needed = sum(min(each, _FEW) + around for each in wanted) + _MORE * any(are_open)
    few = _FEW if needed <= height else 1
    while sum(min(wanted[at], few) + around for at in order) > height and len(order) > 1:
        order.pop()
    shares = [0] * len(wanted)
    spare = height - sum(min(wanted[at], few) + around for at in order)
    for at in order:
        more = min(max(wanted[at] - few, 0), max(spare, 0))
        shares[at] = min(wanted[at], few) + more
        spare -= more
    return shares


def _frame(panel: Panel, rows: Sequence[Text], width: int) -> list[Text]:
    style = _style_of(panel)
    inner = width - len(_SIDES[0]) - len(_SIDES[1])
    sides = ((_SIDES[0], style), (_SIDES[1], style))
    top = Text.assemble(("╭", style), _title(panel, width - 2), ("╮", style))
    middle = [Text.assemble(sides[0], _fill(row, inner), sides[1]) for row in rows]
    return [top, *middle, Text(f"╰{'─' * (width - 2)}╯", style)]


def _title(panel: Panel, width: int) -> Text:
    style = _style_of(panel)
    title = Text.assemble(("─ ", style), (f"{panel.title} {_mark_of(panel)}", f"bold {style}"), " ")
    title.truncate(width, overflow="ellipsis")
    return Text.assemble(title, ("─" * (width - title.cell_len), style))


def _mark_of(panel: Panel) -> str:
    if panel.is_bad:
        return "✗"
    return "…" if panel.is_open else "✓"


def _style_of(panel: Panel) -> str:
    if panel.is_bad:
        return "red"
    return "yellow" if panel.is_open else "green"


def _fill(row: Text, width: int) -> Text:
    """Return a row with spaces up to a width."""
    return Text.assemble(row, " " * (width - row.cell_len))
