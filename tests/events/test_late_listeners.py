"""A subscription made in the middle of a value gets the next one; a cancelled one gets nothing."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from hypothesis import given

from jsontide import JsonFragmentAccumulator
from jsontide.events import JsonFragmentUpdate, Subscription, feed_events
from tests.cuts import Chunks
from tests.oracles import Path, Steps, matches
from tests.strategies import cut_documents, documents, examples, randoms, spell_pattern


@pytest.mark.parametrize(
    ("begun", "rest"), [("1", "2"), ("-", "1"), ("1.5e", "3"), ("t", "rue"), ("fals", "e"), ("nul", "l")]
)
def test_a_number_or_a_literal_that_has_begun_is_not_for_later_subscriptions(begun: str, rest: str) -> None:
    early: list[str | None] = []
    late: list[str | None] = []
    accumulator = JsonFragmentAccumulator(updates=False)
    accumulator.on("[*]", lambda update: early.append(update.text))
    accumulator.add_fragment("[" + begun)
    accumulator.on("[*]", lambda update: late.append(update.text))
    accumulator.add_fragment(rest + ", 7]")
    assert early == [begun + rest, "7"]
    assert late == ["7"]


def test_a_late_subscription_gets_everything_after_a_reset() -> None:
    heard: list[object] = []
    accumulator = JsonFragmentAccumulator(updates=False)
    accumulator.add_fragment("[0, 1, 2, 3")
    accumulator.on("[*]", lambda update: heard.append(update.value))
    accumulator.reset()
    accumulator.add_fragment("[4]")
    assert heard == [4]


@dataclass(slots=True, eq=False)
class Listener:
    """A subscription as the model sees it, and what it has heard."""

    steps: Steps
    deltas: bool
    once: bool
    since: int
    subscription: Subscription
    heard: list[JsonFragmentUpdate]
    expected: list[JsonFragmentUpdate] = field(default_factory=list)

    def expect(self, began: int, update: JsonFragmentUpdate, *, is_delta: bool) -> None:
        if self.once and self.expected:
            return
        if is_delta == self.deltas and began >= self.since and matches(self.steps, update.segments):
            self.expected.append(update)


class Witness:
    """Gets every update from the start, and knows when each value began."""

    def __init__(self) -> None:
        self.accumulator = JsonFragmentAccumulator(keys=False)
        self.whole: list[JsonFragmentUpdate] = []
        self.began = 0
        self.accumulator.on("**", self.whole.append)

    def hear(self, chunk: Any) -> Iterator[tuple[int, JsonFragmentUpdate, bool]]:
        self.whole.clear()
        for update in self.accumulator.add_fragment(chunk) if chunk is not None else self.accumulator.finish():
            if update.kind == "StartString":
                self.began = update.start
            if update.kind == "PartialString":
                yield self.began, update, True
        yield from [(update.start, update, False) for update in self.whole]


def some_steps(paths: list[Path], random: Random) -> Steps:
    """A pattern that some value of the document fits, more or less."""
    path = random.choice([(), *paths])
    any_of_them: dict[type, Any] = {str: str, int: int}
    steps = [random.choice((segment, segment, any_of_them[type(segment)], ...)) for segment in path]
    return tuple(steps[: random.choice((len(steps), len(steps), 2))])


@examples(0.5)
@given(cut_documents(documents), randoms)
def test_each_gets_what_begins_after_it_until_it_is_cancelled(document: tuple[str, Chunks], random: Random) -> None:
    text, chunks = document
    paths = [update.segments for update in JsonFragmentAccumulator(keys=False).add_fragment(text)]
    accumulator, witness = JsonFragmentAccumulator(updates=random.random() < 0.3), Witness()
    fragments: list[Any] = list(chunks)
    listeners: list[Listener] = []
    live: list[Listener] = []
    for chunk in [*fragments, None]:
        for _ in range(random.choice((0, 0, 0, 1, 3)) if len(live) < 8 else 0):
            steps, heard = some_steps(paths, random), list[JsonFragmentUpdate]()
            deltas, once = random.random() < 0.4, random.random() < 0.3
            subscription = accumulator.on(spell_pattern(steps, random), heard.append, deltas=deltas, once=once)
            since = witness.accumulator.state.index
            live.append(Listener(steps, deltas, once, since, subscription, heard))
            listeners.append(live[-1])
        for listener in random.sample(live, random.randrange(len(live) + 1)) if random.random() < 0.4 else []:
            listener.subscription.cancel()
            live.remove(listener)
        if fragments and random.random() < 0.2:
            feed_events(accumulator.state, random.choice(fragments))  # a branch takes nothing from the accumulator
        if chunk is None:
            accumulator.finish()
        else:
            accumulator.add_fragment(chunk)
        for began, update, is_delta in witness.hear(chunk):
            for listener in live:
                listener.expect(began, update, is_delta=is_delta)
        live = [listener for listener in live if not (listener.once and listener.expected)]
        assert [listener for listener in listeners if listener.subscription.is_active] == live
    for listener in listeners:
        assert listener.heard == listener.expected
