"""Which characters stand for themselves in a JSON string."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from jsontide.text._build import COMPILED

if TYPE_CHECKING:
    from mypy_extensions import i64

_CONTROL: Final = re.compile(r"[\x00-\x1f]")


def is_plain(text: str) -> bool:
    r"""Tell whether all of a text stands for itself: no quote, no backslash, no control character.

    >>> is_plain("Kyōto"), is_plain(r"\n"), is_plain("a\tb")
    (True, False, False)
    """
    if COMPILED:
        i: i64 = 0
        n: i64 = len(text)
        while i < n:
            code: i64 = ord(text[i])
            if code < 32 or code == 34 or code == 92:
                return False
            i += 1
        return True
    # Interpreted, a few searches in C are faster than a loop.
    return '"' not in text and "\\" not in text and (text.isprintable() or _CONTROL.search(text) is None)
