"""Ways to resolve a stream: from the one before, anew, and what a resolution says in a form that can be compared."""

from collections.abc import Iterable
from typing import Any

from jsontide import ParserState, finalize
from jsontide.schema import Resolution, from_json_ast
from tests.cuts import Chunks, fed, states_along, whole
from tests.relations import flat


def resolutions(schema: Any, chunks: Chunks, **options: Any) -> list[Resolution[Any]]:
    """The resolution before the first chunk and after each, each made from the one before."""
    return resolved_in_turn(schema, states_along(chunks), **options)


def resolved_in_turn(schema: Any, states: Iterable[ParserState], **options: Any) -> list[Resolution[Any]]:
    found: list[Resolution[Any]] = []
    for state in states:
        found.append(from_json_ast(schema, state, found[-1] if found else None, **options))
    return found


def resolutions_to_end(schema: Any, chunks: Chunks, start: ParserState | None = None) -> list[Resolution[Any]]:
    """As `resolutions`, with one more after the last chunk: that of the end."""
    states = states_along(chunks, start)
    return resolved_in_turn(schema, [*states, finalize(states[-1])])


def closed(schema: Any, text: str) -> Resolution[Any]:
    """The resolution of a whole text at its end."""
    return from_json_ast(schema, finalize(fed(whole(text))))


def said(resolution: Resolution[Any]) -> tuple[object, ...]:
    """All that a resolution says, copied so that no later change can reach it."""
    return resolution.status, flat(resolution.value), resolution.errors, resolution.model
