"""Gemini's Interactions API.

In: an event as dict or SDK object. Out: notes on a draft.
A message is made of steps, which events name by their position. A step is a thought, output of the model (text, images
and so on), a call, or what a tool of the server returned: the result of the call that it names.
"""

from __future__ import annotations

from typing import Any, Final

from jsontide.adapters._read.fields import (
    arguments_of,
    as_dict,
    created_of,
    dict_of,
    integer_of,
    is_object,
    list_of,
    plain,
    text_of,
)
from jsontide.adapters._read.gemini_steps import (
    annotate,
    begin_thought,
    describe_result,
    find_called,
    keep,
    read_call,
    read_server_call,
    read_step_fields,
    read_usage,
    sign,
)
from jsontide.adapters._read.reader import NOT_BEGUN, Beginning, Reader, describe_error, read_error
from jsontide.messages.calls import ServerCall
from jsontide.messages.draft import NO_INDEX, NO_KEY, CallDelta, Draft
from jsontide.messages.parts import File, Other
from jsontide.messages.record import replace

_SAID: Final = {"failed": "failed", "cancelled": "was cancelled"}
_STATUS: Final = {
    "completed": "stop",
    "requires_action": "tool_calls",
    "incomplete": "length",
    "budget_exceeded": "length",
    "requires_continuation": "length",
}
_EVENT: Final = frozenset(("delta", "event_id", "event_type", "index", "interaction", "step", "type"))
"""The fields of an event that are read, or say nothing of the message."""
_INTERACTION: Final = frozenset(
    (
        "created",
        "error",
        "id",
        "model",
        "object",
        "outputs",
        "steps",
        "usage",
        # What the SDK repeats of the steps.
        "output_audio",
        "output_image",
        "output_text",
        "output_video",
    )
)
_MEDIA: Final = ("image", "audio", "video", "document", "file")
_BITS: Final = 20
"""How many parts a step may have, as a power of two."""


