"""The tables of two batches in, what differs out: the same recordings read in two ways, or other ones.

Rule: nothing is called worse or better that chance may have done. Where the recordings are the same, each difference is
one; where they are not, rates have intervals, and only those that do not touch are told apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from math import sqrt
from pathlib import Path
from typing import Final, Literal

from jsontide._values import JsonValue
from jsontide.archives.batch import connect, open_tables
from jsontide.archives.engines import BatchError
from jsontide.archives.report import EXAMPLES, Database, ask, draw_examples, draw_page, draw_section

Verdict = Literal["worse", "better", "unclear"]
LEAST: Final = 30
"""So many recordings on each side are needed to tell rates apart."""
_Z: Final = 1.96
"""For intervals of 95 %."""


@dataclass(frozen=True, slots=True)
class Rate:
    """How many of some recordings are of a kind, with the interval of Wilson, of 95 %."""

    count: int
    of: int

    @property
    def share(self) -> float:
        return self.count / self.of if self.of else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Where the share of all such recordings lies.

        >>> [round(end, 3) for end in Rate(5, 100).interval]
        [0.022, 0.112]
        """
        if not self.of:
            return 0.0, 1.0
        square = _Z * _Z / self.of
        middle, width = (
            self.share + square / 2,
            _Z * sqrt(self.share * (1 - self.share) / self.of + square / self.of / 4),
        )
        least = (middle - width) / (1 + square) if self.count else 0.0
        most = (middle + width) / (1 + square) if self.count < self.of else 1.0
        return least, most


@dataclass(frozen=True, slots=True)
class RateChange:
    """A rate before and after; more of it is bad."""

    name: str
    before: Rate
    after: Rate

    @property
    def verdict(self) -> Verdict:
        if min(self.before.of, self.after.of) < LEAST:
            return "unclear"
        (least, most), (least_after, most_after) = self.before.interval, self.after.interval
        return "worse" if least_after > most else "better" if most_after < least else "unclear"


