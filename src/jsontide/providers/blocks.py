"""What streams of blocks have in common, each named by its place: Anthropic's and Bedrock's.

In: a draft, the key of a block and what an event says about it. Out: notes on the draft.
The result of a tool that the provider ran is a block of its own there. It goes to the `ServerCall` that it answers, and
the call's `extra` keeps the rest of the block and its place, so that a request can give both back in their order.

Rule: what only the provider of a message understands (signatures, its own blocks) goes back to that one alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, ClassVar, Final

from jsontide._values import MISSING, JsonValue
from jsontide.messages.calls import BaseCall, CompleteCall, Part, PartialCall, ServerCall
from jsontide.messages.draft import NO_KEY, Draft
from jsontide.messages.message import Message
from jsontide.messages.options import ToolResult
from jsontide.messages.parts import File, Other, ReasoningPart, Refusal, TextPart
from jsontide.messages.types import Citation
from jsontide.providers.base import Form, Item, is_own, join_base64

RESULT_INDEX: Final = "result_index"
"""By which events name the block with the result of a call, in the `extra` of the call."""
RESULT_AFTER: Final = "result_after"
"""How many parts had begun before it."""
RESULT_BLOCK: Final = "result_block"
"""What its block had beside the result itself."""
DELTAS: Final = "deltas"
"""What events added to a block that is not known to have it, in its `extra`."""


def find_text(draft: Draft, key: int, begins: bool = False) -> int:
    """Return the index of the text of a block, which is added if there is none; -1 if there are too many parts.

    A text that begins without a key is another one than the text before it.
    """
    at = -1 if begins and key == NO_KEY else draft.find_at(key)
    if at >= 0 and isinstance(draft.part_at(at), TextPart):
        return at
    return draft.set_part(key, TextPart("", (), draft.count, True))


def find_reasoning(draft: Draft, key: int, begins: bool = False) -> int:
    """Return the index of the reasoning of a block, as `find_text` does."""
    at = -1 if begins and key == NO_KEY else draft.find_at(key)
    if at >= 0 and isinstance(draft.part_at(at), ReasoningPart):
        return at
    return draft.set_part(key, ReasoningPart("", None, False, None, draft.count, True))


def add_citations(draft: Draft, at: int, citations: list[Citation]) -> None:
    part = draft.part_at(at) if at >= 0 and citations else None
    if isinstance(part, TextPart):
        draft.update_part(at, citations=part._citations.add(citations))


def sign(draft: Draft, at: int, signature: str | None, is_piece: bool) -> None:
    """Note the signature of reasoning, or another piece of it."""
    part = draft.part_at(at) if at >= 0 and signature else None
    if isinstance(part, ReasoningPart):
        before = part.signature if is_piece else None
        draft.update_part(at, signature=(before or "") + (signature or ""))


def redact(draft: Draft, at: int, encrypted: str | None) -> None:
    """Note that the provider withholds reasoning, and more of what it gives instead."""
    part = draft.part_at(at) if at >= 0 else None
    if isinstance(part, ReasoningPart):
        draft.update_part(at, redacted=True, encrypted=join_base64(part.encrypted, encrypted))


def describe_call(draft: Draft, at: int, kind: str, extra: dict[str, JsonValue]) -> None:
    """Keep what stands in the block of a call, and its kind if the provider runs it."""
    if at >= 0 and isinstance(draft.part_at(at), ServerCall):
        draft.update_part(at, type=kind)
    draft.add_extra(at, extra)


def attach_result(draft: Draft, call_id: str | None, key: int, result: object, block: dict[str, JsonValue]) -> bool:
    """Give a call of the provider its result; return whether there is such a call, without a result."""
    at = _find_server_call(draft, call_id)
    if at < 0:
        return False
    part = draft.part_at(at)
    assert isinstance(part, ServerCall)
    count = draft.count
    place: dict[str, JsonValue] = {RESULT_INDEX: count if key == NO_KEY else key, RESULT_AFTER: count}
    extra: dict[str, JsonValue] = {**part.extra, **place, RESULT_BLOCK: block}
    status = block.get("status")
    draft.update_part(at, result=result, status=status if isinstance(status, str) else None, extra=extra)
    return True


def _find_server_call(draft: Draft, call_id: str | None) -> int:
    for part in reversed(draft.parts if call_id else []):
        if isinstance(part, ServerCall) and part.id == call_id and RESULT_BLOCK not in part.extra:
            return part.index
    return -1


def extend_result(draft: Draft, key: int, more: list[JsonValue]) -> bool:
    """Add to the result whose block has this key; return whether there is one."""
    for part in reversed(draft.parts):
        if isinstance(part, ServerCall) and part.extra.get(RESULT_INDEX) == key:
            before = part.result
            items = [] if before is MISSING else before if isinstance(before, list) else [before]
            draft.update_part(part.index, result=[*items, *more])
            return True
    return False


def merge_delta(draft: Draft, key: int, delta: dict[str, JsonValue], is_whole: bool) -> None:
    """Add what an event says about a block of a kind that is not known: texts go on, unless each is whole."""
    at = draft.find_at(key)
    part = draft.part_at(at) if at >= 0 else None
    if isinstance(part, Other):
        if isinstance(part.raw, dict):
            draft.update_part(at, raw=_merge(part.raw, delta, is_whole))
    elif part is not None:
        known = part.extra.get(DELTAS)
        before: list[JsonValue] = known if isinstance(known, list) else []
        draft.add_extra(at, {DELTAS: [*before, delta]})
    else:
        kind = delta.get("type")
        draft.set_part(key, Other(kind if isinstance(kind, str) else "", delta, False, draft.count, True))


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


def result_block(call: ServerCall) -> Item | None:
    """Return the block with what a tool that the provider ran returned, without the result itself."""
    block = call.extra.get(RESULT_BLOCK)
    return dict(block) if isinstance(block, dict) else None


class BlockForm(Form):
    """Writes content blocks: those of the parts, and between them the results of calls that the provider ran."""

    __slots__ = ()

    NAME: ClassVar[str]

    def write_message(self, message: Message) -> list[Item]:
        if is_own(message, type(self).NAME):
            content = self._write_own(message.parts)
        else:
            content = [block for part in message.parts if (block := self._write_foreign(part)) is not None]
        return [{"role": "assistant", "content": content}] if content else []

    def write_results(self, results: Sequence[ToolResult]) -> list[Item]:
        content = [self.write_result(result) for result in results]
        return [{"role": "user", "content": content}] if content else []

    def write_user(self, parts: Sequence[TextPart | File]) -> list[Item]:
        content = self.write_content(parts)
        return [{"role": "user", "content": content}] if content else []

    def join(self, items: list[Item]) -> list[Item]:
        """Roles must alternate; results of calls stand before anything else, which they do."""
        joined: list[Item] = []
        for item in items:
            if joined and joined[-1]["role"] == item["role"]:
                joined[-1] = {**joined[-1], "content": [*joined[-1]["content"], *item["content"]]}
            else:
                joined.append(item)
        return joined

    def select(self, parts: Sequence[Part]) -> Sequence[Part]:
        """Return the parts of the provider's own message that go back."""
        return parts

    def write_part(self, part: Part) -> Item | None:
        """Return the block of a part of the provider's own message; `None` for what the API would refuse."""
        raise NotImplementedError

    def write_call(self, call: BaseCall) -> Item:
        """Return the block of a call, as any provider's message has it."""
        raise NotImplementedError

    def write_server_result(self, call: ServerCall, block: Item) -> Item:
        """Return the block of a result, given what stands in it beside the result itself."""
        raise NotImplementedError

    def _write_own(self, parts: Sequence[Part]) -> list[Item]:
        """Write the blocks in the order in which they came."""
        blocks: list[tuple[int, int, int, Item]] = []
        last = 0
        for part in self.select(parts):
            block = self.write_part(part)
            if block is None:
                continue
            last = max(last, part.index)
            blocks.append((last, 1, 0, block))
            result = result_block(part) if isinstance(part, ServerCall) else None
            if isinstance(part, ServerCall) and result is not None:
                after, index = part.extra.get(RESULT_AFTER), part.extra.get(RESULT_INDEX)
                place = after if isinstance(after, int) else last + 1
                written = self.write_server_result(part, result)
                blocks.append((place, 0, index if isinstance(index, int) else 0, written))
        return [found[3] for found in sorted(blocks, key=itemgetter(0, 1, 2))]

    def _write_foreign(self, part: Part) -> Item | None:
        """Write what another provider's message has in common with this one's."""
        if isinstance(part, (CompleteCall, PartialCall)):
            return self.write_call(part)
        is_text = isinstance(part, (TextPart, Refusal)) and bool(part.text.strip())
        return self.write_text(part.text) if is_text and isinstance(part, (TextPart, Refusal)) else None
