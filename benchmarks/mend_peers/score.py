"""How good the answers of a tool are.

In: cases and answers. Out: a `Score`, counted case by case.
Rule: a number is right whichever of its spellings a language keeps; `null` and an empty text for a text that means
neither are a tool's way to say that it found nothing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean
from typing import Any, Literal

from benchmarks.mend_peers.tools import NO_SCHEMA, Answer
from jsontide import MISSING
from tests.mend.cases import REPEATS, Case
from tests.relations import grows, same

Verdict = Literal["right", "wrong", "error"]


@dataclass(slots=True)
class Score:
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    flickers: dict[str, int] = field(default_factory=dict)
    """How often something that was shown was changed or taken back."""
    told: set[str] = field(default_factory=set)
    """Truncated texts that are not taken for complete ones: a mark, or an error."""
    shares: dict[str, float] = field(default_factory=dict)
    """How much of the right value was visible while it came, on average over the chunks."""

    def count(self, cases: Iterable[Case], verdict: Verdict) -> int:
        return sum(self.verdicts[case.name] == verdict for case in cases)

    def early(self, cases: Iterable[Case]) -> float:
        return fmean(self.shares[case.name] for case in cases if case.name in self.shares)


def add(score: Score, case: Case, answer: Answer) -> None:
    if answer.error == NO_SCHEMA:
        return
    score.verdicts[case.name] = judge(case, answer)
    if answer.error:
        score.errors[case.name] = answer.error
    score.flickers[case.name] = 0 if case.name in REPEATS else count_flickers(answer)
    if case.expect == "truncated" and (answer.is_truncated or score.verdicts[case.name] == "error"):
        score.told.add(case.name)
    if case.expect in {"strict", "mended"}:
        score.shares[case.name] = visible_share(case.value, answer)


def judge(case: Case, answer: Answer) -> Verdict:
    found = normal(answer.end)
    if answer.error or not found:
        return "right" if case.expect == "refused" else "error"
    if case.expect != "refused" and any(same(found[0], normal(value)) for value in (case.value, *case.also)):
        return "right"
    if is_nothing(found):
        return "right" if case.expect == "refused" else "error"
    return "wrong"


def normal(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """The same with integers for floats that are whole."""
    if isinstance(value, dict):
        return {key: normal(item) for key, item in value.items()}
    if isinstance(value, list):
        return [normal(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def is_nothing(step: list[Any]) -> bool:
    return not step or step[0] is None or step[0] == ""


def count_flickers(answer: Answer) -> int:
    shown = [MISSING if is_nothing(step) else step[0] for step in [*answer.steps, answer.end] if step]
    return sum(not grows(old, new) for old, new in pairwise(shown))


def visible_share(value: object, answer: Answer) -> float:
    total = sum(size for _, size in leaves(value))
    shares = [sum(common(step[0], value)) / total if step else 0.0 for step in answer.steps]
    return fmean(shares) if shares else 0.0


def leaves(value: object) -> Iterator[tuple[object, int]]:
    """All that can be seen of a value, with its size in characters: a container counts as one."""
    yield value, len(value) if isinstance(value, str) and value else 1
    if isinstance(value, dict):
        for key, item in value.items():
            yield key, len(key)
            yield from leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)


def common(shown: object, value: object) -> Iterator[int]:
    """The sizes of what is shown as it will be; an open string counts as far as it goes."""
    if isinstance(shown, dict) and isinstance(value, dict):
        yield 1
        for key in shown.keys() & value.keys():
            yield len(key)
            yield from common(shown[key], value[key])
    elif isinstance(shown, list) and isinstance(value, list):
        yield 1
        for one, other in zip(shown, value, strict=False):
            yield from common(one, other)
    elif isinstance(shown, str) and isinstance(value, str):
        yield (len(shown) if value else 1) if value.startswith(shown) else 0
    elif same(normal(shown), normal(value)):
        yield 1