class InteractionsReader(Reader):
    """Reads the events of an interaction."""

    __slots__ = ("beginning", "breaks", "results")

    def __init__(
        self,
        beginning: Beginning = NOT_BEGUN,
        breaks: dict[int, int] | None = None,
        results: dict[int, int] | None = None,
    ) -> None:
        self.beginning: Final = beginning
        self.breaks: Final = {} if breaks is None else breaks
        """How often the text of a step was broken off by an image or the like; most steps are not here."""
        self.results: Final = {} if results is None else results
        """The places of the calls that steps are the results of."""

    @property
    def name(self) -> str:
        return "gemini_interactions"

    def _fields(self) -> tuple[object, ...]:
        return self.beginning, self.breaks, self.results

    def fits(self, event: dict[str, Any]) -> bool:
        return _read_type(event).startswith(("interaction.", "step."))

    def split_whole(self, event: dict[str, Any]) -> list[dict[str, Any]] | None:
        is_named = text_of(event, "object") == "interaction" or "steps" in event or "outputs" in event
        if not is_named or text_of(event, "status") is None:
            return None
        events: list[dict[str, Any]] = [{"event_type": "interaction.created", "interaction": event}]
        for at, item in enumerate(list_of(event, "steps") or list_of(event, "outputs")):
            events.append({"event_type": "step.start", "index": at, "step": _as_step(item)})
            events.append({"event_type": "step.stop", "index": at})
        events.append({"event_type": "interaction.completed", "interaction": event})
        return events

    def read(self, draft: Draft, event: dict[str, Any]) -> Reader:
        kind = _read_type(event)
        if kind == "step.delta":
            return self._read_delta(draft, event)
        if draft.provider is None:
            draft.identify(None, None, None, self.name)
        _read_event(draft, event)
        if kind == "interaction.created":
            return self._begin(draft, event)
        if kind == "step.start":
            return self._read_start(draft, integer_of(event, "index"), _unwrap(dict_of(event, "step")))
        if kind == "step.stop":
            index = integer_of(event, "index")
            if index != NO_INDEX:
                draft.close(self._find_key(index))
        elif kind == "interaction.completed":
            _read_end(draft, dict_of(event, "interaction"))
            return self._go_on()
        elif kind == "error":
            draft.fail(describe_error(event.get("error")))
        else:
            read_error(draft, event)
        return self

    def _begin(self, draft: Draft, event: dict[str, Any]) -> Reader:
        interaction = dict_of(event, "interaction")
        begun = self.beginning.begin(draft, text_of(interaction or event, "id"))
        if begun is None:
            return self
        _read_interaction(draft, interaction)
        return InteractionsReader(begun, self.breaks, self.results)

    def _go_on(self) -> InteractionsReader:
        beginning = self.beginning.go_on()
        return self if beginning is self.beginning else InteractionsReader(beginning, self.breaks, self.results)

    def _find_key(self, index: int) -> int:
        """Return the key of the part that a step is at."""
        if index == NO_INDEX:
            return NO_KEY
        return (index << _BITS) + (self.breaks.get(index, 0) if self.breaks else 0)

    def _break(self, index: int) -> InteractionsReader:
        """Return the reader after a part that ends the text before it."""
        if index == NO_INDEX:
            return self
        breaks = {**self.breaks, index: self.breaks.get(index, 0) + 1}
        return InteractionsReader(self.beginning, breaks, self.results)

    def _read_delta(self, draft: Draft, event: dict[str, Any]) -> Reader:
        if draft.provider is None:
            draft.identify(None, None, None, self.name)
        index, delta = integer_of(event, "index"), _unwrap(dict_of(event, "delta"))
        metadata = event.get("metadata")
        if metadata is not None:
            read_usage(draft, dict_of(as_dict(metadata), "total_usage"))
        kind = delta.get("type")
        if kind == "text" and len(delta) == 2:
            draft.add_text(self._find_key(index), text_of(delta, "text") or "")
        elif kind == "arguments_delta":
            arguments = delta.get("arguments")
            text, is_whole = arguments_of(arguments), is_object(arguments)
            draft.add_call(CallDelta(index, None, None, text, is_object=is_whole, key=self._find_key(index)))
        else:
            return self._read_other_delta(draft, index, text_of(delta, "type") or "", delta)
        return self._go_on()

    def _read_other_delta(self, draft: Draft, index: int, kind: str, delta: dict[str, Any]) -> InteractionsReader:
        key, reader = self._find_key(index), self
        if kind == "thought_summary":
            reader = self._read_thought(draft, index, dict_of(delta, "content"))
        elif kind == "thought_signature":
            sign(draft, key, text_of(delta, "signature"))
        elif kind == "text_annotation_delta":
            annotate(draft, key, list_of(delta, "annotations"))
        elif kind == "text" or kind in _MEDIA:
            reader = self._read_content(draft, index, delta)
        elif kind == "function_call":
            read_call(draft, index, key, delta)
        elif kind.endswith("_call"):
            read_server_call(draft, index, key, kind, delta)
        elif kind.endswith("_result") and kind != "function_result":
            reader = self._read_result(draft, index, kind, delta)
        else:
            keep(draft, key, kind, delta)
        return reader._go_on()

    def _read_start(self, draft: Draft, index: int, step: dict[str, Any]) -> Reader:
        kind, key, reader = text_of(step, "type") or "", self._find_key(index), self
        if kind == "function_call":
            read_call(draft, index, key, step)
        elif kind == "thought":
            begin_thought(draft, key, step)
            for item in list_of(step, "summary"):
                reader = reader._read_thought(draft, index, _unwrap(as_dict(item)))
        elif kind == "model_output":
            for at, item in enumerate(list_of(step, "content")):
                if at:
                    draft.close(reader._find_key(index))
                    reader = reader._break(index)
                reader = reader._read_content(draft, index, _unwrap(as_dict(item)))
            read_step_fields(draft, step)
        elif kind.endswith("_call"):
            read_server_call(draft, index, key, kind, step)
        elif kind.endswith("_result") and kind != "function_result":
            reader = self._read_result(draft, index, kind, step)
        elif step:
            keep(draft, key, kind, step)
        return reader._go_on()

    def _read_result(self, draft: Draft, index: int, kind: str, step: dict[str, Any]) -> InteractionsReader:
        """Read what a tool of the server returned."""
        at = self.results.get(index, -1)
        if at < 0:
            call_id = text_of(step, "call_id")
            at = find_called(draft, kind, call_id)
            if at < 0:
                at = draft.count
                name = text_of(step, "name") or kind.removesuffix("_result")
                draft.put(self._find_key(index), ServerCall(name, type=kind, id=call_id, index=at, is_open=True))
        part = draft.part_at(at) if at < draft.count else None
        if isinstance(part, ServerCall):
            draft.describe(at, describe_result(part, kind, step))
        if index == NO_INDEX or index in self.results:
            return self
        return InteractionsReader(self.beginning, self.breaks, {**self.results, index: at})

    def _read_thought(self, draft: Draft, index: int, content: dict[str, Any]) -> InteractionsReader:
        text = text_of(content, "text")
        if text is not None:
            draft.add_reasoning(self._find_key(index), text)
            return self
        return self._read_content(draft, index, content)

    def _read_content(self, draft: Draft, index: int, content: dict[str, Any]) -> InteractionsReader:
        """Read something that the model made: text, an image, or whatever else."""
        kind, key = text_of(content, "type") or "", self._find_key(index)
        if kind == "text":
            draft.add_text(key, text_of(content, "text") or "")
            annotate(draft, key, list_of(content, "annotations"))
            return self
        if not content:
            return self
        draft.close(key)
        reader = self._break(index)
        if kind in _MEDIA:
            known = ("data", "mime_type", "uri")
            extra = {name: plain(value) for name, value in content.items() if value is not None and name not in known}
            data, url = plain(content.get("data")), text_of(content, "uri")
            part = File(text_of(content, "mime_type"), data if isinstance(data, str) else None, url)
            draft.put(reader._find_key(index), replace(part, index=draft.count, extra=extra))
        else:
            draft.put(reader._find_key(index), Other(kind, plain(content), False, draft.count))
        return reader._break(index)


