"""Tables in, a page for people out: how streams ended, where they broke off, what was slow, with examples.

Rule: the page stands alone. It has no script, nothing from elsewhere, and is readable on light and on dark.

Figures are asked for in SQL, so that anybody can ask the tables the same; what is shown of a recording is escaped.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape as escape_html
from typing import Any, Final, TypeAlias

from jsontide._values import escape_unsafe

Database: TypeAlias = Any
"""A connection of DuckDB, which may not be installed, with the tables of a batch."""
EXAMPLES: Final = 10
_MOST_ROWS: Final = 30

STYLE: Final = """\
:root { color-scheme: light dark; --fg: #1f2328; --quiet: #59636e; --line: #d1d9e0; --bg: #fff; --bar: #0a7ea4;
  --good: #1a7f37; --bad: #bc4c00; }
@media (prefers-color-scheme: dark) { :root { --fg: #e6edf3; --quiet: #9198a1; --line: #3d444d; --bg: #0d1117;
  --bar: #58b6d8; --good: #3fb950; --bad: #f0883e; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--fg); background: var(--bg); max-width: 60rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin: 2.2rem 0 .4rem; }
p { margin: .3rem 0; } .quiet { color: var(--quiet); }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .875rem; }
th, td { text-align: left; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.p { font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
td.b { width: 30%; min-width: 7rem; } svg { display: block; width: 100%; height: .9rem; }
code { font: .8125rem ui-monospace, monospace; overflow-wrap: anywhere; }
rect.bar { fill: var(--bar); } rect.good { fill: var(--good); } rect.bad { fill: var(--bad); }
.worse { color: var(--bad); font-weight: 600; } .better { color: var(--good); font-weight: 600; }"""


@dataclass(frozen=True, slots=True)
class Bar:
    """A cell with a bar: the parts of its length, each from 0 to 1 with the name of its colour."""

    parts: Sequence[tuple[float, str]]
    label: str

    def __str__(self) -> str:
        drawn, x = "", 0.0
        for length, colour in self.parts:
            width = max(length * 100, 0.0)
            drawn += f'<rect class="{colour}" x="{x:.2f}" y="0" width="{width:.2f}" height="10"/>'
            x += width
        title = f"<title>{_escape(self.label)}</title>"
        return f'<svg viewBox="0 0 100 10" preserveAspectRatio="none" role="img">{title}{drawn}</svg>'


def _escape(text: str) -> str:
    return escape_html(escape_unsafe(text))


def draw_page(title: str, body: Iterable[str]) -> str:
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{_escape(title)}</title>'
    parts = ["<!doctype html>", f'<html lang="en"><head>{head}', f"<style>{STYLE}</style></head><body>"]
    return "\n".join([*parts, f"<h1>{_escape(title)}</h1>", *body, "</body></html>", ""])


def draw_section(title: str, explained: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table with its heading; a column's name that begins with `#` is of figures, with `.` of paths."""
    heading = f"<h2>{_escape(title)}</h2>\n<p class='quiet'>{_escape(explained)}</p>"
    if not rows:
        return f"{heading}\n<p>None.</p>"
    kinds = [{"#": "n", ".": "p", "|": "b"}.get(name[:1], "") for name in columns]
    head = "".join(
        f'<th class="{kind}">{_escape(name.lstrip("#.|"))}</th>' for name, kind in zip(columns, kinds, strict=True)
    )
    lines = [
        "<tr>"
        + "".join(f'<td class="{kind}">{_cell(cell)}</td>' for cell, kind in zip(row, kinds, strict=True))
        + "</tr>"
        for row in rows
    ]
    return f'{heading}\n<div class="wide"><table><tr>{head}</tr>\n' + "\n".join(lines) + "\n</table></div>"


def _cell(value: object) -> str:
    if isinstance(value, Bar):
        return str(value)
    if value is None:
        return '<span class="quiet">&ndash;</span>'
    if isinstance(value, float):
        return f"{value:,.3f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return _escape(str(value))


def draw_report(database: Database) -> str:
    """Return the page about the tables that a database knows."""
    sections = [_overview, _models, _days, _ends, _breaks, _first_values, _slowest_paths, _calls, _problems, _examples]
    return draw_page("Recordings", [section(database) for section in sections])


def ask(database: Database, query: str) -> list[tuple[Any, ...]]:
    return list(database.execute(query).fetchall())


def _overview(database: Database) -> str:
    query = """
        SELECT count(*), count(*) FILTER (outcome IS NULL), sum(bytes)::BIGINT, sum(pieces)::BIGINT,
               sum(clamped)::BIGINT
        FROM recordings"""
    ((count, unreadable, size, pieces, clamped),) = ask(database, query)
    said = f"{count:,} recordings, {size or 0:,} bytes in {pieces or 0:,} pieces."
    if unreadable:
        said += f" {unreadable:,} cannot be read."
    if clamped:
        said += f" {clamped:,} times went back by rounding, and were set forward."
    return f"<p>{said}</p>"


_OUTCOMES: Final = """
        count(*) AS n, count(*) FILTER (outcome = 'complete'), count(*) FILTER (outcome = 'truncated'),
        count(*) FILTER (outcome = 'invalid'), quantile_cont(first - arrived, 0.5), quantile_cont(duration, 0.5)
        FROM recordings WHERE outcome IS NOT NULL"""
_OUTCOME_COLUMNS: Final = ("#recordings", "|", "#complete", "#truncated", "#invalid", "#first value s", "#end s")
_MEDIANS: Final = "The times are medians."


def _models(database: Database) -> str:
    rows = ask(database, f"SELECT model, {_OUTCOMES} GROUP BY model ORDER BY n DESC, model LIMIT {_MOST_ROWS}")
    return draw_section("Outcome by model", _MEDIANS, ("model", *_OUTCOME_COLUMNS), [_shared(*row) for row in rows])


def _days(database: Database) -> str:
    rows = ask(database, f"SELECT started[:10] AS day, {_OUTCOMES} GROUP BY day ORDER BY day DESC LIMIT {_MOST_ROWS}")
    return draw_section("Outcome by day", _MEDIANS, ("day", *_OUTCOME_COLUMNS), [_shared(*row) for row in rows])


def _shared(name: object, count: int, good: int, *rest: object) -> tuple[object, ...]:
    """Return a row with a bar of the share that is complete."""
    share = good / count
    return name, count, Bar([(share, "good"), (1 - share, "bad")], f"{share:.1%} complete"), good, *rest


def _ends(database: Database) -> str:
    query = f"""
        SELECT coalesce(outcome, 'unreadable') AS how, error_kind, count(*) AS n
        FROM recordings WHERE outcome IS DISTINCT FROM 'complete'
        GROUP BY ALL ORDER BY n DESC, how, error_kind LIMIT {_MOST_ROWS}"""
    return draw_section("What did not end well", "", ("outcome", "error", "#recordings"), ask(database, query))


def _breaks(database: Database) -> str:
    query = f"""
        SELECT broke_off_at, count(*) AS n FROM recordings WHERE broke_off_at IS NOT NULL
        GROUP BY ALL ORDER BY n DESC, broke_off_at LIMIT {_MOST_ROWS}"""
    rows = ask(database, query)
    most = max((count for _, count in rows), default=1)
    shown = [(path, Bar([(count / most, "bar")], f"{count:,}"), count) for path, count in rows]
    explained = "The path that was open when the stream ended; what belongs to a call begins with its name."
    return draw_section("Where streams broke off", explained, (".path", "|", "#recordings"), shown)


def _first_values(database: Database) -> str:
    explained = "Seconds from the first piece to something visible."
    return _seconds(database, "Time to the first value", explained, "p.first - r.arrived", "n DESC")


def _slowest_paths(database: Database) -> str:
    explained = "Seconds from the beginning of a value to its end."
    return _seconds(database, "Slowest paths", explained, "p.done - p.opened", "middle DESC")


def _seconds(database: Database, title: str, explained: str, seconds: str, order: str) -> str:
    quantiles = f"quantile_cont({seconds}, [0.5, 0.9, 0.99])"
    query = f"""
        SELECT p.path, count(*) AS n, {quantiles}[1] AS middle, {quantiles}[2], {quantiles}[3]
        FROM paths p JOIN recordings r USING (recording)
        GROUP BY p.path HAVING middle IS NOT NULL ORDER BY {order}, p.path LIMIT {_MOST_ROWS}"""
    rows = ask(database, query)
    most = max((row[2] for row in rows), default=0) or 1
    shown = [(path, n, Bar([(row[0] / most, "bar")], f"{row[0]:.3f} s"), *row) for path, n, *row in rows]
    return draw_section(title, explained, (".path", "#recordings", "|", "#median", "#90 %", "#99 %"), shown)


def _calls(database: Database) -> str:
    query = f"""
        SELECT name, count(*) AS n, count(*) FILTER (status = 'complete'), count(*) FILTER (status = 'truncated'),
               count(*) FILTER (status = 'invalid'), sum(repairs)::BIGINT
        FROM calls GROUP BY name ORDER BY n DESC, name LIMIT {_MOST_ROWS}"""
    columns = ("tool", "#calls", "|", "#complete", "#truncated", "#invalid", "#repairs")
    return draw_section("Calls by tool", "", columns, [_shared(*row) for row in ask(database, query)])


def _problems(database: Database) -> str:
    query = f"""
        SELECT kind, name, path, sum(count)::BIGINT AS n, count(DISTINCT recording)
        FROM problems WHERE kind IN ('schema', 'repair', 'json')
        GROUP BY kind, name, path ORDER BY n DESC, kind, name, path LIMIT {_MOST_ROWS}"""
    columns = ("kind", "what", ".path", "#times", "#recordings")
    return draw_section("Errors, mismatches and repairs", "", columns, ask(database, query))


def _examples(database: Database) -> str:
    query = f"""
        SELECT coalesce(outcome, 'unreadable') AS how, list(recording ORDER BY recording)[:{EXAMPLES}]
        FROM recordings WHERE outcome IS DISTINCT FROM 'complete' GROUP BY how ORDER BY how"""
    return "\n".join(draw_examples(how, names) for how, names in ask(database, query))


def draw_examples(title: str, names: Iterable[str]) -> str:
    """Return commands that open recordings in the studio."""
    commands = [f"<code>{_escape(f'jsontide studio {shlex.quote(name)}')}</code>" for name in names]
    return f"<h2>Examples: {_escape(title)}</h2>\n<p>" + "<br>\n".join(commands) + "</p>"
