"""What a roster finds, compared with a search through all calls; also in old ones, and after an interrupted step."""

import pickle
from functools import reduce
from random import Random

import pytest
from hypothesis import given

from jsontide import COMPILED
from jsontide.messages import MessageState, ToolCallDelta, reduce_chunk, start_message
from jsontide.messages._calls import PartialCall
from jsontide.messages._document import Lens, grown, new_document
from jsontide.messages._roster import NO_CALLS, Roster
from tests.messages.telling import call, text
from tests.strategies import examples, randoms
from tests.test_interrupts import break_off

INDICES = range(4)
IDS = ("a", "b", "c", None)
LENS = Lens(None, streams=True)
NAMES = ("pay", "now", None)
TEXTS = ("", "{", "{}", "{}]")


def growing(roster: Roster, position: int) -> PartialCall:
    call = roster[position]
    assert isinstance(call, PartialCall)
    return call


def some_call(random: Random, before: PartialCall | None) -> PartialCall:
    has_index = (before is not None and before._has_index) or random.random() < 0.5
    index = before.index if before is not None and before._has_index else random.choice(INDICES)
    written = random.choice(TEXTS)
    return PartialCall(
        index=index,
        _has_index=has_index,
        id=(before and before.id) or random.choice(IDS),
        name=(before and before.name) or random.choice(NAMES),
        _document=grown(new_document(random.choice((None, LENS))), written),
        _is_blank=not written,
        _doubt=(before and before._doubt) or random.choice(("", "", "who knows")),
    )


def last(roster: Roster, index: int | None = None, call_id: str | None = None) -> int | None:
    """The model: look at all of them."""
    found = [
        position
        for position, call in enumerate(roster.all)
        if (index is None or (call._has_index and call.index == index)) and (call_id is None or call.id == call_id)
    ]
    return found[-1] if found else None


def open_for(roster: Roster, entry: ToolCallDelta) -> set[int]:
    """Those that are not complete, and of which neither index nor id nor name is another."""
    is_whole = entry.name and not entry.id and isinstance(entry.arguments, dict)
    return {
        position
        for position, call in enumerate(roster.all)
        if not call._document.is_complete
        and not (entry.index is not None and call._has_index)
        and not (entry.id and call.id)
        and not (entry.name and call.name and entry.name != call.name)
        and not (is_whole and call.name and call._document.error)
    }


def blank_for(roster: Roster, entry: ToolCallDelta, names: list[str]) -> set[int]:
    """Those without arguments that have one of the names, or a name that no tool has."""
    return {
        position
        for position, call in enumerate(roster.all)
        if call._is_blank
        and not (entry.index is not None and call._has_index)
        and not (entry.id and call.id)
        and (call.name in names or (call.name and call._document.lens is None))
    }


@given(randoms)
def test_every_roster_of_a_tree_of_rosters_finds_its_own_calls(random: Random) -> None:
    made = [NO_CALLS]
    for _ in range(random.randint(0, 60)):
        roster = random.choice([made[-1], made[-1], random.choice(made)])
        position = random.randint(0, len(roster))
        before = growing(roster, position) if position < len(roster) else None
        made.append(roster.put(position, before, some_call(random, before), is_answer=False))
        if random.random() < 0.2:
            made[-1] = pickle.loads(pickle.dumps(made[-1]))  # noqa: S301
        check(random.choice(made), random)
    for roster in made:
        check(roster, random)


def check(roster: Roster, random: Random) -> None:
    index, call_id = random.choice(INDICES), random.choice(IDS)
    both = last(roster, index, call_id)
    assert roster.of_index(index, call_id) == (last(roster, index) if both is None else both)
    assert roster.of_id(call_id) == (call_id and last(roster, call_id=call_id))
    entry = ToolCallDelta(
        index=random.choice((None, 7)),
        id=random.choice((None, "new")),
        name=random.choice(NAMES),
        arguments=random.choice((None, "{", {"a": 1})),
    )
    found, expected = roster.open_for(entry), open_for(roster, entry)
    assert found.count == len(expected)
    assert not expected or found.first in expected
    assert found.clear() == sorted(position for position in expected if not roster[position]._doubt)
    names = random.choice(([], ["pay"], ["pay", "now"]))
    blank, possible = set(roster.blank_for(entry, names)), blank_for(roster, entry, names)
    assert {position for position in possible if not roster[position]._doubt} <= blank <= possible
    assert bool(blank) == bool(possible)


def told(state: MessageState) -> list[tuple[str | None, str]]:
    return [(shown.id, shown.arguments) for shown in state.message.tool_calls]


@pytest.mark.skipif(COMPILED, reason="compiled code is not interrupted between its lines")
@examples(3)
@given(randoms)
def test_law_4_a_step_of_a_message_that_is_broken_off_can_be_done_again(random: Random) -> None:
    chunks = [
        call('{"a": ', index=0, id="a", name="pay"),
        call("[", id="b", name="pay"),
        call("1", index=0),
        call("]", id="b"),
        text("Hi"),
        call("}", id="a"),
    ]
    expected = told(reduce(reduce_chunk, chunks, start_message()))
    state = start_message()
    for chunk in chunks:
        break_off(lambda before=state, chunk=chunk: reduce_chunk(before, chunk), random.randint(0, 150))  # type: ignore[misc]
        state = reduce_chunk(state, chunk)
    assert told(state) == expected == [("a", '{"a": 1}'), ("b", "[]")]
