"""A `ValidationError` of pydantic in, problems out: each thing that is wrong once, at its path.

pydantic lists the errors of each branch of a union, with the name of the branch as if it were part of the path.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from jsontide._path import Path, Segment
from jsontide._values import MISSING, JsonValue, Missing
from jsontide.schema._mismatch import MismatchReason
from jsontide.schema._validator import Problem, get_child

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

_REASONS: Final = {
    "missing": MismatchReason.MISSING_KEY,
    "missing_keyword_only_argument": MismatchReason.MISSING_KEY,
    "extra_forbidden": MismatchReason.UNKNOWN_KEY,
    "unexpected_keyword_argument": MismatchReason.UNKNOWN_KEY,
    "literal_error": MismatchReason.NOT_A_MEMBER,
    "enum": MismatchReason.NOT_A_MEMBER,
    "int_parsing": MismatchReason.WRONG_TYPE,
    "int_parsing_size": MismatchReason.WRONG_TYPE,
    "int_from_float": MismatchReason.WRONG_TYPE,
    "float_parsing": MismatchReason.WRONG_TYPE,
    "bool_parsing": MismatchReason.WRONG_TYPE,
    "union_tag_invalid": MismatchReason.NO_BRANCH,
    "union_tag_not_found": MismatchReason.NO_BRANCH,
    "too_short": MismatchReason.WRONG_LENGTH,
    "too_long": MismatchReason.WRONG_LENGTH,
}


class _Error(NamedTuple):
    """One error of pydantic; its location is the path, with the names of branches in it."""

    location: tuple[Segment, ...]
    reason: MismatchReason
    expected: str


def read_problems(error: ValidationError, value: JsonValue) -> tuple[Problem, ...]:
    """Return what is wrong with a value, each thing once."""
    details = error.errors(include_url=False, include_context=False, include_input=False)
    return tuple(_merge_branches([_read_error(each) for each in details], value))


def _read_error(error: ErrorDetails) -> _Error:
    reason = _REASONS.get(error["type"])
    if reason is None:
        reason = MismatchReason.WRONG_TYPE if error["type"].endswith("_type") else MismatchReason.INVALID
    return _Error(error["loc"], reason, _describe(error["msg"]))


def _merge_branches(errors: list[_Error], value: JsonValue) -> Iterator[Problem]:
    """Make one problem of the errors of all branches of a union, unless all but one are of another kind."""
    places = {place for place in (_union_place(each, value) for each in errors) if place is not None}
    unions: dict[Path, list[_Error]] = {}
    for each in errors:
        place = _find_prefix(places, each.location)
        unions.setdefault(each.location if place is None else place, []).append(each)
    for place, inner in unions.items():
        if place in places:
            yield from _merge_union(place, inner, value)
        else:
            yield from (Problem(each.location, each.reason, each.expected) for each in inner)


def _union_place(errors: _Error, value: JsonValue) -> Path | None:
    """Return the path of the first union in a location: what follows it, a branch, is not in the document."""
    at: JsonValue | Missing = value
    is_missing = errors.reason is MismatchReason.MISSING_KEY
    for number, segment in enumerate(errors.location[: -1 if is_missing else None]):
        at = get_child(at, segment)
        if at is MISSING:
            return errors.location[:number]
    return None


def _find_prefix(places: set[Path], location: tuple[Segment, ...]) -> Path | None:
    return next((location[:length] for length in range(len(location)) if location[:length] in places), None)


def _merge_union(place: Path, errors: list[_Error], value: JsonValue) -> Iterator[Problem]:
    depth = len(place)
    branches: dict[Segment, list[_Error]] = {}
    for each in errors:
        inner = each._replace(location=(*place, *each.location[depth + 1 :]))
        branches.setdefault(each.location[depth], []).append(inner)
    wrong = MismatchReason.WRONG_TYPE
    of_its_kind = [branch for branch in branches.values() if not any(each[:2] == (place, wrong) for each in branch)]
    if len(branches) == 1 or len(of_its_kind) == 1:
        yield from _merge_branches((of_its_kind or list(branches.values()))[0], value)
        return
    named = (f"{branch[0].expected} ({label})" for label, branch in branches.items())
    yield Problem(place, MismatchReason.NO_BRANCH if of_its_kind else wrong, " or ".join(named))


def _describe(message: str) -> str:
    """Turn a message about the input into what was expected."""
    for start, wanted in _SENTENCES.items():
        if message.startswith(start):
            return wanted + message.removeprefix(start)
    return f"a valid value ({message})"


_SENTENCES: Final[Mapping[str, str]] = {
    "Input should be ": "",
    "Field required": "a value",
    "String should ": "a string that should ",
    "List should ": "an array that should ",
    "Dictionary should ": "an object that should ",
    "Extra inputs are not permitted": "no other keys",
}
