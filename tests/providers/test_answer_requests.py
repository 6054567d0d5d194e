"""What asks a provider for a structured answer: strict where it can be, and an error that says why where it cannot."""

import json
from typing import Any

import pytest
from pydantic import BaseModel

from jsontide.providers import answer_format
from tests.providers.strict_rules import breaches
from tests.providers.test_strict_tools import TYPES, Node, Place, model_with

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
WRITTEN: dict[str, Any] = {
    "openai_chat": {
        "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True}}
    },
    "openai_responses": {
        "text": {"format": {"type": "json_schema", "name": "answer", "schema": SCHEMA, "strict": True}}
    },
    "anthropic": {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
    "gemini": {"config": {"response_mime_type": "application/json", "response_json_schema": SCHEMA}},
    "gemini_interactions": {"response_format": {"type": "text", "mime_type": "application/json", "schema": SCHEMA}},
    "ollama": {"format": SCHEMA},
    "cohere": {"response_format": {"type": "json_object", "json_schema": SCHEMA}},
}


def found_in(provider: str, written: Any) -> tuple[Any, bool]:
    """The schema in a request, and whether it is said to be strict."""
    if provider == "openai_chat":
        written = written["response_format"]["json_schema"]
    elif provider == "openai_responses":
        written = written["text"]["format"]
    elif provider == "anthropic":
        return written["output_config"]["format"]["schema"], True
    else:
        return json.loads(written["outputConfig"]["textFormat"]["structure"]["jsonSchema"]["schema"]), True
    return written["schema"], written["strict"]


@pytest.mark.parametrize("provider", WRITTEN)
def test_is_written_where_the_provider_wants_it(provider: str) -> None:
    assert answer_format(SCHEMA, provider) == WRITTEN[provider]


def test_is_json_text_for_bedrock() -> None:
    described = answer_format(SCHEMA, "bedrock")["outputConfig"]["textFormat"]
    assert described["type"] == "json_schema"
    assert json.loads(described["structure"]["jsonSchema"]["schema"]) == SCHEMA


@pytest.mark.parametrize("name", TYPES)
def test_is_strict_where_it_can_be(name: str) -> None:
    kind, for_openai, for_anthropic = TYPES[name]
    model = model_with(kind)
    for provider in ("openai_chat", "openai_responses"):
        schema, strict = found_in(provider, answer_format(model, provider))
        assert strict is for_openai
        assert not strict or breaches(provider, schema) == []
    for provider in ("anthropic", "bedrock"):
        if for_anthropic:
            assert breaches(provider, found_in(provider, answer_format(model, provider))[0]) == []
        else:
            with pytest.raises(ValueError, match=rf"{provider} does not take this schema of an answer: '\w+"):
                answer_format(model, provider)
    for provider in ("gemini", "gemini_interactions", "ollama"):
        assert "oneOf" not in json.dumps(answer_format(model, provider))


def test_a_recursive_answer_is_an_object() -> None:
    assert found_in("openai_chat", answer_format(Node, "openai_chat"))[0]["type"] == "object"
    with pytest.raises(ValueError, match="may contain itself"):
        answer_format(Node, "anthropic")


@pytest.mark.parametrize("answer", [list[Place], int, Place | None, str])
def test_what_is_no_object_is_refused_where_an_object_must_be(answer: Any) -> None:
    for provider in ("openai_chat", "openai_responses", "cohere"):
        with pytest.raises(ValueError, match=f"{provider} takes an object as answer"):
            answer_format(answer, provider)
    for provider in ("anthropic", "bedrock", "gemini", "ollama"):
        assert answer_format(answer, provider)


@pytest.mark.parametrize("answer", [5, None, lambda: None, "object"])
def test_what_is_no_schema_is_refused(answer: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        answer_format(answer, "ollama")


def test_the_provider_must_be_known() -> None:
    class Answer(BaseModel):
        a: str

    with pytest.raises(ValueError, match="provider must be one of"):
        answer_format(Answer, "nobody")
