"""A schema and a parser state in, what may be shown of it out.

A resolution is a value: it never changes, and the same state always gives the same one, with or without a cache.
The cache of a resolution says where its fold stood; the next resolution goes on from there.
Who goes on from an older one gets a fold of its own, which begins by following the text again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast, overload

from jsontide._values import MISSING, JsonValue, Missing
from jsontide.schema._compile import Compiled, compiled
from jsontide.schema._fold import SchemaFold
from jsontide.schema._mismatch import SchemaMismatch
from jsontide.schema._places import placed, unreported
from jsontide.schema._resolution import Resolution, ResolutionCache
from jsontide.schema._status import Status
from jsontide.tree import ParserState
from jsontide.tree.log import check_floats, goes_on_from, has_decimals, is_still_at, keeps_first, log_of, position_of
from jsontide.tree.views import NO_TEXT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jsontide.schema._compile import Policies
    from jsontide.schema._validator import Problem
    from jsontide.schema.source import TypeAdapterLike

Model = TypeVar("Model")

# Asking an enum for its members costs more than all that is asked of most states.
_PENDING: Final = Status.PENDING
_PARTIAL: Final = Status.PARTIAL
_MISMATCH: Final = Status.MISMATCH


class Outcome(Generic[Model]):
    """What a resolution says beside its value: the same object while nothing but a string grows."""

    __slots__ = ("error_count", "fold", "model", "open_errors", "plan", "policies", "source", "status")

    def __init__(self, plan: Compiled[Model], fold: SchemaFold, status: Status) -> None:
        stack = fold.stack
        self.plan = plan
        self.source = plan.source
        self.policies = plan.policies
        self.fold = fold
        self.status = status
        self.error_count = len(stack.errors)
        self.open_errors = stack.open_errors
        self.model: Model | Missing = MISSING

    def still_holds(self, fold: SchemaFold, status: Status) -> bool:
        """Tell whether the same is to be said of a later state."""
        stack = fold.stack
        return (
            self.status is status
            and self.fold is fold
            and self.error_count == len(stack.errors)
            and self.open_errors is stack.open_errors
        )

    def reduced(self, state: ParserState) -> tuple[Callable[..., object], tuple[object, ...]]:
        """Return what the pickle of a resolution holds."""
        return _restore, (self.source, self.policies, state)


@overload
def from_json_ast(
    schema: type[Model],
    state: ParserState,
    cache: ResolutionCache | None = None,
    *,
    policies: Policies | None = None,
) -> Resolution[Model]: ...
@overload
def from_json_ast(
    schema: Mapping[str, object],
    state: ParserState,
    cache: ResolutionCache | None = None,
    *,
    policies: Policies | None = None,
) -> Resolution[JsonValue]: ...
@overload
def from_json_ast(
    schema: TypeAdapterLike[Model],
    state: ParserState,
    cache: ResolutionCache | None = None,
    *,
    policies: Policies | None = None,
) -> Resolution[Model]: ...
@overload
def from_json_ast(
    schema: object,
    state: ParserState,
    cache: ResolutionCache | None = None,
    *,
    policies: Policies | None = None,
) -> Resolution[object]: ...
def from_json_ast(
    schema: object,
    state: object,
    cache: object = None,
    *,
    policies: Policies | None = None,
) -> Resolution[Any]:
    """Return what may be shown of a parser state by a schema.

    `schema` is a JSON Schema as a `dict`, a pydantic `TypeAdapter`, or any type that one takes: a model, ...
    `cache` is that of the resolution before; it saves work and keeps identities, and changes nothing else.
    `policies` maps path patterns to `Stream()`, `Done()` or `Gate()`, for schemas that cannot be edited.

    >>> from jsontide import create_parser_state, parse_chunk
    >>> schema = {"properties": {"kind": {"enum": ["train", "tram"]}, "to": {"type": "string"}}}
    >>> state = parse_chunk(create_parser_state(), '{"to": "Kyo')
    >>> resolution = from_json_ast(schema, state)
    >>> resolution.value
    {'to': 'Kyo'}
    >>> resolution = from_json_ast(schema, parse_chunk(state, 'to", "kind": "tra'), resolution.cache)
    >>> resolution.value
    {'to': 'Kyoto'}
    """
    if not isinstance(state, ParserState):
        message = f"a state must be a ParserState, not {type(state).__name__}"
        raise TypeError(message)
    if cache is not None:
        if not isinstance(cache, Resolution):
            message = f"a cache must be that of a resolution, not {type(cache).__name__}"
            raise TypeError(message)
        outcome = cache._outcome
        if outcome.source is schema and outcome.policies is policies:
            return cache if cache._state is state else _go_on(cache, state)
    return _begin(compiled(schema, policies), state)


def _restore(source: object, policies: Policies | None, state: ParserState) -> Resolution[object]:
    return from_json_ast(source, state, policies=policies)


def _begin(plan: Compiled[Model], state: ParserState) -> Resolution[Model]:
    """Resolve a state without knowing an earlier one."""
    check_floats(state)
    return _resolve(plan, state, SchemaFold(plan.node, state))


def _go_on(before: Resolution[Model], state: ParserState) -> Resolution[Model]:
    """Resolve a state, with the work that was done for an earlier one if there is any to use."""
    outcome, earlier = before._outcome, before._state
    fold = outcome.fold
    is_newest = fold.step == before._step
    if is_newest and fold.is_settled and is_still_at(state, earlier):
        # It says nothing new, or only more of a string: most states do.
        fold.step = step = before._step + 1
        value = before.value if fold.views.text_id == NO_TEXT else fold.grow(state)
        return Resolution(outcome, state, step, value)
    if not goes_on_from(state, earlier):
        return _begin(outcome.plan, state)
    if not is_newest:
        fold = SchemaFold(outcome.plan.node, earlier)
        fold.replay(earlier, before.value)
    return _resolve(outcome.plan, state, fold, before)


def _resolve(
    plan: Compiled[Model], state: ParserState, fold: SchemaFold, before: Resolution[Model] | None = None
) -> Resolution[Model]:
    # Counted before anything is written: a resolution whose successor is broken off is no longer the newest.
    fold.step += 1
    fold.advance(state)
    value = fold.show()
    stack = fold.stack
    status = _PENDING if value is MISSING else _PARTIAL
    if stack.errors or stack.open_errors:
        status = _MISMATCH
    if state.is_complete:
        fold.is_settled = False  # what follows may be wrong, and then nothing is final
        resolution = Resolution(Outcome(plan, fold, status), state, fold.step, value)
        _finish(resolution, before)
        return resolution
    if before is not None and before._outcome.still_holds(fold, status):
        return Resolution(before._outcome, state, fold.step, value)
    return Resolution(Outcome(plan, fold, status), state, fold.step, value)


def _finish(resolution: Resolution[Model], before: Resolution[Model] | None) -> None:
    """Let the validator have the last word."""
    outcome, state = resolution._outcome, resolution._state
    if before is not None and before.status is Status.FINAL and before._outcome.fold is outcome.fold:
        resolution._outcome, resolution.value = before._outcome, before.value
        return
    value, memory = cast("JsonValue", state.value), outcome.fold.memory
    validated = outcome.plan.validator.validated(value, memory, has_decimals=has_decimals(state))
    is_agreed = outcome.status is not Status.MISMATCH and not outcome.fold.stack.has_doubts
    if validated.problems or not (is_agreed or validated.is_sure):
        outcome.open_errors = _last_word(validated.problems, resolution)
        outcome.status = Status.MISMATCH
        return
    resolution.value = outcome.fold.stack.document.final()[0] if is_agreed else state.value
    outcome.status = Status.FINAL
    outcome.model = validated.model
    outcome.error_count = 0
    outcome.open_errors = []


def _last_word(problems: tuple[Problem, ...], resolution: Resolution[Model]) -> list[SchemaMismatch]:
    """Return what the validator says of places that nothing was said of before."""
    state = resolution._state
    value = cast("JsonValue", state.value)
    new = unreported(problems, [error.path for error in resolution.errors])
    found: list[SchemaMismatch] = []
    for problem, start, there in placed(new, log_of(state), 0, value, keeps_first=keeps_first(state)):
        line, column = position_of(state, start)
        found.append(SchemaMismatch(problem.path, problem.reason, problem.expected, there, start, line, column))
    return found
