"""What the front ends' own clients make of streams: each must have what the checker of its protocol says.

In: streams. Out: for each, the arguments of the calls that a client would run. What a client logs fails.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from jsontide.frontends import ObjectStreamEncoder
from jsontide.testing import (
    AssistantTransport,
    VercelReport,
    check_ag_ui,
    check_assistant_transport,
    check_object_stream,
    check_vercel,
)
from tests.node_scripts import run

VERSIONS = ("ai5", "ai6", "ai7")
Ran = list[list[Any]]


def read_vercel(streams: Sequence[bytes]) -> Ran:
    return resume_vercel([(stream, None) for stream in streams])


def resume_vercel(streams: Sequence[tuple[bytes, bytes | None]]) -> Ran:
    """The same for connections that broke off, with what is sent to the client when it asks again."""
    given = [
        {"stream": first.decode(errors="ignore"), **({} if again is None else {"resume": again.decode()})}
        for first, again in streams
    ]
    found = run("vercel.mjs", given, *VERSIONS)
    for clients in zip(*(found[version] for version in VERSIONS), given, strict=True):
        report = check_vercel(clients[-1].get("resume", clients[-1]["stream"]))
        for version, client in zip(VERSIONS, clients[:-1], strict=True):
            check_chat(version, client, report)
    return [[one["input"] for one in client["run"]] for client in found[VERSIONS[0]]]


def check_chat(version: str, found: dict[str, Any], report: VercelReport) -> None:
    (message,) = found["messages"]
    assert message["id"] == report.message_id
    assert parts_in_chat(message["parts"]) == parts_in_report(report)
    assert message.get("metadata", {}) == report.metadata
    assert [(one["id"], one["input"]) for one in found["run"]] == [
        (one.id, one.input) for one in report.calls if one.may_run
    ]
    assert found["status"] == ("error" if report.end == "error" else "ready"), version
    assert found["errors"] == ([report.error_text] if report.end == "error" else [])
    assert report.end != "finish" or found["finishReason"] == report.finish_reason


def parts_in_chat(parts: Iterable[dict[str, Any]]) -> list[tuple[object, ...]]:
    return [part_in_chat(part) for part in parts if part["type"] != "step-start"]


def part_in_chat(part: dict[str, Any]) -> tuple[object, ...]:
    """A part of a client in a form that is the same for all versions."""
    kind = part["type"]
    if kind in {"text", "reasoning"}:
        return (kind, part["text"], part["state"])
    if kind.startswith("tool-") or kind == "dynamic-tool":
        name = part["toolName"] if kind == "dynamic-tool" else kind.removeprefix("tool-")
        given = part.get("input", part.get("rawInput"))  # ai 5 has another name for the input of a call that failed
        told = (part.get("output"), part.get("errorText"), part.get("providerExecuted", False))
        return ("call", part["toolCallId"], name, part["state"], given, *told, kind == "dynamic-tool")
    return (kind, *[part.get(name) for name in ("sourceId", "url", "title", "mediaType", "data")])


def parts_in_report(report: VercelReport) -> list[tuple[object, ...]]:
    calls = {one.id: one for one in report.calls}
    found: list[tuple[object, ...]] = []
    for part in report.parts:
        if part["type"] == "call":
            one = calls[part["id"]]
            told = (one.output, one.error_text, one.provider_executed, one.dynamic)
            found.append(("call", one.id, one.name, one.state, one.input, *told))
        else:
            found.append(part_in_chat({**part, "state": "done"}))
    return found


def read_ag_ui(streams: Sequence[bytes]) -> Ran:
    results = run("ag_ui.mjs", [{"text": stream.decode(), "size": size_of(stream)} for stream in streams])
    for stream, found in zip(streams, results, strict=True):
        checked = check_ag_ui(stream)
        assert not found["error"], found["error"]
        assert not found["warnings"], found["warnings"]
        assert found["messages"] == checked.messages
        assert found["state"] == checked.state
        assert [(each["id"], each["arguments"]) for each in found["ran"]] == [
            (call_id, call.arguments) for call_id, call in checked.calls.items() if call.is_ended
        ]
        assert found["custom"] == [list(each) for each in checked.custom]
        code = checked.end.get("code")
        assert found["end"] == (checked.end["outcome"]["type"] if code is None else f"error {code}")
    return [[json.loads(each["arguments"]) for each in found["ran"]] for found in results]


def size_of(stream: bytes) -> int:
    """How many bytes the client gets at once: of short streams few, so that every event is cut."""
    return 7 if len(stream) < 3_000 else 1 << 16


def read_assistant(streams: Sequence[bytes]) -> Ran:
    given = [{"kind": "transport", "text": stream.decode(), "size": size_of(stream)} for stream in streams]
    results = run("assistant.mjs", given)
    for stream, found in zip(streams, results, strict=True):
        assert not found["error"], found["error"]
        assert not found["warnings"], found["warnings"]
        check_message(check_assistant_transport(stream), found)
    return [[each["args"] for each in found["ran"]] for found in results]


def check_message(checked: AssistantTransport, found: dict[str, Any]) -> None:
    message = found["message"]
    assert [part["type"] for part in message["parts"]] == [part.type for part in checked.parts]
    for part, shown in zip(checked.parts, message["parts"], strict=True):
        check_part(part, shown)
    assert message["metadata"]["unstable_state"] == checked.state
    assert [each["id"] for each in found["ran"]] == [part.start["toolCallId"] for part in checked.parts if part.may_run]
    assert not found["pending"]  # nothing is left that a client would run
    assert message["status"]["type"] == status_of(checked)
    assert message["metadata"]["steps"][0]["finishReason"] == checked.finish_reason


def check_part(part: Any, shown: dict[str, Any]) -> None:
    if part.type in {"text", "reasoning"}:
        assert shown["text"] == part.text
    elif part.type == "tool-call":
        assert shown["argsText"] == part.text
        assert shown["state"] == ("call" if part.may_run else "result")
        assert shown.get("isError", False) is part.is_error
    else:
        assert {name: shown[name] for name in part.start} == part.start


def status_of(checked: AssistantTransport) -> str:
    if checked.error is not None:
        return "incomplete"
    words = {"tool-calls": "requires-action", "stop": "complete", "unknown": "complete"}
    return words.get(checked.finish_reason, "incomplete")


def read_object(streams: Sequence[bytes]) -> Ran:
    headers = {"content-type": "text/event-stream", **ObjectStreamEncoder().headers}
    given = [
        {"kind": "object", "text": stream.decode(), "size": size_of(stream), "headers": headers} for stream in streams
    ]
    results = run("assistant.mjs", given)
    for stream, found in zip(streams, results, strict=True):
        assert not found["error"], found["error"]
        assert not found["warnings"], found["warnings"]
        assert found["value"] == check_object_stream(stream)
    parts = [(found["value"] or {}).get("parts", []) for found in results]
    return [[part["arguments"] for part in each if part.get("status") == "complete"] for each in parts]
