"""A session with a schema and a moment in, what the schema shows of it out: status, value, what does not fit."""

from __future__ import annotations

from typing import Any, Final

from jsontide._values import MISSING
from jsontide.deltas import write_json
from jsontide.messages import Message
from jsontide.schema import Partial, Resolution, from_json_ast
from jsontide.studio._session import Session

_LONG: Final = 20_000
_MOST: Final = 60


def view_schema(session: Session, number: int) -> dict[str, Any] | None:
    """Return what the schema of a session shows at a moment, `None` without a schema or without anything to show."""
    schema, moment = session.reading.schema, session.moments[number]
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
        "errors": [error.message for error in resolution.errors[:_MOST]],
    }


def _view_answer(message: Message[object]) -> dict[str, Any]:
    answer = message.answer
    value = answer.to_dict() if isinstance(answer, Partial) else answer
    status = "pending" if answer is MISSING else "partial" if isinstance(answer, Partial) else "final"
    errors = [error.message for error in message.errors[:_MOST]]
    return {"status": "mismatch" if errors else status, "value": _write(value), "errors": errors}


def _write(value: object) -> str | None:
    return None if value is MISSING else write_json(value)[:_LONG]