@dataclass(frozen=True, slots=True)
class Quantiles:
    """The median, 90 % and 99 % of seconds, before and after; `None` where there are none."""

    name: str
    before: tuple[float, float, float] | None
    after: tuple[float, float, float] | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs between two batches."""

    is_paired: bool
    """Whether the same recordings were read in two ways."""
    before: int
    """Recordings."""
    after: int
    differences: tuple[RateChange, ...]
    seconds: tuple[Quantiles, ...]
    outcomes: Mapping[tuple[str, str], int]
    """Paired: how many recordings had an outcome before, and one after."""
    changed_values: int
    """Paired: recordings that have another value, with the same outcome."""
    examples: Mapping[str, tuple[str, ...]]
    """Recordings by what became of them."""

    def to_dict(self) -> dict[str, JsonValue]:
        """Return it as plain JSON."""
        plain: dict[str, JsonValue] = {**asdict(self)}
        plain["differences"] = [
            {
                **asdict(each),
                "interval_before": [*each.before.interval],
                "interval_after": [*each.after.interval],
                "verdict": each.verdict,
            }
            for each in self.differences
        ]
        plain["outcomes"] = [
            {"before": before, "after": after, "count": n} for (before, after), n in self.outcomes.items()
        ]
        return plain

    def draw(self) -> str:
        """Return the page about it, which stands alone."""
        kind = "The same recordings, read in two ways" if self.is_paired else "Different recordings"
        lines = [f"<p>{kind}: {self.before:,} before, {self.after:,} after.</p>"]
        if self.is_paired:
            moved = [(before, after, count) for (before, after), count in self.outcomes.items()]
            lines.append(draw_section("Outcomes", "", ("before", "after", "#recordings"), moved))
            lines.append(f"<p>{self.changed_values:,} with the same outcome have another value.</p>")
        rows = [(each.name, *map(_share, (each.before, each.after)), each.verdict) for each in self.differences]
        explained = f"Shares with intervals of 95 %; told apart where these do not touch, from {LEAST} recordings on."
        lines.append(draw_section("Rates", explained, ("", "#before", "#after", "verdict"), rows))
        times = [(each.name, *(each.before or (None,) * 3), *(each.after or (None,) * 3)) for each in self.seconds]
        columns = ("", *(f"#{side} {name}" for side in ("before", "after") for name in ("median", "90 %", "99 %")))
        lines.append(draw_section("Seconds", "", columns, times))
        lines += [draw_examples(title, names) for title, names in self.examples.items()]
        return draw_page("Before and after", lines)


def _share(rate: Rate) -> str:
    least, most = rate.interval
    return f"{rate.share:.1%} ({least:.1%} to {most:.1%})"


_RATES: Final = {
    "not complete": "outcome IS DISTINCT FROM 'complete'",
    "truncated": "outcome = 'truncated'",
    "invalid": "outcome = 'invalid'",
    "refused": "outcome = 'refused'",
    "filtered": "outcome = 'filtered'",
    "empty": "outcome = 'empty'",
    "unreadable": "outcome IS NULL",
    "repaired": "repairs > 0",
    "with mismatches": "mismatches > 0",
    "with calls that are not complete": "calls > calls_complete",
}
_SECONDS: Final = {"first value": "first - arrived", "end": "duration", "longest silence": "silence"}


def compare(before: str | Path, after: str | Path, *, paired: bool | None = None) -> Comparison:
    """Compare the tables of two batches, in the folders that `map_recordings` wrote.

    They are paired if both are of the same recordings, by their content; `paired` says so, or does not look.
    Raises `BatchError` if a folder has no tables, or DuckDB is not installed.
    """
    database = connect()
    if database is None:
        message = 'comparing needs the package duckdb: pip install "jsontide[batch]"'
        raise BatchError(message)
    for name, folder in (("earlier", Path(before)), ("later", Path(after))):
        open_tables(database, _tables_of(folder), name)
    ((count_before,), (count_after,)) = (
        ask(database, f"SELECT count(*) FROM {name}.recordings")[0] for name in ("earlier", "later")
    )
    common = _count_common(database)
    if paired is None:
        paired = common > 0 and 2 * common >= count_after
    if paired and not common:
        message = "the folders have no recording in common, so they cannot be paired"
        raise BatchError(message)
    examples = dict(_changed_examples(database) if paired else _new_examples(database))
    return Comparison(
        is_paired=paired,
        before=count_before,
        after=count_after,
        differences=tuple(_differences(database)),
        seconds=tuple(_quantiles(database)),
        outcomes=_outcomes(database) if paired else {},
        changed_values=_changed_values(database) if paired else 0,
        examples=examples,
    )


def _tables_of(folder: Path) -> dict[str, Path]:
    found = {path.stem: path for suffix in ("ndjson", "parquet") for path in folder.glob(f"*.{suffix}")}
    if "recordings" not in found:
        message = f"{folder} has no tables; `jsontide batch` writes them"
        raise BatchError(message)
    return found


def _differences(database: Database) -> Iterator[RateChange]:
    for name, condition in _RATES.items():
        query = f"SELECT count(*) FILTER ({condition}), count(*) FROM"
        before, after = (Rate(*ask(database, f"{query} {side}.recordings")[0]) for side in ("earlier", "later"))
        yield RateChange(name, before, after)


def _quantiles(database: Database) -> Iterator[Quantiles]:
    for name, seconds in _SECONDS.items():
        query = f"SELECT quantile_cont({seconds}, [0.5, 0.9, 0.99]) FROM"
        before, after = (ask(database, f"{query} {side}.recordings")[0][0] for side in ("earlier", "later"))
        yield Quantiles(name, before and tuple(before), after and tuple(after))


_PAIRS: Final = """
    (SELECT any_value(later.recording ORDER BY later.recording) AS recording,
            first(coalesce(earlier.outcome, 'unreadable') ORDER BY earlier.recording) AS before,
            first(coalesce(later.outcome, 'unreadable') ORDER BY later.recording) AS after,
            first(earlier.value_sha256 ORDER BY earlier.recording) IS DISTINCT FROM
            first(later.value_sha256 ORDER BY later.recording) AS is_changed
     FROM earlier.recordings AS earlier JOIN later.recordings AS later USING (sha256) GROUP BY sha256)"""
"""The recordings of both sides, by their content; of several copies, one."""


def _count_common(database: Database) -> int:
    query = "SELECT count(*) FROM later.recordings WHERE sha256 IN (SELECT sha256 FROM earlier.recordings)"
    return int(ask(database, query)[0][0])


def _outcomes(database: Database) -> dict[tuple[str, str], int]:
    query = f"SELECT before, after, count(*) FROM {_PAIRS} GROUP BY ALL ORDER BY ALL"
    return {(before, after): count for before, after, count in ask(database, query)}


def _changed_values(database: Database) -> int:
    query = f"SELECT count(*) FROM {_PAIRS} WHERE before = after AND is_changed"
    return int(ask(database, query)[0][0])


def _changed_examples(database: Database) -> Iterator[tuple[str, tuple[str, ...]]]:
    query = f"""
        SELECT CASE WHEN before = after THEN 'another value, ' || after ELSE before || ' before, ' || after || ' after'
               END AS what, list(recording ORDER BY recording)[:{EXAMPLES}]
        FROM {_PAIRS} WHERE before <> after OR is_changed GROUP BY what ORDER BY what"""
    yield from ((what, tuple(names)) for what, names in ask(database, query))


def _new_examples(database: Database) -> Iterator[tuple[str, tuple[str, ...]]]:
    query = f"""
        SELECT coalesce(outcome, 'unreadable') AS how, list(recording ORDER BY recording)[:{EXAMPLES}]
        FROM later.recordings WHERE outcome IS DISTINCT FROM 'complete' GROUP BY how ORDER BY how"""
    yield from ((f"{how} after", tuple(names)) for how, names in ask(database, query))
