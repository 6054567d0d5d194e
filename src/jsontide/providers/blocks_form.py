"""What request forms of content blocks have in common: Anthropic's and Bedrock's.

Rule: what only the provider of a message understands (signatures, its own blocks) goes back to that one alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from jsontide.messages.calls import BaseCall, ServerCall
from jsontide.providers.blocks import DELTAS, RESULT_AFTER, RESULT_BLOCK, RESULT_INDEX

if TYPE_CHECKING:
    from jsontide.messages import Part
    from jsontide.providers.form import Item

_NOT_IN_IDS: Final = re.compile("[^a-zA-Z0-9_-]")
_OURS: Final = frozenset((DELTAS, RESULT_AFTER, RESULT_BLOCK, RESULT_INDEX))


def id_of(call: BaseCall) -> str:
    """Return the id of a call, in the letters that ids may have; calls without one are told apart by their place."""
    return _NOT_IN_IDS.sub("_", call.id) if call.id else f"call_{call.index}"


def extra_of(extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a provider wrote beside the fields that are known."""
    return {name: value for name, value in extra.items() if name not in _OURS}


class BlockList:
    """The blocks of a message: those of its parts, and between them the results of calls that the provider ran."""

    def __init__(self) -> None:
        self._blocks: list[tuple[int, int, int, Item]] = []
        self._last = 0

    def add(self, part: Part, block: Item) -> None:
        """Add the block of a part, after those of the parts before it."""
        self._last = max(self._last, part.index)
        self._blocks.append((self._last, 1, 0, block))

    def add_result(self, call: ServerCall, block: Item) -> None:
        """Add the block with the result of a call, where it came."""
        after, index = call.extra.get(RESULT_AFTER), call.extra.get(RESULT_INDEX)
        place = after if isinstance(after, int) else self._last + 1
        self._blocks.append((place, 0, index if isinstance(index, int) else 0, block))

    def in_order(self) -> list[Item]:
        return [block for *_, block in sorted(self._blocks, key=itemgetter(0, 1, 2))]


def result_of(call: ServerCall) -> Item | None:
    """Return the block with what a tool that the provider ran returned, without the result itself."""
    block = call.extra.get(RESULT_BLOCK)
    return dict(block) if isinstance(block, dict) else None
