"""What the clients of the providers say of requests: their own types and models check what is written for them."""

from collections.abc import Callable
from functools import cache
from typing import Any, get_args

import pytest

Event = dict[str, Any]


@cache
def adapter_of(kind: Any) -> Any:
    """What checks a value by a type; it is made once for each type, which takes a tenth of a second."""
    pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")
    return pydantic.TypeAdapter(kind)


def types_of(module: str) -> Any:
    return pytest.importorskip(module, reason=f"the client with {module} is not installed")


def check_chat(items: list[Event]) -> None:
    chat = types_of("openai.types.chat")
    kinds = {
        "system": chat.ChatCompletionSystemMessageParam,
        "user": chat.ChatCompletionUserMessageParam,
        "assistant": chat.ChatCompletionAssistantMessageParam,
        "tool": chat.ChatCompletionToolMessageParam,
        "function": chat.ChatCompletionFunctionMessageParam,
    }
    for item in items:
        found = adapter_of(kinds[item["role"]]).validate_python(item)
        if item["role"] == "user" and not isinstance(item["content"], str):
            assert [*found["content"]] == item["content"]  # they are checked as they are read


def check_responses(items: list[Event]) -> None:
    for item in items:
        found = adapter_of(types_of("openai.types.responses").ResponseInputItemParam).validate_python(item)
        assert found.get("type", "message") == item.get("type", "message")


def check_anthropic(items: list[Event]) -> None:
    for item in items:
        found = adapter_of(types_of("anthropic.types.beta").BetaMessageParam).validate_python(item)
        assert [*found["content"]]  # they are checked as they are read
        for block in item["content"]:
            assert {*block} <= fields_of_blocks().get(block["type"], {*block})


@cache
def fields_of_blocks() -> dict[str, set[str]]:
    """The fields that each type of Anthropic's blocks may have in a request: a TypedDict lets others pass."""
    typing = pytest.importorskip("typing_extensions", reason="typing_extensions is not installed")
    kinds = get_args(types_of("anthropic.types.beta").BetaContentBlockParam)
    hints = [typing.get_type_hints(kind) for kind in kinds if typing.is_typeddict(kind)]
    return {get_args(hint["type"])[0]: {*hint} for hint in hints}


def check_bedrock(items: list[Event], **more: Any) -> None:
    validator = types_of("botocore.validate").ParamValidator()
    report = validator.validate({"modelId": "m", "messages": items, **more}, bedrock_shape())
    assert not report.has_errors(), report.generate_report()


@cache
def bedrock_shape() -> Any:
    """The model that boto3 checks requests by."""
    described = types_of("botocore.loaders").Loader().load_service_model("bedrock-runtime", "service-2")
    return types_of("botocore.model").ServiceModel(described).operation_model("ConverseStream").input_shape


def check_gemini(items: list[Event]) -> None:
    for item in items:
        types_of("google.genai.types").Content.model_validate(item)


def check_interactions(items: list[Event]) -> None:
    adapter = adapter_of(types_of("google.genai.interactions").Step)
    assert not any(getattr(adapter.validate_python(item), "is_unknown", False) for item in items)


def check_ollama(items: list[Event]) -> None:
    client = types_of("ollama._client")  # which makes images of texts before its model sees them
    for item, taken in zip(items, client._copy_messages(items), strict=True):
        assert taken.role == item["role"]


def check_cohere(items: list[Event]) -> None:
    types = types_of("cohere.types")
    kinds = {
        "system": types.SystemChatMessageV2,
        "user": types.UserChatMessageV2,
        "assistant": types.AssistantChatMessageV2,
        "tool": types.ToolChatMessageV2,
    }
    for item in items:
        kind = kinds[item["role"]]
        kind.model_validate(item)
        assert {*item} <= {*kind.model_fields}


def check_request(provider: str, request: Event) -> None:
    """Check the arguments of a client's method, all of them."""
    given = dict(request)
    if provider == "bedrock":
        check_bedrock(given.pop("messages"), **given)
        return
    items = {"openai_responses": "input", "gemini_interactions": "input", "gemini": "contents"}.get(provider)
    CHECK_MESSAGES[provider](given.pop(items or "messages"))
    if provider == "gemini":
        types_of("google.genai.types").GenerateContentConfig.model_validate(given.pop("config", {}))
    for tool in given.pop("tools", ()):
        check_tool(provider, tool)
    for name, value in given.items():
        adapter_of(argument_types(provider)[name]).validate_python(value)


@cache
def argument_types(provider: str) -> Event:
    """The types of what a method takes beside items and tools."""
    typing = pytest.importorskip("typing_extensions", reason="typing_extensions is not installed")
    if provider == "ollama":
        return {"format": dict[str, Any]}
    if provider == "gemini_interactions":
        made = types_of("google.genai.interactions").CreateModelInteraction
        return {name: field.annotation for name, field in made.model_fields.items()}
    if provider == "cohere":
        return {"response_format": types_of("cohere.types").ResponseFormatV2}
    module, name = {
        "openai_chat": ("openai.types.chat.completion_create_params", "CompletionCreateParamsNonStreaming"),
        "openai_responses": ("openai.types.responses.response_create_params", "ResponseCreateParamsNonStreaming"),
        "anthropic": ("anthropic.types.message_create_params", "MessageCreateParamsNonStreaming"),
    }[provider]
    return typing.get_type_hints(getattr(types_of(module), name))  # type: ignore[no-any-return]


CHECK_MESSAGES: dict[str, Callable[[list[Event]], None]] = {
    "openai_chat": check_chat,
    "openai_responses": check_responses,
    "anthropic": check_anthropic,
    "bedrock": check_bedrock,
    "cohere": check_cohere,
    "gemini": check_gemini,
    "gemini_interactions": check_interactions,
    "ollama": check_ollama,
}
TOOLS = {
    "openai_chat": ("openai.types.chat", "ChatCompletionToolParam"),
    "openai_responses": ("openai.types.responses", "ToolParam"),
    "anthropic": ("anthropic.types", "ToolParam"),
    "cohere": ("cohere.types", "ToolV2"),
    "gemini": ("google.genai.types", "FunctionDeclaration"),
    "gemini_interactions": ("google.genai.interactions", "Function"),
    "ollama": ("ollama", "Tool"),
}


def check_tool(provider: str, tool: Event) -> None:
    if provider == "bedrock":
        check_bedrock([], toolConfig={"tools": [tool]})
    else:
        module, name = TOOLS[provider]
        adapter_of(getattr(types_of(module), name)).validate_python(tool)