def _read_type(event: dict[str, Any]) -> str:
    return text_of(event, "event_type") or text_of(event, "type") or ""


def _unwrap(fields: dict[str, Any]) -> dict[str, Any]:
    """The SDK wraps what it does not know."""
    return dict_of(fields, "raw") if fields.get("is_unknown") is True else fields


def _as_step(item: object) -> object:
    """Return an output of the form before there were steps as a step."""
    output = as_dict(item)
    is_content = text_of(output, "type") == "text" or text_of(output, "type") in _MEDIA
    return {"type": "model_output", "content": [item]} if is_content else item


def _read_event(draft: Draft, event: dict[str, Any]) -> None:
    """Keep what stands in an event beside what it is about."""
    for name, value in event.items():
        if value is None or name in _EVENT or name == "error":
            continue
        if name == "interaction_id":
            draft.identify(text_of(event, name), None, None, "")
        elif name == "usage":
            read_usage(draft, as_dict(value))
        elif name == "metadata":
            read_usage(draft, dict_of(as_dict(value), "total_usage"))
        elif name == "step_usage":
            draft.extend_metadata(name, [plain(value)])
        else:
            draft.set_metadata(name, plain(value))


def _read_interaction(draft: Draft, interaction: dict[str, Any]) -> None:
    """Note what is said about the interaction as a whole."""
    created = created_of(interaction.get("created"))
    draft.identify(text_of(interaction, "id"), text_of(interaction, "model"), created, "")
    read_usage(draft, dict_of(interaction, "usage"))
    for name, value in interaction.items():
        if value is not None and name not in _INTERACTION:
            draft.set_metadata(name, plain(value))


def _read_end(draft: Draft, interaction: dict[str, Any]) -> None:
    _read_interaction(draft, interaction)
    # Nothing said is as good as a normal end, and what is no text is as good as an unknown word.
    status = "completed" if interaction.get("status") is None else text_of(interaction, "status") or "unknown"
    if status in _SAID:
        error = dict_of(interaction, "error")
        for first in list_of(interaction, "errors")[:1]:
            error = error or as_dict(first)
        draft.fail(text_of(error, "message") or f"the interaction {_SAID[status]}")
    else:
        draft.finish(_STATUS.get(status, status), status)
