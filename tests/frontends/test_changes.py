"""Changes between states: applied to the value before, they give the value after; what is finished is."""

import json
import pickle
from typing import Any

import jsonpatch
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide import MISSING, create_parser_state, finalize, frontends, parse_chunk, stream_message
from jsontide.frontends import (
    AppendText,
    Change,
    CompactValue,
    CompactWriter,
    Finish,
    PatchWriter,
    SetValue,
    compare_values,
    read_changes,
    write_json,
)
from jsontide.frontends.message_value import message_changes
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
    assert shown.is_finished(()) is states[-1].is_complete


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


BEGUN = CompactValue().read({"version": 0, "value": {"a": ["x"], "b": "y"}, "at": ["b"]})


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (True, "not an operation: True"),
        (0, "not an operation: 0"),
        ([[]], r"not an operation: \[\]"),
        ([{"at": "b"}], "not an operation"),
        ([2, 1], r"the value at \(\) is finished already: 1"),
        ([{"at": ["a"]}, 1], r"the value at \('a',\) is finished already: 1"),
        ([{"at": ["a"]}, "z"], r"there is no text at \('a',\) to append to: 'z'"),
        ([{"at": ["a", 7]}, "z"], "there is no text at"),
        ([["c", 1]], r"there is no container around \('b', 'c'\): 'y'"),
        ([{"at": ["a", 0]}, [0, 1]], "there is no container around"),
        ([{"at": ["a"]}, [2, 1]], "there is no place 2 in a list: 1"),
        ([{"at": ["a"]}, ["c", 1]], "there is no place 'c' in a list: 1"),
        ([{"at": []}, [0, 1]], "there is no place 0 in a dict: 1"),
        ({"value": 1}, "an object must have a version or an end"),
    ],
)
def test_an_event_that_does_not_fit_is_refused(event: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        BEGUN.read(event)


def test_the_first_event_is_whole_and_none_follows_the_end() -> None:
    with pytest.raises(ValueError, match="the first event must be a whole value: 'x'"):
        CompactValue().read("x")
    with pytest.raises(ValueError, match="an event follows the end: 'x'"):
        BEGUN.read({"end": "complete"}).read("x")


def test_what_is_there_and_does_not_grow_is_finished() -> None:
    assert [BEGUN.is_finished(path) for path in ((), ("a",), ("a", 0), ("a", 1), ("b",), ("c",), ("b", "x"))] == [
        *(False, True, True, False),
        *(False, False, False),
    ]
    after = BEGUN.read([2])
    assert after.is_finished(())
    assert after.is_finished(("b",))


CHANGES: list[Change] = [
    SetValue(("a",), {"b": "c"}, ("b",), is_new=False),
    SetValue((), []),
    AppendText(("a", 0), "x"),
    Finish(("a",), 2),
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: type(change).__name__)
def test_a_change_is_a_value(change: Change) -> None:
    again = pickle.loads(pickle.dumps(change))  # noqa: S301 - our own pickle
    assert again == change
    assert hash(again) == hash(change)
    assert getattr(again, "is_new", True) is getattr(change, "is_new", True)
    assert eval(repr(change), vars(frontends)) == change  # noqa: S307 - our own words
    assert [other for other in CHANGES if other == change] == [change]


def test_a_text_of_another_stream_is_set_and_not_taken_for_more_of_the_first() -> None:
    first, other = (parse_chunk(create_parser_state(), text) for text in ('{"a": "Kyo', '{"a": "Nara'))
    assert read_changes(first, other) == [SetValue((), {"a": "Nara"}, ("a",))]
