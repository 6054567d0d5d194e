"""The protocols of front ends in one table: how each is written, and how a client reads it back.

Rule: `Seen` says the same of every protocol, so that one contract holds for all of them; what a protocol has for itself
is in `everything`, by which two readers of the same turn are compared.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jsontide import MISSING
from jsontide.frontends import (
    AgUiEncoder,
    AssistantTransportEncoder,
    CompactEncoder,
    CompactValue,
    ObjectStreamEncoder,
    VercelEncoder,
)
from jsontide.testing import check_ag_ui, check_assistant_transport, check_object_stream, check_vercel
from tests.frontends import clients
from tests.frontends.hostile import without_hostile, without_names
from tests.frontends.turns import TURNS

Runs = list[tuple[str | None, Any]]


@dataclass(frozen=True)
class Seen:
    """What a client has of a stream."""

    end: str
    """In the protocol's own word."""
    reason: str | None
    """What is said of a failure."""
    text: str
    reasoning: str
    runs: Runs
    """The calls that the client may run: name and arguments."""
    value: Any
    """The answer that grew, or the JSON that came alone; MISSING without one."""
    everything: Any


@dataclass(frozen=True)
class Protocol:
    make: Callable[[], Any]
    read: Callable[[bytes], Seen]
    end_of: Callable[[str], str]
    """How the turn of this name ends, in the protocol's own word."""
    clean: Callable[[Any], Any] = lambda value: value
    """A value without the keys that this protocol does not pass on."""
    in_client: Callable[[Sequence[bytes]], clients.Ran] | None = None
    """Lets the front end's own client read, and returns the arguments of the calls that it runs."""


def joined(parts: Iterable[Any], *kinds: str) -> str:
    return "".join(part["text"] for part in parts if part["type"] in kinds)


def see_vercel(stream: bytes) -> Seen:
    report = check_vercel(stream)
    # How arguments are spelled may differ between two that saw the same.
    alike = replace(report, calls=tuple(replace(one, input_text="") for one in report.calls))
    assert all(json.loads(one.input_text) == one.input for one in report.calls if one.may_run)
    runs: Runs = [(one.name, one.input) for one in report.calls if one.may_run]
    value = report.data.get("answer", MISSING)
    return Seen(report.end, report.error_text, report.text, report.reasoning, runs, value, alike)


def end_in_vercel(name: str) -> str:
    if name.startswith("stopped"):
        return "abort"
    return "finish" if name.startswith(("complete", "at the limit", "refused", "filtered", "empty")) else "error"


def see_ag_ui(stream: bytes) -> Seen:
    run = check_ag_ui(stream)
    end = run.end.get("code") or run.end["outcome"]["type"]
    texts = [
        "".join(message.get("content", "") for message in run.messages if message["role"] == role)
        for role in ("assistant", "reasoning")
    ]
    ready = {call_id: call for call_id, call in run.calls.items() if call.state == "ready"}
    if "outcome" in run.end:
        assert run.end["outcome"].get("pendingToolCallIds", []) == list(ready)
    runs: Runs = [(call.name, json.loads(call.arguments)) for call in ready.values()]
    return Seen(end, run.end.get("message"), texts[0], texts[1], runs, run.state.get("answer", MISSING), run)


def end_in_ag_ui(name: str) -> str:
    words = {
        "complete": "success",
        "at the limit": "truncated",
        "stopped": "cancelled",
        "invalid": "invalid",
        "refused": "refused",
        "filtered": "filtered",
        "empty": "empty",
    }
    return next((word for start, word in words.items() if name.startswith(start)), "transport")


def see_assistant(stream: bytes) -> Seen:
    found = check_assistant_transport(stream)
    texts = ["".join(part.text for part in found.parts if part.type == kind) for kind in ("text", "reasoning")]
    runs: Runs = [(part.start["toolName"], json.loads(part.text)) for part in found.parts if part.may_run]
    reason = None if found.error is None else found.error["error"]
    assert (found.error is not None) is (found.finish_reason == "error")
    value = (found.state or {}).get("answer", MISSING)
    return Seen(found.finish_reason, reason, texts[0], texts[1], runs, value, found)


def end_in_assistant(name: str) -> str:
    words = {
        "stopped": "other",
        "refused": "other",
        "empty": "other",
        "filtered": "content-filter",
        "at the limit": "length",
    }
    if name.startswith("complete"):
        return "tool-calls" if TURNS[name][-1].tool_calls else "stop"
    return next((word for start, word in words.items() if name.startswith(start)), "error")


def see_value(value: Any, end: Any, everything: Any) -> Seen:
    """What a browser has that gets the message as a value, or JSON alone."""
    parts = value.get("parts", []) if isinstance(value, dict) else []
    runs: Runs = [(part["name"], part["arguments"]) for part in parts if part.get("status") == "complete"]
    answer = value.get("answer", MISSING) if isinstance(value, dict) and "parts" in value else value
    texts = joined(parts, "text", "refusal"), joined(parts, "reasoning")
    return Seen(end["end"], end.get("reason"), *texts, runs, answer, everything)


def see_object(stream: bytes) -> Seen:
    found = check_object_stream(stream)
    errors = [each["message"] for each in found.get("errors", [])]
    end = {"end": found["status"], "reason": errors[0] if errors else None}
    seen = see_value(found, end, found)
    return replace(seen, value=found.get("answer", found.get("value", MISSING)))


def see_compact(stream: bytes) -> Seen:
    value = CompactValue()
    for line in stream.decode().split("\n"):  # other line breaks may stand in a text
        if line.startswith(("data: ", "{", "[", '"')):
            value = value.read(json.loads(line.removeprefix("data: ")))
    assert value.end is not None
    assert value.end["end"] != "complete" or not value.growing
    return see_value(value.value, value.end, (value.value, value.end))


def end_as_outcome(name: str) -> str:
    return TURNS[name][-1].outcome.value


def without_refused(value: Any) -> Any:
    return without_names(value, {"__proto__", "constructor", "prototype"})


PROTOCOLS = {
    "vercel": Protocol(
        lambda: VercelEncoder(message_id="m", answer="data", hostile_keys="drop"),
        see_vercel,
        end_in_vercel,
        without_hostile,
        clients.read_vercel,
    ),
    "ag-ui": Protocol(
        lambda: AgUiEncoder(thread_id="t", run_id="r"), see_ag_ui, end_in_ag_ui, without_hostile, clients.read_ag_ui
    ),
    "assistant transport": Protocol(
        lambda: AssistantTransportEncoder(message_id="m"),
        see_assistant,
        end_in_assistant,
        without_refused,
        clients.read_assistant,
    ),
    "object stream": Protocol(ObjectStreamEncoder, see_object, end_as_outcome, without_refused, clients.read_object),
    "compact": Protocol(CompactEncoder, see_compact, end_as_outcome),
    "compact lines": Protocol(lambda: CompactEncoder(form="ndjson"), see_compact, end_as_outcome),
}
