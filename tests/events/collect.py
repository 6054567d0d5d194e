"""Fragments in, all updates out, in the terms of the model: what the tests of events share.

Rule: only the pieces of strings may differ from cut to cut, so the pieces of one string are joined.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from jsontide import JsonFragmentAccumulator
from jsontide.events import JsonFragmentUpdate
from tests.oracles import Event


def collect(
    fragments: Iterable[str] | Iterable[bytes], *, ended: bool = True, **options: Any
) -> list[JsonFragmentUpdate]:
    """All updates of all fragments, and of the end of the text."""
    accumulator = JsonFragmentAccumulator(**options)
    updates = list(chain.from_iterable(map(accumulator.add_fragment, fragments)))
    return updates + accumulator.finish() if ended else updates


def join_strings(updates: Iterable[JsonFragmentUpdate]) -> list[Event]:
    """The updates as events of the model, the pieces of a string as one."""
    result: list[Event] = []
    for update in updates:
        event = Event(update.kind.value, update.segments, update.text, update.value)
        if event.kind == "PartialString" and result and result[-1][:2] == event[:2]:
            event = event._replace(text=(result.pop().text or "") + (event.text or ""))
        result.append(event)
    return result


def errors(updates: Sequence[JsonFragmentUpdate]) -> list[JsonFragmentUpdate]:
    return [update for update in updates if update.kind == "Error"]
