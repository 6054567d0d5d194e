"""A shape and a scalar in, what becomes of it out: a value to show, or why it fits no form.

A string is judged as if its characters came one by one: each form that it cannot take is ruled out at an *offset*,
the length of the shortest beginning that shows it; the kind of a value shows at its first character, offset 0.
The last form that is left says what is wrong.
So the verdict on a whole string is the one that its pieces lead to, however they were cut.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, cast

from jsontide._values import MISSING
from jsontide.schema._keywords import short
from jsontide.schema._mismatch import MismatchReason
from jsontide.schema._shapes import EnumForm, Form, Kind, ScalarForm, Shape, is_integral, is_same_json, kind_of

if TYPE_CHECKING:
    from jsontide._values import JsonValue
    from jsontide.schema._memory import Memory
    from jsontide.schema._validator import Problem
    from jsontide.tree.log import OpenScalar

_AT_THE_END: Final = 1 << 62
"""The offset of what shows when a value closes."""


class Refusal:
    """Why a scalar fits no form of a shape, and after how many characters that was certain."""

    __slots__ = ("expected", "found", "offset", "reason", "was_shown")

    def __init__(
        self, offset: int, reason: MismatchReason, expected: str, found: str, *, was_shown: bool = False
    ) -> None:
        self.offset = offset
        self.reason = reason
        self.expected = expected
        self.found = found
        self.was_shown = was_shown  # it was a growing string, and what was shown stays


def judge(shape: Shape, value: JsonValue, memory: Memory) -> tuple[JsonValue, Refusal | None]:
    """Return what to show of a closed scalar, and why it is not to be shown."""
    if type(value) in shape.free:
        return value, None
    kind = kind_of(value)
    problem: Problem | None = None
    for form in shape.by_kind[kind]:
        if _is_member(form, value):
            problems = () if form.check is None else form.check.problems(value, memory)
            if not problems:
                return _shown(form, value), None
            problem = problems[0]
    if kind not in shape.plain:
        for form in shape.forms:
            converted = MISSING if form.converter is None else form.converter.converted(value)
            if converted is not MISSING:
                return (converted if kind_of(converted) in form.kinds else value), None
    return None, _refusal(shape, kind, value, problem)


def judge_open(shape: Shape, kind: Kind, text: str) -> Refusal | None:
    """Return why an open scalar can fit no form, if that is certain; `text` is how a string begins."""
    offsets = [_offset(shape, form, kind, text) for form in shape.forms]
    if any(offset > len(text) for offset in offsets):
        return None
    if not any(offsets):
        return Refusal(0, MismatchReason.WRONG_TYPE, shape.expected, f"a {kind}" if kind != "null" else kind)
    return _by_prefix(shape, offsets, text)


def open_forms(shape: Shape, text: str) -> list[Form]:
    """Return the forms that an open string can still take."""
    return [form for form in shape.forms if _offset(shape, form, "string", text) > len(text)]


def shows_growing(shape: Shape, forms: list[Form]) -> bool:
    """Tell whether an open string that can take these forms may be shown."""
    return (
        shape.policy == "grow" and len(forms) == 1 and not isinstance(forms[0], EnumForm) and "string" in forms[0].kinds
    )


def beginning(scalar: OpenScalar, length: int) -> str:
    """Return the first characters of an open string, as far as they are there: one more than `length`."""
    text = ""
    for at in range(scalar.piece_count if length >= 0 else 0):
        text += scalar.pieces[at]
        if len(text) > length:
            return text[: length + 1]
    return text


def _is_member(form: Form, value: JsonValue) -> bool:
    if isinstance(form, EnumForm):
        return value in form.texts or any(is_same_json(member, value) for member in form.members)
    if not isinstance(form, ScalarForm) or not form.is_integer or isinstance(value, int):
        return True
    return is_integral(value) if form.converter is None else form.converter.converted(value) is not MISSING


def _shown(form: Form, value: JsonValue) -> JsonValue:
    """Return an integer for 1.0 where the validator makes one of it."""
    if isinstance(value, float) and form.converter is not None and isinstance(form, ScalarForm) and form.is_integer:
        return cast("int", form.converter.converted(value))
    return value


def _refusal(shape: Shape, kind: Kind, value: JsonValue, problem: Problem | None) -> Refusal:
    """Say why a closed scalar does not fit, as the last of its forms does."""
    text = value if isinstance(value, str) else ""
    offsets = [_offset(shape, form, kind, text) for form in shape.forms]
    latest = max(offsets, default=0)
    if latest == 0:
        return Refusal(0, MismatchReason.WRONG_TYPE, shape.expected, short(value))
    if latest < _AT_THE_END:
        return _by_prefix(shape, offsets, text)
    last = [form for form, offset in zip(shape.forms, offsets, strict=True) if offset == latest]
    if len(last) > 1:
        is_of_their_kind = any(kind in form.kinds for form in last)
        reason = MismatchReason.NO_BRANCH if is_of_their_kind else MismatchReason.WRONG_TYPE
        return Refusal(latest, reason, shape.expected, short(value))
    form = last[0]
    if kind not in form.kinds or (problem is None and not isinstance(form, EnumForm)):
        return Refusal(latest, MismatchReason.WRONG_TYPE, form.expected, short(value))
    if problem is None:
        return Refusal(latest, MismatchReason.NOT_A_MEMBER, form.expected, short(value))
    is_undecided = problem.reason is MismatchReason.TOO_COMPLEX
    reason = problem.reason if is_undecided else MismatchReason.INVALID
    return Refusal(latest, reason, problem.expected, short(value), was_shown=shows_growing(shape, last))


def _by_prefix(shape: Shape, offsets: list[int], text: str) -> Refusal:
    """Say why a string cannot go on as it begins."""
    latest = max(offsets)
    last = [form for form, offset in zip(shape.forms, offsets, strict=True) if offset == latest]
    found = f"a string that begins with {json.dumps(text[:latest], ensure_ascii=False)}"
    if len(last) > 1:
        return Refusal(latest, MismatchReason.NO_BRANCH, shape.expected, found)
    return Refusal(latest, MismatchReason.NOT_A_MEMBER, last[0].expected, found)


def _offset(shape: Shape, form: Form, kind: Kind, text: str) -> int:
    """Return how many characters show that a form is not taken."""
    if kind not in form.kinds:
        return 0 if form.converter is None or kind in shape.plain else _AT_THE_END
    if not isinstance(form, EnumForm) or kind != "string" or form.converter is not None:
        return _AT_THE_END
    left = form.texts
    for offset in range(1, min(len(text), form.longest + 1) + 1):
        begin = text[:offset]
        left = tuple(member for member in left if member.startswith(begin))
        if not left:
            return offset
    return _AT_THE_END
