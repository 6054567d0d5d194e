"""Changes between states: applied to the value before, they give the value after; what is finished is."""

import json
import pickle
from typing import Any

import jsonpatch
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide import MISSING, create_parser_state, finalize, stream_message
from jsontide.deltas import (
    AppendText,
    Change,
    CompactValue,
    CompactWriter,
    PatchWriter,
    SetValue,
    compare_values,
    read_changes,
    write_json,
)
from jsontide.encoders.message_value import message_changes
from jsontide.tree import node_at
from tests.cuts import states_along
from tests.strategies import cut_documents, texts


def paths_of(value: Any, path: tuple[str | int, ...] = ()) -> Any:
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for segment, each in inner:
        yield from paths_of(each, (*path, segment))


REPEATED = texts(repeat_keys=True)
DOCUMENTS = cut_documents(st.one_of(texts(), REPEATED))


@given(DOCUMENTS, st.sampled_from(["last", "first"]), st.integers(1, 4))
def test_compact_events_give_the_values(document: Any, duplicates: Any, every: int) -> None:
    _, chunks = document
    states = states_along(chunks, create_parser_state(duplicate_keys=duplicates))
    states.append(finalize(states[-1]))
    writer, shown = CompactWriter(), CompactValue()
    before = None
    for state in [*states[::every], states[-1]]:
        writer, events = writer.write(read_changes(before, state))
        for event in events:
            shown = shown.read(json.loads(write_json(event)))
        before = state
        if state.value is MISSING:
            assert shown.value is MISSING
            continue
        assert shown.value == state.value


@given(cut_documents(texts()))
def test_what_is_finished_is_known_at_once(document: Any) -> None:
    _, chunks = document
    writer, shown, before = CompactWriter(), CompactValue(), None
    for state in states_along(chunks):
        writer, events = writer.write(read_changes(before, state))
        for event in events:
            shown = shown.read(event)
        before = state
        for path in () if state.value is MISSING else paths_of(state.value):
            node = node_at(state, path)
            assert node is not None
            assert shown.is_finished(path) is node.closed, path


@given(DOCUMENTS, st.booleans())
def test_a_patch_gives_the_next_value(document: Any, in_steps: bool) -> None:  # noqa: FBT001
    _, chunks = document
    states = states_along(chunks)
    writer, value = PatchWriter(in_steps), None
    for state in states:
        writer, patch = writer.write(state)
        value = jsonpatch.apply_patch(value, patch)
        if not in_steps and state.value is not MISSING:
            assert value == state.value
    value = jsonpatch.apply_patch(value, writer.finish(states[-1])[1])
    if states[-1].value is not MISSING:
        assert value == states[-1].value


def test_a_string_that_was_replaced_with_its_container_is_not_sent_again() -> None:
    writer, _ = PatchWriter(in_steps=True).write_changes([SetValue((), {"a": {"b": "one two"}}, open=("a", "b"))])
    writer, patch = writer.write_changes([AppendText(("a", "b"), "!"), SetValue(("a",), {"c": 3})])
    assert patch == [{"op": "add", "path": "/a", "value": {"c": 3}}]
    assert writer.finish()[1] == []


REPLACED = [
    ({"a": "one"}, {"a": "two, more"}),
    ({"a": [1, 2]}, {"a": [5, 2, 7]}),
    ([{"a": [1]}, [3, 4]], [{"a": [1]}, [9, 4, 5]]),
    ([[{"a": 1, "b": 2}]], [[{"a": 1}]]),
    ({"x": [{"a": 1, "b": 2}]}, {"x": [{"b": 2, "c": 3}, 4]}),
    ([1, "x"], [1, {"y": "z"}, 2]),
]
"""Values of a document that repeats keys, or shows less: they do not only grow."""


@pytest.mark.parametrize(("before", "after"), REPLACED)
def test_values_that_are_replaced_are_set(before: Any, after: Any) -> None:
    first, changes = (
        compare_values(MISSING, before, is_complete=False),
        compare_values(before, after, is_complete=False),
    )
    writer, patch = PatchWriter().write_changes(first)
    value = jsonpatch.apply_patch(None, patch)
    assert jsonpatch.apply_patch(value, writer.write_changes(changes)[1]) == after
    compact, events = CompactWriter().write(first)
    shown = CompactValue().read(events[0])
    for event in compact.write(changes)[1]:
        shown = shown.read(event)
    assert shown.value == after


MESSAGE = {"model": "m", "message": {"content": "Hi"}, "done": False}


def test_joining_late_takes_one_event() -> None:
    *_, message, _ = stream_message([MESSAGE, {"message": {"content": "!"}, "done": False}])
    _, events = CompactWriter().write(message_changes(None, message))
    (event,) = events
    shown = CompactValue().read(event)
    assert shown.value == {
        "role": "assistant",
        "status": "streaming",
        "provider": "ollama",
        "model": "m",
        "parts": [{"type": "text", "text": "Hi!"}],
    }
    assert shown.growing == {(), ("parts",), ("parts", 0), ("parts", 0, "text")}


def test_a_new_root_after_other_changes_is_an_event_of_its_own() -> None:
    writer, _ = CompactWriter().write([SetValue((), "", ())])
    changes: list[Change] = [AppendText((), "a"), SetValue((), {}, ()), SetValue(("b",), 1)]
    assert writer.write(changes)[1] == ["a", {"version": 2, "value": {}, "at": [], "then": [["b", 1]]}]


@given(cut_documents(texts()))
def test_what_was_sent_can_be_saved_at_any_time(document: Any) -> None:
    _, chunks = document
    writer, patches, shown, before = CompactWriter(), PatchWriter(in_steps=True), CompactValue(), None
    patched: Any = None
    for state in states_along(chunks):
        writer, patches, shown = pickle.loads(pickle.dumps((writer, patches, shown)))  # noqa: S301 - our own
        changes = read_changes(before, state)
        assert pickle.loads(pickle.dumps(changes)) == changes  # noqa: S301
        writer, events = writer.write(changes)
        for event in events:
            shown = shown.read(event)
        patches, patch = patches.write(state)
        patched = jsonpatch.apply_patch(patched, patch)
        before = state
    if before is not None and before.value is not MISSING:
        assert shown.value == before.value
        assert jsonpatch.apply_patch(patched, patches.finish(before)[1]) == before.value
