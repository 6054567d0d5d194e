"""The laws of the README as property tests, under their numbers.

This module tests laws 1 to 4, 7 and 8 for the parser; the others have modules of their own:

    law 5, and laws 1, 4 and 7 for events    events/test_event_laws.py
    law 6                                    snapshots/test_snapshot_laws.py
    laws 1 to 4 for schemas                  schema/test_schema_laws.py
    law 9, and laws 1 to 4 for messages      messages/test_message_laws.py
    laws 1 to 4 and 9 for recordings         providers/test_recordings.py
    law 9 through tools that are run         streams/test_run_tools.py
    laws 4 and 7 for snapshots               snapshots/test_snapshot_states.py
    law 8, by counting work                  test_cost.py, and the test_*_cost.py of each package
"""

import pickle
import subprocess
import sys
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide import MISSING, ParserState, create_parser_state, finalize, get_resolved_value, parse_chunk
from jsontide.tree import Mode
from tests.cuts import Chunks, cut_randomly, fed, prefixes, singles, states_along, whole
from tests.oracles import first_wins, loads, outcome, visible
from tests.relations import flat, grows, has_error, hold, portrait, remade, same, strays
from tests.seeded import Tree
from tests.strategies import bad_bytes, bad_texts, cut, cut_documents, documents, examples, randoms, texts, trees

cut_good = cut_documents(documents)
cut_bad = cut_documents(bad_texts())


# 1. Any cut, same end.


@examples(3)
@given(cut_good)
def test_law_1_any_cut_ends_with_what_json_loads_reads(document: tuple[str, Chunks]) -> None:
    text, chunks = document
    state = finalize(fed(chunks))
    assert state.error is None
    assert state.is_complete
    assert same(get_resolved_value(state), loads(text))
    assert state.value is get_resolved_value(state)


@examples(1)
@given(texts(repeat_keys=True), st.data())
def test_law_1_holds_for_duplicate_keys_under_both_policies(text: str, data: st.DataObject) -> None:
    chunks = data.draw(cut(text))
    last = finalize(fed(chunks, create_parser_state(duplicate_keys="last")))
    first = finalize(fed(chunks, create_parser_state(duplicate_keys="first")))
    assert same(last.value, loads(text))
    assert same(first.value, loads(text, object_pairs_hook=first_wins))


@examples(2)
@given(cut_bad)
def test_law_1_the_same_error_comes_at_the_same_place(document: tuple[str, Chunks]) -> None:
    text, chunks = document
    assert portrait(finalize(fed(chunks))) == portrait(finalize(fed(whole(text))))


@examples(1)
@given(texts(raw_surrogates=False), randoms)
def test_law_1_str_and_bytes_give_the_same(text: str, random: Random) -> None:
    chunks = cut_randomly(text, random)
    as_str = states_along(chunks)
    as_utf8 = states_along([chunk.encode() for chunk in chunks])
    for one, other in zip(as_str, as_utf8, strict=True):
        assert portrait(one) == portrait(other)


# 2. Values only grow.


@examples(3)
@given(cut_good)
def test_law_2_after_every_chunk_exactly_the_certain_is_visible(
    document: tuple[str, Chunks],
) -> None:
    _, chunks = document
    for state, prefix in zip(states_along(chunks), prefixes(chunks), strict=True):
        assert same(state.value, visible(prefix))


@examples(1)
@given(cut_good)
def test_law_2_nothing_shown_is_taken_back(document: tuple[str, Chunks]) -> None:
    text, chunks = document
    old: Any = MISSING
    for state in states_along(chunks):
        assert grows(old, state.value)
        old = state.value
    assert grows(old, loads(text))


@examples(1)
@given(cut_documents(texts(repeat_keys=True)))
def test_law_2_holds_for_duplicate_keys_when_the_first_wins(document: tuple[str, Chunks]) -> None:
    _, chunks = document
    old: Any = MISSING
    states = states_along(chunks, create_parser_state(duplicate_keys="first"))
    for state, prefix in zip(states, prefixes(chunks), strict=True):
        assert same(state.value, visible(prefix, object_pairs_hook=first_wins))
        assert grows(old, state.value)
        old = state.value


@examples(1)
@given(cut_documents(texts(repeat_keys=True)))
def test_law_2_exception_the_last_of_equal_keys_replaces_the_others(
    document: tuple[str, Chunks],
) -> None:
    _, chunks = document
    for state, prefix in zip(states_along(chunks), prefixes(chunks), strict=True):
        assert same(state.value, visible(prefix))


@examples(2)
@given(cut_good)
def test_law_2_holds_for_a_program_that_keeps_nothing(document: tuple[str, Chunks]) -> None:
    _, chunks = document
    state = create_parser_state()
    shown = [visible(prefix) for prefix in prefixes(chunks)]
    for at, expected in enumerate(shown[1:]):
        state = parse_chunk(state, chunks[at])
        assert same(state.value, expected)


