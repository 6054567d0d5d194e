"""A session and the number of a moment in, what the page shows of it out, as JSON and bounded."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from typing import Any, Final, TypeAlias

from jsontide._path import Path, path_text
from jsontide._values import MISSING
from jsontide.studio._compare import count_marks, find_value, mark, read_values
from jsontide.studio._history import Entry
from jsontide.studio._moment_view import describe_changes, describe_error, describe_message, describe_repairs
from jsontide.studio._rows import Rows, Unfolded, describe_text
from jsontide.studio._session import Session

View: TypeAlias = dict[str, Any]
_SHOWN: Final = 40
_PARTS: Final = 120


def view_moment(session: Session, number: int, compared: int | None = None, unfolded: Unfolded | None = None) -> View:
    """Return one moment: the text around its caret, its tree, and what happened in it."""
    moment = session.moments[number]
    tree = Rows(session.history, number, unfolded or {})
    touched = session.history.touched(number)
    view: View = {
        "n": number,
        "count": session.count,
        "at": session.times[number],
        "next": session.times[min(number + 1, session.count)],
        "kind": moment.kind,
        "complete": moment.is_complete,
        "outcome": _word(moment.outcome),
        "error": describe_error(moment),
        "raw": session.raw.window(number),
        "base": list(tree.base),
        "rows": tree.rows,
        "touched": list(touched.path()) if touched is not None else None,
        "values": session.history.value_count(number),
        "events": list_events(session, number),
        "message": describe_message(moment.message),
        "repairs": describe_repairs(moment),
    }
    if compared is not None:
        view["compare"] = _compare(session, compared, number, tree)
    return view


def _word(outcome: object) -> str | None:
    return None if outcome is None else str(getattr(outcome, "value", outcome))


def list_events(session: Session, number: int) -> list[View]:
    """Return what happened in a moment and before: events of a JSON text, changes of everything else."""
    if session.updates is not None and session.moments[number].kind in {"unknown", "json"}:
        return session.updates.last(session.pieces, number)
    found: list[View] = []
    while number > 0 and len(found) < _SHOWN:
        changes = describe_changes(session.moments[number].changes)
        found = [{"n": number, **change} for change in changes] + found
        number -= 1
    return found[-_SHOWN:]


def _compare(session: Session, pinned: int, number: int, tree: Rows) -> View:
    """Mark each row of a moment by whether its value is the same object as in the one that is pinned."""
    values = read_values(session.moments[min(pinned, number)], session.moments[max(pinned, number)])
    before, after = values if pinned <= number else reversed(values)
    for row, entry in zip(tree.rows, tree.entries, strict=True):
        if entry is not None:
            path = entry.path()
            value = find_value(after, path)
            row["mark"] = "" if value is MISSING else mark(find_value(before, path), value)
    return {"n": pinned, "at": session.times[pinned], **count_marks(before, after)}


def view_node(session: Session, number: int, path: Path) -> View | None:
    """Return when a value and each part of it arrived, up to the end of the stream; `None` if there is none."""
    entry = session.history.find(path, number)
    if entry is None:
        return None
    last = session.count
    view: View = {
        "path": list(path),
        "name": path_text(path),
        "kind": entry.kind,
        "born": _time(session, entry.born),
        "finished": None if entry.finished is None else _time(session, entry.finished),
        "parts": [],
        **(describe_text(entry, number, 600) if entry.texts else {"count": entry.count(number)}),
    }
    numbers = entry.numbers if entry.texts else [slot.born for slot in entry.children]
    view["total"] = len(numbers)
    view["silence"] = _longest_silence(session, entry, numbers)
    for place in _around(numbers, number):
        text = entry.texts[place] if entry.texts else _name(entry.children[place].at(last))
        view["parts"].append({**_time(session, numbers[place]), "place": place, "text": text[:200]})
    return view


def _time(session: Session, number: int) -> View:
    return {"n": number, "at": session.times[number]}


def _name(child: Entry) -> str:
    key = child.segment if isinstance(child.segment, str) else f"[{child.segment}]"
    return f"{key}: {child.kind}"


def _around(numbers: list[int], number: int) -> range:
    """Return which parts to show: those around a moment."""
    start = max(0, min(bisect_right(numbers, number) - _PARTS // 2, len(numbers) - _PARTS))
    return range(start, min(len(numbers), start + _PARTS))


def _longest_silence(session: Session, entry: Entry, numbers: list[int]) -> View | None:
    """Return the longest time in which nothing came between two parts of a value."""
    moments = sorted({entry.born, *numbers, *([entry.finished] if entry.finished is not None else [])})
    gaps = [(session.times[later] - session.times[earlier], earlier, later) for earlier, later in pairwise(moments)]
    if not gaps:
        return None
    seconds, earlier, later = max(gaps)
    return {"seconds": seconds, "from": earlier, "to": later} if seconds > 0 else None
