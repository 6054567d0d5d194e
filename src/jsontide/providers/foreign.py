"""Events that are no provider's in, what they are and what to pass instead out.

Frameworks have events of their own, and some interfaces are conversations and not one message.
"""

from __future__ import annotations

from typing import Any, Final

from jsontide.providers.fields import dict_of, text_of

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
    return _LIVE if any([name in fields for name in _LIVE_FIELDS]) else None
