"""The kinds of repair as bits of one integer, which compiled code compares as machine words."""

from __future__ import annotations

from typing import Final

from jsontide.mend.options import RepairKind

KINDS: Final[list[RepairKind]] = list(RepairKind)

PROSE: Final = 0
FENCE: Final = 1
THINKING: Final = 2
TAG: Final = 3
CODE_BLOCK: Final = 4
SECOND_VALUE: Final = 5
EXTRA_CLOSER: Final = 6
CONTROL_CHARACTER: Final = 7
ESCAPE: Final = 8
QUOTES: Final = 9
COMMENT: Final = 10
LITERAL: Final = 11
NUMBER: Final = 12
SPACE: Final = 13
PUNCTUATION: Final = 14
TRAILING_COMMA: Final = 15
EXTRA_COMMA: Final = 16
MISSING_COMMA: Final = 17
UNQUOTED_KEY: Final = 18
MISSING_COLON: Final = 19
CONCATENATION: Final = 20
TUPLE: Final = 21
INNER_QUOTE: Final = 22
ELLIPSIS: Final = 23
TRUNCATED: Final = 24
UNQUOTED_STRING: Final = 25
ENUM: Final = 26
BOOLEAN: Final = 27
NUMBER_FORM: Final = 28
LIST: Final = 29
NESTED_JSON: Final = 30
ROOT: Final = 31
LOST_QUOTE: Final = 32
LINES: Final = 33


def bits_of(kinds: frozenset[RepairKind]) -> int:
    """Return the switches of some kinds."""
    return sum([1 << KINDS.index(kind) for kind in kinds])
