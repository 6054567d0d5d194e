"""A node and a scalar in, the value to show out, or why it fits no variant.

A string is checked as if its characters came one by one: each variant is ruled out at an *offset*, the length of the
shortest beginning that cannot become this variant; the kind of a value shows at its first character, offset 0.
The variant that is ruled out last says what is wrong.
So a whole string gives the same result as its pieces, however they were cut.
"""

from __future__ import annotations

import json
from typing import Final

from jsontide._values import MISSING, JsonValue
from jsontide.schema._mismatch import MismatchReason, shorten
from jsontide.schema._validator import Memory, Violation
from jsontide.schema._variants import (
    EnumVariant,
    Kind,
    ScalarVariant,
    SchemaNode,
    Variant,
    get_kind,
    is_integral,
    is_same_json,
)
from jsontide.tree.log import OpenScalar

_AT_THE_END: Final = 1 << 62
"""The offset of what shows only when a value closes."""


class ScalarMismatch:
    """Why a scalar fits no variant of a node, and after how many characters that was certain."""

    __slots__ = ("expected", "found", "offset", "reason", "was_shown")

    def __init__(
        self, offset: int, reason: MismatchReason, expected: str, found: str, *, was_shown: bool = False
    ) -> None:
        self.offset = offset
        self.reason = reason
        self.expected = expected
        self.found = found
        self.was_shown = was_shown  # the string grew in view, and stays


def check_scalar(node: SchemaNode, value: JsonValue, memory: Memory) -> tuple[JsonValue, ScalarMismatch | None]:
    """Return what to show of a closed scalar, and why it does not fit, if it does not."""
    if type(value) in node.free:
        return value, None
    kind = get_kind(value)
    problem: Violation | None = None
    for variant in node.by_kind[kind]:
        if _is_member(variant, value):
            problems = () if variant.check is None else variant.check.find_problems(value, memory)
            if not problems:
                return _convert_integer(variant, value), None
            problem = problems[0]
    if kind not in node.plain:
        for variant in node.variants:
            converted = MISSING if variant.converter is None else variant.converter.convert(value)
            if converted is not MISSING:
                return (converted if get_kind(converted) in variant.kinds else value), None
    return None, _explain_closed(node, kind, value, problem)


def check_open_scalar(node: SchemaNode, kind: Kind, text: str) -> ScalarMismatch | None:
    """Return why an open scalar can fit no variant, if that is certain; `text` is the beginning of a string."""
    offsets = [_find_offset(node, variant, kind, text) for variant in node.variants]
    if any(offset > len(text) for offset in offsets):
        return None
    if not any(offsets):
        return ScalarMismatch(0, MismatchReason.WRONG_TYPE, node.expected, f"a {kind}" if kind != "null" else kind)
    return _explain_prefix(node, offsets, text)


def open_variants(node: SchemaNode, text: str) -> list[Variant]:
    """Return the variants that an open string can still become."""
    return [variant for variant in node.variants if _find_offset(node, variant, "string", text) > len(text)]


def read_beginning(scalar: OpenScalar, length: int) -> str:
    """Return the beginning of an open string as far as it has come, at most `length` + 1 characters."""
    return scalar.beginning(length + 1)


def _is_member(variant: Variant, value: JsonValue) -> bool:
    if isinstance(variant, EnumVariant):
        return value in variant.texts or any(is_same_json(member, value) for member in variant.members)
    if not isinstance(variant, ScalarVariant) or not variant.is_integer or isinstance(value, int):
        return True
    return is_integral(value) if variant.converter is None else variant.converter.convert(value) is not MISSING


def _convert_integer(variant: Variant, value: JsonValue) -> JsonValue:
    """Return an integer for 1.0 where the validator converts it; one of `int | float` leaves it as it is."""
    if (
        isinstance(value, float)
        and variant.converter is not None
        and isinstance(variant, ScalarVariant)
        and variant.is_integer
    ):
        converted = variant.converter.convert(value)
        return value if converted is MISSING else converted
    return value


def _explain_closed(node: SchemaNode, kind: Kind, value: JsonValue, problem: Violation | None) -> ScalarMismatch:
    """Say why a closed scalar does not fit the variant that was ruled out last."""
    text = value if isinstance(value, str) else ""
    offsets = [_find_offset(node, variant, kind, text) for variant in node.variants]
    latest = max(offsets, default=0)
    if latest == 0:
        return ScalarMismatch(0, MismatchReason.WRONG_TYPE, node.expected, shorten(value))
    if latest < _AT_THE_END:
        return _explain_prefix(node, offsets, text)
    last = [variant for variant, offset in zip(node.variants, offsets, strict=True) if offset == latest]
    if len(last) > 1:
        is_of_their_kind = any(kind in variant.kinds for variant in last)
        reason = MismatchReason.NO_BRANCH if is_of_their_kind else MismatchReason.WRONG_TYPE
        return ScalarMismatch(latest, reason, node.expected, shorten(value))
    variant = last[0]
    if kind not in variant.kinds or (problem is None and not isinstance(variant, EnumVariant)):
        return ScalarMismatch(latest, MismatchReason.WRONG_TYPE, variant.expected, shorten(value))
    if problem is None:
        return ScalarMismatch(latest, MismatchReason.NOT_A_MEMBER, variant.expected, shorten(value))
    is_undecided = problem.reason is MismatchReason.TOO_COMPLEX
    reason = problem.reason if is_undecided else MismatchReason.INVALID
    return ScalarMismatch(latest, reason, problem.expected, shorten(value), was_shown=node.lets_grow(last))


def _explain_prefix(node: SchemaNode, offsets: list[int], text: str) -> ScalarMismatch:
    """Say why a string cannot continue as it begins."""
    latest = max(offsets)
    last = [variant for variant, offset in zip(node.variants, offsets, strict=True) if offset == latest]
    found = f"a string that begins with {json.dumps(text[:latest], ensure_ascii=False)}"
    if len(last) > 1:
        return ScalarMismatch(latest, MismatchReason.NO_BRANCH, node.expected, found)
    return ScalarMismatch(latest, MismatchReason.NOT_A_MEMBER, last[0].expected, found)


def _find_offset(node: SchemaNode, variant: Variant, kind: Kind, text: str) -> int:
    """Return after how many characters a variant is ruled out."""
    if kind not in variant.kinds:
        return 0 if variant.converter is None or kind in node.plain else _AT_THE_END
    if not isinstance(variant, EnumVariant) or kind != "string" or variant.converter is not None:
        return _AT_THE_END
    left = variant.texts
    for offset in range(1, min(len(text), variant.longest + 1) + 1):
        begin = text[:offset]
        left = tuple(member for member in left if member.startswith(begin))
        if not left:
            return offset
    return _AT_THE_END
