"""A session and the number of a moment in, what the page shows of it out, as JSON and bounded.

Everything is bounded: of long texts the end is shown, of many things the last ones.
Two moments are compared by identity (`is`), never by content: law 3, made visible.
Chunks of a snapshot begin at the first moment that is shown, so that the cost does not grow with the stream.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from typing import Any, Final, TypeAlias

from jsontide import JsonStreamChunker, SnapshotConflict
from jsontide._path import Path, path_text
from jsontide._values import MISSING, JsonValue, Missing, find_value
from jsontide.frontends import AppendText, Change, SetValue, write_json
from jsontide.frontends.changes import apply_changes
from jsontide.frontends.message_value import plain_usage
from jsontide.messages import CompleteCall, Message, PartialCall, ServerCall, Usage
from jsontide.messages.calls import BaseCall
from jsontide.messages.parts import GrowingPart
from jsontide.messages.progress import kind_of
from jsontide.recordings import Moment
from jsontide.runs import PendingResult, Result, Run, Step
from jsontide.runs.json_form import plain_value
from jsontide.schema import Partial, Resolution, from_json_ast
from jsontide.studio._history import HistoryEntry, Rows, Unfolded, describe_text
from jsontide.studio._sessions import Session

Value: TypeAlias = "JsonValue | Missing"
_MOST_COMPARED: Final = 50_000


def read_values(earlier: Moment, later: Moment) -> tuple[Value, Value]:
    """Return the values of two moments; of a message or a run, those of a front end that applies the changes."""
    before = earlier.value
    if earlier.message is None or earlier.kind != later.kind:
        return before, later.value
    return before, apply_changes(before, later.changes_since(earlier))


def mark(before: object, after: object) -> str:
    """Return whether a value is the `same` object, was `changed`, or is `new`."""
    if before is MISSING:
        return "new"
    return "same" if before is after else "changed"


def count_marks(before: Value, after: Value) -> dict[str, int]:
    """Count the objects that are new, changed, or kept as a whole.

    The inside of a kept object is not counted: thanks to identity, nobody has to look there.
    """
    counts = {"same": 0, "changed": 0, "new": 0}
    todo: list[tuple[Value, Value]] = [] if after is MISSING else [(before, after)]
    while todo and counts["changed"] + counts["new"] < _MOST_COMPARED:
        old, now = todo.pop()
        found = mark(old, now)
        counts[found] += 1
        if found == "same":
            continue
        if isinstance(now, dict):
            members = old if isinstance(old, dict) else {}
            todo += [(members.get(key, MISSING), member) for key, member in now.items()]
        elif isinstance(now, list):
            items: list[Value] = [*old] if isinstance(old, list) else []
            items += [MISSING] * (len(now) - len(items))
            todo += zip(items, now, strict=False)
    return counts


View: TypeAlias = dict[str, Any]
_LONGEST_TEXT: Final = 2000
_MOST_LISTED: Final = 60
_MOST_CHANGES: Final = 40
_LONGEST_CHANGE: Final = 120


def shorten(text: str, limit: int = _LONGEST_TEXT) -> View:
    """Return the end of a text, and how long it is if that is not all of it."""
    return {"text": text} if len(text) <= limit else {"text": text[-limit:], "length": len(text)}


def list_changes(session: Session, number: int) -> list[View]:
    """Return the last changes up to a moment: when, what happened, where, and with which text."""
    found: list[tuple[int, Change]] = []
    while number > 0 and len(found) < _MOST_CHANGES:
        found = [(number, change) for change in session.changes[number]] + found
        number -= 1
    found = found[-_MOST_CHANGES:]
    names = {path: path_text(path) for path in {change.path for _, change in found}}
    views: list[View] = []
    for each, change in found:
        view: View = {"n": each, "path": names[change.path]}
        if isinstance(change, SetValue):
            text = write_json(change.value)
            cut = {"length": len(text), "cut": "end"} if len(text) > _LONGEST_CHANGE else {}
            view |= {"what": "set", "text": text[:_LONGEST_CHANGE], **cut}
        elif isinstance(change, AppendText):
            view |= {"what": "append", **shorten(change.text, _LONGEST_CHANGE)}
        else:
            view |= {"what": "finish", "text": "" if change.levels == 1 else f"{change.levels} levels"}
        views.append(view)
    return views


def describe_message(message: Message[Any] | None, most: int = _MOST_LISTED, limit: int = _LONGEST_TEXT) -> View | None:
    """Return the last parts of a message, as many as `most`, and its other fields; `limit` is how long texts may be."""
    if message is None:
        return None
    known = {name: getattr(message, name) for name in ("provider", "model", "finish_reason")}
    return {
        "outcome": message.outcome.value,
        **{name: value for name, value in known.items() if value is not None},
        "usage": _describe_usage(message.usage),
        "errors": [error.message[:limit] for error in message.errors[:most]],
        "parts": [_describe_part(part, limit) for part in message.parts[-most:]],
        "hidden": max(0, len(message.parts) - most),
    }


def _describe_usage(usage: Usage | None) -> View | None:
    return None if usage is None else {name.replace("_", " "): n for name, n in plain_usage(usage).items()}


_MOST_STEPS: Final = 12
_FULL_STEP: Final = (24, 600)
"""How many parts and results of the last step are shown, and how many characters of each."""
_SHORT_STEP: Final = (6, 120)
"""The same for each step before it."""


def describe_run(run: Run[Any] | None) -> View | None:
    """Return the last steps of a run, each with its message and the results of its calls, and its other fields."""
    if run is None:
        return None
    first = max(0, len(run.steps) - _MOST_STEPS)
    shown = [*enumerate(run.steps, 1)][first:]
    return {
        "outcome": run.outcome.value,
        "usage": _describe_usage(run.usage),
        "error": None if run.error is None else run.error[:_LONGEST_TEXT],
        "steps": [_describe_step(step, number, is_last=number == len(run.steps)) for number, step in shown],
        "hidden": first,
    }


def _describe_step(step: Step, number: int, *, is_last: bool) -> View:
    most, limit = _FULL_STEP if is_last else _SHORT_STEP
    results = [_describe_result(result, limit) for result in step.results[-most:]]
    message = step.message
    if results:  # which show the calls
        message = message.evolve(parts=tuple(part for part in message.parts if not is_call(part)))
    told = describe_message(message, most, limit)
    return {"n": number, "message": told, "results": results, "hidden": max(0, len(step.results) - most)}


def is_call(part: object) -> bool:
    """Return whether a part of a message is a call that gets a result."""
    return isinstance(part, CompleteCall | PartialCall)


def _describe_result(result: Result, limit: int) -> View:
    """Return what became of a call; `tone` says whether it is good, bad, or still open."""
    view: View = {"name": result.call.name, "arguments": result.call.arguments[: min(limit, _LONGEST_CHANGE)]}
    if isinstance(result, PendingResult):
        view |= {"status": result.status, "tone": "waiting" if result.status == "waiting" else "open"}
        value, nested = result.progress, result.progress
        text = result.reason if value is MISSING else None
    else:
        view |= {"status": "done", "tone": "good"} if result.error is None else {"status": "error", "tone": "bad"}
        if result.ran != "yes":
            view["status"] = {"no": "not run", "refused": "refused", "unknown": "not known"}[result.ran]
        value, nested, text = result.output, result.nested, result.error
    if isinstance(nested, Run):
        view["steps"] = len(nested.steps)
        value = nested.content
    if text is None:
        text = value if isinstance(value, str) else "" if value is MISSING else write_json(plain_value(value))
    return {**view, **shorten(text, limit)}


def _describe_part(part: object, limit: int = _LONGEST_TEXT) -> View:
    is_open = bool(getattr(part, "is_open", False))
    if isinstance(part, BaseCall):
        kind = "server call" if isinstance(part, ServerCall) else "call"
        status, arguments, partial = getattr(part, "status", None), part.arguments, part.partial
        status = getattr(status, "value", status)
        shown = {} if partial is MISSING else {"partial": shorten(write_json(partial), limit)["text"]}
        return {
            "type": kind,
            "open": is_open,
            "name": part.name,
            "status": status,
            **shorten(arguments, limit),
            **shown,
        }
    if isinstance(part, GrowingPart):
        return {"type": kind_of(part), "open": is_open, **shorten(part.text, limit)}
    return {"type": type(part).__name__.lower(), "open": is_open, "text": repr(part)[:limit]}


def describe_repairs(moment: Moment) -> list[View]:
    """Return the last repairs so far."""
    return [
        {
            "kind": repair.kind.value,
            "index": repair.index,
            "lossy": repair.lossy,
            "was": repair.was[:200],
            "became": repair.became[:200],
        }
        for repair in moment.repairs[-_MOST_LISTED:]
    ]


_LONGEST_VALUE: Final = 20_000


def view_schema(session: Session, number: int) -> dict[str, Any] | None:
    """Return what the schema of a session shows at a moment, `None` without a schema or without anything to show."""
    schema, moment = session.options.schema, session.moments[number]
    if schema is None:
        return None
    if moment.message is not None:
        return _view_answer(moment.message)
    if moment.state is None:
        return None
    resolution: Resolution[object] = from_json_ast(schema, moment.state)
    return {
        "status": resolution.status.value,
        "value": _write(resolution.value),
        "errors": [error.message for error in resolution.errors[:_MOST_LISTED]],
    }


def _view_answer(message: Message[object]) -> dict[str, Any]:
    answer = message.answer
    value = answer.to_dict() if isinstance(answer, Partial) else answer
    status = "pending" if answer is MISSING else "partial" if isinstance(answer, Partial) else "final"
    errors = [error.message for error in message.errors[:_MOST_LISTED]]
    return {"status": "mismatch" if errors else status, "value": _write(value), "errors": errors}


def _write(value: object) -> str | None:
    return None if value is MISSING else write_json(value)[:_LONGEST_VALUE]


_MOST_SNAPSHOTS: Final = 24
_MANY_VALUES: Final = 20_000
"""A moment with more values than this is compared with few snapshots."""
_LONGEST_CHUNK: Final = 400


def view_chunks(session: Session, number: int) -> dict[str, Any]:
    """Return the chunks of the moments up to this one, and where the chunker began."""
    many = session.history.value_count(number) > _MANY_VALUES
    first = max(0, number - (3 if many else _MOST_SNAPSHOTS))
    chunker = JsonStreamChunker()
    chunks: list[dict[str, Any]] = []
    base = 0
    for each in range(first, number + 1):
        value = session.moments[each].value
        try:
            chunk = "" if value is MISSING else chunker.process_value(value)
        except SnapshotConflict as conflict:
            chunks.append({"n": each, "conflict": str(conflict)})
            break
        if each == first:
            base = len(chunk)
        if each > first or first == 0:
            chunks.append({"n": each, "text": chunk[-_LONGEST_CHUNK:], "length": len(chunk)})
    return {"from": first, "base": base, "chunks": chunks}


_MOST_PARTS: Final = 120


def view_moment(session: Session, number: int, compared: int | None = None, unfolded: Unfolded | None = None) -> View:
    """Return one moment: the text around its caret, its tree, and its changes."""
    moment = session.moments[number]
    error = moment.error
    tree = Rows(session.history, number, unfolded or {})
    touched = session.history.touched(number)
    view: View = {
        "n": number,
        "count": session.count,
        "at": session.times[number],
        "next": session.times[min(number + 1, session.count)],
        "kind": moment.kind,
        "complete": moment.is_complete,
        "outcome": moment.outcome.value,
        "error": None if error is None else str(getattr(error, "message", error)),
        "raw": session.raw.window(number),
        "base": list(tree.base),
        "rows": tree.rows,
        "touched": list(touched.path()) if touched is not None else None,
        "values": session.history.value_count(number),
        "events": list_changes(session, number),
        "message": describe_message(moment.message) if moment.run is None else None,
        "run": describe_run(moment.run),
        "repairs": describe_repairs(moment),
    }
    if compared is not None:
        view["compare"] = _compare(session, compared, number, tree)
    return view


def _compare(session: Session, pinned: int, number: int, tree: Rows) -> View:
    """Mark each row of a moment: is its value the same object as in the pinned moment?"""
    values = read_values(session.moments[min(pinned, number)], session.moments[max(pinned, number)])
    before, after = values if pinned <= number else reversed(values)
    shown = [(row, entry.path()) for row, entry in zip(tree.rows, tree.entries, strict=True) if entry is not None]
    found = [(find_value(before, path), find_value(after, path)) for _, path in shown]
    for (row, _), (old, value) in zip(shown, found, strict=True):
        row["mark"] = "" if value is MISSING else mark(old, value)
    return {"n": pinned, "at": session.times[pinned], **count_marks(before, after)}


def view_node(session: Session, number: int, path: Path) -> View | None:
    """Return when a value and each part of it arrived, up to the end of the stream; `None` without a value."""
    entry = session.history.find(path, number)
    if entry is None:
        return None
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
        if entry.texts:
            text = entry.texts[place]
        else:
            child = entry.children[place].at(session.count)
            key = child.segment if isinstance(child.segment, str) else f"[{child.segment}]"
            text = f"{key}: {child.kind}"
        view["parts"].append({**_time(session, numbers[place]), "place": place, "text": text[:200]})
    return view


def _time(session: Session, number: int) -> View:
    return {"n": number, "at": session.times[number]}


def _around(numbers: list[int], number: int) -> range:
    """Return which parts to show: those around a moment."""
    start = max(0, min(bisect_right(numbers, number) - _MOST_PARTS // 2, len(numbers) - _MOST_PARTS))
    return range(start, min(len(numbers), start + _MOST_PARTS))


def _longest_silence(session: Session, entry: HistoryEntry, numbers: list[int]) -> View | None:
    """Return the longest time in which nothing came between two parts of a value."""
    moments = sorted({entry.born, *numbers, *([entry.finished] if entry.finished is not None else [])})
    gaps = [(session.times[later] - session.times[earlier], earlier, later) for earlier, later in pairwise(moments)]
    if not gaps:
        return None
    seconds, earlier, later = max(gaps)
    return {"seconds": seconds, "from": earlier, "to": later} if seconds > 0 else None
