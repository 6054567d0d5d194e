"""The cases of `make growth`: every public entry point has one, and every case runs; their work is measured there."""

from enum import Enum
from inspect import isclass

import pytest

import jsontide
from benchmarks.growth import BOUND, Growth, exponent, page
from benchmarks.hostile import CASES, Case
from jsontide import events, frontends, messages, providers, schema, snapshots, streams, testing, tree

pytestmark = pytest.mark.once  # the cases are under test, and not the library

# Values that a program is handed or builds, with nothing in them that reads a stream.
PLAIN = {
    *("AsyncMessageStream", "Choice", "Citation", "CompletionChunk", "Delta", "Done", "File", "Gate", "Other"),
    *("CompleteCall", "JsonFragmentUpdate", "Limits", "MessageConfig", "ErrorDetail", "PartialCall", "Usage"),
    *("ParserError", "Partial", "Path", "ReasoningPart", "Refusal", "Resolution", "SchemaMismatch", "ServerCall"),
    *("Source", "SseEvent", "Stream", "TextPart", "Part", "ToolCall", "shape_of"),
    *("ToolCallDelta", "EventState", "SnapshotState", "ChunkChoices", "ReadingChoices", "ArrayView", "ObjectView"),
    *("ArgumentsMode", "NdjsonState", "SseState"),
    *("AgUiCall", "AgUiRun", "AppendText", "AssistantPart", "AssistantTransport", "Encoder", "Finish", "SetValue"),
    *("VercelCall", "VercelReport", "DescribeError", "ProviderError", "describe_error"),
}


def names() -> set[str]:
    packages = (jsontide, tree, events, snapshots, schema, messages, frontends, providers, streams, testing)
    found = {name: getattr(package, name) for package in packages for name in package.__all__}
    return {name for name, thing in found.items() if callable(thing) and not is_told_not_called(name, thing)}


def is_told_not_called(name: str, thing: object) -> bool:
    """Exceptions, enums and nodes, which programs get and do not make."""
    return isclass(thing) and (issubclass(thing, Exception | Enum) or name.endswith("Node"))


def test_every_public_entry_point_has_a_case() -> None:
    measured = {part for case in CASES for entry in case.entries for part in entry.split(".")}
    assert names() - measured - PLAIN == set()


def test_every_case_runs() -> None:
    for case in CASES:
        try:
            case.build(8)()
        except Exception as error:
            error.add_note(f"{case.entries[0]}: {case.given}")
            raise


def test_exponents_tell_linear_work_from_quadratic_work() -> None:
    assert exponent(2.0, 16.0, 3) == 1
    assert exponent(2.0, 128.0, 3) == 2


def test_what_grows_too_much_must_be_explained() -> None:
    linear = Case(("loads",), "", lambda _: int, 1, "")
    assert Growth(linear, 1, 8, BOUND, BOUND, 1.0).is_explained
    assert not Growth(linear, 1, 8, BOUND + 0.01, 1.0, 1.0).is_explained
    assert not Growth(linear, 1, 8, 1.0, BOUND + 0.01, 1.0).is_explained
    reason = Case(("loads",), "text", lambda _: int, 1, "because")
    assert Growth(reason, 1, 8, 2.0, 2.0, 1.0).is_explained
    assert "1. because" in page([Growth(reason, 1, 8, 2.0, 2.0, 1.0)])
