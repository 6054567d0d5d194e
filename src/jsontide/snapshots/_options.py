"""Chunker options in, checked; the state before any snapshot out.

Never compiled: our own checks give better errors for a wrong option than compiled calls do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, TypedDict, Unpack, get_args

from jsontide._check import check_choices, check_count, check_switches
from jsontide.snapshots._state import SnapshotState, WriteFrame

OnConflict: TypeAlias = Literal["raise", "repair"]
KeyOrder: TypeAlias = Literal["any", "kept"]
Numbers: TypeAlias = Literal["whole", "grow"]
Empty: TypeAlias = Literal["early", "late"]
Nulls: TypeAlias = Literal["early", "late"]

_CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "on_conflict": get_args(OnConflict),
    "key_order": get_args(KeyOrder),
    "numbers": get_args(Numbers),
    "empty": get_args(Empty),
    "nulls": get_args(Nulls),
}


class ChunkChoices(TypedDict, total=False):
    """The options as keyword arguments; `JsonStreamChunker` explains them."""

    on_conflict: OnConflict
    key_order: KeyOrder
    numbers: Numbers
    empty: Empty
    nulls: Nulls
    max_wait: int | None
    ensure_ascii: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkOptions:
    """The options of one chunker, checked."""

    on_conflict: OnConflict = "raise"
    key_order: KeyOrder = "any"
    numbers: Numbers = "whole"
    empty: Empty = "early"
    nulls: Nulls = "early"
    max_wait: int | None = None
    ensure_ascii: bool = False

    def __post_init__(self) -> None:
        check_choices(self, _CHOICES)
        check_switches(self, "ensure_ascii")
        if self.max_wait is not None:
            check_count("max_wait", self.max_wait, "an int or None")


def start_snapshots(**options: Unpack[ChunkChoices]) -> SnapshotState:
    """Return the state before any snapshot; takes the options of `JsonStreamChunker`."""
    document = WriteFrame(0, is_object=False, start=0, waiting={})
    return SnapshotState(ChunkOptions(**options), (document,), [])
