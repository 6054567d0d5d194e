"""What requests say, read and checked: a wrong one is refused with what was expected, and one that is too large."""

from __future__ import annotations

import json
from typing import Any, Final, NoReturn

from starlette.exceptions import HTTPException
from starlette.requests import Request

from jsontide._path import Path
from jsontide.recordings import Piece
from jsontide.studio._rows import Unfolded
from jsontide.studio._session import Session
from jsontide.studio._studio import Studio, describe_limit

_BAD: Final = 400
_NOT_FOUND: Final = 404
_TOO_LARGE: Final = 413


def refuse(problem: str, status: int = _BAD) -> NoReturn:
    raise HTTPException(status, problem)


def find_session(studio: Studio, session_id: object) -> Session:
    session = studio.sessions.get(session_id) if isinstance(session_id, str) else None
    if session is None:
        refuse("there is no such session; it may have made room for newer ones", _NOT_FOUND)
    return session


def find_number(request: Request, session: Session) -> int:
    """Return which moment is asked for, by `n` or by `at`; one after the end is the last."""
    at = request.query_params.get("at")
    if at is not None:
        try:
            return session.find(float(at))
        except ValueError:
            refuse("at must be a number of seconds")
    number = read_number(request, "n")
    return session.count if number is None else min(number, session.count)


def read_number(request: Request, name: str) -> int | None:
    text = request.query_params.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 12):  # noqa: PLR2004 - no moment has more digits
        refuse(f"{name} must be the number of a moment")
    return int(text)


def read_path(request: Request) -> Path:
    return check_path(_parse(request.query_params.get("path", "[]"), "path"))


def read_unfolded(request: Request) -> Unfolded:
    """Return what the reader opened and closed: `[[path, first item or null], ...]`."""
    given = _parse(request.query_params.get("unfolded", "[]"), "unfolded")
    unfolded: dict[Path, int | None] = {}
    for each in given if isinstance(given, list) else [given]:
        match each:
            case [path, None | int() as first] if not isinstance(first, bool):
                unfolded[check_path(path)] = first
            case _:
                refuse("unfolded must be pairs of a path and a number or null")
    return unfolded


def check_path(value: object) -> Path:
    if not isinstance(value, list) or not all(isinstance(each, str) or type(each) is int for each in value):
        refuse("a path must be an array of keys and indices")
    return tuple(value)


async def read_body(request: Request, limit: int) -> bytes:
    """Return a body, unless it is too large: then nothing more of it is read."""
    length = request.headers.get("content-length", "")
    data = bytearray()
    if not (length.isdecimal() and int(length) > limit):
        async for chunk in request.stream():
            data += chunk
            if len(data) > limit:
                break
        else:
            return bytes(data)
    refuse(describe_limit(limit), _TOO_LARGE)


async def read_json(request: Request, limit: int) -> dict[str, Any]:
    value = _parse(await read_body(request, limit), "the body")
    if not isinstance(value, dict):
        refuse("the body must be an object")
    return value


def read_pieces(given: dict[str, Any]) -> tuple[Piece, ...]:
    """Return the pieces of a pasted text, some time apart from each other."""
    texts, interval = given.get("pieces"), given.get("interval", 0.05)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        refuse("pieces must be an array of texts")
    if not isinstance(interval, int | float) or not 0 <= interval <= 60:  # noqa: PLR2004 - a minute
        refuse("interval must be from 0 to 60 seconds")
    try:
        return tuple(Piece(interval * number, text.encode()) for number, text in enumerate(texts, 1) if text)
    except UnicodeEncodeError:
        refuse("a piece has half a character: cut before or after it")


def _parse(text: str | bytes, name: str) -> Any:  # noqa: ANN401 - JSON
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        refuse(f"{name} must be JSON")
