"""What follows from a message, in the form of the next request: the message itself, results of calls, and tools."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import isfinite
from typing import Any, Final, cast

from jsontide._check import check_choice, check_switch
from jsontide._textbuffer import has_lone_surrogate
from jsontide._values import flatten, unflatten
from jsontide.messages import Message, Tool, ToolResult
from jsontide.messages.options import check_tools
from jsontide.providers.base import Form, Item
from jsontide.providers.registry import WITH_REQUESTS
from jsontide.providers.strict import StrictSchema, ToolRules, is_object_schema, make_strict, unfold_root, write_plainly
from jsontide.schema import to_json_schema

_ANY_ARGUMENTS: Final[dict[str, Any]] = {"type": "object"}


def to_request(message: Message[Any] | ToolResult | Iterable[ToolResult], provider: str | None = None) -> list[Any]:
    """Return what to append to the messages, contents or input of the next request to a provider.

    `message` is the assistant's message, or the results of its calls. Signatures, encrypted reasoning and ids are
    written as they must be sent back. Without a `provider`, a message goes back to where it came from.
    Half a character that stands alone is written as U+FFFD, and a number that JSON does not have as null: no request
    can carry them.

    >>> message = Message.from_json({"jsontide": 1, "outcome": "complete", "parts": [{"kind": "text", "text": "Hi"}]})
    >>> to_request(message, "openai_chat")
    [{'role': 'assistant', 'content': 'Hi'}]
    """
    if isinstance(message, Message):
        return make_sendable(find_form(provider or message.provider).write_message(message))
    results = (message,) if isinstance(message, ToolResult) else tuple(message)
    for result in results:
        if not isinstance(result, ToolResult):
            raise TypeError(f"to_request takes a Message or results of type ToolResult, not {type(result).__name__}")
    return make_sendable(find_form(provider).write_results(results)) if results else []


def tool_definitions(tools: Iterable[Tool[Any]], provider: str, *, strict: bool | None = None) -> list[Any]:
    """Return the tools as a request to a provider defines them.

    A strict tool is one whose arguments the provider makes fit the schema. By default every tool is that can be;
    `why_not_strict` explains the others. With `strict=True`, one that cannot be raises; with `False` none is.
    OpenAI wants every property of a strict tool required. Bounds that a provider does not take are written into the
    description, and checked when arguments come back.

    >>> tool_definitions([Tool("now", {"type": "object", "properties": {}}, description="The time.")], "openai_chat")
    [{'type': 'function', 'function': {'name': 'now', 'description': 'The time.', 'parameters': \
{'type': 'object', 'properties': {}, 'additionalProperties': False, 'required': []}, 'strict': True}}]
    """
    form = find_form(provider)
    if strict is not None:
        check_switch("strict", strict)
    defined = []
    for tool, parameters, found in _find_strict(tools, provider):
        if strict and found.problems:
            raise ValueError(f"the tool {tool.name!r} cannot be strict: {'; '.join(found.problems)}")
        is_strict = strict is not False and not found.problems
        written = found.schema if is_strict else _write_loosely(parameters, WITH_REQUESTS[provider].tools)
        defined.append(form.write_tool(tool.name, tool.description or "", written, strict=is_strict))
    return defined


def why_not_strict(tools: Iterable[Tool[Any]], provider: str) -> dict[str, tuple[str, ...]]:
    """Return the names of the tools that `tool_definitions` cannot make strict for a provider, with the reasons.

    >>> tags = Tool("tag", {"type": "object", "properties": {"tags": {"type": "object"}}})
    >>> why_not_strict([tags], "anthropic")
    {'tag': ("'tags' may have any keys",)}
    """
    find_form(provider)
    return {tool.name: found.problems for tool, _, found in _find_strict(tools, provider) if found.problems}


def answer_format(schema: object, provider: str) -> dict[str, Any]:
    """Return the arguments of the client's method that ask a provider for a structured answer.

    `schema` is a type or a JSON Schema, as for `response_schema`. It is made strict as tools are, where the provider
    has strict answers and the schema can be; `why_not_strict([Tool("answer", schema)], provider)` says why it cannot.
    What a provider does not take at all raises `ValueError` with the reason.

    >>> answer_format({"type": "object", "properties": {"city": {"type": "string"}}}, "ollama")
    {'format': {'type': 'object', 'properties': {'city': {'type': 'string'}}}}
    """
    form = find_form(provider)
    if schema is None:
        raise TypeError("schema must be a type or a JSON Schema, not None")
    taken = WITH_REQUESTS[provider].tools
    written = unfold_root(to_json_schema(schema))
    loose = _write_loosely(written, taken)
    if taken.answers_are_objects and not is_object_schema(loose):
        problem = f"{provider} takes an object as answer, and this schema is of something else: make it a field of one"
        raise ValueError(problem)
    if taken.strict is None:
        return form.write_answer(loose, strict=False)
    found = make_strict(written, taken.strict, needs_object=taken.answers_are_objects)
    if found.problems and not taken.takes_loose_answers:
        raise ValueError(f"{provider} does not take this schema of an answer: {'; '.join(found.problems)}")
    return form.write_answer(loose if found.problems else found.schema, strict=not found.problems)


def _find_strict(tools: Iterable[Tool[Any]], provider: str) -> Iterator[tuple[Tool[Any], dict[str, Any], StrictSchema]]:
    """Yield each tool with its schema, as it is and as strict; all tools of a request share some limits."""
    taken = WITH_REQUESTS[provider].tools
    rules = taken.strict
    count = optional = unions = 0
    for tool in check_tools(tools):
        _check_name(tool.name, provider, taken)
        parameters = unfold_root(to_json_schema(_ANY_ARGUMENTS if tool.schema is None else tool.schema))
        if rules is None:
            yield tool, parameters, StrictSchema(parameters, (taken.why_not_strict,))
            continue
        if tool.schema is None:
            yield tool, parameters, StrictSchema(parameters, ("it has no schema",))
            continue
        found = make_strict(parameters, rules)
        if not found.problems:
            problems = tuple(
                f"the tools of a request may have {most} {what} if they are strict"
                for total, most, what in (
                    (count + 1, rules.max_tools, "places"),
                    (optional + found.optional, rules.max_optional, "properties that may be left out"),
                    (unions + found.unions, rules.max_unions, "unions"),
                )
                if most is not None and total > most
            )
            found = replace(found, problems=problems)
        if not found.problems:
            count, optional, unions = count + 1, optional + found.optional, unions + found.unions
        yield tool, parameters, found


def _write_loosely(parameters: dict[str, Any], taken: ToolRules) -> dict[str, Any]:
    """Return a schema that is not strict."""
    if not taken.is_plain:
        return parameters
    try:
        return write_plainly(parameters, const_as_enum=taken.const_as_enum, inline=taken.inline)
    except RecursionError:  # it is nested too deeply to be written anew
        return parameters


def _check_name(name: str, provider: str, taken: ToolRules) -> None:
    if taken.names and not re.fullmatch(taken.names, name):
        raise ValueError(f"{provider} refuses a tool that is called {name!r}: names are {taken.names_in_words}")


def make_sendable(items: list[Item]) -> list[Item]:
    """Return the items as a client can encode them; nearly always these very ones."""
    todo: list[Any] = [items]
    while todo:
        part = todo.pop()
        if isinstance(part, dict):
            todo += part
            todo += part.values()
        elif isinstance(part, list):
            todo += part
        elif (isinstance(part, str) and has_lone_surrogate(part)) or (isinstance(part, float) and not isfinite(part)):
            return cast("list[Item]", unflatten([_sendable(each) for each in flatten(items)]))
    return items


def _sendable(part: Any) -> Any:  # noqa: ANN401
    """Return what stands for a scalar, or for the keys of an object."""
    if isinstance(part, str):
        return part.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(part, tuple):
        return tuple(map(_sendable, part))
    return None if isinstance(part, float) and not isfinite(part) else part


def find_form(provider: str | None) -> Form:
    """Return what writes requests to a provider."""
    check_choice("provider", provider, tuple(WITH_REQUESTS))
    return cast("Form", WITH_REQUESTS[cast("str", provider)].form)
