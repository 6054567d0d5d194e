"""What an accumulator raises when it was asked to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsontide._errors import JsonStreamError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jsontide._errors import ParserError
    from jsontide.events._update import JsonFragmentUpdate


class JsonFragmentError(JsonStreamError):
    """Fragments of text were not JSON; `updates` tells what the last of them held before the place."""

    def __init__(self, error: ParserError, updates: Sequence[JsonFragmentUpdate]) -> None:
        super().__init__(error)
        self.args = (error, updates)
        self.updates = list(updates)
