"""What follows from a message, in the form of the next request: the message itself, results of calls, and tools."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, cast

from jsontide._check import check_choice
from jsontide._textbuffer import has_half
from jsontide.adapters._requests.strict import make_strict
from jsontide.messages import Message, Tool, ToolResult
from jsontide.schema import to_json_schema

if TYPE_CHECKING:
    from jsontide.adapters._requests.form import Item, RequestForm

_FORMS: Final = (
    "openai_chat",
    "openai_responses",
    "anthropic",
    "gemini",
    "gemini_interactions",
    "bedrock",
    "ollama",
    "cohere",
)
_STRICT: Final = ("openai_chat", "openai_responses")
"""Those that take a schema as strict only if every property is required."""
_ANY_ARGUMENTS: Final[dict[str, Any]] = {"type": "object"}


def to_request(said: Message[Any] | ToolResult | Iterable[ToolResult], provider: str | None = None) -> list[Item]:
    """Return what to append to the messages, contents or input of the next request to a provider.

    `said` is the assistant's message, with signatures, encrypted reasoning and ids as they must be sent back, or the
    results of its calls. Without a `provider`, a message goes back to where it came from.
    Half a character that stands alone is written as U+FFFD: no request can carry it.

    >>> message = Message.from_json({"jsontide": 1, "outcome": "complete", "parts": [{"kind": "text", "text": "Hi"}]})
    >>> to_request(message, "openai_chat")
    [{'role': 'assistant', 'content': 'Hi'}]
    """
    if isinstance(said, Message):
        return _make_sendable(find_form(provider or said.provider).write_message(said))
    results = (said,) if isinstance(said, ToolResult) else tuple(said)
    for result in results:
        if not isinstance(result, ToolResult):
            message = f"to_request takes a Message or results of type ToolResult, not {type(result).__name__}"
            raise TypeError(message)
    return _make_sendable(find_form(provider).write_results(results)) if results else []


def tool_definitions(tools: Iterable[Tool[Any]], provider: str, *, strict: bool = True) -> list[Item]:
    """Return the tools as a request to a provider defines them.

    `strict` asks the provider to keep to the schema, where it can: OpenAI then wants every property required.

    >>> tool_definitions([Tool("now", {"type": "object", "properties": {}}, description="The time.")], "anthropic")
    [{'name': 'now', 'description': 'The time.', 'input_schema': {'type': 'object', 'properties': {}}, 'strict': True}]
    """
    form = find_form(provider)
    defined = []
    for tool in tools:
        parameters = to_json_schema(_ANY_ARGUMENTS if tool.schema is None else tool.schema)
        is_strict = strict and tool.schema is not None
        if is_strict and provider in _STRICT:
            parameters = make_strict(parameters)
        defined.append(form.write_tool(tool.name, tool.description or "", parameters, strict=is_strict))
    return defined


def _make_sendable(items: list[Item]) -> list[Item]:
    """Return the items as a client can encode them; nearly always these very ones."""
    todo: list[Any] = [items]
    while todo:
        part = todo.pop()
        if isinstance(part, dict):
            todo += part
            todo += part.values()
        elif isinstance(part, list):
            todo += part
        elif isinstance(part, str) and has_half(part):
            return cast("list[Item]", _without_halves(items))
    return items


def _without_halves(part: Any) -> Any:  # noqa: ANN401
    if isinstance(part, str):
        return part.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace") if has_half(part) else part
    if isinstance(part, dict):
        return {_without_halves(name): _without_halves(value) for name, value in part.items()}
    return [_without_halves(each) for each in part] if isinstance(part, list) else part


def find_form(provider: str | None) -> RequestForm:
    """Return what writes requests to a provider."""
    check_choice("provider", provider, _FORMS)
    return cast("RequestForm", import_module(f"jsontide.adapters._requests.{provider}").FORM)
