"""Texts through the stage: all that it says about them, and how that is judged.

In: chunks of a text. Out: the joined output, the repairs, the error, and what stood in every state on the way.
Rule: what is right is said by `json.loads` and by whoever damaged the text, never by the stage.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from jsontide.mend import EVERYTHING, MODELS, Mending, MendState, Repair, RepairKind, feed_mend, finish_mend, start_mend
from jsontide.schema import shape_of
from tests.mend.damage import REFUSED as MUST_FAIL
from tests.mend.damage import Document
from tests.oracles import is_json, loads

RIGHT, REFUSED, TRUNCATED, WRONG = "right", "refused", "truncated", "wrong"


class Moment(NamedTuple):
    """All that is known after some chunks: the state, and what has been given out since the start."""

    state: MendState
    text: str = ""
    repairs: tuple[Repair, ...] = ()

    @property
    def told(self) -> tuple[object, ...]:
        """Everything that can be seen of it, to be compared."""
        state = self.state
        return self.text, self.repairs, state.repairs, state.error, state.is_truncated, state.held


def begin(mending: Mending = MODELS, schema: Any = None) -> Moment:
    return Moment(start_mend(mending, None if schema is None else shape_of(schema)))


def feed(moment: Moment, chunk: str | bytes) -> Moment:
    state, text, repairs = feed_mend(moment.state, chunk)
    return Moment(state, moment.text + text, moment.repairs + repairs)


def finish(moment: Moment) -> Moment:
    state, text, repairs = finish_mend(moment.state)
    return Moment(state, moment.text + text, moment.repairs + repairs)


def along(chunks: Iterable[str] | Iterable[bytes], mending: Mending = MODELS) -> list[Moment]:
    """The moment before the first chunk and after each; the end is not among them."""
    moments = [begin(mending)]
    for chunk in chunks:
        moments.append(feed(moments[-1], chunk))
    return moments


def mended(chunks: Iterable[str] | Iterable[bytes], mending: Mending = MODELS, schema: Any = None) -> Moment:
    """The moment after the end."""
    moment = begin(mending, schema)
    for chunk in chunks:
        moment = feed(moment, chunk)
    return finish(moment)


def kinds_of(moment: Moment) -> set[RepairKind]:
    return {repair.kind for repair in moment.state.repairs}


def alike(left: Any, right: Any) -> bool:
    """Equal, with the same types; but `5.` may be read as 5 or as 5.0. The order of keys counts."""
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(alike(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(alike, left, right))
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, int | float) and isinstance(right, int | float):
        return left == right
    return type(left) is type(right) and bool(left == right)


def judge(end: Moment, expected: Any) -> str:
    """What the end of a text is, beside the value that was meant. Without an error the output must be JSON."""
    if end.state.error is not None:
        return REFUSED
    if end.state.is_truncated:
        return TRUNCATED
    return RIGHT if alike(loads(end.text), expected) else WRONG


def judge_drawn(name: str, document: Document) -> str:
    """What became of a document with a damage. If it is JSON by chance, nobody can see what was meant."""
    text = document.text
    found = judge(mended([text], EVERYTHING), document.value)
    if found == WRONG or (found != REFUSED and name in MUST_FAIL):
        return "strict" if is_json(text) else WRONG
    return found


def edited(original: str, repairs: Iterable[Repair]) -> str:
    """M3: the output, made of the original and the repairs alone."""
    parts, place = [], 0
    for repair in repairs:
        assert repair.index >= place, "repairs overlap or are out of order"
        assert original[repair.index : repair.index + len(repair.was)] == repair.was
        parts += [original[place : repair.index], repair.became]
        place = repair.index + len(repair.was)
    return "".join([*parts, original[place:]])


def unedited(output: str, repairs: Iterable[Repair]) -> str:
    """M3 the other way: the original, made of the output and the repairs alone."""
    parts: list[str] = []
    at = length = 0  # in the output, and how much of the original there is
    for repair in repairs:
        copied = output[at : at + repair.index - length]
        at += len(copied)
        assert output[at : at + len(repair.became)] == repair.became
        at += len(repair.became)
        parts += [copied, repair.was]
        length = repair.index + len(repair.was)
    return "".join([*parts, output[at:]])


def origins(original: str, repairs: Iterable[Repair]) -> list[tuple[int, int]]:
    """For every character of the output, the first and the last index in the original that it may come from."""
    result: list[tuple[int, int]] = []
    place = 0
    for repair in repairs:
        result += [(index, index) for index in range(place, repair.index)]
        place = repair.index + len(repair.was)
        result += [(repair.index, place)] * len(repair.became)
    return result + [(index, index) for index in range(place, len(original))]
