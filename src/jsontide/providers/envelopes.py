"""Events inside others, and the small native forms of servers that also speak chat completions.

In: an event as a client, a cloud or a server wraps or writes it. Out: the event that a reader knows.

    mistralai                  {"data": chunk}
    Bedrock, InvokeModel       {"chunk": {"bytes": event}}, as bytes or as base64
    llama.cpp, /completion     {"content": text, "stop": bool}
    TGI, /generate_stream      {"token": {"text": text}}
    Workers AI                 {"response": text}, and a whole in {"result": ...}

Rule: opening an envelope keeps what it says beside what it holds; what cannot be opened is an error, not nothing.
Events of frameworks and of sessions, which are more than one message, are errors that name what to pass instead.
"""

from __future__ import annotations

from base64 import b64decode
from typing import Any, ClassVar, Final

from jsontide.messages.draft import Draft
from jsontide.providers.base import (
    Reader,
    as_dict,
    as_text,
    check_around,
    check_rest,
    count_of,
    dict_of,
    has_arguments,
    is_true,
    list_of,
    load_json,
    plain,
    text_of,
)

_ENVELOPES: Final = ("chunk", "data", "result")
_BYTES: Final = frozenset(("bytes",))
_NOT_JSON: Final = "a chunk of Bedrock's stream does not hold JSON"
_NOT_OPENED: Final = "an event of the stream holds something of an unexpected type"
_EXCEPTION: Final = "Exception"
_LLAMA_FIELDS: Final = frozenset(("completion_probabilities", "content", "index", "stop", "stop_type", "tokens"))
_LLAMA_REQUEST_FIELDS: Final = frozenset(("generation_settings", "prompt"))
_LLAMA_USAGE_FIELDS: Final = frozenset(("tokens_evaluated", "tokens_predicted"))
_LLAMA_OLD_STOPS: Final = {"stopped_eos": "eos", "stopped_limit": "limit", "stopped_word": "word"}
_TGI_FIELDS: Final = frozenset(("details", "generated_text", "index", "token"))
_TGI_DETAIL_FIELDS: Final = frozenset(("finish_reason", "generated_tokens", "prefill", "tokens"))
_WORKERS_FIELDS: Final = frozenset(("response", "tool_calls"))


class EnvelopeReader(Reader):
    """Opens the envelope of each event, and lets another reader read what is inside."""

    __slots__ = ("inner",)

    FIELDS: ClassVar[tuple[str, ...]] = ("inner",)

    def __init__(self, inner: Reader) -> None:
        self.inner: Final = inner

    @property
    def name(self) -> str:
        return self.inner.name

    def read(self, draft: Draft, event: dict[str, Any]) -> Reader:
        inside = open_envelope(event)
        for name in _ENVELOPES:
            if event.get(name) is not None:
                if inside is None:  # which cannot be opened
                    draft.lose(_NOT_OPENED)
                else:
                    _check_beside(draft, event, frozenset((name,)), inside)
                    if name == "chunk":
                        _check_beside(draft, dict_of(event, name), _BYTES, inside)
        if inside is None:
            check_chunk(draft, event)
        after = self.inner.read(draft, _open_exception(event) if inside is None else inside)
        return self if after is self.inner else EnvelopeReader(after)


def check_chunk(draft: Draft, event: dict[str, Any]) -> None:
    """Note that an event which cannot be opened may have a chunk in it."""
    if any([_may_be_chunk(each) for each in (event, *event.values())]):
        draft.lose(_NOT_OPENED)


def _may_be_chunk(value: object) -> bool:
    """Return whether a value is what a chunk of Bedrock holds, also as a text."""
    return bool(as_dict(load_json(value) if isinstance(value, str) else value).get("bytes"))


def open_envelope(event: dict[str, Any]) -> dict[str, Any] | None:
    """Return the event inside another one, or `None`."""
    if event.get("choices") is not None:
        return None
    if event.get("data") is not None and event.get("type") is None:
        return _open_data(event["data"])
    if event.get("chunk") is not None:
        return _open_bytes(dict_of(event, "chunk").get("bytes"))
    if isinstance(event.get("stop"), bool) and text_of(event, "content") is not None:
        return _read_llama(event)
    if text_of(dict_of(event, "token"), "text") is not None or text_of(event, "generated_text") is not None:
        return _read_tgi(event)
    if event.get("done") is None:
        return _read_workers(event)
    return None


