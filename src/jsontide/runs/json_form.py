"""A run as JSON, and back: the form to save it in.

    {"jsontide":1,"id":"...","outcome":"waiting","steps":[{"message":{...},"results":[{"status":"done","output":3}]}]}

A message is in the form of `Message.to_json`, and the results of a step are those of its calls, in their order.
Rule: reading what was written gives an equal run, with plain JSON where instances were; anything else is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

from jsontide._values import MISSING, write_json
from jsontide.messages import Message, ToolResult
from jsontide.messages.options import read_content, to_plain
from jsontide.runs.types import PendingResult, Result, RunOutcome, Step

if TYPE_CHECKING:
    from jsontide.messages import ToolCall
    from jsontide.runs.run import Run

_VERSION: Final = 1
_MARK: Final = "jsontide"
_DONE: Final = "done"
_FIELDS: Final = (_MARK, "id", "outcome", "error", "steps")
_FIELDS_OF_RESULTS: Final = ("status", "output", "content", "error", "ran", "nested", "progress", "reason")


def write_run(run: Run[Any]) -> dict[str, object]:
    """Return a run as plain JSON."""
    named = {"id": run.id, "error": run.error}
    return {
        _MARK: _VERSION,
        "outcome": run.outcome.value,
        **{name: text for name, text in named.items() if text is not None},
        "steps": [write_step(step, type(run)) for step in run.steps],
    }


def write_step(step: Step, kind: type[Run[Any]]) -> dict[str, object]:
    """Return a step as plain JSON; `kind` is the class of runs, which may be nested in results."""
    results = [write_result(result, kind) for result in step.results]
    return {"message": json.loads(step.message.to_json()), "results": results}


def write_result(result: Result, kind: type[Run[Any]]) -> dict[str, object]:
    """Return what became of a call as plain JSON."""
    if isinstance(result, PendingResult):
        written: dict[str, object] = {"status": result.status}
        if result.reason is not None:
            written["reason"] = result.reason
        if isinstance(result.progress, kind):
            written["nested"] = write_run(result.progress)
        elif result.progress is not MISSING:
            written["progress"] = plain_value(result.progress)
        return written
    written = {"status": _DONE}
    if result.parts:
        written["content"] = to_plain(result.parts)
    elif result.error is None:
        written["output"] = plain_value(result.output)
    else:
        written["error"] = result.error
    if result.ran != "yes":
        written["ran"] = result.ran
    if isinstance(result.nested, kind):
        written["nested"] = write_run(result.nested)
    return written


def plain_value(value: object) -> object:
    """Return a value as plain JSON, or what it is called if it has no such form."""
    try:
        return to_plain(value)
    except (TypeError, ValueError, RecursionError):
        return f"<{type(value).__name__}>"


def write_run_text(run: Run[Any]) -> str:
    """Return a run as JSON text."""
    return write_json(write_run(run))


def read_run(text: object, make: Callable[..., Run[Any]]) -> Run[Any]:
    """Return the run that was written, from its text or from the parsed object."""
    try:
        given = json.loads(text) if isinstance(text, str | bytes | bytearray) else text
    except (ValueError, RecursionError) as error:
        _refuse(f"the text is not JSON: {error}")
    fields = _object("a run", given, _FIELDS)
    if fields.get(_MARK) != _VERSION:
        _refuse(f"the version {fields.get(_MARK)!r} of the form is not known, only {_VERSION}")
    outcome = next((one for one in RunOutcome if one.value == fields.get("outcome")), None)
    if outcome is None:
        _refuse(f"there is no outcome {fields.get('outcome')!r}")
    steps = tuple(read_step(step, make) for step in _array("steps", fields.get("steps", ())))
    try:
        return make(steps, outcome, fields.get("id"), fields.get("error"))
    except TypeError as error:
        _refuse(str(error))


def read_step(step: object, make: Callable[..., Run[Any]]) -> Step:
    """Return the step that was written."""
    fields = _object("a step", step, ("message", "results"))
    try:
        message = Message.from_json(fields.get("message"))
    except ValueError as error:
        _refuse(str(error))
    written = _array("results", fields.get("results", ()))
    calls = message.tool_calls
    if len(written) not in {0, len(calls)}:
        _refuse(f"a step has {len(written)} results for {len(calls)} calls")
    return Step(message, tuple(read_result(call, one, make) for call, one in zip(calls, written, strict=False)))


def read_result(call: ToolCall, result: object, make: Callable[..., Run[Any]]) -> Result:
    """Return what became of a call, as it was written."""
    fields = _object("a result", result, _FIELDS_OF_RESULTS)
    status = fields.get("status")
    nested = read_run(fields["nested"], make) if "nested" in fields else None
    try:
        if status == _DONE:
            ran = cast("Any", fields.get("ran", "yes"))
            output = read_content(fields["content"]) if "content" in fields else fields.get("output")
            return ToolResult(call, output, cast("str | None", fields.get("error")), None, ran, nested)
        progress = fields.get("progress", MISSING) if nested is None else nested
        return PendingResult(call, cast("Any", status), progress, cast("str | None", fields.get("reason")))
    except (TypeError, ValueError) as error:
        _refuse(f"a result: {error}")


def _object(what: str, value: object, names: tuple[str, ...]) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        _refuse(f"{what} must be an object, not {type(value).__name__}")
    unknown = [name for name in value if name not in names]
    return _refuse(f"{what} has no field {unknown[0]!r}") if unknown else value


def _array(name: str, value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else _refuse(f"{name} must be an array, not {type(value).__name__}")


def _refuse(why: str) -> NoReturn:
    message = f"this is not a run that to_json wrote: {why}"
    raise ValueError(message)
