"""Which characters stand for themselves in a JSON string, told twice: a search in C is faster when interpreted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_extensions import i64

match_plain: Final = cast("Callable[[str, int], re.Match[str]]", re.compile(r'[^"\\\x00-\x1f]*').match)
"""Match those that do, none or more, from a place in a text on."""


def plain_end(text: str, i: i64) -> i64:
    r"""Return where the characters from `i` on stop standing for themselves: quote, backslash, control character, end.

    >>> plain_end('Kyōto", ', 0), plain_end(r"a\n", 0), plain_end("all", 0)
    (5, 1, 3)
    """
    n: i64 = len(text)
    while i < n:
        code: i64 = ord(text[i])
        if code < 32 or code == 34 or code == 92:
            return i
        i += 1
    return n
