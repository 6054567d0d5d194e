"""What may be mended is chosen by kind, and wrong choices are refused where they are made."""

import pickle
from typing import Any

import pytest

from jsontide.mend import (
    EVERYTHING,
    MODELS,
    Mending,
    MendState,
    Repair,
    RepairKind,
    feed_mend,
    finish_mend,
    start_mend,
)
from jsontide.schema import shape_of


def test_a_kind_is_its_value_and_what_it_does() -> None:
    assert [RepairKind(kind.value) for kind in RepairKind] == list(RepairKind)
    assert pickle.loads(pickle.dumps(RepairKind.ROOT)) is RepairKind.ROOT  # noqa: S301 - our own
    root, fence = RepairKind.ROOT, RepairKind.FENCE
    assert (root.value, root.is_lossy, root.is_structural, root.is_coercion) == ("root", True, True, True)
    assert (fence.value, fence.is_lossy, fence.is_structural, fence.is_coercion) == ("code fence", False, False, False)


def test_sets_differ_by_what_people_write() -> None:
    assert EVERYTHING.kinds - MODELS.kinds == {RepairKind.ELLIPSIS}
    assert MODELS.with_kinds(RepairKind.ELLIPSIS) == EVERYTHING
    assert EVERYTHING.without(RepairKind.ELLIPSIS) == MODELS
    assert MODELS.allow_in_calls(RepairKind.PROSE).allowed_in_calls == {RepairKind.PROSE}
    assert MODELS.allowed_in_calls == frozenset()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"kinds": ["prose"]}, TypeError),
        ({"kinds": {"prose"}}, TypeError),
        ({"kinds": frozenset(), "allowed_in_calls": "prose"}, TypeError),
        ({"kinds": frozenset(), "values": "last"}, ValueError),
        ({"kinds": frozenset(), "max_held": 0}, ValueError),
        ({"kinds": frozenset(), "max_repairs": 1.5}, TypeError),
        ({"kinds": frozenset(), "max_depth": True}, TypeError),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error, match="must be"):
        Mending(**options)


@pytest.mark.parametrize("wrong", [None, "models", frozenset(), 1])
def test_anything_but_mending_is_refused(wrong: Any) -> None:
    # The compiler checks types too, in its own words.
    with pytest.raises(TypeError, match="Mending"):
        start_mend(wrong)
    with pytest.raises(TypeError, match="MendState"):
        feed_mend(wrong, "")
    with pytest.raises(TypeError, match="MendState"):
        finish_mend(wrong)


def test_a_schema_is_given_by_its_shape() -> None:
    wrong: Any = {"type": "object"}
    with pytest.raises(TypeError, match=r"shape_of|Shape"):
        start_mend(MODELS, wrong)


@pytest.mark.parametrize("wrong", [None, 1, ["{"], {}])
def test_a_chunk_is_text_or_bytes(wrong: Any) -> None:
    with pytest.raises(TypeError, match="chunk must be"):
        feed_mend(start_mend(MODELS), wrong)


def feed(state: MendState, *chunks: str | bytes) -> tuple[MendState, str]:
    output = ""
    for chunk in chunks:
        state, text, _ = feed_mend(state, chunk)
        output += text
    state, text, _ = finish_mend(state)
    return state, output + text


def test_bytes_are_read_as_text_is_and_bad_ones_are_an_error() -> None:
    text = "{'städte': ['Zürich',]}"
    data = text.encode()
    assert (
        feed(start_mend(MODELS), *[data[i : i + 1] for i in range(len(data))])[1] == feed(start_mend(MODELS), text)[1]
    )
    state, output = feed(start_mend(MODELS), b'{"a": "\xff"}')
    assert state.error is not None
    assert (state.error.reason.name, output) == ("BAD_UTF8", '{"a": "')
    state, _ = feed(start_mend(MODELS), b'{"a": "\xc3')
    assert state.error is not None
    assert state.error.reason.name == "UNEXPECTED_END"
    with pytest.raises(TypeError, match="cannot follow"):
        feed(start_mend(MODELS), b"{", '"a"')


def test_what_is_switched_off_is_an_error_at_its_place() -> None:
    strict = Mending(kinds=frozenset())
    for text, index in [('{"a": 1,}', 8), ("{'a': 1}", 1), ('{"a": "\n"}', 7), ('{"a": "\\d"}', 7), ("[1", 2)]:
        state, _ = feed(start_mend(strict), text)
        assert state.error is not None
        assert state.error.index == index


def test_a_state_is_a_value_with_a_schema_too() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}, "tags": {"type": "array", "items": {}}}}
    before, first, _ = feed_mend(start_mend(MODELS, shape_of(schema)), '{"n": "1,2')
    again = pickle.loads(pickle.dumps(before))  # noqa: S301 - our own
    for state in (before, again, before):
        after, rest = feed(state, '00", "tags": [1,')
        assert first + rest == '{"n": 1200, "tags": [1]}'
        assert [repair.kind.name for repair in after.repairs] == ["NUMBER_FORM", "TRUNCATED", "TRUNCATED"]
    assert "repairs" in repr(before)


def test_too_many_repairs_are_an_error() -> None:
    few = Mending(kinds=frozenset(RepairKind), max_repairs=3)
    state, _ = feed(start_mend(few), "[1]]]]]]")
    assert state.error is not None
    assert state.error.reason.name == "TOO_MANY_REPAIRS"
    assert len(state.repairs) == 3


def test_repairs_compare_by_value() -> None:
    state, _ = feed(start_mend(MODELS), "[1,]")
    assert state.repairs == (Repair(RepairKind.TRAILING_COMMA, 2, ",", ""),)
