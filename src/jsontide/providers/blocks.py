"""What streams of blocks have in common, each named by its place: Anthropic's and Bedrock's.

In: a draft, the key of a block and what an event says about it. Out: notes on the draft.
The result of a tool that the provider ran is a block of its own there. It goes to the `ServerCall` that it answers, and
the call's `extra` keeps the rest of the block and its place, so that a request can give both back in their order.

Rule: what only the provider of a message understands (signatures, its own blocks) goes back to that one alone.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Mapping
from operator import itemgetter
from typing import Any, Final

from jsontide._values import MISSING, JsonValue
from jsontide.messages.calls import BaseCall, Part, ServerCall
from jsontide.messages.draft import NO_KEY, Draft
from jsontide.messages.parts import BasePart, Other, ReasoningPart, TextPart
from jsontide.messages.record import replace
from jsontide.messages.types import Citation
from jsontide.providers.base import Item, plain

RESULT_INDEX: Final = "result_index"
"""By which events name the block with the result of a call, in the `extra` of the call."""
RESULT_AFTER: Final = "result_after"
"""How many parts had begun before it."""
RESULT_BLOCK: Final = "result_block"
"""What its block had beside the result itself."""
DELTAS: Final = "deltas"
"""What events added to a block that is not known to have it, in its `extra`."""


def find_block(draft: Draft, key: int) -> int:
    """Return the place of the part of a block, that of the last part if the block is not named; -1 for none."""
    count = draft.place_of(NO_KEY)
    at = count - 1 if key == NO_KEY else draft.place_of(key)
    return at if at < count else -1


def add_part(draft: Draft, key: int, part: BasePart) -> int:
    """Add a part, and return its place; -1 if there are too many already."""
    draft.put(key, part)
    return part.index if part.index < draft.place_of(NO_KEY) else -1


def find_text(draft: Draft, key: int) -> int:
    """Return the place of the text of a block, which begins with this if there is none; -1 if there are too many."""
    at = find_block(draft, key)
    if at >= 0 and isinstance(draft.part_at(at), TextPart):
        return at
    return add_part(draft, key, TextPart("", (), draft.place_of(NO_KEY), True))


def find_reasoning(draft: Draft, key: int) -> int:
    """Return the place of the reasoning of a block, as `find_text` does."""
    at = find_block(draft, key)
    if at >= 0 and isinstance(draft.part_at(at), ReasoningPart):
        return at
    return add_part(draft, key, ReasoningPart("", None, False, None, draft.place_of(NO_KEY), True))


def begin_text(draft: Draft, key: int) -> int:
    """Return the place of a text that begins; without a key, it is another than the text before it."""
    if key != NO_KEY:
        return find_text(draft, key)
    return add_part(draft, key, TextPart("", (), draft.place_of(NO_KEY), True))


def begin_reasoning(draft: Draft, key: int) -> int:
    """Return the place of reasoning that begins."""
    if key != NO_KEY:
        return find_reasoning(draft, key)
    return add_part(draft, key, ReasoningPart("", None, False, None, draft.place_of(NO_KEY), True))


def add_citations(draft: Draft, at: int, citations: list[Citation]) -> None:
    if at < 0 or not citations:
        return
    part = draft.part_at(at)
    if isinstance(part, TextPart):
        draft.describe(at, replace(part, citations=part._citations.add(citations)))


def sign(draft: Draft, at: int, signature: str | None, is_piece: bool) -> None:
    """Note the signature of reasoning, or another piece of it."""
    if at < 0 or not signature:
        return
    part = draft.part_at(at)
    if isinstance(part, ReasoningPart):
        before = part.signature if is_piece else None
        draft.describe(at, replace(part, signature=(before or "") + signature))


def redact(draft: Draft, at: int, encrypted: str | None) -> None:
    """Note that the provider withholds reasoning, and more of what it gives instead."""
    if at < 0:
        return
    part = draft.part_at(at)
    if isinstance(part, ReasoningPart):
        draft.describe(at, replace(part, redacted=True, encrypted=join_base64(part.encrypted, encrypted)))


def join_base64(before: str | None, more: str | None) -> str | None:
    """Return two pieces of binary data as one."""
    if not before or not more:
        return before or more
    if not before.endswith("="):
        return before + more
    try:
        return b64encode(b64decode(before) + b64decode(more)).decode()
    except (Error, ValueError):
        return before + more


def rest_of(block: dict[str, Any], known: frozenset[str]) -> dict[str, JsonValue]:
    """Return the fields of a block that no field of a part holds."""
    rest: dict[str, JsonValue] = {}
    for name, value in block.items():
        if name not in known and value is not None and not name.startswith("_"):
            rest[name] = plain(value)
    return rest


def add_extra(draft: Draft, at: int, extra: dict[str, JsonValue]) -> None:
    """Keep what no field holds with the part at a place."""
    if extra and 0 <= at < draft.place_of(NO_KEY):
        part = draft.part_at(at)
        known = part.extra
        merged = {**known, **extra}
        if merged != known:  # some servers say the same with every delta
            draft.describe(at, replace(part, extra=merged))


def describe_server_call(draft: Draft, at: int, kind: str, extra: dict[str, JsonValue]) -> None:
    """Note what kind of tool the provider runs."""
    if 0 <= at < draft.place_of(NO_KEY):
        part = draft.part_at(at)
        if isinstance(part, ServerCall):
            draft.describe(at, replace(part, type=kind, extra={**part.extra, **extra}))


def keep_metadata(draft: Draft, fields: dict[str, Any], known: frozenset[str]) -> None:
    """Keep the fields of an event that say nothing about its parts."""
    for name, value in fields.items():
        if name not in known and value is not None and not name.startswith("_"):
            draft.set_metadata(name, plain(value))


def attach_result(draft: Draft, call_id: str | None, key: int, result: object, block: dict[str, JsonValue]) -> bool:
    """Give a call of the provider its result; return whether there is such a call, without a result."""
    at = _find_server_call(draft, call_id)
    if at < 0:
        return False
    part = draft.part_at(at)
    assert isinstance(part, ServerCall)
    count = draft.place_of(NO_KEY)
    place: dict[str, JsonValue] = {RESULT_INDEX: count if key == NO_KEY else key, RESULT_AFTER: count}
    extra: dict[str, JsonValue] = {**part.extra, **place, RESULT_BLOCK: block}
    status = block.get("status")
    draft.describe(at, replace(part, result=result, status=status if isinstance(status, str) else None, extra=extra))
    return True


def _find_server_call(draft: Draft, call_id: str | None) -> int:
    at = draft.place_of(NO_KEY) - 1 if call_id else -1
    while at >= 0:
        part = draft.part_at(at)
        if isinstance(part, ServerCall) and part.id == call_id and RESULT_BLOCK not in part.extra:
            return at
        at -= 1
    return -1


def extend_result(draft: Draft, key: int, more: list[JsonValue]) -> bool:
    """Add to the result whose block has this key; return whether there is one."""
    at = draft.place_of(NO_KEY) - 1
    while at >= 0:
        part = draft.part_at(at)
        if isinstance(part, ServerCall) and part.extra.get(RESULT_INDEX) == key:
            before = part.result
            items = [] if before is MISSING else before if isinstance(before, list) else [before]
            draft.describe(at, replace(part, result=[*items, *more]))
            return True
        at -= 1
    return False


def merge_delta(draft: Draft, key: int, delta: dict[str, JsonValue], is_whole: bool) -> None:
    """Add what an event says about a block of a kind that is not known: texts go on, unless each is whole."""
    at = find_block(draft, key)
    part = draft.part_at(at) if at >= 0 else None
    if isinstance(part, Other):
        raw = part.raw
        if isinstance(raw, dict):
            draft.describe(at, replace(part, raw=_merge(raw, delta, is_whole)))
    elif part is not None:
        known = part.extra.get(DELTAS)
        before: list[JsonValue] = known if isinstance(known, list) else []
        add_extra(draft, at, {DELTAS: [*before, delta]})
    else:
        kind = delta.get("type")
        draft.put(key, Other(kind if isinstance(kind, str) else "", delta, False, draft.place_of(NO_KEY), True))


def _merge(raw: dict[str, JsonValue], delta: dict[str, JsonValue], is_whole: bool) -> dict[str, JsonValue]:
    merged = dict(raw)
    for name, value in delta.items():
        before = merged.get(name)
        if name == "type" or value is None:
            continue
        if isinstance(before, str) and isinstance(value, str) and not is_whole:
            merged[name] = before + value
        elif isinstance(before, list) and isinstance(value, list) and not is_whole:
            merged[name] = [*before, *value]
        else:
            merged[name] = value
    return merged


_NOT_IN_IDS: Final = re.compile("[^a-zA-Z0-9_-]")
_OURS: Final = frozenset((DELTAS, RESULT_AFTER, RESULT_BLOCK, RESULT_INDEX))


def block_id(call: BaseCall) -> str:
    """Return the id of a call, in the letters that ids may have; its place stands for a missing one."""
    return _NOT_IN_IDS.sub("_", call.id) if call.id else f"call_{call.index}"


def extra_of(extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a provider wrote beside the fields that are known."""
    return {name: value for name, value in extra.items() if name not in _OURS}


class BlockList:
    """The blocks of a message: those of its parts, and between them the results of calls that the provider ran."""

    __slots__ = ("_blocks", "_last")

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
        return [found[3] for found in sorted(self._blocks, key=itemgetter(0, 1, 2))]


def result_block(call: ServerCall) -> Item | None:
    """Return the block with what a tool that the provider ran returned, without the result itself."""
    block = call.extra.get(RESULT_BLOCK)
    return dict(block) if isinstance(block, dict) else None
