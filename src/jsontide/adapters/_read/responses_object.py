"""The response of OpenAI Responses that events at the beginning and at the end have: all that is known so far.

In: the response. Out: notes on a draft about the message as a whole, and about what no other event said of its items.
Rule: what a response repeats of its request is no part of the message.
"""

from __future__ import annotations

from typing import Any, Final

from jsontide.adapters._read.fields import as_dict, count_of, created_of, dict_of, is_object, list_of, plain, text_of
from jsontide.adapters._read.responses_items import CALLS, CUSTOM, Items, is_cut_off, status_of, written_arguments
from jsontide.adapters._read.responses_texts import item_key, output_of_key
from jsontide.messages.calls import CompleteCall, PartialCall
from jsontide.messages.draft import NO_INDEX, CallDelta, Draft
from jsontide.messages.parts import ReasoningPart, Refusal, TextPart
from jsontide.messages.types import Usage

_OF_REQUEST: Final = frozenset(
    (
        "background",
        "frequency_penalty",
        "include",
        "instructions",
        "max_output_tokens",
        "max_tool_calls",
        "metadata",
        "parallel_tool_calls",
        "presence_penalty",
        "previous_response_id",
        "prompt",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "reasoning",
        "safety_identifier",
        "store",
        "stream",
        "stream_options",
        "temperature",
        "text",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "truncation",
        "user",
    )
)
"""What a response repeats of the request."""
_OF_RESPONSE: Final = frozenset(("created_at", "id", "model", "object", "output", "output_parsed", "status", "usage"))
"""What has a place of its own."""
_CONTRADICTED: Final = "the text is not what its deltas said"
_INCOMPLETE: Final = {
    "": "length",
    "content_filter": "content_filter",
    "max_messages": "length",
    "max_output_tokens": "length",
    "max_tokens": "length",
    "steered": "length",
}
"""Why a response is incomplete, in one vocabulary; after an unknown word, nothing can be run."""


def read_tools(items: Items, response: dict[str, Any]) -> None:
    """Note which custom tools are the caller's, and where commands run: a response repeats the tools of its request."""
    if not isinstance(response.get("tools"), (list, tuple)):
        return
    tools = [as_dict(tool) for tool in list_of(response, "tools")]
    for group in tools[:]:
        if text_of(group, "type") == "namespace":
            tools += [as_dict(tool) for tool in list_of(group, "tools")]
    kinds = [text_of(tool, "type") for tool in tools]
    declared = frozenset([text_of(tool, "name") or "" for tool in tools if text_of(tool, "type") == "custom"])
    # A search may load others, so with one of these nothing is known.
    found = None if "tool_search" in kinds else declared
    if found != items.declared:
        items.declared = found
    for tool in tools:
        if text_of(tool, "type") == "shell":
            items.in_container = (text_of(dict_of(tool, "environment"), "type") or "").startswith("container")


def read_response(draft: Draft, response: dict[str, Any]) -> None:
    """Note what a response says about itself."""
    created = created_of(response.get("created_at"))
    draft.identify(text_of(response, "id"), text_of(response, "model"), created, "openai_responses")
    for name, value in response.items():
        if value is not None and name not in _OF_REQUEST and name not in _OF_RESPONSE:
            draft.set_metadata(name, plain(value))
    usage = response.get("usage")
    if usage is not None:
        draft.set_usage(read_usage(as_dict(usage)))


def read_usage(usage: dict[str, Any]) -> Usage:
    """Return what a message cost."""
    details, output = dict_of(usage, "input_tokens_details"), dict_of(usage, "output_tokens_details")
    raw = plain(usage)
    return Usage(
        input_tokens=count_of(usage, "input_tokens"),
        output_tokens=count_of(usage, "output_tokens"),
        total_tokens=count_of(usage, "total_tokens"),
        cached_tokens=count_of(details, "cached_tokens"),
        cache_write_tokens=count_of(details, "cache_write_tokens"),
        reasoning_tokens=count_of(output, "reasoning_tokens"),
        raw=raw if isinstance(raw, dict) else {},
    )


def read_end(items: Items, kind: str, response: dict[str, Any]) -> None:
    """Note how a response ended, by its status more than by its name."""
    draft, status = items.draft, status_of(response)
    read_response(draft, response)
    if kind == "response.failed" or status in ("failed", "cancelled"):
        draft.fail(text_of(dict_of(response, "error"), "message") or "the response failed")
        return
    _read_output(items, [as_dict(item) for item in list_of(response, "output")])
    if items.is_contradicted:
        draft.fail(_CONTRADICTED)
    elif kind == "response.incomplete" or status == "incomplete":
        why = text_of(dict_of(response, "incomplete_details"), "reason")
        draft.finish(_INCOMPLETE.get(why or "", why), why or status)
    else:
        draft.finish("stop" if status == "completed" else status, status)


def _read_output(items: Items, output: list[dict[str, Any]]) -> None:
    """Note what the end repeats: of some items, no other event may have said that they were cut off, or all they hold.

    Items are found by their ids, as some servers count them otherwise here. One that is not found is taken only if
    nothing of its kind came before: some servers give it another id.
    """
    draft, known = items.draft, _find_known(items)
    before = [draft.part_at(at) for at in range(draft.count)]
    has_text = any([isinstance(part, (TextPart, Refusal)) for part in before])
    has_thought = any([isinstance(part, ReasoningPart) for part in before])
    has_call = any([isinstance(part, (PartialCall, CompleteCall)) for part in before])
    for at, item in enumerate(output):
        kind, item_id = text_of(item, "type") or "message", text_of(item, "id") or ""
        if kind in CALLS:
            _repeat_call(items, at, item, has_call)
            continue
        place = known.get(item_id, NO_INDEX)
        if item_id not in known:
            is_there = draft.find(item_key(at)) is not None
            if not (has_text if kind == "message" else has_thought if kind == "reasoning" else is_there):
                place = at
        if place != NO_INDEX:
            items.read_item(place, item, True)


def _find_known(items: Items) -> dict[str, int]:
    """Return the outputs of the items that have ids, `NO_INDEX` for those that were done.

    What came with an item that was done is to be sent back: at the end it may be encrypted once more.
    """
    draft = items.draft
    known: dict[str, int] = {}
    for at in range(draft.count):
        part, output = draft.part_at(at), output_of_key(draft.key_at(at))
        if part.item_id:
            is_done = not part.is_open and output not in items.labels
            known[part.item_id] = known.get(part.item_id, NO_INDEX) if is_done else output
    return known


def _repeat_call(items: Items, at: int, item: dict[str, Any], has_call: bool) -> None:
    """Note a call for the one that has its id; where other calls came before, it begins none that has a name."""
    call_id, cut_off = text_of(item, "call_id"), is_cut_off(item)
    if not cut_off and (not call_id or not (item.get("arguments") or item.get("input"))):
        return
    delta = CallDelta(
        NO_INDEX if call_id else at,
        call_id,
        text_of(item, "name") if cut_off or not has_call else None,
        None if cut_off else written_arguments(item, '"'),
        is_whole=True,
        is_object=not cut_off and is_object(item.get("arguments")),
        on_server=items.is_on_server(item),
        cut_off=cut_off,
        is_written=text_of(item, "type") == CUSTOM,
    )
    items.add_call(delta, item, True)
