"""What a provider's request form must be able to write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from jsontide.messages import Message, ToolResult

Item: TypeAlias = dict[str, Any]
"""One item of the list of messages, contents or input items in a request."""


class RequestForm(Protocol):
    """Writes what goes into the next request to one provider."""

    def write_message(self, message: Message[Any]) -> list[Item]:
        """Return an assistant's message, with all that must be sent back unchanged.

        Calls that cannot be run are left out unless they were answered: a provider refuses a call without its result,
        and arguments that are not JSON.
        """

    def write_results(self, results: Sequence[ToolResult]) -> list[Item]:
        """Return the results of calls."""

    def write_tool(self, name: str, description: str, parameters: dict[str, Any], *, strict: bool) -> Item:
        """Return the definition of a tool, whose parameters are a JSON Schema."""
