"""What the scanner tells, and to whom: the narrow waist between the text and all that is made of it.

The scanner calls a method when something is certain, in the order of the text.
A stage (tree, events) implements them and remembers what it needs; it never looks at the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_extensions import i64

    from jsontide._errors import Reason
    from jsontide._path import Path, PathLink


class Sink:
    """Takes tokens; what is opened here is closed here, in proper nesting."""

    __slots__ = ()

    def open_object(self) -> None:
        raise NotImplementedError

    def open_array(self) -> None:
        raise NotImplementedError

    def close_container(self) -> i64:
        """Leave the innermost container; return the mode after a value in the one around it."""
        raise NotImplementedError

    def key(self, text: str) -> Reason | None:
        """Take a whole key, or say why not."""
        raise NotImplementedError

    def string(self, text: str) -> None:
        """Take a whole string value."""
        raise NotImplementedError

    def number(self, lexeme: str, is_integer: bool) -> Reason | None:
        """Take a whole number, or say why not; an integer has neither fraction nor exponent."""
        raise NotImplementedError

    def literal(self, word: str) -> None:
        """Take `true`, `false` or `null`."""
        raise NotImplementedError

    def path(self) -> Path | PathLink:
        """Tell where the text stands now, for an error; a link, where there may be many of them."""
        raise NotImplementedError