# 3. What did not change is the same object.


def identities_kept(old: ParserState, new: ParserState) -> bool:
    """No equal container is another object; and a value that is equal as a whole is one object."""
    unchanged = same(old.value, new.value)
    return not strays(old.value, new.value) and (not unchanged or old.value is new.value)


@examples(2)
@given(cut_good)
def test_law_3_every_unchanged_container_is_the_same_object(document: tuple[str, Chunks]) -> None:
    _, chunks = document
    states = states_along(chunks)
    for old, new in pairwise(states):
        assert identities_kept(old, new)


@examples(2)
@given(cut_good, randoms)
def test_law_3_holds_for_states_read_late_and_in_any_order(document: tuple[str, Chunks], random: Random) -> None:
    _, chunks = document
    states = states_along(chunks)
    read = random.sample(range(len(states)), k=random.randint(1, min(12, len(states))))
    for at in read:
        _ = states[at].value
    for old, new in pairwise(sorted(read)):
        assert identities_kept(states[old], states[new])
    first, last = min(read), max(read)
    assert identities_kept(states[first], states[last])


@examples(1)
@given(cut_good, randoms)
def test_law_3_holds_when_only_some_states_are_read_while_feeding(document: tuple[str, Chunks], random: Random) -> None:
    _, chunks = document
    state = create_parser_state()
    read = [state]
    for chunk in chunks:
        state = parse_chunk(state, chunk)
        if random.random() < 0.4:
            assert identities_kept(read[-1], state)
            read.append(state)
    assert identities_kept(random.choice(read), state)


# 4. A state is a value.


@examples(1)
@given(st.one_of(cut_good, cut_bad))
def test_law_4_old_states_do_not_change(document: tuple[str, Chunks]) -> None:
    _, chunks = document
    state = create_parser_state()
    held = []
    for chunk in chunks:
        held.append((state, state.value, portrait(state)))
        state = parse_chunk(state, chunk)
    finalize(state)
    for old, value, saved in held:
        assert old.value is value
        assert portrait(old) == saved


@examples(1)
@given(cut_good, randoms)
def test_law_4_a_state_first_read_late_shows_its_own_moment(document: tuple[str, Chunks], random: Random) -> None:
    _, chunks = document
    moments = list(zip(states_along(chunks), prefixes(chunks), strict=True))
    random.shuffle(moments)
    for state, prefix in moments:
        assert same(state.value, visible(prefix))


@examples(2)
@given(trees())
def test_law_4_branches_are_independent(tree: Tree) -> None:
    for at in tree.random.sample(range(len(tree.states)), k=len(tree.states)):
        state, text = tree.states[at], tree.texts[at]
        value, found = outcome(text)
        assert same(state.value, value)
        assert has_error(state, found, text)


@examples(1)
@given(trees())
def test_law_4_a_branch_says_what_a_fresh_parse_says(tree: Tree) -> None:
    for state, text in zip(tree.states, tree.texts, strict=True):
        assert portrait(state) == portrait(fed(whole(text)))


@examples(1)
@given(trees())
def test_law_3_holds_across_branches(tree: Tree) -> None:
    for at in tree.random.sample(range(len(tree.states)), k=len(tree.states)):
        _ = tree.states[at].value
    for parent, child in tree.edges:
        assert identities_kept(tree.states[parent], tree.states[child])


@examples(1)
@given(trees())
def test_law_4_values_held_by_users_survive_every_branch(tree: Tree) -> None:
    held = [(state.value, flat(state.value)) for state in tree.states]
    for _ in range(20):
        tree.branch()
        held.append((tree.states[-1].value, flat(tree.states[-1].value)))
    for value, saved in held:
        assert flat(value) == saved


@examples(3)
@given(trees(), randoms)
def test_law_4_whatever_is_held_in_whatever_way_never_changes(tree: Tree, random: Random) -> None:
    held = []
    for _ in range(40):
        tree.branch()
        if random.random() < 0.7:
            assert same(tree.states[-1].value, outcome(tree.texts[-1])[0])
        if random.random() < 0.3:
            held.append(hold(tree.states[-1].value, random))
        while len(tree.states) > random.choice([1, 2, 5]):
            tree.forget()
    assert all(flat(look()) == saved for look, saved in held)


@examples(2)
@given(st.one_of(cut_good, cut_bad), randoms)
def test_law_4_a_state_can_be_pickled_at_any_point_and_continued(document: tuple[str, Chunks], random: Random) -> None:
    _, chunks = document
    at = random.randint(0, len(chunks))
    state = fed(chunks[:at])
    copy = pickle.loads(pickle.dumps(state))  # noqa: S301
    assert portrait(copy) == portrait(state)
    assert portrait(finalize(fed(chunks[at:], copy))) == portrait(finalize(fed(chunks)))