def _check_beside(draft: Draft, event: dict[str, Any], opened: frozenset[str], inside: dict[str, Any]) -> None:
    """Note what may be arguments beside an envelope; a call in it that has none may have them there."""
    check_rest(draft, event, opened)
    deltas = [dict_of(as_dict(choice), "delta") for choice in list_of(inside, "choices")]
    calls = [as_dict(call) for delta in deltas for call in list_of(delta, "tool_calls")]
    if not all([has_arguments(call) for call in calls]):
        check_around(draft, event, opened)


def is_whole_envelope(event: dict[str, Any]) -> bool:
    """Return whether an event is all of a completion, as the servers write it that have a form of their own."""
    inside = open_envelope(event)
    if inside is None or any([event.get(name) is not None for name in ("chunk", "data", "token")]):
        return False
    return any([as_dict(choice).get("finish_reason") is not None for choice in list_of(inside, "choices")])


def _open_data(data: object) -> dict[str, Any] | None:
    # Objects of that client have a placeholder for fields that are not set, which must not be read as a value.
    inside = data if isinstance(data, dict) else as_dict(plain(data))
    return inside if inside.get("choices") is not None else None


def _open_bytes(given: object) -> dict[str, Any] | None:
    if given is None:
        return None
    text = ""
    try:
        if isinstance(given, (bytes, bytearray, memoryview)):
            text = bytes(given).decode()
        elif isinstance(given, str):
            text = b64decode(given, validate=True).decode()
    except ValueError:  # of either
        pass
    inside = load_json(text.strip())
    return inside if isinstance(inside, dict) else {"error": {"message": _NOT_JSON}}


def _open_exception(event: dict[str, Any]) -> dict[str, Any]:
    """Return an exception of Bedrock, which stands beside chunks, as an error."""
    for name, value in event.items():
        if value is not None and name.endswith(_EXCEPTION):
            return {"error": {"type": name, **as_dict(plain(value))}}
    return event


def _as_chunk(event: dict[str, Any], read: frozenset[str], choice: dict[str, Any]) -> dict[str, Any]:
    rest = {name: value for name, value in event.items() if name not in read}
    return {**rest, "choices": [{"index": 0, **choice}]}


def _read_llama(event: dict[str, Any]) -> dict[str, Any]:
    delta: dict[str, Any] = {"delta": {"content": event["content"]}}
    probabilities = event.get("completion_probabilities")
    if probabilities is not None:
        delta["logprobs"] = {"content": probabilities}
    if not is_true(event, "stop"):
        return _as_chunk(event, _LLAMA_FIELDS | _LLAMA_USAGE_FIELDS, delta)
    said = text_of(event, "stop_type")
    for name, word in _LLAMA_OLD_STOPS.items():
        if is_true(event, name):
            said = word
    delta["finish_reason"] = said or "stop"
    chunk = _as_chunk(event, _LLAMA_FIELDS | _LLAMA_REQUEST_FIELDS | _LLAMA_USAGE_FIELDS, delta)
    spent, written = count_of(event, "tokens_evaluated"), count_of(event, "tokens_predicted")
    if spent is not None and written is not None:
        chunk["usage"] = {"prompt_tokens": spent, "completion_tokens": written, "total_tokens": spent + written}
    return chunk


def _read_tgi(event: dict[str, Any]) -> dict[str, Any]:
    token, details, whole = dict_of(event, "token"), dict_of(event, "details"), text_of(event, "generated_text")
    choice: dict[str, Any] = {}
    if token:
        # Special tokens, such as the end of the text, do not belong to it.
        choice["delta"] = {"content": "" if is_true(token, "special") else text_of(token, "text")}
        choice["logprobs"] = {"content": [token]}
    else:
        choice["delta"] = {"content": whole}
    if whole is not None:
        choice["finish_reason"] = text_of(details, "finish_reason") or "stop"
    chunk = _as_chunk(event, _TGI_FIELDS, choice)
    for name, value in details.items():
        if name not in _TGI_DETAIL_FIELDS:
            chunk[name] = value
    written = count_of(details, "generated_tokens")
    if written is not None:
        chunk["usage"] = {"completion_tokens": written}
    return chunk


