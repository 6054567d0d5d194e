"""A schema and a parser state in, what may be shown of it out.

A resolution is a value: it never changes, and the same state always gives the same one, whichever came before.
It remembers where its fold stood, and the next resolution continues from there.
Continuing from an older one starts another fold, which first reads the same text again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Generic, TypeAlias, TypeVar, cast, overload

from jsontide._check import check_state, check_type
from jsontide._values import MISSING, JsonValue, Missing
from jsontide.schema._compile import CompiledSchema, compile_schema
from jsontide.schema._fold import SchemaFold
from jsontide.schema._mismatch import SchemaMismatch
from jsontide.schema._resolution import Resolution, Status
from jsontide.schema._validator import Violation, drop_reported, locate
from jsontide.schema.options import Policies, TypeAdapterLike
from jsontide.tree import ParserState
from jsontide.tree.log import Log, continues, find_position, is_still_at
from jsontide.tree.views import NO_STRING

Model = TypeVar("Model")
Before: TypeAlias = Resolution[object] | None

# Looking up the member of an enum costs more than all the rest does for most states.
_PENDING: Final = Status.PENDING
_PARTIAL: Final = Status.PARTIAL
_MISMATCH: Final = Status.MISMATCH


class ResolutionReport(Generic[Model]):
    """What a resolution says beside its value: the same object while nothing but a string grows."""

    __slots__ = ("compiled", "error_count", "fold", "model", "open_errors", "policies", "source", "status")

    def __init__(self, compiled: CompiledSchema[Model], fold: SchemaFold, status: Status) -> None:
        stack = fold.stack
        self.compiled = compiled
        self.source = compiled.source
        self.policies = compiled.policies
        self.fold = fold
        self.status = status
        self.error_count = len(stack.errors)
        self.open_errors = stack.open_errors
        self.model: Model | Missing = MISSING

    def still_holds(self, fold: SchemaFold, status: Status) -> bool:
        """Return whether the same report is right for a later state."""
        stack = fold.stack
        return (
            self.status is status
            and self.fold is fold
            and self.error_count == len(stack.errors)
            and self.open_errors is stack.open_errors
        )

    def fits(self, value: JsonValue, state: ParserState) -> bool:
        """Return whether the validator accepts this value instead of the one that a state has."""
        found = self.compiled.validator.validate(value, self.fold.memory, has_decimals=state.floats == "decimal")
        return found.is_sure and not found.problems

    def reduce(self, state: ParserState) -> tuple[Callable[..., object], tuple[object, ...]]:
        """Return what a resolution is pickled as."""
        return _restore, (self.source, self.policies, state)


@overload
def from_json_ast(
    schema: Mapping[str, object], state: ParserState, before: Before = None, *, policies: Policies | None = None
) -> Resolution[JsonValue]: ...
@overload
def from_json_ast(
    schema: type[Model] | TypeAdapterLike[Model],
    state: ParserState,
    before: Before = None,
    *,
    policies: Policies | None = None,
) -> Resolution[Model]: ...
@overload
def from_json_ast(
    schema: object, state: ParserState, before: Before = None, *, policies: Policies | None = None
) -> Resolution[object]: ...
def from_json_ast(
    schema: object, state: object, before: object = None, *, policies: Policies | None = None
) -> Resolution[Any]:
    """Return what may be shown of a parser state by a schema.

    `schema` is a JSON Schema as a `dict`, a pydantic `TypeAdapter`, or any type that one accepts, such as a model.
    `before` is the last resolution of this stream; it saves work and keeps identities, and changes nothing else.
    `policies` maps path patterns to `Stream()`, `Done()` or `Gate()`, for schemas that cannot be edited.

    >>> from jsontide import create_parser_state, parse_chunk
    >>> schema = {"properties": {"kind": {"enum": ["train", "tram"]}, "to": {"type": "string"}}}
    >>> state = parse_chunk(create_parser_state(), '{"to": "Kyo')
    >>> resolution = from_json_ast(schema, state)
    >>> resolution.value
    {'to': 'Kyo'}
    >>> resolution = from_json_ast(schema, parse_chunk(state, 'to", "kind": "tra'), resolution)
    >>> resolution.value
    {'to': 'Kyoto'}
    """
    if not isinstance(state, ParserState):  # asked here, because this runs for every chunk
        state = check_state(state, ParserState)
    if before is not None:
        if not isinstance(before, Resolution):
            before = check_type("the resolution before", before, Resolution, "a Resolution")
        report = before._report
        if report.source is schema and report.policies is policies:
            return before if before._state is state else _continue(before, state)
    return _start(compile_schema(schema, policies), state)


def _restore(source: object, policies: Policies | None, state: ParserState) -> Resolution[object]:
    return from_json_ast(source, state, policies=policies)


def _start(compiled: CompiledSchema[Model], state: ParserState) -> Resolution[Model]:
    """Resolve a state from the start of its text."""
    if state.floats == "lexeme":
        raise ValueError('numbers must be numbers here: create the state with floats="float" or floats="decimal"')
    return _resolve(compiled, state, SchemaFold(compiled.node, state))


def _continue(before: Resolution[Model], state: ParserState) -> Resolution[Model]:
    """Resolve a state with the work that was done for an earlier one, if they are of one stream."""
    report, earlier = before._report, before._state
    fold = report.fold
    is_newest = fold.step == before._step
    if is_newest and fold.is_settled and is_still_at(state, earlier):
        # Most states bring nothing new, or only more of a string.
        fold.step = step = before._step + 1
        value = before.value if fold.views.text_id == NO_STRING else fold.grow(state)
        return Resolution(report, state, step, value)
    if not continues(state, earlier):
        return _start(report.compiled, state)
    if not is_newest:
        fold = SchemaFold(report.compiled.node, earlier)
        fold.replay(earlier, before.value)
    return _resolve(report.compiled, state, fold, before)


def _resolve(
    compiled: CompiledSchema[Model], state: ParserState, fold: SchemaFold, before: Resolution[Model] | None = None
) -> Resolution[Model]:
    # Counted first: if this is interrupted, the resolution before is no longer the newest.
    fold.step += 1
    fold.advance(state)
    value = fold.show()
    stack = fold.stack
    status = _PENDING if value is MISSING else _PARTIAL
    if stack.errors or stack.open_errors:
        status = _MISMATCH
    if state.is_complete:
        fold.is_settled = False  # text after the document may be wrong, and then nothing is final
        resolution = Resolution(ResolutionReport(compiled, fold, status), state, fold.step, value)
        _validate(resolution, before)
        return resolution
    if before is not None and before._report.still_holds(fold, status):
        return Resolution(before._report, state, fold.step, value)
    return Resolution(ResolutionReport(compiled, fold, status), state, fold.step, value)


def _validate(resolution: Resolution[Model], before: Resolution[Model] | None) -> None:
    """Let the validator have the last word."""
    report, state = resolution._report, resolution._state
    if before is not None and before.status is Status.FINAL and before._report.fold is report.fold:
        resolution._report, resolution.value = before._report, before.value
        return
    value, memory = cast("JsonValue", state.value), report.fold.memory
    validated = report.compiled.validator.validate(value, memory, has_decimals=state.floats == "decimal")
    is_agreed = report.status is not Status.MISMATCH and not report.fold.stack.has_doubts
    if validated.problems or not (is_agreed or validated.is_sure):
        report.open_errors = _locate_problems(validated.problems, resolution)
        report.status = Status.MISMATCH
        return
    # The validator of a JSON Schema returns the value itself, and then the value that is shown is the model.
    is_plain = validated.model is value
    shown = state.value
    if is_agreed:
        document = report.fold.stack.document
        shown = document.with_defaults()[0]
        if is_plain and shown is not document.values[0] and not report.fits(cast("JsonValue", shown), state):
            shown = document.values[0]  # a default need not fit its own schema
    resolution.value = shown
    report.status = Status.FINAL
    report.model = cast("Model", shown) if is_plain else validated.model
    report.error_count = 0
    report.open_errors = []


def _locate_problems(problems: tuple[Violation, ...], resolution: Resolution[Model]) -> list[SchemaMismatch]:
    """Return what the validator says about values that have no mismatch yet."""
    state = resolution._state
    value = cast("JsonValue", state.value)
    new = drop_reported(problems, [error.path for error in resolution.errors])
    found: list[SchemaMismatch] = []
    for problem, start, there in locate(new, Log(state), 0, value):
        line, column = find_position(state, start)
        found.append(SchemaMismatch(problem.path, problem.reason, problem.expected, there, start, line, column))
    return found
