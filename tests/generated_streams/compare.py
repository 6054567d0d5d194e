"""Whether a message is what a description says: every part, every figure, every word."""

import json
from dataclasses import asdict, fields
from typing import Any

from jsontide import MISSING
from jsontide import messages as found
from tests.generated_streams import said

KINDS: dict[type[said.Part], type] = {
    said.Text: found.TextPart,
    said.Thought: found.ReasoningPart,
    said.Refusal: found.Refusal,
    said.Source: found.Source,
    said.File: found.File,
    said.Other: found.Other,
    said.ServerTool: found.ServerCall,
}
WRITTEN_AS_TEXT = {"openai_chat", "openai_responses", "anthropic", "bedrock", "cohere"}
"""Providers that send arguments as text, which is kept as it is."""
COMPLETE = "complete"


def check(message: Any, expected: said.Said, provider: str) -> None:
    """Check all of a message that has ended."""
    shown = [type(part).__name__ for part in message.parts]
    assert shown == [kind_of(part).__name__ for part in expected.parts]
    for at, (part, meant) in enumerate(zip(message.parts, expected.parts, strict=True)):
        assert (part.index, part.is_open) == (at, False)
        check_part(part, meant, provider)
    for name in ("finish_reason", "raw_finish_reason", "id", "model", "created"):
        check_field(message, name, getattr(expected, name))
    assert (message.outcome.value, message.provider, message.role) == (expected.outcome, provider, "assistant")
    assert message.usage == (None if expected.usage is None else found.Usage(**shallow(expected.usage)))
    check_field(message, "metadata", expected.metadata)
    assert tuple(error.message for error in message.errors if error.source == "stream") == expected.errors
    assert message.content == "".join(part.text for part in expected.parts if isinstance(part, said.Text))
    assert message.reasoning == "".join(part.text for part in expected.parts if isinstance(part, said.Thought))
    assert message.refusal == "".join(part.text for part in expected.parts if isinstance(part, said.Refusal))


def kind_of(part: said.Part) -> type:
    if isinstance(part, said.Call):
        return found.CompleteCall if part.status == COMPLETE else found.PartialCall
    return KINDS[type(part)]


def shallow(value: Any) -> dict[str, Any]:
    return {one.name: getattr(value, one.name) for one in fields(value)}


def check_part(part: Any, meant: said.Part, provider: str) -> None:
    for name, value in shallow(meant).items():
        if isinstance(meant, said.Call | said.ServerTool) and name in {"value", "text", "result", "status"}:
            continue
        if name == "citations":
            assert [asdict(one) for one in part.citations] == [asdict(one) for one in value]
        else:
            check_field(part, name, value)
    if isinstance(meant, said.Call):
        check_call(part, meant, provider)
    elif isinstance(meant, said.ServerTool):
        check_field(part, "status", meant.status)
        check_field(part, "result", MISSING if meant.result is said.NOTHING else meant.result)
        assert same(json.loads(part.arguments or "null"), None if meant.value is said.NOTHING else meant.value)


def check_call(part: Any, meant: said.Call, provider: str) -> None:
    if provider in WRITTEN_AS_TEXT and (meant.text is not None or meant.status != COMPLETE):
        assert part.arguments == written(meant)
    if meant.status == COMPLETE:
        assert same(part.arguments_value, meant.value)
        assert same(json.loads(part.arguments), meant.value)
    else:
        assert part.status.value == meant.status


def written(call: said.Call) -> str:
    return json.dumps(call.value, ensure_ascii=False) if call.text is None else call.text


def same(one: Any, other: Any) -> bool:
    """Tell whether two values are the same JSON: `1` is not `True`."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def check_field(owner: Any, name: str, value: Any) -> None:
    if value is not said.UNSAID:
        assert (name, getattr(owner, name)) == (name, value)