def _read_workers(event: dict[str, Any]) -> dict[str, Any] | None:
    if event.get("success") is False and list_of(event, "errors"):
        return {"error": list_of(event, "errors")[0]}
    is_whole = is_true(event, "success")
    inside = dict_of(event, "result") if is_whole else event
    given, calls = inside.get("response"), inside.get("tool_calls")
    is_answer = as_text(given) is not None or isinstance(calls, (list, tuple)) or (is_whole and bool(as_dict(given)))
    if "response" not in inside or not is_answer or event.get("type") is not None:
        return None
    choice: dict[str, Any] = {"delta": {"content": given, "tool_calls": _number_calls(calls)}}
    if is_whole:
        choice["finish_reason"] = "stop"
    return _as_chunk(inside, _WORKERS_FIELDS, choice)


def _number_calls(given: object) -> object:
    """Return calls, which come whole and without ids, as chat completions have them; anything else stays as it is."""
    if not isinstance(given, (list, tuple)):
        return given
    calls: list[object] = []
    for at, item in enumerate(given):
        call = as_dict(item)
        if call and call.get("function") is None:
            function = {name: value for name, value in call.items() if name != "id"}
            calls.append({"index": at, "id": call.get("id"), "function": function})
        else:
            calls.append({"index": at, **call} if call else item)
    return calls


# Events of frameworks and of sessions.

_INSTEAD: Final = "pass what the provider's own client streams, or a jsontide.messages.CompletionChunk for each"
_LANGCHAIN: Final = f"this is a message chunk of LangChain: {_INSTEAD}"
_PYDANTIC_AI: Final = f"this is an event of pydantic-ai: {_INSTEAD}"
_LLAMA_INDEX: Final = f"this is a response of LlamaIndex: {_INSTEAD}"
_AGENTS: Final = (
    "this is an event of the OpenAI Agents SDK: pass `event.data` of the events whose `type` is 'raw_response_event'"
)
_REALTIME: Final = (
    "this is an event of OpenAI's Realtime API, a session with many messages and audio: pass a stream of Responses"
)
_LIVE: Final = (
    "this is a message of Gemini's Live API, a session with many messages: pass what `generate_content_stream` streams"
)

_MODULES: Final = {
    "langchain": _LANGCHAIN,
    "langchain_core": _LANGCHAIN,
    "llama_index": _LLAMA_INDEX,
    "pydantic_ai": _PYDANTIC_AI,
    "agents": _AGENTS,
}
"""By the top module of the class of an event."""
_TYPES: Final = {
    "AIMessageChunk": _LANGCHAIN,
    "raw_response_event": _AGENTS,
    "run_item_stream_event": _AGENTS,
    "agent_updated_stream_event": _AGENTS,
}
_KINDS: Final = ("part_start", "part_delta", "part_end", "final_result", "function_tool_call", "agent_run_result")
_REALTIME_PREFIXES: Final = (
    "session.",
    "conversation.",
    "input_audio_buffer.",
    "output_audio_buffer.",
    "transcription_",
)
_LIVE_FIELDS: Final = (
    "serverContent",
    "server_content",
    "setupComplete",
    "setup_complete",
    "toolCallCancellation",
    "tool_call_cancellation",
)


def name_foreign(event: object, fields: dict[str, Any]) -> str | None:
    """Return what an event is if it is of a framework or of an interface that is not read, `None` if it is not."""
    if isinstance(event, tuple) and event:  # as LangGraph gives them, with where they come from
        event = event[0]
    if not isinstance(event, dict):
        module = type(event).__module__
        found = _MODULES.get(module.partition(".")[0]) if isinstance(module, str) else None
        if found is not None:
            return found
    kind = text_of(fields, "type") or ""
    found = _TYPES.get(kind)
    if found is not None:
        return found
    if (text_of(fields, "event_kind") or "") in _KINDS:
        return _PYDANTIC_AI
    is_realtime = kind.startswith("response.") and fields.get("event_id") is not None
    is_session = text_of(dict_of(fields, "response"), "object") == "realtime.response"
    if is_realtime or is_session or kind.startswith(_REALTIME_PREFIXES):
        return _REALTIME
    is_call = any([dict_of(fields, name) for name in ("toolCall", "tool_call")])
    return _LIVE if is_call or any([name in fields for name in _LIVE_FIELDS]) else None