@examples(1)
@given(cut_good)
def test_law_4_a_state_can_be_pickled_after_every_chunk(document: tuple[str, Chunks]) -> None:
    text, chunks = document
    state = create_parser_state()
    for chunk in chunks[:60]:
        state = pickle.loads(pickle.dumps(parse_chunk(state, chunk)))  # noqa: S301
    assert same(finalize(fed(chunks[60:], state)).value, loads(text))


CONTINUE = """
import pickle, sys
from jsontide import finalize, parse_chunk
state = pickle.load(sys.stdin.buffer)
for chunk in pickle.load(sys.stdin.buffer):
    state = parse_chunk(state, chunk)
pickle.dump(finalize(state), sys.stdout.buffer)
"""


@pytest.mark.parametrize("place", [7, 13, 29])
def test_law_4_a_state_continues_in_another_process(place: int) -> None:
    text = '{"a":["\\ud83d\\ude00é",1.5e3],"b":{"":tru'
    data = f"{text}e}}}}".encode()
    state = fed(singles(data[:place]))
    done = subprocess.run(
        [sys.executable, "-c", CONTINUE],
        input=pickle.dumps(state) + pickle.dumps(singles(data[place:])),
        capture_output=True,
        check=True,
    )
    assert portrait(pickle.loads(done.stdout)) == portrait(finalize(fed(whole(data))))  # noqa: S301


@given(texts(raw_surrogates=False))
def test_law_4_nothing_passed_in_is_modified_or_kept(text: str) -> None:
    chunk = bytearray(text.encode())
    state = parse_chunk(create_parser_state(), chunk)
    assert chunk == text.encode()
    saved = portrait(state)
    chunk[:] = b" " * len(chunk)
    assert portrait(state) == saved


# 7. Bad text is data.


@examples(3)
@given(cut_bad)
def test_law_7_the_error_is_at_the_first_impossible_character(document: tuple[str, Chunks]) -> None:
    text, chunks = document
    state = fed(chunks)
    assert has_error(state, outcome(text)[1], text)
    ended = finalize(state)
    value, found = outcome(text, ended=True)
    assert has_error(ended, found, text)
    assert same(ended.value, value)
    assert same(get_resolved_value(ended), MISSING if found else value)


@examples(1)
@given(cut_bad)
def test_law_7_after_every_chunk_of_a_bad_text_the_certain_is_visible(
    document: tuple[str, Chunks],
) -> None:
    _, chunks = document
    for state, prefix in zip(states_along(chunks), prefixes(chunks), strict=True):
        value, found = outcome(prefix)
        assert same(state.value, value)
        assert has_error(state, found, prefix)
        assert (state.mode is Mode.ERROR) == (found is not None)


@examples(2)
@given(st.lists(st.text(max_size=8), max_size=8))
def test_law_7_no_str_makes_the_parser_raise(chunks: list[str]) -> None:
    text = "".join(chunks)
    state = finalize(fed(chunks))
    assert has_error(state, outcome(text, ended=True)[1], text)


@examples(2)
@given(st.one_of(bad_bytes(), st.binary(max_size=30)), randoms)
def test_law_7_bad_utf8_is_an_error_where_it_begins(data: bytes, random: Random) -> None:
    good, offset = valid_part(data)
    state = fed(cut_randomly(data, random))
    earlier = outcome(good.removeprefix("\ufeff"))[1]
    if earlier or offset is None:
        assert has_error(state, earlier, good.removeprefix("\ufeff"))
        return
    assert state.error is not None
    assert state.error.reason.name == "BAD_UTF8"
    assert state.error.index == len(good.removeprefix("\ufeff"))
    assert str(offset) in state.error.message
    assert portrait(state) == portrait(fed(singles(data)))


def valid_part(data: bytes) -> tuple[str, int | None]:
    """The text before the first bad sequence, and the offset of that; half a sequence is not bad."""
    try:
        return data.decode(), None
    except UnicodeDecodeError as error:
        half = error.reason == "unexpected end of data"
        return data[: error.start].decode(), None if half else error.start


@examples(1)
@given(bad_texts(), st.data())
def test_law_7_a_state_in_error_stays_as_it_is(text: str, data: st.DataObject) -> None:
    chunks = data.draw(cut(text))
    state = finalize(fed(chunks))
    if state.error:
        assert finalize(state) is state
        assert all(parse_chunk(state, chunk) is state for chunk in chunks)
        assert get_resolved_value(state) is MISSING


# 8. Cost follows the chunk, not the document.


@examples(1)
@given(cut_good)
def test_law_8_reading_copies_only_what_was_open(document: tuple[str, Chunks]) -> None:
    _, chunks = document
    states = states_along(chunks)
    for old, new in pairwise(states):
        assert len(remade(old.value, new.value)) <= len(old.stack)
