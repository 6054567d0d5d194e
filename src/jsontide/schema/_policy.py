"""When a value may be shown: annotations and keywords in, a policy out.

The same three words everywhere: `Annotated[str, Done()]` in a type, `"x-stream": "done"` in a JSON Schema, and
`{"days[*].title": Done()}` beside a schema that cannot be edited.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jsontide._path import Path

KEYWORD: Final = "x-stream"

Policy: TypeAlias = Literal["grow", "done", "gate"]
POLICIES: Final[dict[str, Policy]] = {"grow": "grow", "done": "done", "gate": "gate"}


@dataclass(frozen=True, slots=True)
class _Annotation:
    def __get_pydantic_json_schema__(
        self, core_schema: object, handler: Callable[[Any], dict[str, Any]]
    ) -> dict[str, Any]:
        return {**handler(core_schema), KEYWORD: policy_of(self)}


@dataclass(frozen=True, slots=True)
class Stream(_Annotation):
    """Grows in view; so do strings, arrays and objects that say nothing."""


@dataclass(frozen=True, slots=True)
class Done(_Annotation):
    """Is shown when it is closed."""


@dataclass(frozen=True, slots=True)
class Gate(_Annotation):
    """The object around shows nothing before this member is closed and fits."""


_Annotated: TypeAlias = Stream | Done | Gate
# Mappings are invariant in their keys: one from texts alone is no mapping from texts and paths.
Policies: TypeAlias = "Mapping[str, _Annotated] | Mapping[Path, _Annotated] | Mapping[str | Path, _Annotated]"
"""Policies by path pattern, as text or as keys and indices."""

_POLICY_OF: Final[dict[type[_Annotation], Policy]] = {Stream: "grow", Done: "done", Gate: "gate"}


def policy_of(annotation: object) -> Policy:
    """Return the policy that an annotation stands for."""
    for kind, policy in _POLICY_OF.items():
        if isinstance(annotation, kind):
            return policy
    message = f"a policy must be Stream(), Done() or Gate(), not {annotation!r}"
    raise TypeError(message)
